"""The markings of a net, visited: all of them, or only those that a dead one needs.

``visit`` goes breadth first over all markings: the first dead one ends the shortest run.
``stubborn_search`` fires in each marking only the transitions of a stubborn set (Valmari 1990): one
that is enabled, and with it, for each enabled one of the set all that take from the same places,
and for each other one all that give to a place of which it lacks tokens. What is not in the set
neither disables those of the set nor enables them, so each dead marking is reached all the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..verdicts.verdict import Outcome
from .answer import Answer, Limits
from .net import Net

__all__ = ["Visit", "counting", "glance", "run_to", "stubborn_search", "visit"]

PHASE = "visiting markings"
GLANCE, GLANCE_WORK = 20_000, 2_000_000
"""Markings that a glance visits, and places and transitions that it looks at meanwhile."""
LOOK = 20_000
"""Places and transitions that are looked at between two looks at the clock."""
STARTS = 6
"""Enabled transitions from which a stubborn set is tried."""


@dataclass
class Visit:
    """The markings that were visited, in order, each with the one before it and the step from there
    (-1 for the first); and the steps between them, if they were kept. ``whole`` if there are no
    more; ``dead`` is the first without an enabled transition."""

    markings: list[tuple[int, ...]]
    before: list[int]
    step: list[int]
    steps: int = 0
    whole: bool = False
    dead: int | None = None
    edges: list[list[tuple[int, int]]] | None = None


def counting(found: Visit, answer: Answer) -> Answer:
    """The answer with the numbers of markings and steps that were visited for it."""
    return replace(answer, states=len(found.markings), transitions=found.steps)


def glance(net: Net, limits: Limits) -> int:
    """The number of markings of which it takes a second or two, and few bytes, to visit them."""
    size = len(net.transitions) + len(net.places)
    most = max(50, min(GLANCE, GLANCE_WORK // max(1, size)))
    return most if limits.markings is None else min(most, limits.markings)


def run_to(visit: Visit, marking: int) -> list[int]:
    """The steps from the first marking to the one of that number."""
    found = []
    while visit.before[marking] >= 0:
        found.append(visit.step[marking])
        marking = visit.before[marking]
    return found[::-1]


def visit(net: Net, limits: Limits, most: int, *, edges: bool = False,
          stop_at_dead: bool = True) -> Visit:
    """Visit at most so many markings breadth first, until one is dead or all are known.

    Raises OutOfTime.
    """
    first = tuple(net.initial)
    found = Visit([first], [-1], [-1], edges=[] if edges else None)
    known = {first: 0}
    every = range(len(net.transitions))
    at = work = 0
    while at < len(found.markings):
        marking, any_enabled = found.markings[at], False
        out: list[tuple[int, int]] = []
        work += len(every)
        for each in every:
            if not net.enabled(marking, each):
                continue
            any_enabled = True
            found.steps += 1
            work += len(marking)
            if work > LOOK:
                limits.deadline.check(PHASE)
                work = 0
            after = list(marking)
            net.fire(after, each)
            key = tuple(after)
            place = known.get(key)
            if place is None:
                place = known[key] = len(found.markings)
                found.markings.append(key)
                found.before.append(at)
                found.step.append(each)
                if place >= most:
                    return found
            out.append((each, place))
        if found.edges is not None:
            found.edges.append(out)
        if not any_enabled and found.dead is None:
            found.dead = at
            if stop_at_dead:
                return found
        at += 1
    found.whole = True
    return found


def stubborn_search(net: Net, limits: Limits, most: int) -> Answer:
    """Decide whether a dead marking is reachable, by stubborn sets, in at most so many markings.

    Raises OutOfTime.
    """
    sets = _Stubborn(net)
    first = tuple(net.initial)
    before: dict[bytes | tuple[int, ...], tuple[tuple[int, ...], int] | None] = {
        _packed(first): None}
    todo, steps, work = [first], 0, 0
    while todo:
        work += len(net.transitions)
        marking = todo.pop()
        chosen = sets.of(marking)
        if not chosen:
            return Answer(Outcome.VIOLATED, "found by search with stubborn sets",
                          run=_back(before, marking), states=len(before), transitions=steps)
        for each in chosen:
            steps += 1
            work += len(marking)
            if work > LOOK:
                limits.deadline.check(PHASE)
                work = 0
            after = list(marking)
            net.fire(after, each)
            key = _packed(after)
            if key not in before:
                before[key] = marking, each
                todo.append(tuple(after))
                if len(before) > most:
                    return Answer(Outcome.UNKNOWN, "search, incomplete",
                                  f"more than {most:,} markings", states=len(before),
                                  transitions=steps)
    return Answer(Outcome.HOLDS, "search with stubborn sets, all markings that they need",
                  states=len(before), transitions=steps)


def _packed(marking: Sequence[int]) -> bytes | tuple[int, ...]:
    """The marking in fewer bytes, where all numbers fit one."""
    try:
        return bytes(marking)
    except ValueError:
        try:
            return array("Q", marking).tobytes() + b"Q"
        except OverflowError:
            return tuple(marking)


def _back(
    before: dict[bytes | tuple[int, ...], tuple[tuple[int, ...], int] | None],
    marking: tuple[int, ...],
) -> tuple[int, ...]:
    found = []
    while (link := before[_packed(marking)]) is not None:
        marking, step = link
        found.append(step)
    return tuple(found[::-1])


class _Stubborn:
    """Stubborn sets of the markings of a net."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.rivals = [sorted({other for place, _ in takes for other in net.consumers[place]})
                       for takes in net.takes]
        raisers: list[list[int]] = [[] for _ in net.places]
        for each, change in enumerate(net.changes):
            for place, number in change:
                if number > 0:
                    raisers[place].append(each)
        self.raisers = raisers

    def of(self, marking: Sequence[int]) -> list[int]:
        """The enabled transitions of a small stubborn set; none in a dead marking."""
        enabled = {each for each in range(len(self.net.transitions))
                   if self.net.enabled(marking, each)}
        best = sorted(enabled)
        for start in best[:STARTS]:
            found = self._closed(start, marking, enabled, len(best))
            if found is not None and len(found) < len(best):
                best = found
            if len(best) <= 1:
                break
        return best

    def _closed(
        self, start: int, marking: Sequence[int], enabled: set[int], most: int
    ) -> list[int] | None:
        """The enabled ones of the set that begins with ``start``; None if they are not fewer."""
        inside, todo, found = {start}, [start], []
        while todo:
            each = todo.pop()
            if each in enabled:
                found.append(each)
                if len(found) >= most:
                    return None
                more = self.rivals[each]
            else:
                lacking = [place for place, weight in self.net.takes[each]
                           if marking[place] < weight]
                more = min((self.raisers[place] for place in lacking),
                           key=lambda some: sum(other not in inside for other in some))
            for other in more:
                if other not in inside:
                    inside.add(other)
                    todo.append(other)
        return sorted(found)
