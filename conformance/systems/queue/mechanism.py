"""The chapter's queues, and so each variant of them, behind the port."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.notation.views import View
from ....spec.queues.dropping import DroppingQueue, Policy
from ....spec.queues.queue import BoundedQueue
from ....spec.queues.queue_seen import AsCustodianSeen, DroppingSeen, QueueSeen
from ...adapters.base import Declined
from ...ports.base import STEPPED
from ...suites.mechanism import Mechanism
from .adapter import QueueAdapter, Waits

__all__ = ["BookDropping", "BookQueue", "CustodianOfTheBook", "DroppingOfTheBook",
           "QueueOfTheBook"]

_ITEMS: Final = 64
"""Items, and takes that wait, at first."""
_WAITERS: Final = 2**10
"""More than wait in any program."""

Item = str | int


class QueueOfTheBook(Mechanism):
    """The chapter is the observer's: it says what may happen, and the order is chosen here.

    First come, first served. Where an offer may be accepted as well as refused, a full queue
    accepts it, and one with room does not: a sound one has no such choice. A waiter that was woken
    gets its place or its item when it runs.
    """

    machine: ClassVar[type[Machine]] = BoundedQueue
    view: ClassVar[type[View[Any]]] = QueueSeen
    hands_over: ClassVar[bool] = False
    """True if a waiter has its place or its item already when it is woken."""

    def __init__(self, capacity: int) -> None:
        super().__init__(C=capacity, K=_ITEMS, T=_ITEMS, W=_WAITERS)
        self._items: list[Item] = []
        self._ready: deque[tuple[str, int]] = deque()

    def offer(self, item: Item) -> bool:
        """True if the item is accepted."""
        self._name(item)
        refused = self.size() < self._constants["C"] and self.can("offer_refused")
        accepted = not refused and self.fire("offer_accepted") is not None
        if not accepted:
            self.fire("offer_refused")
        self._woken()
        return accepted

    def poll(self) -> Item | None:
        """The next item, if there is one."""
        return self._leaves("poll_item")

    def put(self, item: Item) -> int | None:        # type: ignore[override]
        """The number of a put that waits; None of one that is done."""
        self._name(item)
        if not self.now.puts and self.fire("put_done") is not None:
            self._woken()
            return None
        self.fire("put_waits")
        self._woken()
        return len(self._items) - 1

    def take(self) -> tuple[Item | None, int]:
        """The next item; or None, and the number of a take that waits."""
        item = None if self.now.takes else self._leaves("take_item")
        ticket = self.now.asked
        if item is None:
            if ticket + 1 >= self._constants["T"]:
                self._grows(T=4 * ticket)
            self.fire("take_waits")
            self._woken()
        return item, ticket

    def cancel(self, call: str, number: int) -> bool:
        """True if a put or take is undone, and false if it is too late."""
        which = {"item" if call == "put" else "ticket": number}
        undone = self.fire(f"cancelled_{call}", **which) is not None
        if not undone:
            self.fire(f"too_late_for_{call}", **which)
        self._woken()
        return undone

    def size(self) -> int:
        """The number of items inside."""
        return len(self.now.inside)

    def runs(self) -> list[tuple[str, int, Item | bool]]:
        """Let all waiters run that were woken: the calls that end, and what they get."""
        ended: list[tuple[str, int, Item | bool]] = []
        while self._serves() or self._ready:
            call, number = self._ready.popleft()
            if call == "put":
                self.fire("woken_put", item=number)
                ended.append((call, number, True))
            elif (item := self.now.holds[number]) < self._constants["K"]:
                self.fire("woken_take", ticket=number, item=item)
                ended.append((call, number, self._items[item]))
        self.fire("settled")
        return ended

    # -- within -------------------------------------------------------------------------------

    def _name(self, item: Item) -> None:
        if len(self._items) + 1 >= self._constants["K"]:
            self._grows(K=4 * len(self._items))
        self._items.append(item)

    def _grows(self, **constants: int) -> None:
        """Make the machine larger. A take that holds nothing holds the first number beyond."""
        none, holds = self._constants["K"], [*self.now.holds]
        self.grow(**constants)
        beyond = self._constants["K"]
        super().put(**{f"holds[{each}]": beyond for each, item in enumerate(holds) if item == none})

    def _leaves(self, action: str) -> Item | None:
        for item in self.now.inside:
            if self.fire(action, item=item) is not None:
                self._woken()
                return self._items[int(item)]
        if action == "poll_item":
            self.fire("poll_empty")
        return None

    def _woken(self) -> None:
        while self.hands_over and self._serves():
            pass

    def _serves(self) -> bool:
        """Let the first waiter have its place or its item; true if there is one."""
        now = self.now
        for call, line, action in (("take", now.takes, "serve"), ("put", now.puts, "admit")):
            if line and self.fire(action, place=0) is not None:
                self._ready.append((call, line[0]))
                return True
        return False


class CustodianOfTheBook(QueueOfTheBook):
    """The same, where what is free is handed over at once."""

    view: ClassVar[type[View[Any]]] = AsCustodianSeen
    hands_over: ClassVar[bool] = True


class BookQueue(QueueAdapter):
    """The queue of the book; its waiters run at ``settle``."""

    name: ClassVar[str] = "the rule book"
    wakes: ClassVar[str] = STEPPED
    core: type[QueueOfTheBook] = QueueOfTheBook

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._queue = self.core(capacity)
        self._tickets_of: dict[tuple[str, int], str] = {}

    def offer(self, item: Item) -> bool:
        return self._queue.offer(item)

    def poll(self) -> Item | None:
        return self._queue.poll()

    def put(self, item: Item) -> bool | Waits:
        number = self._queue.put(item)
        return True if number is None else self._waits("put", number)

    def take(self) -> Item | Waits:
        item, number = self._queue.take()
        return self._waits("take", number) if item is None else item

    def cancel(self, ticket: str) -> bool:
        call = next((call for call, name in self._tickets_of.items() if name == ticket), None)
        if call is None:
            raise Declined("unknown-ticket")
        undone = self._queue.cancel(*call)
        if undone:
            del self._tickets_of[call]
        return undone

    def size(self) -> int:
        return self._queue.size()

    def settle(self) -> bool:
        """Let all waiters run; one that was cancelled has nobody to report to."""
        for call, number, answer in self._queue.runs():
            ticket = self._tickets_of.pop((call, number), None)
            if ticket is not None:
                self.completed(ticket, answer)
        return True

    def _waits(self, call: str, number: int) -> Waits:
        ticket = self._tickets_of[call, number] = self.new_ticket()
        return Waits(ticket)


class DroppingOfTheBook(Mechanism):
    """The chapter's queue that drops its oldest item."""

    machine: ClassVar[type[Machine]] = DroppingQueue
    view: ClassVar[type[View[Any]]] = DroppingSeen

    def __init__(self, capacity: int) -> None:
        super().__init__(C=capacity, K=_ITEMS)
        self.fire("promised", promise=Policy.DROP_OLDEST)
        self._items: list[Item] = []

    def arrives(self, item: Item, action: str) -> bool:
        """An item comes; true, for something else is dropped if there is no free slot."""
        if len(self._items) + 1 >= self._constants["K"]:
            self.grow(K=4 * len(self._items))
        self._items.append(item)
        return self.fire(action) is not None

    def poll(self) -> Item | None:
        """The next item, if there is one."""
        if not self.now.inside:
            return None
        item = self.now.inside[0]
        self.fire("poll_item", item=item)
        return self._items[int(item)]


class BookDropping(QueueAdapter):
    """The queue of the book that drops its oldest item."""

    name: ClassVar[str] = "the rule book, drop-oldest"
    policy: ClassVar[str] = "drop-oldest"
    core: type[DroppingOfTheBook] = DroppingOfTheBook

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._queue = self.core(capacity)

    def offer(self, item: Item) -> bool:
        return self._queue.arrives(item, "offer_accepted")

    def put(self, item: Item) -> bool:
        return self._queue.arrives(item, "put_done")

    def poll(self) -> Item | None:
        return self._queue.poll()
