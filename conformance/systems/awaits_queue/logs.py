"""A queue for coroutines in a log: nothing of its calls is different from those of any queue."""

from __future__ import annotations

from ..queue.logs import LOGS

__all__ = ["LOGS"]
