"""The words of a search about a rule: how it was decided, and why it was not."""

from __future__ import annotations

from dataclasses import replace

from ..notation.errors import ModelFault
from ..notation.labels import counted
from .verdict import Outcome, Trace, Verdict

__all__ = [
    "LOWERING", "SAFETY", "budget_spent", "covered_by", "fault_error", "method_of", "violated",
]

SAFETY = ("always", "step", "never stuck")
LOWERING = "lowering the machine"


def budget_spent(which: str, states: int, covered: int) -> str:
    """Why a search ended early, and what it had covered by then."""
    return f"the budget of {which} was spent after {covered_by(states, covered)}"


def covered_by(states: int, covered: int) -> str:
    """The states that a search had covered when it ended early, in words."""
    return f"{counted(states, 'state')}; all states up to depth {covered} were covered"


def method_of(kind: str, complete: bool) -> str:
    """The method by which a search decides a rule of a kind, after all states or before."""
    if not complete:
        return "search, incomplete"
    return "exhaustive" if kind in SAFETY else "exhaustive, weak fairness"


def violated(base: Verdict, kind: str, trace: Trace, complete: bool) -> Verdict:
    """The verdict with its trace. What was found breadth first is the shortest way there,
    also where the search ended with it."""
    method = method_of(kind, complete) if complete else "search, up to the violation"
    return replace(base, outcome=Outcome.VIOLATED, method=method, trace=trace)


def fault_error(message: str, where: str, steps: tuple[str, ...]) -> ModelFault:
    """The error for a machine that leaves its ranges, found by an engine."""
    return ModelFault(message, where, "Widen the declared range, or add a guard.", steps)
