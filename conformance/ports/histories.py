"""Histories as texts: an instant, a blank, and what happened then, in the words of a port.

A history is read by the check of its reply, by the conversation and by the judge, and what happens
in one happens in others; so what a text after its instant says is remembered, and so are the last
histories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final, Generic, TypeVar

__all__ = ["About", "Histories", "is_number"]

About = tuple[str, tuple[int | str, ...]]
"""A word, and its fields."""

E = TypeVar("E")

_TEXTS: Final = 1 << 16
_HISTORIES: Final = 8
"""How many texts and histories are remembered of a port."""


class Histories(Generic[E]):
    """Reads the histories of a port.

    ``said`` reads a text after its instant and blank, None if it is of no event. An event is a
    named tuple of an instant, a word, and its fields.
    """

    def __init__(self, event: type[E], said: Callable[[str], About | None]) -> None:
        # Without the function in Python that a named tuple has for it: a history has hundreds.
        self._made: Callable[[tuple[int, str, tuple[int | str, ...]]], E] = partial(
            tuple.__new__, event)   # type: ignore[type-var]
        self._said = lru_cache(maxsize=_TEXTS)(said)
        self._read = lru_cache(maxsize=_HISTORIES)(self._read_anew)

    def event(self, row: str) -> E | None:
        """The event of a text; None if the text is no event. Its instant is a whole number."""
        at, _, rest = row.partition(" ")
        instant, said = _instant(at), self._said(rest)
        return None if instant is None or said is None else self._made((instant, *said))

    def are(self, rows: object) -> bool:
        """True if a value is a list of texts of events."""
        return (isinstance(rows, list) and all(isinstance(row, str) for row in rows)
                and self._read(tuple(rows)) is not None)

    def events(self, rows: Sequence[str]) -> Sequence[E]:
        """The events of texts that have passed the port's check."""
        read = self._read(tuple(rows))
        assert read is not None
        return read

    def _read_anew(self, rows: tuple[str, ...]) -> tuple[E, ...] | None:
        found = tuple(map(self.event, rows))
        return None if None in found else found     # type: ignore[return-value]


def is_number(text: str) -> bool:
    """True if a text is a whole number that is not negative, of at most 15 digits."""
    return len(text) <= 15 and text.isascii() and text.isdecimal()


@lru_cache(maxsize=1 << 12)
def _instant(text: str) -> int | None:
    return int(text) if is_number(text) else None
