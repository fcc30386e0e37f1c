"""Condition variables by their names: for tasks of asyncio, and for threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...adapters.thread_adapter import HeldByThread, ThreadAdapter
from ...foreign.surface import Renamed, Wanted, made_with
from ...foreign.target import Named
from ...ports.base import Message, Port
from .adapter import ReferenceCondition
from .port import PORT

__all__ = ["WANTED", "NamedCondition", "NamedThreadCondition", "make"]

WANTED: Final = (
    Wanted("acquire", ("acquire", "lock", "enter"), needed=True, given=0),
    Wanted("release", ("release", "unlock", "leave"), needed=True, given=0),
    Wanted("wait", ("wait", "sleep"), needed=True, given=0),
    Wanted("notify", ("notify", "signal", "wake"), needed=True, given=0),
)
"""The usual names of the methods. ``notify`` takes how many are to be notified."""


def make(named: Named) -> PortAdapter:
    """The adapter of a condition variable, by its kind. Raises ``InputError`` if it is not of the
    kind that was given."""
    is_for_tasks = named.is_for_tasks(WANTED[2], lambda: made_with(
        named.factory, named.place, {}))
    return (NamedCondition if is_for_tasks else NamedThreadCondition)(named)


class NamedCondition(ReferenceCondition):
    """A condition variable of the user's, with its own lock in it."""

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version      # type: ignore[misc]

    def make(self) -> Any:
        """Create the condition variable under test."""
        made = made_with(self._named.factory, self._named.place, {})
        return Renamed(self._named.surface(made, WANTED))


class NamedThreadCondition(ThreadAdapter):
    """A condition variable of the user's for threads, with its own lock in it."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "sleep"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        surface = self._named.surface(self.begin_anew(
            lambda: made_with(self._named.factory, self._named.place, {})), WANTED)
        self.must_be_seen(surface, *(each.name for each in WANTED))
        self._condition: Any = Renamed(surface)

    # -- the port -----------------------------------------------------------------------------

    def wait(self, by: str) -> list[Message]:
        """A thread takes the lock and sleeps."""
        self.call(by, self._waits)
        return self.seen(by)

    def notify(self, by: str, count: int) -> list[Message]:
        """A thread takes the lock and notifies."""
        def notifies(held: HeldByThread) -> None:
            self._condition.acquire()
            self._condition.notify(count)
            self.note(held, "notifies")
            self._condition.release()

        self.call(by, notifies)
        return self.seen(by)

    def leave(self, by: str) -> list[Message]:
        """A thread that continued gives the lock back, and is not stopped meanwhile."""
        return self.let_go(by, stops=False)

    # -- within -------------------------------------------------------------------------------

    def _waits(self, held: HeldByThread) -> None:
        self._condition.acquire()
        self.note(held, "sleeps")
        self._condition.wait()
        self.note(held, "goes on")
        held.keeps()
        try:
            self._condition.release()
        except RuntimeError:    # the call does not hold it
            self.note(held, "has no lock")
        else:
            self.note(held, "left")
