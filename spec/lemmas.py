"""Lemmas: claims about 64-bit numbers, for all of them, which Z3 decides.

A chapter about an algebra, not a machine, ends with a table of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .verdicts.verdict import Budget, Outcome, Verdict

if TYPE_CHECKING:
    import z3

__all__ = ["BITS", "Lemma", "Make", "decide"]

BITS = 64
SMALL = 8

Make = Callable[[str], Any]
"""Makes the number of a name, always the same for the same name."""


@dataclass(frozen=True)
class Lemma:
    """A claim about numbers, for all of them: ``claim`` takes a function that makes a number
    of a given name, and returns what is claimed. ``verdict``, the expected one, is ``holds``
    or ``violated``."""

    id: str
    statement: str
    source: str
    verdict: str
    claim: Callable[[Make], z3.BoolRef]


def decide(lemma: Lemma, budget: Budget | None = None) -> Verdict:
    """Prove the lemma, or find numbers that refute it; ``reason`` then names them."""
    import z3
    deadline = (budget or Budget()).start().deadline
    numbers: dict[str, Any] = {}

    def number(name: str) -> Any:
        return numbers.setdefault(name, z3.BitVec(name, BITS))

    solver = z3.Solver()
    solver.add(z3.Not(lemma.claim(number)))
    if not math.isinf(deadline.left()):
        solver.set("timeout", max(1, int(1000 * deadline.left())))
    answer = solver.check()
    seconds = deadline.spent()
    method = f"Z3, {BITS}-bit vectors, for all"
    if answer == z3.unsat:
        return Verdict(Outcome.HOLDS, method, seconds=seconds)
    if answer == z3.unknown:
        return Verdict(Outcome.UNKNOWN, method, seconds=seconds, reason=solver.reason_unknown())
    model = solver.model()
    solver.add([z3.ULT(value, SMALL) for value in numbers.values()])
    if solver.check() == z3.sat:        # the same with numbers that are easily checked by hand
        model = solver.model()
    found = (f"{n} = {model.eval(v, model_completion=True)}" for n, v in sorted(numbers.items()))
    return Verdict(Outcome.VIOLATED, method, seconds=seconds, reason=", ".join(found))
