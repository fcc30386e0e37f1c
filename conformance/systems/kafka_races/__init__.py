"""Kafka's timer and purgatory when several threads share them."""
