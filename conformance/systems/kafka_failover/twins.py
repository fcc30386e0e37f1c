"""Clusters with one seeded bug each, which the rules about failover must find.

Each twin is the reference's cluster with one part replaced by a class that overrides a method, or
with another setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from ....reference.kafka.cluster.broker import Broker
from ....reference.kafka.cluster.clients import Producer
from ....reference.coordination.terms import Result, Stat
from ....reference.kafka.cluster.cluster import Parts
from ....reference.kafka.cluster.controlling import Controlling
from ....reference.kafka.controller import znodes
from ....reference.kafka.controller.channels import Channels
from ....reference.kafka.controller.controller import Controller
from ....reference.kafka.controller.core import Settings as ControllerSettings
from ....reference.kafka.controller.elector import Elector
from ....reference.kafka.controller.partitions import PartitionMachine
from ....reference.kafka.controller.replicas import ReplicaMachine
from ....reference.kafka.controller.selectors import Elected
from ....reference.kafka.controller.store import Steps, Store
from ....reference.kafka.controller.terms import (
    Ask, ControllerRequest, Effect, Failed, Leadership, ShutDownAnswer, TopicPartition,
)
from ....reference.kafka.replication.in_sync import InSync
from ....reference.kafka.replication.messages import (
    Code, PartitionState, Produce, Produced, Read, ReadUpTo,
)
from ....reference.kafka.replication.replica import Replica, Told
from ....reference.kafka.replication.settings import Settings
from ....reference.kafka.replication.truncation import (
    AtLastMatch, ByEpoch, ToHighWatermark, Truncation,
)
from .topic_twins import TWINS

__all__ = ["TWINS"]

def _truncating(
    name: str, rule: str, truncation: Truncation, bug: str, history: str, **more: Any
) -> None:
    TWINS.add(name, rule, bug, history, parts={
        "parts": Parts(settings=Settings(truncation=truncation, **more))})


# ---- where followers cut --------------------------------------------------------------------


_truncating("failover-cut-to-hw", "KAFKA-F3", ToHighWatermark(),
            "a follower cuts to its own high watermark, which lags", "KAFKA-1211")
_truncating("failover-kip-101", "KAFKA-F5", ByEpoch(),
            "a follower asks once where its last epoch ends, and the named replica answers, leader "
            "or not",
            "KAFKA-6361: KIP-101 without KIP-279", joins_early=True)
_truncating("failover-kip-279", "KAFKA-F5", AtLastMatch(),
            "requests of followers carry no leader epoch, so none is fenced",
            "KAFKA-7395: KIP-279 without KIP-320", joins_early=True)
TWINS.add(
    "failover-joins-early", "KAFKA-F5",
    "a follower joins the ISR below the beginning of the leader's epoch", "KAFKA-7128",
    parts={"parts": Parts(settings=Settings(joins_early=True))})


@TWINS.twin("failover-missed-epoch", "KAFKA-F5",
            "a follower whose leader is the same does not ask where to cut", "KAFKA-7164")
class MissedEpoch(Replica):
    """Records that its leader lost between two of its epochs stay in the follower's log."""

    _followed = -1

    def follow(self) -> None:
        was_matched = self.is_matched and self._followed == self.leader
        self._followed = self.leader
        super().follow()
        self.is_matched = self.is_matched or was_matched


# ---- high watermark -------------------------------------------------------------------------


@TWINS.twin("failover-acks-all-as-one", "KAFKA-F2",
            "acks=all is answered when the leader has the record", "kafka#failover")
class AcksAllAsOne(Replica):
    """A producer gets its acknowledgement before any follower has the record."""

    def produce(self, request: Produce, answer: Callable[[Produced], None]) -> None:
        super().produce(replace(request, acks_all=False), answer)


@TWINS.twin("failover-hw-of-known-isr", "KAFKA-F4",
            "the high watermark waits for the known ISR, not for replicas that may have joined",
            "KAFKA-8966, KAFKA-12686")
class WaitingForTheKnownIsr(Replica):
    """A replica that is about to join may lack a record that is committed meanwhile."""

    def waited_for(self) -> frozenset[int]:
        assert self.in_sync is not None
        return self.in_sync.members | {self.broker}


@TWINS.twin("failover-hw-without-wanted-shrink", "KAFKA-F4",
            "the high watermark no longer waits for a replica that is about to leave the ISR",
            "KAFKA-8966: the maximal ISR")
class NotWaitingForLeavers(Replica):
    """The quorum may refuse the change, and that replica may be elected."""

    def waited_for(self) -> frozenset[int]:
        assert self.in_sync is not None
        wanted = self.in_sync.wanted
        return (frozenset(wanted.isr) if wanted else self.in_sync.members) | {self.broker}


@TWINS.twin("failover-hw-by-majority", "KAFKA-F4",
            "the high watermark rises when most of the ISR have a record", "kafka#failover")
class ByMajority(Replica):
    """Another way to commit, which does not fit this way to elect."""

    def waited_for(self) -> frozenset[int]:
        all_of_them = sorted(super().waited_for(), key=self.end_of, reverse=True)
        return frozenset(all_of_them[:len(all_of_them) // 2 + 1])


@TWINS.twin("failover-read-uncommitted", "KAFKA-F6",
            "consumers read up to the end of the leader's log", "kafka#replication")
class ReadUncommitted(Replica):
    """A record that no follower has is read, and may be lost."""

    def readable(self) -> int:
        return self.log.end


@TWINS.twin("failover-hw-of-all", "KAFKA-F7",
            "consumers get the smallest end of all known logs, in sync or not",
            "KAFKA-5745, KAFKA-4485")
class LeastOfAll(Replica):
    """It falls when a replica comes back that lacks many records."""

    def read(self, request: Read) -> ReadUpTo:
        known = [self.end_of(each) for each in self.replicas if self.end_of(each) >= 0]
        answer = super().read(request)
        return replace(answer, hw=min([answer.hw, *known]))


@TWINS.twin("failover-too-few", "KAFKA-F13",
            "min.insync.replicas is ignored", "kafka#failover: NotEnoughReplicas")
class TooFewWillDo(Replica):
    """A record is acknowledged with a single in-sync replica."""

    def has_too_few(self) -> bool:
        return False


# ---- delivery -------------------------------------------------------------------------------


@TWINS.twin("failover-silence-is-consent", "KAFKA-F25",
            "a producer without an answer considers its record written", "kafka#failover")
class SilenceIsConsent(Producer):
    """No replica has the record, and it is not sent again."""

    def _answered(self, answer: Any) -> None:
        if answer is None:
            self.values.pop(0)
        super()._answered(answer) if self.values else self.go_on()


@TWINS.twin("failover-reads-short", "KAFKA-F26",
            "consumers read up to the record before the last that is committed",
            "kafka.delivery: ReadingShort")
class ReadsShort(Replica):
    """An acknowledged record is not read until another one follows it."""

    def readable(self) -> int:
        return max(0, self.hw - 1)


@TWINS.twin("failover-commits-on-demand", "KAFKA-F27",
            "the high watermark rises only while a producer waits for it",
            "kafka.delivery: CommittingOnDemand")
class CommitsOnDemand(Replica):
    """A record with acks=1 is committed with the next record for which a producer waits."""

    def raise_hw(self) -> None:
        if self._waiting:
            super().raise_hw()


@TWINS.twin("failover-leaves-producers-waiting", "KAFKA-F34",
            "a leader that becomes a follower does not answer the producers that wait at it",
            "kafka#stepping-down; kafka.stepping_down: LeavingThemWaiting")
class LeavesProducersWaiting(Replica):
    """The producers wait for their timeouts."""

    def release(self, code: Code) -> None:
        pass


# ---- leaders --------------------------------------------------------------------------------


@TWINS.twin("failover-adopts-the-epoch", "KAFKA-F1",
            "a replaced leader takes the new epoch, and continues to lead", "KAFKA-1096, KAFKA-532")
class AdoptsTheEpoch(Replica):
    """The fence moves along with the broker that it should keep out."""

    def obey(self, told: Told, now: int) -> bool:
        if self.leads and self.is_news(told.state):
            state = told.state._replace(leader=self.broker)
            return super().obey(told._replace(state=state), now)
        return super().obey(told, now)


@TWINS.twin("failover-stale-leader-epoch", "KAFKA-F9",
            "a request is obeyed whose leader epoch is not larger: a repeated or late one",
            "KAFKA-1188")
class StaleLeaderEpoch(Replica):
    """A replaced leader leads again."""

    def is_news(self, state: PartitionState) -> bool:
        return True


@TWINS.twin("failover-no-controller-epoch", "KAFKA-F9",
            "requests of a replaced controller are obeyed", "KAFKA-532")
class NoControllerEpoch(Broker):
    """Two controllers, and the brokers obey both."""

    def is_of_old_controller(self, controller_epoch: int) -> bool:
        return False


@TWINS.twin("failover-no-broker-epoch", "KAFKA-F9",
            "requests that were meant for an earlier life are obeyed", "KAFKA-7235")
class NoBrokerEpoch(Broker):
    """A broker that has registered anew obeys requests for its earlier life."""

    def is_for_earlier_life(self, broker_epoch: int) -> bool:
        return self.epoch < 0


class UnguardedStore(Store):
    """A controller's writes depend only on the version that it reads, whichever controller wrote
    it.
    """

    def guard(self) -> tuple[Any, ...]:
        return ()

    def read_leadership(
        self, partition: TopicPartition, *, watch: bool = False
    ) -> Steps[Leadership | None]:
        found = yield from super().read_leadership(partition, watch=watch)
        return found and found._replace(controller_epoch=0)


class UnguardedController(Controller):
    """Its writes depend on no epoch."""

    store_type = UnguardedStore


class WritingOnAfterReplacement(Controlling):
    """Requests of a session that is over are sent again in the next one, as ZkClient did; the
    controller is notified after that.
    """

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._asked: dict[int, Any] = {}

    def _do(self, effect: Effect) -> None:
        if isinstance(effect, Ask):
            self._asked[effect.number] = effect.request
        super()._do(effect)

    def _answered(self, number: int, result: Result) -> None:
        self._asked.pop(number, None)
        super()._answered(number, result)

    def expired(self) -> None:
        for number, request in self._asked.items():
            self.process.ask(request, partial(self._answered, number))
        self.process.later(100, super().expired)


TWINS.add(
    "failover-unguarded-controller", "KAFKA-F10",
    "a replaced controller that has another session already writes to the quorum",
    "KAFKA-6082", parts={"parts": Parts(
        controller=UnguardedController, controlling=WritingOnAfterReplacement)})


class SameEpoch(PartitionMachine):
    """A change of the leader begins no new epoch."""

    def next_leadership(self, found: Leadership, elected: Elected) -> Leadership:
        return super().next_leadership(found, elected)._replace(leader_epoch=found.leader_epoch)


@TWINS.twin("failover-same-epoch", "KAFKA-F11",
            "a new leader is elected in the epoch of the old one", "kafka#failover")
class SameEpochController(Controller):
    """The two leaders cannot be distinguished."""

    partitions_type = SameEpoch


@TWINS.twin("failover-unclean", "KAFKA-F12",
            "a replica that is not in sync is elected if no other is up",
            "unclean.leader.election.enable although it was not set")
class Unclean(Controller):
    """Records that only the others had are lost."""

    def __init__(self, broker: int) -> None:
        super().__init__(broker, ControllerSettings(unclean_all=True))


class JoiningTheOldIsr(PartitionMachine):
    """An unclean leader joins the old ISR."""

    def next_leadership(self, found: Leadership, elected: Elected) -> Leadership:
        isr = found.isr if elected.leader not in found.isr else ()
        return super().next_leadership(
            found, elected._replace(isr=tuple(dict.fromkeys((*elected.isr, *isr)))))


@TWINS.twin("failover-unclean-joins", "KAFKA-F21",
            "an uncleanly elected leader joins the old ISR", "kafka#selectors")
class JoiningController(Controller):
    """A replica that comes back counts as in sync, and lacks its leader's records."""

    partitions_type = JoiningTheOldIsr


# ---- operators' requests --------------------------------------------------------------------


@TWINS.twin("failover-let-go-early", "KAFKA-F18",
            "a broker may shut down although it leads a partition that no other broker can "
            "lead", "kafka#broker-changes")
class LettingGoEarly(Controller):
    """Clients find no leader until its session is over."""

    def emit(self, effect: Effect) -> None:
        if isinstance(effect, ShutDownAnswer) and effect.remaining:
            effect = replace(effect, remaining=())
        super().emit(effect)


@TWINS.twin("failover-follows-as-it-goes", "KAFKA-F24",
            "a broker that shuts down follows the leader that replaced it, and joins the ISR again",
            "KAFKA-14140")
class FollowsAsItGoes(Broker):
    """The leader waits for it once more, when it is gone."""

    def may_follow(self) -> bool:
        return True


@TWINS.twin("failover-never-preferred", "KAFKA-F19",
            "a preferred election ends before any replica could be elected", "KAFKA-840")
class NeverPreferred(Controller):
    """The request is gone, and nothing has happened."""

    def preferred_wanted(self) -> Steps[None]:
        partitions, self.partitions = self.partitions, _Idle()  # type: ignore[assignment]
        try:
            yield from super().preferred_wanted()
        finally:
            self.partitions = partitions


class _Idle:
    """A placeholder for the partitions' state machine."""

    def change(self, *_: Any) -> Steps[None]:
        """There is nothing to change yet."""
        yield from ()


class NotShrinking(ReplicaMachine):
    """A replica goes offline, and stays in the ISR."""

    def leave_isr(self, replica: Any) -> Steps[Leadership | None]:
        return (yield from self.store.read_leadership(replica.partition))


@TWINS.twin("failover-struck-in-sync", "KAFKA-F20",
            "a replica that is removed from the list stays in the ISR", "KAFKA-1097, KAFKA-9672")
class StruckInSync(Controller):
    """The leader waits for a replica that has deleted its log."""

    replicas_type = NotShrinking


@TWINS.twin("failover-struck-too-soon", "KAFKA-F23",
            "the old replicas are removed as soon as one of the new ones is in "
            "sync", "kafka#reassignment")
class StruckTooSoon(Controller):
    """For a while there are fewer copies than before, and after."""

    def may_finish(self, targets: tuple[int, ...], found: Leadership) -> bool:
        return bool(set(targets) & set(found.isr))


@TWINS.twin("failover-watches-late", "KAFKA-F22",
            "requests are read before the watch is set", "KAFKA-928")
class WatchingOnce(Controller):
    """A request after the first one is never noticed."""

    def jobs_of(self, event: Any) -> Iterator[Any]:
        seen = self.__dict__.setdefault("_seen", set())
        if event.path in (znodes.REASSIGN, znodes.PREFERRED):
            if (event.path, self.store.epoch) in seen:
                return
            seen.add((event.path, self.store.epoch))
        yield from super().jobs_of(event)


# ---- blocked clusters -----------------------------------------------------------------------


class SentOnce(Channels):
    """A request that fails is dropped."""

    def failed(self, broker: int, number: int) -> None:
        channel = self._channels.get(broker)
        if channel is not None and channel.under_way == number:
            channel.under_way = None
            channel.queue.popleft()
            self._send_first(broker, channel)


class QueueingTheObsolete(Channels):
    """Every request waits for its turn, even if it is obsolete."""

    def put(self, channel: Any, request: ControllerRequest) -> None:
        channel.queue.append(request)


@TWINS.twin("failover-endless-queue", "KAFKA-F32",
            "a controller keeps every request for a broker that does not answer",
            "001#controller: the loop that sends again; kafka.controller_queue: KeepingAll")
class EndlessQueue(Controller):
    """It grows as long as the broker is registered."""

    channels_type = QueueingTheObsolete


@TWINS.twin("failover-no-retry", "KAFKA-F14",
            "a controller's request that fails is not sent again", "KAFKA-1187")
class NoRetry(Controller):
    """A broker never learns that it leads."""

    channels_type = SentOnce


@TWINS.twin("failover-silence-is-death", "KAFKA-F33",
            "a broker that does not answer the controller counts as gone",
            "001#channels: a broken connection does not mean failure; kafka.controller_channels: "
            "TakingSilenceForDeath")
class SilenceIsDeath(Controller):
    """It is registered, and serves all others; a moment later it is noticed again."""

    def receive(self, event: Any) -> list[Effect]:
        if isinstance(event, Failed):
            self.add(partial(self.bury, event.broker))
        return super().receive(event)

    def bury(self, broker: int) -> Steps[None]:
        """Handle the broker as if its znode had gone."""
        if self.is_active and broker in self.context.registered:
            self.channels.remove(broker)
            yield from self._they_go([broker])
            yield from self.brokers_changed()


@TWINS.twin("failover-waits-for-its-znode", "KAFKA-F15",
            "a broker whose znode exists already gives up registering", "KAFKA-1029, KAFKA-1387")
class WaitsForItsZnode(Broker):
    """The znode is that of an earlier life, and disappears with its session."""

    def wait_for_old(self) -> None:
        pass


class TakingItsOwnForOld(Elector):
    """A znode that exists already counts as an earlier session's, so the broker waits for its end.
    """

    def was_left_behind(self, found: Stat) -> bool:
        return False

    def is_mine(self) -> Steps[bool]:
        yield from ()
        return False


@TWINS.twin("failover-waits-for-itself", "KAFKA-F14",
            "a broker that has become the controller without a reply waits for its own znode to "
            "disappear",
            "KAFKA-1451")
class WaitsForItself(Controller):
    """Its session lives, so no controller is elected."""

    elector_type = TakingItsOwnForOld


@TWINS.twin("failover-lost-reply", "KAFKA-F15",
            "a leader whose write succeeded, but whose reply was lost, never changes the ISR again",
            "KAFKA-1382, KAFKA-2729, KAFKA-12686")
class LostReply(Broker):
    """Its version is old forever."""

    def change_failed(self, replica: Replica, in_sync: InSync) -> None:
        pass


@TWINS.twin("failover-in-flight", "KAFKA-F8",
            "a producer has two records under way, and repeats those that were not acknowledged",
            "kafka#failover: max.in.flight.requests.per.connection above 1, and retries")
class TwoInFlight(Producer):
    """The first is refused, or overtaken; the second is not."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._under_way: set[int] = set()

    def go_on(self) -> None:
        if not self.values or self.leader.broker < 0:
            super().go_on()
            return
        for value in [each for each in self.values[:2] if each not in self._under_way]:
            self._under_way.add(value)
            self.process.call(
                self.leader.broker, Produce(self.partition, value, self.acks_all), 30,
                partial(self._told, value))

    def _told(self, value: int, answer: Any) -> None:
        self._under_way.discard(value)
        if not isinstance(answer, Produced) or answer.code is not Code.DONE:
            self._look_for_leader()
        elif value in self.values:
            self.values.remove(value)
            self.process.world.record(
                "acked", self.process.id, self.partition, int(self.acks_all), answer.offset, value)
            self.process.later(1, self.go_on)


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("failover-acks-all-as-one", 40, 300)

_RING = 64


@TWINS.twin("failover-second-turn", "KAFKA-F6",
            "at the second turn of a ring of 64 records, consumers read those of the first",
            "a ring whose first place is read before it is written again")
class SecondTurn(Replica):
    """Every 64th record is taken for the one of a turn before."""

    def read(self, request: Read) -> ReadUpTo:
        found = super().read(request)
        if found.records and request.offset > 0 and request.offset % _RING == 0:
            before = self.log.records[request.offset - _RING]
            return replace(found, records=(before, *found.records[1:]))
        return found
