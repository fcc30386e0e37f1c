"""Runs that continue forever while a task is blocked forever: cvc5 is asked whether there are any.

Suppose that there is one. From some moment on it takes only transitions that it takes again and
again, by no accident. Then this is so, whatever the design:

1. It returns to what was there (where a counter has no end: or to more), and has taken each of
   these transitions in between. So some amounts of them, one of each at least, add up to nothing.
2. No transition of a blocked task is possible; nor is any run of transitions that ends with one.

A certificate has such runs, and names transitions of which one is taken again and again. That one
is always among them is asked first; then, whether numbers that keep all sums and clauses agree with
all this when one of them is taken next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import inf
from typing import Any

from .run import Refuted, Ways, needed_for
from .solver import Question, Term, all_of, any_of, number
from .system import Transition, NotCovered, System

__all__ = ["may_go_on"]

WAYS = 64
"""Rows of transitions that one run may stand for."""


def may_go_on(
    system: System, tasks: Iterable[str], ask: Question, proof: Mapping[str, Any]
) -> bool:
    """True if cvc5 finds numbers that agree with all this for one of these tasks; ``ask`` has the
    ranges, sums and clauses. Raises Refuted and NotCovered."""
    going, steps = _Going(system, tasks, ask), list(map(dict, proof["steps"]))
    if max([-1, *proof["moment"], *(n for run in proof["runs"] for n in run)]) >= len(steps):
        raise Refuted("a run has a step that is not listed")
    for run in proof["runs"]:
        going.run([steps[n] for n in run])
    changes = [steps[n] for n in proof["moment"]]
    moment = [n for n, transition in enumerate(going.transitions) if transition.change in changes]
    return not (ask.has_no_answer(going.makes_none(moment))
                and ask.has_no_answer(going.makes_next(moment)))


class _Going:
    """The number of times that each transition is taken, and a Boolean for each task: that it is
    blocked."""

    def __init__(self, system: System, tasks: Iterable[str], ask: Question) -> None:
        self.ask = ask
        possible = [each for each in system.steps if not (each.fails or each.chance)]
        self.transitions = [transition for transition in possible if transition.change]
        self.often = [ask.choice("Int") for _ in self.transitions]
        self.blocked = {task: ask.choice() for task in tasks}
        self.ways = Ways(System(system.counters, possible))
        ask.say(any_of(self.blocked.values()))
        ask.say(any_of(f"(>= {often} 1)" for often in self.often))
        for often, transition in zip(self.often, self.transitions, strict=True):
            ask.say(f"(>= {often} 0)")
            for task in transition.tasks:
                ask.say(f"(or (not {self.blocked[task]}) (= {often} 0))")
        for name, counter in system.counters.items():
            added = [f"(* {number(by)} {often})"
                     for often, transition in zip(self.often, self.transitions, strict=True)
                     if (by := transition.change.get(name, 0))]
            if added:
                ask.say(f"({'>=' if counter.most is None else '='} (+ 0 {' '.join(added)}) 0)")
        for transition in possible:
            self._not_possible([transition])

    def run(self, steps: Sequence[Mapping[str, int]]) -> None:
        """No blocked task can take the last of these steps after the others."""
        ways = [self.ways.of(step) for step in steps]
        found = list(islice(product(*ways), WAYS + 1))
        if not found:
            raise Refuted("a run has a step that is none")
        if len(found) > WAYS:
            raise NotCovered(f"a run that stands for more than {WAYS} rows of transitions")
        for transitions in found:
            self._not_possible(transitions)

    def _not_possible(self, transitions: Sequence[Transition]) -> None:
        lacking = list(self._lacking(transitions))
        for task in transitions[-1].tasks:
            self.ask.say(any_of([f"(not {self.blocked[task]})", *lacking]))

    def _lacking(self, transitions: Sequence[Transition]) -> Iterator[Term]:
        """The terms for what may be lacking for some transitions, one after another."""
        for name, low, high in needed_for(transitions):
            if low > 0:
                yield self.ask.less(name, low)
            if high < inf:
                yield self.ask.more(name, int(high))

    def makes_none(self, moment: Sequence[int]) -> Term:
        """None of these transitions is made again."""
        return all_of(f"(= {self.often[n]} 0)" for n in moment)

    def makes_next(self, moment: Sequence[int]) -> Term:
        """One of these transitions is made next, and again and again."""
        return any_of(all_of([f"(>= {self.often[n]} 1)", *(
            f"(not {each})" for each in self._lacking([self.transitions[n]]))]) for n in moment)
