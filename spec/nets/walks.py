"""Runs that try to reach a dead marking: at random, or led by a solution of the state equation."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from ..verdicts.deadline import Deadline
from .net import Net
from .token_game import Game

__all__ = ["Walks"]

SHARE = 256
"""Steps between two looks at the clock."""


class Walks:
    """Runs of one net from its first marking. ``steps`` counts those of all runs.

    They raise OutOfTime where the deadline passes.
    """

    def __init__(self, net: Net, random: Random, deadline: Deadline) -> None:
        self.game, self.random, self.deadline = Game(net), random, deadline
        self.watch = deadline.watch("trying runs")
        self.runs = self.steps = 0

    def dead(self) -> list[int] | None:
        """The run so far, if nothing is enabled at its end."""
        return None if self.game.enabled else list(self.game.run)

    def at_random(self, most: int) -> list[int] | None:
        """A run of at most so many steps into a dead marking; None if this one did not reach it.

        Each run has a liking of its own for some transitions, without which long rings and stores
        are walked up and down, and never all the way.
        """
        game, random = self.game, self.random
        game.restart()
        self.runs += 1
        liked = [random.random() for _ in game.net.transitions] if self.runs % 2 else None
        for step in range(most):
            if step % SHARE == 0:
                self.watch()
            if not game.enabled:
                break
            one = random.choice(game.enabled)
            if liked is not None:
                for _ in range(2):
                    other = random.choice(game.enabled)
                    if liked[other] > liked[one]:
                        one = other
            game.fire(one)
            self.steps += 1
        return self.dead()

    def led(self, counts: Mapping[int, int], detours: int) -> list[int] | None:
        """A run that fires each transition as often as ``counts`` says, in any order that is
        enabled, with at most so many other steps between them; None if it does not end dead."""
        game, random = self.game, self.random
        game.restart()
        self.runs += 1
        left = dict(counts)
        more = sum(left.values()) + detours
        for step in range(more):
            if step % SHARE == 0:
                self.watch()
            if not game.enabled:
                break
            wanted = self._wanted(left)
            if wanted is None:
                if detours <= 0:
                    break
                detours -= 1
                wanted = random.choice(game.enabled)
            elif left[wanted] > 1:
                left[wanted] -= 1
            else:
                del left[wanted]
            game.fire(wanted)
            self.steps += 1
        return self.dead()

    def _wanted(self, left: Mapping[int, int]) -> int | None:
        """An enabled transition that is still to fire, chosen at random."""
        enabled = self.game.enabled
        for _ in range(8):
            each = self.random.choice(enabled)
            if each in left:
                return each
        wanted = [each for each in enabled if each in left]
        return self.random.choice(wanted) if wanted else None
