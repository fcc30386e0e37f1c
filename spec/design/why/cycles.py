"""The cycle of waits in a state in which nothing moves, with the holders of the pools in it.

A wait for a free slot or data leads to one task that could end it. A wait for threads or permits of
a pool could be ended by any holder: it is part of a deadlock only because none of them can
continue. So with such a wait all holders belong to the cycle. Where that can be, they stand in one
round, each of which waits on the next; a holder that does not fit into it comes behind, with the
waits that lead from it back into the round.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from ...notation.labels import counted
from ..reading.language import Design, Step, StepKind
from .blocked import OF_A_POOL, Blocked

if TYPE_CHECKING:
    import networkx

__all__ = ["closed_cycle", "held", "led", "ranged", "round_of"]

TRIED = 20
"""So many cycles are tried as the one to begin with, the shortest first."""

LOOKED: Final = 2_000_000
"""Waits that are looked at for shortest cycles, about at most."""

Waits = Mapping[str, Mapping[str, Blocked]]
"""By task, and by the task that could end it, a wait."""


def closed_cycle(waits: Sequence[Blocked]) -> list[Blocked]:
    """Waits that form a cycle, with those of all holders of the pools in it; empty if none do.

    It begins with a shortest cycle that can be closed so; see ``round_of`` and ``led`` for how to
    go round it.
    """
    by: dict[str, dict[str, Blocked]] = {}
    for wait in waits:
        for other in wait.on:
            by.setdefault(wait.task, {}).setdefault(other, wait)
    first: list[Blocked] = []
    for cycle in islice(_shortest_first(by), TRIED):
        found = _Closing(by, waits, cycle)
        if found.is_closed:
            return found.waits
        first = first or found.waits
    return first


def _shortest_first(by: Waits) -> Iterator[list[Blocked]]:
    """A shortest cycle through each task that is in one; through some of them, where they are so
    many that to look at all would take time that grows with their square."""
    import networkx
    graph: networkx.DiGraph[str] = networkx.DiGraph(
        (task, other) for task, others in by.items() for other in others)
    order = {task: place for place, task in enumerate(graph)}
    found = []
    for component in networkx.strongly_connected_components(graph):
        inside = {task: [other for other in graph.successors(task) if other in component]
                  for task in sorted(component, key=order.__getitem__)}
        for tasks in _shortest_through_each(inside, graph):
            found.append([by[a][b] for a, b in zip(tasks, tasks[1:], strict=False)])
    yield from sorted(found, key=len)


def _shortest_through_each(
    inside: Mapping[str, Sequence[str]], graph: networkx.DiGraph[str]
) -> Iterator[list[str]]:
    """The cycles through the tasks of a component of a graph, by the tasks of it on which each
    waits."""
    waits = sum(map(len, inside.values()))
    if waits == len(inside):
        # It is one cycle: as it is from each task, of which no more are tried.
        around = _round_from(next(iter(inside)), inside)
        places = {task: place for place, task in enumerate(around)}
        for start in sorted(inside)[:TRIED]:
            yield [*around[places[start]:], *around[:places[start]], start]
    elif waits:
        part: networkx.DiGraph[str] = type(graph)(
            (task, other) for task, others in inside.items() for other in others)
        for start in sorted(inside)[:max(TRIED, LOOKED // (waits + len(inside)))]:
            yield _shortest_through(part, inside[start], start)


def _shortest_through(
    part: networkx.DiGraph[str], successors: Sequence[str], start: str
) -> list[str]:
    import networkx
    found: list[str] = []
    for successor in successors:
        path = networkx.shortest_path(part, successor, start)
        if not found or len(path) + 1 < len(found):
            found = [start, *path]
        if len(found) <= 3 and start not in successors:
            break       # only itself would be nearer
    return found


def _round_from(start: str, inside: Mapping[str, Sequence[str]]) -> list[str]:
    found = [start]
    while (following := inside[found[-1]][0]) != start:
        found.append(following)
    return found


class _Closing:
    """A cycle to which all holders of its pools are added. It ``is_closed`` if each of them waits
    for a task in it, in the end."""

    def __init__(self, by: Waits, waits: Sequence[Blocked], cycle: Sequence[Blocked]) -> None:
        self._by = by
        self._first: dict[str, Blocked] = {}
        for wait in waits:
            self._first.setdefault(wait.task, wait)
        self._round = list(cycle)
        self._behind: list[Blocked] = []
        self._tasks = {wait.task for wait in cycle}
        self.is_closed = True
        todo = deque(cycle)
        while todo:
            wait = todo.popleft()
            for holder in wait.on if wait.what in OF_A_POOL else ():
                if holder not in self._tasks:
                    todo.extend(self._joined(holder))

    @property
    def waits(self) -> list[Blocked]:
        """The round, and behind it the holders that are not in it."""
        return [*self._round, *self._behind]

    def _joined(self, holder: str) -> list[Blocked]:
        """The waits that come in with a holder."""
        path = self._way_back(holder)
        if not path:
            self.is_closed = False
            new = self._way_out(holder)
            self._behind += new
            return new
        new = [self._by[a][b] for a, b in zip(path, path[1:], strict=False)]
        self._tasks.update(path)
        place = self._place(holder, path[-1])
        if place is None:
            self._behind += new
        else:
            self._round[place:place] = new
        return new

    def _way_out(self, holder: str) -> list[Blocked]:
        """Waits from a holder on to one that no task ends, or to another cycle."""
        found: list[Blocked] = []
        here = holder
        while here not in self._tasks:
            self._tasks.add(here)
            wait = self._first.get(here)
            if wait is None:
                break
            found.append(wait)
            here = wait.on[0] if wait.on else here
        return found

    def _place(self, holder: str, last: str) -> int | None:
        """The place in the round where a path from the holder to a task of it fits in."""
        following = [*self._round[1:], self._round[0]]
        return next((place + 1 for place, (wait, then) in enumerate(
            zip(self._round, following, strict=True))
            if then.task == last and wait.what in OF_A_POOL and holder in wait.on), None)

    def _way_back(self, holder: str) -> list[str]:
        """The shortest way from a holder to a task that is there already: if there is one, to where
        the round can be opened for it."""
        others = self._by.get(holder, {})
        direct = [other for other in others if other in self._tasks]
        if direct:
            fits = (other for other in direct if self._place(holder, other) is not None)
            return [holder, next(fits, direct[0])]
        before = dict.fromkeys(others, holder)
        todo = deque(others)
        while todo:
            here = todo.popleft()
            for other in self._by.get(here, {}):
                if other in self._tasks:
                    path = [here, other]
                    while path[0] != holder:
                        path.insert(0, before[path[0]])
                    return path
                if other not in before and other != holder:
                    before[other] = here
                    todo.append(other)
        return []


# --- the words for a cycle -----------------------------------------------------------------------

def round_of(cycle: Sequence[Blocked]) -> Sequence[Blocked]:
    """Those of its waits that stand in one round, each of which waits on the next."""
    closes = 0
    for place, wait in enumerate(cycle):
        if cycle[0].task in wait.on:
            closes = place + 1
        if place + 1 < len(cycle) and cycle[place + 1].task not in wait.on:
            break
    return cycle[:closes]


def led(cycle: Sequence[Blocked]) -> Iterator[tuple[Blocked, str]]:
    """Each wait with the tasks of the cycle that it is on: in the round the next, of a pool all."""
    around = round_of(cycle)
    tasks = {wait.task for wait in cycle}
    for place, wait in enumerate(cycle):
        here = [other for other in wait.on if other in tasks]
        if wait.what in OF_A_POOL:
            yield from ((wait, other) for other in here)
        elif place < len(around):
            yield wait, around[(place + 1) % len(around)].task
        else:
            yield from ((wait, other) for other in here[:1])


def held(design: Design, cycle: Sequence[Blocked], free: Mapping[str, int]) -> Iterator[str]:
    """A sentence for each pool in a cycle that has more than one: how much of it is held, by which
    tasks, and why none of them gives it back. ``free`` is how much of each pool is not held."""
    tasks = {wait.task: wait for wait in cycle}
    pools: dict[str, Blocked] = {}
    for wait in cycle:
        if wait.what in OF_A_POOL and design.pools[wait.where].threads > 1:
            pools.setdefault(wait.where, wait)
    for pool, wait in pools.items():
        who = ranged(wait.on)
        amount = _amount(design, pool, free.get(pool, 0))
        same = all(other in tasks and (tasks[other].what, tasks[other].where) == (wait.what, pool)
                   for other in wait.on)
        alone = len(wait.on) == 1
        if same:
            more = "one more" if _one_by_one(design, pool) else "more"
            why = f"which waits for {more}" if alone else f"each of which waits for {more}"
        else:
            why = "which does not give any" if alone else "none of which gives any"
            why += " back before its own wait ends"
        kept = f", and by {ranged(wait.gone)} for good" if wait.gone else ""
        yield f"{amount} held by {who}, {why}{kept}."


def _amount(design: Design, pool: str, free: int) -> str:
    total, unit = design.pools[pool].threads, design.unit(pool)
    if not free:
        return f"{'Both' if total == 2 else f'All {total}'} {unit}s of {pool} are"
    taken = total - free
    of = f"{taken} of the {counted(total, unit)} of {pool} {'is' if taken == 1 else 'are'}"
    return f"Too few are left: {of}"


def _one_by_one(design: Design, pool: str) -> bool:
    steps: Iterator[Step] = (step for task in design.tasks.values() for step in task.actions)
    return all(step.count == 1 for step in steps
               if step.kind is StepKind.ACQUIRE and step.target == pool)


def ranged(names: Sequence[str], last_two: str = " and ") -> str:
    """Names in a list, three or more that are numbered one after the other as a range."""
    told: list[str] = []
    place = 0
    while place < len(names):
        last = place
        while last + 1 < len(names) and _next(names[last]) == names[last + 1]:
            last += 1
        if last - place >= 2:
            told.append(f"{names[place]} to {names[last]}")
        else:
            told += names[place:last + 1]
        place = last + 1
    return last_two.join(filter(None, (", ".join(told[:-1]), *told[-1:])))


def _next(name: str) -> str:
    """The name with its last number one larger; empty where it does not end with one."""
    found = re.fullmatch(r"(.*?)(\d+)(\]?)", name)
    return f"{found[1]}{int(found[2]) + 1}{found[3]}" if found else ""
