"""The reference of stages and chains: what stays true of each link, and of what comes out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.drivers.flow_streams import (
    DATA, HEAD, Channel, received, relay, send_all,
)
from checkvalve.reference.drivers.virtual_chain import VirtualChain
from checkvalve.reference.flow.chains import Chain, Down, Up, Window
from checkvalve.reference.flow.link import LinkMisuse
from checkvalve.reference.flow.stages import Each, Groups, Lines, RolledUp, Spread, Stage
from checkvalve.spec.engines.monitor import Monitor
from checkvalve.spec.flow.observed_link import ObservedLink
from checkvalve.spec.notation import bind

HELLO = [
    ([b"Hell", b"o Worl", b"d!\n"], [b"Hello World!"]),
    ([b"Hello World!\n Hello Akka\n"], [b"Hello World!", b" Hello Akka"]),
    ([b"Hello W", b"orld!\n Hello Akka!\n Hello Typesafe!\n"],
     [b"Hello World!", b" Hello Akka!", b" Hello Typesafe!"]),
]
"""The text's own three cases: several to one, one to several, and other frames."""


class Watched:
    """The observers of all links of a chain, each of which sees what goes by its link."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.monitors = [
            Monitor(bind(ObservedLink, C=window.capacity, b=window.batch, K=2))
            for window in chain.windows]
        self.arrived: Counter[int] = Counter()
        self.freed: Counter[int] = Counter()

    def told(self, what: str, about: Any) -> None:
        """Something was offered, sent, delivered or consumed, or all ends rest."""
        if what == "offered":
            self._see(0, ("offer", (("count", 1),)))
        elif what == "rests":
            for link in range(len(self.monitors)):
                self._free(link)
                self._see(link, ("receiver_rests", ()), ("sender_rests", ()))
        elif what == "sent" and isinstance(about, Down):
            if about.link:
                self._see(about.link, ("offer", (("count", 1),)))
            self._see(about.link, ("sends", ()))
        elif what == "sent":
            self._free(about.link)
            self._see(about.link, ("grants", (("count", about.permits),)))
        elif what == "delivered" and isinstance(about, Down):
            self.arrived[about.link] += 1
            self._see(about.link, ("data", ()))
        elif what == "delivered":
            self._see(about.link, ("permit", (("count", about.permits),)))

    def _free(self, link: int) -> None:
        """Note as processed what is no longer in a buffer."""
        ends = [*(stage.inlet for stage in self.chain.stages), self.chain.sink]
        gone = self.arrived[link] - len(ends[link]) - self.freed[link]
        self.freed[link] += gone
        self._see(link, *[("processes", ())] * gone)

    def _see(self, link: int, *steps: Any) -> None:
        for step in steps:
            failure = self.monitors[link].observe([step])
            assert failure is None, (link, step, failure)


WINDOW = st.integers(1, 4).flatmap(lambda c: st.builds(Window, st.just(c), st.integers(1, c)))


def transforms(sizes: list[int]) -> list[Any]:
    """A stage for each number: by its remainder, one of one, several of one, or one of several."""
    made: list[Any] = []
    for size in sizes:
        many = 1 + size // 3
        made.append([Each(lambda x: x), Spread(lambda x, n=many: [x] * n), Groups(many)][size % 3])
    return made


@given(st.lists(st.integers(0, 11), max_size=4), st.integers(0, 30), st.data())
def test_each_link_of_a_chain_keeps_its_own_rules(
    sizes: list[int], count: int, data: st.DataObject
) -> None:
    """Whatever the stages make of elements, and whatever the other links' windows are."""
    windows = data.draw(st.lists(WINDOW, min_size=len(sizes) + 1, max_size=len(sizes) + 1))
    random = Random(data.draw(st.integers(0, 99)))
    chain = Chain(transforms(sizes), windows)
    watched = Watched(chain)
    run = VirtualChain(chain, lambda: random.randint(1, 4), lambda: random.randint(1, 4),
                       watched.told)
    found = run.run(range(count))
    per_input = 1.0
    for size in sizes:
        many = 1 + size // 3
        per_input *= (1, many, 1 / many)[size % 3]
    assert len(found) <= count * per_input + 1e-9
    assert not chain.waiting or any(size % 3 == 2 for size in sizes)
    assert chain.source.waiting == 0 and len(chain.sink) == 0
    assert run.most_waiting <= sum(window.capacity for window in windows)


@pytest.mark.parametrize(("chunks", "lines"), HELLO)
@pytest.mark.parametrize("window", [Window(1, 1), Window(2, 2), Window(4, 2)])
def test_the_texts_three_cases_of_frames_come_out(
    chunks: list[bytes], lines: list[bytes], window: Window
) -> None:
    """In front of a stage with a buffer of one, and of larger ones."""
    chain = Chain([Lines()], [window, Window(1, 1)])
    assert VirtualChain(chain, lambda: 2, lambda: 3).run(chunks) == lines


@pytest.mark.parametrize(("capacity", "batch", "each"), [(1, 1, 5), (4, 4, 2), (4, 2, 1.5)])
def test_a_permit_under_way_costs_what_its_schedule_says(
    capacity: int, batch: int, each: float
) -> None:
    """Two instants either way and one of work: stop-and-wait pays a round trip for each element, a
    full batch one for every four, and batches that overlap less."""
    run = VirtualChain(Chain([], [Window(capacity, batch)]), lambda: 2, lambda: 1)
    assert run.run(range(200)) == list(range(200))
    assert each <= run.now / 200 < each + 0.1


@pytest.mark.parametrize("delay", [1, 2])
@pytest.mark.parametrize("work", [1, 2])
def test_a_sink_never_waits_exactly_where_what_is_left_covers_the_round_trip(
    delay: int, work: int
) -> None:
    """While a batch of permits is under way the others have to last: work (C - b) >= 2 delay."""
    for capacity, batch in [(c, b) for c in range(1, 7) for b in range(1, c + 1)]:
        run = VirtualChain(Chain([], [Window(capacity, batch)]), lambda: delay, lambda: work)
        run.run(range(60))
        keeps_up = run.now <= 60 * work + 4 * delay
        assert keeps_up == (work * (capacity - batch) >= 2 * delay), (capacity, batch)


def test_what_is_rolled_up_is_counted_and_never_holds_anybody_up() -> None:
    """Its source may always send: what cannot go is one summary."""
    stage: Stage[int, int] = Stage(RolledUp(lambda x: x, lambda s, x: s + x), 1, 1, permits=1)
    outputs = [stage.arrive(1) for _ in range(10)]
    assert all(each.permits == [1] for each in outputs)
    assert [each for pumped in outputs for each in pumped.elements] == [1]
    assert stage.permit(1).elements == [9]


def test_a_batch_that_has_to_wait_grows_up_to_its_size_and_then_holds_up() -> None:
    """One element goes at once; the next three wait together, and the fifth in the buffer."""
    stage: Stage[int, list[int]] = Stage(Groups(3, whole=False), 1, 1, permits=1)
    outputs = [stage.arrive(number) for number in range(5)]
    assert [each.permits for each in outputs] == [[1], [1], [1], [1], []]
    assert outputs[0].elements == [[0]]
    again = stage.permit(1)
    assert (again.elements, again.permits) == ([[1, 2, 3]], [1])


def test_outputs_are_made_when_they_can_go() -> None:
    """One element of which a million are made costs no room."""
    made: list[int] = []

    def many(element: int) -> Iterator[int]:
        for number in range(10 ** 6):
            made.append(number)
            yield number
    stage: Stage[int, int] = Stage(Spread(many), 2, 1, permits=3)
    assert stage.arrive(0).elements == [0, 1, 2]
    assert len(made) <= 4


def test_a_line_without_an_end_is_refused() -> None:
    """A sender cannot make a stage hold more than the longest line."""
    stage: Stage[bytes, bytes] = Stage(Lines(longest=10), 4, 1, permits=1)
    stage.arrive(b"x" * 10)
    with pytest.raises(LinkMisuse, match="no end"):
        stage.arrive(b"x")


def test_a_line_has_room_for_a_byte_at_least() -> None:
    """One is enough for a sender of letters."""
    stage: Stage[bytes, bytes] = Stage(Lines(longest=1), 4, 1, permits=1)
    assert stage.arrive(b"x\n").elements == [b"x"]
    with pytest.raises(LinkMisuse, match="the length of a line"):
        Lines(longest=0)


def test_a_chain_has_a_window_for_each_link() -> None:
    """One more than stages."""
    with pytest.raises(LinkMisuse, match="1 stages stand between 2 links"):
        Chain([Each(lambda x: x)], [Window()])


def test_a_message_of_a_chain_says_which_way_it_goes() -> None:
    """Elements down, permits up, on the link between two neighbours."""
    chain = Chain([Each(lambda x: -x)], [Window(1, 1), Window(2, 1)])
    assert chain.offer([5, 6]) == [Down(0, 5)]
    assert chain.deliver(Down(0, 5)) == [Up(0, 1), Down(1, -5)]
    assert chain.deliver(Up(0, 1)) == [Down(0, 6)]
    assert chain.deliver(Down(1, -5)) == []
    assert chain.consume() == (-5, [Up(1, 1)])


# --- over connections ------------------------------------------------------------------------


async def over_connections(chunks: list[bytes], window: Window) -> tuple[list[bytes], int]:
    """A source, a stage that cuts lines, and a sink, each two joined by a connection: what comes
    out, and how many tasks are left."""
    loop = asyncio.get_running_loop()
    stage_above, sink = loop.create_future(), loop.create_future()

    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def collected() -> list[bytes]:
        return [line async for line in received(Channel(*await sink), Window(1, 1))]

    async with (await asyncio.start_server(_answered(stage_above), "127.0.0.1", 0) as above,
                await asyncio.start_server(_answered(sink), "127.0.0.1", 0) as below):
        first = Channel(*await asyncio.open_connection("127.0.0.1", port_of(above)))
        stage_below = Channel(*await asyncio.open_connection("127.0.0.1", port_of(below)))
        _, _, found = await asyncio.gather(
            send_all(source(), first),
            relay(Lines(), Channel(*await stage_above), window, stage_below), collected())
    return found, len(asyncio.all_tasks())


def _answered(streams: asyncio.Future[Any]) -> Any:
    """A server's callback that gives its connection to a waiting test."""
    return lambda reader, writer: streams.set_result((reader, writer))


def port_of(server: asyncio.Server) -> int:
    """The port on which a server listens."""
    return int(server.sockets[0].getsockname()[1])


@pytest.mark.parametrize("window", [Window(1, 1), Window(4, 2)])
def test_a_chain_over_connections_makes_the_same(window: Window) -> None:
    """Two links over TCP, with a stage between them."""
    chunks = [chunk for case, _ in HELLO for chunk in case] * 20
    lines = [line for _, case in HELLO for line in case] * 20
    assert asyncio.run(over_connections(chunks, window)) == (lines, 1)


async def overrunning() -> None:
    """A peer sends three elements for one permit."""
    accepted = asyncio.get_running_loop().create_future()
    async with await asyncio.start_server(_answered(accepted), "127.0.0.1", 0) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        writer.write((HEAD.pack(DATA, 1) + b"x") * 3)
        try:
            async for _ in received(Channel(*await accepted), Window(1, 1)):
                pass
        finally:
            writer.close()
            await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])


def test_a_peer_that_sends_without_a_permit_is_found_out() -> None:
    """Its receiver has one slot, and says so."""
    with pytest.raises(LinkMisuse, match="no slot of 1"):
        asyncio.run(overrunning())


async def deserted() -> None:
    """A receiver that goes away before it has granted anything."""
    accepted = asyncio.get_running_loop().create_future()

    async def source() -> AsyncIterator[bytes]:
        yield b"x"

    async with await asyncio.start_server(_answered(accepted), "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        _, other = await accepted
        other.close()
        try:
            await send_all(source(), Channel(reader, writer))
        finally:
            writer.close()


def test_a_sender_whose_receiver_goes_away_says_so() -> None:
    """It waits for no permit that cannot come any more."""
    with pytest.raises(ConnectionError, match="has gone"):
        asyncio.run(deserted())
