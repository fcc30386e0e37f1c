"""Drivers: what gives a sans-I/O core a clock, threads or sockets."""
