"""Runs in which each transition is made as often as it can be before another one is, for all
values.

In such a run a leg is one transition, and how often it is made is how much room there is: a linear
form of the parameters, known without a search for it. So it is the same run at many points, where
one that goes deep into one place first is another at each (of nested calls: all first ones, then
all second ones, and not one call to its end).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..net.counters import Counters, Transition
from ..reading.symbols import Form, form_of
from .schedules import ONCE, Schedule

__all__ = ["eager"]

MAX_TIMES: Final = 10**9
"""A transition that is made more often than this has no end."""
MAX_LEGS: Final = 16
"""Legs of a run that does not end the design."""

Values = Mapping[str, int]


def eager(net: Counters, point: Values, ends: bool = True) -> Schedule | None:
    """Such a run of a net with symbols; where it ``ends`` the design, nothing moves at its end at
    the point and work is left; None where that is not so, or where a transition comes a second
    time. It has no samples: its forms are what they must be."""
    marking = [_form(counter.start) for counter in net.counters]
    made: list[tuple[int, Form]] = []
    while ends or len(made) < MAX_LEGS:
        found = next(((number, times) for number, transition in enumerate(net.transitions)
                      if (times := _times(net, transition, marking, point)).at(point) > 0), None)
        if found is None:
            break
        number, times = found
        transition = net.transitions[number]
        again = ends and any(number == other for other, _ in made)
        if again or transition.fails or times.at(point) >= MAX_TIMES:
            return None
        made.append(found)
        for n, change in transition.change.items():
            by = _form(change)
            marking[n] = marking[n].plus(by) if times == ONCE else marking[n].plus(
                times, by.constant)
    if ends and net.may_end and not any(here.at(point) > _form(counter.rest).at(point)
                               for here, counter in zip(marking, net.counters, strict=True)):
        return None
    return Schedule(tuple((number,) for number, _ in made), tuple(times for _, times in made), ())


def _times(net: Counters, transition: Transition, marking: list[Form], point: Values) -> Form:
    """Times that a transition can be made here: the form that says so at the point and near it; 0
    where it cannot. One that adds a form is made once."""
    least = ONCE if any(_form(by).factors for by in transition.change.values()) else Form(
        constant=MAX_TIMES)
    for room, by in _rooms(net, transition, marking, point):
        if room.at(point) < 0:
            return Form()
        fits = room if by == 1 else Form(constant=room.at(point) // by) if by else least
        if fits.at(point) < least.at(point):
            least = fits
    return least


def _rooms(
    net: Counters, transition: Transition, marking: list[Form], point: Values
) -> Iterator[tuple[Form, int]]:
    """For each guard how much there is of what each time takes so much away; less than 0 where the
    move cannot be made at all."""
    for n, bound in transition.least.items():
        by = max(0, -_form(transition.change.get(n, 0)).at(point))
        yield marking[n].plus(_form(bound), -1).plus(ONCE, by), by
    for n, bound in transition.most.items():
        by = max(0, _form(transition.change.get(n, 0)).at(point))
        yield _form(bound).plus(marking[n], -1).plus(ONCE, by), by
    for n, change in transition.change.items():
        by, most = _form(change).at(point), net.counters[n].most
        if by < 0:
            yield marking[n], -by
        elif most is not None:
            yield _form(most).plus(marking[n], -1), by


def _form(value: Any) -> Form:
    found = form_of(value)
    assert found is not None
    return found
