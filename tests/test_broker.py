"""A broker with acknowledgements: the reference, and real brokers beside it."""

from __future__ import annotations

from typing import Any

import pytest
from checkvalve.conformance.services.programs import (
    BEANSTALKD, MOSQUITTO, NATS, POSTGRESQL, RABBITMQ, REDIS, Program,
)
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.flow.broker import Broker, Full
from checkvalve.reference.flow.link import LinkMisuse
from hypothesis import given
from hypothesis import strategies as st

SETTINGS = {"capacity": 2, "consumers": 2, "timeout": 2}
HELLO = {"do": "hello", "protocol": 1, "port": "delivery", "settings": SETTINGS}
STEPS = st.lists(st.tuples(
    st.sampled_from(("publish", "receive", "ack", "requeue", "reject", "disconnect", "advance",
                     "restart")), st.integers(0, 1)), max_size=60)

COMMON: list[dict[str, Any]] = [
    {"do": "publish", "message": 0}, {"do": "publish", "message": "é"},
    {"do": "receive", "consumer": 0}, {"do": "receive", "consumer": 1},
    {"do": "receive", "consumer": 1}, {"do": "ack", "consumer": 1, "message": "é"},
    {"do": "ack", "consumer": 1, "message": "é"}, {"do": "count", "message": "é"},
    {"do": "advance", "ticks": 1}, {"do": "receive", "consumer": 1}, {"do": "advance", "ticks": 1},
    {"do": "receive", "consumer": 1}, {"do": "count", "message": 0},
]
"""Requests that each broker answers in the same way."""
IN_NO_TIME = [*COMMON[:8], {"do": "requeue", "consumer": 0, "message": 0},
              {"do": "receive", "consumer": 1}]
"""Instead of them for a broker with real ticks, which are late where the machine is busy."""
LEFT = [{"do": "ack", "consumer": 1, "message": 0}, {"do": "publish", "message": "last"},
        {"do": "restart"}, {"do": "receive", "consumer": 0}, {"do": "receive", "consumer": 0}]
NACKS = [{"do": "requeue", "consumer": 1, "message": 0}, {"do": "receive", "consumer": 0},
         {"do": "requeue", "consumer": 1, "message": 0}, {"do": "disconnect", "consumer": 0},
         {"do": "receive", "consumer": 1}, {"do": "count", "message": 0},
         {"do": "reject", "consumer": 1, "message": 0}, {"do": "receive", "consumer": 0},
         {"do": "dead"}, {"do": "dead"}]


def answers(target: str, requests: list[dict[str, Any]]) -> list[object]:
    """The answers of a target to a conversation."""
    session = resolve_target(target).open()
    try:
        session.request(dict(HELLO))
        return [session.request(dict(each))["ok"] for each in requests]
    finally:
        session.close()


@given(steps=STEPS, full=st.sampled_from((Full.REFUSE, Full.UNBOUNDED)), tries=st.integers(0, 2))
def test_a_confirmed_message_is_at_one_place_until_it_is_acknowledged(
    steps: list[tuple[str, int]], full: Full, tries: int
) -> None:
    """It is ready, in flight or dead; when all time is over, consumers and dead letters have it."""
    broker = Broker(2, 2, full)
    broker.tries(tries)
    alive: set[int] = set()
    got: list[list[int]] = [[], []]
    for number, (do, one) in enumerate(steps):
        if do == "publish":
            if broker.publish(number):
                alive.add(number)
        elif do == "receive":
            letter = broker.receive(one)
            if letter is not None:
                assert letter.message in alive
                got[one].append(int(str(letter.message)))
        elif do in ("ack", "requeue", "reject") and got[one]:
            message = got[one][-1]
            if getattr(broker, do)(one, message) and do == "ack":
                alive.remove(message)
        elif do == "disconnect":
            broker.disconnect(one)
        elif do == "advance":
            broker.advance(1 + one)
        elif do == "restart":
            broker.restart()
    broker.tries(0)
    broker.advance(2)
    left = {letter.message for letter in iter(lambda: broker.receive(0), None)}
    dead = {letter.message for letter in iter(broker.bury, None)}
    assert left | dead == alive and not left & dead


def test_a_broker_is_not_asked_for_nonsense() -> None:
    """No places, no time, a name that is taken, a limit below 0: each is refused, and changes
    nothing."""
    with pytest.raises(LinkMisuse):
        Broker(0, 1, Full.REFUSE)
    with pytest.raises(LinkMisuse):
        Broker(1, 0, Full.REFUSE)
    broker = Broker(1, 1, Full.UNBOUNDED)
    broker.publish("a")
    for call in (lambda: broker.publish("a"), lambda: broker.limit(0, -1),
                 lambda: broker.tries(-1), lambda: broker.advance(0)):
        with pytest.raises(LinkMisuse):
            call()
    assert broker.count("a") == 0


WITHOUT_COUNT = [each for each in IN_NO_TIME if each["do"] != "count"]
TAKEN_BACK = [each for each in NACKS if each["do"] != "count"]
IN_A_SESSION = [*COMMON[:3], *({**each, "consumer": 0} for each in COMMON[3:7]),
                {"do": "disconnect", "consumer": 0}, {"do": "receive", "consumer": 0}]
"""Requests of one consumer alone."""


def needs(program: Program) -> pytest.MarkDecorator:
    """The mark of a test that needs a server."""
    return pytest.mark.skipif(program.path() is None, reason=program.advice)


@pytest.mark.services
@pytest.mark.parametrize(("target", "requests"), [
    pytest.param("redis.streams", COMMON + LEFT, marks=needs(REDIS)),
    pytest.param("beanstalkd", IN_NO_TIME + NACKS + LEFT[1:], marks=needs(BEANSTALKD)),
    pytest.param("postgresql.skip-locked", WITHOUT_COUNT + TAKEN_BACK + LEFT[1:],
                 marks=needs(POSTGRESQL)),
    pytest.param("nats.jetstream", WITHOUT_COUNT + NACKS[:2], marks=needs(NATS)),
    pytest.param("mosquitto.qos2", IN_A_SESSION, marks=needs(MOSQUITTO)),
    pytest.param("rabbitmq.classic", WITHOUT_COUNT + TAKEN_BACK, marks=needs(RABBITMQ)),
])
def test_a_real_broker_answers_as_the_reference(
    target: str, requests: list[dict[str, Any]]
) -> None:
    """Late answers, dead letters, and what is there after the server was killed; timeouts of Redis,
    which the adapter makes pass."""
    assert answers(target, requests) == answers("reference.delivery.unbounded", requests)
