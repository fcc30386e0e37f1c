"""Nets that are live because each siphon has a marked trap: an argument from the arcs alone.

A *siphon* is a set of places such that each transition that gives to it takes from it: once empty,
it stays empty. A *trap* is one such that each transition that takes from it gives to it: once
marked, it stays marked. Let each arc to a transition have the weight 1, and let each siphon that is
not empty as a set contain a trap that is marked at first. Then no marking is dead: its empty places
would be an empty siphon (Murata 1989, section VI.B).

If, moreover, the consumers of any two places that share one are all those of one of both (an
*asymmetric choice* net), then each transition can fire again after every run (Murata 1989, theorem
12). For if one never can, some input of it stays empty from some run on: of its inputs, ordered by
their consumers, one that gets a token keeps it, as whatever takes it needs all inputs after it too,
and those before it have kept theirs. The places that stay empty are then an empty siphon.

Z3 looks for a siphon that contains none of the marked traps that are known; a trap of the one it
finds is added, until there is none, or until one has no marked trap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..verdicts.deadline import Deadline
from .equations import largest_trap
from .net import Net

__all__ = ["has_asymmetric_choice", "marked_traps", "takes_ones"]

PHASE = "looking for siphons without a marked trap"
MOST_MS = 2**31 - 1
ROOM = 20
"""Places of the traps that are taken from one siphon, for each place of the net."""
_TRUE = re.compile(r"p(\d+) \(\) Bool\s+true")


def takes_ones(net: Net) -> bool:
    """True if no transition takes more than one token from a place, and each takes some; false
    without transitions."""
    return bool(net.takes) and all(
        takes and all(weight == 1 for _, weight in takes) for takes in net.takes)


def has_asymmetric_choice(net: Net, deadline: Deadline) -> bool:
    """True if of any two places that share a consumer one has all consumers of the other."""
    consumers = [frozenset(each) for each in net.consumers]
    checked: set[tuple[int, int]] = set()
    for at, takes in enumerate(net.takes):
        if at % 64 == 0:
            deadline.check(PHASE)
        # In the order of their numbers of consumers, each must be within the next.
        places = sorted((place for place, _ in takes), key=lambda place: len(consumers[place]))
        for pair in zip(places, places[1:], strict=False):
            if pair not in checked:
                checked.add(pair)
                if not consumers[pair[0]] <= consumers[pair[1]]:
                    return False
    return True


def marked_traps(net: Net, deadline: Deadline) -> int | None:
    """The number of marked traps of which each siphon contains one; None if some siphon has no
    marked trap, or if that was not decided by the deadline."""
    import z3
    deadline.check(PHASE)
    solver: Any = z3.SolverFor("QF_FD")
    solver.from_string(_question(net, deadline))
    siphon = [True] * len(net.places)  # the first traps are those of the whole net
    found = 0
    while not deadline.passed():
        traps = _traps(net, siphon, deadline)
        if not traps:
            return None
        found += len(traps)
        solver.from_string(" ".join(part for trap in traps for part in (
            "(assert (or", *(f"(not p{place})" for place in trap), "))")))
        solver.set("timeout", max(1, int(min(deadline.left() * 1000, MOST_MS))))
        answer = solver.check()
        if answer != z3.sat:
            return found if answer == z3.unsat else None
        siphon = [False] * len(net.places)
        for place in _TRUE.findall(solver.model().sexpr()):
            siphon[int(place)] = True
    return None


def _question(net: Net, deadline: Deadline) -> str:
    """The question for a siphon, as a text: Z3 reads it faster than its terms are made."""
    lines = [f"(declare-const p{at} Bool)" for at in range(len(net.places))]
    for at, (takes, gives) in enumerate(zip(net.takes, net.gives, strict=True)):
        if at % 100 == 0:
            deadline.check(PHASE)
        kept = {place for place, _ in takes}
        before = " ".join(f"p{place}" for place in kept)
        lines += [f"(assert (or (not p{place}) {before}))" for place, _ in gives
                  if place not in kept]
    lines.append(f"(assert (or {' '.join(f'p{at}' for at in range(len(net.places)))}))")
    return "\n".join(lines)


def _traps(net: Net, siphon: Sequence[bool], deadline: Deadline) -> list[frozenset[int]]:
    """Marked traps of a siphon, none if it has none; small ones, as far as they are met."""
    deadline.check(PHASE)
    largest = frozenset(largest_trap(net, siphon))
    found: set[frozenset[int]] = set()
    most = ROOM * len(net.places)
    for place in sorted(largest, key=lambda place: (not net.initial[place], place)):
        if most > 0:
            deadline.check(PHASE)
            trap = _grown(net, place, largest)
            most -= len(trap)
            if any(net.initial[each] for each in trap):
                found.add(trap)
    return sorted(found, key=len)


def _grown(net: Net, first: int, largest: frozenset[int]) -> frozenset[int]:
    """A trap with a place, within the largest one: whatever takes from it gives to it."""
    found, todo = {first}, [first]
    while todo:
        for each in net.consumers[todo.pop()]:
            gives = [place for place, _ in net.gives[each] if place in largest]
            if not any(place in found for place in gives):
                more = min(gives, key=lambda place: (_open(net, place, found), place))
                found.add(more)
                todo.append(more)
    return frozenset(found)


def _open(net: Net, place: int, found: set[int]) -> int:
    """The consumers of a place that give nothing to it, nor to what was found."""
    return sum(not any(other == place or other in found for other, _ in net.gives[each])
               for each in net.consumers[place][:100])
