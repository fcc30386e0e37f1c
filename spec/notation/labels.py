"""Names of steps and values, in the reader's words."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

__all__ = ["counted", "show_step", "show_value"]


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
