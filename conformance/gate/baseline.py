"""Baselines: what a gate is not to fail for, because it is known.

A baseline is a JSON file with the rows that are accepted: their names, how grave they were, and the
cycles of waits that were possible; docs/schemas/baseline.json describes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.notation.errors import InputError

from .report import GRAVITY, Judgement, Key, Report, Row
from .cycles import cycles_of, is_new

__all__ = ["Baseline", "accepted", "baseline_of", "read_baseline"]

FORMAT: Final = "checkvalve-baseline"
VERSION: Final = 1
BYTES_MAX: Final = 16 << 20
_FIELDS: Final = ("section", "subject", "property")
_LISTED: Final[tuple[Judgement, ...]] = ("unknown", "violated")
"""The judgements that can be accepted; an error has to be repaired."""
_ADVICE: Final = "Give a file that `checkvalve gate --write-baseline FILE` wrote."


@dataclass(frozen=True)
class Baseline:
    """The entries of a baseline, by the names of their rows."""

    entries: Mapping[Key, Mapping[str, Any]]

    def accept(self, row: Row) -> Row:
        """The row, accepted if an entry lists it as grave as this and with its cycle of waits."""
        entry = self.entries.get(row.key)
        if entry is None or row.judgement not in _LISTED:
            return row
        if GRAVITY[row.judgement] > GRAVITY[entry["judgement"]]:
            return row
        if is_new(row.details, entry):
            return replace(row, message=f"{row.message} The baseline lists other cycles.".lstrip())
        return accepted(row, "the baseline lists it")

    def stale(self, rows: Sequence[Row]) -> list[Key]:
        """The entries that are not needed any more: the row is as it should be now, or nothing of
        that name is listed any more."""
        still = {row.key for row in rows
                 if row.judgement in (*_LISTED, "accepted", "follows")}
        there = {row.key for row in rows}
        # Of a subject that could not be run, nothing is known.
        unknown = {row.key[:2] for row in rows if row.judgement in ("error", "unavailable")}
        return sorted(key for key in self.entries if key not in still and (
            key in there or key[:2] not in unknown))


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file. Raises InputError for a file that is none."""
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", str(path), _ADVICE) from error
    if len(content) > BYTES_MAX:
        raise _bad("it is larger than 16 MiB", path)
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        raise _bad(f"it is not JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError):
        raise _bad("it is not JSON", path) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _bad(f'it has no "format": "{FORMAT}"', path)
    if document.get("version") != VERSION:
        raise _bad(f'its "version" is not {VERSION}, which this checkvalve reads', path)
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise _bad('"rows" is not a list', path)
    return Baseline(dict(_entry(row, number, path) for number, row in enumerate(rows)))


def _entry(row: Any, number: int, path: Path) -> tuple[Key, Mapping[str, Any]]:
    found = [row.get(field) for field in _FIELDS] if isinstance(row, dict) else []
    if len(found) != len(_FIELDS) or not all(isinstance(each, str) for each in found):
        raise _bad(f"rows[{number}] has not the texts {', '.join(_FIELDS)}", path)
    if row.get("judgement") not in _LISTED:
        raise _bad(f"rows[{number}] has no judgement: {' or '.join(_LISTED)}", path)
    cycles = row.get("possible", [])
    if not isinstance(cycles, list) or not all(
            isinstance(cycle, list) and all(isinstance(task, str) for task in cycle)
            for cycle in cycles):
        raise _bad(f"rows[{number}] has cycles that are not lists of tasks", path)
    section, subject, name = map(str, found)
    return (section, subject, name), row


def _bad(what: str, path: Path, line: int = 0) -> InputError:
    where = f"{path}:{line}" if line else str(path)
    return InputError(f"this is not a baseline: {what}", where, _ADVICE)


def baseline_of(report: Report) -> str:
    """The baseline that accepts all that a report has and should not have, but for errors."""
    rows = []
    for row in report.rows:
        judgement = row.details.get("accepted", row.judgement)
        if judgement in _LISTED:
            entry: dict[str, Any] = {**dict(zip(_FIELDS, row.key, strict=True)),
                                     "judgement": judgement}
            if row.details.get("around"):
                entry["possible"] = cycles_of(row.details)
            rows.append(entry)
    return json.dumps({"format": FORMAT, "version": VERSION, "rows": rows}, indent=2,
                      ensure_ascii=False) + "\n"


def accepted(row: Row, why: str) -> Row:
    """The row as one that does not count, with the reason; no action is asked for."""
    return replace(row, judgement="accepted", message=why, story=(), place=None,
                   details={**row.details, "accepted": row.judgement})
