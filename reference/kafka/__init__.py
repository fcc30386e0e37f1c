"""Kafka's parts, sans-I/O: time and events are arguments, and no part reads a clock."""
