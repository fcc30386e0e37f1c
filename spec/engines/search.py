"""Deciding rules by exhaustive search: the interpreter for small machines, native code
for the rest. Every counterexample is replayed by the interpreter before it is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..notation.bound import BoundMachine
from ..notation.errors import InputError
from ..notation.interpreter import Args, Interpreter, choices
from ..notation.labels import counted
from ..notation.rules import Rule
from ..verdicts.deadline import Clock, Deadline, Spent
from ..verdicts.memory import room
from ..verdicts.searched import budget_spent, covered_by, LOWERING, method_of, SAFETY, violated
from ..verdicts.verdict import Budget, Outcome, Verdict
from .graph import Graph, explore_with_interpreter
from .replay import HasRule, fair_steps, trace_of

__all__ = ["Engine", "RuleInstance", "check_rules", "instances", "judged"]

Engine = Literal["auto", "interpreter", "native"]
ATTEMPTS_BEFORE_NATIVE = 30_000
"""Steps that the interpreter tries, learning, before native code takes over: about 0.2 s, as much
as it takes to compile a small machine, so that neither way costs more than twice the better one.

Of a machine with more than 64 slots fewer, since each step costs more."""
FALLBACK_SECONDS = 60.0
"""Seconds for the interpreter where native code cannot have a machine and the budget says nothing;
it is a hundred times slower, and a wait without a limit has to be asked for."""
GRACE_SECONDS = 0.2
"""Seconds that may still be spent on the states at hand when the time is over."""


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
        _refuse_empty_domain(bound, rule_id)
        known = ", ".join(r.id for r in bound.machine.rules_declared if r.predicate is not None)
        raise InputError(
            f"{bound.machine.__name__} has no rule {rule_id} that a search can decide",
            next_step=f"It has {known}.",
        )
    return found


def _refuse_empty_domain(bound: BoundMachine, rule_id: str) -> None:
    """Raise InputError for a rule that has no instance to decide with these constants."""
    for rule in bound.machine.rules_declared:
        if rule.id == rule_id and rule.predicate is not None:
            names = " and ".join(name for name, _ in rule.over)
            code = rule.predicate.__code__
            raise InputError(
                f"the rule {rule_id} of {bound.machine.__name__} speaks of nothing: with these "
                f"constants there is no value for {names}",
                f"{code.co_filename}:{code.co_firstlineno}",
                "Choose constants for which each of its domains has a value.",
            )


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
    budget = (budget or Budget()).start()
    began = budget.deadline.spent()
    found = _verdicts(bound, wanted, budget, engine)
    seconds = budget.deadline.spent() - began
    return [replace(verdict, seconds=seconds) for verdict in found]


def _verdicts(
    bound: BoundMachine, wanted: Sequence[HasRule], budget: Budget, engine: Engine
) -> list[Verdict]:
    """By the interpreter while the machine is small or native code cannot have it."""
    graph: Graph | None = None
    try:
        if engine != "native":
            _refuse_other_python(bound, budget.deadline)
            limit = _attempts(bound.interpreter) if engine == "auto" else None
            graph = explore_with_interpreter(
                bound.interpreter, budget, limit, learning=engine == "auto")
            if graph.complete or graph.stopped_by != "attempts":
                return [_judge(bound, graph, item, budget.deadline) for item in wanted]
        from .compiled import NotNative, check_with_native_code
        try:
            return check_with_native_code(bound, wanted, budget)
        except NotNative as refusal:
            done = refusal.decided
            left = [item for place, item in enumerate(wanted) if place not in done]
            rest = iter(
                [_unknown(item, str(refusal)) for item in left] if engine == "native"
                else _without_native_code(bound, left, budget, refusal.what))
            return [done[place] if place in done else next(rest) for place in range(len(wanted))]
    except Spent as late:
        return _at_the_end(bound, wanted, graph, late, budget.clock)


def judged(
    bound: BoundMachine, rules: Sequence[HasRule], budget: Budget, within: bool = False
) -> list[Verdict]:
    """As ``check_rules`` by the interpreter alone, which learns: for machines that are changed
    mechanically, of which there are many.

    With ``within`` steps out of the declared ranges are left out; where there are some, nothing is
    said of rules that are not about states or steps that are reached without them.
    """
    budget = budget.start()
    graph = explore_with_interpreter(bound.interpreter, budget, learning=True, within=within)
    return [_unknown(item, "steps out of the declared ranges are left out")
            if graph.faults and item.rule.kind not in ("always", "step")
            else _judge(bound, graph, item, budget.deadline) for item in rules]


def _attempts(interpreter: Interpreter) -> int:
    return ATTEMPTS_BEFORE_NATIVE // max(1, interpreter.layout.size // 64)


def _without_native_code(
    bound: BoundMachine, wanted: Sequence[HasRule], budget: Budget, why: str
) -> list[Verdict]:
    """By the interpreter alone, with what is left; some of it is kept for judging."""
    if budget.max_seconds is None:
        budget = replace(budget, running=Deadline(FALLBACK_SECONDS, budget.clock))
    if budget.max_memory is None:
        budget = replace(budget, max_memory=room())
    graph = explore_with_interpreter(bound.interpreter, budget.share(1.25))
    found = [_judge(bound, graph, item, budget.deadline) for item in wanted]
    return [
        replace(verdict, reason=f"{why}, so the interpreter searched: {verdict.reason}")
        if verdict.outcome is Outcome.UNKNOWN else verdict for verdict in found
    ]


def _at_the_end(
    bound: BoundMachine, wanted: Sequence[HasRule], graph: Graph | None, late: Spent,
    clock: Clock,
) -> list[Verdict]:
    """The verdicts that are known when the time is over: a violation in what the interpreter had
    searched before native code was made, or nothing."""
    if graph is None:
        return [_unknown(item, f"{late}; nothing was covered") for item in wanted]
    grace = Deadline(GRACE_SECONDS, clock)
    found = [_judge(bound, graph, item, grace) for item in wanted]
    before = covered_by(len(graph.states), _covered(graph))
    return [
        verdict if verdict.outcome is Outcome.VIOLATED
        else replace(verdict, reason=f"{late}, after {before} by the interpreter")
        for verdict in found
    ]


def _unknown(item: HasRule, reason: str) -> Verdict:
    return Verdict(Outcome.UNKNOWN, method_of(item.rule.kind, complete=False), reason=reason)


def _judge(bound: BoundMachine, graph: Graph, item: HasRule, deadline: Deadline) -> Verdict:
    """The verdict on a rule from the states that the interpreter found, or why there is none."""
    try:
        return _decide(bound.interpreter, graph, item, deadline)
    except Spent as late:
        return replace(_unknown(item, f"{late}; {counted(len(graph.states), 'state')} were found"),
                       states=len(graph.states), transitions=len(graph.target),
                       depth=graph.depth[-1])


def _refuse_other_python(bound: BoundMachine, deadline: Deadline) -> None:
    """CPython runs more than the notation has, and may never come back from it.

    So a machine is lowered before it is run, which refuses the rest with file and line. Those
    of the rule book are spared the time: its tests lower them.
    """
    if not bound.machine.__module__.startswith("checkvalve.spec."):
        bound.lowered(deadline.watch(LOWERING))


# --- deciding on a graph of interpreted states ------------------------------------------------

def _decide(
    interpreter: Interpreter, graph: Graph, item: HasRule, deadline: Deadline
) -> Verdict:
    kind = item.rule.kind
    if kind in SAFETY:
        path = _violation(interpreter, graph, item, deadline)
        loop = None
    elif graph.complete:
        path, loop = _lasso(interpreter, graph, item, deadline)
    else:
        path, loop = None, None
    base = Verdict(
        Outcome.HOLDS, method_of(kind, graph.complete), len(graph.states), len(graph.target),
        graph.depth[-1])
    if path is not None:
        trace = trace_of(interpreter, path, item, loop, deadline)
        return violated(base, kind, trace, graph.complete)
    if graph.complete:
        return base
    return replace(
        base, outcome=Outcome.UNKNOWN,
        reason=budget_spent(graph.stopped_by, len(graph.states), _covered(graph)))


def _covered(graph: Graph) -> int:
    """The depth up to which an unfinished search has expanded all states."""
    expanded = len(graph.first) - 1
    return max(0, graph.depth[min(expanded, len(graph.depth) - 1)] - 1)


def _violation(
    interpreter: Interpreter, graph: Graph, item: HasRule, deadline: Deadline
) -> list[int] | None:
    rule, args = item.rule, item.args
    expanded = len(graph.first) - 1
    for here in range(len(graph.states)):
        if here % 16 == 15:
            deadline.check(f"judging {rule.id}")
        row = range(graph.first[here], graph.first[here + 1]) if here < expanded else range(0)
        if rule.kind == "never stuck" and (row or here >= expanded):
            continue
        state = graph.states[here]
        if rule.kind in ("always", "never stuck"):
            if not interpreter.holds(rule, args, state):
                return graph.path(here)
        else:
            for edge in row:
                after = graph.states[graph.target[edge]]
                if not interpreter.holds(rule, args, state, after):
                    return [*graph.path(here), graph.via[edge]]
    return None


def _lasso(
    interpreter: Interpreter, graph: Graph, item: HasRule, deadline: Deadline
) -> tuple[list[int] | None, int | None]:
    from .liveness import find_lasso, find_recurring
    fair = fair_steps(interpreter)
    values = []
    for state in graph.states:
        deadline.check(f"judging {item.rule.id}")
        values.append(interpreter.holds(item.rule, item.args, state))
    if item.rule.kind == "leads to":
        premise = [bool(p) and not q for p, q in values]
        lasso = find_lasso(graph, fair, premise, [bool(q) for _, q in values], deadline)
    else:
        lasso = find_recurring(graph, fair, [not value for value in values], deadline)
    return (None, None) if lasso is None else (list(lasso.steps), lasso.loop)


