"""Flow control between a sender and a receiver, sans-I/O."""
