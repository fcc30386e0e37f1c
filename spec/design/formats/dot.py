"""DOT, the language of Graphviz: a directed graph with attributes.

The whole grammar is read (defaults of `node` and `edge`, subgraphs, chains, ports, HTML strings,
comments); what the names of attributes mean, ``graph`` says.
Source: graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from ..reading.source import Spot, Watch
from .draft import Reading, refusal
from .graph import Edge, Graph, Vertex, reading_of

__all__ = ["read"]

MAX_DEPTH: Final = 16
MAX_EDGES: Final = 20_000
MAX_TOKENS: Final = 500_000

_TOKEN: Final = re.compile(r"""
    (?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
  | (?P<quoted>"(?:[^"\\]|\\.)*")
  | (?P<edge>->|--)
  | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*
            |-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
  | (?P<sign>[{}\[\]=;,:+])
""", re.VERBOSE | re.DOTALL)


class _Token(NamedTuple):
    kind: str
    text: str
    spot: Spot


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a DOT file is.

    Raises InputError for an undirected graph, for text that is not DOT, and for whatever ``graph``
    refuses.
    """
    tokens = list(islice(_tokens(text, file, watch), MAX_TOKENS + 1))
    if len(tokens) > MAX_TOKENS:
        raise refusal(file, tokens[-1].spot, f"the file has more than {MAX_TOKENS} words and signs",
                      "Check a part of it at a time.")
    return reading_of(_Parser(tokens, file).graph(), file, "[{0}={1}]")


def _tokens(text: str, file: str, watch: Watch) -> Iterator[_Token]:
    """The tokens of DOT with their places, and one for the end. Raises ``InputError``."""
    at, line, begin = 0, 1, 0
    text = text.removeprefix("\ufeff")
    while at < len(text):
        watch()
        spot = Spot(line, at - begin + 1)
        if text[at] == "<":
            kind, end = "quoted", _end_of_html(text, at)
        else:
            found = _TOKEN.match(text, at)
            kind, end = (found.lastgroup or "", found.end()) if found else ("", at)
        if end == at:
            raise refusal(file, spot, f"{text[at]!r} means nothing in DOT here",
                          "Check the quotes around this place.")
        part = text[at:end]
        if kind != "space":
            yield _Token(kind, _unquoted(part) if kind == "quoted" else part, spot)
        line += part.count("\n")
        begin = at + part.rindex("\n") + 1 if "\n" in part else begin
        at = end
    yield _Token("end", "", Spot(line, at - begin + 1))


def _end_of_html(text: str, at: int) -> int:
    """The end of a string in angle brackets; its beginning, if it does not end."""
    depth = 0
    for bracket in re.finditer("[<>]", text[at:]):
        depth += 1 if bracket[0] == "<" else -1
        if not depth:
            return at + bracket.end()
    return at


def _unquoted(part: str) -> str:
    inner = part[1:-1]
    return inner.replace("\\\n", "").replace('\\"', '"') if part[0] == '"' else inner


@dataclass
class _Scope:
    """The defaults that hold in a graph or a subgraph, and the nodes named in it."""

    node: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    edge: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)


class _Parser:
    """Recursive descent, as deep as subgraphs are nested."""

    def __init__(self, tokens: list[_Token], file: str) -> None:
        self.tokens, self.file, self.at = tokens, file, 0
        self.found = Graph("")

    def graph(self) -> Graph:
        """The one graph of the file."""
        if self._word("strict"):
            self._next()
        first = self._next()
        if first.text.lower() == "graph" and first.kind == "word":
            raise refusal(self.file, first.spot, "an undirected graph has no writers",
                          "Write `digraph`, and each edge as `writer -> reader`.")
        if first.text.lower() != "digraph" or first.kind != "word":
            raise self._unexpected(first, "`digraph`")
        if self._here.kind in ("word", "quoted"):
            self.found.name = self._id()
        self._expect("{")
        self._statements(_Scope(), 1)
        if self._here.kind != "end":
            raise refusal(self.file, self._here.spot, "the file has more than one graph",
                          "Keep one graph in one file.")
        return self.found

    # --- statements --------------------------------------------------------------------------

    def _statements(self, scope: _Scope, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise refusal(self.file, self._here.spot, f"subgraphs are nested more than {MAX_DEPTH} "
                          "deep", "Check the brackets.")
        while not self._sign("}"):
            if self._here.kind == "end":
                raise self._unexpected(self._here, "`}`")
            if self._sign(";") or self._sign(","):
                self._next()
                continue
            self._statement(scope, depth)
        self._next()

    def _statement(self, scope: _Scope, depth: int) -> None:
        following = self.tokens[self.at + 1]
        if self._here.kind == "word" and self._here.text.lower() in ("node", "edge", "graph"):
            what = self._next().text.lower()
            into = {"node": scope.node, "edge": scope.edge}.get(what, self._top(depth))
            into.update(self._attributes())
        elif self._here.kind in ("word", "quoted") and following.text == "=" \
                and following.kind == "sign":
            spot, key = self._here.spot, self._id()
            self._next()
            self._top(depth)[key] = (self._id(), spot)
        else:
            self._edges(scope, depth)

    def _top(self, depth: int) -> dict[str, tuple[str, Spot]]:
        """The graph's own attributes; those of a subgraph are about its drawing."""
        return self.found.attributes if depth == 1 else {}

    def _edges(self, scope: _Scope, depth: int) -> None:
        """A node, a subgraph, or a chain of them."""
        spot, is_node = self._here.spot, not (self._sign("{") or self._word("subgraph"))
        ends = [self._end(scope, depth)]
        while self._here.kind == "edge":
            arrow = self._next()
            if arrow.text == "--":
                raise refusal(self.file, arrow.spot, "`--` does not say which end writes",
                              "Write `->`, from writer to reader.")
            ends.append(self._end(scope, depth))
        if len(ends) == 1:
            if is_node:
                (name,) = ends[0]
                self.found.vertices[name].attributes.update(self._attributes())
            return
        attributes = {**scope.edge, **self._attributes()}
        for starts, stops in zip(ends, ends[1:], strict=False):
            if len(self.found.edges) + len(starts) * len(stops) > MAX_EDGES:
                raise refusal(self.file, spot, f"the graph has more than {MAX_EDGES} edges",
                              "Check a part of it at a time.")
            self.found.edges += (Edge(start, stop, spot, attributes)
                                 for start in starts for stop in stops)

    def _end(self, scope: _Scope, depth: int) -> list[str]:
        """The nodes at one end of an edge."""
        if self._word("subgraph"):
            self._next()
            if not self._sign("{"):
                self._id()
        if self._sign("{"):
            self._next()
            inner = _Scope(dict(scope.node), dict(scope.edge))
            self._statements(inner, depth + 1)
            scope.named.update(inner.named)
            return list(inner.named)
        spot, name = self._here.spot, self._id()
        for _ in range(2):  # a port, and a point of the compass
            if self._sign(":"):
                self._next()
                self._id()
        if name not in self.found.vertices:
            self.found.vertices[name] = Vertex(name, spot, dict(scope.node))
        scope.named[name] = None
        return [name]

    def _attributes(self) -> dict[str, tuple[str, Spot]]:
        """The attributes in brackets with their places; one without a value is true."""
        found: dict[str, tuple[str, Spot]] = {}
        while self._sign("["):
            self._next()
            while not self._sign("]"):
                spot, key = self._here.spot, self._id()
                if self._sign("="):
                    self._next()
                    found[key] = (self._id(), spot)
                else:
                    found[key] = ("true", spot)
                if self._sign(",") or self._sign(";"):
                    self._next()
            self._next()
        return found

    # --- tokens ------------------------------------------------------------------------------

    @property
    def _here(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self._here
        self.at += token.kind != "end"
        return token

    def _sign(self, text: str) -> bool:
        return self._here.kind == "sign" and self._here.text == text

    def _word(self, text: str) -> bool:
        return self._here.kind == "word" and self._here.text.lower() == text

    def _expect(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._unexpected(self._here, f"`{sign}`")
        self._next()

    def _id(self) -> str:
        token = self._next()
        if token.kind not in ("word", "quoted"):
            raise self._unexpected(token, "a name or a value")
        text = token.text
        while self._sign("+") and token.kind == "quoted":
            self._next()
            text += self._next().text
        return text

    def _unexpected(self, token: _Token, wanted: str) -> Exception:
        what = "the file ends" if token.kind == "end" else f"{token.text[:40]!r} stands"
        return refusal(self.file, token.spot, f"{what} where {wanted} is expected",
                       "Check the brackets and quotes before this place.")
