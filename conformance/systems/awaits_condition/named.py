"""Condition variables for coroutines, by their names."""

from __future__ import annotations

from typing import Any, Final

from ...foreign.surface import Renamed, Wanted, made_with
from ...foreign.target import Named
from .adapter import ReferenceCondition

__all__ = ["WANTED", "NamedCondition", "make"]

WANTED: Final = (
    Wanted("acquire", ("acquire", "lock", "enter"), needed=True, given=0),
    Wanted("release", ("release", "unlock", "leave"), needed=True, given=0),
    Wanted("wait", ("wait", "sleep"), needed=True, given=0),
    Wanted("notify", ("notify", "signal", "wake"), needed=True, given=0),
)
"""The usual names of the methods. ``notify`` takes how many are to be notified."""


def make(named: Named) -> NamedCondition:
    """The adapter of a condition variable. Raises ``InputError`` if it is not for tasks."""
    named.for_tasks(WANTED[2], lambda: made_with(
        named.factory, named.place, {}))
    return NamedCondition(named)


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
