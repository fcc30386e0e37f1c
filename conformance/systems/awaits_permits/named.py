"""Semaphores, locks and limiters for coroutines, by their names."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Final

from ...adapters.base import Declined
from ...adapters.loop_adapter import Held
from ...foreign.surface import Surface, Wanted, made_with, takes_argument
from ...foreign.target import Named
from .adapter import ReferencePermits

__all__ = ["WANTED", "NamedPermits", "make"]

WANTED: Final = (
    Wanted("acquire", ("acquire", "lock", "enter", "wait", "take", "get"), needed=True, given=0),
    Wanted("release", ("release", "unlock", "leave", "signal", "give", "put"), needed=True,
           given=0),
    Wanted("locked", ("locked", "is_locked", "is_full")),
)
"""The usual names of the methods. ``locked`` answers whether an acquire would have to wait."""

CAPACITY: Final = (
    "value", "capacity", "permits", "limit", "count", "initial_value", "total_tokens", "max_value",
    "n")
"""The usual names of the argument that says how many permits there are; a lock has none."""


def make(named: Named) -> NamedPermits:
    """The adapter of a semaphore or a lock. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[0], lambda: made_with(
        named.factory, named.place, {"capacity": (1, CAPACITY)}))
    return NamedPermits(named)


class NamedPermits(ReferencePermits):
    """Permits of the user's. The method that gives them back may be a coroutine."""

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version      # type: ignore[misc]
        self._counts = takes_argument(named.factory, named.place, "capacity", CAPACITY)

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance. A lock is one permit, and takes no number."""
        if settings["capacity"] > 1 and not self._counts:
            raise Declined("unsupported-capacity")
        super().start(settings)
        if "locked" not in self._surface:
            self.locked = None      # type: ignore[method-assign, assignment]

    def make(self, capacity: int) -> Any:
        """Create the object under test."""
        told = {"capacity": (capacity, CAPACITY)} if self._counts else {}
        made = made_with(self._named.factory, self._named.place, told)
        self._surface: Surface = self._named.surface(made, WANTED, ("capacity",))
        return made

    async def take(self, call: Held) -> None:
        """Acquire a permit; raise ``CancelledError`` if cancelled without one."""
        taken = self._surface["acquire"]()
        if hasattr(taken, "__await__"):
            await taken

    def give(self) -> Awaitable[Any] | None:
        """Give a permit back; a coroutine is returned, to be awaited."""
        given = self._surface["release"]()
        return given if hasattr(given, "__await__") else None

    def locked_now(self) -> bool:
        """True if an acquire would have to wait."""
        return bool(self._surface["locked"]())
