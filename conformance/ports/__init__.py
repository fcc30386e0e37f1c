"""What an implementation must offer to be put under test: one port per kind of component."""
