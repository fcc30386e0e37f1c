"""Adapters: each fits one implementation to a port, in this process or behind a pipe."""
