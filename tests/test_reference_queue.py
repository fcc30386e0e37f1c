"""The reference queue and its asyncio driver keep what they promise, whatever is asked of them."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.drivers.asyncio_queue import AsyncQueue
from checkvalve.reference.queue import (
    BoundedQueue, Disconnected, Empty, NotYet, Overflow, QueueFull, QueueMisuse, Statistics, Step,
    Ticket, UnknownTicket,
)

NEVER_CUT = [each for each in Overflow if each is not Overflow.DISCONNECT]

A = TypeVar("A")

CALLS = st.lists(
    st.tuples(st.sampled_from(["offer", "poll", "put", "take", "claim", "cancel"]),
              st.integers(0, 5)),
    max_size=40)


class Run:
    """A queue, and beside it what a reader of its calls knows."""

    def __init__(self, capacity: int) -> None:
        self.queue: BoundedQueue[int] = BoundedQueue(capacity)
        self.entered: deque[int] = deque()        # items that went in and have not come out
        self.waiting: dict[Ticket, int | None] = {}    # item of a put, None for a take
        self.woken: list[Ticket] = []
        self.items = 0

    def do(self, call: str, choice: int) -> None:
        """One call; ``choice`` picks among the tickets."""
        getattr(self, f"do_{call}")(choice)

    def do_offer(self, _: int) -> None:
        """Accepted exactly when there is a free slot."""
        room = len(self.entered) < self.queue.capacity
        self.items += 1
        assert self.after(self.queue.offer(self.items)) is room
        if room:
            self.entered.append(self.items)

    def do_poll(self, _: int) -> None:
        """The oldest, or nothing exactly when there is nothing."""
        answer = self.after(self.queue.poll())
        assert answer == (self.entered.popleft() if self.entered else Empty.EMPTY)

    def do_put(self, _: int) -> None:
        """Enters, unless it is full or somebody was there first."""
        self.items += 1
        in_line = any(item is not None for item in self.waiting.values())
        room = len(self.entered) < self.queue.capacity
        ticket = self.after(self.queue.put(self.items))
        assert (ticket is None) is (room and not in_line)
        if ticket is None:
            self.entered.append(self.items)
        else:
            self.waiting[ticket] = self.items

    def do_take(self, _: int) -> None:
        """Takes the oldest, unless there is none or somebody was there first."""
        in_line = None in self.waiting.values()
        answer = self.after(self.queue.take())
        assert isinstance(answer, Ticket) is (not self.entered or in_line)
        if isinstance(answer, Ticket):
            self.waiting[answer] = None
        else:
            assert answer == self.entered.popleft()

    def do_claim(self, choice: int) -> None:
        """A woken waiter completes, unless a newcomer overtook it."""
        if not self.woken:
            return
        ticket = self.woken.pop(choice % len(self.woken))
        answer = self.after(self.queue.claim(ticket))
        if isinstance(answer, NotYet):
            return
        item = self.waiting.pop(ticket)
        if item is None:
            assert answer == self.entered.popleft()
        else:
            assert answer is None
            self.entered.append(item)

    def do_cancel(self, choice: int) -> None:
        """A waiter leaves without a trace."""
        if not self.waiting:
            return
        ticket = list(self.waiting)[choice % len(self.waiting)]
        del self.waiting[ticket]
        self.woken = [each for each in self.woken if each != ticket]
        assert self.after(self.queue.cancel(ticket)) is True

    def after(self, step: Step[A]) -> A:
        """Note the woken waiters; none is woken twice."""
        assert not set(step.woken) & set(self.woken)
        self.woken += step.woken
        return step.answer

    def check(self) -> None:
        """The invariants of the module's text."""
        now = self.queue.statistics()
        assert now.size == len(self.entered) == len(self.queue) <= now.peak <= now.capacity
        assert now.entered == now.left + now.evicted + now.size
        assert now.puts_waiting + now.takes_waiting == len(self.waiting)
        puts = [ticket for ticket, item in self.waiting.items() if item is not None]
        takes = [ticket for ticket, item in self.waiting.items() if item is None]
        # One wake-up at a time: the claim of the first waiter wakes the next.
        ready = puts[:now.size < now.capacity] + takes[:now.size > 0]
        assert set(ready) <= set(self.woken)


@given(st.integers(1, 3), CALLS)
def test_the_core_keeps_its_invariants(capacity: int, calls: list[tuple[str, int]]) -> None:
    """First in first out, never above capacity, nothing lost, and the first waiter that can
    continue is woken."""
    run = Run(capacity)
    for call, choice in calls:
        run.do(call, choice)
        run.check()


@given(st.integers(1, 3), st.sampled_from(NEVER_CUT), st.lists(st.booleans(), max_size=30))
def test_a_queue_of_any_policy_accounts_for_every_item(
    capacity: int, overflow: Overflow, offers: list[bool]
) -> None:
    """Each offered item came out, or was refused or named as dropped; the order is kept."""
    queue: BoundedQueue[int] = BoundedQueue(capacity, overflow)
    out: list[int] = []
    dropped: list[object] = []
    for item, is_offer in enumerate(offers):
        if is_offer:
            step = queue.offer(item)
            refused = not step.answer and not step.dropped
            dropped += [item] if refused else step.dropped
        elif not isinstance(answer := queue.poll().answer, Empty):
            out.append(answer)
    while not isinstance(answer := queue.poll().answer, Empty):
        out.append(answer)
    assert out == sorted(out)
    assert sorted([*out, *dropped], key=repr) == sorted(
        [item for item, is_offer in enumerate(offers) if is_offer], key=repr)
    now = queue.statistics()
    assert len(dropped) == now.evicted + now.discarded + now.refused
    assert now.entered == now.left + now.evicted + now.size


def test_a_put_into_a_queue_that_drops_never_waits() -> None:
    """It behaves as an offer does."""
    queue: BoundedQueue[str] = BoundedQueue(1, Overflow.DROP_OLDEST)
    queue.put("a")
    assert queue.put("b") == Step(None, dropped=("a",))
    assert queue.poll().answer == "b"


def test_a_queue_that_rejects_lets_no_put_wait() -> None:
    """It raises, and nothing has changed."""
    queue: BoundedQueue[str] = BoundedQueue(1, Overflow.REJECT)
    queue.put("a")
    before = queue.statistics()
    with pytest.raises(QueueFull):
        queue.put("b")
    assert queue.statistics() == before and not queue.offer("b").answer


def test_a_queue_that_combines_keeps_one_item_for_all() -> None:
    """Nothing is dropped: the item that is left stands for all that came."""
    queue: BoundedQueue[int] = BoundedQueue(4, Overflow.CONFLATE, lambda one, other: one + other)
    assert [queue.offer(item).dropped for item in (1, 2, 3)] == [(), (), ()]
    assert (len(queue), queue.poll().answer, queue.poll().answer) == (1, 6, Empty.EMPTY)


def test_what_is_spilled_comes_back_in_its_turn() -> None:
    """The queue itself never holds more than its capacity."""
    queue: BoundedQueue[int] = BoundedQueue(2, Overflow.SPILL)
    assert all(queue.offer(item).answer for item in range(5))
    assert (queue.resident, len(queue)) == (2, 5)
    assert [queue.poll().answer for _ in range(5)] == [0, 1, 2, 3, 4]


def test_a_slow_consumer_is_cut_off_with_all_that_it_left() -> None:
    """Its producers continue, and learn what is dropped; it learns that it is out."""
    queue: BoundedQueue[int] = BoundedQueue(2, Overflow.DISCONNECT)
    assert [queue.offer(item).dropped for item in range(4)] == [(), (), (0, 1, 2), (3,)]
    for call in (queue.poll, queue.take):
        with pytest.raises(Disconnected):
            call()
    now = queue.statistics()
    assert (now.size, now.evicted, now.discarded) == (0, 2, 2)


@pytest.mark.parametrize("capacity", [0, -1, True, 1.5, None, "3"])
def test_a_capacity_is_an_integer_from_1_up(capacity: object) -> None:
    """A rendezvous is another thing, and says so."""
    with pytest.raises(QueueMisuse):
        BoundedQueue(capacity)  # type: ignore[arg-type]


def snapshot(queue: BoundedQueue[str]) -> tuple[Statistics, int]:
    """The observable state of a queue."""
    return queue.statistics(), len(queue)


@pytest.mark.parametrize("number", [0, 99, -1])
def test_a_ticket_that_was_never_issued_changes_nothing(number: int) -> None:
    """Neither claimed nor cancelled; the queue is as it was."""
    queue: BoundedQueue[str] = BoundedQueue(1)
    queue.put("a")
    queue.put("b")
    before = snapshot(queue)
    for call in (queue.claim, queue.cancel):
        with pytest.raises(UnknownTicket):
            call(Ticket(number))
        assert snapshot(queue) == before


def test_it_is_too_late_to_cancel_what_has_completed() -> None:
    """The answer is no, and nothing changes."""
    queue: BoundedQueue[str] = BoundedQueue(1)
    ticket = queue.take().answer
    assert isinstance(ticket, Ticket)
    queue.offer("a")
    assert queue.claim(ticket).answer == "a"
    before = snapshot(queue)
    assert queue.cancel(ticket) == Step(False)
    assert snapshot(queue) == before


def test_a_waiter_that_was_overtaken_keeps_its_place() -> None:
    """A poll comes between the wake-up and the claim; the next item is the waiter's."""
    queue: BoundedQueue[str] = BoundedQueue(1)
    first, second = queue.take().answer, queue.take().answer
    assert isinstance(first, Ticket) and isinstance(second, Ticket)
    assert queue.offer("a").woken == (first,)
    assert queue.poll().answer == "a"
    assert queue.claim(first).answer is NotYet.NOT_YET
    assert queue.offer("b").woken == (first,)


def test_statistics_do_not_change_later() -> None:
    """A snapshot is a value."""
    queue: BoundedQueue[str] = BoundedQueue(2)
    before = queue.statistics()
    kept = replace(before)
    queue.offer("a")
    assert before == kept != queue.statistics()


# ---- the asyncio driver -----------------------------------------------------------------------


def polled(queue: AsyncQueue[int]) -> list[int]:
    """The item of one poll, if there is one."""
    item = queue.poll()
    return [] if isinstance(item, Empty) else [item]


async def churn(seed: int) -> None:
    """Producers and consumers that are cancelled at random, and the books afterwards."""
    choices = random.Random(seed)
    queue: AsyncQueue[int] = AsyncQueue(choices.randint(1, 2))
    put: list[int] = []
    taken: list[int] = []

    async def produce(item: int) -> None:
        await queue.put(item)
        put.append(item)

    async def consume() -> None:
        taken.append(await queue.take())

    tasks: list[asyncio.Task[None]] = []
    for item in range(60):
        tasks.append(asyncio.create_task(produce(item) if choices.random() < 0.5 else consume()))
        for _ in range(choices.randint(0, 2)):
            await asyncio.sleep(0)
        if choices.random() < 0.4:
            choices.choice(tasks).cancel()
        if choices.random() < 0.2:
            taken += polled(queue)
    for _ in range(10):
        await asyncio.sleep(0)
    now = queue.statistics()
    assert not (now.size and now.takes_waiting)
    assert not (now.size < now.capacity and now.puts_waiting)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    while item_left := polled(queue):
        taken += item_left
    # A put that returned is delivered once; one that was cancelled, never.
    assert sorted(taken) == sorted(put)
    now = queue.statistics()
    assert (now.puts_waiting, now.takes_waiting, queue._turns) == (0, 0, {})


@pytest.mark.parametrize("seed", range(25))
def test_whoever_is_cancelled_nothing_is_lost_or_doubled_and_nobody_is_forgotten(
    seed: int
) -> None:
    """Items taken are exactly the items of puts that returned."""
    asyncio.run(churn(seed))


def test_a_timeout_gives_up_a_take_and_loses_nothing() -> None:
    """The item that arrives in the same turn of the loop as the cancellation stays inside."""
    async def scenario() -> None:
        queue: AsyncQueue[str] = AsyncQueue(1)
        taker = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        queue.offer("a")
        taker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taker
        assert queue.poll() == "a"

    asyncio.run(scenario())


def test_a_coroutine_that_is_thrown_away_leaves_the_line() -> None:
    """Closing it is a cancellation."""
    async def scenario() -> None:
        queue: AsyncQueue[str] = AsyncQueue(1)
        taking = queue.take()
        taking.send(None)
        assert queue.statistics().takes_waiting == 1
        taking.close()
        assert queue.statistics().takes_waiting == 0

    asyncio.run(scenario())
