"""The connected parts of a net: places and transitions that no arc connects to others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .net import Arcs, Net

__all__ = ["NetPart", "net_parts", "part_with"]


@dataclass(frozen=True)
class NetPart:
    """A part as a net, with the places and transitions of the whole net that its own are."""

    net: Net
    places: tuple[int, ...]
    transitions: tuple[int, ...]


def net_parts(net: Net) -> list[NetPart]:
    """The parts that have a transition, in the order of their first one."""
    group = list(range(len(net.places)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]  # half as far the next time
            place = group[place]
        return place

    for takes, gives in zip(net.takes, net.gives, strict=True):
        ends = [place for place, _ in (*takes, *gives)]
        for other in ends[1:]:
            group[root(other)] = root(ends[0])
    transitions: dict[int, list[int]] = {}
    for at, (takes, gives) in enumerate(zip(net.takes, net.gives, strict=True)):
        for place, _ in (*takes, *gives)[:1]:
            transitions.setdefault(root(place), []).append(at)
    places: dict[int, list[int]] = {each: [] for each in transitions}
    for place in range(len(net.places)):
        if root(place) in places:
            places[root(place)].append(place)
    if len(transitions) == 1 and len(places[next(iter(transitions))]) == len(net.places):
        return [NetPart(net, tuple(range(len(net.places))), tuple(range(len(net.transitions))))]
    return [_part(net, places[each], transitions[each]) for each in transitions]


def part_with(net: Net, names: Collection[str]) -> NetPart:
    """The part of the transitions with these names, which share no place with others."""
    chosen = [at for at, name in enumerate(net.transitions) if name in names]
    places = sorted({place for at in chosen for place, _ in (*net.takes[at], *net.gives[at])})
    return _part(net, places, chosen)


def _part(net: Net, places: list[int], transitions: list[int]) -> NetPart:
    index = {place: at for at, place in enumerate(places)}

    def arcs(each: Arcs) -> Arcs:
        return tuple((index[place], weight) for place, weight in each)

    return NetPart(Net(
        net.name, tuple(net.places[place] for place in places),
        tuple(net.transitions[at] for at in transitions),
        tuple(net.initial[place] for place in places),
        tuple(arcs(net.takes[at]) for at in transitions),
        tuple(arcs(net.gives[at]) for at in transitions)), tuple(places), tuple(transitions))
