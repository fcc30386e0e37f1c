"""Elections, executors, ackers and masters of which the order of events is not certain."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from places_with_overlap import SETTINGS, certain, moved, recorded

from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.catalogue import SYSTEMS

WAYS = ({"overlap": 0.5}, {"overlap": 2.0}, {"skew": 0.5}, {"skew": 2.0},
        {"overlap": 0.7, "skew": 0.7})


def judged(system: str, events: Sequence[Event], tolerance: int = 0) -> Notes:
    """The notes on one key."""
    logs = SYSTEMS[system].logs
    assert logs is not None
    notes, terms = Notes(), Terms(SETTINGS[system], tolerance=tolerance)
    judge = logs.judge("k", terms, notes, logs.common(terms, notes))
    for event in events:
        judge.take(event)
    judge.end()
    return notes


def outcome(notes: Notes) -> str:
    """The one word for it."""
    return ("violated" if notes.findings else "foreign" if notes.foreign else
            "unknown" if notes.unknown_keys else "passed")


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
    for seed in range(45):
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
