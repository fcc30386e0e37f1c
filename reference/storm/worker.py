"""A worker: its tasks with their inputs, the transfer queue, and the backpressure status.

Theory of operation
-------------------
A message to a task of the same worker goes into that task's recvQ or is refused. A message to
a remote task is refused while the task is known to be backlogged, or while the transfer queue
is full; otherwise it goes to the transfer queue. Its thread, here ``drain``, takes from the head:
a message without a connection is dropped and counted, one for a connection that is not writable
waits there (and, there being one thread, all behind it). Messages taken together are grouped by
task, so on a connection only the order from task to task survives.

``receive`` is the receiving thread: it never waits, and drops tuples for a task that is not
(or no longer) here. When it spills, statuses are sent to the senders; ``check`` sends them when the
overflowQ has drained, and repeats the status from time to time, so that no loss lasts.

One timer ticks for all tasks of the worker. A tick goes into the task's recvQ; if that is
full it stays due, and the timer continues with the others (Storm's timer waits there, and with it
the ticks of all others, D14). At most one tick is due to a task.

With ``batch`` above 1 a local message goes into its sender's batch first, and the receiving
thread has a batch of its own. A timer puts a flush into the recvQ of each task that has
messages in a batch, or skips it if there is no free slot; the task flushes when it gets there.
Ticks and flushes are not recorded.

There is no network, no clock and no thread in here. A worker that dies is thrown away; a new
one with the next ``life`` takes its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import groupby
from random import Random
from typing import Final, NamedTuple

from .executor import AckerTask, BoltTask, Context, Executor, Log, SpoutTask
from .messages import Kind, Message
from .status import (
    REMINDER_TUPLES, REPEAT_CHECKS, RemoteFlags, Sent, Status, StatusTracker,
)
from .task_input import TaskInput
from .topologies import Topology

__all__ = [
    "Parts", "Place", "Settings", "SettingsMisuse", "Waiting", "Worker", "name_of", "rounded_up",
]

_MAY_BE_0: Final = ("overflow_limit", "max_pending", "reminder")

STORM_CAPACITY: Final = 32_768
STORM_TRANSFER_CAPACITY: Final = 1_000
"""Storm's ``topology.executor.receive.buffer.size`` and ``topology.transfer.buffer.size``."""


class SettingsMisuse(ValueError):
    """A size is negative, no integer, or 0 although there has to be room."""


@dataclass(frozen=True)
class Settings:
    """Sizes in messages; ``overflow_limit`` and ``max_pending`` 0 mean that there is none.

    ``link_capacity`` messages under way make a connection that is not writable. ``timeout`` is
    the time between two ticks of the message timeout, in instants of the driver's clock.
    The defaults are small, so that a short run fills every queue; ``storm`` gives Storm's own.

    Raises ``SettingsMisuse`` for sizes that make no sense.
    """

    capacity: int = 4
    overflow_limit: int = 0
    transfer_capacity: int = 8
    max_pending: int = 0
    per_round: int = 1
    reminder: int = 16
    repeat: int = 4
    batch: int = 1
    link_capacity: int = 8
    timeout: int = 300

    @classmethod
    def storm(cls, *, capacity: int = STORM_CAPACITY,
              transfer_capacity: int = STORM_TRANSFER_CAPACITY, max_pending: int = 0) -> Settings:
        """Storm's defaults. Its array queues round their capacity up to a power of two."""
        return cls(capacity=rounded_up(capacity), transfer_capacity=rounded_up(transfer_capacity),
                   max_pending=max_pending, reminder=REMINDER_TUPLES, repeat=REPEAT_CHECKS)

    def __post_init__(self) -> None:
        for each in fields(self):
            size, least = getattr(self, each.name), 0 if each.name in _MAY_BE_0 else 1
            if type(size) is not int or size < least:
                raise SettingsMisuse(f"{each.name} is an integer from {least} up, not {size!r}")


def rounded_up(capacity: int) -> int:
    """The least power of two from a capacity of 1 or more up; 2 at least, as in JCTools."""
    return max(2, 1 << (capacity - 1).bit_length())


@dataclass(frozen=True)
class Parts:
    """The classes that a worker is put together from."""

    spout: type[SpoutTask] = SpoutTask
    bolt: type[BoltTask] = BoltTask
    acker: type[AckerTask] = AckerTask
    tracker: type[StatusTracker] = StatusTracker
    flags: type[RemoteFlags] = RemoteFlags
    inbox: type[TaskInput[Message]] = TaskInput


@dataclass(frozen=True)
class Place:
    """The place of a worker in the cluster: its number, its life, and the worker of every task."""

    number: int
    life: int
    worker_of: Mapping[int, int] = field(default_factory=dict)


class Waiting(NamedTuple):
    """A message in the transfer queue, and since when."""

    since: int
    message: Message


def name_of(worker: int) -> str:
    """The name by which statuses know a worker."""
    return f"worker {worker}"


class Worker:
    """One life of a worker.

    ``now`` returns the time, ``record`` receives events, ``pause`` is called before every
    message that a task sends; see ``executor.Context``.
    """

    def __init__(
        self, topology: Topology, place: Place, settings: Settings, log: Log, random: Random, *,
        record: Callable[..., None], now: Callable[[], int], parts: Parts | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        topology = topology.on(len(set(place.worker_of.values())))
        self.topology, self.place, self.settings = topology, place, settings
        self.record, self.now = record, now
        self.outgoing: deque[Waiting] = deque()
        self.connected: set[int] = set()
        parts = parts or Parts()
        here = [task for task, at in place.worker_of.items() if at == place.number]
        remote: dict[str, list[int]] = {}
        for task, at in place.worker_of.items():
            if at != place.number:
                remote.setdefault(name_of(at), []).append(task)
        self.flags = parts.flags(remote)
        self.tracker = parts.tracker(
            name_of(place.number), here, reminder=settings.reminder, repeat=settings.repeat,
            incarnation=place.life)
        self.owed: dict[int, None] = {}        # tasks with a tick that has yet to find a slot
        self._ticks = 0
        self._held_back: set[int] = set()       # tasks for which `held` was recorded
        batch = max(1, min(settings.batch, settings.capacity // 2))
        self.batches: Final = batch > 1         # a local message may wait in one for a flush
        far = [str(task) for tasks in remote.values() for task in tasks]
        self.inputs: dict[int, TaskInput[Message]] = {
            task: parts.inbox(
                settings.capacity, overflow_limit=settings.overflow_limit,
                batch=batch,
                remote=far, local=map(str, here))
            for task in here}
        context = Context(
            topology, self.transfer, record, random, place.life, pause, self.flush)
        self.tasks: dict[int, Executor] = {
            task: self._made(task, context, log, parts) for task in here}

    def _made(self, task: int, context: Context, log: Log, parts: Parts) -> Executor:
        component, inbox = self.topology.component_of(task), self.inputs[task]
        if component == "source":
            return parts.spout(task, inbox, context, log, self.settings.max_pending,
                               self.settings.per_round)
        return (parts.acker if component == "acker" else parts.bolt)(task, inbox, context)

    # -- messages of tasks --------------------------------------------------------------------

    def transfer(self, message: Message) -> bool:
        """Take a task's message, or refuse it."""
        if message.to in self.inputs:
            inbox = self.inputs[message.to]
            taken = inbox.publish(str(message.sender), message)
            if taken:
                self._note(message.to)
            return taken
        if self.flags.is_blocked(message.to):
            if message.to not in self._held_back:
                self._held_back.add(message.to)
                self.record("held", self.place.number, message.to)
            return False
        if len(self.outgoing) >= self.settings.transfer_capacity:
            return False
        self.outgoing.append(Waiting(self.now(), message))
        return True

    def drain(self, is_writable: Callable[[int], bool]) -> dict[int, list[Message]]:
        """The messages that the transfer thread sends now, by worker; it stops at one that must
        wait."""
        taken: dict[int, dict[int, list[Message]]] = {}
        room: set[int] = set()
        while self.outgoing:
            message = self.outgoing[0].message
            peer = self.place.worker_of[message.to]
            if peer not in self.connected:
                if not self._without_connection(message):
                    break
                continue
            # One batch for each connection: is it writable is asked once.
            if peer not in room and not is_writable(peer):
                break
            room.add(peer)
            self._leave()
            taken.setdefault(peer, {}).setdefault(message.to, []).append(message)
        return {peer: [message for group in groups.values() for message in group]
                for peer, groups in taken.items()}

    def _without_connection(self, message: Message) -> bool:
        """Drop the head if it has no connection, so that the thread can continue."""
        self._leave()
        self.lose(message)
        return True

    def _leave(self) -> None:
        waiting = self.outgoing.popleft()
        self.record("left", self.place.number, self.now() - waiting.since)

    def lose(self, message: Message) -> None:
        """Count a message as lost."""
        self.record("lost", message.sender, message.life, message.to, message.number)

    # -- arrivals -----------------------------------------------------------------------------

    def receive(self, messages: Iterable[Message]) -> list[Sent]:
        """The receiving thread: take messages from a connection; return statuses to send."""
        told: list[Sent] = []
        for (to, sender), run in groupby(messages, key=lambda each: (each.to, each.sender)):
            together = list(run)
            if to not in self.inputs:
                for message in together:
                    self.not_here(message)
                continue
            arrival = self.inputs[to].transfer(str(sender), together)
            for message, is_kept in zip(together, arrival.kept, strict=False):
                if not is_kept:
                    self.lose(message)
            self._note(to)
            for before in arrival.spilled:
                for step in self.tracker.spill(to, before, _is_put):
                    told.extend(step)
        return told

    def not_here(self, message: Message) -> None:
        """Handle a message for a task that is not of this worker, perhaps not any more."""
        self.lose(message)

    def hear(self, status: Status) -> None:
        """Take another worker's status; one older than the newest heard is ignored."""
        if self.flags.hear(status):
            self._held_back.clear()
            for tasks, is_blocked in ((status.blocked, 1), (status.free, 0)):
                for task in sorted(tasks):
                    self.record("heard", self.place.number, task, is_blocked)

    def _note(self, task: int) -> None:
        self.record("holds", task, *self.inputs[task].lengths())

    # -- connections and timers ---------------------------------------------------------------

    def reach(self, peer: int) -> None:
        """This worker has a connection on which it can send to another."""
        self.connected.add(peer)

    def cut_off(self, peer: int) -> None:
        """The connection is gone; the flags of the other's tasks stay as they were last heard."""
        self.connected.discard(peer)
        self.flags.disconnected(name_of(peer))

    def connect(self, peer: int) -> list[Sent]:
        """A sender has connected to this worker: return the status to send to it."""
        return [sent for step in self.tracker.connect(name_of(peer)) for sent in step]

    def disconnect(self, peer: int) -> None:
        """A sender's connection is gone."""
        self.tracker.disconnect(name_of(peer))

    def check(self) -> list[Sent]:
        """The backpressure-check-timer: return the statuses to send."""
        sizes = {task: inbox.lengths()[1] for task, inbox in self.inputs.items()}
        return list(self.tracker.check(sizes))

    def tick(self) -> None:
        """A period of the message timeout has passed: every task is owed a tick."""
        self.owed |= dict.fromkeys(self.tasks)
        self.run_timer()

    def run_timer(self) -> bool:
        """The timer's thread: put due ticks that find a free slot; true if there was any.

        The driver of a worker calls this from time to time; ``tick`` calls it as well.
        """
        served = [task for task in self.owed if self._put(Kind.TICK, task)]
        for task in served:
            del self.owed[task]
        return bool(served)

    def run_flush_timer(self) -> bool:
        """A flush for each task with messages in a batch; one without room is skipped."""
        served = [self._put(Kind.FLUSH, task) for task in self.tasks if self._batched(task)]
        return any(served)

    def _put(self, kind: Kind, task: int) -> bool:
        message = Message(kind, task, self.place.life, task, self._ticks, ())
        if not self.inputs[task].publish_directly(message):
            return False
        self._ticks += 1
        return True

    def _batched(self, sender: int) -> bool:
        name = str(sender)
        return any(inbox.batched(name) for inbox in self.inputs.values())

    def flush(self, sender: int) -> None:
        """Insert the messages of a task's batches, as far as they fit."""
        for to, inbox in self.inputs.items():
            if inbox.flush(str(sender)):
                self._note(to)

    def commit(self) -> None:
        """If the spout is here, it records its position."""
        for task in self.tasks.values():
            if isinstance(task, SpoutTask):
                task.commit()

    # -- its end ------------------------------------------------------------------------------

    def contents(self) -> list[Message]:
        """Take out all messages in it: they are lost when it dies. Ticks do not count."""
        found = [waiting.message for waiting in self.outgoing]
        self.outgoing.clear()
        for task in self.tasks.values():
            found += task.pending
            task.pending.clear()
            found += task.inbox.empty()
        return [message for message in found if message.kind not in (Kind.TICK, Kind.FLUSH)]

    def is_empty(self) -> bool:
        """True if all its queues are empty, and no bolt is at work."""
        return not self.outgoing and all(map(self._is_idle, self.tasks.values()))

    def _is_idle(self, task: Executor) -> bool:
        return not (task.pending or task.inbox.holds_any()
                    or (isinstance(task, BoltTask) and task.held is not None))


def _is_put() -> None:
    """Do nothing: the input has put the tuple into its overflowQ already."""
