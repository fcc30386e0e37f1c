"""Laws: formulas of the parameters that say at which values of them a design deadlocks.

The design is read with symbols in place of its parameters (``reading.symbols``): what comes out
stands for all values that give the same answers to what was asked while it was read, a *region*.
cvc5 is asked for values that are in no region yet, until there are none. In each region:

- *where the formula is true, there is no deadlock*: of the sums that the certificate offers, those
  count that no transition changes there; cvc5 finds no values and no state that keep them, in which
  the formula is true, no transition is possible and work is left;
- *where it is false, there is one*: the certificate has runs with legs that are made as often as
  forms of the parameters say. Each round of a leg adds the same, so what is possible in the first
  round and in the last is possible in each between. cvc5 finds no values at which the formula is
  false and none of the runs is one that ends in a deadlock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from ..design.reading.language import Design
from ..design.reading.symbols import Form, Notes, form_of
from ..notation.errors import InputError
from .transitions import system_of
from .parts import parts_of
from .run import Refuted
from .solver import all_of, any_of, model, never, number
from .system import NotCovered, System

__all__ = ["Made", "check_law"]

MAX_REGIONS = 400
Made = Callable[[Mapping[str, Any]], Design]
"""Makes the design at a point; its values may be symbols."""

Amounts = Mapping[str, Form]


def check_law(certificate: Mapping[str, Any], made: Made) -> str:
    """Check what a certificate of a law says; what was shown, in words. Raises Refuted, NotCovered.
    """
    told = [formula_words(certificate["law"])]
    if "holds" in certificate:
        side = certificate["holds"]
        law = _Law(certificate["law"], side["values"], made, side["fixing"])
        law.holds(side["sums"])
        told.append(f"where it is true, there is no deadlock, {law}")
    if "violated" in certificate:
        side = certificate["violated"]
        law = _Law(certificate["law"], side["values"], made, side["fixing"])
        law.violated(side["runs"])
        told.append(f"where it is false, each design can, {law}")
    return "; ".join(told)


def formula_words(formula: Mapping[str, Any]) -> str:
    """The formula as a reader writes it, such as ``room - size >= -1``."""
    if not formula["atoms"]:
        return "true" if formula["joint"] == "and" else "false"
    return f" {formula['joint']} ".join(map(_atom_words, formula["atoms"]))


def _atom_words(atom: Mapping[str, Any]) -> str:
    """A sum of terms, and the least that it may be."""
    forms = {"one": "{0}", "product": "{0}*{1}", "gcd": "gcd({0}, {1})",
             "rest": "({2} mod gcd({0}, {1}))"}
    text = ""
    for kind, names, factor in atom["factors"]:
        sign = "-" if factor < 0 else "+"
        times = "" if abs(factor) == 1 else f"{abs(factor)}*"
        text += f" {sign} {times}{forms[kind].format(*names)}"
    return f"{text.removeprefix(' + ').strip() or 0} >= {atom['least']}"


@dataclass
class _Part:
    """A connected part of the design in a region: its counters and transitions, with forms."""

    start: dict[str, Form] = field(default_factory=dict)
    most: dict[str, Form] = field(default_factory=dict)
    rest: dict[str, Form] = field(default_factory=dict)
    transitions: list[_Transition] = field(default_factory=list)
    ends: bool = False


@dataclass
class _Transition:
    need: Amounts
    room: Amounts
    change: Amounts
    fails: bool


@dataclass
class _Region:
    """A region: the parts where all of ``said`` is true; ``fixed`` parameters have one value."""

    said: list[str]
    fixed: Mapping[str, int]
    parts: list[_Part]


class _Law:
    """A formula, the values that it is about, and the regions that these fall into."""

    def __init__(
        self, formula: Mapping[str, Any], values: Mapping[str, Sequence[int]], made: Made,
        fixing: bool,
    ) -> None:
        self.formula, self.made = formula, made
        self.ranges = {name: (low, high) for name, (low, high) in values.items()}
        if any(low > high for low, high in self.ranges.values()):
            raise Refuted("it is about no values at all")
        if any({"|", "\\"} & {*name} for name in self.ranges):
            raise NotCovered("a name that the solver cannot read")
        self.domain = [f"(declare-const |{name}| Int)" for name in self.ranges] + [
            f"(assert (and (>= |{name}| {number(low)}) (<= |{name}| {number(high)})))"
            for name, (low, high) in self.ranges.items()]
        self.logic = "QF_NIA" if any(kind == "product" for atom in self.formula["atoms"]
                                     for kind, _, _ in atom["factors"]) else "QF_LIA"
        self.regions: list[_Region] = []
        self._cover(fixing)

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {low:,}..{high:,}" for name, (low, high) in
                           self.ranges.items())
        return f"for {values} ({len(self.regions):,} region{'s'[:len(self.regions) != 1]})"

    def _cover(self, fixing: bool) -> None:
        """Find regions until every value is in one."""
        while (point := model([*self.domain, *(f"(assert (not {all_of(region.said)}))"
                                               for region in self.regions)], self.ranges)):
            if len(self.regions) == MAX_REGIONS:
                raise NotCovered(f"the design is another one in more than {MAX_REGIONS} regions")
            self.regions.append(self._region(point, fixing))

    def _region(self, point: Mapping[str, int], fixing: bool) -> _Region:
        """The region of a point: the conditions on its parameters that the design was made under.
        """
        notes = Notes(point)
        symbols = notes.symbols()
        for name in self._divided():
            int(symbols[name])  # is one number in each region
        try:
            systems = [system_of(part) for part in parts_of(self.made(symbols))]
        except InputError:  # the language has no such design
            systems = []
        for system in systems if fixing else ():
            for transition in system.transitions:
                transition.add = {name: int(by) for name, by in transition.add.items()}
        notes.closed = True
        alone = [each.form.factors[0][0] for each in notes.conditions
                 if each.relation == "=" and len(each.form.factors) == 1]
        fixed = {name: point[name] for name in alone}
        return _Region([each.text for each in notes.conditions], fixed,
                       [_part(system, fixed) for system in systems])

    def _divided(self) -> set[str]:
        """The parameters of which the formula has a greatest common divisor."""
        return {name for atom in self.formula["atoms"] for kind, names, _ in atom["factors"]
                if kind in ("gcd", "rest") for name in names[:2] if name in self.ranges}

    # --- where it is true ---------------------------------------------------------------------

    def holds(self, offered: Sequence[Mapping[str, Any]]) -> None:
        """Check that no state is a deadlock where the formula is true."""
        sums = [{name: self._form(told) for name, told in each.items()} for each in offered]
        for region in self.regions:
            for part in region.parts:
                told = [*self.domain, *map(_assert, region.said),
                        _assert(self._text(region.fixed)), *_deadlocked_in(part, [
                            {name: form.settled(region.fixed) for name, form in weights.items()}
                            for weights in sums if weights.keys() <= part.start.keys()])]
                if not never(told, self.logic):
                    raise Refuted("the formula allows a deadlock that keeps the sums")
        self._says_something("true", "{}")

    # --- where it is false --------------------------------------------------------------------

    def violated(self, told: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        """Check that one of the runs ends in a deadlock wherever the formula is false."""
        runs = [[([{name: self._form(by) for name, by in step.items()} for step in leg["steps"]],
                  self._form(leg["times"])) for leg in legs] for legs in told]
        for region in self.regions:
            if not region.parts:
                continue
            possible = [all_of(demands) for run in runs for part in region.parts
                        if (demands := _demands(part, run, region.fixed)) is not None]
            if not never([*self.domain, *map(_assert, region.said),
                          _assert(f"(not {self._text(region.fixed)})"),
                          *(_assert(f"(not {each})") for each in possible)], self.logic):
                raise Refuted("the formula is false at values where no run ends in a deadlock")
        self._says_something("false", "(not {})")

    def _says_something(self, truth: str, form: str) -> None:
        """Refuse a side that is about no values: whatever is said of them would be right."""
        if all(never([*self.domain, *map(_assert, region.said),
                      _assert(form.format(self._text(region.fixed)))], self.logic)
               for region in self.regions):
            raise Refuted(f"the formula is {truth} at none of the values that this side is about")

    # --- what a certificate says --------------------------------------------------------------

    def _form(self, told: Mapping[str, int] | int) -> Form:
        """A sum of parameters (and a constant, under the empty name)."""
        factors = {"": told} if isinstance(told, int) else dict(told)
        constant = factors.pop("", 0)
        if not factors.keys() <= self.ranges.keys():
            raise Refuted(f"there is no parameter {min(factors.keys() - self.ranges.keys())!r}")
        return Form.of(factors, constant)

    def _text(self, fixed: Mapping[str, int]) -> str:
        """The formula as a question to the solver."""
        atoms = []
        for atom in self.formula["atoms"]:
            terms = [f"(* {number(factor)} {self._term(kind, names, fixed)})"
                     for kind, names, factor in atom["factors"]]
            atoms.append(f"(>= (+ 0 {' '.join(terms)}) {number(atom['least'])})")
        return all_of(atoms) if self.formula["joint"] == "and" else any_of(atoms)

    def _term(self, kind: str, names: Sequence[str], fixed: Mapping[str, int]) -> str:
        if not {*names} <= self.ranges.keys():
            raise Refuted("the formula has a name that is no parameter")
        told = [number(fixed[name]) if name in fixed else f"|{name}|" for name in names]
        if kind == "one":
            return told[0]
        if kind == "product":
            return f"(* {told[0]} {told[1]})"
        if not {*names[:2]} <= fixed.keys():
            raise NotCovered("a greatest common divisor of parameters that have no value")
        common = gcd(*(fixed[name] for name in names[:2]))
        return number(common) if kind == "gcd" else f"(mod {told[2]} {common or 1})"


# --- a part, with forms ---------------------------------------------------------------------------

def _part(system: System, fixed: Mapping[str, int]) -> _Part:
    def forms(amounts: Mapping[str, Any]) -> dict[str, Form]:
        return {name: _as_form(value).settled(fixed) for name, value in amounts.items()}

    found = _Part(ends=system.ends)
    found.start = forms({name: each.start for name, each in system.counters.items()})
    found.most = forms({name: each.most for name, each in system.counters.items()
                        if each.most is not None})
    found.rest = forms({name: each.rest for name, each in system.counters.items()
                        if each.rest is not None})
    for transition in system.transitions:
        change = {name: by for name, by in forms(transition.add).items() if by != Form()}
        found.transitions.append(_Transition(
            forms(transition.need), forms(transition.room), change, transition.fails))
    return found


def _as_form(value: Any) -> Form:
    form = form_of(value)
    assert form is not None
    return form


def _deadlocked_in(part: _Part, sums: Sequence[Amounts]) -> Iterator[str]:
    """The assertions that a state is within the ranges, keeps the invariants, and is a deadlock."""
    name_of = {name: f"c{n}" for n, name in enumerate(part.start)}
    for name, here in name_of.items():
        changes = [each.change[name] for each in part.transitions if name in each.change]
        yield f"(declare-const {here} Int)"
        yield _assert(f"(>= {here} 0)")
        if name in part.most:
            yield _assert(f"(<= {here} {part.most[name].text})")
        if not changes:
            yield _assert(f"(= {here} {part.start[name].text})")
        elif not any(by.factors for by in changes):
            step = gcd(*(by.constant for by in changes))
            yield f"(declare-const times{here} Int)"
            yield _assert(f"(= {here} (+ {part.start[name].text} (* {step} times{here})))")
    for weights in sums:
        total = _kept(part, weights)
        if total is not None:
            terms = " ".join(_times(weight, name_of[name]) for name, weight in weights.items())
            yield _assert(f"(= (+ 0 {terms}) {total.text})")
    for transition in part.transitions:
        yield _assert(any_of(_closed(transition, name_of)))
    if part.ends:
        yield _assert(_work_left(part, name_of))


def _closed(transition: _Transition, here: Mapping[str, str]) -> Iterator[str]:
    """Each reason for which a transition is not possible."""
    yield from (f"(< {here[name]} {least.text})" for name, least in transition.need.items())
    yield from (f"(> {here[name]} {most.text})" for name, most in transition.room.items())


def _work_left(part: _Part, here: Mapping[str, str]) -> str:
    """Not everything is done."""
    return any_of(f"(> {here[name]} {rest.text})" for name, rest in part.rest.items())


def _kept(part: _Part, weights: Amounts) -> Form | None:
    """The value of a sum at the start; None if a transition changes it, or it is undecidable."""
    try:
        if any(_sum(weights, each.change) != Form() for each in part.transitions if not each.fails):
            return None
        named = {name for name, weight in weights.items() if weight.factors}
        if any(part.most.get(name) != Form(constant=1) for name in named):
            return None
        return _sum(weights, part.start)
    except _NotLinear:
        return None


def _sum(weights: Amounts, amounts: Amounts) -> Form:
    found = Form()
    for name, weight in weights.items():
        if name in amounts:
            found = found.plus(_product(weight, amounts[name]))
    return found


def _times(weight: Form, counter: str) -> str:
    """So many times a counter, which is 0 or 1 where that is a form."""
    if weight.factors:
        return f"(ite (= {counter} 0) 0 {weight.text})"
    return f"(* {weight.text} {counter})"


# --- runs ---------------------------------------------------------------------------------------

Run = Sequence[tuple[Sequence[Amounts], Form]]


def _demands(part: _Part, run: Run, fixed: Mapping[str, int]) -> list[str] | None:
    """The conditions under which this is a run of the part into a deadlock; None if it never is."""
    here, found = dict(part.start), []
    try:
        for steps, told in run:
            times = told.settled(fixed)
            whole: dict[str, Form] = {}
            possible = []
            for step in steps:
                change = {name: by.settled(fixed) for name, by in step.items()}
                ways = [_twice(part, each, here, whole, steps, times, fixed)
                        for each in part.transitions if not each.fails and each.change == change]
                if not ways:
                    return None
                possible.append(any_of(ways))
                for name, by in change.items():
                    whole[name] = whole.get(name, Form()).plus(by)
            found += [f"(>= {times.text} 0)", f"(or (= {times.text} 0) {all_of(possible)})"]
            for name, by in whole.items():
                here[name] = here[name].plus(_product(by, times))
    except _NotLinear:
        return None
    texts = {name: form.text for name, form in here.items()}
    found += [any_of(_closed(transition, texts)) for transition in part.transitions]
    return [*found, _work_left(part, texts)] if part.ends else found


def _twice(
    part: _Part, transition: _Transition, start: Amounts, before: Amounts, steps: Sequence[Amounts],
    times: Form, fixed: Mapping[str, int],
) -> str:
    """The condition that a transition is possible after the steps before it, in the first round and
    in the last."""
    said = []
    for name in {**transition.need, **transition.room}:
        round_ = Form()
        for step in steps:
            round_ = round_.plus(step.get(name, Form()).settled(fixed))
        first = start[name].plus(before.get(name, Form()))
        last = first.plus(_product(round_, times.plus(Form(constant=-1))))
        for here in (first, last):
            if name in transition.need:
                said.append(f"(>= {here.text} {transition.need[name].text})")
            if name in transition.room:
                said.append(f"(<= {here.text} {transition.room[name].text})")
    return all_of(said)


class _NotLinear(Exception):
    """A product of two forms."""


def _product(one: Form, other: Form) -> Form:
    if not one.factors:
        return Form().plus(other, one.constant)
    if not other.factors:
        return Form().plus(one, other.constant)
    raise _NotLinear


def _assert(said: str) -> str:
    return f"(assert {said})"
