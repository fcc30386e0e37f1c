"""Dead markings of a net by equations: the state equation, and traps that cannot be emptied.

Each reachable marking is ``m = m0 + C x`` for numbers x of firings (the state equation), and in a
dead one each transition has an input place that holds too little. Z3 looks for such m and x
in whole numbers, exactly. If there is none, no dead marking is reachable.

A marking that it finds may not be reachable. A *trap* is a set of places such that each transition
that takes from it gives to it: once marked, it stays marked (Murata 1989, section VI.B). If m
empties the places of a trap that is marked at first, m is excluded by asking for a token there,
and the question is asked again (Esparza and Melzer 2000).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..verdicts.deadline import Deadline
from .net import Net

__all__ = ["Candidate", "Equations", "largest_trap"]

PHASE = "solving the equations of dead markings"
MOST_MS = 2**31 - 1


@dataclass(frozen=True)
class Candidate:
    """A dead marking that the equations allow, and how often each transition fires on the way, by
    transition."""

    marking: tuple[int, ...]
    firings: dict[int, int]


class Equations:
    """The question for a dead marking, which grows by what is excluded. ``traps`` counts those."""

    def __init__(
        self, net: Net, deadline: Deadline, idle: Collection[int] | None = None
    ) -> None:
        """Ask for markings in which the transitions ``idle`` are not enabled; all, if None."""
        import z3
        self.net, self.deadline, self.traps = net, deadline, 0
        self._z3: Any = z3
        watch = deadline.watch(PHASE)
        self._solver: Any = z3.Solver()
        self._tokens: Any = [z3.Int(f"m{at}") for at in range(len(net.places))]
        self._fired: Any = [z3.Int(f"x{at}") for at in range(len(net.transitions))]
        rows: list[list[Any]] = [[] for _ in net.places]
        for transition, change in enumerate(net.changes):
            for place, number in change:
                rows[place].append(number * self._fired[transition])
            if transition % 100 == 0:
                watch()
        for each in (*self._tokens, *self._fired):
            self._solver.add(each >= 0)
        for place, row in enumerate(rows):
            if place % 100 == 0:
                watch()
            self._solver.add(self._tokens[place] == net.initial[place] + z3.Sum(row))
        for at, takes in enumerate(net.takes):
            if at % 100 == 0:
                watch()
            if idle is None or at in idle:
                self._solver.add(z3.Or([self._tokens[place] < weight for place, weight in takes]))

    def differ(self, marking: Sequence[int]) -> None:
        """Ask for another marking than this one."""
        self._solver.add(self._z3.Or([
            tokens != number if number else tokens >= 1
            for tokens, number in zip(self._tokens, marking, strict=True)]))

    def some_hold(self, choices: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Ask for a marking with at least these tokens, by place, of one of the choices."""
        self._solver.add(self._z3.Or([
            self._z3.And([self._tokens[place] >= weight for place, weight in each])
            for each in choices]))

    def solve(self, deadline: Deadline) -> Candidate | None | bool:
        """A dead marking that the equations allow; False if there is none, None if that could not
        be decided by the deadline."""
        while not deadline.passed():
            self._solver.set("timeout", max(1, int(min(deadline.left() * 1000, MOST_MS))))
            answer = self._solver.check()
            if answer == self._z3.unsat:
                return False
            if answer != self._z3.sat:
                return None
            found = self._candidate()
            trap = largest_trap(self.net, [not number for number in found.marking])
            if not any(self.net.initial[place] for place in trap):
                return found
            self.traps += 1
            self._solver.add(self._z3.Sum([self._tokens[place] for place in trap]) >= 1)
        return None

    def _candidate(self) -> Candidate:
        model = self._solver.model()
        values = [model.eval(each, model_completion=True).as_long()
                  for each in (*self._tokens, *self._fired)]
        places = len(self.net.places)
        return Candidate(tuple(values[:places]), {
            at: number for at, number in enumerate(values[places:]) if number})


def largest_trap(net: Net, inside: Sequence[bool]) -> list[int]:
    """The largest trap among the places that are ``inside``."""
    kept = list(inside)
    gives = [sum(kept[place] for place, _ in each) for each in net.gives]
    todo = [at for at, number in enumerate(gives) if not number]
    while todo:
        for place, _ in net.takes[todo.pop()]:
            if kept[place]:
                kept[place] = False
                for each in net.producers[place]:
                    gives[each] -= 1
                    if not gives[each]:
                        todo.append(each)
    return [place for place, is_kept in enumerate(kept) if is_kept]


