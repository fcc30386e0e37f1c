"""PNML: place/transition nets (ISO/IEC 15909-2), as nets and, if they are small, as designs.

The net itself is read into ``checkvalve.spec.nets``, by which it is decided. In the design of a
small one a transition is a task that does all its reads and writes in one transition, a place is a
queue that any number of transitions share. The net says nothing of room: a place that ``bounds``
finds a bound for has that capacity, and no transition waits for room in it; others are unbounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...nets.net import Arcs, Net
from ..reading.source import Node, Spot
from .bounds import place_bounds
from .draft import Draft, Reading, refusal
from .xml import Element, parse_xml

__all__ = ["NET_ALONE", "read"]

CAPACITY_MAX: Final = 1_000_000
PLACES_MAX: Final = 200
TRANSITIONS_MAX: Final = 300
"""A net of so many places and transitions is a design too."""
ELEMENTS_MAX: Final = 2_000_000
TOKENS_MAX: Final = 2**63
NET_ALONE: Final = "the net is decided as it is, without a design of tasks and links"

_PASSED_OVER: Final = ("toolspecific", "graphics")
_NUMBER: Final = re.compile(r"\s*(?:Default\s*,)?\s*(-?[0-9]{1,19})\s*")
_NORMAL: Final = {"", "normal"}


@dataclass
class _Place:
    label: str
    spot: Spot
    tokens: int
    room: int | None


@dataclass
class _Net:
    """Places and transitions by id, with the arcs into and out of each transition."""

    name: str
    places: dict[str, _Place] = field(default_factory=dict)
    transitions: dict[str, tuple[str, Spot]] = field(default_factory=dict)
    takes: dict[str, Counter[str]] = field(default_factory=dict)
    gives: dict[str, Counter[str]] = field(default_factory=dict)


def read(text: str, file: str) -> Reading:
    """The design that a PNML document is.

    Raises InputError for a net of another type, several nets, arcs that are no plain arcs, and
    numbers that are none.
    """
    root = parse_xml(text, file, ELEMENTS_MAX, _PASSED_OVER)
    nets = list(root.all("net"))
    if root.tag != "pnml" or len(nets) != 1:
        spot = nets[1].spot if len(nets) > 1 else root.spot
        raise refusal(file, spot, f"this is no PNML with one net: it has {len(nets)} in "
                      f"<{root.tag[:40]}>", "Keep one <net> in one <pnml>.")
    return _design(_Reader(nets[0], file).net(), file, nets[0].spot)


class _Reader:
    def __init__(self, top: Element, file: str) -> None:
        self.top, self.file = top, file
        self.parts = list(_flat(top))
        self.spots: dict[str, Spot] = {}
        for part in self.parts:
            id = self._attribute(part, "id")
            if id in self.spots:
                raise refusal(file, part.spot, f"the id {id[:40]!r} is there twice (first on line "
                              f"{self.spots[id].line})", "Give one of them another id.")
            self.spots[id] = part.spot
        self.references = {self._attribute(part, "id"): self._attribute(part, "ref")
                           for part in self.parts if part.tag.startswith("reference")}

    def net(self) -> _Net:
        """The net, its pages made one and its references followed."""
        kind = self.top.attributes.get("type", "")
        if not re.search("pt-?net|p/t", kind.lower()):
            raise refusal(self.file, self.top.spot, f"the net is of the type {kind[:80]!r}, and "
                          "only place/transition nets are read",
                          "Unfold it into one of the type "
                          "http://www.pnml.org/version-2009/grammar/ptnet.")
        found = _Net(_text(self.top.first("name")) or self.top.attributes.get("id", "net"))
        places = [part for part in self.parts if part.tag == "place"]
        labels = self._labels(places)
        for place in places:
            id = place.attributes["id"]
            found.places[id] = _Place(
                labels[id], place.spot, self._number(place, "initialMarking", 0),
                self._number(place, "capacity", 0) or None)
        transitions = [part for part in self.parts if part.tag == "transition"]
        labels = self._labels(transitions)
        for part in transitions:
            id = part.attributes["id"]
            found.transitions[id] = labels[id], part.spot
            found.takes[id], found.gives[id] = Counter(), Counter()
        for part in self.parts:
            if part.tag == "arc":
                self._arc(part, found)
        return found

    def _arc(self, arc: Element, net: _Net) -> None:
        kinds = {each.attributes.get("value", _text(each)) for tag in ("type", "arctype")
                 for each in arc.all(tag)}
        if kinds - _NORMAL:
            raise refusal(self.file, arc.spot, f"the arc is of the type {min(kinds)[:40]!r}, which "
                          "a place/transition net does not have",
                          "Replace it by plain arcs; an inhibitor needs a complementary place.")
        start, end = (self._end(arc, key) for key in ("source", "target"))
        weight = self._number(arc, "inscription", 1)
        if weight < 1:
            raise refusal(self.file, arc.spot, f"the arc has the weight {weight}",
                          "Give it a weight of 1 or more, or remove it.")
        if start in net.places and end in net.transitions:
            net.takes[end][start] += weight
        elif start in net.transitions and end in net.places:
            net.gives[start][end] += weight
        else:
            raise refusal(self.file, arc.spot, f"the arc leads from {start[:40]!r} to {end[:40]!r}",
                          "An arc leads from a place to a transition, or back.")

    def _end(self, arc: Element, key: str) -> str:
        id = self._attribute(arc, key)
        for _ in range(len(self.references) + 1):
            if id not in self.references:
                if id not in self.spots:
                    raise refusal(self.file, arc.spot, f"there is nothing with the id {id[:40]!r}",
                                  "Fix the arc, or add the node.")
                return id
            id = self.references[id]
        raise refusal(self.file, arc.spot, f"the reference {id[:40]!r} leads back to itself",
                      "Let it refer to a place or a transition.")

    def _labels(self, parts: list[Element]) -> dict[str, str]:
        """The names, where each is one node's alone; else the ids."""
        names = {part.attributes["id"]: _text(part.first("name")) for part in parts}
        often = Counter([*names.values(), *names])
        return {id: name if name and often[name] - (name == id) == 1 else id
                for id, name in names.items()}

    def _number(self, part: Element, what: str, default: int) -> int:
        element = part.first(what)
        if element is None:
            return default
        found = _NUMBER.fullmatch(_text(element))
        if found is None or not 0 <= int(found[1]) <= TOKENS_MAX:
            raise refusal(self.file, element.spot, f"<{what}> is {_text(element)[:40]!r}, which is "
                          "no number of tokens", "Write a whole number from 0 to 2^63.")
        return int(found[1])

    def _attribute(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise refusal(self.file, element.spot, f"<{element.tag}> has no {name!r}",
                          f'Add {name}="…" to it.')
        return element.attributes[name]


def _flat(element: Element) -> Iterator[Element]:
    """The nodes and arcs on all pages."""
    for child in element.children:
        if child.tag == "page":
            yield from _flat(child)
        elif child.tag in ("place", "transition", "arc", "referencePlace", "referenceTransition"):
            yield child


def _text(element: Element | None) -> str:
    """The text of a label; older files write <value> for <text>."""
    if element is None:
        return ""
    inner = element.first("text") or element.first("value")
    return (element if inner is None else inner).text.strip()


# --- the design ------------------------------------------------------------------------------

def _design(net: _Net, file: str, spot: Spot) -> Reading:
    for id, (label, where) in net.transitions.items():
        if not (net.takes[id] or net.gives[id]):
            raise refusal(file, where, f"the transition {label[:40]!r} has no arc, so it can "
                          "always fire and the net is never deadlocked", "Remove it.")
    if len(net.places) > PLACES_MAX or len(net.transitions) > TRANSITIONS_MAX:
        why = (f"{NET_ALONE}: it has {len(net.places):,} places and {len(net.transitions):,} "
               f"transitions, and a design of it at most {PLACES_MAX} and {TRANSITIONS_MAX}")
        return Reading(Node({}, spot), (), _net(net, file, [
            label for label, _ in net.transitions.values()]), why)
    draft = Draft(file, net.name, "A place/transition net.", spot)
    names = {id: draft.called(label) for id, (label, _) in net.transitions.items()}
    _tasks(net, draft, names)
    return replace(draft.reading(), net=_net(net, file, list(names.values())))


def _net(net: _Net, file: str, names: list[str]) -> Net:
    """The net with these names of its transitions. Where a tool wrote a capacity, a place has the
    room that is left beside it: a transition takes as much of it as it adds tokens."""
    index = {id: at for at, id in enumerate(net.places)}
    tokens = [place.tokens for place in net.places.values()]
    labels = [place.label for place in net.places.values()]
    rooms: dict[str, int] = {}
    for id, place in net.places.items():
        if place.room is None:
            continue
        if place.tokens > place.room:
            raise refusal(file, place.spot, f"the place {place.label[:40]!r} begins with "
                          f"{place.tokens} tokens, and has room for {place.room}",
                          "Give it fewer tokens, or more room.")
        rooms[id] = len(tokens)
        tokens.append(place.room - place.tokens)
        labels.append(f"room of {place.label}")
    takes, gives = [], []
    for id in net.transitions:
        sides = ({index[p]: n for p, n in net.takes[id].items()},
                 {index[p]: n for p, n in net.gives[id].items()})
        for full in {*net.takes[id], *net.gives[id]} & rooms.keys():
            more = net.gives[id][full] - net.takes[id][full]
            if more:
                sides[more < 0][rooms[full]] = abs(more)
        takes.append(_arcs(sides[0]))
        gives.append(_arcs(sides[1]))
    return Net(net.name, tuple(labels), tuple(names), tuple(tokens), tuple(takes), tuple(gives))


def _arcs(side: Mapping[int, int]) -> Arcs:
    return tuple(sorted(side.items()))


def _tasks(net: _Net, draft: Draft, names: Mapping[str, str]) -> None:
    """Put down the transitions as tasks, and the places as links."""
    ends = {"takes": _by_place(net.takes), "gives": _by_place(net.gives)}
    usual = {way: {id: _usual(arcs.get(id, {})) for id in net.places}
             for way, arcs in ends.items()}
    for id, (label, where) in net.transitions.items():
        draft.task(label, where, {"kind": "transition", **{
            way: own for way, arcs in (("takes", net.takes[id]), ("gives", net.gives[id]))
            if (own := {draft.called(net.places[place].label, "link"): weight
                        for place, weight in arcs.items() if weight != usual[way][place]})}})
    rooms = _rooms(net, draft)
    for id, place in net.places.items():
        writers, readers = ([names[each] for each in ends[way].get(id, ())]
                            for way in ("gives", "takes"))
        if not (writers or readers):
            draft.assume(f"the place {place.label[:40]!r} has no arc and is left out")
            continue
        draft.link(place.spot, {
            "name": draft.called(place.label, "link"), "from": writers, "to": readers,
            "gives": usual["gives"][id], "takes": usual["takes"][id],
            "initial": place.tokens, **rooms[id]})


def _by_place(arcs: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """The weights of the arcs at one side of each place, by transition."""
    found: dict[str, dict[str, int]] = {}
    for transition, weights in arcs.items():
        for place, weight in weights.items():
            found.setdefault(place, {})[transition] = weight
    return found


def _usual(arcs: Mapping[str, int]) -> int:
    """The commonest weight of the arcs at one side of a place."""
    weights = Counter(arcs.values())
    return weights.most_common(1)[0][0] if weights else 1


def _rooms(net: _Net, draft: Draft) -> dict[str, dict[str, Any]]:
    """The room of each place, with a word about where it comes from."""
    changes = [{place: net.gives[id][place] - net.takes[id][place]
                for place in {*net.gives[id], *net.takes[id]}} for id in net.transitions]
    bounds = place_bounds({id: place.tokens for id, place in net.places.items()}, changes)
    found: dict[str, dict[str, Any]] = {}
    endless = []
    for id, place in net.places.items():
        if place.room is not None:
            found[id] = {"capacity": place.room}
        elif bounds.get(id, CAPACITY_MAX + 1) <= CAPACITY_MAX:
            # A capacity of 0 would mean that writer and reader must meet.
            found[id] = {"capacity": max(1, place.tokens, bounds[id])}
        else:
            found[id] = {"flow": "unbounded"}
            endless.append(place.label)
    if any(place.room is None and id in bounds for id, place in net.places.items()):
        draft.assume("the net gives no capacities: a place has the most that it can ever hold, by "
                     "sums that no transition raises, so nothing waits for room in it")
    if endless:
        told = ", ".join(label[:40] for label in endless[:5]) + (", …" if endless[5:] else "")
        draft.assume(f"no such sum bounds these places, which are unbounded: {told}")
    return found
