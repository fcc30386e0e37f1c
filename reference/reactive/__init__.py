"""Streams with demand, sans-I/O: publishers, subscribers and processors of Reactive Streams."""
