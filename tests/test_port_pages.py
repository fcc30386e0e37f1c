"""The ports' pages agree with the code on capacities, replies and settling."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.ports.base import Message, check_reply, check_request
from checkvalve.conformance.suites.results import NOT_SHOWN, PASSED, TECHNIQUE
from checkvalve.conformance.suites.capacities import capacities_table
from checkvalve.conformance.suites.run import ITEMS_MAX
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.spec.notation.errors import TargetError

ROOT = Path(__file__).resolve().parent.parent
THREADED = ROOT / "examples" / "adapters" / "threaded_queue.py"


def page(name: str) -> str:
    """A page of the documentation."""
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_the_table_of_capacities_has_what_the_suite_says_hello_with() -> None:
    """One row each: storm.input has batches of two from capacity 4 on."""
    rows = capacities_table(suite_named("storm.input")).splitlines()
    assert rows[0].startswith("| `capacity` | `overflow_limit` | `batch` |")
    assert rows[-2:] == ["| 4 | 0 | 2 | 2 | 1 | STORM-I12 |",
                         "| 7 | 0 | 2 | 2 | 1 | long programs only |"]
    assert len(rows) == 3 + len(suite_named("storm.input").capacities)


def examples(after: str, of: str = "adapter-protocol") -> list[tuple[Message, Message]]:
    """The first exchange of messages on the protocol's page, or another one, below a heading."""
    _, _, rest = page(of).partition(after)
    block = re.search(r"```\n(> .*?)```", rest, re.DOTALL)
    assert block is not None
    lines = block.group(1).splitlines()
    return [(json.loads(asked[2:]), json.loads(told[2:]))
            for asked, told in zip(lines[::2], lines[1::2], strict=True)]


def test_the_events_that_are_shown_are_those_of_the_port() -> None:
    """And the error for an answer that has none of them shows their form, and where to look."""
    port, shown = port_named("reactive.publisher"), examples("## What events look", "reactive-port")
    for asked, told in shown:
        check_request(port, asked)
        check_reply("a page", port, port.operations[asked["do"]], told, {})
    assert [told["ok"][-1]["event"] for _, told in shown] == ["returned", "complete"]
    with pytest.raises(TargetError) as caught:
        check_reply("mine", port, port.operations["run"], {"ok": [["complete", 0]]}, {})
    assert 'each an object as {"event": "complete", "subscriber": 0}' in caught.value.what
    assert "docs/ has the replies, in the table of reactive.publisher" in caught.value.next_step


class Script:
    """A session that answers as a page does, and checks that it is asked what the page asks."""

    def __init__(self, exchanges: list[tuple[Message, Message]]) -> None:
        self.left = list(exchanges)

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Session`` has it."""
        if message["do"] == "hello":
            can = ["offer", "take"]
            return {"ok": {"name": "a page", "version": "1", "can": can, "policy": "wait"}}
        asked, told = self.left.pop(0)
        assert message == {key: asked[key] for key in asked if key not in ("id", "now")}
        return {"events": [], **{key: told[key] for key in told if key != "id"}}

    def close(self) -> None:
        """End the session, as ``Session`` has it."""


def broken_by(exchanges: list[tuple[Message, Message]]) -> list[str]:
    """The rules that a queue of capacity 1 breaks that answers so."""
    suite: Any = suite_named("queue")
    conversation = suite.converse(Script(exchanges), 1, ITEMS_MAX)
    judge = suite.judge(1, ITEMS_MAX, None)
    for number, (asked, _) in enumerate(exchanges):
        judge.see(conversation.say(Act(asked["do"])), number)
    return [each.rule.id for each in judge.breaches]


def test_the_order_of_a_reply_is_judged_as_the_page_says() -> None:
    """The example breaks nothing; without the last event, QUEUE-8 is broken."""
    exchanges = examples("### The order of outcome and events")
    assert broken_by(exchanges) == []
    asked, _ = exchanges[-1]
    assert broken_by([*exchanges[:-1], (asked, {"ok": True})])[0] == "QUEUE-8"


def test_the_page_on_settling_shows_the_example_as_it_is() -> None:
    """A reader who copies it from the page gets what is tested here."""
    assert THREADED.read_text(encoding="utf-8") in page("settling")


def test_the_threaded_example_passes_the_queue_suite() -> None:
    """Every rule but those on cancelling, with threads that the operating system schedules."""
    target = f"command:{sys.executable} {THREADED}"
    order = Order("queue", cases=12, settings=RunSettings(programs=6, timeout_seconds=60))
    summary, _ = conduct(target, order)
    verdicts = {each.verdict for each in summary.results if each.cases}
    assert not summary.error and verdicts <= {PASSED, NOT_SHOWN}
    assert "QUEUE-12" in summary.not_shown[TECHNIQUE]
