"""The end of a process that ran cases, which is no row of any."""

from __future__ import annotations

from checkvalve.spec.notation.errors import TargetError

__all__ = ["WorkerDied"]


class WorkerDied(TargetError):
    """A process ended while it ran cases: killed, out of memory, or ended by the target."""
