"""Logs of what the suites' targets did, judged by the machines of the suites, without the suites.

The suite itself has judged each of these runs: where its verdict and that of the log differ, one of
the two is wrong.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.logged import WRITTEN, Logged, judge_events, programs
from checkvalve.conformance.logs.answer import why_not_shown
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Logs, Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.run import judge_files, opened, terms_of
from checkvalve.conformance.recorder import Recorder
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import reference_of

LENIENT: Mapping[str, frozenset[str]] = {
    "timer": frozenset({"KAFKA-W22"}),      # it may be early by a tick, for ticks begin anywhere
    "executor": frozenset({"EXEC-11"}),     # a log has no items, and may be of exchanged ones
    "storm.acker": frozenset({"STORM-A31"}),    # the answers of one request have an order in a log
    "delivery": frozenset({"DELIV-10"}),    # what a full queue dropped after a restart is unknown
}
"""Rules that the log of a suite may leave out, or break by another of the same request."""


def on_logs(suite: str) -> tuple[Logs, list[str]]:
    """How the logs of a suite are judged, and by which rules."""
    logs: Logs = SYSTEMS[suite].logs
    return logs, [rule.id for rule in logs.rules] + [*logs.with_rest]


def of(logs: Logs, one: Logged) -> Notes:
    """The notes on the log of a run."""
    return judge_events(logs, one.settings, one.events, drained=True)


@pytest.mark.parametrize("suite", WRITTEN)
def test_the_log_of_a_reference_is_right(suite: str) -> None:
    """Nothing is violated, foreign or unknown, and most rules could have been broken."""
    logs, ids = on_logs(suite)
    could = Counter[str]()
    for rule in ids:
        for one in programs(suite, reference_of(suite), rule, 1, 3):
            notes = of(logs, one)
            assert one.run.breaches == []
            assert (notes.findings, notes.foreign, notes.unknown) == ([], [], {})
            could.update(notes.exercised())
    assert len(could.keys() & set(ids)) * 2 >= len(ids)


@pytest.mark.parametrize("suite", WRITTEN)
def test_the_log_of_a_twin_breaks_the_rule_that_the_suite_says(suite: str) -> None:
    """Planted bugs are found by the rule by which the suite finds them, and none is invented."""
    logs, ids = on_logs(suite)
    lenient = LENIENT.get(suite, frozenset())
    found = set[str]()
    for name, twin in SYSTEMS[suite].twins.items():
        if twin.rule not in ids or twin.in_long or twin.after:
            continue
        for one in programs(suite, f"zoo:{name}", twin.rule, 3, 3):
            said = one.run.breaches[0].rule.id if one.run.breaches else ""
            notes = of(logs, one)
            seen = next(iter(notes.violations), "")
            assert not notes.foreign
            assert seen == said or said not in ids or said in lenient, name
            assert said or not seen, name
            found |= {seen} - {""}
            assert_what_is_missing_is_missing(logs, one, notes)
    assert len(found) > len(ids) / 3


def assert_what_is_missing_is_missing(logs: Logs, one: Logged, notes: Notes) -> None:
    """That no event of the log could have broken a rule is said only if the event that could is not
    in it; that one broke another rule, only if one did."""
    does = {event.operation for event in one.events if event.phase != "begin"}
    does -= {"quiet"}       # of an election, it shows a rule only if nobody leads, or with others
    for rule in [*logs.with_rest, *(rule.id for rule in logs.rules)]:
        if notes.exercised().get(rule) or rule in notes.not_shown:
            continue
        rest, why = logs.with_rest.get(rule), why_not_shown(notes, logs, rule)
        assert (" of the log " in why) <= (rest not in does and not notes.violations), (one, why)
        assert ("could have shown it" in why) == any(
            f"breaks {each.rule}," in why and each.event.operation == rest
            for each in notes.findings), (one, why)


@pytest.mark.parametrize("suite", WRITTEN)
def test_a_long_log_of_a_reference_is_right(suite: str) -> None:
    """Places that were left are taken again, and windows slide: nothing of that is seen."""
    logs, _ = on_logs(suite)
    for one in programs(suite, reference_of(suite), "", 5, 2, length=200):
        notes = of(logs, one)
        assert (notes.findings, notes.foreign, notes.unknown) == ([], [], {})


@pytest.mark.parametrize("suite", [each for each in WRITTEN if each != "summaries"])
def test_a_judge_that_was_put_away_between_events_says_the_same(suite: str) -> None:
    """A stream keeps each judge as bytes, and continues with a copy of it."""
    from pyspark import cloudpickle

    logs, ids = on_logs(suite)
    name = next(name for name, twin in SYSTEMS[suite].twins.items() if twin.rule == ids[0])
    one, *_ = [each for each in programs(suite, f"zoo:{name}", ids[0], 3, 15) if each.run.breaches]
    terms = Terms(one.settings, drained=True)
    judge = logs.judge("k", terms, Notes(), logs.common(terms, Notes()))
    for at, event in enumerate(one.events):
        if at % 5 == 0:
            judge = cloudpickle.loads(cloudpickle.dumps(judge))
        judge.take(event)
    judge.end()
    assert judge.notes.violations == of(logs, one).violations


@pytest.mark.parametrize("suite", SYSTEMS)
def test_logs_of_a_suite_are_judged_or_it_says_why_not(suite: str) -> None:
    """One of the two, in one sentence."""
    system = SYSTEMS[suite]
    assert (system.logs is None) == bool(system.no_logs)
    assert "." not in system.no_logs


@pytest.mark.parametrize(("rows", "words"), [
    ([("append", 1), ("nothing", None)],
     "an event 'nothing' could have shown it, but breaks STORM-K26,"),
    ([("append", 1), ("emits", 0), ("commit", 1), ("nothing", None)],
     "no event that was judged could have broken it: that may need an event 'nothing', which"),
    ([("append", 1), ("emits", 0)],
     "no event of the log could have broken it: that may need an event 'nothing', which"),
])
def test_a_rule_is_not_shown_for_the_reason_that_is_so(
    rows: list[tuple[str, Any]], words: str
) -> None:
    """The event that could have shown it breaks another rule, or comes after that, or is missing.
    """
    logs: Logs = SYSTEMS["storm.partition"].logs
    notes = judge_events(logs, {}, points(*rows))
    assert words in why_not_shown(notes, logs, "STORM-K27")


def points(*rows: tuple[str, Any]) -> list[Event]:
    """Events of one process."""
    return [Event("k", "p", name, "point", value=value, line=at)
            for at, (name, value) in enumerate(rows, 1)]


def source(fault: str, messages: int) -> list[Event]:
    """The log of a source that reads a few messages at a time, and commits."""
    rows: list[tuple[str, Any]] = [("append", messages)]
    for at in range(messages):
        rows += [("emits", at), ("ack", at)]
        if at % 5 == 4:
            rows.append(("commit", at + 1))
    wrong = {"": [], "below": [("emits", 3)], "back": [("commit", 3)],
             "unsafe": [("append", 1), ("emits", messages), ("commit", messages + 1)]}
    return points(*rows, *wrong[fault])


@pytest.mark.parametrize(("fault", "rule"), [
    ("", ""), ("below", "STORM-K25"), ("back", "STORM-K22"), ("unsafe", "STORM-K20")])
def test_a_source_is_judged_far_beyond_the_window_of_its_machine(fault: str, rule: str) -> None:
    """The machine has sixteen offsets, and the log has a thousand."""
    notes = judge_events(SYSTEMS["storm.partition"].logs, {}, source(fault, 1_000))
    assert list(notes.violations) == ([rule] if rule else [])
    assert (notes.foreign, notes.unknown) == ([], {})


def test_calls_that_overlap_in_the_middle_have_no_order_that_is_guessed() -> None:
    """The key is unknown from there on, for it may be in too many states already."""
    events = [Event("k", name, "tick", phase, call=at, line=line)
              for line, (name, phase, at) in enumerate(
                  [("a", "begin", 0), ("b", "begin", 1), ("a", "end", 0), ("b", "end", 1)])]
    notes = judge_events(SYSTEMS["storm.spout"].logs, {}, events, from_start=False)
    assert not notes.violations
    assert "overlap" in notes.unknown["STORM-K40"][0].why


def test_clocks_that_may_differ_do_not_order_what_a_spout_took_in_the_middle() -> None:
    """With a tolerance nothing is decided."""
    notes = judge_events(SYSTEMS["storm.spout"].logs, {}, points(("tick", None)), tolerance=5,
                         from_start=False)
    assert "clocks" in notes.unknown["STORM-K40"][0].why


@pytest.mark.parametrize(("rows", "rule"), [
    ([("wait", "begin"), ("open", "point"), ("shut", "point"), ("wait", "end")], ""),
    ([("open", "point"), ("shut", "point"), ("wait", "begin"), ("wait", "end")], "GATE-1"),
    ([("shut", "begin"), ("wait", "begin"), ("wait", "end")], "GATE-1"),
    ([("open", "begin"), ("wait", "begin"), ("wait", "end")], ""),
    ([("open", "point"), ("shut", "begin"), ("wait", "begin"), ("wait", "end")], ""),
])
def test_a_call_passes_a_gate_only_if_it_may_have_been_open(
    rows: list[tuple[str, str]], rule: str
) -> None:
    """From the first instant of opening to the last of shutting."""
    events = [Event("k", name, name, phase, call=int(phase != "point"), line=at)
              for at, (name, phase) in enumerate(rows)]
    notes = judge_events(SYSTEMS["awaits.gate"].logs, {}, events)
    assert list(notes.violations) == ([rule] if rule else [])
    assert not notes.foreign


def test_a_task_that_waits_is_not_forgotten_however_many_wait() -> None:
    """Beyond a bound, tasks that have ended are forgotten, and no others."""
    def each(number: int) -> list[Event]:
        return [Event("k", "", do, "point", number) for do in (
            "starts", "finishes", "future_returns")]

    rest = Event("k", "", "rest", "point")
    events = [Event("k", "", "submits", "point", 0), each(0)[0], rest]
    for number in range(1, 30):
        events += [Event("k", "", "submits", "point", number), rest]
    events += [*each(0)[1:], *(event for number in range(1, 30) for event in each(number))]
    notes = judge_events(SYSTEMS["executor"].logs, {"workers": 1, "policy": 5}, events, remember=4)
    assert (list(notes.violations), notes.unknown, notes.foreign) == ([], {}, [])


@pytest.mark.parametrize(("permits", "violated"), [(3, []), (2, ["PERMIT-1"])])
def test_a_recorded_pool_runs_as_many_tasks_as_it_has_threads(
    tmp_path: Path, permits: int, violated: list[str]
) -> None:
    """Three threads of concurrent.futures, all of which are seen to run at a time."""
    together = threading.Barrier(3)
    with Recorder(tmp_path / "pool.jsonl") as recorder, ThreadPoolExecutor(3) as pool:
        def task(number: int) -> None:
            with recorder.call("pool", "acquire", number):
                pass
            if number < 3:
                together.wait(timeout=60)
            with recorder.call("pool", "release", number):
                pass

        for number in range(100):
            pool.submit(task, number)
    logs: Logs = SYSTEMS["awaits.permits"].logs
    files, mapped = opened(list(tmp_path.glob("pool-*.jsonl")), None, logs, {"permits": permits})
    notes = judge_files(files, logs, terms_of(mapped, {"permits": permits}, False, 1_000)).notes
    assert (list(notes.violations), notes.foreign) == (violated, [])
