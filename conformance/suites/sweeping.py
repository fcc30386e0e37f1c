"""Suites of which some programs cancel a call at each instant in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from ...spec.notation.rules import Rule
from .suite import Act, Program, Suite

__all__ = ["STEPS_MAX", "SweepingSuite", "steps_of"]

STEPS_MAX: Final = 3
"""Callbacks that one ``run`` lets run, and calls that may wait at the same time."""


def steps_of(act: Act) -> int:
    """The number of callbacks that an act ``run`` lets run."""
    return 1 + act.pick % STEPS_MAX


@dataclass(frozen=True)
class SweepingSuite(Suite):
    """A suite with some programs that cancel at each instant in turn.

    For every ``sweeping`` programs that are asked for, one of them is *swept*: without its own
    cancellations, callback by callback, it is run once for every instant, and for each of the
    first ``STEPS_MAX`` calls that wait then, which is cancelled there. The operation for that is
    ``stops``.
    """

    stops: str = "interrupt"
    sweeping: int = 10

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Explore; then some of the programs again, with a call stopped after each single step."""
        bases: list[Program] = []

        def keep(program: Program) -> None:
            bases.append(program)
            attempt(program)

        super().explore(can, focus, seed, examples, keep)
        draw = Random(f"{self.name} {seed} sweep")
        for _ in range(examples // self.sweeping):
            if bases:
                for program in self._swept(draw.choice(bases)):
                    attempt(program)

    def _swept(self, base: Program) -> Iterator[Program]:
        own = base[:len(base) - len(self.epilogue)]
        calm = _by_single_steps(act for act in own if act.do != self.stops)
        for at in range(1, len(calm) + 1):
            for pick in range(STEPS_MAX):
                yield (*calm[:at], Act(self.stops, pick), *calm[at:], *self.epilogue)


def _by_single_steps(acts: Iterable[Act]) -> Program:
    """The acts with each callback by itself, so that something can come before and after it."""
    return tuple(
        one for act in acts
        for one in ((Act("run"),) * steps_of(act) if act.do == "run" else (act,)))
