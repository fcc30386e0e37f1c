"""The text's example system for asyncio, on the loopback interface: a master, workers, a monitor.

Clients submit jobs over TCP, one line each: a number, a blank, and a body. They get a line for
each: the number and ``done``, or the number and ``dropped``. Workers connect to another port, ask
by the line ``ask`` and how many jobs they have got, are given a line with a job's body, and say
``done``. Their measurements go to the monitor by UDP: a count, a sum and a maximum.

``Master`` and ``Worker`` decide which worker gets which job; a ``Stage`` for each client makes
lines of the bytes that come by TCP, and its credits decide whether anything is read; a ``Stage``
with a ``TokenBucket`` for each worker rolls up the measurements. This module carries the messages.
A function is called with each event: its kind, its client or worker, and its job.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from ..flow.bucket import TokenBucket
from ..flow.jobs import Happens, Job, Master, News, Worker
from ..flow.link import LinkMisuse
from ..flow.stages import Lines, Pumped, RolledUp, Stage

__all__ = ["ALWAYS_READS", "Event", "JobServer", "Metrics", "Monitor", "Summary", "Terms", "work"]

LOOPBACK: Final = "127.0.0.1"
SUMMARY: Final = struct.Struct(">IQQ")
CHUNK: Final = 1 << 12
LONGEST_JOB: Final = 1 << 13
ALWAYS_READS: Final = 0
"""A share of no size: a client may have any number of jobs in the queue."""


class Terms(NamedTuple):
    """``places`` in the master's queue, and how many of them one client may have, its ``share``."""

    places: int = 16
    share: int = 4


class Event(NamedTuple):
    """The kind of an event, its client or worker, and the client's job (or -1)."""

    what: str
    who: int
    job: int = -1


Told = Callable[[Event], object]


@dataclass
class _Client:
    stage: Stage[bytes, bytes]
    writer: asyncio.StreamWriter
    may_read: asyncio.Event = field(default_factory=asyncio.Event)


class JobServer:
    """The master; ``async with`` it, and connect to its two ports."""

    def __init__(self, terms: Terms, told: Told) -> None:
        self.terms: Final = terms
        self.master = Master(terms.places)
        self.client_port = self.worker_port = 0
        self.clients: dict[int, _Client] = {}
        self._told = told
        self._workers: dict[int, asyncio.StreamWriter] = {}
        self._names = itertools.count()
        self._inbox: deque[Callable[[], None]] = deque()
        self._is_busy = False
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> JobServer:
        self._servers = [await asyncio.start_server(serve, LOOPBACK, 0)
                         for serve in (self._serve_client, self._serve_worker)]
        self.client_port, self.worker_port = (
            int(server.sockets[0].getsockname()[1]) for server in self._servers)
        return self

    async def __aexit__(self, *raised: object) -> None:
        for server in self._servers:
            server.close()
        for client in self.clients.values():
            client.writer.transport.abort()
            client.may_read.set()
        for writer in self._workers.values():
            writer.transport.abort()
        if self._serving:
            await asyncio.wait(self._serving)

    # -- clients ------------------------------------------------------------------------------

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        name = self._begins()
        client = self.clients[name] = _Client(
            Stage(Lines(LONGEST_JOB), 1, 1, permits=self.terms.share or 1), writer)
        client.may_read.set()
        self._told(Event("client", name))
        try:
            await self._read_jobs(name, client, reader)
        except (ConnectionError, LinkMisuse, ValueError):
            pass    # a client that breaks the rules, or goes, is no longer one
        finally:
            self.clients.pop(name, None)
            writer.transport.abort()

    async def _read_jobs(
        self, name: int, client: _Client, reader: asyncio.StreamReader
    ) -> None:
        while True:
            if not client.may_read.is_set():
                self._told(Event("held back", name))
                await client.may_read.wait()
            # It does not read either from a client that leaves its answers unread.
            await client.writer.drain()
            chunk = await reader.read(CHUNK)
            if not chunk:
                return
            client.may_read.clear()
            self._do(partial(self._arrived, name, chunk))

    def _arrived(self, name: int, chunk: bytes) -> None:
        self._pumped(name, self.clients[name].stage.arrive(chunk))

    def _pumped(self, name: int, pumped: Pumped[bytes]) -> None:
        """There are jobs, and there may be room for another chunk."""
        if pumped.permits:
            self.clients[name].may_read.set()
        for line in pumped.elements:
            number, _, body = line.partition(b" ")
            job = Job(name, int(number), body)
            self._told(Event("submit", name, job.number))
            if self.terms.share == ALWAYS_READS:
                self._place(name)
            self._happens(self.master.submit(job))

    def _place(self, name: int) -> None:
        """A client may submit another job."""
        client = self.clients.get(name)
        if client is not None:
            self._inbox.append(lambda: self._pumped(name, client.stage.permit(1)))

    def _answer(self, job: Job, word: bytes) -> None:
        client = self.clients.get(job.client) if isinstance(job.client, int) else None
        if client is not None and not client.writer.is_closing():
            client.writer.write(b"%d %s\n" % (job.number, word))

    # -- workers ------------------------------------------------------------------------------

    async def _serve_worker(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        name = self._begins()
        self._workers[name] = writer
        self._told(Event("worker", name))
        try:
            while line := await reader.readline():
                word, _, number = line.strip().partition(b" ")
                self._do(partial(self._ask, name, int(number)) if word == b"ask"
                         else partial(self._done, name))
        except (ConnectionError, LinkMisuse, ValueError):
            pass    # nor is a worker one that does
        finally:
            del self._workers[name]
            self._do(lambda: self._happens(self.master.leave(name)))
            writer.transport.abort()

    def _ask(self, name: int, got: int) -> None:
        self._told(Event("ask", name, got))
        self._happens(self.master.ask(name, got))

    def _done(self, name: int) -> None:
        self._answer(self.master.done(name), b"done")
        self._told(Event("done", name))

    # -- what the master says, and what is done then ------------------------------------------

    def _happens(self, news: list[News]) -> None:
        for what, job, worker in news:
            assert isinstance(job.client, int)
            if what is Happens.LOST:
                self._told(Event("lost", job.client, job.number))
                self._answer(job, b"dropped")
                continue
            self._told(Event("leaves", job.client, job.number))
            if what is Happens.DROPPED:
                self._told(Event("drops", job.client, job.number))
                self._answer(job, b"dropped")
            elif isinstance(worker, int):
                self._told(Event("gives", worker, job.number))
                self._workers[worker].write(b"%s\n" % job.body)
            if self.terms.share != ALWAYS_READS:
                self._place(job.client)

    def _do(self, call: Callable[[], None]) -> None:
        """Do something, and what follows from it; what comes up meanwhile is done after."""
        self._inbox.append(call)
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._inbox:
                self._inbox.popleft()()
        finally:
            self._is_busy = False
        self._told(Event("rests", -1))

    def _begins(self) -> int:
        """A connection's name; its task ends when the server does."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return next(self._names)


# ---- workers, and what they measure ---------------------------------------------------------


class Summary(NamedTuple):
    """A number of values, their sum, and the largest of them."""

    values: int
    total: int
    largest: int


class Metrics:
    """The measurements of a worker, sent within its rate and rolled up if that is not enough."""

    def __init__(self, name: int, bucket: TokenBucket, send: Callable[[bytes], object],
                 told: Told) -> None:
        self.stage: Stage[int, Summary] = Stage(
            RolledUp(lambda value: Summary(1, value, value), _added), 1, 1, permits=bucket.depth)
        self._name, self._bucket, self._send, self._told = name, bucket, send, told

    def record(self, value: int) -> None:
        """A worker has measured something."""
        self._told(Event("measured", self._name, 1))
        self._go(self.stage.arrive(value))

    def tick(self) -> None:
        """Permits come by the clock."""
        self._told(Event("tick", self._name))
        if count := self._bucket.tick(self.stage.outlet.permits):
            self._go(self.stage.permit(count))

    def _go(self, pumped: Pumped[Summary]) -> None:
        for summary in pumped.elements:
            self._told(Event("summary", self._name, summary.values))
            self._send(SUMMARY.pack(*summary))


def _added(summary: Summary, value: int) -> Summary:
    return Summary(summary.values + 1, summary.total + value, max(summary.largest, value))


class Monitor(asyncio.DatagramProtocol):
    """The external monitor: it takes packets and says nothing."""

    def __init__(self) -> None:
        self.packets = 0
        self.values = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        """A summary has come."""
        self.packets += 1
        self.values += Summary(*SUMMARY.unpack(data)).values


async def work(port: int, metrics: Metrics, seconds: float, patience: float) -> None:
    """Run a worker with jobs that take ``seconds``; it asks again if no job comes in time."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    worker = Worker()
    try:
        while True:
            writer.write(b"ask %d\n" % worker.got)
            try:
                line = await asyncio.wait_for(reader.readline(), patience)
            except TimeoutError:
                continue
            if not line:
                return
            worker.take(line.strip())
            await asyncio.sleep(seconds)
            for value in worker.finish().split(b","):
                metrics.record(int(value))
            writer.write(b"done\n")
    finally:
        writer.transport.abort()
