"""The end of a process that ran cases, which is no row of any."""

from __future__ import annotations

from typing import Final

from checkvalve.spec.notation.errors import InputError, TargetError

__all__ = ["DEATHS", "NoMemoryThere", "WorkerDied"]


class WorkerDied(TargetError):
    """A process ended while it ran cases: killed, or ended by the target."""


class NoMemoryThere(InputError):
    """A process of a cluster ended for want of memory while it ran cases."""


DEATHS: Final = (WorkerDied, NoMemoryThere)
"""The errors that say that a process ended."""
