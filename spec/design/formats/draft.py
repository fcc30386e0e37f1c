"""A design document in the making, by a reader of somebody else's format.

A reader puts down tasks, links and pools in the words of the design language, each with the spot
in the text that it comes from. What comes out is the same tree that a YAML file gives, so its
shape, its names and its limits are checked in one place, and messages name the user's own lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ...nets.net import Net
from ...notation.errors import InputError
from ..reading.properties import VERSION
from ..reading.source import Node, Spot

__all__ = ["BEGIN", "Draft", "Reading", "as_node", "legal_name", "refusal"]

BEGIN: Final = Spot(1, 1)
"""The first character of a text."""

_NAME_MAX: Final = 40
_LINK_NAME_MAX: Final = 900


@dataclass(frozen=True)
class Reading:
    """The result of a reader: a document of the design language, and what its file does not say and
    was taken for granted. A file that is a Petri net has its ``net`` too, and may be ``no_design``
    for a reason: then the document is empty."""

    root: Node
    assumed: tuple[str, ...] = ()
    net: Net | None = None
    no_design: str = ""


def refusal(file: str, spot: Spot, what: str, next_step: str) -> InputError:
    """The error about what stands at a spot of a file."""
    return InputError(what, f"{file}:{spot}", next_step)


@dataclass
class Draft:
    """Collects the parts of a document. ``file`` is only used in messages."""

    file: str
    name: str
    about: str = ""
    spot: Spot = BEGIN
    tasks: dict[str, Node] = field(default_factory=dict)
    pools: dict[str, Node] = field(default_factory=dict)
    expect: dict[str, Any] = field(default_factory=dict)
    links: list[Node] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    _spots: dict[str, Spot] = field(default_factory=dict)
    _pool_spots: dict[str, Spot] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _taken: dict[str, set[str]] = field(default_factory=dict)

    def called(self, original: str, of: str = "task") -> str:
        """The name in the design for what the file calls ``original``: the same one each time, and
        no other's. ``of`` is ``task``, ``link`` or ``pool``."""
        known = self._names.get((of, original))
        if known is not None:
            return known
        taken = self._taken.setdefault(of, set())
        most = _LINK_NAME_MAX if of == "link" else _NAME_MAX
        legal = _legal(original, most, link=of == "link")
        name, number = legal, 1
        while name in taken:
            number += 1
            name = f"{legal[:most - 6]}_{number}"
        self._names[of, original] = name
        taken.add(name)
        return name

    def task(self, original: str, spot: Spot, keys: Mapping[str, Any]) -> str:
        """Put down a task; its name in the design."""
        name = self.called(original)
        self.tasks[name] = as_node(keys, spot)
        self._spots[name] = spot
        return name

    def link(self, spot: Spot, keys: Mapping[str, Any]) -> None:
        """Put down a link; its ends are names in the design."""
        self.links.append(as_node({key: value for key, value in keys.items() if value is not None},
                                  spot))

    def pool(self, original: str, spot: Spot, threads: Any) -> str:
        """Put down a pool; its name in the design."""
        name = self.called(original, "pool")
        self.pools[name] = as_node({"threads": threads}, spot)
        self._pool_spots[name] = spot
        return name

    def assume(self, what: str) -> None:
        """Say, once, what the file leaves open and how it was taken."""
        if what not in self.assumed:
            self.assumed.append(what)

    def reading(self) -> Reading:
        """The document, and what was taken for granted."""
        top: dict[str, Any] = {"checkvalve": VERSION, "name": legal_name(self.name), "tasks": Node(
            self.tasks, self.spot, self._spots)}
        if self.about:
            top["about"] = self.about
        if self.links:
            top["links"] = Node(self.links, self.spot)
        if self.pools:
            top["pools"] = Node(self.pools, self.spot, self._pool_spots)
        if self.expect:
            top["expect"] = self.expect
        return Reading(as_node(top, self.spot), tuple(self.assumed))


def as_node(value: Any, spot: Spot) -> Node:
    """Plain values as a tree of which every part stands at ``spot``, but for the nodes in it."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Mapping):
        parts = {str(key): as_node(part, spot) for key, part in value.items()}
        return Node(parts, spot, {key: part.spot for key, part in parts.items()})
    if isinstance(value, list | tuple):
        return Node([as_node(part, spot) for part in value], spot)
    return Node(value, spot)


def legal_name(original: str) -> str:
    """The nearest name that a design can have."""
    return _legal(original, 80)


def _legal(original: str, most: int, *, link: bool = False) -> str:
    """The nearest name of the design language: letters, digits and _, with single separators."""
    allowed = r"[^A-Za-z0-9_ .>+-]" if link else r"[^A-Za-z0-9_ .-]"
    plain = unicodedata.normalize("NFKD", original)  # é is e and its accent, which is left out
    name = re.sub(allowed, "_", "".join(c for c in plain if not unicodedata.combining(c)))
    if not link:
        name = re.sub(r"_? (?:[ .-]|_(?= ))*|([.-])[ .-]+", lambda found: found[1] or " ", name)
    name = name.strip(" .-")[:most].rstrip(" .-")
    if not name or not name[0].isalpha():
        name = f"n{name}"[:most] if name[:1] else "unnamed"
    return name

