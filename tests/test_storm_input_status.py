"""The reference of backpressure status, and the two wait strategies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.reference.storm.status import (
    REMINDER_TUPLES, RemoteFlags, Status, StatusMisuse, StatusTracker, UnknownTask, UnknownWorker,
)
from checkvalve.reference.storm.waiting import (
    BACKPRESSURE, BOLT, SPOUT, Pause, Waiter, WaitMisuse, park, progressive,
)


def nothing() -> None:
    """A tuple is put somewhere else."""


def spill(tracker: StatusTracker, task: int, before: int) -> list[Status]:
    """The statuses that a spill sends, from its first step to its last."""
    return [sent.status for step in tracker.spill(task, before, nothing) for sent in step]


def connected(**options: int) -> StatusTracker:
    """A tracker of the tasks 1 and 2 with one connection."""
    tracker = StatusTracker("w", (1, 2), **options)
    list(tracker.connect("u"))
    return tracker


# --- the receiving worker ----------------------------------------------------------------------

def test_on_is_told_at_the_first_spill_and_reminded_beyond_ten_thousand() -> None:
    """At 0, at 10,001, at 20,002, and nowhere between."""
    tracker = connected()
    told = [before for before in range(20_010) if spill(tracker, 1, before)]
    assert told == [0, REMINDER_TUPLES + 1, 2 * (REMINDER_TUPLES + 1)]


def test_off_is_told_at_the_first_check_after_draining() -> None:
    """Not while something is left."""
    tracker = connected()
    spill(tracker, 1, 0)
    assert tracker.check({1: 1}) == ()
    (sent,) = tracker.check({1: 0})
    assert sent.status.blocked == frozenset() and sent.status.free == {1, 2}


def test_the_status_is_repeated_after_so_many_checks() -> None:
    """Changed or not."""
    tracker = connected(repeat=3)
    assert [len(tracker.check({})) for _ in range(6)] == [0, 0, 1, 0, 0, 1]


def test_a_connection_that_joins_in_the_middle_misses_nothing() -> None:
    """It gets the changes that are made while its snapshot is on the way, with a newer number."""
    tracker = StatusTracker("w", (1,))
    spill(tracker, 1, 0)
    joining = tracker.connect("u")
    steps = [next(joining), next(joining), next(joining)]
    (off,) = tracker.check({})
    (on,) = next(joining)
    assert steps == [(), (), ()] and on.status.number < off.status.number


MISUSES: dict[str, tuple[type[StatusMisuse], Callable[[StatusTracker], object]]] = {
    "a spill of an unknown task": (UnknownTask, lambda t: t.spill(9, 0, nothing)),
    "a second connection of one name": (StatusMisuse, lambda t: t.connect("u")),
    "a connection that is not there": (StatusMisuse, lambda t: t.disconnect("v")),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_call_that_is_rejected_changes_nothing(name: str) -> None:
    """The next status has the next number, and says what it would have said."""
    kind, call = MISUSES[name]
    tracker, other = connected(), connected()
    with pytest.raises(kind):
        call(tracker)
    assert spill(tracker, 1, 0) == spill(other, 1, 0)


@pytest.mark.parametrize("wrong", [{"reminder": -1}, {"repeat": 0}, {"incarnation": -1}])
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    """A reminder below 0, no check between repetitions, an incarnation before the first."""
    with pytest.raises(StatusMisuse):
        StatusTracker("w", (1,), **wrong)


# --- the sending worker ------------------------------------------------------------------------

def status(number: int, *blocked: int, worker: str = "w", incarnation: int = 0) -> Status:
    """A status about the tasks 1 and 2."""
    return Status(worker, incarnation, number, frozenset(blocked), frozenset({1, 2} - {*blocked}))


@given(st.permutations([status(1, 1), status(2, 1, 2), status(3, 2), status(4)]))
def test_the_newest_status_counts_in_whatever_order_they_come(statuses: list[Status]) -> None:
    """All of one incarnation."""
    flags = RemoteFlags({"w": (1, 2)})
    for each in statuses:
        flags.hear(each)
    assert flags.blocked == frozenset()


def test_a_new_incarnation_is_newer_whatever_its_numbers() -> None:
    """Numbers begin anew with the worker; an old status that comes late is ignored."""
    flags = RemoteFlags({"w": (1, 2)})
    assert flags.hear(status(7, 1))
    assert flags.hear(status(1, 2, incarnation=1))
    assert not flags.hear(status(8, 1))
    assert flags.blocked == {2}


def test_what_is_said_of_tasks_that_are_not_known_is_ignored() -> None:
    """The rest of the status counts."""
    flags = RemoteFlags({"w": (1, 2)})
    flags.hear(status(1, -1, 2, 99))
    assert flags.blocked == {2} and flags.is_blocked(2) and not flags.is_blocked(1)


def test_a_status_of_an_unknown_worker_is_refused_and_changes_nothing() -> None:
    """So is a question about an unknown task."""
    flags = RemoteFlags({"w": (1, 2)})
    flags.hear(status(1, 1))
    for call in (lambda: flags.hear(status(9, 2, worker="v")), lambda: flags.disconnected("v")):
        with pytest.raises(UnknownWorker):
            call()
    with pytest.raises(UnknownTask):
        flags.is_blocked(3)
    assert flags.blocked == {1} and not flags.hear(status(1, 2))


# --- both --------------------------------------------------------------------------------------

@settings(max_examples=300)
@given(st.lists(st.tuples(
    st.sampled_from(("spill", "drain", "check", "deliver", "lose")), st.integers(0, 5)),
    max_size=40))
def test_after_quiet_both_sides_agree_whatever_was_lost(calls: list[tuple[str, int]]) -> None:
    """Any loss and any order; then the faults end, and some checks later all is well."""
    tracker, flags = connected(repeat=2), RemoteFlags({"w": (1, 2)})
    overflow = {1: 0, 2: 0}
    under_way: list[Status] = []
    for what, number in calls:
        task = 1 + number % 2
        if what == "spill":
            under_way += spill(tracker, task, overflow[task])
            overflow[task] += 1
        elif what == "drain":
            overflow[task] = 0
        elif what == "check":
            under_way += [sent.status for sent in tracker.check(overflow)]
        elif under_way:
            found = under_way.pop(number % len(under_way))
            if what == "deliver":
                flags.hear(found)
    for _ in range(2):
        under_way += [sent.status for sent in tracker.check(overflow)]
    for each in reversed(under_way):
        flags.hear(each)
    assert flags.blocked == tracker.blocked == {task for task, size in overflow.items() if size}


# --- waiting -----------------------------------------------------------------------------------

def test_a_spout_with_nothing_to_do_sleeps_at_once_and_a_bolt_later() -> None:
    """0, 0 and 1 ms for a spout; a bolt spins once and parks a thousand times before."""
    spout, bolt = Waiter(), Waiter()
    assert [spout.waits(SPOUT) for _ in range(3)] == [1_000_000] * 3
    waits = [bolt.waits(BOLT) for _ in range(1003)]
    assert waits == [0] + [1] * 1000 + [1_000_000] * 2


def test_what_happens_begins_the_wait_anew() -> None:
    """A thread that went on is not tired yet; nor is one that waits for something else now."""
    waiter = Waiter()
    assert [waiter.waits(BACKPRESSURE) for _ in range(3)] == [0, 1, 1]
    waiter.went_on()
    assert waiter.waits(BACKPRESSURE) == 0
    assert waiter.waits(SPOUT) == 1_000_000
    assert waiter.waits(BACKPRESSURE) == 0


def test_progressive_spins_then_parks_then_sleeps() -> None:
    """Storm's defaults: 1 turn, 1000 turns, 1 ms; asleep, the turns are not counted."""
    assert progressive(0) == Pause(0, 1)
    assert progressive(1) == Pause(1, 2)
    assert progressive(1000) == Pause(1, 1001)
    assert progressive(1001) == Pause(1_000_000, 1001)


def test_a_spout_that_waits_progressively_sleeps_at_once() -> None:
    """Its levels are 0 and 0."""
    assert progressive(0, level1=0, level2=0) == Pause(1_000_000, 0)


def test_park_parks_for_the_same_time_and_spins_if_that_is_none() -> None:
    """100 µs by default."""
    assert park(0) == Pause(100_000, 1)
    assert park(7, microseconds=0) == Pause(0, 1)


@pytest.mark.parametrize("wrong", [lambda: progressive(-1), lambda: park(0, microseconds=-1),
                                   lambda: progressive(0, level1=True)])
def test_negative_waits_are_refused(wrong: Callable[[], Pause]) -> None:
    """And whatever is no integer."""
    with pytest.raises(WaitMisuse):
        wrong()
