"""Known-bad implementations: each a small change to a good one, each a bug that happened."""
