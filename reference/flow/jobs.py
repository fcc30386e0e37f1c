"""A master with a bounded queue of jobs, and workers that ask for them.

The master takes every job that comes. Its queue has ``places``; if there is none left, the
oldest job is dropped, and its client is notified. An idle worker asks, perhaps again and
again, and each ask says how many jobs the worker has got so far. So the master ignores an ask
that is late or comes twice, and a worker never has two jobs.

Whether clients have to wait is not decided here but where their jobs are read: each job that
leaves the queue, to a worker or dropped, names its client, and so gives a place back (see
``Stage``).

Neither has a clock or a connection. A call that raises has changed nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Any, NamedTuple

from ..queue import EMPTY, BoundedQueue, Overflow
from .link import LinkMisuse

__all__ = ["Happens", "Job", "Master", "News", "Worker"]


class Job(NamedTuple):
    """A job of a client: ``number`` is the client's name for it, of whatever type."""

    client: Hashable
    number: Any
    body: Any = None


class Happens(enum.Enum):
    """The end of a job: the first two of one that waits, the last of one that was given."""

    GIVEN = "given to a worker"
    DROPPED = "dropped"
    LOST = "lost with its worker"


class News(NamedTuple):
    """Something that happens to a job; ``worker`` gets it, or had it."""

    what: Happens
    job: Job
    worker: Hashable = None


class Master:
    """The queue, the workers that are asking, and the job of each worker."""

    def __init__(self, places: int) -> None:
        self._queue: BoundedQueue[Job] = BoundedQueue(places, Overflow.DROP_OLDEST)
        self._asking: dict[Hashable, None] = {}
        self._given: dict[Hashable, int] = {}
        self._at: dict[Hashable, Job] = {}

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def places(self) -> int:
        """Number of jobs that may wait."""
        return self._queue.capacity

    def submit(self, job: Job) -> list[News]:
        """A job comes; return what happens then, to this one or to others."""
        dropped = [News(Happens.DROPPED, old) for old in self._queue.put(job).dropped
                   if isinstance(old, Job)]
        return dropped + self._give()

    def ask(self, worker: Hashable, got: int) -> list[News]:
        """A worker asks that has got ``got`` jobs so far."""
        if self._is_news(worker, got):
            self._asking[worker] = None
        return self._give()

    def done(self, worker: Hashable) -> Job:
        """A worker is done; return its job. Raises ``LinkMisuse`` for one that has none."""
        if worker not in self._at:
            raise LinkMisuse(f"worker {worker!r} has no job to be done with")
        return self._at.pop(worker)

    def leave(self, worker: Hashable) -> list[News]:
        """A worker has gone; the job that it had, if it had one, is lost."""
        self._asking.pop(worker, None)
        self._given.pop(worker, None)
        job = self._at.pop(worker, None)
        return [] if job is None else [News(Happens.LOST, job, worker)]

    def _give(self) -> list[News]:
        """Give jobs to the workers that are asking, first come, first served."""
        news = []
        while self._asking and (job := self._queue.poll().answer) is not EMPTY:
            assert isinstance(job, Job)
            worker = next(iter(self._asking))
            del self._asking[worker]
            self._given[worker] = self._given.get(worker, 0) + 1
            self._at[worker] = job
            news.append(News(Happens.GIVEN, job, worker))
        return news

    def _is_news(self, worker: Hashable, got: int) -> bool:
        # Another number is that of an ask which was answered meanwhile.
        return got == self._given.get(worker, 0) and worker not in self._at


class Worker:
    """A worker that works on one job at a time, and asks while it has none."""

    def __init__(self) -> None:
        self._got = 0
        self._job: Any = None
        self.is_idle = True

    @property
    def got(self) -> int:
        """Number of jobs that have come, as its asks report it."""
        return self._got

    def take(self, job: Any) -> None:
        """A job has come. Raises ``LinkMisuse`` while there is another one."""
        if not self.is_idle:
            raise LinkMisuse("a second job has come for a worker that has one")
        self._got += 1
        self._job, self.is_idle = job, False

    def finish(self) -> Any:
        """It is done with its job, which is returned. Raises ``LinkMisuse`` without one."""
        if self.is_idle:
            raise LinkMisuse("there is no job to be done with")
        job, self._job, self.is_idle = self._job, None, True
        return job
