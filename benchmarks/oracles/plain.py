"""Liveness decided a second time, by an algorithm that shares nothing with the engines.

The engines look for strongly connected components. Here sets of states shrink to a fixed point
(Emerson and Lei, 1986): a state stays as long as a walk inside the set leads from it to a state
where a fair step is disabled, or is taken inside the set; and so for each fair step. Those that
stay are the states from which a fair run goes on forever inside the set. The states are found
by the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from checkvalve.spec.engines.replay import HasRule
from checkvalve.spec.notation.bound import BoundMachine

__all__ = ["PlainGraph", "is_violated"]


@dataclass
class PlainGraph:
    """The reachable states of a machine, and the steps from each: (step, state)."""

    bound: BoundMachine
    states: list[Any] = field(default_factory=list)
    steps: list[list[tuple[Any, int]]] = field(default_factory=list)
    complete: bool = False

    def explore(self, most: int) -> bool:
        """Find all states; False where there are more than ``most``."""
        oracle = self.bound.interpreter
        self.states = [oracle.initial()]
        number = {self.states[0]: 0}
        for state in self.states:
            row = []
            for step, after in oracle.successors(state):
                if after not in number:
                    if len(self.states) == most:
                        return False
                    number[after] = len(self.states)
                    self.states.append(after)
                row.append((step, number[after]))
            self.steps.append(row)
        self.complete = True
        return True

    def fair(self) -> list[Any]:
        """The steps that are fair."""
        oracle = self.bound.interpreter
        return [step for step in oracle.steps() if oracle.machine.actions_declared[step[0]].fair]

    def where_fair_runs_stay(self, inside: set[int], again: set[int] | None = None) -> set[int]:
        """The states from which a fair run stays in a set, and meets ``again`` forever."""
        stay = set(inside)
        size = -1
        while size != len(stay):
            size = len(stay)
            for step in self.fair():
                stay &= self._can_reach(self._settled(step, stay), stay)
            if again is not None:
                stay &= self._can_reach(stay & again, stay)
        return stay

    def _settled(self, fair: Any, stay: set[int]) -> set[int]:
        """The states in which a fair step is disabled, or is taken and stays inside."""
        found = set()
        for state in stay:
            enabled = [target for step, target in self.steps[state] if step == fair]
            if not enabled or any(target in stay for target in enabled):
                found.add(state)
        return found

    def _can_reach(self, goals: Iterable[int], stay: set[int]) -> set[int]:
        sources: dict[int, list[int]] = {}
        for state in stay:
            for _, target in self.steps[state]:
                sources.setdefault(target, []).append(state)
        found = set(goals)
        todo = list(found)
        while todo:
            for source in sources.get(todo.pop(), ()):
                if source not in found:
                    found.add(source)
                    todo.append(source)
        return found


def is_violated(graph: PlainGraph, item: HasRule) -> bool:
    """Whether a fair run breaks a rule about what happens in the end."""
    holds = graph.bound.interpreter.holds
    values = [holds(item.rule, item.args, state) for state in graph.states]
    if item.rule.kind == "eventually always":
        wrong = {number for number, value in enumerate(values) if not value}
        return bool(graph.where_fair_runs_stay(set(range(len(values))), wrong))
    assert item.rule.kind == "leads to"
    waiting = {number for number, (_, conclusion) in enumerate(values) if not conclusion}
    premise = {number for number in waiting if values[number][0]}
    return bool(premise & graph.where_fair_runs_stay(waiting))
