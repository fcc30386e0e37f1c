"""Logs that begin in the middle are judged from every state that the observer can be in."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from benchmarks.logged import Logged, judge_events, programs
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.live import Live
from checkvalve.conformance.logs.many import Many, step
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of
from checkvalve.spec.engines.candidates import LostTrack
from checkvalve.spec.flow.observed_jobs import ObservedMaster

FOUND = {
    "jobs": ("FLOW-50", "FLOW-51", "FLOW-52", "FLOW-53"),
    "executor": (
        "EXEC-1", "EXEC-2", "EXEC-3", "EXEC-4", "EXEC-5", "EXEC-6", "EXEC-9", "EXEC-11", "EXEC-14",
        "EXEC-16", "EXEC-18", "EXEC-19"),
    "summaries": ("FLOW-56", "FLOW-120", "FLOW-121", "FLOW-123", "FLOW-124", "FLOW-125"),
    "link": ("FLOW-3", "FLOW-5", "FLOW-6", "FLOW-7", "FLOW-8", "FLOW-9", "FLOW-10", "FLOW-11"),
}
"""By suite, the rules that twins break late enough that the middle of their logs shows it."""


def middles(suite: str, target: str, rule: str, seed: int, number: int, length: int = 0
            ) -> Iterator[tuple[Logged, list[Event]]]:
    """Runs of a target, each with a part of its log that begins anywhere in its first half."""
    draw = random.Random(seed)
    for one in programs(suite, target, rule, seed, number, length):
        yield one, one.events[draw.randrange(len(one.events) // 2 + 1):]


def of(suite: str, one: Logged, events: list[Event]) -> Notes:
    """The notes on a log that begins in the middle."""
    return judge_events(SYSTEMS[suite].logs, one.settings, events, from_start=False)


@pytest.mark.parametrize("suite", FOUND)
@pytest.mark.parametrize("length", [0, 60])
def test_the_middle_of_a_right_log_is_right(suite: str, length: int) -> None:
    """Nothing is violated, foreign or unknown, wherever it begins."""
    logs: Logs = SYSTEMS[suite].logs
    for rule in logs.rules[:3]:
        for one, events in middles(suite, reference_of(suite), rule.id, 7, 2, length):
            notes = of(suite, one, events)
            assert (notes.findings, notes.foreign, notes.unknown) == ([], [], {})


def breaches(suite: str, rule: str) -> Iterator[str]:
    """The rules that the middles of logs of the twins of a rule break."""
    for name, twin in SYSTEMS[suite].twins.items():
        if twin.rule == rule and not twin.in_long and not twin.after:
            for one, events in middles(suite, f"zoo:{name}", rule, 3, 8):
                yield from of(suite, one, events).violations


@pytest.mark.parametrize(("suite", "rule"), [
    (suite, rule) for suite, rules in FOUND.items() for rule in rules])
def test_what_is_broken_late_is_found_from_the_middle(suite: str, rule: str) -> None:
    """By at least one log of a twin."""
    assert rule in breaches(suite, rule)


def master(most: int, **states: Sequence[Any]) -> Many:
    """A master with two places, in all of some states."""
    many = Many(Live(ObservedMaster, K=2, W=2), most)
    for name, values in states.items():
        many.splits(lambda now, name=name, values=values: [{name: value} for value in values])
    return many


def test_a_rule_is_broken_only_where_all_states_agree() -> None:
    """Three jobs may wait, so one may be dropped; then no state is left that allows another."""
    many = master(10, waiting=range(4))
    assert many.takes(lambda now: [step("drops")]) is None
    failure = many.takes(lambda now: [step("drops")])
    assert failure is not None and failure.rule is not None and failure.rule.id == "FLOW-52"


def test_more_states_than_are_allowed_are_no_verdict() -> None:
    """Eight states, of which four are followed."""
    with pytest.raises(LostTrack):
        master(4, waiting=range(4), asking=[set(), {0}])


def test_too_many_states_make_a_key_unknown() -> None:
    """A master with more places than states are followed."""
    notes = Notes()
    terms = Terms({"places": 50}, from_start=False, states=9)
    judge = SYSTEMS["jobs"].logs.judge("k", terms, notes, None)
    judge.take(Event("k", "", "submit", "point", "x"))
    [doubt] = notes.unknown["FLOW-51"]
    assert "9 states (--max-states)" in doubt.why


def points(suite: str, settings: dict[str, int], *rows: tuple[str, int]) -> Notes:
    """The notes on points that a log has from the middle on, each with its value."""
    events = [Event("k", "p", name, "point", value=value, line=at)
              for at, (name, value) in enumerate(rows, 1)]
    return judge_events(SYSTEMS[suite].logs, settings, events, from_start=False)


MARKS = {"high": 5, "low": 2}


@pytest.mark.parametrize(("suite", "settings", "rows"), [
    ("marks", MARKS, [("gives", 90), ("go", 0), ("gives", 1)]),
    ("marks", MARKS, [("stop", 0), ("gives", 4), ("go", 0)]),
    ("marks", MARKS, [("rest", 0), ("arrives", 7), ("gives", 7), ("rest", 0)]),
    ("rate", {"rate": 1, "depth": 4}, [("refuses", 1), ("tick", 1), ("admits", 1)]),
    ("summaries", {}, [("takes", 1), ("gives", 9), ("takes", 2), ("gives", 2)]),
    ("summaries", {"batch": 2}, [("takes", 1), ("waits", 4), ("gives", 9)]),
])
def test_what_was_there_before_accuses_nobody(
    suite: str, settings: dict[str, int], rows: list[tuple[str, int]],
) -> None:
    """Some state before the log explains each of these."""
    notes = points(suite, settings, *rows)
    assert (notes.findings, notes.foreign, notes.unknown) == ([], [], {})


@pytest.mark.parametrize(("suite", "settings", "rows", "rule"), [
    ("marks", MARKS, [("go", 0), ("gives", 3)], "FLOW-117"),
    ("marks", MARKS, [("go", 0), ("gives", 0), ("arrives", 5), ("stop", 0)], "FLOW-113"),
    ("marks", MARKS, [("go", 0), ("go", 0)], "FLOW-116"),
    ("marks", MARKS, [("go", 0), ("arrives", 9), ("rest", 0)], "FLOW-112"),
    ("rate", {"rate": 1, "depth": 2}, [("tick", 2), ("refuses", 1)], "FLOW-81"),
    ("summaries", {}, [("gives", 9), ("takes", 2), ("gives", 3)], "FLOW-56"),
    ("summaries", {"batch": 2}, [("gives", 9), ("takes", 2), ("waits", 4)], "FLOW-121"),
])
def test_what_no_state_before_explains_is_violated(
    suite: str, settings: dict[str, int], rows: list[tuple[str, int]], rule: str,
) -> None:
    """The last event breaks the rule wherever the log began."""
    assert [*points(suite, settings, *rows).violations] == [rule]


def test_a_gate_may_have_been_broken_before_and_is_shut_only_by_the_log() -> None:
    """A call that is notified is right, and one that passes a gate that was shut is not."""
    rows = [("wait", "begin", "a", "ok"), ("wait", "end", "a", "empty"),
            ("shut", "point", "s", "ok"), ("wait", "begin", "b", "ok"),
            ("wait", "end", "b", "ok")]
    events = [Event("k", process, name, phase, result=result, call=-1 if process == "s" else
                    ord(process), line=at)
              for at, (name, phase, process, result) in enumerate(rows, 1)]
    notes = judge_events(SYSTEMS["awaits.gate"].logs, {}, events, from_start=False)
    assert [*notes.violations] == ["GATE-1"]
    assert notes.not_shown.keys() == {"GATE-5"}
