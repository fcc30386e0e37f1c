"""The spout's side of reliability: roots that are pending, and a source that can be read again.

``SpoutPending`` is a spout executor's record of the roots that it emitted: at most a given number,
each until it is acked, failed, or two ticks have passed without an answer. ``PartitionManager`` is
the source of one partition of a log: it decides what to read, what to emit again, and how far the
partition is done. Neither has a clock or a connection, and neither knows the other: a driver
emits what ``PartitionManager.next`` gives, and calls its ``ack`` or ``fail`` when
``SpoutPending`` says so.

A call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from .retry import Backoff
from .rotating import RotatingMap

__all__ = [
    "FETCH_MAX", "Call", "Fetch", "Outcome", "PartitionManager", "PartitionMisuse",
    "PartitionStatistics", "SpoutMisuse", "SpoutPending",
]

M = TypeVar("M", bound=Hashable)

PENDING_BUCKETS: Final = 2
FETCH_MAX: Final = 1 << 20
ID_BITS: Final = 64


class SpoutMisuse(ValueError):
    """The executor broke a rule; the pending roots are as they were before.

    Usual causes: a negative maximum, an emit outside of a round, a root id that is pending
    or is longer than 64 bits.
    """


class Outcome(enum.Enum):
    """The callback of the spout that is due."""

    ACK = "ack"
    FAIL = "fail"


class Call(NamedTuple, Generic[M]):
    """A callback of the spout that is due: for which of its messages, and which one."""

    outcome: Outcome
    message: M


class SpoutPending(Generic[M]):
    """The pending roots of a spout executor.

    ``max_pending`` is for each of its ``tasks`` (0: unlimited). It is checked once a round:
    a round that begins below it emits all it has. So up to ``max_pending * tasks - 1`` plus
    what one round emits can be pending. Without ``acking`` (there are no ackers) nothing is ever
    pending: a message is acked as soon as it was emitted. Raises ``SpoutMisuse`` for a
    negative maximum, or fewer than one task.
    """

    def __init__(self, max_pending: int = 0, tasks: int = 1, buckets: int = PENDING_BUCKETS,
                 *, acking: bool = True) -> None:
        if type(max_pending) is not int or max_pending < 0:
            raise SpoutMisuse(f"a maximum is an integer from 0 up, not {max_pending!r}")
        if type(tasks) is not int or tasks < 1:
            raise SpoutMisuse(f"an executor has 1 task or more, not {tasks!r}")
        self.limit: Final = max_pending * tasks
        self.acking: Final = acking
        self._pending: RotatingMap[int, M] = RotatingMap(buckets)
        self._in_round = False

    # -- emitting -----------------------------------------------------------------------------

    def begin_round(self) -> bool:
        """Check the maximum once; true if the executor may call nextTuple now."""
        self._in_round = not self._has_reached_max()
        return self._in_round

    def emit(self, root: int, message: M) -> tuple[Call[M], ...]:
        """A root is pending from now on, and nothing is due; or else its ack() is due at once.

        Raises ``SpoutMisuse`` outside of a round that may emit, and for a root id that is
        pending already: the caller draws another one, for otherwise the message that has the
        id would neither be acked nor failed.
        """
        _check_root(root)
        if not self._in_round:
            raise SpoutMisuse("an emit outside of a round, or in one that must not emit")
        return self._emit(root, message)

    def _emit(self, root: int, message: M) -> tuple[Call[M], ...]:
        if not self.acking:
            return (Call(Outcome.ACK, message),)
        self._refuse_pending(root)
        self._pending.put(root, message)
        return ()

    def emit_from_callback(self, root: int, message: M) -> tuple[Call[M], ...]:
        """As ``emit``, but from the spout's ack() or fail(), where no round is needed.

        Storm allows that, and does not check the maximum there: as many more roots can be
        pending as the callbacks emit. Raises ``SpoutMisuse`` for a root id that is pending.
        """
        _check_root(root)
        return self._emit(root, message)

    def end_round(self) -> None:
        """Nothing more is emitted until another round begins."""
        self._in_round = False

    # -- answers of the acker, and the clock --------------------------------------------------

    def ack(self, root: int) -> tuple[Call[M], ...]:
        """The tree is complete; nothing is due for a root that is not pending (any more)."""
        return self._over(root, Outcome.ACK)

    def fail(self, root: int) -> tuple[Call[M], ...]:
        """The tree failed; nothing is due for a root that is not pending (any more)."""
        return self._over(root, Outcome.FAIL)

    def reset_timeout(self, root: int) -> tuple[Call[M], ...]:
        """Restart the root's timeout, if it is pending."""
        _check_root(root)
        if root in self._pending:
            self._pending.put(root, self._pending.remove(root))
        return ()

    def tick(self) -> tuple[Call[M], ...]:
        """A period of the message timeout has passed: roots that are too old have failed."""
        return tuple(Call(Outcome.FAIL, each) for each in self._pending.rotate().values())

    def __len__(self) -> int:
        return len(self._pending)

    # -- decisions ----------------------------------------------------------------------------

    def _has_reached_max(self) -> bool:
        return 0 < self.limit <= len(self._pending)

    def _refuse_pending(self, root: int) -> None:
        if root in self._pending:
            raise SpoutMisuse(f"the root {root:#x} is pending: draw another id")

    def _over(self, root: int, outcome: Outcome) -> tuple[Call[M], ...]:
        _check_root(root)
        if root not in self._pending:
            return ()
        return (Call(outcome, self._pending.remove(root)),)


def _check_root(root: int) -> None:
    if type(root) is not int or not 0 <= root < 1 << ID_BITS:
        raise SpoutMisuse(f"a root is an integer of {ID_BITS} bits, not {root!r}")


# ---- the source of one partition ------------------------------------------------------------


class PartitionMisuse(ValueError):
    """The driver broke a rule; the manager is as it was before.

    Usual causes: a negative offset or size, records that were not asked for.
    """


class Fetch(NamedTuple):
    """A read of the log: up to ``size`` records from ``offset`` on."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class PartitionStatistics:
    """The contents of the manager, and how often it gave messages up or dropped them since its
    start."""

    waiting: int
    pending: int
    failed: int
    emitted_to: int
    committed: int
    given_up: int
    let_go: int


class PartitionManager:
    """The manager of one partition, which starts at the offset ``committed``.

    ``fetch_size`` is how many records one fetch brings at most. ``retries`` is how often a
    message is emitted again after it failed (None: always); beyond that it is given up and
    counts as done. ``outstanding_max`` is how many messages may be emitted and neither acked
    nor failed (0: any number). ``backoff`` says how long a retry waits, and takes the place of
    ``retries``. Raises ``PartitionMisuse`` for numbers out of range.

    An offset is pending from the fetch on that brought it, not only from its emit on: until
    it is acked (or given up, or gone from the log), no commit passes it. A failed offset
    stays pending.

    A message may make several tuples, which share its id: it is acked when the last of them
    is, and failed when the first of them is. Time passes only as ``tell_time`` says.
    """

    def __init__(self, committed: int = 0, *, fetch_size: int = 1, retries: int | None = None,
                 outstanding_max: int = 0, backoff: Backoff | None = None) -> None:
        _check("an offset", committed, 0)
        _check("a fetch size", fetch_size, 1, FETCH_MAX)
        _check("a number of retries", 0 if retries is None else retries, 0)
        _check("a maximum", outstanding_max, 0)
        self.fetch_size: Final = fetch_size
        self.backoff: Final = Backoff(retries=retries) if backoff is None else backoff
        self.outstanding_max: Final = outstanding_max
        self._pending: set[int] = set()
        self._failed: set[int] = set()
        self._waiting: deque[int] = deque()
        self._under_way: set[int] = set()
        self._tuples: dict[int, int] = {}       # of a message under way, where there are more
        self._failures: dict[int, int] = {}
        self._due_at: dict[int, int] = {}       # for failed offsets: when to emit them again
        self._now = 0
        self._emitted_to = self._committed = committed
        self._asked: Fetch | None = None
        self._given_up = self._let_go = 0

    # -- reading ------------------------------------------------------------------------------

    def seeks_below(self, end: int) -> bool:
        """True if a fetch could bring anything of a log that ends there."""
        return bool(self._failed) or self._emitted_to < end

    def wants(self) -> Fetch | None:
        """The next fetch, or None: messages still wait, or none may be emitted."""
        if self._waiting or self._is_at_max():
            return None
        self._asked = Fetch(self._fetches_from(), self.fetch_size)
        return self._asked

    def fetched(self, records: Sequence[int], reached: int) -> bool:
        """The log's answer: the offsets that it has, and up to where it looked.

        ``records`` are ascending, from the requested offset on, at most as many as requested;
        ``reached`` is above all of them. Below ``reached`` the log has nothing else: offsets that
        are sought there are gone (retention, compaction) and are given up. Returns true if there
        was any progress: if not, there is nothing to read for the time being. Raises
        ``PartitionMisuse`` for another answer, and for one that was not asked for.
        """
        asked = self._check_answer(records, reached)
        self._asked = None
        replaying = self._is_replay()
        before = (self._emitted_to, len(self._failed))
        self._let_go_of_missing(asked.offset, frozenset(records), reached)
        for offset in records:
            if not replaying or self._is_replayed(offset):
                self._take(offset)
        if not replaying:
            self._emitted_to = max(self._emitted_to, reached)
        return before != (self._emitted_to, len(self._failed))

    def next(self, tuples: int = 1) -> int | None:
        """The next message to emit; None if none waits, or too many are outstanding.

        ``tuples`` is how many it makes: each of them has to be acked.
        """
        _check("a number of tuples", tuples, 1)
        if not self._waiting or self._is_at_max():
            return None
        offset = self._waiting.popleft()
        self._under_way.add(offset)
        self._tuples[offset] = tuples
        return offset

    def tell_time(self, now: int) -> None:
        """It is ``now``, in milliseconds since the manager was made; time never goes back."""
        _check("the time", now, self._now)
        self._now = now

    # -- acks and failures --------------------------------------------------------------------

    def ack(self, offset: int) -> bool:
        """One of the message's tuples was processed, all that came of it included.

        False, and nothing happens, if the message is not under way.
        """
        _check("an offset", offset, 0)
        if offset not in self._under_way:
            return False
        self._tuples[offset] -= 1
        if not self._are_siblings_left(offset):
            self._end(offset)
            self._done(offset)
        return True

    def fail(self, offset: int) -> bool:
        """The message failed or timed out; False, and nothing happens, if it is not under way."""
        _check("an offset", offset, 0)
        if offset not in self._under_way:
            return False
        self._end(offset)
        self._failures[offset] = self._failures.get(offset, 0) + 1
        if self._is_worth_a_retry(offset):
            self._schedule(offset)
        else:
            self._given_up += 1
            self._done(offset)
        return True

    def commit(self) -> int:
        """The position to record: a restart begins there, and every offset below is done."""
        self._committed = self._completed()
        return self._committed

    # -- its own end, and a successor ---------------------------------------------------------

    def close(self) -> int:
        """An orderly end: the position to record, so that a successor repeats little."""
        return self.commit()

    def successor(self) -> PartitionManager:
        """The manager after a change of the partition's leader, with all the state of this one."""
        other = type(self)(self._committed, **self._settings())
        other._inherit(self)
        return other

    def _settings(self) -> dict[str, Any]:
        """The arguments that it was made with, except the position."""
        return {"fetch_size": self.fetch_size, "backoff": self.backoff,
                "outstanding_max": self.outstanding_max}

    def statistics(self) -> PartitionStatistics:
        """A snapshot; nothing in it changes later."""
        return PartitionStatistics(
            len(self._waiting), self._held(), len(self._failed), self._emitted_to,
            self._committed, self._given_up, self._let_go)

    # -- decisions ----------------------------------------------------------------------------

    def _fetches_from(self) -> int:
        return min(self._due(), default=self._emitted_to)

    def _is_replay(self) -> bool:
        return bool(self._due())

    def _is_replayed(self, offset: int) -> bool:
        return offset in self._due()

    def _due(self) -> frozenset[int]:
        """The failed offsets that are due again."""
        return frozenset(
            offset for offset in self._failed if self._due_at.get(offset, 0) <= self._now)

    def _are_siblings_left(self, offset: int) -> bool:
        return self._tuples[offset] > 0

    def _end(self, offset: int) -> None:
        self._under_way.discard(offset)
        del self._tuples[offset]

    def _take(self, offset: int) -> None:
        self._pending.add(offset)
        self._waiting.append(offset)
        self._failed.discard(offset)

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        """Give up failed offsets that the log no longer has."""
        for offset in sorted(self._failed):
            if start <= offset < reached and offset not in present:
                self._failed.discard(offset)
                self._done(offset)
                self._let_go += 1

    def _held(self) -> int:
        return len(self._pending)

    def _is_at_max(self) -> bool:
        return 0 < self.outstanding_max <= self._outstanding()

    def _outstanding(self) -> int:
        return len(self._under_way)

    def _is_worth_a_retry(self, offset: int) -> bool:
        return self.backoff.is_worth_a_retry(self._failures[offset])

    def _schedule(self, offset: int) -> None:
        self._failed.add(offset)
        self._due_at[offset] = self._now + self.backoff.delay(self._failures[offset])

    def _done(self, offset: int) -> None:
        self._pending.discard(offset)
        self._failures.pop(offset, None)
        self._due_at.pop(offset, None)

    def _completed(self) -> int:
        return min(self._pending, default=self._emitted_to)

    def _inherit(self, other: PartitionManager) -> None:
        self._pending = set(other._pending)
        self._failed = set(other._failed)
        self._waiting = deque(other._waiting)
        self._under_way = set(other._under_way)
        self._tuples = dict(other._tuples)
        self._failures = dict(other._failures)
        self._due_at, self._now = dict(other._due_at), other._now
        self._emitted_to = other._emitted_to
        self._given_up, self._let_go = other._given_up, other._let_go

    def _check_answer(self, records: Sequence[int], reached: int) -> Fetch:
        if self._asked is None:
            raise PartitionMisuse("records that were not asked for")
        first, size = self._asked
        bounds = [first - 1, *records, reached]
        ascending = all(type(each) is int for each in bounds) and all(
            low < high for low, high in zip(bounds, bounds[1:], strict=False))
        if len(records) > size or not ascending:
            raise PartitionMisuse(
                f"a fetch of {size} from {first} on cannot bring {list(records)[:9]} up to "
                f"{reached!r}")
        return self._asked


def _check(what: str, number: int, low: int, high: int | None = None) -> None:
    if type(number) is not int or number < low or (high is not None and number > high):
        to = "up" if high is None else f"to {high}"
        raise PartitionMisuse(f"{what} is an integer from {low} {to}, not {number!r}")
