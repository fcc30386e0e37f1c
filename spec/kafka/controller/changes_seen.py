"""Changes of brokers, replicas and topics as the failover observers see them.

Theory. ``broker_changes`` and ``reassignment`` write the node of a partition; visible from outside
are its content in the quorum, its replicas, and the brokers that were released. When nothing
happens any more, and all brokers are up, it must have a leader, and all of its replicas must be in
sync. The same holds for the partition of a new topic (``topics``), and a topic that is to be
deleted is gone then. ``controller_turns`` carries out operators' requests: at the end the first
replica must lead, if that was requested.

Epochs are numbered from 1 here, as the observers do.

Source: ``broker_changes``, ``reassignment``, ``topics``, ``controller_turns``,
``observed_failover``, ``observed_failover_liveness``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..observed_failover import (
    ObservedDepartures, ObservedPartition, ObservedQuorum, ObservedWishes,
)
from ..observed_failover_liveness import ObservedDeletion
from .broker_changes import (
    AnsweringEarly, BrokerChanges, LettingItRejoin, NotElectingForWhoCame, NotTellingWhoCame,
)
from .controller_turns import (
    BEGUN, ActingAsNone, Sessions, Turns, WaitingWithTheLock, WishesFirst,
)
from .reassignment import (
    KeepingTheOldList, NotWaiting, Reassignment, StrikingTheWishFirst,
)
from .selectors import ALL, BROKERS, has
from .topics import (
    DeletingWhatMoves, DeletingWithoutTheDead, ForgettingTheIneligible, NotResuming,
    NotWaitingForAnswers, Reviving, Topics,
)

__all__ = [
    "EXPECTATIONS", "AtTheEnd", "BrokersSeen", "DeletionSeen", "DeparturesSeen",
    "ReplicasDeletedSeen", "ReplicasSeen", "SeenToSeen", "SessionsSeen", "TermsSeen", "TopicSeen",
    "WishSeen", "WishesSeen",
]


def written(before: BrokerChanges | Reassignment, after: BrokerChanges | Reassignment,
            ) -> Iterator[Seen]:
    """The quorum's events of a step that has written: the leader, and then the changes of the ISR.
    """
    if (before.leader, before.isr, before.epoch) != (after.leader, after.isr, after.epoch):
        yield see("says", epoch=after.epoch, leader=after.leader)
        for verb, more, less in (("leaves", before, after), ("joins", after, before)):
            for broker in range(BROKERS):
                if has(more.isr, broker) and not has(less.isr, broker):
                    yield see(verb, replica=broker)


class BrokersSeen(View[BrokerChanges]):
    """The quorum's writes, and the brokers that are released."""

    def begins(self, machine: BrokerChanges) -> Iterable[Seen]:
        """At first broker 0 leads, and all are in sync."""
        yield see("says", epoch=machine.epoch, leader=machine.leader)

    @shown
    def let_join(
        self, before: BrokerChanges, after: BrokerChanges, broker: int
    ) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def elect(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def replace(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def take_out(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def move(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def leave(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def answer(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return [see("is_let_go", replica=broker) for broker in range(BROKERS)
                if has(after.released, broker) and not has(before.released, broker)]


class DeparturesSeen(View[BrokerChanges]):
    """Brokers that ask to shut down, are taken out of the ISR, join it, or register."""

    @shown
    def start(self, before: BrokerChanges, after: BrokerChanges, broker: int) -> Seen:
        return see("stays", replica=broker)

    @shown
    def wants_to_go(self, before: BrokerChanges, after: BrokerChanges, broker: int) -> Seen:
        return see("wants_to_go", replica=broker)

    @shown
    def let_join(self, before: BrokerChanges, after: BrokerChanges, broker: int) -> Seen:
        return see("joins", replica=broker)

    @shown
    def elect(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return self.taken_out(before, after)

    @shown
    def replace(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return self.taken_out(before, after)

    @shown
    def take_out(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return self.taken_out(before, after)

    @shown
    def move(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return self.taken_out(before, after)

    @shown
    def leave(self, before: BrokerChanges, after: BrokerChanges) -> Iterable[Seen]:
        return self.taken_out(before, after)

    @staticmethod
    def taken_out(before: BrokerChanges, after: BrokerChanges) -> Iterator[Seen]:
        """The brokers that were in sync, and are not any more."""
        for broker in range(BROKERS):
            if has(before.isr, broker) and not has(after.isr, broker):
                yield see("is_taken_out", replica=broker)


class AtTheEnd(View[BrokerChanges]):
    """The partition when nothing happens any more, and all brokers are up to stay."""

    def at_rest(self, machine: BrokerChanges) -> Iterable[Seen]:
        """At the end: whether there is a leader that knows it, and the size of the ISR."""
        if machine.up == ALL and machine.leaving == 0:
            leads = machine.leader < BROKERS and machine.leads[machine.leader]
            yield see("ends", leads=int(leads), in_sync=sum(
                has(machine.isr, broker) for broker in range(BROKERS)))


class ReplicasSeen(View[Reassignment]):
    """The quorum's writes, and the list of replicas."""

    def begins(self, machine: Reassignment) -> Iterable[Seen]:
        """The old replicas, all of them in sync."""
        yield see("says", epoch=machine.epoch, leader=machine.leader)
        for broker in range(BROKERS):
            if not has(machine.isr, broker):
                yield see("leaves", replica=broker)
                yield see("is_struck", replica=broker)

    @shown
    def let_join(self, before: Reassignment, after: Reassignment, broker: int) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def take_out(self, before: Reassignment, after: Reassignment, broker: int) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def tell_all(self, before: Reassignment, after: Reassignment) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def lead(self, before: Reassignment, after: Reassignment) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def take_out_of_sync(self, before: Reassignment, after: Reassignment) -> Iterable[Seen]:
        return written(before, after)

    @shown
    def list_all(self, before: Reassignment, after: Reassignment) -> Iterable[Seen]:
        return self.listed(before, after)

    @shown
    def list_new(self, before: Reassignment, after: Reassignment) -> Iterable[Seen]:
        return self.listed(before, after)

    @staticmethod
    def listed(before: Reassignment, after: Reassignment) -> Iterator[Seen]:
        """The brokers that are added to the list, and those that are removed."""
        for verb, more, less in (("is_listed", after, before), ("is_struck", before, after)):
            for broker in range(BROKERS):
                if has(more.listed, broker) and not has(less.listed, broker):
                    yield see(verb, replica=broker)


class WishesSeen(View[Reassignment]):
    """Open requests of operators, when nothing happens any more."""

    def at_rest(self, machine: Reassignment) -> Iterable[Seen]:
        """A list that is not the requested one means an open request."""
        yield see("are", left=int(machine.wished or machine.listed != machine.T))


class DeletionSeen(View[Topics]):
    """An open request for deletion, when nothing happens any more."""

    def at_rest(self, machine: Topics) -> Iterable[Seen]:
        """At the end: whether the topic is still to be deleted."""
        yield see("are", left=int(machine.wished))


class ReplicasDeletedSeen(View[Topics]):
    """Records on the brokers while the topic is created, moved and deleted; both replicas stay in
    place.
    """

    @shown
    def wish(self, before: Topics, after: Topics) -> Seen:
        return see("is_unwanted")

    @shown
    def begin_to_move(self, before: Topics, after: Topics) -> list[Seen]:
        return [see("is_to_move"), *(see("is_to_stay", replica=each) for each in range(after.B)),
                see("is_listed", replica=0)]

    @shown
    def end_to_move(self, before: Topics, after: Topics) -> Seen:
        return see("has_moved")

    @shown
    def learn(self, before: Topics, after: Topics) -> list[Seen]:
        return self.held(before, after)

    @shown
    def come(self, before: Topics, after: Topics, broker: int) -> list[Seen]:
        return self.held(before, after)

    @staticmethod
    def held(before: Topics, after: Topics) -> list[Seen]:
        """The election of a leader, and the brokers that get records."""
        return [*([see("is_elected")] if after.led and not before.led else []),
                *(see("is_held", replica=each) for each in range(after.B)
                  if after.keeps[each] and not before.keeps[each])]

    @shown
    def delete_log(self, before: Topics, after: Topics, broker: int) -> Seen | None:
        return None if after.keeps[broker] else see("is_erased", replica=broker)

    @shown
    def finish(self, before: Topics, after: Topics) -> Seen:
        return see("goes")

    def at_rest(self, machine: Topics) -> Iterable[Seen]:
        """At the end the topic is gone, if it was to be deleted."""
        yield see("ends")


class TopicSeen(View[Topics]):
    """The topic when a controller knows it, all brokers are up, and it is not to be deleted."""

    def asked(self, machine: Topics) -> Iterable[Seen]:
        """At the end: whether there is a leader."""
        if machine.knows and all(machine.up) and not machine.wished:
            yield see("ends", leads=int(machine.led), in_sync=machine.B)


class WishSeen(View[Turns]):
    """Leadership of the first replica, whenever a controller has begun."""

    def asked(self, machine: Turns) -> Iterable[Seen]:
        """The operator's request is older than the first controller."""
        if machine.begun == BEGUN:
            yield see("is_led", preferred=int(machine.led))


class TermsSeen(View[Turns]):
    """Elections, and writes in response to events: each begins a leader epoch.

    A controller that resigns was replaced. The history has the newest controller and the leader
    epoch.
    """

    history: tuple[int, int] = (0, 0)
    around = ("happen", "happened")

    @shown
    def be_elected(self, before: Turns, after: Turns) -> Seen:
        return self.next_one()

    @shown
    def resign(self, before: Turns, after: Turns) -> Seen:
        return self.next_one()

    def next_one(self) -> Seen:
        """The next controller, with the next epoch."""
        newest, epoch = self.history
        self.history = newest + 1, epoch
        return see("is_elected", controller=newest + 1)

    @shown
    def call_back(self, before: Turns, after: Turns) -> Iterable[Seen]:
        newest, epoch = self.history
        usurps = after.usurped and not before.usurped
        if before.begun == 0 and not usurps:
            return []
        self.history = newest, epoch + 1
        return [see("is_written", controller=newest - int(usurps)),
                see("says", epoch=epoch + 1, leader=0)]


class SeenToSeen(View[Turns]):
    """Unhandled events, when the controller has nothing more to do."""

    around = ("happen", "happened")

    def asked(self, machine: Turns) -> Iterable[Seen]:
        """Events that the present controller has not handled are left."""
        if not self.enabled & {"begin", "call_back"}:
            yield see("are", left=int(machine.begun > 0 and (
                machine.begun < BEGUN or machine.waiting > 0)))


class SessionsSeen(View[Sessions]):
    """Unhandled events, when nothing happens any more."""

    def at_rest(self, machine: Sessions) -> Iterable[Seen]:
        """Events in the queue of a blocked controller are left."""
        yield see("are", left=int(machine.waiting > 0 or machine.is_over != machine.renewed))


QUORUM = refines(BrokerChanges, ObservedQuorum, "brokers come, go, and are released",
                 shows=BrokersSeen, seen_by={"N": 3, "E": "3 * D + 1"}, D=2)
DEPARTURES = refines(BrokerChanges, ObservedDepartures, "a broker that leaves stays out",
                     shows=DeparturesSeen, seen_by={"N": 3}, D=2)
ENDS = refines(BrokerChanges, ObservedPartition, "when all brokers are back, all are in sync",
               shows=AtTheEnd, seen_by={"N": 3}, room=("not self.over",), D=2)
MOVES = refines(Reassignment, ObservedQuorum, "replicas are added before others are "
                "removed", shows=ReplicasSeen,
                seen_by={"N": 3, "E": "3 * X + 5"}, O=3, T=6, L=(0, 1), D=1, X=1)
DONE = refines(Reassignment, ObservedWishes, "operators' requests are carried "
               "out", shows=WishesSeen,
               O=3, T=6, L=(0, 1), D=1, X=1)
WISH = refines(Turns, ObservedPartition, "the first replica leads, as requested", shows=WishSeen,
               seen_by={"N": 3}, N=2, E=1)

TERMS = refines(Turns, ObservedQuorum, "only the controller writes", shows=TermsSeen,
                seen_by={"N": 1, "E": "2 * N + E"}, N=2, E=(1, 2))
SEEN_TO = refines(Turns, ObservedWishes, "events are handled", shows=SeenToSeen, N=2, E=(1, 2))
RENEWED = refines(Sessions, ObservedWishes, "sessions are renewed, and the queue continues",
                  shows=SessionsSeen, E=(1, 2))

DELETED = refines(Topics, ObservedWishes, "topics that are to be deleted are "
                  "deleted", shows=DeletionSeen,
                  B=2, D=1, X=1, R=1)
KEPT = refines(Topics, ObservedDeletion, "replicas are deleted first, and then the topic",
               shows=ReplicasDeletedSeen, seen_by={"N": "B"}, B=2, D=1, X=1, R=1)
LED = refines(Topics, ObservedPartition, "topics that were created have leaders", shows=TopicSeen,
              seen_by={"N": "B"}, room=("not self.over",), B=2, D=1, X=1, R=1)

EXPECTATIONS = (
    QUORUM, DEPARTURES, ENDS, MOVES, DONE, DELETED, KEPT, LED, WISH, TERMS, SEEN_TO, RENEWED,
    refused(ActingAsNone, "KAFKA-F10", "a controller that has resigned acts on an "
            "event", like=TERMS),
    refused(WaitingWithTheLock, "KAFKA-F22", "the queue wants the lock (KAFKA-6879)",
            like=RENEWED),
    refused(AnsweringEarly, "KAFKA-F18", "the broker goes, and there is no "
            "leader", like=QUORUM, D=3),
    refused(LettingItRejoin, "KAFKA-F24", "a broker that shuts down joins again (KAFKA-14140)",
            like=DEPARTURES),
    refused(NotElectingForWhoCame, "KAFKA-F14", "the broker that the partition waits for has come, "
            "and there is no election",
            like=ENDS, D=3),
    refused(NotTellingWhoCame, "KAFKA-F15", "a broker that starts follows no leader "
            "(KAFKA-831)", like=ENDS),
    refused(KeepingTheOldList, "KAFKA-F20", "a removed replica joins once more "
            "(KAFKA-1097)", like=MOVES,
            L=1),
    refused(NotWaiting, "KAFKA-F23", "one of two new replicas is in sync", like=MOVES, L=1),
    refused(StrikingTheWishFirst, "KAFKA-F22", "the request is forgotten",
            like=DONE, L=1),
    refused(ForgettingTheIneligible, "KAFKA-F22", "its broker was down once", like=DELETED),
    refused(ForgettingTheIneligible, "KAFKA-F28", "its broker was down once", like=KEPT),
    refused(DeletingWhatMoves, "KAFKA-F29", "replicas are moved and deleted at the same "
            "time", like=KEPT),
    refused(DeletingWithoutTheDead, "KAFKA-F30", "a broker that was down keeps its log", like=KEPT),
    refused(NotWaitingForAnswers, "KAFKA-F30", "the request is under way", like=KEPT),
    refused(Reviving, "KAFKA-F31", "its broker comes back, and it gets a leader", like=KEPT),
    refused(NotResuming, "KAFKA-F14", "the controller that knew of it was replaced", like=LED),
    refused(WishesFirst, "KAFKA-F19", "the request is gone (KAFKA-840)", like=WISH),
)
