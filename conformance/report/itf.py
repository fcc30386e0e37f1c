"""Counterexamples in the Informal Trace Format, which viewers of TLA+ and Quint read.

One state a step, from the initial state on. A number is ``{"#bigint": "…"}``, contents by name
are a ``#map``, a tuple is a ``#tup``; ``#meta`` of a state has its number. The variable ``step``
says what led to the state.

Source: Apalache, ADR 015, Informal Trace Format in JSON (2022).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkvalve.spec.notation.expr import Bool, Int, Queue, Record

from ..computer.files import write_whole
from .runs import run_of

if TYPE_CHECKING:
    from checkvalve.spec.design.why.findings import DesignReport, Finding
    from checkvalve.spec.notation.expr import SlotType
    from checkvalve.spec.notation.model import Value
    from checkvalve.spec.verdicts.deadline import Deadline
    from checkvalve.spec.verify import Row

    from ..campaigns.replay import Replay
    from ..suites.fixture import Fixture

__all__ = [
    "MOST_STATES", "SUFFIX", "itf_of_finding", "itf_of_replay", "itf_of_row", "write_findings",
    "write_replay", "write_rows",
]

MOST_STATES = 10_000
"""Steps of a counterexample that a file has; of a longer one it has so many from the beginning."""
MOST_NUMBERS = 200_000
"""Numbers in all states of a file together: of a design with many places it has fewer steps."""

SUFFIX = ".itf.json"

Itf = dict[str, Any]

_START = "the start"


def write_findings(folder: Path, report: DesignReport, deadline: Deadline) -> list[Path]:
    """Write each counterexample of a design into a folder, one file each; their paths. Raises
    Spent where that takes longer than the ``deadline``."""
    watch = deadline.watch("writing down the states")
    return [_write(folder, f"{report.design.name}-{finding.name}", found)
            for finding in report.findings
            if (found := itf_of_finding(report, finding, watch)) is not None]


def write_rows(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write the first counterexample of each rule of each machine into a folder; their paths."""
    first: dict[str, Row] = {}
    for row in rows:
        if row.verdict.trace is not None:
            first.setdefault(f"{row.chapter}.{row.machine}-{row.rule}".replace("..", "."), row)
    return [_write(folder, name, itf_of_row(row)) for name, row in first.items()]


def write_replay(folder: Path, fixture: Fixture, found: Replay, source: str) -> list[Path]:
    """Write a replay that breaks a rule into a folder; its path, in a list that is else empty."""
    document = itf_of_replay(fixture, found, source)
    if document is None or found.breach is None:
        return []
    return [_write(folder, f"{fixture.suite}-{found.target}-{found.breach.rule.id}", document)]


def _write(folder: Path, name: str, document: Itf) -> Path:
    safe = "".join(each if each.isalnum() or each in "-_." else "-" for each in name)
    path = folder / f"{safe}{SUFFIX}"
    write_whole(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return path


def itf_of_finding(
    report: DesignReport, finding: Finding, watch: Callable[[], None] = lambda: None
) -> Itf | None:
    """The counterexample of a finding; None where there is none, or where its contents are not
    known step by step. ``watch`` is called for each state, and may raise."""
    if finding.outcome.value != "violated" or not (finding.length or finding.waits):
        return None
    run = run_of(report.design, finding, None, watch)
    if not run["known"]:
        return None
    roles = {"queue": "queues", "pool": "pools"}
    groups = dict.fromkeys(roles.get(place["role"], "others") for place in run["places"])
    states = []
    most = min(MOST_STATES, max(1, MOST_NUMBERS // max(1, len(run["places"]))))
    for label, held in islice(_markings(run), most + 1):
        watch()
        states.append({"step": label, **{group: {"#map": [
            [place["of"] if group != "others" else place["name"], _number(number)]
            for place, number in zip(run["places"], held, strict=True)
            if roles.get(place["role"], "others") == group]} for group in groups}})
    return _document(f"{report.design.name}: {finding.name}", report.design.file, states,
                     run["loop"], max(run["length"], len(run["steps"])), most)


def _markings(run: Mapping[str, Any]) -> Iterator[tuple[str, list[int]]]:
    """Each state: the step that led to it, and the numbers that are then in the places."""
    held = [place["start"] for place in run["places"]]
    yield _START, list(held)
    for number in run["steps"]:
        move = run["moves"][number]
        for _, changes in move["acts"]:
            for place, by in changes:
                held[place] += by
        yield move["label"], list(held)


def itf_of_row(row: Row) -> Itf:
    """The counterexample of a promise of a chapter; its constants are in ``#meta``."""
    trace = row.verdict.trace
    assert trace is not None
    kinds = {name: slot.type for name, slot in row.slots.items()}

    def state(label: str, values: Mapping[str, Value]) -> dict[str, Any]:
        return {"step": label} | {name: _value(value, kinds.get(name))
                                  for name, value in values.items()}

    states = [state(_START, trace.initial),
              *(state(step.label, step.state) for step in trace.steps[:MOST_STATES])]
    document = _document(f"{row.chapter}.{row.machine} {row.rule}", "", states, trace.loop,
                         len(trace.steps))
    document["#meta"]["constants"] = dict(row.constants)
    return document


def itf_of_replay(fixture: Fixture, found: Replay, source: str) -> Itf | None:
    """The run of a fixture that breaks a rule, up to there; None where it breaks none. A state has
    the last request and its reply as they were said, and in the last one the rule that is broken
    and what was allowed."""
    breach = found.breach
    if breach is None:
        return None
    length = breach.step + 1

    def state(label: str, request: Any, reply: Any, *, broken: bool = False) -> dict[str, Any]:
        return {"step": label, "request": _said(request), "reply": _said(reply),
                "broken": breach.rule.id if broken else "",
                "allowed": [*breach.allowed] if broken else []}

    said = zip(found.words[:length], fixture.requests, found.replies, strict=False)
    states = [state(_START, {}, {}), *islice(
        (state(words, request, reply, broken=number == length)
         for number, (words, request, reply) in enumerate(said, start=1)), MOST_STATES)]
    document = _document(f"{breach.rule.id} on {found.target}", source, states, None, length)
    document["#meta"]["settings"] = dict(fixture.document["settings"])
    return document


def _said(message: Any) -> Any:
    """A message, or a part of one: numbers are numbers of the format, and what it has no value for
    is text."""
    if isinstance(message, Mapping):
        return {key.lstrip("#") or "_": _said(value) for key, value in message.items()}
    if isinstance(message, list | tuple):
        return [_said(value) for value in message]
    if isinstance(message, bool | str):
        return message
    return _number(message) if isinstance(message, int) else json.dumps(message)


def _document(what: str, source: str, states: list[dict[str, Any]], loop: int | None,
              length: int, most: int = MOST_STATES) -> Itf:
    """A counterexample in the Informal Trace Format, cut off after so many steps; a loop is left
    out that begins beyond."""
    if loop is not None and length > most:
        loop = None  # the file ends before the steps that repeat
    if loop is not None and loop < len(states) - 1 and _same(states[loop], states[-1]):
        states = states[:-1]  # what follows the last is the one at the loop
    described = what if length <= most else f"{what}; the first {most} of {length} steps"
    document: Itf = {
        "#meta": {"format": "ITF", "format-description":
                  "https://apalache-mc.org/docs/adr/015adr-trace.html",
                  "description": described, "source": source},
        "vars": list(states[0]),
        "states": [{"#meta": {"index": index}, **state} for index, state in enumerate(states)]}
    return document if loop is None else {**document, "loop": loop}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one[name] == other[name] for name in one if name != "step")


def _number(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


def _value(value: Value, kind: SlotType | None) -> Any:
    """A value of a slot: a queue is a list, a record an object, a named number its name."""
    if isinstance(kind, Queue) and isinstance(value, tuple):
        return [_value(item, kind.element) for item in value]
    if isinstance(kind, Record) and isinstance(value, tuple):
        return {name: _value(item, of)
                for (name, of), item in zip(kind.fields, value, strict=True)}
    if isinstance(kind, Bool) or isinstance(value, bool):
        return bool(value)
    if isinstance(value, tuple):
        return {"#tup": [_value(item, None) for item in value]}
    if isinstance(kind, Int) and kind.names and isinstance(value, int):
        return kind.names[value]
    return _number(int(value))
