"""Long programs: a thing under test is empty, half full and full in turn, for a thousand requests.

Theory of operation. Short programs find most bugs, and shrink well. They cannot find what takes
long to happen: a counter that wraps, a ring that turns, a table that is full, a leak that adds
up, an order that changes from the fifth element on. So some cases of each run have one long
program. It consists of phases. In each phase some operations are asked for more often than
others: those that put something in, those that take something out, or none. What a target is
sent depends on nothing but the seed, the size, and what made sense where it stood.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ..ports.base import ALWAYS
from .exchange import Act, Program

__all__ = ["FILLED_BY_CHANCE", "LONG_REQUESTS", "SHORT_ITEMS", "Long", "enough", "grown",
           "long_acts"]

LONG_REQUESTS: Final = 1_200
"""Requests of a long program; three times as many acts are drawn, of which many make no sense
where they stand."""

SPARE: Final = 3
"""Acts that are drawn for each request."""

FILLED_BY_CHANCE: Final = 6
"""The largest size that short programs fill often enough by chance."""

OFTEN: Final = 6
"""The weight of a phase's operations against that of others."""

LATE: Final = 9 / 10
"""The part of a program after which operations may come that leave little to ask."""

SHORT_ITEMS: Final = 40
"""Items that a program may name which is not long: so many requests, its epilogue included."""

_PHASE: Final = 40
"""The most acts of a phase where nothing is filled."""

_MOODS: Final = ("fill", "mixed", "drain", "mixed")


@dataclass(frozen=True)
class Long:
    """The form of the long programs of a suite.

    ``fills`` and ``drains`` are the operations that put something in and take something out; a
    suite without them has phases in which some operations, drawn anew, come more often.
    After those in ``ending`` little is left to ask, so that they come late in a program.
    ``sizes`` are capacities that only long programs have, besides the suite's own: they are
    larger, and programs have to be long to fill them. ``picks`` has, for some operations, the
    only values that long programs pick. ``requests`` is about how many requests a program makes.
    """

    fills: tuple[str, ...] = ()
    drains: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    picks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    requests: int = LONG_REQUESTS

    def phase_most(self, size: int) -> int:
        """The most acts of a phase: enough to fill or to empty a thing of this size."""
        return 3 * size + 24 if self.fills else _PHASE

    def most(self, size: int) -> int:
        """The requests that a program makes for a thing of this size, at most: enough to fill and
        to empty it."""
        return max(self.requests, self.requests + 3 * size if self.fills else 0)

    def before(self, random: Random, can: Collection[str], size: int) -> Program:
        """The first acts of a short program, which alone could not fill a thing of this size.

        They leave it empty, half full, nearly full, or full.
        """
        fills = [name for name in self.fills if name in can]
        if not fills or size <= FILLED_BY_CHANCE:
            return ()
        return (Act(fills[0]),) * random.choice((0, size // 2, size - 1, size, size))


def grown(short: int, items_max: int, most: int | None = None, each: int = 1) -> int:
    """A bound that short programs keep, of something that each request may add one to, or ``each``.

    In a long program, or what is left of one that is shrunk, no request has to be left out for it;
    unless there are ``most``, for a machine with steps that look at all of them.
    """
    if items_max <= SHORT_ITEMS:
        return short
    return max(short, each * items_max if most is None else min(most, each * items_max))


def enough(most: int, size: int) -> int:
    """A bound of long programs that suffices to fill a thing of this size three times."""
    return max(most, 3 * size)


def long_acts(
    random: Random, long: Long, weights: Mapping[str, int], can: Collection[str], size: int,
    picks: Sequence[int], own_picks: Mapping[str, Sequence[int]],
) -> Program:
    """The acts of a long program, before its epilogue. ``picks`` are the values to pick from, and
    ``own_picks`` those of operations that need others."""
    of_each = {**own_picks, **long.picks}
    names = [name for name in weights if name in ALWAYS or name in can]
    wanted, phase = SPARE * long.most(size), long.phase_most(size)
    acts: list[Act] = []
    moods = _moods(random)
    while len(acts) < wanted:
        late = len(acts) > wanted * LATE
        chosen = [name for name in names if late or name not in long.ending]
        table = _table(random, long, {name: weights[name] for name in chosen}, next(moods))
        for _ in range(random.randint(phase // 3, phase)):
            do = random.choice(table)
            acts.append(Act(do, random.choice(of_each.get(do, picks))))
    return tuple(acts[:wanted])


def _moods(random: Random) -> Iterator[str]:
    while True:
        yield from _MOODS
        yield random.choice(_MOODS)


def _table(random: Random, long: Long, weights: Mapping[str, int], mood: str) -> list[str]:
    """The operations of a phase, each as often as its weight says there."""
    often = {"fill": long.fills, "drain": long.drains, "mixed": ()}[mood]
    if not (long.fills or long.drains) and mood != "mixed":
        often = tuple(name for name in weights if random.random() < 1 / 3)
    return [name for name, weight in weights.items()
            for _ in range(weight * (OFTEN if name in often else 1))]
