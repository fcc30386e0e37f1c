"""The controller: its reaction to each event, its beginning, and its end.

``receive`` takes an event and returns effects. The caller carries out the effects in their order,
and returns their results as events; it may be slow, and other events may come meanwhile. The
session belongs to the broker and not to the controller: its events come with ``Opened`` and
``Over``, and the watches that fire as they are.

The order of its beginning is that of ``take_over``, which Kafka found through its bugs. Source:
Kafka's KafkaController, onControllerFailover.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...coordination import terms as coordination
from . import znodes
from .brokers import Brokers
from .core import Job
from .store import Steps
from .terms import (
    Answered, BrokerAnswer, Effect, Elapsed, Event, Failed, Obeyed, Opened, Over, ShutDown,
    StopReplica,
)

__all__ = ["Controller"]


class Controller(Brokers):
    """A broker's controller, one of several candidates of which one is active."""

    def receive(self, event: Event) -> list[Effect]:
        """Handle an event; return the effects to carry out, in this order."""
        if isinstance(event, Answered):
            self.answered(event.number, event.result)
        elif isinstance(event, Opened):
            self.session_opened(event.session)
        elif isinstance(event, Over):
            self.session_over()
        elif isinstance(event, Obeyed):
            self._obeyed(event.broker, event.number, event.answer)
        elif isinstance(event, Failed):
            self.channels.failed(event.broker, event.number)
        elif isinstance(event, Elapsed):
            self.channels.elapsed(event.number)
        elif isinstance(event, ShutDown):
            self.add(partial(self.shut_down, event))
        else:
            for job in self.jobs_of(event):
                self.add(job)
        self.work()
        return self.take_effects()

    # -- the session --------------------------------------------------------------------------

    def session_opened(self, session: int) -> None:
        """There is a session: try to become the controller."""
        self.store.session = session
        self.add(self.join)

    def session_over(self) -> None:
        """The session has expired, and with it the broker's own ``/controller``, if there was one.
        """
        self.drop_jobs()
        self.resign("the session is over")

    def join(self) -> Steps[None]:
        """Create the top-level znodes, and take part in the election."""
        yield from self.store.create_top_level()
        yield from self.elect()

    # -- being the controller, or not ---------------------------------------------------------

    def elect(self) -> Steps[None]:
        """Become the controller if there is none; else wait for the other's znode to change."""
        if self.is_active or not (yield from self.elector.elect()):
            return
        self.is_active = True
        self.note("controls", self.store.epoch)
        yield from self.take_over()
        self.note("took over", self.store.epoch)

    def controller_changed(self) -> Steps[None]:
        """``/controller`` was created, changed or deleted."""
        found = yield from self.elector.who_is()
        if self.is_active and (found is None or found.owner != self.store.session):
            self.resign("another one is the controller")
        yield from self.elect()

    def was_replaced(self) -> None:
        """Resign, and take part in the next election."""
        self.drop_jobs()
        self.resign("a later controller has been there")
        self.add(self.elect)

    def resign(self, why: str) -> None:
        """Forget everything, and send nothing more."""
        self.channels.clear()
        self.begin_anew()
        if self.is_active:
            self.is_active = False
            self.note("resigned", self.store.epoch, why)

    # -- at the election ----------------------------------------------------------------------

    def take_over(self) -> Steps[None]:
        """All steps of a new controller before it handles any event."""
        self.begin_anew()
        yield from self.clear_notifications()
        yield from self.read_everything()
        self.tell_who_is_there()
        yield from self.replicas.start()
        yield from self.partitions.start()
        yield from self.reassignment_wanted()
        yield from self.resume_deletions()
        yield from self.preferred_wanted()

    def clear_notifications(self) -> Steps[None]:
        """Delete the notifications of leaders, since everything is read anyway."""
        for name in (yield from self.store.children(znodes.ISR_CHANGES, watch=True)):
            yield from self.store.change(coordination.Delete(f"{znodes.ISR_CHANGES}/{name}"))

    def read_everything(self) -> Steps[None]:
        """Read brokers, topics, assignments, leaderships and deletions; all are watched from now
        on.
        """
        self.context.registered = yield from self.read_brokers()
        for broker in sorted(self.context.registered):
            self.channels.add(broker)
        self.context.topics = set((yield from self.store.children(znodes.TOPICS, watch=True)))
        for topic in sorted(self.context.topics):
            self.context.assignment |= yield from self.read_assignment(topic)
        for each in self.context.assignment:
            yield from self.refresh(each)
        named = yield from self.store.children(znodes.DELETE_TOPICS, watch=True)
        if self.settings.delete_topics:
            # Of a topic that is gone already, the controller before has left the request.
            self.context.deleting = set(named)

    def tell_who_is_there(self) -> None:
        """Send the live brokers to every broker, before any request to follow: a broker refuses a
        leader that it does not know (KAFKA-4443).
        """
        self.batch.begin()
        self.batch.update_metadata(self.context.registered, ())
        self.batch.send(self.store.epoch)

    # -- events -------------------------------------------------------------------------------

    def jobs_of(self, event: coordination.Event) -> Iterator[Job]:
        """The jobs for a watch that has fired."""
        jobs: dict[str, Job] = {
            znodes.CONTROLLER: self.controller_changed, znodes.IDS: self.brokers_changed,
            znodes.TOPICS: self.topics_changed, znodes.DELETE_TOPICS: self.topics_to_delete,
            znodes.REASSIGN: self.reassignment_wanted, znodes.PREFERRED: self.preferred_wanted,
            znodes.ISR_CHANGES: self.isr_changed,
        }
        if event.path in jobs:
            yield jobs[event.path]
        elif event.path.startswith(f"{znodes.TOPICS}/"):
            if event.path.endswith("/state"):
                yield partial(self.leadership_watched, znodes.partition_of_state(event.path))
            elif event.path.count("/") == 3:
                yield partial(self.assignment_changed, event.path.rpartition("/")[2])

    def _obeyed(self, broker: int, number: int, answer: BrokerAnswer) -> None:
        request = self.channels.answered(broker, number, answer)
        if isinstance(request, StopReplica):
            self.add(partial(self.replicas_stopped, broker, request, answer))
