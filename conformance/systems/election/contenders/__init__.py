"""Candidates of elections by real systems: each a process of its own, which can be halted."""
