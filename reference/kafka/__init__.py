"""Kafka's parts, sans-I/O: time and events are told, and nobody reads a clock."""
