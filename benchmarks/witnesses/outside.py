"""The test whether a changed machine shows anything that the right one does not show.

Theory of operation. A mutant may break a rule in a way that cannot be seen outside: in every run
it shows what the right machine shows in some run. No observer that accepts the right machine
refuses it then, and it is no machine that an observer misses. In mutation testing such a mutant
is called equivalent. The search is that of ``engines.refine``, with the right machine in the
place of the observer: breadth first over pairs of a state of the mutant, and the set of states in
which the right machine can be after it showed the same. That a machine can take no step at all is
seen as well, for a run shows that it has become quiescent.

Only finite runs are compared. So this says nothing of rules that ask for something to happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checkvalve.spec.engines.refine import Seeing, Side
from checkvalve.spec.notation.views import Seen
from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["shows_nothing_new"]

REST: Seen = ("at rest", ())
Place = tuple[int, tuple[Seen, ...]]
"""A state of the right machine, and what the step that leads to it has yet to show."""


def shows_nothing_new(mutant: Seeing, right: Seeing, budget: Budget) -> bool | None:
    """True if all that a mutant shows in some run the right machine shows in some run, too; None
    where the budget is spent. Both are seen by the same observer through the same view."""
    budget = budget.start()
    side, others = Side(mutant), _Others(Side(right))
    start = others.after(others.start, side.begins)
    if not start:
        return False
    seen = {(0, start): None}
    todo = [(0, start)]
    for here, places in todo:
        if budget.max_states is not None and len(seen) + others.size > budget.max_states:
            return None
        for shows, target in _shown(side, here):
            found = others.after(places, shows)
            if not found:
                return False
            if (target, found) not in seen:
                seen[target, found] = None
                todo.append((target, found))
    return True


def _shown(side: Side, here: int) -> Iterator[tuple[tuple[Seen, ...], int]]:
    """The things that a machine may show next, each with the state it leads to; that it is
    quiescent is one of them."""
    for edge in side.row(here):
        yield edge.shows, edge.target
    if side.rests(here):
        yield (REST,), here


class _Others:
    """The sets of places in which the right machine can be, and where what is shown leads."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._after: dict[tuple[frozenset[Place], Seen], frozenset[Place]] = {}
        self._closed: dict[frozenset[Place], frozenset[Place]] = {}
        self.size = 0
        self.start = self._closure([(0, side.begins)])

    def after(self, places: frozenset[Place], shows: Iterable[Seen]) -> frozenset[Place]:
        """The places where it can be after it showed this; empty if it cannot show it."""
        for seen in shows:
            key = places, seen
            if key not in self._after:
                self._after[key] = self._closure(
                    (target, rest) for place in places
                    for (first, *others), target in self._next(place)
                    if first == seen for rest in [tuple(others)])
            places = self._after[key]
        return places

    def _next(self, place: Place) -> Iterator[tuple[tuple[Seen, ...], int]]:
        here, owed = place
        if owed:
            yield owed, here
        else:
            yield from ((shows, target) for shows, target in _shown(self._side, here) if shows)

    def _closure(self, places: Iterable[Place]) -> frozenset[Place]:
        """These places, and those to which hidden steps lead."""
        begin = frozenset(places)
        if begin not in self._closed:
            found = dict.fromkeys(begin)
            todo = list(found)
            for here, owed in todo:
                for shows, target in () if owed else _shown(self._side, here):
                    if not shows and (target, ()) not in found:
                        found[target, ()] = None
                        todo.append((target, ()))
            self._closed[begin] = frozenset(found)
            self.size += len(found)
        return self._closed[begin]
