"""Liveness under weak fairness, decided on the graph of reachable states.

Theory. A run is fair if every fair step that stays enabled from some point on is taken
infinitely often; a run may also stay in a state forever where no fair step is enabled.
A run that stays forever inside a set of states ends up cycling in one strongly
connected component of it. Such a component carries a fair run exactly if every fair step
is disabled somewhere in it, or is taken inside it: touring the whole component is then
fair. If a fair step is enabled everywhere in it and always leads out, then it does so from
every smaller component too, so looking at the maximal components is enough.

*Leads to* (P, Q) is violated exactly if a state with P and not Q is reachable from which a
fair component can be reached without meeting Q. *Eventually always* P is violated exactly
if a reachable fair component contains a state without P.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ..verdicts.deadline import Deadline
from .components import LOOKING, fair_components
from .graph import Graph, Row

__all__ = ["Lasso", "find_lasso", "find_recurring"]

NO_END = Deadline()


def _check(deadline: Deadline) -> None:
    deadline.check(LOOKING)


@dataclass(frozen=True)
class Lasso:
    """A fair run that breaks a rule: ``steps`` from the initial state (indices into the
    interpreter's steps), of which those from ``loop`` on are repeated forever. With ``loop ==
    len(steps)`` it stays in the last state."""

    steps: tuple[int, ...]
    loop: int


def find_lasso(
    graph: Graph, fair: Sequence[int], premise: Row, avoid: Row, deadline: Deadline = NO_END
) -> Lasso | None:
    """The shortest way from a state with ``premise`` into a fair component that never
    meets ``avoid``; None if there is none.

    For *leads to*, premise is P and not Q, and avoid is Q. For *eventually always*, see
    ``find_recurring``.
    """
    reached = _reach(graph, premise, avoid, deadline)
    best: tuple[int, int, list[int]] | None = None
    for component in fair_components(graph, reached.order, fair, deadline):
        _check(deadline)
        entry = min(component, key=lambda s: (reached.distance[s], s))
        if best is None or (reached.distance[entry], entry) < best[:2]:
            best = reached.distance[entry], entry, component
    if best is None:
        return None
    _, entry, component = best
    prefix = reached.path(graph, entry)
    cycle = _tour(graph, entry, set(component), fair, deadline)
    return Lasso((*prefix, *cycle), len(prefix))


def find_recurring(
    graph: Graph, fair: Sequence[int], bad: Row, deadline: Deadline = NO_END
) -> Lasso | None:
    """A fair run that meets ``bad`` states infinitely often; None if there is none."""
    every = range(len(graph.states))
    for component in sorted(fair_components(graph, every, fair, deadline), key=min):
        _check(deadline)
        wrong = [s for s in component if bad[s]]
        if wrong:
            entry = min(wrong)
            prefix = graph.path(entry)
            cycle = _tour(graph, entry, set(component), fair, deadline)
            return Lasso((*prefix, *cycle), len(prefix))
    return None


# --- reaching ------------------------------------------------------------------------------

@dataclass
class _Reached:
    """States reachable from the premise without meeting what is to be avoided."""

    distance: dict[int, int]
    back: dict[int, tuple[int, int] | None]
    order: list[int]

    def path(self, graph: Graph, state: int) -> list[int]:
        """Step indices from the initial state, through the premise, to a state."""
        steps: list[int] = []
        while (edge := self.back[state]) is not None:
            state, via = edge
            steps.append(via)
        return graph.path(state) + steps[::-1]


def _reach(graph: Graph, premise: Row, avoid: Row, deadline: Deadline) -> _Reached:
    """Level by level, by the distance from the initial state; within a level the smaller states
    first, and of two ways to a state the one from the smaller."""
    found = _Reached({}, {}, [])
    starts: dict[int, list[int]] = {}
    for state in range(len(graph.states)):
        if premise[state] and not avoid[state]:
            starts.setdefault(graph.depth[state], []).append(state)
    first, target, via = graph.first, graph.target, graph.via
    level: dict[int, tuple[int, int] | None] = {}
    distance = min(starts, default=0)
    while level or starts:
        if not level:
            distance = min(starts)
        level.update(dict.fromkeys(starts.pop(distance, ())))
        following: dict[int, tuple[int, int] | None] = {}
        for state in sorted(level):
            if state in found.distance:
                continue
            found.distance[state] = distance
            found.back[state] = level[state]
            found.order.append(state)
            if len(found.order) % 4096 == 0:
                _check(deadline)
            for edge in range(first[state], first[state + 1]):
                there = target[edge]
                if there in found.distance or avoid[there]:
                    continue
                before = following.get(there)
                if before is None or (before[0] == state and via[edge] < before[1]):
                    following[there] = state, via[edge]
        level, distance = following, distance + 1
    return found


# --- touring ---------------------------------------------------------------------------

def _tour(
    graph: Graph, entry: int, members: set[int], fair: Sequence[int], deadline: Deadline
) -> list[int]:
    """A closed walk inside a fair component on which every fair step is disabled or taken."""
    walk: list[int] = []
    here = entry
    remaining = _unsettled(graph, [entry], set(fair), taken=set())
    while remaining:
        _check(deadline)
        path, here = _nearest(graph, here, members, remaining)
        visited, taken = _along(graph, entry, walk + path)
        walk += path
        remaining = _unsettled(graph, visited, set(fair), taken)
    if here != entry:
        back, _ = _nearest(graph, here, members, None, goal=entry)
        walk += back
    return walk


def _along(graph: Graph, entry: int, walk: list[int]) -> tuple[list[int], set[int]]:
    visited, here = [entry], entry
    for via in walk:
        here = next(
            graph.target[edge] for edge in range(graph.first[here], graph.first[here + 1])
            if graph.via[edge] == via
        )
        visited.append(here)
    return visited, set(walk)


def _unsettled(
    graph: Graph, visited: list[int], fair: set[int], taken: set[int]
) -> set[int]:
    """The fair steps that were enabled in every visited state and not taken."""
    left = fair - taken
    for state in visited:
        left &= {graph.via[edge] for edge in range(graph.first[state], graph.first[state + 1])}
    return left


def _nearest(
    graph: Graph, start: int, members: set[int], wanted: set[int] | None, goal: int = -1
) -> tuple[list[int], int]:
    """The shortest walk inside the component that settles one wanted step, or to a goal."""
    queue: deque[tuple[int, list[int]]] = deque([(start, [])])
    seen = {start}
    while queue:
        state, path = queue.popleft()
        row = range(graph.first[state], graph.first[state + 1])
        if wanted is None and state == goal:
            return path, state
        if wanted is not None and path and wanted - {graph.via[edge] for edge in row}:
            return path, state
        for edge in row:
            there = graph.target[edge]
            if there not in members:
                continue
            if wanted is not None and graph.via[edge] in wanted:
                return [*path, graph.via[edge]], there
            if there not in seen:
                seen.add(there)
                queue.append((there, [*path, graph.via[edge]]))
    raise AssertionError("a strongly connected component connects its states")
