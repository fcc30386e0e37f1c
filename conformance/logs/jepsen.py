"""Histories of Jepsen: EDN (history.edn) or JSON, one operation after the other.

An invocation is the begin of a call; *ok* is its end; *fail* is the end of one that did not happen;
*info* is one that may still happen, and its process is not heard of again. What is not done by a
client (the nemesis) is left out. With ``independent`` values, [key value], each key is judged by
itself. A drain takes several items in one call: each is a take of its own over the whole of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...spec.notation.errors import InputError
from .events import in_line
from .edn import forms

__all__ = ["MEANINGS", "rows"]

MEANINGS: Final[Mapping[str, Sequence[str]]] = {
    "enqueue": ("put",), "dequeue": ("take",), "drain": ("take",), "acquire": ("acquire",),
    "release": ("release",)}
"""By operation of Jepsen's own workloads, those of suites."""

_PHASES: Final = {"invoke": "begin", "ok": "end", "fail": "end", "info": "end"}
_RESULTS: Final = {"ok": "ok", "fail": "failed", "info": "unknown"}
_EMPTY: Final = ("empty", "exhausted", "not-found", "timeout-empty")

Row = dict[str, Any]
Rows = Iterator[tuple[int, Row]]


def rows(path: Path) -> Rows:
    """The rows of a history, in its order. Raises ``InputError`` with file and line."""
    waiting: list[tuple[int, Row]] = []     # since a drain began that has not ended
    drains: dict[str, int] = {}
    for line, operation in _operations(path):
        row = _row(operation, str(path), line)
        if row is None:
            continue
        drain = row["operation"] == "drain"
        if drain and row["phase"] == "begin":
            drains[row["process"]] = len(waiting)
        if not drains:
            yield line, row
            continue
        waiting.append((line, row))
        if drain and row["phase"] == "end":
            at = drains.pop(row["process"], None)
            waiting = _expanded(waiting, at, str(path))
            if not drains:
                yield from waiting
                waiting = []
            else:
                drains = {process: next(place for place, (_, each) in enumerate(waiting) if (
                    each["operation"], each["process"], each["phase"]) == ("drain", process,
                                                                           "begin"))
                          for process in drains}
    yield from ((line, row) for line, row in waiting if row["operation"] != "drain")


def _expanded(waiting: list[tuple[int, Row]], at: int | None, file: str
              ) -> list[tuple[int, Row]]:
    """The rows with the drain that ends last as takes; one that failed took nothing that is
    known."""
    line, end = waiting[-1]
    if at is None:
        raise in_line("a drain ends that has not begun", file, line, "Copy the whole history.")
    items = end["item"] if isinstance(end["item"], list) else []
    takes = [{**end, "item": None, "call": number} for number, _ in enumerate(items)]
    begins = [(waiting[at][0], {**take, "phase": "begin", "result": None,
                                "time": waiting[at][1]["time"]}) for take in takes]
    ends = [(line, {**take, "item": item, "result": "ok"})
            for take, item in zip(takes, items, strict=True)]
    return [*waiting[:at], *begins, *waiting[at + 1:-1], *ends]


def _operations(path: Path) -> Iterator[tuple[int, Any]]:
    """The operations of a history with their lines, of EDN or of JSON lines. Raises
    ``InputError``."""
    try:
        with path.open(encoding="utf-8") as lines:
            if path.suffix == ".edn":
                yield from forms(lines, str(path))
                return
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield number, json.loads(line)
                    except ValueError as error:
                        raise in_line(f"this is not JSON: {error}", str(path), number,
                                      "Give a history with one operation a line, or .edn."
                                      ) from None
    except UnicodeDecodeError:
        raise InputError("this file is no UTF-8 text", str(path), "Save it as UTF-8.") from None


def _row(operation: Any, file: str, line: int) -> Row | None:
    """The fields of one operation; None for the nemesis. A value of two, as independent keys write
    it, is a key and a value."""
    if not isinstance(operation, dict) or not {"type", "f", "process"} <= operation.keys():
        raise in_line("this is no operation of Jepsen's: it needs :type, :f and :process", file,
                      line, "Give history.edn of a test.")
    kind, process, value = operation["type"], operation["process"], operation.get("value")
    if not isinstance(process, int):
        return None     # the nemesis, or Jepsen's own log
    if kind not in _PHASES:
        raise in_line(f"the type of this operation is {str(kind)[:40]!r}", file, line,
                      f"It is one of {', '.join(_PHASES)}.")
    key = operation.get("key", "history")
    name = operation["f"]
    if isinstance(value, list) and len(value) == 2 and name != "drain":
        key, value = value
    failed = _RESULTS.get(kind)
    if kind == "fail" and name == "dequeue" and _says_empty(operation.get("error")):
        failed = "empty"
    return {"key": str(key), "process": str(process), "operation": str(name),
            "phase": _PHASES[kind], "item": value, "result": failed,
            "time": operation.get("time"), "call": None}


def _says_empty(error: Any) -> bool:
    first = error[0] if isinstance(error, list) and error else error
    return first in _EMPTY
