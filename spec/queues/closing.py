"""A queue that is closed, joined, and given items that it cannot take, as seen from outside.

Theory. A queue between coroutines ends. Closing it lets nothing more in; the items inside are still
handed out, and then takes are refused as closed. Cutting it off throws away what is inside as well.
Either must reach all waiters: a put that waits for a free slot, and a take that waits for an item,
would otherwise sleep forever beside a queue that no task will use again. A consumer reports of each
item that it is done with it; a join waits until all items that went in are done. And a put may fail
for another reason than the queue's: its item cannot be compared, or pickled. Then it has had no
effect.

An observer sees calls begin and end, in the order of the callbacks in which they do. A call that
has begun need not have looked at the queue yet, and one that was woken has not run; so obligations
are judged when everything has run that can. An item may be seen to come out before its put has
ended. The items *inside* here are those that have gone in, as far as their puts have reported, and
have not come out.

Items are numbered in the order in which their puts begin, and so are takes and joins.

Source: Python's documentation of ``asyncio.Queue.shutdown`` and ``join``; janus, anyio.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, const, guard_rule, integer, require, subset,
    upto,
)
from .conserved import NOT_INVENTED
from .queue import CONSUMER_WAKES, FULL_REFUSES, NOT_TWICE, ORDER, PRODUCER_WAKES

__all__ = ["EXPECTATIONS", "ClosableQueue", "OrderlyClosing"]

TOLD_IS_OUT = guard_rule(
    "CLOSE-1", MUST,
    "A put that begins after the queue was closed never succeeds, and no item comes out if its "
    "put is refused as closed.",
    source="libraries#closing",
)
TAKES_ARE_TOLD = guard_rule(
    "CLOSE-2", MUST,
    "When a closed queue is quiescent, no take waits: each has got an item, was refused as "
    "closed, or was cancelled.",
    source="libraries#closing; aiochannel #13: some of them waited on",
)
PUTS_ARE_TOLD = guard_rule(
    "CLOSE-3", MUST,
    "When a closed queue is quiescent, no put waits: each has entered its item, has failed, was "
    "refused as closed, or was cancelled.",
    source="libraries#closing; janus #237: it waited on",
)
STILL_GIVEN = guard_rule(
    "CLOSE-4", MUST,
    "Unless its items were thrown away, a closed queue refuses a take as closed only if at "
    "least as many other takes are under way as items are inside.",
    source="libraries#closing")
CUT_IS_CUT = guard_rule(
    "CLOSE-5", MUST,
    "A take that begins after a queue was closed and its items were thrown away gets no item.",
    source="libraries#closing",
)
OPEN_IS_OPEN = guard_rule(
    "CLOSE-6", MUST,
    "No call is refused as closed while the queue is open.",
    source="libraries#closing",
)
NOT_BEFORE = guard_rule(
    "JOIN-1", MUST,
    "A join ends only if, at some instant since it began, all items that had entered were "
    "reported done by consumers, or thrown away.",
    source="libraries#joining",
)
JOIN_ENDS = guard_rule(
    "JOIN-2", MUST,
    "When a queue is quiescent and all items that entered were reported done or thrown away, no "
    "join waits.",
    source="libraries#joining",
)
RESTS = guard_rule(
    "JOIN-3", MUST,
    "A waiting call lets the event loop become idle: it does not keep running callbacks.",
    source="janus #715: a join spins; 003#defining (live)",
)
FAILS_CLEANLY = guard_rule(
    "FAIL-1", MUST,
    "A put that fails for another reason than a full or closed queue occupies no place, leaves "
    "no item to come out, and adds nothing that a join waits for.",
    source="bpo-33078: its place is gone forever",
)


class ClosableQueue(Machine):
    """The books of an observer: the calls that are under way, and the position of each item."""

    C = const(1, at_least=1)      # capacity: places for items
    K = const(3, at_least=1)      # items that a run may name; as many takes, and joins

    # --- puts and their items
    named = integer(0, K)         # the next item has this number
    putting = subset(upto(K))     # their puts have not ended
    late = subset(upto(K))        # their puts began after it was closed
    bad = subset(upto(K))         # their puts may fail, or have failed
    failed = boolean(False)       # some put has failed
    inside = subset(upto(K))      # went in
    out = subset(upto(K))         # came out
    dropped = subset(upto(K))     # were inside when it was cut off

    # --- takes and joins
    takes = integer(0, K)
    taking = subset(upto(K))
    in_time = subset(upto(K))     # takes that were under way when it was cut off
    given = integer(0, K)         # items that a consumer has, and is not done with
    joins = integer(0, K)
    joining = subset(upto(K))
    may_end = subset(upto(K))     # joins that were under way while all was done

    closed = boolean(False)
    cut = boolean(False)

    # --- what calls do -------------------------------------------------------------------

    @action(bad=upto(2))
    def puts(self, bad: int) -> None:
        """The put of the next item begins; of one that may fail, if ``bad`` is 1."""
        require(self.named < self.K)
        self.putting.add(self.named)
        if bad == 1:
            self.bad.add(self.named)
        if self.closed:
            self.late.add(self.named)
        self.named += 1

    @action(item=upto(K))
    def goes_in(self, item: int) -> None:
        """A put ends: its item is in, or came out already."""
        require(item in self.putting)
        require(item not in self.late, TOLD_IS_OUT)
        require(item in self.out or len(self.inside) < self.C + len(self.taking), FULL_REFUSES)
        self.putting.discard(item)
        self.bad.discard(item)
        if item not in self.out and self.cut:
            self.dropped.add(item)
        elif item not in self.out:
            self.inside.add(item)

    @action(item=upto(K))
    def put_is_told(self, item: int) -> None:
        """A put ends: the queue is closed, and its item stays out."""
        require(item in self.putting)
        require(self.closed, OPEN_IS_OPEN)
        require(item not in self.out, TOLD_IS_OUT)
        self.putting.discard(item)

    @action(item=upto(K))
    def put_fails(self, item: int) -> None:
        """A put ends with an error that does not come from the queue."""
        require(item in self.putting and item in self.bad)
        require(item not in self.out, FAILS_CLEANLY)
        self.putting.discard(item)
        self.failed = True

    @action
    def begins_to_take(self) -> None:
        """The next take begins."""
        require(self.takes < self.K)
        self.taking.add(self.takes)
        self.takes += 1

    @action(take=upto(K), item=upto(K))
    def gives(self, take: int, item: int) -> None:
        """A take ends with an item."""
        require(take in self.taking)
        require(item < self.named, NOT_INVENTED)
        require(item not in self.bad or item in self.putting, FAILS_CLEANLY)
        require(item not in self.out, NOT_TWICE)
        require(not self.cut or take in self.in_time, CUT_IS_CUT)
        require(item in self.putting or item in self.inside or item in self.dropped, TOLD_IS_OUT)
        self.taking.discard(take)
        if not self.cut:
            self.given += 1
        self.out.add(item)
        self.inside.discard(item)
        self.dropped.discard(item)

    @action(take=upto(K))
    def take_is_told(self, take: int) -> None:
        """A take ends: the queue is closed. Other takes under way may have the items inside."""
        require(take in self.taking)
        require(self.closed, OPEN_IS_OPEN)
        require(self.cut or len(self.inside) < len(self.taking), STILL_GIVEN)
        self.taking.discard(take)

    @action
    def done(self) -> None:
        """A consumer is done with an item that it has."""
        require(self.given > 0)
        self.given -= 1
        self.let_joins_end()

    @action
    def begins_to_join(self) -> None:
        """The next join begins."""
        require(self.joins < self.K)
        self.joining.add(self.joins)
        self.joins += 1
        self.let_joins_end()

    @action(join=upto(K))
    def join_ends(self, join: int) -> None:
        """A join ends: all was done."""
        require(join in self.joining)
        require(join in self.may_end, NOT_BEFORE)
        self.joining.discard(join)

    # --- what is done to the queue -------------------------------------------------------

    @action
    def closes(self) -> None:
        """It is closed: what is inside stays there."""
        self.closed = True

    @action
    def is_cut_off(self) -> None:
        """It is closed, and what is inside is thrown away."""
        self.closed = True
        if not self.cut:
            for call in range(self.K):
                if call in self.taking:
                    self.in_time.add(call)
                if call in self.inside:
                    self.dropped.add(call)
            self.inside.clear()
        self.cut = True
        self.let_joins_end()

    @action
    def spins(self) -> None:
        """Callbacks run one after the other, with no end in sight."""
        require(self.named < 0, RESTS)

    # --- when everything has run that can run --------------------------------------------

    @action(rests=(PRODUCER_WAKES, CONSUMER_WAKES, TAKES_ARE_TOLD, PUTS_ARE_TOLD, JOIN_ENDS))
    def settled(self) -> None:
        """No call waits for what is there, or for what will never be there."""
        puts, takes, joins = len(self.putting) > 0, len(self.taking) > 0, len(self.joining) > 0
        room = len(self.inside) < self.C
        require(not self.failed or self.closed or not (puts and room), FAILS_CLEANLY)
        require(not self.failed or not (joins and self.all_done()), FAILS_CLEANLY)
        require(self.closed or not (puts and room), PRODUCER_WAKES)
        require(not takes or len(self.inside) == 0, CONSUMER_WAKES)
        require(not self.closed or not takes, TAKES_ARE_TOLD)
        require(not self.closed or not puts, PUTS_ARE_TOLD)
        require(not joins or not self.all_done(), JOIN_ENDS)

    # --- helpers -------------------------------------------------------------------------

    def all_done(self) -> bool:
        """True if no item is inside, and no consumer has an item to be done."""
        return len(self.inside) == 0 and self.given == 0

    def let_joins_end(self) -> None:
        """If all is done now, let every join that is under way end."""
        if self.all_done():
            for join in range(self.K):
                if join in self.joining:
                    self.may_end.add(join)

    # --- what is true of all of it -------------------------------------------------------

    @always("CLOSE-7", MUST,
            "An item is at most one of inside, handed out and thrown away, and a queue that was "
            "closed by throwing its items away has none inside.",
            source="libraries#closing")
    def one_place_for_each(self) -> bool:
        """Inside, out, or thrown away."""
        places = all(
            (item in self.inside) + (item in self.out) + (item in self.dropped) <= 1
            for item in range(self.K))
        return places and (not self.cut or len(self.inside) == 0)


class OrderlyClosing(ClosableQueue):
    """The same queue; its items leave in the order in which they entered.

    An item is surely older than another one if its put had ended before the other's began. If an
    item comes out, each surely older one that is still inside has a take under way that may have
    it.
    """

    older = array(upto(ClosableQueue.K), integer(0, ClosableQueue.K))  # lower numbers surely are

    @action(bad=upto(2))
    def puts(self, bad: int) -> None:
        """The put of the next item begins; items still being put may come before or after."""
        sure = self.named
        for item in range(self.K):
            if item < sure and item in self.putting:
                sure = item
        self.older[self.named] = sure
        super().puts(bad)

    @action(take=upto(ClosableQueue.K), item=upto(ClosableQueue.K))
    def gives(self, take: int, item: int) -> None:
        """A take ends with an item; older ones inside have takes under way that may have them."""
        before = 0
        for other in range(self.K):
            if other in self.inside and other < self.older[item]:
                before += 1
        require(before < len(self.taking), ORDER)
        super().gives(take, item)


EXPECTATIONS = (
    expect(ClosableQueue, "CLOSE-7", "holds", "an item is in one place", C=(1, 2), K=2),
)

BOOKKEEPING = {
    "CLOSE-7":
        "The observer takes an item from one list when it enters it into another, and empties the "
        "list when a queue is cut off.",
}
