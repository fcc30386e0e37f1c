"""Runs of a model as Z3 constraints, and the way back from a Z3 model to a trace."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import z3

from ...notation.errors import InternalError
from ...notation.evaluate import apply
from ...notation.expr import Expr
from ...notation.model import LoweredAction, LoweredRule, Model
from ...notation.model import Value
from ...verdicts.verdict import Budget, Trace, TraceStep
from .terms import (
    QueueTerm,
    Remainders,
    SymbolicValue,
    Term,
    Translation,
    Unsupported,
    equal,
    fresh,
    within_range,
)

__all__ = ["OutOfBudget", "Unrolling", "replay"]

Slots = dict[str, Value]


class OutOfBudget(Exception):
    """Z3 gave up, or the time or memory is spent; the text says which."""


class Unrolling:
    """The states 0, 1, … of a run and the constraints that make each follow the one before.

    A run begins in the initial state, or, for the step of an induction, ``anywhere``. The
    symbolic constants are the same in the whole run, and obey the model's assumptions and
    ``assuming``. Each step has one truth value per action that says that it was taken.
    """

    def __init__(
        self, model: Model, assuming: Sequence[Expr], budget: Budget, context: z3.Context, *,
        anywhere: bool,
    ) -> None:
        self.model = model
        self.context = context
        self.constants: dict[str, Term] = {
            name: z3.Int(name, self.context)
            for name, value in model.constants.items() if isinstance(value, Expr)
        }
        self._budget = budget
        self._deadline = budget.deadline
        self.solver = z3.Solver(ctx=self.context)
        if budget.max_memory is not None:
            self.solver.set("max_memory", max(1, budget.max_memory >> 20))
        self.remainders = Remainders(self.context)
        self._facts_told = 0
        fixed = Translation({}, self.constants, self.remainders)
        self.solver.add([fixed(expr) for expr in (*model.assumptions, *assuming)])
        slots = self._fresh_state(0) if anywhere else {
            slot.name: fixed(slot.init) for slot in model.slots}
        self.states = [Translation(slots, self.constants, self.remainders)]
        self.taken: list[list[Term]] = []

    # --- growing ------------------------------------------------------------------------

    def extend(self) -> None:
        """Unroll the machine by one more step."""
        before, number = self.states[-1], len(self.states)
        after = self._fresh_state(number)
        kept = {name: equal(after[name], value) for name, value in before.before.items()}
        taken = []
        for index, action in enumerate(self.model.actions):
            self.look_at_the_clock()
            chosen = z3.Bool(f"{action.label}/{index}@{number}", self.context)
            effect = {
                **kept,
                **{name: equal(after[name], before(expr))
                   for name, expr in action.updates.items()},
            }
            self.solver.add(z3.Implies(chosen, z3.And(before(action.guard), *effect.values())))
            taken.append(chosen)
        self.solver.add(z3.Or(*taken, self.context))
        self.taken.append(taken)
        self.states.append(Translation(after, self.constants, self.remainders))

    def _fresh_state(self, number: int) -> dict[str, SymbolicValue]:
        return {
            slot.name: fresh(f"{slot.name}@{number}", slot.type, self.context)
            for slot in self.model.slots}

    # --- what can be said of a state ---------------------------------------------------------

    def holds(self, rule: LoweredRule, number: int) -> Term:
        """A rule in a state, or of the step into it (true of the first state)."""
        self.look_at_the_clock()
        state = self.states[number]
        if rule.rule.kind == "always":
            return state(rule.exprs[0])
        if rule.rule.kind == "never stuck":
            enabled = [state(action.guard) for action in self.model.actions]
            return z3.Or(state(rule.exprs[0]), *enabled)
        if rule.rule.kind == "step":
            if number == 0:
                return z3.BoolVal(True, self.context)
            before = self.states[number - 1]
            return Translation(before.before, self.constants, self.remainders, state.before)(
                rule.exprs[0])
        raise Unsupported(f"rules of the kind '{rule.rule.kind}' are not for the prover; "
                          "the explorer decides them")

    def well_formed(self, number: int) -> Term:
        """Every slot is in its declared range, and no action can go wrong from here."""
        self.look_at_the_clock()
        state = self.states[number]
        ranges = [
            fact for slot in self.model.slots
            for fact in within_range(slot.type, state.before[slot.name], state)
        ]
        faults = [
            z3.Not(state(fault.condition))
            for action in self.model.actions for fault in action.faults
        ]
        return z3.And(*ranges, *faults, self.context)

    # --- solving -------------------------------------------------------------------------------

    def check(self, *terms: Term) -> Any | None:
        """A Z3 model of the run and of ``terms``, or None if there is none.

        Raises OutOfBudget when Z3 does not know, which includes a spent budget; the run is
        of no use after that.
        """
        self._tell_facts()
        if self.remainders.definitions:
            with contextlib.suppress(OutOfBudget):
                if self._solve(terms) is None:
                    return None
        return self._solve((*self.remainders.definitions, *terms))

    def _tell_facts(self) -> None:
        self.solver.add(self.remainders.facts[self._facts_told:])
        self._facts_told = len(self.remainders.facts)

    def _solve(self, terms: Sequence[Term]) -> Any | None:
        self._limit_time()
        try:
            self.solver.push()
            self.solver.add(*terms)
            answer = self.solver.check()
            found = self.solver.model() if answer == z3.sat else None
            reason = self._why_unknown() if answer == z3.unknown else ""
            self.solver.pop()
        except z3.Z3Exception as error:  # how Z3 says that its memory is spent
            raise OutOfBudget(f"Z3 gave up ({_words(error)})") from None
        if reason:
            raise OutOfBudget(reason)
        return found

    def _limit_time(self) -> None:
        self.look_at_the_clock()
        left = self._deadline.left()
        if not math.isinf(left):
            self.solver.set("timeout", max(1, int(left * 1000)))

    def look_at_the_clock(self) -> None:
        """Raise OutOfBudget where the time is spent."""
        if self._deadline.passed():
            raise OutOfBudget(self._spent())

    def _spent(self) -> str:
        return f"the time budget of {self._budget.max_seconds} s is spent"

    def _why_unknown(self) -> str:
        reason = self.solver.reason_unknown()
        if self._deadline.left() <= 0.05:
            return self._spent()
        return f"Z3 could not decide ({reason})"

    # --- the way back ----------------------------------------------------------------------------

    def constants_in(self, found: Any) -> dict[str, int]:
        """The values that a Z3 model gives to the symbolic constants."""
        return {name: _number(found, term) for name, term in self.constants.items()}

    def slots_in(self, found: Any, number: int) -> Slots:
        """A state in a Z3 model."""
        symbolic = self.states[number].before
        return {name: _value(found, value) for name, value in symbolic.items()}

    def actions_in(self, found: Any, depth: int) -> list[LoweredAction]:
        """The actions that a Z3 model takes, up to a depth."""
        return [
            next(action for action, chosen in zip(self.model.actions, taken, strict=True)
                 if z3.is_true(found.eval(chosen, model_completion=True)))
            for taken in self.taken[:depth]
        ]


def _words(error: Exception) -> str:
    text = error.args[0] if error.args else ""
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)


def _number(found: Any, term: Term) -> int:
    return int(found.eval(term, model_completion=True).as_long())


def _value(found: Any, value: SymbolicValue) -> Value:
    if isinstance(value, QueueTerm):
        length = min(max(_number(found, value.length), 0), len(value.items))
        return tuple(_value(found, item) for item in value.items[:length])
    if isinstance(value, tuple):
        return tuple(_value(found, part) for part in value)
    if z3.is_bool(value):
        return int(z3.is_true(found.eval(value, model_completion=True)))
    return _number(found, value)


def replay(
    initial: Slots, actions: Sequence[LoweredAction], constants: Mapping[str, int]
) -> Trace:
    """The run that takes these actions, computed by the reference evaluator.

    What Z3 found is thus checked by an independent reading of the same expressions.
    """
    state, steps = initial, []
    for action in actions:
        after = apply(action, cast("Mapping[str, Value]", state), constants)
        if after is None:
            raise InternalError(f"the prover takes {action.label} where it is not enabled")
        state = after
        steps.append(TraceStep(action.name, action.args, state))
    return Trace(initial, tuple(steps))
