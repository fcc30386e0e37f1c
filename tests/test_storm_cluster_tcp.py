"""The reference's workers as processes that talk over TCP."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace

import pytest

from checkvalve.conformance.systems.storm_topology.runs import RULES, Terms, judged, terms_of
from checkvalve.reference.drivers.tcp import Measured, measure
from checkvalve.reference.drivers.tcp_faults import run_with_faults
from checkvalve.reference.storm.cluster import Happened
from checkvalve.reference.storm.topologies import WORD_COUNT
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
    """Everything is delivered at least once, in order, within bounds, and comes to rest."""
    assert broken(history) == set()
    assert history[-1].what == "rested"


def test_the_faults_have_happened_and_were_made_good(history: History) -> None:
    """Tuples were lost, attempts failed, and messages came again."""
    words = Counter(event.what for event in history)
    assert (words["killed"], words["began"]) == (1, 3)
    assert words["lost"] > 0 and words["failed"] > 0
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
    """What goes over TCP is judged as strictly as what goes through the simulation."""
    at = next(at for at, event in enumerate(history) if event.what == "processed")
    assert broken((*history[:at], history[at], *history[at:])) >= {"STORM-C1"}
    assert "STORM-C1" in RULES
