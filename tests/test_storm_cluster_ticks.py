"""Ticks through recvQ, and topologies without ackers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from checkvalve.reference.storm.cluster import CHECK_EVERY, Cluster, run
from checkvalve.reference.storm.executor import Log, SpoutTask
from checkvalve.reference.storm.faults import Fault, Scenario, What, scenario
from checkvalve.reference.storm.topologies import WORD_COUNT, Kind, Message, TopologyMisuse
from checkvalve.reference.storm.worker import Place, Settings, Worker

UNTRACKED = replace(WORD_COUNT, ackers=0)


def worker_of(capacity: int, **more: int) -> tuple[Worker, list[str]]:
    """A worker that has every task of the word count, and the words of its record."""
    words: list[str] = []
    tasks = [task for each in WORD_COUNT.tasks_of().values() for task in each]
    return Worker(
        WORD_COUNT, Place(0, 0, dict.fromkeys(tasks, 0)), Settings(capacity=capacity, **more),
        Log(4), Random(0), record=lambda what, *_: words.append(what), now=lambda: 0), words


def ticks_in(worker: Worker) -> list[int]:
    """The tasks with a tick in their recvQ."""
    return [task for task, inbox in worker.inputs.items()
            if any(message.kind is Kind.TICK for message in inbox._recvq)]


def test_a_full_recvq_delays_no_ticks_but_its_own() -> None:
    """Unlike Storm's timer (D14), ours continues; a task is owed one tick at most."""
    worker, _ = worker_of(1)
    full = worker.inputs[3]
    assert full.publish("1", Message(Kind.DATA, 1, 0, 3, 0, (0, 0, "x")))
    worker.tick()
    worker.tick()
    assert ticks_in(worker) == [0, 1, 2, 4, 5]
    full.poll()
    assert worker.run_timer()
    assert ticks_in(worker) == [0, 1, 2, 3, 4, 5]
    assert worker.contents() == []


def test_a_batch_moves_on_with_a_flush_and_a_flush_without_room_is_skipped() -> None:
    """The flush stands in the recvQ of the task that has the batch."""
    worker, _ = worker_of(4, batch=2)
    assert worker.transfer(Message(Kind.DATA, 1, 0, 3, 0, (0, 0, "x")))
    assert worker.inputs[3].statistics().recvq == 0 and not worker.is_empty()
    assert worker.run_flush_timer()
    assert worker.tasks[1].take() is None
    assert worker.inputs[3].statistics().recvq == 1
    assert not worker.run_flush_timer()
    assert worker.transfer(Message(Kind.DATA, 1, 0, 3, 1, (0, 0, "y")))
    while worker.inputs[1].publish_directly(Message(Kind.DATA, 0, 0, 1, 0, (0, "z"))):
        pass
    assert not worker.run_flush_timer()


def test_a_root_times_out_when_the_spout_gets_to_its_ticks() -> None:
    """Not when the periods are over."""
    worker, words = worker_of(8)
    spout = worker.tasks[0]
    assert isinstance(spout, SpoutTask) and spout.call()
    for _ in range(3):
        worker.tick()
    assert "failed" not in words
    spout.call()
    assert words.count("failed") == 1


def test_without_ackers_every_tuple_is_processed_once_and_nothing_is_tracked() -> None:
    """Where nothing fails, that is enough: ack() is called at once, and the topology becomes
    quiescent.
    """
    one = replace(scenario(UNTRACKED, 0), faults=(), settings=Settings(max_pending=1))
    history = run(one)
    sinks = UNTRACKED.tasks_of()["count"]
    counted = [event for event in history
               if event.what == "processed" and event.about[0] in sinks]
    assert len(counted) == one.messages * UNTRACKED.parts
    assert history[-1].what == "rested"
    assert not {"root", "acked", "failed", "reached"} & {event.what for event in history}


def test_without_ackers_what_is_lost_is_counted_and_not_replayed() -> None:
    """At most once: what was emitted was processed or lost, whatever the faults."""
    lost = 0
    for seed in range(30):
        words = [event.what for event in run(scenario(UNTRACKED, seed))]
        assert words[-1] == "rested"
        assert words.count("emitted") == words.count("processed") + words.count("lost")
        lost += words.count("lost")
    assert lost > 0


def test_fewer_ackers_than_none_are_refused() -> None:
    """With a message that names them."""
    with pytest.raises(TopologyMisuse, match="0 ackers or more"):
        replace(WORD_COUNT, ackers=-1)


class Idling(Cluster):
    """A cluster that notes the instants at which it looks at what is due."""

    def __init__(self, scenario: Scenario) -> None:
        self.instants: list[int] = []
        self.ticks: list[int] = []
        super().__init__(scenario)

    def _what_is_due(self) -> bool:
        self.instants.append(self.now)
        worker, = self.workers.values()
        assert worker is not None
        tick = worker.tick
        worker.tick = lambda: self.ticks.append(self.now) or tick()  # type: ignore[method-assign]
        try:
            return super()._what_is_due()
        finally:
            worker.tick = tick  # type: ignore[method-assign]


@pytest.mark.parametrize("period", [37, 60, 300])
def test_time_jumps_to_the_next_check_or_tick_and_over_none(period: int) -> None:
    """Each period ends with its tick, and no instant between is looked at, but for the few after a
    tick in which it is delivered.
    """
    end, to_see_to_it = 1_000, 8
    idle = Idling(Scenario(WORD_COUNT, 1, 0, Settings(timeout=period),
                           (Fault(end, What.SLOW, 1),), 0))
    idle.run()
    ticks = range(period - 1, end, period)
    assert [now for now in idle.ticks if now < end] == list(ticks)
    seen = {now for now in idle.instants if now < end}
    due = set(range(0, end, CHECK_EVERY)) | set(ticks)
    after = {now for tick in ticks for now in range(tick, tick + to_see_to_it)}
    assert due <= seen <= due | after


def test_a_turn_in_which_only_a_pending_message_went_is_one() -> None:
    """So the task continues at once, and waits only where it can do nothing."""
    worker, words = worker_of(1)
    bolt = worker.tasks[1]
    for number in range(3):
        bolt.send(Kind.DATA, 3, (0, number, "x"))
    assert len(bolt.pending) == 2 and not bolt.call()
    worker.inputs[3].poll()
    assert bolt.call() and len(bolt.pending) == 1 and "processed" not in words
    assert bolt.wait(happened=True) == 0
