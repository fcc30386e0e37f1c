"""The same workers for real: processes that communicate over TCP on the loopback interface.

``python -m checkvalve.reference.drivers.tcp NUMBER`` is one worker process. It prints the port on
which it listens (a second argument asks for a certain one), reads one line of JSON that says
what to do and where the others listen, runs, and prints one line of JSON with its measurements.
``measure`` starts two of them; ``tcp_faults`` does, and lets something go wrong.

Every frame is four bytes of length, big endian, and a text in JSON: tuples one way, statuses
the other. Within a process all tasks run on one thread and one event loop, by turns; the
connections take tuples when the kernel does, so tuples that a slow worker does not read stop its
sender. The clock of halt-lags is the machine's monotonic one, which all processes share.

A connection that breaks is made again, for as long as the run lasts. A worker that has to
keep a book writes every event into it at once, so that it survives the worker; it then ends in
order: each says that it has nothing more to send, and continues until all others have said so.

A worker stops when the source is exhausted and acked, at its deadline, or as soon as its
standard input closes: if the parent ends in any way, no process is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, Final, TextIO

from ..storm.executor import Log, SpoutTask
from ..storm.messages import Kind, Message
from ..storm.status import Sent, Status
from ..storm.topologies import TOPOLOGIES, deploy
from ..storm.worker import Place, Settings, Worker, name_of

__all__ = ["GRACE_SECONDS", "Measured", "WorkerFailed", "WorkerProcess", "main", "measure"]

LENGTH_BYTES: Final = 4
FRAME_BYTES_MAX: Final = 1 << 24
CHECK_SECONDS: Final = 0.02
TICK_SECONDS: Final = 30.0
"""Storm's message timeout."""
GRACE_SECONDS: Final = 3.0
RECONNECT_SECONDS: Final = 0.05
FLUSH_SECONDS: Final = 0.001
"""Storm's ``topology.flush.tuple.freq.millis``, where there are batches."""
SLEEP_NANOSECONDS_MIN: Final = 1_000_000
"""Shortest time in nanoseconds that an event loop sleeps."""


class WorkerFailed(RuntimeError):
    """A worker process died, said something else than was expected, or was late."""


def _frame(what: str, body: Any) -> bytes:
    text = json.dumps([what, body], separators=(",", ":")).encode()
    return len(text).to_bytes(LENGTH_BYTES, "big") + text


async def _read_frame(reader: asyncio.StreamReader) -> tuple[str, Any]:
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if length > FRAME_BYTES_MAX:
        raise WorkerFailed(f"a frame of {length} bytes: the stream is out of step")
    what, body = json.loads(await reader.readexactly(length))
    return what, body


def _to_wire(message: Message) -> list[Any]:
    kind, *rest = message
    return [kind.value, *rest]


def _from_wire(row: list[Any]) -> Message:
    kind, sender, life, to, number, value, anchors = row
    return Message(Kind(kind), sender, life, to, number, tuple(value),
                   tuple((root, edge) for root, edge in anchors))


class HaltLag:
    """For each episode in which a task was blocked: how long after the receiver had sent ON
    the sender still wrote tuples for it (seconds; 0 if it had nothing left to write)."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._on_sent: dict[int, float] = {}
        self._last_write: dict[int, float] = {}

    def wrote(self, messages: Iterable[Message]) -> None:
        """Tuples went to the socket."""
        now = time.monotonic()
        for message in messages:
            self._last_write[message.to] = now

    def heard(self, status: Status, sent_at: float) -> None:
        """A status was heard that its worker had sent at an instant."""
        for task in status.blocked:
            self._on_sent.setdefault(task, sent_at)
        for task in status.free & self._on_sent.keys():
            on_sent = self._on_sent.pop(task)
            self.seconds.append(max(0.0, self._last_write.get(task, on_sent) - on_sent))


class TcpWorker:
    """One worker process: a ``Worker`` with its connections. It has a task, for each worker has
    an acker."""

    def __init__(self, number: int, order: Mapping[str, Any]) -> None:
        topology = TOPOLOGIES[order["topology"]]
        self.peers: dict[int, int] = {
            int(peer): port for peer, port in order["ports"].items() if int(peer) != number}
        self.log = Log(order["messages"])
        self.counts: dict[str, int] = {}
        # Line by line, so that a worker that is killed has written all that it did.
        self._book: TextIO | None = open(order["book"], "a", buffering=1) if (  # noqa: SIM115
            "book" in order) else None
        self.worker = Worker(
            topology, Place(number, order.get("life", 0), deploy(topology, len(order["ports"]))),
            Settings(**order["settings"]), self.log, Random(number), record=self._record,
            now=_milliseconds if self._book else lambda: 0)
        self._record("began", number, order.get("life", 0))
        self.lag = HaltLag()
        self.seconds: float = order["seconds"]
        self.deadline: float = time.monotonic() + self.seconds
        self.slow: float = order["slow_seconds"]
        self._tick_seconds: float = order.get("tick_seconds", TICK_SECONDS)
        self._cut_after: int = order.get("cut_after", 0)    # tuples written; 0: no cut
        self._written = 0
        self._out: dict[int, asyncio.StreamWriter] = {}
        self._way: dict[int, str] = {}      # the name of each connection that leads out
        self._in: dict[str, asyncio.StreamWriter] = {}
        self._ended: set[int] = set()       # workers that have nothing more to send
        self._has_ended = False
        self.ready = asyncio.Event()
        self.stopped = asyncio.Event()

    def _record(self, what: str, *about: int | str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
        if self._book is not None:
            print(time.monotonic_ns(), what, *about, file=self._book)

    def _record_each(self, what: str, way: str, messages: Iterable[Message]) -> None:
        """Record in the book the messages that went into a connection or came out of it."""
        if self._book is not None:
            for each in messages:
                self._record(what, way, each.sender, each.life, each.to, each.number)

    # -- connections --------------------------------------------------------------------------

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A sender has connected: tuples come in, statuses go out."""
        peer = -1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            _, (peer, way) = await _read_frame(reader)
            self._forget(peer)      # a connection before this one, of which no end was seen
            self._in[name_of(peer)] = writer
            self.tell(self.worker.connect(peer))
            if self.stopped.is_set():
                writer.write(_frame("stop", None))
            while True:
                what, rows = await _read_frame(reader)
                if what == "end":
                    self._ended.add(peer)
                    continue
                messages = [_from_wire(row) for row in rows]
                self._record_each("got", way, messages)
                self.tell(self.worker.receive(messages))
        if self._in.get(name_of(peer)) is writer:
            self._forget(peer)
        writer.close()

    def _forget(self, peer: int) -> None:
        if self._in.pop(name_of(peer), None) is not None:
            self.worker.disconnect(peer)

    async def reach(self, peer: int) -> None:
        """Stay connected to another worker: tuples go out, statuses come in."""
        while not self.stopped.is_set() or not self._has_ended:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._reach(peer)
            self._leave(peer)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _reach(self, peer: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.peers[peer])
        place = self.worker.place
        way = f"{place.number}.{place.life}-{peer}-{time.monotonic_ns()}"
        writer.write(_frame("hello", [place.number, way]))
        self._out[peer], self._way[peer] = writer, way
        self.worker.reach(peer)
        if len(self.worker.connected) == len(self.peers):
            self.ready.set()
        while True:
            what, body = await _read_frame(reader)
            if what == "stop":
                self.stopped.set()
                continue
            status = Status(body["worker"], body["incarnation"], body["number"],
                            frozenset(body["blocked"]), frozenset(body["free"]))
            self.worker.hear(status)
            self.lag.heard(status, body["sent_at"])

    def _leave(self, peer: int) -> None:
        """The connection to another worker is no more; what was in it is lost."""
        writer = self._out.pop(peer, None)
        if writer is not None:
            self.worker.cut_off(peer)
            self._record("broke", self._way[peer])
            writer.transport.abort()

    def tell(self, told: Iterable[Sent]) -> None:
        """Write statuses, without waiting for them to arrive."""
        for connection, status in told:
            body = asdict(status) | {"blocked": sorted(status.blocked),
                                     "free": sorted(status.free), "sent_at": time.monotonic()}
            self._in[connection].write(_frame("status", body))

    def is_writable(self, peer: int) -> bool:
        """True if the kernel took nearly all that was written before."""
        return self._out[peer].transport.get_write_buffer_size() < FRAME_BYTES_MAX >> 8

    # -- the loops ----------------------------------------------------------------------------

    async def turns(self) -> None:
        """All executors by turns, then the transfer thread; sleep where nothing happened.

        Not before every connection is there: what is sent without one is dropped.
        """
        if self.peers:
            await self.ready.wait()
        while not self.stopped.is_set() and time.monotonic() < self.deadline:
            await self._turn()
            if self.is_done():
                break
        self.stop_others()
        while self._book and not self._is_settled() and time.monotonic() < self.deadline:
            if len(self._out) == len(self.peers) and self.worker.is_empty():
                self._end()
            await self._turn()

    async def _turn(self) -> None:
        happened = self.worker.run_timer()
        waits = [task.wait(happened=task.call()) for task in self.worker.tasks.values()]
        happened = self.transfer() or happened
        if (happened or 0 in waits) and self.slow and self.worker.place.number:
            await asyncio.sleep(self.slow)
        else:
            # One thread has all turns, so it waits as the least patient of its tasks does.
            await asyncio.sleep(0 if happened else _sleep_of(min(waits)))

    def transfer(self) -> bool:
        """The transfer thread's turn."""
        sent = self.worker.drain(self.is_writable)
        for peer, messages in sent.items():
            self._record_each("sent", self._way[peer], messages)
            self._out[peer].write(_frame("tuples", [_to_wire(each) for each in messages]))
            self.lag.wrote(messages)
            self._written += len(messages)
            if 0 < self._cut_after <= self._written:
                self._cut_after = 0
                self._leave(peer)
        return bool(sent)

    def _end(self) -> None:
        """Say, once, that nothing more will be sent; what there is to send later is lost."""
        if not self._has_ended:
            self._has_ended = True
            for peer, writer in self._out.items():
                writer.write(_frame("end", None))
                self.worker.cut_off(peer)

    def _is_settled(self) -> bool:
        return self._has_ended and self._ended >= self.peers.keys() and self.worker.is_empty()

    def is_done(self) -> bool:
        """The spout is here, and everything was acked."""
        spouts = [task for task in self.worker.tasks.values() if isinstance(task, SpoutTask)]
        return bool(spouts) and all(spout.is_done() for spout in spouts)

    def stop_others(self) -> None:
        """Stop, and make the other workers stop."""
        self.stopped.set()
        for writer in self._in.values():
            writer.write(_frame("stop", None))

    def hang_up(self) -> None:
        """Close every connection, in both directions."""
        for writer in (*self._in.values(), *self._out.values()):
            writer.close()

    async def checks(self) -> None:
        """The backpressure-check-timer, and the ticks of the message timeout."""
        tick_at = time.monotonic() + self._tick_seconds
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.tell(self.worker.check())
            if time.monotonic() >= tick_at:
                tick_at += self._tick_seconds
                self.worker.tick()

    async def flushes(self) -> None:
        """The flush-tuple timer; without batches there is nothing to flush."""
        while self.worker.settings.batch > 1:
            await asyncio.sleep(FLUSH_SECONDS)
            self.worker.run_flush_timer()

    def result(self, seconds: float) -> dict[str, Any]:
        """The measurements of this worker."""
        sizes = [inbox.statistics() for inbox in self.worker.inputs.values()]
        return {
            "counts": self.counts, "halt_lags": self.lag.seconds, "seconds": seconds,
            "overflow_peak": max(each.overflowq_peak for each in sizes),
            "recvq_peak": max(each.recvq_peak for each in sizes),
            "dropped": sum(each.dropped for each in sizes), "done": self.is_done(),
            "settled": self._is_settled(),
        }


def _sleep_of(nanoseconds: int) -> float:
    """The seconds to sleep; what is shorter than an event loop can sleep is a mere yield."""
    return nanoseconds / 1e9 if nanoseconds >= SLEEP_NANOSECONDS_MIN else 0


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


async def _serve(number: int, port: int = 0) -> dict[str, Any]:
    """One worker, from its first line to its last."""
    ordered: asyncio.Future[TcpWorker] = asyncio.get_running_loop().create_future()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A worker that connects before our own order has come waits here.
        await (await asyncio.shield(ordered)).accept(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    worker = TcpWorker(number, json.loads(await stdin.readline()))
    ordered.set_result(worker)
    others = [asyncio.create_task(worker.reach(peer)) for peer in worker.peers]
    others += [asyncio.create_task(worker.checks()), asyncio.create_task(worker.flushes())]
    turns = asyncio.create_task(asyncio.wait_for(worker.turns(), worker.seconds + 1))
    orphaned = asyncio.create_task(stdin.read())
    begun = time.monotonic()
    await asyncio.wait([turns, orphaned], return_when=asyncio.FIRST_COMPLETED)
    result = worker.result(time.monotonic() - begun)
    await asyncio.sleep(0.05)           # what was written last, such as a stop, still goes out
    for task in (*others, turns, orphaned):
        task.cancel()
    server.close()
    worker.hang_up()
    await asyncio.sleep(0.05)           # the readers of closed connections come to their end
    return result


# ---- the parent -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """The measurements of a run of two workers.

    ``tuples`` are the messages that tasks processed, those of the ackers among them;
    ``seconds`` is from the first to the last, ``halt_lags`` are in seconds, one for each
    episode of backpressure. ``done``: the whole source was acked.
    """

    tuples: int
    seconds: float
    acked: int
    failed: int
    lost: int
    done: bool
    overflow_peak: int
    recvq_peak: int
    halt_lags: list[float] = field(default_factory=list)

    @property
    def tuples_per_second(self) -> float:
        """Messages processed in a second, in both workers."""
        return self.tuples / self.seconds if self.seconds else 0.0


class WorkerProcess:
    """A process that runs one worker; ``port`` is where it listens."""

    def __init__(self, number: int, port: int, process: asyncio.subprocess.Process) -> None:
        self.number, self.port, self.process = number, port, process

    @classmethod
    async def start(cls, number: int, port: int = 0) -> WorkerProcess:
        """Start one that listens on a port (0: any). Raises ``WorkerFailed``."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, str(number), str(port),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        started = cls(number, port, process)
        try:
            started.port = int(await started.line())
        except BaseException:
            await started.kill()
            raise
        return started

    def order(self, order: Mapping[str, Any]) -> None:
        """Send the process its instructions."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")

    async def line(self) -> bytes:
        """The next line that it prints. Raises ``WorkerFailed`` if it ends without one."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise WorkerFailed(
                "a worker process ended without a word; its standard error says why")
        return line

    async def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        await self.process.wait()


async def _measure(order: dict[str, Any], workers: int) -> list[dict[str, Any]]:
    processes: list[WorkerProcess] = []
    try:
        for number in range(workers):
            processes.append(await WorkerProcess.start(number))
        order["ports"] = {str(process.number): process.port for process in processes}
        for process in processes:
            process.order(order)
        return [json.loads(await process.line()) for process in processes]
    finally:
        for process in processes:
            await process.kill()


def measure(
    *, topology: str = "word-count", messages: int = 1_000_000, seconds: float = 3.0,
    settings: Settings | None = None, slow_seconds: float = 0.0, workers: int = 2,
) -> Measured:
    """Run a topology on worker processes until its source is acked, or for so many seconds.

    ``slow_seconds`` is how long every worker but the first pauses after each turn, so that
    there is backpressure. No process is left when this returns or raises. Raises
    ``WorkerFailed`` when a process dies, or has not ended a few seconds after its deadline.
    """
    chosen = settings or Settings(capacity=256, transfer_capacity=1024, max_pending=1024,
                                  per_round=16, reminder=10_000, repeat=20)
    order = {"topology": topology, "messages": messages, "seconds": seconds,
             "settings": asdict(chosen), "slow_seconds": slow_seconds}

    async def limited() -> list[dict[str, Any]]:
        return await asyncio.wait_for(_measure(order, workers), seconds + GRACE_SECONDS)

    try:
        rows = asyncio.run(limited())
    except TimeoutError:
        raise WorkerFailed(
            f"the workers have not ended {GRACE_SECONDS} s after their deadline") from None

    def total(word: str) -> int:
        return sum(int(row["counts"].get(word, 0)) for row in rows)

    return Measured(
        total("processed"), max(float(row["seconds"]) for row in rows), total("acked"),
        total("failed"), total("lost"), any(row["done"] for row in rows),
        max(row["overflow_peak"] for row in rows), max(row["recvq_peak"] for row in rows),
        [lag for row in rows for lag in row["halt_lags"]])


def main() -> None:
    """Run one worker process, and print what it saw as JSON."""
    print(json.dumps(asyncio.run(_serve(*map(int, sys.argv[1:])))), flush=True)


if __name__ == "__main__":
    main()
