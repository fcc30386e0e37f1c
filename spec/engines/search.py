"""Deciding rules by exhaustive search: the interpreter for small machines, native code
for the rest. Every counterexample is replayed by the interpreter before it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..notation.bound import BoundMachine
from ..notation.errors import InputError, ModelFault
from ..notation.labels import counted
from ..notation.rules import Rule
from .graph import Graph, explore_with_interpreter
from .interpreter import Args, Interpreter, choices
from .replay import HasRule, fair_steps, trace_of
from .verdict import Budget, Outcome, Trace, Verdict

__all__ = ["Engine", "RuleInstance", "check_rules", "instances"]

Engine = Literal["auto", "interpreter", "native"]
ATTEMPTS_BEFORE_NATIVE = 40_000
"""Steps that the interpreter tries before native code takes over: about 0.15 s."""

SAFETY = ("always", "step", "never stuck")


@dataclass(frozen=True)
class RuleInstance:
    """A rule for one choice of its parameters."""

    rule: Rule
    args: Args = ()


def instances(bound: BoundMachine, rule_id: str | None = None) -> list[RuleInstance]:
    """Every rule of a machine that an engine can decide (or the one of an id), once for
    each choice of its parameters. Raises InputError for an unknown id."""
    found = [
        RuleInstance(rule, args)
        for rule in bound.machine.rules_declared
        if rule.predicate is not None and rule_id in (None, rule.id)
        for args in choices(rule.over, bound.constants)
    ]
    if rule_id is not None and not found:
        known = ", ".join(r.id for r in bound.machine.rules_declared if r.predicate is not None)
        raise InputError(
            f"{bound.machine.__name__} has no rule {rule_id} that a search can decide",
            next_step=f"It has {known}.",
        )
    return found


def check_rules(
    bound: BoundMachine, rules: Sequence[HasRule] | None = None, budget: Budget | None = None,
    engine: Engine = "auto",
) -> list[Verdict]:
    """One verdict for each rule, in order (all rules of the machine if none are given).

    Raises ModelFault where the machine leaves its declared ranges, NotationError where it is
    written in Python that the notation does not have. ``seconds`` in each verdict is the time
    of the whole search, which decides all rules together.
    """
    wanted = list(instances(bound) if rules is None else rules)
    budget = budget or Budget()
    started = time.monotonic()
    if engine != "native":
        _refuse_other_python(bound)
        limit = ATTEMPTS_BEFORE_NATIVE if engine == "auto" else None
        graph = explore_with_interpreter(bound.interpreter, budget, limit)
        if graph.complete or graph.stopped_by != "attempts":
            found = [_decide(bound.interpreter, graph, item) for item in wanted]
            seconds = time.monotonic() - started
            return [replace(verdict, seconds=seconds) for verdict in found]
    from .compiled import check_with_native_code
    spent = time.monotonic() - started
    return check_with_native_code(bound, wanted, _less(budget, spent), spent)


def _refuse_other_python(bound: BoundMachine) -> None:
    """CPython runs more than the notation has, and may never come back from it.

    So a machine is lowered before it is run, which refuses the rest with file and line. Those
    of the rule book are spared the time: its tests lower them.
    """
    if not bound.machine.__module__.startswith("checkvalve.spec."):
        bound.model  # noqa: B018 - lowering happens on access


def _less(budget: Budget, spent: float) -> Budget:
    if budget.max_seconds is None:
        return budget
    return replace(budget, max_seconds=max(0.001, budget.max_seconds - spent))


# --- deciding on a graph of interpreted states ------------------------------------------------

def _decide(interpreter: Interpreter, graph: Graph, item: HasRule) -> Verdict:
    kind = item.rule.kind
    if kind in SAFETY:
        path = _violation(interpreter, graph, item)
        loop = None
    elif graph.complete:
        path, loop = _lasso(interpreter, graph, item)
    else:
        path, loop = None, None
    base = Verdict(
        Outcome.HOLDS, method_of(kind, graph.complete), len(graph.states), len(graph.target),
        graph.depth[-1])
    if path is not None:
        trace = trace_of(interpreter, path, item, loop)
        return violated(base, kind, trace, graph.complete)
    if graph.complete:
        return base
    covered = max(0, graph.depth[len(graph.first) - 1] - 1)
    return replace(
        base, outcome=Outcome.UNKNOWN,
        reason=budget_spent(graph.stopped_by, len(graph.states), covered))


def budget_spent(which: str, states: int, covered: int) -> str:
    """Why a search ended early, and what it had covered by then."""
    return (f"the budget of {which} was spent after {counted(states, 'state')}; "
            f"all states up to depth {covered} were covered")


def method_of(kind: str, complete: bool) -> str:
    """How a rule of a kind is decided by a search that visited all states, or did not."""
    if not complete:
        return "search, incomplete"
    return "exhaustive" if kind in SAFETY else "exhaustive, weak fairness"


def violated(base: Verdict, kind: str, trace: Trace, complete: bool) -> Verdict:
    """The verdict with its trace. What was found breadth first is the shortest way there,
    also where the search ended with it."""
    method = method_of(kind, complete) if complete else "search, up to the violation"
    return replace(base, outcome=Outcome.VIOLATED, method=method, trace=trace)


def _violation(interpreter: Interpreter, graph: Graph, item: HasRule) -> list[int] | None:
    rule, args = item.rule, item.args
    expanded = len(graph.first) - 1
    for here, state in enumerate(graph.states):
        row = range(graph.first[here], graph.first[here + 1]) if here < expanded else range(0)
        if rule.kind == "always":
            if not interpreter.holds(rule, args, state):
                return graph.path(here)
        elif rule.kind == "never stuck":
            if here < expanded and not row and not interpreter.holds(rule, args, state):
                return graph.path(here)
        else:
            for edge in row:
                after = graph.states[graph.target[edge]]
                if not interpreter.holds(rule, args, state, after):
                    return [*graph.path(here), graph.via[edge]]
    return None


def _lasso(
    interpreter: Interpreter, graph: Graph, item: HasRule
) -> tuple[list[int] | None, int | None]:
    from .liveness import find_lasso, find_recurring
    fair = fair_steps(interpreter)
    values = [interpreter.holds(item.rule, item.args, state) for state in graph.states]
    if item.rule.kind == "leads to":
        premise = [bool(p) and not q for p, q in values]
        lasso = find_lasso(graph, fair, premise, [bool(q) for _, q in values])
    else:
        lasso = find_recurring(graph, fair, [not value for value in values])
    return (None, None) if lasso is None else (list(lasso.steps), lasso.loop)


def fault_error(message: str, where: str, steps: tuple[str, ...]) -> ModelFault:
    """The error for a machine that leaves its ranges, found by an engine."""
    return ModelFault(message, where, "Widen the declared range, or add a guard.", steps)
