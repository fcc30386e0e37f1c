"""The survey: how long each killer takes, and which functions it reaches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Final

from checkvalve.spec.notation.errors import InputError, InternalError

from ...files import write_whole
from .child import SUITE, survey
from .modules import ELSEWHERE
from .operators import Mutant
from .stand import fork, lines_of
from .tree import Project, Tree

__all__ = ["Survey", "killers_of", "read_survey", "renew"]

class _Reach(IntEnum):
    """Whether a killer reaches the function of a mutant."""

    SURELY = 0
    PERHAPS = 1


_LIKE_ALL: Final = "suites"
"""Stands for the digest of the suites, which are surveyed again only when that is asked for."""


@dataclass
class Survey:
    """``seconds`` of processor time by killer, ``reached`` functions by killer, ``digests`` of
    the test files at the time, and ``useless``: killers that fail, are skipped or too slow on
    the text as it is. ``took`` has the processor time of the survey itself, by test file."""

    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, list[str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    useless: list[str] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)

    def forget(self, file: str) -> None:
        """Drop what is known of the tests of a file."""
        self.digests.pop(file, None)
        for killer in [one for one in self.seconds if _file_of(one) == file]:
            del self.seconds[killer], self.reached[killer]
        self.useless = [one for one in self.useless if _file_of(one) != file]


def read_survey(path: Path) -> Survey:
    """The survey that was written there; an empty one if none was."""
    try:
        return Survey(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Survey()


def renew(
    known: Survey, tree: Tree, suites: Mapping[str, str], files: Iterable[Path], path: Path,
    say: Callable[[str], None],
) -> None:
    """Survey the suites, if they were not yet, and the test files that are new or changed.

    Written to ``path`` after each, so that a survey that was stopped goes on.
    """
    root = tree.project.root
    for name, files_of_it, digest in _units(tree.project, suites, files):
        if known.digests.get(name) == digest:
            continue
        known.forget(name)
        killers = [f"{SUITE}{target}@{suite}" for target, suite in suites.items()]
        known.took[name] = _survey_unit(
            known, tree, killers if name == _LIKE_ALL else [],
            [str(file.relative_to(root)) for file in files_of_it])
        known.digests[name] = digest
        say(f"surveyed {name}: {sum(_file_of(one) == name for one in known.seconds)} killers")
        write_whole(path, json.dumps(vars(known)))


def _units(
    project: Project, suites: Mapping[str, str], files: Iterable[Path]
) -> list[tuple[str, list[Path], str]]:
    units: list[tuple[str, list[Path], str]] = []
    if suites:
        units.append((_LIKE_ALL, [], " ".join(suites)))
    for file in files:
        name = file.relative_to(project.root).as_posix()
        units.append((name, [file], project.digest(file)))
    return units


def _survey_unit(known: Survey, tree: Tree, suites: Sequence[str], files: Sequence[str]) -> float:
    """Survey the suites, or some files; the processor time that it took."""
    process, pipe = fork(tree, lambda say: survey(tree, suites, files, say))
    done = False
    for line in lines_of(pipe):
        done = done or "done" in line
        if "failed" in line:
            raise InputError(f"pytest cannot run {' '.join(files)}: {line['failed']}", "",
                             "Mend these tests first: no mutant is killed by broken ones.")
        if "killer" not in line:
            continue
        if line["passed"]:
            known.seconds[line["killer"]] = line["seconds"]
            known.reached[line["killer"]] = line["reached"]
        else:
            known.useless.append(line["killer"])
    _, _, used = os.wait4(process, 0)
    useless = [suite for suite in suites if suite not in known.seconds]
    if done and useless:
        raise InputError(f"these do not pass, or take too long: {', '.join(useless)}", "",
                         "Mend them first: a suite that fails anyway notices no mutant.")
    if not done:
        raise InternalError(f"the survey of {' '.join(files) or 'the suites'} ended early", "stand")
    return round(used.ru_utime + used.ru_stime, 2)


def _file_of(killer: str) -> str:
    return _LIKE_ALL if killer.startswith(SUITE) else killer.partition("::")[0]


def killers_of(
    mutant: Mutant, known: Survey, names: set[str], tests: Iterable[str], *, suites: bool,
    seconds: float,
) -> list[str]:
    """The killers that reach the function of a mutant: the suites, then tests of some files.

    Among each the fastest come first; of the tests as many as take ``seconds`` in all. A killer
    that was surveyed before functions of the module, whose ``names`` these are, were renamed may
    reach any of them, and comes after those that surely do.
    """
    module = f"{mutant.module}:"

    def reaches(killer: str, reached: Iterable[str]) -> _Reach | None:
        of_it = {name.removeprefix(module) for name in reached if name.startswith(module)}
        if mutant.function in of_it:
            return _Reach.SURELY
        renamed = {name for name in of_it - names if "<" not in name}
        return _Reach.PERHAPS if renamed or _file_of(killer) == ELSEWHERE.get(
            mutant.module) else None

    files = set(tests)
    reaching = sorted((found, known.seconds[one], one) for one, reached in known.reached.items()
                      if (found := reaches(one, reached)) is not None)
    chosen = [one for _, _, one in reaching if one.startswith(SUITE)] if suites else []
    left = seconds
    for _, cost, one in reaching:
        if _file_of(one) in files and cost <= left:
            chosen.append(one)
            left -= cost
    return chosen
