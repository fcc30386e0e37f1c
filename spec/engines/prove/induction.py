"""k-induction: a proof for every run, and for every value of the symbolic constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from ...notation.expr import Expr
from ...notation.labels import counted
from ...notation.model import LoweredRule, Model
from ...notation.show import show
from ...verdicts.verdict import Budget, Outcome
from ...verdicts.solver import z3_context
from .bmc import Search
from .explain import describe
from .result import ProverVerdict
from .terms import Unsupported
from .unroll import OutOfBudget, Unrolling

__all__ = ["prove"]


def prove(
    model: Model, rule: LoweredRule, *, max_k: int, depth: int, budget: Budget,
    lemmas: Sequence[LoweredRule] | None, assuming: Sequence[Expr],
) -> ProverVerdict:
    """Prove a rule by k-induction; ``prove.prove`` says the details."""
    budget = budget.start()
    began = budget.deadline.spent()
    try:
        verdict = _Proof(model, rule, budget, lemmas, assuming).attempt(max_k, depth)
    except (OutOfBudget, Unsupported) as why:
        verdict = ProverVerdict(Outcome.UNKNOWN, "k-induction", reason=str(why))
    return replace(verdict, seconds=budget.deadline.spent() - began)


class _Proof:
    """One attempt on one rule.

    What is proved by induction is the conjunction of the rule, of the machine being well
    formed (every slot in its range, no fault possible) and of the lemmas: all of it is
    assumed in the k states before, and all of it is shown in the state after. A lemma that
    cannot be shown is dropped, and the step tried again with those that remain; without
    the rule or the well-formedness there is no proof.
    """

    def __init__(
        self, model: Model, rule: LoweredRule, budget: Budget,
        lemmas: Sequence[LoweredRule] | None, assuming: Sequence[Expr],
    ) -> None:
        self.model = model
        self.rule = rule
        self.assuming = assuming
        offered = model.rules if lemmas is None else lemmas
        self.lemmas = [one for one in offered if one.rule.kind == "always" and one != rule]
        context = z3_context()
        self.base = Search(model, rule, assuming, budget, context)
        self.runs = Unrolling(model, assuming, budget, context, anywhere=True)
        self.trusted = [
            z3.Bool(f"lemma {index}", context) for index in range(len(self.lemmas))]

    def attempt(self, max_k: int, depth: int) -> ProverVerdict:
        """Try k = 1, 2, …; then look for a violation a few steps deeper."""
        candidates = set(range(len(self.lemmas)))
        why = ""
        for k in range(1, max_k + 1):
            found = self.base.look()
            if found is not None:
                return found
            candidates = self.base.survivors({index: self.lemmas[index] for index in candidates})
            self._extend_hypothesis()
            why = self._step(candidates)
            if not why:
                return ProverVerdict(Outcome.HOLDS, f"k-induction, k={k}{self._scope()}", depth=k)
        while self.base.depth < depth:
            found = self.base.look()
            if found is not None:
                return found
        return ProverVerdict(
            Outcome.UNKNOWN, "k-induction", depth=self.base.depth,
            reason=f"not k-inductive for k <= {max_k}, and no violation within "
                   f"{counted(self.base.depth, 'step')}; counterexample to induction: {why}")

    def _scope(self) -> str:
        symbolic = ", ".join(self.runs.constants)
        where = " and ".join(show(expr) for expr in self.assuming)
        return (f", for all {symbolic}" if symbolic else "") + (f", where {where}" if where else "")

    def _extend_hypothesis(self) -> None:
        """Assume everything of the last state so far, and add the step after it."""
        last = len(self.runs.states) - 1
        self.runs.solver.add(self.runs.holds(self.rule, last), self.runs.well_formed(last))
        for trust, lemma in zip(self.trusted, self.lemmas, strict=True):
            self.runs.solver.add(z3.Implies(trust, self.runs.holds(lemma, last)))
        self.runs.extend()

    def _step(self, candidates: set[int]) -> str:
        """Empty if the induction step holds with some of the lemmas; else what breaks it."""
        last = len(self.runs.states) - 1
        needed = z3.And(self.runs.holds(self.rule, last), self.runs.well_formed(last))
        shown = {index: self.runs.holds(self.lemmas[index], last) for index in sorted(candidates)}
        while True:
            goal = z3.And(needed, *shown.values())
            found = self.runs.check(*(self.trusted[index] for index in shown), z3.Not(goal))
            if found is None:
                return ""
            # fewer lemmas are a weaker hypothesis: what breaks now would break again
            if not _is_true(found, needed):
                return self._counterexample(found, last)
            shown = {index: term for index, term in shown.items() if _is_true(found, term)}

    def _counterexample(self, found: Any, last: int) -> str:
        constants = self.runs.constants_in(found)
        before, after = (self.runs.slots_in(found, number) for number in (last - 1, last))
        action = self.runs.actions_in(found, last)[-1]
        changed = {name: value for name, value in after.items() if value != before[name]}
        what = ("where the rule fails" if not _is_true(found, self.runs.holds(self.rule, last))
                else "where the machine can go wrong or is out of its ranges")
        with_constants = f"with {describe(constants)}, " if constants else ""
        return (f"{with_constants}from {_brief(before)} the step {action.label} leads to "
                f"{_brief(changed) or 'the same state'}, {what}; nothing proved so far says "
                "that the first of these states cannot be reached")


def _is_true(found: Any, term: Any) -> bool:
    return bool(z3.is_true(found.eval(term, model_completion=True)))


def _brief(slots: Mapping[str, Any], limit: int = 16) -> str:
    shown = describe(dict(list(slots.items())[:limit]))
    return shown if len(slots) <= limit else f"{shown}, …"
