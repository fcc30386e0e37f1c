"""Runs that try to deadlock a design: cheap, and able to say *violated* and nothing else.

A deadlock needs some queues full and others empty at the same moment. Search meets it after all
states on the way, which are as many as the product of the capacities. A run in which always the
same tasks go first meets it after about the sum of them: a task that goes first fills what it
writes, and empties what it reads. So a run has *phases*. In each the tasks (or their rows) are in
an order drawn from a seed, and the first that is enabled moves; a phase ends after so many steps,
or when it repeats itself, for then it would do so forever. One run in four moves at random instead.

All is counted in steps and drawn from a fixed seed, so the answer is the same on every machine.
A run that deadlocked is shortened, and then replayed by the interpreter like every trace.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from ...verdicts.deadline import Spent
from ..net.rows import Table

__all__ = ["NEVER", "STEPS", "Runs", "Tried"]

STEPS, RUNS = 1_200_000, 1_000
"""Steps of all runs together, which take some seconds, and the most runs."""
MORE = 100_000
"""Steps of further runs, once one deadlocked."""
SHORTENING = 300_000
"""Steps for shortening a run."""
SLACK, TURNOVERS = 500, 4
"""A run has so many steps, and so many more for each element that fits into the queues."""
PHASES = 4
NEVER = 10**9



@dataclass
class Tried:
    """The result of runs: the rows of one that deadlocked, if there is one."""

    deadlocked: tuple[int, ...] | None = None
    runs: int = 0
    steps: int = 0


@dataclass
class _Run:
    """A run that continues: the marking with a sum of its numbers, each of which has a weight of
    its own; the rows that can move, and those that did."""

    marking: list[int]
    ready: set[int]
    weighed: int = 0
    rows: list[int] = field(default_factory=list)


class _First:
    """A choice among the rows that can move: the one of the lowest rank moves."""

    def __init__(self, ready: Iterable[int], rank: Sequence[float]) -> None:
        self._rank = rank
        self._listed = set(ready)
        self._heap = [(rank[row], row) for row in self._listed]
        heapify(self._heap)

    def next(self, ready: set[int]) -> int:
        """The row that moves."""
        while self._heap[0][1] not in ready:
            self._listed.discard(heappop(self._heap)[1])
        return self._heap[0][1]

    def can(self, row: int) -> None:
        """This row can move now."""
        if row not in self._listed:
            self._listed.add(row)
            heappush(self._heap, (self._rank[row], row))

    def cannot(self, row: int) -> None:
        """This row cannot move any more: it is left out when it comes first."""


class _Drawn:
    """Any of the rows that can move does."""

    def __init__(self, ready: Iterable[int], draw: random.Random) -> None:
        self._draw, self._rows = draw, sorted(ready)

    def next(self, ready: set[int]) -> int:
        """The row that moves."""
        return self._draw.choice(self._rows)

    def can(self, row: int) -> None:
        """This row can move now."""
        insort(self._rows, row)

    def cannot(self, row: int) -> None:
        """This row cannot move any more."""
        del self._rows[bisect_left(self._rows, row)]


_Order = _First | _Drawn


class Runs:
    """Runs of a table, of ``longest`` steps in a phase; ``watch`` is called at every few hundred
    steps, and may raise."""

    def __init__(
        self, table: Table, watch: Callable[[], object] = lambda: None, longest: int = NEVER
    ) -> None:
        constants = table.constants()
        self._start: tuple[int, ...] = constants["start"]
        self._rest: tuple[int, ...] = constants["rest"]
        self._may_end, self._stopped = bool(constants["may_end"]), int(constants["stopped"])
        self._needs: Sequence[Sequence[tuple[int, int]]] = constants["at_least"]
        self._rooms: Sequence[Sequence[tuple[int, int]]] = constants["at_most"]
        self._changes: Sequence[Sequence[tuple[int, int]]] = constants["change"]
        self._task = [row.task for row in table.rows]
        self._tasks = sorted(set(self._task))
        # One that stands for several possible steps is no step of the design's own.
        self._abstract = {n for n, row in enumerate(table.rows) if row.effect.abstract}
        self._after = list(self._looked_at_after())
        self._watch = watch
        weigh = random.Random(0)
        weights = [weigh.getrandbits(60) for _ in self._start]
        self._weighs = [sum(weights[place] * by for place, by in change)
                        for change in self._changes]
        self._first = {row for row in range(len(self._needs)) if self.can_move(self._start, row)}
        room = sum(place.most for place in table.places if place.role == "queue")
        self._longest = min(longest, SLACK + TURNOVERS * room)

    def _looked_at_after(self) -> Iterator[tuple[int, ...]]:
        """For each row, those that it may make able or unable to move."""
        lookers: list[set[int]] = [set() for _ in self._start]
        for row, guards in enumerate(zip(self._needs, self._rooms, strict=True)):
            for place, _ in (*guards[0], *guards[1]):
                lookers[place].add(row)
        for change in self._changes:
            yield tuple(sorted(set().union(*(lookers[place] for place, _ in change))))

    def try_all(self, steps: int = STEPS, seed: int = 0) -> Tried:
        """Runs until one deadlocks or so many ``steps`` were made, and some more for one that is
        shorter; the shortest, made shorter still.
        """
        tried = Tried()
        try:
            self._try(tried, steps, random.Random(seed))
        except Spent:  # what is found is kept
            if tried.deadlocked is None:
                raise
        if tried.deadlocked is not None:
            tried.deadlocked = self.shortened(tried.deadlocked)
        return tried

    def _try(self, tried: Tried, steps: int, draw: random.Random) -> None:
        while tried.steps < steps and tried.runs < RUNS:
            run, is_deadlocked = self._one(draw, tried.runs % 4)
            tried.runs += 1
            tried.steps += max(1, len(run.rows))
            if is_deadlocked and tried.deadlocked is None:
                steps = min(steps, tried.steps + MORE)
            found = tried.deadlocked
            if is_deadlocked and (found is None or len(run.rows) < len(found)):
                tried.deadlocked = tuple(run.rows)

    def drawn(self, steps: int, seed: int = 0) -> Iterator[tuple[int, ...]]:
        """The rows of one run after another, until so many ``steps`` were made in all."""
        draw, made = random.Random(seed), 0
        for number in range(RUNS):
            if made >= steps:
                return
            run, _ = self._one(draw, number % 4)
            made += max(1, len(run.rows))
            yield tuple(run.rows)

    def comes_round(
        self, marking: Sequence[int], rank: Sequence[float], most: int
    ) -> tuple[tuple[int, ...], int] | None:
        """A run from a marking, in which always the row of the lowest rank moves, to where it
        repeats itself: its rows, and from which of them on. None where it ends, needs a row whose
        rank is ``NEVER``, or is longer than ``most``."""
        run = _Run(list(marking), {
            row for row in range(len(self._needs)) if self.can_move(marking, row)})
        kept, first, again = (0, list(marking)), 0, 1
        order = _First(run.ready, rank)
        while run.ready and len(run.rows) < most:
            row = order.next(run.ready)
            if rank[row] == NEVER:
                return None
            self._step(run, row, order)
            if _is_again(run, kept):
                return tuple(run.rows), first
            if len(run.rows) == again:
                kept, first, again = (run.weighed, list(run.marking)), again, 2 * again
        return None

    # --- single runs ----------------------------------------------------------------------

    def start(self) -> list[int]:
        """The marking at the start, as one that may be changed."""
        return list(self._start)

    def change(self, marking: list[int], row: int) -> None:
        """Let a row move that can."""
        for place, by in self._changes[row]:
            marking[place] += by

    def after(self, rows: Sequence[int]) -> list[int]:
        """The marking after a run."""
        marking = self.start()
        for row in rows:
            self.change(marking, row)
        return marking

    def can_move(self, marking: Sequence[int], row: int) -> bool:
        """True if the guards of a row hold."""
        # In loops: runs spend most of their time here, and a generator costs three times as much.
        for place, n in self._needs[row]:
            if marking[place] < n:
                return False
        for place, n in self._rooms[row]:  # noqa: SIM110
            if marking[place] > n:
                return False
        return True

    def _one(self, draw: random.Random, kind: int) -> tuple[_Run, bool]:
        """A run, and whether it deadlocked."""
        run = _Run(list(self._start), set(self._first))
        phases = 1 + draw.randrange(PHASES)
        for phase in range(phases):
            self._watch()
            is_last = phase == phases - 1
            long = self._longest if is_last else 1 + draw.randrange(self._longest)
            order = self._order(run.ready, draw, kind)
            self._phase(run, order, len(run.rows) + long, kind == 3)
            if not run.ready:
                return run, self._is_deadlocked(run.marking)
            if run.ready <= self._abstract:
                break
        return run, False

    def _order(self, ready: set[int], draw: random.Random, kind: int) -> _Order:
        if kind == 3:
            return _Drawn(ready, draw)
        rank = [draw.random() for _ in self._task]
        if kind == 0:
            first = {task: draw.random() for task in self._tasks}
            rank = [first[task] + low / 1_000 for task, low in zip(self._task, rank, strict=True)]
        for row in self._abstract:
            rank[row] = NEVER
        return _First(ready, rank)

    def _phase(self, run: _Run, order: _Order, end: int, is_random: bool) -> None:
        """Move until ``end`` steps were made in all, nothing can move, or all repeats itself."""
        kept, again = (run.weighed, list(run.marking)), len(run.rows) + 1
        while run.ready and len(run.rows) < end:
            row = order.next(run.ready)
            if row in self._abstract:
                return
            self._step(run, row, order)
            if len(run.rows) % 256 == 0:
                self._watch()
            if not is_random and _is_again(run, kept):
                return
            if len(run.rows) == again:
                # Brent: what is kept is renewed ever more seldom, so any period is found.
                kept, again = (run.weighed, list(run.marking)), 2 * again
        return

    def _step(self, run: _Run, row: int, order: _Order) -> None:
        self.change(run.marking, row)
        run.weighed += self._weighs[row]
        run.rows.append(row)
        ready = run.ready
        for other in self._after[row]:
            if self.can_move(run.marking, other):
                if other not in ready:
                    ready.add(other)
                    order.can(other)
            elif other in ready:
                ready.discard(other)
                order.cannot(other)

    def _is_deadlocked(self, marking: Sequence[int]) -> bool:
        """True if work is left where nothing can move."""
        if marking[self._stopped] > 0:
            return False
        return not self._may_end or any(
            n > rest for n, rest in zip(marking, self._rest, strict=True))

    # --- shortening -----------------------------------------------------------------------

    def shortened(
        self, rows: tuple[int, ...], ends: Callable[[Sequence[int]], bool] | None = None
    ) -> tuple[int, ...]:
        """The run without stretches that it does not need to end as is wanted (deadlocked, if
        nothing is said), while there are steps and time left."""
        left, size = SHORTENING, max(1, len(rows) // 2)
        ends = ends or self._ends_deadlocked
        with suppress(Spent):
            while size and left > 0:
                place = 0
                while place < len(rows) and left > 0:
                    self._watch()
                    fewer = rows[:place] + rows[place + size:]
                    made = self._made(fewer, ends)
                    left -= abs(made)
                    if made > 0:
                        rows = fewer
                    else:
                        place += size
                size //= 2
        return rows

    def _ends_deadlocked(self, marking: Sequence[int]) -> bool:
        return self._is_deadlocked(marking) and not any(
            self.can_move(marking, row) for row in range(len(self._needs)))

    def _made(self, rows: Sequence[int], ends: Callable[[Sequence[int]], bool]) -> int:
        """Number of steps that a run made; negative, where it is not possible or ends otherwise."""
        marking = self.start()
        for made, row in enumerate(rows):
            if not self.can_move(marking, row):
                return -made - 1
            self.change(marking, row)
        return len(rows) + 1 if ends(marking) else -len(rows) - 1


def _is_again(run: _Run, kept: tuple[int, list[int]]) -> bool:
    """True if a run is where it was: the sums are compared first, which is a number each."""
    return run.weighed == kept[0] and run.marking == kept[1]
