"""A net that is being played: its marking, and which transitions are enabled, kept up step by step.

A step costs what the transitions cost that share a place with it, not what the whole net does.
"""

from __future__ import annotations

from collections.abc import Iterable

from .net import Net

__all__ = ["Game"]


class Game:
    """A net in play, from its first marking on. ``run`` has the steps."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.changes = net.changes
        self._takers: list[tuple[tuple[int, int], ...]] = [() for _ in net.places]
        takers: list[list[tuple[int, int]]] = [[] for _ in net.places]
        for transition, takes in enumerate(net.takes):
            for place, weight in takes:
                takers[place].append((transition, weight))
        self._takers = [tuple(each) for each in takers]
        self.restart()

    def restart(self) -> None:
        """Go back to the first marking."""
        net = self.net
        self.marking = list(net.initial)
        self.run: list[int] = []
        self.lacking = [sum(self.marking[place] < weight for place, weight in takes)
                        for takes in net.takes]
        self.enabled = [each for each, lacking in enumerate(self.lacking) if not lacking]
        self._at = [-1] * len(net.transitions)
        for at, each in enumerate(self.enabled):
            self._at[each] = at

    def fire(self, transition: int) -> None:
        """Fire an enabled transition."""
        assert not self.lacking[transition]
        marking, lacking = self.marking, self.lacking
        for place, change in self.changes[transition]:
            before = marking[place]
            after = marking[place] = before + change
            if change > 0:
                for taker, weight in self._takers[place]:
                    if before < weight <= after:
                        lacking[taker] -= 1
                        if not lacking[taker]:
                            self._at[taker] = len(self.enabled)
                            self.enabled.append(taker)
            else:
                for taker, weight in self._takers[place]:
                    if after < weight <= before:
                        if not lacking[taker]:
                            self._disable(taker)
                        lacking[taker] += 1
        self.run.append(transition)

    def _disable(self, transition: int) -> None:
        at, last = self._at[transition], self.enabled[-1]
        self.enabled[at] = last
        self._at[last] = at
        self._at[transition] = -1
        self.enabled.pop()

    def play(self, run: Iterable[int]) -> bool:
        """Fire a run, as far as it is enabled; true if that is all of it."""
        for each in run:
            if self.lacking[each]:
                return False
            self.fire(each)
        return True
