"""The connected parts of a design, each with its wait-for graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...verdicts.deadline import Deadline, Spent
from ..net.rows import Table
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design, Link, Pool, Task
from .explain import helping
from .waits import WaitGraph, wait_graph

__all__ = ["Part", "parts", "shares", "unending"]

MAX_ROWS = 400
"""Most transitions of a part for its wait-for graph to be made: its cycles, and what to try, grow
fast.
"""
NO_END = Deadline()
RELAXED = Aim(relaxed=True)


@dataclass(frozen=True)
class Part:
    """A connected part of a design with its wait-for graph, which is made once. Its table, by
    ``aim``, is made when it is asked for: one of many rows takes long, so ``watch`` may raise."""

    design: Design
    graph: WaitGraph
    aim: Aim = RELAXED
    watch: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)

    @staticmethod
    def of(design: Design, cycles: bool = True, deadline: Deadline = NO_END) -> Part:
        """The part with its graph; its ``cycles`` take long to list, and prove nothing more.

        Where the deadline passes, the graph is one that says nothing.
        """
        part = Part(design, WaitGraph((), complete=False, proves_live=False))
        meeting = any(link.capacity == 0 for link in design.links.values())
        if meeting or part.has_more_than(MAX_ROWS):
            return part
        helps = helping(design, part.table) if cycles else None
        try:
            return replace(part, graph=wait_graph(
                part.table, unending(design), helps,
                deadline.watch("making the wait-for graph")))
        except Spent:
            return part

    @cached_property
    def table(self) -> Table:
        """Its places and rows."""
        return translate(self.design, self.aim, self.watch)

    @property
    def size(self) -> int:
        """Its tasks and links: about as many as it takes time."""
        return len(self.design.tasks) + len(self.design.links)

    def has_more_than(self, rows: int) -> bool:
        """True if it can move in more ways than these. One of more tasks than that surely can."""
        return len(self.design.tasks) > rows or len(self.table.rows) > rows


def shares(sections: Sequence[Part]) -> Iterator[float]:
    """In how many parts the time that is left is shared when it is a section's turn: one half of it
    goes by their number, and the other by their sizes."""
    sizes = [section.size for section in sections]
    mean = sum(sizes) / max(1, len(sizes))
    whole = [size + mean for size in sizes]
    left = sum(whole)
    for mine in whole:
        yield max(left, mine) / mine
        left -= mine


def unending(design: Design) -> bool:
    """True if no task can ever have finished."""
    return not any(task.may_end for task in design.tasks.values())


def parts(design: Design) -> list[Design]:
    """The parts of a design that have no link and no pool in common, in their order.

    A part can deadlock while another continues, so each is checked on its own.
    """
    group = {name: name for name in design.tasks}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]  # half as far the next time
            name = group[name]
        return name

    for members in _tied_together(design):
        for other in members[1:]:
            group[root(other)] = root(members[0])
    return _split(design, {name: root(name) for name in design.tasks})


def _tied_together(design: Design) -> Iterator[list[str]]:
    for link in design.links.values():
        yield [*link.writers, *link.readers]
    yield from _users(design).values()


def _users(design: Design) -> dict[str, list[str]]:
    """The tasks that take or give threads of each pool, or slots of one that links have in common.

    """
    found: dict[str, list[str]] = {}
    for link in design.links.values():
        for pool in ([link.room] if link.room else []) + ([link.open] if link.closes else []):
            found.setdefault(pool, []).extend((*link.writers, *link.readers))
    for task in design.tasks.values():
        for pool in dict.fromkeys(task.pools):
            found.setdefault(pool, []).append(task.name)
    return found


def _split(design: Design, part_of: Mapping[str, str]) -> list[Design]:
    """A design for each part. What no task is at, a link or a pool, is in the first one: in all of
    them it would be as many places as there are parts and pools."""
    roots = list(dict.fromkeys(part_of.values()))
    tasks: dict[str, dict[str, Task]] = {root: {} for root in roots}
    links: dict[str, dict[str, Link]] = {root: {} for root in roots}
    pools: dict[str, dict[str, Pool]] = {root: {} for root in roots}
    users = _users(design)
    for name, task in design.tasks.items():
        tasks[part_of[name]][name] = task
    for name, link in design.links.items():
        ends = [part_of[end] for end in (*link.writers, *link.readers)]
        for root in ends[:1] or roots[:1]:
            links[root][name] = link
    for name, pool in design.pools.items():
        for root in [part_of[user] for user in users.get(name, ())[:1]] or roots[:1]:
            pools[root][name] = pool
    return [replace(design, tasks=tasks[root], links=links[root], pools=pools[root])
            for root in roots]
