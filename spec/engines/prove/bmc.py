"""Bounded model checking: is there a violation within so many steps?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from ...notation.errors import InternalError, ModelFault
from ...notation.evaluate import evaluate, initial_slots
from ...notation.expr import Expr
from ...notation.labels import counted
from ...notation.model import LoweredRule, Model
from ...verdicts.verdict import Budget, Outcome, Trace
from ...verdicts.solver import z3_context
from .explain import describe, is_true, slot_out_of_range, why_violated
from .result import ProverVerdict
from .terms import Unsupported
from .unroll import OutOfBudget, Unrolling, replay

__all__ = ["Search", "bounded"]

METHOD = "bounded model checking"


def bounded(
    model: Model, rule: LoweredRule, depth: int, budget: Budget, assuming: Sequence[Expr] = ()
) -> ProverVerdict:
    """Look for a violation of a rule, shortest first; ``prove.bounded`` says the details."""
    budget = budget.start()
    began = budget.deadline.spent()
    done = -1
    try:
        search = Search(model, rule, assuming, budget, z3_context())
        while done < depth:
            found = search.look()
            if found is not None:
                return replace(found, seconds=budget.deadline.spent() - began)
            done += 1
        reason = f"no violation within {counted(depth, 'step')}"
    except OutOfBudget as spent:
        reason = f"{spent}; " + _covered(done)
    except Unsupported as why:
        reason = str(why)
    return ProverVerdict(Outcome.UNKNOWN, METHOD, depth=max(done, 0), reason=reason,
                         seconds=budget.deadline.spent() - began)


def _covered(done: int) -> str:
    return "nothing was covered" if done < 0 else f"no violation within {counted(done, 'step')}"


class Search:
    """Looks for a violation after 0, 1, 2, … steps, so that the first one is a shortest."""

    def __init__(
        self, model: Model, rule: LoweredRule, assuming: Sequence[Expr], budget: Budget,
        context: z3.Context,
    ) -> None:
        self.model = model
        self.rule = rule
        self.runs = Unrolling(model, assuming, budget, context, anywhere=False)
        self.depth = -1

    def look(self) -> ProverVerdict | None:
        """Look one step further: the violation that ends there, if there is one.

        Raises ModelFault if the machine can leave its declared ranges there, and
        OutOfBudget.
        """
        if self.depth >= 0:
            self.runs.extend()
        depth = self.depth + 1
        rule_holds = self.runs.holds(self.rule, depth)
        found = self.runs.check(z3.Not(rule_holds))
        if found is not None:
            return self._violation(self._simplest(z3.Not(rule_holds), found), depth)
        well_formed = self.runs.well_formed(depth)
        found = self.runs.check(z3.Not(well_formed))
        if found is not None:
            raise self._fault(self._simplest(z3.Not(well_formed), found), depth)
        # both are known from here on, which helps Z3 with the steps to come
        self.runs.solver.add(rule_holds, well_formed)
        self.depth = depth
        return None

    def survivors(self, others: Mapping[int, LoweredRule]) -> set[int]:
        """Those of some numbered rules that hold after as many steps as were looked at last."""
        holds = {number: self.runs.holds(rule, self.depth) for number, rule in others.items()}
        while holds:
            found = self.runs.check(z3.Not(z3.And(list(holds.values()))))
            if found is None:
                break
            holds = {number: term for number, term in holds.items()
                     if z3.is_true(found.eval(term, model_completion=True))}
        return set(holds)

    def _simplest(self, goal: Any, found: Any) -> Any:
        """A Z3 model with small values of the symbolic constants, for people to read."""
        sizes = [z3.If(term < 0, -term, term) for term in self.runs.constants.values()]
        while sizes:
            total = sum(abs(value) for value in self.runs.constants_in(found).values())
            try:
                smaller = self.runs.check(goal, z3.Sum(sizes) < total)
            except OutOfBudget:
                break
            if smaller is None:
                break
            found = smaller
        return found

    def _trace(self, found: Any, depth: int) -> tuple[Trace, dict[str, int]]:
        constants = self.runs.constants_in(found)
        actions = self.runs.actions_in(found, depth)
        return replay(initial_slots(self.model, constants), actions, constants), constants

    def _violation(self, found: Any, depth: int) -> ProverVerdict:
        trace, constants = self._trace(found, depth)
        states = [trace.initial, *(step.state for step in trace.steps)]
        if is_true(self.model, self.rule, states, constants):
            raise InternalError(f"the prover's violation of {self.rule.rule.id} is none")
        return ProverVerdict(
            Outcome.VIOLATED, f"{METHOD}, depth {depth}", depth=depth, trace=trace,
            reason=why_violated(self.rule, states, constants), constants=constants,
        )

    def _fault(self, found: Any, depth: int) -> ModelFault:
        trace, constants = self._trace(found, depth)
        last = trace.steps[-1].state if trace.steps else trace.initial
        values = describe(constants)
        where_from = f" with {values}" if values else ""
        steps = tuple(step.label for step in trace.steps)
        for action in self.model.actions:
            for fault in action.faults:
                if evaluate(fault.condition, last, None, constants):
                    return ModelFault(
                        f"{action.label}: {fault.message}{where_from}",
                        f"{fault.file}:{fault.line}",
                        "Strengthen the guard, or widen the range.", steps)
        slot = slot_out_of_range(self.model, last, constants)
        return ModelFault(
            f"{self.model.name}: {slot} = {last[slot]} is outside its declared range{where_from}",
            next_step="Widen the range, or correct the initial value.", steps=steps)
