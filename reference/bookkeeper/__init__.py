"""A server in the manner of BookKeeper's, sans-I/O: admission, responses, and memory."""
