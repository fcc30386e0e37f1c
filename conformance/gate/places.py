"""The places to look at for a row: in a design's file, in the code of a target, in a list."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from checkvalve.spec.notation.errors import InputError

from .report import Place

if TYPE_CHECKING:
    from checkvalve.spec.design.reading.language import Design
    from checkvalve.spec.design.reading.source import Spot
    from checkvalve.spec.design.why.blocked import Blocked
    from checkvalve.spec.design.why.findings import Finding

__all__ = ["near", "place_in_design", "place_of_target", "place_written"]

_WHERE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)(?::(?P<column>\d+))?)?")


def near(path: Path) -> str:
    """The path from the current folder, if it is below that; else the whole path."""
    relative = os.path.relpath(path)
    return (path.resolve() if relative.startswith("..") else Path(relative)).as_posix()


def place_written(where: str, base: Path) -> Place | None:
    """The place that an error names as ``file:line:column``; None where there is no such file.
    The file may be named from ``base``."""
    found = _WHERE.fullmatch(where)
    if found is None:
        return None
    for path in (Path(found["file"]), base / found["file"]):
        if path.is_file():
            return Place(near(path), int(found["line"] or 1), int(found["column"] or 1))
    return None


# --- designs --------------------------------------------------------------------------------------

def place_in_design(design: Design, finding: Finding) -> Place:
    """The place of the step or link that closes the cycle of waits: of those in it the last one in
    the file. Without a cycle it is the place of the design's name.

    A file of another format has no places: the first line stands for it.
    """
    from checkvalve.spec.design.why.cycles import round_of

    file = near(Path(design.file))
    spots = [spot for wait in round_of(finding.cycle) if (spot := _spot_of(design, wait))]
    spot = max(spots, default=design.spot)
    return Place(file, *spot) if spot.line else Place(file)


def _spot_of(design: Design, wait: Blocked) -> Spot | None:
    """The spot of the step at which a task waits, if it has but one there; else of the link or the
    pool."""
    from checkvalve.spec.design.reading.language import StepKind
    from checkvalve.spec.design.why.blocked import FRONT

    kinds = {"room": StepKind.WRITE, "data": StepKind.READ, FRONT: StepKind.READ,
             "a permit": StepKind.ACQUIRE, "a thread": StepKind.ACQUIRE,
             "an acquire": StepKind.RELEASE}
    task = design.tasks.get(wait.task)
    links = design.called(wait.where)
    names = {wait.where, *(link.name for link in links)}
    steps = {step.spot for step in (task.actions if task else ())
             if step.target in names and step.kind is kinds.get(wait.what)}
    entries = [*(steps if len(steps) == 1 else ()), *(link.spot for link in links),
               *(pool.spot for pool in (design.pools.get(wait.where),) if pool)]
    return next((spot for spot in entries if spot.line), None)


# --- targets --------------------------------------------------------------------------------------

def place_of_target(target: str, base: Path) -> Place | None:
    """The place of the class or factory that a target names, if its module is below ``base``; of a
    ``command:`` the first word that is a file there. Nothing is imported."""
    from ..foreign.place import is_named, place_of

    if target.startswith("command:"):
        words = target.removeprefix("command:").split()
        files = [base / word for word in words if (base / word).is_file()]
        return Place(near(files[0])) if files and _is_below(files[0], base) else None
    if not is_named(target):
        return None
    try:
        named = place_of(target)
    except InputError:
        return None
    stem = base.joinpath(*named.module.split("."))
    path = next((path for path in (stem.with_suffix(".py"), stem / "__init__.py")
                 if path.is_file()), None)
    return None if path is None else _definition(path, named.attributes.split("."))


def _is_below(path: Path, base: Path) -> bool:
    return path.resolve().is_relative_to(base.resolve())


def _definition(path: Path, names: list[str]) -> Place:
    """The place of what a module defines; its first line where that cannot be seen."""
    here = Place(near(path))
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return here
    for name in names:
        found = next((node for node in body if isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name),
            None)
        if found is None:
            return here
        here, body = Place(here.file, found.lineno, found.col_offset + 1), found.body
    return here
