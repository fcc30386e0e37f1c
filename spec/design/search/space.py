"""All reachable states of a design, as one matrix of markings and the steps between them.

The graph is found by the explorer, on the one chapter of all designs (``net``). A marking is that
of the state from which it was first reached, changed by that step; so the matrix is made level by
level from the graph alone, and no state is unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...engines.graph import Graph
from ...notation.labels import counted
from ...notation.layout import Slots
from ...verdicts.deadline import ask
from ...verdicts.verdict import Budget, Trace, TraceStep
from ..net.rows import Row, Table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Marks = npt.NDArray[np.bool_]

__all__ = ["Space", "TooLarge", "space_of", "trace_along"]

ATTEMPTS = 30_000
"""Steps that the interpreter tries before native code takes over."""
BITS, BLOCK = 60, 50_000
"""Sets of states that are followed at once, and states that are looked at together."""
WRITING = "writing down all markings"
FOLLOWING = "following the steps between all states"
CELLS = 400_000_000
"""Numbers in the matrix: the states times the places, four bytes each."""


class TooLarge(Exception):
    """A budget ended before all states were found; the message says which."""


@dataclass(frozen=True)
class Space:
    """The reachable states of a table: ``markings`` has a row for each, in breadth-first order,
    and a column for each place. Step ``i`` leads from ``source[i]`` to ``target[i]`` by the row
    ``via[i]`` of the table."""

    table: Table
    graph: Graph
    markings: npt.NDArray[np.int32]
    source: Numbers
    target: Numbers
    via: Numbers

    @property
    def states(self) -> int:
        """Number of reachable states that were visited."""
        return len(self.markings)

    def marking(self, state: int) -> dict[str, int]:
        """The number of tokens in each place."""
        return {place.name: int(n) for place, n in zip(
            self.table.places, self.markings[state], strict=True)}

    @cached_property
    def number(self) -> dict[str, int]:
        """The column of each place."""
        return {place.name: n for n, place in enumerate(self.table.places)}

    def able(self, rows: Sequence[int]) -> Marks:
        """The states in which one of these rows of the table can move."""
        import numpy as np
        found, these = np.zeros(self.states, dtype=np.bool_), np.zeros(
            len(self.table.rows), dtype=np.bool_)
        these[list(rows)] = True
        found[self.source[these[self.via]]] = True
        return found

    def allows(self, row: Row) -> Marks:
        """The states in which the guards of a row hold that need not be one of the table."""
        import numpy as np
        found = np.ones(self.states, dtype=np.bool_)
        for place, least in row.effect.at_least.items():
            found &= self.markings[:, self.number[place]] >= least
        for place, most in row.effect.at_most.items():
            found &= self.markings[:, self.number[place]] <= most
        return found

    def leading_to(self, goals: Sequence[Marks], steps: Marks) -> list[Marks]:
        """For each of these sets of states, those from which some of these steps lead to it.

        A state is later than most of those that lead to it, so all sets are followed at once, a bit
        for each, from the last states to the first, again and again until nothing changes.
        """
        import numpy as np
        ask(40 * len(self.target) + 24 * self.states + len(goals) * self.states, FOLLOWING)
        return [found for first in range(0, len(goals), BITS)
                for found in self._led(goals[first:first + BITS], np.flatnonzero(steps))]

    def _led(self, goals: Sequence[Marks], steps: Numbers) -> list[Marks]:
        """For each goal, the states from which some steps lead to it: found backwards, block by
        block."""
        import numpy as np
        bits = np.zeros(self.states, dtype=np.uint64)
        for number, goal in enumerate(goals):
            bits[goal] |= np.uint64(1 << number)
        target, count = self.target[steps], np.bincount(self.source[steps], minlength=self.states)
        moving = np.flatnonzero(count)
        first = np.concatenate([[0], np.cumsum(count[moving])])
        ends = np.unique(np.concatenate([
            np.searchsorted(moving, np.flatnonzero(np.diff(self.graph.depth)) + 1),
            np.arange(0, len(moving), BLOCK), [len(moving)]]))
        blocks = [(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)][::-1]
        changed = bool(len(moving))
        while changed:
            changed = False
            for a, b in blocks:
                led = np.bitwise_or.reduceat(
                    bits[target[first[a]:first[b]]], first[a:b] - first[a])
                here = moving[a:b]
                more = bits[here] | led
                changed = changed or not np.array_equal(more, bits[here])
                bits[here] = more
        return [(bits & np.uint64(1 << number)) != 0 for number in range(len(goals))]

    def endless(self, steps: Marks) -> Marks:
        """The states from which a run of these steps never ends."""
        import numpy as np
        ask(48 * len(self.target) + 24 * self.states, FOLLOWING)
        order = np.argsort(self.target[steps], kind="stable")
        before = self.source[steps][order]
        first = np.searchsorted(self.target[steps][order], np.arange(self.states + 1))
        left = np.bincount(self.source[steps], minlength=self.states)
        edge = np.flatnonzero(left == 0)
        while len(edge):
            found, often = np.unique(
                before[_ranges(first[edge], first[edge + 1])], return_counts=True)
            left[found] -= often
            edge = found[left[found] == 0]
        return left > 0


def trace_along(table: Table, path: Sequence[int]) -> Trace:
    """The run that takes these rows of the table from the start; each is tried by the
    interpreter's transition, so a run that is none is an error of ours."""
    from ...notation import bind
    from ..net.net import Net
    interpreter = bind(Net, **table.constants()).interpreter
    start, steps = interpreter.initial(), []
    state, transitions = start, interpreter.steps()
    for number in path:
        name, args = transitions[number]
        after = interpreter.step(state, name, args)
        assert after is not None, f"the run stops at {table.rows[number].label}"
        state = after
        steps.append(TraceStep(name, args, Slots(interpreter.layout, state)))
    return Trace(Slots(interpreter.layout, start), tuple(steps))


def _ranges(first: Numbers, last: Numbers) -> Numbers:
    """All numbers of several ranges, one range after the other."""
    import numpy as np
    sizes = last - first
    ends = np.cumsum(sizes)
    found: Numbers = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
        first - (ends - sizes), sizes)
    return found


def space_of(table: Table, budget: Budget) -> Space:
    """Find all states. Raises TooLarge where a budget ends before, and OutOfTime."""
    import numpy as np
    graph = _graph(table, budget)
    states, edges = len(graph.parent), len(graph.target)
    ask(32 * edges + states * (32 + 4 * len(table.places)), WRITING)
    first, target, via, parent, parent_via = (
        np.asarray(row, dtype=np.int64) for row in (
            graph.first, graph.target, graph.via, graph.parent, graph.parent_via))
    if len(parent) * len(table.places) > CELLS:
        raise TooLarge(f"the markings of {counted(len(parent), 'state')} take too much memory")
    number = {place.name: n for n, place in enumerate(table.places)}
    change = np.zeros((len(table.rows), len(table.places)), dtype=np.int32)
    for row, each in enumerate(table.rows):
        for place, by in each.effect.change.items():
            change[row, number[place]] = by
    markings = np.zeros((len(parent), len(table.places)), dtype=np.int32)
    markings[0] = [place.start for place in table.places]
    here = 1
    while here < len(parent):  # parents never decrease, and those below `here` are known
        budget.deadline.check(WRITING)
        known = int(np.searchsorted(parent, here))
        markings[here:known] = markings[parent[here:known]] + change[parent_via[here:known]]
        here = known
    source = np.repeat(np.arange(len(parent), dtype=np.int64), np.diff(first))
    return Space(table, graph, markings, source, target, via)


def _graph(table: Table, budget: Budget) -> Graph:
    """By the interpreter while it is small, and by native code else."""
    from ...engines.compiled import graph_of
    from ...engines.graph import explore_with_interpreter
    from ...notation import bind
    from ...verdicts.native_refusal import NotNative
    from ..net.net import Net
    bound = bind(Net, **table.constants())
    graph = explore_with_interpreter(bound.interpreter, budget, ATTEMPTS, learning=True)
    if graph.stopped_by == "attempts":
        try:
            graph = graph_of(bound, budget)
        except NotNative as refusal:
            raise TooLarge(str(refusal)) from None
    if not graph.complete:
        raise TooLarge(f"the budget of {graph.stopped_by} was spent after "
                       f"{counted(len(graph.states), 'state')}")
    return graph
