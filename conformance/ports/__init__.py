"""The operations that an implementation must offer: one port per kind of component."""
