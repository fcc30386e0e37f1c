"""Deciding rules with native code, with the oracle's word on every counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..notation.bound import BoundMachine
from ..notation.model import LoweredRule
from .graph import Graph
from .search import (
    SAFETY, HasRule, fair_steps, fault_error, method_of, show_step, trace_of,
)
from .verdict import Budget, Outcome, Verdict

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
    counts = {
        "states": result.states, "transitions": result.transitions, "depth": result.depth,
        "seconds": result.seconds + result.compile_seconds,
    }
    verdicts = {}
    for position, (number, item) in enumerate(rules.items()):
        method = method_of(item.rule.kind)
        if position in result.violations:
            trace = trace_of(bound.interpreter, result.violations[position], item)
            verdicts[number] = Verdict(Outcome.VIOLATED, method, trace=trace, **counts)
        elif result.complete:
            verdicts[number] = Verdict(Outcome.HOLDS, method, **counts)
        else:
            reason = _covered(result.stopped_by, result.states, result.depth)
            verdicts[number] = Verdict(Outcome.UNKNOWN, method, reason=reason, **counts)
    return verdicts


def _covered(stopped_by: str, states: int, depth: int) -> str:
    return (
        f"the budget of {stopped_by} was spent after {states} states; "
        f"all states up to depth {max(0, depth - 1)} were covered"
    )


def _liveness(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    from .liveness import find_lasso, find_recurring
    from .native import graph as native_graph
    predicates = [expression for item in rules.values() for expression in item.exprs]
    found = native_graph(bound.model, predicates, budget)
    graph = _as_graph(found)
    counts = {
        "states": len(graph.states), "transitions": len(graph.target),
        "depth": max(graph.depth, default=0), "seconds": found.seconds,
    }
    bits = iter(found.predicate_bits)
    verdicts = {}
    fair = fair_steps(bound.interpreter)
    for number, item in rules.items():
        method = method_of(item.rule.kind)
        values = [next(bits).tolist() for _ in item.exprs]
        if not found.complete:
            reason = _covered(found.stopped_by, len(graph.states), counts["depth"])
            verdicts[number] = Verdict(Outcome.UNKNOWN, method, reason=reason, **counts)
            continue
        if item.rule.kind == "leads to":
            premise = [p and not q for p, q in zip(*values, strict=True)]
            lasso = find_lasso(graph, fair, premise, values[1])
        else:
            lasso = find_recurring(graph, fair, [not value for value in values[0]])
        if lasso is None:
            verdicts[number] = Verdict(Outcome.HOLDS, method, **counts)
        else:
            trace = trace_of(bound.interpreter, lasso.steps, item, lasso.loop)
            verdicts[number] = Verdict(Outcome.VIOLATED, method, trace=trace, **counts)
    return verdicts


def _as_graph(found: object) -> Graph:
    """The native graph in the form that the liveness engine walks."""
    first, target, via = (
        getattr(found, name).tolist() for name in ("first", "target", "via")
    )
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
