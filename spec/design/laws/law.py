"""Laws: for which values of its parameters a design keeps a property, as a formula.

Given are points (a value for each parameter) with whether the property holds there. Looked for is
the shortest formula that says the same: an inequality between sums of *terms*, or two of them
joined by *and* or *or*. Terms are the parameters; then also products of two; then also the greatest
common divisor of two, and what is left of a third when it is divided by that. A formula is longer
the more its factors come to, each of a product twice.

Z3 gives a formula for a few points; a point that it gets wrong joins them, until there is none
(counterexample-guided synthesis). So the points that were needed are few, and all others confirm
it. What comes out was *observed*; whether it is true of all other values is proved elsewhere (see
``law_proof``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd, inf
from typing import Any, Final, Literal

from ...verdicts.deadline import Deadline
from ...verdicts.solver import z3_context

__all__ = ["EFFORT", "Atom", "Law", "Observed", "Point", "Term", "asked", "find_law", "times"]

LENGTHS: Final = range(1, 10)
"""Sums that the factors of a formula may have, the smallest first."""
EFFORT: Final = 3_000_000
"""Z3's steps for one question: seconds, on any machine the same."""

Point = Mapping[str, int]
Observed = Sequence[tuple[Point, bool]]
"""Points, and whether the property holds there."""
Term = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Atom:
    """An inequality: the sum of ``factors`` times their terms is ``least`` or more."""

    factors: tuple[tuple[Term, int], ...]
    least: int

    def slack(self, point: Point) -> int:
        """By how much it is true at a point; negative where it is false."""
        return sum(factor * _value(term, point) for term, factor in self.factors) - self.least

    def holds(self, point: Point) -> bool:
        """True if it is true at a point."""
        return self.slack(point) >= 0

    def __str__(self) -> str:
        left = [times(factor, term) for term, factor in self.factors if factor > 0]
        right = [times(-factor, term) for term, factor in self.factors if factor < 0]
        sign, rest = (">", self.least - 1) if self.least == 1 and right else (">=", self.least)
        if rest > 0 or not right:
            right.append(str(rest))
        elif rest < 0:
            left.append(str(-rest))
        return f"{' + '.join(left) or '0'} {sign} {' + '.join(right)}"


@dataclass(frozen=True)
class Law:
    """A formula: one atom, or two that are joined by ``joint``. It was found from ``needed``
    points, and is true of all that were given."""

    atoms: tuple[Atom, ...]
    joint: Literal["and", "or"] = "and"
    needed: int = 0

    def holds(self, point: Point) -> bool:
        """True if it is true at a point."""
        found = [atom.holds(point) for atom in self.atoms]
        return all(found) if self.joint == "and" else any(found)

    def __str__(self) -> str:
        return f" {self.joint} ".join(map(str, self.atoms))


def find_law(
    observed: Observed, names: Sequence[str], deadline: Deadline | None = None
) -> Law | None:
    """The shortest law of these parameters that is true of all points; None if none is found.

    Where the property is the same at all points there is nothing to say, and the law has no atoms
    (``and`` of nothing is true, ``or`` of nothing is false). Raises OutOfTime.
    """
    deadline = deadline or Deadline()
    if len({holds for _, holds in observed}) < 2:
        return Law((), "and" if not observed or observed[0][1] else "or")
    for shapes in (((0, 1),), ((1, 1), (0, 2)), ((2, 1),), ((1, 2),)):
        for length, (tier, atoms) in product(LENGTHS, shapes):
            joints: tuple[Literal["and", "or"], ...] = ("and", "or") if atoms == 2 else ("and",)
            for joint in joints:
                terms = list(_terms(names, tier))
                found = _fitted(observed, terms, length, atoms, joint, deadline)
                if found is not None:
                    return found
    return None


def _terms(names: Sequence[str], tier: int) -> Iterator[Term]:
    yield from (("one", (name,)) for name in names)
    if tier == 1:
        yield from (("product", pair) for pair in combinations(names, 2))
    if tier == 2:
        for pair in combinations(names, 2):
            yield "gcd", pair
            yield from (("rest", (*pair, name)) for name in names if name not in pair)


def _value(term: Term, point: Point) -> int:
    kind, names = term
    values = [point[name] for name in names]
    if kind == "product":
        return values[0] * values[1]
    if kind == "gcd":
        return gcd(values[0], values[1])
    if kind == "rest":
        return values[2] % (gcd(values[0], values[1]) or 1)
    return values[0]


def times(factor: int, term: Term) -> str:
    """So many times a term, as it is written."""
    kind, names = term
    shown = {
        "one": names[0], "product": "*".join(names), "gcd": f"gcd({', '.join(names)})",
        "rest": f"{names[-1]} % gcd({', '.join(names[:2])})",
    }[kind]
    return shown if factor == 1 else f"{factor}*{shown}"


# --- synthesis -------------------------------------------------------------------------------

def _fitted(
    observed: Observed, terms: Sequence[Term], length: int, atoms: int,
    joint: Literal["and", "or"], deadline: Deadline,
) -> Law | None:
    """A law of so many atoms, no longer than ``length`` in all, that is true of all points."""
    import z3
    own = z3_context()
    solver = z3.SolverFor("QF_LIA", ctx=own)
    solver.set("rlimit", EFFORT)
    unknowns = [_Unknown(place, terms, own) for place in range(atoms)]
    sizes = [size for each in unknowns for size in each.sizes]
    solver.add(z3.Sum(sizes) <= length, *(size <= length for size in sizes))
    needed = _first_two(observed)
    for point, holds in needed:
        solver.add(_says(unknowns, point, joint) == holds)
    while asked(solver, deadline) == z3.sat:
        found = sorted((each.atom(solver.model()) for each in unknowns), key=_shorter_first)
        law = Law(tuple(found), joint, len(needed))
        wrong = next((each for each in observed if law.holds(each[0]) != each[1]), None)
        if wrong is None:
            return law
        needed.append(wrong)
        solver.add(_says(unknowns, wrong[0], joint) == wrong[1])
    return None


def asked(solver: Any, deadline: Deadline) -> Any:
    """The answer of the solver, in the time that is left."""
    deadline.check("looking for a formula")
    if deadline.left() < inf:
        solver.set("timeout", int(1_000 * deadline.left()) + 1)
    return solver.check()


def _shorter_first(atom: Atom) -> tuple[int, str]:
    return len(str(atom)), str(atom)


def _first_two(observed: Observed) -> list[tuple[Point, bool]]:
    """One point of each kind."""
    return [next(each for each in observed if each[1] is holds) for holds in (True, False)]


class _Unknown:
    """An atom; Z3 is to find its factors."""

    def __init__(self, place: int, terms: Sequence[Term], context: Any) -> None:
        import z3
        self.terms = terms
        self.factors = [z3.Int(f"f{place}_{number}", context) for number in range(len(terms))]
        self.least = z3.Int(f"least{place}", context)
        self.sizes = [z3.If(factor < 0, -factor, factor) * (2 if kind == "product" else 1)
                      for (kind, _), factor in zip(terms, self.factors, strict=True)]

    def says(self, point: Point) -> Any:
        """The condition that the atom is true at a point."""
        import z3
        parts = [factor * _value(term, point)
                 for term, factor in zip(self.terms, self.factors, strict=True)]
        return z3.Sum(parts) >= self.least

    def atom(self, model: Any) -> Atom:
        """The atom that a model of Z3 stands for."""
        found = [(term, model.eval(factor, model_completion=True).as_long())
                 for term, factor in zip(self.terms, self.factors, strict=True)]
        return Atom(tuple((term, factor) for term, factor in found if factor),
                    model.eval(self.least, model_completion=True).as_long())


def _says(unknowns: Sequence[_Unknown], point: Point, joint: str) -> Any:
    import z3
    found = [each.says(point) for each in unknowns]
    return z3.And(*found) if joint == "and" else z3.Or(*found)
