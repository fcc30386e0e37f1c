"""Following the run of a certificate, step by step or leg by leg.

Conditions are intervals and changes are fixed, so steps that are possible the first time and the
last time are possible each time between. A leg is checked so: its first round and its last one. A
counter that no round changes and no step asks anew is not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .limits import look
from .system import Transition, System, can_move, state_of

__all__ = ["Refuted", "Ways", "needed_for", "run_of"]

LOOK = 256
"""Steps between two looks at the clock."""

State = dict[str, int]
Step = Mapping[str, int]


class Refuted(Exception):
    """Something that the certificate says is not so."""


def run_of(system: System, evidence: Mapping[str, Any]) -> tuple[State, int]:
    """The state after the run, and the number of its steps. Raises Refuted."""
    ways = Ways(system)
    if "legs" in evidence:
        return _by_legs(system, ways, evidence["legs"])
    state, steps = state_of(system), evidence["steps"]
    for number, step in enumerate(steps, start=1):
        if number % LOOK == 0:
            look("following a run")
        ways.one(step, state, f"step {number}")
        for counter, by in step.items():  # a transition's own, so the system has it
            state[counter] += by
    return state, len(steps)


class Ways:
    """The transitions of a system by what they change."""

    def __init__(self, system: System) -> None:
        self.found: dict[tuple[tuple[str, int], ...], list[Transition]] = {}
        for transition in system.transitions:
            if not transition.fails:
                change = tuple(sorted(transition.change.items()))
                self.found.setdefault(change, []).append(transition)

    def of(self, step: Step) -> list[Transition]:
        """The transitions that change what a step does."""
        return self.found.get(tuple(sorted(step.items())), [])

    def one(self, step: Step, state: Mapping[str, int], told: str) -> Transition:
        """A transition that is possible and changes what the step does."""
        for transition in self.of(step):
            if can_move(transition, state):
                return transition
        raise Refuted(f"{told} of the run is not possible")


class _After(dict[str, int]):
    """A state with the changes of some steps on top of it, looked up when they are asked for."""

    def __init__(self, state: State, change: State) -> None:
        super().__init__()
        self.state, self.changes = state, change

    def __missing__(self, counter: str) -> int:
        return self.state[counter] + self.changes.get(counter, 0)


def _by_legs(
    system: System, ways: Ways, legs: Sequence[Mapping[str, Any]]
) -> tuple[State, int]:
    state = state_of(system)
    leg = _Steps()
    total = 0
    for number, told in enumerate(legs, start=1):
        look("following the legs of a run")
        if told["keep"] > len(leg.transitions):
            raise Refuted(f"leg {number} keeps more steps than the leg before has")
        leg.keep(told["keep"])
        for step in told["then"]:
            leg.add(ways.one(step, _After(state, leg.change), f"leg {number}"))
        for round_ in (0, told["times"] - 1):
            if not leg.possible(state, round_):
                raise Refuted(f"leg {number} of the run is not possible")
        leg.seen()
        for counter, by in leg.change.items():
            state[counter] += told["times"] * by
            leg.new.add(counter)
        total += told["times"] * len(leg.transitions)
    return state, total


class _Steps:
    """The steps of a leg: what each asks of a counter, less what those before it have added."""

    def __init__(self) -> None:
        self.transitions: list[Transition] = []
        self.change: State = {}
        self.asked: dict[str, list[tuple[int, float]]] = {}
        self.new: set[str] = set()

    def add(self, transition: Transition) -> None:
        """Continue with a transition, from where the steps so far lead."""
        for counter in {*transition.need, *transition.room}:
            before = self.change.get(counter, 0)
            self.asked.setdefault(counter, []).append((
                transition.need.get(counter, 0) - before,
                transition.room.get(counter, float("inf")) - before))
            self.new.add(counter)
        self._count(transition, 1)
        self.transitions.append(transition)

    def keep(self, number: int) -> None:
        """Leave out all steps but so many."""
        while len(self.transitions) > number:
            transition = self.transitions.pop()
            self._count(transition, -1)
            for counter in {*transition.need, *transition.room}:
                self.asked[counter].pop()

    def _count(self, transition: Transition, sign: int) -> None:
        for counter, by in transition.change.items():
            now = self.change.pop(counter, 0) + sign * by
            if now:
                self.change[counter] = now
            self.new.add(counter)

    def possible(self, state: State, rounds: int) -> bool:
        """True if all steps are possible after so many rounds."""
        return all(
            low <= state[counter] + rounds * self.change.get(counter, 0) <= high
            for counter in self.new | self.change.keys()
            for low, high in self.asked.get(counter, ()))

    def seen(self) -> None:
        """All that was new is as it should be."""
        self.new.clear()


def needed_for(transitions: Iterable[Transition]) -> Iterator[tuple[str, int, float]]:
    """The amounts that must be there for some transitions to be possible one after another: of each
    counter that they ask for, the least and the most."""
    steps = _Steps()
    for transition in transitions:
        steps.add(transition)
    for counter, asked in steps.asked.items():
        yield counter, max(low for low, _ in asked), min(high for _, high in asked)
