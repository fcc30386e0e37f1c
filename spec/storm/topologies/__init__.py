"""Components that feed each other: which tasks may wait for which."""
