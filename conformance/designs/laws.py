"""The law of a design file: a formula for the grid of its parameters, tried beyond, and proved."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.design.formats.draft import Reading
from checkvalve.spec.design.formats.files import read_any
from checkvalve.spec.design.laws.law import Law, Observed, Point, find_law
from checkvalve.spec.design.laws.law_certificate import law_certificate
from checkvalve.spec.design.laws.law_proof import Proof, prove
from checkvalve.spec.design.laws.over import opened
from checkvalve.spec.design.laws.regions import Made
from checkvalve.spec.design.laws.sizes import Sizes, sizes_of
from checkvalve.spec.design.reading.parameters import points
from checkvalve.spec.design.reading.properties import BOUNDED, DEADLOCK_FREE
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, Spent
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .fullest import Full, full_links
from .grids import Grid
from .reading import read_text

__all__ = ["BEYOND", "Found", "law_of", "made_of"]

BEYOND: Final = 40
"""Designs beyond the grid that a law is tried on."""
PROVED: Final = DEADLOCK_FREE
"""The property of which laws are proved."""


@dataclass(frozen=True)
class Found:
    """The result for a property on a grid of ``points`` designs.

    ``law`` is None where no formula was found. ``unknown`` of the designs could not be decided; of
    ``beyond`` designs outside the grid the law was true but for those ``against`` it. ``proof`` is
    None where none was tried, and ``sizes`` where there is nothing to choose. ``certificate`` has
    the evidence for the proof, if it was asked for. ``spent`` are the phases for which there was
    too little time, and ``full`` says how full each link gets, where the property is ``bounded``.
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
    certificate: Mapping[str, Any] | None = None
    spent: tuple[str, ...] = ()
    full: tuple[Full, ...] = ()

    @property
    def stands(self) -> bool:
        """True if there is a law, and nothing speaks against it."""
        proved = self.proof is not None and self.proof.is_whole
        return self.law is not None and not self.against and (proved or not self.unknown)


def made_of(
    document: Mapping[str, Any], path: str, given: Mapping[str, str],
    deadline: Deadline | None = None,
) -> Made:
    """The maker of the designs of a file for the parameters that the certificate of a law is about.
    Raises InputError for a file that the certificate was not written for, and Spent for one that is
    not read by the deadline.
    """
    reading = read_any(read_text(Path(path)), path, deadline)
    grid = Grid(reading, path, given, PROVED, Budget())
    if document["over"]:
        found = opened(reading.root, document["over"], path, given)
        grid.take(found)
        zero = dict.fromkeys(found.values, 0)
        choices: Sequence[Point] = [zero, *({**zero, name: 1} for name in zero)]
    else:
        choices = points(reading.root, path, given)
    for side in ("holds", "violated"):
        _says_all(document.get(side, {}).get("values", choices[0]), choices, path)
    values = document.get("holds", document.get("violated"))["values"]
    name = grid.at({each: low for each, (low, _) in values.items()}).name
    if name != document["design"]:
        raise InputError(f"the design is called {name!r}, and not {document['design']!r}", path,
                         "Name the file that the certificate was written for.")
    return grid.made


def _says_all(values: Mapping[str, object], choices: Sequence[Point], path: str) -> None:
    """Check that the parameters of a certificate choose among all designs of the file."""
    named = {tuple(sorted((name, point[name]) for name in values if name in point))
             for point in choices}
    if len(named) < len(choices) or not values.keys() <= choices[0].keys():
        raise InputError("the certificate has other parameters than the file", path,
                         "Name the file that it was written for, with the same --set.")


def law_of(
    file: str | Path | Reading, name: str, given: Mapping[str, str], budget: Budget,
    proving: float | None = None, over: Sequence[str] = (), certify: bool = False,
    seconds: float | None = None,
) -> Found:
    """The law of the property ``name`` of the designs that a file stands for (or what a builder
    made, its ``reading``), or ``over`` some numbers of its one design (see ``over``). Each design
    may use the ``budget``, and the proof ``proving`` seconds; all of it together ``seconds``, of
    which each phase leaves half to those after it.

    Raises InputError for a file without a range among its parameters, for one with designs that do
    not have the property, and as ``load_designs`` does.
    """
    whole, spent = Deadline(seconds), []
    where = "the design" if isinstance(file, Reading) else str(file)
    reading = file if isinstance(file, Reading) else read_any(
        read_text(Path(file)), where, whole)
    grid = Grid.of(reading, where, given, name, budget, over, whole.share(2))
    decided = grid.decided
    if grid.deadline.passed():
        spent.append("deciding the designs")
    try:
        law = find_law(decided, grid.names, whole.share(2)) if decided else None
    except Spent as late:
        law, spent = None, [*spent, late.phase]
    found = Found(grid.names, len(decided) + grid.unknown, sum(holds for _, holds in decided), law,
                  grid.unknown, spent=tuple(spent))
    if law is None:
        return found
    grid.deadline = whole.share(2)
    found = _tried_beyond(found, law, grid)
    grid.deadline = whole
    if name == PROVED and not found.against:
        def proof_time() -> Deadline:
            return Deadline(min(math.inf if proving is None else proving, whole.left()))
        found = _proved(found, law, grid, decided, proof_time())
        if certify and found.proof is not None:
            found = replace(found, certificate=_certificate(
                found, law, grid, decided, over, proof_time()))
    if name == BOUNDED:
        beyond = _beyond({each: top for each, (_, top) in grid.ranges.items()}, law)
        found = replace(found, full=tuple(full_links(grid, beyond, whole, proving)))
    return replace(found, sizes=sizes_of(grid.decided, law, grid.made, grid.own))


def _proved(
    found: Found, law: Law, grid: Grid, decided: Observed, deadline: Deadline
) -> Found:
    """The result with what can be proved of the law; where no run was found that deadlocks, the law
    may be wrong, and the design is decided there."""
    proof = prove(law, grid.made, grid.ranges, [point for point, holds in decided if not holds],
                  [point for point, holds in decided if holds], deadline)
    point = proof.violated.open_at
    if point is None or grid.holds(point) is not True:
        return replace(found, proof=proof)
    return replace(found, beyond=found.beyond + 1, against=(_shown(point),))


def _certificate(
    found: Found, law: Law, grid: Grid, decided: Observed, over: Sequence[str], deadline: Deadline
) -> dict[str, Any] | None:
    """The evidence for the proof; where it is false, with runs for the points of the grid, too."""
    assert found.proof is not None
    proof = found.proof
    if proof.violated.proved or proof.holds.by_rates:
        again = prove(
            law, grid.made, grid.ranges, [point for point, holds in decided if not holds],
            [point for point, holds in decided if holds], deadline, apart=False)
        proof = replace(proof, violated=again.violated,
                        holds=again.holds if proof.holds.by_rates else proof.holds)
    return law_certificate(grid.at(decided[0][0]).name, law, proof, over)


def _shown(point: Point) -> str:
    return ", ".join(f"{each}={value}" for each, value in point.items())


def _tried_beyond(found: Found, law: Law, grid: Grid) -> Found:
    """Try the law on designs in which some parameter is larger than on the grid."""
    tried, against = 0, []
    for point in _beyond({name: top for name, (_, top) in grid.ranges.items()}, law):
        try:
            design = grid.at(point)
        except InputError:
            continue  # the language has no such number there
        outcome = grid.outcome(design)
        tried += outcome is not Outcome.UNKNOWN
        if outcome is not Outcome.UNKNOWN and law.holds(point) != (outcome is Outcome.HOLDS):
            against.append(_shown(point))
    spent = ("trying it beyond the ranges",) if grid.deadline.passed() else ()
    return replace(found, beyond=tried, against=tuple(against), spent=(*found.spent, *spent))


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
