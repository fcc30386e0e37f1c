"""One thread that brings requests to a contender, completes them, and tells it the time.

Requests that are completed before their timeout wait in a ring of lists, one for each ms: a queue
of completions that costs next to nothing, so that the contenders are measured and not it. The ms
are gone through one by one, also by a driver that is late, so that being late changes no outcome.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .contenders import Contender
from .workload import Settings, Workload

__all__ = ["Measured", "in_real_time", "in_virtual_time"]

BATCH = 100  # requests between two looks at the clock
GRACE = 1.0  # seconds after the last timeout for a contender that is late


@dataclass
class Measured:
    """What a run came to; times in seconds, sizes in entries.

    ``seconds`` pass until the last request is enqueued, ``all_seconds`` and ``cpu_seconds`` until
    the last is complete. ``largest_pending`` counts the requests that are neither completed nor
    expired, and so does ``left``, at the end of a run that was stopped.
    """

    requests: int = 0
    expired: int = 0
    seconds: float = 0.0
    all_seconds: float = 0.0
    cpu_seconds: float = 0.0
    gc_seconds: float = 0.0
    largest_size: int = 0
    largest_pending: int = 0
    purges: int = 0
    left: int = 0

    @property
    def rate(self) -> float:
        """Requests enqueued a second."""
        return self.requests / self.seconds if self.seconds else 0.0

    @property
    def cpu_rate(self) -> float:
        """Requests a processor second, for all that happens to them."""
        return self.requests / self.cpu_seconds if self.cpu_seconds else 0.0


@dataclass
class _Driver:
    contender: Contender[Any]
    settings: Settings
    limit: float
    clock: Callable[[], float]
    measured: Measured = field(default_factory=Measured)
    now: int = 0
    completed: int = 0

    def __post_init__(self) -> None:
        self.due: list[list[Any]] = [[] for _ in range(self.settings.timeout)]
        self.begun = self.clock()

    @property
    def pending(self) -> int:
        return self.measured.requests - self.completed - self.contender.expired

    def seconds(self) -> float:
        """Since the run began."""
        return self.clock() - self.begun

    def advance(self, now: int) -> bool:
        """Complete and expire all that is due until ``now``; False if the limit came before."""
        contender, due = self.contender, self.due
        for moment in range(self.now + 1, now + 1):
            if self.seconds() > self.limit:
                return False
            place = moment % len(due)
            tickets, due[place] = due[place], []
            self.now = moment
            contender.complete(tickets)
            self.completed += len(tickets)
            contender.advance(moment)
        return True

    def enqueue(self, latencies: list[int]) -> None:
        """Bring requests with these latencies now."""
        enqueue, due, now, timeout = self.contender.enqueue, self.due, self.now, len(self.due)
        at_once = 0
        for latency in latencies:
            ticket = enqueue(latency)
            if ticket is None:
                at_once += 1
            elif latency < timeout:
                due[(now + latency) % timeout].append(ticket)
        self.completed += at_once
        measured = self.measured
        measured.requests += len(latencies)
        measured.largest_size = max(measured.largest_size, self.contender.size)
        measured.largest_pending = max(measured.largest_pending, self.pending)

    def wait_until(self, now: int) -> None:
        """Sleep until that ms begins; not at all, if it has."""
        left = now / 1000 - self.seconds()
        if left > 0:
            time.sleep(left)


def in_virtual_time(
    contender: Contender[Any], workload: Workload, settings: Settings, limit: float = inf,
) -> Measured:
    """The whole life of the requests, without waiting for anything.

    Stops after ``limit`` seconds. All seconds here are those of the processor.
    """
    arrivals, latencies = workload.arrivals, workload.latencies
    with _accounted(_Driver(contender, settings, limit, time.process_time)) as driver:
        following = 0
        for moment in range(arrivals[-1] + settings.timeout + 1):
            if not driver.advance(moment):
                break
            first, following = following, bisect_right(arrivals, moment, following)
            if following > first:
                driver.enqueue(latencies[first:following])
                driver.measured.seconds = driver.seconds()
    return driver.measured


def in_real_time(
    contender: Contender[Any], workload: Workload, settings: Settings, limit: float = inf,
) -> Measured:
    """Each request comes at its time or as soon as it can be taken, for ``limit`` s at most, but
    those that come first in any case.

    What is due is completed and expired before more is enqueued, so the rate of a contender that
    cannot keep up is one that it can sustain, or less.
    """
    arrivals, latencies = workload.arrivals, workload.latencies
    with _accounted(_Driver(contender, settings, limit, time.perf_counter)) as driver:
        following = 0
        while following < len(arrivals):
            now = int(driver.seconds() * 1000)
            # On a busy machine all of the time may be over before the first request has come.
            if not driver.advance(now) and following:
                break
            first, end = following, min(following + BATCH, len(arrivals))
            following = bisect_right(arrivals, now, first, end)
            if following == first:
                driver.wait_until(driver.now + 1)
            else:
                driver.enqueue(latencies[first:following])
        driver.measured.seconds = driver.seconds()
        _finish(driver)
    return driver.measured


def _finish(driver: _Driver) -> None:
    """Let what is pending come to its end, unless it takes much longer than it should."""
    driver.limit = driver.seconds() + driver.settings.timeout / 1000 + GRACE
    while driver.pending:
        driver.wait_until(driver.now + 1)
        if not driver.advance(int(driver.seconds() * 1000)):
            break


@contextmanager
def _accounted(driver: _Driver) -> Iterator[_Driver]:
    """Add up the processor's time and the collector's.

    The collector never looks at what exists already, so that all runs begin alike.
    """
    pauses: list[float] = []

    def pause(phase: str, _info: dict[str, int]) -> None:
        pauses.append(time.process_time() * (1 if phase == "stop" else -1))

    gc.collect()
    gc.freeze()
    gc.callbacks.append(pause)
    driver.begun, before = driver.clock(), time.process_time()
    try:
        yield driver
    finally:
        measured = driver.measured
        measured.cpu_seconds = time.process_time() - before
        measured.all_seconds = driver.seconds()
        gc.callbacks.remove(pause)
        gc.unfreeze()
    measured.gc_seconds = sum(pauses)
    measured.left = driver.pending
    measured.expired, measured.purges = driver.contender.expired, driver.contender.purges
