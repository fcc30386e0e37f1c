"""Batches of changes of partitions: the transition table, and elections.

Theory of operation
-------------------
For the controller each partition is new, online, offline or non-existent, and a table
(``transitions``) has the legal changes. Changes come in a *batch*: some partitions, and one target.
An illegal change is logged and skipped; the rest of the batch continues.

To be online, a partition needs a leader. It is stored in a *node*:

    leader, leader epoch, ISR, the epoch of the controller that wrote it, and a version

The first leader is written by creating the node. Later ones are *elected*: the controller reads the
node, lets a selector choose (``selectors``), and writes on condition that the version is still the
one that it read. The partition's leader writes the same node, whenever its ISR shrinks or grows; so
the condition may fail, and the controller reads and chooses again. It does not write a node that a
newer controller has written.

    controller                      node                      leader
        | ---- read: ISR {0, 1, 2} --> |                          |
        |                              | <- ISR {1, 2} --------- |
        | ---- write ISR {0, 1} -----> X  the version is another  |
        | ---- read: ISR {1, 2} -----> |                          |
        | ---- write ISR {1} --------> |                          |

Without the condition broker 0 would be in sync again, and might be elected without the records that
were committed meanwhile.

Partition p has the list in row A + p of ``selectors.ORDERS``. D bounds the other events: brokers
that stop and start, leaders that write, another controller. Brokers change only between batches,
since the controller has one lock (or, since 0.11, one thread).

Source: kafka#partition-states, kafka#selectors; KAFKA-3670, KAFKA-6082.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require, step,
    table, upto,
)
from .selectors import (
    ALL, BROKERS, NOBODY, ORDERS, Choice, Order, Selector, both, controlled_shutdown,
    first, first_leader, has, members, offline, only, preferred, reassigned, without,
)
from .transitions import PARTITION_CHANGES, PartitionState, cells

__all__ = [
    "EXPECTATIONS", "ChoosingAnybody", "ElectingTheDead", "ElectingInIsrOrder", "IgnoringTheTable",
    "KeepingTheEpoch", "OverwritingNewer", "PartitionChanges", "PreferringTheLagging",
    "StoppingAtTheFirst", "WritingBlindly",
]

STATES = "kafka#partition-states"
SELECTORS = "kafka#selectors"


class PartitionChanges(Machine):
    """A controller, its store, and leaders that write concurrently."""

    P = const(1, at_least=1, at_most=2)     # partitions
    E = const(1, at_least=1)                # leader epochs
    D = const(2)                            # events beside the controller
    U = const(0, at_most=1)                 # 1: unclean elections are on
    A = const(5, at_most=13)                # the list of the first partition: 2, 1, 0

    orders = table(ORDERS)
    may = table(cells(PARTITION_CHANGES))

    state = array(upto(P), choice(PartitionState, PartitionState.NON_EXISTENT))
    registered = integer(0, ALL, init=ALL)
    shutting_down = integer(0, ALL)
    happened = integer(0, D)

    written = array(upto(P), boolean())     # the node exists
    leader = array(upto(P), integer(0, NOBODY, init=NOBODY))
    isr = array(upto(P), integer(0, ALL))
    epoch = array(upto(P), integer(0, E))
    newer = array(upto(P), boolean())       # a newer controller has written it

    todo = array(upto(P), boolean())        # changes of the batch that are not done yet
    told = array(upto(P), integer(0, ALL))  # receivers of a LeaderAndIsr for this batch
    target = choice(PartitionState)
    selector = choice(Selector)
    reading = boolean()                     # the node was read, and is to be written
    current = boolean()                     # … and has not been written since
    next_leader = integer(0, NOBODY, init=NOBODY)   # the selector's choice
    next_isr = integer(0, ALL)
    next_told = integer(0, ALL)
    read_epoch = integer(0, E)

    # --- beside the controller --------------------------------------------------------------

    def is_idle(self) -> bool:
        """True if no batch is under way."""
        return not any(self.todo)

    def happen(self) -> None:
        """Count one more event."""
        require(self.happened < self.D)
        self.happened += 1

    @action(broker=upto(BROKERS))
    def turn(self, broker: int) -> None:
        """A broker stops or starts."""
        require(self.is_idle())
        self.happen()
        if has(self.registered, broker):
            self.registered -= only(broker)
            self.shutting_down = without(self.shutting_down, only(broker))
        else:
            self.registered += only(broker)

    @action(broker=upto(BROKERS))
    def begin_shutdown(self, broker: int) -> None:
        """A broker announces its shutdown."""
        require(self.is_idle() and has(without(self.registered, self.shutting_down), broker))
        self.happen()
        self.shutting_down += only(broker)

    @action(partition=upto(P), broker=upto(BROKERS))
    def write_isr(self, partition: int, broker: int) -> None:
        """A leader removes a follower from the ISR, or adds it."""
        leader = self.leader[partition]
        require(leader != NOBODY and leader != broker and has(self.registered, leader))
        require(has(members(self.order_of(partition)), broker) and not self.newer[partition])
        self.happen()
        if has(self.isr[partition], broker):
            self.isr[partition] -= only(broker)
        else:
            self.isr[partition] += only(broker)
        self.disturb(partition)

    @action(partition=upto(P))
    def take_over(self, partition: int) -> None:
        """A newer controller writes the node. The written values do not matter here."""
        require(self.written[partition] and not self.newer[partition])
        self.happen()
        self.newer[partition] = True
        self.disturb(partition)

    def disturb(self, partition: int) -> None:
        """A read of this node is out of date."""
        self.current = self.current and not self.is_next(partition)

    # --- the batch --------------------------------------------------------------------------

    def live(self) -> int:
        """Registered, and not shutting down."""
        return without(self.registered, self.shutting_down)

    def order_of(self, partition: int) -> Order:
        """The list of a partition, the head first."""
        return (self.orders[self.A + partition][0], self.orders[self.A + partition][1],
                self.orders[self.A + partition][2])

    @action(first=upto(P), last=upto(P), target=PartitionState, selector=Selector)
    def ask(self, first: int, last: int, target: PartitionState, selector: Selector) -> None:
        """A request to change one or two partitions."""
        require(self.is_idle() and first <= last)
        require(target == PartitionState.ONLINE or selector == Selector.OFFLINE)
        require(all(epoch < self.E for epoch in self.epoch))
        self.todo[first] = True
        self.todo[last] = True
        self.target = target
        self.selector = selector
        for each in range(self.P):
            self.told[each] = 0

    def is_next(self, partition: int) -> bool:
        """True if the partition is the next one of the batch."""
        return self.todo[partition] and not any(
            self.todo[each] and each < partition for each in range(self.P))

    @action(fair=True, partition=upto(P))
    def change(self, partition: int) -> None:
        """The next partition is changed, or skipped; an election begins with reading the node."""
        require(self.is_next(partition) and not self.reading)
        if not self.may_become(partition, self.target):
            self.pass_over(partition)
        elif self.target != PartitionState.ONLINE:
            self.state[partition] = self.target
            self.todo[partition] = False
        elif self.state[partition] == PartitionState.NEW:
            self.make(partition)
        elif not self.written[partition] or not self.may_write(partition):
            self.todo[partition] = False
        else:
            self.read(partition)

    def may_become(self, partition: int, target: PartitionState) -> bool:
        """True if the table has the change."""
        return bool(self.may[target * len(PartitionState) + self.state[partition]] == 1)

    def pass_over(self, partition: int) -> None:
        """Skip an illegal change."""
        self.todo[partition] = False

    def may_write(self, partition: int) -> bool:
        """True unless a newer controller has written the node."""
        return not self.newer[partition]

    def make(self, partition: int) -> None:
        """Create the node with the first leader, unless it exists already."""
        found = first_leader(self.order_of(partition), self.live())
        if found.leader != NOBODY and not self.written[partition]:
            self.written[partition] = True
            self.state[partition] = PartitionState.ONLINE
            self.leader[partition] = found.leader
            self.isr[partition] = found.isr
            self.told[partition] = both(found.told, self.registered)
        self.todo[partition] = False

    def read(self, partition: int) -> None:
        """Read the node; the selector uses this content."""
        found = self.chosen(partition, self.isr[partition])
        head = self.order_of(partition)[0]
        if self.selector == Selector.PREFERRED and head == self.leader[partition]:
            self.state[partition] = PartitionState.ONLINE
            self.todo[partition] = False
        elif found.leader == NOBODY:
            self.todo[partition] = False
        else:
            self.reading = True
            self.current = True
            self.next_leader = found.leader
            self.next_isr = found.isr
            self.next_told = both(found.told, self.registered)
            self.read_epoch = self.epoch[partition]

    @action(fair=True, partition=upto(P))
    def write(self, partition: int) -> None:
        """Write the election, unless the node has changed: then repeat it."""
        require(self.is_next(partition) and self.reading)
        if self.is_current():
            self.state[partition] = PartitionState.ONLINE
            self.leader[partition] = self.next_leader
            self.isr[partition] = self.next_isr
            self.epoch[partition] = self.next_epoch()
            self.told[partition] = self.next_told
            self.todo[partition] = False
        self.forget()

    def is_current(self) -> bool:
        """The condition of the write: true if the node has not changed."""
        return self.current

    def next_epoch(self) -> int:
        """The new leader's epoch."""
        return self.read_epoch + 1

    def forget(self) -> None:
        """Discard the content that was read."""
        self.reading = False
        self.current = False
        self.next_leader = NOBODY
        self.next_isr = 0
        self.next_told = 0
        self.read_epoch = 0

    def chosen(self, partition: int, isr: int) -> Choice:
        """The selector's choice for an ISR."""
        order = self.order_of(partition)
        if self.selector == Selector.OFFLINE:
            return offline(order, isr, self.live(), self.U == 1)
        if self.selector == Selector.REASSIGNED:
            return reassigned(order, isr, self.live())
        if self.selector == Selector.PREFERRED:
            return preferred(order, isr, self.live())
        return self.chosen_in_shutdown(partition, isr)

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """The choice of the selector for controlled shutdowns."""
        return controlled_shutdown(
            self.order_of(partition), isr, self.live(), self.shutting_down)

    # --- rules ------------------------------------------------------------------------------

    @step("KAFKA-C31", MUST,
          "The state of a partition changes only as the table of legal changes allows.",
          source=STATES, partition=upto(P))
    def goes_by_the_table(self, after: PartitionChanges, partition: int) -> bool:
        """For every request and batch."""
        return (after.state[partition] == self.state[partition]
                or self.may[after.state[partition] * len(PartitionState)
                            + self.state[partition]] == 1)

    @leads_to("KAFKA-C32", MUST,
              "If leaders write the nodes only finitely often, every batch of changes "
              "eventually ends.",
              source=STATES)
    def batches_end(self) -> tuple[bool, bool]:
        """Leaders write only a limited number of times."""
        return any(self.todo), not any(self.todo)

    @always("KAFKA-C33", MUST,
            "The leader that a partition's node names, if any, is in the ISR of that node.",
            source=SELECTORS, partition=upto(P))
    def the_leader_is_in_sync(self, partition: int) -> bool:
        """Every selector ensures that."""
        return (self.leader[partition] == NOBODY
                or has(self.isr[partition], self.leader[partition]))

    @step("KAFKA-C34", MUST, "Every leader that the controller elects is live and not shutting "
          "down, as far as the controller knows.", source=f"{SELECTORS}; KAFKA-3670",
          partition=upto(P))
    def the_elected_is_live(self, after: PartitionChanges, partition: int) -> bool:
        """According to the controller's knowledge."""
        return after.leader[partition] == self.leader[partition] or has(
            without(self.registered, self.shutting_down), after.leader[partition])

    @step("KAFKA-C35", MUST,
          "With unclean elections off, the elected leader of a partition that has had a leader "
          "was in the ISR before.",
          source=SELECTORS, partition=upto(P))
    def elections_are_clean(self, after: PartitionChanges, partition: int) -> bool:
        """So it has all committed records."""
        return (self.U == 1 or not self.written[partition]
                or after.leader[partition] == self.leader[partition]
                or has(self.isr[partition], after.leader[partition]))

    @step("KAFKA-C36", MUST,
          "Each change of a partition's leader after the first leader raises its leader epoch "
          "by exactly one.",
          source=SELECTORS, partition=upto(P))
    def epochs_rise(self, after: PartitionChanges, partition: int) -> bool:
        """Otherwise old and new requests could not be distinguished."""
        return (not self.written[partition]
                or after.leader[partition] == self.leader[partition]
                or after.epoch[partition] == self.epoch[partition] + 1)

    @step("KAFKA-C37", MUST,
          "With unclean elections off, no election by the controller adds a replica to the ISR "
          "of a partition that has a node.",
          source=f"{STATES} (zkVersion)", partition=upto(P))
    def nobody_is_brought_back(self, after: PartitionChanges, partition: int) -> bool:
        """Only the leader knows which replicas have caught up."""
        return (self.U == 1 or not self.written[partition]
                or after.epoch[partition] == self.epoch[partition]
                or both(after.isr[partition], self.isr[partition]) == after.isr[partition])

    @step("KAFKA-C38", MUST, "An older controller does not change a node that a newer one has "
          "written.", source=f"{STATES} (controller_epoch); KAFKA-6082", partition=upto(P))
    def newer_ones_stay(self, after: PartitionChanges, partition: int) -> bool:
        """Leader and epoch are those of the newer one."""
        return not self.newer[partition] or (
            after.epoch[partition] == self.epoch[partition]
            and after.leader[partition] == self.leader[partition])

    @step("KAFKA-C39", MUST,
          "When the controller makes another broker leader, it is the first one of the "
          "partition's list that is live and in the new ISR.",
          source=f"{SELECTORS}; KAFKA-3670", partition=upto(P))
    def the_first_leads(self, after: PartitionChanges, partition: int) -> bool:
        """Otherwise some brokers would get too much load."""
        live = without(self.registered, self.shutting_down)
        return (after.leader[partition] == self.leader[partition]
                or after.leader[partition] == first(
                    self.order_of(partition), both(after.isr[partition], live)))


# ---- broken ones ----------------------------------------------------------------------------


class IgnoringTheTable(PartitionChanges):
    """Every requested change is made."""

    def may_become(self, partition: int, target: PartitionState) -> bool:
        """The table is not used."""
        return True


class StoppingAtTheFirst(PartitionChanges):
    """The first change that is illegal ends the batch."""

    def pass_over(self, partition: int) -> None:
        """The rest is skipped as well."""
        for each in range(self.P):
            self.todo[each] = False


class WritingBlindly(PartitionChanges):
    """The node is written whatever its present content."""

    def is_current(self) -> bool:
        """There is no condition."""
        return True


class OverwritingNewer(PartitionChanges):
    """The node's controller epoch is not tested (KAFKA-6082: only this test kept old controllers
    out).
    """

    def may_write(self, partition: int) -> bool:
        """It considers itself the controller."""
        return True


class KeepingTheEpoch(PartitionChanges):
    """A new leader has the epoch of the old one."""

    def next_epoch(self) -> int:
        """The previous leader's epoch."""
        return self.read_epoch


class ElectingInIsrOrder(PartitionChanges):
    """In a controlled shutdown the first member of the ISR leads, in the ISR's order (KAFKA-3670);
    here by number.
    """

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """The list is ignored."""
        left = without(isr, self.shutting_down)
        return Choice(first((0, 1, 2), both(left, self.live())), left,
                      both(members(self.order_of(partition)), self.registered))


class ElectingTheDead(PartitionChanges):
    """In a controlled shutdown liveness is not tested (0.9, before KAFKA-3670)."""

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """Any broker that does not shut down is chosen, even if it is gone."""
        left = without(isr, self.shutting_down)
        return Choice(first(self.order_of(partition), left), left,
                      both(members(self.order_of(partition)), self.registered))


class ChoosingAnybody(PartitionChanges):
    """An unclean election although these are off."""

    def chosen(self, partition: int, isr: int) -> Choice:
        """The choice with unclean elections on."""
        found = super().chosen(partition, isr)
        if self.selector == Selector.OFFLINE:
            return offline(self.order_of(partition), isr, self.live(), True)
        return found


class PreferringTheLagging(PartitionChanges):
    """A preferred election does not test whether the head of the list is in sync."""

    def chosen(self, partition: int, isr: int) -> Choice:
        """Only its liveness is tested."""
        found = super().chosen(partition, isr)
        if self.selector == Selector.PREFERRED:
            head = self.order_of(partition)[0]
            return Choice(head if has(self.live(), head) else NOBODY, isr, ALL)
        return found


RULES = tuple(f"KAFKA-C{number}" for number in range(31, 40))

EXPECTATIONS = (
    *(expect(PartitionChanges, rule, "holds", "one partition, with or without unclean elections",
             P=1, E=2, D=3, U=(0, 1)) for rule in RULES),
    *(expect(PartitionChanges, rule, "holds", "two partitions in a batch", P=2, E=2, D=0)
      for rule in ("KAFKA-C31", "KAFKA-C32")),
    *(expect(variant, rule, "violated", about, P=1, E=1, D=3)
      for variant, rule, about in (
          (IgnoringTheTable, "KAFKA-C31", "every requested change is made"),
          (WritingBlindly, "KAFKA-C37", "the leader's write in the meantime is lost"),
          (OverwritingNewer, "KAFKA-C38", "an old controller overwrites (KAFKA-6082)"),
          (KeepingTheEpoch, "KAFKA-C36", "two leaders in one epoch"),
          (ElectingInIsrOrder, "KAFKA-C39", "the ISR's order for the list's (KAFKA-3670)"),
          (ElectingTheDead, "KAFKA-C34", "liveness is not tested (KAFKA-3670)"),
          (ChoosingAnybody, "KAFKA-C35", "an unclean election although it is off"),
          (PreferringTheLagging, "KAFKA-C33", "the head lags"),
      )),
)

UNSEEN = {
    "KAFKA-C32":
        "A batch that never ends gives no answer, and its caller waits; a port's requests have all "
        "been answered.",
}
