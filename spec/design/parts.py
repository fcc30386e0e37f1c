"""The connected parts of a design, each with its wait-for graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..verdicts.deadline import Deadline, OutOfTime
from .explain import helping
from .language import Design
from .rows import Table
from .translate import Aim, translate
from .waits import WaitGraph, wait_graph

__all__ = ["Part", "parts", "unending"]

MAX_ROWS = 400
"""Ways to move of a part whose wait-for graph is made: its cycles, and what to try, grow fast."""
NO_END = Deadline()


@dataclass(frozen=True)
class Part:
    """A connected part of a design with its wait-for graph, which is made once."""

    design: Design
    table: Table
    graph: WaitGraph

    @staticmethod
    def of(design: Design, cycles: bool = True, deadline: Deadline = NO_END) -> Part:
        """The part with its graph; its ``cycles`` take long to list, and prove nothing more.

        Where the deadline passes, the graph is one that says nothing.
        """
        table = translate(design, Aim(relaxed=True))
        nothing = Part(design, table, WaitGraph((), complete=False, proves_live=False))
        meeting = any(link.capacity == 0 for link in design.links.values())
        if meeting or len(table.rows) > MAX_ROWS:
            return nothing
        helps = helping(design, table) if cycles else None
        try:
            return Part(design, table, wait_graph(
                table, unending(design), helps, deadline.watch("making the wait-for graph")))
        except OutOfTime:
            return nothing


def unending(design: Design) -> bool:
    """Whether no task can ever have finished."""
    return not any(task.may_end for task in design.tasks.values())


def parts(design: Design) -> list[Design]:
    """The parts of a design that have no link and no pool in common, in their order.

    A part can be stuck while another goes on, so each is checked on its own.
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
    found: dict[str, list[str]] = {}
    for name in design.tasks:
        found.setdefault(root(name), []).append(name)
    return [_only(design, set(names)) for names in found.values()]


def _tied_together(design: Design) -> Iterator[list[str]]:
    for link in design.links.values():
        yield [*link.writers, *link.readers]
    sharing: dict[str, list[str]] = {}
    for link in design.links.values():
        if link.room:
            sharing.setdefault(link.room, []).extend((*link.writers, *link.readers))
    yield from sharing.values()
    for pool in design.pools:
        yield [
            task.name for task in design.tasks.values()
            if pool in task.pool or any(step.target == pool for step in task.actions)
        ]


def _only(design: Design, names: set[str]) -> Design:
    return replace(
        design, tasks={n: t for n, t in design.tasks.items() if n in names},
        links={n: link for n, link in design.links.items()
               if {*link.writers, *link.readers} <= names},
    )
