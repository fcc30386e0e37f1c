"""The findings in a log as rows of a table, and the answer made of such rows again.

A row is a finding (*violated*), a rule that is not judged at a key (*unknown*), or an event that no
log of the system has (*foreign*). Rows of counts carry what is only added up; a table that is
written for people has none. Both engines make the same rows of the same log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ...spec.engines.monitor import Failure
from ..computer.places import from_root
from .events import Event
from .kinds import Logs
from .notes import Doubt, Finding, Notes
from .run import Judged

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS", "COUNTS", "arrow_schema", "count_of", "counts_of", "judged_of", "rows_of",
           "spark_schema"]

COLUMNS: Final[Mapping[str, type]] = {
    "found": str, "rule": str, "key": str, "file": str, "line": int, "time": int, "process": str,
    "operation": str, "phase": str, "item": str, "value": int, "result": str, "allowed": str,
    "needed": str, "rule_is_at": str, "event": str, "history": str, "before": str, "times": int,
}
"""The columns with their types. ``item`` is as text; ``event``, ``history`` and ``before`` are
JSON; ``allowed`` is what could have been instead, or why it is not judged."""

COUNTS: Final = "count"
"""In the column ``found``: a row of a number, and no finding."""

_TOGETHER: Final = "together"
"""In the column ``key`` of a count: keys that break the rules in the column ``rule``, with commas
between them, and no others."""

_FIELDS: Final = ("key", "process", "operation", "phase", "item", "value", "place", "time",
                  "result", "file", "line")

Row = dict[str, Any]


def arrow_schema() -> pa.Schema:
    """The columns in Arrow's words."""
    import pyarrow as pa

    kinds = {str: pa.string(), int: pa.int64()}
    return pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])


def spark_schema() -> str:
    """The columns in Spark's words."""
    kinds = {str: "string", int: "bigint"}
    return ", ".join(f"`{name}` {kinds[kind]}" for name, kind in COLUMNS.items())


def rows_of(notes: Notes) -> Iterator[Row]:
    """The rows of all that was noted; ``notes.doubts`` has to be a list."""
    for each in notes.findings:
        yield _row("violated", each.rule, each.key, each.event, allowed=each.allowed,
                   needed=each.failure.conjunct, rule_is_at=from_root(each.failure.where),
                   history=_written(each.history), before=_written(each.before))
    for rule, doubt in notes.doubts or ():
        yield _row("unknown" if rule else "foreign", rule, doubt.key, doubt.event,
                   allowed=doubt.why)


def _row(found: str, rule: str, key: str, event: Event | None, **more: str) -> Row:
    row: Row = {**dict.fromkeys(COLUMNS), "found": found, "rule": rule, "key": key, "times": 1,
                **more}
    if event is not None:
        row |= {name: getattr(event, name) for name in (
            "file", "line", "time", "process", "operation", "phase", "value", "result")}
        row["item"] = None if event.item is None else str(event.item)
        row["event"] = _written([event])
    return row


def count_of(name: str, times: int = 1, **more: str) -> Row:
    """The row of one count, with ``more`` columns."""
    return {**dict.fromkeys(COLUMNS), "found": COUNTS, "key": name, "times": times, **more}


def counts_of(judged: Judged) -> Iterator[Row]:
    """The rows of counts: events, keys and the like, how often each rule was at stake, and the
    reason for what is not shown."""
    notes = judged.notes
    for name, times in (("events", judged.events), ("keys", judged.keys), ("gaps", judged.gaps),
                        ("ignored", judged.ignored)):
        yield count_of(name, times)
    for rule, times in notes.exercised().items():
        yield count_of("exercised", times, rule=rule)
    for rules, times in notes.together().items():
        yield count_of(_TOGETHER, times, rule=",".join(rules))
    for rule, why in notes.not_shown.items():
        yield count_of("not shown", rule=rule, allowed=why)


def judged_of(rows: Iterable[Mapping[str, Any]], logs: Logs, by_time: bool) -> Judged:
    """The answer of rows, of which each stands for ``times`` like it."""
    notes = Notes()
    found = Judged(notes, by_time=by_time)
    rules = {rule.id: rule for machine in logs.machines for rule in machine.rules_declared} | {
        rule.id: rule for rule in logs.rules}
    for row in rows:
        kind, times, rule = row["found"], row["times"], row["rule"]
        event = next(_read(row["event"]), None) if row["event"] else None
        if kind == COUNTS:
            _counts(found, row)
        elif kind == "violated":
            assert event is not None
            each = Finding(
                rule, row["key"], event,
                Failure(rules[rule], row["needed"], row["rule_is_at"] or "", "", 0),
                row["allowed"], tuple(_read(row["history"])), tuple(_read(row["before"])))
            notes.findings.append(each)
            notes.violations[rule] += times
            notes.alike[each.cause] += times
        elif kind == "unknown":
            notes.unknown_keys[rule] += times
            notes.unknown.setdefault(rule, []).append(Doubt(row["key"], row["allowed"], event))
        else:
            notes.foreign_total += times
            notes.foreign.append(Doubt(row["key"], row["allowed"], event))
    return found


def _counts(found: Judged, row: Mapping[str, Any]) -> None:
    name, times = row["key"], row["times"]
    if name == "exercised":
        found.notes.times[row["rule"]] += times
    elif name == _TOGETHER:
        found.notes.sets[tuple(row["rule"].split(","))] += times
    elif name == "not shown":
        found.notes.not_shown[row["rule"]] = row["allowed"]
    else:
        setattr(found, name, getattr(found, name) + times)


def _written(events: Iterable[Event]) -> str:
    return json.dumps([{name: value for name in _FIELDS
                        if (value := getattr(event, name)) not in (None, "")}
                       for event in events], ensure_ascii=False)


def _read(text: str) -> Iterator[Event]:
    for each in json.loads(text):
        yield Event(**{"key": "", "process": "", **each})
