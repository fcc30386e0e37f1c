"""A translated design as counters and transitions, in the form that equations are made from.

A place that says *where* something is (a script's position, a merge's turn) is no amount, so no
sum can use it. It becomes one counter for each of its values, of which one is 1 and the others
are 0: then "so many elements are there while the script is at that step" is a linear equation.
Every other place is a counter. An unbounded link has no most, and no guard that says that it is
full. A design that has failed is not deadlocked, so its failure is no counter, and what makes it
fail is a transition that leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ...verdicts.verdict import Trace
from .places import Unbounded
from .rows import FAILED, Invariant, Place, Row, Table
from .builder import Aim

__all__ = ["AIM", "Counter", "Counters", "Transition", "changes_of"]

NO_MOST = 10**12
LOOK = 256
"""Rows between two looks at the clock."""
AIM = Aim(unbounded=Unbounded(NO_MOST, abstract=False))
"""The aim of the translation: unbounded links have no end."""

ONE_OF_MANY = {"position", "turn"}
"""Roles of places with tokens that are no amount but a name."""
LINES = {"line", "slot"}
"""Roles of places that say what stands where in a queue."""


@dataclass(frozen=True)
class Counter:
    """A number that is never negative; ``most`` is None where nothing bounds it.

    It is the tokens of ``place``, or, with a ``value``, 1 exactly where the place holds that many.
    """

    place: str
    start: int
    most: int | None
    rest: int
    value: int | None = None

    @property
    def name(self) -> str:
        """The counter in a certificate."""
        return self.place if self.value is None else f"{self.place} = {self.value}"


@dataclass(frozen=True)
class Transition:
    """A step: possible where each counter of ``least`` is at least, and each of ``most`` at most,
    the number there; it adds ``change``. ``fails`` is true for one after which the design has
    failed, which is no deadlock. ``row`` is the number of the table's row that it comes from."""

    least: Mapping[int, int]
    most: Mapping[int, int]
    change: Mapping[int, int]
    fails: bool = False
    row: int = -1


@dataclass(frozen=True)
class Counters:
    """A design as counters and transitions; ``may_end`` says whether it may end where no counter is
    above
    its
    ``rest``. ``sums`` are invariants that are known because they say which kind is where in a
    queue, of
    which ``lines`` are the counters: a basis of all sums says the same at length.
    """

    counters: Sequence[Counter]
    transitions: Sequence[Transition]
    may_end: bool
    sums: Sequence[Mapping[int, int]] = ()
    lines: frozenset[int] = frozenset()
    meant: Sequence[Mapping[int, int]] = ()
    """Invariants that were meant so (a pool's threads are free or held). A basis of all invariants
    has them only mixed with others."""

    @staticmethod
    def of(table: Table, watch: Callable[[], object] = lambda: None) -> Counters:
        """The counters of a table that was translated with :data:`AIM`."""
        counters = [counter for place in table.places for counter in _counters(place)]
        index = {(counter.place, counter.value): n for n, counter in enumerate(counters)}
        places = {place.name: place for place in table.places}
        transitions: list[Transition] = []
        for number, row in enumerate(table.rows):
            if number % LOOK == 0:
                watch()
            transitions += _transitions(row, number, places, index)
        known = [{index[place, None]: weight for place, weight in law.weights.items()}
                 for law in table.invariants if _is_line(law, places)]
        lines = frozenset(n for n, counter in enumerate(counters)
                          if places[counter.place].role in LINES)
        meant = [{index[place, None]: weight for place, weight in law.weights.items()}
                 for law in table.invariants if all(
                     (place, None) in index for place in law.weights)]
        return Counters(counters, transitions, table.may_end, known, lines, meant)

    @property
    def lasting(self) -> Iterator[Transition]:
        """The transitions after which the design continues, and that change something."""
        return (transition for transition in self.transitions if transition.change and
                not transition.fails)

    def is_work_left(self, values: Sequence[int]) -> bool:
        """True if a state in which nothing moves is no rest."""
        return not self.may_end or any(
            number > counter.rest for number, counter in zip(values, self.counters, strict=True))

    def marking(self, values: Sequence[int]) -> dict[str, int]:
        """The tokens in each place of the table where the counters have these values."""
        found = {FAILED: 0}
        for counter, number in zip(self.counters, values, strict=True):
            if counter.value is None:
                found[counter.place] = number
            elif number:
                found[counter.place] = counter.value
        return found


def changes_of(table: Table, trace: Trace) -> Iterator[dict[str, int]]:
    """The change of each step of a trace, by counters."""
    number = {place.name: n for n, place in enumerate(table.places)}
    named = {place.name for place in table.places if place.role in ONE_OF_MANY}
    ours = {place.name for place in table.places if place.role in ("flag", "beat")}
    state = trace.initial
    for step in trace.steps:
        row = table.row_of(step.action, step.args[0][1])
        found = {}
        for place, by in row.effect.change.items():
            at = f"marking[{number[place]}]"
            if place in named:
                found[f"{place} = {state[at]}"] = -1
                found[f"{place} = {step.state[at]}"] = 1
            elif place not in ours:
                found[place] = by
        yield found
        state = step.state


def _is_line(law: Invariant, places: Mapping[str, Place]) -> bool:
    """True if a sum is about where elements stand in a queue."""
    return any(places[place].role in LINES for place in law.weights)


def _counters(place: Place) -> Iterator[Counter]:
    if place.name == FAILED:
        return
    if place.role in ONE_OF_MANY:
        for value in range(place.most + 1):
            yield Counter(place.name, int(place.start == value), 1, int(value <= place.rest), value)
        return
    most = None if place.most >= NO_MOST else place.most
    yield Counter(place.name, place.start, most, place.rest)


Index = Mapping[tuple[str, int | None], int]
Guards = tuple[dict[int, int], dict[int, int], dict[int, int]]


def _transitions(row: Row, number: int, places: Mapping[str, Place],
                 index: Index) -> Iterator[Transition]:
    """The transitions of a row: one for each value that its positions and turns may have."""
    effect = row.effect
    least: dict[int, int] = {}
    most: dict[int, int] = {}
    change: dict[int, int] = {}
    named: list[list[tuple[int, int]]] = []
    for name in dict.fromkeys((*effect.at_least, *effect.at_most, *effect.change)):
        place = places[name]
        low, high = effect.at_least.get(name, 0), effect.at_most.get(name, place.most)
        by = effect.change.get(name, 0)
        if place.role in ONE_OF_MANY:
            named.append([
                (index[name, value], index[name, value + by])
                for value in range(max(0, low), min(high, place.most) + 1)
                if 0 <= value + by <= place.most
            ])
        elif name != FAILED:
            here = index[name, None]
            if low > 0:
                least[here] = low
            if high < place.most and high < NO_MOST // 2:
                most[here] = high
            if by:
                change[here] = by
    fails = effect.change.get(FAILED, 0) > 0
    if not named:
        yield Transition(least, most, change, fails, number)
        return
    for choice in product(*named):
        yield Transition(
            {**least, **{before: 1 for before, _ in choice}}, most,
            {**change, **{before: -1 for before, after in choice if before != after},
             **{after: 1 for before, after in choice if before != after}}, fails, number,
        )
