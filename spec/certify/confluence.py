"""Parts in which no move takes what another one needs: all runs do the same in some order.

So a run that comes back to its start shows that none gets stuck, and one that ends at rest shows
that all do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .moves import Move, System, can_move, state_of
from .run import Refuted, run_of

__all__ = ["decided_by_one_run", "is_stuck"]


def decided_by_one_run(system: System, proof: Mapping[str, Any], first: str) -> None:
    """Check that the run of a proof decides the part of the task ``first``. Raises Refuted."""
    asks: dict[tuple[str, bool], list[Move]] = {}
    for move in system.moves:
        for side, counters in ((True, move.need), (False, move.room)):
            for counter in counters:
                asks.setdefault((counter, side), []).append(move)
    spots = _spots(system)
    for move in system.moves:
        if move.fails or any(
                other is not move and not _apart(move, other, spots)
                for counter, by in move.change.items()
                for other in asks.get((counter, by < 0), ())):
            raise Refuted(f"in the part of {first} a move may take what another needs")
    state, steps = run_of(system, proof)
    returns = steps > 0 and state == state_of(system)
    ends = not any(can_move(move, state) for move in system.moves) and not is_stuck(system, state)
    if not (returns or ends):
        raise Refuted(f"the run of the part of {first} neither comes back nor ends at rest")


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
    for move in system.moves:
        moved: dict[str, int] = {}
        for counter, by in move.change.items():
            if counter in of:
                moved[of[counter]] = moved.get(of[counter], 0) + by
        wrong.update(place for place, by in moved.items() if by)
    return {counter: place for counter, place in of.items() if place not in wrong}


def _apart(one: Move, other: Move, spots: Mapping[str, str]) -> bool:
    """Whether two moves are never possible at once."""
    for move, off in ((one, other), (other, one)):
        if any(move.need.get(counter, 0) > room for counter, room in off.room.items()):
            return True
    here = {spots[c]: c for c, n in one.need.items() if c in spots and n > 0}
    there = {spots[c]: c for c, n in other.need.items() if c in spots and n > 0}
    return any(here[place] != there[place] for place in here.keys() & there.keys())


def is_stuck(system: System, state: Mapping[str, int]) -> bool:
    """Whether nothing can move, and work is left."""
    if any(can_move(move, state) for move in system.moves):
        return False
    return not system.ends or any(
        counter.rest is not None and state[name] > counter.rest
        for name, counter in system.counters.items())
