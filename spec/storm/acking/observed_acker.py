"""The acker as its surroundings see it: a message goes in, and perhaps one comes out.

Theory. ``acker`` explains why the algebra is right, with the topology and the spout around it.
From outside, an acker is simpler: after each message that reaches it, it sends an answer to a spout
or none, and the right answer follows from the messages so far. That is judged
here. The edges that an implementation xors are known to the observer one by one, so a value
is a set of edges, as in ``acker``: all ids used are independent.

Three things are promised about *time*. An entry survives N - 1 ticks and not the N-th after
its first message, or after the last FAIL or RESET_TIMEOUT about its root; INIT and ACK do not
renew it. An entry expires silently. And so no entry stays forever. With ticks P apart that is
a lifetime in ((N - 1) P, N P] (see ``rotating``).

Each message of the protocol is sent at most once, RESET_TIMEOUT and FAIL excepted. A root has
up to two edges, a and b; which of them a message carries is up to the sender.

Source: org.apache.storm.daemon.Acker; storm#acker, storm#rotating.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, const, guard_rule, integer, require, subset,
    upto,
)
from ...notation.rules import seen_from_outside
from .acker import Acker

__all__ = ["EXPECTATIONS", "ObservedAcker", "Told"]

TREE = "001#tree; storm#acker"
TIME = "001#rotating; storm#rotating"

NOT_BEFORE_INIT = guard_rule(
    "STORM-A20", MUST,
    "The acker sends no answer about a root, and passes no RESET_TIMEOUT on, unless the root's "
    "present entry has received INIT.",
    source=TREE,
)
ACK_SAFE = seen_from_outside(Acker.rules_declared, "STORM-A1")
ACK_AT_ONCE = guard_rule(
    "STORM-A22", MUST,
    "If a message leaves a root's entry with INIT received and the value zero, the acker "
    "answers ack to that message, in whatever order the messages came.",
    source=f"{TREE} ('the value is 0')",
)
ONE_ANSWER = guard_rule(
    "STORM-A23", MUST,
    "In the whole run, the acker sends at most one answer, ack or fail, about a root.",
    source=f"{TREE}, storm#rotating",
)
FAIL_AT_ONCE = guard_rule(
    "STORM-A24", MUST,
    "If a message leaves a root's entry with INIT and a FAIL received and a value other than "
    "zero, the acker answers fail to that message.",
    source=f"{TREE}: FAIL, INIT order; 001#tree (any edge that fails triggers fail at the spout)",
)
FAIL_FOUNDED = guard_rule(
    "STORM-A25", MUST,
    "The acker answers fail only for a root of which a FAIL has arrived.",
    source=TREE,
)
ZERO_FIRST = guard_rule(
    "STORM-A26", MUST,
    "If a root's value (the xor of the edges received) is zero and INIT has arrived, the acker "
    "does not answer fail, even if a tuple of its tree failed.",
    source=f"{TREE}: 'precedence over failed'",
)
RESET_PASSED_ON = guard_rule(
    "STORM-A27", MUST,
    "The acker passes a RESET_TIMEOUT on to the spout if the root's present entry has received "
    "INIT, and sends none in any other case.",
    source=TREE,
)
KEPT = guard_rule(
    "STORM-A28", MUST,
    "In a map of N buckets, an entry that is not answered survives N - 1 ticks after its first "
    "message, last FAIL or last RESET_TIMEOUT, whichever is the latest.",
    source=f"{TIME}: more than (N - 1) P; STORM-1245, STORM-3300",
)
EXPIRES = guard_rule(
    "STORM-A29", MUST,
    "In a map of N buckets, an unanswered entry is removed, with all it held, by the N-th tick "
    "after its first message, last FAIL or last RESET_TIMEOUT; INIT and ACK do not renew it.",
    source=f"{TIME}: at most N P; STORM-2786",
)
SILENT = guard_rule(
    "STORM-A30", MUST,
    "Entries expire silently: a tick causes no answer to a spout.",
    source=f"{TIME}: timeouts are decided at the spout alone",
)
ADDRESSED = guard_rule(
    "STORM-A31", MUST,
    "A message causes at most one answer, which goes to the spout task that INIT named and is "
    "about the message's root.",
    source=f"{TREE}: emitDirect",
)


class Told(IntEnum):
    """The acker's answer to a message, sent to the spout."""

    NOTHING = 0
    ACK = 1
    FAIL = 2
    RESET = 3


class ObservedAcker(Machine):
    """The messages about R roots, with two edges each: root r has the edges 2 r and 2 r + 1."""

    N = const(3, at_least=1)            # buckets: the ticks that an entry lives
    R = const(3, at_least=1)            # roots

    left = array(upto(R), integer(0, N))        # ticks until the entry goes; 0: no entry
    value = subset(upto(2 * R))                 # the edges xored in, and not xored out again
    known = array(upto(R), boolean(False))      # INIT has come
    failed = array(upto(R), boolean(False))     # FAIL has come
    told = subset(upto(R))                      # roots that were answered ack or fail
    expired = subset(upto(R))                   # roots an entry of which has expired

    # --- messages, each with the answer that it causes -------------------------------------

    @action(root=upto(R), a=upto(2), b=upto(2), tells=Told)
    def init(self, root: int, a: int, b: int, tells: Told) -> None:
        """INIT arrives, with some of the root's edges."""
        self.receive(root, a, b)
        self.known[root] = True
        self.answer(root, tells)

    @action(root=upto(R), a=upto(2), b=upto(2), tells=Told, rests=(ACK_AT_ONCE, FAIL_AT_ONCE))
    def ack(self, root: int, a: int, b: int, tells: Told) -> None:
        """ACK arrives, with some of the root's edges."""
        self.receive(root, a, b)
        self.answer(root, tells)

    @action(root=upto(R), tells=Told)
    def fail(self, root: int, tells: Told) -> None:
        """FAIL arrives; it renews the entry."""
        self.left[root] = self.N
        self.failed[root] = True
        self.answer(root, tells)

    @action(root=upto(R), tells=Told, rests=(RESET_PASSED_ON,))
    def reset_timeout(self, root: int, tells: Told) -> None:
        """RESET_TIMEOUT arrives; it renews the entry."""
        self.left[root] = self.N
        over = self.known[root] and (self.failed[root] or self.is_zero(root))
        require(tells == Told.RESET or not self.known[root] or over, RESET_PASSED_ON)
        require(tells != Told.RESET or self.known[root], NOT_BEFORE_INIT)
        require(tells != Told.RESET or not over, RESET_PASSED_ON)
        self.answer(root, Told.NOTHING if tells == Told.RESET else tells)

    @action(tells=Told)
    def tick(self, tells: Told) -> None:
        """A period of the message timeout passes."""
        require(tells == Told.NOTHING, SILENT)
        for root in range(self.R):
            if self.left[root] == 1:
                self.expired.add(root)
                self.forget(root)
            else:
                self.left[root] = max(0, self.left[root] - 1)

    @action(count=upto(R + 2))
    def sized(self, count: int) -> None:
        """The acker reports its number of entries."""
        entries = sum(left > 0 for left in self.left)
        require(count >= entries, KEPT)
        require(count <= entries, EXPIRES)

    @action
    def stray(self) -> None:
        """A message to another task, about another root, or a second one."""
        require(False, ADDRESSED)

    # --- derived steps ---------------------------------------------------------------------

    def receive(self, root: int, a: int, b: int) -> None:
        """Xor the edges in; make an entry if there is none, without renewing one."""
        if self.left[root] == 0:
            self.left[root] = self.N
        if a == 1:
            self.toggle(2 * root)
        if b == 1:
            self.toggle(2 * root + 1)

    def toggle(self, edge: int) -> None:
        """Xor one edge's id into the root's value."""
        if edge in self.value:
            self.value.discard(edge)
        else:
            self.value.add(edge)

    def is_zero(self, root: int) -> bool:
        """True if the root's value is zero."""
        return 2 * root not in self.value and 2 * root + 1 not in self.value

    def answer(self, root: int, tells: Told) -> None:
        """Check an answer against the rules, and forget the root once it was answered."""
        require(tells != Told.RESET, RESET_PASSED_ON)
        if tells != Told.NOTHING:
            require(root not in self.told, ONE_ANSWER)
            require(self.known[root], NOT_BEFORE_INIT)
        complete = self.known[root] and self.is_zero(root)
        if tells == Told.ACK:
            # The content of an expired entry may make it look complete: that is another fault.
            require(complete or root in self.expired, ACK_SAFE)
            require(complete, EXPIRES)
        if tells == Told.FAIL:
            require(self.failed[root] or root in self.expired, FAIL_FOUNDED)
            require(self.failed[root], EXPIRES)
            require(not complete, ZERO_FIRST)
        require(tells != Told.NOTHING or not complete, ACK_AT_ONCE)
        failed = self.known[root] and self.failed[root]
        require(tells != Told.NOTHING or not failed, FAIL_AT_ONCE)
        if tells != Told.NOTHING:
            self.told.add(root)
            self.forget(root)

    def forget(self, root: int) -> None:
        """Remove the root's entry with all its fields."""
        self.left[root] = 0
        self.known[root] = False
        self.failed[root] = False
        self.value.discard(2 * root)
        self.value.discard(2 * root + 1)

    # --- rules -----------------------------------------------------------------------------

    @always("STORM-A32", MUST,
            "Between messages, an entry that has received INIT has a value other than zero and "
            "no FAIL; otherwise it was answered and removed.",
            source=f"{TREE}: the state that the guard rules leave behind", root=upto(R))
    def nothing_is_kept_back(self, root: int) -> bool:
        """Such an entry is answered with the message that makes it so."""
        return not self.known[root] or not (self.failed[root] or self.is_zero(root))

    @always("STORM-A33", MUST,
            "While a root has no entry, neither edges nor INIT nor FAIL are recorded for it.",
            source=f"{TIME}; STORM-2786", root=upto(R))
    def what_goes_is_gone(self, root: int) -> bool:
        """Value, task and mark are all forgotten."""
        blank = self.is_zero(root) and not self.known[root] and not self.failed[root]
        return self.left[root] > 0 or blank


EXPECTATIONS = (
    expect(ObservedAcker, "STORM-A32", "holds", "every answer comes at once", N=(1, 2), R=1),
    expect(ObservedAcker, "STORM-A33", "holds", "forgetting is complete", N=(1, 2), R=1),
)

BOOKKEEPING = {
    "STORM-A33":
        "It says that the observer forgets all fields of a root together; when an acker forgets "
        "is judged by STORM-A28 and STORM-A29.",
}
