"""Candidate sets: in which states a machine may be, after what was seen of it.

Theory of operation. Seen from outside, a machine with hidden steps is an automaton of its
own. Its states are the sets of states that explain what was seen, closed under the internal
actions; an observed step leads from each set to one other, or is refused. This module makes
that automaton as far as it is walked: a set is one object however often it is reached, and
remembers where each step led. The monitor walks along one run; a search walks along all.

What is remembered is bounded. When it grows over ``kept`` entries, all sets are dropped, and grow
anew from those that are still in use; and so are the effects of steps, which are dearer to learn,
unless they are few. So no answer depends on what is remembered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Final

from ..notation.bound import BoundMachine
from ..notation.interpreter import State, Step, choices
from ..notation.rules import Rule
from ..verdicts.memory import meter
from .effects import Asked, Effects, Packed, Refusal
from .elements import effects_of_short

__all__ = [
    "KEPT", "STATES_MAX", "CandidateSets", "Candidates", "LostTrack", "alternatives_of", "either",
    "lost_track",
]

STATES_MAX: Final = 100_000
"""States that a candidate set has at most, unless more or fewer are asked for."""

KEPT: Final = 200_000
"""Entries that the sets of one machine remember, about at most: states, steps, what they do."""

_BY_ELEMENT: Final = 16
"""Elements of an array that is learnt element by element, at most: of a longer one a step mostly
looks at all, one after the other."""

_LOOK: Final = 256
"""States of a set between two looks at the memory."""

_LARGE: Final = 1_000
"""A set with more states is not remembered, unless everything is."""


class LostTrack(Exception):
    """More states explain a run than a candidate set may have: from here on, it is undecided.

    An exception, and not a mark on a set: a caller that ignores it gets no verdict.
    """


class Candidates:
    """A set of states in which a machine may be. ``CandidateSets`` makes them.

    Compared and hashed as an object: while all is remembered, there is one for each set.
    """

    __slots__ = ("_after", "_memory", "_refused", "packed")

    def __init__(self, memory: _Memory, packed: frozenset[Packed]) -> None:
        self._memory = memory
        self._after: dict[Step, Candidates | None] = {}
        self._refused: dict[Step, frozenset[Rule | None] | None] = {}
        self.packed = packed

    def known_after(self, step: Step) -> Candidates | None:
        """The set to which a step leads, if it is remembered; None too if none takes it."""
        return self._after.get(step)

    @property
    def states(self) -> frozenset[State]:
        """The states, as the interpreter has them."""
        return frozenset(map(self._memory.effects.unpack, self.packed))

    def __len__(self) -> int:
        return len(self.packed)


class _Memory:
    """The memory of the sets, dropped as a whole: numbers in sets mean nothing elsewhere."""

    def __init__(self, effects: Effects, kept: int | None) -> None:
        self.effects = effects
        self.interned: dict[frozenset[Packed], Candidates] = {}
        self.closures: dict[frozenset[Packed], Candidates] = {}  # by where they begin
        self.same: dict[Packed, Packed] = {}
        self.initial: Candidates | None = None
        self.entries = 0
        self._most = math.inf if kept is None else kept

    @property
    def size(self) -> int:
        """The number of entries that are remembered."""
        return self.entries + self.effects.size

    def is_full(self) -> bool:
        """True if more is remembered than shall be."""
        return self.entries + self.effects.size > self._most

    def forget(self) -> None:
        """Let go of all sets; those that are in use know their states still."""
        self.interned.clear()
        self.closures.clear()
        self.same.clear()
        self.initial = None

    def interning(self, packed: frozenset[Packed]) -> Candidates:
        """The set of some states: one object each time, if it is not large."""
        found = self.interned.get(packed)
        if found is None:
            found = Candidates(self, packed)
            if self.remembers(found):
                self.interned[packed] = found
                self.entries += 1 + len(packed)
        return found

    def remembers(self, found: Candidates) -> bool:
        """True if a set to which a step may lead stays one object."""
        return len(found.packed) <= _LARGE or self._most == math.inf

    def takes_over(self, here: Candidates) -> Candidates:
        """A set of another memory, as this one has it."""
        found = self.interning(frozenset(map(self.effects.pack, here.states)))
        self._most = max(self._most, 2 * self.size)  # what is in use must fit, however large
        return found


class CandidateSets:
    """The candidate sets of one machine with its constants, and the steps between them.

    A set has at most ``max_states`` states. ``kept`` bounds what is remembered; None: all of
    it is, which is for a search that bounds itself, and for which one set has to stay one
    object. ``same`` gives for a state another one, from which the same can be observed: it stands
    for all of which it is given.
    """

    def __init__(
        self, bound: BoundMachine, max_states: int = STATES_MAX, kept: int | None = KEPT,
        same: Callable[[State], State] | None = None,
    ) -> None:
        self.bound = bound
        self._same = same
        self.max_states = max_states
        self._kept = kept
        self._internal = _internal_steps(bound)
        self._memory = _Memory(self._nothing_learnt(), kept)

    @property
    def remembered(self) -> int:
        """The number of entries that are remembered now."""
        return self._memory.size

    @property
    def initial(self) -> Candidates:
        """The states in which the machine may be before anything was seen.

        Raises LostTrack, and ModelFault as the interpreter does, like all that follow here.
        """
        memory = self._roomy()
        if memory.initial is None:
            memory.initial = self.of([self.bound.interpreter.initial()])
        return memory.initial

    def of(self, states: Iterable[State]) -> Candidates:
        """The set of some states, with all that internal actions make of them."""
        memory = self._roomy()
        return self._closed(memory, set(map(memory.effects.pack, states)))

    def after(self, here: Candidates, step: Step) -> Candidates | None:
        """The set to which an observed step leads; None if no state takes it."""
        found = here._after.get(step, here)
        return self._led(here, step) if found is here else found

    def after_any(self, here: Candidates, alternatives: Sequence[Step]) -> Candidates | None:
        """The set after one of several steps was taken; None if no state takes any."""
        if len(alternatives) == 1:
            return self.after(here, alternatives[0])
        led = [found for step in alternatives if (found := self.after(here, step)) is not None]
        return self.of([state for each in led for state in each.states]) if led else None

    def refused(self, here: Candidates, step: Step) -> frozenset[Rule | None] | None:
        """The rules that the guards cite which refuse a step in all states of a set.

        None among them is a guard that cites no rule. None instead of them: some state takes
        the step (though it may leave the declared ranges thereby).
        """
        try:
            return here._refused[step]
        except KeyError:
            return self._refusing(here, step)

    def refused_any(self, here: Candidates, several: Sequence[Asked]) -> set[Rule | None]:
        """The rules for which some of several steps are refused, each as ``refused`` has it."""
        memory = self._memory
        if len(here.packed) == 1 and here._memory is memory and not memory.is_full():
            packed, = here.packed
            found = memory.effects.refusals(packed, several)
            if found is not None:
                return found
        return self._refused_alone(here, [step for asked in several for step in asked.steps])

    def refused_each(self, here: Candidates, steps: tuple[Step, ...]) -> set[Rule | None]:
        """The same of steps each of which depends on other variables, and is no ``either``: what
        is remembered of one is not remembered of them together."""
        memory = self._memory
        if len(here.packed) == 1 and here._memory is memory and not memory.is_full():
            packed, = here.packed
            found = memory.effects.refusals_of(packed, steps)
            if found is not None:
                return found
        return self._refused_alone(here, steps)

    def _refused_alone(self, here: Candidates, steps: Sequence[Step]) -> set[Rule | None]:
        rules: set[Rule | None] = set()
        for step in steps:
            rules.update(self.refused(here, step) or ())
        return rules

    def accepts(self, here: Candidates, steps: Iterable[Step]) -> bool:
        """True if some steps could be observed next, one after the other.

        False where it is undecided, for the states are too many.
        """
        there: Candidates | None = here
        try:
            for step in steps:
                if there is None:
                    return False
                there = self.after(there, step)
        except LostTrack:
            return False
        return there is not None

    # --- what is not remembered yet --------------------------------------------------------

    def _led(self, here: Candidates, step: Step) -> Candidates | None:
        here, memory = self._current(here)
        if len(here.packed) == 1:
            packed, = here.packed
            known = memory.effects.known(packed, step)
            if known is not None:
                return self._known(memory, here, packed, step, known)
        if step in here._after:
            return here._after[step]
        step_of = memory.effects.step
        reached: set[Packed] = set()
        for each in alternatives_of(step):
            for packed in here.packed:
                after = step_of(packed, each)
                if after.__class__ is not Refusal:
                    reached.add(after)  # type: ignore[arg-type]
        found = self._closed(memory, reached) if reached else None
        if found is None or memory.remembers(found):
            here._after[step] = found
            memory.entries += 1
        return found

    def _known(
        self, memory: _Memory, here: Candidates, packed: Packed, step: Step, after: Packed | Refusal
    ) -> Candidates | None:
        """The set after a step of which it is known where it leads from the only state of a set;
        that set, which is closed, if it changes nothing."""
        if after == packed:
            return here
        found = None if isinstance(after, Refusal) else self._closed(memory, {after})
        if found is None or memory.remembers(found):
            here._after[step] = found
            memory.entries += 1
        return found

    def _refusing(self, here: Candidates, step: Step) -> frozenset[Rule | None] | None:
        here, memory = self._current(here)
        rules: set[Rule | None] = set()
        found: frozenset[Rule | None] | None = None
        refusal_of = memory.effects.refusal
        for packed, each in product(here.packed, alternatives_of(step)):
            refusal = refusal_of(packed, each)
            if refusal is None:
                break
            rules.add(refusal.rule)
        else:
            found = frozenset(rules)
        here._refused[step] = found
        memory.entries += 1
        return found

    def _closed(self, memory: _Memory, states: set[Packed]) -> Candidates:
        """The set of some states with all that internal actions can make of them."""
        if self._same is not None:
            states = self._same_as(memory, states, self._same)
        if not self._internal:
            return self._held(memory, states)
        begins = frozenset(states)
        found = memory.closures.get(begins)
        if found is None:
            found = self._held(memory, self._made_of(memory, states))
            if memory.remembers(found):
                memory.closures[begins] = found
                memory.entries += 1
        return found

    def _same_as(self, memory: _Memory, states: set[Packed], same: Callable[[State], State]
                 ) -> set[Packed]:
        """The states that stand for some states."""
        known, effects, found = memory.same, memory.effects, set[Packed]()
        for packed in states:
            other = known.get(packed)
            if other is None:
                other = known[packed] = effects.pack(same(effects.unpack(packed)))
                memory.entries += 1
            found.add(other)
        return found

    def _made_of(self, memory: _Memory, states: set[Packed]) -> set[Packed]:
        """Some states, and what internal actions make of them; a few more than there may be,
        where these are too many."""
        todo = list(states)
        after_each, internal = memory.effects.after_each, self._internal
        while todo and len(states) <= self.max_states:
            packed = todo.pop()
            if len(states) % _LOOK == 0 and meter().is_over():
                raise LostTrack("the memory is used up by the states that explain what was seen")
            for after in after_each(packed, internal):
                if after not in states:
                    states.add(after)
                    todo.append(after)
        return states

    def _held(self, memory: _Memory, states: set[Packed]) -> Candidates:
        """The set of these states. Raises LostTrack if they are too many."""
        if len(states) > self.max_states:
            raise lost_track(self.max_states)
        return memory.interning(frozenset(states))

    # --- bounding what is remembered -------------------------------------------------------

    def _roomy(self) -> _Memory:
        """The memory, or an empty one in its place if it is full."""
        memory = self._memory
        if memory.is_full():
            memory.forget()
            learnt = memory.effects
            if memory.entries < learnt.size:
                learnt = self._nothing_learnt()
            self._memory = _Memory(learnt, self._kept)
        return self._memory

    def _nothing_learnt(self) -> Effects:
        return effects_of_short(self.bound.interpreter, _BY_ELEMENT)

    def _current(self, here: Candidates) -> tuple[Candidates, _Memory]:
        """A set, as the memory of now has it."""
        memory = self._memory
        if memory.is_full():
            memory = self._roomy()
        return here if here._memory is memory else memory.takes_over(here), memory


def either(name: str, parameter: str, numbers: Iterable[int], *rest: tuple[str, int]) -> Step:
    """A step of which it was not seen with which of some numbers it was taken.

    It stands wherever an observed step may stand, and is taken if it is with any of them.
    """
    several: Any = frozenset(numbers)
    return name, (*rest, (parameter, several))


@lru_cache(maxsize=10_000)
def alternatives_of(step: Step) -> tuple[Step, ...]:
    """The steps that an observed step may have been: itself, or those of ``either``."""
    name, args = step
    known: list[Any] = [value for _, value in args]
    if not any(isinstance(value, frozenset) for value in known):
        return (step,)
    each = [sorted(value) if isinstance(value, frozenset) else (value,) for value in known]
    parameters = [parameter for parameter, _ in args]
    return tuple([(name, tuple(zip(parameters, values, strict=True)))
                  for values in product(*each)])


def lost_track(max_states: int) -> LostTrack:
    """The error for a set that would have more states than this."""
    return LostTrack(f"more than {max_states} states explain what was seen")


def _internal_steps(bound: BoundMachine) -> tuple[Step, ...]:
    """The internal actions with every choice of their parameters. The choices of all others,
    which may be very many, are not enumerated: an observation says which one was made."""
    return tuple([
        (action.name, args) for action in bound.machine.actions_declared.values()
        if action.internal for args in choices(action.over, bound.constants)])
