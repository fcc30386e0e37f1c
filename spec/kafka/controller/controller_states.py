"""The states of partitions and replicas with which a controller begins.

Theory of operation
-------------------
States of partitions and replicas are in the controller's memory, and are lost with it. The next
controller derives them from the node of each partition, and from the registered brokers.

    partition   no node                            new: it never had a leader
                a node with a live leader           online
                a node with a dead leader           offline
    replica     its broker is live                 online
                its broker is not                  ineligible for deletion

Then it elects leaders for all new and offline partitions. Each of these tests is needed. An
election for a new partition *creates* the node, and fails if there is one; one for an offline
partition reads it, and fails if there is none; and for an online partition there is no election. So
a controller that begins with one state for all leaves some partitions without a leader, even when
all brokers are back: those with a node that names no leader, or those without a node.

A replica that is ineligible holds up the deletion of its topic until its broker comes. If it were
online, it would be sent a request to delete, which is dropped since its broker is down; and this
request is sent only once. The text names this state. In 3.9 such a replica goes offline next, which
takes it out of the ISR (KAFKA-3143); ``broker_changes`` models that.

There are B brokers, with a replica on each.

Source: 001#states; kafka#partition-states, kafka#replica-states.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require, upto,
)
from .transitions import PartitionState

__all__ = [
    "EXPECTATIONS", "AllNew", "AllOffline", "AllOnline", "AllReplicasOnline", "BeginningStates",
    "ReplicaStage",
]

STATES = "001#states; kafka#partition-states"


class ReplicaStage(IntEnum):
    """Progress of a replica in the deletion of its topic."""

    ONLINE = 0
    INELIGIBLE = 1
    STARTED = 2
    SUCCESSFUL = 3


class BeginningStates(Machine):
    """The node that a controller finds, the states that it assigns, and their consequences."""

    B = const(2, at_least=1)            # brokers

    written = boolean()                             # the partition has a node …
    leader = integer(0, B, init=B)                  # … which names the leader; B: none
    in_sync = array(upto(B), boolean())             # … and the ISR
    up = array(upto(B), boolean(True))              # registered brokers
    unwanted = boolean()                            # the topic is to be deleted
    begun = boolean()                               # the new controller has assigned states
    state = choice(PartitionState, PartitionState.NON_EXISTENT)
    replica = array(upto(B), choice(ReplicaStage, ReplicaStage.ONLINE))
    told = array(upto(B), boolean())                # it has been asked to delete

    # --- before: the last controller, and no controller --------------------------------------

    @action(broker=upto(B))
    def lead(self, broker: int) -> None:
        """The last controller has created the node."""
        require(not self.begun and not self.written and self.up[broker])
        self.written = True
        self.leader = broker
        for each in range(self.B):
            self.in_sync[each] = self.up[each]

    @action(broker=upto(B))
    def leave(self, broker: int) -> None:
        """The leader takes a follower out of the ISR."""
        require(not self.begun and self.has_leader())
        require(self.in_sync[broker] and self.leader != broker)
        self.in_sync[broker] = False

    @action(broker=upto(B))
    def crash(self, broker: int) -> None:
        """A broker stops, while there is no controller."""
        require(not self.begun and self.up[broker])
        self.up[broker] = False

    @action
    def lose_leader(self) -> None:
        """The last controller removes a stopped leader from the node.

        It stays in the ISR if it is the last member, so there is no leader until it comes.
        """
        require(not self.begun and self.leader < self.B and not self.has_leader())
        if sum(self.in_sync) > 1:
            self.in_sync[min(self.leader, self.B - 1)] = False
        self.leader = self.B

    @action
    def want_away(self) -> None:
        """An operator requests the deletion of the topic."""
        require(not self.begun and not self.unwanted)
        self.unwanted = True

    # --- the new controller ------------------------------------------------------------------

    @action(fair=True)
    def begin(self) -> None:
        """The controller assigns states."""
        require(not self.begun)
        self.begun = True
        self.state = self.found()
        for each in range(self.B):
            self.replica[each] = self.found_of(self.up[each])

    def found(self) -> PartitionState:
        """The state of the partition."""
        if not self.written:
            return PartitionState.NEW
        if self.has_leader():
            return PartitionState.ONLINE
        return PartitionState.OFFLINE

    def found_of(self, is_up: bool) -> ReplicaStage:
        """The state of a replica."""
        return ReplicaStage.ONLINE if is_up else ReplicaStage.INELIGIBLE

    def has_leader(self) -> bool:
        """True if there is a live leader."""
        return self.leader < self.B and self.up[min(self.leader, self.B - 1)]

    @action(fair=True, broker=upto(B))
    def make(self, broker: int) -> None:
        """For a new partition: the first leader, and the node, if there is none."""
        require(self.begun and self.state == PartitionState.NEW and not self.written)
        require(self.up[broker] and not any(self.up[each] and each < broker
                                            for each in range(self.B)))
        self.written = True
        self.leader = broker
        for each in range(self.B):
            self.in_sync[each] = self.up[each]
        self.state = PartitionState.ONLINE

    @action(fair=True, broker=upto(B))
    def elect(self, broker: int) -> None:
        """For an offline partition: the first live in-sync replica, if there is a node."""
        require(self.begun and self.state == PartitionState.OFFLINE and self.written)
        require(self.may_lead(broker) and not any(
            self.may_lead(each) and each < broker for each in range(self.B)))
        self.leader = broker
        self.state = PartitionState.ONLINE

    def may_lead(self, broker: int) -> bool:
        """True if the broker is live and in sync."""
        return self.up[broker] and self.in_sync[broker]

    @action(fair=True, broker=upto(B))
    def come_back(self, broker: int) -> None:
        """A broker registers again: a deletion that waited for it may continue."""
        require(self.begun and not self.up[broker])
        self.up[broker] = True
        if self.replica[broker] == ReplicaStage.INELIGIBLE:
            self.replica[broker] = ReplicaStage.ONLINE

    @action(fair=True)
    def delete(self) -> None:
        """All replicas are asked to delete, when none is ineligible.

        A broker that is not registered gets no request.
        """
        require(self.begun and self.unwanted)
        require(all(self.replica[each] == ReplicaStage.ONLINE for each in range(self.B)))
        for each in range(self.B):
            self.replica[each] = ReplicaStage.STARTED
            self.told[each] = self.up[each]

    @action(fair=True, broker=upto(B))
    def answer(self, broker: int) -> None:
        """A broker has deleted its replica."""
        require(self.replica[broker] == ReplicaStage.STARTED and self.told[broker])
        self.replica[broker] = ReplicaStage.SUCCESSFUL

    # --- rules -------------------------------------------------------------------------------

    @leads_to("KAFKA-C75", MUST,
              "After a controller has begun, a partition without a live leader eventually has "
              "one, if stopped brokers come back.",
              source=STATES)
    def it_gets_a_leader(self) -> tuple[bool, bool]:
        """All brokers come back in this model."""
        return self.begun and not self.has_leader(), self.has_leader()

    @always("KAFKA-C76", MUST,
            "When a controller begins, it considers a partition online only if the partition's "
            "node names a live leader.",
            source=STATES)
    def online_has_a_leader(self) -> bool:
        """There is no election for an online partition."""
        return self.state != PartitionState.ONLINE or self.has_leader()

    @leads_to("KAFKA-C77", MUST,
              "If a topic is to be deleted when a controller begins, and stopped brokers come "
              "back, eventually all replicas of the topic have been deleted.",
              source="001#states; kafka#replica-states, kafka#topics")
    def it_is_deleted(self) -> tuple[bool, bool]:
        """A replica on a broker that is down delays the deletion."""
        return (self.begun and self.unwanted,
                all(self.replica[each] == ReplicaStage.SUCCESSFUL for each in range(self.B)))


# ---- broken ones ----------------------------------------------------------------------------


class AllOnline(BeginningStates):
    """Every partition with a node is online."""

    def found(self) -> PartitionState:
        """The leader's liveness is not tested."""
        return PartitionState.ONLINE if self.written else PartitionState.NEW


class AllNew(BeginningStates):
    """Every partition without a live leader is new."""

    def found(self) -> PartitionState:
        """The existence of a node is not tested."""
        return PartitionState.ONLINE if self.has_leader() else PartitionState.NEW


class AllOffline(BeginningStates):
    """Every partition without a live leader is offline."""

    def found(self) -> PartitionState:
        """The existence of a node is not tested."""
        return PartitionState.ONLINE if self.has_leader() else PartitionState.OFFLINE


class AllReplicasOnline(BeginningStates):
    """Every replica is online."""

    def found_of(self, is_up: bool) -> ReplicaStage:
        """The broker's liveness is not tested."""
        return ReplicaStage.ONLINE


RULES = ("KAFKA-C75", "KAFKA-C76", "KAFKA-C77")

EXPECTATIONS = (
    *(expect(BeginningStates, rule, "holds", "states by the node and the live brokers",
             B=(1, 2, 3)) for rule in RULES),
    expect(AllOnline, "KAFKA-C75", "violated", "no election for a partition that has lost its "
           "leader",
           B=(1, 2)),
    expect(AllOnline, "KAFKA-C76", "violated", "the leader is gone", B=(1, 2)),
    expect(AllNew, "KAFKA-C75", "violated", "the node cannot be created once more", B=(1, 2)),
    expect(AllOffline, "KAFKA-C75", "violated", "there is no node to read", B=(1, 2)),
    expect(AllReplicasOnline, "KAFKA-C77", "violated", "a broker that was down got no "
           "request", B=(1, 2)),
)
