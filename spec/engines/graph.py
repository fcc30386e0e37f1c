"""The reachable states of a machine as a graph, found breadth first by the interpreter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, overload

from ..notation.errors import ModelFault
from ..notation.interpreter import Interpreter, State, Step, show_step
from ..notation.machine import Machine
from ..verdicts.memory import meter
from ..verdicts.verdict import Budget
from .effects import Effects
from .elements import effects_of

__all__ = ["Graph", "Row", "explore_with_interpreter"]

TRIED_AT_ONCE = 32  # steps between two looks at the clock
_BYTES_OF_A_STATE = 600
_BYTES_OF_A_VALUE = 8
_MACHINES_KEPT = 3

SMALL: Final = 128
"""States up to which nothing is learnt. Grids of small machines take two thirds of the time then,
and larger machines a few milliseconds more."""

Row = Sequence[int]
"""Numbers by state or by edge: a list, or a view of a native engine's array."""


@dataclass
class Graph:
    """States in breadth-first order with the steps between them.

    Edges are kept row by row: those of state ``i`` are ``first[i]`` up to ``first[i + 1]``
    in ``target`` and ``via`` (the step's index in ``interpreter.steps()``). ``parent`` and
    ``parent_via`` lead back to the initial state on a shortest path. ``complete`` is false
    where a budget ended the search; then ``stopped_by`` says which. ``faults`` are the steps out of
    the declared ranges that were not taken.
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
    faults: int = 0

    def path(self, index: int) -> list[int]:
        """The step indices of a shortest path from the initial state."""
        steps = []
        while self.parent[index] >= 0:
            steps.append(self.parent_via[index])
            index = self.parent[index]
        return steps[::-1]


def explore_with_interpreter(
    interpreter: Interpreter, budget: Budget, max_attempts: int | None = None, *,
    learning: bool = False, within: bool = False,
) -> Graph:
    """Every reachable state, one CPython step at a time.

    With ``learning`` a step is run by CPython only where what it reads is news (``effects``): the
    same graph, several times as fast; not tried before there are many states, for that much takes
    longer to learn than to run.
    Stops with ``complete`` false when ``max_attempts`` steps were tried, when there are more
    states than the budget allows, or its seconds or its memory (by estimate) are spent. Raises
    ModelFault with the way to a state in which an action leaves the declared ranges; ``within``
    leaves such steps out.
    """
    budget = budget.start()
    if not learning:
        return _explored(interpreter, _plain(interpreter), budget, max_attempts, within)
    if (budget.max_states is None or budget.max_states > SMALL) and not _is_learnt(interpreter):
        few = replace(budget, max_states=SMALL)
        graph = _explored(interpreter, _plain(interpreter), few, max_attempts, within)
        if graph.stopped_by != "states":
            return graph
    return _explored(interpreter, _learnt(interpreter), budget, max_attempts, within)


def _explored(
    interpreter: Interpreter, way: _Way, budget: Budget, max_attempts: int | None, within: bool
) -> Graph:
    """Visit states breadth first, with a shortest run to each, as far as the budget lets it."""
    take, steps = way.step, interpreter.steps()
    keys = [way.key(interpreter.initial())]
    first, target, via = [0], list[int](), list[int]()
    parent, parent_via, depth = [-1], [-1], [0]
    graph = Graph(way.states(keys), first, target, via, parent, parent_via, depth)
    index = {keys[0]: 0}
    here = 0
    while here < len(keys) and graph.complete:
        key = keys[here]
        for number, step in enumerate(steps):
            if number % TRIED_AT_ONCE == TRIED_AT_ONCE - 1 and budget.deadline.passed():
                return _cut_short(graph, "time")
            try:
                after = take(key, step)
            except ModelFault as fault:
                if within:
                    graph.faults += 1
                    continue
                raise _with_its_way(fault, interpreter, graph.path(here), step) from None
            if after is None:
                continue
            there = index.get(after)
            if there is None:
                if len(keys) == budget.max_states:
                    return _cut_short(graph, "states")
                there = index[after] = len(keys)
                keys.append(after)
                parent.append(here)
                parent_via.append(number)
                depth.append(depth[here] + 1)
            target.append(there)
            via.append(number)
        first.append(len(target))
        here += 1
        graph.stopped_by = _spent(interpreter, graph, budget, max_attempts)
        graph.complete = not graph.stopped_by
    if here == len(keys):
        graph.complete, graph.stopped_by = True, ""
    return graph


@dataclass(frozen=True)
class _Way:
    """The functions for taking steps: from states as ``key`` writes them, which are ``states``
    again when they are looked at. A step that is not enabled leads to None."""

    key: Callable[[State], Any]
    states: Callable[[list[Any]], Sequence[State]]
    step: Callable[[Any, Step], Any]


class _Unpacked(Sequence[State]):
    """States, each made of its key when it is looked at: most never are."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, keys: Sequence[Any], state: Callable[[Any], State]) -> None:
        self._keys, self._state = keys, state

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> State: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[State]: ...

    def __getitem__(self, index: int | slice) -> State | Sequence[State]:
        if isinstance(index, slice):
            return list(map(self._state, self._keys[index]))
        return self._state(self._keys[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


def _plain(interpreter: Interpreter) -> _Way:
    return _Way(lambda state: state, lambda keys: keys,
                lambda state, step: interpreter.step(state, *step))


def _learnt(interpreter: Interpreter) -> _Way:
    effects = _effects_of(interpreter)
    return _Way(effects.pack, lambda keys: _Unpacked(keys, effects.unpack), effects.after)


class _Kept(threading.local):
    """The effects learnt of the machines that were explored last, each thread for itself: a design
    is explored for one verdict after another, and its steps do the same each time."""

    def __init__(self) -> None:
        self.effects: list[tuple[type[Machine], Mapping[str, Any], Effects]] = []


_kept: Final = _Kept()


def _is_learnt(interpreter: Interpreter) -> bool:
    """True if something of a machine is learnt already."""
    return _kept_of(interpreter) is not None


def _kept_of(interpreter: Interpreter) -> Effects | None:
    machine, constants = interpreter.machine, interpreter.constants
    return next((effects for kept, its, effects in _kept.effects
                 if kept is machine and its == constants), None)


def _effects_of(interpreter: Interpreter) -> Effects:
    if (known := _kept_of(interpreter)) is not None:
        return known
    machine, constants = interpreter.machine, interpreter.constants
    effects = effects_of(interpreter)
    _kept.effects = [*_kept.effects, (machine, dict(constants), effects)][-_MACHINES_KEPT:]
    return effects


def _cut_short(graph: Graph, stopped_by: str) -> Graph:
    """The graph as it was before its last row, in which a budget ended."""
    assert isinstance(graph.target, list) and isinstance(graph.via, list)
    del graph.target[graph.first[-1]:], graph.via[graph.first[-1]:]
    graph.complete, graph.stopped_by = False, stopped_by
    return graph


def _with_its_way(
    fault: ModelFault, interpreter: Interpreter, way: Sequence[int], step: Step
) -> ModelFault:
    """The fault with the steps that lead to it."""
    steps = interpreter.steps()
    labels = [show_step(*steps[number]) for number in way]
    return ModelFault(fault.what, fault.where, fault.next_step, (*labels, show_step(*step)))


def _spent(
    interpreter: Interpreter, graph: Graph, budget: Budget, max_attempts: int | None
) -> str:
    tried = (len(graph.first) - 1) * len(interpreter.steps())
    if max_attempts is not None and tried >= max_attempts:
        return "attempts"
    if budget.deadline.passed():
        return "time"
    if meter().is_over():
        return "memory"
    if budget.max_memory is not None:
        a_state = _BYTES_OF_A_STATE + _BYTES_OF_A_VALUE * interpreter.layout.size
        if len(graph.states) * a_state > budget.max_memory:
            return "memory"
    return ""
