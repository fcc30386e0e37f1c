"""Spouts: pending roots, and sources that can be read again."""
