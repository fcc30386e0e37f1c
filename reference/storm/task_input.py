"""A task's input in Storm: recvQ, overflowQ, the receiving thread's batch, and their consumer.

Theory of operation
-------------------
The state is two sequences and the consumer's memory between its steps. There is no
thread and no clock in here: every method runs at once. The three threads of a worker
(the receiving thread, a local sender, the task) are three groups of methods here; any
interleaving of their calls is a run of a worker.

*Remote* tuples come in transfers. The receiving thread never waits: a tuple goes to recvQ if
that has a free slot and nothing else must go first, otherwise to the overflowQ, and at the overflow
limit the tuple that arrives is dropped and counted. *Local* tuples enter recvQ or are refused.

Batches. With ``batch`` above 1 a producer collects tuples before it inserts them. The batch is
a part of the path to recvQ: while it is not empty nothing may pass it, so tuples that cannot be
flushed go to the overflowQ before any later tuple does, and at the end of a transfer the
receiving thread's batch is empty. A local sender's batch belongs to that sender; ``flush``
(the effect of a flush tuple) inserts what fits.

The task reads the size of the overflowQ, then that of recvQ, takes that many from recvQ, then
that many from the overflowQ, and starts again. The rest of its budgets survives when the
task stops in between.

Invariants
----------
* recvQ never holds more than ``capacity``, the overflowQ no more than its limit;
* the tuples of one sender leave in the order in which they came;
* only remote tuples are in the overflowQ;
* between two processed tuples of an overflowQ that is not empty, at most 2 x ``capacity``
  tuples of recvQ are processed;
* ``came == processed + recvq + overflowq + batched + dropped``, at every instant;
* a call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar, final

__all__ = [
    "NOTHING", "Arrival", "InputMisuse", "Nothing", "Phase", "Statistics", "TaskInput",
    "UnknownSender",
]

T = TypeVar("T")


class InputMisuse(ValueError):
    """The caller broke a rule of the input; the input is as it was before the call.

    Usual causes: a capacity below 1, a negative overflow limit, a batch larger than half of
    the buffer, a negative number of tuples to consume.
    """


class UnknownSender(InputMisuse):
    """The sender is not one of this task's, or not of that kind.

    A remote sender cannot publish and a local one cannot transfer: whether a sender is in the
    same worker does not change while the worker lives.
    """


@final
class Nothing(enum.Enum):
    """The answer of ``step`` and ``poll`` if no tuple was processed; ``None`` can be a tuple."""

    NOTHING = enum.auto()


NOTHING: Final = Nothing.NOTHING


class Phase(enum.Enum):
    """The next action of the task."""

    IDLE = "reads the size of the overflowQ"
    SIZED = "reads the size of recvQ"
    RECVQ = "takes from recvQ while it has budget"
    OVERFLOWQ = "takes from the overflowQ while it has budget"


class Arrival(NamedTuple):
    """The outcome of a transfer: for each tuple, in order, true if it was kept.

    ``spilled`` has, for each tuple that found no free slot in recvQ, the length of the
    overflowQ then, which the backpressure status needs.
    """

    kept: tuple[bool, ...]
    spilled: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts since the input was made, and what is in it now (in tuples)."""

    capacity: int
    overflow_limit: int
    recvq: int
    overflowq: int
    batched: int
    recvq_peak: int
    overflowq_peak: int
    came: int
    refused: int
    dropped: int
    processed: int


class TaskInput(Generic[T]):
    """The input of one task, with recvQ of ``capacity`` (1 or more) tuples.

    ``overflow_limit`` 0 means that there is none. ``batch`` is at most half the capacity, or
    1. ``remote`` and ``local`` name the senders. Raises ``InputMisuse`` for anything else.
    ``report`` is called with the name of each inner step of the task before it is taken: reading a
    size, turning to the other queue, taking a tuple. An observer may replace it.
    """

    def __init__(
        self, capacity: int, *, overflow_limit: int = 0, batch: int = 1,
        remote: Iterable[str] = (), local: Iterable[str] = (),
    ) -> None:
        _check("a capacity", capacity, 1)
        _check("an overflow limit", overflow_limit, 0)
        _check("the size of a batch", batch, 1)
        if batch > max(1, capacity // 2):
            raise InputMisuse(
                f"a batch of {batch} is larger than half of the buffer of {capacity}")
        self.capacity: Final = capacity
        self.overflow_limit: Final = overflow_limit
        self.batch: Final = batch
        self.remote: Final = frozenset(remote)
        self._batches: dict[str, deque[T]] = {sender: deque() for sender in local}
        if self.remote & set(self._batches):
            raise InputMisuse("a sender is either remote or local")
        self._recvq: deque[T] = deque()
        self._overflowq: deque[T] = deque()
        self._phase = Phase.IDLE
        self._recvq_budget = self._overflowq_budget = 0
        self._came = self._refused = self._dropped = self._processed = 0
        self._recvq_peak = self._overflowq_peak = 0
        self.report: Callable[[str], None] = _say_nothing

    # -- the receiving thread -----------------------------------------------------------------

    def transfer(self, sender: str, tuples: Iterable[T]) -> Arrival:
        """Take the tuples that arrived together from a remote sender; never waits.

        Raises ``UnknownSender`` for a sender that is not remote.
        """
        if sender not in self.remote:
            raise UnknownSender(f"{sender!r} is no remote sender of this task")
        return _Transfer(self).run(list(tuples))

    def _is_open(self) -> bool:
        """True if a remote tuple may go to recvQ at all: nothing waits in the overflowQ."""
        return not self._overflowq

    def _overflow_has_room(self) -> bool:
        return self.overflow_limit == 0 or len(self._overflowq) < self.overflow_limit

    def _overflow(self, tuple_: T) -> bool:
        """Take a tuple that found no free slot in recvQ; true if it is kept."""
        if not self._overflow_has_room():
            return self._drop(tuple_)
        self._overflowq.append(tuple_)
        self._overflowq_peak = max(self._overflowq_peak, len(self._overflowq))
        return True

    def _drop(self, _tuple: T) -> bool:
        self._dropped += 1
        return False

    # -- local senders ------------------------------------------------------------------------

    def publish(self, sender: str, tuple_: T) -> bool:
        """Take a local sender's tuple: into recvQ or its batch, or not at all (``False``).

        Raises ``UnknownSender`` for a sender that is not local.
        """
        if not self._take_in(self._batch_of(sender), tuple_):
            self._refused += 1
            return False
        self._came += 1
        return True

    def _take_in(self, batch: deque[T], tuple_: T) -> bool:
        if self.batch == 1:
            if self._has_room():
                self._insert(tuple_)
                return True
            return False
        if len(batch) >= self.batch:
            self._flush(batch)
        if len(batch) >= self.batch:
            return False
        batch.append(tuple_)
        return True

    def publish_directly(self, tuple_: T) -> bool:
        """Take a tuple that passes all batches, like ticks and flushes, or refuse it."""
        if not self._has_room():
            return False
        self._insert(tuple_)
        self._came += 1
        return True

    def flush(self, sender: str | None = None) -> int:
        """Insert what fits of local senders' batches into recvQ, and return the number of tuples.

        From those of all senders, or of one. Raises ``UnknownSender`` for one that is not local.
        """
        batches = self._batches.values() if sender is None else [self._batch_of(sender)]
        return sum(map(self._flush, batches))

    def batched(self, sender: str) -> int:
        """Number of tuples in a local sender's batch. Raises ``UnknownSender``."""
        return len(self._batch_of(sender))

    def _batch_of(self, sender: str) -> deque[T]:
        if sender not in self._batches:
            raise UnknownSender(f"{sender!r} is no local sender of this task")
        return self._batches[sender]

    def _flush(self, batch: deque[T]) -> int:
        before = len(batch)
        while batch and self._has_room():
            self._insert(batch.popleft())
        return before - len(batch)

    def _has_room(self) -> bool:
        return len(self._recvq) < self.capacity

    def _insert(self, tuple_: T) -> None:
        self._recvq.append(tuple_)
        self._recvq_peak = max(self._recvq_peak, len(self._recvq))

    # -- the task -----------------------------------------------------------------------------

    def consume(self, at_most: int) -> list[T]:
        """Process up to ``at_most`` tuples, fewer only if no more are in the two queues.

        A bolt stops early because its own output is blocked; the rest of its round is done
        first when it comes back. Raises ``InputMisuse`` for a negative number.
        """
        _check("a number of tuples", at_most, 0)
        processed: list[T] = []
        while len(processed) < at_most:
            tuple_ = self.poll()
            if isinstance(tuple_, Nothing):
                break
            processed.append(tuple_)
        self._pause()
        return processed

    def empty(self) -> list[T]:
        """Take out everything, batches included: it will not be processed any more."""
        found = self.consume(len(self._recvq) + len(self._overflowq))
        for batch in self._batches.values():
            found += batch
            batch.clear()
        return found

    def poll(self) -> T | Nothing:
        """Process the next tuple, or ``NOTHING`` if both queues are empty."""
        while self._recvq or self._overflowq:
            tuple_ = self.step()
            if not isinstance(tuple_, Nothing):
                return tuple_
        return NOTHING

    def step(self) -> T | Nothing:
        """One access of the task to shared data: a size, or a tuple."""
        if self._phase is Phase.RECVQ and not self._recvq_is_due():
            self.report("turn_to_overflowq")
            self._phase = Phase.OVERFLOWQ
        if self._phase is Phase.OVERFLOWQ and not self._overflowq_is_due():
            self.report("finish")
            self._phase = Phase.IDLE
        if self._phase is Phase.RECVQ:
            self.report("take_from_recvq")
            self._recvq_budget -= 1
            return self._process(self._recvq)
        if self._phase is Phase.OVERFLOWQ:
            self.report("take_from_overflowq")
            self._overflowq_budget -= 1
            return self._process(self._overflowq)
        self._look()
        return NOTHING

    def _look(self) -> None:
        """Take the two snapshots; their order is what keeps the senders' order."""
        self.report("size_overflowq" if self._phase is Phase.IDLE else "size_recvq")
        if self._phase is Phase.IDLE:
            self._overflowq_budget = len(self._overflowq)
            self._phase = Phase.SIZED
        else:
            self._recvq_budget = len(self._recvq)
            self._phase = Phase.RECVQ

    def _recvq_is_due(self) -> bool:
        return self._recvq_budget > 0

    def _overflowq_is_due(self) -> bool:
        return self._overflowq_budget > 0

    def _pause(self) -> None:
        """Stop consuming; the budgets stay."""

    def _process(self, queue: deque[T]) -> T | Nothing:
        if not queue:
            return NOTHING
        self._processed += 1
        return queue.popleft()

    # -- queries ------------------------------------------------------------------------------

    def lengths(self) -> tuple[int, int]:
        """How many tuples recvQ and the overflowQ hold; those of a batch are in neither."""
        return len(self._recvq), len(self._overflowq)

    def has_any(self) -> bool:
        """True if there is something to poll."""
        return bool(self._recvq or self._overflowq)

    def holds_any(self) -> bool:
        """True if there is anything in it, in a batch of a local sender included."""
        return self.has_any() or any(self._batches.values())

    def statistics(self) -> Statistics:
        """A snapshot; nothing in it changes later."""
        return Statistics(
            capacity=self.capacity, overflow_limit=self.overflow_limit,
            recvq=len(self._recvq), overflowq=len(self._overflowq),
            batched=sum(map(len, self._batches.values())),
            recvq_peak=self._recvq_peak, overflowq_peak=self._overflowq_peak,
            came=self._came, refused=self._refused, dropped=self._dropped,
            processed=self._processed,
        )


class _Transfer(Generic[T]):
    """The receiving thread with the batch of one transfer, which ends empty."""

    def __init__(self, into: TaskInput[T]) -> None:
        self._into = into
        self._batch: deque[tuple[int, T]] = deque()
        self._kept: list[bool] = []
        self._spilled: list[int] = []

    def run(self, tuples: list[T]) -> Arrival:
        into = self._into
        into._came += len(tuples)
        self._kept = [False] * len(tuples)
        for number, tuple_ in enumerate(tuples):
            if not (into._is_open() and self._publish(number, tuple_)):
                self._spill_batch()
                self._spill(number, tuple_)
        self._flush()
        self._spill_batch()
        return Arrival(tuple(self._kept), tuple(self._spilled))

    def _publish(self, number: int, tuple_: T) -> bool:
        into = self._into
        if len(self._batch) >= into.batch or (into.batch == 1 and not into._has_room()):
            self._flush()
            if len(self._batch) >= into.batch or into.batch == 1:
                return False
        self._batch.append((number, tuple_))
        if into.batch == 1:
            self._flush()
        return True

    def _flush(self) -> None:
        while self._batch and self._into._has_room():
            number, tuple_ = self._batch.popleft()
            self._into._insert(tuple_)
            self._kept[number] = True

    def _spill_batch(self) -> None:
        while self._batch:
            self._spill(*self._batch.popleft())

    def _spill(self, number: int, tuple_: T) -> None:
        self._spilled.append(len(self._into._overflowq))
        self._kept[number] = self._into._overflow(tuple_)


def _check(what: str, value: int, at_least: int) -> None:
    if type(value) is not int or value < at_least:    # True is an int, but no size
        raise InputMisuse(f"{what} is an integer from {at_least} up, not {value!r}")


def _say_nothing(step: str) -> None:
    """Do nothing: without an observer, reports are dropped."""
