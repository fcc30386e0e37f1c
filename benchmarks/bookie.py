"""A real server with clients that are slow or never read, and a disk that stalls: what it holds.

    python -m benchmarks.bookie [--adds 4000]

A slow client reads large entries and takes them in small bites; a silent one asks for them and
never reads. Once responses were dropped, the disk stalls, and steady clients add entries, each
eight at a time, until as many adds are in progress as may be, and a while longer. Then the disk
works again. The program prints what was largest meanwhile beside what it may be, and how long a
steady client waited for an answer at most.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import time
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from checkvalve.reference.bookkeeper.bookie import Kind, Limits
from checkvalve.reference.drivers.bookie_server import (
    ADD, READ, REQUEST, RESPONSE, BookieServer, Disk, Peaks, Terms,
)

__all__ = ["TERMS", "Measured", "measure"]

TERMS: Final = Terms(
    limits=Limits(adds=16, reads=16, pool=64), patience=3, tick=0.01, table=1 << 15,
    high_water=1 << 15)
ADDERS: Final = 3
WINDOW: Final = 8
ENTRY: Final = 1 << 10
LARGE: Final = 1 << 14


@dataclass
class Measured:
    """What a run has shown. Times are seconds."""

    terms: Terms
    peaks: Peaks
    adds: int                       # that were answered
    slow_reads: int                 # that the slow client has got
    seconds: float
    stalled: float                  # of these, how long the disk was stalled
    worst: float                    # the longest that the steady client waited for an answer

    def rows(self) -> list[tuple[str, int, int]]:
        """What there was at most, and what there may be."""
        terms, channels = self.terms, ADDERS + 2
        return [
            ("adds in progress", self.peaks.adds, terms.limits.adds),
            ("reads in progress", self.peaks.reads, terms.limits.reads),
            ("bytes in the memtable", self.peaks.held, 2 * terms.table),
            ("requests read and not started", self.peaks.decoded,
             channels * (terms.read_at_once // REQUEST.size + 1)),
            ("bytes to be sent to one channel", self.peaks.unsent,
             terms.high_water + terms.limits.reads * (LARGE + RESPONSE.size)),
        ]


@asynccontextmanager
async def _client(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client that has little room for what it does not read."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
    made.setblocking(False)
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=made, limit=1 << 14)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> int:
    number, _, length = RESPONSE.unpack(await reader.readexactly(RESPONSE.size))
    await reader.readexactly(length)
    return int(number)


async def _steady(port: int, count: int) -> float:
    """Adds so many entries; the longest time until one was answered."""
    begun: dict[int, float] = {}
    worst = 0.0
    async with _client(port) as (reader, writer):
        for number in range(count + WINDOW):
            if number >= WINDOW:
                answered = await _answer(reader)
                worst = max(worst, time.perf_counter() - begun.pop(answered))
            if number < count:
                begun[number] = time.perf_counter()
                writer.write(REQUEST.pack(ADD, number, ENTRY) + os.urandom(ENTRY))
                await writer.drain()
    return worst


async def _slow(port: int, got: list[int]) -> None:
    """Asks for large entries one by one, and takes a millisecond for each kilobyte."""
    async with _client(port) as (reader, writer):
        for number in itertools.count():
            writer.write(REQUEST.pack(READ, number, LARGE))
            await writer.drain()
            left = RESPONSE.size + LARGE
            while left:
                left -= len(await reader.read(min(left, 1 << 10)))
                await asyncio.sleep(0.001)
            got.append(number)


async def _silent(port: int) -> None:
    """Asks for large entries as fast as it can, and never reads."""
    async with _client(port) as (_, writer):
        for number in itertools.count():
            writer.write(REQUEST.pack(READ, number, LARGE))
            await writer.drain()
            await asyncio.sleep(0)


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.002)


async def _run(terms: Terms, adds: int, stall: float) -> Measured:
    got: list[int] = []
    disk = Disk()
    async with BookieServer(terms, disk) as server:
        loop = asyncio.get_running_loop()
        others = [loop.create_task(_slow(server.port, got)),
                  loop.create_task(_silent(server.port))]
        begun = time.perf_counter()
        await _until(lambda: server.peaks.dropped >= terms.limits.reads)
        disk.stall()
        stalled = time.perf_counter()
        steady = [loop.create_task(_steady(server.port, adds // ADDERS)) for _ in range(ADDERS)]
        await _until(lambda: server.bookie.in_progress(Kind.ADD) == terms.limits.adds)
        await asyncio.sleep(stall)
        disk.release()
        stalled = time.perf_counter() - stalled
        worst = max(await asyncio.gather(*steady))
        seconds = time.perf_counter() - begun
        for task in others:
            task.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await task
        return Measured(terms, server.peaks, adds // ADDERS * ADDERS, len(got), seconds, stalled,
                        worst)


def measure(adds: int = 4000, stall: float = 0.5, terms: Terms = TERMS) -> Measured:
    """Run the server and its clients until the steady ones have added so many entries."""
    return asyncio.run(_run(terms, adds, stall))


def main() -> None:
    """Run it once with what the command line says, and show the figures."""
    parser = ArgumentParser(description=__doc__, prog="make bookie")
    parser.add_argument("--adds", type=int, default=12000)
    parser.add_argument("--stall", type=float, default=0.5)
    given = parser.parse_args()
    measured = measure(given.adds, given.stall)
    print(f"{'':34}{'at most':>10}{'may be':>10}")
    for name, peak, limit in measured.rows():
        print(f"{name:34}{peak:10,}{limit:10,}")
    peaks = measured.peaks
    print(f"responses written {peaks.written:,}, dropped {peaks.dropped:,}, "
          f"rejected {peaks.rejected:,}; reading stopped {peaks.pauses:,} times")
    print(f"{measured.adds:,} adds in {measured.seconds:.2f} s, of which the disk stalled "
          f"{measured.stalled:.2f} s; the longest wait {measured.worst:.2f} s; the slow client got "
          f"{measured.slow_reads:,} entries")


if __name__ == "__main__":
    main()
