"""The request purgatory: requests that wait for an event of one of their keys, or for a timeout.

Theory of operation
-------------------
``try_complete_else_watch`` tries a request, puts it on the watcher list of each of its keys, tries
it again, and gives it to the timer. ``check_and_complete`` tries the requests on the list of a key.
Completion takes a request out of the timer in O(1), and off the list on which it was found; the
lists of its other keys keep it until they are purged. The purgatory counts the requests that were
watched in ``estimate``; this exceeds the timer's size by the number of requests completed since it
was set. When that is more than ``purge_interval`` the reaper sets the estimate to the timer's size
and purges every list.

Three steps look superfluous and are not. The second try: an event before the request was on the
lists did not find it. The look before the timer: it may be completed by now. The look after: a
thread that completed it in between found nothing to cancel.

``cancel_for_key`` takes requests out of the timer and off one list, and completes nothing: an event
of another of their keys may still find them, and nothing else ends them.

Sans-I/O: the time is an argument of each call, ``advance`` is the reaper's round, and callbacks run
before a call returns. They may call the purgatory. No lock but the operation's is held then.

Invariants
----------
* a request is completed at most once, and then not in the timer when all calls have returned; with
  threads, one that is completed while it is put there may stay as a dead entry, which is never
  run, until its bucket expires;
* a pending request is on the list of each of its keys, and in the timer, unless cancelled;
* no key has an empty list when all calls have returned;
* after ``advance``, and without threads, no more than ``purge_interval`` completed requests are on
  lists, and ``estimate`` is not below the number of distinct requests on lists, unless a key was
  cancelled;
* a call that raises ``PurgatoryMisuse`` has changed nothing;
* a callback that raises does not affect other requests: an event tries all requests on the list, a
  round expires all due requests and purges, and then the call raises the exceptions. A request
  waits like any other if its second try raises; if its first try raises it is not watched.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels"; DelayedOperationPurgatory of
Kafka 0.9 to 3.9.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from .delayed_operation import DelayedOperation, Keys, PurgatoryMisuse
from .locks import LockFactory, check_gil
from .raising import raise_all
from .timer import Submit, Timer
from .watcher_lists import SHARDS, LockedWatcherLists, WatcherLists, Watchers

__all__ = ["PURGE_INTERVAL", "DelayedOperation", "Purgatory", "PurgatoryMisuse", "Waiting"]

PURGE_INTERVAL: Final = 1000


class Waiting:
    """Common parts of the new and the old purgatory: watching, trying, and the watcher lists."""

    __slots__ = ("_has_locks", "_now", "lists", "purge_interval", "purges")

    def __init__(
        self, purge_interval: int, start: int, lock: LockFactory | None, shards: int
    ) -> None:
        if type(purge_interval) is not int or purge_interval < 0:
            raise PurgatoryMisuse(
                f"a purge interval is an integer from 0 up, not {purge_interval!r}")
        if type(start) is not int:
            raise PurgatoryMisuse(f"the time is a number of ms, not {start!r}")
        check_gil(lock)
        self.purge_interval: Final = purge_interval
        self.lists: WatcherLists = (
            WatcherLists() if lock is None else LockedWatcherLists(lock, shards))
        self.purges = 0     # how often all lists were scanned
        self._has_locks: Final = lock is not None
        self._now = start

    @property
    def watched(self) -> int:
        """The length of all watcher lists: one entry for each request and key, completed or not."""
        return self.lists.watched

    # -- the requester ------------------------------------------------------------------------

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Keys, now: int) -> bool:
        """Complete the operation if it is ready, else let it wait; true if this call's tries
        completed it. ``now`` (ms) is when its timeout begins. A key that is named twice counts
        once. Raises ``PurgatoryMisuse``, and the exceptions of callbacks.
        """
        if (not keys or type(keys) is str or operation.used or type(now) is not int
                or now < self._now or self._has_locks):
            self._check(operation, keys, now)
        try:
            hash(tuple(keys))
        except TypeError:
            raise PurgatoryMisuse(f"keys are looked up: {keys!r} has one without a hash") from None
        operation.used = True
        try:
            if operation.safe_try_complete_or_else(self._watch, keys):
                return True
        except Exception:
            if self._is_watched(operation, keys) and not operation.completed:
                self._begin_timeout(operation, now)
            raise
        if not operation.completed:
            self._begin_timeout(operation, now)
        return False

    def _is_watched(self, operation: DelayedOperation, keys: Keys) -> bool:
        return any(operation in (self.lists.of(key) or ()) for key in keys)

    def _check(self, operation: DelayedOperation, keys: Keys, now: int) -> None:
        if not keys or type(keys) is str:
            raise PurgatoryMisuse(
                f"a request has a sequence of at least one key, which an event can name: {keys!r}")
        if operation.used:
            raise PurgatoryMisuse("this operation was handed to a purgatory before")
        if type(now) is not int:
            raise PurgatoryMisuse(f"the time is a number of ms, not {now!r}")
        if self._has_locks:
            # Another thread may have passed a later time meanwhile: that is no misuse.
            if operation.task_lock is None or operation.mutex is None:
                raise PurgatoryMisuse("a purgatory with locks needs operations with locks")
        elif now < self._now:
            raise PurgatoryMisuse(f"the time was {self._now} ms and cannot be {now} ms now")

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        self.lists.watch(operation, keys)

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        raise NotImplementedError

    # -- events -------------------------------------------------------------------------------

    def check_and_complete(self, key: Hashable) -> int:
        """An event of the key: try the requests on its list; return how many this call completed.

        Raises the exceptions of callbacks, after all were tried.
        """
        watchers = self.lists.of(key)
        return 0 if watchers is None else self._try_watched(key, watchers)

    def _try_watched(self, key: Hashable, watchers: Watchers) -> int:
        """Try each request of a list; completed ones leave it. The number that this call
        completed."""
        count = 0
        errors: list[Exception] = []
        for operation in tuple(watchers):
            if operation.completed:
                watchers.pop(operation, None)
                continue
            try:
                won = operation.safe_try_complete()
            except Exception as error:      # noqa: BLE001 raised after all were tried
                errors.append(error)
                won = operation.completed
            if won:
                watchers.pop(operation, None)
                count += 1
        if not watchers:
            self.lists.remove_if_empty(key, watchers)
        raise_all("requests", errors)
        return count

    # -- the reaper ---------------------------------------------------------------------------

    def _tell_time(self, now: int) -> None:
        if type(now) is not int:
            raise PurgatoryMisuse(f"the time is a number of ms, not {now!r}")
        if now < self._now:
            raise PurgatoryMisuse(f"the time was {self._now} ms and cannot be {now} ms now")
        self._now = now

    def _purge_lists(self) -> int:
        self.purges += 1
        return sum(self._purge_list(key, watchers) for key, watchers in self.lists.items())

    def _purge_list(self, key: Hashable, watchers: Watchers) -> int:
        dead = self.lists.completed_of(watchers)
        for operation in dead:
            watchers.pop(operation, None)
        if not watchers:
            self.lists.remove_if_empty(key, watchers)
        return len(dead)


class Purgatory(Waiting):
    """The purgatory over timing wheels.

    ``timer`` is made from ``start`` (ms), ``submit`` and ``lock`` if it is not given. ``lock``
    makes reentrant mutexes if several threads use the purgatory; its operations need some then,
    and one thread calls ``advance``. Raises ``PurgatoryMisuse``.
    """

    __slots__ = ("_counting", "_estimate", "timer")

    def __init__(
        self, purge_interval: int = PURGE_INTERVAL, start: int = 0, *,
        timer: Timer | None = None, submit: Submit | None = None,
        lock: LockFactory | None = None, shards: int = SHARDS,
    ) -> None:
        super().__init__(purge_interval, start, lock, shards)
        self.timer: Final = (
            Timer(start=start, submit=submit, lock=lock) if timer is None else timer)
        self._counting: Final = None if lock is None else lock()
        self._estimate = 0

    @property
    def delayed(self) -> int:
        """Requests in the timer: those that are pending."""
        return self.timer.size

    @property
    def estimate(self) -> int:
        """The upper estimate of the requests on watcher lists: E."""
        return self._estimate

    def _watch(self, operation: DelayedOperation, keys: Keys) -> None:
        self.lists.watch(operation, keys)
        if self._counting is None:
            self._estimate += 1
        else:
            with self._counting:
                self._estimate += 1

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        self.timer.add(operation, now)
        if operation.completed:
            operation.cancel()

    def cancel_for_key(self, key: Hashable) -> list[DelayedOperation]:
        """Forget the key; its requests leave the timer, are not completed, and are returned."""
        cancelled = list(self.lists.take(key))
        for operation in cancelled:
            operation.cancel()
        return cancelled

    def advance(self, now: int) -> bool:
        """The reaper's round at ``now`` (ms): expire due requests, and purge if the estimate says
        so.

        True if anything in the timer was due, of a completed request or not. Raises
        ``PurgatoryMisuse`` if the time goes backwards, and at the end the exceptions of callbacks.
        """
        self._tell_time(now)
        try:
            return self.timer.advance(now)
        finally:
            if self._estimate - self.timer.size > self.purge_interval:
                self.purge()

    def purge(self) -> int:
        """Reset the estimate, and take completed requests off every list; return the number of
        entries.
        """
        self._restart_estimate()
        return self._purge_lists()

    def _restart_estimate(self) -> None:
        if self._counting is None:
            self._estimate = self.timer.size
        else:
            with self._counting:
                self._estimate = self.timer.size
