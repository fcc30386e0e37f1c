"""A master with a bounded queue of jobs, and workers that ask for them.

The master takes every job that comes. Its queue has ``places``; where there is none left, the
oldest job is dropped, and whoever submitted it is told so. An idle worker asks, perhaps again and
again, and each ask says how many jobs the worker has got so far. So the master passes over an ask
that is late or comes twice, and a worker never has two jobs.

Whether clients are held back is not decided here but by whoever reads from them: each job that
leaves the queue, to a worker or dropped, says whose it was, and so gives a place back (see
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
    """What a client wants done: ``number`` is the client's name for it, of whatever kind."""

    client: Hashable
    number: Any
    body: Any = None


class Happens(enum.Enum):
    """What becomes of a job: the first two of one that waits, the last of one that was given."""

    GIVEN = "given to a worker"
    DROPPED = "dropped"
    LOST = "lost with its worker"


class News(NamedTuple):
    """Something that happens to a job; ``worker`` gets it, or was the one that had it."""

    what: Happens
    job: Job
    worker: Hashable = None


class Master:
    """The queue, who is asking, and who has which job."""

    def __init__(self, places: int) -> None:
        self._queue: BoundedQueue[Job] = BoundedQueue(places, Overflow.DROP_OLDEST)
        self._asking: dict[Hashable, None] = {}
        self._given: dict[Hashable, int] = {}
        self._at: dict[Hashable, Job] = {}

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def places(self) -> int:
        """How many jobs may wait."""
        return self._queue.capacity

    def submit(self, job: Job) -> list[News]:
        """A job comes; what happens then, to this one or to others."""
        dropped = [News(Happens.DROPPED, old) for old in self._queue.put(job).dropped
                   if isinstance(old, Job)]
        return dropped + self._give()

    def ask(self, worker: Hashable, got: int) -> list[News]:
        """A worker asks, which has got so many jobs so far."""
        if self._is_news(worker, got):
            self._asking[worker] = None
        return self._give()

    def done(self, worker: Hashable) -> Job:
        """A worker is done; its job. Raises ``LinkMisuse`` for one that has none."""
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
        """Jobs to those that are asking, first come, first served."""
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
    """One that works on a job at a time, and asks while it has none."""

    def __init__(self) -> None:
        self._got = 0
        self._job: Any = None
        self.is_idle = True

    @property
    def got(self) -> int:
        """How many jobs have come: what its asks say."""
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
