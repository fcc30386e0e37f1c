"""A design as a net: places and rows, their words, and the invariants."""
