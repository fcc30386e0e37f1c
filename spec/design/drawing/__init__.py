"""A design as a picture, and as a model for SPIN."""
