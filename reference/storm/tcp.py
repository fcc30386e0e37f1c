"""The same workers for real: processes that talk over TCP on the loopback interface.

``python -m checkvalve.reference.storm.tcp`` is one worker process. It prints the port on which
it listens, reads one line of JSON that says what to do and where the others listen, runs, and
prints one line of JSON with what it measured. ``measure`` starts two of them.

Every frame is four bytes of length, big endian, and a text in JSON: tuples one way, statuses
the other. Within a process all tasks run on one thread and one event loop, by turns; the
connections take tuples when the kernel does, so what a slow worker does not read stops its
sender. The clock of halt-lags is the machine's monotonic one, which all processes share.

A worker stops when the source is exhausted and acked, at its deadline, or as soon as its
standard input closes: whatever becomes of the parent, no process is left behind.
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
from typing import Any, Final

from .executor import Log, SpoutTask
from .status import Sent, Status
from .topologies import TOPOLOGIES, Kind, Message, deploy
from .worker import Place, Settings, Worker, name_of

__all__ = ["Measured", "WorkerFailed", "main", "measure"]

LENGTH_BYTES: Final = 4
FRAME_BYTES_MAX: Final = 1 << 24
CHECK_SECONDS: Final = 0.02
TICK_SECONDS: Final = 30.0
"""Storm's message timeout."""
GRACE_SECONDS: Final = 3.0


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
    """One worker process: a ``Worker`` with its connections."""

    def __init__(self, number: int, order: Mapping[str, Any]) -> None:
        topology = TOPOLOGIES[order["topology"]]
        self.peers: dict[int, int] = {
            int(peer): port for peer, port in order["ports"].items() if int(peer) != number}
        self.log = Log(order["messages"])
        self.counts: dict[str, int] = {}
        self.worker = Worker(
            topology, Place(number, 0, deploy(topology, len(order["ports"]))),
            Settings(**order["settings"]), self.log, Random(number),
            record=self._record, now=lambda: 0)
        self.lag = HaltLag()
        self.seconds: float = order["seconds"]
        self.deadline: float = time.monotonic() + self.seconds
        self.slow: float = order["slow_seconds"]
        self._out: dict[int, asyncio.StreamWriter] = {}
        self._in: dict[str, asyncio.StreamWriter] = {}
        self.ready = asyncio.Event()
        self.stopped = asyncio.Event()

    def _record(self, what: str, *about: int | str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # -- connections --------------------------------------------------------------------------

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A sender has connected: tuples come in, statuses go out."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            _, peer = await _read_frame(reader)
            self._in[name_of(peer)] = writer
            self.tell(self.worker.connect(peer))
            while True:
                _, rows = await _read_frame(reader)
                self.tell(self.worker.receive(map(_from_wire, rows)))
        writer.close()

    async def reach(self, peer: int) -> None:
        """Connect to another worker: tuples go out, statuses come in."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.peers[peer])
        writer.write(_frame("hello", self.worker.place.number))
        self._out[peer] = writer
        self.worker.reach(peer)
        if len(self.worker.connected) == len(self.peers):
            self.ready.set()
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                what, body = await _read_frame(reader)
                if what == "stop":
                    self.stopped.set()
                    continue
                status = Status(body["worker"], body["incarnation"], body["number"],
                                frozenset(body["blocked"]), frozenset(body["free"]))
                self.worker.hear(status)
                self.lag.heard(status, body["sent_at"])
        self.worker.cut_off(peer)

    def tell(self, told: Iterable[Sent]) -> None:
        """Write statuses; nobody waits for them to arrive."""
        for connection, status in told:
            body = asdict(status) | {"blocked": sorted(status.blocked),
                                     "free": sorted(status.free), "sent_at": time.monotonic()}
            self._in[connection].write(_frame("status", body))

    def is_writable(self, peer: int) -> bool:
        """Whether the kernel took what was written before, but for a little."""
        return self._out[peer].transport.get_write_buffer_size() < FRAME_BYTES_MAX >> 8

    # -- the loops ----------------------------------------------------------------------------

    async def turns(self) -> None:
        """All executors by turns, then the transfer thread; sleep where nothing happened.

        Not before every connection is there: what is sent without one is dropped.
        """
        if self.peers:
            await self.ready.wait()
        while not self.stopped.is_set() and time.monotonic() < self.deadline:
            happened = False
            for task in self.worker.tasks.values():
                happened = task.call() or happened
            happened = self.transfer() or happened
            if happened and self.slow and self.worker.place.number:
                await asyncio.sleep(self.slow)
            else:
                await asyncio.sleep(0 if happened else 0.0005)
            if self.is_done():
                break
        self.stop_others()

    def transfer(self) -> bool:
        """The transfer thread's turn."""
        sent = self.worker.drain(self.is_writable)
        for peer, messages in sent.items():
            self._out[peer].write(_frame("tuples", [_to_wire(each) for each in messages]))
            self.lag.wrote(messages)
        return bool(sent)

    def is_done(self) -> bool:
        """The spout is here, and everything was acked."""
        spouts = [task for task in self.worker.tasks.values() if isinstance(task, SpoutTask)]
        return bool(spouts) and all(spout.is_done() for spout in spouts)

    def stop_others(self) -> None:
        """Whoever stops tells the others."""
        self.stopped.set()
        for writer in self._in.values():
            writer.write(_frame("stop", None))

    def hang_up(self) -> None:
        """Close every connection."""
        for writer in (*self._in.values(), *self._out.values()):
            writer.close()

    async def checks(self) -> None:
        """The backpressure-check-timer, and the ticks of the message timeout."""
        tick_at = time.monotonic() + TICK_SECONDS
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.tell(self.worker.check())
            if time.monotonic() >= tick_at:
                tick_at += TICK_SECONDS
                self.worker.tick()

    def result(self, seconds: float) -> dict[str, Any]:
        """What was measured here."""
        sizes = [inbox.statistics() for inbox in self.worker.inputs.values()]
        return {
            "counts": self.counts, "halt_lags": self.lag.seconds, "seconds": seconds,
            "overflow_peak": max((each.overflowq_peak for each in sizes), default=0),
            "recvq_peak": max((each.recvq_peak for each in sizes), default=0),
            "dropped": sum(each.dropped for each in sizes), "done": self.is_done(),
        }


async def _serve(number: int) -> dict[str, Any]:
    """One worker, from its first line to its last."""
    ordered: asyncio.Future[TcpWorker] = asyncio.get_running_loop().create_future()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Who is faster than our own order waits here.
        await (await asyncio.shield(ordered)).accept(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    worker = TcpWorker(number, json.loads(await stdin.readline()))
    ordered.set_result(worker)
    others = [asyncio.create_task(worker.reach(peer)) for peer in worker.peers]
    others.append(asyncio.create_task(worker.checks()))
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
    """What two workers came to.

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


async def _measure(order: dict[str, Any], workers: int) -> list[dict[str, Any]]:
    processes: list[asyncio.subprocess.Process] = []
    try:
        for number in range(workers):
            processes.append(await asyncio.create_subprocess_exec(
                sys.executable, "-m", __name__, str(number), stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE))
        order["ports"] = {
            str(number): int(await _line(process)) for number, process in enumerate(processes)}
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(json.dumps(order).encode() + b"\n")
        return [json.loads(await _line(process)) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await process.wait()


async def _line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise WorkerFailed("a worker process ended without a word; its standard error says why")
    return line


def measure(
    *, topology: str = "word-count", messages: int = 1_000_000, seconds: float = 3.0,
    settings: Settings | None = None, slow_seconds: float = 0.0, workers: int = 2,
) -> Measured:
    """Run a topology on worker processes until its source is acked, or for so many seconds.

    ``slow_seconds`` is how long every worker but the first rests after each turn, so that
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
    """One worker process."""
    print(json.dumps(asyncio.run(_serve(int(sys.argv[1])))), flush=True)


if __name__ == "__main__":
    main()
