"""Waits in a state: the wait-for graph, cycles, the words of findings."""
