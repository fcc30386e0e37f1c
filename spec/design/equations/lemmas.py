"""Facts that hold in every reachable state of a design and exclude a state that is not reachable.

A *clause* is a choice of linear inequalities, one of which is always true. It is found for a
state that the equations allow, as one that is false there, true at the start, and kept by every
move. Three shapes are tried, the cheapest first:

- *descent*: one sum that no transition raises. It exists exactly where no amounts of transitions
  lead from the start to the state, whatever their order (the state equation; Farkas 1902).
- *trap*: bounds of single counters, of which each transition that may end one leaves another true
  (Commoner 1971; here with numbers, and with upper bounds beside the lower ones).
- *barrier*: one sum that a transition may raise only where its guards keep it below the bound: a
  merge that prefers its feedback reads another input only while the feedback is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm

from ...verdicts.solver import z3_context
from ..net.counters import Counters, Transition
from ..reading.symbols import told

__all__ = ["Bound", "Clause", "Inequality", "descent", "barrier", "trap"]

EFFORT = 4_000_000
"""Effort of the solver for one clause, in its own units (about a second)."""
MAX_SHORTENED = 60
"""Bounds of a trap that are tried to be left out."""


@dataclass(frozen=True)
class Inequality:
    """The weighted sum of some counters is at most ``total``."""

    weights: Mapping[int, int]
    total: int

    def holds(self, values: Sequence[int]) -> bool:
        """True if it is true in a state."""
        return sum(w * values[n] for n, w in self.weights.items()) <= self.total


@dataclass(frozen=True)
class Clause:
    """In each reachable state one of ``options`` is true; ``shape`` says how it was found."""

    shape: str
    options: tuple[Inequality, ...]

    def holds(self, values: Sequence[int]) -> bool:
        """True if it is true in a state."""
        return any(option.holds(values) for option in self.options)


# --- sums ------------------------------------------------------------------------------------

def descent(net: Counters, state: Sequence[int], timeout: int | None = None) -> Clause | None:
    """A sum that no transition raises and that is larger in the state than at the start; None where
    there is none, or none was found in time (``timeout`` in milliseconds).
    """
    weighing = _Weighing(net, state, timeout)
    for transition in net.lasting:
        weighing.say(f"(<= {weighing.raised(transition)} 0)")
    return weighing.found("descent")


def barrier(net: Counters, state: Sequence[int], timeout: int | None = None) -> Clause | None:
    """A sum that each transition either does not raise or leaves below the bound by its own guards.

    """
    weighing = _Weighing(net, state, timeout)
    for transition in net.lasting:
        weighing.say(f"(or (<= {weighing.raised(transition)} 0) {weighing.guarded(transition)})")
    return weighing.found("barrier")


class _Weighing:
    """Weights and a bound as unknowns of the solver: true at the start, false in the state.

    A weight is ``up - down``, both not negative, so that the largest sum in a box of ranges is a
    linear term. All is said as text, which the solver reads ten times as fast as terms are made.
    """

    def __init__(self, net: Counters, state: Sequence[int], timeout: int | None) -> None:
        self.net, self.timeout = net, timeout
        here = [n for n, c in enumerate(net.counters) if state[n] != c.start]
        moved = {n for transition in net.lasting for n in transition.change}
        self.free = sorted(moved | set(here))
        self._free = frozenset(self.free)
        self.said = [f"(declare-const {name}{n} Real)" for name in ("up", "down")
                     for n in self.free]
        # The largest sum that the ranges alone allow is `top`.
        self.said += ["(declare-const bound Real)", "(declare-const top Real)"]
        for n in self.free:
            self.say(f"(>= up{n} 0)")
            self.say(f"(>= down{n} 0)")
        start = [counter.start for counter in net.counters]
        self.say(f"(<= {self.sum({n: start[n] for n in self.free})} bound)")
        self.say(f"(>= {self.sum({n: state[n] for n in self.free})} (+ bound 1))")
        tops = [f"(* up{n} {most})" for n in self.free
                if (most := net.counters[n].most) is not None]
        self.say(f"(= top {_added(tops)})")
        self.endless = [f"up{n}" for n in self.free if net.counters[n].most is None]

    def say(self, term: str) -> None:
        """Assert that this is true."""
        self.said.append(f"(assert {term})")

    def sum(self, values: Mapping[int, int]) -> str:
        """The weighted sum of these values."""
        return _added([f"(* (- up{n} down{n}) {told(v)})" for n, v in values.items() if v])

    def raised(self, transition: Transition) -> str:
        """By how much a transition raises the sum."""
        return self.sum(transition.change)

    def guarded(self, transition: Transition) -> str:
        """The condition that the sum is within the bound after the transition, by its guards and
        the ranges alone."""
        after, capped = ["top"], list[str]()
        for n in {*transition.least, *transition.most, *transition.change} & self._free:
            by, high = transition.change.get(n, 0), transition.most.get(n)
            most = self.net.counters[n].most
            if high is not None and (most is None or high < most):
                after.append(f"(* up{n} {told(high - (most or 0))})")
                capped += [f"up{n}"] if most is None else []
            after += [f"(* up{n} {told(by)})",
                      f"(* (- down{n}) {told(transition.least.get(n, 0) + by)})"]
        within = f"(<= {_added(after)} bound)"
        return f"(and {within} (= {_added(self.endless)} {_added(capped)}))" if self.endless \
            else within

    def found(self, shape: str) -> Clause | None:
        """The sum, in whole numbers, if the solver knows one."""
        import z3
        context = z3_context()
        solver = z3.Solver(ctx=context)
        solver.set("rlimit", EFFORT)
        if self.timeout is not None:
            solver.set("timeout", max(1, self.timeout))
        solver.from_string("\n".join(self.said))
        try:
            if solver.check() != z3.sat:
                return None
        except z3.Z3Exception:
            return None
        model = solver.model()

        def value(name: str) -> Fraction:
            return Fraction(model.eval(z3.Real(name, context), True).as_fraction())
        weights = {n: value(f"up{n}") - value(f"down{n}") for n in self.free}
        scale = lcm(*(w.denominator for w in weights.values()))
        whole = {n: int(w * scale) for n, w in weights.items() if w}
        return Clause(shape, (Inequality(whole, floor(value("bound") * scale)),))


def _added(terms: Sequence[str]) -> str:
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"


# --- traps -----------------------------------------------------------------------------------

Bound = tuple[int, int, int]
"""A counter, 1 and the least or -1 and the most."""


def trap(
    net: Counters, state: Sequence[int], watch: Callable[[], None] = lambda: None
) -> Clause | None:
    """Bounds that are all false in the state, one of which is true in every reachable one.

    ``watch`` is called again and again, and may raise OutOfTime.
    """
    bounds = {
        bound for n, counter in enumerate(net.counters)
        for bound in ((n, 1, state[n] + 1), (n, -1, state[n] - 1))
        if bound[2] >= 0 and (counter.most is None or bound[2] <= counter.most)
    }
    transitions = list(net.lasting)
    kept = _kept(net, transitions, bounds, watch)
    if not _at_start(net, kept):
        return None
    for bound in sorted(kept)[:MAX_SHORTENED]:
        if bound in kept:
            fewer = _kept(net, transitions, kept - {bound}, watch)
            kept = fewer if _at_start(net, fewer) else kept
    return Clause("trap", tuple(Inequality({n: -sign}, -sign * number)
                                for n, sign, number in sorted(kept)))


def _at_start(net: Counters, bounds: Iterable[Bound]) -> bool:
    return any(net.counters[n].start * sign >= number * sign for n, sign, number in bounds)


def _kept(
    net: Counters, transitions: Sequence[Transition], bounds: set[Bound], watch: Callable[[], None]
) -> set[Bound]:
    """The most of these bounds so that no transition ends one without leaving another true."""
    kept, again = set(bounds), True
    while again:
        watch()
        again = False
        of: dict[int, list[Bound]] = {}
        for bound in kept:
            of.setdefault(bound[0], []).append(bound)
        for transition in transitions:
            touched = [bound for n in {*transition.change, *transition.least, *transition.most}
                       for bound in of.get(n, ()) if bound in kept]
            left = [bound for bound in touched if _true_after(net, transition, bound)]
            ended = [b for b in touched if b not in left
                     and transition.change.get(b[0], 0) * b[1] < 0]
            if ended and not left:
                kept.difference_update(ended)
                again = True
    return kept


def _true_after(net: Counters, transition: Transition, bound: Bound) -> bool:
    """True if a transition always leaves a bound true."""
    n, sign, number = bound
    by = transition.change.get(n, 0)
    if sign > 0:
        return transition.least.get(n, 0) + by >= number
    ends = [end for end in (net.counters[n].most, transition.most.get(n)) if end is not None]
    return bool(ends) and min(ends) + by <= number
