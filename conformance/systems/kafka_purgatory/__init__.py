"""Kafka's request purgatory."""
