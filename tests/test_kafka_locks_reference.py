"""Locks that the reference's timer and purgatory hold while threads share them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType

import pytest

from checkvalve.reference.kafka.delayed_operation import DelayedOperation
from checkvalve.reference.kafka.locks import READERS, NeedsTheGil, SharedLock
from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.old_timer import OldTimer
from checkvalve.reference.kafka.owners import Partition
from checkvalve.reference.kafka.purgatory import Purgatory
from checkvalve.reference.kafka.timer import Timer, TimerTask
from checkvalve.reference.kafka.watcher_lists import LockedWatcherLists


class Watched:
    """A mutex that can be looked at, and counts how often it was entered."""

    def __init__(self) -> None:
        self.depth = 0
        self.entered = 0

    def __enter__(self) -> None:
        self.depth += 1
        self.entered += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.depth -= 1


class Factory:
    """Makes watched mutexes, and knows which are held."""

    def __init__(self) -> None:
        self.made: list[Watched] = []

    def __call__(self) -> Watched:
        self.made.append(Watched())
        return self.made[-1]

    @property
    def held(self) -> int:
        """The number of locks held now."""
        return sum(lock.depth > 0 for lock in self.made)


class Note(TimerTask):
    """Does nothing."""

    __slots__ = ()

    def run(self) -> None:
        """It is due."""


def test_a_writer_holds_every_stripe_and_a_reader_one() -> None:
    """So nobody reads while somebody writes; and readers take them in turn."""
    factory = Factory()
    lock = SharedLock(factory)
    with lock.writing():
        assert factory.held == len(factory.made) == READERS
    for _ in range(READERS):
        with lock.reading():
            assert factory.held == 1
    assert factory.held == 0 and {each.entered for each in factory.made} == {2}


def test_a_bucket_expires_under_the_write_lock() -> None:
    """Nobody adds while the tasks of a bucket go to their next one, or are handed over."""
    factory = Factory()
    held: list[int] = []
    timer = Timer(lock=factory, submit=lambda _task: held.append(factory.held))
    timer.add(Note(3, factory), 0)
    timer.add(Note(30, factory), 0)
    for now in (3, 20, 30):
        timer.advance(now)
    assert len(held) == 2 and min(held) >= READERS and factory.held == 0


def test_adding_takes_the_read_lock_alone() -> None:
    """One stripe for each add, so adders wait for no other adder at the door."""
    factory = Factory()
    timer = Timer(lock=factory, submit=lambda _task: None)
    before = [lock.entered for lock in factory.made]
    timer.add(Note(3, factory), 0)
    more = [lock.entered - old for lock, old in zip(factory.made, before, strict=False)]
    assert max(more) == 1


class ReadOrWrite:
    """A lock of two watched halves."""

    def __init__(self) -> None:
        self.read, self.write = Watched(), Watched()


def test_a_partition_is_read_under_the_read_lock_and_told_of_without_it() -> None:
    """To look at it, and to append, is to read; to elect is to write; the purgatory learns of an
    event when the lock was given back.
    """
    lock = ReadOrWrite()
    held: list[int] = []

    def tell(_key: object) -> int:
        held.append(lock.read.depth + lock.write.depth)
        return 1

    partition = Partition(lock, tell)
    assert not partition.is_ready("a") and lock.read.entered == 1
    assert partition.append("a", "key") == 1 and lock.read.entered == 2
    assert partition.is_ready("a") and (lock.read.entered, lock.write.entered) == (3, 0)
    partition.elect()
    assert (lock.read.entered, lock.write.entered, held) == (3, 1, [0])


class Never(DelayedOperation):
    """A request that is completed from outside."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """It is not ready."""
        return False


def test_the_map_of_keys_is_used_under_the_lock_of_its_shard() -> None:
    """Each call takes it once; the keys of all shards are counted."""
    factory = Factory()
    lists = LockedWatcherLists(factory, 2)
    request = Never(9)
    calls = [
        lambda: lists.watch(request, ("a",)), lambda: lists.of("a"),
        lambda: lists.remove_if_empty("a", {}), lambda: lists.take("a"),
    ]
    for number, call in enumerate(calls, 1):
        call()
        assert sum(lock.entered for lock in factory.made) == number
    lists.watch(request, range(9))
    assert (lists.watched, sorted(lists.keys, key=str)) == (9, list(range(9)))


@pytest.mark.parametrize(("held", "kept"), [(2, 2), (3, 0), (4, 0)])
def test_the_old_design_scans_its_queue_from_the_purge_interval_on(held: int, kept: int) -> None:
    """Below it nothing is scanned, at it everything that is completed goes."""
    purgatory = OldPurgatory(3)
    requests = [Never(9) for _ in range(held)]
    for number, request in enumerate(requests):
        purgatory.try_complete_else_watch(request, (number,), 0)
        request.force_complete()
    purgatory.advance(1)
    assert (purgatory.delayed, purgatory.watched) == (kept, kept)


@pytest.mark.parametrize("make", [Purgatory, OldPurgatory])
def test_a_scan_leaves_those_who_wait(make: type[Purgatory | OldPurgatory]) -> None:
    """Only what is completed goes, from the lists and from the queue."""
    purgatory = make(2)
    waiting, done = [Never(9) for _ in range(3)], [Never(9) for _ in range(3)]
    for number, request in enumerate([*waiting, *done]):
        purgatory.try_complete_else_watch(request, (number, "all"), 0)
    for request in done:
        request.force_complete()
    purgatory.advance(1)
    assert (purgatory.watched, purgatory.delayed) == (6, 3)
    assert not any(request.completed for request in waiting)


@pytest.mark.parametrize("make", [Timer, OldTimer, Purgatory, OldPurgatory])
def test_with_locks_the_global_one_has_to_be_on(
    make: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build of Python without it is refused; one thread needs neither."""
    make(lock=Factory())
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    make()
    with pytest.raises(NeedsTheGil, match="PYTHON_GIL=1"):
        make(lock=Factory())
