"""A task's input in Storm: the bounded recvQ with its overflowQ, and how the task drains them.

Theory of operation
-------------------
A task reads tuples that two kinds of senders write. *Local* senders run in the same worker:
they publish to the bounded recvQ and retry while it is full. Tuples of *remote* senders
are put in by the worker's receiving thread, which must never wait (it serves all tasks):
a tuple that finds recvQ full goes to the overflowQ, and from then on every remote tuple
follows it there until the overflowQ has been drained; otherwise it would overtake.

    local sender  --- publish (waits while full) ---> [ recvQ, at most C ] ---\\
                                                        ^ if overflowQ is empty  >--- task
    remote sender --- arrive (never waits) ------------/                        |
                                     \\--- otherwise --> [ overflowQ ] ---------/

The task must process each sender's tuples in the order in which they were emitted. Between the
two queues there is no order, so *how the task alternates* decides whether it does. Every tuple
of a sender that is in recvQ was emitted before all of that sender's tuples in the overflowQ.
Hence: before the first tuple of the overflowQ is taken, all tuples that were in recvQ when that
tuple was already in the overflowQ must be gone.

The correct policy takes two snapshots, **first** the size of the overflowQ, **then** that of
recvQ, takes that many from recvQ, then that many from the overflowQ, and starts again. A tuple
in the overflowQ at the first snapshot was spilled before the second, so everything that
must go first is counted in it. Budgets bound both phases, so neither queue starves, and
they survive an interruption (a bolt stops consuming while its own output is blocked);
otherwise the second phase might never come. The variants below are the nearest reading of the
text (which does not say *how* tasks alternate), the code's policy, and alternatives that one might
write; each breaks a promise.

Granularity: one action is one step that other threads can see -- a read of a size, one
poll, one insertion. The run is endless: tuples are numbered modulo more than can be
outstanding, so a number distinguishes a tuple from every other one of its sender that is under way.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#overflow, 000#order; the queue
itself is JCQueue.consumeImpl and WorkerState.transferLocalBatch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, choice, const, fifo, integer,
    leads_to, record, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "AlternatingInput", "DrainThenSizeInput", "DrainingInput",
    "ForgetfulInput", "IntoRecvqInput", "LocalBehindInput", "LocalOverflowInput",
    "OverflowFirstInput",
    "OverfullInput", "RecvqSizeFirstInput", "TaskInput",
]

OVERFLOW = "000#overflow"
ORDERING = "000#order"


class Phase(IntEnum):
    """The next step of the consuming thread."""

    IDLE = 0        # about to read the size of the overflowQ
    SIZED = 1       # has read it, about to read that of recvQ
    RECVQ = 2       # takes from recvQ while it has budget
    OVERFLOWQ = 3   # takes from the overflowQ while it has budget


class Tuple(NamedTuple):
    """A tuple: its sender, and its number modulo what can be outstanding."""

    sender: int
    number: int


class TaskInput(Machine):
    """The correct policy: overflowQ's size first, then recvQ's, budgets kept."""

    C = const(2, at_least=1)            # capacity of recvQ
    M = const(2, at_least=1)            # what can be in flight when the senders are stopped
    R = const(1)                        # remote senders: 0 .. R - 1
    S = const(1)                        # local senders: R .. R + S - 1

    recvq = fifo(record(Tuple, sender=integer(0, R + S - 1), number=integer(0, C + M)), C + 1)
    overflowq = fifo(record(Tuple, sender=integer(0, R + S - 1), number=integer(0, C + M)), M)

    phase = choice(Phase)
    recvq_budget = integer(0, C)
    overflowq_budget = integer(0, M)
    interrupted = boolean(False)        # the task's own output is blocked, it does not consume
    may_spill = boolean(False)          # a tuple was just processed: its output may be refused
    from_overflowq = boolean(False)     # where the last tuple was taken from

    emitted = array(upto(R + S), integer(0, C + M))      # number of the next tuple, by sender
    expected = array(upto(R + S), integer(0, C + M))     # … that the task must process next
    disordered = boolean(False)

    # --- senders ---------------------------------------------------------------------

    @action(fair=True, sender=upto(R))
    def arrive(self, sender: int) -> None:
        """The receiving thread gets a remote sender's tuple; it never waits."""
        require(len(self.overflowq) < self.M)   # the sender was stopped by then
        self.place(Tuple(sender, self.emitted[sender]))
        self.emitted[sender] = (self.emitted[sender] + 1) % (self.C + self.M + 1)

    @action(fair=True, sender=upto(S))
    def publish(self, sender: int) -> None:
        """A local sender puts a tuple into recvQ, which has a free slot."""
        require(len(self.recvq) < self.C)
        local = self.R + sender
        self.recvq.push(Tuple(local, self.emitted[local]))
        self.emitted[local] = (self.emitted[local] + 1) % (self.C + self.M + 1)

    def place(self, tuple: Tuple) -> None:
        """Put a remote tuple into recvQ or the overflowQ, never past one in the overflowQ."""
        if not self.overflowq and len(self.recvq) < self.C:
            self.recvq.push(tuple)
        else:
            self.overflowq.push(tuple)

    # --- the task --------------------------------------------------------------------

    @action(fair=True)
    def size_overflowq(self) -> None:
        """The consumer reads the overflowQ's size, before recvQ's."""
        require(self.phase == Phase.IDLE and not self.interrupted)
        self.overflowq_budget = len(self.overflowq)
        self.phase = Phase.SIZED

    @action(fair=True)
    def size_recvq(self) -> None:
        """The second snapshot: tuples that must go before those of the first one."""
        require(self.phase == Phase.SIZED and not self.interrupted)
        self.recvq_budget = len(self.recvq)
        self.phase = Phase.RECVQ

    @action(fair=True)
    def take_from_recvq(self) -> None:
        """One tuple of the recvQ budget."""
        require(self.phase == Phase.RECVQ and not self.interrupted and self.recvq_budget > 0)
        self.process(self.recvq.pop(), False)
        self.recvq_budget -= 1

    @action(fair=True)
    def turn_to_overflowq(self) -> None:
        """The recvQ budget is spent."""
        require(self.phase == Phase.RECVQ and not self.interrupted and self.recvq_budget == 0)
        self.phase = Phase.OVERFLOWQ

    @action(fair=True)
    def take_from_overflowq(self) -> None:
        """One tuple of the overflowQ budget."""
        require(self.phase == Phase.OVERFLOWQ and not self.interrupted)
        require(self.overflowq_budget > 0)
        self.process(self.overflowq.pop(), True)
        self.overflowq_budget -= 1

    @action(fair=True)
    def finish(self) -> None:
        """Both budgets are spent; the next round takes new snapshots."""
        require(self.phase == Phase.OVERFLOWQ and not self.interrupted)
        require(self.overflowq_budget == 0)
        self.phase = Phase.IDLE

    def process(self, tuple: Tuple, overflowed: bool) -> None:
        """Process a tuple, and record whether it is the next of its sender."""
        self.disordered = self.disordered or tuple.number != self.expected[tuple.sender]
        self.expected[tuple.sender] = (tuple.number + 1) % (self.C + self.M + 1)
        self.from_overflowq = overflowed
        self.may_spill = True

    @action
    def interrupt(self) -> None:
        """The output of the tuple just processed is blocked: the task stops consuming."""
        require(self.may_spill and not self.interrupted)
        self.interrupted = True
        self.may_spill = False

    @action(fair=True)
    def resume(self) -> None:
        """The output was accepted; the round continues where it was."""
        require(self.interrupted)
        self.interrupted = False

    # --- rules -----------------------------------------------------------------------

    @always("STORM-Q1", MUST,
            "A tuple that a task processes is the oldest unprocessed tuple of its sender, apart "
            "from those that were refused or dropped.",
            source=f"{ORDERING}; storm#D1, storm#D2, storm#D9")
    def per_sender_order(self) -> bool:
        """No tuple was processed out of order."""
        return not self.disordered

    @always("STORM-Q2", MUST, "recvQ never holds more than its capacity.", source="000#within")
    def recvq_is_bounded(self) -> bool:
        """Backpressure within a worker promises this bound."""
        return len(self.recvq) <= self.C

    @always("STORM-Q3", MUST, "Only tuples of other workers are in the overflowQ.",
            source=OVERFLOW)
    def only_remote_tuples_overflow(self) -> bool:
        """Local senders wait instead."""
        return all(tuple.sender < self.R for tuple in self.overflowq)

    @step("STORM-Q4", MUST,
          "While the overflowQ is not empty, no remote tuple is added to recvQ.",
          source=ORDERING)
    def remote_tuples_follow_into_overflow(self, after: TaskInput) -> bool:
        """If recvQ grew, a local sender published; remote tuples overflow or are dropped."""
        return (len(after.recvq) <= len(self.recvq) or not self.overflowq
                or after.recvq[-1].sender >= self.R)

    @leads_to("STORM-Q5", MUST,
              "If the overflowQ is not empty and the task's last tuple, if any, came from "
              "recvQ, the task takes a tuple from the overflowQ eventually.",
              source=f"{ORDERING} ('Tasks alternate'); storm#D3")
    def overflowq_is_not_starved(self) -> tuple[bool, bool]:
        """While it is not empty, one of its tuples is taken eventually."""
        return len(self.overflowq) > 0, self.from_overflowq or not self.overflowq

    @leads_to("STORM-Q6", SHOULD,
              "If recvQ is not empty and the task's last tuple came from the overflowQ, the "
              "task takes a tuple from recvQ eventually.",
              source=f"{ORDERING} ('Tasks alternate')")
    def recvq_is_not_starved(self) -> tuple[bool, bool]:
        """While recvQ is not empty, one of its tuples is taken eventually."""
        return len(self.recvq) > 0, not self.from_overflowq or not self.recvq


class AlternatingInput(TaskInput):
    """One reading of "tasks alternate": one from recvQ, one from the overflowQ, in turn (D1)."""

    @action(fair=True)
    def size_overflowq(self) -> None:
        """Take no snapshot, and turn to recvQ at once."""
        require(self.phase == Phase.IDLE and not self.interrupted)
        self.phase = Phase.RECVQ

    @action(fair=True)
    def take_from_recvq(self) -> None:
        """One from recvQ, then the other queue."""
        require(self.phase == Phase.RECVQ and not self.interrupted)
        self.process(self.recvq.pop(), False)
        self.phase = Phase.OVERFLOWQ

    @action(fair=True)
    def turn_to_overflowq(self) -> None:
        """Turn to the overflowQ because recvQ is empty."""
        require(self.phase == Phase.RECVQ and not self.interrupted and not self.recvq)
        self.phase = Phase.OVERFLOWQ

    @action(fair=True)
    def take_from_overflowq(self) -> None:
        """One from the overflowQ, then the other queue."""
        require(self.phase == Phase.OVERFLOWQ and not self.interrupted)
        self.process(self.overflowq.pop(), True)
        self.phase = Phase.IDLE

    @action(fair=True)
    def finish(self) -> None:
        """Turn to recvQ because the overflowQ is empty."""
        require(self.phase == Phase.OVERFLOWQ and not self.interrupted and not self.overflowq)
        self.phase = Phase.IDLE


class DrainingInput(TaskInput):
    """The overflowQ's size first, but then recvQ until it is empty: in order, yet a local
    sender that keeps recvQ filled starves the overflowQ (D3)."""

    @action(fair=True)
    def take_from_recvq(self) -> None:
        """Take a tuple without a budget, as long as there is one."""
        require(self.phase == Phase.RECVQ and not self.interrupted)
        self.process(self.recvq.pop(), False)

    @action(fair=True)
    def turn_to_overflowq(self) -> None:
        """recvQ is seen empty."""
        require(self.phase == Phase.RECVQ and not self.interrupted and not self.recvq)
        self.phase = Phase.OVERFLOWQ


class DrainThenSizeInput(DrainingInput):
    """The code's policy: recvQ until it is seen empty, then the overflowQ's size (D2)."""

    @action(fair=True)
    def size_overflowq(self) -> None:
        """No snapshot before recvQ is drained."""
        require(self.phase == Phase.IDLE and not self.interrupted)
        self.phase = Phase.RECVQ

    @action(fair=True)
    def turn_to_overflowq(self) -> None:
        """recvQ is seen empty; its senders continue meanwhile."""
        require(self.phase == Phase.RECVQ and not self.interrupted and not self.recvq)
        self.phase = Phase.SIZED

    @action(fair=True)
    def size_recvq(self) -> None:
        """Only now is the size of the overflowQ read."""
        require(self.phase == Phase.SIZED and not self.interrupted)
        self.overflowq_budget = len(self.overflowq)
        self.phase = Phase.OVERFLOWQ


class RecvqSizeFirstInput(TaskInput):
    """The two sizes in the other order: recvQ's first (D2)."""

    @action(fair=True)
    def size_overflowq(self) -> None:
        """recvQ's size is read first."""
        require(self.phase == Phase.IDLE and not self.interrupted)
        self.recvq_budget = len(self.recvq)
        self.phase = Phase.SIZED

    @action(fair=True)
    def size_recvq(self) -> None:
        """The overflowQ's size is read second: it may count tuples that came after."""
        require(self.phase == Phase.SIZED and not self.interrupted)
        self.overflowq_budget = len(self.overflowq)
        self.phase = Phase.RECVQ


class IntoRecvqInput(TaskInput):
    """Remote tuples go into recvQ whenever it is not full, overflowQ or not (D9): a mutant,
    which neither the text nor the code has."""

    def place(self, tuple: Tuple) -> None:
        """Put the tuple into recvQ if that has a free slot, whatever is in the overflowQ."""
        if len(self.recvq) < self.C:
            self.recvq.push(tuple)
        else:
            self.overflowq.push(tuple)


class OverfullInput(TaskInput):
    """A local sender does not check for a free slot, as if recvQ were unbounded."""

    recvq_budget = integer(0, TaskInput.C + 1)

    @action(fair=True, sender=upto(TaskInput.S))
    def publish(self, sender: int) -> None:
        """Publish even to a full recvQ, one tuple beyond its capacity."""
        require(len(self.recvq) <= self.C)
        local = self.R + sender
        self.recvq.push(Tuple(local, self.emitted[local]))
        self.emitted[local] = (self.emitted[local] + 1) % (self.C + self.M + 1)


class LocalOverflowInput(TaskInput):
    """A local sender's tuple that finds recvQ full goes to the overflowQ, like a remote one."""

    @action(fair=True, sender=upto(TaskInput.S))
    def publish(self, sender: int) -> None:
        """The sender need not wait, and gets no backpressure."""
        require(len(self.overflowq) < self.M)
        local = self.R + sender
        self.place(Tuple(local, self.emitted[local]))
        self.emitted[local] = (self.emitted[local] + 1) % (self.C + self.M + 1)


class LocalBehindInput(TaskInput):
    """A local sender's tuple waits behind those in the overflowQ, as if it were remote."""

    @action(fair=True, sender=upto(TaskInput.S))
    def publish(self, sender: int) -> None:
        """It goes to the overflowQ only if something is there."""
        require(len(self.recvq) < self.C and len(self.overflowq) < self.M)
        local = self.R + sender
        self.place(Tuple(local, self.emitted[local]))
        self.emitted[local] = (self.emitted[local] + 1) % (self.C + self.M + 1)


class OverflowFirstInput(TaskInput):
    """The overflowQ until it is empty, then one tuple of recvQ."""

    @action(fair=True)
    def take_from_recvq(self) -> None:
        """Take from recvQ only while the overflowQ is empty."""
        require(not self.overflowq)
        super().take_from_recvq()

    @action(fair=True)
    def turn_to_overflowq(self) -> None:
        """Turn as soon as the overflowQ is not empty."""
        require(self.phase == Phase.RECVQ and not self.interrupted)
        require(self.recvq_budget == 0 or len(self.overflowq) > 0)
        self.recvq_budget = 0
        self.overflowq_budget = len(self.overflowq)
        self.phase = Phase.OVERFLOWQ


class ForgetfulInput(TaskInput):
    """Each call of the consumer starts over: an interruption forgets the budgets (D3)."""

    @action
    def interrupt(self) -> None:
        """The call ends, and its budgets are forgotten."""
        super().interrupt()
        self.phase = Phase.IDLE
        self.recvq_budget = 0
        self.overflowq_budget = 0


ORDER, NOT_STARVED = "STORM-Q1", "STORM-Q5"

EXPECTATIONS = (
    expect(AlternatingInput, ORDER, "violated", "item-wise alternation (D1)", C=(1, 2)),
    expect(DrainThenSizeInput, ORDER, "violated",
           "drain recvQ until empty, then the overflow size (D2)", C=(1, 2)),
    expect(TaskInput, ORDER, "holds",
           "overflow size first, then recvQ size, budgets kept", C=(1, 2, 3)),
    expect(TaskInput, NOT_STARVED, "holds",
           "overflow size first, then recvQ size, budgets kept", C=(1, 2, 3)),
    expect(RecvqSizeFirstInput, ORDER, "violated", "the two sizes in the other order", C=(1, 2)),
    expect(IntoRecvqInput, ORDER, "violated", "into recvQ whenever it is not full (D9)", C=(1, 2)),
    expect(DrainingInput, ORDER, "holds", "overflow size first, then recvQ until empty", C=(1, 2)),
    expect(DrainingInput, NOT_STARVED, "violated",
           "draining recvQ until it is empty starves the overflowQ (D3)", C=(1, 2)),
    expect(DrainThenSizeInput, NOT_STARVED, "violated",
           "the real code's first phase has no bound (D3)", C=(1, 2)),
    expect(ForgetfulInput, NOT_STARVED, "violated", "budgets forgotten (D3)", C=(1, 2)),
    expect(TaskInput, "STORM-Q2", "holds", "recvQ is bounded by the check in publish", C=(1, 2, 3)),
    expect(OverfullInput, "STORM-Q2", "violated", "local senders do not check for a slot", C=1),
    expect(LocalBehindInput, "STORM-Q3", "violated", "local tuples behind remote ones", C=1),
    expect(LocalOverflowInput, "STORM-Q3", "violated", "local senders spill", C=1),
    expect(TaskInput, "STORM-Q3", "holds", "overflow is for remote tuples only", C=(1, 2)),
    expect(TaskInput, "STORM-Q4", "holds", "remote tuples follow into the overflowQ", C=(1, 2)),
    expect(IntoRecvqInput, "STORM-Q4", "violated", "into recvQ whenever it is not full", C=(1, 2)),
    expect(OverflowFirstInput, "STORM-Q6", "violated", "the overflowQ first", C=1),
    expect(OverflowFirstInput, ORDER, "violated",
           "taking the overflowQ first breaks the order", C=1),
    expect(TaskInput, "STORM-Q6", "holds", "recvQ is not starved either", C=(1, 2)),
)
