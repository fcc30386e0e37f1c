"""Changes of brokers, replicas and topics as the observers of failover see them.

Theory. ``broker_changes`` and ``reassignment`` write the node of a partition; outside one sees what
the quorum says of it, which replicas it has, and who was let go. When nothing happens any more, and
all brokers are there, it must have a leader, and all of its replicas in sync. So must the one of a
topic that was made (``topics``), and a topic that is to be deleted is gone then.
``controller_turns`` carries out wishes: in the end the first replica must lead, if somebody has
wished for that.

Epochs are numbered from 1 here, as the observers do.

Source: ``broker_changes``, ``reassignment``, ``topics``, ``controller_turns``,
``observed_failover``, ``observed_delivery``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..observed_delivery import ObservedDeletion
from ..observed_failover import (
    ObservedDepartures, ObservedPartition, ObservedQuorum, ObservedWishes,
)
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
    """What the quorum says of a step that has written: the leader, and then who is in sync."""
    if (before.leader, before.isr, before.epoch) != (after.leader, after.isr, after.epoch):
        yield see("says", epoch=after.epoch, leader=after.leader)
        for verb, more, less in (("leaves", before, after), ("joins", after, before)):
            for broker in range(BROKERS):
                if has(more.isr, broker) and not has(less.isr, broker):
                    yield see(verb, replica=broker)


class BrokersSeen(View[BrokerChanges]):
    """What the quorum says, and who is let go."""

    def begins(self, machine: BrokerChanges) -> Iterable[Seen]:
        """Broker 0 leads, and all are in sync."""
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
    """Who wants to go, whom the controller takes out of the ISR, who joins it and who registers."""

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
        """Those that were in sync, and are not."""
        for broker in range(BROKERS):
            if has(before.isr, broker) and not has(after.isr, broker):
                yield see("is_taken_out", replica=broker)


class AtTheEnd(View[BrokerChanges]):
    """How the partition is when nothing happens any more, and all brokers are there to stay."""

    def at_rest(self, machine: BrokerChanges) -> Iterable[Seen]:
        """Whether somebody leads and knows it, and how many are in sync."""
        if machine.up == ALL and machine.leaving == 0:
            leads = machine.leader < BROKERS and machine.leads[machine.leader]
            yield see("ends", leads=int(leads), in_sync=sum(
                has(machine.isr, broker) for broker in range(BROKERS)))


class ReplicasSeen(View[Reassignment]):
    """What the quorum says, and which replicas there are."""

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
        """Who comes onto the list, and who is struck."""
        for verb, more, less in (("is_listed", after, before), ("is_struck", before, after)):
            for broker in range(BROKERS):
                if has(more.listed, broker) and not has(less.listed, broker):
                    yield see(verb, replica=broker)


class WishesSeen(View[Reassignment]):
    """Whether what was wished for has been done, when nothing happens any more."""

    def at_rest(self, machine: Reassignment) -> Iterable[Seen]:
        """Replicas that are not those of the wish are a wish that waits."""
        yield see("are", left=int(machine.wished or machine.listed != machine.T))


class DeletionSeen(View[Topics]):
    """Whether what was wished for has been done, when nothing happens any more."""

    def at_rest(self, machine: Topics) -> Iterable[Seen]:
        """That a topic be deleted is a wish."""
        yield see("are", left=int(machine.wished))


class ReplicasDeletedSeen(View[Topics]):
    """What the brokers hold of the topic while it is made, moved and deleted; both replicas stay
    where they are."""

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
        """Whether it is led now, and who holds some of it."""
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
        """Whether it is gone, if it was to go."""
        yield see("ends")


class TopicSeen(View[Topics]):
    """How the topic is when a controller knows it, all brokers are there, and it is to stay."""

    def asked(self, machine: Topics) -> Iterable[Seen]:
        """Whether somebody leads it."""
        if machine.knows and all(machine.up) and not machine.wished:
            yield see("ends", leads=int(machine.led), in_sync=machine.B)


class WishSeen(View[Turns]):
    """Whether the first replica leads, whenever there is a controller that has begun."""

    def asked(self, machine: Turns) -> Iterable[Seen]:
        """The wish was there before the first of them."""
        if machine.begun == BEGUN:
            yield see("is_led", preferred=int(machine.led))


class TermsSeen(View[Turns]):
    """Who is elected, and what is written for an event that is seen to: each begins a leader epoch.
    Whoever resigns was replaced. The history has the newest controller and the leader epoch."""

    history: tuple[int, int] = (0, 0)
    around = ("happen", "happened")

    @shown
    def be_elected(self, before: Turns, after: Turns) -> Seen:
        return self.next_one()

    @shown
    def resign(self, before: Turns, after: Turns) -> Seen:
        return self.next_one()

    def next_one(self) -> Seen:
        """There is a controller with the next epoch."""
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
    """Whether everything has been seen to that has happened, when the controller has no more to
    do."""

    around = ("happen", "happened")

    def asked(self, machine: Turns) -> Iterable[Seen]:
        """What whoever is the controller has not seen to is left."""
        if not self.enabled & {"begin", "call_back"}:
            yield see("are", left=int(machine.begun > 0 and (
                machine.begun < BEGUN or machine.waiting > 0)))


class SessionsSeen(View[Sessions]):
    """Whether everything has been seen to, when nothing happens any more."""

    def at_rest(self, machine: Sessions) -> Iterable[Seen]:
        """What is in the queue of a controller that hangs is left."""
        yield see("are", left=int(machine.waiting > 0 or machine.is_over != machine.renewed))


QUORUM = refines(BrokerChanges, ObservedQuorum, "brokers come, go, and are let go",
                 shows=BrokersSeen, seen_by={"N": 3, "E": "3 * D + 1"}, D=2)
DEPARTURES = refines(BrokerChanges, ObservedDepartures, "who leaves stays out",
                     shows=DeparturesSeen, seen_by={"N": 3}, D=2)
ENDS = refines(BrokerChanges, ObservedPartition, "when all are back, all are in sync",
               shows=AtTheEnd, seen_by={"N": 3}, room=("not self.over",), D=2)
MOVES = refines(Reassignment, ObservedQuorum, "replicas come before others go", shows=ReplicasSeen,
                seen_by={"N": 3, "E": "3 * X + 5"}, O=3, T=6, L=(0, 1), D=1, X=1)
DONE = refines(Reassignment, ObservedWishes, "wishes are carried out", shows=WishesSeen,
               O=3, T=6, L=(0, 1), D=1, X=1)
WISH = refines(Turns, ObservedPartition, "the first replica leads, as was wished", shows=WishSeen,
               seen_by={"N": 3}, N=2, E=1)

TERMS = refines(Turns, ObservedQuorum, "only who is the controller writes", shows=TermsSeen,
                seen_by={"N": 1, "E": "2 * N + E"}, N=2, E=(1, 2))
SEEN_TO = refines(Turns, ObservedWishes, "what happens is seen to", shows=SeenToSeen, N=2, E=(1, 2))
RENEWED = refines(Sessions, ObservedWishes, "sessions are renewed, and the queue goes on",
                  shows=SessionsSeen, E=(1, 2))

DELETED = refines(Topics, ObservedWishes, "topics are deleted that are to be", shows=DeletionSeen,
                  B=2, D=1, X=1, R=1)
KEPT = refines(Topics, ObservedDeletion, "replicas go first, and then the topic",
               shows=ReplicasDeletedSeen, seen_by={"N": "B"}, B=2, D=1, X=1, R=1)
LED = refines(Topics, ObservedPartition, "topics that were made are led", shows=TopicSeen,
              seen_by={"N": "B"}, room=("not self.over",), B=2, D=1, X=1, R=1)

EXPECTATIONS = (
    QUORUM, DEPARTURES, ENDS, MOVES, DONE, DELETED, KEPT, LED, WISH, TERMS, SEEN_TO, RENEWED,
    refused(ActingAsNone, "KAFKA-F10", "who has resigned acts on an event", like=TERMS),
    refused(WaitingWithTheLock, "KAFKA-F22", "the queue wants the lock (KAFKA-6879)",
            like=RENEWED),
    refused(AnsweringEarly, "KAFKA-F18", "it goes, and nobody leads", like=QUORUM, D=3),
    refused(LettingItRejoin, "KAFKA-F24", "who shuts down joins again (KAFKA-14140)",
            like=DEPARTURES),
    refused(NotElectingForWhoCame, "KAFKA-F14", "who was waited for has come, and nobody elects",
            like=ENDS, D=3),
    refused(NotTellingWhoCame, "KAFKA-F15", "who comes follows nobody (KAFKA-831)", like=ENDS),
    refused(KeepingTheOldList, "KAFKA-F20", "who goes joins once more (KAFKA-1097)", like=MOVES,
            L=1),
    refused(NotWaiting, "KAFKA-F23", "one of two is in sync", like=MOVES, L=1),
    refused(StrikingTheWishFirst, "KAFKA-F22", "nobody knows any more what was wished for",
            like=DONE, L=1),
    refused(ForgettingTheIneligible, "KAFKA-F22", "its broker was gone once", like=DELETED),
    refused(ForgettingTheIneligible, "KAFKA-F28", "its broker was gone once", like=KEPT),
    refused(DeletingWhatMoves, "KAFKA-F29", "replicas come and go at a time", like=KEPT),
    refused(DeletingWithoutTheDead, "KAFKA-F30", "a broker that was gone keeps its log", like=KEPT),
    refused(NotWaitingForAnswers, "KAFKA-F30", "the request is on its way", like=KEPT),
    refused(Reviving, "KAFKA-F31", "its broker comes back, and it is led", like=KEPT),
    refused(NotResuming, "KAFKA-F14", "the controller that heard of it was replaced", like=LED),
    refused(WishesFirst, "KAFKA-F19", "the wish is gone (KAFKA-840)", like=WISH),
)
