"""Events by their names: for tasks of asyncio, and for threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...adapters.thread_adapter import HeldByThread, ThreadAdapter
from ...foreign.surface import Renamed, Surface, Wanted, made_with
from ...foreign.target import Named
from ...ports.base import Message, Port
from .adapter import ReferenceGate
from .port import PORT

__all__ = ["WANTED", "NamedGate", "NamedThreadGate", "make"]

WANTED: Final = (
    Wanted("wait", ("wait", "join", "drain", "wait_open"), needed=True, given=0),
    Wanted("open", ("set", "open", "fire", "resume"), needed=True, given=0),
    Wanted("shut", ("clear", "shut", "close", "reset", "pause"), given=0),
)
"""The usual names of the methods."""


def make(named: Named) -> PortAdapter:
    """The adapter of an event, by its kind. Raises ``InputError`` if it is not of the kind that was
    given."""
    is_for_tasks = named.is_for_tasks(WANTED[0], lambda: made_with(
        named.factory, named.place, {}))
    return (NamedGate if is_for_tasks else NamedThreadGate)(named)


class NamedGate(ReferenceGate):
    """An event of the user's: nothing can break it."""

    break_ = None

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version      # type: ignore[misc]

    def make(self) -> Any:
        """Create the gate under test."""
        surface = self._named.surface(
            made_with(self._named.factory, self._named.place, {}), WANTED)
        if "shut" not in surface:
            self.shut_ = None
        return Renamed(surface)


class NamedThreadGate(ThreadAdapter):
    """An event of the user's for threads: nothing can break it."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "sleep"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        self._surface: Surface = self._named.surface(self.begin_anew(
            lambda: made_with(self._named.factory, self._named.place, {})), WANTED)
        self.must_be_seen(self._surface, "wait", "open")
        if "shut" not in self._surface:
            self.shut_ = None

    # -- the port -----------------------------------------------------------------------------

    def wait(self, by: str) -> list[Message]:
        """A thread waits for the event."""
        def waits(held: HeldByThread) -> None:
            try:
                self._surface["wait"]()
            except Exception:       # noqa: BLE001  any error is not the caller's
                self.note(held, "fails")
            else:
                self.note(held, "passes")

        self.call(by, waits)
        return self.seen(by)

    def _open(self) -> list[Message]:
        return self._now("open")

    def _shut(self) -> list[Message]:
        return self._now("shut")

    open_: Callable[..., Any] | None = _open
    shut_: Callable[..., Any] | None = _shut

    # -- within -------------------------------------------------------------------------------

    def _now(self, name: str) -> list[Message]:
        self.at_once(name, self._surface[name])
        return []
