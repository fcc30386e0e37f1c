"""Semaphores, locks and limiters by their names: for tasks of asyncio, and for threads."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, Final

from ....spec.notation.errors import InputError
from ...adapters.base import Declined
from ...adapters.loop_adapter import Held
from ...adapters.port_adapter import PortAdapter
from ...adapters.thread_adapter import HeldByThread, ThreadAdapter
from ...foreign.surface import Surface, Wanted, made_with, takes_argument
from ...foreign.target import Named
from ...ports.base import Message, Port
from .adapter import ReferencePermits
from .port import PORT

__all__ = ["WANTED", "NamedPermits", "NamedThreadPermits", "make"]

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


def make(named: Named) -> PortAdapter:
    """The adapter of a semaphore or a lock, by its kind. Raises ``InputError`` if it is not of the
    kind that was given."""
    def sample() -> Any:
        counts = takes_argument(named.factory, named.place, "capacity", CAPACITY)
        return made_with(named.factory, named.place, {"capacity": (1, CAPACITY)} if counts else {})

    return (NamedPermits if named.is_for_tasks(WANTED[0], sample) else NamedThreadPermits)(named)


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


class NamedThreadPermits(ThreadAdapter):
    """Permits of the user's for threads; each call is made by one."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "line"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance. A lock is one permit, and takes no number."""
        counts = takes_argument(self._named.factory, self._named.place, "capacity", CAPACITY)
        if settings["capacity"] > 1 and not counts:
            raise Declined("unsupported-capacity")
        told = {"capacity": (settings["capacity"], CAPACITY)} if counts else {}
        made = self.begin_anew(
            lambda: made_with(self._named.factory, self._named.place, told))
        self._surface: Surface = self._named.surface(made, WANTED, ("capacity",))
        self.must_be_seen(self._surface, "acquire", "release")
        if "locked" not in self._surface:
            self.locked = None      # type: ignore[method-assign, assignment]

    # -- the port -----------------------------------------------------------------------------

    def acquire(self, by: str) -> list[Message]:
        """A call of a thread of its own."""
        self.call(by, self._holds)
        return self.seen(by) or [{"by": by, "does": "waits"}]

    def release(self, by: str) -> list[Message]:
        """The thread that has the permit gives it back."""
        return self.let_go(by)

    def locked(self) -> bool:
        """True if an acquire would have to wait."""
        return bool(self.at_once("locked", self._surface["locked"]))

    # -- within -------------------------------------------------------------------------------

    def _holds(self, held: HeldByThread) -> None:
        if self._surface["acquire"]() is False:
            theirs = self._surface.called["acquire"]
            raise InputError(
                f"{theirs} of {self.name} does not wait where it lacks a permit, but answers at "
                "once, by False; what is called acquire here waits",
                next_step="Say by --names acquire=… which method waits.")
        self.note(held, "has")
        held.keeps()
        self._surface["release"]()
        self.note(held, "released")
