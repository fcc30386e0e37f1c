"""Nets with runs that all end, or can be led back to the first marking: arguments without a search.

Let weights y >= 0 of the places be such that each transition of a set U lowers ``y . m`` by at
least one. Then U alone fires but finitely often, from any marking. So

- if U has all transitions, each run ends, and nothing continues forever beside what is blocked;
- otherwise the firings of U lead from each reachable marking to one in which none of U is enabled.
  If the first marking is the only such one (the state equation and marked traps allow no
  other: ``equations``), then each run can be led back to it: it is a *home marking*. What a run
  shows to be enabled after it can then fire again after every run (Murata 1989, section IV.B).

A net that can deadlock has no home marking. But each run that never ends fires one of a set V
infinitely often, if weights show that the other transitions alone stop. It is enough, then, that
the runs can be led back after each firing of V: what it gave to places from which U never takes is
still there. V is what gives only to places that are marked at first.
"""

from __future__ import annotations

from collections.abc import Collection
from heapq import heappop, heappush
from random import Random

from ..verdicts.deadline import Deadline
from .bounds import lowering
from .equations import Equations
from .net import Marking, Net

__all__ = ["all_fire", "every_run_ends", "leads_home"]

PHASE = "looking for a way back to the first marking"
LARGEST = 5_000
"""Places and transitions of the nets that are asked about: in larger ones Z3 looks at the clock too
seldom."""
TRIES, LOOK = 1_000, 256
"""Transitions that are tried for each one until all have fired, and those between two looks at the
clock."""


def every_run_ends(net: Net, deadline: Deadline) -> bool:
    """True if weights of the places show that no run continues forever."""
    return _stop(net, range(len(net.transitions)), deadline)


def _stop(net: Net, among: Collection[int], deadline: Deadline) -> bool:
    """True if weights show that these transitions alone fire but finitely often."""
    return len(lowering(net, among, (), deadline)) == len(among)


def leads_home(net: Net, deadline: Deadline) -> bool:
    """True if each run that never ends comes again and again to where it can be led back to the
    first marking."""
    if len(net.places) + len(net.transitions) > LARGEST:
        return False
    weights = homeward(net)
    back = [at for at, change in enumerate(net.changes)
            if sum(weights.get(place, 0) * number for place, number in change) < 0]
    if not back:
        return False
    equations = Equations(net, deadline, idle=frozenset(back))
    equations.differ(net.initial)
    homing = [at for at, gives in enumerate(net.gives)
              if gives and not any(place in weights for place, _ in gives)]
    if homing and _stop(net, set(range(len(net.transitions))) - set(homing), deadline):
        drained = {place for at in back for place, _ in net.takes[at]}
        equations.some_hold([[(place, weight) for place, weight in net.gives[at]
                              if place not in drained] for at in homing])
    return equations.solve(deadline) is False


def homeward(net: Net) -> dict[int, int]:
    """By place that is empty at first, at least the steps that it takes to be rid of a token of it,
    one after the other: the fewest over its consumers of one and those for all that they give."""
    found = {place: 0 for place, tokens in enumerate(net.initial) if tokens}
    open_gives = [len(gives) for gives in net.gives]
    heap: list[tuple[int, int]] = [(0, place) for place in found]
    ready = [at for at, number in enumerate(open_gives) if not number]
    known: set[int] = set()
    while heap or ready:
        if not ready:
            number, place = heappop(heap)
            if place in known or number > found[place]:
                continue
            known.add(place)
            for at in net.producers[place]:
                open_gives[at] -= 1
                if not open_gives[at]:
                    ready.append(at)
        while ready:
            at = ready.pop()
            steps = 1 + sum(weight * found[place] for place, weight in net.gives[at])
            for place, weight in net.takes[at]:
                fewest = -(-steps // weight)
                if place not in known and fewest < found.get(place, fewest + 1):
                    found[place] = fewest
                    heappush(heap, (fewest, place))
    return {place: number for place, number in found.items() if number}


def all_fire(net: Net, deadline: Deadline) -> bool:
    """True if runs fire each transition, from the first marking on.

    One goes through all in their order; the rest is tried at random, between steps at random, and
    a step costs no more than its own arcs.
    """
    marking, random = list(net.initial), Random("each fires")
    missing = [each for each in range(len(net.transitions)) if not _fired(net, marking, each)]
    watch = deadline.watch(PHASE)
    for tried in range(TRIES * len(net.transitions)):
        if not missing:
            return True
        if tried % LOOK == 0:
            watch()
            if net.dead(marking) or not tried & (tried - 1):  # or at 256, 512, 1,024 …
                marking = list(net.initial)
        _fired(net, marking, random.randrange(len(net.transitions)))
        at = random.randrange(len(missing))
        if _fired(net, marking, missing[at]):
            missing[at] = missing[-1]
            missing.pop()
    return not missing


def _fired(net: Net, marking: Marking, transition: int) -> bool:
    """Fire the transition if it is enabled; false if not."""
    if not net.enabled(marking, transition):
        return False
    net.fire(marking, transition)
    return True
