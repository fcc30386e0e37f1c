"""Components in which a fair run can stay: strongly connected and fair, in a graph of states.

Of a small graph Tarjan's algorithm finds them at once; of a large one scipy, a score of times
faster, which pays for the time to import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..verdicts.deadline import Deadline, TooLittleTime, ask
from .graph import Graph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["LOOKING", "fair_components"]

LARGE = 50_000  # edges
SECONDS_PER_EDGE = 4e-7  # of a graph for scipy, which cannot be stopped; on a slow machine
BYTES_PER_EDGE, BYTES_PER_STATE = 70, 40
"""Of the arrays of a large graph, scipy's own included."""
LOOKING = "looking for components of the states where a fair run can stay"


def fair_components(
    graph: Graph, states: Sequence[int], fair: Sequence[int], deadline: Deadline
) -> list[list[int]]:
    """The maximal components of the part of a graph that has these states, if a fair run can
    stay in them: each fair step is disabled somewhere in it, or taken inside it.

    Raises OutOfTime.
    """
    if len(graph.target) >= LARGE:
        return _of_large(graph, states, fair, deadline)
    inside = set(states).__contains__
    found = []
    for component in _components(graph, states, inside, deadline):
        deadline.check(LOOKING)
        if _is_fair(graph, component, fair):
            found.append(component)
    return found


# --- small graphs --------------------------------------------------------------------------

def _components(
    graph: Graph, roots: Iterable[int], inside: Callable[[int], bool], deadline: Deadline
) -> list[list[int]]:
    """The maximal strongly connected components (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_states: list[int] = []
    is_open: set[int] = set()
    out: list[list[int]] = []
    for root in roots:
        if root in number:
            continue
        deadline.check(LOOKING)
        work = [(root, graph.first[root])]
        number[root] = low[root] = len(number)
        open_states.append(root)
        is_open.add(root)
        while work:
            state, edge = work[-1]
            if edge < graph.first[state + 1]:
                work[-1] = state, edge + 1
                there = graph.target[edge]
                if not inside(there):
                    continue
                if there not in number:
                    if len(number) % 4096 == 0:
                        deadline.check(LOOKING)
                    number[there] = low[there] = len(number)
                    open_states.append(there)
                    is_open.add(there)
                    work.append((there, graph.first[there]))
                elif there in is_open:
                    low[state] = min(low[state], number[there])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[state])
            if low[state] == number[state]:
                out.append(_take(open_states, is_open, state))
    return out


def _take(open_states: list[int], is_open: set[int], root: int) -> list[int]:
    component = []
    while True:
        state = open_states.pop()
        is_open.discard(state)
        component.append(state)
        if state == root:
            return component


def _is_fair(graph: Graph, component: list[int], fair: Sequence[int]) -> bool:
    members = set(component)
    everywhere = set(fair)
    taken: set[int] = set()
    for state in component:
        row = range(graph.first[state], graph.first[state + 1])
        everywhere &= {graph.via[edge] for edge in row}
        taken |= {graph.via[edge] for edge in row if graph.target[edge] in members}
    return everywhere <= taken


# --- large graphs --------------------------------------------------------------------------

def _of_large(
    graph: Graph, states: Sequence[int], fair: Sequence[int], deadline: Deadline
) -> list[list[int]]:
    """The components of a large graph, by arrays, if no fair step is left out in them."""
    import numpy as np
    if len(graph.target) * SECONDS_PER_EDGE > deadline.left():
        raise TooLittleTime(LOOKING)
    ask(BYTES_PER_EDGE * len(graph.target) + BYTES_PER_STATE * len(graph.first), LOOKING)
    first = np.asarray(graph.first, dtype=np.int64)
    target, via = (np.asarray(row, dtype=np.int32) for row in (graph.target, graph.via))
    inside = np.zeros(len(first) - 1, dtype=np.bool_)
    inside[np.asarray(states, dtype=np.int64)] = True
    source = np.repeat(np.arange(len(inside), dtype=np.int32), np.diff(first))
    label = _labels(source, target, inside)
    deadline.check(LOOKING)
    found = inside & ~_unfair(source, target, via, label, inside, fair)[label]
    order = np.flatnonzero(found)
    order = order[np.argsort(label[order], kind="stable")]
    ends = np.flatnonzero(np.diff(label[order])) + 1
    deadline.check(LOOKING)
    return [part.tolist() for part in np.split(order, ends)] if len(order) else []


def _labels(
    source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], inside: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    """The number of each state's component; states that are not inside have one each."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components
    kept = inside[source] & inside[target]
    rows = np.zeros(len(inside) + 1, dtype=np.int64)
    np.cumsum(np.bincount(source[kept], minlength=len(inside)), out=rows[1:])
    ones = np.ones(int(rows[-1]), dtype=np.int8)
    matrix = csr_matrix((ones, target[kept], rows), shape=(len(inside), len(inside)))
    label: npt.NDArray[np.int32] = connected_components(matrix, connection="strong")[1]
    return label


def _unfair(
    source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], via: npt.NDArray[np.int32],
    label: npt.NDArray[np.int32], inside: npt.NDArray[np.bool_], fair: Sequence[int],
) -> npt.NDArray[np.bool_]:
    """For each component, whether a fair step is enabled in all of it and always leads out."""
    import numpy as np
    size = np.bincount(label[inside], minlength=int(label.max()) + 1)
    steps = int(via.max()) + 1 if len(via) else 1
    asked = np.isin(via, np.asarray(fair, dtype=np.int64)) & inside[source]
    pairs = label[source].astype(np.int64) * steps + via
    enabled, count = np.unique(pairs[asked], return_counts=True)
    everywhere = enabled[count == size[enabled // steps]]
    stays = asked & inside[target] & (label[source] == label[target])
    unfair = np.zeros(len(size), dtype=np.bool_)
    unfair[np.setdiff1d(everywhere, pairs[stays]) // steps] = True
    return unfair
