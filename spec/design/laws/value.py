"""Formulas for a number: how much a queue ever holds, as a sum of parameters or the least of some.

Given are points with the number at each. Looked for is the shortest formula that gives all of them:
a sum, the less or the more of two, or the least of three. Z3 gives a formula for a few points; a
point that it gets wrong joins them, until there is none (as in ``law``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...verdicts.deadline import Deadline
from ...verdicts.solver import z3_context
from ..reading.symbols import Form
from .law import EFFORT, Point, asked

__all__ = ["Counted", "Value", "find_value"]

LENGTHS: Final = range(7)
"""Sums that the factors of a formula may have, the smallest first."""

Joint = Literal["min", "max"]
SHAPES: Final[Sequence[tuple[int, Joint]]] = ((1, "min"), (2, "min"), (2, "max"), (3, "min"))
Counted = Sequence[tuple[Point, int]]
"""Points, and the number at each."""


@dataclass(frozen=True)
class Value:
    """A formula: one form, or the ``joint`` of several. It was found from ``needed`` points, and
    gives the number at all that were given."""

    forms: tuple[Form, ...]
    joint: Joint = "min"
    needed: int = 0

    def at(self, point: Point) -> int:
        """Its value at a point."""
        found = [form.at(point) for form in self.forms]
        return min(found) if self.joint == "min" else max(found)

    def less_than(self, number: str) -> str:
        """The condition that it is less than a number, in SMT-LIB."""
        parts = " ".join(f"(< {form.text} {number})" for form in self.forms)
        return f"({'or' if self.joint == 'min' else 'and'} {parts})"

    def at_most(self, number: str) -> str:
        """The condition that it is a number or less, in SMT-LIB."""
        parts = " ".join(f"(<= {form.text} {number})" for form in self.forms)
        return f"({'or' if self.joint == 'min' else 'and'} {parts})"

    def __str__(self) -> str:
        told = [str(form) for form in self.forms]
        return told[0] if len(told) == 1 else f"{self.joint}({', '.join(told)})"


def find_value(
    counted: Counted, names: Sequence[str], deadline: Deadline | None = None
) -> Value | None:
    """The shortest formula of these parameters that gives the number at every point; None if none
    is found. Raises OutOfTime."""
    deadline = deadline or Deadline()
    for length in LENGTHS:
        for forms, joint in SHAPES:
            found = _fitted(counted, names, length, forms, joint, deadline)
            if found is not None:
                return found
    return None


def _fitted(
    counted: Counted, names: Sequence[str], length: int, many: int, joint: Joint,
    deadline: Deadline,
) -> Value | None:
    """The shortest value that agrees with all counted points, as a combination of ``many`` linear
    forms with factors of a sum of at most ``length``; None if there is none, or Z3 gives up.

    It is asked for again with each point at which the last one is wrong.
    """
    import z3
    own = z3_context()
    solver = z3.SolverFor("QF_LIA", ctx=own)
    solver.set("rlimit", EFFORT)
    unknown = [[z3.Int(f"f{form}_{n}", own) for n in range(len(names) + 1)]
               for form in range(many)]
    sizes = [z3.If(factor < 0, -factor, factor) for form in unknown for factor in form[:-1]]
    solver.add(z3.Sum([z3.IntVal(0, own), *sizes]) <= length)
    needed = 0
    wrong: tuple[Point, int] | None = counted[0]
    while wrong is not None:
        point, number = wrong
        needed += 1
        solver.add(_gives(unknown, [point[name] for name in names], number, joint))
        if asked(solver, deadline) != z3.sat:
            return None
        model = solver.model()
        forms = {_form(names, [model.eval(each, model_completion=True).as_long()
                               for each in form]) for form in unknown}
        value = Value(tuple(sorted(forms, key=lambda form: (len(str(form)), str(form)))), joint,
                      needed)
        wrong = next((each for each in counted if value.at(each[0]) != each[1]), None)
    return value


def _gives(
    unknown: Sequence[Sequence[Any]], values: Sequence[int], number: int, joint: Joint
) -> Any:
    """The condition that the formula gives a number where the parameters have these values."""
    import z3
    sums = [z3.Sum([factor * value for factor, value in zip(form, (*values, 1), strict=True)])
            for form in unknown]
    within = [each >= number if joint == "min" else each <= number for each in sums]
    return z3.And(*within, z3.Or(*(each == number for each in sums)))


def _form(names: Sequence[str], factors: Sequence[int]) -> Form:
    return Form.of(dict(zip(names, factors, strict=False)), factors[-1])
