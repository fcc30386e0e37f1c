"""Runs for all values of the parameters: legs of transitions, made so many times as a form says.

A run at one point shows which transitions are made again and again, and in which order. How often
each leg is made is looked for as a linear form of the parameters, so that the run fits several
points at once. Whether such a run is one at *all* points where the design deadlocks is a question
of linear inequalities: each transition's guards the first and the last time that it is made
(between them they are true as well, as every counter grows or falls evenly), and that nothing can
move at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..equations.legs import Leg
from ..net.counters import Counters, Transition
from ..reading.symbols import Form, form_of
from .regions import settled

__all__ = ["ONCE", "Paths", "Schedule", "fitted", "paths_of"]

Values = Mapping[str, int]
FACTORS: Final = (1, 3)
"""The most that a parameter's factor may be, tried in this order."""
MAX_TRANSITIONS: Final = 400
"""Transitions of all legs of a run that is generalised."""
EFFORT: Final = 2_000_000

ONCE: Final = Form(constant=1)
Paths = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Schedule:
    """A run: each of ``paths`` is gone ``times`` times; ``samples`` are points that its
    forms were fitted to."""

    paths: Paths
    times: tuple[Form, ...]
    samples: tuple[Values, ...]

    def is_run(self, net: Counters) -> str | None:
        """The condition that this is a run of the net, and that no transition is possible after it
        and work is left, in SMT-LIB; None where that is no matter of linear inequalities."""
        try:
            return f"(and true {' '.join(self._demands(net))})"
        except _NotLinear:
            return None

    def fills(self, net: Counters, queue: int, enough: Callable[[str], str]) -> str:
        """The condition that this is a run of the net after which the counter ``queue`` is
        ``enough``, in
        SMT-LIB; false where that is no matter of linear inequalities.
        """
        marking = [_form(counter.start) for counter in net.counters]
        try:
            steps = [*self._steps(net, marking)]
        except _NotLinear:
            return "false"
        return f"(and {' '.join(steps)} {enough(marking[queue].text)})"

    def _demands(self, net: Counters) -> Iterator[str]:
        marking = [_form(counter.start) for counter in net.counters]
        yield from self._steps(net, marking)
        for transition in net.transitions:
            yield f"(or false {' '.join(_closed(transition, marking))})"
        if net.may_end:
            left = [f"(> {here.text} {_form(counter.rest).text})"
                    for here, counter in zip(marking, net.counters, strict=True)]
            yield f"(or {' '.join(left)})"

    def _steps(self, net: Counters, marking: list[Form]) -> Iterator[str]:
        """The conditions that each leg can be made, one after another; ``marking`` is then the end
        of all.
        """
        for path, times in zip(self.paths, self.times, strict=True):
            transitions = [net.transitions[number] for number in path]
            yield f"(>= {times.text} 0)"
            first = list(_guarded(net, transitions, marking))
            last = list(_guarded(net, transitions,
                                 _after(marking, transitions, times.plus(ONCE, -1))))
            if times == ONCE:
                yield from first
            else:
                yield f"(or (= {times.text} 0) (and {' '.join((*first, *last))}))"
            marking[:] = _after(marking, transitions, times)


def paths_of(legs: Sequence[Leg]) -> Paths | None:
    """The path of each leg of a run, whole; None for a run with too many transitions."""
    path: list[int] = []
    found: list[tuple[int, ...]] = []
    for leg in legs:
        path[leg.keep:] = leg.then
        found.append(tuple(path))
    return tuple(found) if sum(map(len, found)) <= MAX_TRANSITIONS else None


def fitted(net: Counters, paths: Paths, samples: Sequence[Values]) -> Schedule | None:
    """A run that goes these paths and deadlocks at all of the samples; None if none is found."""
    names = [name for name in samples[0] if len({sample[name] for sample in samples}) > 1]
    for most in FACTORS:
        found = _Fitting(net, paths, names, most).times(samples)
        if found is not None:
            return Schedule(paths, found, tuple(samples))
    return None


class _Fitting:
    """The factors of each leg's form as unknowns of the solver."""

    def __init__(self, net: Counters, paths: Paths, names: Sequence[str], most: int) -> None:
        self.net = net
        self.paths = paths
        self.names = names
        self.most = most

    def times(self, samples: Sequence[Values]) -> tuple[Form, ...] | None:
        """The forms, if there are such that fit all samples."""
        from .asking import Unanswered, answered
        said, unknowns = [], []
        for leg in range(len(self.paths)):
            unknowns.append(_unknown(leg, ""))
            said.append(f"(declare-const |{_unknown(leg, '')}| Int)")
            for name in self.names:
                unknown = _unknown(leg, name)
                unknowns.append(unknown)
                said.append(f"(declare-const |{unknown}| Int)")
                said.append(f"(assert (and (<= (- {self.most}) |{unknown}|) "
                            f"(<= |{unknown}| {self.most})))")
        for sample in samples:
            forms = tuple(Form.of({_unknown(leg, ""): 1, **{
                _unknown(leg, name): sample[name] for name in self.names}})
                for leg in range(len(self.paths)))
            wanted = Schedule(self.paths, forms, ()).is_run(settled(self.net, sample))
            if wanted is None:
                return None
            said.append(f"(assert {wanted})")
        try:
            found = answered(said, unknowns, EFFORT)
        except Unanswered:
            return None
        return None if found is None else tuple(
            Form.of({name: found[_unknown(leg, name)] for name in self.names},
                    found[_unknown(leg, "")]) for leg in range(len(self.paths)))


def _unknown(leg: int, name: str) -> str:
    return f"leg{leg}.{name}"


class _NotLinear(Exception):
    """A product of two forms."""


def _form(value: Any) -> Form:
    found = form_of(value)
    assert found is not None
    return found


def _product(one: Form, other: Form) -> Form:
    if not one.factors:
        return Form().plus(other, one.constant)
    if not other.factors:
        return Form().plus(one, other.constant)
    raise _NotLinear


def _after(marking: Sequence[Form], transitions: Sequence[Transition], times: Form) -> list[Form]:
    """The counters after transitions that are all made so many times."""
    change: dict[int, Form] = {}
    for transition in transitions:
        for n, by in transition.change.items():
            change[n] = change.get(n, Form()).plus(_form(by))
    found = list(marking)
    for n, in_all in change.items():
        found[n] = found[n].plus(_product(in_all, times))
    return found


def _guarded(
    net: Counters, transitions: Sequence[Transition], marking: Sequence[Form]
) -> Iterator[str]:
    """The conditions that these transitions can be made one after another."""
    here = list(marking)
    for transition in transitions:
        for n, least in transition.least.items():
            yield f"(>= {here[n].text} {_form(least).text})"
        for n, most in transition.most.items():
            yield f"(<= {here[n].text} {_form(most).text})"
        for n, by in transition.change.items():
            here[n] = here[n].plus(_form(by))
            yield f"(>= {here[n].text} 0)"
            end = net.counters[n].most
            if end is not None:
                yield f"(<= {here[n].text} {_form(end).text})"


def _closed(transition: Transition, marking: Sequence[Form]) -> Iterator[str]:
    """Each reason for which a transition cannot be made."""
    for n, least in transition.least.items():
        yield f"(< {marking[n].text} {_form(least).text})"
    for n, most in transition.most.items():
        yield f"(> {marking[n].text} {_form(most).text})"
