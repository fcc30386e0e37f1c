"""The queues that come with checkvalve, driven through the port."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest

from checkvalve.conformance.adapters.process import close_idle
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.systems.queue.mechanism import BookQueue
from checkvalve.conformance.systems.queue.reference import DeferredQueue
from checkvalve.conformance.systems.queue.twins import TWINS as ZOO
from checkvalve.conformance.systems.targets import is_in_real_time, known_targets, resolve_target

NODE = (pytest.mark.javascript,
        pytest.mark.skipif(shutil.which("node") is None, reason="needs node"))
SHIPPED = [
    pytest.param(name, marks=NODE if name.startswith(("js", "node")) else ())
    for name in known_targets("queue")
    # Those that start a server, a Java machine or a compiler have tests of their own.
    if not name.startswith(("zoo:", "jdk.", "go.")) and not is_in_real_time(name)
]
WAITING = [
    pytest.param(name, marks=NODE if name == "js" else ())
    for name in ("reference.deferred", "reference.asyncio", "asyncio.Queue", "janus", "anyio",
                 "trio", "js")
]
STEPS = 40


@pytest.fixture(autouse=True)
def no_idle_process() -> Iterator[None]:
    """End each process that a test leaves in the pool."""
    yield
    close_idle()


def conversation(
    spec: str, seed: int, *, settle: bool = False, without: str = "", late: bool = False
) -> list[tuple[Message, Message]]:
    """A random session with ``spec``, which never asks for ``without``; with ``settle``, each
    request is settled at once, and its events are all in its reply; with ``late``, what has ended
    is cancelled, too.
    """
    choices = random.Random(seed)
    heard: list[tuple[Message, Message]] = []
    tickets: list[object] = []
    with closing(resolve_target(spec).open()) as session:
        greeting = session.request({
            "do": "hello", "protocol": 1, "port": "queue",
            "settings": {"capacity": choices.randint(1, 3)}})
        operations = ["settle", *(each for each in greeting["ok"]["can"] if each != without)]
        for number in range(STEPS):
            message: Message = {"do": choices.choice(operations)}
            if message["do"] in ("offer", "put"):
                message["item"] = f"i{number}"
            if message["do"] == "cancel":
                if not tickets:
                    continue
                message["ticket"] = choices.choice(tickets)
            reply = session.request(message)
            if "error" in reply:  # it knows no ticket of what has ended
                heard.append((message, reply))
                continue
            if settle:
                reply["events"] += session.request({"do": "settle"})["events"]
            if "waiting" in reply:
                tickets.append(reply["waiting"])
            gone = [event["done"] for event in reply["events"]]
            if message["do"] == "cancel" and reply["ok"]:
                gone.append(message["ticket"])
            if not late:
                tickets = [ticket for ticket in tickets if ticket not in gone]
            heard.append((message, reply))
    return heard


@pytest.mark.parametrize("spec", SHIPPED)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_requests_get_the_same_replies(spec: str, seed: int) -> None:
    """A target is deterministic: no clock, no scheduler and no hash order shows."""
    assert conversation(spec, seed) == conversation(spec, seed)


@pytest.mark.parametrize("spec", WAITING)
@pytest.mark.parametrize("seed", range(8))
def test_settled_after_each_request_all_queues_answer_as_the_reference_does(
    spec: str, seed: int
) -> None:
    """Where no wake-up is pending, a bounded queue leaves nothing to choose."""
    assert conversation(spec, seed, settle=True) == conversation("reference", seed, settle=True)


@pytest.mark.parametrize("seed", range(8))
def test_settled_after_each_request_threads_answer_as_the_reference_does(seed: int) -> None:
    """`queue.Queue` does all that the reference does, but cancel."""
    assert conversation("queue.Queue", seed, settle=True) == conversation(
        "reference", seed, settle=True, without="cancel")


@pytest.mark.parametrize("spec", SHIPPED)
def test_a_second_session_starts_empty(spec: str) -> None:
    """Items and waiters of one session are not there in the next."""
    hello = {"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}}
    for _ in range(2):
        with closing(resolve_target(spec).open()) as session:
            greeting = session.request(hello)["ok"]
            assert session.request({"do": "poll"})["ok"] is None
            if greeting["policy"] == "wait":
                replies = [session.request({"do": "put", "item": item}) for item in "ab"]
                # ZeroMQ has room for an item at either end.
                assert spec == "zmq.push" or replies[1]["waiting"] == "t1"
            else:
                session.request({"do": "offer", "item": "a"})


def test_a_full_deque_drops_its_oldest_item() -> None:
    """It accepts every offer, as its policy says, and the first item is gone."""
    with closing(resolve_target("deque").open()) as session:
        greeting = session.request({
            "do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}})
        assert greeting["ok"]["policy"] == "drop-oldest"
        assert session.request({"do": "offer", "item": "a"})["ok"]
        assert session.request({"do": "offer", "item": "b"})["ok"]
        assert session.request({"do": "poll"})["ok"] == "b"


def test_a_cancelled_waiter_passes_its_wake_up_on_in_asyncio() -> None:
    """Wake-ups stay pending until `settle`, so that the race with a cancellation is reached."""
    with closing(resolve_target("asyncio.Queue").open()) as session:
        session.request({
            "do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}})
        first, second = (session.request({"do": "take"})["waiting"] for _ in range(2))
        assert session.request({"do": "offer", "item": "a"})["events"] == []
        assert session.request({"do": "cancel", "ticket": first})["ok"]
        assert session.request({"do": "settle"})["events"] == [{"done": second, "ok": "a"}]


OF_VALUES = ("loses-what-is-false", "loses-numbers", "drops-equal-items", "cuts-long-texts",
             "drops-alike-but-for-case")
"""Twins that show with some items alone, which these sessions do not have."""


@pytest.mark.parametrize("name", [
    name for name, twin in ZOO.items() if not twin.after and name not in OF_VALUES
    and not name.startswith(("stack-from", "second-turn"))])
def test_every_twin_can_be_told_from_the_good_queue(name: str) -> None:
    """In some short session a twin answers otherwise than the same queue without the bug."""
    good = "reference.deferred" if ZOO[name].of in (DeferredQueue, BookQueue) else "reference"
    assert any(
        conversation(f"zoo:{name}", seed, late=True) != conversation(good, seed, late=True)
        for seed in range(40))


def test_a_twin_is_a_small_change() -> None:
    """A bug is an override of one to four methods of the core, in the class or one below it."""
    overrides = {
        name: len([each for made in twin.parts["core"].__mro__
                   if made.__module__.endswith(("twins", ".twin"))
                   for each in vars(made).values() if callable(each)])
        for name, twin in ZOO.items() if "core" in twin.parts}
    assert all(1 <= count <= 4 for count in overrides.values()), overrides
