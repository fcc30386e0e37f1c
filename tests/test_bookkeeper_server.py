"""The reference server for real: clients that do not read, and a disk that stalls."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.bookie import ADDERS, TERMS, WINDOW, Measured, measure
from checkvalve.reference.bookkeeper.bookie import Do, Effect, Limits
from checkvalve.reference.drivers.bookie_server import (
    DONE, READ, REQUEST, RESPONSE, TOO_MANY, BookieServer, Disk, Peaks, Terms,
)


@pytest.fixture(scope="module")
def measured() -> Measured:
    """A short run; it ends when all entries were added."""
    return measure(adds=ADDERS * 60, stall=0.01)


def test_nothing_ever_exceeds_its_bound(measured: Measured) -> None:
    """Requests in progress, bytes in memory, requests read, bytes to be sent."""
    assert [row for row in measured.rows() if row[1] > row[2]] == []


def test_a_stalled_disk_holds_as_many_adds_as_the_limit(measured: Measured) -> None:
    """There were more to come, and they stayed with their clients."""
    assert ADDERS * WINDOW > TERMS.limits.adds
    assert measured.peaks.adds == TERMS.limits.adds


def test_a_client_that_never_reads_keeps_no_response_waiting(measured: Measured) -> None:
    """Its responses are dropped, and the others' adds are answered all the same."""
    assert measured.peaks.dropped >= TERMS.limits.reads
    assert measured.peaks.written >= measured.adds


async def two_reads_for_one_place() -> tuple[list[tuple[int, int]], Peaks, int]:
    """A client asks for two entries while the disk stalls, and storage takes one: the answers in
    their order, the server's figures, and how many tasks it leaves behind."""
    disk = Disk()
    disk.stall()
    async with BookieServer(Terms(Limits(adds=1, reads=2, pool=1)), disk) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(REQUEST.pack(READ, 0, 3) + REQUEST.pack(READ, 1, 3))
        answers = []
        for _ in range(2):
            number, status, length = RESPONSE.unpack(await reader.readexactly(RESPONSE.size))
            await reader.readexactly(length)
            answers.append((number, status))
            disk.release()
    left = len(asyncio.all_tasks()) - 1
    writer.close()
    return answers, server.peaks, left


def test_a_request_that_storage_has_no_place_for_is_refused_at_once() -> None:
    """While the one before it waits for the disk; and a server that was left has no task left."""
    answers, peaks, left = asyncio.run(two_reads_for_one_place())
    assert answers == [(1, TOO_MANY), (0, DONE)]
    assert (peaks.reads, peaks.rejected, peaks.written, left) == (2, 1, 2, 0)


def test_what_comes_up_while_the_server_is_told_something_is_told_after_it(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """So a response that fills a connection does not turn its server in the midst of a batch."""
    server = BookieServer(TERMS, Disk())
    told: list[object] = []

    def done(effect: Effect) -> None:
        told.append(effect)
        if effect == Effect(Do.PAUSE, 0):
            server._tell(lambda: [Effect(Do.RESUME, 0)])

    monkeypatch.setattr(server, "_do", done)
    server._tell(lambda: [Effect(Do.PAUSE, 0), Effect(Do.CLOSE, 1)])
    assert told == [Effect(Do.PAUSE, 0), Effect(Do.CLOSE, 1), Effect(Do.RESUME, 0)]
