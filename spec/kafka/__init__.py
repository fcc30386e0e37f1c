"""Chapters on Kafka: its timer (hierarchical timing wheels) and its request purgatory."""
