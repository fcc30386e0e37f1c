"""Events for coroutines, by their names."""

from __future__ import annotations

from typing import Any, Final

from ...foreign.surface import Renamed, Wanted, made_with
from ...foreign.target import Named
from .adapter import ReferenceGate

__all__ = ["WANTED", "NamedGate", "make"]

WANTED: Final = (
    Wanted("wait", ("wait", "join", "drain", "wait_open"), needed=True, given=0),
    Wanted("open", ("set", "open", "fire", "resume"), needed=True, given=0),
    Wanted("shut", ("clear", "shut", "close", "reset", "pause"), given=0),
)
"""The usual names of the methods."""


def make(named: Named) -> NamedGate:
    """The adapter of an event. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[0], lambda: made_with(
        named.factory, named.place, {}))
    return NamedGate(named)


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
