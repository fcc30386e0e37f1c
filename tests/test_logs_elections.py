"""Logs of elections: the states that stand for others."""

from __future__ import annotations

from typing import Final

from checkvalve.spec.election.numbered_terms import renumbered
from checkvalve.spec.election.observed_election import ObservedElection
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.expr import Read, walk
from checkvalve.spec.notation.interpreter import State

TERMS: Final = 2
OF_TERMS: Final = ("term", "terms", "written")
MACHINE: Final = bind(ObservedElection, N=3, K=TERMS + 1)
PLACES: Final = MACHINE.interpreter.layout.places
CHANGING: Final = ("leads", "accepted")
HIDDEN: Final = ("elect", "lapse")


def same(state: State) -> State:
    """The state that stands for a state."""
    found = list(state)
    at = [PLACES[name] for name in OF_TERMS]
    for place, value in zip(at, renumbered(*(state[each] for each in at)), strict=True):
        found[place] = value
    return tuple(found)


def test_only_reports_and_writes_look_at_terms() -> None:
    """All other actions neither read nor change what is numbered anew."""
    for action in MACHINE.model.actions:
        if action.name not in CHANGING:
            read = {each.slot.partition("[")[0]
                    for each in walk(action.guard, *action.updates.values())
                    if isinstance(each, Read)}
            assert not {*read, *(name.partition("[")[0] for name in action.updates)} & {*OF_TERMS}


def test_renumbered_terms_accept_the_same_step_by_step() -> None:
    """Whichever of three candidates lead, late or not, and write: from a state, and from the one
    that stands for it, the same steps are refused, for the same rules, and the others lead to
    states for which the same one stands."""
    interpreter = MACHINE.interpreter
    steps = [(name, args) for name, args in interpreter.steps() if name in (*CHANGING, *HIDDEN)]
    begin = list(interpreter.initial())
    for name in ("joined", "shaken"):
        begin[PLACES[name]] = (True,) * 3
    todo, others = [tuple(begin)], 0
    seen = set(todo)
    while todo:
        state = todo.pop()
        other = same(state)
        others += other != state
        for name, args in steps:
            reason = interpreter.attempt(state, name, args)
            if other != state:
                there = interpreter.attempt(other, name, args)
                assert (reason is None) == (there is None)
                assert reason is None or there is None or reason.rule == there.rule
            if reason is not None:
                continue
            after = interpreter.step(state, name, args)
            assert after is not None
            if other != state:
                led = interpreter.step(other, name, args)
                assert led is not None and same(after) == same(led)
            if after not in seen and after[PLACES["terms"]] <= TERMS:
                seen.add(after)
                todo.append(after)
    assert others > 1_000
