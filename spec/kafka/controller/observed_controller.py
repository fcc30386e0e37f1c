"""Observable behaviour of a controller's state machines: batches, states, nodes and requests.

Theory. ``partition_changes`` and ``replica_changes`` explain how a controller carries out a batch
of changes. Visible from outside are the batch, and afterwards the state of each partition and
replica, the node in the store with the leader and the ISR, and the requests that went to brokers.
The tables (``transitions``), the selectors (``selectors``), and the content of the store determine
all of that, so the observer computes what must be visible, and compares:

    begin, then each change of the batch, then the result for each: its state, leader, ISR,
    epoch, and the receivers of each request; and the requests to each broker, one after the other

There are three brokers. Requests to a broker that is not registered are dropped, so they are not
visible. A leader may write its ISR at any time, also after the controller has read the node and
before it writes it; ``isr_written`` reports that. A newer controller may have written the node;
then this one must not write it.

The *era* selects the release: 3.9 has one legal change of replicas more, takes a replica offline in
a partition without a node, and always keeps the last member of an ISR in it, while 0.9 does so only
if unclean elections are off.

Source: kafka#partition-states, kafka#replica-states, kafka#selectors, kafka#requests.
"""

from __future__ import annotations

from enum import IntEnum

from ...notation import (
    MUST, Machine, action, array, boolean, choice, const, guard_rule, integer, require, table, upto,
)
from .selectors import (
    ALL, APPENDED, BROKERS, NOBODY, ORDERS, PLACES, STRUCK, Choice, Order, Selector, both,
    controlled_shutdown, either, first, first_leader, has, members, offline, only, preferred,
    reassigned, without,
)
from .transitions import (
    PARTITION_CHANGES, REPLICA_CHANGES_OF, Era, PartitionState, ReplicaState, cells,
)

__all__ = ["Case", "ObservedController", "Request"]

STATES = "kafka#partition-states"
REPLICAS = "kafka#replica-states"
SELECTORS = "kafka#selectors"
REQUESTS = "kafka#requests"

UNCHANGED = guard_rule(
    "KAFKA-C1", MUST,
    "A change of a partition that is not in the table of legal changes alters neither its state "
    "nor its leader nor its ISR; a change without an election alters neither leader nor ISR.",
    source=STATES,
)
GOES_ON = guard_rule(
    "KAFKA-C2", MUST, "An illegal or failed change does not prevent the other changes of its "
                      "batch.",
    source=STATES,
)
REACHED = guard_rule(
    "KAFKA-C3", MUST, "A legal change of a partition that needs no election reaches its target "
                      "state.",
    source=STATES,
)
FIRST = guard_rule(
    "KAFKA-C4", MUST,
    "When a new partition comes online, the first live broker of its list (live: registered and "
    "not shutting down) leads, and its ISR is all live brokers of the list.",
    source=STATES,
)
CLEAN = guard_rule(
    "KAFKA-C5", MUST,
    "An election after a failure makes the first live in-sync broker of the list the leader; "
    "members of the ISR that are not live (registered and not shutting down) leave it.",
    source=SELECTORS,
)
UNCLEAN = guard_rule(
    "KAFKA-C6", MUST,
    "In an election after a failure, with no live broker in sync and unclean elections on, the "
    "first live broker of the list becomes leader, alone in the ISR.",
    source=SELECTORS,
)
REASSIGNED = guard_rule(
    "KAFKA-C7", MUST,
    "An election for a reassignment makes the first broker of the new list that is live and in "
    "sync the leader; the ISR does not change.",
    source=SELECTORS,
)
PREFERRED = guard_rule(
    "KAFKA-C8", MUST, "A preferred election makes the head of the list leader, if it is live and "
    "in sync; the ISR does not change.", source=SELECTORS,
)
AWAY = guard_rule(
    "KAFKA-C9", MUST,
    "An election for a controlled shutdown makes the first broker of the list that is live and "
    "in sync the leader; brokers that shut down leave the ISR.",
    source=f"{SELECTORS}; KAFKA-3670",
)
FAILED = guard_rule(
    "KAFKA-C10", MUST,
    "An election that fails (no candidate, no node to read, or a node that exists already) "
    "alters neither the partition's state nor its leader nor its ISR.",
    source=SELECTORS,
)
EPOCH = guard_rule(
    "KAFKA-C11", MUST,
    "A new partition has the leader epoch 0; each later write of its node by the controller "
    "raises it by one, and nothing else does.",
    source=SELECTORS,
)
KEPT = guard_rule(
    "KAFKA-C12", MUST,
    "If a partition's leader writes the ISR, even between the controller's read and write of "
    "the node, the controller's change starts from that ISR.",
    source=f"{STATES} (zkVersion)",
)
LEFT_ALONE = guard_rule(
    "KAFKA-C13", MUST,
    "Once a newer controller has written a partition's node, an older controller's changes that "
    "need the node alter neither the node nor the state of the partition or replica.",
    source=f"{STATES} (controller_epoch)",
)
LEADERS_TOLD = guard_rule(
    "KAFKA-C14", MUST,
    "A LeaderAndIsr goes exactly to the registered brokers that an election's selector names, "
    "to the others on the list when a replica goes offline, and to a replica that becomes new "
    "or online again.",
    source=REQUESTS,
)
ALL_TOLD = guard_rule(
    "KAFKA-C15", MUST,
    "If, of the requests of one batch of state changes, any broker gets a LeaderAndIsr, every "
    "registered broker gets an UpdateMetadata; else none does.",
    source=REQUESTS,
)
REPLICA_UNCHANGED = guard_rule(
    "KAFKA-C16", MUST,
    "A change of a replica that is not in the table of legal changes leaves the replica's state "
    "as it is.",
    source=REPLICAS,
)
REPLICA_REACHED = guard_rule(
    "KAFKA-C17", MUST,
    "A legal change of a replica reaches its target state, except where a newer controller, its "
    "leading or (in 0.9) a missing node prevents it.",
    source=REPLICAS,
)
OUT_OF_SYNC = guard_rule(
    "KAFKA-C18", MUST,
    "A replica that goes offline leaves the ISR, unless it is the last member; if it led, the "
    "partition has no leader afterwards.",
    source=REPLICAS,
)
LAST_KEPT = guard_rule(
    "KAFKA-C19", MUST, "The last member of an ISR stays in it when it goes offline (in 0.9: only "
    "if unclean elections are off).", source=REPLICAS,
)
STOPPED = guard_rule(
    "KAFKA-C20", MUST,
    "A broker gets a request to stop exactly if its replica goes offline, and one to delete "
    "exactly if its deletion starts; a change to offline that fails may send one, too.",
    source=REPLICAS,
)
JOINING = guard_rule(
    "KAFKA-C21", MUST,
    "In a partition with a node, a replica that becomes new, or comes online again, gets a "
    "LeaderAndIsr if its broker is registered.",
    source=REPLICAS,
)
NOT_THE_LEADER = guard_rule(
    "KAFKA-C22", MUST,
    "A replica that leads is not put into the state new; in 0.9 a replica of a partition that "
    "never had a leader is not put into the state offline.",
    source=REPLICAS,
)
LISTED = guard_rule(
    "KAFKA-C23", MUST, "A new replica that comes online is appended to its partition's replica "
    "list, unless it is already on the list.", source=REPLICAS)

IN_TURN = guard_rule(
    "KAFKA-C24", MUST, "Within a batch a broker gets LeaderAndIsr first, then UpdateMetadata, then "
    "requests to stop or to delete.", source=f"{REQUESTS} (within a batch)",
)


class Case(IntEnum):
    """Outcomes of the last change of a partition or a replica."""

    NONE = 0
    ILLEGAL = 1
    MARKED = 2
    FIRST = 3
    CLEAN = 4
    UNCLEAN = 5
    REASSIGNED = 6
    PREFERRED = 7
    AWAY = 8
    FAILED = 9
    NEWER = 10
    SHRUNK = 11
    LAST = 12
    JOINED = 13
    REFUSED = 14


class Request(IntEnum):
    """Requests to a broker; DELETE means to stop, and to delete the log."""

    LEADER_AND_ISR = 0
    UPDATE_METADATA = 1
    STOP = 2
    DELETE = 3


class ObservedController(Machine):
    """Batches of changes, and the visible result of each."""

    P = const(2, at_least=1)            # partitions
    E = const(2, at_least=1)            # largest leader epoch

    places = table(PLACES)
    appended = table(APPENDED)
    struck = table(STRUCK)
    partition_may = table(cells(PARTITION_CHANGES))
    replica_may = table(tuple(cells(REPLICA_CHANGES_OF[era]) for era in Era))

    registered = integer(0, ALL, init=ALL)
    shutting_down = integer(0, ALL)

    row = array(upto(P), integer(0, len(ORDERS) - 1, init=len(ORDERS) - 1))     # of its list
    unclean = array(upto(P), boolean())
    state = array(upto(P), choice(PartitionState, PartitionState.NON_EXISTENT))
    replica = array(upto(P * BROKERS), choice(ReplicaState, ReplicaState.NON_EXISTENT))

    written = array(upto(P), boolean())             # the node exists
    leader = array(upto(P), integer(0, NOBODY, init=NOBODY))
    isr = array(upto(P), integer(0, ALL))
    epoch = array(upto(P), integer(0, E))
    newer = array(upto(P), boolean())               # … and a newer controller has written it

    case = array(upto(P), choice(Case))             # of the last batch
    replica_case = array(upto(P * BROKERS), choice(Case))
    stumbled = boolean()                            # a change in the batch had no effect
    late = array(upto(P), boolean())                # was changed after that
    replica_late = array(upto(P * BROKERS), boolean())
    meanwhile = array(upto(P), boolean())           # its leader wrote since the controller did
    pending = array(upto(P), integer(0, ALL + 1))   # a late write of the ISR, plus 1
    newcomers = array(upto(P), integer(0, ALL))     # brokers that were appended to its list
    told = array(upto(P * 4), integer(0, ALL))      # receivers, by partition and request

    # --- actions of the harness -----------------------------------------------------------

    @action(partition=upto(P), order=upto(len(ORDERS)), unclean=upto(2))
    def assign(self, partition: int, order: int, unclean: int) -> None:
        """A partition that does not exist yet gets these replicas, in this order."""
        require(not self.written[partition])
        self.row[partition] = order
        self.newcomers[partition] = 0
        self.unclean[partition] = unclean == 1

    @action(brokers=upto(ALL + 1), leaving=upto(ALL + 1))
    def are_up(self, brokers: int, leaving: int) -> None:
        """`brokers` are registered, and `leaving` of them are shutting down."""
        require(both(brokers, leaving) == leaving)
        self.registered = brokers
        self.shutting_down = leaving

    @action(partition=upto(P), brokers=upto(ALL + 1))
    def isr_written(self, partition: int, brokers: int) -> None:
        """The leader has changed the ISR in the node."""
        require(self.written[partition] and has(brokers, self.leader[partition]))
        self.isr[partition] = brokers
        self.meanwhile[partition] = True

    @action(partition=upto(P), brokers=upto(ALL + 1))
    def isr_written_late(self, partition: int, brokers: int) -> None:
        """The leader changes the ISR after the controller has read the node, in the next change."""
        require(self.written[partition] and has(brokers, self.leader[partition]))
        self.pending[partition] = brokers + 1
        self.meanwhile[partition] = True

    def read_again(self, partition: int) -> None:
        """Apply the leader's late write to the node."""
        if self.pending[partition] > 0:
            self.isr[partition] = self.pending[partition] - 1
            self.pending[partition] = 0

    @action(partition=upto(P))
    def taken_over(self, partition: int) -> None:
        """A newer controller has written the node."""
        require(self.written[partition])
        self.newer[partition] = True

    @action
    def begin(self) -> None:
        """A batch begins, or a reading without changes."""
        self.stumbled = False
        for each in range(self.P):
            self.read_again(each)
            self.case[each] = Case.NONE
            self.late[each] = False
            for broker in range(BROKERS):
                self.replica_case[each * BROKERS + broker] = Case.NONE
                self.replica_late[each * BROKERS + broker] = False
            for request in Request:
                self.told[each * 4 + request] = 0

    # --- expected result of a change of a partition ---------------------------------------

    def live(self) -> int:
        """Registered, and not shutting down."""
        return without(self.registered, self.shutting_down)

    def order(self, row: int) -> Order:
        """The list in a row of the table."""
        return (self.places[row * BROKERS], self.places[row * BROKERS + 1],
                self.places[row * BROKERS + 2])

    @action(partition=upto(P), target=PartitionState, selector=Selector, to=upto(len(ORDERS)),
            era=Era)
    def change(
        self, partition: int, target: PartitionState, selector: Selector, to: int, era: Era
    ) -> None:
        """The next change of the batch; ``to`` is the new list in a reassignment."""
        self.late[partition] = self.stumbled
        if self.partition_may[target * len(PartitionState) + self.state[partition]] == 0:
            self.comes_to_nothing(partition, Case.ILLEGAL)
        elif target != PartitionState.ONLINE:
            self.case[partition] = Case.MARKED
            self.state[partition] = target
        elif self.state[partition] == PartitionState.NEW:
            self.make(partition)
        elif not self.written[partition]:
            self.comes_to_nothing(partition, Case.FAILED)
        elif self.newer[partition]:
            self.comes_to_nothing(partition, Case.NEWER)
        else:
            self.elect(partition, selector, to, era)

    def comes_to_nothing(self, partition: int, case: Case) -> None:
        """Nothing changes; the reason is recorded."""
        self.read_again(partition)
        self.case[partition] = case
        self.stumbled = True

    def make(self, partition: int) -> None:
        """Create the node with the first leader; fails if the node exists already."""
        found = first_leader(self.order(self.row[partition]), self.live())
        if found.leader == NOBODY or self.written[partition]:
            self.comes_to_nothing(partition, Case.FAILED)
        else:
            self.written[partition] = True
            self.case[partition] = Case.FIRST
            self.lead(partition, found, 0)

    def elect(self, partition: int, selector: Selector, to: int, era: Era) -> None:
        """Elect the next leader.

        This fails without a candidate. If the preferred replica leads already, 0.9 considers the
        partition online, even if that replica is down, and 3.9 does not elect.
        """
        found = self.chosen(partition, selector, to)
        head = self.order(self.row[partition])[0]
        is_there = selector == Selector.PREFERRED and head == self.leader[partition]
        self.read_again(partition)
        if found.leader != NOBODY and not is_there:
            found = self.chosen(partition, selector, to)
        if is_there and era == Era.V0_9:
            self.case[partition] = Case.MARKED
            self.state[partition] = PartitionState.ONLINE
        elif found.leader == NOBODY or is_there:
            self.comes_to_nothing(partition, Case.FAILED)
        else:
            self.case[partition] = self.case_of(partition, selector)
            self.lead(partition, found, self.epoch[partition] + 1)

    def chosen(self, partition: int, selector: Selector, to: int) -> Choice:
        """The selector's leader, ISR and receivers."""
        order, isr, live = self.order(self.row[partition]), self.isr[partition], self.live()
        if selector == Selector.OFFLINE:
            return offline(order, isr, live, self.unclean[partition])
        if selector == Selector.REASSIGNED:
            return reassigned(self.order(to), isr, live)
        if selector == Selector.PREFERRED:
            return preferred(order, isr, live)
        return controlled_shutdown(order, isr, live, self.shutting_down)

    def case_of(self, partition: int, selector: Selector) -> Case:
        """The rule by which the election is judged."""
        if selector == Selector.OFFLINE:
            in_sync = both(self.isr[partition], self.live())
            clean = first(self.order(self.row[partition]), in_sync) != NOBODY
            return Case.CLEAN if clean else Case.UNCLEAN
        if selector == Selector.REASSIGNED:
            return Case.REASSIGNED
        return Case.PREFERRED if selector == Selector.PREFERRED else Case.AWAY

    def lead(self, partition: int, found: Choice, epoch: int) -> None:
        """Write the node, and send the requests."""
        require(epoch <= self.E)
        self.state[partition] = PartitionState.ONLINE
        self.leader[partition] = found.leader
        self.isr[partition] = found.isr
        self.epoch[partition] = epoch
        self.tell(partition, Request.LEADER_AND_ISR, found.told)

    def tell(self, partition: int, request: Request, brokers: int) -> None:
        """Record receivers of a request; a LeaderAndIsr causes an UpdateMetadata to all."""
        at = partition * 4 + request
        self.told[at] = either(self.told[at], both(brokers, self.registered))
        if request == Request.LEADER_AND_ISR:
            self.told[partition * 4 + Request.UPDATE_METADATA] = self.registered

    # --- expected result of a change of a replica -----------------------------------------

    @action(partition=upto(P), broker=upto(BROKERS), target=ReplicaState, era=Era)
    def change_replica(
        self, partition: int, broker: int, target: ReplicaState, era: Era
    ) -> None:
        """The next change of the batch."""
        at = partition * BROKERS + broker
        self.replica_late[at] = self.stumbled
        if self.replica_may[era][target * len(ReplicaState) + self.replica[at]] == 0:
            self.refuse(at, Case.ILLEGAL)
        elif target == ReplicaState.NEW and self.leader[partition] == broker:
            self.refuse(at, Case.REFUSED)
        elif target == ReplicaState.OFFLINE:
            self.take_off(partition, broker, era)
        else:
            self.settle(partition, broker, target)

    def refuse(self, at: int, case: Case) -> None:
        """Nothing changes; the reason is recorded."""
        self.replica_case[at] = case
        self.stumbled = True

    def settle(self, partition: int, broker: int, target: ReplicaState) -> None:
        """The replica reaches the target state, and gets the requests for it."""
        at = partition * BROKERS + broker
        is_new = self.replica[at] == ReplicaState.NEW
        self.replica_case[at] = Case.MARKED
        if target == ReplicaState.ONLINE and is_new:
            self.append(partition, broker)
        elif (target == ReplicaState.ONLINE or target == ReplicaState.NEW) and (
                self.written[partition]):
            self.replica_case[at] = Case.JOINED
            self.tell(partition, Request.LEADER_AND_ISR, only(broker))
        elif target == ReplicaState.DELETION_STARTED:
            self.tell(partition, Request.DELETE, only(broker))
        elif target == ReplicaState.NON_EXISTENT:
            self.row[partition] = self.struck[self.row[partition] * BROKERS + broker]
            self.newcomers[partition] = without(self.newcomers[partition], only(broker))
        self.replica[at] = target

    def append(self, partition: int, broker: int) -> None:
        """Append the replica to the list, unless it is on it."""
        row = self.appended[self.row[partition] * BROKERS + broker]
        if row != self.row[partition]:
            self.newcomers[partition] = either(self.newcomers[partition], only(broker))
        self.row[partition] = row

    def take_off(self, partition: int, broker: int, era: Era) -> None:
        """The replica leaves the ISR, if it is a member and may leave, and gets a request to stop.
        """
        at = partition * BROKERS + broker
        if self.newer[partition]:
            self.read_again(partition)
            self.refuse(at, Case.NEWER)
        elif not self.written[partition] and era == Era.V0_9:
            self.refuse(at, Case.REFUSED)
        else:
            self.replica[at] = ReplicaState.OFFLINE
            self.replica_case[at] = Case.MARKED
            self.tell(partition, Request.STOP, only(broker))
            if self.written[partition]:
                self.shrink(partition, broker, era)

    def shrink(self, partition: int, broker: int, era: Era) -> None:
        """The other replicas get a LeaderAndIsr, whether the ISR has changed or not."""
        was_in_sync = has(self.isr[partition], broker)
        self.read_again(partition)
        if was_in_sync and has(self.isr[partition], broker):
            require(self.epoch[partition] < self.E)
            is_last = self.isr[partition] == only(broker)
            stays = is_last and (era == Era.V3_9 or not self.unclean[partition])
            self.replica_case[partition * BROKERS + broker] = Case.LAST if stays else Case.SHRUNK
            self.case[partition] = Case.LAST if stays else Case.SHRUNK
            if not stays:
                self.isr[partition] = without(self.isr[partition], only(broker))
            if self.leader[partition] == broker:
                self.leader[partition] = NOBODY
            self.epoch[partition] += 1
        self.tell(partition, Request.LEADER_AND_ISR,
                  without(members(self.order(self.row[partition])), only(broker)))

    # --- observed results -----------------------------------------------------------------

    def judge(self, partition: int, right: bool, misplaced: int) -> None:
        """Judge what was observed of a partition's leader and ISR.

        `misplaced` are the brokers that are wrongly there, or wrongly not. If one of them was
        appended to the list, and the election went by the list, then the list is at fault.
        """
        case = self.case[partition]
        by_list = Case.FIRST <= case and case <= Case.AWAY and case != Case.REASSIGNED
        require(right or not by_list or both(self.newcomers[partition], misplaced) == 0, LISTED)
        require(right or case != Case.NEWER, LEFT_ALONE)
        require(right or not self.meanwhile[partition], KEPT)
        require(right or (case != Case.NONE and case != Case.ILLEGAL and case != Case.MARKED),
                UNCHANGED)
        require(right or case != Case.FAILED, FAILED)
        require(right or case != Case.FIRST, FIRST)
        require(right or case != Case.CLEAN, CLEAN)
        require(right or case != Case.UNCLEAN, UNCLEAN)
        require(right or case != Case.REASSIGNED, REASSIGNED)
        require(right or case != Case.PREFERRED, PREFERRED)
        require(right or case != Case.AWAY, AWAY)
        require(right or case != Case.LAST, LAST_KEPT)
        require(right, OUT_OF_SYNC)

    @action(partition=upto(P), state=PartitionState, rests=(GOES_ON, REACHED))
    def state_seen(self, partition: int, state: PartitionState) -> None:
        """The state of a partition."""
        right = state == self.state[partition]
        require(right or not self.late[partition], GOES_ON)
        require(right or self.case[partition] != Case.MARKED, REACHED)
        self.judge(partition, right, only(self.leader[partition]))

    @action(partition=upto(P), leader=upto(NOBODY + 1))
    def leader_seen(self, partition: int, leader: int) -> None:
        """The leader in the node; NOBODY without a node."""
        expected = self.leader[partition]
        self.judge(partition, leader == expected, either(only(leader), only(expected)))

    @action(partition=upto(P), brokers=upto(ALL + 1))
    def isr_seen(self, partition: int, brokers: int) -> None:
        """The ISR in the node; empty without a node."""
        expected = self.isr[partition]
        by_list = self.case[partition] == Case.FIRST or self.case[partition] == Case.UNCLEAN
        misplaced = either(without(brokers, expected), without(expected, brokers))
        self.judge(partition, brokers == expected, misplaced if by_list else 0)

    @action(partition=upto(P), epoch=upto(E + 1))
    def epoch_seen(self, partition: int, epoch: int) -> None:
        """The leader epoch in the node; 0 without a node. The controller knows it then."""
        require(epoch == self.epoch[partition], EPOCH)
        self.meanwhile[partition] = False

    @action(partition=upto(P), broker=upto(BROKERS), state=ReplicaState, rests=(REPLICA_REACHED,))
    def replica_seen(self, partition: int, broker: int, state: ReplicaState) -> None:
        """The state of a replica."""
        at = partition * BROKERS + broker
        case = self.replica_case[at]
        right = state == self.replica[at]
        require(right or not self.replica_late[at], GOES_ON)
        require(right or case != Case.NEWER, LEFT_ALONE)
        require(right or (case != Case.NONE and case != Case.ILLEGAL), REPLICA_UNCHANGED)
        require(right or case != Case.REFUSED, NOT_THE_LEADER)
        require(right, REPLICA_REACHED)

    @action(partition=upto(P), request=Request, brokers=upto(ALL + 1),
            rests=(JOINING, LEADERS_TOLD, ALL_TOLD))
    def told_seen(self, partition: int, request: Request, brokers: int) -> None:
        """The registered brokers that got this request about a partition in this batch."""
        right = brokers == self.told[partition * 4 + request]
        joins = any(self.replica_case[partition * BROKERS + broker] == Case.JOINED
                    for broker in range(BROKERS))
        require(right or request != Request.LEADER_AND_ISR or not joins, JOINING)
        require(right or request != Request.LEADER_AND_ISR, LEADERS_TOLD)
        require(right or request != Request.UPDATE_METADATA, ALL_TOLD)
        require(right or self.is_open(partition), STOPPED)

    @action(earlier=Request, later=Request)
    def told_next(self, earlier: Request, later: Request) -> None:
        """Two requests to a broker in this batch, one directly after the other."""
        require(earlier <= later or earlier == Request.DELETE and later == Request.STOP, IN_TURN)

    def is_open(self, partition: int) -> bool:
        """True if a replica did not go offline after all.

        Then the request to stop may have been under way already, and is harmless.
        """
        return any(self.replica_case[partition * BROKERS + broker] == Case.NEWER
                   or self.replica_case[partition * BROKERS + broker] == Case.REFUSED
                   for broker in range(BROKERS))


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
