"""Locks for timers and purgatories, built from any factory of mutexes.

One thread needs none. Several threads pass ``threading.RLock``, or a lock with a holder that a test
chooses.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final, TypeAlias

__all__ = ["READERS", "LockFactory", "Mutex", "NeedsTheGil", "SharedLock", "check_gil"]

Mutex: TypeAlias = AbstractContextManager[object]
LockFactory: TypeAlias = Callable[[], Mutex]

READERS: Final = 4


class NeedsTheGil(RuntimeError):
    """Several threads were to use a part that relies on Python's global interpreter lock.

    Kafka's compare-and-set is a line without a call here, which no thread can interrupt as long as
    that lock is there. In a free-threaded build with the lock off it can. Turn the lock on
    (PYTHON_GIL=1), or use one thread and no ``lock``.
    """


def check_gil(lock: LockFactory | None) -> None:
    """Raise ``NeedsTheGil`` if there are locks, hence threads, and no global one."""
    is_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    if lock is not None and not is_enabled():
        raise NeedsTheGil(
            "timers and purgatories with locks rely on the global interpreter lock, which is off: "
            "set PYTHON_GIL=1")


class SharedLock:
    """A readers-writer lock of ``READERS`` stripes: a reader holds one of them, a writer all.

    More readers than that wait for each other, which only costs time. The mutexes need not be
    reentrant, as long as no thread reads while it already reads or writes.
    """

    __slots__ = ("_stripes", "_turn")

    def __init__(self, lock: LockFactory) -> None:
        self._stripes = tuple(lock() for _ in range(READERS))
        self._turn = itertools.count()

    def reading(self) -> Mutex:
        """A stripe to enter: others may read, and no thread writes."""
        return self._stripes[next(self._turn) % READERS]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All stripes, always in the same order: no other thread is in."""
        with ExitStack() as held:
            for stripe in self._stripes:
                held.enter_context(stripe)
            yield
