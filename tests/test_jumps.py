"""The map of a row of steps from all first states is that of the interpreter from each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from checkvalve.spec.engines.jumps import Jumps, NotJumping
from checkvalve.spec.flow.observed_marks import ObservedMarks
from checkvalve.spec.flow.observed_rate import ObservedLog, ObservedRate, ObservedRefusals
from checkvalve.spec.notation.bound import BoundMachine, bind_to_watch
from checkvalve.spec.notation.machine import Machine

MACHINES: Mapping[str, tuple[type[Machine], Mapping[str, int], Mapping[str, str]]] = {
    "rate": (ObservedRate, {"r": 2, "b": 5, "K": 1},
             {"tick": "", "passes": "permits", "is_turned_away": "permits"}),
    "refusals": (ObservedRefusals, {"r": 2, "b": 5, "K": 1},
                 {"tick": "", "passes": "permits", "is_turned_away": "permits"}),
    "marks": (ObservedMarks, {"H": 4, "L": 2, "M": 7},
              {"arrives": "count", "gives": "count", "says_stop": "", "says_go": "", "rests": ""}),
}


def last(bound: BoundMachine, slots: dict[str, Any], row: list[tuple[str, dict[str, int]]]
         ) -> dict[str, Any] | None:
    """The slots after a row of steps, one after the other; None where one is refused."""
    interpreter = bound.interpreter
    state: Any = interpreter.from_slots(slots)
    for name, args in row:
        state = interpreter.step(state, name, tuple(args.items()))
        if state is None:
            return None
    return dict(interpreter.slots(state))


@pytest.mark.parametrize("kind", MACHINES)
def test_a_map_has_the_last_state_of_each_first_state(kind: str) -> None:
    """Of random rows of steps, whatever their arguments: from each first state, the state after
    all of them, or that one of them is refused."""
    machine, constants, actions = MACHINES[kind]
    bound = bind_to_watch(machine, **constants)
    jumps = Jumps(bound, list(actions))
    random, taken, refused = Random(kind), 0, 0
    every = [(name, value) for name in actions for value in range(5 if actions[name] else 1)]
    table = np.concatenate([jumps.of(name, {actions[name]: np.array([value])} if actions[name]
                                     else {}, 1) for name, value in every], axis=-1)
    modes, ranges = len(jumps.modes), jumps.ranges
    for length in [1, 2, 2, 3, 4, 6, 9, 700] * 4:
        steps = random.choices(every, k=length)
        which = np.array([every.index(step) for step in steps])
        jump = jumps.folded(table, which, np.array([0]), np.array([length]))[..., 0]
        row = [(name, {actions[name]: value} if actions[name] else {}) for name, value in steps]
        for first in product(range(modes), *(range(lo, hi + 1) for lo, hi in ranges)):
            after = jumps.after(jump, first)
            found = last(bound, jumps.slots(first), row)
            assert (None if after is None else jumps.slots(after)) == found, (steps, first)
            taken, refused = taken + (after is not None), refused + (after is None)
    assert min(taken, refused) > 50


@pytest.mark.parametrize("kind", MACHINES)
def test_rows_of_one_step_are_their_maps(kind: str) -> None:
    """However many there are, of however few maps: nothing is left to be composed."""
    machine, constants, actions = MACHINES[kind]
    jumps = Jumps(bind_to_watch(machine, **constants), list(actions))
    name, argument = next(iter(actions.items()))
    one = jumps.of(name, {argument: np.array([1])} if argument else {}, 1)
    many = np.arange(100)
    found = jumps.folded(one, np.zeros(100, np.int64), many, np.ones(100, np.int64))
    assert (found == one).all()


@pytest.mark.parametrize("kind", MACHINES)
def test_an_end_is_the_one_state_after_a_map(kind: str) -> None:
    """Of random rows of steps: there is an end only where all first states that are taken lead to
    it; the map that leads to it from there is taken from the same states; from none, the other."""
    machine, constants, actions = MACHINES[kind]
    jumps = Jumps(bind_to_watch(machine, **constants), list(actions))
    random, ends = Random(kind), 0
    every = [(name, value) for name in actions for value in range(5 if actions[name] else 1)]
    table = np.concatenate([jumps.of(name, {actions[name]: np.array([value])} if actions[name]
                                     else {}, 1) for name, value in every], axis=-1)
    firsts = [*product(range(len(jumps.modes)), *(range(lo, hi + 1) for lo, hi in jumps.ranges))]
    for length in [1, 2, 3, 5, 9, 20] * 20:
        which = np.array([random.randrange(len(every)) for _ in range(length)])
        jump = jumps.folded(table, which, np.array([0]), np.array([length]))[..., 0]
        after = {first: jumps.after(jump, first) for first in firsts}
        end = jumps.end(jump)
        if end is not None:
            ends += 1
            assert set(after.values()) <= {None, end}
            assert jumps.state_of(jumps.slots(end)) == end
            leading = jumps.leading(jump, end)
            assert after == {first: jumps.after(leading, first) for first in firsts}
        refused = jumps.refused(jump)
        assert not any(jumps.after(refused, first) for first in firsts)
    assert ends


def test_a_machine_of_another_form_is_refused() -> None:
    """A guard on the sum of two variables is no interval of each."""
    jumps = Jumps(bind_to_watch(ObservedLog, r=1, b=3, K=1, P=3), ["tick", "is_logged"])
    with pytest.raises(NotJumping):
        jumps.of("is_logged", {"permits": np.array([1])}, 1)
