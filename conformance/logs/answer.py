"""The answer: rule by rule, what was found in a log, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from ...spec.engines.monitor import Failure
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..computer.places import from_root
from .events import Event, shown
from .kinds import Logs
from .notes import Finding, Notes
from .run import Judged

__all__ = ["document", "lines", "outcome_of", "outcomes", "why_not_shown"]

_SHOWN: Final = 3
"""Keys of one cause that are named."""


def outcomes(judged: Judged, logs: Logs) -> Mapping[str, str]:
    """By rule: violated, unknown, not shown, or passed. Where the recorder dropped events, a
    violation is unknown: a missing record may have caused it."""
    notes, exercised = judged.notes, judged.notes.exercised()
    found = {}
    for rule in _rules(logs):
        if notes.violations[rule.id]:
            found[rule.id] = "unknown" if judged.gaps else "violated"
        elif notes.unknown_keys[rule.id] or judged.spent:
            found[rule.id] = "unknown"
        elif rule.id in notes.not_shown or not exercised.get(rule.id):
            found[rule.id] = "not shown"
        else:
            found[rule.id] = "passed"
    return found


def outcome_of(judged: Judged, logs: Logs) -> str:
    """The outcome of all: violated, unknown, not a log of this system, or passed."""
    found = set(outcomes(judged, logs).values())
    if "violated" in found:
        return "violated"
    if judged.notes.foreign:
        return "not a log of this system"
    if "unknown" in found or "passed" not in found:
        return "unknown"
    return "passed"


def _rules(logs: Logs) -> Sequence[Rule]:
    by_id = {rule.id: rule for machine in logs.machines for rule in machine.rules_declared}
    return list(dict.fromkeys((*logs.rules, *(by_id[name] for name in logs.with_rest))))


def lines(judged: Judged, logs: Logs) -> Iterator[str]:
    """The answer for people."""
    notes, exercised = judged.notes, judged.notes.exercised()
    found = outcomes(judged, logs)
    yield (f"{counted(judged.events, 'event')} of {counted(judged.keys, 'key')}"
           + (f"; {counted(judged.ignored, 'line')} ignored" if judged.ignored else "")
           + (f"; the recorder dropped {counted(judged.gaps, 'record')}" if judged.gaps else "")
           + (f"; {judged.spent}, and the rest was not judged" if judged.spent else ""))
    for rule in _rules(logs):
        outcome = found[rule.id]
        mark = {"violated": "FAIL", "passed": "ok  "}.get(outcome, "?   ")
        yield f"{mark} {rule.id:10} {_said(judged, logs, rule, outcome, exercised)}"
        yield f"                {rule.statement}"
    yield from _together(notes)
    for cause, same in groupby(_sorted(judged), key=attrgetter("cause")):
        yield from _finding(list(same), notes.alike[cause], judged.gaps)
    if notes.foreign:
        yield ""
        yield ("This is not a log of this system: a record is missing or doubled, or the mapping "
               "is wrong.")
        for doubt in notes.foreign[:_SHOWN]:
            where = f"{doubt.event.source}: " if doubt.event else ""
            yield f"  {where}{doubt.why}" + (f" (key {doubt.key!r})" if doubt.key else "")
        more = notes.foreign_total - len(notes.foreign[:_SHOWN])
        if more > 0:
            yield f"  and {more} keys more"


def _together(notes: Notes) -> Iterator[str]:
    """The lines on keys that break several rules: these may be of one bug."""
    sets = notes.together()
    if all(len(rules) == 1 for rules in sets):
        return
    yield ""
    yield "Keys by all the rules that they break, for one bug may break several:"
    for rules, keys in _by_number(sets):
        yield f"  {keys:>12,}  {', '.join(rules)}"


def _by_number(sets: Mapping[tuple[str, ...], int]) -> list[tuple[tuple[str, ...], int]]:
    return sorted(sets.items(), key=lambda each: (-each[1], each[0]))


def _sorted(judged: Judged) -> list[Finding]:
    """The findings by cause, those of one in the order of their events."""
    return sorted(judged.notes.findings, key=lambda each: (
        each.cause, (each.event.time or 0) if judged.by_time else 0, each.event.file,
        each.event.line, each.key))


def _said(judged: Judged, logs: Logs, rule: Rule, outcome: str,
          exercised: Mapping[str, int]) -> str:
    """The words after a rule's id: how much it was shown, or why it is not known."""
    notes = judged.notes
    if outcome == "passed":
        return f"passed: {counted(exercised[rule.id], 'event')} could have broken it"
    if outcome == "violated":
        return f"violated at {counted(notes.violations[rule.id], 'key')}"
    if outcome == "not shown":
        return f"not shown: {why_not_shown(notes, logs, rule.id)}"
    if notes.violations[rule.id]:
        return "unknown: it looks violated, but records were dropped, and that may be the cause"
    if not notes.unknown_keys[rule.id]:
        return ("unknown: the log was not judged to its end. Give it more: --max-seconds, "
                "--max-memory")
    doubt = notes.unknown[rule.id][0]
    where = f" (first at {doubt.event.source})" if doubt.event else ""
    return f"unknown at {counted(notes.unknown_keys[rule.id], 'key')}: {doubt.why}{where}"


def why_not_shown(notes: Notes, logs: Logs, rule: str) -> str:
    """The reason why a rule is not shown, by its id. Of the whole log something is said only where
    every event was judged: nothing was found at any key, for a key may be judged only up to that.
    """
    if rule in notes.not_shown:
        return notes.not_shown[rule]
    rest = logs.with_rest.get(rule)
    broken = sorted({cause[0] for cause in notes.alike if cause[1] == rest} & _beside(logs, rule))
    if broken:
        return (f"an event {rest!r} could have shown it, but breaks {', '.join(broken)}, and after "
                "that nothing more of its key is judged")
    left_out = _left_out(notes)
    return (f"no event {'that was judged' if left_out else 'of the log'} could have broken it"
            + (f": that may need an event {rest!r}, which says that there is nothing left to come"
               if rest else "") + left_out)


def _beside(logs: Logs, rule: str) -> set[str]:
    """The rules of the machines that have a rule: what breaks one of them ends their judging."""
    of = [{each.id for each in machine.rules_declared} for machine in logs.machines]
    return set[str]().union(*(each for each in of if rule in each)) - {rule}


def _left_out(notes: Notes) -> str:
    """Words for events that may not have been judged, with the reasons; none if all were."""
    after = [why for is_so, why in (
        (notes.violations, "breaks another rule"),
        (notes.foreign_total, "no log of this system has"),
        (notes.unknown_keys, "leaves other rules unknown")) if is_so]
    if not after:
        return ""
    return f"; what comes at a key after an event that {' or '.join(after)} may not be judged"


def _finding(same: list[Finding], number: int, gaps: int) -> Iterator[str]:
    """The lines on violations of one cause: the first in full, the others by their keys."""
    first, shown_keys = same[0], same[:_SHOWN]
    keys = ", ".join(repr(each.key) for each in shown_keys)
    more = f" and {number - len(shown_keys)} more" if number > len(shown_keys) else ""
    yield ""
    yield f"{first.rule} at {counted(number, 'key')}: {keys}{more}"
    yield f"  {first.event.source}: {shown(first.event)}"
    yield f"  allowed instead: {first.allowed}"
    yield f"  needed: {first.failure.conjunct}  [{_place(first.failure)}]"
    if gaps:
        yield "  (records were dropped: one of them may be the cause)"
    if first.history:
        yield f"  the shortest history that breaks it, {counted(len(first.history), 'event')}:"
    else:
        yield "  no short history was found that breaks it by itself"
    for event in first.history:
        yield f"    {event.line:>8}  {shown(event)}"
    if first.before:
        yield "  before it, at the same key:"
        for event in first.before:
            yield f"    {event.line:>8}  {shown(event)}"


def _place(failure: Failure) -> str:
    where = failure.where
    return from_root(where) if Path(where).is_absolute() else where     # that of a row is from it


def document(judged: Judged, logs: Logs) -> dict[str, Any]:
    """The answer as one JSON document."""
    notes, exercised = judged.notes, judged.notes.exercised()
    found = outcomes(judged, logs)
    return {
        "outcome": outcome_of(judged, logs), "events": judged.events, "keys": judged.keys,
        "ignored": judged.ignored, "dropped": judged.gaps, "spent": judged.spent,
        "rules": [{
            "id": rule.id, "strength": rule.strength.value, "statement": rule.statement,
            "source": rule.source, "outcome": found[rule.id],
            "could_have_been_broken": exercised.get(rule.id, 0),
            "violated_keys": notes.violations[rule.id], "unknown_keys": notes.unknown_keys[rule.id],
            "why": [doubt.why for doubt in notes.unknown.get(rule.id, ())][:1] or None,
        } for rule in _rules(logs)],
        "violations": [{
            "rule": each.rule, "key": each.key, "event": _plain(each.event),
            "allowed": each.allowed, "needed": each.failure.conjunct,
            "where": _place(each.failure), "history": [_plain(event) for event in each.history],
            "before": [_plain(event) for event in each.before],
            "keys_alike": notes.alike[each.cause],
        } for each in _sorted(judged)],
        "violated_together": [{"rules": list(rules), "keys": keys}
                              for rules, keys in _by_number(notes.together())],
        "not_of_this_system": [{
            "key": doubt.key, "why": doubt.why,
            "event": _plain(doubt.event) if doubt.event else None} for doubt in notes.foreign],
    }


def _plain(event: Event) -> dict[str, Any]:
    return {name: value for name, value in event._asdict().items() if value not in (None, "")}
