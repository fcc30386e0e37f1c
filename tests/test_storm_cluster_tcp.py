"""The reference's workers as processes that talk over TCP."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import asdict, replace

import pytest

from checkvalve.conformance.systems.storm_topology.runs import RULES, judged
from checkvalve.conformance.systems.storm_topology.telling import Terms, terms_of
from checkvalve.reference.drivers import tcp
from checkvalve.reference.drivers.tcp import HaltLag, Measured, measure
from checkvalve.reference.drivers.tcp_faults import (
    Books, Row, history_of, is_at_rest, run_with_faults,
)
from checkvalve.reference.storm.cluster import Happened
from checkvalve.reference.storm.status import Status
from checkvalve.reference.storm.topologies import WORD_COUNT, Kind, Message, deploy
from checkvalve.reference.storm.worker import Settings

SMALL = Settings(capacity=4, transfer_capacity=64, max_pending=0, per_round=8)
TIGHT = Settings(capacity=2, max_pending=4, per_round=2, reminder=4, repeat=4)
MESSAGES = 30

History = tuple[Happened, ...]


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


# ---- under faults, judged by the rules about histories --------------------------------------


@pytest.fixture(scope="module")
def history() -> History:
    """A connection is dropped and made again, then a worker is killed and started anew."""
    return run_with_faults(messages=MESSAGES, settings=TIGHT, cut_after=20, kill_after=150,
                           slow_seconds=0.002)


def broken(history: History) -> set[str]:
    """The ids of the rules that a history breaks. A tuple may wait five seconds for its turn,
    which says little, but the machine may be busy with other things."""
    terms: Terms = terms_of(WORD_COUNT, messages=MESSAGES, workers=2, **asdict(TIGHT))
    return {offence.rule.id for offence in judged(history, replace(terms, wait_max=5000))}


def test_under_faults_no_rule_of_a_history_is_broken(history: History) -> None:
    """Everything is delivered at least once, in order, within bounds, and the topology becomes
    quiescent.
    """
    assert broken(history) == set()
    assert history[-1].what == "rested"


def test_the_faults_have_happened_and_were_made_good(history: History) -> None:
    """Tuples were lost, attempts failed, and messages came again."""
    words = Counter(event.what for event in history)
    assert (words["killed"], words["began"]) == (1, 3)
    assert words["lost"] > 0 and words["failed"] > 0
    forgotten = {event.about[0] for event in history if event.what == "forgot"}
    assert forgotten == {task for task, worker in deploy(WORD_COUNT, 2).items() if worker == 1}
    assert words["root"] > words["acked"] >= MESSAGES


@pytest.mark.parametrize(("word", "rule"), [
    ("lost", "STORM-C3"), ("processed", "STORM-C3"), ("acked", "STORM-C12"),
])
def test_a_history_with_an_event_missing_breaks_a_rule(
    history: History, word: str, rule: str
) -> None:
    """So the silence above means something."""
    at = max(at for at, event in enumerate(history) if event.what == word)
    assert broken(history[:at] + history[at + 1:]) == {rule}


def test_a_tuple_that_is_processed_twice_breaks_a_rule(history: History) -> None:
    """A history over TCP is judged as strictly as one of the simulation."""
    at = next(at for at, event in enumerate(history) if event.what == "processed")
    assert broken((*history[:at], history[at], *history[at:])) >= {"STORM-C1"}
    assert "STORM-C1" in RULES


# ---- what is made of what the workers wrote down ---------------------------------------------


def told(blocked: set[int], free: set[int]) -> Status:
    """A status of worker 1."""
    return Status(1, 0, 1, frozenset(blocked), frozenset(free))


def test_the_halt_lag_ends_with_the_last_tuple_that_was_written_for_the_task() -> None:
    """Tuples for others, and those written before the receiver sent ON, do not count."""
    lag, long_ago = HaltLag(), 0.0
    lag.heard(told({3, 4}, set()), long_ago)
    lag.wrote([Message(Kind.DATA, 1, 0, 3, 0, ())])
    lag.heard(told(set(), {3, 4, 5}), long_ago)
    assert sorted(lag.seconds)[0] == 0 < sorted(lag.seconds)[1] and len(lag.seconds) == 2
    just_now = time.monotonic()
    lag.heard(told({3}, set()), just_now)
    lag.heard(told(set(), {3}), just_now)
    assert lag.seconds[2:] == [0]


@pytest.mark.parametrize(("done", "settled", "rests"), [
    ((True, False), (True, True), True), ((False, False), (True, True), False),
    ((True, False), (True, False), False), ((True, False), (False, False), False),
])
def test_a_run_rests_when_its_spout_is_done_and_all_workers_have_settled(
    done: tuple[bool, ...], settled: tuple[bool, ...], rests: bool
) -> None:
    """Only the worker of the spout knows that all was acked."""
    rows = [{"done": one, "settled": other} for one, other in zip(done, settled, strict=True)]
    assert is_at_rest(rows) is rests


def test_a_tuple_is_lost_once_whoever_counted_it() -> None:
    """Of five that went into a connection that broke, one came out, one was processed, and one
    was counted by a worker: the other two were lost with it. What went into one that holds is
    still on its way."""
    def row(at: int, what: str, number: int, *before: str) -> Row:
        return at, what, [*before, "1", "0", "3", str(number)]

    sent = [row(number, "sent", number, "way") for number in range(5)]
    page = [*sent, row(6, "sent", 5, "other way"), (7, "broke", ["way"]), row(8, "lost", 2)]
    other: list[Row] = [row(5, "got", 0, "way"), (6, "processed", ["3", "1", "0", "1"])]
    history = history_of(Books({(0, 0): page, (1, 0): other}, []), ended=True)
    assert Counter(event.about for event in history if event.what == "lost") == {
        (1, 0, 3, number): 1 for number in (2, 3, 4)}
    assert history[-1].what == "rested"


def test_a_worker_stays_connected_until_it_has_said_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that breaks is made again, also after the others were asked to stop."""
    monkeypatch.setattr(tcp, "RECONNECT_SECONDS", 0)
    worker = tcp.TcpWorker(0, {
        "topology": "word-count", "ports": {"0": 0, "1": 0}, "messages": 1, "settings": {},
        "seconds": 1.0, "slow_seconds": 0.0})
    worker.stopped.set()
    tries = 0

    async def breaks(_peer: int) -> None:
        nonlocal tries
        tries += 1
        worker._has_ended = tries == 3
        raise ConnectionResetError

    monkeypatch.setattr(worker, "_reach", breaks)
    asyncio.run(worker.reach(1))
    assert tries == 3
