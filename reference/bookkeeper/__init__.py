"""A server in the style of BookKeeper's, sans-I/O: admission, responses, and memory."""
