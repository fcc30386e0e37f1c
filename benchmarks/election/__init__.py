"""Real elections, all targets by all rules (``make election``)."""
