"""Changes of replicas: the transition table, and removals from the ISR.

Theory of operation
-------------------
Each broker in the list of a partition has a replica of it. For the controller each replica is new,
online, offline, in one of three stages of its deletion, or non-existent, and a table
(``transitions``) has the legal changes.

    new          it learns the leader, if there is one; the leader itself cannot be new
    online       the first time, it joins the list; after that it learns leader and ISR
    offline      it is asked to stop, and leaves the ISR in the node; the others learn that
    deletion     it is asked to stop and to delete, answers, and then leaves the list

The node is read and written as for an election (``partition_changes``): on condition that it has
not been written since. If the replica led, there is no leader until the next election. The last
member of an ISR stays in it, since it may be the only one with all committed records; 0.9 removes
it if unclean elections are on, 3.9 never does. A replica of a partition that never had a leader
cannot go offline in 0.9; in 3.9 it can.

A stopped broker that stays in the ISR stops its partition: the leader waits for it until it finds
it lagging, or forever if it waits for the controller (KAFKA-3143).

The partition has the list in row A of ``selectors.ORDERS``; replicas of the first K brokers change.
V is the release: 0 for 0.9, 1 for 3.9.

Source: kafka#replica-states; KAFKA-3143.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, require, step, table,
    upto,
)
from .selectors import (
    ALL, APPENDED, BROKERS, NOBODY, ORDERS, PLACES, STRUCK, Order, first_leader, has, members,
    offline, only, without,
)
from .transitions import REPLICA_CHANGES_OF, Era, ReplicaState, cells

__all__ = [
    "EXPECTATIONS", "EmptyingTheIsr", "IgnoringTheTable", "KeepingTheDead", "KeepingTheLeader",
    "ReplicaChanges", "WritingBlindly",
]

REPLICAS = "kafka#replica-states"


class ReplicaChanges(Machine):
    """A controller that changes the replicas of one partition, one after the other."""

    K = const(2, at_least=1, at_most=3)     # brokers with replicas that change
    E = const(2, at_least=1)                # leader epochs
    D = const(1)                            # events beside the controller
    U = const(0, at_most=1)                 # 1: unclean elections are on
    V = const(0, at_most=1)                 # the release: 0 for 0.9, 1 for 3.9
    A = const(6, at_most=14)                # the list of the partition: 0, 1

    places = table(PLACES)
    appended = table(APPENDED)
    struck = table(STRUCK)
    may = table(tuple(cells(REPLICA_CHANGES_OF[era]) for era in Era))

    replica = array(upto(K), choice(ReplicaState, ReplicaState.NON_EXISTENT))
    row = integer(0, len(ORDERS) - 1, init=A)       # of the present list
    happened = integer(0, D)

    written = boolean()                     # the node exists
    leader = integer(0, NOBODY, init=NOBODY)
    isr = integer(0, ALL)
    epoch = integer(0, E)
    newer = boolean()                       # a newer controller has written it

    reading = integer(0, K)                 # replica that is going offline, after reading, plus 1
    current = boolean()                     # … and the node has not been written since
    read_isr = integer(0, ALL)
    told = integer(0, ALL)                  # receivers of a LeaderAndIsr in the last change

    # --- beside these changes -----------------------------------------------------------------

    def happen(self) -> None:
        """Count one more event."""
        require(self.happened < self.D)
        self.happened += 1

    def order(self) -> Order:
        """The brokers of the list, the head first."""
        at = self.row * BROKERS
        return self.places[at], self.places[at + 1], self.places[at + 2]

    @action
    def elect(self) -> None:
        """Elect a leader: the first one with the whole list in sync, or the next one."""
        require(self.reading == 0 and not self.newer)
        require(self.epoch < self.E and self.leader == NOBODY)
        order = self.order()
        found = offline(order, self.isr, ALL, False) if self.written else first_leader(order, ALL)
        require(found.leader != NOBODY)
        self.leader = found.leader
        self.isr = found.isr
        self.epoch += 1 if self.written else 0
        self.written = True

    @action(broker=upto(BROKERS))
    def write_isr(self, broker: int) -> None:
        """The leader removes a follower from the ISR, or adds it."""
        require(self.leader != NOBODY and self.leader != broker and not self.newer)
        require(has(members(self.order()), broker))
        self.happen()
        if has(self.isr, broker):
            self.isr -= only(broker)
        else:
            self.isr += only(broker)
        self.current = False

    @action
    def take_over(self) -> None:
        """A newer controller writes the node. The written values do not matter here."""
        require(self.written and not self.newer)
        self.happen()
        self.newer = True
        self.current = False

    # --- changes ------------------------------------------------------------------------------

    @action(broker=upto(K), target=ReplicaState)
    def change(self, broker: int, target: ReplicaState) -> None:
        """A request to change a replica; going offline begins with reading the node."""
        require(self.reading == 0 and self.epoch < self.E)
        self.told = 0
        if self.may_become(broker, target):
            if target == ReplicaState.OFFLINE and self.written:
                self.read(broker)
            elif target == ReplicaState.OFFLINE:
                self.go(broker, target if self.V == 1 else self.replica[broker])
            elif target != ReplicaState.NEW or self.leader != broker:
                self.join(broker, target)

    def may_become(self, broker: int, target: ReplicaState) -> bool:
        """True if the release's table has the change."""
        return bool(self.may[self.V][target * len(ReplicaState) + self.replica[broker]] == 1)

    def join(self, broker: int, target: ReplicaState) -> None:
        """Changes without the node: a new replica learns the leader, and a deleted one leaves the
        list.
        """
        if target == ReplicaState.ONLINE and self.replica[broker] == ReplicaState.NEW:
            self.row = self.appended[self.row * BROKERS + broker]
        elif target == ReplicaState.NEW or target == ReplicaState.ONLINE:
            self.told = only(broker) if self.written else 0
        elif target == ReplicaState.NON_EXISTENT:
            self.row = self.struck[self.row * BROKERS + broker]
        self.go(broker, target)

    def go(self, broker: int, target: ReplicaState) -> None:
        """The replica reaches the state."""
        self.replica[broker] = target

    def read(self, broker: int) -> None:
        """Read the node.

        If a newer controller wrote it, there is no effect; if the replica is not in sync, there is
        nothing to write.
        """
        self.forget()
        if not self.newer and has(self.isr, broker):
            self.reading = broker + 1
            self.current = True
            self.read_isr = self.isr
        elif not self.newer:
            self.leave(broker)

    def leave(self, broker: int) -> None:
        """The replica is offline, and the others learn the ISR."""
        self.told = without(members(self.order()), only(broker))
        self.go(broker, ReplicaState.OFFLINE)

    @action(fair=True, broker=upto(K))
    def write(self, broker: int) -> None:
        """Write the ISR without the replica, unless the node has changed."""
        require(self.reading == broker + 1)
        if self.is_current():
            self.shrink(broker)
            self.leave(broker)
            self.forget()
        else:
            self.read(broker)

    def is_current(self) -> bool:
        """The condition of the write: true if the node has not changed."""
        return self.current

    def shrink(self, broker: int) -> None:
        """The replica leaves the ISR, if others stay; if it led, there is no leader."""
        if not self.is_kept(broker):
            self.isr = without(self.read_isr, only(broker))
        else:
            self.isr = self.read_isr
        if self.leader == broker:
            self.leader = self.leader_without()
        self.epoch += 1

    def is_kept(self, broker: int) -> bool:
        """True if the replica is the last member, and has to stay."""
        return self.read_isr == only(broker) and (self.V == 1 or self.U == 0)

    def leader_without(self) -> int:
        """The leader after the leader has gone offline."""
        return NOBODY

    def forget(self) -> None:
        """Discard the content that was read."""
        self.reading = 0
        self.current = False
        self.read_isr = 0

    # --- rules ------------------------------------------------------------------------------

    @step("KAFKA-C41", MUST,
          "The state of a replica changes only as the table of legal changes allows.",
          source=REPLICAS, broker=upto(K))
    def goes_by_the_table(self, after: ReplicaChanges, broker: int) -> bool:
        """Holds for every requested change."""
        return (after.replica[broker] == self.replica[broker]
                or self.may[self.V][after.replica[broker] * len(ReplicaState)
                                    + self.replica[broker]] == 1)

    @step("KAFKA-C42", MUST,
          "When a replica goes offline, it is no longer in the ISR, unless it is the only "
          "member.",
          source=f"{REPLICAS}; KAFKA-3143", broker=upto(K))
    def who_goes_is_not_in_sync(self, after: ReplicaChanges, broker: int) -> bool:
        """Otherwise the partition would wait for it."""
        goes = (after.replica[broker] == ReplicaState.OFFLINE
                and self.replica[broker] != ReplicaState.OFFLINE)
        return not goes or not has(after.isr, broker) or after.isr == only(broker)

    @step("KAFKA-C43", MUST,
          "When a replica goes offline, it is no longer the leader named in the partition's "
          "node.",
          source=REPLICAS,
          broker=upto(K))
    def who_goes_does_not_lead(self, after: ReplicaChanges, broker: int) -> bool:
        """There is no leader until the next election."""
        goes = (after.replica[broker] == ReplicaState.OFFLINE
                and self.replica[broker] != ReplicaState.OFFLINE)
        return not goes or after.leader != broker

    @always("KAFKA-C44", MUST,
            "With unclean elections off, the ISR of a partition that has a node is never empty.",
            source=REPLICAS)
    def somebody_is_in_sync(self) -> bool:
        """A replica with all committed records is remembered, and may lead again."""
        return self.U == 1 or not self.written or self.isr != 0

    @step("KAFKA-C45", MUST,
          "A controller that elects a leader among the replicas in sync, or takes a replica "
          "offline, adds no replica to the ISR of a partition that has a node.",
          source=f"{REPLICAS} (zkVersion)")
    def nobody_is_brought_back(self, after: ReplicaChanges) -> bool:
        """The leader's write in the meantime is read again."""
        return (after.happened > self.happened or not self.written
                or without(after.isr, self.isr) == 0)


# ---- broken ones ----------------------------------------------------------------------------


class IgnoringTheTable(ReplicaChanges):
    """Every requested change is made."""

    def may_become(self, broker: int, target: ReplicaState) -> bool:
        """The table is not used."""
        return True


class KeepingTheDead(ReplicaChanges):
    """An offline replica stays in the ISR (KAFKA-3143: no controller removed it at its start)."""

    def shrink(self, broker: int) -> None:
        """The node does not change."""


class KeepingTheLeader(ReplicaChanges):
    """The leader leaves the ISR, and still leads."""

    def leader_without(self) -> int:
        """The replica that has gone offline."""
        return self.leader


class EmptyingTheIsr(ReplicaChanges):
    """The last member leaves the ISR like any other."""

    def is_kept(self, broker: int) -> bool:
        """Even the only member leaves."""
        return False


class WritingBlindly(ReplicaChanges):
    """The node is written whatever its present content."""

    def is_current(self) -> bool:
        """There is no condition."""
        return True


RULES = tuple(f"KAFKA-C{number}" for number in range(41, 46))

EXPECTATIONS = (
    *(expect(ReplicaChanges, rule, "holds", "two replicas, in both releases",
             K=2, E=2, D=1, U=(0, 1), V=(0, 1)) for rule in RULES),
    *(expect(variant, rule, "violated", about, K=2, E=2, D=1)
      for variant, rule, about in (
          (IgnoringTheTable, "KAFKA-C41", "every requested change is made"),
          (KeepingTheDead, "KAFKA-C42", "stopped brokers stay in sync (KAFKA-3143)"),
          (KeepingTheLeader, "KAFKA-C43", "the dead lead"),
          (EmptyingTheIsr, "KAFKA-C44", "no replica may lead any more"),
          (WritingBlindly, "KAFKA-C45", "the leader's write in the meantime is lost"),
      )),
)
