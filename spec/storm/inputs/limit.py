"""The limit of an overflowQ in Storm: which tuples are dropped, and which order is left.

Theory of operation
-------------------
``executor.overflow.limit`` bounds the overflowQ of a task. A receiving thread that finds no
free slot in recvQ looks at the length of the overflowQ: below the limit the tuple goes there, at
the limit *that tuple* is dropped and counted. A limit of 0 means that there is none.

    sender --> receiving thread --> [ recvQ, at most C ] -----> task
                     |    '-------> [ overflowQ, at most X ] --'
                     '--> dropped and counted

So "the order in which they were emitted" cannot mean that the task processes a *prefix* of
the tuples sent: a dropped tuple leaves a gap, and the tuples after it are processed. What
holds is that it processes a *subsequence*: never an earlier tuple after a later one. A tuple
that is dropped may be replayed by its spout much later; the replay is another tuple, and no
rule orders it. Without acknowledgements it is lost.

Looking at the length and adding are two steps. One receiving thread keeps the limit; with
k threads all may look before any adds, and the bound is X + k - 1.

The variants: dropping from the head keeps the order, but breaks a promise already made to a
tuple that is in the overflowQ; comparing with > lets one tuple too many in; dropping one
earlier drops without need. The remaining alternative, to wait at the limit, is in
``storm.crossing``: it deadlocks.

The run is finite: each sender has K tuples, numbered from 1, and one receiving thread of its
own. The task takes from recvQ first, and from the overflowQ if recvQ is empty, in one step;
how it alternates is the subject of ``storm.queue``.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#memory, 000#order; in the code
JCQueue.tryPublishToOverflow and WorkerState.transferLocalBatch.
"""

from __future__ import annotations

from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, const, fifo, integer, leads_to,
    record, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "DroppingAbove", "DroppingAll", "DroppingEarly", "DroppingSilently",
    "DroppingTheHead", "DroppingTheTail", "IntoRecvqAnyway", "LimitedInput", "Tuple",
]

LIMIT = "000#memory ('topology.executor.overflow.limit'); storm#D7"
ORDERING = "000#order; storm#D7"


class Tuple(NamedTuple):
    """A tuple: its sender, and its number, from 1."""

    sender: int
    number: int


class LimitedInput(Machine):
    """Tail drop at the limit, counted."""

    C = const(1, at_least=1)            # capacity of recvQ
    X = const(1)                        # limit of the overflowQ; 0: none
    K = const(7, at_least=1)            # tuples of each sender
    k = const(1, at_least=1)            # receiving threads, each with one sender

    recvq = fifo(record(Tuple, sender=integer(0, k - 1), number=integer(1, K)), C)
    overflowq = fifo(record(Tuple, sender=integer(0, k - 1), number=integer(1, K)), k * K)
    sent = array(upto(k), integer(0, K))            # number of the last tuple sent
    adding = array(upto(k), boolean())              # passed the limit, not yet in the overflowQ
    processed = array(upto(k), integer(0, K))       # number of the last tuple processed
    finished = array(upto(k), integer(0, K))        # how many were processed
    dropped = array(upto(k), integer(0, K))         # how many were dropped
    disordered = boolean()
    gap = boolean()

    # --- the receiving threads ---------------------------------------------------------------

    @action(thread=upto(k))
    def arrive(self, thread: int) -> None:
        """A tuple arrives: it goes to recvQ or the overflowQ, or is dropped."""
        require(self.sent[thread] < self.K and not self.adding[thread])
        self.sent[thread] += 1
        if not self.overflowq and len(self.recvq) < self.C:
            self.recvq.push(Tuple(thread, self.sent[thread]))
        elif self.has_room():
            self.adding[thread] = True
        else:
            self.drop(thread)

    def has_room(self) -> bool:
        """True if the overflowQ is below its limit."""
        return self.X == 0 or len(self.overflowq) < self.X

    def drop(self, thread: int) -> None:
        """Drop the tuple that arrives, and count it."""
        self.dropped[thread] += 1

    @action(fair=True, thread=upto(k))
    def add(self, thread: int) -> None:
        """The tuple is added to the overflowQ."""
        require(self.adding[thread])
        self.overflowq.push(Tuple(thread, self.sent[thread]))
        self.adding[thread] = False

    # --- the task ----------------------------------------------------------------------------

    @action(fair=True)
    def process(self) -> None:
        """The task takes a tuple from recvQ."""
        self.note(self.recvq.pop())

    @action(fair=True)
    def process_overflow(self) -> None:
        """recvQ is empty: the task takes a tuple from the overflowQ."""
        require(not self.recvq)
        self.note(self.overflowq.pop())

    def note(self, tuple: Tuple) -> None:
        """Process a tuple, and record whether it is out of order or leaves a gap."""
        before = self.processed[tuple.sender]
        self.disordered = self.disordered or tuple.number <= before
        self.gap = self.gap or tuple.number > before + 1
        self.processed[tuple.sender] = tuple.number
        self.finished[tuple.sender] += 1

    # --- rules -------------------------------------------------------------------------------

    @always("STORM-L1", MUST,
            "A task processes the tuples of each sender in the order of emission, each at most "
            "once; some may be missing.",
            source=f"{ORDERING}; storm#fifo")
    def order_is_kept(self) -> bool:
        """No tuple was processed after a later one of its sender."""
        return not self.disordered

    @always("STORM-L2", CLAIM, "A task processes a prefix of the tuples of each sender: none is "
            "missing before one that is processed.", source=ORDERING)
    def nothing_is_left_out(self) -> bool:
        """The text promises order only, and may be misread as this (D7)."""
        return not self.gap

    @step("STORM-L3", MUST, "A tuple is dropped only if the overflowQ is at its limit.",
          source=f"{LIMIT}; storm#no-loss", thread=upto(k))
    def drops_only_at_the_limit(self, after: LimitedInput, thread: int) -> bool:
        """Below the limit, and without a limit, no tuple is dropped."""
        is_dropped = after.dropped[thread] > self.dropped[thread]
        return not is_dropped or (self.X > 0 and len(self.overflowq) >= self.X)

    @always("STORM-L4", MUST,
            "The overflowQ never holds more than its limit, if it has one.",
            source=LIMIT)
    def limit_is_kept(self) -> bool:
        """It applies only if there is a limit (X > 0)."""
        return self.X == 0 or len(self.overflowq) <= self.X

    @always("STORM-L5", MUST,
            "With k receiving threads, the overflowQ never holds more than k - 1 tuples above "
            "its limit, if it has one.",
            source="storm#jcqueue (check, then act)")
    def limit_is_nearly_kept(self) -> bool:
        """Each of the other threads may have looked before the last one added."""
        return self.X == 0 or len(self.overflowq) <= self.X + self.k - 1

    @always("STORM-L6", MUST,
            "For each sender, the tuples sent are at any time as many as those processed, those "
            "waiting (in recvQ, overflowQ or at the receiving thread) and those counted as "
            "dropped.",
            source=f"{LIMIT}; storm#no-loss", thread=upto(k))
    def nothing_disappears(self, thread: int) -> bool:
        """Add up the tuples of each sender."""
        waiting = (sum(int(tuple.sender == thread) for tuple in self.recvq)
                   + sum(int(tuple.sender == thread) for tuple in self.overflowq)
                   + int(self.adding[thread]))
        return self.sent[thread] == self.finished[thread] + waiting + self.dropped[thread]

    @step("STORM-L7", MUST, "A tuple leaves the overflowQ only to be processed.", source=LIMIT)
    def overflow_is_a_promise(self, after: LimitedInput) -> bool:
        """Except in a step of the task, it gets no shorter, and keeps its first and last tuples."""
        if not self.overflowq or sum(after.finished) > sum(self.finished):
            return True
        last = len(self.overflowq) - 1
        return (len(after.overflowq) > last and after.overflowq[0] == self.overflowq[0]
                and after.overflowq[last] == self.overflowq[last])

    @leads_to("STORM-L8", MUST,
              "Every tuple that was sent is eventually processed, or counted as dropped.",
              source="storm#eventual-delivery; storm#no-loss; storm#D7", thread=upto(k))
    def the_rest_is_processed(self, thread: int) -> tuple[bool, bool]:
        """All sent tuples are processed or dropped eventually; K is finite."""
        settled = self.sent[thread] == self.finished[thread] + self.dropped[thread]
        return not settled, settled


class DroppingTheHead(LimitedInput):
    """The oldest tuple of the overflowQ is dropped to free a slot."""

    def drop(self, thread: int) -> None:
        """Drop the oldest tuple, and add the new one."""
        oldest = self.overflowq.pop()
        self.dropped[oldest.sender] += 1
        self.adding[thread] = True


class DroppingTheTail(LimitedInput):
    """The youngest tuple of the overflowQ is dropped to free a slot."""

    def drop(self, thread: int) -> None:
        """Drop the youngest tuple, and add the new one."""
        length = len(self.overflowq)
        for place in range(self.k * self.K):
            if place < length:
                tuple = self.overflowq.pop()
                if place < length - 1:
                    self.overflowq.push(tuple)
                else:
                    self.dropped[tuple.sender] += 1
        self.adding[thread] = True


class DroppingAll(LimitedInput):
    """All tuples of the overflowQ are dropped to free a slot."""

    def drop(self, thread: int) -> None:
        """They go, the new one is added."""
        length = len(self.overflowq)
        for place in range(self.k * self.K):
            if place < length:
                self.dropped[self.overflowq.pop().sender] += 1
        self.adding[thread] = True


class DroppingSilently(LimitedInput):
    """A tuple that is dropped is not counted."""

    def drop(self, thread: int) -> None:
        """Drop the tuple without counting it."""


class IntoRecvqAnyway(LimitedInput):
    """A tuple goes into recvQ whenever that has a free slot."""

    @action(thread=upto(LimitedInput.k))
    def arrive(self, thread: int) -> None:
        """The tuple overtakes those that wait in the overflowQ."""
        if len(self.recvq) < self.C:
            require(self.sent[thread] < self.K and not self.adding[thread])
            self.sent[thread] += 1
            self.recvq.push(Tuple(thread, self.sent[thread]))
        else:
            super().arrive(thread)


class DroppingAbove(LimitedInput):
    """The length is compared with > instead of >=."""

    def has_room(self) -> bool:
        """True even for an overflowQ at its limit."""
        return self.X == 0 or len(self.overflowq) <= self.X


class DroppingEarly(LimitedInput):
    """A tuple is dropped although it would just fit."""

    def has_room(self) -> bool:
        """False already for an overflowQ one below its limit."""
        return self.X == 0 or len(self.overflowq) + 1 < self.X


ORDER, PREFIX, AT_LIMIT, LIMITED = "STORM-L1", "STORM-L2", "STORM-L3", "STORM-L4"

EXPECTATIONS = (
    expect(LimitedInput, ORDER, "holds", "dropping keeps the order (D7)", X=(0, 1, 2), C=(1, 2)),
    expect(LimitedInput, PREFIX, "violated", "dropping leaves gaps, whenever there is a limit (D7)",
           where="X > 0", X=(0, 1, 2), C=(1, 2)),
    expect(LimitedInput, AT_LIMIT, "holds", "dropped only at the limit", X=(0, 1, 2), C=(1, 2)),
    expect(LimitedInput, LIMITED, "violated", "exceeded exactly with several receiving threads",
           where="k > 1", X=(1, 2), k=(1, 2), K=4),
    expect(LimitedInput, "STORM-L5", "holds",
           "each receiving thread but the first exceeds the limit by at most one", X=(1, 2),
           k=(1, 2), K=4),
    expect(LimitedInput, ORDER, "holds", "in order with several receiving threads", X=(1, 2),
           k=(1, 2), K=4),
    expect(LimitedInput, "STORM-L6", "holds", "every tuple is accounted for", X=(0, 1, 2),
           C=(1, 2)),
    expect(LimitedInput, "STORM-L7", "holds", "tuples stay in the overflowQ", X=(0, 1, 2),
           C=(1, 2)),
    expect(LimitedInput, "STORM-L8", "holds", "tuples that are not dropped are processed", X=(0, 1,
                                                                                              2),
           C=(1, 2)),
    expect(DroppingTheHead, "STORM-L7", "violated", "drops from the head", X=(1, 2)),
    expect(DroppingTheTail, "STORM-L7", "violated", "drops from the tail", X=2, K=5),
    expect(DroppingAll, "STORM-L7", "violated", "drops all that waits", X=2, K=5),
    expect(DroppingSilently, "STORM-L6", "violated", "dropped tuples are not counted", X=1),
    expect(DroppingSilently, "STORM-L8", "violated",
           "a silently dropped tuple is neither processed nor counted", X=1),
    expect(IntoRecvqAnyway, ORDER, "violated", "into recvQ whenever it has a free slot", X=1),
    expect(DroppingTheHead, ORDER, "holds", "drops from the head, in order all the same",
           X=(1, 2)),
    expect(DroppingAbove, LIMITED, "violated", "> instead of >=", X=(1, 2)),
    expect(DroppingAbove, "STORM-L5", "violated",
           "> instead of >= exceeds the limit by one more, for any number of "
           "threads", X=1, k=(1, 2),
           K=4),
    expect(DroppingEarly, AT_LIMIT, "violated", "one too early", X=(1, 2)),
)

UNSEEN = {
    "STORM-L2": "It is false once a tuple is dropped, so it is not required of implementations.",
}
