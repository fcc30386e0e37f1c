"""``python -m benchmarks.purgatory.counts``: what the text claims, counted.

Times depend on a machine; these figures do not. In virtual time, with the workloads of the
benchmark, three claims are counted:

- A queue of buckets is offered to and polled from far less often than a queue of tasks.
- Most buckets of the lowest wheel are empty when they expire, where few requests time out; and few
  are ever used, for most requests end in an upper wheel.
- The old purgatory holds little if its threshold is low, but pays with scans; the new one holds
  what is pending and some 1,000 more, and hardly scans.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels", 'Driving Clock using
DelayQueue', 'Summary', 'Old Purgatory Design'.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from checkvalve.reference.kafka.delay_queue import DelayQueue
from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.purgatory import Purgatory
from checkvalve.reference.kafka.timer import Timer
from checkvalve.reference.kafka.timing_wheel import TimerTaskList

from .contenders import NewPurgatory, OldDesign
from .driver import in_virtual_time
from .workload import CASES, Case, Settings, draw

__all__ = ["Held", "Queued", "held", "main", "queued", "sweep"]

INTERVALS = (10, 100, 1_000, 10_000)
UNLIMITED = 1e9


@dataclass(frozen=True)
class Queued:
    """What became of the queue of buckets. All but ``requests`` are counts of buckets."""

    case: str
    requests: int
    offered: int
    lowest: int             # of the offered: of the lowest wheel
    empty: int              # of the polled
    lowest_empty: int       # of the polled: of the lowest wheel

    @property
    def a_request(self) -> float:
        """Offers for each request. A queue of tasks needs one for each."""
        return self.offered / self.requests


@dataclass(frozen=True)
class Held:
    """What a purgatory held at most, in entries of lists and timer, and how many it scanned."""

    case: str
    contender: str
    interval: int
    requests: int
    largest: int
    scanned: int

    @property
    def scans(self) -> float:
        """Entries looked at by purges, for each request."""
        return self.scanned / self.requests


class _CountingQueue(DelayQueue[TimerTaskList]):
    """Tells of each bucket that comes in."""

    __slots__ = ("told",)

    def __init__(self, told: Callable[[TimerTaskList], None]) -> None:
        super().__init__()
        self.told = told

    def offer(self, item: TimerTaskList, time: int) -> None:
        self.told(item)
        super().offer(item, time)


class _CountingTimer(Timer):
    """Counts the buckets that go into its queue and come out."""

    def __init__(self, tick: int, wheel_size: int) -> None:
        super().__init__(tick, wheel_size)
        self.counts: Counter[str] = Counter()
        queue = _CountingQueue(self._offered)
        self._queue = queue     # type: ignore[misc]
        self._wheel = self.wheel(tick, wheel_size, 0, self._counter, queue)

    def _offered(self, bucket: TimerTaskList) -> None:
        self.counts["offered"] += 1
        self.counts["lowest"] += self._is_lowest(bucket)

    def _is_lowest(self, bucket: TimerTaskList) -> bool:
        return any(bucket is own for own in self._wheel.buckets)

    def _expire(self, bucket: TimerTaskList, now: int) -> None:
        due: TimerTaskList | None = bucket
        while due is not None:
            if due.root.next is due.root:
                self.counts["empty"] += 1
                self.counts["lowest_empty"] += self._is_lowest(due)
            self._wheel.advance(due.expiration)
            due.flush(self._place)
            due = self._queue.poll(now)


def queued(case: Case, requests: int, rate: float) -> Queued:
    """Run a case through the timing wheels, and count buckets; a function of its arguments."""
    settings = Settings()
    contender = NewPurgatory(settings)
    timer = _CountingTimer(settings.tick, settings.wheel_size)
    contender._purgatory = contender._new = Purgatory(settings.purge_interval, timer=timer)
    contender._watch = contender._new.try_complete_else_watch
    workload = draw(case, rate, requests, settings.seed)
    in_virtual_time(contender, workload, settings, UNLIMITED)
    return Queued(case.name, requests, **{
        name: timer.counts[name] for name in ("offered", "lowest", "empty", "lowest_empty")})


def _counting(purgatory: Any, held: Counter[str]) -> None:
    """Have a purgatory count the entries that its purges look at, and what it holds then."""
    purge: Callable[[], int] = purgatory._purge_lists

    def counted() -> int:
        held["scanned"] += purgatory.watched
        return purge()

    kind = type(purgatory)
    purgatory.__class__ = type(kind.__name__, (kind,), {
        "__slots__": (), "_purge_lists": lambda self: counted()})


def held(case: Case, interval: int, requests: int, rate: float, *, old: bool) -> Held:
    """Run a case through a purgatory with a purge interval, and count what it holds."""
    settings = Settings(purge_interval=interval)
    contender: Any = (OldDesign if old else NewPurgatory)(settings)
    purgatory: OldPurgatory | Purgatory = contender._purgatory
    counts: Counter[str] = Counter()
    _counting(purgatory, counts)
    advance = contender.advance

    def advanced(now: int) -> None:
        counts["largest"] = max(counts["largest"], purgatory.watched + purgatory.delayed)
        advance(now)

    contender.advance = advanced
    workload = draw(case, rate, requests, settings.seed)
    in_virtual_time(contender, workload, settings, UNLIMITED)
    return Held(case.name, contender.name, interval, requests, counts["largest"],
                counts["scanned"])


def sweep(requests: int, rate: float, intervals: tuple[int, ...] = INTERVALS) -> Iterator[Held]:
    """Both designs, both cases, each interval."""
    for case in CASES:
        for old in (False, True):
            for interval in intervals:
                yield held(case, interval, requests, rate, old=old)


def main() -> None:
    """Count, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=20_000, help="requests (default: 20,000)")
    parser.add_argument("--rate", type=float, default=10_000, help="a second (default: 10,000)")
    options = parser.parse_args()
    print(f"{options.num:,} requests at {options.rate:,.0f} a second, in virtual time\n")
    print("case   offers a request   of the lowest wheel   empty when polled   (lowest wheel)")
    for case in CASES:
        row = queued(case, options.num, options.rate)
        print(f"{row.case:6} {row.a_request:16.3f} {row.lowest:21,} {row.empty:19,} "
              f"{row.lowest_empty:16,}", flush=True)
    print("\ncase   purgatory         purge interval   largest, entries   scanned, a request")
    for each in sweep(options.num, options.rate):
        print(f"{each.case:6} {each.contender:16} {each.interval:15,} {each.largest:18,} "
              f"{each.scans:20.1f}", flush=True)


if __name__ == "__main__":
    main()
