"""A timer: hierarchical timing wheels, or any other."""
