"""Elections, executors, ackers and masters of which the order of events is not certain."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from places_with_overlap import SETTINGS, certain, moved, recorded

from benchmarks.logged import judge_events, outcome
from checkvalve.conformance.columns.run import judge_files
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.histories import Histories
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import terms_of
from checkvalve.conformance.systems.catalogue import SYSTEMS

WAYS = ({"overlap": 0.5}, {"overlap": 2.0}, {"skew": 0.5}, {"skew": 2.0},
        {"overlap": 0.7, "skew": 0.7})

OTHERS = {"rate": {"rate": 1, "depth": 2}}


def judged(system: str, events: Sequence[Event], tolerance: int = 0) -> Notes:
    """The notes on one key."""
    return judge_events(SYSTEMS[system].logs, SETTINGS.get(system, OTHERS.get(system, {})), events,
                        tolerance=tolerance)


def outcomes(system: str, events: Sequence[Event], tolerance: int) -> set[str]:
    """The outcomes of all orders that may have been, each judged as a log in that order."""
    spans = certain(events, tolerance)
    found = set[str]()

    def goes_on(order: list[int]) -> None:
        if order:
            so_far = outcome(judged(system, [spans[at][0]._replace(
                phase="point", call=-1) for at in order]))
            if so_far != "passed" or len(order) == len(spans):
                found.add(so_far)
                return
        for at, (_, before) in enumerate(spans):
            if at not in order and before <= set(order):
                goes_on([*order, at])

    goes_on([])
    return found


def changed(system: str, events: list[Event], rng: random.Random) -> list[Event]:
    """A log in which an event may be another one."""
    at = rng.choice([at for at, each in enumerate(events) if each.phase != "begin"])
    event = events[at]
    other = rng.choice([each for each in events if each.phase != "begin"])
    if rng.random() < 0.4 and None not in (event.item, other.item):
        event = event._replace(item=other.item)
    elif rng.random() < 0.5:
        event = event._replace(value=rng.choice([1, 2, 3]))
    else:
        event = event._replace(operation=other.operation, item=other.item, value=other.value)
    begins = [each for each in events if each.phase == "begin" and each.call == event.call]
    events[at] = event
    if begins:
        events[events.index(begins[0])] = begins[0]._replace(
            operation=event.operation, item=event.item, value=None)
    return events


@pytest.mark.parametrize("system", SETTINGS)
def test_no_verdict_differs_from_all_orders_that_are_tried(system: str) -> None:
    """Passed only if some order is right, violated (or no log of the system) only if none is, nor
    may be."""
    found = Counter[tuple[str, str]]()
    for seed in range(32):
        rng = random.Random(seed)
        log = recorded(rng, system, rng.choice([4, 5, 6]), seed % 3 == 0, **rng.choice(WAYS))
        events = changed(system, log.events, rng) if seed % 3 else log.events
        orders = outcomes(system, events, log.tolerance)
        best = next(each for each in ("passed", "unknown", "violated", "foreign") if each in orders)
        found[outcome(judged(system, events, log.tolerance)), best] += 1
    wrong = {"violated", "foreign"}
    assert all(judge == best or {judge, best} <= wrong for judge, best in found), found
    assert found["passed", "passed"] > 5 and found["violated", "violated"] > 0


@pytest.mark.parametrize("system", SETTINGS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_is_right_passes(system: str, way: dict[str, float]) -> None:
    """A right log is never violated, nor unknown."""
    for seed in range(5):
        log = recorded(random.Random(seed), system, 30, **way)
        assert outcome(judged(system, log.events, log.tolerance)) == "passed", seed


@pytest.mark.parametrize("system", SETTINGS)
def test_most_faults_are_found(system: str) -> None:
    """Of the others, nearly all are right in another order."""
    found = Counter[str]()
    for seed in range(20):
        log = recorded(random.Random(seed), system, 30, True, **WAYS[seed % 2 * 2])
        if log.has_fault:
            found[outcome(judged(system, log.events, log.tolerance))] += 1
    assert found["violated"] > 3 * (found["passed"] + found["unknown"]), found


def test_the_order_of_the_lines_of_a_log_does_not_matter_where_clocks_order_it() -> None:
    """Points of several processes, read in another order than they were written, have the same
    verdict."""
    for seed in range(6):
        log = recorded(random.Random(seed), "election", 30, True, skew=1.0)
        events = sorted(log.events, key=lambda event: (moved(event, log.tolerance), -event.line))
        assert outcome(judged("election", events, log.tolerance)) == outcome(
            judged("election", log.events, log.tolerance))


def test_an_order_of_which_nothing_is_known_may_be_the_right_one() -> None:
    """Where one order breaks a rule, and in another one a task is submitted twice, which makes no
    identity of it, nothing is violated."""
    acts = [("client", "submits", 0), ("w", "starts", 1), ("client", "rest", 2),
            ("futures", "future_raises", 4), ("other", "submits", 5)]
    events = [Event("k", process, does, "point", None if does == "rest" else "t", time=10 * time,
                    line=line) for line, (process, does, time) in enumerate(acts)]
    assert outcome(judged("executor", events, 10)) == "unknown"
    assert outcome(judged("executor", events, 5)) == "violated"


_ASKS = [("a", "join", "begin"), ("a", "join", "end"), ("b", "join", "begin"), ("b", "join", "end"),
         ("b", "leads", "begin"), ("a", "leads", "begin"), ("a", "resign", "begin"),
         ("a", "resign", "end"), ("b", "leads", "end"), ("a", "leads", "end")]
"""The leader resigns in the middle of two reports that it, and another one, leads."""


@pytest.mark.parametrize(("writes", "phases", "expected"), [
    (0, ("begin", "end"), "passed"), (0, ("end",), "violated"),
    (5_000, ("begin", "end"), "passed")])
def test_the_begin_of_a_call_counts_in_a_log_of_any_size(
        writes: int, phases: Sequence[str], expected: str, tmp_path: Path) -> None:
    """By the order of their ends, one leads that has resigned; so it is where there are no begins.
    A long log without begins is judged in whole columns."""
    logs = SYSTEMS["election"].logs
    assert logs is not None
    path = tmp_path / "log.jsonl"
    before = [("c", "refused", "begin"), ("c", "refused", "end")] * writes
    path.write_text("".join(json.dumps({
        "process": process, "operation": does, "phase": phase, "call": f"{process}-{does}"}) + "\n"
        for process, does, phase in before + _ASKS if phase in phases), encoding="utf-8")
    terms = terms_of(plain(), SETTINGS["election"], False, 1_000)
    notes = judge_files([Log(path, plain(), list(logs.operations))], logs, terms).notes
    assert outcome(notes) == expected


def test_a_judge_that_is_kept_as_bytes_continues_among_calls_that_overlap() -> None:
    """It knows the states in which it may be, and the calls that have had their effect there."""
    bytes_of = pytest.importorskip("pyspark.cloudpickle").dumps
    for system, seed in [(system, seed) for system in SETTINGS for seed in range(2)]:
        log = recorded(random.Random(seed), system, 30, seed == 1, overlap=1.5)
        logs = SYSTEMS[system].logs
        assert logs is not None
        notes, terms = Notes(), Terms(SETTINGS[system])
        judge = logs.judge("k", terms, notes, logs.common(terms, notes))
        for number, event in enumerate(log.events):
            judge.take(event)
            if number % 7 == 3:
                judge, notes = pickle.loads(bytes_of((judge, notes)))
        judge.end()
        assert outcome(notes) == outcome(judged(system, log.events))


def test_the_shortest_history_has_the_begin_of_each_end() -> None:
    """Without it, a call would be later than it may have been, and the history another one."""
    for system, seed in [(system, seed) for system in SETTINGS for seed in range(6)]:
        log = recorded(random.Random(seed), system, 12, True, overlap=1.0)
        logs, terms = SYSTEMS[system].logs, Terms(SETTINGS[system])
        assert logs is not None
        for finding in judged(system, log.events).findings:
            history = Histories(logs, terms)(finding).history
            begun = {event.call for event in history if event.phase == "begin"}
            assert begun >= {event.call for event in history}


def _stage(processes: str, apart: int, phases: Sequence[str]) -> list[Event]:
    """A stage that takes two values and gives their sum, in calls or at instants."""
    acts = [("takes", 1), ("takes", 2), ("gives", 3), ("nothing", None)]
    found = []
    for at, ((operation, value), process) in enumerate(zip(acts, processes, strict=True)):
        found += [Event("k", process, operation, phase, value=value, call=at, line=at,
                        time=at * apart + (phase == "end") * 10) for phase in phases]
    return sorted(found, key=lambda event: event.time or 0)


@pytest.mark.parametrize(("processes", "apart", "phases", "tolerance", "expected"), [
    ("aaaa", 1, ["point"], 5, "passed"),            # one process knows its own order
    ("abab", 9, ["point"], 5, "passed"),
    ("abab", 5, ["point"], 5, "unknown"),
    ("aaba", 20, ["begin", "end"], 0, "passed"),
    ("aaba", 5, ["begin", "end"], 0, "unknown")])
def test_a_stage_is_judged_where_the_order_of_several_processes_is_certain(
    processes: str, apart: int, phases: list[str], tolerance: int, expected: str
) -> None:
    assert outcome(judged("summaries", _stage(processes, apart, phases), tolerance)) == expected


def _limited(rng: random.Random) -> list[Event]:
    """Calls that ask a limit of one permit a tick, with a depth of two; each may be at any place
    among the ticks, whatever a limit would do."""
    found, open_, call = list[Event](), list[Event](), 0
    for _ in range(rng.randrange(4, 11)):
        does = rng.choice(["tick", "begin", "begin", "end"])
        if does == "tick":
            found.append(Event("k", "limit", "tick", "point"))
        elif does == "begin" and len(open_) < 3:
            call += 1
            value = rng.choice([1, 1, 2])
            does = rng.choice(["admits", "admits", "refuses"])
            open_.append(Event("k", f"c{call}", does, "begin", call=call,
                               value=value if rng.random() < 0.7 else None))
            found.append(open_[-1])
        elif does == "end" and open_:
            each = open_.pop(rng.randrange(len(open_)))
            found.append(each._replace(phase="end", value=each.value or 1))
    found += [each._replace(phase="end", value=each.value or 1) for each in open_]
    return [event._replace(line=line) for line, event in enumerate(found)]


def test_a_limit_is_blamed_only_if_it_is_wrong_wherever_its_calls_had_their_effect() -> None:
    """And of those that are wrong in every order, most are found."""
    found = Counter[tuple[bool, bool]]()
    for seed in range(300):
        events = _limited(random.Random(seed))
        is_wrong = outcomes("rate", events, 0) == {"violated"}
        found[is_wrong, outcome(judged("rate", events)) == "violated"] += 1
    assert not found[False, True]
    assert found[True, True] > found[True, False]
