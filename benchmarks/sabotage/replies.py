"""The least that can be answered to an operation of a port: nothing done, nothing there, no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from checkvalve.conformance.ports.base import Kind, Message, Operation

__all__ = ["Replies", "emptied", "hushed"]

_LEAST: Final[tuple[Any, ...]] = (None, [], False, 0)
_MOST: Final[tuple[Any, ...]] = ([], True, None, 0)


@dataclass(frozen=True)
class Replies:
    """What to answer where nothing is done: the least that each operation's kind takes.

    ``samples`` has, by operation, what the reference answered; from these come the fields of
    objects. ``agrees``: a question of yes or no is answered yes, as if it had been done.
    """

    samples: Mapping[str, Sequence[Any]]
    agrees: bool = False

    def to(self, operation: Operation, ticket: str) -> Message:
        """The reply to an operation; one that can wait waits, with that ticket."""
        if operation.completion is not None:
            return {"waiting": ticket, "events": []}
        for value in self._candidates(operation.name):
            if operation.answer.accepts(value):
                return {"ok": value, "events": []}
        fitting = self._fitted(operation)
        return {"ok": fitting, "events": []}

    def _candidates(self, do: str) -> Iterator[Any]:
        yield from (_MOST if self.agrees else _LEAST)
        yield from map(emptied, self.samples.get(do, ()))

    def _fitted(self, operation: Operation) -> Any:
        """A sample, each field of which is as little as the kind takes; else true."""
        for sample in self.samples.get(operation.name, ()):
            if isinstance(sample, dict):
                return _least_fields(operation.answer, sample, self.agrees)
        return next(iter(self.samples.get(operation.name, ())), True)


def _least_fields(kind: Kind, sample: Message, agrees: bool) -> Message:
    made = dict(sample)
    for name, value in sample.items():
        for least in (*(_MOST if agrees else _LEAST), emptied(value)):
            if kind.accepts({**made, name: least}):
                made[name] = least
                break
    return made


def emptied(value: Any) -> Any:
    """A value of the same form with nothing in it."""
    if isinstance(value, dict):
        return {name: emptied(each) for name, each in value.items()}
    if isinstance(value, list):
        return []
    return type(value)() if isinstance(value, bool | int) else value


def hushed(value: Any, kind: Kind | None = None) -> Any:
    """A value without its lists: what is, but not what was done. In place of a list is null, where
    that is of the kind of the value; and a list that cannot be empty stays."""
    if isinstance(value, dict):
        return {name: hushed(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    if kind is None:
        return []
    least: tuple[Any, ...] = (None, [])
    return next((less for less in least if kind.accepts(less)), value)
