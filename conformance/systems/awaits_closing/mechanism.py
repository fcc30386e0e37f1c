"""The chapter's queue that ends, and so each variant of it, behind the port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.queues.closing_seen import QueueSeen, Sleepers
from ...ports.base import Message, Port
from ...suites.calls_of_the_book import AdapterOfTheBook, Callback, CallsOfTheBook
from .port import LOOP, PORT

__all__ = ["BookClosing", "ClosingOfTheBook"]

_CALLS: Final = 16
"""Puts, takes and joins at first."""

_EVENTS: Final = {
    "goes_in": ("puts", "item", "in"), "put_is_told": ("puts", "item", "told"),
    "put_fails": ("puts", "item", "fails"), "gives": ("takes", "take", "has"),
    "take_is_told": ("takes", "take", "told"), "join_ends": ("joins", "join", "over")}
"""By the observer's step: of which calls it is, the argument that says of which one, and what it
does."""


class ClosingOfTheBook(CallsOfTheBook):
    """In the chapter calls and items are numbers."""

    machine: ClassVar[type[Machine]] = Sleepers
    view = QueueSeen

    def __init__(self, capacity: int) -> None:
        super().__init__(C=capacity, K=_CALLS)
        self._names: dict[str, list[str]] = {"puts": [], "takes": [], "joins": []}
        self._items: list[object] = []

    def put_(self, by: str, item: object) -> list[Message]:
        """Begin a put, and let it run once."""
        return self._puts(by, item, bad=0)

    def spoil(self, by: str, item: object) -> list[Message]:
        """Begin a put that fails."""
        return self._puts(by, item, bad=1)

    def take(self, by: str) -> list[Message]:
        """Begin a take, and let it run once."""
        return self._begins("takes", by, "begins_to_take", "take_runs", "take")

    def join(self, by: str) -> list[Message]:
        """Begin a join, and let it run once."""
        return self._begins("joins", by, "begins_to_join", "join_runs", "join")

    def done(self) -> list[Message]:
        """A consumer is done with an item."""
        self._counts(1)
        return self.act("done")

    def close_(self) -> list[Message]:
        """The queue is closed."""
        return self.act("closes")

    def cut(self) -> list[Message]:
        """The queue is cut off."""
        self._counts(len(self.now.inside))
        return self.act("is_cut_off")

    def asleep(self) -> list[Callback]:
        """The calls that sleep: puts and takes first come first, and then joins."""
        now = self.now
        return [*[("put_runs", "item", item) for item in now.asleep_puts],
                *[("take_runs", "take", take) for take in now.asleep_takes],
                *[("join_runs", "join", join) for join in sorted(now.asleep_joins)]]

    def event(self, name: str, arguments: Mapping[str, int]) -> Message | None:
        """How a call has ended."""
        if name not in _EVENTS:
            return None
        calls, which, does = _EVENTS[name]
        has = {"item": self._items[arguments["item"]]} if name == "gives" else {}
        return {"by": self._names[calls][arguments[which]], "does": does, **has}

    def spins(self) -> Message | None:
        """The event of a join that asks again and again."""
        return {"by": LOOP, "does": "spins"} if self.can("spins") else None

    def _puts(self, by: str, item: object, *, bad: int) -> list[Message]:
        self._items.append(item)
        return self._begins("puts", by, "puts", "put_runs", "item", bad=bad)

    def _begins(
        self, calls: str, by: str, begins: str, runs: str, which: str, **more: int
    ) -> list[Message]:
        names = self._names[calls]
        if len(names) == self._constants["K"]:
            self.grow(K=2 * len(names))
        names.append(by)
        self._step(begins, **more)
        self._step(runs, **{which: len(names) - 1})
        return self._seen()

    def _counts(self, least: int) -> None:
        """An item that comes out twice may be done twice; a count does not go below 0."""
        if self.now.undone < least:
            self.put(undone=least)


class BookClosing(AdapterOfTheBook):
    """The queue of the book, one callback at a time."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "wait"
    core: type[ClosingOfTheBook] = ClosingOfTheBook
