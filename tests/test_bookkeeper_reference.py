"""The reference server and its memtable: invariants under every sequence of a driver's calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.bookkeeper.bookie import (
    Bookie, BookieMisuse, Do, Effect, Kind, Limits,
)
from checkvalve.reference.bookkeeper.memtable import EntryTooLong, Memtable, MemtableMisuse

CHANNELS = 3


class World:
    """A server with its inputs and its effects."""

    def __init__(self, limits: Limits, patience: int, closing: bool) -> None:
        self.bookie = Bookie(limits, patience, closing=closing)
        self.limits = limits
        for channel in range(CHANNELS):
            self.bookie.connect(channel)
        self.kinds: list[Kind] = []
        self.of: list[int] = []
        self.storage: list[int] = []
        self.writable = dict.fromkeys(range(CHANNELS), True)
        self.open = dict.fromkeys(range(CHANNELS), True)
        self.seen: list[Effect] = []

    def step(self, do: str, pick: int) -> None:
        """One thing that happens, if it can."""
        channel = pick % CHANNELS
        if do == "tick":
            self.take(self.bookie.tick())
        elif do == "done" and self.storage:
            self.take(self.bookie.done(self.storage.pop(pick % len(self.storage))))
        elif not self.open[channel]:
            return
        elif do == "turn":
            self.writable[channel] = not self.writable[channel]
            self.take(self.bookie.turn(channel, self.writable[channel]))
        elif do == "hang_up":
            self.open[channel] = False
            self.take(self.bookie.hang_up(channel))
        elif do == "receive" and self.bookie.is_reading(channel):
            self.receive(channel, [Kind.READ if pick & 4 else Kind.ADD] * (pick % 4 + 1))

    def receive(self, channel: int, kinds: list[Kind]) -> None:
        """A batch is read."""
        first = len(self.kinds)
        self.kinds += kinds
        self.of += [channel] * len(kinds)
        self.take(self.bookie.receive(channel, list(enumerate(kinds, first))))

    def take(self, effects: Iterable[Effect]) -> None:
        """Note the effects of the server."""
        for effect in effects:
            self.seen.append(effect)
            if effect.do is Do.START:
                self.storage.append(effect.name)
            elif effect.do is Do.CLOSE:
                self.open[effect.name] = False

    def count(self, *dos: Do) -> Counter[int]:
        """How often each number was seen with some of the effects."""
        return Counter(effect.name for effect in self.seen if effect.do in dos)


WORLDS = st.builds(
    World, st.builds(Limits, *[st.integers(1, 4)] * 3), st.integers(0, 3), st.booleans())
STEPS = st.lists(st.tuples(
    st.sampled_from(["receive", "receive", "done", "done", "turn", "tick", "hang_up"]),
    st.integers(0, 11)), max_size=60)


@given(WORLDS, STEPS)
def test_no_more_requests_are_in_progress_than_the_limits(
    world: World, steps: list[tuple[str, int]]
) -> None:
    """Counted from outside: started or rejected, and neither written nor dropped."""
    for do, pick in steps:
        world.step(do, pick)
        begun = world.count(Do.START, Do.REJECT)
        ended = world.count(Do.WRITE, Do.DROP)
        for kind, limit in ((Kind.ADD, world.limits.adds), (Kind.READ, world.limits.reads)):
            of_kind = [n for n, each in enumerate(world.kinds) if each is kind]
            in_progress = sum(begun[n] - ended[n] for n in of_kind)
            assert in_progress == world.bookie.in_progress(kind) <= limit


@given(WORLDS, STEPS)
def test_every_request_of_an_open_channel_is_answered_in_the_end(
    world: World, steps: list[tuple[str, int]]
) -> None:
    """Once storage works and clients read; each request once."""
    for do, pick in steps:
        world.step(do, pick)
    for channel in range(CHANNELS):
        if world.open[channel]:
            world.take(world.bookie.turn(channel, True))
    while world.storage:
        world.step("done", 0)
    answered = world.count(Do.WRITE, Do.DROP)
    assert set(answered.values()) <= {1}
    assert all(answered[n] for n, channel in enumerate(world.of) if world.open[channel])
    assert all(world.bookie.is_reading(channel) == world.open[channel]
               for channel in range(CHANNELS))


@given(WORLDS, STEPS)
def test_no_response_waits_longer_than_the_patience(
    world: World, steps: list[tuple[str, int]]
) -> None:
    """After so many ticks nothing is owed to a client that does not read."""
    for do, pick in steps:
        world.step(do, pick)
    owed = set(world.count(Do.START, Do.REJECT)) - set(world.storage)
    for _ in range(world.bookie.patience):
        world.take(world.bookie.tick())
    assert owed <= set(world.count(Do.WRITE, Do.DROP))


def test_what_cannot_be_changes_nothing() -> None:
    """A call that raises leaves the server as it was."""
    bookie = Bookie(Limits(1, 1, 1))
    bookie.connect(0)
    bookie.receive(0, [(0, Kind.ADD), (1, Kind.ADD)])
    for call in (lambda: bookie.receive(0, [(2, Kind.ADD)]), lambda: bookie.done(1),
                 lambda: bookie.turn(7, True), lambda: bookie.connect(0)):
        with pytest.raises(BookieMisuse):
            call()
    assert bookie.in_progress(Kind.ADD) == 1
    assert bookie.done(0) == [Effect(Do.WRITE, 0), Effect(Do.START, 1), Effect(Do.RESUME, 0)]


@pytest.mark.parametrize("limits", [Limits(-1, 1, 1), Limits(1, -1, 1), Limits(1, 1, 0)])
def test_a_limit_below_zero_and_an_empty_pool_are_refused(limits: Limits) -> None:
    """They would let nothing pass, forever."""
    with pytest.raises(BookieMisuse, match="limit|pool"):
        Bookie(limits)


def test_a_limit_of_zero_holds_nobody_up() -> None:
    """It is no limit: adds start as they come, while reads keep to theirs."""
    bookie = Bookie(Limits(adds=0, reads=1, pool=9))
    bookie.connect(0)
    adds = bookie.receive(0, [(number, Kind.ADD) for number in range(8)])
    assert adds == [Effect(Do.START, number) for number in range(8)]
    assert bookie.receive(0, [(8, Kind.READ), (9, Kind.READ)]) == [
        Effect(Do.START, 8), Effect(Do.PAUSE, 0)]


# ---- the memtable ---------------------------------------------------------------------------

ADDS = st.integers(1, 9).flatmap(lambda size: st.tuples(st.just(size), st.lists(st.tuples(
    st.integers(0, 5), st.integers(1, 2 * size), st.sampled_from(["", "", "flush", "fail"])),
    max_size=40)))


@given(ADDS)
def test_a_memtable_holds_twice_its_size_at_most(
    given: tuple[int, list[tuple[int, int, str]]]
) -> None:
    """Whatever comes, comes twice, and however flushes end."""
    size, adds = given
    table, under_way = Memtable(size), 0
    for key, length, then in adds:
        under_way += table.add(key, length).flush
        assert table.held <= 2 * size
        if under_way and then:
            under_way = table.flushed(failed=then == "fail").flush
        assert table.held <= 2 * size


@given(ADDS)
def test_every_entry_that_fits_gets_room_in_the_end(
    given: tuple[int, list[tuple[int, int, str]]]
) -> None:
    """Of up to twice the size, as long as flushes that were asked for are done; each once."""
    size, adds = given
    table, under_way, inserted = Memtable(size), 0, 0
    for number, (_, length, _) in enumerate(adds):
        moved = table.add(number, length)
        under_way, inserted = under_way or moved.flush, inserted + len(moved.inserted)
    while under_way:
        moved = table.flushed()
        under_way, inserted = moved.flush, inserted + len(moved.inserted)
    assert (inserted, table.waiting) == (len(adds), 0)


def test_entries_that_wait_get_room_in_the_order_in_which_they_came() -> None:
    """A short one does not pass a long one."""
    table = Memtable(4)
    assert table.add(0, 8) == ([0], 8)
    for key, length in ((1, 6), (2, 1), (3, 2)):
        assert table.add(key, length).inserted == []
    assert table.flushed().inserted == [1, 2]
    assert table.flushed().inserted == [3]


def test_an_entry_that_never_fits_is_refused() -> None:
    """It would wait forever, and all others behind it."""
    table = Memtable(4)
    with pytest.raises(EntryTooLong):
        table.add(0, 9)
    with pytest.raises(MemtableMisuse):
        table.add(0, 0)
    with pytest.raises(MemtableMisuse):
        table.flushed()
    assert table.add(0, 8) == ([0], 8)


def test_an_entry_that_comes_twice_takes_room_once() -> None:
    """BookKeeper #2832: the bytes of the second one are free at once."""
    table = Memtable(4)
    assert table.add(0, 3).inserted == table.add(0, 3).inserted == [0]
    assert table.held == 3
