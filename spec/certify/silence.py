"""Tasks that are blocked forever while others continue: cvc5 is asked whether there can be any.

Suppose that a task is blocked forever. Continue, without accidents, until as many transitions as
possible are *dead*: never possible again. From there on every other transition is *live*: wherever
the run leads, it is possible again later. Then this is so, whatever the design:

1. A transition that takes from a counter which only the dead add to is dead, for the counter would
   run empty; and so is one that adds to a counter which has an end, and from which only the dead
   take.
2. No live transition asks for all that a dead one asks for: else the dead one would be possible
   together with it.
3. A dead transition lacks something. Suppose that of all it asks for, the live can take away again
   one thing at most. Then one thing it asks for never comes, or it would be possible once: that
   one is lacked from now on. Each transition that would bring it is dead, and each that asks for as
   much is dead, too.

If no numbers that keep all sums and clauses agree with that, no task is ever blocked alone. It must
be known besides that the whole never deadlocks (so not all transitions are dead), never ends, and
has no task that may stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from .solver import Question, Term, all_of, any_of
from .system import Transition, System

__all__ = ["may_be_silent"]

Guard = tuple[str, int, bool]
"""A counter, and at least (true) or at most so many of it."""


def may_be_silent(system: System, tasks: Iterable[str], ask: Question) -> bool:
    """True if cvc5 finds numbers and dead transitions that agree with all this for one of these
    tasks; ``ask`` has the ranges, sums and clauses."""
    return _Silence(system, ask).is_possible(tasks)


class _Silence:
    """The transitions, by what they add to and take from, and a Boolean for each: that it is dead.
    """

    def __init__(self, system: System, ask: Question) -> None:
        self.ask = ask
        self.counters = system.counters
        self.transitions = [transition for transition in system.steps if not transition.chance]
        self.dead = [ask.choice() for _ in self.transitions]
        self.never: dict[Guard, Term] = {}
        self.changing: dict[tuple[str, bool], list[int]] = {}
        self.asking: dict[tuple[str, bool], list[tuple[int, int]]] = {}
        for number, transition in enumerate(self.transitions):
            for name, by in transition.change.items():
                self.changing.setdefault((name, by > 0), []).append(number)
            for name, amount, least in _guards(transition):
                self.asking.setdefault((name, least), []).append((amount, number))

    def is_possible(self, tasks: Iterable[str]) -> bool:
        """True if cvc5 finds an answer to all of the rules at once."""
        ask = self.ask
        for number, transition in enumerate(self.transitions):
            self._supplied(number, transition)
            self._as_others(number, transition)
            self._lacks(number, transition)
        going = [_no(dead) for dead, transition in zip(self.dead, self.transitions, strict=True)
                 if not transition.is_idle]
        self._one_of(going)
        of_task: dict[str, list[Term]] = {task: [] for task in tasks}
        for dead, transition in zip(self.dead, self.transitions, strict=True):
            for task in transition.tasks:
                of_task[task].append(dead)
        self._one_of([all_of(dead) for dead in of_task.values()])
        return not ask.has_no_answer()

    def _one_of(self, terms: Sequence[Term]) -> None:
        self.ask.say(any_of(terms))

    def _others(self, name: str, more: bool) -> list[int]:
        return self.changing.get((name, more), [])

    def _supplied(self, number: int, transition: Transition) -> None:
        """Add the first rule: a transition that uses what only the dead give is dead."""
        for name, by in transition.change.items():
            if by < 0 or self.counters[name].most is not None:
                givers = self._others(name, by < 0)
                self._one_of([*(_no(self.dead[giver]) for giver in givers),
                                 self.dead[number]])

    def _as_others(self, number: int, transition: Transition) -> None:
        """Add the second rule: a transition that asks for all that a dead one asks for, and maybe
        more, is dead."""
        guards = list(_guards(transition))
        if not guards:
            self._one_of([_no(self.dead[number])])
            return
        rare = min(guards, key=lambda guard: len(self.asking[guard[0], guard[2]]))
        for _, other in self.asking[rare[0], rare[2]]:
            if other != number and all(_asks(self.transitions[other], guard) for guard in guards):
                self._one_of([_no(self.dead[number]), self.dead[other]])

    def _lacks(self, number: int, transition: Transition) -> None:
        """Add the third rule: what a dead transition lacks, and whether it lacks that forever."""
        ask, guards, alive = self.ask, list(_guards(transition)), _no(self.dead[number])
        lacked = [ask.less(name, amount) if least else ask.more(name, amount)
                  for name, amount, least in guards]
        taken = []  # for each that the live can take away again: that they can
        for name, _, least in guards:
            takers = [other for other in self._others(name, not least) if other != number]
            if takers:
                taken.append(any_of([_no(self.dead[other]) for other in takers]))
        for_ever = [all_of([here, self._never(guard)])
                    for here, guard in zip(lacked, guards, strict=True)]
        several = [all_of([one, other]) for one, other in combinations(taken, 2)]
        self._one_of([alive, *for_ever, all_of([any_of(several), any_of(lacked)])])

    def _never(self, guard: Guard) -> Term:
        """The term that this is lacked from now on, with all that follows from it."""
        if guard not in self.never:
            self.never[guard] = self.ask.choice()
            no = _no(self.never[guard])
            for each in self._without(guard):
                self._one_of([no, each])
        return self.never[guard]

    def _without(self, guard: Guard) -> Iterator[Term]:
        """The consequences if this is lacked from now on."""
        name, amount, least = guard
        for other, who in self.asking[name, least]:
            if _is_as_much(guard, other):
                yield self.dead[who]
        for giver in self._others(name, least):
            if self._brings(self.transitions[giver], guard):
                yield self.dead[giver]
            else:  # bit by bit, if no transition takes it away
                takers = self._others(name, not least)
                yield any_of([self.dead[giver], *map(_no, (
                    self.dead[taker] for taker in takers))])

    def _brings(self, transition: Transition, guard: Guard) -> bool:
        """True if what is asked for is there after a transition."""
        name, amount, least = guard
        by = transition.change[name]
        if least:
            return max(0, transition.need.get(name, 0)) + by >= amount
        both = self.counters[name].most, transition.room.get(name)
        ends = [end for end in both if end is not None]
        return bool(ends) and min(ends) + by <= amount


def _no(term: Term) -> Term:
    return f"(not {term})"


def _guards(transition: Transition) -> Iterator[Guard]:
    for name, amount in transition.need.items():
        if amount > 0:
            yield name, amount, True
    for name, amount in transition.room.items():
        yield name, amount, False


def _asks(transition: Transition, guard: Guard) -> bool:
    amount = (transition.need if guard[2] else transition.room).get(guard[0])
    return amount is not None and _is_as_much(guard, amount)


def _is_as_much(guard: Guard, amount: int) -> bool:
    """True if a transition that asks for this amount asks for what the guard does, or more."""
    return amount >= guard[1] if guard[2] else amount <= guard[1]
