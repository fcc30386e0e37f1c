"""The spout's pending roots as the topology sees them: its emissions, and its callbacks.

Theory. A spout executor emits roots in rounds. It checks its maximum once, at the beginning
of a round, so a round emits all it has or nothing; ``spout`` shows the overshoot that follows. For
each root exactly one callback is due: ack() or fail() when the acker answers, or fail() when two
ticks have passed without an answer or a RESET_TIMEOUT. Later answers are ignored.

With ticks P apart a root times out after more than P and at most 2 P (see ``rotating``, with
two buckets); RESET_TIMEOUT restarts that time, for a root that is pending.

Root ids are drawn at random. One that is pending already must not be given to a second
message, for then the first would be neither acked nor failed (STORM-17). A round of the
observer has one or two ids.

Source: org.apache.storm.executor.spout.SpoutExecutor; storm#executors, storm#acker, storm#rotating.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, const, guard_rule, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "Due", "ObservedSpout"]

CONFIG = "001#max-pending; storm#executors"
ROOTS = "001#tree; storm#rotating"

MAXIMUM_STOPS = guard_rule(
    "STORM-K40", MUST,
    "If there is a maximum, a round of nextTuple calls that begins with that many roots "
    "pending, or more, emits nothing.",
    source=f"{CONFIG}: overshoot of at most what one round emits - 1",
)
BELOW_MAXIMUM = guard_rule(
    "STORM-K41", MUST,
    "A round of nextTuple calls that begins with fewer roots pending than the maximum, or "
    "without a maximum, emits every new root that it has, except one with an id that is "
    "pending.",
    source=f"{CONFIG}; STORM-3514, STORM-549",
)
OWN_ID = guard_rule(
    "STORM-K42", MUST, "A root id that is pending is not given to another root.",
    source="STORM-17: the first message is neither acked nor failed")
ONE_CALL = guard_rule(
    "STORM-K43", MUST,
    "The spout calls ack() or fail() at most once for each emission of a root, only while it is "
    "pending, and only because of an answer or a timeout.",
    source=f"{ROOTS}: unknown ids are ignored",
)
CALLED = guard_rule(
    "STORM-K44", MUST,
    "On the arrival of the acker's answer about a pending root, the spout calls ack() for ack "
    "and fail() for fail, before anything else.",
    source=ROOTS,
)
NOT_EARLY = guard_rule(
    "STORM-K45", MUST,
    "In a map of N buckets, a pending root does not time out before the N-th tick after its "
    "emission or its last RESET_TIMEOUT, whichever is later.",
    source=f"{ROOTS}: (T, 2T]; storm#acker (RESET_TIMEOUT restarts the time)",
)
NOT_LATE = guard_rule(
    "STORM-K46", MUST,
    "In a map of N buckets, a root that is still pending times out with the N-th tick after its "
    "emission or its last RESET_TIMEOUT, whichever is later.",
    source=f"{ROOTS}: (T, 2T]; STORM-3514, STORM-549: a lost tuple keeps its place forever",
)


class Due(IntEnum):
    """The callback that the spout calls for a root at a request."""

    NOTHING = 0
    ACK = 1
    FAIL = 2


class ObservedSpout(Machine):
    """Up to R roots, with a maximum of M pending (0: unlimited), in N buckets.

    An executor of several tasks has one maximum, which is that of a task times their number.
    """

    M = const(1)                        # max.spout.pending; 0 is unlimited
    R = const(3, at_least=1)            # roots
    N = const(2, at_least=1)            # buckets

    left = array(upto(R), integer(0, N))    # ticks until the root times out; 0: not pending

    def pending(self) -> int:
        """Number of roots that are pending."""
        return sum(left > 0 for left in self.left)

    # --- rounds ----------------------------------------------------------------------------

    @action(first=upto(R), second=upto(R))
    def emits(self, first: int, second: int) -> None:
        """A round emits all its new ids; ``second`` is ``first`` if there is only one."""
        require(self.left[first] == 0 and self.left[second] == 0, OWN_ID)
        require(not self.has_reached_max(), MAXIMUM_STOPS)
        self.left[first] = self.N
        self.left[second] = self.N

    @action(rests=True)
    def holds_back(self) -> None:
        """A round emits nothing, although it has new ids."""
        require(self.has_reached_max(), BELOW_MAXIMUM)

    @action(root=upto(R))
    def draws_again(self, root: int) -> None:
        """A round does not emit its id if that is pending."""
        require(self.left[root] > 0 or self.has_reached_max(), BELOW_MAXIMUM)

    @action(rests=True)
    def emits_some(self) -> None:
        """A round emits only a part of its new ids."""
        require(False, BELOW_MAXIMUM)

    def has_reached_max(self) -> bool:
        """True if the maximum is reached, which a round checks once."""
        return self.M > 0 and self.pending() >= self.M

    # --- answers about roots ---------------------------------------------------------------

    @action(root=upto(R), calls=Due, rests=(CALLED,))
    def ack(self, root: int, calls: Due) -> None:
        """The acker answers ack for a root."""
        self.over(root, Due.ACK, calls)

    @action(root=upto(R), calls=Due)
    def fail(self, root: int, calls: Due) -> None:
        """The acker answers fail for a root."""
        self.over(root, Due.FAIL, calls)

    @action(root=upto(R))
    def reset_timeout(self, root: int) -> None:
        """The acker passes on a RESET_TIMEOUT, which renews only a pending root."""
        if self.left[root] > 0:
            self.left[root] = self.N

    @action(rests=True)
    def ticks(self) -> None:
        """A tick passes, without any further call."""
        for root in range(self.R):
            require(self.left[root] != 1, NOT_LATE)
            self.left[root] = max(0, self.left[root] - 1)

    @action(root=upto(R))
    def times_out(self, root: int) -> None:
        """The spout calls fail() for a root with the next tick."""
        require(self.left[root] > 0, ONE_CALL)
        require(self.left[root] == 1, NOT_EARLY)
        self.left[root] = 0

    @action
    def stray(self) -> None:
        """A call for another root, a second call, or one without a cause."""
        require(False, ONE_CALL)

    def over(self, root: int, due: Due, calls: Due) -> None:
        """Check that exactly the due callback is called, and only for a pending root."""
        if self.left[root] == 0:
            require(calls == Due.NOTHING, ONE_CALL)
        else:
            require(calls == due, CALLED)
        self.left[root] = 0

    @always("STORM-K47", MUST,
            "If there is a maximum and every round emits at most two roots, at most one root "
            "more than the maximum is pending.",
            source=f"{CONFIG}; STORM-K1 (with k E = 2)")
    def overshoot_is_bounded(self) -> bool:
        """A round begins with at most M - 1 pending, and emits two."""
        return self.M == 0 or self.pending() <= self.M + 1


EXPECTATIONS = (
    expect(ObservedSpout, "STORM-K47", "holds", "the overshoot of rounds of two", M=(1, 2), R=4),
)
