"""Controllers with one seeded bug each: the reference, with one of its decisions changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ....reference.coordination.terms import ANY_VERSION
from ....reference.kafka.controller.batch import Batch
from ....reference.kafka.controller.context import Replica
from ....reference.kafka.controller.partitions import PartitionMachine
from ....reference.kafka.controller.replicas import ReplicaMachine
from ....reference.kafka.controller.selectors import (
    Candidates, Elected, NotElected, Selector, controlled_shutdown, offline, offline_unclean,
    preferred, reassigned,
)
from ....reference.kafka.controller.states import PartitionState, ReplicaState
from ....reference.kafka.controller.store import Steps, Store
from ....reference.kafka.controller.terms import Leadership, TopicPartition
from ...suites.twin import Twins
from .adapter import ReferenceController

__all__ = ["TWINS"]

_PARTS: Final = {
    Store: "store_type", Batch: "batch_type", PartitionMachine: "partitions_type",
    ReplicaMachine: "replicas_type"}


def _parts_of(bug: type[Any]) -> Mapping[str, Any]:
    return {name: bug for part, name in _PARTS.items() if issubclass(bug, part)}


TWINS: Final = Twins(
    "kafka.controller", ReferenceController, ("reference.kafka.controller",), _parts_of)


# ---- the table of partitions, and batches -------------------------------------------------------


@TWINS.twin("controller-any-partition", "KAFKA-C1", "every requested change of a partition is made",
            "partition_changes: IgnoringTheTable")
class AnyPartitionChange(PartitionMachine):
    """Every change is legal."""

    legal = {state: frozenset(PartitionState) for state in PartitionState}


@TWINS.twin("controller-offline-to-new", "KAFKA-C1", "an offline partition can become new again",
            "one cell of the table too many")
class OfflineToNew(PartitionMachine):
    """One legal change too many."""

    legal = {**PartitionMachine.legal, PartitionState.NEW: frozenset({
        PartitionState.NON_EXISTENT, PartitionState.OFFLINE})}


@TWINS.twin("controller-new-to-offline", "KAFKA-C3", "a new partition cannot go offline",
            "one cell of the table too few")
class NeverNewToOffline(PartitionMachine):
    """One legal change too few."""

    legal = {**PartitionMachine.legal, PartitionState.OFFLINE: frozenset({
        PartitionState.ONLINE, PartitionState.OFFLINE})}


@TWINS.twin("controller-batch-stops", "KAFKA-C2", "the first illegal change ends the batch",
            "partition_changes: StoppingAtTheFirst")
class StoppingAtTheFirst(PartitionMachine):
    """The changes after an illegal one are left out."""

    def change(self, partitions: Iterable[TopicPartition], target: PartitionState,
               selector: Selector | None = None) -> Steps[None]:
        kept = []
        for partition in partitions:
            if self.context.state_of(partition) not in self.legal[target]:
                break
            kept.append(partition)
        return super().change(kept, target, selector)


@TWINS.twin("controller-failure-stops", "KAFKA-C2", "a failed election ends the batch",
            "an error that is not caught between the partitions of a batch")
class StoppingAtAFailure(PartitionMachine):
    """After one partition has failed, all others fail."""

    def change(self, partitions: Iterable[TopicPartition], target: PartitionState,
               selector: Selector | None = None) -> Steps[None]:
        self._has_failed = False
        return super().change(partitions, target, selector)

    def fails(self, partition: TopicPartition, why: str) -> bool:
        self._has_failed = True
        return super().fails(partition, why)

    def initialize(self, partition: TopicPartition) -> Steps[bool]:
        if self._has_failed:
            return False
        return (yield from super().initialize(partition))


# ---- the first leader ---------------------------------------------------------------------------


@TWINS.twin("controller-first-in-sync", "KAFKA-C4", "stopped replicas begin in the ISR",
            "the assigned replicas instead of the live ones")
class AllInSyncAtFirst(PartitionMachine):
    """The first ISR is the whole list, live or not."""

    def initialize(self, partition: TopicPartition) -> Steps[bool]:
        registered = self.context.registered
        self.context.registered = dict.fromkeys(
            self.context.assignment.get(partition, ()), 1)
        try:
            return (yield from super().initialize(partition))
        finally:
            self.context.registered = registered


@TWINS.twin("controller-first-epoch", "KAFKA-C11", "leader epochs begin with 1",
            "an epoch that is raised before it is used")
class BeginningWithOne(Store):
    """The first leadership has the epoch 1."""

    def create_leadership(self, partition: TopicPartition, wanted: Leadership) -> Steps[bool]:
        return super().create_leadership(partition, wanted._replace(leader_epoch=1))


# ---- selectors ----------------------------------------------------------------------------------


def _with(name: str, selector: Selector) -> Mapping[str, Any]:
    return {"selectors": {**ReferenceController.selectors, name: selector}}


def _changed(
    selector: Selector, change: Callable[[Candidates, Elected], Elected]
) -> Selector:
    """A selector that changes its answer if it elects a leader."""
    def changed(found: Candidates) -> Elected | NotElected:
        elected = selector(found)
        return elected if isinstance(elected, NotElected) else change(found, elected)
    return changed


def _in_isr_order(found: Candidates, elected: Elected) -> Elected:
    return elected._replace(leader=min(each for each in elected.isr if each in found.live))


def _keeping_the_isr(found: Candidates, elected: Elected) -> Elected:
    return elected._replace(isr=found.isr)


def _telling_those_that_stay(found: Candidates, elected: Elected) -> Elected:
    return elected._replace(recipients=tuple(
        each for each in elected.recipients if each not in found.shutting_down))


def _without_liveness(selector: Selector) -> Selector:
    def changed(found: Candidates) -> Elected | NotElected:
        everybody = frozenset(found.replicas) | frozenset(found.isr) | found.registered
        return selector(found._replace(registered=everybody))
    return changed


def _head_alone(found: Candidates) -> Elected | NotElected:
    if found.replicas[0] in found.live and found.replicas[0] != found.leader:
        return Elected(found.replicas[0], found.isr, found.replicas)
    return preferred(found)


def _never(found: Candidates) -> Elected | NotElected:
    return NotElected.NOT_NEEDED


def _by_the_old_list(found: Candidates) -> Elected | NotElected:
    return reassigned(found._replace(targets=found.replicas))


TWINS.add("controller-dead-in-sync", "KAFKA-C5", "stopped brokers stay in the ISR after an "
          "election",
          "KAFKA-3143: replicas on stopped brokers",
          parts={"lost_leaders": (_changed(offline, _keeping_the_isr), offline_unclean)})
TWINS.add("controller-isr-order", "KAFKA-C5", "the first of the ISR leads, by number",
          "KAFKA-3670, for a lost leader",
          parts={"lost_leaders": (_changed(offline, _in_isr_order), offline_unclean)})
TWINS.add("controller-leaving-elected", "KAFKA-C5", "a broker that shuts down is elected",
          "registered brokers instead of live ones", parts={"lost_leaders": (
              lambda found: offline(found._replace(shutting_down=frozenset())),
              offline_unclean)})
TWINS.add("controller-unclean-off", "KAFKA-C6", "there is no unclean election, even if it is on",
          "the broker's setting instead of the topic's",
          parts={"lost_leaders": (offline, offline)})
TWINS.add("controller-unclean-isr", "KAFKA-C6", "an unclean leader joins the old ISR",
          "a reading of 'unclean': the old ISR is not dropped",
          parts={"lost_leaders": (offline, _changed(offline_unclean, lambda found, elected: (
              elected if elected.leader in found.isr
              else elected._replace(isr=(*found.isr, elected.leader)))))})
TWINS.add("controller-unclean-on", "KAFKA-C10", "elections are unclean although that is off",
          "partition_changes: ChoosingAnybody",
          parts={"lost_leaders": (offline_unclean, offline_unclean)})
TWINS.add("controller-old-list", "KAFKA-C7", "a reassignment uses the old list",
          "the assigned replicas instead of the reassigned ones",
          parts=_with("reassigned", _by_the_old_list))
TWINS.add("controller-target-shrinks", "KAFKA-C7", "a reassignment removes the others from the ISR",
          "the ISR is reduced before the new leader knows it",
          parts=_with("reassigned", _changed(reassigned, lambda found, elected: elected._replace(
              isr=(elected.leader,)))))
TWINS.add("controller-never-preferred", "KAFKA-C8", "a preferred election elects no replica",
          "KAFKA-840: requested before there is a candidate",
          parts=_with("preferred", _never))
TWINS.add("controller-preferred-alone", "KAFKA-C8", "a preferred leader is alone in the ISR",
          "the ISR of an unclean election", parts=_with("preferred", _changed(
              preferred, lambda found, elected: elected._replace(isr=(elected.leader,)))))
TWINS.add("controller-preferred-lags", "KAFKA-C10", "the head of the list leads although it lags",
          "partition_changes: PreferringTheLagging", parts=_with("preferred", _head_alone))
TWINS.add("kafka-3670", "KAFKA-C9", "in a controlled shutdown the first of the ISR leads",
          "KAFKA-3670: the ISR's order instead of the list's", parts=_with(
              "controlled_shutdown", _changed(controlled_shutdown, _in_isr_order)))
TWINS.add("kafka-3670-dead", "KAFKA-C9", "in a controlled shutdown a stopped broker is elected",
          "KAFKA-3670: 0.9 did not test liveness", parts=_with(
              "controlled_shutdown", _without_liveness(controlled_shutdown)))
TWINS.add("controller-leaving-in-sync", "KAFKA-C9", "a broker that shuts down stays in the ISR",
          "an ISR that is not shrunk", parts=_with(
              "controlled_shutdown", _changed(controlled_shutdown, _keeping_the_isr)))
TWINS.add("kafka-7482", "KAFKA-C14", "a broker that shuts down does not learn that it no longer "
          "leads",
          "KAFKA-7482: no LeaderAndIsr to the broker that shuts down", parts=_with(
              "controlled_shutdown", _changed(controlled_shutdown, _telling_those_that_stay)))


# ---- epochs, and the condition of a write -----------------------------------------------------


@TWINS.twin("controller-same-epoch", "KAFKA-C11", "a new leader has the epoch of the old one",
            "partition_changes: KeepingTheEpoch")
class KeepingTheEpoch(PartitionMachine):
    """Elections do not raise the leader epoch."""

    def next_leadership(self, found: Leadership, elected: Elected) -> Leadership:
        return super().next_leadership(found, elected)._replace(leader_epoch=found.leader_epoch)


@TWINS.twin("controller-shrink-epoch", "KAFKA-C11", "an ISR is shrunk in the old epoch",
            "KAFKA-1188: a follower's epoch is left behind")
class ShrinkingInTheSameEpoch(ReplicaMachine):
    """Going offline does not raise the leader epoch."""

    def without(self, found: Leadership, broker: int) -> Leadership:
        return super().without(found, broker)._replace(leader_epoch=found.leader_epoch)


@TWINS.twin("controller-blind-write", "KAFKA-C12", "the node is written without a condition",
            "partition_changes: WritingBlindly")
class WritingBlindly(Store):
    """The leader's write in the meantime is overwritten."""

    def write_leadership(self, partition: TopicPartition, wanted: Leadership,
                         ) -> Steps[Leadership | None]:
        return super().write_leadership(partition, wanted._replace(version=ANY_VERSION))


@TWINS.twin("kafka-5879", "KAFKA-C12", "elections use an ISR that was read long ago",
            "KAFKA-5879: the remembered ISR is stale")
class ElectingFromMemory(Store):
    """A node is read once; after that only its version is read."""

    def read_leadership(self, partition: TopicPartition, *, watch: bool = False,
                        ) -> Steps[Leadership | None]:
        found = yield from super().read_leadership(partition, watch=watch)
        known: dict[TopicPartition, Leadership] = self.__dict__.setdefault("_known", {})
        if found is None or known.get(partition, found).leader_epoch != found.leader_epoch:
            known.pop(partition, None)
        if found is None:
            return None
        return found._replace(isr=known.setdefault(partition, found).isr)


@TWINS.twin("kafka-6082", "KAFKA-C13", "a node that a newer controller has written is overwritten",
            "KAFKA-6082: a replaced controller continues to write")
class OverwritingNewer(PartitionMachine):
    """The node's controller epoch is not tested."""

    def is_from_later_controller(self, found: Leadership) -> bool:
        return False


# ---- receivers of requests ----------------------------------------------------------------------


@TWINS.twin("kafka-1188", "KAFKA-C14", "only the leader learns that an ISR shrinks",
            "KAFKA-1188: LeaderAndIsr of a shrunk ISR goes only to the leader")
class TellingTheLeaderAlone(Batch):
    """Of several receivers of one leadership only the leader gets it."""

    def lead(self, brokers: Iterable[int], partition: TopicPartition, leadership: Leadership,
             *, is_new: bool = False) -> None:
        told = tuple(brokers)
        if len(told) > 1 and not is_new:
            told = tuple(each for each in told if each == leadership.leader)
        super().lead(told, partition, leadership, is_new=is_new)


@TWINS.twin("controller-metadata-late", "KAFKA-C15", "no broker gets metadata of an election",
            "KAFKA-4443: a follower does not know its leader")
class WithholdingMetadata(Batch):
    """A LeaderAndIsr is sent without metadata."""

    def update_metadata(self, brokers: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        pass


@TWINS.twin("controller-metadata-replicas", "KAFKA-C15", "metadata goes to live brokers only",
            "a broker that shuts down still answers clients")
class MetadataToTheLiving(Batch):
    """A broker that shuts down gets no metadata."""

    def update_metadata(self, brokers: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        super().update_metadata(
            [each for each in brokers if each in self._context.live], partitions)


# ---- replicas -----------------------------------------------------------------------------------


@TWINS.twin("controller-any-replica", "KAFKA-C16", "every requested change of a replica is made",
            "replica_changes: IgnoringTheTable")
class AnyReplicaChange(ReplicaMachine):
    """Every change is legal."""

    legal = {state: frozenset(ReplicaState) for state in ReplicaState}


@TWINS.twin("controller-deleting-online", "KAFKA-C16", "a replica is deleted while it is online",
            "one cell of the table too many")
class DeletingOnline(ReplicaMachine):
    """One legal change too many."""

    legal = {**ReplicaMachine.legal, ReplicaState.DELETION_STARTED: frozenset({
        ReplicaState.OFFLINE, ReplicaState.ONLINE})}


@TWINS.twin("controller-ineligible-stays", "KAFKA-C17", "an ineligible replica never comes back",
            "one cell of the table too few")
class NeverEligibleAgain(ReplicaMachine):
    """One legal change too few."""

    legal = {**ReplicaMachine.legal, ReplicaState.ONLINE: frozenset({
        ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE})}


@TWINS.twin("kafka-3143", "KAFKA-C18", "a replica that goes offline stays in the ISR",
            "KAFKA-3143: the ISR keeps stopped members")
class KeepingTheDead(ReplicaMachine):
    """The node does not change."""

    def leave_isr(self, replica: Replica) -> Steps[Leadership | None]:
        return (yield from self.store.read_leadership(replica.partition))


@TWINS.twin("controller-dead-leader", "KAFKA-C18", "a leader that goes offline still leads",
            "replica_changes: KeepingTheLeader")
class KeepingTheLeader(ReplicaMachine):
    """A leader that leaves the ISR still leads."""

    def without(self, found: Leadership, broker: int) -> Leadership:
        return super().without(found, broker)._replace(leader=found.leader)


@TWINS.twin("controller-empty-isr", "KAFKA-C19", "the last member of an ISR leaves it",
            "replica_changes: EmptyingTheIsr")
class EmptyingTheIsr(ReplicaMachine):
    """Then no replica may lead any more."""

    def without(self, found: Leadership, broker: int) -> Leadership:
        isr = tuple(each for each in found.isr if each != broker)
        return super().without(found, broker)._replace(isr=isr)


@TWINS.twin("controller-not-stopped", "KAFKA-C20", "a replica that goes offline is not stopped",
            "a broker that continues to fetch")
class NeverStopping(Batch):
    """Only deletions are sent."""

    def stop(self, broker: int, partition: TopicPartition, *, delete: bool) -> None:
        if delete:
            super().stop(broker, partition, delete=True)


@TWINS.twin("controller-deleting-too-much", "KAFKA-C20", "a replica that stops deletes its log",
            "a flag that is always set")
class DeletingWhatStops(Batch):
    """A replica that goes offline loses its log."""

    def stop(self, broker: int, partition: TopicPartition, *, delete: bool) -> None:
        super().stop(broker, partition, delete=True)


@TWINS.twin("kafka-831", "KAFKA-C21", "a replica that comes back gets no request",
            "KAFKA-831: a broker that starts is not sent its partitions")
class ComingBackUntold(ReplicaMachine):
    """Only its state is changed."""

    def _bring_online(self, replica: Replica, before: ReplicaState) -> bool:
        return before is not ReplicaState.NEW or super()._bring_online(replica, before)


@TWINS.twin("controller-new-leader", "KAFKA-C22", "a replica that leads becomes new",
            "a new replica is empty, and its log is deleted")
class MakingTheLeaderAnew(ReplicaMachine):
    """The present leader is not tested."""

    def _begin(self, replica: Replica) -> bool:
        leadership = self.context.leaderships.get(replica.partition)
        if leadership is not None and leadership.leader == replica.broker:
            return True
        return super()._begin(replica)


@TWINS.twin("controller-not-listed", "KAFKA-C23", "a new replica does not join the list",
            "a reassignment whose new replicas are never counted")
class NeverListing(ReplicaMachine):
    """A new replica never counts as assigned."""

    def _bring_online(self, replica: Replica, before: ReplicaState) -> bool:
        return before is ReplicaState.NEW or super()._bring_online(replica, before)


@TWINS.twin("controller-listed-first", "KAFKA-C23", "a new replica is the first of the list",
            "the preferred replica changes with every reassignment")
class ListingFirst(ReplicaMachine):
    """A new replica becomes the first of the list."""

    def _bring_online(self, replica: Replica, before: ReplicaState) -> bool:
        assigned = self.context.assignment.get(replica.partition, ())
        if before is ReplicaState.NEW and replica.broker not in assigned:
            self.context.assignment[replica.partition] = (replica.broker, *assigned)
            return True
        return super()._bring_online(replica, before)


# ---- twins that show late -----------------------------------------------------------------------

TWINS.late("controller-batch-stops", 40, 300)


# ---- the order within a batch -------------------------------------------------------------------


@TWINS.twin("controller-metadata-first", "KAFKA-C24",
            "brokers learn a new leader before the leader itself does",
            "controller_requests: MetadataFirst; UpdateMetadata is sent as soon as it is made")
class MetadataFirst(Batch):
    """A client is sent to a broker that does not lead yet."""

    def send(self, controller_epoch: int) -> None:
        self._send_metadata(controller_epoch)
        self._send_led(controller_epoch)
        self._send_stopped(controller_epoch)
        self.drop()


@TWINS.twin("controller-stops-first", "KAFKA-C24", "a replica is stopped before all other requests",
            "controller_requests: StoppingFirst")
class StoppingFirst(Batch):
    """A client is sent to a stopped replica."""

    def send(self, controller_epoch: int) -> None:
        self._send_stopped(controller_epoch)
        self._send_led(controller_epoch)
        self._send_metadata(controller_epoch)
        self.drop()
