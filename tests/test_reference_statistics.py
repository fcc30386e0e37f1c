"""Statistics of the reference: counts that begin at 0, and peaks that stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import pytest

from checkvalve.reference.queue import BoundedQueue
from checkvalve.reference.storm.acker import Acker
from checkvalve.reference.storm.offsets import ClientPartition
from checkvalve.reference.storm.spout import PartitionManager, SpoutPending
from checkvalve.reference.storm.task_input import TaskInput

SETTINGS = {"capacity", "overflow_limit"}


@pytest.mark.parametrize("make", [
    lambda: BoundedQueue(3), lambda: TaskInput(3, overflow_limit=2, remote=["r"], local=["l"]),
    Acker, PartitionManager, ClientPartition,
])
def test_every_count_begins_at_zero(
    make: Callable[[], BoundedQueue[int] | TaskInput[int] | Acker | PartitionManager]
) -> None:
    """But for what it was made with."""
    counts = asdict(make().statistics())
    assert {name: count for name, count in counts.items() if name not in SETTINGS and count} == {}


def test_the_acker_counts_what_became_of_its_roots() -> None:
    """How many there are, were at most, and were acked, failed and forgotten."""
    acker = Acker(2)
    for root in (1, 2, 3, 4):
        acker.init(root, root, task=0)
    acker.ack(1, 1)
    acker.fail(2)
    acker.ack(5, 7)
    assert asdict(acker.statistics()) == {
        "entries": 3, "peak": 4, "acked": 1, "failed": 1, "expired": 0}
    acker.tick()
    acker.tick()
    acker.tick()
    assert asdict(acker.statistics()) == {
        "entries": 0, "peak": 4, "acked": 1, "failed": 1, "expired": 3}


def test_the_input_remembers_how_long_its_queues_have_been() -> None:
    """Also after they are empty again."""
    input: TaskInput[int] = TaskInput(2, overflow_limit=3, remote=["r"], local=["l"])
    assert input.publish("l", 0)
    input.transfer("r", range(1, 7))
    assert not input.publish("l", 7)
    input.consume(9)
    counts = input.statistics()
    assert (counts.recvq_peak, counts.overflowq_peak) == (2, 3)
    assert (counts.came, counts.refused, counts.dropped, counts.processed) == (7, 1, 2, 5)
    assert (counts.recvq, counts.overflowq, counts.batched) == (0, 0, 0)


def test_a_spout_counts_its_pending_roots() -> None:
    """From emit to outcome."""
    spout: SpoutPending[str] = SpoutPending()
    assert len(spout) == 0 and spout.begin_round()
    for root in (7, 8):
        spout.emit(root, "message")
    assert len(spout) == 2
    spout.ack(7)
    assert len(spout) == 1
