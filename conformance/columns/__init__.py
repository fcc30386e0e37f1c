"""Judging whole columns of events at a time: numbers in arrays, and machines as machine code."""
