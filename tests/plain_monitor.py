"""The monitor without any speed: the interpreter, run for each state again and again.

The oracle of ``checkvalve.spec.engines.monitor``, and nobody's engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkvalve.spec.engines.monitor import LostTrack
from checkvalve.spec.notation import BoundMachine
from checkvalve.spec.notation.interpreter import State, Step
from checkvalve.spec.notation.rules import Rule


class PlainMonitor:
    """Follows one run; ``states`` is the set of candidates."""

    def __init__(self, bound: BoundMachine, max_states: int) -> None:
        self.interpreter = bound.interpreter
        self.max_states = max_states
        actions = bound.machine.actions_declared
        self.internal = [step for step in self.interpreter.steps() if actions[step[0]].internal]
        self.states = self.closed({self.interpreter.initial()})

    def closed(self, states: set[State]) -> frozenset[State]:
        """The states with all that internal actions make of them; too many are an error."""
        todo = list(states)
        while todo:
            state = todo.pop()
            for step in self.internal:
                after = self.interpreter.step(state, *step)
                if after is not None and after not in states:
                    states.add(after)
                    todo.append(after)
        if len(states) > self.max_states:
            raise LostTrack
        return frozenset(states)

    def observe(self, alternatives: Sequence[Step]) -> bool:
        """Take one observation; whether anything explains it."""
        reached = {after for state in self.states for step in alternatives
                   if (after := self.interpreter.step(state, *step)) is not None}
        if reached:
            self.states = self.closed(reached)
        return bool(reached)

    def refused(self, step: Step) -> set[Rule | None] | None:
        """The rules cited by the guards that refuse a step in all states; None if one does not."""
        reasons = [self.interpreter.attempt(state, *step) for state in self.states]
        if None in reasons:
            return None
        return {reason.rule for reason in reasons if reason is not None}

    def accepts(self, steps: Iterable[Step]) -> bool:
        """True if some steps could be observed next. Nothing is changed."""
        before = self.states
        try:
            return all(self.observe([step]) for step in steps)
        except LostTrack:
            return False
        finally:
            self.states = before
