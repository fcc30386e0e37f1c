"""A bounded queue that drops: which item it drops is a promise, too.

Theory. What a queue does with an arrival for which it has no free slot is its *policy*. It may let
the producer wait or turn it away; then nothing is lost. It may free a slot, and say so:
*drop-oldest* forgets its head, *drop-youngest-queued* its tail, *clear* all that it holds. It may
forget what arrives, *drop-newest*. Or it holds one item only and *conflates*: the newest item takes
the place of the one before, or is merged into it. ``policies`` distinguishes them all.

Dropping is no backpressure, and ``queue`` judges it so (QUEUE-1). But users who have chosen one
of these rely on what is left: the newest items, as a display of the present does, or the oldest, as
a log does. So a queue that states which it is, is held to it.

Only operations that never wait are judged here. From the first operation that waits on, nothing is:
what is dropped then depends on instants that cannot be seen.
"""

from __future__ import annotations

from enum import IntEnum

from ..notation import (
    MUST, Machine, action, boolean, choice, const, fifo, guard_rule, integer, require, upto,
)

__all__ = ["DroppingQueue", "OverflowingQueue", "Policy"]

DROPS_AS_PROMISED = guard_rule(
    "QUEUE-17", MUST,
    "Once a queue with a stated drop policy has overflowed, and until a call waits, polls and "
    "takes return just what the policy (drop oldest, youngest, all, or the arrival) leaves, "
    "oldest first.",
    source="libraries#deque-maxlen, libraries#rx-dropping",
)


class Policy(IntEnum):
    """The treatment of an arrival that does not fit."""

    NONE = 0              # not known
    BLOCK = 1             # its producer waits
    REJECT = 2            # its producer is refused
    DROP_NEWEST = 3       # it is dropped
    DROP_OLDEST = 4       # the head is dropped
    DROP_YOUNGEST = 5     # the tail is dropped, the youngest of those that were queued
    CLEAR = 6             # all that was queued is dropped
    CONFLATE = 7          # there is one place, and it replaces what is there
    MERGE = 8             # there is one place, and it is merged into what is there
    SPILL = 9             # it is held elsewhere, as on a disk
    DISCONNECT = 10       # the consumer, which is too slow, is cut off
    UNBOUNDED = 11        # there is always room
    DROP_AND_TELL = 12    # it is dropped: an offer is refused, and a put is not


class OverflowingQueue(Machine):
    """The effect of an arrival on the items of a queue; if there is no free slot, by its policy."""

    K = const(3, at_least=1)      # items that a run may name

    policy = choice(Policy)
    named = integer(0, K)         # items named so far: the next one has this number
    inside = fifo(integer(0, K - 1), K)
    dropped = integer(0, K)       # items that went in, or came, and are gone without a report

    def has_room(self) -> bool:
        """True if an arrival finds a place; a variant defines how many there are."""
        return True

    def name_item(self) -> int:
        """The number of an item that is named for the first time."""
        require(self.named < self.K)
        self.named += 1
        return self.named - 1

    def arrives(self) -> None:
        """An item comes; if there is no free slot, something is dropped."""
        item = self.name_item()
        if self.has_room():
            self.inside.push(item)
        elif self.policy == Policy.DROP_OLDEST:
            self.inside.pop()
            self.dropped += 1
            self.inside.push(item)
        elif self.policy == Policy.DROP_YOUNGEST:
            self.forget_tail()
            self.dropped += 1
            self.inside.push(item)
        elif self.policy == Policy.CLEAR or self.policy == Policy.CONFLATE:
            self.dropped += len(self.inside)
            self.inside.clear()
            self.inside.push(item)
        else:
            self.dropped += 1

    def forget_tail(self) -> None:
        """The youngest item goes; the others keep their places."""
        tail = self.inside[-1]
        for _ in range(len(self.inside)):
            other = self.inside.pop()
            if other != tail:
                self.inside.push(other)


class DroppingQueue(OverflowingQueue):
    """A queue of at most ``C`` items that says what it drops."""

    C = const(2, at_least=1)      # capacity
    K = const(3, at_least=1)      # items that a run may name

    blurred = boolean()           # something waited: nothing is judged any more

    @action(promise=Policy)
    def promised(self, promise: Policy) -> None:
        """The queue states what it does if there is no free slot."""
        require(self.policy == Policy.NONE and self.dropped == 0)
        self.policy = promise

    @action
    def offer_accepted(self) -> None:
        """An offer is accepted; if there is no free slot, something is dropped."""
        self.arrives()

    @action
    def offer_refused(self) -> None:
        """An offer is refused: a queue that drops its newest item may say so."""
        if self.has_room():
            self.name_item()
        else:
            self.arrives()

    @action
    def put_done(self) -> None:
        """A put need not wait."""
        self.arrives()

    @action(item=upto(K))
    def poll_item(self, item: int) -> None:
        """A poll takes an item."""
        self.leaves(item)

    @action(item=upto(K))
    def take_item(self, item: int) -> None:
        """A take need not wait."""
        self.leaves(item)

    @action
    def poll_empty(self) -> None:
        """A poll finds nothing."""
        require(not self.is_judged() or len(self.inside) == 0, DROPS_AS_PROMISED)

    @action
    def put_waits(self) -> None:
        """A put waits, so it is no longer certain which items are inside."""
        self.name_item()
        self.blurred = True

    @action
    def take_waits(self) -> None:
        """A take waits, so it is no longer certain which items are inside."""
        self.blurred = True

    def has_room(self) -> bool:
        """True if an arrival finds a place: a queue that conflates has a single one."""
        return len(self.inside) < self.C and (
            self.policy != Policy.CONFLATE or len(self.inside) == 0)

    def is_judged(self) -> bool:
        """True after something was dropped; before that, other machines judge better."""
        return self.dropped > 0 and not self.blurred and self.policy != Policy.NONE

    def leaves(self, item: int) -> None:
        """An item comes out: the oldest of those that the policy leaves."""
        require(not self.is_judged() or (len(self.inside) > 0 and self.inside[0] == item),
                DROPS_AS_PROMISED)
        if len(self.inside) > 0:
            self.inside.pop()


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
