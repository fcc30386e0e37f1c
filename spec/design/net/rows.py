"""Rows and places: what a design is translated into, before it becomes constant tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

__all__ = [
    "FAILED", "MAX_ROWS", "MAX_WAYS", "NOTHING", "ROWS_OF_A_TASK", "Effect", "Invariant", "Meeting",
    "Place", "Role", "Row", "Table", "TooManyWays", "together", "watched",
]

FAILED = "the design has failed"
Meeting = tuple[str, bool]
"""An end of a link of capacity 0: its name, and true for the writer's end."""

Role = str
"""The role of a place: queue, permits, freed, slots, line, slot, hand, pool, sign, left, position,
turn, flag.
"""


MAX_WAYS = 512
"""The most rows of a task for one step: 9 links that may be full or not."""

MAX_ROWS = 200_000
"""The most rows of a whole design, beside those that each task may have."""
ROWS_OF_A_TASK = 12
"""Transitions that each task of a design may have."""


class TooManyWays(Exception):
    """A task, or the design, has more transitions than can be listed."""


@dataclass(frozen=True)
class Place:
    """A place of the net. ``of`` is the link, pool or task it belongs to.

    ``rest`` is the most that may be left when everything is done; ``limit`` the most that
    the property under check allows (by default, all that fits).
    """

    name: str
    role: Role
    of: str
    start: int
    most: int
    rest: int
    limit: int


@dataclass(frozen=True)
class Effect:
    """A guarded change of some places, described in words.

    ``fair`` is false for what merely may happen; ``loses`` marks the loss of an element;
    ``abstract`` marks a step that stands for several possible ones (see ``links``).
    ``meets`` are the ends of links of capacity 0 at which a partner must be ready, and
    ``unless`` those at which no writer may be; ``meetings`` does away with both.
    ``overflows`` are the places that are found too full, so that the guards on them say how full.
    """

    at_least: Mapping[str, int] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    change: Mapping[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    fair: bool = True
    loses: bool = False
    abstract: bool = False
    meets: frozenset[Meeting] = frozenset()
    unless: frozenset[str] = frozenset()
    overflows: frozenset[str] = frozenset()

    def then(self, other: Effect) -> Effect:
        """This effect and, in the same transition, the other one after it.

        The other's guards are about the marking that this effect leaves behind, so what
        this one changes is taken off them. That makes a link from a task to itself read
        before it writes.
        """
        if other is NOTHING:
            return self
        if self is NOTHING and all(other.change.values()):
            return other

        def shifted(guards: Mapping[str, int]) -> Iterator[tuple[str, int]]:
            return ((place, n - self.change.get(place, 0)) for place, n in guards.items())

        at_least, at_most = dict(self.at_least), dict(self.at_most)
        for place, n in shifted(other.at_least):
            at_least[place] = max(n, at_least.get(place, n))
        for place, n in shifted(other.at_most):
            at_most[place] = min(n, at_most.get(place, n))
        change = dict(self.change)
        for place, n in other.change.items():
            change[place] = change.get(place, 0) + n
        if FAILED in change:
            change[FAILED] = 1  # two links that overflow at once fail once
        return Effect(
            at_least, at_most, {p: n for p, n in change.items() if n},
            self.words + other.words, self.fair and other.fair,
            self.loses or other.loses, self.abstract or other.abstract,
            self.meets | other.meets, self.unless | other.unless,
            self.overflows | other.overflows,
        )


NOTHING = Effect()
"""The effect that nothing happens."""


def together(*alternatives: Iterable[Effect]) -> Iterator[Effect]:
    """Every way to do all of several things in one transition, each of which has alternatives.

    Raises TooManyWays before it makes more than MAX_WAYS.
    """
    groups = [tuple(group) for group in alternatives]
    if prod(map(len, groups)) > MAX_WAYS:
        raise TooManyWays
    for choice in product(*groups):
        whole = NOTHING
        for effect in choice:
            whole = whole.then(effect)
        yield whole


@dataclass(frozen=True)
class Row:
    """One transition of ``task``. ``own`` is false where the link itself moves; ``partners`` are
    tasks that move with it, with what they do.

    ``parts`` are the rows that were joined to this one, and ``since`` says, for the links
    of capacity 0 that a part passes over, why no writer there is ready.
    """

    task: str
    effect: Effect
    own: bool = True
    partners: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parts: tuple[Row, ...] = ()
    since: tuple[Effect, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that move: the task, and those that it meets."""
        return self.task, *(task for task, _ in self.partners)

    @property
    def label(self) -> str:
        """The move in the words of the design's author."""
        transitions = ((self.task, self.effect.words), *self.partners)
        return "; ".join(f"{task} {', '.join(words)}" for task, words in transitions)


@dataclass(frozen=True)
class Invariant:
    """A weighted sum of places that no row changes."""

    weights: Mapping[str, int]
    total: int


@dataclass(frozen=True)
class Table:
    """A translated design: the places, the rows (fair ones first) and what is conserved.

    ``offers`` are the rows before those that meet were joined, and ``joined`` those after it;
    both have the steps that change nothing but drop an element. ``holders`` are, for each
    pool's place, those places of tasks whose every token holds a thread of it. The steps that flip
    ``beat`` are asked for while the place ``wanted`` holds ``least`` tokens.
    """

    places: tuple[Place, ...]
    rows: tuple[Row, ...]
    invariants: tuple[Invariant, ...]
    may_end: bool
    beat: str = FAILED
    offers: tuple[Row, ...] = ()
    joined: tuple[Row, ...] = ()
    holders: Mapping[str, frozenset[str]] = field(default_factory=dict)
    wanted: str = FAILED
    least: int = 0

    def constants(self) -> dict[str, Any]:
        """The constants of :class:`~checkvalve.spec.design.net.net.Net` for this table."""
        number = {place.name: i for i, place in enumerate(self.places)}

        def arcs(entries: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
            return tuple((number[place], n) for place, n in entries.items())

        fair = sum(row.effect.fair for row in self.rows)
        return {
            "at_least": tuple(arcs(row.effect.at_least) for row in self.rows),
            "at_most": tuple(arcs(row.effect.at_most) for row in self.rows),
            "change": tuple(arcs(row.effect.change) for row in self.rows),
            "fair_rows": fair, "chance_rows": len(self.rows) - fair,
            "start": tuple(place.start for place in self.places),
            "most": tuple(place.most for place in self.places),
            "limit": tuple(place.limit for place in self.places),
            "rest": tuple(place.rest for place in self.places),
            "may_end": int(self.may_end),
            "stopped": number[FAILED], "beat": number[self.beat],
            "wanted": number[self.wanted], "least": self.least,
        }

    def contents(self, marking: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        """Number of elements in each link, and in each queue of slots that several links share."""
        return (*((p.of, marking[p.name]) for p in self.places if p.role == "queue"),
                *((p.of, p.most - marking[p.name]) for p in self.places if p.role == "slots"))

    def free(self, marking: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        """The amount of each pool that no task holds."""
        return tuple((p.of, marking[p.name]) for p in self.places if p.role == "pool")

    def row_of(self, action: str, index: int) -> Row:
        """The row behind a step of the chapter: ``fire`` and ``befall`` share the table."""
        fair = sum(row.effect.fair for row in self.rows)
        return self.rows[index if action == "fire" else fair + index]


def watched(rows: Sequence[Row], steps: Callable[[Row], bool], beat: str) -> Iterator[Row]:
    """The rows with those of ``steps`` doubled, so that each flips the place ``beat``."""
    for row in rows:
        if not steps(row):
            yield row
            continue
        for before in (0, 1):
            flip = Effect({beat: before}, {beat: before}, {beat: 1 - 2 * before})
            yield replace(row, effect=row.effect.then(flip))
