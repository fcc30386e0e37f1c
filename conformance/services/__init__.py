"""Real servers, started on loopback for one run, and ended with it."""
