"""The values that programs put in: not only texts that are short, distinct and plain.

Theory of operation. A thing that holds what it is given must not look at it. Real ones do: one
loses what is false (``if not item``), one drops what equals something that is inside, one cuts
a text or writes it in a code that lacks a letter, one takes a text of digits for a number. So
some programs give their items values of one *style*. The program itself names the values
(``Act.about``), so that fixtures have them, and shrinking leaves out what does not matter. Names
and keys are alike in how they begin, in their last 32 bits, or but for their case. And amounts are
now and then at the ends of the numbers that hold them.

Items of equal value cannot be told apart. What came out is then one of several items, and is
judged as any of them (``either`` in the engines' candidates).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from random import Random
from typing import Final

from .exchange import Act, Program

__all__ = [
    "BEYOND", "DRESSED", "KEYS", "STYLES", "Payloads", "Style", "Value", "in_words", "unlike",
]

Value = int | str

DRESSED: Final = 1 / 3
"""The share of the programs with items of some style."""

_LONG: Final = 200
_WORDS_MAX: Final = 24
_LARGEST: Final = 2**53 - 1
"""Integers beyond it do not survive JSON in every language."""

Style = Callable[[Random, int], Value]
"""From chance and the number of an item to its value."""

_LIKE_NUMBERS: Final = ("0", "-1", "007", "1e3", "0x10", "1.0", " 1", "NaN", "null", "true")

STYLES: Final[Mapping[str, Style]] = {
    "numbers from 0": lambda random, number: number,
    "negative numbers": lambda random, number: -number,
    "the largest numbers": lambda random, number: _LARGEST - number,
    "texts that look like numbers": lambda random, number: (
        _LIKE_NUMBERS[number] if number < len(_LIKE_NUMBERS) else str(number)),
    "long texts": lambda random, number: f"{'long ' * (_LONG // 5)}{number}",
    "texts that begin alike, and differ in case": lambda random, number: (
        f"Order-2026-{_cased(number)}"),
    "texts beyond ASCII": lambda random, number: f"\u00e9\u4e2d\U0001f600 {number}",
    "texts with quotes and line breaks": lambda random, number: f"\"{number}\\\n\t'",
    "equal texts": lambda random, number: random.choice(("same", "other")),
    "equal numbers": lambda random, number: random.choice((0, 1)),
}
"""By name, how the values of a program are made. All are distinct, but for those that are equal."""

KEYS: Final[Mapping[str, Style]] = {
    **{name: style for name, style in STYLES.items() if "equal" not in name},
    "numbers alike in 32 bits": lambda random, number: number << 32,
    "texts alike but for their case": lambda random, number: _cased(number),
}
"""The same for names and keys, of which one is not taken for another. All are distinct."""

BEYOND: Final = (2**16, 2**31, 2**32, _LARGEST)
"""Amounts just beyond what 16, 31 and 32 bits hold, and the largest."""

_OFTEN: Final = 1 / 4
"""The share of amounts at their ends, of those in a dressed program that may be."""


def _cased(number: int) -> str:
    """One of very many texts of letters that are alike but for their case."""
    return "".join(letter.upper() if number >> place & 1 else letter
                   for place, letter in enumerate("partition-key-of"))


@dataclass(frozen=True)
class Payloads:
    """The operations that bring an item with a value that means nothing to what is tested.

    ``fields`` names the field of the item, by operation. ``equal``: the conversation can follow
    items of equal value. ``several`` says of some operations how many items come with a pick.
    ``texts``: items are texts, and those of numbers have their digits. ``ends`` has, by operation,
    a field that is an amount, and those at its ends; ``ends_in_long`` is False where one of them
    would leave nothing for the rest of a long program.
    """

    fields: Mapping[str, str]
    equal: bool = False
    several: Mapping[str, Callable[[int], int]] = field(default_factory=dict)
    texts: bool = False
    styles: Mapping[str, Style] = field(default_factory=lambda: STYLES)
    ends: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    ends_in_long: bool = True

    def dressed(self, program: Iterable[Act], random: Random, *, long: bool = False) -> Program:
        """A program with items of one style of values; in a ``long`` one none are equal."""
        style = random.choice(tuple(
            style for name, style in self.styles.items()
            if self.equal and not long or not name.startswith("equal")))
        acts: list[Act] = []
        has_ends = self.ends_in_long or not long
        items = 0
        for act in program:
            if act.do in self.fields and not act.about:
                many = self.several.get(act.do, _one)(act.pick)
                values = [style(random, items + more) for more in range(many)]
                act = act._replace(about=tuple(
                    (self.fields[act.do], str(value) if self.texts else value)
                    for value in values))
                items += many
            if has_ends and act.do in self.ends and random.random() < _OFTEN:
                name, amounts = self.ends[act.do]
                act = act._replace(about=(*act.about, (name, random.choice(amounts))))
            acts.append(act)
        return tuple(acts)


def unlike(name: Value, taken: Collection[Value]) -> Value:
    """A name that is not taken: that one, or else a number."""
    if name not in taken:
        return name
    return next(number for number in count(len(taken)) if number not in taken)


def _one(pick: int) -> int:
    return 1


def in_words(value: object) -> str:
    """A value for a reader: as it is if it is a plain name, else as JSON, and not too long."""
    return _in_words(value) if isinstance(value, str | int) else _put_in_words(value)


@lru_cache(maxsize=4_096, typed=True)
def _in_words(value: str | int) -> str:
    """The same of a name, of which the same few come again and again."""
    return _put_in_words(value)


def _put_in_words(value: object) -> str:
    if isinstance(value, str) and value.isalnum() and value.isascii() and not value.isdigit() and (
            len(value) <= _WORDS_MAX):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WORDS_MAX else f"{text[:_WORDS_MAX - 8]}…{text[-7:]}"

