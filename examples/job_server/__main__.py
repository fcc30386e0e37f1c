"""The mail's example system, for real: clients, a master, workers and a monitor, under overload.

    python examples/job_server [--seconds 10]

It runs three times: with a master that holds its clients back, with one that reads all that comes
and drops, and with one that does either where it has to. README.md says why there are three.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from checkvalve.reference.drivers.job_server import (
    ALWAYS_READS, JobServer, Metrics, Monitor, Terms, work,
)
from checkvalve.reference.flow.bucket import TokenBucket

sys.path.insert(0, str(Path(__file__).parent))

from watch import Watch

WORKERS: Final = 3
BODY: Final = b",".join([b"%d" % value for value in range(40)])
"""Values that a worker measures while it works on a job."""

MODES: Final = {
    "held back": Terms(places=16, share=4),         # 4 clients with 4 each: always room
    "dropping": Terms(places=16, share=ALWAYS_READS),
    "both": Terms(places=16, share=12),
}


@dataclass(frozen=True)
class Plan:
    """Amount of work, and its speed. Times are seconds."""

    jobs: int = 600                 # of each client
    clients: int = 4
    work: float = 0.004             # for a job; with three workers that is 750 jobs a second
    again: float = 0.3              # until a job that was dropped is submitted again
    patience: float = 0.01          # until a worker asks again
    tick: float = 0.05
    bucket: TokenBucket = field(default_factory=lambda: TokenBucket(rate=2, depth=4))


@dataclass
class Ran:
    """Results of a run."""

    watch: Watch
    plan: Plan
    monitor: Monitor
    pending: int                    # values that are rolled up and have not gone
    ticks: int
    held_back: int                  # times that the master stopped reading from somebody
    submitted: int                  # with those that were submitted again
    done: int
    dropped: int
    seconds: float

    @property
    def measured(self) -> int:
        """Values that the workers have measured."""
        return self.watch.counted["measured"]

    @property
    def packets_allowed(self) -> int:
        """Packets that all the buckets together allow in the time of the run."""
        bucket = self.plan.bucket
        return WORKERS * (bucket.depth + bucket.rate * self.ticks)


class Client:
    """Submits all its jobs as fast as it may, and again what was dropped."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan = plan
        self._random = Random(seed)
        self.submitted = self.done = self.dropped = 0

    async def run(self, port: int) -> None:
        """Until all jobs are done."""
        made = socket.socket()
        # The less the kernel takes, the sooner a client feels that nobody reads.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 12)
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=made)
        submitting = asyncio.get_running_loop().create_task(self._submit_all(writer))
        again: set[asyncio.Task[None]] = set()
        try:
            while self.done < self._plan.jobs:
                number, _, word = (await reader.readline()).strip().partition(b" ")
                if word == b"done":
                    self.done += 1
                elif word == b"dropped":
                    self.dropped += 1
                    task = asyncio.get_running_loop().create_task(
                        self._submit_again(writer, int(number)))
                    again.add(task)
                    task.add_done_callback(again.discard)
                else:
                    raise ConnectionError("the master has gone")
            await submitting
        finally:
            for task in (submitting, *again):
                task.cancel()
            await asyncio.wait([submitting, *again])
            writer.transport.abort()

    async def _submit_all(self, writer: asyncio.StreamWriter) -> None:
        for number in range(self._plan.jobs):
            await self._submit(writer, number)

    async def _submit_again(self, writer: asyncio.StreamWriter, number: int) -> None:
        # At another phase each time: what comes again all at once is dropped again all at once.
        await asyncio.sleep(self._plan.again * self._random.uniform(0.5, 1.5))
        await self._submit(writer, number)

    async def _submit(self, writer: asyncio.StreamWriter, number: int) -> None:
        self.submitted += 1
        writer.write(b"%d %s\n" % (number, BODY))
        await writer.drain()


async def run(terms: Terms, plan: Plan) -> Ran:
    """Let the clients submit until the master is overloaded, let the workers begin, and wait until
    every job is done."""
    loop = asyncio.get_running_loop()
    watch = Watch(terms, WORKERS, plan.bucket)
    transport, monitor = await loop.create_datagram_endpoint(
        Monitor, local_addr=("127.0.0.1", 0))
    sender, _ = await loop.create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=transport.get_extra_info("sockname"))
    metrics = [Metrics(name, plan.bucket, sender.sendto, watch.told) for name in range(WORKERS)]
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(plan.tick)
            ticks += 1
            for each in metrics:
                each.tick()

    begun = time.perf_counter()
    async with JobServer(terms, watch.told) as server:
        clients = [Client(plan, seed) for seed in range(plan.clients)]
        async with asyncio.TaskGroup() as tasks:
            submitting = [tasks.create_task(each.run(server.client_port)) for each in clients]
            await _until(lambda: _is_overloaded(watch, plan))
            others = [tasks.create_task(tick()), *(
                tasks.create_task(work(server.worker_port, each, plan.work, plan.patience))
                for each in metrics)]
            await asyncio.wait(submitting)
            for task in others:
                task.cancel()
    seconds = time.perf_counter() - begun
    for each in (sender, transport):
        each.close()
    return Ran(watch, plan, monitor, sum(map(_held, metrics)), ticks, watch.counted["held back"],
               sum(each.submitted for each in clients), sum(each.done for each in clients),
               sum(each.dropped for each in clients), seconds)


def _is_overloaded(watch: Watch, plan: Plan) -> bool:
    """All clients are held back, or something was dropped: there is more than can be done."""
    return watch.counted["held back"] >= plan.clients or watch.counted["drops"] > 0


def _held(metrics: Metrics) -> int:
    transform = metrics.stage.transform
    return transform.make().values if transform.ready else 0


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def lines(name: str, ran: Ran) -> list[str]:
    """A run in words."""
    terms, watch = ran.watch.terms, ran.watch
    share = f"share {terms.share}" if terms.share else "no share: always reads"
    return [
        f"{name} ({terms.places} places, {share})",
        f"  {ran.done:,} jobs done in {ran.seconds:.1f} s; submitted {ran.submitted:,} times, "
        f"dropped {ran.dropped:,}; reading stopped {ran.held_back:,} times",
        f"  at most {watch.most_waiting:,} jobs waited (may be {terms.places + 1:,}, "
        "with the one that comes)",
        f"  {ran.measured:,} values measured = {watch.values_sent:,} in "
        f"{watch.counted['summary']:,} packets + {ran.pending:,} held; "
        f"packets allowed {ran.packets_allowed:,}, come to the monitor {ran.monitor.packets:,}",
        f"  watched: {', '.join(f'{n} {c:,}' for n, c in watch.steps.items())} steps; "
        f"{len(watch.wrong) or 'no'} rule{'s' * (len(watch.wrong) != 1)} broken",
        *(f"  {which}: {each.observation}: "
          f"{each.rule.statement if each.rule else each.conjunct}"
          for which, each in watch.wrong.items()),
    ]


def main() -> int:
    """Run all three, and show what they did; 1 if a rule was broken."""
    parser = ArgumentParser(description=__doc__, prog="python examples/job_server")
    parser.add_argument("--seconds", type=float, default=10.0,
                        help="how long all three take, about")
    seconds = parser.parse_args().seconds
    plan = Plan(jobs=max(20, int(seconds / len(MODES) * WORKERS / Plan.work / Plan.clients * 0.6)))
    broken = 0
    for name, terms in MODES.items():
        with suppress(KeyboardInterrupt):
            ran = asyncio.run(run(terms, plan))
            broken += len(ran.watch.wrong)
            print("\n".join(lines(name, ran)), flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
