"""Proofs of laws: that a formula for the parameters says where a design deadlocks, for all values.

A law has two sides, and each is proved by itself, region by region (see ``regions``):

- *where it is true, no design deadlocks*: there are no parameters of the region for which it is
  true, and no state that keeps every sum of the net, in which nothing can move and work is left.
  Sums, guards and ends are linear forms of the parameters, so that is one question to Z3;
- *where it is false, every design deadlocks*: runs with legs that are made so many times as linear
  forms say (see ``schedules``) deadlock at every such point. Z3 is asked for a point at which none
  of the known runs does, and that point gives the next run.

What a step adds may be a form, too, first. Where that leaves a side open, it is tried once more
with a number for each such form: then more is known of the sums, and the parameters in it are
bounded by their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, inf
from typing import Final

from ...verdicts.deadline import Deadline, Spent
from ..equations.equations import Equations, GaveUp
from ..equations.structure import decide
from ..net.counters import Counters
from ..reading.symbols import Form, form_of
from ..why.parts import parts
from .asking import Unanswered, answered
from .eager import eager
from .law import Atom, Law, Term
from .rates import is_of_rates, proved_by_rates
from .regions import Domain, Made, Region, Regions, TooManyRegions
from .schedules import Paths, Schedule, fitted, paths_of

__all__ = ["Proof", "Side", "ToldRun", "prove"]

MAX_RUNS: Final = 40
"""Runs that are generalised in one region."""
NEAR: Final = 12
"""Points at which a run is looked for are this near to the least values, if there are such."""
SAMPLES: Final = 4
"""Other points of the grid that a run is made to fit, if it can."""

Values = Mapping[str, int]


@dataclass(frozen=True)
class ToldRun:
    """A run that deadlocks: each leg is so many steps, in words, made ``times`` times; ``changes``
    has what each step of each leg adds to which counters.
    """

    legs: tuple[tuple[tuple[str, ...], Form], ...]
    changes: tuple[tuple[Mapping[str, Form], ...], ...] = ()

    @property
    def generality(self) -> int:
        """Number of its legs that are made as often as parameters say."""
        return sum(bool(times.factors) for _, times in self.legs)


@dataclass(frozen=True)
class Side:
    """The knowledge of a side of a law: proved for all of ``domain``, or ``reason`` says why not.

    ``runs`` are those that deadlock, for the side where the law is false, and ``open_at`` is a
    point at which none was found. ``sums`` are those that exclude a deadlocked state, for the other
    one; ``fixing`` says that what steps add was made a number for them. A side that was proved
    ``by_rates`` has neither (see ``rates``).
    """

    proved: bool
    domain: Domain
    reason: str = ""
    runs: tuple[ToldRun, ...] = ()
    open_at: Values | None = None
    sums: tuple[Mapping[str, Form], ...] = ()
    fixing: bool = False
    by_rates: bool = False


@dataclass(frozen=True)
class Proof:
    """Both sides: that nothing deadlocks where the law is true, and all does where it is false."""

    holds: Side
    violated: Side

    @property
    def is_whole(self) -> bool:
        """True if both sides are proved."""
        return self.holds.proved and self.violated.proved


class _Open(Exception):
    """Why a side is not proved, and where."""

    def __init__(self, reason: str, point: Values | None = None) -> None:
        super().__init__(reason)
        self.point = point


def prove(
    law: Law, made: Made, ranges: Mapping[str, tuple[int, int]],
    deadlocked: Sequence[Values], free: Sequence[Values], deadline: Deadline, apart: bool = True,
) -> Proof:
    """Try to prove a law of the designs that ``made`` makes; the design was found to
    deadlock at some points of the grid, ``deadlocked``, and not at others, ``free``. What is known
    of single points is set ``apart``, or shown by the proof as well."""
    watch = deadline.watch("proving the law")
    found = _by_rates(law, made, ranges, [*deadlocked, *free], deadline) if apart else {}
    for fixing in (False, True):
        if len(found) == 2 and all(side.proved for side in found.values()):
            break
        regions = Regions(made, Domain(ranges), fixing)
        trying = _Trying(law, regions, deadlocked, deadline, apart)
        try:
            regions.cover([*deadlocked, *free], watch)
            reason = ""
        except TooManyRegions:
            reason = "the design is another one for nearly every value"
        except Unanswered as told:
            reason = f"the solver gave up: {told}"
        except Spent:
            reason = "there was no time left"
        for name, side in (("holds", trying.never), ("violated", trying.always)):
            if name in found and found[name].proved:
                continue
            found[name] = Side(False, regions.domain, reason) if reason else side()
    return Proof(found["holds"], found["violated"])


def _by_rates(
    law: Law, made: Made, ranges: Mapping[str, tuple[int, int]], points: Sequence[Values],
    deadline: Deadline,
) -> dict[str, Side]:
    """The sides that are proved for all rates of a link."""
    if not is_of_rates(law):
        return {}
    regions = Regions(made, Domain(ranges), False)
    try:
        sides = proved_by_rates(law, regions, points, deadline)
    except (TooManyRegions, Unanswered, Spent):
        return {}
    return {name: Side(True, regions.domain, by_rates=True)
            for name, proved in zip(("holds", "violated"), sides, strict=True) if proved}


class _Trying:
    """The two sides of a law over regions that cover the domain."""

    def __init__(
        self, law: Law, regions: Regions, deadlocked: Sequence[Values], deadline: Deadline,
        apart: bool,
    ) -> None:
        self.law = law
        self.regions = regions
        self.deadlocked = deadlocked
        self.deadline = deadline
        self.watch = deadline.watch("proving the law")
        self.apart = apart
        self.runs: list[ToldRun] = []
        self.sums: dict[tuple[tuple[str, Form], ...], None] = {}

    def never(self) -> Side:
        """Prove that no design deadlocks where the law is true."""
        return self._side(self._never_in)

    def always(self) -> Side:
        """Prove that every design deadlocks where the law is false."""
        return self._side(self._always_in)

    def _side(self, shown_in: Callable[[Region], None]) -> Side:
        try:
            for region in self.regions.found:
                shown_in(region)
        except _Open as told:
            return Side(False, self.regions.domain, str(told), open_at=told.point)
        except (Unanswered, GaveUp) as told:
            return Side(False, self.regions.domain, f"the solver gave up: {told}")
        except Spent:
            return Side(False, self.regions.domain, "there was no time left")
        return Side(True, self.regions.domain, runs=tuple(self.runs), fixing=self.regions.fixing,
                    sums=tuple(map(dict, self.sums)))

    def _never_in(self, region: Region) -> None:
        if not region.nets:
            return
        given = [*self.regions.domain.texts, *_asserted(region.texts),
                 *_asserted([_law_text(self.law, region.fixed)])]
        for net in region.nets:
            self.watch()
            equations = Equations(net, self.watch, given)
            left = self.deadline.left()
            if equations.deadlocked(None if left == inf else int(1_000 * left)) is not None:
                raise _Open("the sums of the net allow a deadlocked state")
            for weights, _ in equations.sums:
                self.sums[tuple(_amounts(net, weights).items())] = None

    def _always_in(self, region: Region) -> None:
        """Add runs until each point of a region where the law does not hold has one that ends in a
        deadlock; raises ``_Open`` if that takes too many."""
        if not region.nets:
            return
        given = [*self.regions.domain.texts, *_asserted(region.texts),
                 *_asserted([f"(not {_law_text(self.law, region.fixed)})"]),
                 *_asserted(f"(not {_just(point)})" for point in self.deadlocked
                            if self.apart and region.has(point))]
        runs: list[tuple[Schedule, int]] = []
        while True:
            self.watch()
            covered = [f"(not {run.is_run(region.nets[part])})" for run, part in runs]
            point = _near([*given, *_asserted(covered)], self.regions.domain, self.deadline)
            if point is None:
                break
            if len(runs) >= MAX_RUNS:
                raise _Open(f"{MAX_RUNS} runs do not reach all of them")
            runs = self._with_run(region, runs, point)
        self.runs += [_told(run, region, part) for run, part in runs]

    def _with_run(
        self, region: Region, runs: list[tuple[Schedule, int]], point: Values
    ) -> list[tuple[Schedule, int]]:
        """The runs with one that deadlocks at the point, if need be in place of another."""
        for place, (run, part) in enumerate(runs):
            if not run.samples:  # its forms are what they must be
                continue
            wider = fitted(region.nets[part], run.paths, [*run.samples, point])
            if wider is not None and wider.is_run(region.nets[part]) is not None:
                return [*runs[:place], (wider, part), *runs[place + 1:]]
        return [*runs, self._run(region, point)]

    def _run(self, region: Region, point: Values) -> tuple[Schedule, int]:
        """A run that deadlocks at the point, and at others of the grid if it can be made to."""
        for part, net in enumerate(region.nets):
            run = eager(net, point)
            if run is not None and run.is_run(net) is not None:
                return run, part
        for part, design in enumerate(parts(self.regions.made(point))):
            answer = decide(design, self.deadline)
            paths = None if answer.legs is None else paths_of(answer.legs)
            run = None if paths is None else self._widened(region, part, paths, point)
            if run is not None:
                return run, part
        shown = ", ".join(f"{name}={value}" for name, value in point.items())
        raise _Open(f"no run was found that deadlocks at {shown}", point)

    def _widened(
        self, region: Region, part: int, paths: Paths, point: Values
    ) -> Schedule | None:
        """A run along these paths that fits the point, and as many others as it can."""
        net = region.nets[part]
        best = fitted(net, paths, [point])
        if best is None:  # else it is linear: each leg is made a number of times, which is no form
            return None
        others = [each for each in self.deadlocked if region.has(each)]
        for other in others[::max(1, len(others) // SAMPLES)]:
            self.watch()
            wider = fitted(net, paths, [*best.samples, other])
            if wider is not None and wider.is_run(net) is not None:
                best = wider
        return best


def _told(run: Schedule, region: Region, part: int) -> ToldRun:
    net, rows = region.nets[part], region.tables[part].rows
    legs = [(path, times) for path, times in zip(run.paths, run.times, strict=True)
            if times != Form()]
    return ToldRun(
        tuple((tuple(rows[net.transitions[number].row].label for number in path), times)
              for path, times in legs),
        tuple(tuple(_amounts(net, net.transitions[number].change) for number in path)
              for path, _ in legs))


def _amounts(net: Counters, amounts: Mapping[int, int]) -> dict[str, Form]:
    """Numbers of counters by their names, which may be symbols, as forms."""
    found = {}
    for n, value in amounts.items():
        form = form_of(value)
        assert form is not None
        found[net.counters[n].name] = form
    return found


def _near(said: Sequence[str], domain: Domain, deadline: Deadline) -> dict[str, int] | None:
    """A point of which all of this is true, near to the least values if there is one."""
    near = [f"(assert (<= |{name}| {max(low, 0) + NEAR}))" for name, (low, _) in
            domain.ranges.items()]
    return answered([*said, *near], domain.ranges, deadline=deadline) or answered(
        said, domain.ranges, deadline=deadline)


# --- a law in SMT-LIB ------------------------------------------------------------------------

def _asserted(conditions: Iterable[str]) -> list[str]:
    return [f"(assert {condition})" for condition in conditions]


def _just(point: Values) -> str:
    return f"(and {' '.join(f'(= |{name}| {value})' for name, value in point.items())})"


def _law_text(law: Law, fixed: Values) -> str:
    atoms = " ".join(_atom_text(atom, fixed) for atom in law.atoms)
    return f"({law.joint} {'true' if law.joint == 'and' else 'false'} {atoms})"


def _atom_text(atom: Atom, fixed: Values) -> str:
    parts = " ".join(f"(* {_number(factor)} {_term_text(term, fixed)})"
                     for term, factor in atom.factors)
    return f"(>= (+ 0 {parts}) {_number(atom.least)})"


def _term_text(term: Term, fixed: Values) -> str:
    kind, names = term
    told = [_number(fixed[name]) if name in fixed else f"|{name}|" for name in names]
    if kind == "product":
        return f"(* {told[0]} {told[1]})"
    if kind == "one":
        return told[0]
    if not {*names[:2]} <= fixed.keys():
        raise _Open("a greatest common divisor of parameters is more than the solver is asked")
    common = gcd(*(fixed[name] for name in names[:2]))
    return _number(common) if kind == "gcd" else f"(mod {told[2]} {common or 1})"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
