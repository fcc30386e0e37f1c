"""A bounded queue with waiting producers and consumers, and nothing but the queue.

Theory of operation
-------------------
The state is three sequences: the items, the wait queue of the *puts* that wait for a free slot, and
that of the *takes* that wait for an item. There is no clock, no thread and no event loop in here:
every method runs at once, and returns in its ``Step`` its answer and the waiters that it woke.

A wait goes through two instants. First the waiter is *woken*: something happened after which it
can complete. Then the driver, when the waiter runs, *claims* the completion, and only then does
an item move. Being woken is a hint and moves nothing, so a waiter that is cancelled between the
two instants leaves no trace: nothing has to be handed back, and so nothing can be lost, duplicated,
put back in the wrong place, or put back above the capacity. The next waiter is woken in its stead.
The price is that a claim may find that an ``offer`` or a ``poll``, which never wait, came first:
the waiter then keeps its place at the head of its wait queue.

Invariants
----------
* never more items than ``capacity``;
* items leave in the order in which they entered;
* a ``put`` or ``take`` never overtakes one that waits;
* every waiter that could complete now has been woken;
* a call that raises has changed nothing.

The treatment of an item that does not fit is its ``Overflow``. Only ``WAIT`` has puts that
wait. All items that are dropped are named in the ``Step`` that dropped them, and counted.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar, final

__all__ = [
    "BoundedQueue", "Disconnected", "Empty", "NotYet", "Overflow", "QueueFull", "QueueMisuse",
    "Statistics", "Step", "Ticket", "UnknownTicket",
]

T = TypeVar("T")
A = TypeVar("A")


class QueueMisuse(ValueError):
    """The caller broke a rule of the queue; the queue is as it was before the call.

    Usual causes: a capacity below 1, or a ticket that is not waiting (see ``UnknownTicket``).
    """


class UnknownTicket(QueueMisuse):
    """The ticket is not from this queue.

    Usual cause: a ticket of another queue, or one made by hand. Keep what ``put`` and ``take``
    return.
    """


class QueueFull(Exception):
    """A put into a full queue in which no call may wait (``Overflow.REJECT``)."""


class Disconnected(Exception):
    """The consumer was too slow, and has been cut off (``Overflow.DISCONNECT``)."""


class Overflow(enum.Enum):
    """The treatment of an item that does not fit.

    ``WAIT``: an offer is refused and a put waits. ``REJECT``: an offer is refused and a put raises
    ``QueueFull``. The others never wait and never refuse. Four of them drop: the arriving item, the
    oldest item, the youngest of those inside, or all of them. ``CONFLATE`` has one place, and an
    arriving item replaces the one there, or is combined with it. ``SPILL`` holds elsewhere the
    items
    beyond the capacity, ``UNBOUNDED`` has none. ``DISCONNECT`` drops all, and from then on the
    consumer's calls raise ``Disconnected``.
    """

    WAIT = "wait"
    REJECT = "reject"
    DROP_NEWEST = "drop-newest"
    DROP_OLDEST = "drop-oldest"
    DROP_YOUNGEST = "drop-youngest-queued"
    CLEAR = "clear"
    CONFLATE = "conflate"
    SPILL = "spill"
    DISCONNECT = "disconnect"
    UNBOUNDED = "unbounded"


@final
class Empty(enum.Enum):
    """The answer of ``poll`` when there is nothing to take; ``None`` could be an item."""

    EMPTY = enum.auto()


@final
class NotYet(enum.Enum):
    """The answer of ``claim`` when a call that never waits came first."""

    NOT_YET = enum.auto()


EMPTY: Final = Empty.EMPTY
NOT_YET: Final = NotYet.NOT_YET


@final
@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in a wait queue. ``number`` grows by one with each wait of one queue."""

    number: int


class Step(NamedTuple, Generic[A]):
    """The answer of one call, the waiters that it woke (in order), and the dropped items."""

    answer: A
    woken: tuple[Ticket, ...] = ()
    dropped: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts since the queue was made, and what is in it now.

    At every instant ``entered == left + evicted + size``. ``evicted`` counts the items dropped
    from inside the queue, ``discarded`` those dropped on arrival.
    """

    capacity: int
    size: int
    peak: int
    entered: int
    left: int
    refused: int
    evicted: int
    discarded: int
    cancelled: int
    puts_waiting: int
    takes_waiting: int


class BoundedQueue(Generic[T]):
    """A first-in-first-out queue of at most ``capacity`` items (1 or more).

    ``combine`` makes one item of the one inside and the one that arrives, if ``CONFLATE`` is not
    to forget the former.

    Raises ``QueueMisuse`` for another capacity. A size of 0 (a rendezvous) is another thing:
    there an item has nowhere to be between its producer and its consumer.
    """

    def __init__(self, capacity: int, overflow: Overflow = Overflow.WAIT,
                 combine: Callable[[T, T], T] | None = None) -> None:
        if type(capacity) is not int or capacity < 1:    # True is an int, and no capacity
            raise QueueMisuse(f"a capacity is an integer from 1 up, not {capacity!r}")
        self.capacity: Final = capacity
        self.overflow: Final = overflow
        self._combine = combine
        self._items: deque[T] = deque()
        self._elsewhere: deque[T] = deque()     # spilled items, younger than all of _items
        self._cut_off = False
        self._puts: dict[Ticket, T] = {}        # dicts keep the order of the wait queue,
        self._takes: dict[Ticket, None] = {}    # and let a cancelled one leave from the middle
        self._told: set[Ticket] = set()         # woken, neither claimed nor cancelled
        self._tickets = 0
        self._peak = self._entered = self._left = 0
        self._refused = self._evicted = self._discarded = self._cancelled = 0

    # -- calls that never wait ----------------------------------------------------------------

    def offer(self, item: T) -> Step[bool]:
        """Put ``item`` if there is a free slot; return whether it was accepted.

        A queue that drops accepts always, except that with ``DROP_NEWEST`` and no room the
        answer is ``False`` and the item is in ``dropped``.
        """
        if self._has_room():
            self._admit(item)
            return Step(True, self._wake())
        if self.overflow not in _SAY_NO:
            return self._drop_for(item)
        self._refused += 1
        return Step(False)

    def poll(self) -> Step[T | Empty]:
        """Take the oldest item, or ``EMPTY``. Raises ``Disconnected``."""
        self._check_connected()
        if not self._items:
            return Step(EMPTY)
        item = self._remove()
        return Step(item, self._wake())

    # -- calls that may wait ------------------------------------------------------------------

    def put(self, item: T) -> Step[Ticket | None]:
        """Put ``item``: ``None`` if that is done, else the ticket of its wait.

        Raises ``QueueFull``.
        """
        if self._has_room() and not self._puts:
            self._admit(item)
            return Step(None, self._wake())
        if self.overflow is Overflow.REJECT:
            raise QueueFull(f"there are {self.capacity} items, and no more may be")
        if self.overflow is not Overflow.WAIT:
            return Step(None, dropped=self._drop_for(item).dropped)
        ticket = self._issue()
        self._puts[ticket] = item
        return Step(ticket, self._wake())

    def take(self) -> Step[T | Ticket]:
        """Take the oldest item, or get the ticket of the wait for one. Raises ``Disconnected``."""
        self._check_connected()
        if self._items and not self._takes:
            item = self._remove()
            return Step(item, self._wake())
        ticket = self._issue()
        self._takes[ticket] = None
        return Step(ticket, self._wake())

    def claim(self, ticket: Ticket) -> Step[T | None | NotYet]:
        """Complete a wait: ``None`` for a put, the item for a take, or ``NOT_YET``.

        Raises ``UnknownTicket`` when the ticket does not wait (any more).
        """
        self._told.discard(ticket)
        if ticket in self._puts:
            if not self._is_ready(ticket, self._puts, self.capacity - len(self._items)):
                return Step(NOT_YET)
            self._admit(self._puts.pop(ticket))
            return Step(None, self._wake())
        if ticket in self._takes:
            if not self._is_ready(ticket, self._takes, len(self._items)):
                return Step(NOT_YET)
            del self._takes[ticket]
            item = self._remove()
            return Step(item, self._wake())
        raise UnknownTicket(f"{ticket} does not wait in this queue")

    def cancel(self, ticket: Ticket) -> Step[bool]:
        """Leave the wait queue: ``True``, without a trace, or ``False``: it waits no longer.

        Raises ``UnknownTicket`` for a ticket that this queue never issued.
        """
        if not 0 < ticket.number <= self._tickets:
            raise UnknownTicket(f"{ticket} was not issued by this queue")
        if ticket not in self._puts and ticket not in self._takes:
            return Step(False)
        self._leave(ticket)
        # The wake-up that this waiter had, if any, now belongs to the next waiter.
        return Step(True, self._wake())

    # -- looking at it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._items) + len(self._elsewhere)

    @property
    def resident(self) -> int:
        """Number of items that the queue holds itself: all but those that it spilled."""
        return len(self._items)

    def statistics(self) -> Statistics:
        """A snapshot; nothing in it changes later."""
        return Statistics(
            capacity=self.capacity, size=len(self), peak=self._peak,
            entered=self._entered, left=self._left, refused=self._refused,
            evicted=self._evicted, discarded=self._discarded, cancelled=self._cancelled,
            puts_waiting=len(self._puts), takes_waiting=len(self._takes),
        )

    # -- the few places where something moves -------------------------------------------------

    def _has_room(self) -> bool:
        if self.overflow in _ENDLESS:
            return True
        places = 1 if self.overflow is Overflow.CONFLATE else self.capacity
        return len(self._items) < places and not self._cut_off

    def _admit(self, item: T) -> None:
        spills = self.overflow is Overflow.SPILL and len(self._items) >= self.capacity
        (self._elsewhere if spills else self._items).append(item)
        self._entered += 1
        self._peak = max(self._peak, len(self))

    def _remove(self) -> T:
        self._left += 1
        item = self._items.popleft()
        if self._elsewhere:
            self._items.append(self._elsewhere.popleft())
        return item

    def _check_connected(self) -> None:
        if self._cut_off:
            raise Disconnected(f"the consumer left more than {self.capacity} items")

    def _issue(self) -> Ticket:
        self._tickets += 1
        return Ticket(self._tickets)

    def _leave(self, ticket: Ticket) -> None:
        self._told.discard(ticket)
        self._puts.pop(ticket, None)
        self._takes.pop(ticket, None)
        self._cancelled += 1

    def _drop_for(self, item: T) -> Step[bool]:
        """Drop for an arrival, in a full queue that neither waits nor refuses."""
        if self.overflow is Overflow.DROP_NEWEST or self._cut_off:
            self._discarded += 1
            return Step(self._cut_off, dropped=(item,))
        evicted = self._evict()
        self._evicted += len(evicted)
        if self.overflow is Overflow.DISCONNECT:
            self._cut_off = True
            self._discarded += 1
            return Step(True, dropped=(*evicted, item))
        if self.overflow is Overflow.CONFLATE and self._combine is not None:
            item, evicted = self._combine(evicted[0], item), ()
        self._admit(item)
        return Step(True, dropped=evicted)

    def _evict(self) -> tuple[T, ...]:
        """Take out what has to go for an arrival."""
        if self.overflow is Overflow.DROP_OLDEST:
            return (self._items.popleft(),)
        if self.overflow is Overflow.DROP_YOUNGEST:
            return (self._items.pop(),)
        evicted = tuple(self._items)
        self._items.clear()
        return evicted

    def _is_ready(self, ticket: Ticket, line: dict[Ticket, T] | dict[Ticket, None],
                  turns: int) -> bool:
        # Only the first waiter: one that was woken later may happen to run earlier.
        return turns > 0 and ticket == next(iter(line))

    def _wake(self) -> tuple[Ticket, ...]:
        """Wake every waiter that can complete now and was not woken, in order; return them."""
        woken = tuple(ticket for ticket in self._ready() if ticket not in self._told)
        self._told.update(woken)
        return woken

    def _ready(self) -> Iterator[Ticket]:
        if self._items:
            yield from islice(self._takes, 1)
        if self._has_room():
            yield from islice(self._puts, 1)


_SAY_NO: Final = (Overflow.WAIT, Overflow.REJECT)
_ENDLESS: Final = (Overflow.SPILL, Overflow.UNBOUNDED)
