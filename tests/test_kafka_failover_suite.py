"""The suite of failover: schedules without false alarms, real servers, and the split brain."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from benchmarks.failover import schedule
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.places import is_long, turn_of
from checkvalve.conformance.computer.environment import find_java
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.suites.system import QUICK_CASES
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.kafka_failover.adapter import ReferenceCluster
from checkvalve.conformance.systems.kafka_failover.on_zookeeper import ClusterOnZooKeeper
from checkvalve.conformance.systems.kafka_failover.histories import HistoryJudge, Terms
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.coordination.server import Server
from checkvalve.reference.kafka.cluster.controlling import Controlling
from checkvalve.reference.kafka.cluster.operator import Operator
from checkvalve.reference.kafka.controller.terms import Leadership
from checkvalve.reference.kafka.replication.log import Log


@pytest.mark.parametrize("first", [0, 40, 80])
def test_random_schedules_give_no_false_alarm(first: int) -> None:
    """``make failover`` runs a thousand of them."""
    found = [schedule(seed, ReferenceCluster).broken for seed in range(first, first + 40)]
    assert found == [""] * 40


def keep_its_epochs(log: Log, at: int) -> None:
    """Records go, and where their epochs began stays."""
    del log.records[at:]


def hear_nothing(controlling: Controlling) -> None:
    """Ignore the end of the session: the controller does not learn of it."""


def drop_the_newest(operator: Operator) -> None:
    """A wish was carried out, and the one that was made last is taken off the list."""
    operator._wishes.pop()
    operator._is_going = False
    operator._go_on()


_end = Server.end


def count_back(server: Server, session: int) -> object:
    """The end of a session takes a transaction away, where it is one more."""
    server.zxid -= 2
    return _end(server, session)


def take_for_anothers(found: Leadership, wanted: Leadership) -> bool:
    """Take a leadership for another controller's if its write had no reply."""
    return False


@pytest.mark.parametrize(("whose", "method", "mistake", "focus", "rule"), [
    (Log, "cut", keep_its_epochs, "KAFKA-F8", "KAFKA-F5"),
    (Controlling, "expired", hear_nothing, "KAFKA-F28", "KAFKA-F28"),
    (Operator, "_next", drop_the_newest, "KAFKA-F28", "KAFKA-F28"),
    (Server, "end", count_back, "KAFKA-F28", "KAFKA-F28"),
    (Leadership, "says_the_same", take_for_anothers, "KAFKA-F6", "KAFKA-F14"),
])
def test_a_default_run_finds_mistakes_that_take_a_history(
    monkeypatch: pytest.MonkeyPatch, whose: type, method: str, mistake: object, focus: str,
    rule: str,
) -> None:
    """In that of its first cases which looks for a rule: the one that the mistake breaks, or
    another one."""
    monkeypatch.setattr(whose, method, mistake)
    rules = [each.id for each in SYSTEMS["kafka.failover"].suite.rules()]
    cases = [case for case in plan("kafka.failover", cases=QUICK_CASES, seed=0)
             if not is_long(case.index) and rules[turn_of(case.index) % len(rules)] == focus]
    settings = RunSettings(shrinks=0, counting=False)
    rows = (run_case("kafka.failover", "reference.kafka.failover", case, settings)
            for case in cases)
    assert any(row.rule == rule for row in rows)


def test_the_next_controller_clears_the_request_of_a_topic_that_is_gone() -> None:
    """The one before was replaced between the deletion of the topic and that of its request."""
    suite, target = SYSTEMS["kafka.failover"].suite, resolve_target("reference.kafka.failover")
    acts = [Act(do, about=tuple(about.items())) for do, about in (
        ("deploy", {"brokers": 3, "partitions": 1, "seed": 356804978}),
        ("produce", {"after": 0, "partition": 0, "acks_all": 1, "records": 2}),
        ("elapse", {"after": 100}),
        ("delete_topic", {"after": 60, "topic": 0}),
        ("expire", {"after": 2, "broker": 1}), ("expire", {"after": 22, "broker": 0}),
        ("upon", {"after": 166, "moment": "wrote", "deed": "crash", "lasts": 132}),
        ("expire", {"after": 11, "broker": 2}), ("quiet", {}),
    )]
    run = run_program(suite, target, acts, 1, every=True)
    assert len(run.exchanges) == len(acts)
    assert [breach.rule.id for breach in run.breaches] == []


def test_records_beyond_the_255th_are_followed() -> None:
    """Such a record is committed; once it was not, for offsets were counted up to 255."""
    judge = HistoryJudge(Terms(brokers=1, min_isr=1))
    for offset in range(300):
        judge.produce(0, True, 1)
        for row in (f"wrote 0 0 0 {offset} {offset + 1}", f"committed 0 0 0 {offset + 1}",
                    f"acked 100 0 1 {offset} {offset + 1}"):
            event = HISTORIES.event(f"{offset} {row}")
            assert event is not None
            assert judge.see(event) is None
    assert not judge.unjudged
    lost = HISTORIES.event("300 acked 100 0 1 300 301")
    assert lost is not None
    offence = judge.see(lost)
    assert offence is not None
    assert offence.rule.id == "KAFKA-F2"


@pytest.mark.skipif(find_java() is None, reason="the real ZooKeeper runs on Java")
def test_a_real_zookeeper_coordinates_as_the_one_in_memory() -> None:
    """With sessions that expire there, and a server that is killed."""
    assert [schedule(seed, ClusterOnZooKeeper).broken for seed in range(4)] == [""] * 4


@pytest.mark.parametrize("row", [
    "", "x", "1 wrote 0 0 0 0", "1 wrote 0 0 0 0 1 1", "1 state 0 0 0 0 0,,1", "-1 rested",
    "1 unknown", "1 rested 0"])
def test_what_is_no_event_is_refused(row: str) -> None:
    """A word with too few or too many fields, and what is no number."""
    assert HISTORIES.event(row) is None


def test_a_split_brain_loses_what_one_broker_acknowledged_and_nothing_of_all() -> None:
    """The example runs, and says so; ``story`` does it for more seeds."""
    example = Path(__file__).resolve().parent.parent / "examples" / "split_brain.py"
    split = runpy.run_path(str(example))["split"]
    one, every = [split(False, seed) for seed in range(6)], [split(True, seed) for seed in range(6)]
    assert sum(len(lost) for _, lost in one) > 0
    assert all(len(acknowledged) == 8 and not lost for acknowledged, lost in every)
