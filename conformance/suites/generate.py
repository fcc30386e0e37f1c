"""Random programs: sequences of operations, a pure function of a seed.

Three properties of what is drawn matter. It must not depend on anything but the seed: Python
promises that the same seed gives the same numbers on every machine. Programs must differ in
kind, not only in detail: so each leaves some operations out altogether (*swarm testing*), for
what is done all the time hides what happens without it. And they must be drawn independently,
for what a search varies stays close to where it began: of two generators with the same rate of
failures, the one with failures in more cases finds more bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Final, Protocol

from ...spec.notation.rules import Rule
from ..ports.base import ALWAYS
from .exchange import PICKS, Act, Course, Fuller, Program
from .needs import Groups
from .values import DRESSED, Payloads

__all__ = ["GENERATOR", "LENGTH_MAX", "Drawing", "explore"]

GENERATOR: Final = 1
"""The version of the generator: with another one, the same seed may mean other programs."""

LENGTH_MAX: Final = 14
"""Acts in a generated program, before its epilogue."""

_LEFT_OUT: Final = 1 / 4
_PAUSE: Final = 1 / 16
_STRAY: Final = 1 / 4
"""Shares: operations left out of a program, of those that its rule does not need; acts left out of
a random program; and the chance of another act before each one of a course."""

Draw = Callable[[], Act]


class Drawing(Protocol):
    """The source of drawn programs; a ``Suite`` is one, and says what each part means."""

    @property
    def name(self) -> str:
        """See ``Suite``."""
        ...

    @property
    def weights(self) -> Mapping[str, int]:
        """See ``Suite``."""
        ...

    @property
    def epilogue(self) -> Program:
        """See ``Suite``."""
        ...

    @property
    def favoured(self) -> Mapping[str, tuple[str, ...]]:
        """See ``Suite``."""
        ...

    @property
    def favoured_picks(self) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
        """See ``Suite``."""
        ...

    @property
    def courses(self) -> Mapping[str, tuple[Course, ...]]:
        """See ``Suite``."""
        ...

    @property
    def fuller(self) -> Mapping[str, tuple[Fuller, ...]]:
        """See ``Suite``."""
        ...

    @property
    def picks(self) -> int:
        """See ``Suite``."""
        ...

    @property
    def own_picks(self) -> Mapping[str, Sequence[int]]:
        """See ``Suite``."""
        ...

    @property
    def payloads(self) -> Payloads | None:
        """See ``Suite``."""
        ...

    def groups(self, rule: Rule) -> Groups:
        """The groups of operations of which a test of the rule needs one each."""
        ...


def explore(
    suite: Drawing, can: Collection[str], focus: Rule, seed: int, examples: int,
    attempt: Callable[[Program], None],
) -> None:
    """Call ``attempt`` with each of the programs of a seed, at most ``examples`` of them.

    Each does something, and ends with the suite's epilogue, as far as the target can do it. One
    that is alone, because a program takes long, goes along a course, where the rule has any.
    """
    epilogue = tuple(act for act in suite.epilogue if act.do in ALWAYS or act.do in can)
    random = Random(f"{suite.name} {seed}")
    chance = Random(f"{suite.name} {seed} values")
    for _ in range(examples):
        program = tuple(_program(random, suite, can, focus, alone=examples == 1))
        if suite.payloads and chance.random() < DRESSED:
            program = suite.payloads.dressed(program, chance)
        if program:
            attempt(program + epilogue)


def _program(
    random: Random, suite: Drawing, can: Collection[str], focus: Rule, alone: bool
) -> Iterator[Act]:
    """A program for a rule: from all operations, from favoured ones, or along a rare course."""
    names = [name for name in suite.weights if name in ALWAYS or name in can]
    needed = {group[0] for group in suite.groups(focus) if len(group) == 1} | ALWAYS
    # What makes the test of the rule whole is as little to be left out as what it needs.
    needed |= {each.takes[0] for each in suite.fuller.get(focus.id, ()) if len(each.takes) == 1}
    kept = [name for name in names if name in needed or random.random() >= _LEFT_OUT] or names
    favoured = [name for name in suite.favoured.get(focus.id, ()) if name in names]
    courses = [course for course in suite.courses.get(focus.id, ())
               if all(_names_of(each) <= {*names} for each in course)]
    if courses and alone:
        return _along(random, random.choice(courses), _drawing(random, suite, kept, {}), suite, {})
    if not (favoured or courses) or random.random() < 1 / 2:
        return _at_random(random, _drawing(random, suite, kept, {}))
    few = suite.favoured_picks.get(focus.id, {})
    draw = _drawing(random, suite, favoured or kept, few)
    if courses and (not favoured or random.random() < 1 / 2):
        return _along(random, random.choice(courses), draw, suite, few)
    return _at_random(random, draw)


def _drawing(
    random: Random, suite: Drawing, kept: Sequence[str], few: Mapping[str, Sequence[int]]
) -> Draw:
    """Draws an act: one of the operations, by their weights, that picks any or one of a few."""
    table = [name for name in kept for _ in range(suite.weights[name])]

    def draw() -> Act:
        do = random.choice(table)
        return Act(do, random.choice(_picks_of(do, suite, few)))
    return draw


def _picks_of(do: str, suite: Drawing, few: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """The values that an operation picks from: one of a few, its own, or any of the suite's."""
    own = suite.own_picks.get(do)
    return few.get(do, range(suite.picks or PICKS) if own is None else own)


def _at_random(random: Random, draw: Draw) -> Iterator[Act]:
    for _ in range(LENGTH_MAX):
        if random.random() >= _PAUSE:
            yield draw()


def _along(
    random: Random, course: Course, draw: Draw, suite: Drawing, few: Mapping[str, Sequence[int]]
) -> Iterator[Act]:
    """A course of events, with other acts before its own, and after them."""
    spare = LENGTH_MAX - len(course)
    for each in course:
        while spare > 0 and random.random() < _STRAY:
            spare -= 1
            yield draw()
        yield random.choice(each) if isinstance(each, tuple) else Act(
            each, random.choice(_picks_of(each, suite, few)))
    for _ in range(random.randint(0, max(0, spare))):
        yield draw()


def _names_of(each: str | tuple[Act, ...]) -> set[str]:
    return {act.do for act in each} if isinstance(each, tuple) else {each}
