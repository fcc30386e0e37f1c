"""A leader is replaced for a reason, and a broken connection between brokers is none."""

from __future__ import annotations

import pytest

from checkvalve.conformance.systems.kafka_failover.histories import HistoryJudge, Terms
from checkvalve.conformance.systems.kafka_failover.port import HISTORIES

FIRST, NEXT = "10 state 0 1 0 0 0,1,2", "90 state 0 1 1 1 1,2"
ELAPSE = {"do": "elapse", "after": 5}


def broken(*told: str, asked: tuple[dict[str, object], ...] = (ELAPSE,)) -> list[str]:
    """The rules that a history breaks, of a cluster of three that was asked for something."""
    judge = HistoryJudge(Terms(3, 1))
    for request in asked:
        judge.asked(request)
    for row in told:
        event = HISTORIES.event(row)
        assert event is not None
        judge.see(event)
    return [offence.rule.id for offence in judge.offences]


@pytest.mark.parametrize("fault", [
    {"do": "cut", "after": 1, "broker": 0, "other": 1, "lasts": 9},
    {"do": "lose", "after": 1, "broker": 0, "other": 1, "percent": 50, "lasts": 9},
    {"do": "isolate", "after": 1, "broker": 2, "lasts": 9},
    {"do": "prefer", "after": 1, "partition": 1},
])
def test_a_leader_stays_whatever_happens_to_others_or_between_brokers(
    fault: dict[str, object]
) -> None:
    """Also if it is asked for something in another partition."""
    assert broken(FIRST, NEXT, asked=(ELAPSE, fault)) == ["KAFKA-F33"]


@pytest.mark.parametrize("asked", [
    {"do": "isolate", "after": 1, "broker": 0, "lasts": 9},
    {"do": "drift", "after": 1, "broker": 0, "rate": 50, "lasts": 9},
    {"do": "stop_service", "after": 1, "lasts": 9},
    {"do": "upon", "after": 1, "moment": "took", "deed": "isolate", "lasts": 9},
    {"do": "prefer", "after": 1, "partition": 0},
    {"do": "reassign", "after": 1, "partition": 0, "to": "1,2"},
])
def test_a_leader_may_be_replaced_that_may_be_gone_or_is_not_wished_for(
    asked: dict[str, object]
) -> None:
    """Its session may have ended, which no history shows."""
    assert broken(FIRST, NEXT, asked=(asked,)) == []


@pytest.mark.parametrize("event", [
    "20 crashed 0", "20 paused 0", "20 expired 0", "20 wants 0", "20 left 0"])
def test_what_a_history_tells_of_a_broker_counts_as_well(event: str) -> None:
    """A fault that strikes at a moment does not name the broker by its number."""
    assert broken(FIRST, event, NEXT) == []
    assert broken(event, FIRST, NEXT) == []


def test_a_partition_that_is_to_be_deleted_needs_no_leader() -> None:
    """Its history says of which topic it is, and that this is to go."""
    assert broken("5 made 1 1", "10 state 1 1 0 0 0,1,2", "20 unwanted 1",
                  "90 state 1 1 1 3 1,2") == []


def test_nothing_is_said_where_nobody_tells_what_is_done() -> None:
    """A recorded history alone does not say what happened to a session."""
    assert broken(FIRST, NEXT, asked=()) == []
