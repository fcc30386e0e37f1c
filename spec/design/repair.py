"""A small change that makes a stuck design live, found by trying and checking it.

Only changes of one thing are tried: more room in a link, one more element in it at the
start, more threads in a pool, or dropping the oldest element. What is proposed has been
checked; that nothing smaller helps has not.

The search is kept small, for nobody should wait long for it. The wait-for graph, which
visits no states, is asked about all changes before the explorer is asked about any; and what
the explorer may do is counted in states, so that the same design gets the same answer on a
slow machine as on a fast one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..engines.verdict import Budget, Outcome
from ..notation.labels import counted
from .check import Part, Settings, decide_deadlock, parts
from .findings import DesignReport, Finding
from .language import Design, Flow, Link, StepKind

__all__ = ["repair", "with_repair"]

MAX_STATES = 1_500
"""Distinct states that the explorer may visit for all tries together: about 0.15 s."""
MAX_GRAPHS = 100
MAX_SECONDS = 1.0
"""A last resort, for designs of a hundred tasks."""
MAX_PLACES_TRIED = 6


@dataclass(frozen=True)
class _Change:
    """Something to try: how it is said and done for an amount of 1 to ``most``."""

    says: Callable[[int], str]
    done: Callable[[int], Design]
    most: int


def with_repair(report: DesignReport) -> DesignReport:
    """The report, with a repair for its deadlock if it has one and one was found."""
    return replace(report, findings=tuple(
        replace(finding, repair=repair(report.design, finding))
        if finding.name == "deadlock" and finding.outcome is Outcome.VIOLATED else finding
        for finding in report.findings
    ))


def repair(design: Design, finding: Finding) -> str:
    """A sentence that names a change with which the design is never stuck, or nothing."""
    deadline = time.monotonic() + MAX_SECONDS
    for changes in (list(_growth(design, finding)), list(_dropping(design, finding))):
        for judge in (_Graph(deadline), _Explorer(deadline)):
            for change, amount in _in_rounds(changes):
                if judge.live(change.done(amount)):
                    return change.says(_least(change, amount, deadline))
    return ""


def _in_rounds(changes: list[_Change]) -> Iterator[tuple[_Change, int]]:
    """Every change by 1, then every change by 2, by 4 and so on."""
    amount = 1
    while any(amount <= change.most for change in changes):
        yield from ((change, amount) for change in changes if amount <= change.most)
        amount *= 2


def _least(change: _Change, enough: int, deadline: float) -> int:
    """The least amount that helps, if growing amounts help ever more; where a budget ends,
    the least that was checked."""
    graph, explorer = _Graph(deadline), _Explorer(deadline)
    few = 0
    while enough - few > 1:
        middle = (few + enough) // 2
        design = change.done(middle)
        if graph.live(design) or explorer.live(design):
            enough = middle
        else:
            few = middle
    return enough


class _Graph:
    """Asks the wait-for graph whether a design is never stuck, at most MAX_GRAPHS times."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.left = MAX_GRAPHS

    def live(self, design: Design) -> bool:
        """Whether it is proved; false where it is not, or nothing may be asked any more."""
        if not self.left or time.monotonic() > self.deadline:
            return False
        self.left -= 1
        return all(Part.of(part, cycles=False).graph.proves_live for part in parts(design))


class _Explorer:
    """Asks the explorer whether a design is never stuck, within MAX_STATES for all it is asked."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.left = MAX_STATES

    def live(self, design: Design) -> bool:
        """Whether an exhaustive search says so; false where it does not, or a budget is spent."""
        for part in parts(design):
            seconds = self.deadline - time.monotonic()
            if self.left < 1 or seconds <= 0:
                return False
            settings = Settings("explorer", Budget(max_seconds=seconds, max_states=self.left))
            finding = decide_deadlock(Part.of(part, cycles=False), settings)
            self.left -= finding.states
            if finding.outcome is not Outcome.HOLDS:
                return False
        return True


# --- what to try, the least invasive first --------------------------------------------------

def _growth(design: Design, finding: Finding) -> Iterator[_Change]:
    waits = list(dict.fromkeys((*finding.cycle, *finding.waits)))
    for link in _named(design, [w.where for w in waits if w.what == "room"]):
        if link.capacity is not None and link.flow is not Flow.STOP_AND_WAIT:
            yield _more_room(design, link)
    for name in dict.fromkeys(w.where for w in waits if w.what == "a thread"):
        if not _is_lock(design, name):
            yield _more_threads(design, name)
    for link in _named(design, [w.where for w in waits if w.what == "data"]):
        if link.capacity is None or link.initial < link.capacity:
            yield _more_at_the_start(design, link)


def _is_lock(design: Design, pool: str) -> bool:
    """Whether a pool is one permit that scripts take: with two it would exclude nobody."""
    return design.pools[pool].threads == 1 and any(
        step.kind is StepKind.ACQUIRE and step.target == pool
        for task in design.tasks.values() for step in task.steps
    )


def _dropping(design: Design, finding: Finding) -> Iterator[_Change]:
    waits = dict.fromkeys((*finding.cycle, *finding.waits))
    for link in _named(design, [w.where for w in waits if w.what == "room"]):
        if link.flow is Flow.BLOCKING and not link.lossy and link.gives <= link.takes:
            yield _drop(design, link)


def _named(design: Design, names: list[str]) -> list[Link]:
    links = [design.links[name] for name in dict.fromkeys(names) if name in design.links]
    return links[:MAX_PLACES_TRIED]


def _with_link(design: Design, link: Link) -> Design:
    return replace(design, links={**design.links, link.name: link})


def _more_room(design: Design, link: Link) -> _Change:
    old = link.capacity or 0
    return _Change(
        lambda n: f"give {link.name} a capacity of {old + n} (it has {old})",
        lambda n: _with_link(design, replace(link, capacity=old + n)),
        max(8, 2 * old),
    )


def _more_threads(design: Design, name: str) -> _Change:
    pool = design.pools[name]
    return _Change(
        lambda n: f"give the pool {name} {pool.threads + n} threads (it has {pool.threads})",
        lambda n: replace(
            design, pools={**design.pools, name: replace(pool, threads=pool.threads + n)}),
        max(8, 2 * pool.threads),
    )


def _more_at_the_start(design: Design, link: Link) -> _Change:
    room = 8 if link.capacity is None else link.capacity - link.initial
    return _Change(
        lambda n: f"let {link.name} start with {counted(link.initial + n, 'element')} "
                  f"(it starts with {link.initial})",
        lambda n: _with_link(design, replace(link, initial=link.initial + n)),
        min(room, 8),
    )


def _drop(design: Design, link: Link) -> _Change:
    return _Change(
        lambda _: f"let {link.name} drop its oldest element when it is full "
                  "(`flow: drop-oldest`), if elements may be lost",
        lambda _: _with_link(design, replace(link, flow=Flow.DROP_OLDEST)),
        1,
    )
