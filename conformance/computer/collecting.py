"""How often Python looks for garbage: objects that only refer to each other, in a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collecting_rarely"]

_NEW_BEFORE_COLLECTING = 50_000
"""Objects made before the garbage of cycles is looked for. A judge remembers what it learns, a
design of many queues is a million objects, and both make next to no cycles: at Python's own 700
(or 2,000) a fifteenth of a run of a suite went by so, and a quarter of the reading of a file."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Look for garbage less often, and as often as before when it is over."""
    before = gc.get_threshold()
    gc.set_threshold(max(_NEW_BEFORE_COLLECTING, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
