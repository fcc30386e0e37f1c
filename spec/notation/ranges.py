"""Intervals: what a guard and the declared ranges say about a value.

Lowering uses them to leave out checks that can never fail: ``P - 1`` cannot fall below zero
where the guard demands ``P > 0``. Nothing rests on them but speed: a check that is left in
is decided by the engines all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from . import expr as e

__all__ = ["Interval", "implied_by", "interval"]

Interval = tuple[float, float]
"""The smallest and the largest value that an integer can have; infinite where unknown."""

ANY: Interval = (float("-inf"), float("inf"))


def implied_by(guard: e.Expr) -> dict[e.Expr, Interval]:
    """The intervals of state slots and queue lengths where a guard holds.

    Only conjuncts that compare one of these with a number are used.
    """
    parts = guard.operands if isinstance(guard, e.Op) and guard.op == "and" else (guard,)
    known: dict[e.Expr, Interval] = {}
    for part in parts:
        if isinstance(part, e.Op) and part.op in ("lt", "le", "eq"):
            left, right = part.operands
            gap = 1 if part.op == "lt" else 0
            if isinstance(right, e.Lit):
                high = right.value - gap
                _narrow(known, left, (right.value if part.op == "eq" else ANY[0], high))
            elif isinstance(left, e.Lit):
                _narrow(known, right, (left.value + gap, ANY[1]))
    return known


def _narrow(known: dict[e.Expr, Interval], value: e.Expr, more: Interval) -> None:
    low, high = known.get(value, ANY)
    known[value] = max(low, more[0]), min(high, more[1])


def interval(value: e.Expr, known: Mapping[e.Expr, Interval]) -> Interval:
    """The interval of an integer expression, where the ``known`` ones hold."""
    def of(node: e.Expr, parts: list[Interval]) -> Interval:
        low, high = _by_form(node, parts)
        if node in known:
            low, high = max(low, known[node][0]), min(high, known[node][1])
        return low, high

    return e.fold(value, _parts, of)


def _parts(value: e.Expr) -> tuple[e.Expr, ...]:
    """The operands that an expression's interval depends on."""
    if isinstance(value, e.Op) and value.op in _COMBINE:
        return value.operands
    return e.branches_of(value)


def _by_form(value: e.Expr, parts: list[Interval]) -> Interval:
    if isinstance(value, e.Lit):
        return value.value, value.value
    if isinstance(value, e.Op) and value.op in _COMBINE:
        return _COMBINE[value.op](*parts)
    if parts:
        return _hull(parts)
    if isinstance(value, e.Op) and value.op == "len":
        kind = value.operands[0].type
        full = kind.capacity if isinstance(kind, e.Queue) else None
        return 0, full.value if isinstance(full, e.Lit) else ANY[1]
    if isinstance(value, e.Op) and value.op == "mod" and isinstance(value.operands[1], e.Lit):
        divisor = value.operands[1].value
        return (0, divisor - 1) if divisor > 0 else ANY
    kind = value.type
    if isinstance(kind, e.Int) and isinstance(kind.lo, e.Lit) and isinstance(kind.hi, e.Lit):
        return kind.lo.value, kind.hi.value
    return ANY


def _hull(parts: Iterable[Interval]) -> Interval:
    lows, highs = zip(*parts, strict=True)
    return min(lows), max(highs)


_COMBINE: dict[str, Callable[..., Interval]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "neg": lambda a: (-a[1], -a[0]),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
