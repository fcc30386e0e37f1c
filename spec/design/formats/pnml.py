"""PNML: Petri nets (ISO/IEC 15909-2), as nets and, if they are small, as designs.

A coloured net is unfolded (``pnml_colours``), and arcs that inhibit or empty are made plain ones
(``pnml_tests``). The net itself is read into ``checkvalve.spec.nets``, by which it is decided. In
the design of a small one a transition is a task that does all its reads and writes in one
transition, a place is a queue that any number of transitions share. The net says nothing of room: a
place that ``bounds`` finds a bound for has that capacity, and no transition waits for room in it;
others are unbounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from ...nets.net import Arcs, Net
from ..reading.source import Node, Spot, Watch
from .bounds import place_bounds
from .draft import Draft, Reading, refusal
from .pnml_colours import unfolded
from .pnml_nodes import Nodes, PnmlNet, PnmlPlace, label_of, labels_of
from .pnml_tests import kind_of, plain, put_down
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
_PLACES: Final = re.compile("pt-?net|p/t")
_CORE: Final = "pnmlcoremodel"
"""The type of a net with labels that the standard leaves open; programs for process mining (PM4Py,
ProM) write place/transition nets as such."""
_BAGS: Final = ("hlinitialMarking", "hlinscription")
_COLOURS: Final = (*_BAGS, "declaration", "condition", "multiset")
"""Labels that only nets with colours have; the last is of SNAKES."""
_COLOURED: Final = re.compile("symmetric|highlevel|hlpng|hlnet")


def read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    """The design that a PNML document is; ``watch`` is called often, and may raise.

    Raises InputError for a net of another type, several nets, arcs of another type, numbers that
    are none, and a net that is too large when it is unfolded.
    """
    root = parse_xml(text, file, ELEMENTS_MAX, _PASSED_OVER, watch)
    nets = list(root.all("net"))
    if root.tag != "pnml" or len(nets) != 1:
        spot = nets[1].spot if len(nets) > 1 else root.spot
        raise refusal(file, spot, f"this is no PNML with one net: it has {len(nets)} in "
                      f"<{root.tag[:40]}>", "Keep one <net> in one <pnml>.")
    return _design(plain(_net_of(nets[0], file, watch), file, watch), file, nets[0].spot)


def _net_of(top: Element, file: str, watch: Watch) -> PnmlNet:
    """The net, its pages made one and its references followed."""
    kind = top.attributes.get("type", "")
    name = label_of(top, "name") or top.attributes.get("id", "net")
    is_plain = kind.strip() == "" or kind.lower().endswith(_CORE)
    is_for_places = bool(_PLACES.search(kind.lower()))
    if (is_plain and not _has(top, _COLOURS, watch)) or (
            is_for_places and not _has(top, _BAGS, watch)):
        return _Reader(Nodes(top, file), watch).net(name)
    if is_for_places or _COLOURED.search(kind.lower()):
        return unfolded(Nodes(top, file), name, watch)
    said = f"is of the type {kind[:80]!r}" if kind.strip() else "has no type and labels of colours"
    raise refusal(file, top.spot, f"the net {said}, and only place/transition nets and symmetric "
                  "nets are read",
                  "Write it as one of the type http://www.pnml.org/version-2009/grammar/ptnet.")


def _has(top: Element, labels: Collection[str], watch: Watch) -> bool:
    """True if one of these labels stands anywhere in the net."""
    todo = [top]
    while todo:
        watch()
        element = todo.pop()
        if element.tag in labels:
            return True
        todo += element.children
    return False


class _Reader:
    """A place/transition net."""

    def __init__(self, nodes: Nodes, watch: Watch) -> None:
        self.nodes, self.file, self.watch = nodes, nodes.file, watch

    def net(self, name: str) -> PnmlNet:
        """The net of that name."""
        found = PnmlNet(name)
        places = self.nodes.all("place")
        labels = labels_of(places)
        for place in places:
            id = place.attributes["id"]
            found.places[id] = PnmlPlace(
                labels[id], place.spot, self._number(place, "initialMarking", 0),
                self._number(place, "capacity", 0) or None)
        transitions = self.nodes.all("transition")
        labels = labels_of(transitions)
        for part in transitions:
            id = part.attributes["id"]
            found.add(id, labels[id], part.spot)
        for at, part in enumerate(self.nodes.all("arc")):
            if at % 1_000 == 0:
                self.watch()
            self._arc(part, found)
        return found

    def _arc(self, arc: Element, net: PnmlNet) -> None:
        start, end = (self.nodes.end(arc, key) for key in ("source", "target"))
        kind = kind_of(arc, self.file)
        weight = self._number(arc, "inscription", 1)
        if weight < 1:
            raise refusal(self.file, arc.spot, f"the arc has the weight {weight}",
                          "Give it a weight of 1 or more, or remove it.")
        if start in net.places and end in net.transitions:
            put_down(net, kind, start, end, weight, arc.spot)
        elif kind == "normal" and start in net.transitions and end in net.places:
            net.gives[start][end] += weight
        else:
            raise self.nodes.no_arc(arc, start, end)

    def _number(self, part: Element, what: str, default: int) -> int:
        element = part.first(what)
        if element is None and what not in part.attributes:
            return default
        text = label_of(part, what)
        found = _NUMBER.fullmatch(text)
        if found is None or not 0 <= int(found[1]) <= TOKENS_MAX:
            raise refusal(self.file, (element or part).spot, f"<{what}> is {text[:40]!r}, which "
                          "is no number of tokens", "Write a whole number from 0 to 2^63.")
        return int(found[1])


# --- the design ------------------------------------------------------------------------------

def _design(net: PnmlNet, file: str, spot: Spot) -> Reading:
    for id, (label, _) in list(net.transitions.items()):
        if not (net.takes[id] or net.gives[id]):
            del net.transitions[id], net.takes[id], net.gives[id]
            net.assumed.append(f"the transition {label[:40]!r} has no arc: it can always fire, "
                               "changes nothing, and is left out")
    if len(net.places) > PLACES_MAX or len(net.transitions) > TRANSITIONS_MAX:
        why = (f"{NET_ALONE}: it has {len(net.places):,} places and {len(net.transitions):,} "
               f"transitions, and a design of it at most {PLACES_MAX} and {TRANSITIONS_MAX}")
        return Reading(Node({}, spot), tuple(net.assumed), _net(net, file, [
            label for label, _ in net.transitions.values()]), why)
    draft = Draft(file, net.name, "A place/transition net.", spot, assumed=list(net.assumed))
    names = {id: draft.called(label) for id, (label, _) in net.transitions.items()}
    _tasks(net, draft, names)
    return replace(draft.reading(), net=_net(net, file, list(names.values())))


def _net(net: PnmlNet, file: str, names: list[str]) -> Net:
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


def _tasks(net: PnmlNet, draft: Draft, names: Mapping[str, str]) -> None:
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


def _rooms(net: PnmlNet, draft: Draft) -> dict[str, dict[str, Any]]:
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
