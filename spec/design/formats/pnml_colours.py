"""Symmetric nets in PNML (ISO/IEC 15909-2, clauses 7.2 and 7.3): declarations, terms, unfolding.

Read are dots, finite and cyclic enumerations, finite ranges of whole numbers, products and
partitions of these; as terms, variables, constants, tuples, successor and predecessor, and the bags
``all``, ``numberof``, ``add``, ``subtract``, ``scalarproduct``; as conditions, comparisons and
``and``, ``or``, ``not``, ``imply``. Of high-level nets, those that need no more than that. The
rest is refused by name, with its line.

The net is unfolded (``checkvalve.spec.nets.colours``) once it is known how many places and
transitions that makes; bindings that no tokens could ever enable are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...nets.colours import (
    Binding,
    Condition,
    NegativeBag,
    Sort,
    Term,
    always,
    bindings,
    most,
)
from ..reading.source import Spot, Watch
from .draft import refusal
from .pnml_nodes import Nodes, PnmlNet, PnmlPlace, labels_of
from .pnml_terms import Terms, structure
from .pnml_tests import kind_of
from .xml import Element

__all__ = ["PLACES_MAX", "TRANSITIONS_MAX", "unfolded"]

PLACES_MAX: Final = 200_000
TRANSITIONS_MAX: Final = 200_000
ARCS_MAX: Final = 2_000_000
"""Places, transitions and arcs of an unfolded net."""

UNFOLDED: Final = (
    "the coloured net is unfolded: a place for each colour and a transition for each choice of "
    "colours, without those that no tokens could ever enable")

Ends = list[tuple[str, Term, Spot]]
"""The places at one side of a transition, with the terms of the arcs and their spots."""


def unfolded(nodes: Nodes, name: str, watch: Watch) -> PnmlNet:
    """The place/transition net that a coloured net unfolds into.

    Raises InputError for a net that is not symmetric, and for one that is too large unfolded.
    """
    return _Unfolding(nodes, watch).net(name)


class _Unfolding:
    def __init__(self, nodes: Nodes, watch: Watch) -> None:
        self.nodes, self.file, self.watch = nodes, nodes.file, watch
        self.terms = Terms(nodes.top, self.file)
        self.places = {each.attributes["id"]: each for each in nodes.all("place")}
        self.sorts = {id: self.terms.sort_of_place(each) for id, each in self.places.items()}
        self.takes: dict[str, Ends] = {each.attributes["id"]: []
                                       for each in nodes.all("transition")}
        self.gives: dict[str, Ends] = {id: [] for id in self.takes}
        for arc in nodes.all("arc"):
            self._arc(arc)
        self.arcs = 0

    def _arc(self, arc: Element) -> None:
        start, end = (self.nodes.end(arc, key) for key in ("source", "target"))
        kind = kind_of(arc, self.file)
        if kind != "normal":
            raise refusal(self.file, arc.spot, f"the arc is of the type {kind!r} in a coloured "
                          "net, where tools disagree which colours it means",
                          "Unfold the net with your tool, or replace the arc.")
        if start in self.places and end in self.takes:
            place, ends = start, self.takes[end]
        elif start in self.gives and end in self.places:
            place, ends = end, self.gives[start]
        else:
            raise self.nodes.no_arc(arc, start, end)
        sort = self.sorts[place]
        term = self.terms.inscription(arc, sort)
        ends.append((place, term, arc.spot))

    def net(self, name: str) -> PnmlNet:
        """The unfolded net, of that name."""
        found = PnmlNet(name, assumed=[UNFOLDED])
        conditions = {each.attributes["id"]: self._condition(each)
                      for each in self.nodes.all("transition")}
        self._count(conditions)
        self._places(found)
        labels = labels_of(self.nodes.all("transition"))
        used: set[str] = set()
        for part in self.nodes.all("transition"):
            id = part.attributes["id"]
            sorts = self._variables(id, conditions[id])
            for at, binding in enumerate(bindings(sorts, conditions[id], self.watch)):
                if at % 64 == 0:
                    self.watch()
                label = _free(".".join(filter(None, [labels[id], *(
                    self.terms.sort(number).label(binding[number])
                    for number in sorted(sorts))])), used)
                self._transition(found, id, f"{id}\n{at}", label, part.spot, binding)
        return _possible(found)

    def _condition(self, transition: Element) -> Condition:
        element = transition.first("condition")
        term = None if element is None else structure(element)
        return always(True) if term is None else self.terms.condition(term)

    def _variables(self, id: str, condition: Condition) -> dict[int, Sort]:
        """The sorts of the variables of a transition, by number."""
        used = condition.variables.union(*(
            term.variables for _, term, _ in (*self.takes[id], *self.gives[id])))
        return {number: self.terms.sort(number) for number in sorted(used)}

    def _count(self, conditions: Mapping[str, Condition]) -> None:
        """Refuse a net that has too many places or transitions unfolded."""
        places = sum(sort.size for sort in self.sorts.values())
        sizes = {id: most(self._variables(id, each)) for id, each in conditions.items()}
        number, way = sum(sizes.values()), ""
        if places <= PLACES_MAX and number > TRANSITIONS_MAX:
            number = 0
            for id, each in conditions.items():
                for _ in bindings(self._variables(id, each), each, self.watch):
                    number += 1
                    if number > TRANSITIONS_MAX:
                        break
                if number > TRANSITIONS_MAX:
                    way = "more than "
                    break
        if places > PLACES_MAX or number > TRANSITIONS_MAX:
            raise refusal(self.file, self.nodes.top.spot, f"the coloured net has {places:,} places "
                          f"and {way}{number:,} transitions when it is unfolded, and at most "
                          f"{PLACES_MAX:,} and {TRANSITIONS_MAX:,} are made",
                          "Check it with fewer colours.")

    def _places(self, net: PnmlNet) -> None:
        parts = list(self.places.values())
        labels, used = labels_of(parts), set[str]()
        for part in parts:
            id = part.attributes["id"]
            sort = self.sorts[id]
            marking = self.terms.marking(part, sort)
            tokens = {} if marking is None else self._bag(marking, {}, part.spot)
            for colour in sort.colours():
                net.places[_place(id, colour)] = PnmlPlace(
                    _free(".".join(filter(None, [labels[id], sort.label(colour)])), used),
                    part.spot, tokens.get(colour, 0))
            self.watch()

    def _transition(
        self, net: PnmlNet, old: str, id: str, label: str, spot: Spot, binding: Binding
    ) -> None:
        net.add(id, label, spot)
        for ends, side in ((self.takes[old], net.takes[id]), (self.gives[old], net.gives[id])):
            for place, term, where in ends:
                for colour, n in self._bag(term, binding, where).items():
                    side[_place(place, colour)] += n
            self.arcs += len(side)
        if self.arcs > ARCS_MAX:
            raise refusal(self.file, spot, f"the coloured net has more than {ARCS_MAX:,} arcs when "
                          "it is unfolded", "Check it with fewer colours.")

    def _bag(self, term: Term, binding: Binding, spot: Spot) -> dict[tuple[int, ...], int]:
        try:
            return term.bag(binding)
        except NegativeBag:
            raise refusal(self.file, spot, "the term subtracts what is not there, so it is no bag "
                          "of colours for some values of its variables",
                          "Add a condition that excludes those, or change the term.") from None


def _place(id: str, colour: tuple[int, ...]) -> str:
    return "\n".join([id, *map(str, colour)])


def _free(label: str, used: set[str]) -> str:
    """The label, or one like it that is not used yet."""
    free, number = label, 1
    while free in used:
        number += 1
        free = f"{label} {number}"
    used.add(free)
    return free


def _possible(net: PnmlNet) -> PnmlNet:
    """The net without transitions that no tokens can ever enable, however often the others fire."""
    marked = [id for id, place in net.places.items() if place.tokens]
    lacking = {id: len(takes) for id, takes in net.takes.items()}
    after: dict[str, list[str]] = {}
    for id, takes in net.takes.items():
        for place in takes:
            after.setdefault(place, []).append(id)
    todo, seen = marked, set(marked)
    ready = [id for id, number in lacking.items() if not number]
    while todo or ready:
        while ready:
            for place in net.gives[ready.pop()]:
                if place not in seen:
                    seen.add(place)
                    todo.append(place)
        for place in todo:
            for id in after.get(place, ()):
                lacking[id] -= 1
                if not lacking[id]:
                    ready.append(id)
        todo = []
    for id, number in lacking.items():
        if number:
            del net.transitions[id], net.takes[id], net.gives[id]
    used = {place for sides in (net.takes, net.gives) for arcs in sides.values() for place in arcs}
    net.places = {id: place for id, place in net.places.items() if id in used}
    return net


