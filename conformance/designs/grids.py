"""The designs that a law is looked for among: points, and whether a property holds at each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import inf, prod
from typing import Any, Final

from checkvalve.spec.design.check import Settings, decide_one
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.formats.draft import Reading
from checkvalve.spec.design.laws.law import Observed, Point
from checkvalve.spec.design.laws.over import Opened, opened
from checkvalve.spec.design.laws.regions import MOST
from checkvalve.spec.design.loader import load_point, load_tree
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.parameters import MAX_POINTS, point_with
from checkvalve.spec.design.reading.properties import (
    DEADLOCK_FREE, LIVE, NO_DUPLICATES, NO_LOCAL_DEADLOCK, NO_LOSS, ORDERED, no_starvation,
)
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, Spent
from checkvalve.spec.verdicts.verdict import Budget, Outcome

__all__ = ["ASKED", "Grid", "swept_names"]

ASKED: Final = (NO_LOCAL_DEADLOCK, LIVE, ORDERED, NO_DUPLICATES, NO_LOSS)
"""Properties that a design can be asked for whatever its file expects."""
DOUBLED: Final = 6
"""Times that the largest values are doubled where the property holds nowhere."""
MAX_LINES: Final = 12
"""Lines of a grid on which the exact value is looked for at which the verdict changes."""


class Grid:
    """The designs of a file at some points, by name and value; ``decided`` says where the property
    holds, and ``unknown`` of them could not be decided."""

    def __init__(
        self, reading: Reading, where: str, given: Mapping[str, str], name: str, budget: Budget,
        deadline: Deadline | None = None,
    ) -> None:
        self.root = reading.root
        self.where = where
        self.given = given
        self.name = name
        self.budget = budget
        self.deadline = deadline or Deadline()
        self.names: tuple[str, ...] = ()
        self.own: Point = {}
        self._open: set[tuple[int, ...]] = set()
        self._inner: Mapping[str, str] = {}
        self._refused: InputError | None = None
        self._outcomes: dict[tuple[int, ...], bool] = {}

    @staticmethod
    def of(
        reading: Reading, where: str, given: Mapping[str, str], name: str, budget: Budget,
        over: Sequence[str] = (), deadline: Deadline | None = None,
    ) -> Grid:
        """The grid of the ranges among a file's parameters, or ``over`` some numbers of it. What is
        asked after the ``deadline`` stays unknown."""
        grid = Grid(reading, where, given, name, budget, deadline)
        if over:
            grid.open(opened(reading.root, over, where, given))
        else:
            # Without the deadline: the points are few, and those not decided have to be counted.
            grid.sweep(load_tree(reading.root, where, given, reading.assumed))
        return grid

    def sweep(self, designs: Sequence[Design]) -> None:
        """Decide the designs that a file stands for."""
        self.names = swept_names(designs)
        if not self.names:
            raise InputError(
                "none of the design's parameters has a range, so there is no law to find",
                self.where, "Give one, as in `parameters: {n: 1..8}` or --set n=1..8; or name "
                "numbers of the design, as in --over requests,workers.threads.")
        for design in designs:
            values = dict(design.parameters)
            self._keep({name: values[name] for name in self.names}, self.outcome(design))

    def open(self, found: Opened) -> None:
        """Decide the designs with other numbers in these places, and look for where it changes."""
        self.take(found)
        self.names = tuple(found.values)
        choices = prod(map(len, found.values.values()))
        if choices > MAX_POINTS:
            raise InputError(f"there are {choices} choices of values, more than {MAX_POINTS}",
                             self.where, "Narrow the ranges, as with --over requests=1..8.")
        for values in product(*found.values.values()):
            self.holds(dict(zip(self.names, values, strict=True)))
        if not self.decided:
            if self._refused is not None:
                raise self._refused
            return
        self._extend()
        for low, high in list(self._changes())[:MAX_LINES]:
            self._bisect(low, high)
        for turn in range(len(self.names)):
            self._descend(turn)

    def take(self, found: Opened) -> None:
        """Use the designs with other numbers in these places."""
        self.root, self.given, self._inner = found.root, {}, found.inner
        self.own = found.own

    @property
    def unknown(self) -> int:
        """Number of points that could not be decided."""
        return len(self._open)

    @property
    def decided(self) -> Observed:
        """The points that were decided, in their order, and whether the property holds there."""
        return [(dict(zip(self.names, values, strict=True)), holds)
                for values, holds in sorted(self._outcomes.items())]

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """For each name the least and the most value that was decided."""
        return {name: (min(point[name] for point, _ in self.decided),
                       max(point[name] for point, _ in self.decided)) for name in self.names}

    def made(self, values: Mapping[str, Any]) -> Design:
        """The design at a point with values that may be symbols; nothing is expected of it."""
        plain = replace(self.root, value={
            key: child for key, child in self.root.value.items() if key != "expect"})
        point = point_with(plain, self.where, self.given, self._named(values))
        return load_point(plain, point, self.where, known=True)

    def at(self, point: Point) -> Design:
        """The design at a point; raises InputError where the language has none."""
        whole = point_with(self.root, self.where, self.given, self._named(point))
        return load_point(self.root, whole, self.where)

    def outcome(self, design: Design) -> Outcome:
        """The verdict on the property."""
        if self.deadline.passed():
            return Outcome.UNKNOWN
        budget = self.design_budget()
        if self.name == DEADLOCK_FREE:  # equations first: they need no more time for larger numbers
            with suppress(Spent):
                deadline = budget.start().deadline.share(2)
                found = [decide(part, deadline) for part in parts(design)]
                if any(answer.legs is not None for answer in found):
                    return Outcome.VIOLATED
                if all(answer.deadlock_free for answer in found):
                    return Outcome.HOLDS
        return decide_one(_asking(design, self.name), self.name, Settings(budget=budget)).outcome

    def design_budget(self) -> Budget:
        """The budget of one design: no more than is left for all."""
        most, left = self.budget.max_seconds, self.deadline.left()
        if left == inf:
            return self.budget
        return replace(self.budget, max_seconds=left if most is None else min(most, left))

    def holds(self, point: Point) -> bool | None:
        """True if the property holds at a point, which is kept; None where it is not known, or if
        the language has no such design.
        """
        key = tuple(point[name] for name in self.names)
        if key not in self._outcomes and key not in self._open:
            try:
                design = self.at(point)
            except InputError as wrong:
                self._refused = wrong
                return None
            self._keep(point, self.outcome(design))
        return self._outcomes.get(key)

    def _named(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {self._inner.get(name, name): value for name, value in values.items()}

    def _keep(self, point: Point, outcome: Outcome) -> None:
        key = tuple(point[name] for name in self.names)
        if outcome is Outcome.UNKNOWN:
            self._open.add(key)
        else:
            self._outcomes[key] = outcome is Outcome.HOLDS

    # --- where the verdict changes -----------------------------------------------------------

    def _extend(self) -> None:
        """Look at larger and larger points where the property holds at none, up to the first that
        takes more time than a design may have."""
        point = {name: top for name, (_, top) in self.ranges.items()}
        for _ in range(DOUBLED):
            if any(self._outcomes.values()) or max(point.values()) > MOST // 2:
                return
            point = {name: 2 * value for name, value in point.items()}
            if self.holds(point) is None:
                return

    def _changes(self) -> Iterator[tuple[Point, Point]]:
        """Pairs of neighbours on a line of the grid at which the verdicts differ."""
        for name in self.names:
            lines: dict[tuple[int, ...], list[Point]] = {}
            for point, _ in self.decided:
                rest = tuple(value for other, value in point.items() if other != name)
                lines.setdefault(rest, []).append(point)
            for line in lines.values():
                for low, high in zip(line, line[1:], strict=False):
                    if self.holds(low) != self.holds(high) and high[name] - low[name] > 1:
                        yield low, high

    def _bisect(self, low: Point, high: Point) -> None:
        """Find two points next to each other between which the verdict changes."""
        name, = (name for name in self.names if low[name] != high[name])
        while high[name] - low[name] > 1:
            middle = {**low, name: (low[name] + high[name]) // 2}
            found = self.holds(middle)
            if found is None:
                return
            low, high = (middle, high) if found == self.holds(low) else (low, middle)

    def _descend(self, turn: int) -> None:
        """From the largest point at which the property holds, take away what can be taken."""
        held = [point for point, holds in self.decided if holds]
        if not held:
            return
        point: Point = max(held, key=lambda each: [sum(each.values()), *each.values()])
        for name in (*self.names[turn:], *self.names[:turn]):
            low = {**point, name: self.ranges[name][0]}
            if self.holds(low):
                point = low
                continue
            self._bisect(low, point)
            point = self._least(name, point)

    def _least(self, name: str, point: Point) -> Point:
        """The least that holds of the points that differ from this one in a name only."""
        others = [other for other in self.names if other != name]
        line = [each for each, holds in self.decided
                if holds and all(each[other] == point[other] for other in others)]
        return min(line, key=lambda each: each[name])


def _asking(design: Design, name: str) -> Design:
    """The design, of which a property is expected that any can be asked for."""
    known = {*ASKED, *(no_starvation(task) for task in design.tasks)}
    return replace(design, expect={**design.expect, name: "holds"}) if name in known else design


def swept_names(designs: Sequence[Design]) -> tuple[str, ...]:
    """The parameters that choose among the designs; not those that follow from them."""
    points = [dict(design.parameters) for design in designs]
    names = [name for name in points[0] if len({point[name] for point in points}) > 1]
    for name in reversed(names):
        others = [other for other in names if other != name]
        if len({tuple(point[other] for other in others) for point in points}) == len(points):
            names = others
    return tuple(names)
