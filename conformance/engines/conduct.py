"""Conducting a run: the cases of a suite on a target, on an engine, up to the summary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from checkvalve.spec.notation.labels import counted
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.memory import meter

from ..campaigns.case import RunSettings, plan
from ..campaigns.drafts import Drafts, case_of, with_few_drafts, without_drafts
from ..campaigns.enough import further_cases
from ..campaigns.failures import is_given_up, until_given_up
from ..campaigns.summary import Summary, seconds_by_rule, summarise
from ..suites.results import ERROR, Case, CaseRow, sort_rows
from ..suites.system import QUICK_CASES
from ..systems.catalogue import system_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["Engine", "Order", "conduct", "next_cases"]

REAL_TIME_CASES = 16
REAL_TIME_DRAFTS = 40
REAL_TIME_SHRINKS = 12
"""The cases, the programs of which each runs one, and the runs for a shorter failure, where a run
takes seconds: minutes in all."""


@dataclass(frozen=True)
class Engine:
    """The place where the cases run: here on ``jobs`` processes, or on a Spark cluster.

    On a cluster if either ``master`` (its address) or ``session`` is given; then
    ``partitions`` is the number of tasks (None: one for every 25 cases), and ``ship`` sends
    the code of checkvalve along with them; ``files`` are sent too (``ship_files``). ``thin``: of
    its failures, rows that were made here have no more than a summary says. No case begins
    here after the ``deadline``.
    """

    jobs: int = 1
    master: str | None = None
    session: SparkSession | None = None
    partitions: int | None = None
    ship: bool = False
    files: tuple[Path, ...] = ()
    thin: bool = False
    deadline: Deadline = field(default_factory=Deadline)
    spent: dict[int, float] = field(default_factory=dict)
    """The seconds of each case that was run here, by its place in the run."""

    def run(
        self, suite: str, target: str, cases: Sequence[Case], settings: RunSettings
    ) -> list[CaseRow]:
        """The rows of the cases, sorted by key; only the first, if that is an error.

        Raises ``InputError`` for a suite, a target or a cluster that cannot be used.
        """
        # A target that hangs in its first case would cost as many time limits as cases.
        with self.opened() as engine:
            first = engine._some(suite, target, cases[:1], settings)
            if first[0].verdict == ERROR or len(cases) == 1 or _cut(self, 1):
                return first
            return first + engine._some(suite, target, cases[1:], settings)

    def _some(
        self, suite: str, target: str, cases: Sequence[Case], settings: RunSettings
    ) -> list[CaseRow]:
        if self.session is None:
            from .local import run_locally

            return run_locally(suite, target, cases, settings, jobs=self.jobs, thin=self.thin,
                               deadline=self.deadline, spent=self.spent)
        from .spark import run_on_spark

        rows = run_on_spark(suite, target, cases, settings, partitions=self.partitions,
                            session=self.session, ship=self.ship, files=self.files)
        return list(with_few_drafts(until_given_up(rows)))

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        """This engine with its cluster's session kept open, for several targets."""
        if self.master is None:
            yield self
            return
        from .session import spark_session

        with spark_session(self.master) as session:
            from .shipping import ship_checkvalve, ship_files

            if self.ship:
                ship_checkvalve(session)
            ship_files(session, self.files)
            yield replace(self, master=None, session=session, ship=False, files=())


@dataclass(frozen=True)
class Order:
    """An order for a run; the defaults take seconds.

    ``cases`` None: as many as the rules take to be exercised enough, within limits; else so
    many, and no more. ``quick``: it begins with the few cases of a quick run instead of those of
    the suite's default run. ``real_time``: it begins with fewer still.
    """

    suite: str = "queue"
    cases: int | None = None
    seed: int = 0
    settings: RunSettings = field(default_factory=RunSettings)
    quick: bool = False
    real_time: bool = False

    @property
    def first(self) -> int:
        """The number of cases it begins with if none is given. More follow for the sake of rules
        that these exercise too little (see enough.py)."""
        if self.real_time:
            return REAL_TIME_CASES
        return QUICK_CASES if self.quick else system_of(self.suite).cases

    def in_real_time(self, rehearsal: str) -> Order:
        """The same for a target to which a program takes seconds: one of them a case, which is
        chosen by how much it exercises on the target that is called ``rehearsal``."""
        few = replace(self.settings, programs=REAL_TIME_DRAFTS, shrinks=REAL_TIME_SHRINKS,
                      rehearsal=rehearsal)
        return replace(self, real_time=True, settings=few)


def conduct(
    target: str, order: Order | None = None, *, engine: Engine | None = None,
    known: Collection[str] = (),
) -> tuple[Summary, list[CaseRow]]:
    """Run a suite on a target; what it says about each rule, and the rows behind it.

    A target is, if its first case ends in an error, not asked any further, nor one of which a few
    cases have failed alike. Of the breaches that cases show a few of each kind are made short
    (drafts.py); in real time, where a budget ends most runs, each is, in its case. Raises
    ``InputError`` for a suite, a target or a cluster that cannot be used.
    """
    order, engine = order or Order(), replace(engine or Engine(), spent={})
    order = replace(order, settings=replace(order.settings, drafts=not order.real_time))
    rows: list[CaseRow] = []
    drafts = Drafts()
    cut = ""
    while cases := next_cases(order, rows, known):
        found = engine.run(order.suite, target, cases, order.settings)
        rows = sort_rows(with_few_drafts([*rows, *found]))
        cut = _cut(engine, len(rows))
        rows = _taken_up(drafts, target, order, engine, rows)
        if cut:
            break
    rows = without_drafts(rows)
    summary = summarise(order.suite, target, rows, known)
    times = seconds_by_rule(order.suite, rows, engine.spent)
    return replace(summary, cut=cut, times=times), rows


def _taken_up(
    drafts: Drafts, target: str, order: Order, engine: Engine, rows: list[CaseRow]
) -> list[CaseRow]:
    """The rows, once enough of their drafts were made failures, or the target is given up."""
    while not is_given_up(rows) and (
            chosen := drafts.next_of(rows, late=bool(_cut(engine, len(rows))))):
        cases = [case_of(row) for row in chosen]
        rows = drafts.with_found(rows, engine.run(order.suite, target, cases, order.settings))
    return rows


def _cut(engine: Engine, cases: int) -> str:
    """Why a run ends before its time; empty if it does not."""
    late = engine.deadline.passed()
    if not (late or meter().is_over()):
        return ""
    what, flag = ("time", "max-seconds") if late else ("memory", "max-memory")
    return (f"The {what} was over after {counted(cases, 'case')}, before the run had made all that "
            f"it had to. Give more, by --{flag} (in a checkvalve.toml, {flag.replace('-', '_')}).")


def next_cases(order: Order, rows: Sequence[CaseRow], known: Collection[str] = ()) -> list[Case]:
    """The cases that a run does after those that gave ``rows``; none if it is over.

    A pure function of its arguments, so that a run is the same on every engine. ``known`` are
    the ids of rules known to be broken; where another one is, fewer cases follow.
    """
    if not rows:
        return plan(order.suite, cases=order.cases or order.first, seed=order.seed)
    if order.cases is not None:
        return []
    return further_cases(order.suite, rows, order.seed, order.first, known)
