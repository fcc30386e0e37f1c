"""Writes what comes from records: tables of README.md and docs/, and the builder's methods."""
