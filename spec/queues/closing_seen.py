"""A queue with sleeping calls, closed and joined, as its observer sees it, and variants that it
refuses.

Theory. Calls run when they are awake. A put that finds no free slot goes to sleep, and so does a
take that finds no item, and a join that finds something to be done; a put wakes a take, a take
wakes a put, and the last item that is done wakes the joins. All else that a closed queue owes its
sleepers is one line: closing wakes every sleeper, and each call that wakes looks again.

Each variant has one such line wrong, and is refused by the rule by which a suite finds it.

Source: ``closing``; CPython 3.13, ``asyncio/queues.py``.
"""

from __future__ import annotations

from ..notation import Machine, action, boolean, const, fifo, integer, require, subset, upto
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .closing import ClosableQueue, OrderlyClosing

__all__ = [
    "EXPECTATIONS", "ClosesForOne", "ClosesForTakes", "DeafToDone", "DeafToItems",
    "DeafToRoom", "EndsEarly", "GivesAfterCut", "GivesAgain", "KeepsPlace", "NewestFirst",
    "OneTooMany", "QueueSeen", "Sleepers", "Spinning", "TakesInLate", "TellsAtOnce",
    "TellsForNothing",
]


class Sleepers(Machine):
    """Puts, takes and joins that run when they are awake."""

    C = const(1, at_least=1)      # capacity: places for items
    K = const(2, at_least=1)      # items in a run; as many takes, and joins

    named = integer(0, K)
    bad = subset(upto(K))         # items that cannot be put
    putting = subset(upto(K))
    asleep_puts = fifo(integer(0, K - 1), K)
    inside = fifo(integer(0, K - 1), K)
    kept = integer(0, K)          # places that no item can have
    takes = integer(0, K)
    taking = subset(upto(K))
    asleep_takes = fifo(integer(0, K - 1), K)
    given = integer(0, K)
    undone = integer(0, K)        # tasks: items that went in, less those that are done
    joins = integer(0, K)
    joining = subset(upto(K))
    asleep_joins = subset(upto(K))
    closed = boolean(False)
    cut = boolean(False)

    # --- calls begin ---------------------------------------------------------------------

    @action(bad=upto(2))
    def puts(self, bad: int) -> None:
        """The put of the next item begins, awake."""
        require(self.named < self.K)
        if bad == 1:
            self.bad.add(self.named)
        self.putting.add(self.named)
        self.named += 1

    @action
    def begins_to_take(self) -> None:
        """The next take begins, awake."""
        require(self.takes < self.K)
        self.taking.add(self.takes)
        self.takes += 1

    @action
    def begins_to_join(self) -> None:
        """The next join begins, awake."""
        require(self.joins < self.K)
        self.joining.add(self.joins)
        self.joins += 1

    # --- calls run -----------------------------------------------------------------------

    @action(item=upto(K))
    def put_runs(self, item: int) -> None:
        """The put is refused as closed, or sleeps, or fails, or its item goes in."""
        require(item in self.putting and item not in self.asleep_puts)
        if self.refuses(item):
            self.putting.discard(item)
        elif not self.has_room():
            self.asleep_puts.push(item)
        elif item in self.bad:
            self.putting.discard(item)
            self.fails()
        else:
            self.putting.discard(item)
            self.inside.push(item)
            self.undone += 1
            self.wake_take()

    @action(take=upto(K))
    def take_runs(self, take: int) -> None:
        """The take has the first item, or is refused as closed, or sleeps."""
        require(take in self.taking and take not in self.asleep_takes)
        if self.tells_take():
            self.taking.discard(take)
        elif len(self.inside) == 0:
            self.asleep_takes.push(take)
        else:
            self.taking.discard(take)
            self.leaves()
            self.given += 1
            self.wake_put()

    @action(join=upto(K))
    def join_runs(self, join: int) -> None:
        """The join ends, or sleeps."""
        require(join in self.joining and join not in self.asleep_joins)
        if self.ends_join():
            self.joining.discard(join)
        else:
            self.asleep_joins.add(join)

    @action
    def done(self) -> None:
        """A consumer is done with an item that it has."""
        require(self.given > 0)
        self.given -= 1
        self.undone -= 1
        if self.undone == 0:
            self.wake_joins()

    # --- it ends -------------------------------------------------------------------------

    @action
    def closes(self) -> None:
        """Every sleeper wakes and looks again."""
        self.closed = True
        self.wake_all()

    @action
    def is_cut_off(self) -> None:
        """The items inside are gone, and count as done; every sleeper wakes."""
        self.closed = True
        self.cut = True
        self.undone -= len(self.inside)
        self.throw_away()
        if self.undone == 0:
            self.wake_joins()
        self.wake_all()

    @action
    def spins(self) -> None:
        """Never: a sound queue becomes idle."""
        require(self.named < 0)

    @action
    def settled(self) -> None:
        """Every call that has not ended sleeps."""
        require(len(self.putting) == len(self.asleep_puts))
        require(len(self.taking) == len(self.asleep_takes))
        require(len(self.joining) == len(self.asleep_joins))

    # --- one line each: what the variants have wrong -------------------------------------

    def refuses(self, item: int) -> bool:
        """True if the put is refused as closed."""
        return self.closed

    def has_room(self) -> bool:
        """True if there is a place for the item of a put."""
        return len(self.inside) + self.kept < self.C

    def fails(self) -> None:
        """React to a put that fails: its turn goes to the next put."""
        self.wake_put()

    def tells_take(self) -> bool:
        """True if a take is refused as closed."""
        return self.closed and len(self.inside) == 0

    def leaves(self) -> None:
        """The first item goes."""
        self.inside.pop()

    def ends_join(self) -> bool:
        """True if a join need not sleep."""
        return self.undone == 0

    def throw_away(self) -> None:
        """Drop the items inside when the queue is cut off."""
        self.inside.clear()

    def wake_take(self) -> None:
        """There is an item: the take that has slept longest wakes."""
        if len(self.asleep_takes) > 0:
            self.asleep_takes.pop()

    def wake_put(self) -> None:
        """There is a place: the put that has slept longest wakes."""
        if len(self.asleep_puts) > 0:
            self.asleep_puts.pop()

    def wake_joins(self) -> None:
        """All is done: every sleeping join wakes."""
        self.asleep_joins.clear()

    def wake_all(self) -> None:
        """The queue is closed: all puts and takes look again."""
        self.asleep_puts.clear()
        self.asleep_takes.clear()


class QueueSeen(View[Sleepers]):
    """When calls begin and how they end, what is done to the queue, and that all are asleep."""

    same = ("puts", "begins_to_take", "begins_to_join", "done", "closes", "is_cut_off", "spins",
            "settled")

    @shown
    def put_runs(self, before: Sleepers, after: Sleepers, item: int) -> Seen | None:
        """The end of a put, if it ends."""
        if item in after.putting:
            return None
        if len(after.inside) > len(before.inside) or after.undone > before.undone:
            return see("goes_in", item=item)
        return see("put_is_told" if before.refuses(item) else "put_fails", item=item)

    @shown
    def take_runs(self, before: Sleepers, after: Sleepers, take: int) -> Seen | None:
        """The end of a take, if it ends."""
        if take in after.taking:
            return None
        if after.given > before.given:
            item = before.inside[0]
            if 0 < len(after.inside) < len(before.inside) and after.inside[0] == item:
                item = before.inside[len(before.inside) - 1]
            return see("gives", take=take, item=item)
        return see("take_is_told", take=take)

    @shown
    def join_runs(self, before: Sleepers, after: Sleepers, join: int) -> Seen | None:
        """The end of a join, if it ends."""
        return None if join in after.joining else see("join_ends", join=join)


class TakesInLate(Sleepers):
    """A put looks for a free slot, and not whether the queue is closed."""

    def refuses(self, item: int) -> bool:
        return False


class ClosesForOne(Sleepers):
    """Closing wakes one take, and the others sleep on (aiochannel #13)."""

    def wake_all(self) -> None:
        self.asleep_puts.clear()
        self.wake_take()


class ClosesForTakes(Sleepers):
    """Closing wakes takes, and no put (janus #237)."""

    def wake_all(self) -> None:
        self.asleep_takes.clear()


class TellsAtOnce(Sleepers):
    """A take that finds the queue closed does not look for items."""

    def tells_take(self) -> bool:
        return self.closed


class GivesAfterCut(Sleepers):
    """Cutting off throws nothing away: the items inside are still handed out."""

    def throw_away(self) -> None:
        self.undone += len(self.inside)


class TellsForNothing(Sleepers):
    """A take that finds no item says that it is closed."""

    def tells_take(self) -> bool:
        return len(self.inside) == 0


class EndsEarly(Sleepers):
    """A join ends once all items were taken, done or not."""

    def ends_join(self) -> bool:
        return len(self.inside) == 0


class DeafToDone(Sleepers):
    """A join that sleeps is not woken when all is done."""

    def wake_joins(self) -> None:
        require(self.K > 0)


class Spinning(Sleepers):
    """A join that has something to wait for asks again and again (janus #715)."""

    @action
    def spins(self) -> None:
        """The step is possible while something is undone."""
        require(len(self.joining) > 0 and self.undone > 0)


class KeepsPlace(Sleepers):
    """A put that fails keeps its place (bpo-33078)."""

    def fails(self) -> None:
        self.kept += 1


class OneTooMany(Sleepers):
    """There is one place more than the capacity."""

    def has_room(self) -> bool:
        return len(self.inside) <= self.C


class GivesAgain(Sleepers):
    """An item stays where it is when it is handed out."""

    def leaves(self) -> None:
        require(self.K > 0)


class NewestFirst(Sleepers):
    """Of several items the newest goes."""

    def leaves(self) -> None:
        for _ in range(len(self.inside) - 1):
            self.inside.push(self.inside.pop())
        self.inside.pop()


class DeafToRoom(Sleepers):
    """A take wakes no put."""

    def wake_put(self) -> None:
        require(self.K > 0)


class DeafToItems(Sleepers):
    """A put wakes no take."""

    def wake_take(self) -> None:
        require(self.K > 0)


SIZE = {"C": "C", "K": "K"}

SEEN = refines(Sleepers, ClosableQueue, "a queue that wakes every sleeper that it must",
               shows=QueueSeen, seen_by=SIZE, C=1, K=2)

IN_ORDER = refines(Sleepers, OrderlyClosing, "a queue from which the oldest item goes",
                   shows=QueueSeen, seen_by=SIZE, C=2, K=2)

EXPECTATIONS = (
    SEEN,
    IN_ORDER,
    refused(NewestFirst, "QUEUE-3", "the newest item goes first", like=IN_ORDER, C=2, K=2),
    *(refused(variant, rule, about, like=SEEN, C=1, K=2) for variant, rule, about in (
        (OneTooMany, "QUEUE-1", "a put goes in where there is no free slot"),
        (GivesAgain, "QUEUE-6", "an item is given twice"),
        (DeafToRoom, "QUEUE-7", "a put sleeps beside a free place"),
        (DeafToItems, "QUEUE-8", "a take sleeps beside an item"),
        (TakesInLate, "CLOSE-1", "a put goes into a closed queue"),
        (ClosesForOne, "CLOSE-2", "closing leaves a take asleep"),
        (ClosesForTakes, "CLOSE-3", "closing leaves a put asleep"),
        (TellsAtOnce, "CLOSE-4", "a take is refused as closed while there is an item for it"),
        (GivesAfterCut, "CLOSE-5", "an item comes out that was cut off"),
        (TellsForNothing, "CLOSE-6", "a take is refused as closed by an open queue"),
        (EndsEarly, "JOIN-1", "a join ends before all is done"),
        (DeafToDone, "JOIN-2", "a join sleeps on when all is done"),
        (Spinning, "JOIN-3", "a join keeps the event loop busy"),
        (KeepsPlace, "FAIL-1", "a put that failed keeps its place"),
    )),
)
