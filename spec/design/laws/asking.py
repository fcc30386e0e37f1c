"""Questions to Z3 about whole numbers, as text, each in a context of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

from ...verdicts.deadline import Deadline
from ...verdicts.solver import z3_context

__all__ = ["Unanswered", "answered"]

EFFORT: Final = 20_000_000
"""Effort of the solver for one answer, in its own units (some seconds)."""


class Unanswered(Exception):
    """The solver gave up."""


def answered(
    told: Sequence[str], names: Iterable[str], effort: int = EFFORT,
    deadline: Deadline | None = None,
) -> dict[str, int] | None:
    """Values of these names that make all of it true, None if there are none.

    Raises Unanswered where the solver does not know, OutOfTime where the deadline is why.
    """
    import z3
    left = inf if deadline is None else deadline.left()
    context = z3_context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", effort)
    if left < inf:
        solver.set("timeout", int(1_000 * left) + 1)
    solver.from_string("\n".join(told))
    answer = solver.check()
    if answer == z3.unknown:
        if deadline is not None:
            deadline.check("proving the law")
        raise Unanswered(solver.reason_unknown())
    if answer == z3.unsat:
        return None
    model = solver.model()
    return {name: model.eval(z3.Int(name, context), model_completion=True).as_long()
            for name in names}
