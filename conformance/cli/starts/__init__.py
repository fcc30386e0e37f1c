"""The texts with which ``checkvalve new`` starts."""
