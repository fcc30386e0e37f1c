"""Numbers that the reference takes: every one from the least to the most that it says, and no
other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import pytest

from checkvalve.reference.kafka.delayed_operation import DelayedOperation, PurgatoryMisuse
from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.old_timer import OldTimer
from checkvalve.reference.kafka.purgatory import Purgatory
from checkvalve.reference.kafka.timer import Timer, TimerMisuse, TimerTask
from checkvalve.reference.kafka.timing_wheel import WHEEL_SIZE_MAX
from checkvalve.reference.queue import BoundedQueue, QueueMisuse
from checkvalve.reference.storm.acker import Acker, AckerMisuse
from checkvalve.reference.storm.coordinator import Coordinator, CoordinatorMisuse
from checkvalve.reference.storm.faults import Fault, Scenario, ScenarioMisuse, What
from checkvalve.reference.links import Link, LinkMisuse
from checkvalve.reference.storm.offsets import ClientPartition, OffsetManager
from checkvalve.reference.storm.retry import Backoff, RetryMisuse
from checkvalve.reference.storm.rotating import BUCKETS_MAX, RotatingMap, RotatingMisuse
from checkvalve.reference.storm.spout import (
    FETCH_MAX, PartitionManager, PartitionMisuse, SpoutMisuse, SpoutPending,
)
from checkvalve.reference.storm.status import StatusMisuse, StatusTracker
from checkvalve.reference.storm.task_input import InputMisuse, TaskInput
from checkvalve.reference.storm.topologies import (
    WORD_COUNT, Component, Stream, Topology, TopologyMisuse, deploy,
)
from checkvalve.reference.storm.waiting import WaitMisuse, park, progressive
from checkvalve.reference.storm.worker import Settings, SettingsMisuse

ID_MAX = (1 << 64) - 1
ANY = -(1 << 70)
"""The least of what may be any integer."""


class Range(NamedTuple):
    """An argument: what takes it, the least and the most that it may be, and the refusal."""

    take: Callable[[Any], object]
    least: int
    refusal: type[Exception]
    most: int | None = None


def emitting(root: Any) -> object:
    """A root that is emitted in a round."""
    pending: SpoutPending[str] = SpoutPending()
    pending.begin_round()
    return pending.emit(root, "message")


def topology(ackers: Any) -> Topology:
    """Word count with so many ackers."""
    word_count = WORD_COUNT
    return Topology(word_count.name, word_count.text, word_count.parts, word_count.bolts,
                    word_count.streams, ackers)


def scenario(messages: Any = 1, faults: tuple[Fault, ...] = ()) -> Scenario:
    """A run of word count on two workers."""
    return Scenario(WORD_COUNT, 2, messages, Settings(), faults, 0)


def make_settings(name: str, size: Any) -> Settings:
    """The settings with one of them chosen."""
    return Settings(**{name: size})


def timed(make: Callable[[], Any], call: str) -> Callable[[Any], object]:
    """A function that sets the time of one of our clocks, which is at 5 before."""

    def tell(now: Any) -> object:
        clock = make()
        getattr(clock, call)(5)
        return getattr(clock, call)(now)

    return tell


def nothing(_partition: int) -> PartitionManager:
    """The manager of a new partition."""
    return PartitionManager()


KAFKA: dict[str, Range] = {
    "Timer.tick": Range(lambda n: Timer(n), 1, TimerMisuse),
    "Timer.wheel_size": Range(lambda n: Timer(1, n), 2, TimerMisuse, WHEEL_SIZE_MAX),
    "Timer.start": Range(lambda n: Timer(start=n), ANY, TimerMisuse),
    "OldTimer.start": Range(lambda n: OldTimer(start=n), ANY, TimerMisuse),
    "TimerTask.delay": Range(TimerTask, ANY, TimerMisuse),
    "Timer.advance": Range(timed(Timer, "advance"), 5, TimerMisuse),
    "OldTimer.advance": Range(timed(OldTimer, "advance"), 5, TimerMisuse),
    "Purgatory.purge_interval": Range(lambda n: Purgatory(n), 0, PurgatoryMisuse),
    "OldPurgatory.purge_interval": Range(lambda n: OldPurgatory(n), 0, PurgatoryMisuse),
    "Purgatory.start": Range(lambda n: Purgatory(start=n), ANY, PurgatoryMisuse),
    "Purgatory.advance": Range(timed(Purgatory, "advance"), 5, PurgatoryMisuse),
    "OldPurgatory.advance": Range(timed(OldPurgatory, "advance"), 5, PurgatoryMisuse),
    "DelayedOperation.delay": Range(DelayedOperation, 0, ValueError),
}

STORM: dict[str, Range] = {
    "TaskInput.capacity": Range(lambda n: TaskInput(n), 1, InputMisuse),
    "TaskInput.overflow_limit": Range(lambda n: TaskInput(1, overflow_limit=n), 0, InputMisuse),
    "TaskInput.batch": Range(lambda n: TaskInput(9, batch=n), 1, InputMisuse, 4),
    "TaskInput.batch of a capacity of 1": Range(
        lambda n: TaskInput(1, batch=n), 1, InputMisuse, 1),
    "TaskInput.consume": Range(lambda n: TaskInput(1).consume(n), 0, InputMisuse),
    "Link.capacity": Range(lambda n: Link(lambda: 1, n), 0, LinkMisuse),
    "Topology.ackers": Range(topology, 0, TopologyMisuse),
    "deploy.workers": Range(lambda n: deploy(WORD_COUNT, n), 1, TopologyMisuse),
    "Scenario.messages": Range(scenario, 0, ScenarioMisuse),
    "StatusTracker.reminder": Range(
        lambda n: StatusTracker("w", [1], reminder=n), 0, StatusMisuse),
    "StatusTracker.repeat": Range(lambda n: StatusTracker("w", [1], repeat=n), 1, StatusMisuse),
    "StatusTracker.incarnation": Range(
        lambda n: StatusTracker("w", [1], incarnation=n), 0, StatusMisuse),
    "progressive.idle_turns": Range(progressive, 0, WaitMisuse),
    "progressive.level1": Range(lambda n: progressive(0, level1=n), 0, WaitMisuse),
    "progressive.level2": Range(lambda n: progressive(0, level2=n), 0, WaitMisuse),
    "progressive.sleep": Range(lambda n: progressive(0, sleep_milliseconds=n), 0, WaitMisuse),
    "park.idle_turns": Range(park, 0, WaitMisuse),
    "park.microseconds": Range(lambda n: park(0, microseconds=n), 0, WaitMisuse),
    **{f"Settings.{field.name}": Range(
        partial(make_settings, field.name),
        0 if field.name in ("overflow_limit", "max_pending", "reminder") else 1, SettingsMisuse)
        for field in fields(Settings)},
}

RELIABLE: dict[str, Range] = {
    "Acker.buckets": Range(Acker, 1, RotatingMisuse, BUCKETS_MAX),
    "RotatingMap.buckets": Range(RotatingMap, 1, RotatingMisuse, BUCKETS_MAX),
    "Acker.init, root": Range(lambda n: Acker().init(n, 1, 0), 0, AckerMisuse, ID_MAX),
    "Acker.init, value": Range(lambda n: Acker().init(1, n, 0), 0, AckerMisuse, ID_MAX),
    "Acker.init, task": Range(lambda n: Acker().init(1, 1, n), 0, AckerMisuse),
    "Acker.ack, root": Range(lambda n: Acker().ack(n, 1), 0, AckerMisuse, ID_MAX),
    "Acker.ack, value": Range(lambda n: Acker().ack(1, n), 0, AckerMisuse, ID_MAX),
    "Acker.fail": Range(lambda n: Acker().fail(n), 0, AckerMisuse, ID_MAX),
    "Acker.reset_timeout": Range(lambda n: Acker().reset_timeout(n), 0, AckerMisuse, ID_MAX),
    "SpoutPending.max_pending": Range(lambda n: SpoutPending(n), 0, SpoutMisuse),
    "SpoutPending.tasks": Range(lambda n: SpoutPending(1, n), 1, SpoutMisuse),
    "SpoutPending.emit": Range(emitting, 0, SpoutMisuse, ID_MAX),
    "SpoutPending.ack": Range(lambda n: SpoutPending().ack(n), 0, SpoutMisuse, ID_MAX),
    "SpoutPending.fail": Range(lambda n: SpoutPending().fail(n), 0, SpoutMisuse, ID_MAX),
    "SpoutPending.reset_timeout": Range(
        lambda n: SpoutPending().reset_timeout(n), 0, SpoutMisuse, ID_MAX),
    "PartitionManager.committed": Range(PartitionManager, 0, PartitionMisuse),
    "PartitionManager.fetch_size": Range(
        lambda n: PartitionManager(fetch_size=n), 1, PartitionMisuse, FETCH_MAX),
    "PartitionManager.retries": Range(lambda n: PartitionManager(retries=n), 0, PartitionMisuse),
    "PartitionManager.outstanding_max": Range(
        lambda n: PartitionManager(outstanding_max=n), 0, PartitionMisuse),
    "PartitionManager.next": Range(lambda n: PartitionManager().next(n), 1, PartitionMisuse),
    "PartitionManager.ack": Range(lambda n: PartitionManager().ack(n), 0, PartitionMisuse),
    "PartitionManager.fail": Range(lambda n: PartitionManager().fail(n), 0, PartitionMisuse),
    "PartitionManager.tell_time": Range(
        timed(PartitionManager, "tell_time"), 5, PartitionMisuse),
    "ClientPartition.uncommitted_max": Range(
        lambda n: ClientPartition(uncommitted_max=n), 0, PartitionMisuse),
    "Backoff.initial": Range(lambda n: Backoff(initial=n), 0, RetryMisuse),
    "Backoff.multiplier": Range(lambda n: Backoff(multiplier=n), 1, RetryMisuse),
    "Backoff.longest": Range(lambda n: Backoff(longest=n), 0, RetryMisuse),
    "Backoff.retries": Range(lambda n: Backoff(retries=n), 0, RetryMisuse),
    "Backoff.delay": Range(Backoff().delay, 1, RetryMisuse),
    "Backoff.is_worth_a_retry": Range(Backoff().is_worth_a_retry, 1, RetryMisuse),
    "Coordinator.task": Range(lambda n: Coordinator(n, 3, nothing), 0, CoordinatorMisuse, 2),
    "Coordinator.tasks": Range(lambda n: Coordinator(2, n, nothing), 3, CoordinatorMisuse),
}

MEANT: dict[str, tuple[object, ...]] = {
    "PartitionManager.retries": (None,), "Backoff.retries": (None,),    # there is no end of them
    "Topology.ackers": (None,),                                        # as many as workers
    "Backoff.multiplier": (7.0,),                                      # a factor, no count
}
"""Arguments that are no integers and have a meaning nevertheless."""

RANGES = {"BoundedQueue.capacity": Range(BoundedQueue, 1, QueueMisuse)} | KAFKA | STORM | RELIABLE


@pytest.mark.parametrize("name", sorted(RANGES))
def test_the_least_and_the_most_of_a_range_are_taken(name: str) -> None:
    """And a number between them, or far above where there is no most."""
    each = RANGES[name]
    for number in {each.least, each.least + (each.most != each.least), each.most or 10**6}:
        each.take(number)


@pytest.mark.parametrize("name", sorted(RANGES))
def test_the_number_before_the_least_and_the_one_after_the_most_are_refused(name: str) -> None:
    """With the kind of error that the docstring names."""
    each = RANGES[name]
    beyond = [] if each.least == ANY else [each.least - 1, -(10**30)]
    for number in beyond if each.most is None else [*beyond, each.most + 1]:
        with pytest.raises(each.refusal):
            each.take(number)


@pytest.mark.parametrize(("name", "thing"), [
    (name, thing) for name in sorted(RANGES) for thing in (True, 7.0, "7", None)
    if thing not in MEANT.get(name, ())])
def test_what_is_no_integer_is_refused_whatever_it_equals(name: str, thing: object) -> None:
    """True is 1 to Python; a float is a number of seconds where ms were meant."""
    with pytest.raises((RANGES[name].refusal, TimerMisuse)):
        RANGES[name].take(thing)


# ---- refusals that are about more than one number ----------------------------------------------


def test_a_fault_has_to_be_possible_where_it_is() -> None:
    """On a worker or a task that there is, at a time from 0 on, for one instant or more."""
    tasks = len(deploy(WORD_COUNT, 2))
    possible = [
        Fault(0, What.KILL, 1, lasts=1), Fault(0, What.SLOW, tasks - 1, lasts=1),
        Fault(0, What.CUT, 1, 0, lasts=1), Fault(3, What.LOSE_STATUS, 0, 1, lasts=2),
    ]
    scenario(faults=tuple(possible))
    for fault in [
        Fault(-1, What.KILL, 1, lasts=1), Fault(0, What.KILL, 1, lasts=0),
        Fault(0, What.KILL, 2, lasts=1), Fault(0, What.KILL, -1, lasts=1),
        Fault(0, What.SLOW, tasks, lasts=1), Fault(0, What.SLOW, -1, lasts=1),
        Fault(0, What.CUT, 1, 1, lasts=1), Fault(0, What.CUT, 0, 2, lasts=1),
        Fault(0, What.CUT, -1, 0, lasts=1),
    ]:
        with pytest.raises(ScenarioMisuse, match="cannot happen"):
            scenario(faults=(*possible, fault))


def test_a_stream_leads_from_a_component_to_a_bolt() -> None:
    """Not from nowhere, not to nowhere, and not back to the source."""
    bolt = Component("bolt", WORD_COUNT.bolts[0].make, 1)
    Topology("t", str, 1, (bolt,), (Stream("source", "bolt"),))
    for stream in (Stream("nobody", "bolt"), Stream("bolt", "nobody"), Stream("bolt", "source")):
        with pytest.raises(TopologyMisuse, match="no stream leads"):
            Topology("t", str, 1, (bolt,), (Stream("source", "bolt"), stream))


def test_positions_never_go_back() -> None:
    """The position of the last commit is still one; below it nothing is emitted."""
    offsets = OffsetManager(3)
    offsets.emit(3)
    offsets.commit(3)
    offsets.commit(4)
    for misuse in (offsets.emit, offsets.commit):
        with pytest.raises(PartitionMisuse):
            misuse(3)
    assert (offsets.committed, offsets.emitted) == (4, set())


def test_an_input_has_each_sender_once() -> None:
    """Remote or local: only one of the two is held back."""
    with pytest.raises(InputMisuse, match="either remote or local"):
        TaskInput(1, remote=["a", "b"], local=["b", "c"])


@pytest.mark.parametrize("make", [Purgatory, OldPurgatory])
def test_with_locks_a_purgatory_needs_both_locks_of_a_request(
    make: type[Purgatory | OldPurgatory]
) -> None:
    """The lock of its timer entry and that of its tries; and another thread may know a later time.
    """
    purgatory = make(lock=threading.RLock)
    purgatory.advance(9)
    assert DelayedOperation(5).mutex is None
    for lock, mutex in ((None, None), (None, threading.RLock())):
        with pytest.raises(PurgatoryMisuse, match="with locks"):
            purgatory.try_complete_else_watch(DelayedOperation(5, lock, mutex), ("a",), 9)
    purgatory.try_complete_else_watch(Never(5, threading.RLock), ("a",), 8)
    assert purgatory.watched == 1


class Never(DelayedOperation):
    """A request that is never ready."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """It is not ready."""
        return False
