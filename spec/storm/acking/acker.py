"""The acker: how a spout learns that everything that came of a tuple was processed.

Theory of operation
-------------------
A spout's tuple is the root of a tree. Each tuple of it travels along an *edge* with an id of
its own, a random number of 64 bits. The acker keeps one number for the root, and every edge
is xored into it twice: once by the task that emits a tuple along the edge, once by the bolt that
acks the tuple.

    spout    emits the root's tuples along edges a, b     INIT  a ^ b
    bolt     acks a, having emitted c from it             ACK   a ^ c
    bolt     acks c                                       ACK   c
    bolt     acks b                                       ACK   b          together 0

Xor does not depend on order, so the messages may arrive in any order; the value is the
xor of all edges that are emitted and not yet acked. If the ids are linearly independent
over GF(2), as random ones nearly surely are, that is zero exactly if there is no such edge
(see ``xor``, which proves this and shows that distinct ids alone do not suffice). And for
independent ids the xor of a set of them *is* the set: xoring one more id toggles its
membership. So ``value`` below is a set of edges, without loss of generality.

The root is complete if the value is zero **and** INIT has been seen; before that the acker
does not know which task to answer. Any message may be the first, and makes an entry. FAIL marks the
entry, RESET_TIMEOUT renews it. When INIT is known, in this order: a zero value sends ack to the
spout; otherwise a mark sends fail; either removes the entry. A message that comes later
makes a new entry, an orphan that only the tick removes. The spout ignores every answer about a
root that is no longer pending with it. Timeouts are decided at the spout alone;
the acker forgets silently, and later (see ``rotating``), so here the entry can expire only
when the spout no longer waits.

The machine follows one root, since roots do not touch each other's entries. Bolts grow the
tree as they please up to E edges. All messages are in flight as sets, hence unordered; an
ACK message is named by its edge, and its content is that edge with its children.

Source: the notes on Storm's acker and KafkaSpout ("tuple tree"); the code is
org.apache.storm.daemon.Acker and SpoutOutputCollectorImpl; storm#acker, storm#rotating.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to,
    require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "AckBeforeEmit", "Acker", "AckingTwice", "Answer", "EmittingUnanchored",
    "FailAndAck", "LossyAcker", "Spout",
]

TREE = "001#tree; storm#acker"


class Spout(IntEnum):
    """The state of the root at the spout."""

    IDLE = 0        # not emitted yet
    WAITING = 1     # pending with the spout
    ACKED = 2       # ack() was called
    FAILED = 3      # fail() was called because the acker said so
    TIMED_OUT = 4   # fail() was called by the spout's own timeout


class Answer(IntEnum):
    """An answer of the acker to the spout."""

    ACK = 0
    FAIL = 1
    RESET = 2


class Acker(Machine):
    """One root, its tree, the messages about it, the acker's entry and the spout."""

    E = const(3, at_least=1)            # edges that the tree may grow
    W = const(2)                        # edges that the spout itself emits, at most
    T = const(0, at_most=1)             # whether the spout may time out

    grown = integer(0, E)               # edges so far: 0 .. grown - 1
    parent = array(upto(E), integer(0, E, init=E))      # the edge it came of; E if of none
    waiting = subset(upto(E))           # edges of a tuple that a bolt has yet to ack or fail
    done = subset(upto(E))              # edges of a tuple that was acked
    mishap = boolean(False)             # a bolt failed a tuple

    init = subset(upto(E))              # the content of INIT
    init_in_flight = boolean(False)
    acks = subset(upto(E))              # ACK messages in flight
    fails = subset(upto(E))             # FAIL messages in flight
    reset_in_flight = boolean(False)

    entry = boolean(False)              # the acker has an entry for the root
    value = subset(upto(E))             # its value, as the set of edges xored into it
    known = boolean(False)              # INIT has set its spout task
    failed = boolean(False)
    failed_at_zero = boolean(False)     # fail was answered although the value was zero

    answers = subset(Answer)            # to the spout, in flight
    spout = choice(Spout)
    calls = integer(0, 2)               # how often ack() or fail() was called

    # --- the topology ----------------------------------------------------------------

    @action(fair=True, edges=upto(W + 1))
    def emit_root(self, edges: int) -> None:
        """The spout emits its tuple along some edges (or none) and sends INIT."""
        require(self.spout == Spout.IDLE and edges <= self.E)
        for edge in range(self.E):
            if edge < edges:
                self.waiting.add(edge)
                self.init.add(edge)
        self.grown = edges
        self.init_in_flight = True
        self.spout = Spout.WAITING

    @action(edge=upto(E))
    def emit_child(self, edge: int) -> None:
        """While a bolt works on a tuple, it emits another, anchored on it."""
        require(edge in self.waiting and self.grown < self.E)
        self.grow(edge)

    def grow(self, parent: int) -> None:
        """Add an edge; its parent's ACK will carry it, if it has a parent."""
        self.parent[self.grown] = parent
        self.waiting.add(self.grown)
        self.grown += 1

    @action(fair=True, edge=upto(E))
    def ack(self, edge: int) -> None:
        """A bolt acks a tuple: one message with its edge and its children's."""
        require(edge in self.waiting)
        self.waiting.discard(edge)
        self.done.add(edge)
        self.acks.add(edge)

    @action(edge=upto(E))
    def fail(self, edge: int) -> None:
        """A bolt fails a tuple; the tuples that it emitted from it are processed all the same."""
        require(edge in self.waiting)
        self.waiting.discard(edge)
        self.fails.add(edge)
        self.mishap = True

    @action(edge=upto(E))
    def ask_for_time(self, edge: int) -> None:
        """A bolt at work sends RESET_TIMEOUT."""
        require(edge in self.waiting and not self.reset_in_flight)
        self.reset_in_flight = True

    # --- the acker -------------------------------------------------------------------

    @action(fair=True)
    def receive_init(self) -> None:
        """INIT arrives: it has the spout's edges, and names the spout task to answer."""
        require(self.init_in_flight)
        self.init_in_flight = False
        self.entry = True
        self.add_init()
        self.known = True
        self.conclude()

    def add_init(self) -> None:
        """Xor the edges of INIT into the value."""
        for edge in self.init:
            self.toggle(edge)

    @action(fair=True, edge=upto(E))
    def receive_ack(self, edge: int) -> None:
        """ACK arrives: it has an edge and its children's."""
        require(edge in self.acks)
        self.acks.discard(edge)
        self.entry = True
        self.toggle(edge)
        for child in range(self.E):
            if self.parent[child] == edge:
                self.toggle(child)
        self.conclude()

    @action(fair=True, edge=upto(E))
    def receive_fail(self, edge: int) -> None:
        """FAIL arrives: the entry is marked."""
        require(edge in self.fails)
        self.fails.discard(edge)
        self.entry = True
        self.failed = True
        self.conclude()

    @action(fair=True)
    def receive_reset(self) -> None:
        """RESET_TIMEOUT arrives: the spout, too, must restart its timeout."""
        require(self.reset_in_flight)
        self.reset_in_flight = False
        self.entry = True
        self.conclude()
        if self.entry and self.known:
            self.answers.add(Answer.RESET)

    @action(fair=True)
    def expire(self) -> None:
        """Ticks have rotated the entry out."""
        require(self.entry and self.spout != Spout.WAITING)
        self.forget()

    def toggle(self, edge: int) -> None:
        """Xor one edge's id into the value."""
        if edge in self.value:
            self.value.discard(edge)
        else:
            self.value.add(edge)

    def conclude(self) -> None:
        """Answer if INIT is known: ack for a zero value, else fail for a mark."""
        if self.is_complete():
            self.answers.add(Answer.ACK)
            self.forget()
        elif self.known and self.failed:
            self.failed_at_zero = self.failed_at_zero or not self.value
            self.answers.add(Answer.FAIL)
            self.forget()

    def is_complete(self) -> bool:
        """True if the tree is complete: the value is zero, and INIT is in it."""
        return self.known and not self.value

    def forget(self) -> None:
        """Remove the entry with all its fields."""
        self.entry = False
        self.known = False
        self.failed = False
        self.value.clear()

    # --- the spout -------------------------------------------------------------------

    @action(fair=True, answer=Answer)
    def hear(self, answer: Answer) -> None:
        """The spout receives an answer, and ignores it if the root is not pending."""
        require(answer in self.answers)
        self.answers.discard(answer)
        if answer != Answer.RESET and self.listens():
            self.spout = Spout.ACKED if answer == Answer.ACK else Spout.FAILED
            self.calls += 1

    def listens(self) -> bool:
        """True if the root is still pending."""
        return self.spout == Spout.WAITING

    @action
    def time_out(self) -> None:
        """The spout has waited long enough, and calls fail() itself."""
        require(self.T == 1 and self.spout == Spout.WAITING)
        self.spout = Spout.TIMED_OUT
        self.calls += 1

    # --- rules -----------------------------------------------------------------------

    @always("STORM-A1", MUST,
            "If the spout has called ack() for a root, bolts have acked every tuple of the "
            "root's tree.",
            source=f"{TREE} (ACK-SAFE)")
    def acks_are_safe(self) -> bool:
        """No tuple is still being processed, and none was failed."""
        return self.spout != Spout.ACKED or len(self.done) == self.grown

    @always("STORM-A2", MUST,
            "For each root, the spout calls ack() or fail() at most once in all.",
            source="storm#rotating (at most one of ack and fail per emitted root)")
    def one_call_for_a_root(self) -> bool:
        """Late answers are ignored."""
        return self.calls <= 1

    @leads_to("STORM-A3", MUST,
              "If bolts have acked every tuple of a pending root's tree and failed none, the "
              "spout calls ack() for it eventually, unless it times out first or its tree grows "
              "again.",
              source=f"{TREE} ('the value is 0')")
    def complete_trees_are_acked(self) -> tuple[bool, bool]:
        """It assumes that no message is lost. With T = 0 there is no timeout, and only an ack will
        do; how soon the ack must come is STORM-A11."""
        complete = self.is_all_acked()
        return (
            self.spout == Spout.WAITING and complete,
            self.spout == Spout.ACKED or self.spout == Spout.TIMED_OUT or not complete,
        )

    def is_all_acked(self) -> bool:
        """True if every tuple of the tree was acked by a bolt."""
        return len(self.done) == self.grown and not self.mishap

    @always("STORM-A11", MUST,
            "If a root is pending at the spout, its tuples were all acked and none failed, and "
            "INIT and all ACKs have reached the acker, the answer ack is on its way to the "
            "spout.",
            source=f"{TREE} ('the value is 0')")
    def acks_are_not_kept_back(self) -> bool:
        """It suffices that the answer is on its way. No timeout replaces it."""
        have_come = self.has_init() and self.is_all_acked() and not self.acks
        return not (have_come and self.spout == Spout.WAITING) or Answer.ACK in self.answers

    def has_init(self) -> bool:
        """True if INIT has reached the acker."""
        return self.spout != Spout.IDLE and not self.init_in_flight

    @always("STORM-A4", MUST,
            "If a root is pending at the spout, and INIT and a FAIL of a tuple that was not "
            "acked have reached the acker, its answer (fail or ack) is on its way to the spout.",
            source=f"{TREE}: FAIL, INIT order")
    def failure_is_not_kept_back(self) -> bool:
        """It suffices that the answer is on its way: fail, or ack by STORM-A5."""
        have_come = self.has_init() and self.has_failure()
        told = Answer.FAIL in self.answers or Answer.ACK in self.answers
        return not (have_come and self.spout == Spout.WAITING) or told

    def has_failure(self) -> bool:
        """True if a FAIL has reached the acker, for an edge that was not acked."""
        return any(
            edge < self.grown and edge not in self.waiting and edge not in self.done
            and edge not in self.fails for edge in range(self.E))

    @always("STORM-A5", MUST,
            "The acker never answers fail for a root with the value zero (the xor of all edge "
            "ids received for it), even if a tuple of its tree failed.",
            source=f"{TREE}: 'precedence over failed'")
    def zero_takes_precedence(self) -> bool:
        """The acker never answers fail for a complete tree."""
        return not self.failed_at_zero

    @leads_to("STORM-A6", MUST,
              "If a bolt fails a tuple instead of acking it, the spout calls fail() for its "
              "root eventually, because of the acker's answer or of its own timeout.",
              source="001#tree (any edge that fails triggers fail at the spout); storm#D12")
    def failures_are_told(self) -> tuple[bool, bool]:
        """It assumes that no message is lost. That the answer comes at once, without waiting for
        the other tuples, is STORM-A4."""
        return self.mishap, self.spout == Spout.FAILED or self.spout == Spout.TIMED_OUT

    @leads_to("STORM-A7", MUST, "The acker does not keep an entry forever.",
              source="STORM-2786; storm#D12 ('RotatingMap … won't blow up')")
    def entries_go(self) -> tuple[bool, bool]:
        """An entry is completed, failed, or rotated out as an orphan."""
        return self.entry, not self.entry

    @leads_to("STORM-A8", MUST,
              "No root is pending at the spout forever: an answer of the acker or the spout's "
              "timeout ends it.",
              source="storm#rotating; STORM-3514, STORM-549")
    def waiting_ends(self) -> tuple[bool, bool]:
        """An answer or the timeout ends it; without timeouts it takes an answer."""
        return self.spout == Spout.WAITING, self.spout != Spout.WAITING


    @always("STORM-A12", MUST,
            "If the spout has called ack() for a root, bolts have processed every tuple that "
            "came of it, anchored or not.",
            source="001#bolt-ack (MyBolt); storm#acker")
    def acks_cover_everything(self) -> bool:
        """It covers tuples outside the tree as well, which STORM-A1 does not."""
        return self.spout != Spout.ACKED or not self.has_work()

    def has_work(self) -> bool:
        """True if a tuple that came of the root is yet to be processed."""
        return len(self.waiting) > 0


class LossyAcker(Acker):
    """Messages to and from the acker may be lost: a link breaks, an overflowQ is full."""

    @action
    def lose_init(self) -> None:
        """INIT is lost on its way."""
        require(self.init_in_flight)
        self.init_in_flight = False

    @action(edge=upto(Acker.E))
    def lose_ack(self, edge: int) -> None:
        """An ACK is lost."""
        require(edge in self.acks)
        self.acks.discard(edge)

    @action(edge=upto(Acker.E))
    def lose_fail(self, edge: int) -> None:
        """A FAIL is lost."""
        require(edge in self.fails)
        self.fails.discard(edge)

    @action(answer=Answer)
    def lose_answer(self, answer: Answer) -> None:
        """An answer is lost on its way to the spout."""
        require(answer in self.answers)
        self.answers.discard(answer)

    @action(fair=True)
    def time_out(self) -> None:
        """If timeouts are enabled, one comes eventually."""
        super().time_out()


class AckingTwice(Acker):
    """A bolt that may ack a tuple once more: xor is not idempotent."""

    again = boolean(False)              # it has done so

    @action(edge=upto(Acker.E))
    def ack_again(self, edge: int) -> None:
        """The same message a second time, after the first has arrived."""
        require(edge in self.done and edge not in self.acks and not self.again)
        self.acks.add(edge)
        self.again = True


class AckBeforeEmit(Acker):
    """A bolt that acks a tuple and then emits from it: no message carries the new edge."""

    @action(edge=upto(Acker.E))
    def emit_late(self, edge: int) -> None:
        """Emit a child; its edge is in no ACK of its parent."""
        require(edge in self.done and self.grown < self.E)
        self.grow(self.E)


class EmittingUnanchored(Acker):
    """A bolt that emits a tuple without an anchor and then acks its input, like the notes'
    MyBolt: the new tuple belongs to no tree, and no ack waits for it."""

    loose = boolean(False)              # such a tuple is yet to be processed

    @action(edge=upto(Acker.E))
    def emit_unanchored(self, edge: int) -> None:
        """While a bolt works on a tuple, it emits one that is not anchored on it."""
        require(edge in self.waiting and not self.loose)
        self.loose = True

    @action(fair=True)
    def process_loose(self) -> None:
        """A bolt processes the loose tuple."""
        require(self.loose)
        self.loose = False

    def has_work(self) -> bool:
        """True also if the loose tuple is yet to be processed."""
        return super().has_work() or self.loose


class FailAndAck(Acker):
    """A bolt that may fail a tuple and ack it as well; the collector does not object."""

    @action(edge=upto(Acker.E))
    def fail(self, edge: int) -> None:
        """Send FAIL; the tuple may still be acked."""
        require(edge in self.waiting and not self.mishap)
        self.fails.add(edge)
        self.mishap = True


EXPECTATIONS = (
    *(expect(Acker, rule, "holds", about, E=3, W=2, T=1) for rule, about in (
        ("STORM-A1", "an ack is safe, for every order of the messages"),
        ("STORM-A2", "one call for a root"),
        ("STORM-A3", "a complete tree is acked"),
        ("STORM-A4", "a failure is answered at INIT"),
        ("STORM-A5", "zero comes before failed"),
        ("STORM-A6", "a failure reaches the spout"),
        ("STORM-A7", "no entry stays"),
        ("STORM-A8", "no root stays pending"),
        ("STORM-A11", "a complete tree is acked at once"),
        ("STORM-A12", "no tuple is left to process after an ack"),
    )),
    *(expect(LossyAcker, rule, "holds", about, E=2, T=1) for rule, about in (
        ("STORM-A1", "an ack is safe on lossy links too"),
        ("STORM-A2", "one call for a root"),
        ("STORM-A7", "no entry stays"),
    )),
    expect(LossyAcker, "STORM-A8", "violated", "lost messages without timeouts (STORM-3514)",
           where="T == 0", E=2, T=(0, 1)),
    expect(LossyAcker, "STORM-A3", "violated", "a lost ACK, without timeouts", E=2, T=0),
    expect(Acker, "STORM-A3", "holds", "a complete tree is acked without a timeout", E=2,
           W=(0, 1, 2), T=0),
    expect(Acker, "STORM-A6", "holds", "a failure reaches the spout without a timeout", E=2, T=0),
    expect(AckingTwice, "STORM-A3", "violated", "acked twice: never complete", E=2),
    expect(AckingTwice, "STORM-A1", "holds",
           "with two acks of one edge no tree here is complete too early", E=(2, 3)),
    expect(AckBeforeEmit, "STORM-A1", "violated", "ack, then emit: complete too early", E=2),
    expect(FailAndAck, "STORM-A5", "holds", "of a failed and acked root zero comes first", E=2),
    expect(EmittingUnanchored, "STORM-A12", "violated", "emits unanchored, then acks", E=2),
    expect(EmittingUnanchored, "STORM-A1", "holds",
           "the tree is right although unanchored tuples are not in it", E=2),
)
