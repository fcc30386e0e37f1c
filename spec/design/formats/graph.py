"""Graphs of tasks (the nodes) and links (the edges), whatever file they come from.

The attributes of nodes and edges are the keys of tasks and links in the design language, under
the same names. A kind is derived where there is only one that fits; nothing else is guessed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ...notation.errors import InputError
from ..reading.properties import NO_STARVATION
from ..reading.schema import schema
from ..reading.source import NOWHERE, Node, Spot
from .draft import Draft, Reading, as_node, refusal

__all__ = ["Edge", "Graph", "Vertex", "no_edge_to", "reading_of"]

Attributes = Mapping[str, tuple[str, Spot]]
"""By name, the text of an attribute and where it stands."""

_EXPECT: Final = "expect_"
_STEP: Final = re.compile(r"\s*(write|read|acquire|release)\s+(.+?)(?:\s*\*\s*(\d+))?\s*")
_POOL: Final = re.compile(r"\s*(.+?)\s*[:=]\s*(\w+)\s*")


@dataclass
class Vertex:
    """A node of a graph."""

    name: str
    spot: Spot
    attributes: dict[str, tuple[str, Spot]] = field(default_factory=dict)


@dataclass
class Edge:
    """An edge of a directed graph, from a node to another, by their names."""

    start: str
    end: str
    spot: Spot
    attributes: dict[str, tuple[str, Spot]] = field(default_factory=dict)


@dataclass
class Graph:
    """A directed graph with attributes, in the order of its file."""

    name: str
    vertices: dict[str, Vertex] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    attributes: dict[str, tuple[str, Spot]] = field(default_factory=dict)


def reading_of(graph: Graph, file: str, way: str) -> Reading:
    """The design of a graph; ``way`` shows how an attribute is written in its format, as
    ``[capacity=4]``.

    Raises InputError for a node of a kind that does not follow from its edges, for an edge that
    does not say how much fits, and for an attribute that is nearly one of the language's.
    """
    return _Reader(graph, file, way).reading()


class _Reader:
    def __init__(self, graph: Graph, file: str, way: str) -> None:
        self.graph, self.file, self.way = graph, file, way
        self.draft = Draft(file, graph.name or "graph")
        self.ins: dict[str, int] = dict.fromkeys(graph.vertices, 0)
        self.outs: dict[str, int] = dict.fromkeys(graph.vertices, 0)
        for edge in graph.edges:
            self.outs[edge.start] += 1
            self.ins[edge.end] += 1

    def reading(self) -> Reading:
        self._top()
        for vertex in self.graph.vertices.values():
            self.draft.task(vertex.name, vertex.spot, dict(self._task(vertex)))
        for edge in self.graph.edges:
            self._link(edge)
        return self.draft.reading()

    # --- the graph itself --------------------------------------------------------------------

    def _top(self) -> None:
        attributes = self.graph.attributes
        words = {key.removeprefix(_EXPECT).replace("_", "-"): value
                 for key, value in attributes.items() if key.startswith(_EXPECT)}
        self._no_misspelt(words, _keys("expect"), "an expectation")
        self._no_misspelt({key: value for key, value in attributes.items()
                           if not key.startswith(_EXPECT)}, ["pools", "about"], "the graph")
        for key, (text, spot) in words.items():
            if key in _keys("expect"):
                self.draft.expect[key] = Node(text, spot)
        if "about" in attributes:
            self.draft.about = attributes["about"][0]
        if "pools" in attributes:
            self._pools(*attributes["pools"])

    def _pools(self, text: str, spot: Spot) -> None:
        for part in _parts(text):
            found = _POOL.fullmatch(part)
            if found is None:
                raise refusal(self.file, spot, f"{part.strip()[:40]!r} is no pool",
                              "Write each as NAME: THREADS, with `;` between them, as in "
                              '`pools="workers: 4; locks: 1"`.')
            self.draft.pool(found[1], spot, _scalar(found[2]))

    # --- nodes -------------------------------------------------------------------------------

    def _task(self, vertex: Vertex) -> Iterator[tuple[str, Any]]:
        kind = vertex.attributes.get("kind")
        known = sorted({key for each in _KINDS for key in _keys(each)} - {"takes", "gives"})
        self._no_misspelt(vertex.attributes, known, f"the node {vertex.name[:40]!r}")
        yield "kind", self._derived(vertex) if kind is None else Node(*kind)
        for key, (text, spot) in vertex.attributes.items():
            if key in known and key != "kind":
                yield key, self._value(key, text, spot)

    def _derived(self, vertex: Vertex) -> str:
        """The only kind that fits, with a word about it."""
        shape = min(self.ins[vertex.name], 2), min(self.outs[vertex.name], 2)
        kind = "source" if shape[0] == 0 and shape[1] else "sink" if shape[1] == 0 and shape[0] \
            else {(1, 1): "map"}.get(shape)
        if kind is None:
            fits = {(1, 2): "broadcast (to all) or route (to one)",
                    (2, 1): "merge (from any) or zip (from all at once)",
                    (2, 2): "zip (from all at once, to all)", (0, 0): "call, or connect it"}[shape]
            raise refusal(
                self.file, vertex.spot, f"the node {vertex.name[:40]!r} has no kind, and its edges "
                "leave it open", f"Give it one: {fits}; as {self.way.format('kind', 'KIND')}.")
        self.draft.assume("nodes without a kind are taken for a source where no edge leads to them,"
                          " a sink where none leads away, and a map where one leads each way")
        return kind

    def _value(self, key: str, text: str, spot: Spot) -> Any:
        if key == "steps":
            return Node([self._step(part, spot) for part in _parts(text)], spot)
        if key == "prefers":
            return Node(self.draft.called(text, "link"), spot)
        if key == "pool":
            names = [self.draft.called(part.strip(), "pool") for part in _parts(text)]
            return as_node(names[0] if len(names) == 1 else names, spot)
        return Node(_scalar(text), spot)

    def _step(self, part: str, spot: Spot) -> Node:
        found = _STEP.fullmatch(part)
        if found is None:
            raise refusal(self.file, spot, f"{part.strip()[:40]!r} is no step of a script",
                          "Write `write LINK`, `read LINK`, `acquire POOL` or `release POOL`, each "
                          "with `* NUMBER` if need be, and `;` between them.")
        verb, target, count = found.groups()
        of = "link" if verb in ("write", "read") else "pool"
        keys: dict[str, Any] = {verb: self.draft.called(target, of)}
        return as_node(keys if count is None else {**keys, "count": _scalar(count)}, spot)

    # --- edges -------------------------------------------------------------------------------

    def _link(self, edge: Edge) -> None:
        """Make a link of an edge and its attributes. Raises ``InputError`` where they do not say
        how much fits."""
        known = [key for key in _keys("link") if key not in ("from", "to")]
        self._no_misspelt(edge.attributes, known, f"the edge {edge.start[:40]} -> {edge.end[:40]}")
        keys: dict[str, Any] = {
            "from": self.draft.called(edge.start), "to": self.draft.called(edge.end)}
        for key, (text, spot) in edge.attributes.items():
            if key == "name":
                keys[key] = Node(self.draft.called(text, "link"), spot)
            elif key in known:
                keys[key] = Node(_scalar(text), spot)
        flow = edge.attributes.get("flow", ("blocking", NOWHERE))[0]
        if "capacity" not in keys and flow not in ("unbounded", "stop-and-wait"):
            raise refusal(
                self.file, edge.spot, f"the edge {edge.start[:40]} -> {edge.end[:40]} does not say "
                "how much fits", f"Give it a capacity, as {self.way.format('capacity', '4')}, or "
                f"{self.way.format('flow', 'unbounded')}.")
        self.draft.link(edge.spot, keys)

    def _no_misspelt(self, given: Attributes, known: Iterable[str], of: str) -> None:
        """Labels and colours are nobody's business; what is nearly a key is a slip."""
        for key, (_, spot) in given.items():
            near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.75)
            if key not in known and near and key.lower() not in _OF_DRAWINGS:
                raise refusal(self.file, spot, f"{of} has the attribute {key[:40]!r}, which means "
                              "nothing here", f"Did you mean {near[0]!r}?")


_KINDS: Final = ("source", "plain", "filter", "merge", "route", "script", "call")
_OF_DRAWINGS: Final = {"label", "style", "shape", "color", "points", "head", "tail", "size"}


def _keys(part: str) -> list[str]:
    """The keys of a part of the design language; its schema is where they are written."""
    return [key for key in schema()["$defs"][part]["properties"] if key != NO_STARVATION]


def _parts(text: str) -> list[str]:
    return [part for part in text.split(";") if part.strip()]


def _scalar(text: str) -> Any:
    """A number where the text is one; whatever else it is, the schema has words for it."""
    text = text.strip()
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,18}", text) else text


def no_edge_to(file: str, spot: Spot, name: str, known: Iterable[str]) -> InputError:
    """The error about an edge that names a node which the graph has not."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return refusal(file, spot, f"there is no node {name[:40]!r}",
                   f"Did you mean {near[0]!r}?" if near else "Add the node, or fix the edge.")
