"""A design with numbers as names, so that parts which differ by names alone are asked about once.

No engine looks at a name but to tell two things apart. What is said of the numbered design is
said of the other one if the numbers in it are made names again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from ..reading.kinds import is_slots
from ..reading.signs import is_sign
from ..reading.language import Design
from ..reading.source import NOWHERE, Spot

__all__ = ["named", "numbered", "renamed"]

T = TypeVar("T")


def numbered(design: Design) -> tuple[Design, Mapping[str, str]]:
    """The design with numbers for the names of its tasks, links and pools, without what only its
    file says; and the name of each number. The names stay where one has a meaning or two uses."""
    names = [*design.tasks, *design.links, *design.pools]
    plain = replace(design, name="", about="", expect={}, file="", parameters=(), assumed=())
    if any(is_slots(pool) or is_sign(pool) for pool in design.pools) or len({*names}) < len(names):
        return plain, {}
    number_of = {name: f":{number}" for number, name in enumerate(names)}  # no name has a colon
    return renamed(plain, number_of), {number: name for name, number in number_of.items()}


def named(value: T, names: Mapping[str, str]) -> T:
    """The words about a numbered design, with the names of the numbers, also within sentences."""
    return renamed(value, names, _within)


def _within(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"(?<!\w):\d+", lambda found: names.get(found[0], found[0]), text)


def _whole(text: str, names: Mapping[str, str]) -> str:
    return names.get(text, text)


def renamed(
    value: T, names: Mapping[str, str], rename: Callable[[str, Mapping[str, str]], str] = _whole
) -> T:
    """The same value with other names wherever one stands by itself, and without places in files.
    """
    found: Any = value
    if isinstance(value, str):
        found = rename(value, names)
    elif isinstance(value, Spot):
        found = NOWHERE
    elif isinstance(value, tuple):
        found = tuple(renamed(each, names, rename) for each in value)
    elif isinstance(value, Mapping):
        found = {renamed(key, names, rename): renamed(each, names, rename)
                 for key, each in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{
            each.name: renamed(getattr(value, each.name), names, rename)
            for each in fields(value)})
    return cast(T, found)
