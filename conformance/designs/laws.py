"""The law of a design file: a formula for the grid of its parameters, tried beyond, and proved."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.design.check import Settings, decide_one
from checkvalve.spec.design.formats.files import read_any
from checkvalve.spec.design.language import Design
from checkvalve.spec.design.law import Law, Observed, Point, find_law
from checkvalve.spec.design.law_proof import Proof, prove
from checkvalve.spec.design.loader import load_point, load_tree
from checkvalve.spec.design.parameters import point_with
from checkvalve.spec.design.sizes import Sizes, sizes_of
from checkvalve.spec.design.source import Node
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .reading import read_text

__all__ = ["BEYOND", "Found", "law_of", "swept_names"]

BEYOND: Final = 40
"""Designs beyond the grid that a law is tried on."""
PROVED: Final = "deadlock"
"""The property of which laws are proved."""


@dataclass(frozen=True)
class Found:
    """What was found of a property on a grid of ``points`` designs.

    ``law`` is None where no formula was. ``unknown`` of the designs could not be decided; of
    ``beyond`` designs outside the grid the law was true but for those ``against`` it. ``proof`` is
    None where none was tried, and ``sizes`` where there is nothing to choose.
    """

    names: tuple[str, ...]
    points: int
    holds: int
    law: Law | None
    unknown: int = 0
    beyond: int = 0
    against: tuple[str, ...] = ()
    proof: Proof | None = None
    sizes: Sizes | None = None

    @property
    def stands(self) -> bool:
        """Whether there is a law, and nothing speaks against it."""
        proved = self.proof is not None and self.proof.is_whole
        return self.law is not None and not self.against and (proved or not self.unknown)


def law_of(
    file: str | Path, name: str, given: Mapping[str, str], budget: Budget,
    proving: float | None = None,
) -> Found:
    """The law of the property ``name`` of the designs that a file stands for; its proof may take
    ``proving`` seconds.

    Raises InputError for a file without a range among its parameters, for one whose designs do
    not have the property, and as ``load_designs`` does.
    """
    reading = read_any(read_text(Path(file)), str(file))
    grid = _Grid(reading.root, str(file), given, name, budget, reading.assumed)
    law = find_law(grid.decided, grid.names)
    found = Found(grid.names, len(grid.designs), sum(holds for _, holds in grid.decided), law,
                  len(grid.designs) - len(grid.decided))
    if law is None:
        return found
    found = _tried_beyond(found, law, grid)
    if name == PROVED and not found.against:
        found = replace(found, proof=grid.proof(law, Deadline(proving)))
    return replace(found, sizes=sizes_of(grid.decided, law, grid.made))


class _Grid:
    """The designs of a file, and which of them have a property."""

    def __init__(
        self, root: Node, where: str, given: Mapping[str, str], name: str, budget: Budget,
        assumed: Sequence[str] = (),
    ) -> None:
        self.root = root
        self.where = where
        self.given = given
        self.name = name
        self.budget = budget
        self.designs = load_tree(root, where, given, assumed)
        self.names = swept_names(self.designs)
        if not self.names:
            raise InputError("none of the design's parameters has a range, so there is no law to "
                             "find", where, "Give one, as in `parameters: {n: 1..8}` or --set "
                             "n=1..8.")
        outcomes = [(_point(design, self.names), self.outcome(design)) for design in self.designs]
        self.decided: Observed = [(point, outcome is Outcome.HOLDS) for point, outcome in outcomes
                                  if outcome is not Outcome.UNKNOWN]
        self._plain = replace(root, value={
            key: child for key, child in root.value.items() if key != "expect"})

    def made(self, values: Mapping[str, Any]) -> Design:
        """The design at a point whose values may be symbols; nothing is expected of it."""
        point = point_with(self._plain, self.where, self.given, values)
        return load_point(self._plain, point, self.where, known=True)

    def at(self, point: Point) -> Design:
        """The design at a point; raises InputError where the language has none."""
        whole = point_with(self.root, self.where, self.given, point)
        return load_point(self.root, whole, self.where)

    def outcome(self, design: Design) -> Outcome:
        """What is found of the property."""
        return decide_one(design, self.name, Settings(budget=self.budget)).outcome

    def top(self, name: str) -> int:
        """The largest value of a parameter on the grid."""
        return max(dict(design.parameters)[name] for design in self.designs)

    def proof(self, law: Law, deadline: Deadline) -> Proof:
        """What can be proved of a law."""
        lows = {name: min(dict(design.parameters)[name] for design in self.designs)
                for name in self.names}
        return prove(law, self.made, {name: (lows[name], self.top(name)) for name in self.names},
                     [point for point, holds in self.decided if not holds],
                     [point for point, holds in self.decided if holds], deadline)


def swept_names(designs: Sequence[Design]) -> tuple[str, ...]:
    """The parameters that choose among the designs; not those that follow from them."""
    points = [dict(design.parameters) for design in designs]
    names = [name for name in points[0] if len({point[name] for point in points}) > 1]
    for name in reversed(names):
        others = [other for other in names if other != name]
        if len({tuple(point[other] for other in others) for point in points}) == len(points):
            names = others
    return tuple(names)


def _point(design: Design, names: Sequence[str]) -> Point:
    values = dict(design.parameters)
    return {name: values[name] for name in names}


def _tried_beyond(found: Found, law: Law, grid: _Grid) -> Found:
    """Try the law on designs in which some parameter is larger than on the grid."""
    tried, against = 0, []
    for point in _beyond({name: grid.top(name) for name in grid.names}, law):
        try:
            design = grid.at(point)
        except InputError:
            continue  # the language has no such number there
        outcome = grid.outcome(design)
        tried += outcome is not Outcome.UNKNOWN
        if outcome is not Outcome.UNKNOWN and law.holds(point) != (outcome is Outcome.HOLDS):
            against.append(", ".join(f"{each}={value}" for each, value in point.items()))
    return replace(found, beyond=tried, against=tuple(against))


def _beyond(tops: Mapping[str, int], law: Law) -> Sequence[Point]:
    """Points at which some parameter is larger than its top; most of them where the law is nearly
    false or nearly true, for there a slightly different law would say something else."""
    draw = random.Random(0)
    points = []
    for _ in range(20 * BEYOND):
        point = {name: draw.randint(1, 2 * top) for name, top in tops.items()}
        larger = draw.choice(list(tops))
        points.append({**point, larger: draw.randint(tops[larger] + 1, 2 * tops[larger] + 1)})
    nearest = sorted(points, key=lambda point: min(
        (abs(2 * atom.slack(point) + 1) for atom in law.atoms), default=0))
    return draw.sample(nearest[:3 * BEYOND], BEYOND - BEYOND // 4) + points[:BEYOND // 4]
