"""Copies of tasks, pools and sub-designs, written out as ordinary ones.

``copies: 3`` of a task ``worker`` stands for the tasks ``worker[1]``, ``worker[2]`` and
``worker[3]``; of a sub-design, for three of each of its tasks, such as ``station[2].entry``.
``connect`` says which of them each link is between. All of this is done on the tree that was read,
once its parameters have values, so what follows knows ordinary tasks and links only, and a message
names the line that was copied.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...notation.errors import InputError
from .parameters import Point, computed, expected, value_of
from .properties import NO_STARVATION
from .schema import check_shape
from .source import Node, Spot, Watch

__all__ = ["expanded", "has_copies"]

MAX_VALUES = 400_000
"""Values of a design once its copies are written out."""

MAX_LEVELS: Final = 16
"""Sub-designs within sub-designs."""
COPY: Final = "copy"
"""The parameter that is the number of a copy, from 1."""
_INDEX: Final = re.compile(r"\[([^\[\]]*)\]")


def has_copies(root: Node) -> bool:
    """True if a document, of whatever shape, has anything that is to be written out."""
    if not isinstance(root.value, dict):
        return False
    if "designs" in root.value:
        return True
    parts = [root.value[key].value for key in ("tasks", "pools", "links") if key in root.value]
    entries = [each for part in parts if isinstance(part, dict | list)
               for each in (part.values() if isinstance(part, dict) else part)]
    return any(isinstance(each.value, dict) and not each.value.keys().isdisjoint(
        ("copies", "connect", "design")) for each in entries)


def expanded(root: Node, point: Point, file: str, watch: Watch = lambda: None) -> Node:
    """The document with its parameters computed, its copies written out, and neither
    ``parameters`` nor ``designs``. ``watch`` is called for each copy, and may raise.

    Raises InputError, with the line, for what cannot be written out, or is too much.
    """
    check_shape(root, file, "written")
    return _Writer(root, point, file, watch).document()


@dataclass
class _Scope:
    """A design, or one copy of a sub-design: what its names stand for."""

    prefix: str
    point: Point
    body: Mapping[str, Node]
    outer: _Scope | None = None
    tasks: dict[str, list[_Copy]] = field(default_factory=dict)
    pools: dict[str, list[str]] = field(default_factory=dict)
    many: set[str] = field(default_factory=set)
    links: dict[tuple[str, str, bool], list[str]] = field(default_factory=dict)
    """By name, task, and whether it reads: the links that it may mean by that name."""
    groups: dict[tuple[str, str], str] = field(default_factory=dict)
    """By name and task: the full name of the group of links that it writes."""

    def ports(self) -> Mapping[str, Node]:
        """The tasks of a sub-design that links from outside may be tied to, by the port's name."""
        return dict(self.body["ports"].value) if "ports" in self.body else {}


@dataclass
class _Copy:
    """One copy of a task, or of a sub-design, which is ``inside``."""

    name: str
    node: Node
    spot: Spot
    point: Point
    scope: _Scope
    inside: _Scope | None = None


@dataclass(frozen=True)
class _End:
    """A task at the end of a link, and the ports through which the link comes to it."""

    task: str
    through: tuple[tuple[_Scope, str], ...] = ()


class _Writer:
    """Writes out one document."""

    def __init__(self, root: Node, point: Point, file: str, watch: Watch) -> None:
        self.root, self.point, self.file, self.watch = root, point, file, watch
        self.designs = dict(root.value["designs"].value) if "designs" in root.value else {}
        self.left = MAX_VALUES
        self.tasks: list[_Copy] = []
        self.links: list[Node] = []
        self.group_of: dict[str, str] = {}
        self.pools: dict[str, tuple[Node, Spot]] = {}
        if COPY in point:
            raise self._error(root.value["parameters"].key_spots[COPY], "the parameter 'copy' is "
                              "the number of a copy", "Give it another name.")

    def document(self) -> Node:
        """The tree without copies."""
        top = self._scope(self.root.value, "", self.point, None, ())
        tasks = {copy.name: self._task(copy) for copy in self.tasks}
        parts: dict[str, Node] = {
            key: node for key, node in self.root.value.items()
            if key not in ("parameters", "designs")}
        parts["tasks"] = Node(tasks, parts["tasks"].spot, {c.name: c.spot for c in self.tasks})
        if self.links or "links" in parts:
            parts["links"] = replace(parts.get("links", self.root), value=self.links)
        if self.pools:
            parts["pools"] = Node({name: node for name, (node, _) in self.pools.items()},
                                  self.root.spot,
                                  {name: spot for name, (_, spot) in self.pools.items()})
        if "expect" in parts:
            parts["expect"] = self._expect(parts["expect"], top)
        return replace(self.root, value=parts)

    def _error(self, spot: Spot, what: str, next_step: str) -> InputError:
        return InputError(what, f"{self.file}:{spot}", next_step)

    # --- tasks, pools and sub-designs ---------------------------------------------------------

    def _scope(
        self, body: Mapping[str, Node], prefix: str, point: Point, outer: _Scope | None,
        within: tuple[str, ...],
    ) -> _Scope:
        """Write out a design, or a copy of a sub-design: its pools, its tasks, then its links."""
        scope = _Scope(prefix, point, body, outer)
        for name, node, spot in _entries(body, "pools"):
            for full, here in self._copies(scope, name, node):
                scope.pools.setdefault(name, []).append(full)
                self.pools[full] = self._without(computed(node, here, self.file), "copies"), spot
        for name, node, spot in _entries(body, "tasks"):
            for full, here in self._copies(scope, name, node):
                copy = _Copy(full, node, spot, here, scope)
                scope.tasks.setdefault(name, []).append(copy)
                if "design" in node.value:
                    copy.inside = self._inside(copy, within)
                else:
                    self.tasks.append(copy)
        for node in body["links"].value if "links" in body else ():
            self._link(scope, node)
        return scope

    def _copies(self, scope: _Scope, name: str, node: Node) -> Iterator[tuple[str, Point]]:
        """The full name and the parameters of each copy."""
        if "copies" not in node.value:
            self._spend(1, node, node.spot, "it")
            yield scope.prefix + name, scope.point
            return
        given = node.value["copies"]
        count = value_of(given, scope.point, self.file)
        if count < 1:
            raise self._error(given.spot, f"`copies` of {name} is {count}, but must be at least 1",
                              "Give it a larger number.")
        self._spend(count, node, given.spot, f"{count} copies of {name}")
        scope.many.add(name)
        for number in range(1, count + 1):
            yield f"{scope.prefix}{name}[{number}]", {**scope.point, COPY: number}

    def _spend(self, count: int, node: Node, spot: Spot, what: str) -> None:
        """Refuse, before it is written out, what is more than a file could have."""
        self.left -= count * _size(node)
        if self.left < 0:
            raise self._error(spot, f"with {what} the design has more than {MAX_VALUES} values",
                              "Use fewer copies; a range of small numbers, such as n: 1..8, shows "
                              "how it depends on them.")

    def _inside(self, copy: _Copy, within: tuple[str, ...]) -> _Scope:
        """The scope of a sub-design where it is used. Raises ``InputError`` if it contains
        itself."""
        node = copy.node.value["design"]
        name = node.value
        if name not in self.designs:
            raise self._unknown("sub-design", name, self.designs, node.spot)
        if name in within:
            around = " - ".join((*within[within.index(name):], name))
            raise self._error(node.spot, f"the sub-design {name!r} contains itself: {around}",
                              "Let one of them have tasks of its own instead.")
        if len(within) == MAX_LEVELS:
            raise self._error(node.spot, f"sub-designs are nested more than {MAX_LEVELS} deep",
                              "Put some of them side by side.")
        body = self.designs[name].value
        return self._scope(body, f"{copy.name}.", self._point(copy, body), copy.scope,
                           (*within, name))

    def _point(self, copy: _Copy, body: Mapping[str, Node]) -> Point:
        """The parameters of a sub-design: the file's, its own, and those that it is given."""
        given = dict(copy.node.value["with"].value) if "with" in copy.node.value else {}
        point = dict(self.point)
        if COPY in copy.point:
            point[COPY] = copy.point[COPY]
        own = dict(body["parameters"].value) if "parameters" in body else {}
        for name, node in own.items():
            here = given.pop(name, None)
            point[name] = value_of(node, point, self.file) if here is None else value_of(
                here, copy.point, self.file)
        for name, node in given.items():
            raise self._unknown("parameter of this sub-design", name, own, node.spot)
        return point

    def _unknown(self, what: str, name: str, known: Mapping[str, Any], spot: Spot) -> InputError:
        near = difflib.get_close_matches(name, list(known), n=1)
        advice = f"Did you mean {near[0]!r}?" if near else (
            f"There are: {', '.join(known)}." if known else "The file has none.")
        return self._error(spot, f"there is no {what} called {name!r}", advice)

    # --- links ----------------------------------------------------------------------------------

    def _link(self, scope: _Scope, node: Node) -> None:
        """Write out a link for each pair that it connects."""
        node = computed(node, scope.point, self.file)
        sides = [self._side(scope, node, key) for key in ("from", "to")]
        connect = node.value["connect"].value if "connect" in node.value else ""
        for key, (texts, ends, many) in zip(("from", "to"), sides, strict=True):
            if many and not connect:
                raise self._error(
                    node.value[key].spot, f"{texts[0]!r} stands for {len(ends)} tasks",
                    "Say which the link is between: `connect:` one-to-one, all-to-all, by-key, "
                    "ring, chain, or shared (one queue for all).")
        (writing, writers, many_write), (reading, readers, many_read) = sides
        base = node.value["name"].value if "name" in node.value else (
            f"{'+'.join(writing)}->{'+'.join(reading)}")
        if connect in ("", "shared"):
            self._put(scope, node, base, "", writers, readers)
            return
        if len(writing) != 1 or len(reading) != 1:
            raise self._error(node.spot, f"`connect: {connect}` is between two names, and not "
                              "lists", "Write a link for each.")
        pairs = list(self._pairs(connect, len(writers), len(readers), node))
        for at, to in pairs:
            which = [f"[{n + 1}]" for n, many in ((at, many_write), (to, many_read)) if many]
            if connect not in ("all-to-all", "by-key"):
                which = which[:1]
            self._put(scope, node, base, "".join(which), [writers[at]], [readers[to]])

    def _pairs(
        self, connect: str, writers: int, readers: int, node: Node
    ) -> Iterator[tuple[int, int]]:
        """The numbers of the copies that a link connects, by its ``connect``. Raises
        ``InputError``."""
        if connect in ("all-to-all", "by-key"):
            self._spend(writers * readers, node, node.spot, f"{writers * readers} links")
            yield from ((at, to) for at in range(writers) for to in range(readers))
            return
        if writers != readers:
            raise self._error(node.value["connect"].spot, f"{writers} write and {readers} read, "
                              f"but `connect: {connect}` needs as many of each",
                              "Give both the same `copies`, or connect them all-to-all, by-key or "
                              "shared.")
        self._spend(writers, node, node.spot, f"{writers} links")
        shift = 0 if connect == "one-to-one" else 1
        for at in range(writers - (connect == "chain")):
            yield at, (at + shift) % readers

    def _put(
        self, scope: _Scope, node: Node, base: str, which: str, writers: Sequence[_End],
        readers: Sequence[_End],
    ) -> None:
        """One link of those that are written out, and the names by which its tasks know it."""
        self.watch()
        plain = "name" not in node.value and which
        name = f"{writers[0].task}->{readers[0].task}" if plain else scope.prefix + base + which
        keys = {key: part for key, part in node.value.items() if key != "connect"}
        spot = node.spot
        keys["name"] = Node(name, spot)
        for key, ends in (("from", writers), ("to", readers)):
            keys[key] = Node([Node(end.task, keys[key].spot) for end in ends], keys[key].spot)
        if "connect" in node.value and node.value["connect"].value == "by-key":
            keys["group"] = Node(scope.prefix + base, spot)
        elif "group" in keys:
            group = keys["group"].value
            keys["group"] = Node(scope.prefix + group, keys["group"].spot)
            for end in writers:
                scope.groups[group, end.task] = scope.prefix + group
        if "group" in keys:
            self.group_of[name] = keys["group"].value
        self.links.append(replace(node, value=keys))
        for ends, reads in ((writers, False), (readers, True)):
            for end in ends:
                for known in dict.fromkeys((base, base + which)):
                    scope.links.setdefault((known, end.task, reads), []).append(name)
                for inner, port in end.through:
                    inner.links.setdefault((port, end.task, reads), []).append(name)

    def _side(
        self, scope: _Scope, node: Node, key: str
    ) -> tuple[list[str], list[_End], bool]:
        """The names at an end of a link, the tasks that they stand for, and whether any is that
        of all copies."""
        value = node.value[key]
        nodes = value.value if isinstance(value.value, list) else [value]
        texts = [self._indexed(each, scope.point) for each in nodes]
        ends: list[_End] = []
        many = False
        for text, each in zip(texts, nodes, strict=True):
            found, several = self._ends(scope, text, each.spot)
            ends += found
            many = many or several
        return texts, ends, many

    def _ends(self, scope: _Scope, text: str, spot: Spot) -> tuple[list[_End], bool]:
        """The tasks that a name stands for, and whether it is that of all copies of something."""
        name, index, port = self._parted(scope, text, spot)
        copies = scope.tasks[name]
        many = name in scope.many and index is None
        if index is not None:
            if name not in scope.many or not 1 <= index <= len(copies):
                raise self._error(spot, f"there is no {text!r}: {name!r} has "
                                  f"{len(copies) if name in scope.many else 'no'} copies",
                                  "Count them from 1.")
            copies = [copies[index - 1]]
        found: list[_End] = []
        for copy in copies:
            if copy.inside is None and not port:
                found.append(_End(copy.name))
                continue
            ports = copy.inside.ports() if copy.inside is not None else {}
            if copy.inside is None or port not in ports:
                raise self._no_port(name, port, ports, spot)
            target = ports[port]
            inner, several = self._ends(
                copy.inside, self._indexed(target, copy.inside.point), target.spot)
            many = many or several
            found += [replace(end, through=((copy.inside, port), *end.through)) for end in inner]
        return found, many

    def _no_port(
        self, name: str, port: str, ports: Mapping[str, Node], spot: Spot
    ) -> InputError:
        if not ports:
            return self._error(spot, f"{name!r} has no port called {port!r}" if port else
                               f"the sub-design of {name!r} has no ports", "Name one of its tasks "
                               "in `ports:` of the sub-design.")
        what = f"{name!r} has no port called {port!r}" if port else f"{name!r} is a sub-design"
        return self._error(spot, what, "Name a port: " + ", ".join(
            f"{name}.{each}" for each in ports) + ".")

    def _parted(self, scope: _Scope, text: str, spot: Spot) -> tuple[str, int | None, str]:
        """A name, the number of a copy, and a port, of a text such as ``stations[2].entry``."""
        found = re.fullmatch(r"([^\[\]]+)\[(-?\d+)\](?:\.(.+))?", text)
        if found and found[1] in scope.tasks:
            return found[1], int(found[2]), found[3] or ""
        if text in scope.tasks:
            return text, None, ""
        for dot in (place.start() for place in re.finditer(r"\.", text)):
            if text[:dot] in scope.tasks:
                return text[:dot], None, text[dot + 1:]
        raise self._unknown("task", text, scope.tasks, spot)

    def _indexed(self, node: Node, point: Point) -> str:
        """A name with its ``[expressions]`` computed."""
        return _INDEX.sub(
            lambda found: f"[{value_of(replace(node, value=found[1]), point, self.file)}]",
            str(node.value))

    # --- what a task says of links and pools ------------------------------------------------------

    def _task(self, copy: _Copy) -> Node:
        self.watch()
        node = self._without(computed(copy.node, copy.point, self.file), "copies")
        return replace(node, value={
            key: self._renamed(copy, part, key) for key, part in node.value.items()})

    def _renamed(self, copy: _Copy, node: Node, key: str) -> Node:
        """The same with the full names of links and pools."""
        if isinstance(node.value, dict):
            if "read" in node.value:
                node = self._any_of(copy, node)
            by_link = key in ("takes", "gives")
            return replace(node, value={
                self._link_name(copy, Node(name, node.spot), key == "takes") if by_link else name:
                self._renamed(copy, part, name) for name, part in node.value.items()})
        if isinstance(node.value, list):
            return replace(node, value=[
                each for part in node.value for each in self._for_each(copy, part)])
        if key in ("read", "write", "prefers"):
            return replace(node, value=self._link_name(copy, node, key != "write"))
        if key == "close":
            reads = not copy.scope.links.get((self._indexed(node, copy.point), copy.name, False))
            return replace(node, value=self._link_name(copy, node, reads))
        if key in ("acquire", "release", "pool"):
            return replace(node, value=self._pool_name(copy, node))
        return node

    def _for_each(self, copy: _Copy, part: Node) -> Iterator[Node]:
        """An entry of a list; a step that joins or cancels all copies of a task is one for each."""
        verb = next((verb for verb in ("join", "cancel") if isinstance(part.value, dict)
                     and verb in part.value), None)
        if verb is None:
            yield self._renamed(copy, part, "")
            return
        name = part.value[verb]
        for end in self._ends(copy.scope, self._indexed(name, copy.point), name.spot)[0]:
            yield replace(part, value={**part.value, verb: replace(name, value=end.task)})

    def _any_of(self, copy: _Copy, step: Node) -> Node:
        """A read of several links of one name: whichever has something first."""
        text = self._indexed(step.value["read"], copy.point)
        found = copy.scope.links.get((text, copy.name, True), [])
        if len(found) < 2 or "count" in step.value:
            return step
        spot = step.spot
        kept = {key: part for key, part in step.value.items() if key == "final"}
        keys = {key: part for key, part in step.value.items() if key != "final"}
        return replace(step, value={"either": Node([
            Node([Node({**keys, "read": Node(name, spot)}, spot)], spot) for name in found],
            spot), **kept})

    def _link_name(self, copy: _Copy, node: Node, reads: bool) -> str:
        text = self._indexed(node, copy.point)
        found = copy.scope.links.get((text, copy.name, reads), [])
        if not reads and len(groups := {self.group_of.get(name) for name in found}) == 1:
            (group,) = groups
            if group is not None and len(found) > 1:
                return group
        if len(found) > 1:
            shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
            raise self._error(
                node.spot, f"{copy.name} {'reads' if reads else 'writes'} {len(found)} links "
                f"called {text!r}: {shown}", f"Name one of them, as in \"{text}[1]\".")
        return found[0] if found else copy.scope.groups.get((text, copy.name), text)

    def _pool_name(self, copy: _Copy, node: Node) -> str:
        """The nearest pool of that name, from the inside out."""
        text = self._indexed(node, copy.point)
        found = re.fullmatch(r"([^\[\]]+)(?:\[(-?\d+)\])?", text)
        scope: _Scope | None = copy.scope
        while found and scope is not None and found[1] not in scope.pools:
            scope = scope.outer
        if not found or scope is None:
            return text
        name, pools = found[1], scope.pools[found[1]]
        if name not in scope.many:
            return text if found[2] else pools[0]
        if found[2] is None or not 1 <= int(found[2]) <= len(pools):
            raise self._error(node.spot, f"the pool {name!r} has {len(pools)} copies, and {text!r} "
                              "is none of them", f"Name one, from {name}[1] to "
                              f"{name}[{len(pools)}]; `{name}[copy]` has the number of the task.")
        return pools[int(found[2]) - 1]

    def _expect(self, node: Node, top: _Scope) -> Node:
        node = expected(node, self.point, self.file)
        if NO_STARVATION not in node.value:
            return node
        found: dict[str, Node] = {}
        below = node.value[NO_STARVATION]
        for name, verdict in below.value.items():
            text = self._indexed(Node(name, verdict.spot), self.point)
            for end in self._ends(top, text, verdict.spot)[0]:
                found[end.task] = verdict
        return replace(node, value={**node.value, NO_STARVATION: replace(below, value=found)})

    @staticmethod
    def _without(node: Node, key: str) -> Node:
        return replace(node, value={name: part for name, part in node.value.items() if name != key})


def _entries(body: Mapping[str, Node], part: str) -> Iterator[tuple[str, Node, Spot]]:
    """The name, the node and the spot of each of the tasks, or pools."""
    if part in body:
        spots = body[part].key_spots or {}
        for name, node in body[part].value.items():
            yield name, node, spots.get(name, node.spot)


def _size(node: Node) -> int:
    """Number of values in a tree."""
    if isinstance(node.value, dict):
        return 1 + sum(1 + _size(part) for part in node.value.values())
    if isinstance(node.value, list):
        return 1 + sum(map(_size, node.value))
    return 1
