"""The chapters on queues say one thing: what one machine does, the others explain."""

from __future__ import annotations

import random

import pytest

from checkvalve.spec.engines.monitor import Monitor
from checkvalve.spec.notation import Machine, bind
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.queues.conserved import ConservingQueue
from checkvalve.spec.queues.queue import BoundedQueue, OrderlyQueue

CONSTANTS = {"C": 2, "K": 8, "T": 6, "W": 2}


def walk(machine: type[Machine], seed: int, length: int = 40) -> list[Step]:
    """The visible steps of a random run of a machine."""
    chance = random.Random(seed)
    interpreter = bind(machine, **CONSTANTS).interpreter
    state = interpreter.initial()
    seen: list[Step] = []
    for _ in range(length):
        choices = list(interpreter.successors(state))
        if not choices:
            break
        # First the action, then its arguments: most instances belong to a few actions.
        name = chance.choice(sorted({step[0] for step, _ in choices}))
        step, state = chance.choice([each for each in choices if each[0][0] == name])
        if not machine.actions_declared[step[0]].internal:
            seen.append(step)
    return seen


def refusal(machine: type[Machine], steps: list[Step]) -> object:
    """The first failure of a machine in a run of another one, as far as it knows the actions."""
    constants = {name: value for name, value in CONSTANTS.items()
                 if name in machine.constants_declared}
    monitor = Monitor(bind(machine, **constants))
    for step in steps:
        if step[0] in machine.actions_declared:
            failure = monitor.observe([step])
            if failure is not None:
                return failure
    return None


@pytest.mark.parametrize("seed", range(20))
def test_what_a_bounded_queue_does_conserves_its_items(seed: int) -> None:
    """Every visible run of the bounded queue is one of the conserving queue."""
    assert refusal(ConservingQueue, walk(BoundedQueue, seed)) is None


@pytest.mark.parametrize("seed", range(20))
def test_what_an_orderly_queue_does_a_bounded_queue_may_do(seed: int) -> None:
    """The variant only takes freedom away; and its own runs explain themselves."""
    steps = walk(OrderlyQueue, seed)
    assert refusal(BoundedQueue, steps) is None
    assert refusal(OrderlyQueue, steps) is None


def test_walks_are_about_something() -> None:
    """The runs above see waits completed and cancelled, and full and empty queues."""
    names = {name for seed in range(20) for name, _ in walk(BoundedQueue, seed)}
    visible = {name for name, action in BoundedQueue.actions_declared.items()
               if not action.internal}
    assert names == visible


def test_both_chapters_know_the_same_actions() -> None:
    """A step that the suite observes means the same in every machine that knows it."""
    extra = set(ConservingQueue.actions_declared) - set(BoundedQueue.actions_declared)
    assert extra == set()
