"""A bounded queue that drops: which item it drops is a promise, too.

Theory. A queue may make room by dropping, and say so: *drop-oldest* forgets its head, *drop-newest*
what arrives. Either is no backpressure, and ``bounded`` judges it so (QUEUE-1). But whoever has
chosen one of the two relies on what is left: the newest items, as a display of the present does,
or the oldest, as a log does. So a queue that says which it is, is held to it.

Only what never waits is judged here. From the first operation that waits on, nothing is: what is
dropped then depends on instants that nobody sees.
"""

from __future__ import annotations

from enum import IntEnum

from ..notation import (
    Machine, action, boolean, choice, const, fifo, integer, require, upto,
)
from .rules import DROPS_AS_PROMISED

__all__ = ["DroppingQueue", "Promise"]


class Promise(IntEnum):
    """What a queue says it does where there is no room."""

    NONE = 0            # nothing of the kind
    OLDEST = 1          # it drops its head
    NEWEST = 2          # it drops what arrives


class DroppingQueue(Machine):
    """A queue of at most ``C`` items that says what it drops."""

    C = const(2, at_least=1)      # capacity
    K = const(3, at_least=1)      # items that a run may name

    promise = choice(Promise)
    named = integer(0, K)         # items named so far: the next one has this number
    inside = fifo(integer(0, K - 1), C)
    dropped = boolean()           # something was dropped
    blurred = boolean()           # something waited: nothing is judged any more

    @action(promise=Promise)
    def promised(self, promise: Promise) -> None:
        """The queue says what it does where there is no room."""
        require(self.promise == Promise.NONE and not self.dropped)
        self.promise = promise

    @action
    def offer_accepted(self) -> None:
        """An offer is accepted; where there is no room, something is dropped."""
        self.arrives()

    @action
    def offer_refused(self) -> None:
        """An offer is refused: a queue that drops its newest item may say so."""
        if len(self.inside) >= self.C:
            self.arrives()
        else:
            self.name_item()

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
        """A put waits, so that who is inside is no longer certain."""
        self.name_item()
        self.blurred = True

    @action
    def take_waits(self) -> None:
        """A take waits, so that who is inside is no longer certain."""
        self.blurred = True

    def is_judged(self) -> bool:
        """Before anything was dropped, other machines know better."""
        return self.dropped and not self.blurred and self.promise != Promise.NONE

    def name_item(self) -> int:
        """The number of an item that is named for the first time."""
        require(self.named < self.K)
        self.named += 1
        return self.named - 1

    def arrives(self) -> None:
        """An item comes; where there is no room, one is dropped."""
        item = self.name_item()
        if len(self.inside) < self.C:
            self.inside.push(item)
        else:
            self.dropped = True
            if self.promise == Promise.OLDEST:
                self.inside.pop()
                self.inside.push(item)

    def leaves(self, item: int) -> None:
        """An item comes out: the oldest of those that are to be left."""
        require(not self.is_judged() or (len(self.inside) > 0 and self.inside[0] == item),
                DROPS_AS_PROMISED)
        if len(self.inside) > 0:
            self.inside.pop()
