"""Clusters with one seeded bug each: the rules about whole runs must detect them.

Each twin is the reference's cluster with one part replaced by a class that overrides a method
or two.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ....reference.storm.acker import Telling
from ....reference.storm.basic_bolt import Basic
from ....reference.storm.executor import (
    AckerTask, Attempt, BoltTask, Executor, SpoutTask, UserCodeFailed,
)
from ....reference.storm.messages import Kind, Message, Output
from ....reference.storm.spout import Call, SpoutPending
from ....reference.storm.status import RemoteFlags, Status, StatusTracker
from ....reference.storm.topologies import Topology
from ....reference.storm.worker import Parts, Place, Worker
from ...ports.base import Message as Request
from ...suites.twin import Twins
from ..storm_input.twins import KeepingItsBatch, PassingItsBatch
from .adapter import ReferenceTopology

__all__ = ["TWINS"]

PENDING_BOUND: Final = 2
"""STORM-3073 had 1024; one execution of a bolt here emits up to four messages."""


class _TwinTopology(ReferenceTopology):
    """The adapter of a twin. It does not offer the faults in ``without``, because they would show a
    different bug."""

    without: frozenset[str] = frozenset()

    def _hello(self, message: Request) -> Request:
        greeting = super()._hello(message)
        return greeting | {"can": [each for each in greeting["can"] if each not in self.without]}


_PARTS: Final = {
    StatusTracker: "tracker", RemoteFlags: "flags", SpoutTask: "spout", AckerTask: "acker",
    BoltTask: "bolt"}
"""An acker is a bolt, too: the first that fits counts."""


def _parts_of(bug: type[Any]) -> Mapping[str, Any]:
    if issubclass(bug, Worker):
        return {"worker_type": bug}
    part = next(name for kind, name in _PARTS.items() if issubclass(bug, kind))
    return {"parts": replace(Parts(), **{part: bug})}


TWINS: Final = Twins(
    "storm.topology", _TwinTopology, ("reference.storm.topology",), _parts_of)


# ---- status ---------------------------------------------------------------------------------


@TWINS.twin(
    "cluster-D6-no-repetition", "STORM-C13", "a lost OFF is never sent again",
    "storm#D6; JStorm #404, STORM-1949")
class NoRepetition(StatusTracker):
    """The status is sent when it changes, and never repeated."""

    def _is_repetition_due(self) -> bool:
        return False


class DeafAtFirst(RemoteFlags):
    """The first status after a connection was made is ignored: the client is not ready yet."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._is_ready: set[str] = set()

    def hear(self, status: Status) -> bool:
        if status.worker not in self._is_ready:
            self._is_ready.add(status.worker)
            return False
        return super().hear(status)

    def disconnected(self, worker: str) -> None:
        super().disconnected(worker)
        self._is_ready.discard(worker)


@TWINS.twin(
    "cluster-global-throttle", "STORM-C24", "one backlogged task stops the messages for all tasks",
    "STORM-886 in 1.0: one throttle for a topology, on or off")
class GlobalThrottle(RemoteFlags):
    """While one task is backlogged, the worker sends to none: one throttle, on or off."""

    def is_blocked(self, task: int) -> bool:
        super().is_blocked(task)
        return bool(self.blocked)


# ---- executors ------------------------------------------------------------------------------


@TWINS.twin(
    "cluster-gated-spout", "STORM-C13", "the spout stops consuming while messages are pending",
    "storm#waits; STORM-292")
class GatedSpout(SpoutTask):
    """The spout consumes nothing while something is pending, like a bolt."""

    def may_consume(self) -> bool:
        return not self.pending


def _stopping(self: Executor, turn: Callable[[], bool]) -> bool:
    """A turn; once user code has raised, none: the thread is gone, its worker is not."""
    if getattr(self, "is_gone", False):
        return False
    try:
        return turn()
    except UserCodeFailed:
        vars(self)["is_gone"] = True
        return True


class StoppingBolt(BoltTask):
    """An exception of user code ends the executor's thread only."""

    def call(self) -> bool:
        return _stopping(self, super().call)


class StoppingSpout(SpoutTask):
    """An exception of user code ends the executor's thread only."""

    def call(self) -> bool:
        return _stopping(self, super().call)


@TWINS.twin(
    "cluster-swallows", "STORM-C25", "an exception of a bolt is caught and logged",
    "001#replay: its tuple is neither acked nor failed")
class SwallowingBolt(BoltTask):
    """An exception of user code is logged; the bolt continues, and its tuple is never acked."""

    def process(self, message: Message) -> None:
        with contextlib.suppress(UserCodeFailed):
            super().process(message)


@TWINS.twin(
    "cluster-greedy-bolt", "STORM-C6", "the bolt consumes while messages are pending",
    "storm#waits")
class GreedyBolt(BoltTask):
    """The bolt continues to consume while messages are pending."""

    def may_consume(self) -> bool:
        return True


def _capped(self: Executor, message: Message) -> None:
    if len(self.pending) >= PENDING_BOUND:
        raise RuntimeError("unable to add more elements to pendingEmits")
    self.pending.append(message)


class CappedBolt(BoltTask):
    """pendingEmits has a bound, at which it throws."""

    _pend = _capped


class CappedSpout(SpoutTask):
    """pendingEmits has a bound, at which it throws."""

    _pend = _capped


def _skipping(self: Executor) -> bool:
    if self.context.transfer(self.pending[0]):
        self.pending.popleft()
        return True
    self.pending.rotate(-1)
    return False


class SkippingBolt(BoltTask):
    """A head that is blocked goes to the end of pendingEmits."""

    def flush_pending(self) -> bool:
        return _skipping(self)


class SkippingSpout(SpoutTask):
    """A head that is blocked goes to the end of pendingEmits."""

    def flush_pending(self) -> bool:
        return _skipping(self)


class OvertakingBolt(BoltTask):
    """An emitted message ignores those in pendingEmits."""

    def _has_to_pend(self) -> bool:
        return False


class OvertakingSpout(SpoutTask):
    """An emitted message ignores those in pendingEmits."""

    def _has_to_pend(self) -> bool:
        return False


class AckingTheFailed(Basic):
    """A basic bolt's tuple is acked in a ``finally``."""

    def failed(self, message: Message, out: Output) -> None:
        out.ack(message)


@TWINS.twin(
    "cluster-basic-acks-all", "STORM-C20", "a basic bolt's failed tuple is acked",
    "BasicBoltExecutor: an ack instead of FailedException's fail")
class CarelessBolt(BoltTask):
    """See ``AckingTheFailed``."""

    basic = AckingTheFailed


@TWINS.twin(
    "cluster-fail-by-timeout", "STORM-C21", "a tuple that a bolt fails is left to the timeout",
    "STORM-1595: a fail that arrives late")
class DeafToFails(AckerTask):
    """A bolt's FAIL is left to the timeout."""

    def process(self, message: Message) -> None:
        if message.kind is not Kind.FAIL:
            super().process(message)


@TWINS.twin(
    "cluster-deaf-to-resets", "STORM-C22",
    "a request for more time does not reach the spout's roots",
    "the acker's half of the reset alone")
class DeafToResets(SpoutTask):
    """The executor handles only ack and fail."""

    def hear_of(self, root: int, telling: str) -> None:
        if telling != Telling.RESET_TIMEOUT.value:
            super().hear_of(root, telling)


@TWINS.twin(
    "cluster-one-bucket", "STORM-C22", "a root times out with the next tick",
    "one bucket instead of two")
class OneBucketSpout(SpoutTask):
    """A pending root times out with the next tick."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.roots = SpoutPending(self.roots.limit, buckets=1, acking=self.roots.acking)


@TWINS.twin(
    "cluster-early-ack", "STORM-C8", "a tuple is acked before its children are emitted",
    "storm#acker, XOR facts")
class EarlyAck(BoltTask):
    """A tuple is acked before its children are emitted: the acker never learns of them."""

    def emit(self, value: tuple[object, ...], anchors: Iterable[Message]) -> None:
        inputs = tuple(anchors)
        for anchor in inputs:
            self._ack_values[anchor] = {}
        super().emit(value, inputs)
        for anchor in inputs:
            self._ack_values.pop(anchor)


@TWINS.twin(
    "cluster-double-ack", "STORM-C13", "a tuple is acked twice",
    "storm#acker, XOR facts: not idempotent")
class DoubleAck(BoltTask):
    """A tuple is acked twice, if the first ack did not have to wait; the two cancel.

    With two that wait, pendingEmits would hold more than it may, which is another rule's subject.
    """

    def ack(self, message: Message) -> None:
        values = dict(self._ack_values.get(message, {}))
        super().ack(message)
        if not self.pending:
            self._ack_values[message] = values
            super().ack(message)


@TWINS.twin(
    "cluster-doubled", "STORM-C11", "every tuple is emitted twice",
    "storm#rotating: a duplicate is always another attempt")
class DoubledBolt(BoltTask):
    """Every tuple is emitted twice."""

    def emit(self, value: tuple[object, ...], anchors: Iterable[Message]) -> None:
        inputs = tuple(anchors)
        super().emit(value, inputs)
        super().emit(value, inputs)


@TWINS.twin(
    "cluster-told-twice", "STORM-C9", "ack() and fail() are called twice", "storm#ack-xor-fail")
class TwiceTold(SpoutTask):
    """Every callback of the spout is called twice."""

    def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
        super().conclude([call for each in calls for call in (each, each)])


@TWINS.twin(
    "cluster-eager-spout", "STORM-C7", "the maximum of pending roots is ignored",
    "storm#executors")
class EagerSpout(SpoutTask):
    """The maximum of pending roots is not checked."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.roots = SpoutPending(0)


@TWINS.twin(
    "cluster-forgetful-spout", "STORM-C12", "a failed message is not emitted again",
    "STORM-643: a fail that removes the pending offset")
class ForgetfulSpout(SpoutTask):
    """A failed message is not emitted again, and counts as done."""

    def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
        for outcome, attempt in calls:
            self.context.record("acked" if outcome.value == "ack" else "failed", *attempt)
            self.partition.ack(attempt.offset)


@TWINS.twin(
    "cluster-hasty-spout", "STORM-C10", "a message is emitted again while it is pending",
    "STORM-2666")
class HastySpout(SpoutTask):
    """A message is emitted again while its first attempt is pending."""

    def next_tuple(self) -> bool:
        if len(self.roots) == 2:
            self.partition._waiting.append(min(self.partition._under_way))
        return super().next_tuple()


# ---- workers --------------------------------------------------------------------------------


@TWINS.twin(
    "cluster-STORM-3751", "STORM-C14", "a tuple for a task that is gone ends the worker",
    "STORM-3751")
class UnguardedReceiver(Worker):
    """A tuple for a task that is no longer here is still looked up."""

    def not_here(self, message: Message) -> None:
        self.inputs[message.to].transfer(str(message.sender), (message,))


@TWINS.twin(
    "cluster-STORM-329", "STORM-C15", "the transfer thread waits for a dead worker",
    "STORM-329, STORM-404, STORM-510")
class FaithfulToTheDead(Worker):
    """The transfer thread waits for a worker that is not connected."""

    def _without_connection(self, message: Message) -> bool:
        return False


@TWINS.twin(
    "cluster-STORM-1087", "STORM-C5", "the limit of the overflowQ has no effect",
    "STORM-1087: backpressure stays off")
class Unlimited(Worker):
    """The limit of the overflowQs is not read."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        for inbox in self.inputs.values():
            inbox.overflow_limit = 0  # type: ignore[misc]


@TWINS.twin(
    "cluster-deaf", "STORM-C19", "a worker hears no status, and continues to send",
    "STORM-1087: backpressure stays off, seen from the sender")
class SendingWithoutStatus(RemoteFlags):
    """No status is heard, so the overflowQs of the others grow with the source."""

    def hear(self, status: Status) -> bool:
        return False


@TWINS.twin(
    "cluster-STORM-744", "STORM-C4", "a full recvQ still takes local tuples", "STORM-744")
class Forced(Worker):
    """A local tuple enters recvQ whether or not there is a free slot."""

    def transfer(self, message: Message) -> bool:
        if message.to in self.inputs:
            self.inputs[message.to]._insert(message)
            self._note(message.to)
            return True
        return super().transfer(message)


@TWINS.twin(
    "cluster-same-life", "STORM-C2", "a worker's restarts are not counted",
    "storm#D4: ids restart at 0")
class SameLife(Worker):
    """After a restart the worker counts as if it had never stopped."""

    def __init__(self, topology: Topology, place: Place, *about: Any, **more: Any) -> None:
        super().__init__(topology, Place(place.number, 0, place.worker_of), *about, **more)


@TWINS.twin(
    "cluster-not-writable", "STORM-C23",
    "messages are written to a connection that is not writable",
    "JStorm #404: messages that a channel cannot take are kept on the heap")
class WritingAnyway(Worker):
    """The transfer thread does not check that a connection is writable."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        return super().drain(lambda peer: True)


@TWINS.twin(
    "cluster-no-flushes", "STORM-C13", "no thread flushes the tasks' batches", "storm#review-2241")
class WithoutFlushes(Worker):
    """No thread flushes: the last messages of a batch stay there."""

    def run_flush_timer(self) -> bool:
        return False


@TWINS.twin("cluster-STORM-3376", "STORM-C3", "messages are dropped and not counted", "STORM-3376")
class SilentDrop(Worker):
    """A message without a connection is dropped, and not counted."""

    def _without_connection(self, message: Message) -> bool:
        self._leave()
        return True


@TWINS.twin("cluster-STORM-996", "STORM-C1", "a batch is sent out of order", "STORM-996")
class Shuffled(Worker):
    """Messages that were taken together for one task are sent in the reverse order."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        taken = super().drain(is_writable)
        return {peer: messages[::-1] for peer, messages in taken.items()}


@TWINS.twin(
    "cluster-sent-twice", "STORM-C1", "the end of a batch is sent twice",
    "at least once on a connection that promises at most once")
class SentTwice(Worker):
    """The last message of every batch is sent once more."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        taken = super().drain(is_writable)
        return {peer: [*messages, messages[-1]] for peer, messages in taken.items()}


@TWINS.twin("cluster-STORM-2983", "STORM-C13", "the transfer thread is not started", "STORM-2983")
class WithoutTransferThread(Worker):
    """Messages to other workers wait for a thread that was not started."""

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        return {}


TWINS.add(
    "cluster-STORM-3763", "STORM-C13",
    "the status at a new connection is ignored, and no other follows", "STORM-3763",
    parts={"parts": Parts(tracker=NoRepetition, flags=DeafAtFirst),
           "without": frozenset({"lose_status"})})
TWINS.add(
    "cluster-STORM-3637", "STORM-C13", "a cycle of bolts is accepted", "STORM-3637",
    parts={"cycles": True})
TWINS.add(
    "cluster-STORM-3073", "STORM-C14", "pendingEmits throws when it is full", "STORM-3073",
    parts={"parts": Parts(spout=CappedSpout, bolt=CappedBolt)})
TWINS.add(
    "cluster-overtaking", "STORM-C1", "emitted messages overtake pending ones",
    "a mutant of Executor.send, which a turn without interruption hides",
    parts={"parts": Parts(spout=OvertakingSpout, bolt=OvertakingBolt)})
TWINS.add(
    "cluster-D10-order", "STORM-C1", "spilled tuples overtake the receiving thread's batch",
    "storm#D10", parts={"parts": Parts(inbox=PassingItsBatch)})
TWINS.add(
    "cluster-D10-kept", "STORM-C13", "the receiving thread keeps a batch that is not full",
    "storm#D10", parts={"parts": Parts(inbox=KeepingItsBatch)})
TWINS.add(
    "cluster-skipped-head", "STORM-C1", "the retry skips a head that is blocked", "storm#D8",
    parts={"parts": Parts(spout=SkippingSpout, bolt=SkippingBolt)})
TWINS.add(
    "cluster-stops-alone", "STORM-C25", "user code raises, and its executor stops alone",
    "STORM-1750, STORM-2142, STORM-2194",
    parts={"parts": Parts(spout=StoppingSpout, bolt=StoppingBolt)})


# ---- bugs that show late ----------------------------------------------------------------------


for _messages in (40, 300):
    @TWINS.twin(
        f"cluster-acks-twice-after-{_messages}", "STORM-C9",
        f"from message {_messages + 1} on, ack() and fail() are called twice",
        "a number in one byte wraps, and a call is taken for one that was not made", in_long=True)
    class ToldTwiceLate(SpoutTask):
        """Every callback of the spout is called twice, for all but the first messages."""

        first = _messages

        def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
            super().conclude([call for each in calls
                              for call in (each,) * (1 + (each[1].offset >= self.first))])


_RING: Final = 64


@TWINS.twin(
    "cluster-second-turn", "STORM-C1",
    "where the ring of a transfer queue begins anew, its messages are sent in the reverse order",
    "a ring whose end is read before its beginning", in_long=True)
class SecondTurn(Worker):
    """Messages that were taken together for one task are reversed, if a turn of a ring of 64 begins
    with one of them."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        self._taken = 0

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        taken = super().drain(is_writable)
        before = self._taken // _RING
        self._taken += sum(map(len, taken.values()))
        if self._taken // _RING == before:
            return taken
        return {peer: messages[::-1] for peer, messages in taken.items()}
