"""The question whether a task gives what another one lacks: a game on the task's own places.

The task is always somewhere among its own places (its hand, its position, its turn), and from time
to time some row of it can move: others decide which. The task may take that row; or instead, or
right after it, one that is possible whenever that one is. It *gives* what is lacked if it cannot
help doing so in the end, or can see to it, wherever it is. What is lacked stays so meanwhile, so a
row that needs it cannot move.

How much that says depends on what is known of the task (``Giving``): that it can always come to
move again, that it moves once, or that it continues in a run that is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ..net.rows import Place, Row

__all__ = ["Giving", "Lack", "gives", "guards"]

MAX_WAYS = 3_000
"""Rows in all own markings together; a task with more is not looked at."""

Own = tuple[int, ...]
Way = tuple[Own, int]
"""A row (by its number) where the own places are like this."""
AT_ONCE, IN_THE_END = "at once", "in the end"


class Giving(Enum):
    """When a task gives, by the rules that are used one after another: to choose (``AT_ONCE``), or
    to be led there by whatever others decide (``IN_THE_END``)."""

    ALWAYS = ((AT_ONCE, IN_THE_END),)
    """If it can come to move again from wherever a run has come to."""
    ONCE = ((AT_ONCE,),)
    """If it can move a single time: it gives in that step, or in others right after it."""
    GOING_ON = ((AT_ONCE,), (IN_THE_END,))
    """If it moves again and again in a run, which may be left for a step or some."""
    SURELY = ((IN_THE_END,),)
    """If it moves again and again in a run, which is not left."""


@dataclass(frozen=True)
class Lack:
    """A place that never holds ``needed`` or more (with ``up``), or never so few as that."""

    place: str
    needed: int
    up: bool

    def raised_by(self, row: Row) -> bool:
        """True if the row gives some of it."""
        return row.effect.change.get(self.place, 0) * (1 if self.up else -1) > 0

    def forbids(self, row: Row) -> bool:
        """True if the row needs what is lacked."""
        if self.up:
            return row.effect.at_least.get(self.place, 0) >= self.needed
        return row.effect.at_most.get(self.place, self.needed + 1) <= self.needed

    def allows(self, row: Row, most: int) -> bool:
        """True if no guard of the row on the place fails while it is lacked."""
        least, room = row.effect.at_least.get(self.place, 0), row.effect.at_most.get(
            self.place, most)
        if self.up:
            return least <= 0 and room >= self.needed - 1
        return least <= self.needed + 1 and room >= most


def guards(row: Row) -> Iterator[tuple[str, int, bool]]:
    """The guards of a row: place, number, and true where it must be at least that many."""
    effect = row.effect
    yield from ((place, n, True) for place, n in effect.at_least.items() if n > 0)
    yield from ((place, n, False) for place, n in effect.at_most.items())


def gives(
    lack: Lack, rows: Sequence[Row], own: Sequence[Place], most: Mapping[str, int],
    when: Giving = Giving.ALWAYS,
) -> bool:
    """True if a task with these rows and own places gives what is lacked."""
    game = _Game(lack, rows, own, most)
    ways = game.ways()
    return ways is not None and game.won(ways, when)


class _Game:
    """The rows of one task, and what follows from each."""

    def __init__(
        self, lack: Lack, rows: Sequence[Row], own: Sequence[Place], most: Mapping[str, int]
    ) -> None:
        self.lack, self.most = lack, most
        self.rows = rows
        self.open = {n for n, row in enumerate(rows) if not lack.forbids(row)}
        self.places = [place.name for place in own]
        self.start: Own = tuple(place.start for place in own)
        self.giving = {n for n in self.open if lack.raised_by(rows[n])}
        every = self.open
        self.instead = {n: [m for m in every if m != n and self._follows(m, n, after=False)]
                        for n in every}
        self.after = {n: [m for m in every if self._follows(m, n, after=True)] for n in every}

    def ways(self) -> dict[Own, dict[int, Own]] | None:
        """For each own marking, where each row that it allows leads; None if there are too many.

        Before it was lacked, a row that needs it may have moved, so those lead on, too; but they
        are no ways.
        """
        found: dict[Own, dict[int, Own]] = {}
        queue, size = deque([self.start]), 0
        while queue:
            here = queue.popleft()
            if here in found:
                continue
            after = dict(self._from(here))
            found[here] = {n: there for n, there in after.items() if n in self.open}
            size += len(after)
            if size > MAX_WAYS:
                return None
            queue.extend(after.values())
        return found

    def _from(self, here: Own) -> Iterator[tuple[int, Own]]:
        held = dict(zip(self.places, here, strict=True))
        for number, row in enumerate(self.rows):
            effect = row.effect
            if all(held.get(p, n) >= n for p, n in effect.at_least.items()) and all(
                    held.get(p, n) <= n for p, n in effect.at_most.items()):
                yield number, tuple(n + effect.change.get(p, 0) for p, n in held.items())

    def won(self, ways: Mapping[Own, Mapping[int, Own]], when: Giving) -> bool:
        """True if every way leads to giving: the least set of ways that do, rules by rules."""
        good = {(here, n) for here, after in ways.items() for n in after if n in self.giving}
        for rules in when.value:
            growing = True
            while growing:
                more = {
                    (here, n) for here, after in ways.items() for n in after
                    if (here, n) not in good and self._leads(here, n, ways, good, rules)}
                growing = bool(more)
                good |= more
        return bool(good) and all((here, n) in good for here, after in ways.items() for n in after)

    def _leads(
        self, here: Own, number: int, ways: Mapping[Own, Mapping[int, Own]], good: set[Way],
        rules: Sequence[str],
    ) -> bool:
        there = ways[here][number]
        return AT_ONCE in rules and (
            any((here, other) in good for other in self.instead[number])
            or any((there, other) in good for other in self.after[number])
        ) or IN_THE_END in rules and all((there, other) in good for other in ways[there])

    def _follows(self, other: int, row: int, *, after: bool) -> bool:
        """True if one row's guards on links and pools hold wherever another row is possible, or
        right after it.
        """
        effect = self.rows[row].effect
        other_row = self.rows[other]
        if not other_row.effect.fair:
            return False
        for place, needed, up in guards(other_row):
            if place in self.places:
                continue
            if place == self.lack.place and self.lack.allows(other_row, self.most[place]):
                continue
            moved = effect.change.get(place, 0) if after else 0
            if up and max(0, effect.at_least.get(place, 0)) + moved < needed:
                return False
            highest = min(self.most[place], effect.at_most.get(place, self.most[place]))
            if not up and highest + moved > needed:
                return False
        return True
