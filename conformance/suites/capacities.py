"""The capacities of a suite: what goes with each, and all of them as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from .suite import AnySuite

__all__ = ["capacities_table", "half_of", "that_goes_with"]

T = TypeVar("T")


def that_goes_with(capacity: int, table: Mapping[int, T], other: Callable[[int], T]) -> T:
    """The entry for a capacity in a suite's table; what goes with any ``other``, such as the one
    that runs in production."""
    return table[capacity] if capacity in table else other(capacity)


def half_of(capacity: int) -> int:
    """The largest number up to half of a capacity that divides it."""
    return next(part for part in range(max(1, capacity // 2), 0, -1) if capacity % part == 0)


def capacities_table(suite: AnySuite) -> str:
    """One row a capacity that cases take in turn: its settings of ``hello``, and the rules that
    are looked for with some capacities only, this one among them. Then come those that only long
    programs have."""
    settings = [dict(suite.settings(capacity)) for capacity in suite.capacities]
    names = list(settings[0])
    rows = [f"| {' | '.join(f'`{name}`' for name in names)} | rules of some capacities only |",
            "|---|" + "---|" * len(names)]
    for capacity, chosen in zip(suite.capacities, settings, strict=True):
        only = [rule for rule, telling in suite.telling.items() if capacity in telling]
        rows.append(f"| {' | '.join(str(chosen[name]) for name in names)} "
                    f"| {', '.join(only) or 'none'} |")
    for capacity in () if suite.long is None else suite.long.sizes:
        chosen = dict(suite.settings(capacity))
        rows.append(f"| {' | '.join(str(chosen[name]) for name in names)} | long programs only |")
    return "\n".join(rows)
