"""A bounded queue with waiting producers and consumers, and nothing but the queue.

Theory of operation
-------------------
The state is three sequences: the items, the *puts* that wait in line for room, and the *takes*
that wait in line for an item. There is no clock, no thread and no event loop in here: every
method runs at once, and says in its ``Step`` what it answers and whom it woke.

A wait goes through two instants. First the waiter is *woken*: something happened after which it
can complete. Then the driver, when the waiter runs, *claims* the completion, and only then does
an item move. Being woken is a hint and moves nothing, so a waiter that is cancelled between the
two instants leaves no trace: nothing has to be handed back, and so nothing can be lost, doubled,
put back in the wrong place, or put back above the capacity. Whoever is next in line is woken in
its stead. The price is that a claim may find that an ``offer`` or a ``poll``, which never wait,
came first: the waiter then keeps its place at the head of its line.

Invariants
----------
* never more items than ``capacity``;
* items leave in the order in which they entered;
* a ``put`` or ``take`` never overtakes one that waits;
* every waiter that could complete now has been woken;
* a call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar, final

__all__ = [
    "BoundedQueue", "Empty", "NotYet", "Overflow", "QueueMisuse", "Statistics", "Step", "Ticket",
    "UnknownTicket",
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


class Overflow(enum.Enum):
    """What happens to an item for which there is no room.

    ``WAIT``: an offer is refused and a put waits. The two others never wait and never refuse:
    they drop, and every item dropped is named in ``Step.dropped`` and counted.
    """

    WAIT = "wait"
    DROP_OLDEST = "drop-oldest"
    DROP_NEWEST = "drop-newest"


@final
class Empty(enum.Enum):
    """What ``poll`` answers when there is nothing to take; ``None`` could be an item."""

    EMPTY = enum.auto()


@final
class NotYet(enum.Enum):
    """What ``claim`` answers when somebody who never waits came first."""

    NOT_YET = enum.auto()


EMPTY: Final = Empty.EMPTY
NOT_YET: Final = NotYet.NOT_YET


@final
@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in line. ``number`` grows by one with each wait of one queue."""

    number: int


class Step(NamedTuple, Generic[A]):
    """What one call answers, the waiters that it woke (in their order), and what it dropped."""

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

    Raises ``QueueMisuse`` for another capacity. A size of 0 (a rendezvous) is another thing:
    there an item has nowhere to be between its producer and its consumer.
    """

    def __init__(self, capacity: int, overflow: Overflow = Overflow.WAIT) -> None:
        if type(capacity) is not int or capacity < 1:    # True is an int, and no capacity
            raise QueueMisuse(f"a capacity is an integer from 1 up, not {capacity!r}")
        self.capacity: Final = capacity
        self.overflow: Final = overflow
        self._items: deque[T] = deque()
        self._puts: dict[Ticket, T] = {}        # dicts keep the order of the line,
        self._takes: dict[Ticket, None] = {}    # and let a cancelled one leave from the middle
        self._told: set[Ticket] = set()         # woken, neither claimed nor cancelled
        self._tickets = 0
        self._peak = self._entered = self._left = 0
        self._refused = self._evicted = self._discarded = self._cancelled = 0

    # -- calls that never wait ----------------------------------------------------------------

    def offer(self, item: T) -> Step[bool]:
        """Put ``item`` if there is room: whether it was accepted.

        A queue that drops accepts always, except that with ``DROP_NEWEST`` and no room the
        answer is ``False`` and the item is in ``dropped``.
        """
        if self._has_room():
            self._admit(item)
            return Step(True, self._wake())
        if self.overflow is not Overflow.WAIT:
            return self._drop_for(item)
        self._refused += 1
        return Step(False)

    def poll(self) -> Step[T | Empty]:
        """Take the oldest item, or ``EMPTY``."""
        if not self._items:
            return Step(EMPTY)
        item = self._remove()
        return Step(item, self._wake())

    # -- calls that may wait ------------------------------------------------------------------

    def put(self, item: T) -> Step[Ticket | None]:
        """Put ``item``: ``None`` if it is in the queue now, else the ticket of its wait."""
        if self._has_room() and not self._puts:
            self._admit(item)
            return Step(None, self._wake())
        if self.overflow is not Overflow.WAIT:
            return Step(None, dropped=self._drop_for(item).dropped)
        ticket = self._issue()
        self._puts[ticket] = item
        return Step(ticket, self._wake())

    def take(self) -> Step[T | Ticket]:
        """Take the oldest item, or get the ticket of the wait for one."""
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
        """Leave the line: ``True``, without a trace, or ``False``: no longer in line.

        Raises ``UnknownTicket`` for a ticket that this queue never issued.
        """
        if not 0 < ticket.number <= self._tickets:
            raise UnknownTicket(f"{ticket} was not issued by this queue")
        if ticket not in self._puts and ticket not in self._takes:
            return Step(False)
        self._leave(ticket)
        # The wake-up that this waiter had, if any, now belongs to the next in line.
        return Step(True, self._wake())

    # -- looking at it ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._items)

    def statistics(self) -> Statistics:
        """A snapshot; nothing in it changes later."""
        return Statistics(
            capacity=self.capacity, size=len(self._items), peak=self._peak,
            entered=self._entered, left=self._left, refused=self._refused,
            evicted=self._evicted, discarded=self._discarded, cancelled=self._cancelled,
            puts_waiting=len(self._puts), takes_waiting=len(self._takes),
        )

    # -- the few places where something moves -------------------------------------------------

    def _has_room(self) -> bool:
        return len(self._items) < self.capacity

    def _admit(self, item: T) -> None:
        self._items.append(item)
        self._entered += 1
        self._peak = max(self._peak, len(self._items))

    def _remove(self) -> T:
        self._left += 1
        return self._items.popleft()

    def _issue(self) -> Ticket:
        self._tickets += 1
        return Ticket(self._tickets)

    def _leave(self, ticket: Ticket) -> None:
        self._told.discard(ticket)
        self._puts.pop(ticket, None)
        self._takes.pop(ticket, None)
        self._cancelled += 1

    def _drop_for(self, item: T) -> Step[bool]:
        if self.overflow is Overflow.DROP_NEWEST:
            self._discarded += 1
            return Step(False, dropped=(item,))
        self._evicted += 1
        oldest = self._items.popleft()
        self._admit(item)
        return Step(True, dropped=(oldest,))

    def _is_ready(self, ticket: Ticket, line: dict[Ticket, T] | dict[Ticket, None],
                  turns: int) -> bool:
        # Only the first in line: who was woken later may happen to run earlier.
        return turns > 0 and ticket == next(iter(line))

    def _wake(self) -> tuple[Ticket, ...]:
        """Wake whoever can complete now and has not been told, in the order of the lines."""
        woken = tuple(ticket for ticket in self._ready() if ticket not in self._told)
        self._told.update(woken)
        return woken

    def _ready(self) -> Iterator[Ticket]:
        if self._items:
            yield from islice(self._takes, 1)
        if self._has_room():
            yield from islice(self._puts, 1)
