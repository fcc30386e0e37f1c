"""A replayable source: a spout over a log that can be read again."""
