"""Candidates of elections by real systems: each a program of its own, that can be halted."""
