"""Sums that no move changes and clauses that every move keeps, and what they exclude.

That they are so is checked in whole numbers, move by move. What they exclude is asked of cvc5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import Any

from .rescued import may_go_on
from .run import Refuted
from .silence import may_be_silent
from .solver import Question
from .system import Move, NotCovered, System, state_of

__all__ = ["Laws", "check_bounds"]

Weights = Mapping[str, int]


class Laws:
    """The sums and clauses of a proof about a part of a design, each of which was checked."""

    def __init__(self, system: System, proof: Mapping[str, Any]) -> None:
        self.system, self.sums, self.clauses = system, proof["sums"], proof["clauses"]
        self.start = state_of(system)
        self.lasting = [move for move in system.moves if not move.fails]
        self.by_counter: dict[str, list[Move]] = {}
        for move in self.lasting:
            for name in move.change:
                self.by_counter.setdefault(name, []).append(move)
        for law in self.sums:
            self._check_sum(law["weights"], law["total"])
        for clause in self.clauses:
            self._check_clause(clause)

    # --- that they are so -----------------------------------------------------------------------

    def _changing(self, names: Iterable[str]) -> list[Move]:
        """The moves that change one of these counters, once each."""
        found = {id(move): move for name in names for move in self.by_counter.get(name, ())}
        return list(found.values())

    def _check_sum(self, weights: Weights, total: int) -> None:
        _known(self.system, weights)
        if _value(weights, self.start) != total:
            raise Refuted(f"{_told(weights)} is not {total} at the start")
        if any(_raise(weights, move) for move in self._changing(weights)):
            raise Refuted(f"a move changes {_told(weights)}")

    def _check_clause(self, clause: Sequence[Mapping[str, Any]]) -> None:
        """True at the start; and each move raises none of its sums, or leaves one below its bound.
        """
        for option in clause:
            _known(self.system, option["weights"])
        if not any(_value(o["weights"], self.start) <= o["at_most"] for o in clause):
            raise Refuted("a clause is not true at the start")
        for move in self._changing(name for option in clause for name in option["weights"]):
            if any(_raise(o["weights"], move) > 0 for o in clause) and not any(
                    self._largest_after(o["weights"], move) <= o["at_most"] for o in clause):
                raise Refuted("a move may end a clause")

    def _largest_after(self, weights: Weights, move: Move) -> float:
        """The most that a sum can be after a move, by the ranges and the move's own conditions."""
        most = 0
        for name, weight in weights.items():
            counter, by = self.system.counters[name], move.add.get(name, 0)
            if weight < 0:
                most += weight * (max(0, move.need.get(name, 0)) + by)
                continue
            ends = [end for end in (counter.most, move.room.get(name)) if end is not None]
            if not ends:
                return float("inf")
            most += weight * (min(ends) + by)
        return most

    # --- what they exclude ----------------------------------------------------------------------

    def exclude_stuck(self, accidents: bool = True) -> bool:
        """Whether cvc5 finds no state that keeps them and is stuck; without ``accidents``, one
        where at most these are possible is stuck as well."""
        ask = self._question()
        for move in self.system.moves:
            if accidents or not move.chance:
                ask.one_of([*(({name: 1}, least - 1) for name, least in move.need.items()),
                            *(({name: -1}, -most - 1) for name, most in move.room.items())])
        if self.system.ends:
            ask.one_of([({name: -1}, -rest - 1) for name, rest in self.system.rests.items()])
        return ask.has_no_answer()

    def exclude_moves(self, moves: Iterable[Move]) -> bool:
        """Whether cvc5 finds no state that keeps them and in which one of these is possible."""
        for move in moves:
            ask = self._question()
            for name, least in move.need.items():
                ask.one_of([({name: -1}, -least)])
            for name, most in move.room.items():
                ask.one_of([({name: 1}, most)])
            if not ask.has_no_answer():
                return False
        return True

    def exclude_silence(self, tasks: Iterable[str]) -> bool:
        """Whether no task can be stuck for ever while others go on: see ``silence``."""
        if self.system.ends or any(move.fails for move in self.system.moves):
            raise NotCovered("sums, of tasks that are stuck in a design that may end or fail")
        return self.exclude_stuck(accidents=False) and not may_be_silent(
            self.system, tasks, self._question())

    def exclude_going_on(self, tasks: Iterable[str], rescues: Mapping[str, Any]) -> bool:
        """Whether no run goes on for ever once a task is stuck for ever: see ``rescued``."""
        return not may_go_on(self.system, tasks, self._question(), rescues)

    def _question(self) -> Question:
        """Within the ranges, with all sums and clauses."""
        ask = Question(self.system.counters)
        stride: dict[str, int] = {}
        for move in self.lasting:
            for name, by in move.change.items():
                stride[name] = gcd(stride.get(name, 0), by)
        for name, counter in self.system.counters.items():
            ask.range(name, counter, stride.get(name, 0))
        for law in self.sums:
            ask.equal(law["weights"], law["total"])
        for clause in self.clauses:
            ask.one_of([(option["weights"], option["at_most"]) for option in clause])
        return ask


def _value(weights: Weights, state: Weights) -> int:
    return sum(weight * state[name] for name, weight in weights.items())


def _told(weights: Weights) -> str:
    names = list(weights)
    return " + ".join(names[:6]) + (" + …" if len(names) > 6 else "")


def _known(system: System, weights: Weights) -> None:
    for name in weights:
        if name not in system.counters:
            raise Refuted(f"the design has no counter {name!r}")


def _raise(weights: Weights, move: Move) -> int:
    return sum(weights.get(name, 0) * by for name, by in move.change.items())


# --- bounds ----------------------------------------------------------------------------------

def check_bounds(bounds: Sequence[Mapping[str, Any]], system: System) -> None:
    """Check that each of these sums is never raised, and bounds its link."""
    for bound in bounds:
        weights, queue = bound["weights"], f"elements in {bound['link']}"
        _known(system, weights)
        if weights.get(queue, 0) <= 0:
            raise Refuted(f"a sum for {bound['link']} does not count its elements")
        if any(_raise(weights, move) > 0 for move in system.moves):
            raise Refuted(f"a move raises the sum for {bound['link']}")
        most = _value(weights, state_of(system))
        if any(weight < 0 and system.counters[name].most is None
               for name, weight in weights.items()):
            raise Refuted(f"a sum for {bound['link']} counts something without end against it")
        for name, weight in weights.items():
            most -= min(0, weight) * (system.counters[name].most or 0)
        if most // weights[queue] > bound["most"]:
            raise Refuted(f"the sum allows more than {bound['most']} elements in {bound['link']}")
