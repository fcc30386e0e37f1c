"""Kafka's controller over a coordination service, sans-I/O: events in, effects out."""
