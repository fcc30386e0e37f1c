"""A design in the making, by a Python program.

What is built is the document that a YAML file would be, with the lines of the program: the same
loader reads it, so mistakes, verdicts and drawings are the same, and a message names the line that
put down what is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..check import Settings, check
from ..formats.draft import Reading, as_node
from ..loader import load_tree, only
from ..reading.language import Design as Loaded
from ..reading.properties import VERSION
from ..reading.schema import schema
from ..reading.source import Node, Spot
from ..why.findings import DesignReport
from .kinds import Kinds, LinkName, Number, PoolName, TaskName

__all__ = ["Design"]

_HERE: Final = str(Path(__file__).parent)


class Design(Kinds):
    """A design: put tasks, links and pools into it, then ``check`` it or print its ``yaml``.

    ``load``, ``load_all`` and ``check`` raise InputError, with file and line of the program, for
    what the design language does not have; a name that is given twice is refused at once.
    """

    def __init__(self, name: str, about: str = "") -> None:
        self._file, line = _caller("")
        self._spot = Spot(line, 1)
        self._top: dict[str, Node] = {
            "checkvalve": Node(VERSION, self._spot), "name": Node(name, self._spot)}
        if about:
            self._top["about"] = Node(about, self._spot)
        self._links: list[Node] = []

    def parameter(self, name: str, value: Number) -> str:
        """Declare a parameter: a number, a range (``1..8``), or an expression of those before it.

        Gives its name, to be used in expressions: ``capacity=f"2*{n}"``.
        """
        self._into("parameters", name, Node(value, self._here()))
        return name

    def sub_design(
        self, name: str, part: Design, ports: Mapping[str, str] | None = None
    ) -> str:
        """Declare what another builder made as a sub-design, of which ``design(…)`` puts down
        copies; ``ports`` are those of its tasks that links from outside may be tied to."""
        about = part._top["about"].value if "about" in part._top else None
        keys = {key: node for key, node in part._root().value.items()
                if key in ("parameters", "tasks", "links", "pools") and node.value}
        first = self._node({"about": about, "ports": dict(ports) if ports else None})
        self._into("designs", name, Node({**first.value, **keys}, first.spot, {
            **(first.key_spots or {}), **{key: node.spot for key, node in keys.items()}}))
        return name

    def yaml(self) -> str:
        """The design as the text of a file."""
        import yaml

        return str(yaml.safe_dump(self._root().plain(), sort_keys=False, allow_unicode=True))

    def load_all(self, given: Mapping[str, str] | None = None) -> list[Loaded]:
        """The designs that this one stands for, one for each choice of its parameters."""
        return load_tree(self._root(), self._file, given)

    def load(self, given: Mapping[str, str] | None = None) -> Loaded:
        """The one design that this is, or that it is with these values of its parameters."""
        return only(self.load_all(given), self._file)

    def check(
        self, settings: Settings | None = None, given: Mapping[str, str] | None = None
    ) -> DesignReport:
        """Decide all that is expected of the design, with these values of its parameters; see
        ``checkvalve check``."""
        return check(self.load(given), settings)

    def reading(self) -> Reading:
        """The document as it was read from a file: what ``checkvalve.conformance.designs.laws``
        finds the laws of."""
        return Reading(self._root())

    # --- what the methods put down -----------------------------------------------------------

    def _root(self) -> Node:
        parts = {"tasks": Node({}, self._spot), **self._top,
                 "links": Node(self._links, self._spot)}
        top = {key: parts[key] for key in schema()["properties"] if key in parts}
        return Node(top, self._spot, {key: node.spot for key, node in top.items()})

    def _task(self, name: str, keys: dict[str, Any]) -> TaskName:
        self._into("tasks", name, self._node(keys))
        return TaskName(name)

    def _pool(self, name: str, keys: dict[str, Any]) -> PoolName:
        self._into("pools", name, self._node(keys))
        return PoolName(name)

    def _link(self, keys: dict[str, Any]) -> LinkName:
        self._links.append(self._node(keys))
        ends = ([each] if isinstance(each, str) else each for each in (keys["from"], keys["to"]))
        return LinkName(keys["name"] or "->".join("+".join(names) for names in ends))

    def _expect(self, keys: dict[str, Any]) -> None:
        for key, node in self._node(keys).value.items():
            self._into("expect", key, node)

    def _into(self, part: str, name: str, node: Node) -> None:
        """Put something into a mapping; a name that is there already would be lost in one."""
        from ...notation.errors import InputError

        mapping = self._top.setdefault(part, Node({}, node.spot, {}))
        if name in mapping.value:
            first = mapping.value[name].spot.line
            raise InputError(f"the key {name!r} is given twice (first on line {first})",
                             f"{self._file}:{node.spot}", "Remove one of them.")
        mapping.value[name] = node
        assert mapping.key_spots is not None
        mapping.key_spots[name] = node.spot

    def _node(self, keys: Mapping[str, Any]) -> Node:
        return as_node({key: _plain(value) for key, value in keys.items() if value is not None},
                       self._here())

    def _here(self) -> Spot:
        return Spot(_caller(self._file)[1], 1)


def _caller(file: str) -> tuple[str, int]:
    """The place in the program: the nearest line in ``file``, or outside of this package."""
    frame = sys._getframe(1)
    nearest: tuple[str, int] | None = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE):
            nearest = nearest or (name, frame.f_lineno)
            if not file or name == file:
                return name, frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return nearest or ("<program>", 1)


def _plain(value: Any) -> Any:
    """Values without our own kinds of text, which YAML would not know how to write."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return value
