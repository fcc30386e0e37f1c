"""Components that feed each other: who may wait for whom."""
