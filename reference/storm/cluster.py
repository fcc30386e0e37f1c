"""A cluster of workers in virtual time: no clock, no threads, one seed.

Theory of operation
-------------------
Time is a sequence of instants. In each, what is due happens first (faults, timers, arrivals);
then the actors, which are the executors and the transfer thread of each worker, take their
turns in an order that the seed decides, and some do not get a turn at all. No turn is atomic:
before any message that a task sends, others may have theirs, so that room appears, or is gone,
between two emits of one execution. If nothing can happen, time jumps to the next instant at
which something is due. An instant is Storm's millisecond: no executor waits longer than that
between two turns (see ``waiting``), so each may have one at every instant.

Events are recorded: a ``Happened`` for each, in order. The same scenario gives the
same history, on every machine. The words are:

    emitted sender life to number       a message was emitted
    processed task sender life number   the task took it from its input
    lost sender life to number          it was lost, and counted
    holds task recvq overflowq          lengths of a task's queues after a tuple came
    stands task count                   messages in its pendingEmits, after a turn
    pends task count                    pending roots of a spout, after a round
    root message root                   the spout begins an attempt
    reached message root part           a part is processed at the sink
    acked message root, failed message root
    failing task root                   a bolt failed a tuple of the attempt
    asking task root                    a bolt asked for more time for the attempt
    raised task                         its user code raised an exception that is not caught
    left worker waited                  a message left the transfer queue
    wrote worker to standing            to a connection with so many messages under way
    heard worker task blocked           the newest status says that the task is backlogged, or not
    held worker task                    a message for the task is held back because of that
    killed worker, died worker why, began worker life
    forgot task spout                   the tuples that a task held are lost with its worker
    rested, stalled cycle               how it ended

A worker that raises has died, and a new one takes its place; the same holds for one that a fault
kills. Everything in it, or on its connections, is lost and counted. A run ends when it is quiescent
(the source is exhausted, every message acked, every queue empty), or is given up: when ``PATIENCE``
instants have passed since the last fault (``PATIENCE_OF_EACH`` for each message, if these are
more), or ``QUIET_PERIODS`` without any event, or more than
``DEATHS_MAX`` workers have died without being killed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final, NamedTuple

from .executor import BoltTask, Log, SpoutTask
from .faults import Fault, Scenario, What
from ..links import Connection
from ..numbers import below, shuffled
from .status import Sent, Status
from .topologies import Kind, Message, deploy
from .worker import Parts, Place, Worker, name_of

__all__ = ["Cluster", "Happened", "PATIENCE", "QUIET_PERIODS", "run"]

_Actor = tuple[int, int | None]
"""A worker with one of its tasks, or with its transfer thread."""

PATIENCE: Final = 5_000
"""Instants after the last fault within which a run has to become quiescent, unless it has many
messages."""

PATIENCE_OF_EACH: Final = 80
"""Instants for each message of a run with many. It takes 3 to 14 where all goes well, and each
replay waits for the timeout first."""

QUIET_PERIODS: Final = 5
"""Periods of the message timeout without an event after which there will be none: every timer
has fired by then, as often as anything waits for it (a root waits longest, for three ticks)."""

DEATHS_MAX: Final = 20
"""Number of deaths without a kill after which workers are not restarted any more."""

CHECK_EVERY, COMMIT_EVERY, FLUSH_EVERY = 10, 40, 3
DELAY_MAX: Final = 4
ASKS: Final = 6
"""Requests for more time by a bolt that works for long, in a period of the message timeout."""

INTERLEAVING: Final = 0.25
"""Probability that others have a turn before a message is sent."""

TURNS_BETWEEN: Final = 3
"""Largest number of such turns."""

NEVER: Final = 1 << 62
"""An instant after every other one."""

SLOWNESS: Final = 7
RESTART_AFTER: Final = 20
GHOST: Final = 10_000
"""A task of which this cluster's workers know nothing."""


class Happened(NamedTuple):
    """An event: its instant, its word, and its fields."""

    at: int
    what: str
    about: tuple[int | str, ...]


_HAPPENED: Final[Callable[[tuple[int, str, tuple[int | str, ...]]], Happened]] = partial(
    tuple.__new__, Happened)
"""Makes an event of its fields, in a third of the time: a run has hundreds."""


class _Gone(BaseException):
    """The worker of the task that has its turn died while others had theirs."""


class Cluster:
    """One run of a scenario, with workers that are put together from ``parts``."""

    def __init__(self, scenario: Scenario, parts: Parts | None = None,
                 worker_type: type[Worker] = Worker) -> None:
        self.scenario, self.parts = scenario, parts or Parts()
        self.worker_type = worker_type
        self.worker_of = deploy(scenario.topology, scenario.workers)
        self.random = Random(scenario.seed)
        self.log = Log(scenario.messages)
        self.now = 0
        self._period = scenario.settings.timeout
        self.history: list[Happened] = []
        self.workers: dict[int, Worker | None] = dict.fromkeys(range(scenario.workers))
        self._lives = dict.fromkeys(self.workers, -1)
        self._strays = self._deaths = 0
        self._at_turn: list[_Actor] = []        # actors with turns under way, nested
        self._busy_until: dict[int, int] = {}
        self._due: list[tuple[int, Callable[[], None]]] = []
        self._soonest = 0               # no call in it is due before that
        self._patience = max(PATIENCE, PATIENCE_OF_EACH * scenario.messages)
        self._actors: list[_Actor] = []
        self._spouts: list[SpoutTask] = []
        self.connections: dict[tuple[int, int], Connection[Message, Status]] = {
            (one, other): Connection(self._delay, scenario.settings.link_capacity)
            for one in self._lives for other in self._lives if one != other}
        for connection in self.connections.values():
            connection.down = 2         # neither end is up
        for number in self._lives:
            self._begin(number)
        for fault in scenario.faults:
            self._at(fault.at, partial(self._begin_fault, fault))

    def run(self) -> tuple[Happened, ...]:
        """Run to the end: the history."""
        while not self.is_at_rest():
            if self._is_given_up():
                cycle = " -> ".join(map(str, self.cycle()))
                self.record("stalled", f"in a cycle: {cycle}" if cycle else "in no cycle")
                return tuple(self.history)
            something = self._what_is_due()
            something = self._arrivals() or something
            something = self._turns() or something
            self.now = self.now + 1 if something else self._next_instant()
        self.record("rested")
        return tuple(self.history)

    def _is_given_up(self) -> bool:
        last_fault = self.scenario.last_fault
        return (self.now - last_fault > self._patience or self._deaths > DEATHS_MAX
                or self.now - max(self.history[-1].at, last_fault) > QUIET_PERIODS * self._period)

    def record(self, what: str, *about: int | str) -> None:
        """Put an event into the history, with the time."""
        self.history.append(_HAPPENED((self.now, what, about)))

    def _delay(self) -> int:
        return 1 + below(self.random, DELAY_MAX)

    def _at(self, when: int, what: Callable[[], None]) -> None:
        self._due.append((when, what))
        self._soonest = min(self._soonest, when)

    # -- an instant ---------------------------------------------------------------------------

    def _what_is_due(self) -> bool:
        """Do all that is due at this instant, timers and ticks of every worker too; true if any
        was."""
        due = self._take_due() if self._soonest <= self.now else ()
        for what in due:
            what()
        for number, worker in self.workers.items():
            if worker is None:
                continue
            if self.now % CHECK_EVERY == 0:
                self._guarded(number, partial(self._check, worker))
            if self.now % self._period == self._period - 1:
                self._guarded(number, worker.tick)
            if worker.owed:
                self._guarded(number, worker.run_timer)
            if worker.batches and self.now % FLUSH_EVERY == 0:
                self._guarded(number, worker.run_flush_timer)
            if self.now % COMMIT_EVERY == 0:
                self._guarded(number, worker.commit)
        return bool(due)

    def _take_due(self) -> list[Callable[[], None]]:
        due = [what for when, what in self._due if when <= self.now]
        self._due = [(when, what) for when, what in self._due if when > self.now]
        self._soonest = min((when for when, _ in self._due), default=NEVER)
        return due

    def _arrivals(self) -> bool:
        something = False
        for (one, other), connection in self.connections.items():
            if connection.down or not connection.has_arrived(self.now):
                continue
            sender, receiver = self.workers[one], self.workers[other]
            if sender is None or receiver is None:
                continue
            for status in connection.statuses.arrived(self.now):
                something = True
                self._guarded(one, partial(sender.hear, status))
            messages = connection.tuples.arrived(self.now)
            if messages:
                something = True
                self._guarded(other, partial(self._receive, receiver, messages))
        return something

    def _turns(self) -> bool:
        """The actors' turns; those that were left out get theirs if no other actor has anything to
        do."""
        chosen: list[_Actor] = []
        left_out: list[_Actor] = []
        chance = self.random.random
        for actor in shuffled(self.random, self._actors):
            (chosen if chance() < 0.75 else left_out).append(actor)
        return self._turns_of(chosen) or self._turns_of(left_out)

    def _turns_of(self, actors: list[_Actor]) -> bool:
        """Give each of them its turn; true if anything happened in any."""
        happened = False
        for actor in actors:
            happened = self._turn(*actor) or happened
        return happened

    def _turn(self, number: int, task: int | None) -> bool:
        """An actor's turn; most of them have nothing to do, and are not asked any further."""
        worker = self.workers[number]
        if worker is None:
            return False
        if task is None:
            return bool(worker.outgoing) and self._guarded(
                number, partial(self._transfer_thread, worker))
        executor = worker.tasks[task]
        if executor.rests() or self._busy_until.get(task, -1) > self.now:
            return False
        self._at_turn.append((number, task))
        happened = self._guarded(number, executor.call)
        self._at_turn.pop()
        if happened and task in self._busy_until:
            self._busy_until[task] = self.now + SLOWNESS
        return happened

    def _pause(self) -> None:
        """Now and then, others have their turns before a task sends a message."""
        if len(self._at_turn) != 1 or self.random.random() >= INTERLEAVING:
            return
        number = self._at_turn[0][0]
        worker = self.workers[number]
        others = [actor for actor in self._actors if actor != self._at_turn[0]]
        for actor in self.random.sample(others, min(TURNS_BETWEEN, len(others))):
            self._turn(*actor)
        if self.workers[number] is not worker:
            raise _Gone

    def _transfer_thread(self, worker: Worker) -> bool:
        number = worker.place.number
        before = len(worker.outgoing)
        sent = worker.drain(
            lambda peer: self.connections[number, peer].tuples.is_writable())
        for peer, messages in sent.items():
            way = self.connections[number, peer].tuples
            self.record("wrote", number, peer, len(way))
            for message in messages:
                way.send(self.now, message)
        return len(worker.outgoing) < before

    def _next_instant(self) -> int:
        """The next instant at which something is due, if nothing happens before."""
        whens = [when for when, _ in self._due]
        whens += [when for when in self._busy_until.values() if when > self.now]
        for connection in self.connections.values():
            for when in (connection.tuples.next_arrival(), connection.statuses.next_arrival()):
                if when is not None and connection.is_up:
                    whens.append(when)
        whens += [self.now + CHECK_EVERY - self.now % CHECK_EVERY]
        if self.scenario.settings.batch > 1:
            whens += [self.now + FLUSH_EVERY - self.now % FLUSH_EVERY]
        # The last instant of a period is the one of its tick.
        whens += [self.now + self._period - (self.now + 1) % self._period]
        return max(self.now + 1, min(whens))

    # -- what workers send --------------------------------------------------------------------

    def _check(self, worker: Worker) -> bool:
        return self._tell(worker.check(), worker)

    def _receive(self, worker: Worker, messages: list[Message]) -> bool:
        return self._tell(worker.receive(messages), worker)

    def _tell(self, told: list[Sent], by: Worker) -> bool:
        for connection, status in told:
            peer = next(each for each in self._lives if name_of(each) == connection)
            self.connections[peer, by.place.number].statuses.send(self.now, status)
        return bool(told)

    def _guarded(self, number: int, call: Callable[[], object]) -> bool:
        """Call a worker, which dies of any exception."""
        try:
            return bool(call())
        except _Gone:
            return True
        except Exception as error:  # noqa: BLE001 - any error of user code ends its worker
            self._deaths += 1
            self.record("died", number, f"{type(error).__name__}: {error}")
            self._end(number)
            self._at(self.now + RESTART_AFTER, partial(self._begin, number))
            return True

    # -- the lives of workers -----------------------------------------------------------------

    def _begin(self, number: int) -> None:
        """A worker starts, for the first time or again."""
        self._lives[number] += 1
        place = Place(number, self._lives[number], self.worker_of)
        worker = self.worker_type(
            self.scenario.topology, place, self.scenario.settings, self.log, self.random,
            record=self.record, now=lambda: self.now, parts=self.parts,
            pause=self._pause)
        self.workers[number] = worker
        self._note_actors()
        self.record("began", number, place.life)
        for ends in self.connections:
            if number in ends:
                self._restore(*ends)

    def _end(self, number: int) -> None:
        """A worker ends; everything in it and on its way is lost."""
        worker = self.workers[number]
        self.workers[number] = None
        if worker is None:
            return
        self._note_actors()
        for ends in self.connections:
            if number in ends:
                self._break(*ends)
        for message in worker.contents():
            worker.lose(message)
        for task in worker.tasks:
            self.record("forgot", task, int(isinstance(worker.tasks[task], SpoutTask)))

    def _note_actors(self) -> None:
        """Note the actors that are there: asked for at every instant, they change with the workers.
        """
        here = [(number, worker) for number, worker in self.workers.items() if worker]
        self._actors = [(number, task) for number, worker in here
                        for task in (*worker.tasks, None)]
        self._spouts = [task for _, worker in here for task in worker.tasks.values()
                        if isinstance(task, SpoutTask)]

    def _break(self, one: int, other: int) -> None:
        """Count one more reason for which a connection is down."""
        connection = self.connections[one, other]
        sender, receiver = self.workers[one], self.workers[other]
        if connection.is_up:
            for message in connection.tuples.cut():
                self.record("lost", message.sender, message.life, message.to, message.number)
            connection.statuses.cut()
            if sender is not None:
                sender.cut_off(other)
            if receiver is not None:
                receiver.disconnect(one)
        connection.down += 1

    def _restore(self, one: int, other: int) -> None:
        """Count one reason less for which a connection is down."""
        connection = self.connections[one, other]
        connection.down -= 1
        sender, receiver = self.workers[one], self.workers[other]
        if connection.is_up and sender is not None and receiver is not None:
            sender.reach(other)
            self._tell(receiver.connect(one), receiver)

    # -- faults -------------------------------------------------------------------------------

    def _begin_fault(self, fault: Fault) -> None:
        """Let a fault begin, and plan its end."""
        what, on, to = fault.what, fault.on, fault.to
        if what is What.KILL:
            if self.workers[on] is not None:
                self.record("killed", on)
                self._end(on)
                self._at(fault.ends, partial(self._begin, on))
        elif what is What.CUT:
            self._break(on, to)
            self._at(fault.ends, partial(self._restore, on, to))
        elif what is What.LOSE_STATUS:
            self.connections[on, to].statuses.losing += 1
            self._at(fault.ends, partial(self._lose_no_more, on, to))
        elif what is What.DELAY_STATUS:
            self.connections[on, to].statuses.extra += fault.lasts
            self._at(fault.ends, partial(self._delay_no_more, on, to, fault.lasts))
        elif what is What.SLOW:
            self._busy_until[on] = self.now + SLOWNESS
            self._at(fault.ends, partial(self._slow_no_more, on))
        elif what is What.STRAY:
            self._stray(on, to)
        elif what is What.THROW:
            worker = self.workers[self.worker_of[on]]
            if worker is not None:
                worker.tasks[on].throw_next()
        elif what is What.FAIL:
            self._of_bolt(on, lambda bolt: bolt.fail_next())
        elif what is What.TOIL:
            self._of_bolt(on, lambda bolt: bolt.hold_next())
            for at in range(self.now, fault.ends, max(1, self._period // ASKS)):
                self._at(at, partial(self._of_bolt, on, lambda bolt: bolt.ask()))
            self._at(fault.ends, partial(self._of_bolt, on, lambda bolt: bolt.release()))

    def _of_bolt(self, task: int, what: Callable[[BoltTask], None]) -> None:
        """Plan what the user code of a bolt does, if its worker is there."""
        worker = self.workers[self.worker_of[task]]
        executor = None if worker is None else worker.tasks[task]
        if isinstance(executor, BoltTask):
            what(executor)

    def _slow_no_more(self, task: int) -> None:
        self._busy_until.pop(task, None)

    def _lose_no_more(self, on: int, to: int) -> None:
        statuses = self.connections[on, to].statuses
        statuses.losing = max(0, statuses.losing - 1)

    def _delay_no_more(self, on: int, to: int, lasts: int) -> None:
        self.connections[on, to].statuses.extra -= lasts

    def _stray(self, on: int, to: int) -> None:
        """A tuple for a task that has moved away."""
        if self.connections[on, to].is_up:
            message = Message(Kind.DATA, GHOST, 0, GHOST, self._strays, ())
            self._strays += 1
            self.record("emitted", GHOST, 0, GHOST, message.number)
            self.connections[on, to].tuples.send(self.now, message)

    # -- queries ------------------------------------------------------------------------------

    def is_at_rest(self) -> bool:
        """True if no fault is left, every message is acked, and every queue is empty."""
        if self.now < self.scenario.last_fault:
            return False
        # The cheapest question first, because it is asked at every instant.
        return (all(spout.is_done() for spout in self._spouts)
                and not any(len(each.tuples) for each in self.connections.values())
                and all(worker and worker.is_empty() for worker in self.workers.values()))

    def waits(self) -> dict[int, int]:
        """The wait-for graph: each task with pending messages, and the destination of the first."""
        return {number: task.pending[0].to for worker in self.workers.values() if worker
                for number, task in worker.tasks.items() if task.pending}

    def cycle(self) -> tuple[int, ...]:
        """The tasks of a cycle in the wait-for graph, from one of them back to it; else ()."""
        waits = self.waits()
        for start in waits:
            path, at = [start], waits[start]
            while at in waits and at not in path:
                path.append(at)
                at = waits[at]
            if at in path:
                return (*path[path.index(at):], at)
        return ()


def run(scenario: Scenario, parts: Parts | None = None) -> tuple[Happened, ...]:
    """The history of a scenario, with the reference's parts or others."""
    return Cluster(scenario, parts).run()
