"""Parts in which no transition takes what another one needs: all runs do the same in some order.

So a run that returns to its start shows that none deadlocks, and one that ends with all work done
shows that all end so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .run import Refuted, run_of
from .system import Transition, System, can_move, state_of

__all__ = ["decided_by_one_run", "goes_round"]


def decided_by_one_run(system: System, proof: Mapping[str, Any]) -> None:
    """Check that the run of a proof decides its part. Raises Refuted."""
    _has_no_choice(system)
    state, steps = run_of(system, proof)
    returns = steps > 0 and state == state_of(system)
    halts = not any(can_move(transition, state) for transition in system.transitions)
    ends = halts and not system.is_deadlocked(state)
    if not (returns or ends):
        raise Refuted("the run neither returns to its start nor ends with all work done")


def goes_round(system: System, proof: Mapping[str, Any]) -> None:
    """Check that the run of a proof takes every transition of the part and returns to its start:
    then every transition is ahead wherever any run has come to. Raises Refuted."""
    _has_no_choice(system)
    state, steps = run_of(system, proof)
    if not steps or state != state_of(system):
        raise Refuted("the run does not return to its start")
    made = {tuple(sorted(step.items())) for leg in proof["legs"] for step in leg["then"]}
    changes = [tuple(sorted(transition.change.items())) for transition in system.steps]
    if len(set(changes)) < len(changes) or made != set(changes):
        raise Refuted("the run does not take every transition")


def _has_no_choice(system: System) -> None:
    asks: dict[tuple[str, bool], list[Transition]] = {}
    for transition in system.transitions:
        for side, counters in ((True, transition.need), (False, transition.room)):
            for counter in counters:
                asks.setdefault((counter, side), []).append(transition)
    spots = _spots(system)
    for transition in system.transitions:
        if transition.fails or any(
                other is not transition and not _apart(transition, other, spots)
                for counter, by in transition.change.items()
                for other in asks.get((counter, by < 0), ())):
            raise Refuted("a step may take what another needs")


def _spots(system: System) -> dict[str, str]:
    """The counters of which, place by place (``a task: steps left``), one is always 1 and the
    others are 0; each with its place."""
    groups: dict[str, list[str]] = {}
    for counter in system.counters:
        if " = " in counter:
            groups.setdefault(counter.rpartition(" = ")[0], []).append(counter)
    of = {counter: place for place, members in groups.items() for counter in members}
    wrong = {place for place, members in groups.items()
             if sum(system.counters[counter].start for counter in members) != 1}
    for transition in system.transitions:
        moved: dict[str, int] = {}
        for counter, by in transition.change.items():
            if counter in of:
                moved[of[counter]] = moved.get(of[counter], 0) + by
        wrong.update(place for place, by in moved.items() if by)
    return {counter: place for counter, place in of.items() if place not in wrong}


def _apart(one: Transition, other: Transition, spots: Mapping[str, str]) -> bool:
    """True if two transitions are never possible at once."""
    for transition, off in ((one, other), (other, one)):
        if any(transition.need.get(counter, 0) > room for counter, room in off.room.items()):
            return True
    here = {spots[c]: c for c, n in one.need.items() if c in spots and n > 0}
    there = {spots[c]: c for c, n in other.need.items() if c in spots and n > 0}
    return any(here[place] != there[place] for place in here.keys() & there.keys())
