"""Chapters on locks, semaphores, events and condition variables."""
