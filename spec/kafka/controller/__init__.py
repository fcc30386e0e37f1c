"""Kafka's controller: its state machines, leader selectors, election, requests."""
