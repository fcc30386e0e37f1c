"""The states of a machine by the interpreter, breadth first, while there are attempts left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.interpreter import Interpreter, Step

__all__ = ["Walk"]


class Walk:
    """The states of a machine, breadth first; a step that leaves the ranges is not taken."""

    def __init__(self, oracle: Interpreter, attempts: int) -> None:
        self._oracle, self._left = oracle, attempts
        self._states: list[Any] = [oracle.initial()]
        self._back: list[tuple[int, Step] | None] = [None]
        self._seen = set(self._states)

    def states(self) -> Iterator[tuple[int, Any]]:
        """Each state with its number, while there are attempts left."""
        for here, state in enumerate(self._states):
            if self._left <= 0:
                return
            yield here, state

    def steps(self, here: int) -> Iterator[tuple[Step, Any]]:
        """Each step with the state after it, or None where it is not enabled."""
        for step in self._oracle.steps():
            self._left -= 1
            try:
                after = self._oracle.step(self._states[here], *step)
            except ModelFault:
                continue
            if after is not None and after not in self._seen:
                self._seen.add(after)
                self._states.append(after)
                self._back.append((here, step))
            yield step, after

    def way(self, here: int) -> tuple[Step, ...]:
        """The shortest run to a state."""
        steps: list[Step] = []
        while (edge := self._back[here]) is not None:
            here, step = edge
            steps.append(step)
        return tuple(reversed(steps))
