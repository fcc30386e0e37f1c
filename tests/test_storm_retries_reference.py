"""Retries that wait, offsets with voids, weaker guarantees, and changes of leaders."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.systems.storm_partition.adapter import Log
from checkvalve.reference.storm.coordinator import Coordinator, CoordinatorMisuse, Emit
from checkvalve.reference.storm.offsets import ClientPartition, Guarantee, OffsetManager
from checkvalve.reference.storm.retry import CLIENT, Backoff, RetryMisuse
from checkvalve.reference.storm.spout import (
    Call, Outcome, PartitionManager, PartitionMisuse, SpoutMisuse, SpoutPending,
)


def read(manager: PartitionManager, log: Log) -> int | None:
    """The next message, the log having been read as often as there is a reason to."""
    wanted = manager.wants()
    while wanted is not None and manager.fetched(*log.read(wanted)):
        wanted = manager.wants()
    return manager.next()


def log_of(messages: int) -> Log:
    """A log with so many messages."""
    log = Log()
    log.append(messages)
    return log


# ---- retries --------------------------------------------------------------------------------


@given(st.integers(0, 50), st.integers(1, 4), st.integers(0, 200), st.integers(1, 60))
def test_a_delay_is_the_power_or_the_longest(
    initial: int, multiplier: int, longest: int, failures: int
) -> None:
    """min(longest, initial * multiplier ** (n - 1)), by its definition."""
    backoff = Backoff(initial, multiplier, longest)
    assert backoff.delay(failures) == min(longest, initial * multiplier ** (failures - 1))


def test_the_client_s_delays_double_up_to_ten_seconds() -> None:
    """At once, then 4 ms, 8 ms, …; and it never gives up."""
    assert [CLIENT.delay(n) for n in (1, 2, 3, 40)] == [0, 4, 8, 10_000]
    assert CLIENT.is_worth_a_retry(1 << 40)


def test_a_multiplier_need_not_be_whole() -> None:
    """Storm's is a double; what is left of a millisecond is cut off."""
    assert [Backoff(10, 1.5).delay(n) for n in (1, 2, 3)] == [10, 15, 22]
    assert Backoff(7, 1.0).delay(1 << 40) == 7


@pytest.mark.parametrize("numbers", [
    (-1,), (0, 0), (0, 1, -1), (0, 1, 0, -1), (True,), ("1",), (0, 0.5), (0, float("nan")),
    (0, float("inf")), (0, 1, 0, None, -1)])
def test_retries_out_of_range_are_refused(numbers: tuple[Any, ...]) -> None:
    """With a message that names the range."""
    with pytest.raises(RetryMisuse, match="(an integer|a number) from"):
        Backoff(*numbers)
    with pytest.raises(RetryMisuse, match="from 1 up"):
        Backoff().delay(0)


def test_a_retry_waits_and_holds_up_nothing_but_the_commit() -> None:
    """New messages are emitted meanwhile; time never goes back."""
    log, manager = log_of(2), PartitionManager(backoff=Backoff(10, 2, 15))
    assert read(manager, log) == 0 and manager.fail(0)
    assert read(manager, log) == 1 and manager.ack(1)
    assert (read(manager, log), manager.commit()) == (None, 0)
    manager.tell_time(9)
    assert read(manager, log) is None
    manager.tell_time(10)
    assert read(manager, log) == 0 and manager.fail(0)
    manager.tell_time(24)
    assert read(manager, log) is None
    with pytest.raises(PartitionMisuse, match="the time is an integer from 24 up"):
        manager.tell_time(23)
    manager.tell_time(25)
    assert read(manager, log) == 0 and manager.ack(0)
    assert manager.commit() == 2


@given(st.integers(1, 4), st.integers(1, 4))
def test_a_message_of_several_tuples_is_done_with_the_last(tuples: int, acks: int) -> None:
    """Until then no commit passes it."""
    log, manager = log_of(1), PartitionManager()
    wanted = manager.wants()
    assert wanted is not None and manager.fetched(*log.read(wanted))
    assert manager.next(tuples) == 0
    acked = [manager.ack(0) for _ in range(acks)]
    assert acked == [at < tuples for at in range(acks)]
    assert manager.commit() == int(acks >= tuples)


# ---- the client's offsets -------------------------------------------------------------------


@given(st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)), st.integers(0, 3))
def test_a_commit_passes_what_is_acked_and_voids_and_nothing_else(
    emitted: set[int], acked: set[int], committed: int
) -> None:
    """It is the lowest offset that was emitted and not acked, or one above all of them."""
    offsets = OffsetManager(committed)
    there = sorted(each for each in emitted if each >= committed)
    for offset in there:
        offsets.emit(offset)
    for offset in acked & set(there):
        offsets.ack(offset)
    left = [each for each in there if each not in acked]
    assert offsets.find_next_commit() == (
        left[0] if left else there[-1] + 1 if there else committed)


def test_offsets_below_the_commit_are_refused() -> None:
    """Neither emitted, nor committed again; a late ack is ignored."""
    offsets = OffsetManager(3)
    offsets.ack(2)
    with pytest.raises(PartitionMisuse, match="below the commit"):
        offsets.emit(2)
    with pytest.raises(PartitionMisuse, match="a commit of 2 after one of 3"):
        offsets.commit(2)
    assert offsets.find_next_commit() == 3


def test_at_most_once_commits_before_it_emits() -> None:
    """A driver that does not gets an error; a failed message does not come again."""
    log = log_of(2)
    manager = ClientPartition(guarantee=Guarantee.AT_MOST_ONCE, fetch_size=2)
    wanted = manager.wants()
    assert wanted is not None and manager.fetched(*log.read(wanted))
    with pytest.raises(PartitionMisuse, match="before the fetch was committed"):
        manager.next()
    assert manager.commit() == 2
    assert manager.next() == 0 and manager.fail(0)
    assert (manager.next(), read(manager, log)) == (1, None)


def test_without_a_guarantee_a_commit_passes_what_is_under_way() -> None:
    """And what failed is not emitted again."""
    log, manager = log_of(2), ClientPartition(guarantee=Guarantee.NO_GUARANTEE)
    assert read(manager, log) == 0
    assert manager.commit() == 1
    assert manager.fail(0)
    assert read(manager, log) == 1


def test_too_much_that_is_uncommitted_stops_new_messages_and_no_retries() -> None:
    """Else nothing would ever be committed again."""
    log, manager = log_of(3), ClientPartition(uncommitted_max=2)
    assert [read(manager, log) for _ in range(3)] == [0, 1, None]
    assert manager.fail(0)
    assert [read(manager, log), read(manager, log)] == [0, None]
    assert manager.ack(0) and manager.commit() == 1
    assert read(manager, log) == 2
    with pytest.raises(PartitionMisuse):
        ClientPartition(uncommitted_max=-1)


# ---- several partitions ---------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 12))
def test_every_partition_has_one_task(tasks: int, partitions: int) -> None:
    """Whatever their numbers."""
    leaders = dict.fromkeys(range(partitions), "b1")
    owned: list[int] = []
    for task in range(tasks):
        coordinator = Coordinator(task, tasks, lambda _: PartitionManager())
        coordinator.refresh(leaders)
        owned += coordinator.managers
    assert sorted(owned) == list(range(partitions))


def test_after_a_change_of_the_leader_acks_find_the_successor() -> None:
    """Nothing is emitted again, and the commit continues (STORM-2296, STORM-2361)."""
    logs = {0: log_of(2), 2: log_of(1)}
    coordinator = Coordinator(0, 2, lambda _: PartitionManager(fetch_size=2))

    def fill() -> None:
        for partition, fetch in coordinator.wants().items():
            coordinator.fetched(partition, *logs[partition].read(fetch))

    coordinator.refresh({0: "b1", 1: "b1", 2: "b1"})
    fill()
    assert [coordinator.next(), coordinator.next()] == [Emit(0, 0), Emit(0, 1)]
    assert coordinator.next() == Emit(2, 0)
    coordinator.refresh({0: "b2", 1: "b1", 2: "b1"})
    assert coordinator.ack(Emit(0, 0)) and not coordinator.ack(Emit(0, 0))
    assert coordinator.fail(Emit(0, 1)) and not coordinator.fail(Emit(1, 0))
    assert coordinator.commit() == {0: 1, 2: 0}
    fill()
    assert [coordinator.next(), coordinator.next()] == [Emit(0, 1), None]
    assert coordinator.refresh({0: "b2"}) == {2: 0}
    assert not coordinator.ack(Emit(2, 0))


def test_a_partition_is_left_when_nothing_more_of_it_waits() -> None:
    """As KafkaSpout does: it stays while EMITTED_MORE_LEFT, so a fetch is emitted as a whole."""
    logs = {partition: log_of(4) for partition in range(2)}
    coordinator = Coordinator(0, 1, lambda _: PartitionManager(fetch_size=2))
    coordinator.refresh({0: "b1", 1: "b1"})
    emitted = []
    for _ in range(8):
        for partition, fetch in coordinator.wants().items():
            coordinator.fetched(partition, *logs[partition].read(fetch))
        emitted.append(coordinator.next())
    assert [emit.partition for emit in emitted if emit] == [0, 0, 1, 1, 0, 0, 1, 1]


def test_tasks_and_partitions_that_are_not_there_are_refused() -> None:
    """Nothing changes."""
    with pytest.raises(CoordinatorMisuse, match="no task 2 of 2"):
        Coordinator(2, 2, lambda _: PartitionManager())
    with pytest.raises(CoordinatorMisuse, match="partition 1 is not of task 0"):
        Coordinator(0, 2, lambda _: PartitionManager()).fetched(1, [], 1)


# ---- without ackers -------------------------------------------------------------------------


def test_without_ackers_a_message_is_acked_at_its_emit() -> None:
    """Nothing is pending, no maximum is ever reached, and nothing times out."""
    spout: SpoutPending[str] = SpoutPending(1, acking=False)
    for _ in range(3):
        assert spout.begin_round()
        assert spout.emit(7, "m") == (Call(Outcome.ACK, "m"),)
    assert (len(spout), spout.tick(), spout.tick()) == (0, (), ())
    spout.end_round()
    with pytest.raises(SpoutMisuse):
        spout.emit(7, "m")
