"""Queues with one seeded bug each: the reference core, with one hook overridden.

They are the test of the tests: a suite that does not catch all of them checks less than it
says. Each names the bug of a real library that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ....reference.queue import BoundedQueue, NotYet, Overflow, Step, Ticket
from .reference import DeferredQueue, ReferenceQueue

__all__ = ["TWINS", "Twin"]

Core = BoundedQueue[Any]


@dataclass(frozen=True, slots=True)
class Twin:
    """A queue with one bug: what it does, what it stands for, and which rule it breaks.

    ``rule`` is the id of that rule, ``breaks`` what it promises. ``deferred``: the bug lives
    between a wake-up and the waiter's run, so that waiters must run at ``settle`` only.
    ``overflow`` is what it does where there is no room, ``policy`` what it says.
    """

    name: str
    rule: str
    bug: str
    history: str
    breaks: str
    core: type[Core]
    deferred: bool = False
    suite: str = "queue"
    equivalent: str = ""
    overflow: Overflow = Overflow.WAIT
    policy: str = "wait"

    def adapter(self) -> DeferredQueue:
        """A new adapter of this twin, behind the port ``queue``."""
        kind: Callable[[], DeferredQueue] = DeferredQueue if self.deferred else ReferenceQueue
        adapter = kind()
        adapter.overflow, adapter.policy = self.overflow, self.policy  # type: ignore[misc]
        # On the instance: the bug is a value here, not one more class.
        adapter.core = self.core          # type: ignore[misc]
        adapter.name = f"zoo:{self.name}"  # type: ignore[misc]
        return adapter


# ---- wake-ups -------------------------------------------------------------------------------


class SwallowedWakeup(Core):
    """A waiter that is cancelled after it was woken keeps the wake-up."""

    def cancel(self, ticket: Ticket) -> Step[bool]:
        woken = ticket in self._told
        step = super().cancel(ticket)
        return Step(step.answer) if woken else step


class DeafProducer(Core):
    """``poll`` makes room and tells no waiting put."""

    def poll(self) -> Step[Any]:
        return super().poll()._replace(woken=())


class DeafConsumer(Core):
    """``offer`` brings an item and tells no waiting take."""

    def offer(self, item: Any) -> Step[bool]:
        return super().offer(item)._replace(woken=())


# ---- items ----------------------------------------------------------------------------------


class LossyCancel(Core):
    """A take that is cancelled after it was woken takes its item with it."""

    def _leave(self, ticket: Ticket) -> None:
        if ticket in self._takes and ticket in self._told and self._items:
            self._items.popleft()
        super()._leave(ticket)


class DoubledOnCancel(Core):
    """A take that is cancelled after it was woken gives back an item that never left."""

    def _leave(self, ticket: Ticket) -> None:
        if ticket in self._takes and ticket in self._told and self._items and self._has_room():
            self._items.appendleft(self._items[0])
        super()._leave(ticket)


class GhostPut(Core):
    """A put that is cancelled while it waits is admitted all the same."""

    def _leave(self, ticket: Ticket) -> None:
        self._ghosts = [*getattr(self, "_ghosts", []), *(
            [self._puts[ticket]] if ticket in self._puts else [])]
        super()._leave(ticket)

    def _remove(self) -> Any:
        item = super()._remove()
        if getattr(self, "_ghosts", []):
            self._admit(self._ghosts.pop(0))
        return item


class SilentDrop(Core):
    """A full queue accepts an offer, and forgets its oldest item to make room."""

    def offer(self, item: Any) -> Step[bool]:
        if not self._has_room():
            self._items.popleft()
        return super().offer(item)


# ---- capacity -------------------------------------------------------------------------------


class OneTooMany(Core):
    """Room is counted with ``<=`` where ``<`` was meant."""

    def _has_room(self) -> bool:
        return len(self._items) <= self.capacity


class RefusesEarly(Core):
    """An offer is refused while one place is still free."""

    def offer(self, item: Any) -> Step[bool]:
        if len(self._items) == self.capacity - 1 and not self._takes:
            return Step(False)
        return super().offer(item)


class HandedBack(Core):
    """An item is handed to a taker when it is woken, and put back if the taker is cancelled:
    its place may have been given away by then.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._hands: dict[Ticket, Any] = {}

    def _wake(self) -> tuple[Ticket, ...]:
        woken = super()._wake()
        for ticket in woken:
            if ticket in self._takes:
                self._hands[ticket] = self._remove()
                del self._takes[ticket]
        return woken + super()._wake() if woken else woken

    def claim(self, ticket: Ticket) -> Step[Any | NotYet]:
        if ticket in self._hands:
            return Step(self._hands.pop(ticket), self._wake())
        return super().claim(ticket)

    def cancel(self, ticket: Ticket) -> Step[bool]:
        if ticket in self._hands:
            self._items.appendleft(self._hands.pop(ticket))
            return Step(True, self._wake())
        return super().cancel(ticket)


# ---- order ----------------------------------------------------------------------------------


class LastInFirstOut(Core):
    """The youngest item leaves first."""

    def _remove(self) -> Any:
        self._left += 1
        return self._items.pop()


class YoungestPutFirst(Core):
    """Of the puts that wait for room, the youngest is admitted first."""

    def _is_ready(self, ticket: Ticket, line: Any, turns: int) -> bool:
        return line is self._puts or super()._is_ready(ticket, line, turns)

    def _ready(self) -> Iterator[Ticket]:
        yield from islice(self._takes, len(self._items))
        yield from islice(reversed(self._puts), max(0, self.capacity - len(self._items)))


_TWINS: Final = (
    Twin("swallowed-wakeup", "QUEUE-10",
         "a cancelled waiter keeps the wake-up that it had been given",
         "bpo-27585 (asyncio.Lock), cpython #108042, python/asyncio #265, python/asyncio #268",
         "a waiter that could complete is woken: cancelling one wakes the next",
         SwallowedWakeup, deferred=True),
    Twin("deaf-producer", "QUEUE-7",
         "poll makes room and wakes no waiting put",
         "anyio #143: a sender not woken after receive_nowait",
         "a blocked producer wakes when there is room", DeafProducer),
    Twin("deaf-consumer", "QUEUE-8",
         "offer brings an item and wakes no waiting take",
         "tokio #8075: a receiver not woken", "a blocked consumer wakes when there is an item",
         DeafConsumer),
    Twin("lossy-cancel", "QUEUE-9",
         "a take cancelled after its wake-up loses the item",
         "bpo-23812: a cancelled asyncio.Queue.get loses an item", "nothing is lost",
         LossyCancel, deferred=True),
    Twin("doubled-on-cancel", "QUEUE-6",
         "a take cancelled after its wake-up leaves its item there twice",
         "the careless mending of bpo-23812", "nothing is delivered twice",
         DoubledOnCancel, deferred=True),
    Twin("ghost-put", "QUEUE-9",
         "the item of a cancelled put arrives all the same",
         "a permit taken before its data exists and forgotten on cancel",
         "a cancelled waiter has no effect", GhostPut),
    Twin("says-oldest-drops-newest", "QUEUE-17",
         "a queue that promises to drop its oldest item drops what arrives",
         "onBackpressureLatest and onBackpressureDrop taken for each other",
         "what is dropped is what was promised", Core, overflow=Overflow.DROP_NEWEST,
         policy="drop-oldest"),
    Twin("says-newest-drops-oldest", "QUEUE-17",
         "a queue that promises to drop what arrives drops its oldest item",
         "a deque(maxlen) where the oldest items are the ones that count",
         "what is dropped is what was promised", Core, overflow=Overflow.DROP_OLDEST,
         policy="drop-newest"),
    Twin("silent-drop", "QUEUE-1",
         "a full queue accepts an offer and drops its oldest item",
         "drop-tail for refuse, without a word in the accounts",
         "a full queue refuses; nothing is lost", SilentDrop),
    Twin("one-too-many", "QUEUE-1",
         "the queue holds one item above its capacity",
         "the watermark compared with > for >=", "never more items than the capacity",
         OneTooMany),
    Twin("refuses-early", "QUEUE-2",
         "an offer is refused while one place is free",
         "rsocket #264: off by one", "an offer is refused only when the queue is full",
         RefusesEarly),
    Twin("handed-back", "QUEUE-9",
         "the item of a cancelled taker goes back above the capacity",
         "anyio #147, its review: handing a cancelled item to the buffer exceeds its size",
         "never more items than the capacity", HandedBack, deferred=True),
    Twin("last-in-first-out", "QUEUE-3",
         "the youngest item leaves first",
         "a stack where a queue was meant", "items leave in the order in which they entered",
         LastInFirstOut),
    Twin("youngest-put-first", "QUEUE-12",
         "of the waiting puts, the youngest is admitted first",
         "cpython #83055: the order of puts on a full queue",
         "waiting producers are admitted in the order in which they came", YoungestPutFirst),
)

TWINS: Final[dict[str, Twin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name; ``zoo:NAME`` is the target."""
