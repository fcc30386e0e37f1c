"""A campaign: mutants in, fates out; what is known from earlier runs is not done again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Final

from .child import SUITE, Patience
from .ledger import Results
from .modules import GROUPS, TARGETS, Group, group_of, files_asked
from .operators import Mutant, names_in
from .stand import SURVIVED, Fate, Job, carry_out, warm_up
from .survey import Survey, killers_of, read_survey, renew, shown_to
from .tree import Project, Tree

__all__ = ["FATES", "SURVEY", "Campaign"]

FATES: Final = "fates.jsonl"
SURVEY: Final = "survey.json"

Say = Callable[[str], None]
_Tell = Callable[[Job, Fate, Survey], None]


@dataclass(frozen=True, eq=False)
class Campaign:
    """Where the mutants are from, and how they are tried.

    ``kept`` is the folder for survey and fates, ``jobs`` how many mutants are tried at once,
    ``seconds`` the processor time of the tests that one is shown to, ``patience`` the least
    that one killer may take, ``targets`` the references and their suites.
    """

    project: Project
    kept: Path
    jobs: int = 1
    seconds: float = 20.0
    patience: float = 4.0
    groups: Mapping[str, Group] = field(default_factory=lambda: GROUPS)
    targets: Mapping[str, str] = field(default_factory=lambda: TARGETS)

    def fates(self, mutants: Sequence[Mutant], say: Say) -> dict[Mutant, Fate]:
        """The fate of each mutant, from earlier runs or from this one; ``say`` hears of those."""
        results = Results(self.kept / FATES)
        keys = {mutant: self._key(mutant) for mutant in mutants}
        before = read_survey(self.kept / SURVEY)
        fates = {mutant: fate for mutant in mutants
                 if (fate := results.get(keys[mutant], partial(self._basis, mutant, before)))}

        def tell(job: Job, tried: Fate, known: Survey) -> None:
            mutant = job.mutant
            runs = known.runs(mutant, self.project.source(mutant.module))
            fates[mutant] = fate = replace(tried, commit=self.project.commit, runs=runs)
            results.put(keys[mutant], fate, self._basis(mutant, known, fate))
            say(f"{len(fates)}/{len(mutants)} {_told(fate)}: {job.mutant.id}")

        todo = [mutant for mutant in mutants if mutant not in fates]
        if todo:
            self._try(todo, tell, say)
        return {mutant: fates[mutant] for mutant in mutants}

    def minutes(self, fates: Iterable[Fate]) -> float:
        """Processor time that these fates took, with the survey that they rest on."""
        known = read_survey(self.kept / SURVEY)
        return (sum(fate.seconds for fate in fates) + sum(known.took.values())) / 60

    def _try(self, mutants: Sequence[Mutant], tell: _Tell, say: Say) -> None:
        warm_up()
        with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
            trees = [Tree(self.project, Path(scratch, str(job))) for job in range(self.jobs)]
            known = self._surveyed(mutants, trees[0], say)
            jobs = [self._job(mutant, known) for mutant in mutants]
            carry_out(jobs, trees, Patience(known.seconds, self.patience),
                      lambda job, tried: tell(job, tried, known))

    def _surveyed(self, mutants: Sequence[Mutant], tree: Tree, say: Say) -> Survey:
        """The survey of all that could kill one of these mutants."""
        groups = [self.groups[name] for name in {self._group(mutant) for mutant in mutants}]
        suites = self.targets if any(group.suites for group in groups) else {}
        files = {file for group in groups for file in files_asked(self.project, group)}
        path = self.kept / SURVEY
        known = read_survey(path)
        renew(known, tree, suites, sorted(files), path, say)
        return known

    def _job(self, mutant: Mutant, known: Survey) -> Job:
        group = self.groups[self._group(mutant)]
        files = [file.relative_to(self.project.root).as_posix()
                 for file in files_asked(self.project, group)]
        return Job(mutant, tuple(killers_of(
            mutant, known, self._names(mutant.module), files, suites=group.suites,
            seconds=self.seconds)))

    @cache  # noqa: B019 - a campaign lives as long as the program
    def _names(self, module: str) -> set[str]:
        return names_in(self.project.source(module))

    def _group(self, mutant: Mutant) -> str:
        return group_of(mutant.module, self.groups)

    def _key(self, mutant: Mutant) -> str:
        return f"{self.project.digest(self.project.file(mutant.module))} {mutant.id}"

    def _basis(self, mutant: Mutant, known: Survey, fate: Fate) -> str:
        """A digest of what a fate rests on besides the mutant: the tests, and the default runs that
        did not find it. One that was found by a default run has none."""
        if fate.killer.startswith(SUITE):
            return ""
        group = self._group(mutant)
        suites = "; ".join(shown_to(mutant, known, self._names(mutant.module))
                           if self.groups[group].suites else ())
        if fate.how == SURVIVED:
            return f"{self._all_tests(group)} {self.seconds:g} {suites}".rstrip()
        return f"{self._digest(fate.killer.partition('::')[0])} {suites}".rstrip()

    @cache  # noqa: B019 - a campaign lives as long as the program
    def _digest(self, file: str) -> str:
        return self.project.digest(self.project.root / file)

    @cache  # noqa: B019 - a campaign lives as long as the program
    def _all_tests(self, group: str) -> str:
        return self.project.digest(*files_asked(self.project, self.groups[group]))


def _told(fate: Fate) -> str:
    return fate.how if fate.how == SURVIVED else f"{fate.how} ({fate.killer})"
