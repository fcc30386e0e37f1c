"""What holds in every reachable state of a design, and excludes a state that is not one.

A *clause* is a choice of linear inequalities, one of which is always true. It is found for a
state that the equations allow, as one that is false there, true at the start, and kept by every
move. Three shapes are tried, the cheapest first:

- *descent*: one sum that no move raises. It exists exactly where no amounts of moves lead from the
  start to the state, whatever their order (the state equation; Farkas 1902).
- *trap*: bounds of single counters, of which each move that may end one leaves another true
  (Commoner 1971; here with numbers, and with upper bounds beside the lower ones).
- *barrier*: one sum that a move may raise only where its guards keep it below the bound: a merge
  that prefers its feedback reads another input only while the feedback is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, lcm
from typing import Any

from ..net.counters import Counters, Move

__all__ = ["Bound", "Clause", "Inequality", "descent", "barrier", "trap"]

EFFORT = 4_000_000
"""What the solver may do for one clause, in its own units (about a second)."""
MAX_SHORTENED = 60
"""Bounds of a trap that are tried to be left out."""


@dataclass(frozen=True)
class Inequality:
    """The weighted sum of some counters is at most ``total``."""

    weights: Mapping[int, int]
    total: int

    def holds(self, values: Sequence[int]) -> bool:
        """Whether it is true in a state."""
        return sum(w * values[n] for n, w in self.weights.items()) <= self.total


@dataclass(frozen=True)
class Clause:
    """In each reachable state one of ``options`` is true; ``shape`` says how it was found."""

    shape: str
    options: tuple[Inequality, ...]

    def holds(self, values: Sequence[int]) -> bool:
        """Whether it is true in a state."""
        return any(option.holds(values) for option in self.options)


# --- sums ------------------------------------------------------------------------------------

def descent(net: Counters, state: Sequence[int], timeout: int | None = None) -> Clause | None:
    """A sum that no move raises and that is larger in the state than at the start; None where
    there is none, or none was found in time (``timeout`` in milliseconds)."""
    weighing = _Weighing(net, state, timeout)
    for move in net.lasting:
        weighing.solver.add(weighing.raised(move) <= 0)
    return weighing.found("descent")


def barrier(net: Counters, state: Sequence[int], timeout: int | None = None) -> Clause | None:
    """A sum that each move either does not raise or leaves below the bound by its own guards."""
    import z3
    weighing = _Weighing(net, state, timeout)
    for move in net.lasting:
        weighing.solver.add(z3.Or(weighing.raised(move) <= 0, weighing.guarded(move)))
    return weighing.found("barrier")


class _Weighing:
    """Weights and a bound as unknowns of the solver: true at the start, false in the state.

    A weight is ``up - down``, both not negative, so that the largest sum in a box of ranges is a
    linear term.
    """

    def __init__(self, net: Counters, state: Sequence[int], timeout: int | None) -> None:
        import z3
        self.net = net
        context = z3.Context()  # what else was asked in this process changes no answer here
        self.solver = z3.Solver(ctx=context)
        self.solver.set("rlimit", EFFORT)
        if timeout is not None:
            self.solver.set("timeout", max(1, timeout))
        here = [n for n, c in enumerate(net.counters) if state[n] != c.start]
        moved = {n for move in net.lasting for n in move.change}
        self.free = sorted(moved | set(here))
        self.up = {n: z3.Real(f"up{n}", context) for n in self.free}
        self.down = {n: z3.Real(f"down{n}", context) for n in self.free}
        self.bound = z3.Real("bound", context)
        self.solver.add(*(x >= 0 for n in self.free for x in (self.up[n], self.down[n])))
        start = [counter.start for counter in net.counters]
        self.solver.add(self.sum({n: start[n] for n in self.free}) <= self.bound,
                        self.sum({n: state[n] for n in self.free}) >= self.bound + 1)
        tops = [self.up[n] * most for n in self.free
                if (most := net.counters[n].most) is not None]
        self.top = z3.Real("top", context)  # the largest sum that the ranges alone allow
        self.solver.add(self.top == z3.Sum(tops))
        self.endless = [self.up[n] for n in self.free if net.counters[n].most is None]

    def sum(self, values: Mapping[int, int]) -> Any:
        """The weighted sum of these values."""
        import z3
        return z3.Sum([(self.up[n] - self.down[n]) * v for n, v in values.items() if v])

    def raised(self, move: Move) -> Any:
        """By how much a move raises the sum."""
        return self.sum(move.change)

    def guarded(self, move: Move) -> Any:
        """That after the move the sum is within the bound, by its guards and the ranges alone."""
        import z3
        after: list[Any] = [self.top]
        capped: list[Any] = []
        for n in {*move.least, *move.most, *move.change}:
            if n not in self.up:
                continue
            by, most, high = move.change.get(n, 0), self.net.counters[n].most, move.most.get(n)
            if high is not None and (most is None or high < most):
                after.append(self.up[n] * (high - (most or 0)))
                capped += [self.up[n]] if most is None else []
            after += [self.up[n] * by, -self.down[n] * (move.least.get(n, 0) + by)]
        within = z3.Sum(after) <= self.bound
        return z3.And(within, z3.Sum(self.endless) == z3.Sum(capped)) if self.endless else within

    def found(self, shape: str) -> Clause | None:
        """The sum, in whole numbers, if the solver knows one."""
        import z3
        try:
            if self.solver.check() != z3.sat:
                return None
        except z3.Z3Exception:
            return None
        model = self.solver.model()
        weights = {n: model.eval(self.up[n] - self.down[n], True).as_fraction()
                   for n in self.free}
        scale = lcm(*(w.denominator for w in weights.values()))
        total = floor(model.eval(self.bound, True).as_fraction() * scale)
        whole = {n: int(w * scale) for n, w in weights.items() if w}
        return Clause(shape, (Inequality(whole, total),))


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
    moves = list(net.lasting)
    kept = _kept(net, moves, bounds, watch)
    if not _at_start(net, kept):
        return None
    for bound in sorted(kept)[:MAX_SHORTENED]:
        if bound in kept:
            fewer = _kept(net, moves, kept - {bound}, watch)
            kept = fewer if _at_start(net, fewer) else kept
    return Clause("trap", tuple(Inequality({n: -sign}, -sign * number)
                                for n, sign, number in sorted(kept)))


def _at_start(net: Counters, bounds: Iterable[Bound]) -> bool:
    return any(net.counters[n].start * sign >= number * sign for n, sign, number in bounds)


def _kept(
    net: Counters, moves: Sequence[Move], bounds: set[Bound], watch: Callable[[], None]
) -> set[Bound]:
    """The most of these bounds so that no move ends one without leaving another true."""
    kept, again = set(bounds), True
    while again:
        watch()
        again = False
        of: dict[int, list[Bound]] = {}
        for bound in kept:
            of.setdefault(bound[0], []).append(bound)
        for move in moves:
            touched = [bound for n in {*move.change, *move.least, *move.most}
                       for bound in of.get(n, ()) if bound in kept]
            left = [bound for bound in touched if _true_after(net, move, bound)]
            ended = [b for b in touched if b not in left and move.change.get(b[0], 0) * b[1] < 0]
            if ended and not left:
                kept.difference_update(ended)
                again = True
    return kept


def _true_after(net: Counters, move: Move, bound: Bound) -> bool:
    """Whether a move always leaves a bound true."""
    n, sign, number = bound
    by = move.change.get(n, 0)
    if sign > 0:
        return move.least.get(n, 0) + by >= number
    ends = [end for end in (net.counters[n].most, move.most.get(n)) if end is not None]
    return bool(ends) and min(ends) + by <= number
