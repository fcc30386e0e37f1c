"""Broken twins of a Storm task's input: the reference core, with one hook overridden.

Named after the issue of the real bug where there was one, else after the remark
of docs/sources (D1, D2, …) whose reading of the text it takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from ....reference.storm.task_input import NOTHING, Arrival, Phase, TaskInput
from ...suites.twin import Twins
from .adapter import ReferenceInput

__all__ = ["TWINS"]

Core = TaskInput[Any]


TWINS: Final = Twins("storm.input", ReferenceInput, ("reference.storm.input",))


# ---- how the task drains its two queues -------------------------------------------------------


@TWINS.twin(
    "D1", "STORM-Q1", "one tuple of recvQ and one of the overflowQ in turn",
    "the text's 'tasks alternate', read literally")
class Alternating(Core):
    """The task takes one tuple of recvQ, and one of the overflowQ, in turn."""

    def step(self) -> Any:
        """Take from the queues in turn, without snapshots."""
        turns = (self._recvq, self._overflowq)
        first, second = turns if self._phase is Phase.IDLE else turns[::-1]
        queue = first or second
        self._phase = Phase.OVERFLOWQ if queue is self._recvq else Phase.IDLE
        return self._process(queue)


@TWINS.twin(
    "D2", "STORM-Q1", "the size of the overflowQ is read after recvQ was drained",
    "JCQueue.consumeImpl")
class SizedAfterDraining(Core):
    """recvQ is drained until it is seen empty; only then is the overflowQ's size read."""

    def step(self) -> Any:
        """The real code's two phases."""
        if self._phase is Phase.OVERFLOWQ and self._overflowq_budget > 0:
            self._overflowq_budget -= 1
            return self._process(self._overflowq)
        if self._phase is Phase.SIZED:
            self._overflowq_budget = len(self._overflowq)
            self._phase = Phase.OVERFLOWQ
            return NOTHING
        self._phase = Phase.RECVQ if self._recvq else Phase.SIZED
        return self._process(self._recvq)


@TWINS.twin(
    "D2-sizes", "STORM-Q1", "recvQ's size is read before the overflowQ's",
    "a fix of D2 that does not fix it")
class RecvqSizedFirst(Core):
    """The two sizes are read in the other order."""

    def _look(self) -> None:
        if self._phase is Phase.IDLE:
            self._recvq_budget = len(self._recvq)
            self._phase = Phase.SIZED
        else:
            self._overflowq_budget = len(self._overflowq)
            self._phase = Phase.RECVQ


@TWINS.twin(
    "D3", "STORM-I10", "recvQ is drained without a bound", "JCQueue.consumeImpl, its first phase")
class Draining(Core):
    """recvQ is drained until it is empty, even while more tuples come in."""

    def _recvq_is_due(self) -> bool:
        return bool(self._recvq)


@TWINS.twin(
    "D3-budgets", "STORM-I10", "an interrupted round starts over",
    "JCQueue.consumeImpl with an exit condition")
class StartingRoundsOver(Core):
    """Each call of the consumer begins a new round."""

    def _pause(self) -> None:
        self._phase = Phase.IDLE


# ---- the place of a remote tuple --------------------------------------------------------------


@TWINS.twin(
    "D9", "STORM-Q1", "a remote tuple goes to recvQ whenever that has a free slot",
    "the check for an empty overflowQ left out")
class WheneverThereIsRoom(Core):
    """A remote tuple goes to recvQ whenever that has a free slot, overflowQ or not."""

    def _is_open(self) -> bool:
        return True


@TWINS.twin("D7-above", "STORM-I4", "the overflowQ holds one tuple above its limit", "> for >=")
class LimitPlusOne(Core):
    """The length is compared with > instead of >=."""

    def _overflow_has_room(self) -> bool:
        return self.overflow_limit == 0 or len(self._overflowq) <= self.overflow_limit


@TWINS.twin("D7-below", "STORM-I5", "a tuple is dropped below the limit", "off by one")
class LimitMinusOne(Core):
    """A tuple is dropped although it would just fit."""

    def _overflow_has_room(self) -> bool:
        return self.overflow_limit == 0 or len(self._overflowq) + 1 < self.overflow_limit


@TWINS.twin(
    "D7-head", "STORM-I4", "at the limit the head of the overflowQ is dropped",
    "drop-oldest where drop-tail was promised")
class DroppingTheHead(Core):
    """The oldest tuple of the overflowQ is dropped to free a slot."""

    def _drop(self, _tuple: Any) -> bool:
        self._overflowq.popleft()
        self._overflowq.append(_tuple)
        self._dropped += 1
        return True


@TWINS.twin(
    "D7-silent", "STORM-I9", "dropped tuples are not counted", "a loss that no metric shows")
class DroppingSilently(Core):
    """A dropped tuple is not counted."""

    def _drop(self, _tuple: Any) -> bool:
        return False


@TWINS.twin(
    "D7-block", "STORM-I11", "the receiving thread waits at the overflow limit",
    "the overflowQ must avoid this: two workers that block each other")
class BlockingAtTheLimit(Core):
    """At the limit the receiving thread waits, and every later arrival waits behind it."""

    def transfer(self, sender: str, tuples: Iterable[Any]) -> Arrival:
        """Place the tuples that fit."""
        kept: list[bool] = []
        for tuple_ in tuples:
            if not self._overflow_has_room() and not (self._is_open() and self._has_room()):
                break
            kept += super().transfer(sender, [tuple_]).kept
        return Arrival(tuple(kept), ())


@TWINS.twin("STORM-744", "STORM-I2", "recvQ has no bound", "STORM-744: an unbounded message_queue")
class UnboundedReceiveQueue(Core):
    """recvQ takes every tuple that comes."""

    def _has_room(self) -> bool:
        return True


@TWINS.twin(
    "local-overflow", "STORM-I2", "local tuples go to the overflowQ as well",
    "no backpressure inside the worker")
class LocalOverflowing(Core):
    """A local sender that finds recvQ full goes to the overflowQ too."""

    def _take_in(self, batch: deque[Any], tuple_: Any) -> bool:
        return super()._take_in(batch, tuple_) or self._overflow(tuple_)


@TWINS.twin(
    "local-refused", "STORM-I3", "a local tuple is refused while one place is free", "off by one")
class LocalRefusing(Core):
    """A local sender is refused while one place is free."""

    def _take_in(self, batch: deque[Any], tuple_: Any) -> bool:
        return len(self._recvq) + 1 < self.capacity and super()._take_in(batch, tuple_)


@TWINS.twin(
    "spills-early", "STORM-I8", "a remote tuple goes to recvQ only if that is empty",
    "the overflowQ taken for a queue of its own")
class SpillingEarly(Core):
    """A remote tuple goes to recvQ only if that is empty."""

    def _is_open(self) -> bool:
        return super()._is_open() and not self._recvq


@TWINS.twin(
    "STORM-3376", "STORM-I6", "the first tuples to arrive are accepted and lost",
    "STORM-3376: the callback was set after the port was opened")
class NotYetListening(Core):
    """A tuple that arrives before the callback is set is acknowledged, and lost."""

    def transfer(self, sender: str, tuples: Iterable[Any]) -> Arrival:
        """The first transfer finds no callback."""
        if self._came == 0:
            self._came = 1
            return Arrival(tuple(True for _ in tuples), ())
        return super().transfer(sender, tuples)


@TWINS.twin(
    "STORM-996", "STORM-Q1", "a transfer is delivered out of order",
    "STORM-996: notifyInterestChanged against flushMessages")
class OutOfOrderTransfer(Core):
    """The tuples of one transfer are delivered in another order."""

    def transfer(self, sender: str, tuples: Iterable[Any]) -> Arrival:
        """Place the tuples of a transfer, the last one first."""
        arrival = super().transfer(sender, list(tuples)[::-1])
        return Arrival(arrival.kept[::-1], arrival.spilled)


@TWINS.twin(
    "processed-twice", "STORM-I7", "the last tuple of a round is processed again",
    "removed after processing, with an interruption between")
class DeliveringTwice(Core):
    """A tuple is taken from the queue after it was processed; an interruption does it again."""

    _was_left = False

    def step(self) -> Any:
        """Leave the last tuple of recvQ's budget in the queue, but not the same one twice: a task
        that may process any number would never come to an end."""
        head = self._recvq[0] if self._recvq else NOTHING
        processed = super().step()
        if processed is not NOTHING and processed == head and self._recvq_budget == 0:
            self._was_left = not self._was_left
            if self._was_left:
                self._recvq.appendleft(processed)
        return processed


# ---- batches ----------------------------------------------------------------------------------


@TWINS.twin(
    "D10", "STORM-Q1", "spilled tuples overtake the receiving thread's batch",
    "JCQueue.BatchInserter in WorkerState.transferLocalBatch")
class KeepingItsBatch(Core):
    """The receiving thread's batch outlives its transfer, and spilled tuples overtake it."""

    def transfer(self, sender: str, tuples: Iterable[Any]) -> Arrival:
        """Put each tuple into a batch that no other thread flushes."""
        held = self.__dict__.setdefault("_held", deque())
        kept: list[bool] = []
        for tuple_ in tuples:
            self._came += 1
            taken = not self._overflowq and self._take_in(held, tuple_)
            kept.append(taken or self._overflow(tuple_))
        return Arrival(tuple(kept), ())


@TWINS.twin(
    "STORM-342", "STORM-Q1", "a tuple overtakes those in its sender's cache",
    "STORM-342, 350, 797: publishing races the flush of a cache")
class PassingItsBatch(Core):
    """A local tuple goes straight into recvQ while older ones are in its sender's batch."""

    def _take_in(self, batch: deque[Any], tuple_: Any) -> bool:
        if batch and self._has_room():
            self._insert(tuple_)
            return True
        return super()._take_in(batch, tuple_)


@TWINS.twin(
    "STORM-2306-flush", "STORM-I12", "flush tuples are ignored",
    "storm#review-2241: flushing was enabled from the system's conf only")
class DeafToFlushes(Core):
    """A flush tuple does nothing."""

    def flush(self, sender: str | None = None) -> int:
        """Batches stay where they are."""
        return 0


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("D1", 40, 300)


# ---- bugs that show in large queues, or with some values -----------------------------------------

class _StackFrom(Core):
    """A queue that processes its newest tuple first, from a certain length on."""

    tuples = 4

    def _process(self, queue: deque[Any]) -> Any:
        if len(queue) >= self.tuples:
            queue.rotate(1)
        return super()._process(queue)


@TWINS.twin(
    "input-stack-from-four", "STORM-Q1",
    "of a queue of four tuples or more, the newest is processed first",
    "a ring whose read index is taken from the wrong end once it has wrapped")
class StackFromFour(_StackFrom):
    """With four tuples or more it is a stack."""


@TWINS.twin(
    "input-stack-from-six", "STORM-Q1",
    "of a queue of six tuples or more, the newest is processed first",
    "a ring of eight places that was tried with five tuples")
class StackFromSix(_StackFrom):
    """With six tuples or more it is a stack."""

    tuples = 6


@TWINS.twin(
    "input-loses-what-is-false", "STORM-I6", "a tuple that is false, such as 0, is lost",
    "`if tuple` where `if tuple != null` was meant")
class LosesWhatIsFalse(Core):
    """A tuple that is false is lost."""

    def _insert(self, tuple_: Any) -> None:
        if tuple_:
            super()._insert(tuple_)


@TWINS.twin(
    "input-cuts-long-texts", "STORM-I7", "a text is cut to eight characters",
    "a field of fixed width in the code of a tuple")
class CutsLongTexts(Core):
    """A processed text has at most eight characters."""

    def _insert(self, tuple_: Any) -> None:
        super()._insert(tuple_[:8] if isinstance(tuple_, str) else tuple_)


@TWINS.twin(
    "input-counts-in-16-bits", "STORM-I6",
    "of the number of tuples that it may process, the lower 16 bits are kept",
    "a short where the number is an int: 65,536 is none at all")
class CountsIn16Bits(Core):
    """The upper bits of a limit are cut off."""

    def consume(self, at_most: int) -> list[Any]:
        """Process as many as the lower 16 bits say."""
        return super().consume(at_most % 2**16)
