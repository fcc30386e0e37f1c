"""A task's input in Storm."""
