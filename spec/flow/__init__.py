"""Chapters on flow control between a sender and a receiver."""
