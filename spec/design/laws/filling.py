"""Proofs of how much a queue ever holds: that it is never more than a formula, and can be as much.

*Never more*: in each region of the parameters (see ``regions``) Z3 finds no values and no state
that keeps every sum of the net, in which the queue holds more. *As much as that*: runs that fill
the queue, in which each step is made as often as it can be and no task reads the queue (``eager``);
Z3 finds no values at which none of them leaves it as full as the formula says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from ...verdicts.deadline import Deadline, Spent
from ..equations.equations import Equations, GaveUp
from ..net.counters import Counters, Transition
from ..reading.symbols import Form, form_of
from .asking import Unanswered, answered
from .eager import eager
from .regions import Domain, Made, Region, Regions, TooManyRegions
from .schedules import Schedule
from .value import Value

__all__ = ["Bounded", "prove_value"]

MAX_RUNS: Final = 12
"""Runs that fill a queue in one region."""
PHASE: Final = "proving how full a queue gets"

Values = Mapping[str, int]


@dataclass(frozen=True)
class Bounded:
    """The proofs for all values of ``domain``: an empty reason says that it is proved, for the side
    that the queue holds ``never_more`` and for the one that it holds ``as_much``.
    """

    domain: Domain
    never_more: str
    as_much: str


class _Above(Equations):
    """The states that the sums allow in which a queue holds more than a formula says."""

    def __init__(self, net: Counters, queue: int, value: Value, given: Sequence[str]) -> None:
        super().__init__(net, given=given)
        self._more = value.less_than(f"c{queue}")

    def _nothing_moves(self) -> Iterator[str]:
        yield f"(assert {self._more})"
        for number, place in _counting(self.net):
            yield f"(assert (or (= c{place} 1) (= c{number} 0)))"

    def _work_is_left(self) -> Iterator[str]:
        return iter(())


def _counting(net: Counters) -> Iterator[tuple[int, int]]:
    """Counters that are 0 unless another one, which is 0 or 1, is 1: the repetitions of a step, and
    whether the script is at that step. Only a script at the step adds to them, and one that leaves
    it takes all of them."""
    places = [n for n, counter in enumerate(net.counters) if counter.value is not None]
    for number, counter in enumerate(net.counters):
        top = None if counter.most is None else form_of(counter.most)
        if counter.value is None and form_of(counter.start) == Form() and top is not None:
            yield from ((number, place) for place in places
                        if all(_keeps(transition, number, place, top)
                               for transition in net.lasting))


def _keeps(transition: Transition, number: int, place: int, top: Form) -> bool:
    """True if a transition adds to a counter only at a place, and takes all when it leaves there.

    """
    by, step = form_of(transition.change.get(number, 0)), transition.change.get(place, 0)
    assert by is not None
    if step < 0:
        return by == Form().plus(top, -1)
    there = step > 0 or transition.least.get(place, 0) >= 1
    return there or by == Form() or all(
        each <= 0 for _, each in (*by.factors, ("", by.constant)))


class _Open(Exception):
    """Why something is not proved."""


def prove_value(
    value: Value, link: str, made: Made, ranges: Mapping[str, tuple[int, int]],
    points: Sequence[Values], deadline: Deadline,
) -> Bounded:
    """Try to prove that a link's largest number of elements is what the formula says."""
    regions = Regions(made, Domain(ranges), False)
    watch = deadline.watch(PHASE)

    def tried(shown_in: Callable[[Region], None]) -> str:
        """Cover all values by regions, and show it in each; why that fails, or nothing."""
        try:
            regions.cover(points, watch)
            for region in regions.found:
                watch()
                shown_in(region)
        except _Open as told:
            return str(told)
        except TooManyRegions:
            return "the design is another one for nearly every value"
        except (Unanswered, GaveUp) as told:
            return f"the solver gave up: {told}"
        except Spent:
            return "there was no time left"
        return ""

    def below(region: Region) -> None:
        for net, queue in _nets(region, link):
            given = [*regions.domain.texts, *(f"(assert {text})" for text in region.texts)]
            left = deadline.left()
            if _Above(net, queue, value, given).deadlocked(
                    None if left == inf else int(1_000 * left)) is not None:
                raise _Open("the sums of the net allow more")

    def reached(region: Region) -> None:
        for net, queue in _nets(region, link):
            _reached_in(region, regions.domain, net, queue, value, deadline)

    never_more = tried(below)
    return Bounded(regions.domain, never_more, tried(reached))


def _nets(region: Region, link: str) -> Iterator[tuple[Counters, int]]:
    """The net of the part that has the link, and the number of the link's counter."""
    if not region.nets:
        return
    for table, net in zip(region.tables, region.nets, strict=True):
        places = {place.name for place in table.places
                  if place.role == "queue" and place.of == link}
        found = [n for n, counter in enumerate(net.counters) if counter.place in places]
        if len(found) == 1:
            yield net, found[0]
            return
    raise _Open("it is not one number in the equations")


def _takes(transition: Transition, queue: int) -> bool:
    """True if a transition leaves less in a queue."""
    form = form_of(transition.change.get(queue, 0))
    assert form is not None
    return form != Form() and all(each <= 0 for _, each in (*form.factors, ("", form.constant)))


def _reached_in(
    region: Region, domain: Domain, net: Counters, queue: int, value: Value, deadline: Deadline
) -> None:
    """Runs that leave the queue as full as that, at all values of a region."""
    kept = replace(net, transitions=[transition for transition in net.transitions if
                                     not _takes(transition, queue)])
    given = [*domain.texts, *(f"(assert {text})" for text in region.texts)]
    runs: list[Schedule] = []
    last: Values | None = None
    while True:
        deadline.check(PHASE)
        point = answered([*given, *(f"(assert (not {run.fills(kept, queue, value.at_most)}))"
                                    for run in runs)], domain.ranges, deadline=deadline)
        if point is None:
            return
        run = eager(kept, point, ends=False)
        if run is None or len(runs) == MAX_RUNS or point == last:
            shown = ", ".join(f"{name}={each}" for name, each in point.items())
            raise _Open(f"no run was found that fills it at {shown}")
        runs.append(run)
        last = point
