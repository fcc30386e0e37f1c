"""The reference of a task's input: what is true of it at every instant, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.reference.storm.task_input import (
    NOTHING, InputMisuse, Statistics, TaskInput, UnknownSender,
)

Tuple = tuple[str, int]
CALLS = st.lists(st.tuples(
    st.sampled_from(("r1", "r2", "l1", "l2", "consume", "step", "flush")), st.integers(0, 4),
), max_size=40)
SHAPES = st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(1, 3)).filter(
    lambda shape: shape[2] <= max(1, shape[0] // 2))


class Watched:
    """An input with a record of what went in and what came out."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        capacity, limit, batch = shape
        self.input: TaskInput[Tuple] = TaskInput(
            capacity, overflow_limit=limit, batch=batch, remote=("r1", "r2"), local=("l1", "l2"))
        self.sent = dict.fromkeys(("r1", "r2", "l1", "l2"), 0)
        self.kept: list[Tuple] = []
        self.processed: list[Tuple] = []

    def do(self, what: str, count: int) -> None:
        """One call, on any of the three threads."""
        if what.startswith("r"):
            tuples = [self.next_of(what) for _ in range(count)]
            arrival = self.input.transfer(what, tuples)
            self.kept += [t for t, kept in zip(tuples, arrival.kept, strict=True) if kept]
        elif what.startswith("l"):
            tuple_ = self.next_of(what)
            if self.input.publish(what, tuple_):
                self.kept.append(tuple_)
        elif what == "consume":
            self.processed += self.input.consume(count)
        elif what == "step":
            found = self.input.step()
            self.processed += [] if found is NOTHING else [found]  # type: ignore[list-item]
        else:
            self.input.flush()

    def next_of(self, sender: str) -> Tuple:
        """The next tuple of a sender."""
        self.sent[sender] += 1
        return sender, self.sent[sender]


def after(shape: tuple[int, int, int], calls: list[tuple[str, int]]) -> Watched:
    """An input on which some calls were made."""
    watched = Watched(shape)
    for what, count in calls:
        watched.do(what, count)
    return watched


@settings(max_examples=300)
@given(SHAPES, CALLS)
def test_every_tuple_is_in_one_place(
    shape: tuple[int, int, int], calls: list[tuple[str, int]]
) -> None:
    """Each tuple is processed, waiting, or dropped; and no queue is beyond its bound."""
    watched = Watched(shape)
    for what, count in calls:
        watched.do(what, count)
        now = watched.input.statistics()
        assert now.came == (
            now.processed + now.recvq + now.overflowq + now.batched + now.dropped)
        assert len(watched.kept) == now.came - now.dropped
        assert now.recvq <= now.recvq_peak <= now.capacity
        assert now.overflow_limit == 0 or now.overflowq_peak <= now.overflow_limit


@settings(max_examples=300)
@given(SHAPES, CALLS)
def test_each_sender_s_tuples_are_processed_in_order_and_all_of_them(
    shape: tuple[int, int, int], calls: list[tuple[str, int]]
) -> None:
    """Whatever was kept comes out, once, in the order in which it went in."""
    watched = after(shape, calls)
    for _ in range(sum(shape)):
        watched.do("flush", 0)
        watched.do("consume", 1000)
    for sender in watched.sent:
        came = [tuple_ for tuple_ in watched.kept if tuple_[0] == sender]
        assert [tuple_ for tuple_ in watched.processed if tuple_[0] == sender] == came


@settings(max_examples=200)
@given(SHAPES, CALLS)
def test_a_transfer_leaves_no_batch_behind(
    shape: tuple[int, int, int], calls: list[tuple[str, int]]
) -> None:
    """Only local senders' tuples are in batches: with none, nothing is."""
    calls = [call for call in calls if not call[0].startswith("l")]
    assert after(shape, calls).input.statistics().batched == 0


@given(st.integers(1, 5), st.integers(1, 5))
def test_the_overflowq_is_served_while_local_senders_go_on(capacity: int, waiting: int) -> None:
    """At most twice the capacity is processed before it is its turn."""
    watched = Watched((capacity, 0, 1))
    watched.do("r1", capacity + waiting)
    first_spilled = ("r1", capacity + 1)
    for _ in range(2 * capacity + 1):
        watched.do("l1", 0)
        watched.do("consume", 1)
    assert first_spilled in watched.processed


def test_an_interrupted_round_goes_on_where_it_was() -> None:
    """The budget of the overflowQ survives the pause, although recvQ has tuples again."""
    watched = Watched((1, 0, 1))
    watched.do("r1", 3)
    watched.do("consume", 1)
    watched.do("l1", 0)
    watched.do("consume", 1)
    assert watched.processed == [("r1", 1), ("r1", 2)]


def test_at_the_limit_the_tuple_that_arrives_is_dropped_and_counted() -> None:
    """Gaps, but no disorder; below the limit the next one is kept again."""
    watched = Watched((1, 1, 1))
    watched.do("r1", 3)
    watched.do("consume", 9)
    watched.do("r1", 1)
    watched.do("consume", 9)
    assert watched.processed == [("r1", 1), ("r1", 2), ("r1", 4)]
    assert watched.input.statistics().dropped == 1


def test_spilled_tuples_are_told_with_what_stood_before_them() -> None:
    """The backpressure status needs that of a transfer."""
    one: TaskInput[int] = TaskInput(1, remote=["r1"])
    assert one.transfer("r1", [1, 2, 3]).spilled == (0, 1)


MISUSES: dict[str, tuple[type[InputMisuse], Callable[[TaskInput[int]], object]]] = {
    "an unknown sender transfers": (UnknownSender, lambda i: i.transfer("r9", [7])),
    "a local sender transfers": (UnknownSender, lambda i: i.transfer("l1", [7])),
    "an unknown sender publishes": (UnknownSender, lambda i: i.publish("l9", 7)),
    "a remote sender publishes": (UnknownSender, lambda i: i.publish("r1", 7)),
    "fewer than none are consumed": (InputMisuse, lambda i: i.consume(-1)),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_call_that_is_rejected_changes_nothing(name: str) -> None:
    """A documented error, and every count as it was."""
    kind, call = MISUSES[name]
    one: TaskInput[int] = TaskInput(2, overflow_limit=1, remote=["r1"], local=["l1"])
    one.transfer("r1", [1, 2, 3, 4])
    one.consume(1)
    before: Statistics = one.statistics()
    with pytest.raises(kind):
        call(one)
    assert one.statistics() == before
    assert one.consume(9) == [2, 3]


@pytest.mark.parametrize("wrong", [
    {"capacity": 0}, {"capacity": True}, {"capacity": 4, "overflow_limit": -1},
    {"capacity": 4, "batch": 0}, {"capacity": 4, "batch": 3}, {"capacity": 1, "batch": 2},
    {"capacity": 4, "remote": ["a"], "local": ["a"]},
])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    """No buffer, a negative limit, a batch beyond half of the buffer, a sender of two kinds."""
    with pytest.raises(InputMisuse):
        TaskInput(**wrong)  # type: ignore[arg-type]
