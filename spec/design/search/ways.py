"""A run into a deadlock that was found by its structure: replayed, and reported.

The interpreter replays a short run step by step, as it does what a search has found. A long one is
replayed by sums, leg by leg (see ``legs``), in the places and rows of the translated design, and
is reported leg by leg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...notation.errors import InternalError
from ...verdicts.deadline import Deadline
from ...verdicts.verdict import Outcome, Verdict
from ..equations.legs import Guarded, Leg, expanded, followed, steps_in
from ..net.counters import NO_MOST, Counters
from ..net.rows import FAILED, Row, Table
from ..reading.language import Design
from ..reading.properties import DEADLOCK_FREE
from ..why.findings import Finding, ToldLeg
from ..why.cycles import closed_cycle
from ..why.blocked import left_in, waits_in
from .runs import Runs
from .searching import finding_of

__all__ = ["told_legs", "way_into"]

SHORT = 3_000_000
"""Steps times places of a way that the interpreter replays."""
BY_EQUATIONS = "found by following the equations"
"""The method that found a run to a state that the equations leave open."""
FEW = 20_000
"""Steps of a run that is reported step by step."""


def way_into(
    design: Design, table: Table, net: Counters, legs: Sequence[Leg], deadline: Deadline,
    brief: bool = False,
) -> Finding:
    """The finding of a deadlock to which these legs of transitions of ``net`` lead; a ``brief`` one
    does not list the steps.

    Raises InternalError where they do not, and OutOfTime where the deadline passes.
    """
    rows = [Leg(leg.keep, tuple(net.transitions[n].row for n in leg.then), leg.times)
            for leg in legs]
    long = steps_in(legs)
    if not brief and long <= FEW and long * len(table.places) <= SHORT:
        return _step_by_step(design, table, list(expanded(rows)), deadline)
    most = {place.name: None if place.most >= NO_MOST else place.most for place in table.places}
    transitions: dict[int, Guarded[str]] = {}

    def transition(number: int) -> Guarded[str]:
        if number not in transitions:
            effect = table.rows[number].effect
            transitions[number] = Guarded.within(
                effect.at_least, effect.at_most, effect.change, most.__getitem__)
        return transitions[number]

    start = {place.name: place.start for place in table.places}
    marking = followed(rows, transition, start, deadline.watch("replaying a run"))
    if marking is None or not _is_deadlocked(table, marking):
        raise InternalError("a run that the equations led to is none of the design's",
                            "", "Please report this design.")
    waits = waits_in(design, table, marking)
    contents = table.contents(marking)
    return Finding(DEADLOCK_FREE, Outcome.VIOLATED, BY_EQUATIONS, waits=tuple(waits),
                   cycle=tuple(closed_cycle(waits)), contents=contents,
                   free=table.free(marking),
                   left=tuple(left_in(design, table, marking)),
                   legs=() if brief else told_legs(table, net, legs), is_shortest=False)


def _step_by_step(
    design: Design, table: Table, rows: Sequence[int], deadline: Deadline
) -> Finding:
    """The way without what it does not need, replayed by the interpreter."""
    from ...engines.replay import trace_of
    from ...engines.search import instances
    from ...notation import bind
    from ..net.net import Net
    shorter = Runs(table, deadline.watch("shortening a run")).shortened(tuple(rows))
    bound = bind(Net, **table.constants())
    item, = instances(bound, "DESIGN-1")
    trace = trace_of(bound.interpreter, shorter, item, deadline=deadline)
    found = finding_of(design, table, "DESIGN-1", Verdict(
        Outcome.VIOLATED, BY_EQUATIONS, trace=trace))
    return replace(found, is_shortest=False)


def _is_deadlocked(table: Table, marking: Mapping[str, int]) -> bool:
    """True if nothing can move, and work is left."""
    if marking[FAILED] or any(_can_move(row, marking) for row in table.rows):
        return False
    return not table.may_end or any(marking[p.name] > p.rest for p in table.places)


def _can_move(row: Row, marking: Mapping[str, int]) -> bool:
    return all(marking[place] >= n for place, n in row.effect.at_least.items()) and all(
        marking[place] <= n for place, n in row.effect.at_most.items())


def told_legs(table: Table, net: Counters, legs: Sequence[Leg]) -> tuple[ToldLeg, ...]:
    """The legs in the words of the design, and by the names of counters."""
    named = [counter.name for counter in net.counters]
    return tuple(
        ToldLeg(leg.keep, tuple(table.rows[net.transitions[n].row].label for n in leg.then),
                tuple({named[c]: by for c, by in net.transitions[n].change.items()}
                      for n in leg.then),
                leg.times)
        for leg in legs)
