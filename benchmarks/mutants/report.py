"""The report: what became of the mutants of each group, and which arguments no longer hold."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ..published import machine
from .ledger import UNSEEN, Argument
from .modules import group_of
from .operators import Mutant
from .stand import CRASH, HANG, SUITES, SURVIVED, TESTS, Fate

__all__ = ["AIM", "Tally", "origin", "tally", "tally_alone"]

AIM: Final = 0.95
"""The share of the mutants that are not equivalent that is to be killed."""


@dataclass(frozen=True)
class Tally:
    """All fates, with the arguments held against them. ``alone``: the mutants were shown to default
    runs only."""

    fates: Mapping[Mutant, Fate]
    arguments: Mapping[str, Argument]
    asked_for_all: bool = True
    alone: bool = False

    @property
    def survivors(self) -> list[Mutant]:
        """Those that nobody killed, equivalent or not."""
        return [mutant for mutant, fate in self.fates.items() if fate.how == SURVIVED]

    def is_equivalent(self, mutant: Mutant) -> bool:
        """Whether a survivor is argued to be no change at all."""
        argument = self.arguments.get(mutant.id)
        return self.fates[mutant].how == SURVIVED and argument is not None \
            and argument.equivalent

    @property
    def run_by_default(self) -> list[Mutant]:
        """Those of which a default run of a suite runs a line that they change; equivalent ones
        left out."""
        return [mutant for mutant, fate in self.fates.items()
                if (fate.runs or fate.by_default) and not self.is_equivalent(mutant)]

    @property
    def passed_by_default(self) -> list[Mutant]:
        """Those of them that no default run found."""
        return [one for one in self.run_by_default if not self.fates[one].by_default]

    def is_unseen(self, mutant: Mutant) -> bool:
        """Whether of a mutant that a default run lets pass it is argued that no port shows it."""
        argument = self.arguments.get(mutant.id)
        return argument is not None and argument.kind == UNSEEN \
            and not self.fates[mutant].by_default

    @property
    def unargued(self) -> list[Mutant]:
        """Survivors, and those that default runs let pass, of which nobody has said why."""
        survivors = () if self.alone else self.survivors
        found = dict.fromkeys([*survivors, *self.passed_by_default])
        return [mutant for mutant in found if mutant.id not in self.arguments]

    @property
    def stale(self) -> list[str]:
        """Ids of arguments about mutants that were killed, or found by a default run where it is
        about these, or are not among those drawn."""
        survive = {mutant.id for mutant in self.survivors}
        passed = {mutant.id for mutant in self.passed_by_default}
        drawn = {mutant.id for mutant in self.fates}
        return [id for id, argument in self.arguments.items()
                if id not in (survive if argument.about_all else passed)
                and (self.asked_for_all or id in drawn)]

    @property
    def share(self) -> float:
        """Killed, of those that are not equivalent; 1 where there are none."""
        judged = len(self.fates) - sum(map(self.is_equivalent, self.fates))
        return (len(self.fates) - len(self.survivors)) / judged if judged else 1.0

    @property
    def share_by_default(self) -> float | None:
        """Found by default runs alone, of those in a line that they run and that a port could show;
        None where there are none."""
        judged = len(self.run_by_default) - sum(map(self.is_unseen, self.run_by_default))
        return (len(self.run_by_default) - len(self.passed_by_default)) / judged if judged else None

    @property
    def good(self) -> bool:
        """Whether enough are killed, by all and by default runs alone, and all others argued."""
        by_default = self.share_by_default
        return ((self.alone or self.share >= AIM)
                and (by_default is None or by_default >= AIM) and not self.unargued)


_HEADINGS: Final = ("", "mutants", "suites", "tests", "hang", "crash", "equivalent", "survived",
                    "killed", "in default runs", "unseen", "found", "found by default")


def tally(whole: Tally, *, by_module: bool = False) -> Iterator[tuple[str, ...]]:
    """The rows of the table: headings, one row for each group or module, and the sum."""
    yield _HEADINGS
    rows: dict[str, Tally] = {}
    for mutant, fate in whole.fates.items():
        name = mutant.module if by_module else group_of(mutant.module)
        before = rows[name].fates if name in rows else {}
        rows[name] = Tally({**before, mutant: fate}, whole.arguments)
    for name, part in [*rows.items(), ("all", whole)]:
        how = Counter(fate.how for fate in part.fates.values())
        equivalent = sum(map(part.is_equivalent, part.fates))
        cells = (len(part.fates), *(how[kind] for kind in (SUITES, TESTS, HANG, CRASH)),
                 equivalent, how[SURVIVED] - equivalent)
        yield (name, *(str(cell) for cell in cells), f"{100 * part.share:.1f} %", *_alone(part))


_ALONE: Final = ("", "mutants", "in default runs", "unseen", "missed", "found by default")


def tally_alone(whole: Tally) -> Iterator[tuple[str, ...]]:
    """The rows of the table of default runs alone: headings, one row for each package, and the
    sum."""
    yield _ALONE
    rows: dict[str, dict[Mutant, Fate]] = {}
    for mutant, fate in whole.fates.items():
        package = mutant.module.split(".")[:-1]
        rows.setdefault(".".join(package[:3]), {})[mutant] = fate
    parts = {name: Tally(fates, whole.arguments) for name, fates in sorted(rows.items())}
    for name, part in [*parts.items(), ("all", whole)]:
        share, run = part.share_by_default, part.run_by_default
        unseen = sum(map(part.is_unseen, run))
        cells = len(part.fates), len(run), unseen, len(part.passed_by_default) - unseen
        yield (name, *(str(cell) for cell in cells),
               "" if share is None else f"{100 * share:.1f} %")


def _alone(part: Tally) -> tuple[str, ...]:
    """The cells about default runs alone."""
    share, run = part.share_by_default, part.run_by_default
    if share is None:
        return "", "", "", ""
    cells = len(run), sum(map(part.is_unseen, run)), len(run) - len(part.passed_by_default)
    return (*(str(cell) for cell in cells), f"{100 * share:.1f} %")


def origin(fates: Iterable[Fate], minutes: float, command: str) -> str:
    """Where the figures are from: commits, command, machine, and what it took."""
    commits = Counter(fate.commit or "no commit" for fate in fates)
    at = ", ".join(f"{commit} ({count})" if len(commits) > 1 else commit
                   for commit, count in commits.most_common())
    return textwrap.fill(
        f"Tried at the commit{'s' if len(commits) > 1 else ''} {at}; by `{command}`, on "
        f"{machine()}: {minutes:.0f} minutes of processor time.", 100,
        break_long_words=False, break_on_hyphens=False)
