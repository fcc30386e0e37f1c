"""The items that a run has named: what observers number, and forget as soon as they can."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from .besides import Works
from .remembered import Change, Variable
from .says import Among, Fields
from .values import Value, in_words

__all__ = ["Items", "could_come_out", "meant_by", "named_items"]


class Items:
    """The items of a run, numbered from 0 in the order in which they were named, with their fates.

    ``fates`` are from the most to the least likely for an item that comes out. Those of a fate in
    ``inside`` may come out; of each other fate, the last one stands for all. Items of equal value
    cannot be told apart: what comes out is then a frozenset of numbers (see ``either``).
    """

    def __init__(self, fates: Sequence[str], inside: Collection[str]) -> None:
        self._likely = {fate: place for place, fate in enumerate(fates)}
        self._inside = inside
        self._values: list[Value] = []
        self._fates: list[str] = []
        self._numbers: dict[object, list[int]] = {}     # by value
        self._equal = False                             # True if two items have the same value

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Value]:
        """Their values, in their order."""
        return iter(self._values)

    def add(self, value: Value, fate: str) -> int:
        """The number of an item that is named now."""
        numbers = self._numbers.setdefault(_key(value), [])
        self._equal = self._equal or bool(numbers)
        numbers.append(len(self._values))
        self._values.append(value)
        self._fates.append(fate)
        return numbers[-1]

    def becomes(self, number: int, fate: str, only: str = "") -> None:
        """Another fate of an item; ``only``: if it had that one. Nothing of one never named."""
        if number < len(self._fates) and only in ("", self._fates[number]):
            self._fates[number] = fate

    def count(self, fate: str) -> int:
        """The number of items of a fate."""
        return self._fates.count(fate)

    def meant(self, value: object) -> Fields:
        """An item of this value that came out: ``item``, its number or numbers; ``likely``, one of
        them; and ``named``, in words. The next number stands for an item that was never put in."""
        numbers = self._numbers.get(_key(value), [])
        if not numbers:
            return {"item": len(self), "likely": len(self),
                    "named": f"{in_words(value)}, which was never put in"}
        likely = min(numbers, key=lambda number: self._likely[self._fates[number]])
        return {"item": likely if len(numbers) == 1 else frozenset(numbers), "likely": likely,
                "named": in_words(value)}

    def could(self) -> Iterator[Fields]:
        """The items that could come out, as far as these are not alike to an observer."""
        if self._equal:
            for numbers in self._numbers.values():
                yield {"item": frozenset(numbers), "named": in_words(self._values[numbers[0]])}
        else:
            last = {fate: number for number, fate in enumerate(self._fates)}
            for number, fate in enumerate(self._fates):
                if fate in self._inside or last[fate] == number:
                    yield {"item": number, "named": in_words(self._values[number])}
        yield {"item": len(self), "named": "an item that was never put in"}


def named_items(
    fates: Sequence[str], inside: Collection[str], named: Mapping[str, str],
    becomes: Mapping[str, str],
) -> Variable[Items]:
    """The items of a conversation: by action, the fate of an item that it names, and the one that
    an item ``becomes`` ("inside from waiting": only if it waited)."""
    return Variable(lambda: Items(fates, inside),
                    [(action, _added(fate)) for action, fate in named.items()],
                    [(action, _turned(*fate.split(" from "))) for action, fate in becomes.items()])


def could_come_out(variable: str) -> Among:
    """The items that could come out, of those that a variable has."""
    return lambda talk, request: getattr(talk, variable).could()


def meant_by(field: str, variable: str) -> Works:
    """The item that came out, by its value (``Items.meant``)."""
    return lambda talk, fields: getattr(talk, variable).meant(fields[field])


def _added(fate: str) -> Change:
    def add(items: Items, about: Fields) -> Items:
        items.add(about["item"], fate)
        return items
    return add


def _turned(fate: str, only: str = "") -> Change:
    def turn(items: Items, about: Fields) -> Items:
        items.becomes(about["likely"] if "likely" in about else about["item"], fate, only)
        return items
    return turn


def _key(value: object) -> object:
    """A key of a value: the number 1 is neither the text 1 nor true."""
    return (type(value), value)
