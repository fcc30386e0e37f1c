"""Runs into a state from which a part is blocked forever, and one of the others that never ends.

A row is *dead* in a marking if it lacks something that only dead rows give. Dead rows never move
again, whatever the others do: none of them can be the first. So the most rows that may be dead are
those that cannot move, less those that lack nothing of the kind, and so on. A task of which all
rows are dead is blocked forever. More rows are dead the further a run has come; so the first
marking of a run with such a task is found by halving, and from there the others continue, always in
one order, until a marking comes again.

A run into a deadlock of the whole is looked at first: on the way there, a part is often blocked
long before the rest. What is found here is a violation; that nothing is found says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from ..equations.supply import guards
from ..net.rows import Row, Table
from ..search.runs import NEVER, Runs

__all__ = ["STEPS", "Alone", "Dead", "Finished", "Halted"]

STEPS = 200_000
"""Steps of all runs that are tried."""
LONGEST = 60_000
"""Steps in which the others are to come round."""
ORDERS = 12
"""Orders in which the others are let continue."""

Marking = Sequence[int]
Finished = Callable[[Mapping[str, int], str], bool]
"""Predicate: a task has nothing left to do in a marking."""
Lack = tuple[int, bool]
"""A place, and whether there is too little in it (else too much)."""


@dataclass(frozen=True)
class Alone:
    """A run of rows to a marking from which ``tasks`` never move again, and rows ``on`` from there,
    of which those from ``loop`` on can be repeated forever.
    """

    way: tuple[int, ...]
    tasks: tuple[str, ...]
    on: tuple[int, ...]
    loop: int


class Dead:
    """The rows of a table that are dead in a marking, and so the tasks that are blocked forever."""

    def __init__(self, table: Table, finished: Finished) -> None:
        self._finished = finished
        self._names = [place.name for place in table.places]
        number = {name: n for n, name in enumerate(self._names)}
        # A step that only drops an element is one, too, though it changes nothing.
        drops = [row for row in table.joined
                 if row.own and row.effect.loses and not row.effect.change]
        self._rows = [row for row in (*table.rows, *drops) if row.effect.fair]
        self._guards = [[(number[p], n, up) for p, n, up in guards(row)] for row in self._rows]
        self._gives = [
            [(number[place], by > 0) for place, by in row.effect.change.items()]
            for row in self._rows]
        self._givers: dict[Lack, list[int]] = {}
        self._of: dict[str, list[int]] = {}
        for n, row in enumerate(self._rows):
            for give in self._gives[n]:
                self._givers.setdefault(give, []).append(n)
            for task in row.tasks if row.own else ():
                self._of.setdefault(task, []).append(n)

    def rows_in(self, marking: Marking) -> set[int]:
        """The numbers of the dead rows, among those that are fair."""
        lacks: dict[int, list[Lack]] = {}
        lookers: dict[Lack, list[int]] = {}
        for n, needs in enumerate(self._guards):
            found = [(p, up) for p, k, up in needs
                     if (marking[p] < k if up else marking[p] > k)]
            if found:
                lacks[n] = found
                for lack in found:
                    lookers.setdefault(lack, []).append(n)
        waiting = [n for n in range(len(self._rows)) if n not in lacks]
        waiting += [n for n, found in lacks.items() if not self._for_ever(found, lacks)]
        gone = set()
        while waiting:
            n = waiting.pop()
            if n in gone:
                continue
            gone.add(n)
            lacks.pop(n, None)
            for give in self._gives[n]:
                waiting += [other for other in lookers.get(give, ())
                            if other in lacks and not self._for_ever(lacks[other], lacks)]
        return set(lacks)

    def _for_ever(self, lacks: Iterable[Lack], dead: Mapping[int, object]) -> bool:
        return any(all(n in dead for n in self._givers.get(lack, ())) for lack in lacks)

    def tasks_in(self, marking: Marking) -> tuple[str, ...]:
        """The tasks that are blocked forever, and have not finished."""
        dead = self.rows_in(marking)
        blocked = [task for task, mine in self._of.items() if dead.issuperset(mine)]
        if not blocked:
            return ()
        held = dict(zip(self._names, marking, strict=True))
        return tuple(task for task in blocked if not self._finished(held, task))


class Halted:
    """Looks for runs of a table into a local deadlock; ``watch`` is called all along."""

    def __init__(
        self, table: Table, finished: Finished, watch: Callable[[], None] = lambda: None
    ) -> None:
        self._table, self._watch = table, watch
        self._dead = Dead(table, finished)
        self._runs = Runs(table, watch)

    def look_for(self, known: Sequence[str], steps: int = STEPS) -> Alone | None:
        """A local deadlock on the run with these labels of rows, or on runs of so many ``steps`` in
        all; None if none is found."""
        way = self._told(known)
        found = None if way is None else self._on_the_way(way)
        if found is not None:
            return found
        for rows in self._runs.drawn(steps):
            self._watch()
            found = self._on_the_way(rows)
            if found is not None:
                return found
        return None

    def _told(self, labels: Sequence[str]) -> tuple[int, ...] | None:
        """The rows of a run with these labels; None where there is none."""
        having: dict[str, list[int]] = {}
        for n, row in enumerate(self._table.rows):
            having.setdefault(row.label, []).append(n)
        marking, rows = self._runs.start(), []
        for label in labels:
            number = next((n for n in having.get(label, ())
                           if self._runs.can_move(marking, n)), None)
            if number is None:
                return None
            self._runs.change(marking, number)
            rows.append(number)
        return tuple(rows)

    def _on_the_way(self, rows: tuple[int, ...]) -> Alone | None:
        """A local deadlock in the first marking of a run in which a task is blocked forever."""
        if not self._dead.tasks_in(self._runs.after(rows)):
            return None
        low, high = 0, len(rows)
        while low < high:
            self._watch()
            middle = (low + high) // 2
            if self._dead.tasks_in(self._runs.after(rows[:middle])):
                high = middle
            else:
                low = middle + 1
        found = self._while_others_go_on(rows[:low])
        if found is None:
            return None
        shorter = self._runs.shortened(found.way, lambda end: bool(self._dead.tasks_in(end)))
        return self._while_others_go_on(shorter) or found

    def _while_others_go_on(self, rows: tuple[int, ...]) -> Alone | None:
        marking = self._runs.after(rows)
        tasks = self._dead.tasks_in(marking)
        for rank in self._orders():
            self._watch()
            found = self._runs.comes_round(marking, rank, LONGEST)
            if found is not None:
                return Alone(rows, tasks, *found)
        return None

    def _orders(self) -> Iterator[Sequence[float]]:
        """Ranks of the rows: the last task of the design first, which empties what others fill; and
        then drawn ones."""
        rows, draw = self._table.rows, Random(0)
        place = {task: -n for n, task in enumerate(dict.fromkeys(row.task for row in rows))}
        yield [_rank(row, place[row.task]) for row in rows]
        for _ in range(ORDERS):
            yield [_rank(row, draw.random()) for row in rows]


def _rank(row: Row, wanted: float) -> float:
    """Accidents are no way to continue."""
    return wanted if row.effect.fair else NEVER
