"""The acker: how a spout learns that a tuple was processed."""
