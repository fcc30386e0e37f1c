"""Executors: the loops of a spout, a bolt and an acker, with their pendingEmits.

Theory of operation
-------------------
A task sends without ever waiting. A message that cannot be transferred goes to its own
*pendingEmits*, one FIFO queue for all destinations, and is retried from its head; the first failure
ends the retry, so nothing overtakes. The stopping rules, which make every cycle of waiting tasks go
through a task that does not wait:

* a **bolt** (the acker is one) consumes nothing while its pendingEmits is not empty; this is
  checked before every tuple;
* a **spout** consumes its recvQ at every call, whatever is pending; it calls nextTuple only
  while its pendingEmits is empty and fewer roots than the maximum are pending, where the
  maximum is checked before the retry.

A spout emits the tuples of a root first, then its INIT. There is no clock and no thread in
here: the driver calls ``call`` again and again, and ``commit`` from time to time.

A period of the message timeout reaches a task as a tick: a message in its recvQ like any other,
with the delay that this brings (D14).

Without ackers nothing is tracked: no tuple has anchors, and the spout's ack() is called for a
message as soon as it was emitted. Only ticks come back then, so the spout looks into
its recvQ only once in ``RECVQ_SKIPS`` calls.

Invariants
----------
* a bolt's pendingEmits holds at most what one execution emits;
* from one task to another, messages are transferred in the order in which they were emitted;
* every root that was emitted is acked, failed, or pending.

An exception of user code passes through ``call``, as in Storm: the driver of the worker ends it,
with all its tasks. A task that stopped alone would hold the tuples in its queues forever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from .acker import Acker, Tell, Telling
from .basic_bolt import Basic, BasicOutput, FailedException
from .messages import Bolt, Kind, Message
from .spout import Call, Outcome, PartitionManager, SpoutMisuse, SpoutPending
from .task_input import Nothing, TaskInput
from .topologies import Topology
from .waiting import BACKPRESSURE, BOLT, SPOUT, Levels, Waiter

__all__ = [
    "AckerTask", "Attempt", "BoltTask", "Context", "Executor", "Log", "SpoutTask",
    "UserCodeFailed",
]

ID_BITS = 64
RECVQ_SKIPS = 3
"""``topology.spout.recvq.skips``: calls of a spout without acking between looks into recvQ."""


class UserCodeFailed(Exception):
    """An exception of a task's user code that is not caught: its worker dies of it."""


@dataclass
class Log:
    """The source's partition, which survives every worker: its length, and the commit."""

    length: int
    committed: int = 0


class Attempt(NamedTuple):
    """One attempt at a message: its offset and its root id."""

    offset: int
    root: int


@dataclass(frozen=True)
class Context:
    """The services that a task gets from its worker.

    ``transfer`` takes a message or refuses it; ``record`` receives events (a word, then
    its fields); ``random`` draws ids; ``life`` counts the worker's restarts. ``pause`` is
    called before every message that a task sends: the driver of the worker may let others run
    there, as threads do. ``flush`` gets a task's number: the messages in its batches are passed on.
    """

    topology: Topology
    transfer: Callable[[Message], bool]
    record: Callable[..., None]
    random: Random
    life: int
    pause: Callable[[], None] = lambda: None
    flush: Callable[[int], None] = lambda task: None


class Executor:
    """The common part of all tasks: an input, and pendingEmits.

    ``idle`` is the strategy by which it waits if pendingEmits is empty and there is nothing to do.
    """

    idle: Levels = BOLT

    def __init__(self, task: int, inbox: TaskInput[Message], context: Context) -> None:
        self.task = task
        self.inbox = inbox
        self.context = context
        self.pending: deque[Message] = deque()
        self._numbers: dict[int, int] = {}
        self._turns: dict[int, int] = {}        # by the number of a stream
        topology, tasks = context.topology, context.topology.tasks_of()
        name = topology.component_of(task)
        self._ackers = tasks["acker"]
        self._subscribed = [(number, stream, tasks[stream.target]) for number, stream
                            in enumerate(topology.streams) if stream.source == name]
        self._waiter = Waiter()
        self._is_to_throw = False

    def wait(self, *, happened: bool) -> int:
        """After a turn: the nanoseconds until the next one (0: at once).

        A task that waits for a free slot waits by another strategy than one that has nothing to do.
        """
        if happened:
            self._waiter.went_on()
            return 0
        return self._waiter.waits(BACKPRESSURE if self.pending else self.idle)

    def call(self) -> bool:
        """One turn of the loop; true if anything happened."""
        raise NotImplementedError

    def rests(self) -> bool:
        """True if a turn would change nothing, so that a driver need not give one."""
        return False

    def tick(self) -> None:
        """A period of the message timeout has passed, and this task has got its tick."""

    # -- its user code ------------------------------------------------------------------------

    def throw_next(self) -> None:
        """Plan that the user code raises an uncaught exception at its next call."""
        self._is_to_throw = True

    def enter_user_code(self) -> None:
        """To be called before user code is. Raises ``UserCodeFailed`` if that is planned."""
        if self._is_to_throw:
            self._is_to_throw = False
            self.context.record("raised", self.task)
            raise UserCodeFailed(f"user code of task {self.task}")

    # -- sending ------------------------------------------------------------------------------

    def send(self, kind: Kind, to: int, value: tuple[object, ...],
             anchors: tuple[tuple[int, int], ...] = ()) -> None:
        """Transfer a message, or keep it in pendingEmits."""
        self.context.pause()
        number = self._numbers.get(to, 0)
        self._numbers[to] = number + 1
        message = Message(kind, self.task, self.context.life, to, number, value, anchors)
        self.context.record("emitted", self.task, message.life, to, number)
        if self._has_to_pend() or not self.context.transfer(message):
            self._pend(message)

    def _has_to_pend(self) -> bool:
        """True if a message that is emitted now has to wait behind earlier ones."""
        return bool(self.pending)

    def _pend(self, message: Message) -> None:
        self.pending.append(message)

    def flush_pending(self) -> bool:
        """Retry from the head until the first failure; true if any message was sent."""
        before = len(self.pending)
        while self.pending and self.context.transfer(self.pending[0]):
            self.pending.popleft()
        return len(self.pending) < before

    def targets(self, value: tuple[object, ...]) -> list[int]:
        """The tasks to which a tuple goes: one of each component that is subscribed."""
        found = []
        for number, stream, among in self._subscribed:
            turn = self._turns.get(number, 0) if stream.key is None else stream.key(value)
            self._turns[number] = turn + 1
            found.append(among[turn % len(among)])
        return found

    def acker_of(self, root: int) -> int:
        """The one acker task that follows a root."""
        return self._ackers[root % len(self._ackers)]

    def draw(self) -> int:
        """An id of an edge or a root: 64 bits, and never 0."""
        return self.context.random.getrandbits(ID_BITS) or 1

    # -- receiving ----------------------------------------------------------------------------

    def take(self) -> Message | None:
        """The next message of the input; a flush is handled at once."""
        while not isinstance(message := self.inbox.poll(), Nothing):
            if message.kind is Kind.FLUSH:
                self.context.flush(self.task)
                continue
            if message.kind is not Kind.TICK:
                self.context.record(
                    "processed", self.task, message.sender, message.life, message.number)
            return message
        return None

    def note_pending(self) -> None:
        """Record the length of pendingEmits."""
        self.context.record("stands", self.task, len(self.pending))


class BoltTask(Executor):
    """The executor of one task of a bolt. ``at_most`` tuples are consumed in a turn.

    Its driver may plan what its user code does: ``fail_next`` makes the next tuple fail,
    ``hold_next`` makes the next one take until ``release``; meanwhile ``ask`` makes the bolt
    ask for more time. All of it happens in turns of the bolt.
    """

    at_most = 4
    basic: type[Basic] = Basic

    def __init__(self, task: int, inbox: TaskInput[Message], context: Context,
                 bolt: Bolt | None = None) -> None:
        super().__init__(task, inbox, context)
        name = context.topology.component_of(task)
        self.bolt = context.topology.bolt(name).make() if bolt is None else bolt
        self.is_sink = name in context.topology.sinks
        self._ack_values: dict[Message, dict[int, int]] = {}
        self.held: Message | None = None
        self._to_fail = 0
        self._is_to_hold = self._is_released = self._is_to_ask = False

    def call(self) -> bool:
        """Retry what is pending; consume only if nothing is."""
        moved = bool(self.pending) and self.flush_pending()
        if moved:
            self.note_pending()
        moved = self._attend() or moved
        consumed = 0
        while consumed < self.at_most and self.may_consume():
            message = self.take()
            if message is None:
                break
            consumed += 1
            if message.kind is Kind.TICK:
                self.tick()
            else:
                self.process(message)
            if self.pending:
                self.note_pending()
        return moved or consumed > 0

    def rests(self) -> bool:
        return not (self.pending or self.inbox.has_any() or self.held is not None)

    def may_consume(self) -> bool:
        """True if nothing is pending; checked before every tuple."""
        return not self.pending

    def process(self, message: Message) -> None:
        """Execute one tuple, or begin to work at it for a long time."""
        if self._is_to_hold and self.held is None:
            self.held, self._is_to_hold = message, False
        else:
            self._execute(message)

    def _execute(self, message: Message) -> None:
        self.enter_user_code()
        if self._to_fail:
            self._to_fail -= 1
            for root, _edge in message.anchors:
                self.context.record("failing", self.task, root)
            self.basic(_Failing()).execute(message, self)
            return
        if self.is_sink and message.anchors:
            offset, part = message.value[:2]
            self.context.record("reached", offset, message.anchors[0][0], part)
        self.bolt.execute(message, self)

    def tick(self) -> None:
        self.bolt.tick()

    # -- plans for its user code --------------------------------------------------------------

    def fail_next(self) -> None:
        """The user code raises ``FailedException`` for the next tuple that it executes."""
        self._to_fail += 1

    def hold_next(self) -> None:
        """Let the work at the next tuple last until ``release``."""
        self._is_to_hold, self._is_released = True, False

    def ask(self) -> None:
        """Ask for more time for the tuple under work, if there is one."""
        self._is_to_ask = self.held is not None

    def release(self) -> None:
        """Finish the tuple under work; no other one is held."""
        self._is_to_hold, self._is_released = False, self.held is not None

    def _attend(self) -> bool:
        """See to the tuple that is worked at: whether anything happened."""
        held = self.held
        if held is None or not self.may_consume():
            return False
        if self._is_released:
            self.held, self._is_released, self._is_to_ask = None, False, False
            self._execute(held)
        elif self._is_to_ask:
            self._is_to_ask = False
            self.reset_timeout(held)
        else:
            return False
        if self.pending:
            self.note_pending()
        return True

    # -- calls of a bolt ----------------------------------------------------------------------

    def emit(self, value: tuple[object, ...], anchors: Iterable[Message]) -> None:
        """One new edge for each anchor and target: it goes to the anchor's ack value and,
        xored with those for the other anchors, into the new tuple."""
        inputs = tuple(anchors)
        for to in self.targets(value):
            edges: dict[int, int] = {}
            for anchor in inputs:
                values = self._ack_values.setdefault(anchor, {})
                for root, _edge in anchor.anchors:
                    edge = self.draw()
                    values[root] = values.get(root, 0) ^ edge
                    edges[root] = edges.get(root, 0) ^ edge
            self.send(Kind.DATA, to, value, tuple(edges.items()))

    def ack(self, message: Message) -> None:
        """Send the ackers the tuple's edge, with those of the tuples emitted from it."""
        values = self._ack_values.pop(message, {})
        for root, edge in message.anchors:
            self.send(Kind.ACK, self.acker_of(root), (root, edge ^ values.get(root, 0)))

    def fail(self, message: Message) -> None:
        """Ask the ackers to fail the roots of the tuple."""
        self._ack_values.pop(message, None)
        for root, _edge in message.anchors:
            self.send(Kind.FAIL, self.acker_of(root), (root, 0))

    def reset_timeout(self, message: Message) -> None:
        """Ask the ackers to restart the timeout of the tuple's roots."""
        for root, _edge in message.anchors:
            self.context.record("asking", self.task, root)
            self.send(Kind.RESET, self.acker_of(root), (root, 0))


class _Failing:
    """User code that fails every tuple."""

    def process(self, value: tuple[object, ...], out: BasicOutput) -> None:
        """Fail every tuple, by FailedException."""
        raise FailedException


class AckerTask(BoltTask):
    """An acker: a bolt with ``acker.Acker`` as its user code."""

    def __init__(self, task: int, inbox: TaskInput[Message], context: Context) -> None:
        super().__init__(task, inbox, context, bolt=_NoBolt())
        self.acker = Acker()

    def process(self, message: Message) -> None:
        root, number = message.value
        if message.kind is Kind.INIT:
            self.tell(self.acker.init(root, number, message.sender))
        elif message.kind is Kind.FAIL:
            self.tell(self.acker.fail(root))
        elif message.kind is Kind.RESET:
            self.tell(self.acker.reset_timeout(root))
        else:
            self.tell(self.acker.ack(root, number))

    def tell(self, tells: Iterable[Tell]) -> None:
        """Send the acker's messages to spouts."""
        for tell in tells:
            self.send(Kind.TELL, tell.to, (tell.root, tell.telling.value))

    def tick(self) -> None:
        self.tell(self.acker.tick())


class _NoBolt:
    """An acker has no user code."""

    def execute(self, message: Message, out: object) -> None:
        """Take the message, and do nothing."""

    def tick(self) -> None:
        """Do nothing: an acker's bolt has no timeouts."""


class SpoutTask(Executor):
    """The spout's executor, on the partition that ``log`` represents.

    ``max_pending`` roots may be pending (0: any number) when a round begins; a round emits
    up to ``per_round``.
    """

    idle = SPOUT

    def __init__(self, task: int, inbox: TaskInput[Message], context: Context, log: Log,
                 max_pending: int = 0, per_round: int = 1) -> None:
        super().__init__(task, inbox, context)
        ackers = context.topology.tasks_of()["acker"]
        self.log = log
        self.per_round = per_round
        self.roots: SpoutPending[Attempt] = SpoutPending(
            max_pending, acking=len(ackers) > 0)
        self._skipped = 0
        self.partition = PartitionManager(log.committed, fetch_size=4)

    def call(self) -> bool:
        """Consume the input; then retry; then nextTuple, if the rules allow it."""
        heard = self.may_consume() and self._is_to_look() and self.hear()
        may_emit = self.roots.begin_round()
        moved = bool(self.pending) and self.flush_pending()
        emitted = 0
        if may_emit and not self.pending:
            while emitted < self.per_round and self.next_tuple():
                emitted += 1
        self.roots.end_round()
        if moved or emitted:
            self.note_pending()
            self.context.record("pends", self.task, len(self.roots))
        return heard or moved or emitted > 0

    def may_consume(self) -> bool:
        """True always: a spout never stops consuming its input."""
        return True

    def _is_to_look(self) -> bool:
        """True at every call with ackers; without, only once in several calls, as there is little
        to read."""
        self._skipped = 0 if self.roots.acking or self._skipped >= RECVQ_SKIPS else (
            self._skipped + 1)
        return self._skipped == 0

    def hear(self) -> bool:
        """Process the ackers' answers, and ticks; true if there was anything."""
        heard = False
        while (message := self.take()) is not None:
            heard = True
            if message.kind is Kind.TICK:
                self.tick()
            else:
                self.hear_of(*message.value)
        return heard

    def hear_of(self, root: int, telling: str) -> None:
        """Process an acker's answer about a root."""
        if telling == Telling.ACK.value:
            self.conclude(self.roots.ack(root))
        elif telling == Telling.FAIL.value:
            self.conclude(self.roots.fail(root))
        else:
            self.conclude(self.roots.reset_timeout(root))

    def conclude(self, calls: Iterable[Call[Attempt]]) -> None:
        """Call the spout's ack() and fail()."""
        for outcome, attempt in calls:
            if outcome is Outcome.ACK:
                self.context.record("acked", *attempt)
                self.partition.ack(attempt.offset)
            else:
                self.context.record("failed", *attempt)
                self.partition.fail(attempt.offset)

    def next_tuple(self) -> bool:
        """nextTuple: emit one message of the source, if there is one."""
        offset = self.partition.next()
        if offset is None:
            self._fetch()
            offset = self.partition.next()
        if offset is None:
            return False
        self.enter_user_code()
        value = (offset, self.context.topology.text(offset))
        if not self.roots.acking:
            return self._emit_untracked(offset, value)
        root = self._new_root(offset)
        self.context.record("root", offset, root)
        total = 0
        for to in self.targets(value):
            edge = self.draw()
            total ^= edge
            self.send(Kind.DATA, to, value, ((root, edge),))
        self.send(Kind.INIT, self.acker_of(root), (root, total))
        return True

    def _emit_untracked(self, offset: int, value: tuple[object, ...]) -> bool:
        for to in self.targets(value):
            self.send(Kind.DATA, to, value)
        for _outcome, attempt in self.roots.emit(0, Attempt(offset, 0)):
            self.partition.ack(attempt.offset)
        return True

    def _new_root(self, offset: int) -> int:
        while True:
            root = self.draw()
            try:
                self.roots.emit(root, Attempt(offset, root))
            except SpoutMisuse:     # an id that is pending: in a round there is no other cause
                continue
            return root

    def _fetch(self) -> None:
        if not self.partition.seeks_below(self.log.length):
            return
        wanted = self.partition.wants()
        if wanted is not None:
            end = min(wanted.offset + wanted.size, self.log.length)
            self.partition.fetched(range(wanted.offset, end), max(end, wanted.offset))

    def tick(self) -> None:
        self.conclude(self.roots.tick())

    def commit(self) -> None:
        """Record the position up to which the partition is done; a restart begins there."""
        self.log.committed = self.partition.commit()

    def is_done(self) -> bool:
        """True if every message of the source was acked."""
        return not len(self.roots) and self.partition.commit() == self.log.length
