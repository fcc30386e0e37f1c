"""The short histories of findings: each is judged by itself before it is said to break the rule.

A judge keeps little of a long log, so what it has kept of a key may be too little to break the rule
once more. Then a finding has no history. (Its event, and those directly before it, are there all
the same.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .events import Event
from .kinds import Logs, Terms
from .notes import Finding, Notes, shortest

__all__ = ["Histories", "are_one"]


@dataclass(frozen=True)
class Histories:
    """Gives findings of a system's logs, judged on some terms, a history that breaks their rule, or
    none."""

    logs: Logs
    terms: Terms

    def __call__(self, finding: Finding) -> Finding:
        """The finding with the shortest history that is known to break its rule."""
        if self.breaks(finding.history, finding):
            return finding
        return self.of_parts(finding, (finding.whole,))

    def of_parts(self, finding: Finding, parts: Iterable[Sequence[Event]]) -> Finding:
        """The finding with the shortest history in the first of some parts of its log that breaks
        the rule by itself."""
        for part in parts:
            if self.breaks(part, finding):
                return replace(finding, history=self._shortened(part, finding))
        return replace(finding, history=())

    def _shortened(self, part: Sequence[Event], finding: Finding) -> tuple[Event, ...]:
        kept = list(part)
        for item in dict.fromkeys(each.item for each in kept if each.item != finding.event.item):
            fewer = [each for each in kept if each.item != item]
            kept = fewer if self.breaks(fewer, finding) else kept
        whole = _ends_without_begin(kept)
        return tuple(shortest(kept, lambda some: _ends_without_begin(some) <= whole and (
            self.breaks(some, finding))))

    def breaks(self, events: Sequence[Event], finding: Finding) -> bool:
        """True if a log of these events alone breaks the rule of a finding, for the same reason and
        at its event, which is the last one, and no rule before."""
        if not events or not are_one(events[-1], finding.event):
            return False
        notes = Notes()
        terms = replace(self.terms, drained=False, patience=0)
        judge = self.logs.judge(finding.key, terms, notes, self.logs.common(terms, notes))
        for event in events:
            judge.take(event)
        judge.end()
        return not notes.foreign and all(
            are_one(each.event, finding.event) for each in notes.findings) and any(
            (each.rule, each.failure.conjunct) == (finding.rule, finding.failure.conjunct)
            for each in notes.findings)


def _ends_without_begin(events: Iterable[Event]) -> set[int]:
    """The calls of which some events have the end alone: without its begin it would be sooner."""
    begun, ended = set[int](), set[int]()
    for event in events:
        if event.phase != "point":
            (begun if event.phase == "begin" else ended).add(event.call)
    return ended - begun


def are_one(one: Event, other: Event) -> bool:
    """True if two events are the same one of a log."""
    return (one.file, one.line, one.phase, one.operation) == (
        other.file, other.line, other.phase, other.operation)
