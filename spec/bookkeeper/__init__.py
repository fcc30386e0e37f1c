"""Chapters on a server of BookKeeper: what it admits, answers, and keeps in memory."""
