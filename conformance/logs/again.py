"""A second look at a log: the events that the short history of a finding can be made of.

A judge keeps little of a long log. What broke the rule is mostly said by the events about one item,
or by those of no item besides, or by the last ones of the key; these are gathered here, once it is
known which they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from ...spec.verdicts.deadline import Spent
from .events import Event
from .histories import Histories, are_one
from .kinds import Logs, Terms
from .notes import Finding, Notes
from .readers import Log
from .run import checked

__all__ = ["LAST", "MOST", "Gathered", "Look", "completed"]

_OF_A_CAUSE: Final = 3
_CAUSES: Final = 20
"""Findings that are looked for: the first ones of the first causes, which an answer shows."""

MOST: Final = 256
"""Events about an item, and events of no item, that are gathered of a key."""

LAST: Final = 64
"""Last events of a key that are gathered."""


class Gathered:
    """The events of a key up to those of a finding: about its item, of no item, and the last."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self.begins_anew()

    def begins_anew(self) -> None:
        """Be as if nothing had been read."""
        self.is_over = False
        self._about: dict[int, Event] = {}
        self._bare: dict[int, Event] = {}
        self._last: deque[Event] = deque(maxlen=LAST)
        self._begun: dict[int, tuple[int, Event]] = {}
        self._at = 0

    def takes(self, event: Event) -> None:
        """Take the next event of the key."""
        if self.is_over:
            return
        self._at += 1
        self._last.append(event)
        self._sorts(event)
        self.is_over = are_one(event, self.finding.event)

    def _sorts(self, event: Event) -> None:
        """An event belongs to an item with the begin of its call, which may not name it."""
        found = [(self._at, event)]
        if event.phase == "begin" and event.item is None:
            self._begun[event.call] = found[0]
            return
        if event.phase == "end" and event.call in self._begun:
            found.append(self._begun.pop(event.call))
        kind = (self._about if event.item == self.finding.event.item and event.item is not None
                else self._bare if event.item is None else None)
        if kind is not None and len(kind) < MOST:
            kind.update(found)

    def parts(self) -> Iterator[Sequence[Event]]:
        """Parts of the log that may break the rule by themselves, the shortest kind first."""
        if self.is_over:
            yield _in_order(self._about)
            yield _in_order({**self._about, **self._bare})
            yield tuple(self._last)


def _in_order(events: dict[int, Event]) -> Sequence[Event]:
    return tuple(events[at] for at in sorted(events))


Look = Callable[[Sequence[Log], Logs, Terms, Sequence[Gathered], Callable[[int], None]], None]
"""The reading of a log once more, for what is gathered."""


def by_events(files: Sequence[Log], logs: Logs, terms: Terms, wanted: Sequence[Gathered],
              watch: Callable[[int], None]) -> None:
    """Read a log event by event."""
    of_key: dict[str, list[Gathered]] = {}
    for each in wanted:
        of_key.setdefault(each.finding.key, []).append(each)
    for number, event in enumerate(checked(files, logs)):
        for each in of_key.get(event.key, ()):
            each.takes(event)
        if number & 0x3FF == 0:
            watch(number)
            if all(each.is_over for each in wanted):
                return


def completed(notes: Notes, files: Sequence[Log], logs: Logs, terms: Terms,
              watch: Callable[[int], None], look: Look = by_events) -> None:
    """Give the first findings of each cause a history, where they have none; those that none is
    found of in time keep none."""
    wanted = [Gathered(each) for each in _without(notes.findings)]
    if not wanted:
        return
    for file in files:
        file.begins_anew()
    try:
        look(files, logs, terms, wanted, watch)
    except Spent:
        return
    histories = Histories(logs, terms)
    for each in wanted:
        found = histories.of_parts(each.finding, each.parts())
        notes.findings[notes.findings.index(each.finding)] = found


def _without(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of each cause, as far as they have no history."""
    seen: dict[object, int] = {}
    for each in findings:
        number = seen[each.cause] = seen.get(each.cause, 0) + 1
        if number <= _OF_A_CAUSE and len(seen) <= _CAUSES and not each.history:
            yield each
