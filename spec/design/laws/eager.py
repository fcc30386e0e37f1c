"""Runs in which each move is made as often as it can be before another one is, for all values.

In such a run a leg is one move, and how often it is made is how much room there is: a linear form
of the parameters, known without a search for it. So it is the same run at many points, where one
that goes deep into one place first is another at each (of nested calls: all first ones, then all
second ones, and not one call to its end).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..net.counters import Counters, Move
from ..reading.symbols import Form, form_of
from .schedules import ONCE, Schedule

__all__ = ["eager"]

MAX_TIMES: Final = 10**9
"""What is made more often than this has no end."""

Values = Mapping[str, int]


def eager(net: Counters, point: Values) -> Schedule | None:
    """Such a run of a net with symbols, which gets stuck at the point; None where it does not, or
    where a move comes a second time. It has no samples: its forms are what they must be."""
    marking = [_form(counter.start) for counter in net.counters]
    made: dict[int, Form] = {}
    while True:
        found = next(((number, times) for number, move in enumerate(net.moves)
                      if (times := _times(net, move, marking, point)).at(point) > 0), None)
        if found is None:
            break
        number, times = found
        move = net.moves[number]
        if number in made or move.fails or times.at(point) >= MAX_TIMES or not all(
                _form(by).factors == () for by in move.change.values()):
            return None
        made[number] = times
        for n, by in move.change.items():
            marking[n] = marking[n].plus(times, int(by))
    if net.may_end and not any(here.at(point) > _form(counter.rest).at(point)
                               for here, counter in zip(marking, net.counters, strict=True)):
        return None
    return Schedule(tuple((number,) for number in made), tuple(made.values()), ())


def _times(net: Counters, move: Move, marking: list[Form], point: Values) -> Form:
    """How many times a move can be made here: the form that says so at the point and near it; 0
    where it cannot."""
    least = Form(constant=MAX_TIMES)
    for room, by in _rooms(net, move, marking):
        if room.at(point) < 0:
            return Form()
        fits = room if by == 1 else Form(constant=room.at(point) // by) if by else least
        if fits.at(point) < least.at(point):
            least = fits
    return least


def _rooms(net: Counters, move: Move, marking: list[Form]) -> Iterator[tuple[Form, int]]:
    """For each guard how much there is of what each time takes so much away; less than 0 where the
    move cannot be made at all."""
    for n, bound in move.least.items():
        by = max(0, -_constant(move.change.get(n, 0)))
        yield marking[n].plus(_form(bound), -1).plus(ONCE, by), by
    for n, bound in move.most.items():
        by = max(0, _constant(move.change.get(n, 0)))
        yield _form(bound).plus(marking[n], -1).plus(ONCE, by), by
    for n, change in move.change.items():
        by, most = _constant(change), net.counters[n].most
        if by < 0:
            yield marking[n], -by
        elif most is not None:
            yield _form(most).plus(marking[n], -1), by


def _constant(by: Any) -> int:
    return _form(by).constant


def _form(value: Any) -> Form:
    found = form_of(value)
    assert found is not None
    return found
