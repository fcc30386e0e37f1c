"""A bounded queue with waiting producers and consumers."""
