"""The nodes and arcs of a PNML document, whatever the type of its net, and the net that is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ..reading.source import Spot
from .draft import refusal
from .xml import Element

__all__ = [
    "Nodes", "PnmlNet", "PnmlPlace", "attribute", "inside", "label_of", "labels_of", "text_of"]

_NODES: Final = ("place", "transition", "referencePlace", "referenceTransition")
_ARCS: Final = {"arc": "", "inputArc": "", "outputArc": "", "inhibitorArc": "inhibitor"}
"""The elements that are arcs, with the type that the name of some says (TAPAAL's)."""
_TIMELESS: Final = re.compile(r"[\[(]0,inf\)|<inf|")
"""The times that leave every run as it was."""


@dataclass
class PnmlPlace:
    """A place: its name, its spot in the file, its first tokens, and its room if a tool wrote
    one."""

    label: str
    spot: Spot
    tokens: int
    room: int | None = None


@dataclass
class PnmlNet:
    """Places and transitions by id, with the weights of the arcs of each transition by place: what
    it takes and gives, what must be there for it (``reads``), what must not be there
    (``inhibits``), and the places that it empties, with the spots of these arcs."""

    name: str
    places: dict[str, PnmlPlace] = field(default_factory=dict)
    transitions: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    takes: dict[str, Counter[str]] = field(default_factory=dict)
    gives: dict[str, Counter[str]] = field(default_factory=dict)
    reads: dict[str, Counter[str]] = field(default_factory=dict)
    inhibits: dict[str, dict[str, int]] = field(default_factory=dict)
    empties: dict[str, set[str]] = field(default_factory=dict)
    tested: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    """By place, the kind and the spot of the first arc that inhibits or empties."""
    assumed: list[str] = field(default_factory=list)
    """Sentences for the report on how the net was made."""

    def add(self, id: str, label: str, spot: Spot) -> None:
        """Put down a transition without arcs."""
        self.transitions[id] = label, spot
        self.takes[id], self.gives[id] = Counter(), Counter()


class Nodes:
    """The places, transitions and arcs on all pages of a net, with references followed.

    Raises InputError for an id that is there twice.
    """

    def __init__(self, top: Element, file: str) -> None:
        self.top, self.file = top, file
        self.parts = list(_flat(top, file))
        self.spots: dict[str, Spot] = {}
        for part in self.parts:
            if part.tag == "arc" and "id" not in part.attributes:
                continue  # nothing refers to an arc
            id = attribute(part, "id", file)
            if id in self.spots:
                raise refusal(file, part.spot, f"the id {id[:40]!r} is there twice (first on line "
                              f"{self.spots[id].line})", "Give one of them another id.")
            self.spots[id] = part.spot
        self.references = {attribute(part, "id", file): attribute(part, "ref", file)
                           for part in self.parts if part.tag.startswith("reference")}

    def all(self, tag: str) -> list[Element]:
        """The parts of that name."""
        return [part for part in self.parts if part.tag == tag]

    def end(self, arc: Element, key: str) -> str:
        """The id of the node at an end of an arc; raises InputError where there is none."""
        id = attribute(arc, key, self.file)
        for _ in range(len(self.references) + 1):
            if id not in self.references:
                if id not in self.spots:
                    raise refusal(self.file, arc.spot, f"there is nothing with the id {id[:40]!r}",
                                  "Fix the arc, or add the node.")
                return id
            id = self.references[id]
        raise refusal(self.file, arc.spot, f"the reference {id[:40]!r} leads back to itself",
                      "Let it refer to a place or a transition.")

    def no_arc(self, arc: Element, start: str, end: str) -> Exception:
        """The error about an arc between two places or two transitions."""
        return refusal(self.file, arc.spot, f"the arc leads from {start[:40]!r} to {end[:40]!r}",
                       "An arc leads from a place to a transition, or back.")


def attribute(element: Element, name: str, file: str) -> str:
    """An attribute that an element must have; raises InputError if it has not."""
    if name not in element.attributes:
        raise refusal(file, element.spot, f"<{element.tag}> has no {name!r}",
                      f'Add {name}="…" to it.')
    return element.attributes[name]


def labels_of(parts: list[Element]) -> dict[str, str]:
    """The names, where each is one node's alone; else the ids."""
    names = {part.attributes["id"]: label_of(part, "name") for part in parts}
    often = Counter([*names.values(), *names])
    return {id: name if name and often[name] - (name == id) == 1 else id
            for id, name in names.items()}


def inside(element: Element, *tags: str) -> Iterator[Element]:
    """The elements of that name in a net and its pages, at any depth."""
    for child in element.children:
        if child.tag in tags:
            yield child
        elif child.tag == "page":
            yield from inside(child, *tags)


def _flat(element: Element, file: str) -> Iterator[Element]:
    """The nodes and arcs on all pages. What else joins two nodes is refused, not passed over."""
    for part in element.children:
        if part.tag == "page":
            yield from _flat(part, file)
        elif part.tag in _NODES:
            _no_time(part, "invariant", file)
            yield part
        elif part.tag in _ARCS:
            yield _arc(part, file)
        elif {"source", "target"} <= part.attributes.keys():
            raise refusal(file, part.spot, f"<{part.tag[:40]}> joins two nodes, and only these "
                          f"are read: {', '.join(_ARCS)}", "Write it as an <arc>, or remove it.")


def _arc(part: Element, file: str) -> Element:
    """The element as an <arc> with its type and weight, as far as attributes say so."""
    attributes = dict(part.attributes)
    if _ARCS[part.tag]:
        attributes.setdefault("type", _ARCS[part.tag])
    if attributes.get("inscription", "")[:1] in ("[", "("):
        _no_time(part, "inscription", file)
        attributes["inscription"] = attributes.get("weight", "1")
    return replace(part, tag="arc", attributes=attributes)


def _no_time(part: Element, name: str, file: str) -> None:
    time = part.attributes.get(name, "")
    if not _TIMELESS.fullmatch(time.replace(" ", "")):
        raise refusal(file, part.spot, f"<{part.tag}> has the time {time[:40]!r} as its {name}, "
                      "and timed nets are not read", "Remove the times, if the verdict of the net "
                      "without them is of use.")


def label_of(part: Element, name: str) -> str:
    """The text of a label, whether a tool wrote an element or an attribute."""
    element = part.first(name)
    return part.attributes.get(name, "").strip() if element is None else text_of(element)


def text_of(element: Element | None) -> str:
    """The text of a label; older files write <value> for <text>."""
    if element is None:
        return ""
    inner = element.first("text") or element.first("value")
    return (element if inner is None else inner).text.strip()
