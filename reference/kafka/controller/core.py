"""The engine of a controller: events in, effects out, one job at a time.

Theory of operation
-------------------
Everything that a controller does is a *job*: a generator that asks the coordination service
step by step, and puts requests to brokers into queues. Jobs wait in one queue and never overlap,
so no job sees the work of another half done (KAFKA-5028; KAFKA-1134 is what happened without
that). An event becomes a job, or answers the step that the job of now waits for. No job trusts
what an event says: it reads anew, and watches again with the same request, so that nothing that
changes in between is missed (KAFKA-928, KAFKA-5502).

A session that is over ends the job and drops all others: what they knew may be wrong. So does
any sign of a later controller. Until either comes, a controller that was replaced goes on as it
did; whatever it writes is conditional on its epoch, and brokers compare the epoch of whatever it
sends.
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
    """``unclean`` are the topics with ``unclean.leader.election.enable``, and ``unclean_all`` says
    that all are; ``delete_topics`` is ``delete.topic.enable``."""

    unclean: frozenset[str] = frozenset()
    unclean_all: bool = False
    delete_topics: bool = True


class Core:
    """The engine, and what all kinds of jobs use. ``broker`` is the number of its broker.

    Whoever wants another behaviour of a part gives a subclass of it here.
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
        """Know nothing, as at the beginning of a term."""
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
        """Who may lead a partition whose leader is gone."""
        unclean = self.settings.unclean_all or topic in self.settings.unclean
        return offline_unclean if unclean else offline

    # -- effects ------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        """Have something done when the event of now is dealt with, in this order."""
        self._effects.append(effect)

    def note(self, what: str, *about: object) -> None:
        """Put something into the history."""
        self.emit(Noted(what, about))

    def number(self) -> int:
        """A number that was not used before."""
        self._numbers += 1
        return self._numbers

    def take_effects(self) -> list[Effect]:
        """What is to be done now; it is told once."""
        effects, self._effects = self._effects, []
        return effects

    # -- jobs ---------------------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """Let a job have its turn after all that wait already."""
        self._jobs.append(job)

    def drop_jobs(self) -> None:
        """Give up the job of now, and all that wait."""
        self._jobs.clear()
        if self._job is not None:
            self._job.close()
        self._job = self._waits_for = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being done, and nothing waits."""
        return self._job is None and not self._jobs

    def answered(self, number: int, result: Result) -> None:
        """Give the job of now what it waits for; other answers are nobody's any more."""
        if number == self._waits_for:
            self._go_on(result)

    def work(self) -> None:
        """Do jobs until one has to wait, or there are no more."""
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
            self.drop_jobs()    # the event that says so is on its way
        else:
            self._waits_for = self.number()
            self.emit(Ask(self._waits_for, request))

    def was_replaced(self) -> None:
        """There is a later controller: stop being one, and wait for the next election."""
        raise NotImplementedError
