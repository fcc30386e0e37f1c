"""The capacities of a suite: what goes with each, and all of them as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ...spec.notation.errors import InputError
from .suite import AnySuite

__all__ = ["capacities_table", "that_goes_with"]

T = TypeVar("T")


def that_goes_with(capacity: int, table: Mapping[int, T]) -> T:
    """The entry for a capacity in a suite's table. Raises InputError for a capacity that is not in
    it."""
    if capacity not in table:
        raise InputError(f"this suite has no settings for the capacity {capacity}", "",
                         f"Use one of {', '.join(map(str, table))}, or none for all of them.")
    return table[capacity]


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
