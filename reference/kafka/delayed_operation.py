"""DelayedOperation: a request that is completed once, by whoever comes first.

An event that makes it completable, its timeout, or anybody who forces it: each calls
``force_complete``, one of them wins, takes the request out of the timer and calls
``on_complete``. If the winner is the timer, ``on_expiration`` follows. To win is to be the one who
changes ``completed``. That is a line without a call and needs no lock, for CPython changes threads
at calls and at jumps back only.

Tries are made under the operation's lock: a convenience for whoever writes ``try_complete``. It
may be another component's lock as well (Kafka: a group's); nobody holds any other of the
purgatory's locks while it is taken.

A subclass says what the request waits for in ``try_complete``, which calls ``force_complete`` if
that has come true.

Callbacks may raise. What ``on_complete`` raises reaches whoever completes; the request is completed
all the same, is not in the timer, and has given its lock back. If the timer was the winner,
``on_expiration`` is then not called. A try that raises has not completed anything.

Source: DelayedOperation of Kafka 0.9 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from .locks import LockFactory, Mutex
from .timing_wheel import TimerMisuse, TimerTask

__all__ = ["DelayedOperation", "Keys", "PurgatoryMisuse", "Watch"]

Keys = Collection[Hashable]
Watch = Callable[["DelayedOperation", Keys], None]


class PurgatoryMisuse(TimerMisuse):
    """The purgatory was used as it cannot be used; it did not change.

    Usual causes: a request for no key, which only its timeout could end; an operation that was
    handed in before; a negative timeout; a driver whose clock was set back; an operation without
    a lock in a purgatory with locks.
    """


class DelayedOperation(TimerTask):
    """A request with a timeout of ``delay`` ms. It can be handed to a purgatory once.

    With several threads ``lock`` makes its reentrant mutexes; ``mutex`` takes the place of the one
    under which it is tried. Raises ``PurgatoryMisuse`` for a negative delay, ``TimerMisuse`` for
    one that is no integer.
    """

    __slots__ = ("completed", "mutex", "used")

    def __init__(
        self, delay: int, lock: LockFactory | None = None, mutex: Mutex | None = None,
    ) -> None:
        TimerTask.__init__(self, delay, lock)
        if delay < 0:
            raise PurgatoryMisuse(f"a timeout is a number of ms from 0 up, not {delay}")
        self.completed = False  # somebody has won; it stays so
        self.used = False       # a purgatory has it, or has had it
        self.mutex = mutex if mutex is not None or lock is None else lock()

    # -- for subclasses -----------------------------------------------------------------------

    def try_complete(self) -> bool:
        """If what it waits for has come true, ``force_complete``, and say whether that won."""
        raise NotImplementedError

    def on_complete(self) -> None:
        """Called once, when it is completed."""

    def on_expiration(self) -> None:
        """Called after ``on_complete`` if the timeout completed it."""

    # -- for everybody ------------------------------------------------------------------------

    def force_complete(self) -> bool:
        """Complete it, unless somebody has; whether this call did."""
        lost, self.completed = self.completed, True     # getAndSet
        if lost:
            return False
        self.cancel()
        self.on_complete()
        return True

    def run(self) -> None:
        """The timeout has come: complete, and expire if that won."""
        if self.force_complete():
            self.on_expiration()

    def safe_try_complete(self) -> bool:
        """``try_complete`` under the lock."""
        if self.mutex is None:
            return self.try_complete()
        with self.mutex:
            return self.try_complete()

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        """Try; else ``watch``, and try again, since what it waits for may have come true before
        it was on the lists. All under the lock. Whether one of the tries completed it."""
        if self.mutex is None:
            return self._try_or_else(watch, keys)
        with self.mutex:
            return self._try_or_else(watch, keys)

    def _try_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        return self.try_complete()
