"""A spout's pending roots in Storm, and their maximum."""
