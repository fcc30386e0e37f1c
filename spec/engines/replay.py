"""Replaying counterexamples: the interpreter's own word on what an engine has found.

An engine says which steps break a rule. Before they are shown, the interpreter takes each
step again and asks the rule, so that a wrong engine ends in an error of ours and never in a
wrong verdict. Nothing here is shared with the engines: a lasso is judged by what a weakly fair
run is (see ``_unfair``), not by how it was looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..notation.errors import InternalError
from ..notation.interpreter import Args, Interpreter, State, show_step
from ..notation.labels import counted
from ..notation.layout import Slots
from ..notation.rules import Rule
from ..verdicts.deadline import Deadline
from ..verdicts.verdict import Trace, TraceStep

__all__ = ["HasRule", "fair_steps", "trace_of"]

NO_END = Deadline()
Watch = Callable[[], None]


class HasRule(Protocol):
    """A rule for one choice of its parameters (RuleInstance, or a LoweredRule)."""

    @property
    def rule(self) -> Rule:
        """The rule that is replayed."""
    @property
    def args(self) -> Args:
        """The values of its parameters."""


def fair_steps(interpreter: Interpreter) -> list[int]:
    """The indices of the steps that are fair."""
    actions = interpreter.machine.actions_declared
    return [i for i, (name, _) in enumerate(interpreter.steps()) if actions[name].fair]


def trace_of(
    interpreter: Interpreter, path: Sequence[int], item: HasRule, loop: int | None = None,
    deadline: Deadline = NO_END,
) -> Trace:
    """Replay step indices with the interpreter, and check that they break the rule.

    ``loop`` is where the cycle of a lasso begins, as in ``Trace``. Raises InternalError if the
    rule is not broken: then an engine contradicts the oracle; and OutOfTime where the deadline
    passes.
    """
    watch = deadline.watch(f"replaying a violation of {item.rule.id}, which has "
                           f"{counted(len(path), 'step')}")
    state = interpreter.initial()
    states, steps = [state], []
    for number in path:
        watch()
        name, args = interpreter.steps()[number]
        after = interpreter.step(state, name, args)
        if after is None:
            raise _disagreement(interpreter, path, item, f"{show_step(name, args)} is disabled")
        state = after
        states.append(state)
        steps.append(TraceStep(name, args, Slots(interpreter.layout, state)))
    wrong = (
        _wrong_end(interpreter, states, item) if loop is None
        else _wrong_lasso(interpreter, states, path, item, loop, watch))
    if wrong:
        raise _disagreement(interpreter, path, item, wrong)
    return Trace(Slots(interpreter.layout, states[0]), tuple(steps), loop)


def _wrong_end(interpreter: Interpreter, states: list[State], item: HasRule) -> str:
    """Why a finite run does not break a rule; empty if it does."""
    rule, args, last = item.rule, item.args, states[-1]
    if rule.kind == "step":
        if len(states) == 1:
            return "it has no step"
        kept = interpreter.holds(rule, args, states[-2], last)
    elif rule.kind in ("always", "never stuck"):
        if rule.kind == "never stuck" and next(interpreter.successors(last), None) is not None:
            return "a step is enabled at its end"
        kept = interpreter.holds(rule, args, last)
    else:
        return "it is finite, and the rule is about what happens in the end"
    return "the rule holds at its end" if kept else ""


def _wrong_lasso(
    interpreter: Interpreter, states: list[State], path: Sequence[int], item: HasRule, loop: int,
    watch: Watch,
) -> str:
    """Why a run that ends in a cycle is no fair run that breaks a rule; empty if it is."""
    if not 0 <= loop < len(states) or states[loop] != states[-1]:
        return "its cycle does not close"
    unfair = _unfair(interpreter, states[loop:], path[loop:], watch)
    if unfair:
        return f"it is not fair: {unfair} stays enabled and is never taken"
    values = [interpreter.holds(item.rule, item.args, state) for state in states]
    if item.rule.kind == "eventually always":
        return "the rule holds all along its cycle" if all(values[loop:]) else ""
    if item.rule.kind != "leads to":
        return "it continues forever, and the rule is about its steps"
    if any(conclusion for _, conclusion in values[loop:]):
        return "the conclusion holds in its cycle"
    # After the last state with the conclusion, the premise has to hold once.
    concluded = max((i for i, (_, conclusion) in enumerate(values) if conclusion), default=-1)
    if not any(premise for premise, _ in values[concluded + 1:]):
        return "the premise never holds after the last state with the conclusion"
    return ""


def _unfair(
    interpreter: Interpreter, cycle: list[State], taken: Sequence[int], watch: Watch
) -> str:
    """A fair step that is enabled in every state of a cycle and not among those taken; or empty."""
    for number in fair_steps(interpreter):
        watch()
        name, args = interpreter.steps()[number]
        if number not in taken and all(
            interpreter.step(state, name, args) is not None for state in cycle
        ):
            return show_step(name, args)
    return ""


def _disagreement(
    interpreter: Interpreter, path: Sequence[int], item: HasRule, what: str
) -> InternalError:
    labels = ", ".join(show_step(*interpreter.steps()[number]) for number in path)
    return InternalError(
        f"a counterexample to {item.rule.id} does not replay ({what}): {labels}",
        next_step="Please report this with the machine and the command.",
    )
