"""Signs: pools with one permit that stand for the end of something (see ``endings``).

No name in a design has brackets of this sort.
"""

from __future__ import annotations

__all__ = ["OPEN", "RUNNING", "WANTED", "is_sign", "running", "sign_of", "wanted"]

OPEN = " (open)"
RUNNING = " (running)"
WANTED = " (wanted)"


def running(task: str) -> str:
    """The sign that is taken when a task has ended."""
    return task + RUNNING


def wanted(task: str) -> str:
    """The sign that is taken when a task is cancelled."""
    return task + WANTED


def is_sign(pool: str) -> bool:
    """True if a pool stands for the end of something."""
    return pool.endswith((OPEN, RUNNING, WANTED))


def sign_of(pool: str) -> str:
    """The link or the task that a pool is the sign of."""
    return pool[:pool.rindex(" (")]
