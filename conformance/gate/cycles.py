"""Cycles of waits, compared by their waits: which task one begins with makes no difference.

The details of a design's row have the tasks ``around`` the cycle of its counterexample, and the
``possible`` cycles of its wait-for graph. The cycle of a counterexample may run through holders of
a pool, as a union of several elementary ones (``pooled``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["cycles_of", "is_new", "more_possible", "said"]

Edges = frozenset[tuple[str, str]]
Details = Mapping[str, Any]


def cycles_of(details: Details) -> list[list[str]]:
    """The cycle of the counterexample, and the other ones that are possible."""
    found: dict[Edges, list[str]] = {}
    for cycle in (details.get("around") or (), *(details.get("possible") or ())):
        if cycle:
            found.setdefault(_edges(cycle), list(cycle))
    return list(found.values())


def is_new(details: Details, then: Details) -> bool:
    """True if the cycle of a counterexample is none of those that were possible then."""
    around = details.get("around") or ()
    if not around:
        return False
    edges, known = _edges(around), {_edges(cycle) for cycle in cycles_of(then)}
    if edges in known:
        return False
    return not (details.get("pooled") and edges <= frozenset[tuple[str, str]]().union(*known))


def more_possible(details: Details, then: Details) -> list[list[str]]:
    """The cycles that are possible and were not then, but for that of the counterexample."""
    known = {_edges(cycle) for cycle in (*cycles_of(then), details.get("around") or ())}
    return [cycle for cycle in cycles_of(details) if _edges(cycle) not in known]


def said(cycle: Sequence[str]) -> str:
    """A cycle in words. It begins with the task with the name that comes first."""
    first = cycle.index(min(cycle))
    return f"a wait-for cycle through {', '.join((*cycle[first:], *cycle[:first]))}"


def _edges(cycle: Sequence[str]) -> Edges:
    return frozenset(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
