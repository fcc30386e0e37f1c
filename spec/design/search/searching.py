"""Searching a design for the violation of a rule of its net."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ...verdicts.verdict import Budget, Outcome, Trace, Verdict
from ..net.counters import changes_of
from ..net.places import Unbounded
from ..net.rows import Row, Table
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design, Flow
from .large import cut, fitted, large, replayed_in
from ..why.explain import end_marking, steps_of
from ..why.findings import Finding
from ..why.cycles import closed_cycle
from ..why.blocked import left_in, waits_in

__all__ = [
    "ABSTRACTIONS", "Engine", "Settings", "abstracting", "finding_of", "not_the_searchs", "rows_of",
    "search",
]

Engine = Literal["auto", "graph", "structure", "explorer", "runs"]
ABSTRACTIONS = (3, 8, 24)


@dataclass(frozen=True)
class Settings:
    """The settings of a check: the engine, and what it may use."""

    engine: Engine = "auto"
    budget: Budget = field(default_factory=Budget)


def abstracting(design: Design, aim: Aim, rule: str, settings: Settings) -> Finding:
    """Search, counting unbounded links further as long as a violation rests on not doing so."""
    if settings.engine in ("graph", "structure"):
        return not_the_searchs(settings.engine)
    if settings.engine == "auto" and large(design):
        found = _in_smaller(design, aim, rule, settings)
        if found is not None:
            return found
        design = fitted(design, settings.budget.deadline.watch("looking for what links can hold"))
    unbounded = any(link.flow is Flow.UNBOUNDED for link in design.links.values())
    finding = Finding("", Outcome.UNKNOWN, "")
    for most in ABSTRACTIONS if unbounded else ABSTRACTIONS[:1]:
        table = translate(design, replace(aim, unbounded=Unbounded(most, abstract=True)),
                          settings.budget.deadline.watch("translating the design"))
        verdict = search(table, rule, settings)
        finding = finding_of(design, table, rule, verdict)
        if verdict.trace is None or not _is_abstract(table, verdict.trace):
            return finding
    return replace(
        finding, outcome=Outcome.UNKNOWN, steps=(), waits=(), cycle=(), loop=None,
        method="search, of a coarser design",
        reason=f"a counterexample was found only where unbounded links are counted up to "
               f"{ABSTRACTIONS[-1]}; it may not be real",
    )


def _in_smaller(design: Design, aim: Aim, rule: str, settings: Settings) -> Finding | None:
    """A violation that is found with smaller capacities, in a part of the time, and is one with the
    design's own."""
    smaller = cut(design)
    if any(link.flow is Flow.UNBOUNDED for link in design.links.values()):
        return None  # it moves in more ways than a link that is full at some time
    watch = settings.budget.deadline.watch("translating the design")
    table, small = translate(design, aim, watch), translate(smaller, aim, watch)
    verdict = search(small, rule, replace(settings, budget=settings.budget.share(3)))
    if verdict.trace is None:
        return None
    trace = replayed_in(table, small, verdict.trace, rule, settings.budget.deadline)
    if trace is None:
        return None
    found = finding_of(design, table, rule, replace(
        verdict, trace=trace, method="found with smaller capacities, and replayed with these"))
    return replace(found, is_shortest=False)


def _is_abstract(table: Table, trace: Trace) -> bool:
    return any(row.effect.abstract for row in rows_of(table, trace))


def not_the_searchs(engine: str) -> Finding:
    """The finding of an engine on a property that only a search decides: unknown."""
    name = "wait-for graph" if engine == "graph" else "structure"
    return Finding("", Outcome.UNKNOWN, name,
                   reason="only the engine `explorer` decides this property")


def search(table: Table, rule: str, settings: Settings) -> Verdict:
    """The verdict on a rule of the net; the violated instance, if it has several."""
    from ...engines.search import check_rules, instances
    from ...notation import bind
    from ..net.net import Net
    settings.budget.deadline.check("translating the design")
    bound = bind(Net, **table.constants())
    verdicts = check_rules(bound, instances(bound, rule), settings.budget)
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    return min(verdicts, key=lambda verdict: worst.index(verdict.outcome))


def rows_of(table: Table, trace: Trace) -> list[Row]:
    """The rows behind the steps of a trace."""
    return [table.row_of(step.action, step.args[0][1]) for step in trace.steps]


def finding_of(design: Design, table: Table, rule: str, verdict: Verdict) -> Finding:
    """A verdict in the words of the design: its steps, and the waits after them."""
    make = partial(
        Finding, "", verdict.outcome, verdict.method, verdict.states, verdict.transitions,
        verdict.depth, reason=verdict.reason,
    )
    if verdict.trace is None:
        return make()
    steps, loop = tuple(steps_of(table, verdict.trace)), verdict.trace.loop
    marking = end_marking(table, verdict.trace)
    contents = table.contents(marking)
    if rule == "DESIGN-2" or (loop is not None and loop < len(steps)):
        return make(steps=steps, loop=loop, contents=contents,  # no task waits forever there
                    changes=tuple(changes_of(table, verdict.trace)))
    waits = waits_in(design, table, marking)
    return make(steps=steps, waits=tuple(waits), cycle=tuple(closed_cycle(waits)),
                contents=contents, free=table.free(marking),
                changes=tuple(changes_of(table, verdict.trace)),
                left=tuple(left_in(design, table, marking)))
