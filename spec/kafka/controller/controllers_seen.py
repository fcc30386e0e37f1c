"""Controllers that are elected, begin, and send requests, as the failover observers see them.

Theory. Of an election the new controller and its epoch are visible; of its actions, the successful
writes to the quorum, and the requests that brokers accept. Here a controller elects in the node of
one partition, so its first write begins a leader epoch, represented by its own epoch. When nothing
happens any more the result is visible: whether everything was noticed, whether a broker is in sync,
whether a decision was obeyed.

Source: ``controller_epochs``, ``controller_requests``, ``controller_start``, ``observed_failover``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..observed_failover import (
    ObservedBroker, ObservedPartition, ObservedQuorum, ObservedReplica, ObservedWishes,
)
from ..observed_failover_liveness import ObservedChannel
from .controller_epochs import (
    ControllerEpochs, KeepingTheNode, NotFenced, Role, WritingUnchecked,
)
from .controller_queue import KeepingAll, RefusingWhenFull, RequestQueue, SendingAny
from .controller_requests import ControllerRequests, GivingUp, MetadataRequests
from .controller_start import (
    ComparingNumbers, FirstRequests, LeadersFirst, Listening, Lives, ReadingFirst,
    TrustingTheEvent, WithoutBrokerEpochs,
)

__all__ = [
    "EXPECTATIONS", "ArrivedSeen", "DecisionsSeen", "ElectedSeen", "ElectionsSeen",
    "FollowsSeen", "LastSeen", "LivesSeen", "NoticedSeen", "OrderSeen", "QueueSeen",
    "SpokenSeen", "ToldSeen",
]


class ElectionsSeen(View[ControllerEpochs]):
    """Elections, and writes to the quorum. Sessions end by the service's clock."""

    around = ("expire",)

    @shown
    def create(
        self, before: ControllerEpochs, after: ControllerEpochs, who: int
    ) -> Iterable[Seen]:
        return self.elected(after, who)

    @shown
    def raise_epoch(
        self, before: ControllerEpochs, after: ControllerEpochs, who: int
    ) -> Iterable[Seen]:
        return self.elected(after, who)

    @staticmethod
    def elected(after: ControllerEpochs, who: int) -> list[Seen]:
        """The candidate knows its epoch, if it is the controller now."""
        if after.role[who] != Role.ACTIVE:
            return []
        return [see("is_elected", controller=after.mine[who])]

    @shown
    def write(self, before: ControllerEpochs, after: ControllerEpochs, who: int) -> list[Seen]:
        return [see("is_written", controller=after.mine[who]),
                see("says", epoch=after.mine[who], leader=0)]


class ElectedSeen(View[ControllerEpochs]):
    """Existence of a controller, when nothing happens any more: without one no partition that has
    lost its leader gets another.
    """

    around = ("expire",)

    def at_rest(self, machine: ControllerEpochs) -> Iterable[Seen]:
        """At the end: whether a controller owns the node and has its epoch."""
        there = any(machine.owner == who and machine.role[who] == Role.ACTIVE
                    for who in range(machine.C))
        yield see("ends", leads=int(there), in_sync=1)


class SpokenSeen(View[ControllerEpochs]):
    """Requests that the broker accepts."""

    around = ("expire",)

    @shown
    def speak(self, before: ControllerEpochs, after: ControllerEpochs, who: int) -> Seen:
        return see("heeds", controller=after.mine[who], meant=0, own=0)


class LivesSeen(View[Lives]):
    """Requests that a broker accepts, and the lives for which they were meant."""

    @shown
    def arrive(self, before: Lives, after: Lives) -> Seen | None:
        if after.told == before.told and not before.obeys():
            return None
        return see("heeds", controller=0, meant=before.meant_for, own=before.lives)


class ToldSeen(View[Lives]):
    """Membership of a live broker in the ISR, when the controller has nothing to do."""

    def asked(self, machine: Lives) -> Iterable[Seen]:
        """The broker is in sync if this life of it got its request."""
        if machine.is_up and not self.enabled & {"look", "arrive"}:
            yield see("ends", leads=1, in_sync=int(machine.told == machine.lives))


class FollowsSeen(View[FirstRequests]):
    """Membership of a broker in the ISR, when all requests of a controller's beginning have
    arrived.
    """

    def at_rest(self, machine: FirstRequests) -> Iterable[Seen]:
        """The broker is in sync if it follows every leader as requested."""
        yield see("ends", leads=1, in_sync=int(machine.follows == machine.F))


class QueueSeen(View[RequestQueue]):
    """The number of unanswered requests, after each decision."""

    @shown
    def decide(self, before: RequestQueue, after: RequestQueue, partition: int) -> Seen:
        return see("holds", requests=after.waiting() + int(after.under_way > 0),
                   partitions=after.P)


class LastSeen(View[RequestQueue]):
    """Effect of the last decisions, when nothing happens any more."""

    def at_rest(self, machine: RequestQueue) -> Iterable[Seen]:
        """At the end: whether the broker has obeyed the last decisions."""
        yield see("ends", leads=int(all(machine.knows[each] == machine.latest[each]
                                        for each in range(machine.P))), in_sync=1)


class OrderSeen(View[RequestQueue]):
    """The decisions about the first partition that the broker obeys."""

    @shown
    def answer(self, before: RequestQueue, after: RequestQueue) -> Seen | None:
        if before.about[before.copy - 1] != 0:
            return None
        return see("obeys", epoch=before.copy)


class NoticedSeen(View[Listening]):
    """Completeness of the controller's knowledge, when nothing happens any more."""

    def at_rest(self, machine: Listening) -> Iterable[Seen]:
        """At the end: whether a created topic is unknown."""
        yield see("are", left=int(machine.known < machine.created))


class DecisionsSeen(View[ControllerRequests]):
    """The leader epochs that the broker enters because of requests."""

    @shown
    def answer(self, before: ControllerRequests, after: ControllerRequests) -> Seen | None:
        return self.obeyed(before, before.answered + 1)

    @shown
    def lose_answer(self, before: ControllerRequests, after: ControllerRequests) -> Seen | None:
        return self.obeyed(before, before.answered + 1)

    @shown
    def come_late(
        self, before: ControllerRequests, after: ControllerRequests, copy: int
    ) -> Seen | None:
        return self.obeyed(before, copy + 1)

    @staticmethod
    def obeyed(before: ControllerRequests, request: int) -> Seen | None:
        """Each decision begins a leader epoch."""
        return see("obeys", epoch=request) if before.obeys(request) else None


class ArrivedSeen(View[ControllerRequests]):
    """Leadership of the broker, when nothing happens any more."""

    def at_rest(self, machine: ControllerRequests) -> Iterable[Seen]:
        """At the end: whether the last decision has arrived."""
        yield see("ends", leads=int(machine.reached == machine.decided), in_sync=1)


ELECTED = refines(ControllerEpochs, ObservedQuorum, "a replaced controller writes nothing (since "
                  "2.1)",
                  shows=ElectionsSeen, seen_by={"N": 1, "E": "X + 1"}, C=(2, 3), X=2, V=1)
SPOKEN = refines(ControllerEpochs, ObservedBroker, "brokers obey no replaced controller",
                 shows=SpokenSeen, seen_by={"E": "X + 1"}, C=(2, 3), X=2, V=(0, 1))
THERE = refines(ControllerEpochs, ObservedPartition, "there is a controller at the end",
                shows=ElectedSeen, seen_by={"N": 1}, room=("not self.over",), C=2, X=(1, 2),
                V=(0, 1))
MEANT = refines(Lives, ObservedBroker, "requests are for the life that they reach",
                shows=LivesSeen, seen_by={"B": "N"}, N=(2, 3))
TOLD = refines(Lives, ObservedPartition, "each life gets its requests", shows=ToldSeen,
               seen_by={"N": 1}, room=("not self.over",), N=(2, 3))
FOLLOWS = refines(FirstRequests, ObservedPartition, "a broker follows a leader that it knows",
                  shows=FollowsSeen, seen_by={"N": 1}, room=("not self.over",), F=(1, 2))
NOTICED = refines(Listening, ObservedWishes, "what is created is noticed", shows=NoticedSeen,
                  T=(2, 3))
OBEYED = refines(ControllerRequests, ObservedReplica, "only a new leader epoch is obeyed",
                 shows=DecisionsSeen, seen_by={"E": "N"}, N=3, L=(0, 1))
ARRIVED = refines(ControllerRequests, ObservedPartition, "the last decision arrives",
                  shows=ArrivedSeen, seen_by={"N": 1}, room=("not self.over",), N=3, L=0)

FEW = refines(RequestQueue, ObservedChannel, "few requests wait", shows=QueueSeen,
              seen_by={"P": "P", "Q": "N + 1"}, P=(1, 2), N=4, S=1)
LAST = refines(RequestQueue, ObservedPartition, "the last decisions arrive", shows=LastSeen,
               seen_by={"N": 1}, room=("not self.over",), P=(1, 2), N=3, S=1)
ORDER = refines(RequestQueue, ObservedReplica, "decisions arrive in order", shows=OrderSeen,
                seen_by={"E": "N"}, P=(1, 2), N=3, S=1)

EXPECTATIONS = (
    FEW, LAST, ORDER,
    refused(KeepingAll, "KAFKA-F32", "every decision waits", like=FEW, P=1, N=8),
    refused(RefusingWhenFull, "KAFKA-F14", "the last decision was refused", like=LAST, P=1),
    refused(SendingAny, "KAFKA-F9", "the second is obeyed before the first", like=ORDER, P=1),
    ELECTED, SPOKEN, MEANT, TOLD, FOLLOWS, NOTICED, OBEYED, ARRIVED,
    THERE,
    refused(KeepingTheNode, "KAFKA-F14", "the owner of the node cannot raise the "
            "epoch", like=THERE, C=2,
            X=2, V=0),
    refused(WritingUnchecked, "KAFKA-F10", "an old controller writes (KAFKA-6082)", like=ELECTED,
            C=2),
    refused(ControllerEpochs, "KAFKA-F10", "before 2.1 a replaced controller can write a node that "
            "its successor has not written yet (KAFKA-6082)", like=ELECTED, C=2, V=0),
    refused(NotFenced, "KAFKA-F9", "two controllers are obeyed in turn (KAFKA-532)", like=SPOKEN,
            C=2),
    refused(WithoutBrokerEpochs, "KAFKA-F9", "an old request is obeyed (KAFKA-7235)", like=MEANT),
    refused(ComparingNumbers, "KAFKA-F15", "a new life gets nothing (KAFKA-7235)", like=TOLD),
    refused(LeadersFirst, "KAFKA-F15", "the leader is not known yet (KAFKA-4443)", like=FOLLOWS),
    refused(ReadingFirst, "KAFKA-F22", "a change in between is never noticed (KAFKA-928)",
            like=NOTICED),
    refused(TrustingTheEvent, "KAFKA-F22", "a change after the event is never noticed "
            "(KAFKA-5502)", like=NOTICED),
    refused(MetadataRequests, "KAFKA-F9", "requests that are obeyed in any epoch go back",
            like=OBEYED, L=1, beside=("KAFKA-C60",)),
    refused(GivingUp, "KAFKA-F14", "the last request is given up (KAFKA-1187)", like=ARRIVED,
            beside=("KAFKA-C63",)),
)
