"""A task's input: its queues, their limits, and the batches and timers in front of them."""
