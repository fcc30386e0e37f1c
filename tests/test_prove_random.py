"""The prover against the reference evaluator, on random models.

Goal: a wrong translation of an operator, a step that Z3 may take and the model may not, or
an unsound proof shows as a verdict that an exhaustive search contradicts.
"""

from __future__ import annotations

from typing import Any

import pytest
import z3
from checkvalve.spec.engines.prove import bounded, prove
from checkvalve.spec.engines.prove.terms import QueueTerm, Remainders, Translation
from checkvalve.spec.notation import expr as e
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.evaluate import apply, evaluate, initial_slots
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import LoweredAction, Model
from checkvalve.spec.verdicts.verdict import Outcome

from native_support import RandomModel, rich_model

DEPTH = 5


def literal(kind: e.SlotType, value: Value) -> Any:
    """A value as Z3 literals."""
    if isinstance(kind, e.Queue):
        assert isinstance(value, tuple) and isinstance(kind.capacity, e.Lit)
        items = [literal(kind.element, item) for item in value]
        spare = [items[0] if items else literal(kind.element, _zero(kind.element))]
        filled = (items + spare * kind.capacity.value)[:kind.capacity.value]
        return QueueTerm(z3.IntVal(len(items)), tuple(filled))
    if isinstance(kind, e.Record):
        assert isinstance(value, tuple)
        parts = zip(kind.fields, value, strict=True)
        return tuple(literal(of, part) for (_, of), part in parts)
    return z3.BoolVal(bool(value)) if isinstance(kind, e.Bool) else z3.IntVal(value)


def _zero(kind: e.SlotType) -> Value:
    return (0,) * len(kind.fields) if isinstance(kind, e.Record) else 0


def read_back(term: Any) -> Value:
    """The value of a term without unknowns."""
    if isinstance(term, QueueTerm):
        length = read_back(term.length)
        assert isinstance(length, int)
        return tuple(read_back(item) for item in term.items[:length])
    if isinstance(term, tuple):
        return tuple(read_back(part) for part in term)
    simple = z3.simplify(term)
    return int(z3.is_true(simple)) if z3.is_bool(simple) else int(simple.as_long())


def can_be_taken(action: LoweredAction, state: dict[str, Value]) -> bool:
    """True if an action is enabled in a state and no fault there."""
    faulty = any(evaluate(fault.condition, state) for fault in action.faults)
    return not faulty and bool(evaluate(action.guard, state))


def some_states(model: Model) -> list[dict[str, Value]]:
    """Up to twenty reachable states."""
    found = [initial_slots(model)]
    for state in found:
        for action in model.actions:
            new = apply(action, state) if can_be_taken(action, state) else None
            if new is not None and new not in found and len(found) < 20:
                found.append(new)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_terms_have_the_values_of_their_expressions(seed: int) -> None:
    """Z3 computes what the reference evaluator computes, division and queues included."""
    model = RandomModel(seed).model
    for state in some_states(model):
        terms = Translation(
            {slot.name: literal(slot.type, state[slot.name]) for slot in model.slots}, {},
            Remainders(z3.main_ctx()))
        for action in model.actions:
            assert read_back(terms(action.guard)) == evaluate(action.guard, state)
            for updated in action.updates.values() if can_be_taken(action, state) else ():
                assert read_back(terms(updated)) == evaluate(updated, state)


@pytest.mark.parametrize("seed", range(6))
def test_bounded_search_ends_at_the_length_of_the_shortest_run(seed: int) -> None:
    """A violation, and a fault, is found at its least depth, and nothing is invented."""
    model, expected = rich_model(seed)
    fault = DEPTH + 1 if expected.fault is None else expected.fault - 1
    for number, rule in enumerate(model.rules):
        broken = expected.broken.get(number, DEPTH + 1)
        if fault < broken and fault <= DEPTH:
            with pytest.raises(ModelFault) as raised:
                bounded(model, rule, DEPTH)
            assert len(raised.value.steps) == fault
            continue
        verdict = bounded(model, rule, DEPTH)
        assert (verdict.outcome is Outcome.VIOLATED) == (broken <= DEPTH)
        if verdict.trace is not None:
            assert len(verdict.trace.steps) == broken


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_can_be_violated_is_proved(seed: int) -> None:
    """A property proved by k-induction holds in an exhaustive search too."""
    model, expected = rich_model(seed)
    for number, rule in enumerate(model.rules):
        try:
            verdict = prove(model, rule, max_k=2, depth=0)
        except ModelFault:
            assert expected.fault is not None
            continue
        if verdict.outcome is Outcome.HOLDS:
            assert number not in expected.broken
            assert expected.fault is None
