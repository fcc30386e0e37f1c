"""Chapters on a server of BookKeeper: its admission, its responses, its journal, its memory."""
