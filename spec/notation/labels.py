"""Names of steps and values, in the reader's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any

__all__ = ["brief", "counted", "filled", "nearest", "show_step", "show_value", "size_of"]

_BRIEF_BITS = 200
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_VERBS = {"come": " comes", "pass": " passes", None: ""}
_ALONE = re.compile(r"\b1 (byte|callback|element|permit|step|tick)s\b(?: (come|pass)\b)?")


def show_step(name: str, args: Iterable[tuple[str, int]]) -> str:
    """``name(arg=value, …)``, enumeration members by their names."""
    inside = ", ".join(f"{key}={show_value(value)}" for key, value in args)
    return f"{name}({inside})" if inside else name


def show_value(value: int) -> str:
    """A parameter's value: a number, or the name of a member of an enumeration."""
    return value.name.lower() if isinstance(value, Enum) else str(value)


def counted(number: int, what: str, plural: str = "") -> str:
    """``1 step``, ``2,000 steps``; ``plural`` where an s is not all that it takes."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def filled(words: str, fields: Mapping[str, Any]) -> str:
    """``{n} ticks pass`` with its fields: ``1 tick passes``, ``2 ticks pass``."""
    told = words.format_map(fields)
    return _ALONE.sub(lambda one: f"1 {one[1]}{_VERBS[one[2]]}", told) if "1 " in told else told


def brief(value: object, most: int = 100) -> str:
    """``value`` as a user wrote it, as it may stand in a message: one line of ``most`` characters.

    Whatever it is: a number of any length, a text, an object with a repr that fails.
    """
    if isinstance(value, int) and value.bit_length() > _BRIEF_BITS:
        return f"a number of {value.bit_length():,} bits"
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001 - it is the user's own repr
        text = f"a {type(value).__name__}"
    line = " ".join(text[:4 * most].split())
    return line if len(line) <= most else line[:most - 1] + "…"


def nearest(name: str, names: Iterable[str], listed_by: str) -> str:
    """The advice about a ``name`` that is not among the ``names``: up to three that are near to
    it, and what lists all (``listed_by``, a command in backquotes)."""
    near = get_close_matches(brief(name).lower(), list(names), n=3, cutoff=0.5)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}{listed_by} lists them all."


def size_of(text: str) -> int | None:
    """The bytes that a size such as 500M or 2G stands for; None if it is none, or is 0."""
    match = re.fullmatch(r"(\d{1,15})([kmg]?)(i?b)?", text.strip().lower())
    return int(match[1]) * _UNITS[match[2]] or None if match else None
