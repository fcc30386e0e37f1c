"""Events: the one form of everything that a log says, whatever file it came from.

A call is an interval. It *begins* in one event and *ends* in another, and whatever it does, it does
in between. What takes no time, or is seen at one instant only, is a *point*. Certain are three
orders: a call begins before it ends, a process does one thing after the other, and a thing is sent
before it is received. Only where a log says how its clocks agree, or that its lines are in the
order in which they happened, is anything more certain (``order``).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from ...spec.notation.errors import InputError

__all__ = ["FIELDS", "PHASES", "RESULTS", "Event", "in_line", "shown"]

FIELDS: Final = {
    "key": "what is judged by itself: the name of a queue, a lock, a partition",
    "process": "the thread, task or connection that did it: it does one thing at a time",
    "operation": "what it did",
    "phase": "begin, end or point",
    "item": "the identity of what it was about: text or a whole number, never used twice",
    "value": "a number that belongs to it: permits, a count, an offset",
    "place": "its place in the order of its process: a whole number",
    "time": "the time of a clock, in the unit that the mapping names",
    "result": "how a call ended: ok, empty, full, failed or unknown",
    "call": "the identity of a call, where one process has several at a time",
}
"""The fields of an event and what they mean; each is a column, or a mapping says where it is."""

PHASES: Final = ("begin", "end", "point")

RESULTS: Final = ("ok", "empty", "full", "failed", "unknown")
"""How a call ended. *empty* and *full* are answers: there was nothing, or no room, at some instant
within the call. What *failed* means is for the mapping to say."""


class Event(NamedTuple):
    """One line of a log, as it was understood.

    ``call`` is the number of the call that begins or ends here; -1 for the end of one if its
    beginning is not in the log. ``time`` is in nanoseconds. ``file`` and ``line`` are where it
    stands; a row of a table counts as a line.
    """

    key: str
    process: str
    operation: str
    phase: str
    item: Hashable = None
    value: int | None = None
    place: int | None = None
    time: int | None = None
    result: str = "ok"
    call: int = -1
    file: str = ""
    line: int = 0

    @property
    def source(self) -> str:
        """Where the log has it: ``file:line``."""
        return f"{self.file}:{self.line}"


def shown(event: Event) -> str:
    """An event in words, as the dry run and the answers have it."""
    words = [f"{event.process}: {event.phase} of {event.operation}"]
    if event.item is not None:
        words.append(f"item {event.item!r}")
    if event.value is not None:
        words.append(f"value {event.value}")
    if event.phase != "begin" and event.result != "ok":
        words.append(event.result)
    return ", ".join(words)


def in_line(what: str, file: str, line: int, next_step: str) -> InputError:
    """The error that one line of a log cannot be used."""
    return InputError(what, f"{file}:{line}", next_step)
