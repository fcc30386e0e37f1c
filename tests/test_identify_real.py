"""Real queues are identified, and the suite says of them what is known of them."""

from __future__ import annotations

import shutil

import pytest

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.computer.environment import GO_ADVICE, find_go
from checkvalve.conformance.services.programs import NATS, REDIS
from checkvalve.conformance.systems.queue.identity import identify
from checkvalve.conformance.systems.targets import is_in_real_time, resolve_target

NODE = (pytest.mark.javascript,
        pytest.mark.skipif(shutil.which("node") is None, reason="needs node"))
JAVA = (pytest.mark.skipif(shutil.which("java") is None, reason="needs the launcher of Java"),)
GO = (pytest.mark.skipif(find_go() is None, reason=f"needs a compiler of Go: {GO_ADVICE}"),)
SERVERS = {
    "redis.list": REDIS, "redis.list.trimmed": REDIS, "nats": NATS,
}

FOUND = {
    "queue.SimpleQueue": ("unbounded", 0),
    "multiprocessing.Queue": ("block", 3),
    "zmq.push": ("block", 6),                    # both ends have the mark that was asked for
    "zmq.pub": ("drop-newest", 6),
    "zmq.conflate": ("conflate", 0),
    "node.Writable": ("unbounded", 0),           # its mark is advice
    "node.Writable.heeded": ("block", 3),
    "jdk.ArrayBlockingQueue": ("block", 3),
    "jdk.ArrayBlockingQueue.fair": ("block", 3),
    "jdk.LinkedBlockingQueue": ("block", 3),
    "jdk.SubmissionPublisher": ("block", 4),     # the next power of two
    "go.channel": ("block", 3),
    "redis.list": ("reject", 3),
    "redis.list.trimmed": ("drop-oldest", 3),
    "nats": ("disconnect", 3),
}
"""The policy and capacity of each when it is asked for three places."""

BROKEN = {
    "multiprocessing.Queue": set(),
    "zmq.push": {"QUEUE-1"},                     # its capacity is another
    "zmq.pub": {"QUEUE-1", "QUEUE-17"},          # likewise, so that it drops later than it says
    "zmq.conflate": {"QUEUE-1", "QUEUE-3"},      # it has one place, whatever it is asked for
    "node.Writable.heeded": {"QUEUE-2", "QUEUE-7", "QUEUE-11"},    # room comes when it is empty
    "jdk.ArrayBlockingQueue.fair": set(),
    "jdk.SubmissionPublisher": {"QUEUE-1"},
    "go.channel": set(),
    "redis.list": set(),
    "redis.list.trimmed": {"QUEUE-1"},
    "nats": {"QUEUE-1"},
}
"""Targets of which the suite asks more, and the rules that they are known to break."""


def marked(name: str) -> object:
    """The name of a target, with the marks of what it needs."""
    if name in SERVERS:
        return pytest.param(name, marks=(pytest.mark.services, pytest.mark.skipif(
            SERVERS[name].path() is None, reason=f"needs {SERVERS[name].name}")))
    needs = {"node": NODE, "jdk": JAVA, "go": GO}.get(name.partition(".")[0], ())
    return pytest.param(name, marks=needs)


@pytest.mark.parametrize("name", [marked(name) for name in FOUND])
def test_a_real_queue_is_identified(name: str) -> None:
    """Its policy and its capacity, and it is what its adapter says that it is."""
    found = identify(resolve_target(name, timeout=60), 3, 8, seconds=600)
    policy, capacity = FOUND[name]
    assert found.identified and found.policies == (policy,) and found.keeps_its_word, found.why
    assert found.kinds[0][1] == capacity


@pytest.mark.parametrize("name", [marked(name) for name in BROKEN])
def test_the_suite_finds_in_a_real_queue_what_is_known_of_it(name: str) -> None:
    """And nothing else; its replies repeat."""
    known = frozenset(BROKEN[name])
    few = Order("queue", cases=3, settings=RunSettings(programs=1, shrinks=0, timeout_seconds=60))
    order = few if is_in_real_time(name) else Order("queue", cases=12)
    summary, _ = conduct(name, order, known=known)
    broken = {each.rule.id for each in summary.results if each.verdict == "violated"}
    assert broken <= known and not summary.error
    assert any(each.cases for each in summary.results)
    assert not [each.rule.id for each in summary.results if each.verdict == "flaky"]


def test_a_put_beside_one_that_waits_is_declined_where_no_order_is_known() -> None:
    """The threads behind them would come in an order that nobody chose."""
    with_one = resolve_target("multiprocessing.Queue").open()
    with_one.request({"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}})
    assert with_one.request({"do": "put", "item": "a"})["ok"]
    assert "waiting" in with_one.request({"do": "put", "item": "b"})
    declined = with_one.request({"do": "put", "item": "c"})
    assert declined["error"] == "one-wait-at-a-time" and declined["definite"]
    assert with_one.request({"do": "poll"})["ok"] == "a"
    assert with_one.request({"do": "poll"})["ok"] == "b"
    with_one.close()
