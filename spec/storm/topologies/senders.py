"""Tuples that wait behind the head of an executor's pendingEmits (D8).

Theory of operation
-------------------
When a remote task is backlogged, its senders must hold back their tuples for it, and "the
upstream worker can continue sending messages to other tasks that are not backlogged". That
is true of the worker. It is not true of one executor of it: pendingEmits is a single FIFO
for all destinations, only its head is retried, and nothing new is emitted until it is empty.

    executor 0   pendingEmits: [ x1 -> X, y1 -> Y ]      X is backlogged; y1 waits behind x1
    executor 1   pendingEmits: [ ]                       its tuples for Y are sent

A tuple for a free task thus waits, perhaps forever, behind one for a backlogged task. It is
tempting to skip a blocked head. But then a pass over the queue can find X backlogged at x1
and free again at x2, and x2 overtakes x1: the order that each receiver is promised is
violated. It is correct to skip *destinations*: once a tuple for X was put back, the rest of X's
tuples are put back in the same pass. Then both promises hold.

Executor 0 emits tuples for X and Y as its user's code pleases, E in a round; executor 1 has
tuples for Y alone. X becomes backlogged and free again at any time, or stays backlogged
forever; Y never is. A tuple's number is modulo more than can be outstanding.

"The retry semantics are the same" if sender and receiver run in one worker: there a full recvQ
refuses, not a flag. Either way the refused tuple stays at the head of pendingEmits, the attempt has
changed nothing, and the same rules hold and fail (``ColocatedSender``). A sender that kept a tuple
that a flag refuses, and gave up one that a queue refuses, would violate STORM-T9.

A *global* throttle, a flag for the whole topology that is on while any task is backlogged, is
what the text decides against: it stops executor 1, although none of its tuples go to X.

Granularity: one action is one tryTransfer, one retry, or a change of X's flag. A pass that
skips is so many actions, since the flag can change between any two of them.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#aims, 000#throttling,
000#order; the code is ExecutorTransfer.tryTransfer and SpoutExecutor.tryFlushPendingEmits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, choice, const, fifo, integer,
    leads_to, record, require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "ColocatedSender", "DestinationSkippingSender", "GivingUpLocally",
    "GlobalThrottle", "HeadSkippingSender", "Sender",
]

THROTTLING = "000#throttling"


class Receiver(IntEnum):
    """The two remote tasks."""

    X = 0       # may be backlogged
    Y = 1       # never is


class Tuple(NamedTuple):
    """A tuple of executor 0: its receiver, and its number among the tuples for that one."""

    to: Receiver
    number: int


class Sender(Machine):
    """The code: one FIFO, only its head is retried."""

    E = const(3, at_least=1)            # tuples that a round of nextTuple emits

    pending = fifo(record(Tuple, to=choice(Receiver), number=integer(0, E)), E)
    left = integer(0, E)                # tuples that this round has yet to emit
    emitted = array(Receiver, integer(0, E))
    expected = array(Receiver, integer(0, E))
    x_backlogged = boolean(False)
    disordered = boolean(False)
    beat = boolean(False)               # flips with each tuple that reaches Y

    # --- executor 0 ------------------------------------------------------------------

    @action(fair=True)
    def next_tuple(self) -> None:
        """Begin a round, since nothing is pending."""
        require(self.left == 0 and not self.pending)
        self.left = self.E

    @action(fair=True, to=Receiver)
    def emit(self, to: Receiver) -> None:
        """The user's code emits a tuple for either task, by tryTransfer."""
        require(self.left > 0)
        self.left -= 1
        tuple = Tuple(to, self.emitted[to])
        self.emitted[to] = (self.emitted[to] + 1) % (self.E + 1)
        if not self.pending and self.is_free(to):
            self.deliver(tuple)
        else:
            self.pending.push(tuple)

    @action(fair=True)
    def retry(self) -> None:
        """The head of pendingEmits is sent."""
        require(self.left == 0)
        head = self.pending.pop()
        require(self.is_free(head.to))
        self.deliver(head)

    def is_free(self, to: int) -> bool:
        """True if the worker does not believe that the task is backlogged."""
        return to == Receiver.Y or not self.x_backlogged

    def deliver(self, tuple: Tuple) -> None:
        """Send the tuple; the receivers' links are in order."""
        self.disordered = self.disordered or tuple.number != self.expected[tuple.to]
        self.expected[tuple.to] = (tuple.number + 1) % (self.E + 1)
        if tuple.to == Receiver.Y:
            self.beat = not self.beat

    # --- executor 1, and the receiver --------------------------------------------------

    @action(fair=True)
    def other_executor_emits(self) -> None:
        """Executor 1 sends a tuple to Y, which is never backlogged."""
        require(self.is_free(Receiver.Y))
        self.beat = not self.beat

    @action
    def x_is_backlogged(self) -> None:
        """A status turns X's flag on."""
        require(not self.x_backlogged)
        self.x_backlogged = True

    @action
    def x_has_caught_up(self) -> None:
        """A status turns X's flag off; that may never happen."""
        require(self.x_backlogged)
        self.x_backlogged = False

    # --- rules -----------------------------------------------------------------------

    @leads_to("STORM-T6", CLAIM,
              "If an executor's pendingEmits holds tuples for a task that stays free, eventually "
              "it holds none for that task, even if an earlier tuple is for a backlogged task.",
              source=f"{THROTTLING} (read of one executor); storm#D8")
    def free_task_is_served(self) -> tuple[bool, bool]:
        """Once tuples for Y are pending, eventually none is."""
        waiting = any(tuple.to == Receiver.Y for tuple in self.pending)
        return waiting, not waiting

    @leads_to("STORM-T7", MUST,
              "A worker with an executor that always has tuples for a free task sends to that "
              "task again and again, even while another task is backlogged.",
              source=THROTTLING, phase=upto(2))
    def worker_goes_on(self, phase: int) -> tuple[bool, bool]:
        """Each tuple for Y is followed by another."""
        return self.beat == (phase == 1), self.beat != (phase == 1)

    @always("STORM-T9", MUST,
            "Every tuple that an executor has emitted was sent or is in its pendingEmits: a "
            "refusal loses nothing.",
            source="000#aims ('required to retry'); 000#throttling")
    def refusals_change_nothing(self) -> bool:
        """For each receiver, every number that was not sent is pending."""
        return all(
            (self.emitted[to] - self.expected[to]) % (self.E + 1)
            == sum(int(tuple.to == to) for tuple in self.pending) for to in Receiver)

    @always("STORM-T8", MUST,
            "A task receives the tuples of an executor in the order of emission, without gaps "
            "or repetitions.",
            source="000#order; storm#D8")
    def order_is_kept(self) -> bool:
        """No tuple was sent to its receiver out of order."""
        return not self.disordered


class GlobalThrottle(Sender):
    """One flag for all: while X is backlogged no executor sends to any task."""

    def is_free(self, to: int) -> bool:
        """True if X is not backlogged, for tuples to either task."""
        return not self.x_backlogged


class ColocatedSender(Sender):
    """X runs in the same worker: its bounded recvQ refuses tuples while it is full. X may stop
    processing forever, so a full recvQ has the effect that being backlogged has elsewhere."""

    C = const(1, at_least=1)            # capacity of X's recvQ

    recvq = integer(0, C)

    def is_free(self, to: int) -> bool:
        """True if the receiver is Y, or X's recvQ has a free slot."""
        return to == Receiver.Y or self.recvq < self.C

    def deliver(self, tuple: Tuple) -> None:
        """Send the tuple; one for X takes room in its recvQ."""
        super().deliver(tuple)
        if tuple.to == Receiver.X:
            self.recvq += 1

    @action
    def x_has_caught_up(self) -> None:
        """X processes a tuple; that may never happen."""
        require(self.recvq > 0)
        self.recvq -= 1

    @action
    def x_is_backlogged(self) -> None:
        """Never: there is no flag."""
        super().x_is_backlogged()
        require(False)


class GivingUpLocally(ColocatedSender):
    """A tuple that a full recvQ refuses is not kept: one attempt was made."""

    @action(fair=True, to=Receiver)
    def emit(self, to: Receiver) -> None:
        """Emit a tuple, and throw it away if it cannot be sent."""
        if self.is_free(to):
            super().emit(to)
        else:
            require(self.left > 0)
            self.left -= 1
            self.emitted[to] = (self.emitted[to] + 1) % (self.E + 1)


class HeadSkippingSender(Sender):
    """A pass over pendingEmits that puts back a tuple it cannot send and tries the next."""

    unseen = integer(0, Sender.E)       # pending tuples that this pass has yet to try
    skipped = subset(Receiver)          # receivers of which it has put a tuple back

    @action(fair=True)
    def begin_pass(self) -> None:
        """Begin a pass over all pending tuples."""
        require(self.left == 0 and self.unseen == 0 and len(self.pending) > 0)
        self.unseen = len(self.pending)
        self.skipped.clear()

    @action(fair=True)
    def retry(self) -> None:
        """The next tuple of the pass is sent, or put back in its place."""
        require(self.unseen > 0)
        self.unseen -= 1
        tuple = self.pending.pop()
        if self.may_send(tuple.to):
            self.deliver(tuple)
        else:
            self.pending.push(tuple)    # a whole pass restores the order of what it puts back
            self.skipped.add(tuple.to)

    def may_send(self, to: int) -> bool:
        """True if the flag allows it at this moment."""
        return self.is_free(to)


class DestinationSkippingSender(HeadSkippingSender):
    """The same pass, but nothing is sent to a task for which a tuple was put back in it."""

    def may_send(self, to: int) -> bool:
        """False after a tuple for the same task was put back: none may overtake it."""
        return self.is_free(to) and to not in self.skipped


EXPECTATIONS = (
    expect(Sender, "STORM-T6", "violated", "one FIFO: a free task waits too (D8)", E=(2, 3)),
    expect(Sender, "STORM-T7", "holds",
           "behind a blocked head the worker's other executors continue", E=(2, 3)),
    expect(Sender, "STORM-T8", "holds", "one FIFO keeps the order", E=(2, 3)),
    expect(Sender, "STORM-T9", "holds", "a refused tuple stays", E=(2, 3)),
    expect(GlobalThrottle, "STORM-T7", "violated",
           "a global throttle stops senders to other tasks", E=(2, 3)),
    expect(ColocatedSender, "STORM-T6", "violated",
           "within one worker too a free task waits behind a blocked head",
           E=(2, 3), C=(1, 2)),
    expect(ColocatedSender, "STORM-T7", "holds",
           "within one worker other executors continue behind a full recvQ", E=(2, 3), C=(1, 2)),
    expect(ColocatedSender, "STORM-T8", "holds",
           "within one worker waiting tuples keep their order", E=(2, 3), C=(1, 2)),
    expect(ColocatedSender, "STORM-T9", "holds",
           "within one worker a refused tuple stays and is tried again", E=(2, 3), C=(1, 2)),
    expect(GivingUpLocally, "STORM-T9", "violated", "a local refusal is not retried", E=(2, 3)),
    expect(HeadSkippingSender, "STORM-T6", "holds",
           "skipping a blocked head delays no free task", E=(2, 3)),
    expect(HeadSkippingSender, "STORM-T8", "violated",
           "skipping a blocked head breaks the order (D8)", E=(2, 3)),
    expect(DestinationSkippingSender, "STORM-T6", "holds",
           "skipping whole destinations delays no free task", E=(2, 3)),
    expect(DestinationSkippingSender, "STORM-T9", "holds",
           "skipping destinations keeps refused tuples", E=(2, 3)),
    expect(DestinationSkippingSender, "STORM-T8", "holds",
           "skipping whole destinations keeps the order of each", E=(2, 3)),
)

UNSEEN = {
    "STORM-T6":
        "It is false of the one queue that an executor has for all its tuples, so it is not "
        "required of implementations.",
}
