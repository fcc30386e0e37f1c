"""Deciding rules with native code, with the oracle's word on every counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..notation.bound import BoundMachine
from ..notation.model import LoweredRule
from .graph import Graph
from .interpreter import show_step
from .search import (
    SAFETY, HasRule, budget_spent, fair_steps, fault_error, method_of, trace_of,
)
from .verdict import Budget, Outcome, Verdict

if TYPE_CHECKING:
    from .liveness import Lasso
    from .native import NativeGraph

__all__ = ["check_with_native_code"]


def check_with_native_code(
    bound: BoundMachine, wanted: Sequence[HasRule], budget: Budget, spent: float = 0.0
) -> list[Verdict]:
    """One verdict for each rule, in order; ``spent`` seconds are added to each."""
    lowered = [_lowered(bound, item) for item in wanted]
    safety = [i for i, item in enumerate(wanted) if item.rule.kind in SAFETY]
    live = [i for i, item in enumerate(wanted) if item.rule.kind not in SAFETY]
    verdicts: dict[int, Verdict] = {}
    if safety:
        verdicts |= _safety(bound, {i: lowered[i] for i in safety}, budget)
    if live:
        verdicts |= _liveness(bound, {i: lowered[i] for i in live}, budget)
    return [
        replace(verdicts[i], seconds=verdicts[i].seconds + spent) for i in range(len(wanted))
    ]


def _lowered(bound: BoundMachine, item: HasRule) -> LoweredRule:
    return next(
        rule for rule in bound.model.rules
        if rule.rule.id == item.rule.id and rule.args == item.args
    )


def _safety(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    from .native import explore
    result = explore(bound.model, list(rules.values()), budget)
    if result.fault is not None:
        fault, path = result.fault
        labels = tuple(show_step(*bound.interpreter.steps()[number]) for number in path)
        raise fault_error(fault.message, f"{fault.file}:{fault.line}", labels)
    seconds = result.seconds + result.compile_seconds
    verdicts = {}
    for position, (number, item) in enumerate(rules.items()):
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind), result.states,
                       result.transitions, result.depth, seconds)
        if position in result.violations:
            trace = trace_of(bound.interpreter, result.violations[position], item)
            base = replace(base, outcome=Outcome.VIOLATED, trace=trace)
        elif not result.complete:
            base = _undecided(base, result.stopped_by)
        verdicts[number] = base
    return verdicts


def _undecided(base: Verdict, stopped_by: str) -> Verdict:
    reason = budget_spent(stopped_by, base.states, max(0, base.depth - 1))
    return replace(base, outcome=Outcome.UNKNOWN, reason=reason)


def _liveness(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    from .native import graph as native_graph
    predicates = [expression for item in rules.values() for expression in item.exprs]
    found = native_graph(bound.model, predicates, budget)
    graph = _as_graph(found)
    bits = iter(found.predicate_bits)
    fair = fair_steps(bound.interpreter)
    verdicts = {}
    for number, item in rules.items():
        values = [next(bits).tolist() for _ in item.exprs]
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind), len(graph.states),
                       len(graph.target), max(graph.depth, default=0), found.seconds)
        if not found.complete:
            verdicts[number] = _undecided(base, found.stopped_by)
            continue
        lasso = _lasso(graph, fair, item, values)
        if lasso is not None:
            trace = trace_of(bound.interpreter, lasso.steps, item, lasso.loop)
            base = replace(base, outcome=Outcome.VIOLATED, trace=trace)
        verdicts[number] = base
    return verdicts


def _lasso(
    graph: Graph, fair: list[int], item: LoweredRule, values: list[list[bool]]
) -> Lasso | None:
    from .liveness import find_lasso, find_recurring
    if item.rule.kind == "leads to":
        premise = [p and not q for p, q in zip(*values, strict=True)]
        return find_lasso(graph, fair, premise, values[1])
    return find_recurring(graph, fair, [not value for value in values[0]])


def _as_graph(found: NativeGraph) -> Graph:
    """The native graph in the form that the liveness engine walks."""
    first, target, via = (rows.tolist() for rows in (found.first, found.target, found.via))
    count = len(first) - 1
    parent, parent_via, depth = [-1] * count, [-1] * count, [0] * count
    seen = [False] * count
    seen[0] = True
    for state in range(count):  # breadth-first order: a parent comes before its children
        for edge in range(first[state], first[state + 1]):
            there = target[edge]
            if not seen[there]:
                seen[there] = True
                parent[there], parent_via[there] = state, via[edge]
                depth[there] = depth[state] + 1
    return Graph([()] * count, first, target, via, parent, parent_via, depth)
