"""Designs read from what people already have: nets, graphs, and plans of stream processors."""
