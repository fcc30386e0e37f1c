"""Programs from Hypothesis: random sequences of operations, a pure function of a seed.

Two properties of what is drawn matter. It must not depend on anything but the seed: so only
booleans are drawn, because Hypothesis enriches numbers and texts with constants that it
finds in whatever local modules happen to be imported, which differ between a test, a command
and an executor of a cluster. And programs must differ in kind, not only in detail: so each
leaves some operations out altogether (*swarm testing*), for what is done all the time hides
what happens without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ...spec.notation.rules import Rule
from .suite import Act, Program, Suite

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["LENGTH_MAX", "explore", "generator_version"]

LENGTH_MAX: Final = 14
"""Acts in a generated program, before its epilogue."""

_BITS: Final = 4


def generator_version() -> str:
    """The version of Hypothesis: with another one, a seed may mean other programs."""
    from hypothesis import __version__

    return str(__version__)


def explore(
    suite: Suite, can: Collection[str], focus: Rule, seed: int, examples: int,
    attempt: Callable[[Program], None],
) -> None:
    """Call ``attempt`` with each of the programs of a seed, at most ``examples`` of them.

    Each does something, and ends with the suite's epilogue, as far as the target can do it.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, given
    from hypothesis import seed as seeded
    from hypothesis import settings as settings_of

    epilogue = tuple(act for act in suite.epilogue if act.do == "settle" or act.do in can)

    @seeded(seed)
    @settings_of(
        # One more, since Hypothesis begins with the simplest of all: the one that does nothing.
        max_examples=examples + 1, database=None, deadline=None, derandomize=False,
        # Its shrinker stops by the clock, and so could not give the same row twice on
        # machines of different speed; ours counts runs. See shrink.py.
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet, print_blob=False,
    )
    @given(_programs(suite, can, focus))
    def attempt_one(program: Program) -> None:
        if program:
            attempt(program + epilogue)

    attempt_one()


def _programs(suite: Suite, can: Collection[str], focus: Rule) -> SearchStrategy[Program]:
    from hypothesis import strategies as st

    names = [name for name in suite.weights if name == "settle" or name in can]
    favoured = suite.favoured.get(focus.id, ())
    wide = _BITS + (suite.picks - 1).bit_length() if suite.picks else _BITS
    drawn = 2 * len(names) + wide * LENGTH_MAX
    needed = {group[0] for group in suite.needs[focus.id] if len(group) == 1} | {"settle"}
    # What makes the test of the rule whole is as little to be left out as what it needs.
    needed |= {each.takes[0] for each in suite.fuller.get(focus.id, ()) if len(each.takes) == 1}

    def program(bits: tuple[bool, ...]) -> Program:
        # One in four of the operations that the rule in focus can do without is left out.
        left_out = [bits[2 * at] and bits[2 * at + 1] for at in range(len(names))]
        kept = [
            name for name, out in zip(names, left_out, strict=True) if name in needed or not out
        ]
        few: Mapping[str, Sequence[int]] = {}
        if favoured and bits[-1]:
            kept = [name for name in names if name in favoured]
            few = suite.favoured_picks.get(focus.id, few)
        table = [name for name in kept for _ in range(suite.weights[name])]
        acts = _acts(table, bits[2 * len(names): drawn], wide)
        return tuple(
            act._replace(pick=few[act.do][act.pick % len(few[act.do])]) if act.do in few else act
            for act in acts)

    # One flat tuple: every layer of strategies costs more than a run of the program.
    return st.tuples(*[st.booleans()] * (drawn + bool(favoured))).map(program)


def _acts(table: Sequence[str], bits: Sequence[bool], wide: int) -> Iterator[Act]:
    for at in range(LENGTH_MAX):
        drawn = bits[wide * at: wide * (at + 1)]
        code, pick = _number(drawn[:_BITS]), _number(drawn[_BITS:])
        # Code 0 does nothing, so that programs of every length are drawn.
        if code:
            yield Act(table[(code - 1) % len(table)], pick=pick if wide > _BITS else at % 3)


def _number(bits: Sequence[bool]) -> int:
    return sum(bit << power for power, bit in enumerate(bits))
