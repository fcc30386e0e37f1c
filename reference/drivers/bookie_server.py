"""The reference server of ``bookkeeper`` over asyncio's streams: real channels, a disk, a clock.

Clients send *frames*: one byte for the kind (0: an add, 1: a read), the number of the request in
four bytes, a length in four bytes, and for an add so many bytes. Anything else ends the channel.
A response is the number, one byte (0: done, 1: too many requests), a length, and for a read so many
bytes. All of it is big-endian.

``Bookie`` decides which requests are admitted and when responses are sent; ``Memtable`` which adds
have space. This module reads and writes as they decide, and reports to both what has happened.
Nothing here waits for a permit, so that the loop that gives permits back never has to wait.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from ..bookkeeper.bookie import Bookie, Do, Effect, Kind, Limits
from ..bookkeeper.memtable import Memtable, Moved

__all__ = ["ADD", "READ", "REQUEST", "RESPONSE", "BookieServer", "Disk", "Peaks", "Terms"]

REQUEST: Final = struct.Struct(">BII")
RESPONSE: Final = struct.Struct(">IBI")
ADD: Final = 0
READ: Final = 1
DONE: Final = 0
TOO_MANY: Final = 1


class Terms(NamedTuple):
    """The settings of a server. Sizes are bytes, times seconds."""

    limits: Limits = Limits(adds=16, reads=16, pool=64)
    patience: int = 5               # ticks that a response waits, at most
    tick: float = 0.01
    closing: bool = False
    table: int = 1 << 16            # what is worth a flush
    high_water: int = 1 << 16       # a channel with more to send is not writable
    read_at_once: int = 1 << 12     # what is read from the network at once, at most
    threads: int = 4                # that read from disk


class Disk:
    """A disk with operations that take a while, and that can be stalled."""

    def __init__(self, seconds: float = 0.0005) -> None:
        self.seconds = seconds
        self._works = asyncio.Event()
        self._works.set()

    def stall(self) -> None:
        """From now on nothing is done with, until it is released."""
        self._works.clear()

    def release(self) -> None:
        """The disk works again."""
        self._works.set()

    async def access(self) -> None:
        """One write or read."""
        await asyncio.sleep(self.seconds)
        await self._works.wait()


@dataclass
class Peaks:
    """The maxima while a server ran, and counts of events."""

    adds: int = 0                   # in progress
    reads: int = 0
    held: int = 0                   # bytes in the memtable
    decoded: int = 0                # requests that were read and wait, over all channels
    unsent: int = 0                 # bytes that wait to be sent to one channel
    written: int = 0                # responses
    dropped: int = 0
    rejected: int = 0
    pauses: int = 0                 # of reading
    closed: int = 0                 # channels

    def see(self, **now: int) -> None:
        """Keep what is larger than before."""
        for name, value in now.items():
            setattr(self, name, max(getattr(self, name), value))


@dataclass
class _Request:
    channel: int
    kind: Kind
    number: int                     # the client's
    length: int
    payload: bytes


@dataclass
class _Channel:
    reader: asyncio.StreamReader
    transport: asyncio.Transport
    may_read: asyncio.Event = field(default_factory=asyncio.Event)
    rest: bytearray = field(default_factory=bytearray)


class _Protocol(asyncio.StreamReaderProtocol):
    """A stream that also reports when it is writable."""

    def __init__(self, server: BookieServer, reader: asyncio.StreamReader) -> None:
        super().__init__(reader, server._serve)
        self.turn: Callable[[bool], None] = lambda writable: None

    def pause_writing(self) -> None:
        super().pause_writing()
        self.turn(False)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.turn(True)


class BookieServer:
    """One server; ``async with`` it, and connect to ``port`` on the loopback interface."""

    def __init__(self, terms: Terms, disk: Disk) -> None:
        self.terms: Final = terms
        self.disk: Final = disk
        self.peaks = Peaks()
        self.bookie = Bookie(terms.limits, terms.patience, closing=terms.closing)
        self.memtable = Memtable(terms.table)
        self.port = 0
        self._channels: dict[int, _Channel] = {}
        self._requests: dict[int, _Request] = {}
        self._begun: dict[int, int] = {}        # those in progress, with what to answer
        self._waiting = 0
        self._numbers = itertools.count()
        self._names = itertools.count()
        self._journal: asyncio.Queue[int] = asyncio.Queue()
        self._wanted: asyncio.Queue[int] = asyncio.Queue()
        self._flushes: asyncio.Queue[int] = asyncio.Queue()
        self._told: deque[Callable[[], Iterable[Effect]]] = deque()
        self._busy = False
        self._tasks: list[asyncio.Task[None]] = []
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> BookieServer:
        loop = asyncio.get_running_loop()
        jobs = [self._tick(), self._write_journal(), self._flush(),
                *(self._read_entries() for _ in range(self.terms.threads))]
        self._tasks = [loop.create_task(job) for job in jobs]
        self._server = await loop.create_server(self._protocol, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for name in list(self._channels):
            self._hang_up(name)
        if self._serving:
            await asyncio.wait(self._serving)

    # -- the network --------------------------------------------------------------------------

    def _protocol(self) -> _Protocol:
        return _Protocol(self, asyncio.StreamReader(limit=self.terms.read_at_once))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One channel, from its first frame to its last."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        name = next(self._names)
        transport = writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=self.terms.high_water)
        # What the kernel takes is not seen: the less of it, the sooner a slow client shows.
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, self.terms.high_water)
        channel = self._channels[name] = _Channel(reader, transport)
        channel.may_read.set()
        self.bookie.connect(name)
        protocol = transport.get_protocol()
        assert isinstance(protocol, _Protocol)
        protocol.turn = lambda writable: self._tell(
            lambda: self.bookie.turn(name, writable), about=name)
        with suppress(ConnectionError):
            await self._read_frames(name, channel)
        self._hang_up(name)

    async def _read_frames(self, name: int, channel: _Channel) -> None:
        while True:
            await channel.may_read.wait()
            data = await channel.reader.read(self.terms.read_at_once)
            if not data or name not in self._channels:
                return
            channel.rest += data
            batch = [(next(self._numbers), request) for request in self._decode(name, channel)]
            self._requests.update(batch)
            self._waiting += len(batch)
            self.peaks.see(decoded=self._waiting)
            kinds = [(number, request.kind) for number, request in batch]
            self._tell(partial(self.bookie.receive, name, kinds), about=name)

    def _decode(self, name: int, channel: _Channel) -> Iterator[_Request]:
        """The frames that are complete. Raises ``ConnectionError`` for what is none: another kind,
        or an entry that is longer than all the space in the memtable."""
        rest = channel.rest
        while len(rest) >= REQUEST.size:
            kind, number, length = REQUEST.unpack_from(rest)
            if kind not in (ADD, READ) or length > 2 * self.terms.table:
                raise ConnectionError("this is no request")
            end = REQUEST.size + (length if kind == ADD else 0)
            if len(rest) < end:
                return
            payload = bytes(rest[REQUEST.size:end])
            del rest[:end]
            yield _Request(name, Kind.ADD if kind == ADD else Kind.READ, number, length, payload)

    def _send(self, request: _Request, status: int) -> None:
        channel = self._channels.get(request.channel)
        if channel is None:
            return
        body = b"\0" * request.length if request.kind is Kind.READ and status == DONE else b""
        channel.transport.write(RESPONSE.pack(request.number, status, len(body)) + body)
        self.peaks.see(unsent=channel.transport.get_write_buffer_size())

    def _hang_up(self, name: int) -> None:
        self._tell(partial(self.bookie.hang_up, name), about=name)
        self._forget(name)

    def _forget(self, name: int) -> None:
        if channel := self._channels.pop(name, None):
            channel.may_read.set()
            channel.transport.abort()
        gone = [number for number, request in self._requests.items()
                if request.channel == name and number not in self._begun]
        for number in gone:
            del self._requests[number]
        self._waiting -= len(gone)

    # -- what the server says, and what is done then --------------------------------------------

    def _tell(self, call: Callable[[], Iterable[Effect]], about: int | None = None) -> None:
        """Call the server's core, and carry out its answer; calls that come meanwhile follow."""
        self._told.append(
            lambda: call() if about is None or about in self._channels else ())
        if self._busy:
            return
        self._busy = True
        try:
            while self._told:
                for effect in self._told.popleft()():
                    self._do(effect)
        finally:
            self._busy = False

    def _do(self, effect: Effect) -> None:
        do, number = effect
        if do is Do.PAUSE:
            self.peaks.pauses += 1
            self._channels[number].may_read.clear()
        elif do is Do.RESUME:
            self._channels[number].may_read.set()
        elif do is Do.CLOSE:
            self.peaks.closed += 1
            self._forget(number)
        elif do in (Do.START, Do.REJECT):
            self._begin(number, do)
        else:
            self._end(number, do)

    def _begin(self, number: int, do: Do) -> None:
        request = self._requests[number]
        self._waiting -= 1
        self._begun[number] = TOO_MANY if do is Do.REJECT else DONE
        kinds = [self._requests[each].kind for each in self._begun]
        self.peaks.see(adds=kinds.count(Kind.ADD), reads=kinds.count(Kind.READ))
        if do is Do.REJECT:
            self.peaks.rejected += 1
        elif request.kind is Kind.READ:
            self._wanted.put_nowait(number)
        else:
            self._add(number, request)

    def _end(self, number: int, do: Do) -> None:
        request, status = self._requests.pop(number), self._begun.pop(number)
        if do is Do.WRITE:
            self.peaks.written += 1
            self._send(request, status)
        else:
            self.peaks.dropped += 1

    # -- storage ------------------------------------------------------------------------------

    def _add(self, number: int, request: _Request) -> None:
        self._moved(self.memtable.add(number, max(1, request.length)))

    def _moved(self, moved: Moved) -> None:
        self.peaks.see(held=self.memtable.held)
        for number in moved.inserted:
            self._journal.put_nowait(number)
        if moved.flush:
            self._flushes.put_nowait(moved.flush)

    async def _write_journal(self) -> None:
        """All that has come meanwhile is one write."""
        while True:
            group = [await self._journal.get()]
            while not self._journal.empty():
                group.append(self._journal.get_nowait())
            await self.disk.access()
            for number in group:
                self._tell(partial(self.bookie.done, number))

    async def _read_entries(self) -> None:
        while True:
            number = await self._wanted.get()
            await self.disk.access()
            self._tell(partial(self.bookie.done, number))

    async def _flush(self) -> None:
        while True:
            await self._flushes.get()
            await self.disk.access()
            self._moved(self.memtable.flushed())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.terms.tick)
            self._tell(self.bookie.tick)
