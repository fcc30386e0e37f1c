"""The native explorer against the reference evaluator, on random models.

Goal: any difference between the emitted code and Python's meaning shows as another count
of states or steps, or as a trace that does not replay.
"""

from __future__ import annotations

import pytest
from checkvalve.spec.engines.native import NativeResult, engine, explore, graph, jit
from checkvalve.spec.notation.evaluate import apply, evaluate, initial_slots
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import Model
from checkvalve.spec.verdicts.verdict import Budget

from native_support import Expected, broken_rules, rich_model


def replayed(model: Model, path: list[int]) -> tuple[dict[str, Value], dict[str, Value] | None]:
    """The last two states of a run: where it ends, and before that."""
    before, state = None, initial_slots(model)
    for number in path:
        new = apply(model.actions[number], state)
        assert new is not None, f"{model.actions[number].label} is not enabled"
        before, state = state, new
    return state, before


def check_traces(model: Model, result: NativeResult) -> None:
    """Every trace replays, and breaks its rule in its last state or step."""
    for number, path in result.violations.items():
        state, before = replayed(model, path)
        stuck = all(apply(action, state) is None for action in model.actions)
        if model.rules[number].rule.kind == "step":
            assert before is not None
            assert number in broken_rules(model, before, state)
        else:
            assert number in broken_rules(model, state, None, stuck)


def check_against_oracle(model: Model, expected: Expected, threads: int) -> NativeResult:
    """Search natively and compare."""
    result = explore(model, model.rules, Budget(threads=threads))
    if expected.fault is not None:
        assert result.fault is not None
        fault, path = result.fault
        assert len(path) == expected.fault
        state, _ = replayed(model, path[:-1])
        assert evaluate(fault.condition, state)
        return result
    assert result.fault is None
    assert {rule: len(path) for rule, path in result.violations.items()} == expected.broken
    check_traces(model, result)
    if len(expected.broken) < len(model.rules):
        assert result.complete
        assert (result.states, result.transitions, result.depth) == (
            expected.states, expected.transitions, expected.depth)
    return result


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_explorer_agrees_with_the_evaluator(seed: int, wide: bool) -> None:
    """States, steps, depth, shortest traces and faults are those of the evaluator."""
    model, expected = rich_model(seed, wide)
    check_against_oracle(model, expected, threads=1)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(60, 66))
def test_rows_of_shapes_agree_with_the_evaluator(
    seed: int, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code for large machines, on small ones: what is found is the same, to the letter."""
    model, expected = rich_model(seed, wide)
    plain = explore(model, model.rules, Budget(threads=1))
    monkeypatch.setattr(jit, "ROWS_FROM", -1)
    rows = check_against_oracle(model, expected, threads=1)
    assert (rows.violations, rows.fault) == (plain.violations, plain.fault)
    assert rows.transitions == plain.transitions


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(30, 35))
def test_two_threads_find_what_one_finds(
    seed: int, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts and traces, to the letter, do not depend on the number of threads."""
    monkeypatch.setattr(engine, "LEVEL_WIDE", 1)
    model, expected = rich_model(seed, wide)
    two = check_against_oracle(model, expected, threads=2)
    one = explore(model, model.rules, Budget(threads=1))
    assert (one.violations, one.fault) == (two.violations, two.fault)
    assert (one.states, one.transitions, one.depth) == (two.states, two.transitions, two.depth)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(50, 55))
def test_graph_has_the_evaluators_edges(seed: int, wide: bool) -> None:
    """Every state's edges and predicates are what the evaluator says of the decoded state."""
    model, expected = rich_model(seed, wide)
    predicates = [lowered.exprs[0] for lowered in model.rules if lowered.rule.kind == "always"]
    found = graph(model, predicates, Budget())
    if expected.fault is not None:
        assert found.fault is not None
        return
    assert found.states == expected.states
    for index in range(found.states):
        state = found.decode(index)
        edges = slice(int(found.first[index]), int(found.first[index + 1]))
        steps = {int(via): found.decode(int(target)) for via, target in zip(
            found.via[edges], found.target[edges], strict=True)}
        assert steps == {number: new for number, action in enumerate(model.actions)
                         if (new := apply(action, state)) is not None}
        for row, predicate in enumerate(predicates):
            assert bool(found.predicate_bits[row, index]) == bool(evaluate(predicate, state))
