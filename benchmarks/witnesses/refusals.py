"""Looking for witnesses of guard rules: a step that an observer refuses by the rule alone.

A guard rule is what an observer refuses. Its witness is a run and one more step, which is refused
by that rule, and is taken by the observer without that one guard: so nothing else in the observer
says what the rule says. The observer is walked breadth first, and then, where it has too many
steps for that, along random runs of a fixed seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.notation.bound import BoundMachine, bind
from checkvalve.spec.notation.errors import CheckvalveError, ModelFault
from checkvalve.spec.notation.interpreter import Interpreter, State, Step, choices
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.types import ConstDecl
from checkvalve.spec.witnesses.book import GUARD_LEFT_OUT, Witness

from .classes import Mutant, mutants
from .confirm import refuses, taken
from .walk import Walk

__all__ = ["refusals", "seen_refused"]

ATTEMPTS = 400_000
"""Steps of an observer that are tried breadth first, with each choice of constants."""
RUNS, LENGTH, TRIES = 3_000, 14, 60
"""Random runs, their steps, and the steps that are tried for each of them."""
BLAMED = 40
"""Refusals of one action by one rule that are looked at."""

Steps = tuple[Step, ...]
Found = tuple[str, Steps, Mutant]


def refusals(chapter: Chapter, ids: Collection[str]) -> Iterator[Witness]:
    """A witness for each of these guard rules for which one is found."""
    left = set(ids)
    for machine in chapter.machines:
        declared = {rule.id for rule in machine.rules_declared}
        for constants in _constants(chapter, machine) if left & declared else ():
            for id, steps, mutant in _refused(machine, constants, left & declared):
                left.discard(id)
                yield Witness(id, f"{chapter.name}.{machine.__name__}", constants,
                              mutant.method, mutant.words, steps=steps, of_a_guard=True)


def _constants(chapter: Chapter, machine: type[Machine]) -> Iterator[dict[str, Any]]:
    """The defaults, what the chapter expects something of, and each number some larger or 0."""
    yield {}
    points = [dict(point) for expectation in chapter.expectations
              if expectation.machine is machine for point in expectation.points()]
    yield from [*points[:2], *points[-1:]]
    for name, constant in machine.constants_declared.items():
        if isinstance(constant, ConstDecl):
            for value in (constant.default + 1, constant.default + 2, 0):
                yield {name: value}


class _Blame:
    """Finds the one guard that keeps a machine from a step."""

    def __init__(self, bound: BoundMachine, ids: Collection[str]) -> None:
        self.oracle, self.left = bound.interpreter, set(ids)
        self._looked_at: Counter[tuple[str, str]] = Counter()
        self._without = [
            (mutant, Interpreter(mutant.make(), bound.interpreter.constants))
            for mutant in mutants(bound.machine) if mutant.words.startswith(GUARD_LEFT_OUT)]

    def of(self, state: State, step: Step) -> tuple[str, Mutant] | None:
        """The rule that refuses a step, if it is among those left, and the mutant that takes it."""
        reason = self.oracle.attempt(state, *step)
        if reason is None or reason.rule is None or reason.rule.id not in self.left:
            return None
        self._looked_at[step[0], reason.rule.id] += 1
        if self._looked_at[step[0], reason.rule.id] > BLAMED:
            return None
        for mutant, without in self._without:
            if taken(without, state, step):
                self.left.discard(reason.rule.id)
                return reason.rule.id, mutant
        return None


def seen_refused(
    chapter: str, machine: type[Machine], constants: Mapping[str, Any], id: str,
    observed: Sequence[Step],
) -> Witness | None:
    """The witness that a run gives which some implementation showed, and of which the last step an
    observer refuses by a rule; None if it does not. Hidden steps are put between.

    Where one guard refuses alone, the mutant lacks it; else more than one guard does.
    """
    bound = bind(machine, **constants)
    step_of = bound.interpreter.step
    runs = _after_hidden(bound, {bound.interpreter.initial(): ()})
    for step in observed:
        after = {state: step_of(state, *step) for state in runs}
        if not any(state is not None for state in after.values()):
            return _of_refused(chapter, bound, id, runs, step)
        runs = _after_hidden(bound, {
            state: (*runs[before], step)
            for before, state in after.items() if state is not None})
    return None


def _of_refused(
    chapter: str, bound: BoundMachine, id: str, runs: Mapping[State, Steps], last: Step
) -> Witness | None:
    """The witness of a rule that refuses a step in one of the states that some runs lead to."""
    blame, witness = _Blame(bound, [id]), None
    name, declared = f"{chapter}.{bound.machine.__name__}", bound.machine.constants_declared
    constants = {name: value for name, value in bound.interpreter.constants.items()
                 if value != declared[name].default}
    for state, run in runs.items():
        reason = bound.interpreter.attempt(state, *last)
        if reason is None or reason.rule is None or reason.rule.id != id:
            continue
        if (found := blame.of(state, last)) is not None:
            return Witness(id, name, constants, found[1].method, found[1].words,
                           steps=(*run, last), of_a_guard=True)
        witness = Witness(id, name, constants, steps=(*run, last), of_a_guard=True)
    return witness


def _after_hidden(bound: BoundMachine, runs: dict[State, Steps]) -> dict[State, Steps]:
    """The same runs, and each state that hidden steps lead to from them with its own."""
    hidden = [(action.name, args) for action in bound.machine.actions_declared.values()
              if action.internal for args in choices(action.over, bound.constants)]
    found, left = dict(runs), list(runs)
    for state in left:
        for step in hidden:
            after = bound.interpreter.step(state, *step)
            if after is not None and after not in found:
                found[after] = (*found[state], step)
                left.append(after)
    return found


def _refused(
    machine: type[Machine], constants: Mapping[str, Any], ids: Collection[str]
) -> Iterator[Found]:
    try:
        bound = bind(machine, **constants)
        blame = _Blame(bound, ids)
    except CheckvalveError:
        return  # the assumptions exclude these constants
    yield from _breadth_first(bound, blame)
    yield from _at_random(bound, blame)


def _breadth_first(bound: BoundMachine, blame: _Blame) -> Iterator[Found]:
    walk = Walk(bound.interpreter, ATTEMPTS)
    for here, state in walk.states():
        for step, after in walk.steps(here):
            found = None if after is not None else blame.of(state, step)
            if found is not None:
                yield found[0], (*walk.way(here), step), found[1]
            if not blame.left:
                return


def _at_random(bound: BoundMachine, blame: _Blame) -> Iterator[Found]:
    """Random runs; after each step, what the machine refuses by a guard that is still looked for.
    """
    oracle, draw = bound.interpreter, random.Random(0)
    by_action: dict[str, list[Step]] = {}
    for step in oracle.steps():
        by_action.setdefault(step[0], []).append(step)
    choices = list(by_action.values())
    for _ in range(RUNS):
        state = oracle.initial()
        run: list[Step] = []
        for _ in range(TRIES):
            step = draw.choice(draw.choice(choices))
            try:
                after = oracle.step(state, *step)
            except ModelFault:
                continue
            found = None if after is not None else blame.of(state, step)
            if found is not None:
                yield found[0], _shortened(bound, (*run, step), *found), found[1]
            if not blame.left:
                return
            if after is not None:
                state = after
                run.append(step)
            if len(run) == LENGTH:
                break


def _shortened(bound: BoundMachine, steps: Steps, id: str, mutant: Mutant) -> Steps:
    """The run without the steps that it does not need."""
    without = Interpreter(mutant.make(), bound.interpreter.constants)
    place = 0
    while place < len(steps) - 1:
        fewer = (*steps[:place], *steps[place + 1:])
        if refuses(bound.interpreter, without, id, fewer):
            steps, place = fewer, 0
        else:
            place += 1
    return steps
