"""GraphML: a directed graph with attributes, as networkx and others write it.

``<key>`` says what a ``<data>`` is called and its default; ``graph`` says what the names mean.
Source: graphml.graphdrawing.org, the primer (2000 to 2013).
"""

from __future__ import annotations

from ..reading.source import Spot, Watch
from .draft import Reading, refusal
from .graph import Edge, Graph, Vertex, no_edge_to, reading_of
from .xml import Element, parse_xml

__all__ = ["read"]

_WAY = '<data key="{0}">{1}</data>'


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a GraphML document is.

    Raises InputError for an undirected graph, nested graphs, hyperedges, and whatever ``graph``
    refuses.
    """
    root = parse_xml(text, file, watch=watch)
    if root.tag != "graphml":
        raise refusal(file, root.spot, f"this is no GraphML: it begins with <{root.tag[:40]}>",
                      "Begin with <graphml>.")
    graphs = list(root.all("graph"))
    if len(graphs) != 1:
        spot = graphs[1].spot if graphs else root.spot
        raise refusal(file, spot, f"the file has {len(graphs) or 'no'} graphs",
                      "Keep one graph in one file.")
    return reading_of(_Reader(root, graphs[0], file).graph(), file, _WAY)


class _Reader:
    def __init__(self, root: Element, top: Element, file: str) -> None:
        self.top, self.file = top, file
        self.names: dict[str, str] = {}
        self.defaults: dict[str, dict[str, tuple[str, Element]]] = {}
        for key in root.all("key"):
            self._declare(key)

    def graph(self) -> Graph:
        """The graph, with its defaults filled in."""
        self._directed(self.top, self.top.attributes.get("edgedefault", "directed"))
        found = Graph(self.top.attributes.get("id", ""), attributes=self._data(self.top, "graph"))
        for child in self.top.children:
            if child.tag == "hyperedge":
                raise refusal(self.file, child.spot, "a hyperedge means nothing here",
                              "Make its link shared: a design file can list several tasks in "
                              "`from` and `to`.")
        for node in self.top.all("node"):
            if node.first("graph") is not None:
                raise refusal(self.file, node.spot, "nested graphs are not read",
                              "Put all nodes into one graph.")
            name = self._attribute(node, "id")
            if name in found.vertices:
                raise refusal(self.file, node.spot, f"the node {name[:40]!r} is there twice",
                              "Remove one of them.")
            found.vertices[name] = Vertex(name, node.spot, self._data(node, "node"))
        for edge in self.top.all("edge"):
            self._directed(edge, "undirected" if edge.attributes.get("directed") == "false" else "")
            start, stop = (self._attribute(edge, end) for end in ("source", "target"))
            for end in (start, stop):
                if end not in found.vertices:
                    raise no_edge_to(self.file, edge.spot, end, found.vertices)
            found.edges.append(Edge(start, stop, edge.spot, self._data(edge, "edge")))
        return found

    def _declare(self, key: Element) -> None:
        id = self._attribute(key, "id")
        self.names[id] = name = key.attributes.get("attr.name", id)
        default = key.first("default")
        if default is not None:
            self.defaults.setdefault(key.attributes.get("for", "all"), {})[name] = (
                default.text.strip(), default)

    def _data(self, element: Element, what: str) -> dict[str, tuple[str, Spot]]:
        found = {name: (text, where.spot) for of in ("all", what)
                 for name, (text, where) in self.defaults.get(of, {}).items()}
        for data in element.all("data"):
            key = self._attribute(data, "key")
            found[self.names.get(key, key)] = (data.text.strip(), data.spot)
        return found

    def _directed(self, element: Element, how: str) -> None:
        if how == "undirected":
            raise refusal(self.file, element.spot, "an undirected edge has no writer",
                          'Write edgedefault="directed", and each edge from writer to reader.')

    def _attribute(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise refusal(self.file, element.spot, f"<{element.tag}> has no {name!r}",
                          f'Add {name}="…" to it.')
        return element.attributes[name]
