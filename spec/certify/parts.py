"""The parts of a design that nothing connects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..design.reading.language import Design
from .run import Refuted

__all__ = ["part_of", "parts_of"]


def part_of(design: Design, task: str) -> Design:
    """The connected part with this task."""
    for part in parts_of(design):
        if task in part.tasks:
            return part
    raise Refuted(f"the design has no task {task!r}")


def parts_of(design: Design) -> list[Design]:
    """The connected parts, by links and pools; each with its tasks in the order of the design."""
    import networkx
    graph: networkx.Graph[Any] = networkx.Graph()
    graph.add_nodes_from(design.tasks)
    for link in design.links.values():
        graph.add_edges_from((each, ("link", link.name)) for each in (*link.writers, *link.readers))
        if link.room:
            graph.add_edges_from((each, ("pool", link.room))
                                 for each in (*link.writers, *link.readers))
    for task in design.tasks.values():
        for pool in {*task.pools, *(link.open for link in design.links.values() if link.closes
                                    and task.name in (*link.writers, *link.readers))}:
            graph.add_edge(task.name, ("pool", pool))
    place = {node: number for number, nodes in enumerate(networkx.connected_components(graph))
             for node in nodes}
    tasks: dict[int, dict[str, Any]] = {}
    links: dict[int | None, dict[str, Any]] = {}
    for name, task in design.tasks.items():
        tasks.setdefault(place[name], {})[name] = task
    for name, link in design.links.items():
        links.setdefault(place.get(("link", name)), {})[name] = link
    return [replace(design, tasks=found, links=links.get(number, {}))
            for number, found in tasks.items()]
