"""Backpressure status in Storm: how a worker informs others which of its tasks are backlogged.

Theory of operation
-------------------
The receiving worker has a ``StatusTracker``, each sending worker ``RemoteFlags``. A status is
a snapshot of all tasks of its worker, with the worker's incarnation and a number. There is no
network in here: statuses to be sent are returned, and those that arrived are handed in, late, lost,
doubled or in another order.

The receiving thread *spills* tuples while the timer's thread *checks* for drained overflowQs;
both send statuses. So that they can be interleaved, the work of the receiving thread is an
iterator: every item is one access to shared data, with the statuses that it sends (most send none).

The protocol differs from Storm's in four places, each of which prevents an endless stall:

* The number is taken *before* the flags are read, so a newer number means a newer snapshot,
  and the sender ignores a status older than the newest from the same incarnation.
* A new connection is added to the known ones *before* it gets its snapshot.
* The status is repeated every so many checks, changed or not: that repairs any loss.
* The tuple is put into the overflowQ *before* the flag is read, so that no check can
  clear the flag between the two.

Invariants
----------
* once the receiving thread is idle, a task with a non-empty overflowQ is marked;
* every change of a flag is sent to every connection;
* a sender's flags are those of the newest status that it has heard;
* a call that raises has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = [
    "REMINDER_TUPLES", "REPEAT_CHECKS", "RemoteFlags", "Sent", "Status", "StatusMisuse",
    "StatusTracker", "UnknownTask", "UnknownWorker",
]

REMINDER_TUPLES: Final = 10_000
"""Storm's RESEND_BACKPRESSURE_SIZE: growth of an overflowQ after which a status is sent again."""

REPEAT_CHECKS: Final = 20
"""Checks between repetitions: one a second, with Storm's check every 50 ms."""


class StatusMisuse(ValueError):
    """The caller broke a rule of the protocol; nothing has changed.

    Usual causes: a negative reminder, no check between repetitions, a connection that is
    there already or not at all. See also ``UnknownTask`` and ``UnknownWorker``.
    """


class UnknownTask(StatusMisuse):
    """The task is not this worker's, perhaps not any more: drop its tuple and continue."""


class UnknownWorker(StatusMisuse):
    """The status comes from a worker of which this sender knows nothing."""


@dataclass(frozen=True, slots=True)
class Status:
    """A snapshot of all tasks of one incarnation of a worker."""

    worker: str
    incarnation: int
    number: int
    blocked: frozenset[int]
    free: frozenset[int]


class Sent(NamedTuple):
    """A status, and the connection that it is to be written to."""

    connection: str
    status: Status


Steps = Iterator[tuple[Sent, ...]]
"""The steps of a thread: one access to shared data each, with the statuses that it sends."""


class StatusTracker:
    """The receiving worker's side, for the tasks of ``worker``.

    ``reminder`` is how much an overflowQ may grow (in tuples) before a status is sent again,
    ``repeat`` how many checks pass between repetitions, ``incarnation`` grows with each
    restart of the worker. Raises ``StatusMisuse`` for numbers that make no sense.
    """

    def __init__(
        self, worker: str, tasks: Iterable[int], *, reminder: int = REMINDER_TUPLES,
        repeat: int = REPEAT_CHECKS, incarnation: int = 0,
    ) -> None:
        for what, value, low in (("a reminder", reminder, 0), ("a repetition", repeat, 1),
                                 ("an incarnation", incarnation, 0)):
            if type(value) is not int or value < low:
                raise StatusMisuse(f"{what} is an integer from {low} up, not {value!r}")
        self.worker: Final = worker
        self.reminder: Final = reminder
        self.repeat: Final = repeat
        self.incarnation: Final = incarnation
        self._flags = dict.fromkeys(tasks, False)
        self._told_at = dict.fromkeys(self._flags, 0)
        self._connections: dict[str, None] = {}
        self._number = 0
        self._quiet_checks = 0

    @property
    def blocked(self) -> frozenset[int]:
        """The tasks that are marked as backlogged."""
        return frozenset(task for task, flag in self._flags.items() if flag)

    # -- the receiving thread -----------------------------------------------------------------

    def spill(self, task: int, before: int, put: Callable[[], object]) -> Steps:
        """A tuple for ``task`` found no free slot in recvQ, and ``before`` are in the overflowQ.

        ``put`` adds it there; it is called at the right moment. Raises ``UnknownTask``, at
        once, for a task of another worker.
        """
        if task not in self._flags:
            raise UnknownTask(f"{task!r} is no task of {self.worker}")
        return self._spill(task, before, put)

    def _spill(self, task: int, before: int, put: Callable[[], object]) -> Steps:
        put()
        yield ()
        is_worth_telling = self._mark(task, before)
        yield ()
        if is_worth_telling:
            yield from self._tell()

    def _mark(self, task: int, before: int) -> bool:
        """Set the flag; true if a status has to be sent."""
        due = self._is_reminder_due(task, before)
        worth = due or not self._flags[task]
        if worth:
            self._told_at[task] = before
        self._flags[task] = True
        return worth

    def _is_reminder_due(self, task: int, before: int) -> bool:
        return before - self._told_at[task] > self.reminder

    def connect(self, connection: str) -> Steps:
        """Add a new connection, and send the current status to it.

        Raises ``StatusMisuse``, at once, for a connection that is there already.
        """
        if connection in self._connections:
            raise StatusMisuse(f"{connection!r} is connected already")
        return self._connect(connection)

    def _connect(self, connection: str) -> Steps:
        self._connections[connection] = None
        yield ()
        yield from self._tell(connection)

    def disconnect(self, connection: str) -> None:
        """A connection is gone. Raises ``StatusMisuse`` for one that is not there."""
        if connection not in self._connections:
            raise StatusMisuse(f"{connection!r} is not connected")
        del self._connections[connection]

    # -- the timer's thread -------------------------------------------------------------------

    def check(self, overflow_sizes: Mapping[int, int]) -> tuple[Sent, ...]:
        """Clear the flags of the tasks with an empty overflowQ, and send a status if there is a
        reason.

        A task that is not in ``overflow_sizes`` has an empty one.
        """
        drained = [task for task in self.blocked if not overflow_sizes.get(task, 0)]
        for task in drained:
            self._clear(task)
        self._quiet_checks += 1
        if drained or self._is_repetition_due():
            return tuple(sent for step in self._tell() for sent in step)
        return ()

    def _clear(self, task: int) -> None:
        self._flags[task] = False
        self._told_at[task] = 0

    def _is_repetition_due(self) -> bool:
        return self._quiet_checks >= self.repeat

    # -- sending a status, by either thread ---------------------------------------------------

    def _tell(self, only: str | None = None) -> Steps:
        """Send a status to every connection existing at that moment, or to one only."""
        number = self._take_number()
        yield ()
        status = self._read(number)
        yield ()
        if only is None:
            self._quiet_checks = 0
        yield tuple(Sent(each, status) for each in self._connections if only in (None, each))

    def _take_number(self) -> int:
        self._number += 1
        return self._number

    def _read(self, number: int) -> Status:
        blocked = self.blocked
        return Status(
            self.worker, self.incarnation, number, blocked, frozenset(self._flags) - blocked)


class RemoteFlags:
    """The sending worker's side: which tasks of other workers must not be sent to.

    ``tasks`` has the tasks of each worker that this one sends to; all are free at first.
    """

    def __init__(self, tasks: Mapping[str, Iterable[int]]) -> None:
        self._newest: dict[str, tuple[int, int]] = dict.fromkeys(tasks, (-1, 0))
        self._flags = {task: False for each in tasks.values() for task in each}

    @property
    def blocked(self) -> frozenset[int]:
        """The tasks of which the newest status that was heard says that they are backlogged."""
        return frozenset(task for task, flag in self._flags.items() if flag)

    def is_blocked(self, task: int) -> bool:
        """True if nothing may be sent to a task. Raises ``UnknownTask``."""
        if task not in self._flags:
            raise UnknownTask(f"{task!r} is no task of a worker that is known here")
        return self._flags[task]

    def hear(self, status: Status) -> bool:
        """Take a status; true if it was news.

        A status older than the newest heard from the worker is ignored; so are its entries
        about tasks that are not known here. Raises ``UnknownWorker``.
        """
        if status.worker not in self._newest:
            raise UnknownWorker(f"{status.worker!r} is no worker that is known here")
        if not self._is_news(status):
            return False
        self._newest[status.worker] = (status.incarnation, status.number)
        self._apply(status)
        return True

    def _is_news(self, status: Status) -> bool:
        return (status.incarnation, status.number) > self._newest[status.worker]

    def _apply(self, status: Status) -> None:
        for tasks, flag in ((status.blocked, True), (status.free, False)):
            for task in tasks:
                if task in self._flags:
                    self._flags[task] = flag

    def disconnected(self, worker: str) -> None:
        """The connection to a worker broke: its flags stay as they are until it is heard."""
        if worker not in self._newest:
            raise UnknownWorker(f"{worker!r} is no worker that is known here")
