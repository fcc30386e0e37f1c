"""Names that have changed between two configurations: of files, of tasks, of targets.

A file that is listed under another name is the one with the most lines in common, if these are at
least half. A task is the same if the rest of the design fits: with its new name, the links are
those that there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Final

from checkvalve.spec.notation.errors import CheckvalveError

from .config import GateConfig

if TYPE_CHECKING:
    from checkvalve.spec.design.reading.language import Design

__all__ = ["Moves", "moves"]

ALIKE_LEAST: Final = 0.5
"""The part of the lines that two files have in common, from which on they count as one."""
COMPARED_MAX: Final = 2_000
"""Limit of the pairs of files that are compared."""


@dataclass(frozen=True)
class Moves:
    """By the subject of a row as it was, that of now, and by the name of a task, that of now."""

    subjects: Mapping[str, str]
    tasks: Mapping[str, Mapping[str, str]]


def moves(old: GateConfig, new: GateConfig) -> Moves:
    """All that has another name in the new configuration. The files of both are still there."""
    then, now = _files(old), _files(new)
    pairs = {name: name for name in then if name in now}
    pairs.update(_alike({name: then[name] for name in then if name not in now},
                        {name: now[name] for name in now if name not in then}))
    subjects = dict(_targets(old, new))
    tasks: dict[str, Mapping[str, str]] = {}
    for before, after in pairs.items():
        if before == after and _text(then[before]) == _text(now[after]):
            continue
        designs = _designs(then[before]), _designs(now[after])
        for name, design in designs[0].items():
            twin = designs[1].get(name)
            if twin is None and len(designs[0]) == len(designs[1]) == 1:
                twin = next(iter(designs[1].values()))
            if twin is None:
                continue
            subject = before if len(designs[0]) == 1 else f"{before} ({name})"
            current = after if len(designs[1]) == 1 else f"{after} ({twin.name})"
            tasks[subject] = renamed_tasks(design, twin)
            if subject != current:
                subjects[subject] = current
    return Moves(subjects, tasks)


def _files(config: GateConfig) -> dict[str, Path]:
    """The design files, by their names below the configuration."""
    base = config.path.parent
    files = [file for designs in config.designs for file in designs.files]
    return {(file.relative_to(base) if file.is_relative_to(base) else file).as_posix(): file
            for file in files}


def _alike(then: Mapping[str, Path], now: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Pairs of files, those with the most in common first, each file in one pair."""
    if len(then) * len(now) > COMPARED_MAX:
        return
    lines = {path: _text(path).splitlines() for path in (*then.values(), *now.values())}
    found = sorted(
        ((SequenceMatcher(None, lines[before], lines[after], autojunk=False).ratio(), name, other)
         for name, before in then.items() for other, after in now.items()), reverse=True)
    done: set[str] = set()
    for part, name, other in found:
        if part >= ALIKE_LEAST and not {f"then {name}", f"now {other}"} & done:
            done |= {f"then {name}", f"now {other}"}
            yield name, other


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _designs(path: Path) -> dict[str, Design]:
    from ..designs import load_designs

    try:
        return {design.name: design for design in load_designs(path)}
    except CheckvalveError:
        return {}


def _targets(old: GateConfig, new: GateConfig) -> Iterator[tuple[str, str]]:
    """Targets with a new name of the module and the old one of the class, if there is no doubt."""
    then, now = _subjects(old), _subjects(new)
    for (suite, attributes), before in then.items():
        after = now.get((suite, attributes), [])
        gone = [target for target in before if target not in after]
        come = [target for target in after if target not in before]
        if len(gone) == len(come) == 1:
            yield f"{suite} on {gone[0]}", f"{suite} on {come[0]}"


def _subjects(config: GateConfig) -> dict[tuple[str, str], list[str]]:
    """The targets, by their suite and the name within their module."""
    found: dict[tuple[str, str], list[str]] = {}
    for suite in config.suites:
        for target in suite.targets:
            if target.count(":") == 2:
                kind, _, attributes = target.split(":")
                found.setdefault((suite.suite, f"{kind}:{attributes}"), []).append(target)
    return found


def renamed_tasks(then: Design, now: Design) -> Mapping[str, str]:
    """By the name of a task then, that of now, for tasks with another name. Empty unless, with
    these, the links are those that there were."""
    gone = [name for name in then.tasks if name not in now.tasks]
    come = [name for name in now.tasks if name not in then.tasks]
    if len(gone) != len(come):
        return {}
    found = dict(zip(gone, come, strict=True))      # in the order of their files
    return found if _ends(then, found) == _ends(now, {}) else {}


def _ends(design: Design, names: Mapping[str, str]) -> Counter[tuple[Sequence[str], Sequence[str]]]:
    """The ends of all links: their writers and readers."""
    return Counter(
        (tuple(names.get(task, task) for task in link.writers),
         tuple(names.get(task, task) for task in link.readers))
        for link in design.links.values())
