"""Looking for witnesses: mutants by search, refusals by walking the observer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import prod
from typing import Any

from ..chapters import Chapter
from ..engines.search import RuleInstance, check_rules, instances
from ..notation.bound import BoundMachine, bind
from ..notation.errors import CheckvalveError, ModelFault
from ..notation.interpreter import Interpreter, Step
from ..notation.machine import Machine, values_of
from ..verdicts.verdict import Budget
from .book import REFUSES, Witness
from .classes import Mutant, mutants

__all__ = ["find_in"]

BUDGET = Budget(max_states=30_000)
"""For one mutant; no budget of time, for the table has to be the same on any machine."""
ATTEMPTS = 1_500_000
"""Steps of an observer that are tried."""
WITHIN_RANGES = 100_000
"""Steps that are tried of a mutant that leaves its ranges."""
STEPS = 20_000
"""Steps of a machine that is walked."""
PLACES = 2
"""Machines with constants on which a rule is looked at, of those that it is expected to hold on
and of those that violate it."""

Steps = tuple[Step, ...]
Found = tuple[RuleInstance, Steps, int | None]
Place = tuple[type[Machine], tuple[tuple[str, Any], ...]]


def find_in(chapter: Chapter, known: Collection[str]) -> Iterator[Witness]:
    """Witnesses for the rules of a chapter that have none yet, as they are found."""
    wanted = {rule.id: rule for rule in chapter.rules if rule.id not in known}
    open_ids = {id for id, rule in wanted.items() if rule.predicate is not None}
    for place, ids in _places(chapter, open_ids, "holds").items():
        for witness in _on(chapter, place, [id for id in ids if id in open_ids], mutate=True):
            open_ids.discard(witness.rule)
            yield witness
    for place, ids in _places(chapter, open_ids, "violated").items():
        for witness in _on(chapter, place, [id for id in ids if id in open_ids], mutate=False):
            open_ids.discard(witness.rule)
            yield witness
    guards = {id for id, rule in wanted.items() if rule.predicate is None}
    for machine in chapter.machines:
        for witness in _refusals(chapter, machine, guards):
            guards.discard(witness.rule)
            yield witness


def _places(
    chapter: Chapter, ids: Collection[str], verdict: str
) -> Mapping[Place, list[str]]:
    """The machines and constants at which each rule is expected to hold, or to be violated.

    A rule of which nothing is expected is looked at where it is declared. Some of each are
    enough: the first constants are the smallest.
    """
    found: dict[Place, list[str]] = {}
    for id in sorted(ids):
        spoken: list[Place] = [
            (expectation.machine, tuple(point.items()))
            for expectation in chapter.expectations if expectation.rule == id
            for point in expectation.points() if expectation.expected(point) == verdict]
        if verdict == "holds":
            spoken += [(machine, ()) for machine in chapter.machines
                       if any(rule.id == id for rule in machine.rules_declared)]
        for place in list(dict.fromkeys(spoken))[:PLACES]:
            found.setdefault(place, []).append(id)
    return found


def _on(
    chapter: Chapter, place: Place, ids: Iterable[str], mutate: bool
) -> Iterator[Witness]:
    """The witnesses that one machine with its constants gives, itself first."""
    machine, constants = place
    left = list(ids)
    for method, words, make in _with_mutants(machine) if mutate else (_itself(machine),):
        if not left:
            return
        for item, steps, loop in _violations(make, dict(constants), left):
            if item.rule.id in left:
                left.remove(item.rule.id)
                yield Witness(
                    item.rule.id, f"{chapter.name}.{machine.__name__}", dict(constants),
                    method, words, item.args, steps, loop)


def _with_mutants(machine: type[Machine]) -> Iterator[Mutant]:
    yield _itself(machine)
    yield from mutants(machine)


def _itself(machine: type[Machine]) -> Mutant:
    return Mutant("", "", lambda: machine)


def _violations(
    make: Callable[[], type[Machine]], constants: Mapping[str, Any], ids: Iterable[str]
) -> list[Found]:
    """The rules that a machine violates, with a run for each."""
    try:
        bound = bind(make(), **constants)
        items = [item for id in ids for item in instances(bound, id)]
        verdicts = check_rules(bound, items, BUDGET)
    except ModelFault:
        return list(_within_ranges(bound, items))
    except CheckvalveError:
        return []  # it is no machine any more: that shows no rule broken
    return [
        (item, tuple((step.action, step.args) for step in verdict.trace.steps),
         verdict.trace.loop)
        for item, verdict in zip(items, verdicts, strict=True) if verdict.trace is not None
    ]


def _within_ranges(bound: BoundMachine, items: Iterable[RuleInstance]) -> Iterator[Found]:
    """The safety rules that a machine violates before it leaves its declared ranges."""
    oracle = bound.interpreter
    left = [item for item in items if item.rule.kind in ("always", "step")]
    walk = _Walk(oracle, WITHIN_RANGES)
    for here, state in walk.states():
        for item in left[:]:
            if item.rule.kind == "always" and not oracle.holds(item.rule, item.args, state):
                left.remove(item)
                yield item, walk.way(here), None
        for step, after in walk.steps(here):
            for item in left[:]:
                if item.rule.kind == "step" and after is not None and not oracle.holds(
                        item.rule, item.args, state, after):
                    left.remove(item)
                    yield item, (*walk.way(here), step), None
        if not left:
            return


def _refusals(
    chapter: Chapter, machine: type[Machine], ids: Collection[str]
) -> Iterator[Witness]:
    """For each guard rule the shortest run after which the machine refuses a step by it."""
    left = {rule.id for rule in machine.rules_declared if rule.id in ids}
    for constants in _smallest(chapter, machine) if left else ():
        bound = _bound(machine, constants)
        for id, steps in _refused(bound, left) if bound and _few_steps(bound) else ():
            left.discard(id)
            yield Witness(id, f"{chapter.name}.{machine.__name__}", dict(constants),
                          words=REFUSES, steps=steps)


def _smallest(chapter: Chapter, machine: type[Machine]) -> list[Mapping[str, Any]]:
    points = [point for expectation in chapter.expectations if expectation.machine is machine
              for point in expectation.points()]
    return [{}, *points[:PLACES], *points[-1:]]


def _bound(machine: type[Machine], constants: Mapping[str, Any]) -> BoundMachine | None:
    try:
        return bind(machine, **constants)
    except CheckvalveError:
        return None


def _few_steps(bound: BoundMachine) -> bool:
    """Whether the steps can be tried one by one: an observer of histories has millions."""
    return sum(
        prod(len(values_of(domain, bound.constants)) for _, domain in action.over)
        for action in bound.machine.actions_declared.values()) <= STEPS


def _refused(bound: BoundMachine, ids: Collection[str]) -> Iterator[tuple[str, Steps]]:
    """Walk the machine breadth first until each rule has refused a step."""
    oracle, left = bound.interpreter, set(ids)
    walk = _Walk(oracle, ATTEMPTS)
    for here, state in walk.states():
        for step, after in walk.steps(here):
            reason = None if after is not None else oracle.attempt(state, *step)
            if reason is not None and reason.rule is not None and reason.rule.id in left:
                left.discard(reason.rule.id)
                yield reason.rule.id, (*walk.way(here), step)
        if not left:
            return


class _Walk:
    """The states of a machine, breadth first; a step that leaves the ranges is not taken."""

    def __init__(self, oracle: Interpreter, attempts: int) -> None:
        self._oracle, self._left = oracle, attempts
        self._states: list[Any] = [oracle.initial()]
        self._back: list[tuple[int, Step] | None] = [None]
        self._seen = set(self._states)

    def states(self) -> Iterator[tuple[int, Any]]:
        """Each state with its number, while there are attempts left."""
        for here, state in enumerate(self._states):
            if self._left <= 0:
                return
            yield here, state

    def steps(self, here: int) -> Iterator[tuple[Step, Any]]:
        """Each step with the state after it, or None where it is not enabled."""
        for step in self._oracle.steps():
            self._left -= 1
            try:
                after = self._oracle.step(self._states[here], *step)
            except ModelFault:
                continue
            if after is not None and after not in self._seen:
                self._seen.add(after)
                self._states.append(after)
                self._back.append((here, step))
            yield step, after

    def way(self, here: int) -> Steps:
        """The shortest run to a state."""
        steps: list[Step] = []
        while (edge := self._back[here]) is not None:
            here, step = edge
            steps.append(step)
        return tuple(reversed(steps))
