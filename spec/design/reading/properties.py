"""The properties of a design: their names in files, JSON and commands, and the words for people.

A property is named so that *holds* is good. For people a verdict says the fact instead: a deadlock
is *none* or *found*. docs/glossary.md has the same table, with what each property means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "BOUNDED", "DEADLOCK_FREE", "FACTS", "FORMER", "FOUND", "LIVE", "NO_DUPLICATES", "NO_FAILURE",
    "NO_LOCAL_DEADLOCK", "NO_LOSS", "NO_STARVATION", "ORDERED", "VERSION", "fact",
    "is_property", "no_starvation", "starved_task",
]

VERSION: Final = 2
"""The version of the design language; version 1 named some properties for what is bad."""

DEADLOCK_FREE: Final = "deadlock-free"
NO_LOCAL_DEADLOCK: Final = "no-local-deadlock"
BOUNDED: Final = "bounded"
ORDERED: Final = "ordered"
NO_DUPLICATES: Final = "no-duplicates"
NO_LOSS: Final = "no-loss"
NO_FAILURE: Final = "no-failure"
LIVE: Final = "live"
NO_STARVATION: Final = "no-starvation"

FACTS: Final[Mapping[str, str]] = {
    DEADLOCK_FREE: "deadlock", NO_LOCAL_DEADLOCK: "local deadlock", BOUNDED: "growth",
    ORDERED: "disorder", NO_DUPLICATES: "duplicates", NO_LOSS: "loss", NO_FAILURE: "failure",
    LIVE: "endless waits", NO_STARVATION: "starvation",
}
"""By property, what is *none* where it holds, and *found* where it is violated."""

FOUND: Final[Mapping[str, str]] = {"holds": "none", "violated": "found", "unknown": "unknown"}
"""By verdict on a property, what is said of its fact."""

FORMER: Final[Mapping[str, str]] = {
    "deadlock": DEADLOCK_FREE, "local_deadlock": NO_LOCAL_DEADLOCK, "duplication": NO_DUPLICATES,
    "loss": NO_LOSS, "failure": NO_FAILURE, "starvation": NO_STARVATION,
}
"""Keys of version 1 of the design language, and what they are called since version 2."""


def no_starvation(task: str) -> str:
    """The name of the property that this task takes a step again and again."""
    return f"{NO_STARVATION}: {task}"


def starved_task(name: str) -> str | None:
    """The task that a property says does not starve; None of another property."""
    kind, _, task = name.partition(": ")
    return task if kind == NO_STARVATION else None


def is_property(name: str) -> bool:
    """True if a design can be asked for a property of this name."""
    return name in FACTS or starved_task(name) is not None


def fact(name: str) -> str:
    """The words for people of a property: ``starvation of TASK``, ``deadlock``."""
    task = starved_task(name)
    return f"{FACTS[NO_STARVATION]} of {task}" if task is not None else FACTS[name]
