"""Deciding rules with native code, with the oracle's word on every counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ..notation.bound import BoundMachine
from ..notation.errors import ModelFault
from ..notation.interpreter import show_step
from ..notation.labels import counted
from ..notation.model import Fault, LoweredRule
from ..verdicts.deadline import Deadline, Spent, ask
from ..verdicts.native_refusal import NotNative
from ..verdicts.searched import LOWERING, SAFETY, budget_spent, fault_error, method_of, violated
from ..verdicts.verdict import Budget, Outcome, Verdict
from .graph import Graph
from .replay import HasRule, fair_steps, trace_of

if TYPE_CHECKING:
    from .liveness import Lasso
    from .native import NativeGraph

__all__ = ["NotNative", "check_with_native_code", "graph_of"]

MAKING = "making the graph of the states"
_STATE_BYTES, _EDGE_BYTES = 60, 32
"""Of the arrays that the graph is made with, those for a moment included."""


def check_with_native_code(
    bound: BoundMachine, wanted: Sequence[HasRule], budget: Budget
) -> list[Verdict]:
    """One verdict for each rule, in order.

    Raises NotNative where native code cannot have the machine, before it is lowered if its
    declarations show that, and OutOfTime where the time is spent before the search has begun.
    """
    from .native.layout import check_size
    check_size(bound.machine.__name__, bound.slots, bound.constants)
    model = bound.lowered(budget.deadline.watch(LOWERING))
    by_name = {(rule.rule.id, rule.args): rule for rule in model.rules}
    lowered = [by_name[item.rule.id, item.args] for item in wanted]
    safety = [i for i, item in enumerate(wanted) if item.rule.kind in SAFETY]
    live = [i for i, item in enumerate(wanted) if item.rule.kind not in SAFETY]
    verdicts: dict[int, Verdict] = {}
    if safety:
        verdicts |= _safety_by_names(bound, {i: lowered[i] for i in safety}, budget)
    if live:
        try:
            verdicts |= _liveness_or_late(
                bound, {i: lowered[i] for i in live}, budget, bool(safety))
        except NotNative as refusal:
            refusal.decided = verdicts
            raise
    return [verdicts[i] for i in range(len(wanted))]


def graph_of(bound: BoundMachine, budget: Budget) -> Graph:
    """All reachable states as a graph, without their values; one that is not ``complete`` has
    only the number of states that were found.

    Raises NotNative, OutOfTime and ModelFault.
    """
    from .native import graph as native_graph
    from .native.layout import check_size
    check_size(bound.machine.__name__, bound.slots, bound.constants)
    bound.lowered(budget.deadline.watch(LOWERING))
    found = native_graph(bound.model, [], budget)
    if found.fault is not None:
        raise _fault(bound, *found.fault)
    if found.complete:
        return _as_graph(found, budget.deadline)
    return Graph([()] * found.states, [], [], [], [], [], [], False, found.stopped_by)


def _safety_by_names(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    """Up to the names of alike members, what may be decided so; the rest as ever."""
    from .alike import alike_members
    renamed = alike_members(bound, rules, budget) if budget.renaming else {}
    rest = {place: rule for place, rule in rules.items() if place not in renamed}
    verdicts = _up_to_names(bound, renamed, budget) if renamed else {}
    return verdicts | (_safety(bound, rest, budget) if rest else {})


def _up_to_names(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    """One search for rules, those together that renamings map to each other."""
    from .alike import Renamed, together
    from .native import explore
    names, groups = Renamed(bound), together(bound, rules)
    result = explore(bound.model, [group.rule for group in groups], budget, names.group)
    if result.fault is not None:
        fault, path = result.fault
        raise _fault(bound, fault, names.run_behind(path, budget.deadline))
    verdicts = {}
    for position, group in enumerate(groups):
        run = None
        if position in result.violations:
            run = names.run_behind(result.violations[position], budget.deadline)
        for place in group.members:
            item = rules[place]
            base = Verdict(Outcome.HOLDS, method_of(item.rule.kind, result.complete),
                           result.states, result.transitions, result.depth)
            if run is not None:
                path = names.breaking(run, item)
                base = _replayed(bound, path, item, base, result.complete, budget.deadline)
            elif not result.complete:
                base = _undecided(base, result.stopped_by, result.late)
            verdicts[place] = replace(
                base, method=f"{base.method}, up to the names in {names.sets}")
    return verdicts


def _safety(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    from .native import explore
    result = explore(bound.model, list(rules.values()), budget)
    if result.fault is not None:
        raise _fault(bound, *result.fault)
    verdicts = {}
    for position, (number, item) in enumerate(rules.items()):
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind, result.complete), result.states,
                       result.transitions, result.depth)
        if position in result.violations:
            base = _replayed(bound, result.violations[position], item, base, result.complete,
                             budget.deadline)
        elif not result.complete:
            base = _undecided(base, result.stopped_by, result.late)
        verdicts[number] = base
    return verdicts


def _replayed(
    bound: BoundMachine, path: Sequence[int], item: HasRule, base: Verdict, complete: bool,
    deadline: Deadline,
) -> Verdict:
    """The violation, if the interpreter has the time to say so too."""
    try:
        trace = trace_of(bound.interpreter, path, item, deadline=deadline)
    except Spent as late:
        return replace(base, outcome=Outcome.UNKNOWN,
                       method=method_of(item.rule.kind, complete=False), reason=str(late))
    return violated(base, item.rule.kind, trace, complete)


def _undecided(base: Verdict, stopped_by: str, late: str = "") -> Verdict:
    """Unknown, as a budget ended the search; ``late`` says what it was doing, if not searching."""
    reason = budget_spent(stopped_by, base.states, max(0, base.depth - 1))
    return replace(base, outcome=Outcome.UNKNOWN, reason=f"{reason}; {late}" if late else reason)


def _liveness_or_late(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget, others: bool
) -> dict[int, Verdict]:
    """The verdicts on liveness; those on safety are kept where the time ends here."""
    try:
        return _liveness(bound, rules, budget)
    except Spent as late:
        if not others:
            raise
        return {
            number: Verdict(Outcome.UNKNOWN, method_of(item.rule.kind, complete=False),
                            reason=str(late))
            for number, item in rules.items()
        }


def _liveness(
    bound: BoundMachine, rules: dict[int, LoweredRule], budget: Budget
) -> dict[int, Verdict]:
    """Decide rules of liveness on the graph that native code has built, with their predicates as
    bits."""
    from .native import graph as native_graph
    predicates = [expression for item in rules.values() for expression in item.exprs]
    found = native_graph(bound.model, predicates, budget)
    if found.fault is not None:
        raise _fault(bound, *found.fault)
    graph = _as_graph(found, budget.deadline) if found.complete else None
    bits = iter(found.predicate_bits)
    verdicts = {}
    for number, item in rules.items():
        values = [_view(next(bits)) for _ in item.exprs]
        base = Verdict(Outcome.HOLDS, method_of(item.rule.kind, graph is not None), found.states,
                       len(found.target), found.depth)
        if graph is None:
            verdicts[number] = _undecided(base, found.stopped_by)
        else:
            verdicts[number] = _on_graph(bound, graph, item, values, base, budget.deadline)
    return verdicts


def _on_graph(
    bound: BoundMachine, graph: Graph, item: LoweredRule, values: list[Sequence[int]],
    base: Verdict, deadline: Deadline,
) -> Verdict:
    try:
        lasso = _lasso(graph, fair_steps(bound.interpreter), item, values, deadline)
        if lasso is None:
            return base
        trace = trace_of(bound.interpreter, lasso.steps, item, lasso.loop, deadline)
    except Spent as late:
        return replace(
            base, outcome=Outcome.UNKNOWN, method=method_of(item.rule.kind, complete=False),
            reason=f"all {counted(base.states, 'state')} were found, and {late}")
    return violated(base, item.rule.kind, trace, complete=True)


def _lasso(
    graph: Graph, fair: list[int], item: LoweredRule, values: list[Sequence[int]],
    deadline: Deadline,
) -> Lasso | None:
    from .liveness import find_lasso, find_recurring
    if item.rule.kind == "leads to":
        premise = [p and not q for p, q in zip(*values, strict=True)]
        return find_lasso(graph, fair, premise, values[1], deadline)
    return find_recurring(graph, fair, [not value for value in values[0]], deadline)


def _fault(bound: BoundMachine, fault: Fault, path: Sequence[int]) -> ModelFault:
    labels = tuple(show_step(*bound.interpreter.steps()[number]) for number in path)
    return fault_error(fault.message, f"{fault.file}:{fault.line}", labels)


def _as_graph(found: NativeGraph, deadline: Deadline) -> Graph:
    """The native graph in the form that the liveness engine walks.

    The arrays are not copied: a view hands out Python numbers one at a time. A state's
    parent is where the first edge to it comes from, since both are in breadth-first order;
    for the same reason parents never decrease, and they show the levels.
    """
    import numpy
    count = found.states
    ask(_STATE_BYTES * count + _EDGE_BYTES * len(found.target), MAKING)
    parent, parent_via = numpy.full(count, -1), numpy.full(count, -1)
    reached, edge = numpy.unique(found.target, return_index=True)
    deadline.check(MAKING)
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
