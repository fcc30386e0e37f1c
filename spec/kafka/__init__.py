"""Chapters on Kafka: its timer (hierarchical timing wheels), its request purgatory, its
controller, and replication."""
