"""A queue as a custodian, whatever its order: no item is lost, made up or duplicated.

Theory. Without order, capacity and the instants between, a queue is a custodian. Each item is
either still outside, inside, or handed out, and a refused or cancelled one never comes in. While a
producer waits it is open whether its item is in yet; a consumer that waits may hold one item that
no other call can find. So a queue with as many accepted items as there are waiting takes may
truthfully report that it is empty, and with one more it may not. This needs no internal actions:
there is always one state only.

Judging these by themselves matters for an implementation that violates another rule first.
A queue that drops its oldest item when full violates QUEUE-1 at that step, and after it no
run of ``queue.BoundedQueue`` explains anything; here the dropped item is still missed.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, array, choice, const, guard_rule, integer, require, step, subset, upto,
)
from .queue import CANCEL_LEAVES_NO_TRACE, NOT_LOST, NOT_TWICE

__all__ = ["EXPECTATIONS", "ConservingQueue", "Fate"]

NOT_INVENTED = guard_rule(
    "QUEUE-5", MUST,
    "An item is handed out only if a producer put or offered it before, and never if its offer "
    "was refused.",
    source="003#tokens",
)


class Fate(IntEnum):
    """The position of an item, or how it ended."""

    UNNAMED = 0     # no producer has named it
    WAITING = 1     # its put waits: it may be inside
    INSIDE = 2
    OUT = 3
    REFUSED = 4
    CANCELLED = 5


class ConservingQueue(Machine):
    """A queue as a custodian of items."""

    K = const(3, at_least=1)      # items that a run may name
    T = const(2, at_least=1)      # takes that may begin to wait in a run

    named = integer(0, K)
    asked = integer(0, T)
    fate = array(upto(K), choice(Fate))
    untold = subset(upto(K))      # items of puts that wait or were not notified that they are done
    takes = subset(upto(T))       # takes that wait or were not notified what they got
    dropped_out = subset(upto(T))     # takes that were cancelled
    suspects = integer(0, T)      # cancelled takes that could have lost an item

    # --- items go in ---------------------------------------------------------------------

    @action
    def offer_accepted(self) -> None:
        """An offer of the next item is accepted."""
        self.name_item(Fate.INSIDE)

    @action
    def offer_refused(self) -> None:
        """An offer of the next item is refused."""
        self.name_item(Fate.REFUSED)

    @action
    def put_done(self) -> None:
        """A put of the next item need not wait."""
        self.name_item(Fate.INSIDE)

    @action
    def put_waits(self) -> None:
        """A put of the next item waits."""
        self.untold.add(self.named)
        self.name_item(Fate.WAITING)

    @action(item=upto(K))
    def woken_put(self, item: int) -> None:
        """A put that waited learns that its item is in."""
        require(self.fate[item] != Fate.CANCELLED, CANCEL_LEAVES_NO_TRACE)
        require(item in self.untold, NOT_TWICE)
        self.untold.discard(item)
        self.is_in(item)

    # --- items come out ------------------------------------------------------------------

    @action(item=upto(K))
    def poll_item(self, item: int) -> None:
        """A poll takes an item."""
        self.hand_out(item)

    @action(item=upto(K))
    def take_item(self, item: int) -> None:
        """A take need not wait."""
        self.hand_out(item)

    @action
    def take_waits(self) -> None:
        """A take waits; it gets the next ticket."""
        require(self.asked < self.T)
        self.takes.add(self.asked)
        self.asked += 1

    @action(ticket=upto(T), item=upto(K))
    def woken_take(self, ticket: int, item: int) -> None:
        """A take that waited gets its item."""
        require(ticket not in self.dropped_out, CANCEL_LEAVES_NO_TRACE)
        require(ticket in self.takes, NOT_TWICE)
        self.takes.discard(ticket)
        self.hand_out(item)

    @action(rests=(NOT_LOST,))
    def poll_empty(self) -> None:
        """A poll finds nothing: each item inside may be in the hands of a take that waits."""
        missing = self.number_inside() - len(self.takes)
        require(missing <= self.suspects, NOT_LOST)
        require(missing <= 0, CANCEL_LEAVES_NO_TRACE)

    # --- cancelling ----------------------------------------------------------------------

    @action(item=upto(K))
    def cancelled_put(self, item: int) -> None:
        """The put of an item is cancelled."""
        require(self.fate[item] == Fate.WAITING, CANCEL_LEAVES_NO_TRACE)
        self.untold.discard(item)
        self.fate[item] = Fate.CANCELLED

    @action(ticket=upto(T))
    def cancelled_take(self, ticket: int) -> None:
        """A take is cancelled; if there was an item to take, the item may be lost with it."""
        require(ticket in self.takes, CANCEL_LEAVES_NO_TRACE)
        self.takes.discard(ticket)
        self.dropped_out.add(ticket)
        if self.suspects < self.number_inside():
            self.suspects += 1

    @action(item=upto(K))
    def too_late_for_put(self, item: int) -> None:
        """It is too late to cancel a put: its item is in."""
        self.is_in(item)

    # --- the few places where something moves --------------------------------------------

    def name_item(self, becomes: Fate) -> None:
        """A producer names an item for the first time."""
        require(self.named < self.K)
        self.fate[self.named] = becomes
        self.named += 1

    def is_in(self, item: int) -> None:
        """An item is known to have entered (and may be out by now)."""
        if self.fate[item] == Fate.WAITING:
            self.fate[item] = Fate.INSIDE

    def hand_out(self, item: int) -> None:
        """An item comes out."""
        require(self.fate[item] != Fate.UNNAMED, NOT_INVENTED)
        require(self.fate[item] != Fate.REFUSED, NOT_INVENTED)
        require(self.fate[item] != Fate.CANCELLED, CANCEL_LEAVES_NO_TRACE)
        require(self.fate[item] != Fate.OUT, NOT_TWICE)
        self.fate[item] = Fate.OUT

    def number_inside(self) -> int:
        """The number of items that are certainly inside."""
        return sum(fate == Fate.INSIDE for fate in self.fate)

    # --- what is true of all of it -------------------------------------------------------

    @step("QUEUE-16", MUST,
          "The fate of an item that came out, was refused or was cancelled never changes.",
          source="003#tokens", item=upto(K))
    def what_is_over_is_over(self, after: ConservingQueue, item: int) -> bool:
        """True if the fate of an item that is out, refused or cancelled does not change."""
        over = self.fate[item] in (Fate.OUT, Fate.REFUSED, Fate.CANCELLED)
        return not over or after.fate[item] == self.fate[item]


EXPECTATIONS = (
    expect(ConservingQueue, "QUEUE-16", "holds", "what is over is over", K=(2, 3), T=2),
)
