"""The notes of a judge, key by key and rule by rule.

There are four outcomes. *Violated*: no run of the machine explains the events. *Unknown*: it could
not be decided, with the reason. *Not a log of this system*: the machine refuses an event where no
rule of its own would: a release by nobody, an end without a beginning. Then a record is missing or
doubled, or the mapping is wrong. *Passed*: none of these, and how often it could have been broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ...spec.engines.monitor import Failure
from ...spec.notation.machine import Machine
from .events import Event
from .live import rules_at_stake

__all__ = [
    "AROUND", "WHOLE", "Cause", "Doubt", "Finding", "Notes", "as_it_is", "shortest"]

T = TypeVar("T")

Cause = tuple[str, str, str, str]
"""The rule, the operation and result of the event, and the condition that is false."""

AROUND: Final = 3
"""Events of the key before the offending one that an answer shows."""

WHOLE: Final = 64
"""Events of a key of which the shortest part that breaks a rule is looked for at once."""

FINDINGS_MAX: Final = 10_000
"""Findings that are kept, unless somebody takes them away meanwhile."""

FOREIGN_MAX: Final = 100
"""Events that no log of the system has, of different keys, that are kept."""


@dataclass(frozen=True)
class Finding:
    """The first event of a key that breaks a rule.

    ``history`` is the shortest history that still breaks it, if one is known, ``before`` the key's
    last events before it, ``allowed`` what could have been instead, in words. ``cause`` groups
    equal ones.
    ``whole`` has events of the key of which a history can be made: all so far, if they are few.
    """

    rule: str
    key: str
    event: Event
    failure: Failure
    allowed: str
    history: tuple[Event, ...]
    before: tuple[Event, ...]
    whole: tuple[Event, ...] = ()

    @property
    def cause(self) -> Cause:
        """Findings that agree in this are the same bug at several keys."""
        return self.rule, self.event.operation, self.event.result, self.failure.conjunct


def as_it_is(finding: Finding) -> Finding:
    """Give a finding back unchecked: where notes are thrown away, or kept as bytes."""
    return finding


@dataclass(frozen=True)
class Doubt:
    """A reason why rules are not judged at a key, from an event on."""

    key: str
    why: str
    event: Event | None


@dataclass
class Notes:
    """The notes of one run, shared by the judges of all its keys.

    ``alike`` counts the keys of each cause of a finding, ``times`` what was exercised elsewhere, by
    rule. ``doubts`` keeps all of them, each with its rule (none: a foreign event), if it is a list;
    of findings, the first ``most`` are kept with their events, and all others only counted. ``red``
    has the rules that each key breaks, ``sets`` counts keys elsewhere by the rules that they break.
    The history of a finding that is kept is ``checked``.
    """

    steps: Counter[tuple[type[Machine], str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    violations: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, list[Doubt]] = field(default_factory=dict)
    unknown_keys: Counter[str] = field(default_factory=Counter)
    foreign: list[Doubt] = field(default_factory=list)
    foreign_keys: set[str] = field(default_factory=set)
    foreign_total: int = 0
    not_shown: dict[str, str] = field(default_factory=dict)
    alike: Counter[Cause] = field(default_factory=Counter)
    times: Counter[str] = field(default_factory=Counter)
    doubts: list[tuple[str, Doubt]] | None = None
    most: int = FINDINGS_MAX
    red: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sets: Counter[tuple[str, ...]] = field(default_factory=Counter)
    checked: Callable[[Finding], Finding] = as_it_is

    def exercised(self) -> Mapping[str, int]:
        """By rule, how often an event was taken that could have broken it."""
        found = Counter[str](self.times)
        for (machine, action), times in self.steps.items():
            for rule in rules_at_stake(machine).get(action, ()):
                found[rule] += times
        return found

    def violated(self, finding: Finding) -> None:
        """Count it by its rule, and keep it with its events, if there are not too many."""
        self.violations[finding.rule] += 1
        self.alike[finding.cause] += 1
        self.breaks(finding.key, finding.rule)
        if len(self.findings) < self.most:
            self.findings.append(self.checked(finding))

    def breaks(self, key: str, rule: str) -> None:
        """Note that a key breaks a rule."""
        self.red[key] = tuple(sorted({*self.red.get(key, ()), rule}))

    def together(self) -> Counter[tuple[str, ...]]:
        """How many keys break these rules and no others: one bug may break several."""
        return Counter(self.red.values()) + self.sets

    def is_found(self, failure: Failure, key: str, event: Event, before: set[str]) -> bool:
        """True if a failure breaks a rule that the key had not broken before; without a rule it is
        noted as foreign."""
        if failure.rule is None:
            self.is_foreign(key, f"{failure.observation}: {failure.conjunct}", event)
            return False
        is_new = failure.rule.id not in before
        before.add(failure.rule.id)
        return is_new

    def unsure(self, rules: Sequence[str], key: str, why: str, event: Event | None) -> None:
        """Note that some rules are not judged at a key any more."""
        for rule in rules:
            self.unknown_keys[rule] += 1
            if self.doubts is not None:
                self.doubts.append((rule, Doubt(key, why, event)))
            doubts = self.unknown.setdefault(rule, [])
            if len(doubts) < AROUND:
                doubts.append(Doubt(key, why, event))

    def is_foreign(self, key: str, why: str, event: Event) -> None:
        """Note an event that no log of the system has here; the first of a key counts."""
        if key in self.foreign_keys:
            return
        self.foreign_keys.add(key)
        self.foreign_total += 1
        doubt = Doubt(key, why, event)
        if self.doubts is not None:
            self.doubts.append(("", doubt))
        if len(self.foreign) < FOREIGN_MAX:
            self.foreign.append(doubt)


def shortest(things: Sequence[T], breaks: Callable[[Sequence[T]], bool]) -> list[T]:
    """A part of some things that still ``breaks`` a rule, none of which can be left out."""
    kept = list(things)
    at = 0
    while at < len(kept):
        fewer = kept[:at] + kept[at + 1:]
        if fewer and breaks(fewer):
            kept = fewer
        else:
            at += 1
    return kept
