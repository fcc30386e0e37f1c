"""The reachable states of a machine as a graph, found breadth first by the interpreter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..notation.errors import ModelFault
from ..notation.interpreter import Interpreter, State, Step, show_step
from ..notation.machine import Machine
from ..verdicts.verdict import Budget
from .effects import Effects, Refusal

__all__ = ["Graph", "Row", "explore_with_interpreter"]

TRIED_AT_ONCE = 32  # steps between two looks at the clock
_BYTES_OF_A_STATE = 600
_BYTES_OF_A_VALUE = 8
_MACHINES_KEPT = 3

Row = Sequence[int]
"""Numbers by state or by edge: a list, or a view of a native engine's array."""


@dataclass
class Graph:
    """States in breadth-first order with the steps between them.

    Edges are kept row by row: those of state ``i`` are ``first[i]`` up to ``first[i + 1]``
    in ``target`` and ``via`` (the step's index in ``interpreter.steps()``). ``parent`` and
    ``parent_via`` lead back to the initial state on a shortest path. ``complete`` is false
    where a budget ended the search; then ``stopped_by`` says which.
    """

    states: Sequence[State]
    first: Row
    target: Row
    via: Row
    parent: Row
    parent_via: Row
    depth: Row
    complete: bool = True
    stopped_by: str = ""

    def path(self, index: int) -> list[int]:
        """The step indices of a shortest path from the initial state."""
        steps = []
        while self.parent[index] >= 0:
            steps.append(self.parent_via[index])
            index = self.parent[index]
        return steps[::-1]


def explore_with_interpreter(
    interpreter: Interpreter, budget: Budget, max_attempts: int | None = None, *,
    learning: bool = False,
) -> Graph:
    """Every reachable state, one CPython step at a time.

    With ``learning`` a step is run by CPython only where what it reads is news (``effects``): the
    same graph, several times as fast.
    Stops with ``complete`` false when ``max_attempts`` steps were tried, when there are more
    states than the budget allows, or its seconds or its memory (by estimate) are spent. Raises
    ModelFault with the way to a state in which an action leaves the declared ranges.
    """
    budget = budget.start()
    way = _learnt(interpreter) if learning else _plain(interpreter)
    initial, steps = interpreter.initial(), interpreter.steps()
    states, keys = [initial], [way.key(initial)]
    first, target, via = [0], list[int](), list[int]()
    parent, parent_via, depth = [-1], [-1], [0]
    graph = Graph(states, first, target, via, parent, parent_via, depth)
    index = {keys[0]: 0}
    here = 0
    while here < len(states) and graph.complete:
        for number, step in enumerate(steps):
            if number % TRIED_AT_ONCE == TRIED_AT_ONCE - 1 and budget.deadline.passed():
                return _cut_short(graph, "time")
            after = _step(way, interpreter, graph, (here, keys[here]), step)
            if after is None:
                continue
            there = index.get(after)
            if there is None:
                if len(states) == budget.max_states:
                    return _cut_short(graph, "states")
                there = index[after] = len(states)
                keys.append(after)
                states.append(way.state(after))
                parent.append(here)
                parent_via.append(number)
                depth.append(depth[here] + 1)
            target.append(there)
            via.append(number)
        first.append(len(target))
        here += 1
        graph.stopped_by = _spent(interpreter, graph, budget, max_attempts)
        graph.complete = not graph.stopped_by
    if here == len(states):
        graph.complete, graph.stopped_by = True, ""
    return graph


@dataclass(frozen=True)
class _Way:
    """How steps are taken: of states as ``key`` writes them, and back by ``state``. A step that
    is not enabled leads to None."""

    key: Callable[[State], Any]
    state: Callable[[Any], State]
    step: Callable[[Any, Step], Any]


def _plain(interpreter: Interpreter) -> _Way:
    return _Way(lambda state: state, lambda state: state,
                lambda state, step: interpreter.step(state, *step))


def _learnt(interpreter: Interpreter) -> _Way:
    effects = _effects_of(interpreter)

    def step(packed: Any, taken: Step) -> Any:
        after = effects.step(packed, taken)
        return None if isinstance(after, Refusal) else after
    return _Way(effects.pack, effects.unpack, step)


class _Kept(threading.local):
    """What was learnt of the machines that were explored last, each thread for itself: a design is
    explored for one verdict after another, and its steps do the same each time."""

    def __init__(self) -> None:
        self.effects: list[tuple[type[Machine], Mapping[str, Any], Effects]] = []


_kept: Final = _Kept()


def _effects_of(interpreter: Interpreter) -> Effects:
    machine, constants = interpreter.machine, interpreter.constants
    for kept in _kept.effects:
        if kept[0] is machine and kept[1] == constants:
            return kept[2]
    effects = Effects(interpreter)
    _kept.effects = [*_kept.effects, (machine, dict(constants), effects)][-_MACHINES_KEPT:]
    return effects


def _cut_short(graph: Graph, stopped_by: str) -> Graph:
    """The graph as it was before its last row, in which a budget ended."""
    assert isinstance(graph.target, list) and isinstance(graph.via, list)
    del graph.target[graph.first[-1]:], graph.via[graph.first[-1]:]
    graph.complete, graph.stopped_by = False, stopped_by
    return graph


def _step(
    way: _Way, interpreter: Interpreter, graph: Graph, here: tuple[int, Any], step: Step
) -> Any:
    try:
        return way.step(here[1], step)
    except ModelFault as fault:
        steps = interpreter.steps()
        labels = [show_step(*steps[number]) for number in graph.path(here[0])]
        raise ModelFault(
            fault.what, fault.where, fault.next_step, (*labels, show_step(*step))
        ) from None


def _spent(
    interpreter: Interpreter, graph: Graph, budget: Budget, max_attempts: int | None
) -> str:
    tried = (len(graph.first) - 1) * len(interpreter.steps())
    if max_attempts is not None and tried >= max_attempts:
        return "attempts"
    if budget.deadline.passed():
        return "time"
    if budget.max_memory is not None:
        a_state = _BYTES_OF_A_STATE + _BYTES_OF_A_VALUE * interpreter.layout.size
        if len(graph.states) * a_state > budget.max_memory:
            return "memory"
    return ""
