"""The most elements that a queue can ever hold, proved by a sum that no step raises.

A weighted sum of counters, in which the queue has weight 1 and no transition raises the sum, is
never more than at the start. The other counters are not negative and within their ranges, so the
queue is never more than the sum allows. The least such bound is a linear program, the dual of the
state equation; Z3 solves it in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from ...verdicts.solver import z3_context
from ..net.counters import AIM, Counters
from ..net.places import LinkPlaces
from ..net.translate import translate
from ..reading.language import Design, Link
from .lemmas import Inequality

__all__ = ["Bound", "bound", "bounds"]

EFFORT = 20_000_000
"""Effort of the solver for one bound, in its own units (some seconds)."""


@dataclass(frozen=True)
class Bound:
    """A queue never holds ``most`` elements or more than that, for no transition raises ``sum``."""

    link: str
    most: int
    sum: Inequality


def bounds(
    design: Design, links: Sequence[Link], watch: Callable[[], object] = lambda: None
) -> tuple[Counters, dict[str, Bound]]:
    """The bounds of these links, as far as sums give one; ``watch`` is called often, and may
    raise."""
    net = Counters.of(translate(design, AIM, watch), watch)
    number = {counter.name: n for n, counter in enumerate(net.counters)}
    found = {}
    for link in links:
        watch()
        if link.capacity == 0:
            continue
        known = bound(net, number[LinkPlaces(link, AIM.unbounded).queue])
        if known is not None:
            found[link.name] = Bound(link.name, *known)
    return net, found


def bound(net: Counters, queue: int) -> tuple[int, Inequality] | None:
    """The least bound of a counter that a sum gives, and the sum; None where there is none."""
    weights = _weights(net, queue)
    if weights is None:
        return None
    scale = lcm(*(weight.denominator for weight in weights.values()))
    whole = {n: int(weight * scale) for n, weight in weights.items() if weight}
    total = sum(w * net.counters[n].start for n, w in whole.items())
    below = sum(w * (net.counters[n].most or 0) for n, w in whole.items() if w < 0)
    most, top = (total - below) // scale, net.counters[queue].most
    return most if top is None else min(most, top), Inequality(whole, total)


def _weights(net: Counters, queue: int) -> dict[int, Fraction] | None:
    """The weights of the sum that gives the least bound, the queue's own being 1."""
    import z3
    context = z3_context()
    solver = z3.Optimize(ctx=context)
    solver.set("rlimit", EFFORT)
    changes = {tuple(sorted(transition.change.items())) for transition in net.transitions}
    moved = sorted({n for change in changes for n, _ in change} | {queue})
    up = {n: z3.Real(f"up{n}", context) for n in moved}
    down = {n: z3.Real(f"down{n}", context) for n in moved}
    solver.add(up[queue] == 1, down[queue] == 0)
    solver.add(*(x >= 0 for n in moved for x in (up[n], down[n])))
    solver.add(*(down[n] == 0 for n in moved if net.counters[n].most is None))
    for change in sorted(changes):
        solver.add(z3.Sum([(up[n] - down[n]) * by for n, by in change]) <= 0)
    solver.minimize(z3.Sum([
        part for n in moved for part in (
            up[n] * net.counters[n].start,
            down[n] * ((net.counters[n].most or 0) - net.counters[n].start))]))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {n: model.eval(up[n] - down[n], True).as_fraction() for n in moved}
