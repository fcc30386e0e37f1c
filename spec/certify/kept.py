"""Sums that no transition changes or raises, and clauses that every transition keeps: checked in
whole numbers, transition by transition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .limits import look
from .run import Refuted
from .system import Transition, System, state_of

__all__ = ["Kept", "check_bounds"]

KEEPING = "checking that invariants are kept"

Weights = Mapping[str, int]


class Kept:
    """The sums and clauses of a proof about a part of a design, each of which was checked."""

    def __init__(self, system: System, proof: Mapping[str, Any]) -> None:
        self.system, self.sums, self.clauses = system, proof["sums"], proof["clauses"]
        self.start = state_of(system)
        self.lasting = [transition for transition in system.transitions if not transition.fails]
        self.by_counter: dict[str, list[Transition]] = {}
        for transition in self.lasting:
            for name in transition.change:
                self.by_counter.setdefault(name, []).append(transition)
        for law in self.sums:
            look(KEEPING)
            self._check_sum(law["weights"], law["total"])
        for clause in self.clauses:
            look(KEEPING)
            self._check_clause(clause)

    # --- that they are so -----------------------------------------------------------------------

    def _changing(self, names: Iterable[str]) -> list[Transition]:
        """The transitions that change one of these counters, once each."""
        found = {id(each): each for name in names for each in self.by_counter.get(name, ())}
        return list(found.values())

    def _check_sum(self, weights: Weights, total: int) -> None:
        _known(self.system, weights)
        if _value(weights, self.start) != total:
            raise Refuted(f"{_told(weights)} is not {total} at the start")
        if any(_raise(weights, transition) for transition in self._changing(weights)):
            raise Refuted(f"a transition changes {_told(weights)}")

    def _check_clause(self, clause: Sequence[Mapping[str, Any]]) -> None:
        """True at the start; and each transition raises none of its sums, or leaves one below its
        bound."""
        for option in clause:
            _known(self.system, option["weights"])
        if not any(_value(o["weights"], self.start) <= o["at_most"] for o in clause):
            raise Refuted("a clause is not true at the start")
        for transition in self._changing(name for option in clause for name in option["weights"]):
            if any(_raise(o["weights"], transition) > 0 for o in clause) and not any(
                    self._largest_after(o["weights"], transition) <= o["at_most"] for o in clause):
                raise Refuted("a transition may end a clause")

    def _largest_after(self, weights: Weights, transition: Transition) -> float:
        """The most that a sum can be after a transition, by the ranges and the transition's own
        conditions."""
        most = 0
        for name, weight in weights.items():
            counter, by = self.system.counters[name], transition.add.get(name, 0)
            if weight < 0:
                most += weight * (max(0, transition.need.get(name, 0)) + by)
                continue
            ends = [end for end in (counter.most, transition.room.get(name)) if end is not None]
            if not ends:
                return float("inf")
            most += weight * (min(ends) + by)
        return most


def _value(weights: Weights, state: Weights) -> int:
    return sum(weight * state[name] for name, weight in weights.items())


def _told(weights: Weights) -> str:
    names = list(weights)
    return " + ".join(names[:6]) + (" + …" if len(names) > 6 else "")


def _known(system: System, weights: Weights) -> None:
    for name in weights:
        if name not in system.counters:
            raise Refuted(f"the design has no counter {name!r}")


def _raise(weights: Weights, transition: Transition) -> int:
    return sum(weights.get(name, 0) * by for name, by in transition.change.items())


# --- bounds ----------------------------------------------------------------------------------

def check_bounds(bounds: Sequence[Mapping[str, Any]], system: System) -> None:
    """Check that each of these sums is never raised, and bounds its link."""
    for bound in bounds:
        weights, queue = bound["weights"], f"elements in {bound['link']}"
        _known(system, weights)
        if weights.get(queue, 0) <= 0:
            raise Refuted(f"a sum for {bound['link']} does not count its elements")
        if any(_raise(weights, transition) > 0 for transition in system.transitions):
            raise Refuted(f"a transition raises the sum for {bound['link']}")
        most = _value(weights, state_of(system))
        if any(weight < 0 and system.counters[name].most is None
               for name, weight in weights.items()):
            raise Refuted(f"a sum for {bound['link']} counts something without end against it")
        for name, weight in weights.items():
            most -= min(0, weight) * (system.counters[name].most or 0)
        if most // weights[queue] > bound["most"]:
            raise Refuted(f"the sum allows more than {bound['most']} elements in {bound['link']}")
