"""The policy of a queue, found out by asking: what it does with an arrival when it is full.

Theory. A queue of unknown policy and capacity is a machine that *turns out* to be of one kind, in a
first step that cannot be seen. All that it shows after that depends on its kind, so each answer
rules some kinds out, and what is left is what the queue may be. An engine looks for the questions
that distinguish the kinds (``spec/engines/distinguish.py``).

A run has two halves. First items arrive and none is taken; then nothing arrives, and all is taken
out. For room comes back in many ways once something was taken (at once; when half of it is free, as
ZeroMQ gives it back; after a round trip), and those are not part of the policy. To try another
number of arrivals, begin with a fresh queue.

What is left of n arrivals at C places distinguishes most policies: the newest C, the oldest C, the
oldest C - 1 with the newest, or what came since the last overflow. With one place, three of these
are the same, for each arrival takes the place of the one before. That is to *conflate*, if the
queue was asked for more places; if it was asked for one, no question can distinguish them (E).

Some kinds need more than offers and polls to be seen. Only a put can wait (P), and only a put can
drop in silence an item of an offer that is refused. A queue that spills looks unbounded to its
producers and consumers; it has to say how many items it holds itself (S).

Source: 003#dropping, libraries#rx-dropping, libraries#policies.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, action, always, boolean, const, integer, require, upto
from ..notation.views import View
from ..refinements import refines
from .dropping import OverflowingQueue, Policy

__all__ = [
    "BIRTH", "EXPECTATIONS", "QUESTIONS", "EvictingTheHead", "ForgettingToDrop", "PolicySeen",
    "TakingOneMore", "UnknownQueue",
]

BIRTH = "turns_out"
"""The action by which a queue becomes one of its kinds."""

QUESTIONS = {
    "resident": ("held",),
    "offer": ("offer_accepted", "offer_refused"),
    "put": ("put_done", "put_waits", "put_refused"),
    "poll": ("poll_item", "poll_merged", "poll_empty", "poll_cut_off"),
}
"""The operations by which a policy is found out, with all that each may show.

Those after which more can still be asked come first: after a poll, nothing can arrive any more.
"""


class UnknownQueue(OverflowingQueue):
    """A queue that turns out to be of some policy and capacity."""

    N = const(2, at_least=1)      # the greatest capacity that is considered
    K = const(4, at_least=1)      # items that a run may name
    E = const(2, at_least=1)      # the least capacity of a queue that drops what it holds
    P = const(1, at_most=1)       # whether there are puts, which may wait
    S = const(0, at_most=1)       # whether it says how many items it holds itself

    capacity = integer(0, N)
    refused = integer(0, K)
    left = integer(0, K)          # items that were handed out
    waiting = integer(0, K, init=K)     # the item of the put that waits; K: none
    untold = integer(0, K, init=K)      # item of a put that is in and not notified; K: none
    draining = boolean()          # the second half has begun
    cut = boolean()               # the consumer is cut off

    @action(policy=Policy, capacity=upto(N + 1))
    def turns_out(self, policy: Policy, capacity: int) -> None:
        """The queue is of this kind, and was from the start."""
        require(self.policy == Policy.NONE and policy != Policy.NONE)
        one_place = policy == Policy.CONFLATE or policy == Policy.MERGE
        endless = policy == Policy.UNBOUNDED
        evicts = policy == Policy.DROP_OLDEST or policy == Policy.DROP_YOUNGEST or (
            policy == Policy.CLEAR)
        require((capacity == 0) == (one_place or endless))
        require(not evicts or capacity >= self.E)
        require(self.P == 1 or (policy != Policy.BLOCK and policy != Policy.DROP_AND_TELL))
        require(policy != Policy.SPILL or self.S == 1)
        self.policy = policy
        self.capacity = capacity

    # --- items arrive --------------------------------------------------------------------

    @action
    def offer_accepted(self) -> None:
        """An offer of the next item is accepted, whatever becomes of the item."""
        require(self.is_filling())
        require(self.has_room() or not self.says_no())
        require(self.has_room() or self.policy != Policy.DROP_AND_TELL)
        self.arrives()

    @action
    def offer_refused(self) -> None:
        """An offer is refused, and its producer learns it."""
        require(self.is_filling() and not self.has_room())
        require(self.says_no() or self.policy == Policy.DROP_AND_TELL)
        self.refuses()

    @action
    def put_done(self) -> None:
        """A put of the next item need not wait."""
        require(self.is_filling())
        require(self.has_room() or not self.says_no())
        self.arrives()

    @action
    def put_waits(self) -> None:
        """A put waits for a free slot."""
        require(self.is_filling() and not self.has_room() and self.policy == Policy.BLOCK)
        self.waiting = self.name_item()

    @action
    def put_refused(self) -> None:
        """A put fails because there is no free slot."""
        require(self.is_filling() and not self.has_room() and self.policy == Policy.REJECT)
        self.refuses()

    # --- all is taken out ----------------------------------------------------------------

    @action(item=upto(K))
    def poll_item(self, item: int) -> None:
        """A poll takes an item; if the consumer is cut off, one that was on its way already."""
        require(len(self.inside) > 0 and self.inside[0] == item)
        require(self.policy != Policy.MERGE or self.dropped == 0)
        self.drains()
        self.inside.pop()
        self.left += 1

    @action(count=upto(K + 1))
    def poll_merged(self, count: int) -> None:
        """A poll takes one item that stands for ``count`` merged ones."""
        require(self.policy == Policy.MERGE and self.dropped > 0 and len(self.inside) > 0)
        require(count == self.dropped + 1)
        self.drains()
        self.inside.pop()
        self.left += 1

    @action
    def poll_empty(self) -> None:
        """A poll finds nothing."""
        require(len(self.inside) == 0 and not self.cut)
        self.drains()

    @action
    def poll_cut_off(self) -> None:
        """A poll learns that the consumer is cut off; what was on its way is lost."""
        require(self.cut)
        self.drains()
        self.dropped += len(self.inside)
        self.inside.clear()

    @action(internal=True)
    def admit(self) -> None:
        """The item of the put that waits enters the queue."""
        require(self.waiting < self.K and self.has_room())
        self.inside.push(self.waiting)
        self.untold = self.waiting
        self.waiting = self.K

    @action(item=upto(K))
    def woken_put(self, item: int) -> None:
        """The put that waited learns that its item is in."""
        require(item == self.untold)
        self.untold = self.K

    # --- what it says of itself ----------------------------------------------------------

    @action(count=upto(K + 1))
    def held(self, count: int) -> None:
        """Report how many items it holds itself, not elsewhere; any number after a cut-off."""
        require(self.policy != Policy.NONE and self.S == 1)
        inside = len(self.inside)
        here = min(inside, self.capacity) if self.policy == Policy.SPILL else inside
        require(self.cut or count == here)

    # --- the few places where something moves --------------------------------------------

    def is_filling(self) -> bool:
        """True in the first half: no item was taken, and no put waits."""
        return self.policy != Policy.NONE and not self.draining and self.waiting == self.K

    def says_no(self) -> bool:
        """True if the producer learns that there is no free slot."""
        return self.policy == Policy.BLOCK or self.policy == Policy.REJECT

    def places(self) -> int:
        """The number of items that may be inside; K if it is unbounded."""
        if self.policy == Policy.CONFLATE or self.policy == Policy.MERGE:
            return 1
        if self.policy == Policy.UNBOUNDED or self.policy == Policy.SPILL:
            return self.K
        return self.capacity

    def has_room(self) -> bool:
        """True if an arrival finds a place."""
        return len(self.inside) < self.places()

    def arrives(self) -> None:
        """An item comes; if there is no room for it, the consumer may be cut off."""
        if self.policy == Policy.DISCONNECT and not self.has_room():
            self.cut = True
        super().arrives()

    def refuses(self) -> None:
        """An item is refused, and counted."""
        self.name_item()
        self.refused += 1

    def drains(self) -> None:
        """The second half begins, if it has not."""
        require(self.policy != Policy.NONE)
        self.draining = True

    # --- what is true of all of them -----------------------------------------------------

    @always("QUEUE-19", MUST,
            "Under every overflow policy, each item that arrived is exactly one of inside, "
            "handed out, refused, dropped or merged into another, or waiting with its put.",
            source="003#dropping; libraries#policies")
    def all_are_accounted_for(self) -> bool:
        """Offered = delivered + refused + dropped + pending."""
        pending = len(self.inside) + int(self.waiting < self.K)
        return self.named == self.left + self.refused + self.dropped + pending

    @always("QUEUE-20", MUST, "Under every policy that bounds a queue, it holds no more items than "
                              "it has places.", source="003#defining (bounded)")
    def has_an_end(self) -> bool:
        """True also for queues that are unbounded or spill: they have a place for each item."""
        return len(self.inside) <= self.places()

    @always("QUEUE-21", MUST,
            "Before the first poll, a queue that has overflowed holds the newest arrivals "
            "(drop-oldest, conflate), the oldest (drop-newest), the oldest and lastly the "
            "newest (drop-youngest), or its last overflowing arrival and those after it "
            "(clear).",
            source="libraries#policies, libraries#rx-dropping")
    def what_is_left_tells(self) -> bool:
        """Checked after any number of arrivals, before an item is taken."""
        if self.draining or self.dropped == 0:
            return True
        last, size = self.named - 1, len(self.inside)
        if self.policy == Policy.CLEAR:
            return size == last % self.capacity + 1 and all(
                self.inside[i] == self.named - size + i for i in range(size))
        if size != self.places():
            return False
        if self.policy == Policy.DROP_OLDEST or self.policy == Policy.CONFLATE:
            return all(self.inside[i] == self.named - size + i for i in range(size))
        if self.policy == Policy.DROP_NEWEST or self.policy == Policy.DROP_AND_TELL:
            return all(self.inside[i] == i for i in range(size))
        if self.policy == Policy.DROP_YOUNGEST:
            return self.inside[size - 1] == last and all(
                self.inside[i] == i for i in range(size - 1))
        return True


# --- one line wrong --------------------------------------------------------------------------

class ForgettingToDrop(UnknownQueue):
    """A full queue takes in what arrives, and drops nothing."""

    def forget_tail(self) -> None:
        """Nothing is dropped: the youngest item stays where it is."""


class EvictingTheHead(UnknownQueue):
    """A queue that is to drop its tail drops its head."""

    def forget_tail(self) -> None:
        """The oldest item is dropped in its place."""
        self.inside.pop()


class TakingOneMore(UnknownQueue):
    """An item that is refused is counted as refused, and taken in as well."""

    def refuses(self) -> None:
        """It is refused, and inside."""
        self.inside.push(self.name_item())
        self.refused += 1


class PolicySeen(View[UnknownQueue]):
    """Its kind, all questions and answers, and the end of a put."""

    same = (BIRTH, "held", "offer_accepted", "offer_refused", "put_done", "put_waits",
            "put_refused", "poll_item", "poll_merged", "poll_empty", "poll_cut_off", "woken_put")


SEEN = refines(UnknownQueue, UnknownQueue, "it answers as one of its kinds", shows=PolicySeen,
               seen_by={"N": "N", "K": "K", "E": "E", "P": "P", "S": "S"}, N=2, K=3, E=1, P=1, S=1)

EXPECTATIONS = (
    SEEN,
    expect(UnknownQueue, "QUEUE-19", "holds", "every item is accounted for",
           N=(1, 2, 3), K=6, E=(1, 2), P=(0, 1), S=(0, 1)),
    expect(UnknownQueue, "QUEUE-20", "holds", "no policy that bounds a queue exceeds its places",
           N=(1, 2, 3), K=6, E=(1, 2), P=(0, 1), S=(0, 1)),
    expect(UnknownQueue, "QUEUE-21", "holds", "what is left is what the policy says",
           N=(1, 2, 3), K=7, E=1, P=0, S=0),
    expect(ForgettingToDrop, "QUEUE-19", "violated", "an item is dropped and kept", N=2, K=4),
    expect(TakingOneMore, "QUEUE-20", "violated", "what is refused comes in", N=2, K=4),
    expect(EvictingTheHead, "QUEUE-21", "violated",
           "003#E15: the head is dropped for the tail", N=2, K=4),
)
