"""A report as SARIF 2.1.0, the form in which code hosts show findings at their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from checkvalve.spec.design.reading.properties import (
    BOUNDED, DEADLOCK_FREE, LIVE, NO_DUPLICATES, NO_FAILURE, NO_LOCAL_DEADLOCK, NO_LOSS,
    NO_STARVATION, ORDERED, fact,
)

from .report import Judgement, Place, Report, Row

__all__ = ["MEANINGS", "sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

MEANINGS: Final[Mapping[str, str]] = {
    DEADLOCK_FREE: "In every reachable state in which work is left, some task can take a step.",
    NO_LOCAL_DEADLOCK: "No task is blocked forever while others continue.",
    BOUNDED: "No queue grows without bound.",
    ORDERED: "Elements of one sender arrive in the order in which they were sent.",
    NO_DUPLICATES: "No element is processed twice.",
    NO_LOSS: "Every element that a source produced is processed eventually or is still in a queue.",
    NO_FAILURE: "No task fails for lack of a free slot.",
    LIVE: "Whatever happens, each task can still take a step later.",
    NO_STARVATION: "The task takes a step again and again.",
}
"""By property of a design, what it promises; docs/glossary.md has the same."""

_LEVELS: Final[Mapping[Judgement, str]] = {
    "violated": "error", "error": "error", "unknown": "warning"}
"""The judgements that make a result, and their levels; that of a SHOULD is *warning*."""


def sarif(report: Report, command: str = "gate") -> str:
    """The SARIF document of a run of ``command``: a result for each row that is not as it should
    be, at its place."""
    rows = [row for row in report.rows if row.judgement in _LEVELS]
    rules: dict[str, dict[str, Any]] = {}
    for row in rows:
        rules.setdefault(_id(row), _rule(row))
    order = list(rules)
    # What a baseline lists, or there was before, is no result: all that is left is new.
    state = {"baselineState": "new"} if report.compared else {}
    document = {
        "$schema": _SCHEMA, "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "checkvalve", "version": version("checkvalve"),
                                "rules": list(rules.values())}},
            "automationDetails": {"id": f"checkvalve {command}/"},
            "invocations": [{"executionSuccessful": report.verdict != "error",
                             "exitCode": report.exit_code}],
            "columnKind": "unicodeCodePoints",
            "results": [{**_result(row, order.index(_id(row))), **state} for row in rows],
        }],
    }
    return json.dumps(document, indent=2) + "\n"


def _id(row: Row) -> str:
    """The id of a row's rule: a property without the task that it is about, a rule's own id."""
    if row.section == "designs":
        name, _, _ = row.property.partition(": ")
    else:
        name = row.property
    return re.sub(r"[^\w.+-]+", "-", name).strip("-") or "row"


def _rule(row: Row) -> dict[str, Any]:
    """The entry of a row's rule in SARIF's list: what it says, and where to read more."""
    details = row.details
    if row.section == "designs" and _id(row) in MEANINGS:
        short = MEANINGS[_id(row)]
        more = (f"If it is broken, `checkvalve check` finds {_fact(row)}. The result has the "
                "counterexample, the tasks that wait, and a fix where one was found.")
    elif "statement" in details:
        short = str(details["statement"])
        more = (f"{details['strength']}. Source: {details['source']}. "
                f"`checkvalve rules {row.property}` shows where the rule is used.")
    else:
        short = f"{row.property}: {row.expected}"
        more = "The message of the result says what happened, and what to do next."
    return {"id": _id(row), "shortDescription": {"text": short},
            "fullDescription": {"text": short}, "help": {"text": f"{short} {more}"}}


def _fact(row: Row) -> str:
    name, _, task = row.property.partition(": ")
    return fact(row.property) if task or name != NO_STARVATION else "starvation"


def _result(row: Row, rule: int) -> dict[str, Any]:
    level = _LEVELS[row.judgement]
    if row.judgement == "violated" and row.details.get("strength") == "SHOULD":
        level = "warning"
    head = f"{row.subject}: {row.claim()}, expected: {row.wanted()}. {row.message}".rstrip()
    place = [] if row.place is None else [{"physicalLocation": _location(row.place)}]
    known_by = "\n".join((row.section, row.subject, row.property))
    return {
        "ruleId": _id(row), "ruleIndex": rule, "level": level,
        "message": {"text": "\n".join((head, *row.story))}, "locations": place,
        "partialFingerprints": {"checkvalveRow/v1": sha256(known_by.encode(
            "utf-8", "surrogatepass")).hexdigest()},
    }


def _location(place: Place) -> dict[str, Any]:
    path = Path(place.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return {"artifactLocation": {"uri": uri},
            "region": {"startLine": place.line, "startColumn": place.column}}
