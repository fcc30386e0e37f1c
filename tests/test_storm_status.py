"""Beyond the expectations of Storm's status chapters: tight bounds, and the histories."""

from __future__ import annotations

import pytest

from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import Machine, bind
from checkvalve.spec.storm.backpressure.joining import JoiningAsWritten
from checkvalve.spec.storm.backpressure.status import LockedSpill, StatusAsWritten
from checkvalve.spec.storm.inputs.batching import BatchingAsWritten
from checkvalve.spec.verdicts.verdict import Budget, Trace


def counterexample(machine: type[Machine], rule: str, **constants: int) -> Trace:
    """The trace that an exhaustive search finds for a rule."""
    bound = bind(machine, **constants)
    (verdict,) = check_rules(bound, instances(bound, rule))
    assert verdict.trace is not None
    return verdict.trace


@pytest.mark.parametrize(("W", "H", "R", "L"), [
    (1, 0, 1, 0), (1, 1, 1, 0), (2, 2, 1, 0), (1, 0, 0, 1), (1, 1, 1, 1), (2, 0, 2, 1),
])
def test_the_bounds_of_the_overflow_queue_are_tight(W: int, H: int, R: int, L: int) -> None:
    """The limits of STORM-S4 and STORM-S5 are reached, so no smaller bound holds."""
    bound = bind(LockedSpill, W=W, H=H, R=R, L=L, M=10)
    graph = explore_with_interpreter(bound.interpreter, Budget(), None)
    longest = max(bound.interpreter.slots(state)["overflowq"] for state in graph.states)
    assert graph.complete
    assert longest == 1 + W + H + L * (R + 1)


@pytest.mark.parametrize(("machine", "last"), [
    (StatusAsWritten, ("send", "hear", "send", "hear")),
    (JoiningAsWritten, ("read_flags", "check", "send", "hear")),
])
def test_a_stall_ends_with_a_stale_status(machine: type[Machine], last: tuple[str, ...]) -> None:
    """U hears ON last, at a time when the flag is clear already."""
    trace = counterexample(machine, "STORM-S3", H=0)
    steps = [step for step in trace.steps if step.action in last]
    assert tuple(step.action for step in steps)[-4:] == last
    assert steps[-1].state["blocked"] and not steps[-1].state["backlogged"]


def test_a_batch_is_overtaken_by_the_tuple_that_did_not_fit() -> None:
    """With C = 4 and B = 2 the task processes 1, 2, 3, 4, and then 7."""
    trace = counterexample(BatchingAsWritten, "STORM-B1", C=4, B=2)
    values = [step.state["expected"] for step in trace.steps if "process" in step.action]
    assert values == [2, 3, 4, 5, 8]
