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

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.labels import counted
from ...spec.verdicts.deadline import Deadline
from ...spec.verdicts.memory import limit_for_good, meter
from ..suites.twin import Twin
from ..systems.catalogue import zoo
from .hunt import UNKNOWN, spent_budget, twins

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
    cut: str = ""

    @property
    def is_unknown(self) -> bool:
        """True if a budget was spent before it was known."""
        return self.verdict == UNKNOWN

    @property
    def twin(self) -> Twin:
        """The twin of that name."""
        return zoo()[self.name]

    @property
    def verdict(self) -> str:
        """``named``: its own rule is broken; ``found otherwise``: others are; ``missed``; or
        ``unknown`` where a budget was spent."""
        if self.fixture is None and self.cut:
            return UNKNOWN
        if self.fixture is None:
            return EQUIVALENT if self.twin.equivalent else MISSED
        return NAMED if self.fixture.rule_id == self.twin.rule else OTHERWISE

    @property
    def as_expected(self) -> bool:
        """True if it was found; or if it was not, being argued to be equivalent."""
        return not self.is_unknown and (self.fixture is None) == bool(self.twin.equivalent)

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


def default_runs(
    suites: Iterable[str] = (), seed: int = 0, jobs: int = 1, states: int = STATES_MAX,
    deadline: Deadline | None = None,
) -> Iterator[Find]:
    """The findings of the default runs for the twins of some suites (all if none are named).

    In the order of the tables, whatever ``jobs``, the number of processes. Machines that judge may
    be in so many ``states``; no case begins after the ``deadline``, or when the memory is spent.
    Raises ``InputError`` for a name without twins.
    """
    names = [twin.name for twin in twins(suites)]
    if jobs == 1:
        yield from (find(name, seed, states, deadline) for name in names)
        return
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=limit_for_good,
                             initargs=(meter().most / jobs,)) as pool:
        # A deadline crosses as a moment of the clock, which all processes here share.
        yield from pool.map(partial(find, seed=seed, states=states, deadline=deadline), names)


def find(
    name: str, seed: int = 0, states: int = STATES_MAX, deadline: Deadline | None = None
) -> Find:
    """The findings of the default run with a seed for the twin of that name.

    A pure function of both: the cases are those of ``conduct``, in their order, up to the first
    in which the twin's own rule is broken, or after which a budget is spent.
    """
    from ..suites.fixture import read_fixture

    twin = zoo()[name]
    rows: list[CaseRow] = []
    cut = ""
    for row in _rows(twin, seed, states):
        rows.append(row)
        cut = spent_budget(deadline)
        if cut:
            break
    broken = [(at, row) for at, row in enumerate(rows, 1) if row.fixture]
    own = next((row for _, row in broken if row.rule == twin.rule), None)
    shown = own or next((_short(twin, row, states) for _, row in broken), None)
    others = dict.fromkeys(row.rule for _, row in broken if row.rule != twin.rule)
    return Find(name, None if shown is None else read_fixture(shown.fixture, name),
                tuple(others), broken[0][0] if broken else 0, len(rows), cut)


def _rows(twin: Twin, seed: int, states: int) -> Iterator[CaseRow]:
    from ..campaigns.case import RunSettings, run_case
    from ..engines.conduct import Order, next_cases
    from ..suites.results import VIOLATED

    settings = RunSettings(candidates=states, drafts=True)
    order = Order(twin.suite, seed=seed, settings=settings)
    rows: list[CaseRow] = []
    while cases := next_cases(order, rows):
        for case in cases:
            row = run_case(twin.suite, f"zoo:{twin.name}", case, settings)
            rows.append(_short(twin, row, states) if row.rule == twin.rule else row)
            yield rows[-1]
            if rows[-1].verdict == VIOLATED and rows[-1].rule == twin.rule:
                return


def _short(twin: Twin, row: CaseRow, states: int) -> CaseRow:
    """The row with its breach made short, if that is a draft still."""
    from ..campaigns.case import RunSettings, run_case
    from ..campaigns.drafts import case_of, is_draft

    if not is_draft(row):
        return row
    return run_case(twin.suite, row.target, case_of(row), RunSettings(candidates=states))
