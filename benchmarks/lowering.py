"""What the phases before and after a search cost, by the number of actions.

A token walks along a row of places, one action for each place, and stops at the end: as
many states as places, one step each, and a violation as long as the row. So everything but
the search itself is measured: reading the actions, compiling them, finding out which rule
is broken, and retracing and replaying the way there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from checkvalve.spec.engines.native.jit import compile_model
from checkvalve.spec.engines.search import check_rules
from checkvalve.spec.notation import (
    MUST, Array, Machine, action, array, bind, const, integer, never_stuck, require, upto,
)
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["Walk", "main", "phases"]

T = TypeVar("T")

SIZES = (100, 1_000, 2_500, 10_000)
HEADINGS = ("actions", "lower s", "compile s", "inspect s", "all three", "verdict s")


class Walk(Machine):
    """A row of places and one token, which goes on until the row ends."""

    length = const(10, at_least=1)
    places: Array[int] = array(upto(length + 1), integer(0, 1))
    begun = integer(0, 1)

    @action
    def begin(self) -> None:
        """The token appears in the first place."""
        require(self.begun == 0)
        self.begun = 1
        self.places[0] = 1

    @action(at=upto(length))
    def walk(self, at: int) -> None:
        """It goes from one place to the next."""
        require(self.places[at] == 1)
        self.places[at] -= 1
        self.places[at + 1] += 1

    @never_stuck("WALK-1", MUST, "The token never stops.", source="A benchmark")
    def goes_on(self) -> bool:
        """It does stop, after as many steps as there are places."""
        return False


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    before = time.process_time()
    return work(), time.process_time() - before


def phases(length: int) -> list[float]:
    """Processor seconds for each phase, and for a verdict from nothing, in the order of
    ``HEADINGS``."""
    bound = bind(Walk, length=length)
    model, lower = _timed(lambda: bound.model)
    native, compiled = _timed(lambda: compile_model(model, model.rules, 1))
    _, inspect = _timed(lambda: native.inspector(Deadline()))
    whole = bind(Walk, length=length)
    _, verdict = _timed(lambda: check_rules(whole, budget=Budget(threads=1), engine="native"))
    return [lower, compiled, inspect, lower + compiled + inspect, verdict]


def main(sizes: tuple[int, ...] = SIZES) -> None:
    """Print a line for each number of actions."""
    print("".join(heading.rjust(11) for heading in HEADINGS))
    phases(10)  # loads the compiler
    for length in sizes:
        cells = [f"{length:,}", *(f"{seconds:.2f}" for seconds in phases(length))]
        print("".join(cell.rjust(11) for cell in cells), flush=True)
