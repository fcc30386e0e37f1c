"""The deadlocks around pendingEmits are found with the shortest run, and are cycles of waits."""

from __future__ import annotations

from typing import Any

import pytest
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import Machine, bind
from checkvalve.spec.storm.topologies.topology import (
    BoundedPending, Kind, SpoutThatStopsConsuming, Task, Topology, destination,
)
from checkvalve.spec.verdicts.verdict import Verdict


def stuck(machine: type[Machine], **constants: Any) -> Verdict:
    """The verdict of the rule against cycles of waiting tasks."""
    bound = bind(machine, **constants)
    (verdict,) = check_rules(bound, instances(bound, "STORM-T1"))
    return verdict


@pytest.mark.parametrize(("machine", "constants", "steps"), [
    (SpoutThatStopsConsuming, {"C": 1}, 16),
    (SpoutThatStopsConsuming, {"C": 2}, 26),
    (BoundedPending, {"E": 4, "bound": 1, "N": 8}, 14),
    (BoundedPending, {"E": 2, "bound": 1, "N": 8}, 15),
])
def test_the_shortest_way_into_each_deadlock_is_known(
    machine: type[Machine], constants: dict[str, int], steps: int
) -> None:
    """The traces are as long as an independent search found them to be."""
    trace = stuck(machine, **constants).trace
    assert trace is not None
    assert len(trace.steps) == steps


@pytest.mark.parametrize(("emits", "states"), [(1, 838), (3, 1052)])
def test_the_rules_of_the_code_are_searched_exhaustively(emits: int, states: int) -> None:
    """As many states as an independent search found."""
    verdict = stuck(Topology, E=emits, C=1)
    assert verdict.trace is None
    assert verdict.states == states


def test_a_spout_that_stops_consuming_ends_in_a_cycle_of_two() -> None:
    """Spout and acker each wait for a free slot at the other, and the bolt has nothing to do."""
    trace = stuck(SpoutThatStopsConsuming, C=1).trace
    assert trace is not None
    end: dict[str, Any] = dict(trace.steps[-1].state)
    heads = {task: end[f"pending[{task:d}]"] for task in (Task.SPOUT, Task.ACKER)}
    assert {task: destination(pending[0][0]) for task, pending in heads.items()} == {
        Task.SPOUT: Task.ACKER, Task.ACKER: Task.SPOUT,
    }
    assert [kind for kind, _ in end[f"recvq[{Task.SPOUT:d}]"]] == [Kind.ACKED]
    assert [kind for kind, _ in end[f"recvq[{Task.ACKER:d}]"]] == [Kind.DONE]
    assert not end[f"recvq[{Task.BOLT:d}]"] and not end[f"pending[{Task.BOLT:d}]"]
