"""Every message is checked on both ways, against the tables of the port."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.adapters.session import CheckedSession, InProcessTarget
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.ports.base import excerpt
from benchmarks.pages.tables import operations_table, policies_table, settings_table
from checkvalve.conformance.systems.catalogue import SYSTEMS, port_named, suite_named
from checkvalve.spec.notation.errors import InputError, TargetError

ROOT = Path(__file__).resolve().parent.parent
HELLO = {"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 1}}
GREETING = {"name": "x", "version": "1", "can": [], "policy": "wait"}


class Scripted:
    """An adapter that answers with what it was given, whatever it is asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies = iter(({"ok": GREETING}, *replies))
        self.asked: list[Message] = []

    def request(self, message: Message) -> Any:
        """The next reply."""
        self.asked.append(message)
        return next(self.replies)


def scripted(*replies: Any) -> CheckedSession:
    """A greeted session with a ``Scripted`` adapter."""
    session = InProcessTarget("scripted", lambda: Scripted(*replies), port_named).open()
    session.request(HELLO)
    return session


@pytest.mark.parametrize(("message", "reply", "fault"), [
    ({"do": "poll"}, None, "a reply is an object"),
    ({"do": "poll"}, {}, "exactly one of"),
    ({"do": "poll"}, {"ok": 1, "waiting": "t"}, "exactly one of"),
    ({"do": "poll"}, {"ok": True}, "ok must be an item, or null"),
    ({"do": "poll"}, {"ok": 1.5}, "ok must be an item, or null"),
    ({"do": "poll"}, {"ok": [1]}, "ok must be an item, or null"),
    ({"do": "poll"}, {"ok": "x" * 1000}, "ok must be an item, or null"),
    ({"do": "poll"}, {"waiting": "t"}, "poll never waits"),
    ({"do": "offer", "item": 1}, {"ok": 1}, "ok must be true or false"),
    ({"do": "offer", "item": 1}, {"waiting": "t"}, "offer never waits"),
    ({"do": "put", "item": 1}, {"ok": False}, "ok must be true"),
    ({"do": "put", "item": 1}, {"waiting": None}, "waiting must be a ticket"),
    ({"do": "take"}, {"ok": None}, "ok must be an item"),
    ({"do": "size"}, {"ok": -1}, "ok must be an integer from 0 up"),
    ({"do": "size"}, {"ok": True}, "ok must be an integer from 0 up"),
    ({"do": "size"}, {"ok": 10**40}, "ok must be an integer from 0 up"),
    ({"do": "size"}, {"ok": 10**40}, f"{10**40} is beyond: not every language reads it from JSON"),
    ({"do": "size"}, {"ok": 10**400}, "one of 1329 bits is beyond"),
    ({"do": "poll"}, {"error": 7}, "error must be a text"),
    ({"do": "poll"}, {"error": "x", "definite": "no"}, "definite is a boolean"),
    ({"do": "poll"}, {"ok": None, "events": {}}, "events must be a list"),
    ({"do": "poll"}, {"ok": None, "events": [{"done": "t"}]}, "an event is"),
    ({"do": "poll"}, {"ok": None, "events": [{"done": "t", "ok": 1}]}, "never handed out"),
    ({"do": "poll"}, {"ok": None, "events": [{"done": [], "ok": 1}]}, "never handed out"),
    ({"do": "take"}, {"waiting": "t", "events": [{"done": "t", "ok": True}]}, "must carry an item"),
    ({"do": "put", "item": 1}, {"waiting": "t", "events": [{"done": "t", "ok": 1}]},
     "must carry true"),
])
def test_a_malformed_reply_is_an_error_of_the_target(
    message: Message, reply: Any, fault: str
) -> None:
    """The error says what is malformed, and shows at most 200 characters of the reply."""
    with pytest.raises(TargetError) as caught:
        scripted(reply).request(message)
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 600


def test_of_several_numbers_the_one_that_is_too_large_is_named() -> None:
    """The list is what the operation answers; what is wrong is one integer in it."""
    adapter = Scripted()
    session = InProcessTarget("scripted", lambda: adapter, port_named).open()
    adapter.replies = iter([{"ok": {**GREETING, "policy": "batches"}}, {"ok": [1, 2**60]}])
    session.request({**HELLO, "port": "summaries"})
    with pytest.raises(TargetError, match="a list of integers from 0 up, or null; an integer has "
                                          f"at most 53 bits, and {2**60} is beyond"):
        session.request({"do": "take"})


def test_a_ticket_is_handed_out_once() -> None:
    """Two waits under one name could not be told apart."""
    session = scripted({"waiting": "t"}, {"waiting": "t"})
    session.request({"do": "take"})
    with pytest.raises(TargetError, match="handed out before"):
        session.request({"do": "take"})


def test_an_error_that_does_not_say_so_is_not_definite() -> None:
    """An effect that may have happened is never taken for one that has not."""
    session = scripted({"error": "x"}, {"error": "x", "definite": True})
    assert session.request({"do": "poll"})["definite"] is False
    assert session.request({"do": "poll"})["definite"] is True


def test_unknown_fields_of_a_reply_are_ignored() -> None:
    """A later version of the protocol may add some."""
    session = scripted({"ok": None, "mood": "good", "events": []})
    assert session.request({"do": "poll"}) == {"ok": None, "events": []}


@pytest.mark.parametrize("message", [
    {}, {"do": "jump"}, {"do": ["poll"]}, {"do": "offer"}, {"do": "offer", "item": None},
    {"do": "offer", "item": ""}, {"do": "offer", "item": True}, {"do": "put", "item": 1, "by": 7},
    {"do": "cancel"}, {"do": "poll", "now": -1}, {"do": "poll", "now": "soon"}, HELLO,
])
def test_a_malformed_request_is_bad_input_and_is_not_sent(message: Message) -> None:
    """A fixture may be written by hand; its mistakes are not the target's."""
    adapter = Scripted()
    session = InProcessTarget("scripted", lambda: adapter, port_named).open()
    session.request(HELLO)
    with pytest.raises(InputError):
        session.request(message)
    assert len(adapter.asked) == 1


@pytest.mark.parametrize("settings", [
    {}, {"capacity": 0}, {"capacity": -1}, {"capacity": 1.5}, {"capacity": True}, None,
])
def test_settings_that_the_port_does_not_have_are_bad_input(settings: Any) -> None:
    """A capacity is an integer from 1 up."""
    session = InProcessTarget("scripted", Scripted, port_named).open()
    with pytest.raises(InputError):
        session.request(HELLO | {"settings": settings})


def test_the_first_request_is_hello() -> None:
    """Before it, the instance does not exist."""
    with pytest.raises(InputError, match="hello is the first request"):
        InProcessTarget("scripted", Scripted, port_named).open().request({"do": "poll"})


def test_time_stands_still_where_the_caller_gives_none() -> None:
    """`now` is in every request that an adapter sees, and never decreases."""
    adapter = Scripted(*[{"ok": None}] * 3)
    session = InProcessTarget("scripted", lambda: adapter, port_named).open()
    for message in (HELLO, {"do": "poll"}, {"do": "poll", "now": 7}, {"do": "poll"}):
        session.request(message)
    assert [each["now"] for each in adapter.asked] == [0, 0, 7, 7]


@pytest.mark.parametrize("value", ["x" * 10**6, "\x1b[2J" * 999, {"a": "ä" * 999}, object()])
def test_an_excerpt_is_short_and_printable(value: object) -> None:
    """Output of a target must not garble the terminal that shows the error."""
    assert len(excerpt(value)) <= 200
    assert excerpt(value).isprintable()


@pytest.mark.parametrize("table", [operations_table, policies_table, settings_table])
def test_the_page_has_the_tables_of_the_port(table: Any) -> None:
    """docs/adapter-protocol.md is written from conformance/systems/queue/port.py."""
    page = (ROOT / "docs" / "adapter-protocol.md").read_text(encoding="utf-8")
    assert table(port_named("queue")) in page


def test_the_page_shows_the_example_adapter_as_it_is() -> None:
    """The adapter in docs/adapter-protocol.md is the file under examples/."""
    page = (ROOT / "docs" / "adapter-protocol.md").read_text(encoding="utf-8")
    assert (ROOT / "examples" / "adapters" / "ring_queue.py").read_text(encoding="utf-8") in page


def test_what_the_page_says_to_try_by_hand_works() -> None:
    """The command of the section "Try it by hand", run by a shell."""
    page = (ROOT / "docs" / "adapter-protocol.md").read_text(encoding="utf-8")
    command = page.partition("## Try it by hand")[2].split("```")[1]
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert [line.partition('"ok": ')[2] for line in done.stdout.splitlines()][1:] == [
        "true}", "false}", '"a"}']


@pytest.mark.parametrize(("message", "claims"), [
    ({"do": "poll"}, True), ({"do": "settle"}, False),
])
def test_an_operation_that_was_promised_is_not_unknown(message: Message, claims: bool) -> None:
    """Neither one that ``can`` names, nor one that every adapter has."""
    greeting = GREETING | {"can": ["poll"] if claims else []}
    adapter = Scripted()
    adapter.replies = iter([{"ok": greeting}, {"error": "unknown-operation", "definite": True}])
    session = InProcessTarget("scripted", lambda: adapter, port_named).open()
    session.request(HELLO)
    with pytest.raises(TargetError, match=f"'unknown-operation' to '{message['do']}'"):
        session.request(message)


def test_a_name_in_can_that_the_port_does_not_have_is_told() -> None:
    """Misspelt, it would turn off the rules that need the operation."""
    adapter = Scripted()
    adapter.replies = iter([{"ok": GREETING | {"can": ["offer", "pol"]}}])
    session = InProcessTarget("scripted", lambda: adapter, port_named).open()
    with pytest.raises(TargetError, match="names 'pol', which is no operation of the port queue"):
        session.request(HELLO)


@pytest.mark.parametrize("suite", list(SYSTEMS))
def test_no_kind_of_a_port_chokes_on_a_value_that_no_table_has(suite: str) -> None:
    """A list or an object where a word belongs is refused, as any other wrong value is."""
    port = port_named(suite_named(suite).port)
    fields = [argument for operation in port.operations.values()
              for argument in operation.arguments]
    kinds = {operation.answer for operation in port.operations.values()}
    words = ("does", "by", "state", "partition", "broker", "leader", "isr", "epoch", "request",
             "to", "call", "tell", "event", "is", "at", "task")
    for odd in ([], {}, [[]], {"x": []}):
        for others in (0, "c1", []):
            for word in words:
                value = {**dict.fromkeys(words, others), word: odd}
                shapes = (odd, value, [value], [odd, 0], [[odd, 0]], [[odd, 0, 0]],
                          {"partitions": [value], "replicas": [value], "told": [value]})
                for kind in {*kinds, *(each.kind for each in fields)}:
                    assert all(kind.accepts(shape) in (True, False) for shape in shapes)
