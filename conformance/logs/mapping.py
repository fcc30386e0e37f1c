"""The mapping file: which column of a log is which field of an event, and what its values mean.

Its shape is ``mapping.schema.json``, which editors can use; what is wrong is said with file, line
and column, as for a design.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...spec.design.reading.schema import suggest
from ...spec.design.reading.source import NOWHERE, Node, Spot, parse
from ...spec.notation.errors import InputError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["NANOSECONDS", "Mapped", "Operation", "of_recorder", "plain", "read_mapping"]

NANOSECONDS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000,
                      "iso": 1_000_000_000}
"""By unit of time, its nanoseconds."""

Columns = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Operation:
    """The meaning of one value of the column of operations: an operation of the suite; the rest
    replaces what the mapping says of all."""

    is_: str
    phase: str = ""
    result: str = ""
    only: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True)
class Mapped:
    """A mapping, checked. ``tolerance`` is in nanoseconds; ``operations`` None: they are named as
    the suite names them. ``where`` has, by operation of the file, its line."""

    columns: Columns = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    operations: Mapping[str, Operation] | None = None
    others: str = "error"
    phases: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    order: str = "file"
    unit: str = "ns"
    tolerance: int = 0
    failed: str = "unknown"
    begins: str = "start"
    settings: Mapping[str, int] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)


def plain() -> Mapped:
    """The mapping of a log with columns that are named as the fields of an event."""
    return Mapped()


def of_recorder(mapped: Mapped, header: Mapping[str, Any]) -> Mapped:
    """A mapping, for what the recorder wrote: ordered by one machine's clock, as its header says.
    """
    return replace(mapped, order="time", unit=str(header.get("unit", "ns")), tolerance=0)


def read_mapping(path: Path, operations: Sequence[str]) -> Mapped:
    """The mapping in a file, for a suite with some ``operations``.

    Raises ``InputError`` with file, line and column for anything that does not fit the schema or
    names an operation that the suite has not.
    """
    text = _text(path)
    root = parse(text, str(path))
    _check(root, str(path))
    document: Mapping[str, Any] = root.plain() or {}
    time = document.get("time", {})
    unit = time.get("unit", "ns")
    found = Mapped(
        columns=_columns(document.get("columns", {})),
        constants=document.get("constants", {}),
        operations=({name: _operation(each) for name, each in document["operations"].items()}
                    if "operations" in document else None),
        others=document.get("others", "error"), phases=document.get("phases", {}),
        results=document.get("results", {}), only=document.get("only", {}),
        order=document.get("order", "file"), unit=unit,
        tolerance=round(time.get("tolerance", 0) * NANOSECONDS[unit]),
        failed=document.get("failed", "unknown"), begins=document.get("begins", "start"),
        settings=document.get("settings", {}), where=_lines(root, path))
    for name, operation in (found.operations or {}).items():
        if operation.is_ not in (*operations, "ignore"):
            raise InputError(
                f"the suite has no operation {operation.is_!r}", found.where[name],
                suggest(operation.is_, operations) or f"It has {', '.join(operations)}; or write "
                "ignore.")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("this is no UTF-8 text", str(path),
                         "Give a mapping in YAML; docs/logs.md has one.") from None


def _columns(given: Mapping[str, Any]) -> Columns:
    return {name: tuple([column] if isinstance(column, str) else column)
            for name, column in given.items()}


def _operation(given: str | Mapping[str, Any]) -> Operation:
    if isinstance(given, str):
        return Operation(given)
    return Operation(given["is"], given.get("phase", ""), given.get("result", ""),
                     given.get("only", {}), _columns(given.get("columns", {})))


def _lines(root: Node, path: Path) -> Mapping[str, str]:
    """By operation of the file, ``file:line:column``."""
    node = root.value.get("operations") if isinstance(root.value, dict) else None
    spots = (node.key_spots or {}) if isinstance(node, Node) else {}
    return {name: f"{path}:{spot}" for name, spot in spots.items()}


@cache
def _schema() -> Mapping[str, Any]:
    text = (Path(__file__).parent / "mapping.schema.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def _check(root: Node, file: str) -> None:
    """Raise ``InputError`` for the first thing that does not fit the schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(_schema()).iter_errors(root.plain()))
    if error is not None:
        what, spot, step = _problem(root, error)
        raise InputError(what, f"{file}:{spot}", step)


def _problem(root: Node, error: ValidationError) -> tuple[str, Spot, str]:
    """The problem in words, its place, and advice."""
    node, spot, path = root, root.spot, list(error.absolute_path)
    for part in path:
        spot = (node.key_spots or {}).get(str(part), spot)
        node = node.value[part]
        spot = spot if spot is not NOWHERE else node.spot
    called = repr(".".join(map(str, path))) if path else "the mapping"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(error.schema.get("properties", {}))
        for name in error.instance:
            if name not in known:
                there = (node.key_spots or {}).get(name, spot)
                return (f"{called} has the unknown key {name!r}", there,
                        suggest(name, known) or f"Its keys are {', '.join(known)}.")
    if error.validator == "enum":
        return (f"{called} is {error.instance!r}", spot,
                f"Write one of {', '.join(map(str, error.schema['enum']))}.")
    if error.validator == "required":
        return f"{called} lacks a key: {error.message}", spot, "Add it."
    return (f"{called} does not fit: {error.message[:200]}", spot,
            "docs/logs.md lists what it takes.")
