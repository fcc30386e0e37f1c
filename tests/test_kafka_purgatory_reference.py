"""The reference purgatories: what a call that raises leaves, threads, and the old design."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from checkvalve.reference.kafka.delayed_operation import DelayedOperation, PurgatoryMisuse
from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.purgatory import Purgatory, Waiting
from checkvalve.reference.kafka.watcher_lists import LockedWatcherLists, WatcherLists

BOTH = (Purgatory, OldPurgatory)


class Request(DelayedOperation):
    """A request that the test makes ready; it remembers its callbacks, and makes a call when
    completed.
    """

    def __init__(self, delay: int, *, locks: bool = False, then: Callable[[], object] = int,
                 ) -> None:
        super().__init__(delay, threading.RLock if locks else None)
        self.ready = False
        self.told: list[str] = []
        self.then = then

    def try_complete(self) -> bool:
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self.told.append("complete")
        self.then()

    def on_expiration(self) -> None:
        self.told.append("expire")


def state(purgatory: Waiting) -> tuple[object, ...]:
    """All that can be asked of a purgatory."""
    counts = (purgatory.delayed, purgatory.estimate) if isinstance(purgatory, Purgatory) else ()
    lists = [(key, tuple(watchers)) for key, watchers in purgatory.lists.items()]
    return (purgatory.watched, purgatory.lists.keys, lists, *counts)


def misuses(purgatory: Waiting, used: Request) -> list[Callable[[], object]]:
    """Calls that must not be made at 5 ms."""
    assert isinstance(purgatory, BOTH)
    return [
        lambda: purgatory.try_complete_else_watch(Request(9), (), 5),
        lambda: purgatory.try_complete_else_watch(used, ("b",), 5),
        lambda: purgatory.try_complete_else_watch(Request(9), ("b",), 4),
        lambda: purgatory.advance(4),
        lambda: Request(-1),
        lambda: type(purgatory)(-1),
        lambda: purgatory.try_complete_else_watch(Request(9), "ab", 5),
        lambda: purgatory.try_complete_else_watch(Request(9), ("b", []), 5),
        lambda: purgatory.try_complete_else_watch(Request(9), ("b",), 5.5),  # type: ignore[arg-type]
        lambda: purgatory.advance("6"),  # type: ignore[arg-type]
        lambda: type(purgatory)(1, start="0"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("which", range(11))
@pytest.mark.parametrize("make", BOTH)
def test_a_misuse_raises_and_changes_nothing(make: type[Waiting], which: int) -> None:
    """Bad keys, an operation used before, a time that goes back or is none, bad numbers."""
    purgatory = make(1)     # type: ignore[call-arg]
    assert isinstance(purgatory, BOTH)
    used = Request(9)
    purgatory.try_complete_else_watch(used, ("a",), 0)
    purgatory.advance(5)
    before = state(purgatory)
    with pytest.raises(PurgatoryMisuse):
        misuses(purgatory, used)[which]()
    assert state(purgatory) == before
    purgatory.advance(9)
    assert used.told == ["complete", "expire"]


def test_a_purgatory_with_locks_needs_operations_with_locks() -> None:
    """Else two threads could change one timer entry; nothing is watched then."""
    purgatory = Purgatory(lock=threading.RLock)
    with pytest.raises(PurgatoryMisuse, match="locks"):
        purgatory.try_complete_else_watch(Request(9), ("a",), 0)
    assert purgatory.watched == 0


@pytest.mark.parametrize("lists", [WatcherLists(), LockedWatcherLists(threading.RLock, 1)])
def test_a_list_that_is_no_longer_the_key_s_does_not_take_the_new_one_along(
    lists: WatcherLists,
) -> None:
    """The identity test: the thread that emptied the old list comes late."""
    first, second = Request(1), Request(1)
    lists.watch(first, ("a",))
    old = lists.of("a")
    assert old is not None
    old.pop(first)
    lists.remove_if_empty("a", old)
    lists.watch(second, ("a",))
    lists.remove_if_empty("a", old)
    assert lists.of("a") == {second: None}


@pytest.mark.parametrize("make", BOTH)
def test_a_callback_may_call_the_purgatory(make: type[Waiting]) -> None:
    """The completion of one request is an event for another one, and makes a third."""
    purgatory = make(1)     # type: ignore[call-arg]
    assert isinstance(purgatory, BOTH)
    second, third = Request(9), Request(9)
    counts: list[int] = []

    def go_on() -> None:
        purgatory.try_complete_else_watch(third, ("a", "b"), 0)
        second.ready = True
        counts.append(purgatory.check_and_complete("a"))

    first = Request(9, then=go_on)
    for request in (first, second):
        purgatory.try_complete_else_watch(request, ("a",), 0)
    first.ready = True
    assert purgatory.check_and_complete("a") == 1
    assert (counts, second.told, third.told) == ([1], ["complete"], [])
    assert purgatory.watched == 2


@pytest.mark.parametrize("interval", [0, 1, 5])
def test_the_bounds_of_the_new_one_hold_after_every_round(interval: int) -> None:
    """Delayed = pending, estimate >= distinct, few dead: over a random run."""
    chance = random.Random(interval)
    purgatory = Purgatory(interval)
    requests: list[Request] = []
    for now in range(300):
        request = Request(chance.choice((3, 25, 470)))
        request.ready = chance.random() < 0.2
        keys = chance.sample("abcd", chance.randint(1, 3))
        purgatory.try_complete_else_watch(request, keys, now)
        requests.append(request)
        chance.choice(requests).force_complete()
        chance.choice(requests).ready = True
        purgatory.check_and_complete(chance.choice("abcd"))
        purgatory.advance(now)
        pending = [each for each in requests if not each.completed]
        on_lists = {each for _, watchers in purgatory.lists.items() for each in watchers}
        assert purgatory.delayed == len(pending)
        assert len(on_lists) <= purgatory.estimate
        assert len(on_lists - set(pending)) <= interval
    assert all(each.told.count("complete") == each.completed for each in requests)


def test_the_old_one_keeps_the_dead_and_scans_for_what_is_pending() -> None:
    """Its queue counts what is completed, and its purges come though nothing is."""
    old, new = OldPurgatory(3), Purgatory(3)
    for purgatory in (old, new):
        pending = [Request(100) for _ in range(4)]
        for request in pending[:2]:
            purgatory.try_complete_else_watch(request, ("a",), 0)
        pending[0].force_complete()
        assert purgatory.delayed == (2 if purgatory is old else 1)
        for request in pending[2:]:
            purgatory.try_complete_else_watch(request, ("a",), 0)
        for now in range(1, 6):
            purgatory.advance(now)
    assert (old.purges, new.purges) == (5, 0)


def test_rounds_of_the_old_one_can_be_told() -> None:
    """One request that is due is one round, so that others may come in between."""
    purgatory = OldPurgatory()
    requests = [Request(5) for _ in range(3)]
    for request in requests:
        purgatory.try_complete_else_watch(request, ("a",), 0)
    assert purgatory.advance(5, rounds=2)
    assert [request.completed for request in requests] == [True, True, False]


@pytest.mark.parametrize("make", BOTH)
def test_many_threads_complete_every_request_once(make: type[Waiting]) -> None:
    """Real threads: requesters, events, force and the reaper; every request ends, once."""
    purgatory = make(2, lock=threading.RLock, shards=2)     # type: ignore[call-arg]
    assert isinstance(purgatory, BOTH)
    requests = [Request(number % 7, locks=True) for number in range(240)]
    started = threading.Barrier(4)

    def work(mine: list[Request]) -> None:
        started.wait()
        for number, request in enumerate(mine):
            purgatory.try_complete_else_watch(request, ("a", number % 3), number)
            mine[number // 2].ready = True
            purgatory.check_and_complete(number % 3)
            mine[number // 3].force_complete()

    def reap() -> None:
        started.wait()
        for now in range(120):
            purgatory.advance(now)

    threads = [threading.Thread(target=work, args=(requests[part::3],)) for part in range(3)]
    threads.append(threading.Thread(target=reap))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    purgatory.advance(1000)
    assert {request.told.count("complete") for request in requests} == {1}
    assert all(request.told in (["complete"], ["complete", "expire"]) for request in requests)
