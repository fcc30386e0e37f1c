"""The steps that a task still has ahead, as far as its own places leave them.

A task's *own* places (its hand, its position, what it has left) are changed by no other task. So
what it can ever do is found by walking over them alone, as if its links and pools always had
what it needs. A source that has made all its elements and a script that has ended have nothing
ahead, and a script in its last round only what comes after its position.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..net.rows import Place, Row, Table
from .waits import SHARED

__all__ = ["Ahead", "dead_rows"]

MAX_OWN_STATES = 5_000
"""Own states of one task that are walked over; beyond, it is taken to have all its steps ahead.
Only tasks with hands or calls have so many, and these go round forever.
"""

MANY = 3
"""As good as any larger number of rounds or elements that are left: guards ask for 2 at most."""

NOBODYS = SHARED | {"flag", "budget", "beat"}

Own = tuple[int, ...]


@dataclass(frozen=True)
class _Step:
    """A row as its task's own places see it: bounds and changes, by their numbers."""

    row: Row
    at_least: tuple[tuple[int, int], ...]
    at_most: tuple[tuple[int, int], ...]
    change: tuple[tuple[int, int], ...]

    def after(self, here: Own) -> Own | None:
        """The own places after the step, or None where they do not allow it."""
        if any(here[p] < n for p, n in self.at_least) or any(here[p] > n for p, n in self.at_most):
            return None
        there = list(here)
        for p, n in self.change:
            there[p] += n
        return tuple(there)


def dead_rows(table: Table) -> frozenset[int]:
    """The rows (offers, by ``id``) that can never be taken, whatever the marking: they ask for
    more than fits, or for less than nothing, or for a partner that there is none of."""
    most = {place.name: place.most for place in table.places}
    living = {
        id(part) for row in table.joined if not _asks_too_much(row, most) for part in row.parts
    }
    return frozenset(
        id(row) for row in table.offers
        if _asks_too_much(row, most) or (row.effect.meets and id(row) not in living)
    )


def _asks_too_much(row: Row, most: Mapping[str, int]) -> bool:
    least, room = row.effect.at_least, row.effect.at_most
    return (any(n > min(most[place], room.get(place, n)) for place, n in least.items())
            or any(n < 0 for n in room.values()))


class Ahead:
    """The rows that every task has ahead in one marking; the ``dead_rows`` are ahead of no task."""

    def __init__(
        self, table: Table, marking: Mapping[str, int], dead: frozenset[int] = frozenset()
    ) -> None:
        self.table = table
        self.marking = marking
        self._own: dict[str, list[Place]] = {}
        for place in table.places:
            if place.role not in NOBODYS and place.role != "progress":
                self._own.setdefault(place.of, []).append(place)
        self._rows: dict[str, list[Row]] = {}
        for row in table.offers:
            # no task may wait for an accident, or for what can never be
            if row.own and row.effect.fair and id(row) not in dead:
                self._rows.setdefault(row.task, []).append(row)
        self._known: dict[str, Sequence[Row]] = {}

    def all_rows(self, task: str) -> Sequence[Row]:
        """The rows that the task has in some state of its own, in this or another."""
        return self._rows.get(task, ())

    def rows(self, task: str) -> Sequence[Row]:
        """The rows that the task can still come to, if all else helps it."""
        if task not in self._known:
            self._known[task] = list(self._reached(task))
        return self._known[task]

    def gains(self, task: str, pool: str, sign: int) -> bool:
        """True if the task can come to have given more to a pool's place than it has taken
        since (``sign`` 1), or to have taken more than it has given (-1).

        So a task can give back only what it holds, or what it never takes.
        """
        held = self.table.holders.get(pool, frozenset()) & {p.name for p in self._places(task)}
        if held and sign > 0:
            gives = any(row.effect.change.get(pool, 0) > 0 for row in self.rows(task))
            return gives and any(self.marking[place] > 0 for place in held)
        steps = [(step, sign * step.row.effect.change.get(pool, 0)) for step in self._steps(task)]
        if all(n <= 0 for _, n in steps):
            return False
        best = {self._start(task): 0}
        queue = deque(best)
        while queue:
            here = queue.popleft()
            for step, n in steps:
                there = step.after(here)
                if there is None or best[here] + n <= best.get(there, best[here] + n - 1):
                    continue
                if best[here] + n > 0 or len(best) > MAX_OWN_STATES:
                    return True
                best[there] = best[here] + n
                queue.append(there)
        return False

    def _reached(self, task: str) -> Iterator[Row]:
        """The rows that a task can come to by its own steps, if all others allowed it; all of them
        where it has too many states."""
        steps = list(self._steps(task))
        start = self._start(task)
        seen, queue, found = {start}, deque([start]), set[int]()
        while queue and len(found) < len(steps):
            here = queue.popleft()
            for number, step in enumerate(steps):
                there = step.after(here)
                if there is None:
                    continue
                found.add(number)
                if there not in seen:
                    seen.add(there)
                    queue.append(there)
            if len(seen) > MAX_OWN_STATES:
                found.update(range(len(steps)))
        return (steps[number].row for number in sorted(found))

    def _places(self, task: str) -> list[Place]:
        return self._own.get(task, [])

    def _start(self, task: str) -> Own:
        return tuple(
            min(self.marking[place.name], MANY) if place.role == "left"
            else self.marking[place.name] for place in self._places(task)
        )

    def _steps(self, task: str) -> Iterator[_Step]:
        number = {place.name: i for i, place in enumerate(self._places(task))}

        def mine(entries: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
            return tuple((number[p], n) for p, n in entries.items() if p in number)

        for row in self.all_rows(task):
            effect = row.effect
            yield _Step(row, mine(effect.at_least), mine(effect.at_most), mine(effect.change))
