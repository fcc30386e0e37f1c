"""The bounded queue with waiting producers and consumers: capacity, order, waiting.

Theory. A bounded queue is where backpressure begins: a full queue answers "no" (to an *offer*,
at once) or "not yet" (to a *put*, which waits). A wait has three instants. The waiter joins;
at some instant its item enters the queue, or it gets the queue's head; later it learns of
that. Only the first and the last can be seen from outside, so the one between is an
*internal* action here: ``admit`` and ``serve``. An implementation is free to admit a waiter
the moment there is a free slot, or to wake it and let it find out; to hand an item over directly,
or through the buffer; to let a newcomer that never waits (an offer, a poll) slip in before a
waiter that was woken has run. Two things bind it: *some* order of these instants explains
what was seen, and once everything has run that can run (``settled``), no call still waits
for something that is there.

The order of service is free as well: asyncio puts a producer that was overtaken at the end of
the wait queue again. ``OrderlyQueue`` is the same queue without that freedom, and a rule of its
own, with the strength SHOULD.

Items are numbered 0, 1, 2, … in the order in which producers first name them, and takes that
wait in the order in which they begin to; so each action knows which number is new. What this
chapter says about loss and duplicates follows from the order; ``conserved`` judges those two by
themselves, so that they can be judged even for a queue that keeps no order.

The rules that an implementation can be seen to break are *guard rules*: the ``require`` lines that
name them, here and in other chapters on queues, are their only definition.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, fifo, guard_rule, integer,
    leads_to, require, subset, upto,
)

__all__ = ["EXPECTATIONS", "BoundedQueue", "OrderlyQueue"]

FULL_REFUSES = guard_rule(
    "QUEUE-1", MUST,
    "A full queue accepts no further item, by an offer or a put: it neither exceeds its "
    "capacity nor drops an item to make space.",
    source="003#defining (bounded); anyio #147",
)
ROOM_ACCEPTS = guard_rule(
    "QUEUE-2", MUST,
    "A queue refuses an offer only while it is full, counting the items of waiting puts that "
    "may have entered already.",
    source="003#defining (live)",
)
ORDER = guard_rule(
    "QUEUE-3", MUST,
    "Polls and takes get items in the order in which these entered; calls that wait at the same "
    "time may enter or return in any order.",
    source="000#order (per sender); cpython #83055",
)
NOT_LOST = guard_rule(
    "QUEUE-4", MUST,
    "A poll finds a queue empty only if each item that entered was handed out, or is held for a "
    "take that still waits.",
    source="003#tokens; bpo-23812, anyio #146",
)
NOT_TWICE = guard_rule(
    "QUEUE-6", MUST,
    "Nothing comes out twice, and no wait completes twice.",
    source="003#tokens; RabbitMQ #5609",
)
PRODUCER_WAKES = guard_rule(
    "QUEUE-7", MUST,
    "When an open queue is quiescent, no put waits while a place is free or its item is inside "
    "already, unless a waiting put was cancelled beside a free place just before.",
    source="003#defining (live); anyio #143, janus #237",
)
CONSUMER_WAKES = guard_rule(
    "QUEUE-8", MUST,
    "When a queue is quiescent, no take waits while an item is inside or held for it, unless a "
    "waiting take was cancelled beside an item just before.",
    source="003#defining (live); tokio #8260",
)
CANCEL_LEAVES_NO_TRACE = guard_rule(
    "QUEUE-9", MUST,
    "A cancelled put never enters its item and a cancelled take gets none; a cancel comes too "
    "late only after the item has entered or the take has got one.",
    source="bpo-23812, anyio #146: a cancelled get took an item with it",
)
CANCEL_PASSES_ON = guard_rule(
    "QUEUE-10", MUST,
    "If a waiter is cancelled after it was woken, the next waiter is woken instead.",
    source="bpo-27585, cpython #90155, python/asyncio #265: a cancelled waiter swallowed the "
    "wakeup",
)
SIZE = guard_rule(
    "QUEUE-11", MUST,
    "The size that a queue reports is the number of items that have entered and that no poll or "
    "take has got, where a take may get an item before it returns.",
    source="003#defining (Pending(B) is its term, and that a call reports it is ours)",
)
IN_TURN = guard_rule(
    "QUEUE-12", SHOULD,
    "Puts are served in the order in which they began to wait, before later puts, and so are "
    "takes; offers and polls may come first, and waiters with a requested cancellation may be "
    "passed over.",
    source="cpython #83055; libraries#trio-channels",
)


class BoundedQueue(Machine):
    """A first-in first-out queue of at most ``C`` items."""

    C = const(2, at_least=1)      # capacity
    K = const(3, at_least=1)      # items that a run may name
    T = const(2, at_least=1)      # takes that may begin to wait in a run
    W = const(2, at_least=1)      # puts, and takes, that may wait at the same time

    named = integer(0, K)         # items named so far: the next one has this number
    asked = integer(0, T)         # takes that have waited: the next ticket has this number

    inside = fifo(integer(0, K - 1), C + 1)     # one place more than allowed: see QUEUE-13
    out = subset(upto(K))                       # items that were handed out

    puts = fifo(integer(0, K - 1), W)           # items of puts that wait, first comer first
    admitted = subset(upto(K))                  # inside (or out), and the put not notified yet
    takes = fifo(integer(0, T - 1), W)          # tickets of the takes that wait
    holds = array(upto(T), integer(0, K, init=K))   # what a take got and does not know yet; K: none

    # A call was cancelled when it could have been served, since all had last settled.
    put_withdrew = boolean(False)
    take_withdrew = boolean(False)

    # --- what a call that never waits can answer -----------------------------------------

    @action
    def offer_accepted(self) -> None:
        """An offer of the next item is accepted."""
        require(len(self.inside) < self.C, FULL_REFUSES)
        self.enter(self.name_item())

    @action(rests=True)
    def offer_refused(self) -> None:
        """An offer of the next item is refused."""
        require(len(self.inside) >= self.C, ROOM_ACCEPTS)
        self.name_item()

    @action(item=upto(K))
    def poll_item(self, item: int) -> None:
        """A poll takes an item."""
        self.leave(item)
        self.out.add(item)

    @action(rests=True)
    def poll_empty(self) -> None:
        """A poll finds nothing."""
        require(len(self.inside) == 0, NOT_LOST)

    @action(count=upto(C + 1))
    def sized(self, count: int) -> None:
        """A caller asks for the size and is answered."""
        require(len(self.inside) == count, SIZE)

    # --- what a call that may wait can answer at once ------------------------------------

    @action
    def put_done(self) -> None:
        """A put of the next item need not wait."""
        require(len(self.inside) < self.C, FULL_REFUSES)
        self.enter(self.name_item())

    @action
    def put_waits(self) -> None:
        """A put of the next item waits. It may wait even if there is a free slot: for its turn."""
        require(len(self.puts) + len(self.admitted) < self.W)
        self.puts.push(self.name_item())

    @action(item=upto(K))
    def take_item(self, item: int) -> None:
        """A take need not wait."""
        self.leave(item)
        self.out.add(item)

    @action
    def take_waits(self) -> None:
        """A take waits; it gets the next ticket."""
        require(len(self.takes) + sum(item < self.K for item in self.holds) < self.W)
        require(self.asked < self.T)
        self.takes.push(self.asked)
        self.asked += 1

    # --- what cannot be seen ---------------------------------------------------------------

    @action(internal=True, fair=True, place=upto(W))
    def admit(self, place: int) -> None:
        """The item of a put that waits enters the queue."""
        require(place < len(self.puts))
        require(len(self.inside) < self.C)
        item = self.puts[place]
        self.stop_waiting_put(item)
        self.enter(item)
        self.admitted.add(item)

    @action(internal=True, fair=True, place=upto(W))
    def serve(self, place: int) -> None:
        """A take that waits gets the oldest item."""
        require(place < len(self.takes))
        require(len(self.inside) > 0)
        ticket = self.takes[place]
        self.stop_waiting_take(ticket)
        self.holds[ticket] = self.inside.pop()

    # --- what a waiter learns ------------------------------------------------------------

    @action(item=upto(K))
    def woken_put(self, item: int) -> None:
        """A put that waited learns that its item is in."""
        require(item not in self.puts or len(self.inside) < self.C, FULL_REFUSES)
        require(item in self.admitted, NOT_TWICE)
        self.admitted.discard(item)

    @action(ticket=upto(T), item=upto(K))
    def woken_take(self, ticket: int, item: int) -> None:
        """A take that waited gets its item."""
        require(item not in self.out, NOT_TWICE)
        require(self.holds[ticket] == item, ORDER)
        self.holds[ticket] = self.K
        self.out.add(item)

    # --- cancelling ----------------------------------------------------------------------

    @action(item=upto(K))
    def cancelled_put(self, item: int) -> None:
        """The put of an item is cancelled: it waited, and its item never enters."""
        require(item in self.puts, CANCEL_LEAVES_NO_TRACE)
        if len(self.inside) < self.C:
            self.put_withdrew = True
        self.stop_waiting_put(item)

    @action(ticket=upto(T))
    def cancelled_take(self, ticket: int) -> None:
        """A take is cancelled: it waited, and took nothing."""
        require(ticket in self.takes, CANCEL_LEAVES_NO_TRACE)
        if len(self.inside) > 0:
            self.take_withdrew = True
        self.stop_waiting_take(ticket)

    @action(item=upto(K))
    def too_late_for_put(self, item: int) -> None:
        """It is too late to cancel a put: its item is in."""
        require(item not in self.puts, CANCEL_LEAVES_NO_TRACE)

    @action(ticket=upto(T))
    def too_late_for_take(self, ticket: int) -> None:
        """It is too late to cancel a take: it has its item."""
        require(ticket not in self.takes, CANCEL_LEAVES_NO_TRACE)

    # --- when everything has run that can run --------------------------------------------

    @action(rests=True)
    def settled(self) -> None:
        """No call waits for what is there, and every call that is complete has been notified."""
        put_late = len(self.admitted) > 0 or (
            len(self.puts) > 0 and len(self.inside) < self.C)
        take_late = any(item < self.K for item in self.holds) or (
            len(self.takes) > 0 and len(self.inside) > 0)
        require(not put_late or self.put_withdrew, PRODUCER_WAKES)
        require(not take_late or self.take_withdrew, CONSUMER_WAKES)
        require(not put_late and not take_late, CANCEL_PASSES_ON)
        self.put_withdrew = False
        self.take_withdrew = False

    # --- the few places where something moves --------------------------------------------

    def name_item(self) -> int:
        """The number of an item that is named for the first time."""
        require(self.named < self.K)
        self.named += 1
        return self.named - 1

    def enter(self, item: int) -> None:
        """An item goes to the tail."""
        self.inside.push(item)

    def leave(self, item: int) -> None:
        """An item leaves from the head."""
        require(item in self.inside or item in self.puts, NOT_TWICE)
        require(len(self.inside) > 0 and self.inside[0] == item, ORDER)
        self.inside.pop()

    def stop_waiting_put(self, item: int) -> None:
        """A put leaves the wait queue, at whatever position; the others keep their order."""
        for _ in range(len(self.puts)):
            other = self.puts.pop()
            if other != item:
                self.puts.push(other)

    def stop_waiting_take(self, ticket: int) -> None:
        """A take leaves the wait queue, at whatever position; the others keep their order."""
        for _ in range(len(self.takes)):
            other = self.takes.pop()
            if other != ticket:
                self.takes.push(other)

    # --- what is true of all of it -------------------------------------------------------

    @always("QUEUE-13", MUST, "The queue never holds more items than its capacity.",
            source="003#defining (bounded)")
    def bounded(self) -> bool:
        """The text's 'Pending(B) <= Buf(B)'."""
        return len(self.inside) <= self.C

    @always("QUEUE-14", MUST,
            "An item is in at most one place, and there once: with a waiting put that has not "
            "entered it, inside, held for a waiting take, or handed out.",
            source="003#tokens ('no tokens are lost')", item=upto(K))
    def in_one_place(self, item: int) -> bool:
        """No item is both handed out and still there, and no item is there twice."""
        waiting = sum(other == item for other in self.puts)
        inside = sum(other == item for other in self.inside)
        held = sum(other == item for other in self.holds)
        return waiting + inside + held + int(item in self.out) <= 1

    @leads_to("QUEUE-15", MUST,
              "If a put waits while a place is free, then eventually no put waits, or no place "
              "is free.",
              source="003#defining (live)")
    def a_blocked_producer_wakes(self) -> tuple[bool, bool]:
        """A waiting put gets in, or another item fills the queue first."""
        waits_needlessly = len(self.puts) > 0 and len(self.inside) < self.C
        return waits_needlessly, not waits_needlessly


class OrderlyQueue(BoundedQueue):
    """The same queue, which serves its waiters in their order.

    Offers and polls never wait and have no place in the wait queue, so they may still come first. A
    call whose thread was stopped on its way may not have joined the wait queue yet: then no order
    among waiters is required until all has settled and no call waits.
    """

    out_of_line = boolean(False)    # a waiting call was stopped before it joined the wait queue

    @action
    def stopped_on_its_way(self) -> None:
        """The call that began last waits since its thread was stopped."""
        self.out_of_line = True

    @action(rests=True)
    def settled(self) -> None:
        """The same as in any bounded queue; if no call waits, all have joined the wait queue and
        left it.
        """
        super().settled()
        if len(self.puts) == 0 and len(self.takes) == 0:
            self.out_of_line = False

    @action
    def put_done(self) -> None:
        """A put does not overtake one that waits."""
        require(self.out_of_line or len(self.puts) == 0, IN_TURN)
        super().put_done()

    @action(item=upto(BoundedQueue.K))
    def take_item(self, item: int) -> None:
        """A take does not overtake one that waits."""
        require(self.out_of_line or len(self.takes) == 0, IN_TURN)
        super().take_item(item)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def admit(self, place: int) -> None:
        """Only the first waiter is admitted."""
        require(self.out_of_line or place == 0, IN_TURN)
        super().admit(place)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def serve(self, place: int) -> None:
        """Only the first waiter is served."""
        require(self.out_of_line or place == 0, IN_TURN)
        super().serve(place)


EXPECTATIONS = (
    expect(BoundedQueue, "QUEUE-13", "holds",
           "a queue never holds more than its capacity", C=(1, 2), K=3, T=2, W=2),
    expect(BoundedQueue, "QUEUE-14", "holds", "no item is in two places", C=(1, 2), K=3, T=2, W=2),
    expect(BoundedQueue, "QUEUE-15", "holds", "room does not stay unused beside a blocked producer",
           C=(1, 2), K=3, T=2, W=2),
    expect(OrderlyQueue, "QUEUE-15", "holds",
           "in turn, room does not stay unused beside a put", C=(1, 2), K=3, T=2, W=2),
)

BOOKKEEPING = {
    "QUEUE-14":
        "The observer takes an item from one list when it enters it into another; what a queue "
        "hands out twice is refused by QUEUE-4 and QUEUE-5 before.",
}
