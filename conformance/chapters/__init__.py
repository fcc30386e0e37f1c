"""Chapters of a user's own: verified in a child process, judged here."""
