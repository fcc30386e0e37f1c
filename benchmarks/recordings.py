"""``python -m benchmarks.recordings``: record real brokers, pools and servers, and judge that.

Each recording is of a real implementation on this machine, under load, without a fault or with one
that is named, and ``checkvalve judge`` has to say of the first kind nothing, and of the second at
least the rule that the fault breaks. A broker that is not installed is passed over. Small ones are
kept in tests/recordings, where a test judges them again; ``--keep`` makes those anew.

Brokers are real servers; a client with two consumers uses them through the adapters of the suite,
call after call, kills them (SIGKILL) and starts them again. Its connection loses acknowledgements
(``lost-ack``: the client has sent it, and the server never gets it) or repeats a delivery that was
acknowledged (``twice``). The threads of a pool note what happens inside the lock of its queue, so
that the log has the queue's own order. The job server speaks TCP.
Elections and clusters are in ``recorded``.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import queue
import random
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest import mock

from checkvalve.conformance.logs.run import judge_files, opened, terms_of
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.reference.flow.jobs import Happens, Job, Master, News
from checkvalve.spec.notation.errors import TargetError

from .recorded import Pages, election, failover, topology
from .recorded_long import long_recordings

__all__ = ["KEPT", "RECORDINGS", "Recording", "judged", "main"]

KEPT: Final = Path(__file__).resolve().parent.parent / "tests" / "recordings"
"""The small ones."""

_EXAMPLE: Final = Path(__file__).resolve().parent.parent / "examples" / "job_server"


Make = Callable[[Pages, str, random.Random, int], None]


@dataclass(frozen=True)
class Recording:
    """A recording: of which ``what``, by ``make``, with which ``fault`` (empty: none), which
    ``rules`` that breaks, one of them at least, and how much is recorded in the ``small`` one and
    in the ``large`` one."""

    what: str
    fault: str
    suite: str
    settings: Mapping[str, int]
    make: Make
    rules: frozenset[str] = frozenset()
    small: int = 60
    large: int = 2_000

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.what}-{self.fault or 'right'}.jsonl.gz"


# --- brokers -----------------------------------------------------------------------------------

@dataclass
class _Client:
    """One connection to a broker, for two consumers, with a fault."""

    ask: Callable[..., Any]
    pages: Pages
    fault: str
    draw: random.Random
    held: dict[int, list[int]] = field(default_factory=lambda: {0: [], 1: []})
    over: list[int] = field(default_factory=list)
    published: int = 0

    def publish(self) -> None:
        """The next message is confirmed."""
        self.ask(do="publish", message=self.published)
        self.pages.add("publish", self.published, result="ok")
        self.published += 1

    def receive(self, consumer: int) -> None:
        """A consumer asks; a faulty connection repeats what is over."""
        if self.fault == "twice" and self.over and self.draw.random() < 0.2:
            message: int | None = self.over[-1]
        else:
            message = self.ask(do="receive", consumer=consumer)
        if message is not None:
            self.held[consumer].append(message)
        self.pages.add("receive", message, str(consumer),
                       result="empty" if message is None else "ok")

    def answer(self, do: str, consumer: int) -> None:
        """A consumer answers for the oldest message that it has."""
        if not self.held[consumer]:
            return
        message = self.held[consumer].pop(0)
        lost = self.fault == "lost-ack" and do == "ack" and self.draw.random() < 0.3
        taken = lost or self.ask(do=do, consumer=consumer, message=message)
        if taken and do == "ack":
            self.over.append(message)
        self.pages.add(do, message, str(consumer), result="ok" if taken else "empty")

    def disconnect(self, consumer: int) -> None:
        """The connection of a consumer is lost."""
        self.ask(do="disconnect", consumer=consumer)
        self.held[consumer].clear()
        self.pages.add("disconnect", None, str(consumer), result="ok")

    def restart(self) -> None:
        """The server is killed, and started again."""
        self.ask(do="restart")
        for each in self.held.values():
            each.clear()
        self.pages.add("restart", result="ok")

    def tick(self) -> None:
        """The time of all that is in flight is over."""
        self.ask(do="advance", ticks=3)
        self.pages.add("tick", value=3, result="ok")

    def comes_back(self, does: Sequence[str]) -> None:
        """What is in flight comes back, by the means that the broker has."""
        self.tick() if "tick" in does else self.disconnect(0)

    def drain(self) -> None:
        """The first consumer takes and acknowledges all that there is."""
        empty = 0
        while empty < 2:
            before = len(self.held[0])
            self.receive(0)
            empty = empty + 1 if len(self.held[0]) == before else 0
            self.answer("ack", 0)


def broker(target: str, *, does: Sequence[str], consumers: int = 2) -> Make:
    """A recording of a broker; its consumers do what it can, besides receive and ack."""
    def make(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
        session = resolve_target(target).open()

        def ask(**request: Any) -> Any:
            reply = session.request(request)
            if "ok" not in reply:
                raise TargetError(f"{target} answers {request} by {reply}",
                                  next_step="Look at its adapter.")
            return reply["ok"]
        try:
            ask(do="hello", protocol=1, port="delivery",
                settings={"capacity": 4, "consumers": 2, "timeout": 2})
            client = _Client(ask, pages, fault, draw)
            acts = ["publish"] * 8 + ["receive"] * 8 + ["ack"] * 7 + list(does)
            for number in range(length):
                act, consumer = draw.choice(acts), draw.randrange(consumers)
                if act == "restart":
                    continue
                if "restart" in does and number % (length // 3) == length // 3 - 1:
                    client.restart()
                elif act == "publish":
                    client.publish()
                elif act == "disconnect":
                    client.disconnect(consumer)
                elif act == "tick":
                    client.tick()
                elif act == "receive":
                    client.receive(consumer)
                else:
                    client.answer(act, consumer)
            for _ in range(2):
                client.comes_back(does)
                client.drain()
        finally:
            session.close()
    return make


# --- a pool of threads -------------------------------------------------------------------------

class _Tapped(queue.Queue[Any]):
    """The queue of a pool, which notes in its own lock what comes and what goes, and may do wrong.
    """

    def __init__(self, pages: Pages, fault: str, draw: random.Random) -> None:
        super().__init__()
        self._pages, self._fault, self._draw = pages, fault, draw
        self.numbers: dict[Future[Any], int] = {}
        self.running = self.behind = 0      # tasks, and futures that have not ended as these did

    def _put(self, item: Any) -> None:
        wrong = item is not None and self._draw.random() < 0.3
        if item is not None:
            self.numbers[item.future] = len(self.numbers)
            self._pages.add("submits", len(self.numbers) - 1)
        super()._put(item)
        if wrong and self._fault == "newest-first":
            self.queue.rotate(1)

    def _get(self) -> Any:
        item = super()._get()
        if item is not None:
            with self._pages.lock:
                self.running += 1
                self._pages.add("starts", self.numbers[item.future])
        return item

    def rests(self, threads: int) -> bool:
        """Note that the pool does no more for the time being, if that is so: no task waits beside
        an idle thread, and no future is behind its task."""
        with self.mutex, self._pages.lock:
            quiet = not self.behind and (not self.queue or self.running == threads)
            if quiet:
                self._pages.add("rest")
            return quiet

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a task that waits; it leaves the queue, as far as the log is concerned, or, with a
        fault, it runs all the same."""
        with self.mutex:
            item = next((each for each in self.queue if each and each.future is future), None)
            if item is None:
                return
            self._pages.add("cancels", self.numbers[future], result="ok")
            if self._fault != "cancelled-runs":
                future.cancel()
                self.queue.remove(item)


def pool(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
    """A recording of concurrent.futures, with three threads, or four where three are allowed."""
    tapped = _Tapped(pages, fault, draw)
    threads = 4 if fault == "one-thread-more" else 3
    executor = ThreadPoolExecutor(threads)
    executor._work_queue = tapped  # type: ignore[assignment]
    seconds = [draw.random() / 300 for _ in range(length)]

    def task(number: int) -> None:
        time.sleep(seconds[number])
        with pages.lock:
            tapped.running -= 1
            tapped.behind += 1
            pages.add("fails" if number % 7 == 6 else "finishes", number)
        if number % 7 == 6:
            raise ValueError(number)

    def ended(future: Future[Any]) -> None:
        if not future.cancelled():
            failed = future.exception() is not None
            with pages.lock:
                tapped.behind -= 1
                pages.add("future_raises" if failed else "future_returns", tapped.numbers[future])

    for number in range(length):
        future = executor.submit(task, number)
        future.add_done_callback(ended)
        if number % 5 == 4:
            tapped.cancel(future)
        time.sleep(draw.random() / 2_000)
        while not tapped.rests(threads):
            time.sleep(0.000_05)
    pages.add("shutdown")
    executor.shutdown(wait=True)
    pages.add("terminated")
    pages.add("rest")


# --- a queue of asyncio ------------------------------------------------------------------------

def coroutines(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
    """A recording of asyncio.Queue with four producers and four consumers; producers are cancelled
    now and then."""
    class Faulty(asyncio.Queue[int]):
        def _put(self, item: int) -> None:
            wrong = draw.random() < 0.1
            if wrong and fault == "lost":
                return
            super()._put(item)
            if wrong and fault == "twice":
                super()._put(item)

    calls = iter(range(1 << 40))

    async def call(name: str, do: str, item: int | None, waits: Any) -> int | None:
        at = next(calls)
        begun = {"phase": "begin", "call": at}
        pages.add(do, item, name, **begun)
        try:
            found = await waits
        except asyncio.CancelledError:
            pages.add(do, item, name, phase="end", call=at, result="failed")
            raise
        pages.add(do, item if do == "put" else found, name, phase="end", call=at, result="ok")
        return item

    async def main() -> None:
        jobs = Faulty(2)

        async def produce(name: str, first: int) -> None:
            for item in range(first, first + length // 4):
                with_timeout = call(name, "put", item, jobs.put(item))
                try:
                    await asyncio.wait_for(with_timeout, 0.002 if item % 9 == 8 else None)
                except TimeoutError:
                    continue

        async def consume(name: str) -> None:
            while True:
                await call(name, "take", None, jobs.get())
                await asyncio.sleep(draw.random() / 1_000)

        consumers = [asyncio.create_task(consume(f"c{each}")) for each in range(4)]
        await asyncio.gather(*(produce(f"p{each}", each * length) for each in range(4)))
        while not jobs.empty():
            await asyncio.sleep(0.001)
        for each in consumers:
            each.cancel()
        await asyncio.gather(*consumers, return_exceptions=True)

    asyncio.run(main())
    pages.add("drained")


# --- the job server ----------------------------------------------------------------------------

class _EveryAsk(Master):
    """A master that counts each ask, also one that comes late."""

    def _is_news(self, worker: Any, got: int) -> bool:
        return True


class _SilentDrops(Master):
    """A master that throws a job away now and then, and notifies nobody."""

    def submit(self, job: Job) -> list[News]:
        return [each for each in super().submit(job) if each.what is not Happens.DROPPED]


_MASTERS: Final[Mapping[str, type[Master]]] = {
    "": Master, "every-ask": _EveryAsk, "silent-drops": _SilentDrops}


def jobs(pages: Pages, fault: str, draw: random.Random, length: int) -> None:
    """A recording of the job server of the examples: four clients and three workers, by TCP."""
    sys.path.insert(0, str(_EXAMPLE))
    try:
        example = runpy.run_path(str(_EXAMPLE / "__main__.py"), run_name="job_server")
    finally:
        sys.path.remove(str(_EXAMPLE))
    names: dict[tuple[int, int], int] = {}
    numbers = iter(range(1 << 40))

    def note(event: Any) -> None:
        what, who, job = event.what, event.who, event.job
        if what == "submit":
            names[who, job] = next(numbers)
            pages.add("submit", names[who, job])
        elif what == "leaves":
            names[-1, job] = names[who, job]
        elif what == "drops":
            pages.add("drops", names[who, job])
        elif what == "gives":
            pages.add("gives", names[-1, job], str(who))
        elif what == "ask":
            pages.add("ask", process=str(who), value=job)
        elif what in ("done", "rests"):
            pages.add("done" if what == "done" else "rest", process=str(who))

    watch = example["Watch"]

    class Noting(watch):  # type: ignore[misc, valid-type]
        def told(self, event: Any) -> None:
            if not pages_are_full():
                note(event)
            super().told(event)

    def pages_are_full() -> bool:
        return len(pages.rows) >= 10 * length

    plan = example["Plan"](jobs=max(6, length // 4), work=0.002, again=0.05,
                           patience=0.000_2)
    run = example["run"]
    run.__globals__["Watch"] = Noting
    # Under a fault clients wait forever for jobs that are lost, and so does the run.
    with (mock.patch("checkvalve.reference.drivers.job_server.Master", _MASTERS[fault]),
          suppress(*([TimeoutError] if fault else []))):
        asyncio.run(asyncio.wait_for(run(example["MODES"]["dropping"], plan),
                                     2 if fault else 120))


# --- which there are ---------------------------------------------------------------------------

_UNBOUNDED: Final = {"law": 3, "capacity": 4, "ticks": 2}


def _of_broker(what: str, make: Make, large: int = 2_000, law: int = 3) -> list[Recording]:
    # A message comes again if its ack was lost, or is acknowledged by the other consumer as well.
    again = frozenset({"DELIV-6", "DELIV-12"})
    return [Recording(what, fault, "delivery", {**_UNBOUNDED, "law": law}, make,
                      again if fault else frozenset(), 60, large)
            for fault in ("", "lost-ack", "twice")]


RECORDINGS: Final = (
    *_of_broker("redis", broker("redis.streams", does=("tick", "restart"))),
    *_of_broker("beanstalkd", broker("beanstalkd", does=("requeue", "disconnect", "restart"))),
    *_of_broker("mosquitto", broker("mosquitto.qos1", does=("disconnect", "restart"), consumers=1),
                large=300),
    *_of_broker("nats", broker("nats.jetstream", does=("requeue", "tick")), large=300, law=4),
    *_of_broker("postgresql", broker("postgresql.skip-locked",
                                     does=("requeue", "disconnect", "restart")), large=100),
    *_of_broker("rabbitmq", broker("rabbitmq.quorum", does=("requeue", "disconnect", "restart")),
                law=4),
    Recording("mosquitto-unsaved", "killed", "delivery", _UNBOUNDED,
              broker("mosquitto.qos1.unsaved", does=("restart",), consumers=1),
              frozenset({"DELIV-5", "DELIV-6", "DELIV-9"}), 60, 300),
    *(Recording("concurrent.futures", fault, "executor", {"workers": 3, "policy": 5}, pool,
                frozenset(rules), 60, 20_000)
      for fault, rules in (("", ()), ("newest-first", ("EXEC-2",)),
                           ("cancelled-runs", ("EXEC-8",)), ("one-thread-more", ("EXEC-1",)))),
    *(Recording("asyncio", fault, "queue", {"capacity": 2}, coroutines, frozenset(rules), 48,
                20_000)
      for fault, rules in (("", ()), ("lost", ("QUEUE-4",)), ("twice", ("QUEUE-6",)))),
    *(Recording("job-server", fault, "jobs", {"places": 16}, jobs, frozenset(rules), 40, 2_000)
      for fault, rules in (("", ()), ("every-ask", ("FLOW-50",)),
                           ("silent-drops", ("FLOW-53",)))),
    *(Recording(name, fault, "election", {"steady": 1, "candidates": 2}, election(target),
                frozenset(rules), 90, 240)
      for name, target in (("etcd", "etcd.fenced"), ("zookeeper", "kazoo.Lock.fenced"))
      for fault, rules in (("", ()), ("everybody-leads", ("ELECT-1", "ELECT-3", "ELECT-8")),
                           ("forgets", ("ELECT-3", "ELECT-4")))),
    *(Recording("brokers", fault, "kafka.failover", {}, failover, frozenset(rules), 8, 60)
      for fault, rules in (("", ()), ("failover-hw-of-all", ("KAFKA-F7",)),
                           ("failover-adopts-the-epoch", ("KAFKA-F1",)))),
    *(Recording("topology", fault, "storm.topology", {}, topology, frozenset(rules), 2, 60)
      for fault, rules in (("", ()), ("cluster-STORM-996", ("STORM-C1",)),
                           ("cluster-sent-twice", ("STORM-C1", "STORM-C2")))),
)


def judged(recording: Recording, file: Path) -> tuple[frozenset[str], int, int]:
    """The rules that a recording violates; how many are unknown; and events of no such system."""
    logs = SYSTEMS[recording.suite].logs
    settings = dict(recording.settings)
    files, mapped = opened([file], None, logs, settings)
    notes = judge_files(files, logs, terms_of(mapped, settings, True, 1_000)).notes
    return frozenset(notes.violations), len(notes.unknown), len(notes.foreign)


def _written(recording: Recording, folder: Path, length: int, seed: int) -> tuple[Path, int]:
    pages = Pages()
    recording.make(pages, recording.fault, random.Random(seed), length)
    file = folder / recording.name
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in pages.rows)
    # Without a time and a name in its head, so that equal logs are equal files.
    file.write_bytes(gzip.compress(text.encode(), mtime=0))
    return file, len(pages.rows)


def is_right(recording: Recording, found: frozenset[str], unknown: int, foreign: int) -> bool:
    """True if nothing is said of a right one, and of a faulty one what breaks."""
    if recording.fault:
        return bool(found & recording.rules)
    return not (found or unknown or foreign)


def main() -> int:
    """Record and judge, and print a line for each; 1 if one is judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="what has this in its name")
    parser.add_argument("--keep", action="store_true", help="write the small ones to tests/")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", type=int, metavar="EVENTS", help="instead, record so many events "
                        "of asyncio.Queue, written as they come")
    options = parser.parse_args()
    if options.long:
        with tempfile.TemporaryDirectory() as folder:
            return int(long_recordings(options.long, Path(folder), options.seed) > 0)
    wrong = 0
    print(f"{'recording':36}{'events':>8}{'seconds':>9}  found")
    with tempfile.TemporaryDirectory() as folder:
        for each in RECORDINGS:
            if options.only not in each.name:
                continue
            begun = time.monotonic()
            try:
                file, events = _written(each, KEPT if options.keep else Path(folder),
                                        each.small if options.keep else each.large, options.seed)
            except TargetError as error:
                print(f"{each.name:36}{'':8}{'':9}  passed over: {str(error)[:60]}", flush=True)
                continue
            found, unknown, foreign = judged(each, file)
            right = is_right(each, found, unknown, foreign)
            wrong += not right
            print(f"{each.name:36}{events:8,}{time.monotonic() - begun:9.1f}  "
                  f"{', '.join(sorted(found)) or 'nothing'}"
                  f"{f', {unknown} unknown' if unknown else ''}"
                  f"{f', {foreign} of no such system' if foreign else ''}"
                  f"{'' if right else '  WRONG'}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
