"""Implementations that do not work, made of references by a machine: default runs find them."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.sabotage import runs
from benchmarks.sabotage.__main__ import command
from benchmarks.sabotage.acts import SABOTAGES, Place, Scene, matters
from benchmarks.sabotage.replies import Replies, emptied, hushed
from benchmarks.sabotage.report import closing, is_good, marked, table_of
from benchmarks.sabotage.runs import FOUND, PASSES, Outcome, outcome
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.systems.catalogue import SYSTEMS, system_of

QUICK = ("jobs", "marks", "link", "storm.acker")


@pytest.mark.parametrize("name", ["does nothing", "tells nothing", "keeps back", "half"])
@pytest.mark.parametrize("suite", QUICK)
def test_what_does_not_work_breaks_a_rule_of_progress(suite: str, name: str) -> None:
    """It does nothing that is wrong; it only does not do what it promises."""
    found = outcome(suite, name, quick=True)
    assert (found.verdict, found.is_progress) == (FOUND, True)


@pytest.mark.parametrize("suite", ["awaits.permits", "awaits.condition", "kafka.races"])
def test_calls_of_which_nothing_is_heard_break_a_rule(suite: str) -> None:
    """Judging what calls show is not enough, for those that show nothing break none of that."""
    found = outcome(suite, "does nothing", quick=True)
    assert (found.rule, found.is_progress) == (
        {"awaits.permits": "PERMIT-10", "awaits.condition": "COND-10",
         "kafka.races": "KAFKA-P40"}[suite], True)


# ---- how it is done ------------------------------------------------------------------------------

def session_of(name: str, suite: str = "queue", length: int = 1 << 60) -> Any:
    """A session with a sabotaged reference, after hello."""
    system = system_of(suite)
    scene = Scene(system.port, {"size": [3]}, 4, place=Place(length=length))
    session = SABOTAGES[name].session(
        runs.resolve_target(system.reference.name).open(), scene)
    session.request({"do": "hello", "protocol": 1, "port": suite, "settings": {"capacity": 2}})
    return session, scene


def offer(item: str) -> Message:
    """A request to put an item at once."""
    return {"do": "offer", "item": item, "by": "p"}


def test_silence_begins_with_its_request() -> None:
    """Two requests of four are answered by the reference, and then nothing is done."""
    session, _ = session_of("half")
    replies = [session.request(offer(item))["ok"] for item in ("a", "b")]
    assert replies == [True, True]
    assert session.request({"do": "poll"})["ok"] is None
    assert session.request({"do": "size"})["ok"] == 0


def test_whoever_can_wait_waits() -> None:
    """Each with a ticket of its own, which is never heard of again."""
    session, _ = session_of("does nothing")
    tickets = [session.request({"do": "take", "by": "c"})["waiting"] for _ in range(2)]
    assert len(set(tickets)) == 2


def test_what_is_kept_back_comes_with_the_last_request() -> None:
    """A take that waits is ended by a put, and hears of it at the end."""
    session, scene = session_of("keeps back", length=3)
    scene.place.at = 1
    ticket = session.request({"do": "take", "by": "c"})["waiting"]
    scene.place.at = 2
    assert session.request(offer("a"))["events"] == []
    scene.place.at = 3
    assert session.request({"do": "settle"})["events"] == [{"done": ticket, "ok": "a"}]


def test_a_history_keeps_its_end() -> None:
    """A history without it would be refused as malformed, whatever it contains."""
    scene = Scene(system_of("storm.topology").port, {}, 4, frozenset({"rested"}))
    assert scene.is_history and scene.unit == "event"
    assert scene.is_end("12 rested") and not scene.is_end("12 acked 1 rested")


@pytest.mark.parametrize("name", SABOTAGES)
def test_each_sabotage_says_what_it_does(name: str) -> None:
    """In words that follow "an implementation that"."""
    scene = Scene(system_of("queue").port, {}, 10)
    assert SABOTAGES[name].about(scene)[0].islower()


def test_nothing_can_be_kept_back_where_each_answer_is_one_value() -> None:
    """A limit answers yes or no, and reports nothing later."""
    scene = Scene(system_of("rate").port, {"take": [True]}, 4)
    assert not matters("keeps back", scene) and matters("does nothing", scene)


@pytest.mark.parametrize("suite", SYSTEMS)
def test_the_least_reply_is_one_that_the_port_takes(suite: str) -> None:
    """Else a target would be refused for its form, and not for what it does not do."""
    port = system_of(suite).port
    replies = Replies({})
    for operation in port.operations.values():
        reply = replies.to(operation, "t")
        fits = "waiting" in reply or operation.answer.accepts(reply["ok"])
        # Of an object nothing is known but by samples.
        assert fits or operation.name == "hello" or reply["ok"] is True


def test_emptied_and_hushed_keep_the_form() -> None:
    """The one keeps nothing, the other what is no list."""
    value = {"element": 3, "permits": [1, 2], "open": True}
    assert emptied(value) == {"element": 0, "permits": [], "open": False}
    assert hushed(value) == {"element": 3, "permits": [], "open": True}


# ---- what is said of it --------------------------------------------------------------------------

def told(verdict: str, rule: str = "", is_progress: bool = False) -> Outcome:
    """An outcome of the suite jobs."""
    return Outcome("jobs", "does nothing", "does nothing", verdict, rule, is_progress, (), 1, "")


def test_what_passes_is_in_capitals_and_spoils_the_run() -> None:
    """However many others are found."""
    outcomes = [told(FOUND, "FLOW-54", True), told(PASSES)]
    assert [marked(each) for each in outcomes] == ["**FLOW-54**", "PASSES"]
    assert not is_good(outcomes) and is_good(outcomes[:1])
    assert list(closing(outcomes))[1].startswith("jobs, does nothing: passes")


def test_too_few_rules_of_progress_spoil_the_run_too() -> None:
    """Four of five are asked for."""
    others = [told(FOUND, "FLOW-50")] * 2
    assert not is_good([*[told(FOUND, "FLOW-54", True)] * 3, *others])
    assert is_good([*[told(FOUND, "FLOW-54", True)] * 8, *others])


def test_the_command_prints_the_table_and_ends_with_0_if_all_is_found() -> None:
    """The rule that failed it stands in the cell, in bold where it is one of progress."""
    result = CliRunner().invoke(
        command, ["--only", "jobs", "--how", "does nothing", "--jobs", "1", "--quick"],
        standalone_mode=False)
    assert result.return_value == 0, result.output
    assert "| jobs  |  **FLOW-53** |" in result.output


def test_the_table_has_a_row_for_each_suite() -> None:
    """And a line of its own for what is spoiled by hand."""
    unread = Outcome("kafka.failover", runs.UNREAD, "", PASSES, "", False, (), 1, "")
    rows = list(table_of([told(FOUND, "FLOW-54", True), unread]))
    assert rows[0] == ("suite", "does nothing")
    assert rows[1:] == [("jobs", "**FLOW-54**"), ("kafka.failover: never reads the last", "PASSES")]
