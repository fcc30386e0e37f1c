"""Queues in logs: what the judge says agrees with an independent search through all orders."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import STATES, Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.queue.calls import Item, LogCall, refusal
from checkvalve.conformance.systems.queue.logs import LOGS
from checkvalve.spec.queues.queue import BoundedQueue


def recorded(seed: int, callers: int, capacity: int, events: int, fault: str = "") -> list[Event]:
    """The log of a queue under ``callers`` producers and as many consumers, scheduled at random;
    the queue has a ``fault`` now and then."""
    random, inside, log = Random(f"{seed} {fault}"), list[int](), list[Event]()
    busy: dict[int, list[int | bool | None]] = {}
    named = calls = 0
    while len(log) < events:
        who = random.randrange(2 * callers)
        puts = who < callers
        operation = "put" if puts else "take"
        call = busy.get(who)
        if call is None:
            busy[who] = [named if puts else None, False, calls]
            log.append(Event("q", str(who), operation, "begin", named if puts else None,
                             call=calls, line=len(log)))
            named, calls = named + puts, calls + 1
        elif call[1]:
            log.append(Event("q", str(who), operation, "end", call[0], call=int(call[2] or 0),
                             line=len(log)))
            del busy[who]
        elif puts and len(inside) < capacity + (fault == "too many" and random.random() < 0.1):
            call[1] = True
            if not (fault == "lose" and random.random() < 0.1):
                inside.append(int(call[0] or 0))
            if fault == "swap" and random.random() < 0.3:
                inside.reverse()
            if fault == "dup" and random.random() < 0.1 and len(inside) < capacity:
                inside.append(int(call[0] or 0))
        elif not puts and inside:
            call[0], call[1] = inside.pop(0), True
        elif not puts and random.random() < 0.3:
            log.append(Event("q", str(who), "take", "end", None, result="empty",
                             call=int(call[2] or 0), line=len(log)))
            del busy[who]
    return log


def crowded(seed: int, callers: int, capacity: int, events: int, full: float) -> list[Event]:
    """The log of a right queue with callers that are nearly always in a call, which has its effect
    at any instant; of those puts that find it full, some (``full``) are refused."""
    random, inside, log = Random(seed), list[int](), list[Event]()
    calls: dict[int, tuple[int | None, str, int]] = {}
    number = 0
    while len(log) < events:
        who = random.randrange(2 * callers)
        begin = Event("q", str(who), "put" if who < callers else "take", "begin", line=len(log))
        item, result, call = calls.get(who, (None, "", 0))
        if who not in calls:
            calls[who] = (number if who < callers else None, "", number)
            log.append(begin._replace(item=calls[who][0], call=number))
            number += 1
        elif result:
            log.append(begin._replace(phase="end", item=item, result=result, call=call))
            del calls[who]
        elif item is not None and len(inside) < capacity:
            inside.append(item)
            calls[who] = item, "ok", call
        elif item is not None and random.random() < full:
            calls[who] = item, "full", call
        elif item is None and inside:
            calls[who] = inside.pop(0), "ok", call
    return log


def judged(
    log: Sequence[Event], capacity: int | None, drained: bool = False, states: int = STATES
) -> Notes:
    """The notes of the judge of a queue on a log."""
    notes = Notes()
    settings = {} if capacity is None else {"capacity": capacity}
    terms = Terms(settings, drained=drained, states=states)
    judge = LOGS.judge("q", terms, notes, LOGS.common(terms, notes))
    for event in log:
        judge.take(event)
    judge.end()
    return notes


def explained(log: Sequence[Event], capacity: int) -> bool:
    """True if some order of the calls' instants explains a log: all are tried, one after the other.

    Knows no machine. A state is what is inside, and which open calls have had their instant.
    """
    ends = {event.call: event for event in log if event.phase == "end"}
    reached: set[tuple[tuple[object, ...], frozenset[int]]] = {((), frozenset())}
    open_now: dict[int, Event] = {}
    for event in log:
        if event.phase == "begin":
            open_now[event.call] = event
        todo = list(reached)
        while todo:
            inside, done = todo.pop()
            for call, begin in open_now.items():
                end = ends.get(call)
                after: tuple[object, ...] | None = None
                if call in done:
                    continue
                if begin.operation == "put" and len(inside) < capacity:
                    after = (*inside, begin.item)
                elif begin.operation == "take" and end is None and inside:
                    after = inside[1:]
                elif begin.operation == "take" and end is not None:
                    if end.result == "empty" and not inside:
                        after = inside
                    elif end.result == "ok" and inside and inside[0] == end.item:
                        after = inside[1:]
                if after is not None and (found := (after, done | {call})) not in reached:
                    reached.add(found)
                    todo.append(found)
        if event.phase == "end":
            reached = {(inside, done - {event.call}) for inside, done in reached
                       if event.call in done}
            del open_now[event.call]
    return bool(reached)


FAULTS = ("", "swap", "lose", "dup", "too many")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_agrees_with_a_search_through_all_orders(fault: str) -> None:
    """Violated exactly where no order explains the log; what it cannot decide, it says so, and
    that is rare."""
    unsure = 0
    for seed in range(60):
        capacity = 1 + seed % 3
        log = recorded(seed, 2 + seed % 2, capacity, 24, fault)
        notes = judged(log, capacity)
        assert not notes.foreign
        if notes.unknown and not notes.violations:
            unsure += 1
            continue
        assert (not notes.violations) == explained(log, capacity), (fault, seed)
    assert unsure <= 2


def test_a_rule_is_unknown_where_a_machine_may_be_in_no_more_states() -> None:
    """Where all orders have to be tried, ``--max-states`` bounds that, and the reason names it;
    what is decided without them stays decided."""
    logs = [recorded(seed, 3, 1 + seed % 3, 24, "swap") for seed in range(30)]
    unsure = 0
    for seed, log in enumerate(logs):
        many, one = (judged(log, 1 + seed % 3, states=states) for states in (STATES, 1))
        why = [doubt.why for doubts in one.unknown.values() for doubt in doubts]
        unsure += any("--max-states" in each for each in why)
        assert set(one.violations) <= set(many.violations)
    assert unsure


@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_agrees_with_the_observer_in_all_its_states(fault: str) -> None:
    """The plain observer, on all candidate states, refuses the same logs."""
    for seed in range(30):
        log = recorded(seed, 2, 2, 30, fault)
        calls: dict[int, LogCall] = {}
        items: dict[object, Item] = {}
        takes = set[object]()
        for at, event in enumerate(log, 1):
            if event.phase == "begin":
                call = calls[event.call] = LogCall(event, at)
                if call.puts:
                    call.item = items[event.item] = Item(event.item, call, None)
                continue
            call = calls[event.call]
            call.ends(event, at)
            if not call.puts and event.item is not None:
                call.item = items[event.item]
                if event.item in takes:
                    break   # twice: the table of tickets has no room for that
                takes.add(event.item)
        else:
            notes = judged(log, 2)
            if not notes.unknown:
                refused = refusal(BoundedQueue, 2, calls.values(), len(log), STATES) is not None
                assert refused == bool(notes.violations), (fault, seed)


@pytest.mark.parametrize(("callers", "capacity"), [(1, 3), (2, 4), (4, 8), (16, 64)])
def test_a_right_queue_under_load_is_never_accused(callers: int, capacity: int) -> None:
    """No false alarm, and nothing unknown, with up to 16 producers and 16 consumers at a time."""
    notes = judged(recorded(7, callers, capacity, 3_000), capacity)
    assert (dict(notes.violations), notes.unknown, notes.foreign) == ({}, {}, [])
    assert notes.exercised()["QUEUE-3"] > 300


@pytest.mark.parametrize("capacity", [1, 4])
def test_callers_that_always_overlap_are_followed(capacity: int) -> None:
    """Where guesses of the order fail, one is found in what is read ahead; and puts that found a
    small queue full were right about that."""
    for full in (0, 0.1):
        log = crowded(3, 16, capacity, 6_000, full)
        notes = judged(log, capacity)
        assert (dict(notes.violations), notes.unknown, notes.foreign) == ({}, {}, []), full
        assert notes.exercised()["QUEUE-3"] > 1_000


@pytest.mark.parametrize("leave_out", range(6))
def test_leaving_out_an_item_leaves_a_log_of_a_queue(leave_out: int) -> None:
    """So a proof about a few items holds of the whole log."""
    log = recorded(leave_out, 3, 2, 40)
    ends = {event.call: event for event in log if event.phase == "end"}
    without = [event for event in log if leave_out not in (
        event.item, ends[event.call].item if event.call in ends else None)]
    assert len(without) < len(log)
    assert explained(log, 2)
    assert explained(without, 2)
    assert not judged(without, 2).violations


def test_an_item_that_is_put_twice_is_no_identity() -> None:
    """It is neither violated nor passed, and the reason names the item."""
    log = recorded(1, 1, 2, 20)
    again = [event._replace(item=0, call=900 + event.call) for event in log[:1]]
    notes = judged([*log, *again], 2)
    assert not notes.violations
    assert "put twice" in notes.unknown["QUEUE-3"][0].why


def test_a_loss_is_found_at_the_end_only_if_the_log_says_so() -> None:
    """Where nobody ever found the queue empty, an item that never came out may still be inside."""
    begin = Event("q", "p", "put", "begin", 1, call=0)
    log = [begin, begin._replace(phase="end")]
    assert not judged(log, 4).violations
    assert judged(log, 4, drained=True).violations["QUEUE-4"]
