"""Arcs that test a place or empty it, made plain arcs, where that leaves every run as it was.

| arc | what it means (Reisig 2013; Dufourd et al. 1998) | plain |
|---|---|---|
| read (test) of weight w | fires only where there are w tokens | takes w and gives them back |
| inhibitor of weight w | fires only where there are fewer than w | the complement has enough |
| reset | takes all tokens, however many | a transition for each number of tokens |

The *complement* of a place with at most B tokens has B minus those. Each transition changes it the
other way, and always finds there what it takes: B is proved by a sum of places that no transition
raises (``bounds``), inhibitors ignored and resets taken for nothing, and both allow only fewer
tokens. A place is emptied of k tokens by a transition that is enabled iff it has k: it takes
k from the place, and B - k from its complement. Where no bound is proved, the arc is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Final

from ..reading.source import Spot, Watch
from .bounds import place_bounds
from .draft import refusal
from .pnml_nodes import PnmlNet, PnmlPlace, text_of
from .xml import Element

__all__ = ["kind_of", "plain", "put_down"]

MOST: Final = 100_000
"""Transitions that a net with resets may have."""
SPLIT: Final = ("a transition that empties places is one for each number of tokens in them, and "
                "local deadlock is asked of each of these")
_KINDS: Final = {
    "": "normal", "normal": "normal", "inhibitor": "inhibitor", "reset": "reset", "test": "read",
    "read": "read",
}


def kind_of(arc: Element, file: str) -> str:
    """``normal``, ``read``, ``inhibitor`` or ``reset``, wherever a tool wrote it; raises InputError
    for any other type."""
    written = [arc.attributes.get("type", "")]
    written += [each.attributes.get("value", text_of(each))
                for tag in ("type", "arctype") for each in arc.all(tag)]
    kinds = {_KINDS.get(each.strip().lower(), each) for each in written} - {"normal"}
    if kinds - set(_KINDS.values()) or len(kinds) > 1:
        raise refusal(file, arc.spot, f"the arc is of the type {min(kinds)[:40]!r}, which is not "
                      "read", "Replace it by plain, read, inhibitor or reset arcs.")
    return kinds.pop() if kinds else "normal"


def put_down(net: PnmlNet, kind: str, place: str, transition: str, weight: int, spot: Spot) -> None:
    """Put down an arc from a place to a transition."""
    if kind == "normal":
        net.takes[transition][place] += weight
    elif kind == "read":
        of = net.reads.setdefault(transition, Counter())
        of[place] = max(of[place], weight)
    else:
        net.tested.setdefault(place, (kind, spot))
        if kind == "reset":
            net.empties.setdefault(transition, set()).add(place)
        else:
            most = net.inhibits.setdefault(transition, {})
            most[place] = min(weight, most.get(place, weight))


def plain(net: PnmlNet, file: str, watch: Watch) -> PnmlNet:
    """The net with plain arcs alone, and the complements that they need.

    Raises InputError where a place that is tested or emptied has no bound, and where resets make
    more than MOST transitions.
    """
    for transition, reads in net.reads.items():
        for place, weight in reads.items():
            more = max(0, weight - net.takes[transition][place])
            net.takes[transition][place] += more
            net.gives[transition][place] += more
    net.reads = {}
    if not net.tested:
        return net
    most = _bounds(net, file, watch)
    number = sum(prod(most[place] + 1 for place in net.empties.get(each, ()))
                 for each in net.transitions)
    if number > MOST:
        kind, spot = next(each for each in net.tested.values() if each[0] == "reset")
        raise refusal(file, spot, f"without {kind} arcs the net would have {number:,} transitions, "
                      f"and at most {MOST:,} are made", "Let fewer tokens be in such places.")
    return _Plain(net, most).net(watch)


def _bounds(net: PnmlNet, file: str, watch: Watch) -> dict[str, int]:
    """The most tokens of each place that is tested or emptied."""
    changes = [{place: net.gives[id][place] - net.takes[id][place]
                for place in {*net.gives[id], *net.takes[id]}} for id in net.transitions]
    found = place_bounds({id: place.tokens for id, place in net.places.items()}, changes,
                         net.tested, watch)
    for place, (kind, spot) in net.tested.items():
        room = net.places[place].room
        if room is not None:
            found[place] = min(room, found.get(place, room))
        if place not in found:
            raise refusal(file, spot, f"the arc is of the type {kind!r}, at the place "
                          f"{net.places[place].label[:40]!r}, and no sum of places that no "
                          "transition raises bounds its tokens",
                          "Give the place a <capacity>, or replace the arc.")
        gives = (net.gives[id][place] for id in net.transitions if place in net.empties.get(id, ()))
        found[place] = max(found[place], net.places[place].tokens, *gives, 0)
    return found


class _Plain:
    """The plain net in the making."""

    def __init__(self, net: PnmlNet, most: Mapping[str, int]) -> None:
        self.old, self.most = net, most
        taken = {place.label for place in net.places.values()}
        self.new = PnmlNet(net.name, dict(net.places), assumed=list(net.assumed))
        if net.empties:
            self.new.assumed.append(SPLIT)
        self.other: dict[str, str] = {}
        """The complement of each place."""
        for id, bound in most.items():
            place = net.places[id]
            self.other[id] = f"{id}\nmissing"  # no id has a line break
            label = f"missing in {place.label}"
            while label in taken:
                label += " too"
            taken.add(label)
            self.new.places[self.other[id]] = PnmlPlace(label, place.spot, bound - place.tokens)

    def net(self, watch: Watch) -> PnmlNet:
        labels = {label for label, _ in self.old.transitions.values()}
        for id, (label, spot) in self.old.transitions.items():
            emptied = sorted(self.old.empties.get(id, ()))
            below = self.old.inhibits.get(id, {})
            ranges = [range(self.old.takes[id][place],
                            min(self.most[place] + 1, below.get(place, self.most[place] + 1)))
                      for place in emptied]
            for numbers in product(*ranges):
                watch()
                name = label
                if emptied:
                    name = f"{label} of {' and '.join(map(str, numbers))}"
                    while name in labels:
                        name += " too"
                    labels.add(name)
                self._add(id, "\n".join([id, *map(str, numbers)]), name, spot,
                          dict(zip(emptied, numbers, strict=True)))
        return self.new

    def _add(self, old: str, id: str, label: str, spot: Spot, emptied: Mapping[str, int]) -> None:
        """A transition that is enabled only where the places that it empties have these numbers."""
        self.new.add(id, label, spot)
        takes, gives = self.new.takes[id], self.new.gives[id]
        takes.update(self.old.takes[old])
        gives.update(self.old.gives[old])
        below = self.old.inhibits.get(old, {})
        for place, most in self.most.items():
            other = self.other[place]
            if place in emptied:
                takes[place] = emptied[place]
                takes[other] = most - emptied[place]
                gives[other] = most - gives[place]
                continue
            if place not in takes and place not in gives and place not in below:
                continue
            more = gives[place] - takes[place]
            wanted = max(0, most - below.get(place, most + 1) + 1)
            takes[other] = max(more, wanted, 0)
            gives[other] = takes[other] - more
        for side in (takes, gives):
            for place in [place for place, weight in side.items() if not weight]:
                del side[place]
