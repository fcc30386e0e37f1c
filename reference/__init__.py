"""The reference: an independent implementation, sans-I/O, that knows nothing of the rules."""
