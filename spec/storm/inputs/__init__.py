"""A task's input: its queues, their limits, and what is in front of them."""
