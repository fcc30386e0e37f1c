"""Calls of a broker that overlap: some order explains them, or none does, or it is not known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from brokers_with_overlap import FAULTS, recorded

from benchmarks.logged import judge_events, outcome
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.catalogue import SYSTEMS

Span = tuple[int, int, Event]


def judged(events: Sequence[Event], law: int, tolerance: int = 0) -> Notes:
    """The notes on one queue."""
    return judge_events(SYSTEMS["delivery"].logs, {"law": law}, events, tolerance=tolerance)


def orders(spans: Sequence[Span]) -> Iterator[list[Event]]:
    """All orders of calls; what ended before another began is before it."""
    if not spans:
        yield []
        return
    soonest = min(end for _, end, _ in spans)
    for place, (begin, _, event) in enumerate(spans):
        if begin <= soonest:
            for rest in orders([*spans[:place], *spans[place + 1:]]):
                yield [event, *rest]


def explained(events: Sequence[Event], law: int) -> bool:
    """True if the calls, in some order, one after the other, are those of a right broker."""
    begun = {event.call: at for at, event in enumerate(events) if event.phase == "begin"}
    spans = [(begun.get(event.call, at), at, event) for at, event in enumerate(events)
             if event.phase != "begin"]
    return any(outcome(judged(order, law)) == "passed" for order in orders(spans))


def changed(events: list[Event], rng: random.Random) -> list[Event]:
    """A log in which a result may be another one, and a consumer may have a limit."""
    ends = [at for at, event in enumerate(events) if event.phase == "end"]
    at = rng.choice(ends)
    event = events[at]
    if rng.random() < 0.5 and event.operation == "receive":
        item = rng.choice([each.item for each in events if each.operation == "publish"] or [None])
        events[at] = event._replace(item=item, result="empty" if item is None else "ok")
    elif rng.random() < 0.5 and event.operation in ("ack", "requeue"):
        events[at] = event._replace(result="empty" if event.result == "ok" else "ok")
    if rng.random() < 0.3:
        events.insert(rng.randrange(len(events)), Event(
            "k", "c0", "limit", "point", value=rng.choice([0, 1, 2]), result="ok", line=10 ** 6))
    return events


@pytest.mark.parametrize("part", range(4))
def test_no_verdict_differs_from_all_orders_that_are_tried(part: int) -> None:
    """Passed only if an order explains the log, violated only if none does."""
    found = Counter[tuple[str, bool]]()
    for seed in range(60):
        rng = random.Random(100 * part + seed)
        law = rng.choice([0, 3, 4])
        events = changed(recorded(
            rng, rng.choice(["", *FAULTS]), calls=rng.choice([5, 6]), callers=3, law=law,
            overlap=rng.choice([0.3, 1, 2])).events, rng)
        found[outcome(judged(events, law)), explained(events, law)] += 1
    assert not {("passed", False), ("violated", True), ("foreign", True)} & found.keys()
    assert found["violated", False] > found["unknown", False]
    assert not found["unknown", True]


@pytest.mark.parametrize("law", [3, 4])
def test_a_right_broker_passes_with_any_number_of_callers(law: int) -> None:
    """Up to eight callers, with calls that nearly always overlap."""
    for seed in range(12):
        rng = random.Random(seed)
        log = recorded(rng, "", calls=rng.choice([40, 300]), callers=rng.choice([2, 4, 8]), law=law)
        assert outcome(judged(log.events, law)) == "passed", seed


@pytest.mark.parametrize("fault", FAULTS)
def test_most_faults_are_found_and_the_others_are_unknown(fault: str) -> None:
    """None of these is said to have passed, but for an item that nobody asked for again."""
    found = Counter[str]()
    for seed in range(20):
        rng = random.Random(seed)
        log = recorded(rng, fault, calls=120, callers=rng.choice([2, 4]), law=3)
        if log.has_fault:
            found[outcome(judged(log.events, 3))] += 1
    assert found["violated"] > 3 * found["unknown"]
    assert found["passed"] <= (2 if fault == "lost" else 0)


def with_clocks(events: Sequence[Event], rng: random.Random, tolerance: int) -> list[Event]:
    """The ends of calls, of which none overlap, as points by the clock of each process."""
    ahead = {each.process: rng.randrange(tolerance + 1) for each in events}
    ends = [each._replace(phase="point", call=-1, time=10 * at + ahead[each.process])
            for at, each in enumerate(events) if each.phase == "end"]
    return sorted(ends, key=lambda each: each.time or 0)


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_points_of_clocks_that_differ_may_have_been_in_another_order(fault: str) -> None:
    """A right log passes all the same; of faults most are found."""
    found = Counter[str]()
    for seed in range(6):
        rng = random.Random(seed)
        log = recorded(rng, fault, calls=80, callers=rng.choice([2, 4]), law=3, overlap=0.0)
        if log.has_fault or not fault:
            points = with_clocks(log.events, rng, 40)
            notes = judged(points, 3, 40)
            found[outcome(notes)] += 1
            assert all(each.event in points for each in notes.findings)
    if fault:
        assert found["violated"] > found["unknown"] + found["passed"], found
    else:
        assert found["passed"] == 6


def test_a_backlog_does_not_multiply_the_orders() -> None:
    """Four hundred messages, of which many were published at once, are judged before any is
    given."""
    rng, events = random.Random(7), list[Event]()
    for first in range(0, 400, 4):
        four = [Event("k", f"p{at}", "publish", "begin", item=first + at, call=first + at)
                for at in range(4)]
        ends = [each._replace(phase="end", result="ok") for each in four]
        rng.shuffle(ends)
        events += [*four, *ends]
    for first in range(0, 400, 4):
        order = [first + at for at in range(4)]
        rng.shuffle(order)
        events += [Event("k", "c", "receive", "point", item=item, result="ok") for item in order]
    events = [event._replace(line=line) for line, event in enumerate(events, 1)]
    assert outcome(judged(events, 3)) == "passed"
    swapped = [*events[:-8], *events[-4:], *events[-8:-4]]
    found = judged([event._replace(line=line) for line, event in enumerate(swapped, 1)], 3).findings
    assert [each.rule for each in found] == ["DELIV-9"]
