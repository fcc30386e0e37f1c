"""Storm's parts, sans-I/O: what arrives goes in, what is to be sent comes out."""
