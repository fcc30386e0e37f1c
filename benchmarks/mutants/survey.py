"""The survey: how long each killer takes, and which functions it reaches."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from checkvalve.conformance.campaigns.case import suite_version
from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.systems.catalogue import suite_named, system_of
from checkvalve.spec.notation.errors import InputError, InternalError

from .child import SUITE, survey
from .modules import ELSEWHERE
from .operators import Mutant
from .stand import fork, lines_of
from .tree import Project, Tree

__all__ = ["Survey", "killers_of", "read_survey", "renew", "shown_to"]

class _Reach(IntEnum):
    """Whether a killer reaches the function of a mutant."""

    SURELY = 0
    PERHAPS = 1


@dataclass
class Survey:
    """``seconds`` of processor time by killer, ``reached`` functions by killer, ``digests`` of
    the test files at the time, and ``useless``: killers that fail, are skipped or too slow on
    the text as it is. ``ran`` has, by suite, the lines of each module that its default run runs.
    ``took`` has the processor time of the survey itself, by test file or suite."""

    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, list[str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    useless: list[str] = field(default_factory=list)
    ran: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def runs(self, mutant: Mutant, source: str) -> bool:
        """Whether a line that a mutant changes, in the ``source`` of its module, is run in the
        default run of some suite."""
        lines = mutant.lines(source)
        return any(line in lines for ran in self.ran.values()
                   for line in ran.get(mutant.module, ()))

    def forget(self, file: str) -> None:
        """Drop what is known of a suite, or of the tests of a file."""
        self.ran.pop(file, None)
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
    """Survey the suites and the test files that are new or changed.

    Written to ``path`` after each, so that a survey that was stopped goes on.
    """
    root = tree.project.root
    for target, suite in suites.items():
        killer = f"{SUITE}{target}@{suite}"
        if known.digests.get(killer) == _rests_on(tree.project, known, killer):
            continue
        known.forget(killer)
        known.took[killer] = _survey_unit(known, tree, [killer], [])
        known.digests[killer] = _rests_on(tree.project, known, killer)
        say(f"surveyed {killer}: {known.seconds[killer]:.1f} s")
        write_whole(path, json.dumps(vars(known)))
    for file in files:
        name, digest = file.relative_to(root).as_posix(), tree.project.digest(file)
        if known.digests.get(name) == digest:
            continue
        known.forget(name)
        known.took[name] = _survey_unit(known, tree, [], [str(file.relative_to(root))])
        known.digests[name] = digest
        say(f"surveyed {name}: {sum(_file_of(one) == name for one in known.seconds)} killers")
        write_whole(path, json.dumps(vars(known)))


def shown_to(mutant: Mutant, known: Survey, names: set[str]) -> list[str]:
    """The suites that a mutant is shown to, each with what says which programs it runs."""
    killers = killers_of(mutant, known, names, (), suites=True, seconds=0)
    return sorted(f"{killer} {_version(killer)}" for killer in killers)


def _version(killer: str) -> str:
    """What says which programs the default run of a suite has."""
    suite = killer.rpartition("@")[2]
    return f"{suite_version(suite_named(suite))} {system_of(suite).cases}"


def _rests_on(project: Project, known: Survey, killer: str) -> str:
    """What the lines that a suite runs depend on: its programs, and the text of their modules."""
    texts = [project.source(module) for module in sorted(known.ran.get(killer, {}))]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    return f"{_version(killer)} {digest}"


def _survey_unit(known: Survey, tree: Tree, suites: Sequence[str], files: Sequence[str]) -> float:
    """Survey the suites, or some files; the processor time that it took."""
    process, pipe = fork(tree, lambda say: survey(tree, suites, files, say))
    done, why = False, {}
    for line in lines_of(pipe):
        done = done or "done" in line
        if "failed" in line:
            raise InputError(f"pytest cannot run {' '.join(files)}: {line['failed']}", "",
                             "Mend these tests first: no mutant is killed by broken ones.")
        if "ended" in line:
            why[line["ended"]] = line["why"]
        if "killer" not in line:
            continue
        if line["passed"]:
            known.seconds[line["killer"]] = line["seconds"]
            known.reached[line["killer"]] = line["reached"]
            if line["ran"]:
                known.ran[line["killer"]] = line["ran"]
        else:
            known.useless.append(line["killer"])
            why[line["killer"]] = line["why"]
    _, _, used = os.wait4(process, 0)
    useless = [suite for suite in suites if suite not in known.seconds]
    if done and useless:
        told = "; ".join(f"{suite}: {why.get(suite, 'it said nothing')}" for suite in useless)
        raise InputError(f"these do not pass, or take too long: {told}", "",
                         "Mend them first: a suite that fails anyway notices no mutant.")
    if not done:
        raise InternalError(f"the survey of {' '.join(files) or 'the suites'} ended early", "stand")
    return round(used.ru_utime + used.ru_stime, 2)


def _file_of(killer: str) -> str:
    return killer if killer.startswith(SUITE) else killer.partition("::")[0]


def killers_of(
    mutant: Mutant, known: Survey, names: set[str], tests: Iterable[str], *, suites: bool,
    seconds: float,
) -> list[str]:
    """The killers that reach the function of a mutant: the suites, then tests of some files.

    Among each the fastest come first; of the tests as many as take ``seconds`` in all. A killer
    that was surveyed before functions of the module (with these ``names``) were renamed may
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
