"""Questions to cvc5: what is excluded by sums that no transition changes and clauses that each
keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import Any

from .kept import Kept
from .rescued import may_go_on
from .silence import may_be_silent
from .solver import Question
from .system import Transition, NotCovered

__all__ = ["Laws"]


class Laws(Kept):
    """The sums and clauses of a proof about a part of a design, each of which was checked."""

    def exclude_deadlocks(self, accidents: bool = True) -> bool:
        """True if cvc5 finds no deadlock that keeps them; without ``accidents``, a state where at
        most these are possible counts as a deadlock as well."""
        ask = self._question()
        for transition in self.system.transitions:
            if accidents or not transition.chance:
                ask.one_of([*(({name: 1}, least - 1) for name, least in transition.need.items()),
                            *(({name: -1}, -most - 1) for name, most in transition.room.items())])
        if self.system.ends:
            ask.one_of([({name: -1}, -rest - 1) for name, rest in self.system.rests.items()])
        return ask.has_no_answer()

    def exclude_transitions(self, transitions: Iterable[Transition]) -> bool:
        """True if cvc5 finds no state that keeps them and in which one of these transitions is
        possible."""
        for transition in transitions:
            ask = self._question()
            for name, least in transition.need.items():
                ask.one_of([({name: -1}, -least)])
            for name, most in transition.room.items():
                ask.one_of([({name: 1}, most)])
            if not ask.has_no_answer():
                return False
        return True

    def exclude_silence(self, tasks: Iterable[str]) -> bool:
        """True if no task can be blocked forever while others continue: see ``silence``."""
        if self.system.ends or any(transition.fails for transition in self.system.transitions):
            raise NotCovered("sums, of tasks that are blocked in a design that may end or fail")
        return self.exclude_deadlocks(accidents=False) and not may_be_silent(
            self.system, tasks, self._question())

    def exclude_going_on(self, tasks: Iterable[str], rescues: Mapping[str, Any]) -> bool:
        """True if no run continues forever once a task is blocked forever: see ``rescued``."""
        return not may_go_on(self.system, tasks, self._question(), rescues)

    def _question(self) -> Question:
        """Within the ranges, with all sums and clauses."""
        ask = Question(self.system.counters)
        stride: dict[str, int] = {}
        for transition in self.lasting:
            for name, by in transition.change.items():
                stride[name] = gcd(stride.get(name, 0), by)
        for name, counter in self.system.counters.items():
            ask.range(name, counter, stride.get(name, 0))
        for law in self.sums:
            ask.equal(law["weights"], law["total"])
        for clause in self.clauses:
            ask.one_of([(option["weights"], option["at_most"]) for option in clause])
        return ask
