"""Families of Petri nets at growing sizes, decided and timed: ``make bench-nets``."""
