"""DelayedOperation: a request that is completed once, by the first of several causes.

An event that makes it completable, its timeout, or a call that forces it: each calls
``force_complete``, one of them wins, takes the request out of the timer and calls ``on_complete``.
If the winner is the timer, ``on_expiration`` follows. The winner is the thread that changes
``completed``. That is a line without a call and needs no lock, since CPython changes threads only
at calls and at backward jumps.

Tries are made under the operation's lock: a convenience for authors of ``try_complete``. It may be
another component's lock as well (Kafka: a group's); no other lock of the purgatory is held while it
is taken.

A subclass implements the request's condition in ``try_complete``, which calls ``force_complete`` if
the condition is true.

Callbacks may raise. An exception of ``on_complete`` reaches the caller that completes the request;
the request is completed nevertheless, is not in the timer, and its lock is released. If the timer
was the winner, ``on_expiration`` is then not called. A try that raises has completed nothing.

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

    Usual causes: a request without a key, which only its timeout could complete; an operation that
    was used before; a negative timeout; a driver with a clock that was set back; an operation
    without a lock in a purgatory with locks.
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
        self.completed = False  # the request is completed; it stays so
        self.used = False       # a purgatory has, or has had, the request
        self.mutex = mutex if mutex is not None or lock is None else lock()

    # -- for subclasses -----------------------------------------------------------------------

    def try_complete(self) -> bool:
        """Call ``force_complete`` if the request's condition is true; return true if that won."""
        raise NotImplementedError

    def on_complete(self) -> None:
        """Called once, when the request is completed."""

    def on_expiration(self) -> None:
        """Called after ``on_complete`` if the timeout completed it."""

    # -- for callers --------------------------------------------------------------------------

    def force_complete(self) -> bool:
        """Complete the request unless it is completed; true if this call did."""
        lost, self.completed = self.completed, True     # getAndSet
        if lost:
            return False
        self.cancel()
        self.on_complete()
        return True

    def run(self) -> None:
        """The timeout is over: complete the request, and expire it if that won."""
        if self.force_complete():
            self.on_expiration()

    def safe_try_complete(self) -> bool:
        """``try_complete`` under the lock."""
        if self.mutex is None:
            return self.try_complete()
        with self.mutex:
            return self.try_complete()

    def safe_try_complete_or_else(self, watch: Watch, keys: Keys) -> bool:
        """Try; else ``watch``, and try again, since the condition may have become true before the
        request was on the lists. All under the lock. True if one of the tries completed the
        request.
        """
        if self.mutex is None:
            return self._try_or_else(watch, keys)
        with self.mutex:
            return self._try_or_else(watch, keys)

    def _try_or_else(self, watch: Watch, keys: Keys) -> bool:
        if self.try_complete():
            return True
        watch(self, keys)
        return self.try_complete()
