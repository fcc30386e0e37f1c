"""All states of a design that this reading leads to, as one table of numbers.

States are found many at a time: of all that are new, those in which a move is possible are picked
out with a few comparisons of columns, and changed together. A state is known by all its numbers, so
two are never taken for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .run import Refuted
from .system import Move, NotCovered, System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Table = npt.NDArray[np.int32]
    Marks = npt.NDArray[np.bool_]

__all__ = ["MAX_STATES", "States", "states_of"]

MAX_STATES = 2_000_000
"""States that are visited at most."""
CELLS = 60_000_000
"""Numbers in the table, four bytes each."""
LOOKS = 400_000
"""How often a move is looked at in a batch of states: a long thin design has a batch for each."""
AT_ONCE = 50_000
"""States of one batch."""
ENDLESS = 5_000
"""More than this is never counted where a counter has no end."""
SO_FAR = 4
"""Numbers beyond all that moves ask for that are counted, where more stand for as many."""


@dataclass
class States:
    """The reachable states: a row of ``table`` for each, a column for each counter in their order.

    Step ``n`` leads from ``source[n]`` to ``target[n]`` by the move ``via[n]`` of ``moves``; there
    are none where nobody asked for them.
    """

    system: System
    moves: Sequence[Move]
    table: Table
    source: Numbers
    target: Numbers
    via: Numbers
    column: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.table)

    def allow(self, move: Move) -> Marks:
        """The states in which a move is possible."""
        return _allowed(move, self.table, self.column)

    def allow_any(self, moves: Iterable[Move]) -> Marks:
        """The states in which one of these moves is possible."""
        import numpy as np
        found = np.zeros(len(self), dtype=np.bool_)
        for move in moves:
            found |= self.allow(move)
        return found

    def within(self, left: Mapping[str, int]) -> Marks:
        """The states in which no more than that is left in these counters."""
        import numpy as np
        found = np.ones(len(self), dtype=np.bool_)
        for name, most in left.items():
            found &= self.table[:, self.column[name]] <= most
        return found

    def leading_to(self, goal: Marks, steps: Marks) -> Marks:
        """The states from which some of these steps lead to one of these states."""
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order
        number = len(self)
        ends = np.flatnonzero(goal)  # one more state, from which all steps are gone backwards
        froms = np.concatenate([self.target[steps], np.full(len(ends), number)])
        tos = np.concatenate([self.source[steps], ends])
        back = csr_array((np.ones(len(froms)), (froms, tos)),
                         shape=(number + 1, number + 1))
        found = np.zeros(number + 1, dtype=np.bool_)
        found[breadth_first_order(back, number, return_predecessors=False)] = True
        return found[:number]

    def circles(self, states: Marks, steps: Marks) -> tuple[Numbers, Marks]:
        """For each state its number among groups that lead to each other by these steps between
        these states; and the steps within a group."""
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components
        inner = steps & states[self.source] & states[self.target]
        graph = csr_array((np.ones(int(inner.sum())), (
            self.source[inner], self.target[inner])), shape=(len(self), len(self)))
        _, group = connected_components(graph, connection="strong")
        group = group.astype(np.int64)
        return group, inner & (group[self.source] == group[self.target])


def _allowed(move: Move, table: Table, column: dict[str, int]) -> Marks:
    import numpy as np
    found = np.ones(len(table), dtype=np.bool_)
    for name, least in move.need.items():
        if least > 0:
            found &= table[:, column[name]] >= least
    for name, most in move.room.items():
        found &= table[:, column[name]] <= most
    return found


def states_of(
    system: System, most: int = MAX_STATES, edges: bool = False, so_far: bool = False
) -> States:
    """All states that the moves of a system lead to; one that gives up goes nowhere. ``so_far``
    counts what has no end only so far, see above; then there are no steps.

    Raises Refuted where there are more than ``most``, and NotCovered where there are more than are
    visited at all.
    """
    return _Search(system, most, edges, so_far).found()


class _Search:
    """The states that are known, and those among them from which nobody went on."""

    def __init__(self, system: System, most: int, edges: bool, so_far: bool) -> None:
        import numpy as np
        self.system, self.edges = system, edges
        self.last = _last_numbers(system) if so_far else {}
        self.column = {name: n for n, name in enumerate(system.counters)}
        self.moves = [move for move in system.steps if not move.fails] if edges else [
            move for move in system.moves if not move.fails and move.change]
        self.claimed = most if most < MAX_STATES else None
        self.most = min(most, MAX_STATES, CELLS // max(1, len(self.column)))
        self.tops = np.array([
            self.last.get(name, ENDLESS) if counter.most is None else counter.most
            for name, counter in system.counters.items()], dtype=np.int32)
        self.kind = np.min_scalar_type(int(self.tops.max(initial=0)))
        self.looks = 0
        self.known: dict[bytes, int] = {}
        self.tables: list[Table] = []
        self.steps: list[tuple[Numbers, Numbers, Numbers]] = []

    def found(self) -> States:
        """The table of all that can be reached, level by level."""
        import numpy as np
        start = np.array([[c.start for c in self.system.counters.values()]], dtype=np.int32)
        self._numbers_of(start)
        here, level = 0, start
        while len(level):
            new = [level[:0]]
            for first in range(0, len(level), AT_ONCE):
                new += self._after(level[first:first + AT_ONCE], here + first)
            here, level = here + len(level), np.concatenate(new)
        empty = np.zeros(0, dtype=np.int64)
        source, target, via = (
            np.concatenate([empty, *(step[n] for step in self.steps)]) for n in range(3))
        return States(self.system, self.moves, np.concatenate(self.tables),
                      source, target, via, self.column)

    def _after(self, batch: Table, first: int) -> Iterator[Table]:
        """The new states after a batch of which the first has this number."""
        import numpy as np
        for number, move in enumerate(self.moves):
            self.looks += 1
            if self.looks > LOOKS:
                raise NotCovered("its states lie too deep to visit them all")
            rows = np.flatnonzero(_allowed(move, batch, self.column))
            if not len(rows):
                continue
            after = batch[rows]
            for name, by in move.change.items():
                place = self.column[name]
                after[:, place] += by
                if name in self.last:
                    after = _or_more(after, place, by, self.last[name])
                elif after[:, place].min() < 0 or after[:, place].max() > self.tops[place]:
                    raise NotCovered("a counter leaves its range, or has no end")
            numbers, new = self._numbers_of(after)
            if self.edges:
                self.steps.append((rows + first, numbers,
                                   np.full(len(rows), number, dtype=np.int64)))
            if len(new):
                yield new

    def _numbers_of(self, states: Table) -> tuple[Numbers, Table]:
        """The numbers of these states, and those of them that are new."""
        import numpy as np
        known = self.known
        before = len(known)
        numbers = np.array([known.setdefault(key, len(known)) for key in self._keys(states)],
                           dtype=np.int64)
        if len(known) > self.most:
            if self.most == self.claimed:
                raise Refuted(f"there are more than {self.most:,} states")
            raise NotCovered(f"more than {self.most:,} states")
        fresh, at = np.unique(numbers, return_index=True)
        new = states[at[fresh >= before]]
        self.tables.append(new)
        return numbers, new

    def _keys(self, states: Table) -> Iterator[bytes]:
        """Each state as the bytes of its numbers, which are all in their ranges."""
        packed, size = states.astype(self.kind).tobytes(), self.kind.itemsize * len(self.column)
        return (packed[size * n:size * (n + 1)] for n in range(len(states)))


def _last_numbers(system: System) -> dict[str, int]:
    """For each counter without end, the number that stands for so many or more."""
    found = {name: max(counter.start, 1 + (counter.rest or 0))
             for name, counter in system.counters.items() if counter.most is None}
    for move in system.steps:
        for name in found:
            by = abs(move.change.get(name, 0))
            found[name] = max(found[name], move.need.get(name, 0), move.room.get(name, 0) + 1, by)
    return {name: number + SO_FAR for name, number in found.items()}


def _or_more(after: Table, place: int, by: int, last: int) -> Table:
    """The states after a counter was changed, of which ``last`` stands for so many or more."""
    import numpy as np
    if by > 0:
        np.minimum(after[:, place], last, out=after[:, place])
        return after
    full = after[after[:, place] == last + by]
    found = [after]
    for more in range(1, -by + 1):
        again = full.copy()
        again[:, place] += more
        found.append(again)
    return np.concatenate(found)
