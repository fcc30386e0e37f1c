"""The reference's workers as processes that talk over TCP."""

from __future__ import annotations

from checkvalve.reference.storm.tcp import Measured, measure
from checkvalve.reference.storm.worker import Settings

SMALL = Settings(capacity=4, transfer_capacity=64, max_pending=0, per_round=8)


def run_small() -> Measured:
    """Sixty messages, that is some six hundred tuples, with tiny queues and a slow receiver."""
    return measure(messages=60, seconds=15.0, settings=SMALL, slow_seconds=0.001)


def test_two_processes_process_every_tuple_under_real_backpressure() -> None:
    """Everything is acked and nothing lost, though recvQs hold four tuples."""
    measured = run_small()
    assert measured.done and measured.acked == 60
    assert measured.lost == measured.failed == 0
    assert measured.recvq_peak <= 4
    assert measured.tuples >= 60 * (1 + 3 + 4 + 1)
