"""The report: what became of the mutants of each group, and which arguments no longer hold."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ..published import machine
from .ledger import Argument
from .modules import group_of
from .operators import Mutant
from .stand import CRASH, HANG, SUITES, SURVIVED, TESTS, Fate

__all__ = ["AIM", "Tally", "origin", "tally"]

AIM: Final = 0.95
"""The share of the mutants that are not equivalent that is to be killed."""


@dataclass(frozen=True)
class Tally:
    """All fates, with the arguments held against them."""

    fates: Mapping[Mutant, Fate]
    arguments: Mapping[str, Argument]
    asked_for_all: bool = True

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
    def unargued(self) -> list[Mutant]:
        """Survivors of which nobody has said why."""
        return [mutant for mutant in self.survivors if mutant.id not in self.arguments]

    @property
    def stale(self) -> list[str]:
        """Ids of arguments about mutants that were killed, or are not among those drawn."""
        survive = {mutant.id for mutant in self.survivors}
        drawn = {mutant.id for mutant in self.fates}
        return [id for id in self.arguments
                if id not in survive and (self.asked_for_all or id in drawn)]

    @property
    def share(self) -> float:
        """Killed, of those that are not equivalent; 1 where there are none."""
        judged = len(self.fates) - sum(map(self.is_equivalent, self.fates))
        return (len(self.fates) - len(self.survivors)) / judged if judged else 1.0

    @property
    def good(self) -> bool:
        """Whether enough are killed, and each survivor is argued."""
        return self.share >= AIM and not self.unargued


_HEADINGS: Final = ("", "mutants", "suites", "tests", "hang", "crash", "equivalent", "survived",
                    "killed")


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
        yield (name, *(str(cell) for cell in cells), f"{100 * part.share:.1f} %")


def origin(fates: Iterable[Fate], minutes: float, command: str) -> str:
    """Where the figures are from: commits, command, machine, and what it took."""
    commits = Counter(fate.commit or "no commit" for fate in fates)
    at = ", ".join(f"{commit} ({count})" if len(commits) > 1 else commit
                   for commit, count in commits.most_common())
    return textwrap.fill(
        f"Tried at the commit{'s' if len(commits) > 1 else ''} {at}; by `{command}`, on "
        f"{machine()}: {minutes:.0f} minutes of processor time.", 100,
        break_long_words=False, break_on_hyphens=False)
