"""The exact judge of a short history: all states in which a machine may be, all orders tried.

Calls overlap, and the machine's own hidden steps say in which order they may have had their effect.
An answer that is true at one instant (*empty*, *full*) is an instant somewhere within its call: all
places are tried, and the candidates are kept apart by which of these instants have been. What this
judge refuses, no order explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...spec.engines.candidates import Candidates, CandidateSets
from ...spec.engines.monitor import Failure, why_refused
from ...spec.notation.bound import BoundMachine
from ...spec.notation.interpreter import State, Step

__all__ = ["Exact"]


@dataclass
class Exact:
    """Follows a history in all states that explain it, ``most`` at one time; ``tags`` has them by
    the instants that have been."""

    bound: BoundMachine
    most: int
    tags: dict[frozenset[int], Candidates] = field(default_factory=dict)
    steps: int = 0

    def __post_init__(self) -> None:
        self.sets = CandidateSets(self.bound, self.most)
        self.tags = {frozenset(): self.sets.initial}
        self._open: dict[int, Step] = {}

    def sees(self, step: Step) -> Failure | None:
        """Take an observed step; if no state does, why. Raises ``LostTrack``."""
        after = {tag: found for tag, here in self.tags.items()
                 if (found := self.sets.after(here, step)) is not None}
        if not after:
            return why_refused(self.sets.bound.interpreter, self._states(), [step], self.steps)
        self.steps += 1
        self.tags = after
        self._instants()
        return None

    def opens(self, number: int, step: Step) -> None:
        """From now on, the instant of some answer may be; it is a step that is taken and
        forgotten."""
        self._open[number] = step
        self._instants()

    def closes(self, number: int) -> Failure | None:
        """By now the instant must have been; if it cannot, why."""
        step = self._open.pop(number)
        done = {tag - {number}: here for tag, here in self.tags.items() if number in tag}
        if not done:
            return why_refused(self.sets.bound.interpreter, self._states(), [step], self.steps)
        self.tags = done
        return None

    def could(self, steps: Iterable[Step]) -> list[Step]:
        """Those of some steps that could be next."""
        return [step for step in steps if any(
            self.sets.refused(here, step) is None for here in self.tags.values())]

    def _states(self) -> set[State]:
        return {state for here in self.tags.values() for state in here.states}

    def _instants(self) -> None:
        """Let the instants be that may be now, in every order."""
        todo = list(self.tags)
        while todo:
            tag = todo.pop()
            here = self.tags[tag]
            for number, (name, args) in self._open.items():
                if number in tag:
                    continue
                attempt = self.sets.bound.interpreter.attempt
                kept = [state for state in here.states if attempt(state, name, args) is None]
                if not kept:
                    continue
                more = tag | {number}
                known = self.tags.get(more)
                old = known.states if known is not None else frozenset()
                if not old.issuperset(kept):
                    self.tags[more] = self.sets.of([*old, *kept])
                    todo.append(more)


Judged = Callable[[Exact], Failure | None]
