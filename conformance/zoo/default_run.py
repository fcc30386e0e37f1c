"""The findings of a user's default run for each twin: all rules in focus in turn, and no hint.

The hunt (hunt.py) looks for the one rule that a twin breaks. Users who test a queue of their
own do not know that rule: here each twin gets the very cases of ``checkvalve conform`` with its
default settings. They end early once the twin's own rule is named, for the rest would say no more.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...spec.notation.labels import counted
from ..suites.twin import Twin
from ..systems.catalogue import zoo
from .hunt import twins

if TYPE_CHECKING:
    from ..suites.results import CaseRow
    from ..suites.fixture import Fixture

__all__ = ["EQUIVALENT", "Find", "MISSED", "NAMED", "OTHERWISE", "default_runs", "find"]

NAMED, OTHERWISE, MISSED, EQUIVALENT = "named", "found otherwise", "missed", "equivalent"


@dataclass(frozen=True)
class Find:
    """The findings of a default run for a twin; they cross processes, which a twin cannot.

    ``fixture`` is the failure of the twin's own rule, or else the first that was found;
    ``others`` are the ids of other rules that were seen broken, in their order; ``first`` is
    the number of cases up to the first failure, ``cases`` that of all that were run.
    """

    name: str
    fixture: Fixture | None
    others: tuple[str, ...]
    first: int
    cases: int

    @property
    def twin(self) -> Twin:
        """The twin of that name."""
        return zoo()[self.name]

    @property
    def verdict(self) -> str:
        """``named``: its own rule is broken; ``found otherwise``: others are; or ``missed``."""
        if self.fixture is None:
            return EQUIVALENT if self.twin.equivalent else MISSED
        return NAMED if self.fixture.rule_id == self.twin.rule else OTHERWISE

    @property
    def as_expected(self) -> bool:
        """True if it was found; or if it was not, being argued to be equivalent."""
        return (self.fixture is None) == bool(self.twin.equivalent)

    @property
    def size(self) -> str:
        """The length of the fixture, in words."""
        return "" if self.fixture is None else counted(self.fixture.length, "step")

    def to_json(self) -> dict[str, Any]:
        """The row of ``zoo --default --json``."""
        return {
            "suite": self.twin.suite, "twin": self.twin.name, "bug": self.twin.bug,
            "history": self.twin.history, "rule": self.twin.rule, "verdict": self.verdict,
            "steps": None if self.fixture is None else self.fixture.length,
            "also_broken": list(self.others), "first": self.first, "cases": self.cases,
            "equivalent": self.twin.equivalent,
            "story": [] if self.fixture is None else self.fixture.story(),
        }


def default_runs(suites: Iterable[str] = (), seed: int = 0, jobs: int = 1) -> Iterator[Find]:
    """The findings of the default runs for the twins of some suites (all if none are named).

    In the order of the tables, whatever ``jobs``, the number of processes. Raises
    ``InputError`` for a name without twins.
    """
    names = [twin.name for twin in twins(suites)]
    if jobs == 1:
        yield from (find(name, seed) for name in names)
        return
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(partial(find, seed=seed), names)


def find(name: str, seed: int = 0) -> Find:
    """The findings of the default run with a seed for the twin of that name.

    A pure function of both: the cases are those of ``conduct``, in their order, up to the first
    in which the twin's own rule is broken.
    """
    from ..suites.fixture import read_fixture

    twin = zoo()[name]
    rows = list(_rows(twin, seed))
    broken = [(at, row) for at, row in enumerate(rows, 1) if row.fixture]
    own = next((row for _, row in broken if row.rule == twin.rule), None)
    shown = own or next((row for _, row in broken), None)
    others = dict.fromkeys(row.rule for _, row in broken if row.rule != twin.rule)
    return Find(name, None if shown is None else read_fixture(shown.fixture, name),
                tuple(others), broken[0][0] if broken else 0, len(rows))


def _rows(twin: Twin, seed: int) -> Iterator[CaseRow]:
    from ..campaigns.case import run_case
    from ..engines.conduct import Order, next_cases
    from ..suites.results import VIOLATED

    order = Order(twin.suite, seed=seed)
    rows: list[CaseRow] = []
    while cases := next_cases(order, rows):
        for case in cases:
            rows.append(run_case(twin.suite, f"zoo:{twin.name}", case, order.settings))
            yield rows[-1]
            if rows[-1].verdict == VIOLATED and rows[-1].rule == twin.rule:
                return
