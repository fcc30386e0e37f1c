"""A design for all values of its parameters: a few regions, in each of which it is one net.

The design is read and translated with symbols in place of numbers (see ``symbols``) at one point.
What comes out is a net with starts, ends, guards and changes that are linear forms of the
parameters, and the conditions under which it is just this net: a *region*. Z3 is asked for a point
outside of all regions that are known, until there is none. So the regions cover the whole *domain*:
each parameter from the least value of its range up to ``MOST``; those of which the structure
depends on the number itself (how deep a call is, how many copies there are) only in their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...notation.errors import InputError
from ..net.counters import AIM, Counters
from ..net.rows import Table
from ..net.translate import translate
from ..reading.language import Design
from ..reading.symbols import Condition, Notes, Symbol
from ..why.parts import parts

__all__ = ["MOST", "Domain", "Region", "Regions", "TooManyRegions", "settled"]

MOST: Final = 1_000_000
"""Largest value of a parameter: no number of a design may be larger."""
MAX_REGIONS: Final = 400

Values = Mapping[str, int]
Made = Callable[[Mapping[str, int]], Design]
"""Makes the design of a point; the values may be symbols."""


class TooManyRegions(Exception):
    """The design is another one for nearly every point."""


@dataclass(frozen=True)
class Region:
    """A region of parameters: where all ``conditions`` are true the design's parts are these
    ``tables``,
    and ``nets``, with symbols; none where the language has no such design. ``fixed`` parameters
    have
    one value there.
    """

    conditions: tuple[Condition, ...]
    tables: tuple[Table, ...]
    nets: tuple[Counters, ...]
    fixed: Values

    def has(self, point: Values) -> bool:
        """True if a point is in it."""
        return all(condition.holds(point) for condition in self.conditions)

    @property
    def texts(self) -> list[str]:
        """Its conditions in SMT-LIB."""
        return [condition.text for condition in self.conditions]


@dataclass(frozen=True)
class Domain:
    """The values that are spoken of: for each parameter the least and the most of its range, and
    for those that are not ``bounded`` by it all above it, too. It has ``gaps`` where the language
    has no design with some of them."""

    ranges: Mapping[str, tuple[int, int]]
    bounded: frozenset[str] = frozenset()
    gaps: bool = False

    def top(self, name: str) -> int:
        """The most that a parameter may be."""
        return self.ranges[name][1] if name in self.bounded else MOST

    @property
    def texts(self) -> list[str]:
        """The domain in SMT-LIB: the parameters are declared, and each is in its range."""
        return [f"(declare-const |{name}| Int)" for name in self.ranges] + [
            f"(assert (and (>= |{name}| {low}) (<= |{name}| {self.top(name)})))"
            if low >= 0 else
            f"(assert (and (>= |{name}| (- {-low})) (<= |{name}| {self.top(name)})))"
            for name, (low, _) in self.ranges.items()]


class Regions:
    """The regions of a design. ``fixing`` makes numbers of all that a step adds or takes away."""

    def __init__(self, made: Made, domain: Domain, fixing: bool) -> None:
        self.made = made
        self.domain = domain
        self.fixing = fixing
        self.found: list[Region] = []

    def cover(self, points: Sequence[Values], watch: Callable[[], object]) -> None:
        """Find regions until they cover the domain; ``points`` are looked at first.

        Raises TooManyRegions. A parameter of which a value beyond its range has a region of its
        own is one that the structure depends on, and becomes bounded in the domain.
        """
        for point in points:
            watch()
            if not any(region.has(point) for region in self.found):
                self.add(point)
        while (outside := self._outside()) is not None:
            watch()
            self.add(outside)

    def add(self, point: Values) -> None:
        """Find the region of a point that is in none so far."""
        region = self._at(point)
        beyond = {name for name, value in region.fixed.items()
                  if value > self.domain.ranges[name][1]}
        if beyond:  # every value has a region of its own
            self.domain = replace(self.domain, bounded=self.domain.bounded | beyond)
            return
        if len(self.found) >= MAX_REGIONS:
            raise TooManyRegions
        self.found.append(region)
        if not region.nets:
            self.domain = replace(self.domain, gaps=True)

    def _at(self, point: Values) -> Region:
        notes = Notes(point)
        try:
            tables = tuple(translate(part, AIM) for part in parts(self.made(notes.symbols())))
            nets = tuple(self._net(table) for table in tables)
        except InputError:
            tables, nets = (), ()
        notes.closed = True
        fixed = {name: point[name] for condition in notes.conditions
                 for name in _only_value(condition)}
        return Region(notes.conditions, tables, tuple(settled(net, fixed) for net in nets), fixed)

    def _net(self, table: Table) -> Counters:
        net = Counters.of(table)
        if not self.fixing:
            return net
        return replace(net, transitions=[
            replace(transition, change={n: int(by) for n, by in transition.change.items()})
            for transition in net.transitions])

    def _outside(self) -> Values | None:
        """A point of the domain in no region."""
        from .asking import answered
        return answered([*self.domain.texts, *(
            f"(assert (not (and true {' '.join(region.texts)})))" for region in self.found)],
            self.domain.ranges)


def _only_value(condition: Condition) -> Iterator[str]:
    """The parameter that a condition leaves one value."""
    if condition.relation == "=" and len(condition.form.factors) == 1:
        yield condition.form.factors[0][0]


def settled(net: Counters, fixed: Values) -> Counters:
    """The net with numbers in place of these parameters."""
    def number(value: Any) -> Any:
        if not isinstance(value, Symbol):
            return value
        form = value.form.settled(fixed)
        return Symbol(form, value.notes) if form.factors else form.constant

    def amounts(each: Mapping[int, int]) -> dict[int, int]:
        return {n: number(value) for n, value in each.items()}

    return replace(
        net, counters=[replace(each, start=number(each.start), most=number(each.most),
                               rest=number(each.rest)) for each in net.counters],
        transitions=[replace(each, least=amounts(each.least), most=amounts(each.most),
                       change=amounts(each.change)) for each in net.transitions])
