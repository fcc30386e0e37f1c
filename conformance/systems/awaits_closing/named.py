"""Queues for coroutines that end, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...foreign.surface import Renamed, Surface, Wanted, made_with
from ...foreign.target import Named
from ..queue.named_ways import CAPACITY
from .adapter import ReferenceClosing

__all__ = ["WANTED", "NamedClosing", "make"]

WANTED: Final = (
    Wanted("put", ("put", "push", "send", "enqueue", "add"), needed=True, given=1),
    Wanted("get", ("get", "pop", "take", "receive", "recv", "dequeue"), needed=True, given=0),
    Wanted("join", ("join", "wait_done")),
    Wanted("done", ("task_done", "done")),
    Wanted("close", ("shutdown", "close")),
    Wanted("cut", ("abort", "cut", "terminate")),
)
"""The usual names of the methods. A ``close`` with the parameter ``immediate`` cuts off, too; one
that is a coroutine is not called.
"""

_ENDS: Final = ("shutdown", "shut_down", "closed", "endof", "broken")
"""Parts of the names of exceptions that report the end."""


def make(named: Named) -> NamedClosing:
    """The adapter of a queue that ends. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[1], lambda: made_with(
        named.factory, named.place, {"capacity": (1, CAPACITY)}))
    return NamedClosing(named)


class _Told(Exception):
    """Raised in place of any error by which the queue reports its end."""


class NamedClosing(ReferenceClosing):
    """A queue of the user's."""

    told: tuple[type[Exception], ...] = (_Told,)
    spoil_: Callable[..., Any] | None = None

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version      # type: ignore[misc]

    def make(self, capacity: int) -> Any:
        """Create the queue under test."""
        made = made_with(self._named.factory, self._named.place,
                         {"capacity": (capacity, CAPACITY)})
        self._surface: Surface = self._named.surface(made, WANTED, ("capacity",))
        self._leave_out()
        queue = Renamed(self._surface)
        if "done" in self._surface:
            vars(queue)["task_done"] = self._surface["done"]
        return queue

    def _leave_out(self) -> None:
        has = self._surface
        cuts = "cut" in has or ("close" in has and has.takes("close", "immediate"))
        for operation, there in (("join_", "join" in has), ("done_", "done" in has),
                                 ("close_", "close" in has), ("cut_", cuts)):
            if not there:
                setattr(self, operation, None)

    async def enter(self, item: Any) -> None:
        """Put an item; raise the error for a closed queue if it is closed."""
        await self._ending(lambda: self._surface["put"](item))

    async def get(self) -> Any:
        """Take an item; raise the error for a closed queue if it is closed."""
        return await self._ending(self._surface["get"])

    def end(self, cut: bool) -> None:
        """Close the queue, or cut it off."""
        if cut and "cut" in self._surface:
            self._surface["cut"]()
        elif cut:
            self._surface["close"](immediate=True)
        else:
            self._surface["close"]()

    async def _ending(self, call: Callable[[], Any]) -> Any:
        try:
            answer = call()
            return await answer if hasattr(answer, "__await__") else answer
        except Exception as error:
            names = [kind.__name__.lower() for kind in type(error).__mro__]
            if any(word in name for word in _ENDS for name in names):
                raise _Told from error
            raise
