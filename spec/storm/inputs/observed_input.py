"""A task's input in Storm, as an observer sees it: what it can see, and what it must not see.

Theory. ``storm.queue``, ``storm.limit`` and ``storm.batching`` say which policies keep which
promises. This machine says what the promises amount to for an observer that hands tuples in,
lets the task process, and asks for sizes, whatever the policy is. The place of a tuple follows
from the promises themselves: a remote tuple goes to recvQ if that has a free slot and the overflowQ
is empty, otherwise to the overflowQ, or at the limit nowhere. So the observer needs no guesses,
with one exception: when a local sender's batch enters recvQ is the sender's affair, and an
*internal* action here.

That the overflowQ is not starved concerns infinite runs; what can be observed is a bound. The
correct policy takes at most C tuples of recvQ in a round; one round may have begun before the
overflowQ got its first tuple, the next serves it. So while the overflowQ is not empty, at most
2 C tuples of recvQ are processed before one of the overflowQ is.

Tuples are numbered 0, 1, 2, … in the order in which they are first named; of one sender, an
earlier one has the smaller number.

Source: "Backpressure model for Storm 2.0" (STORM-2306), 000#between; storm#jcqueue,
storm#local-send, storm#remote-receive; storm#D1, storm#D2, storm#D3, storm#D7, storm#D9, storm#D10.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, guard_rule, integer, require,
    upto,
)
from ...notation.rules import seen_from_outside
from .queue import TaskInput

__all__ = ["EXPECTATIONS", "ObservedInput", "Place"]

ORDER = seen_from_outside(TaskInput.rules_declared, "STORM-Q1")
BOUNDED = guard_rule(
    "STORM-I2", MUST,
    "recvQ never holds more than its capacity: a local sender's tuple is refused if recvQ and "
    "the sender's batch, if it has one, are full, and never enters the overflowQ.",
    source="000#within, 000#overflow; STORM-744")
ROOM = guard_rule(
    "STORM-I3", MUST,
    "A local sender's tuple is refused only while recvQ is full and so is the sender's batch, "
    "if it has one.",
    source="storm#local-send")
LIMIT = guard_rule(
    "STORM-I4", MUST,
    "If the overflowQ has a limit, it never holds more: a tuple that arrives at the limit is "
    "dropped, and never kept in the place of another.",
    source="000#memory; storm#D7")
AT_LIMIT = guard_rule(
    "STORM-I5", MUST, "A tuple is dropped only if the overflowQ is at its limit.",
    source="000#memory; storm#no-loss")
NOT_LOST = guard_rule(
    "STORM-I6", MUST,
    "Whenever the task finds no more tuples, recvQ and overflowQ are empty: all tuples that "
    "entered them were processed.",
    source="storm#no-loss, storm#remote-send; STORM-3376, STORM-342")
NOT_TWICE = guard_rule(
    "STORM-I7", MUST,
    "A task processes a tuple at most once, and only if it was sent and was neither refused nor "
    "dropped.",
    source="000#order")
FOLLOWS = guard_rule(
    "STORM-I8", MUST,
    "The reported lengths of recvQ and overflowQ are those that result if each kept remote "
    "tuple enters recvQ when that has space and the overflowQ is empty, and otherwise the "
    "overflowQ.",
    source="000#overflow, 000#order; storm#D9")
COUNTED = guard_rule(
    "STORM-I9", MUST, "Every dropped tuple is counted, and no other tuple is.",
    source="storm#remote-receive")
SERVED = guard_rule(
    "STORM-I10", MUST,
    "While the overflowQ is not empty, the task processes at most 2 C tuples of recvQ, C being "
    "recvQ's capacity, before it processes one of the overflowQ.",
    source="000#order ('Tasks alternate'); storm#D3")
NEVER_WAITS = guard_rule(
    "STORM-I11", MUST, "The receiving thread never waits: each tuple that arrives is kept or "
    "dropped at once.", source="000#overflow; storm#D7")
FLUSHED = guard_rule(
    "STORM-I12", MUST,
    "After a flush of the local senders' batches, recvQ is full or all these batches are empty.",
    source="storm#D10; storm#review-2241")


class Place(IntEnum):
    """The place of a tuple in the input."""

    UNNAMED = 0     # no sender has named it
    BATCH = 1       # in its local sender's batch
    RECVQ = 2
    OVERFLOWQ = 3
    PROCESSED = 4
    AWAY = 5        # refused, or dropped


class ObservedInput(Machine):
    """A task's input as seen from outside."""

    C = const(1, at_least=1)        # capacity of recvQ
    X = const(0)                    # limit of the overflowQ; 0: none
    B = const(1, at_least=1)        # size of a local sender's batch; 1: there is none
    R = const(1)                    # remote senders: 0 .. R - 1
    S = const(1)                    # local senders: R .. R + S - 1
    K = const(3, at_least=1)        # tuples that a run may name

    named = integer(0, K)           # tuples named so far: the next one has this number
    place = array(upto(K), choice(Place))
    sender = array(upto(K), integer(0, R + S))
    after = array(upto(K), integer(0, K, init=K))       # the sender's next that waits; K: none
    oldest = array(upto(R + S), integer(0, K, init=K))  # of a sender, of those that wait
    newest = array(upto(R + S), integer(0, K, init=K))
    in_batch = array(upto(S), integer(0, K, init=K))    # oldest in a local sender's batch
    recvq = integer(0, C)
    overflowq = integer(0, K)
    batched = array(upto(S), integer(0, B))
    dropped = integer(0, K)
    passed = integer(0, 2 * C)      # tuples of recvQ processed while the overflowQ waited
    to_flush = boolean()            # a tuple went into a batch since the last flush
    just_flushed = boolean()        # … and then was flushed, and nothing has moved since

    # --- remote senders ------------------------------------------------------------------

    @action(sender=upto(R))
    def kept(self, sender: int) -> None:
        """The next tuple arrives and is kept."""
        if self.is_open():
            self.recvq += 1
            self.name(sender, Place.RECVQ)
        else:
            require(self.X == 0 or self.overflowq < self.X, LIMIT)
            self.overflowq += 1
            self.name(sender, Place.OVERFLOWQ)

    @action(sender=upto(R))
    def dropped_on_arrival(self, sender: int) -> None:
        """The next tuple arrives and is dropped."""
        require(not self.is_open(), AT_LIMIT)
        require(self.X > 0 and self.overflowq >= self.X, AT_LIMIT)
        self.dropped += 1
        self.name(sender, Place.AWAY)

    @action(sender=upto(R), rests=True)
    def held_up(self, sender: int) -> None:
        """The receiving thread waits with the next tuple, which no input may cause."""
        require(self.named > self.K, NEVER_WAITS)

    def is_open(self) -> bool:
        """True if the next remote tuple goes to recvQ."""
        return self.overflowq == 0 and self.recvq < self.C

    # --- local senders -------------------------------------------------------------------

    @action(sender=upto(S))
    def published(self, sender: int) -> None:
        """The next tuple of a local sender is accepted."""
        if self.B == 1:
            require(self.recvq < self.C, BOUNDED)
            self.recvq += 1
            self.name(self.R + sender, Place.RECVQ)
        else:
            require(self.batched[sender] < self.B, BOUNDED)
            if self.batched[sender] == 0:
                self.in_batch[sender] = self.named
            self.batched[sender] += 1
            self.name(self.R + sender, Place.BATCH)
            self.to_flush = True

    @action(sender=upto(S), rests=True)
    def refused(self, sender: int) -> None:
        """The next tuple of a local sender is refused."""
        require(self.recvq == self.C, ROOM)
        require(self.B == 1 or self.batched[sender] == self.B, ROOM)
        self.name(self.R + sender, Place.AWAY)

    @action(internal=True, fair=True, sender=upto(S))
    def insert(self, sender: int) -> None:
        """The oldest tuple of a batch enters recvQ."""
        require(self.batched[sender] > 0 and self.recvq < self.C)
        oldest = self.in_batch[sender]
        self.place[oldest] = Place.RECVQ
        self.batched[sender] -= 1
        self.in_batch[sender] = self.after[oldest] if self.batched[sender] > 0 else self.K
        self.recvq += 1

    @action(rests=True)
    def flushed(self) -> None:
        """The local senders have flushed their batches."""
        require(self.recvq == self.C or sum(self.batched) == 0, FLUSHED)
        self.just_flushed = self.just_flushed or self.to_flush
        self.to_flush = False

    # --- the task ------------------------------------------------------------------------

    @action(tuple=upto(K))
    def processed(self, tuple: int) -> None:
        """The task processes a tuple."""
        now = self.place[tuple]
        require(now != Place.UNNAMED and now != Place.AWAY, NOT_TWICE)
        require(now != Place.PROCESSED, NOT_TWICE)
        require(self.oldest[self.sender[tuple]] >= tuple, ORDER)
        require(now != Place.BATCH, BOUNDED)
        if now == Place.RECVQ:
            require(self.overflowq == 0 or self.passed < 2 * self.C, SERVED)
            self.recvq -= 1
            self.passed = self.passed + 1 if self.overflowq > 0 else 0
        else:
            self.overflowq -= 1
            self.passed = 0
        self.place[tuple] = Place.PROCESSED
        self.goes(tuple, self.sender[tuple])
        self.just_flushed = False

    def goes(self, tuple: int, sender: int) -> None:
        """Remove the oldest tuple of a sender from those that wait."""
        self.oldest[sender] = self.after[tuple]
        self.after[tuple] = self.K
        if self.oldest[sender] == self.K:
            self.newest[sender] = self.K

    @action(rests=True)
    def ran_out(self) -> None:
        """The task finds no more tuples."""
        require(self.recvq == 0 and self.overflowq == 0, NOT_LOST)

    # --- sizes ---------------------------------------------------------------------------

    @action(count=upto(C + 2))
    def recvq_sized(self, count: int) -> None:
        """The input reports the size of recvQ."""
        require(count <= self.C, BOUNDED)
        require(count == self.recvq or self.just_flushed, FOLLOWS)
        require(count == self.recvq, FLUSHED)

    @action(count=upto(K + 1))
    def overflowq_sized(self, count: int) -> None:
        """The input reports the size of the overflowQ."""
        require(self.X == 0 or count <= self.X, LIMIT)
        require(count == self.overflowq, FOLLOWS)

    @action(count=upto(K + 1))
    def drops_counted(self, count: int) -> None:
        """The input reports the number of dropped tuples."""
        require(count == self.dropped, COUNTED)

    def name(self, sender: int, place: Place) -> None:
        """Give the next tuple of a sender a number and a place."""
        require(self.named < self.K)
        self.place[self.named] = place
        self.sender[self.named] = sender
        if place != Place.AWAY:
            self.waits(sender)
        self.named += 1
        self.just_flushed = False

    def waits(self, sender: int) -> None:
        """Put the next tuple of a sender behind its others."""
        if self.oldest[sender] == self.K:
            self.oldest[sender] = self.named
        else:
            self.after[self.newest[sender]] = self.named
        self.newest[sender] = self.named

    # --- rules ---------------------------------------------------------------------------

    @always("STORM-I13", MUST,
            "The observer's counters of recvQ, overflowQ and batches equal the numbers of "
            "tuples that it has recorded as being there.",
            source="storm#no-loss")
    def counts_agree(self) -> bool:
        """Count the places again, and compare."""
        in_recvq = sum(int(place == Place.RECVQ) for place in self.place)
        in_overflowq = sum(int(place == Place.OVERFLOWQ) for place in self.place)
        in_batches = sum(int(place == Place.BATCH) for place in self.place)
        return (in_recvq == self.recvq and in_overflowq == self.overflowq
                and in_batches == sum(self.batched))


EXPECTATIONS = (
    expect(ObservedInput, "STORM-I13", "holds", "the accounts agree", C=(1, 2), X=(0, 1),
           B=(1, 2), K=(3, 4)),
)

BOOKKEEPING = {
    "STORM-I13":
        "It compares two records that the observer keeps of where a tuple is; both are its "
        "own.",
}
