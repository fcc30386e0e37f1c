"""Deciding rules with native code, with the oracle's word on every counterexample."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ..notation.bound import BoundMachine
from ..notation.errors import ModelFault
from ..notation.labels import counted
from ..notation.model import Fault, LoweredRule
from .graph import Graph
from .interpreter import show_step
from .replay import HasRule, fair_steps, trace_of
from .search import SAFETY, budget_spent, fault_error, method_of, violated
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
    from .native import TooWide
    try:
        return _decide(bound, wanted, lowered, budget, spent)
    except TooWide as error:
        # Honest, and no fault of the author's: the interpreter could go on, for a long time.
        return [
            Verdict(Outcome.UNKNOWN, method_of(item.rule.kind, complete=False), seconds=spent,
                    reason=str(error))
            for item in wanted
        ]


def _decide(
    bound: BoundMachine, wanted: Sequence[HasRule], lowered: Sequence[LoweredRule],
    budget: Budget, spent: float,
) -> list[Verdict]:
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
        raise _fault(bound, *result.fault)
    seconds = result.seconds + result.compile_seconds
    verdicts = {}
    for position, (number, item) in enumerate(rules.items()):
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind, result.complete), result.states,
                       result.transitions, result.depth, seconds)
        if position in result.violations:
            trace = trace_of(bound.interpreter, result.violations[position], item)
            base = violated(base, item.rule.kind, trace, result.complete)
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
    from .liveness import OutOfTime
    from .native import graph as native_graph
    deadline = time.monotonic() + budget.max_seconds if budget.max_seconds else None
    predicates = [expression for item in rules.values() for expression in item.exprs]
    found = native_graph(bound.model, predicates, budget)
    if found.fault is not None:
        raise _fault(bound, *found.fault)
    graph = _as_graph(found) if found.complete else None
    bits = iter(found.predicate_bits)
    fair = fair_steps(bound.interpreter)
    verdicts = {}
    for number, item in rules.items():
        values = [_view(next(bits)) for _ in item.exprs]
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind, graph is not None), found.states,
                       len(found.target), found.depth, found.seconds)
        if graph is None:
            verdicts[number] = _undecided(base, found.stopped_by)
            continue
        try:
            lasso = _lasso(graph, fair, item, values, deadline)
        except OutOfTime:
            verdicts[number] = replace(
                base, outcome=Outcome.UNKNOWN, method=method_of(item.rule.kind, complete=False),
                reason="all states were found, and the budget of time was spent on the "
                       f"components of {counted(found.states, 'state')}")
            continue
        if lasso is not None:
            trace = trace_of(bound.interpreter, lasso.steps, item, lasso.loop)
            base = violated(base, item.rule.kind, trace, complete=True)
        verdicts[number] = base
    return verdicts


def _lasso(
    graph: Graph, fair: list[int], item: LoweredRule, values: list[Sequence[int]],
    deadline: float | None,
) -> Lasso | None:
    from .liveness import find_lasso, find_recurring
    if item.rule.kind == "leads to":
        premise = [p and not q for p, q in zip(*values, strict=True)]
        return find_lasso(graph, fair, premise, values[1], deadline)
    return find_recurring(graph, fair, [not value for value in values[0]], deadline)


def _fault(bound: BoundMachine, fault: Fault, path: Sequence[int]) -> ModelFault:
    labels = tuple(show_step(*bound.interpreter.steps()[number]) for number in path)
    return fault_error(fault.message, f"{fault.file}:{fault.line}", labels)


def _as_graph(found: NativeGraph) -> Graph:
    """The native graph in the form that the liveness engine walks.

    The arrays are not copied: a view hands out Python numbers one at a time. A state's
    parent is where the first edge to it comes from, since both are in breadth-first order;
    for the same reason parents never decrease, and the levels can be told from them.
    """
    import numpy
    count = found.states
    parent, parent_via = numpy.full(count, -1), numpy.full(count, -1)
    reached, edge = numpy.unique(found.target, return_index=True)
    parent[reached] = numpy.searchsorted(found.first, edge, side="right") - 1
    parent_via[reached] = found.via[edge]
    parent[0] = parent_via[0] = -1
    ends = [1]
    while ends[-1] < count:
        ends.append(int(numpy.searchsorted(parent, ends[-1])))
    depth = numpy.repeat(numpy.arange(len(ends)), numpy.diff([0, *ends]))
    # The states themselves are packed, and nothing that walks the graph looks at them.
    return Graph(
        [()] * count, _view(found.first), _view(found.target), _view(found.via),
        _view(parent), _view(parent_via), _view(depth),
    )


def _view(row: Any) -> Sequence[int]:
    """An array as a sequence of Python's numbers, without a copy."""
    return cast("Sequence[int]", memoryview(row))
