"""The engine of a controller: events in, effects out, one job at a time.

Theory of operation
-------------------
Everything that a controller does is a *job*: a generator that asks the coordination service
step by step, and puts requests to brokers into queues. Jobs wait in one queue and never overlap,
so no job sees the work of another half done (KAFKA-5028; KAFKA-1134 is what happened without
that). An event becomes a job, or answers the step that the current job waits for. No job trusts the
content of an event: it reads again, and watches again with the same request, so that no change in
between is missed (KAFKA-928, KAFKA-5502).

The end of a session ends the current job and drops all others, since their knowledge may be wrong.
So does any sign of a later controller. Until one of these comes, a replaced controller continues as
before; its writes are conditional on its epoch, and brokers compare the epochs of its requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ...coordination.terms import Result
from .batch import Batch
from .channels import Channels
from .context import Context
from .elector import Elector
from .partitions import PartitionMachine
from .replicas import ReplicaMachine
from .selectors import Selector, offline, offline_unclean
from .store import ControllerMoved, SessionOver, Steps, Store
from .terms import Ask, Effect, Noted

__all__ = ["Core", "Job", "Settings"]

Job: TypeAlias = Callable[[], Steps[None]]


@dataclass(frozen=True)
class Settings:
    """``unclean`` are the topics with ``unclean.leader.election.enable``, ``unclean_all`` sets it
    for all topics; ``delete_topics`` is ``delete.topic.enable``.
    """

    unclean: frozenset[str] = frozenset()
    unclean_all: bool = False
    delete_topics: bool = True


class Core:
    """The engine, and common parts of all jobs. ``broker`` is the number of its broker.

    A subclass may replace the type of a part.
    """

    store_type: ClassVar[type[Store]] = Store
    elector_type: ClassVar[type[Elector]] = Elector
    channels_type: ClassVar[type[Channels]] = Channels
    partitions_type: ClassVar[type[PartitionMachine]] = PartitionMachine
    replicas_type: ClassVar[type[ReplicaMachine]] = ReplicaMachine

    def __init__(self, broker: int, settings: Settings | None = None) -> None:
        self.broker, self.settings = broker, settings or Settings()
        self.is_active = False
        self.store = self.store_type()
        self.elector = self.elector_type(broker, self.store)
        self.channels = self.channels_type(self.emit, self.number)
        self._effects: list[Effect] = []
        self._numbers = 0
        self._jobs: deque[Job] = deque()
        self._job: Steps[None] | None = None
        self._waits_for: int | None = None
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget everything, as at the beginning of a term."""
        self.context = Context()
        self.batch = Batch(self.broker, self.context, self.channels)
        self.partitions = self.partitions_type(
            self.store, self.context, self.batch, self.emit, self.selector_of)
        self.replicas = self.replicas_type(self.store, self.context, self.batch, self.emit)

    @property
    def epoch(self) -> int:
        """The controller epoch; 0 if this is not the controller, as far as it knows."""
        return self.store.epoch if self.is_active else 0

    def selector_of(self, topic: str) -> Selector:
        """The selector for a partition that has lost its leader."""
        unclean = self.settings.unclean_all or topic in self.settings.unclean
        return offline_unclean if unclean else offline

    # -- effects ------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        """Add an effect of the current event, after the earlier ones."""
        self._effects.append(effect)

    def note(self, what: str, *about: object) -> None:
        """Add a note to the history."""
        self.emit(Noted(what, about))

    def number(self) -> int:
        """A number that was not used before."""
        self._numbers += 1
        return self._numbers

    def take_effects(self) -> list[Effect]:
        """The effects to carry out now; each is returned once."""
        effects, self._effects = self._effects, []
        return effects

    # -- jobs ---------------------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """Add a job behind all that wait already."""
        self._jobs.append(job)

    def drop_jobs(self) -> None:
        """Drop the current job, and all that wait."""
        self._jobs.clear()
        if self._job is not None:
            self._job.close()
        self._job = self._waits_for = None

    @property
    def is_idle(self) -> bool:
        """True if no job is under way, and none waits."""
        return self._job is None and not self._jobs

    def answered(self, number: int, result: Result) -> None:
        """Give the current job its result; results for other jobs are dropped."""
        if number == self._waits_for:
            self._go_on(result)

    def work(self) -> None:
        """Run jobs until one has to wait, or there are no more."""
        while self._job is None and self._jobs:
            self._job = self._jobs.popleft()()
            self._go_on(None)

    def _go_on(self, result: Result | None) -> None:
        assert self._job is not None
        self._waits_for = None
        try:
            request = self._job.send(result)  # type: ignore[arg-type]
        except StopIteration:
            self._job = None
        except ControllerMoved:
            self.was_replaced()
        except SessionOver:
            self.drop_jobs()    # the event that reports it is under way
        else:
            self._waits_for = self.number()
            self.emit(Ask(self._waits_for, request))

    def was_replaced(self) -> None:
        """There is a later controller: resign, and wait for the next election."""
        raise NotImplementedError
