"""How a controller carries out a batch of changes of partitions: the table, and the election.

Theory of operation
-------------------
The controller takes each partition to be new, online, offline or not existing, and changes that by
a table (``transitions``). A change comes in a *batch*: some partitions, and one target. What the
table does not have is logged and left; the rest of the batch goes on.

To be online, a partition needs a leader. What leads is written in a *node* of the store:

    leader, leader epoch, ISR, the epoch of the controller that wrote it, and a version

The first leader is written by making the node. Later ones are *elected*: the controller reads the
node, lets a selector choose (``selectors``), and writes on condition that the version is still the
one that it read. The partition's leader writes the same node, whenever its ISR shrinks or grows; so
the condition may fail, and the controller reads and chooses again. A node that a newer controller
has written is not this one's any more.

    controller                      node                      leader
        | ---- read: ISR {0, 1, 2} --> |                          |
        |                              | <- ISR {1, 2} --------- |
        | ---- write ISR {0, 1} -----> X  the version is another  |
        | ---- read: ISR {1, 2} -----> |                          |
        | ---- write ISR {1} --------> |                          |

Without the condition broker 0 would be in sync again, and may be elected without what was
committed meanwhile.

Partition p has the list in row A + p of ``selectors.ORDERS``. D bounds what happens beside the
controller: brokers that go and come, leaders that write, another controller. Brokers change only
between batches, for the controller has one lock (or, since 0.11, one thread).

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
    """A controller, its store, and the leaders that write beside it."""

    P = const(1, at_least=1, at_most=2)     # partitions
    E = const(1, at_least=1)                # leader epochs
    D = const(2)                            # what happens beside the controller
    U = const(0, at_most=1)                 # whether unclean elections are on
    A = const(5, at_most=13)                # the list of the first partition: 2, 1, 0

    orders = table(ORDERS)
    may = table(cells(PARTITION_CHANGES))

    state = array(upto(P), choice(PartitionState, PartitionState.NON_EXISTENT))
    registered = integer(0, ALL, init=ALL)
    shutting_down = integer(0, ALL)
    happened = integer(0, D)

    written = array(upto(P), boolean())     # whether there is a node
    leader = array(upto(P), integer(0, NOBODY, init=NOBODY))
    isr = array(upto(P), integer(0, ALL))
    epoch = array(upto(P), integer(0, E))
    newer = array(upto(P), boolean())       # a newer controller has written it

    todo = array(upto(P), boolean())        # what of the batch is not done yet
    told = array(upto(P), integer(0, ALL))  # to whom a LeaderAndIsr goes because of this batch
    target = choice(PartitionState)
    selector = choice(Selector)
    reading = boolean()                     # the node was read, and is to be written
    current = boolean()                     # … and nobody has written it since
    next_leader = integer(0, NOBODY, init=NOBODY)   # what the selector chose of what was read
    next_isr = integer(0, ALL)
    next_told = integer(0, ALL)
    read_epoch = integer(0, E)

    # --- beside the controller --------------------------------------------------------------

    def is_idle(self) -> bool:
        """No batch is under way."""
        return not any(self.todo)

    def happen(self) -> None:
        """There is room for so much."""
        require(self.happened < self.D)
        self.happened += 1

    @action(broker=upto(BROKERS))
    def turn(self, broker: int) -> None:
        """A broker goes down, or comes up."""
        require(self.is_idle())
        self.happen()
        if has(self.registered, broker):
            self.registered -= only(broker)
            self.shutting_down = without(self.shutting_down, only(broker))
        else:
            self.registered += only(broker)

    @action(broker=upto(BROKERS))
    def begin_shutdown(self, broker: int) -> None:
        """A broker is about to shut down, and says so."""
        require(self.is_idle() and has(without(self.registered, self.shutting_down), broker))
        self.happen()
        self.shutting_down += only(broker)

    @action(partition=upto(P), broker=upto(BROKERS))
    def write_isr(self, partition: int, broker: int) -> None:
        """A leader lets a follower leave the ISR, or join it."""
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
        """A newer controller writes the node. What it writes does not matter here."""
        require(self.written[partition] and not self.newer[partition])
        self.happen()
        self.newer[partition] = True
        self.disturb(partition)

    def disturb(self, partition: int) -> None:
        """Whoever has read the node has read an old one."""
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
        """Somebody wants one or two partitions to be changed."""
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
        """Of what is left of the batch."""
        return self.todo[partition] and not any(
            self.todo[each] and each < partition for each in range(self.P))

    @action(fair=True, partition=upto(P))
    def change(self, partition: int) -> None:
        """The next one is changed, or passed over; an election begins with reading the node."""
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
        """Whether the table has the change."""
        return bool(self.may[target * len(PartitionState) + self.state[partition]] == 1)

    def pass_over(self, partition: int) -> None:
        """What is illegal is left."""
        self.todo[partition] = False

    def may_write(self, partition: int) -> bool:
        """Whether no newer controller has."""
        return not self.newer[partition]

    def make(self, partition: int) -> None:
        """The node is made with the first leader; if there is one already, somebody else did."""
        found = first_leader(self.order_of(partition), self.live())
        if found.leader != NOBODY and not self.written[partition]:
            self.written[partition] = True
            self.state[partition] = PartitionState.ONLINE
            self.leader[partition] = found.leader
            self.isr[partition] = found.isr
            self.told[partition] = both(found.told, self.registered)
        self.todo[partition] = False

    def read(self, partition: int) -> None:
        """What stands in the node now; the selector goes by that."""
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
        """The election is written, unless the node is another one by now: then it is repeated."""
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
        """The condition of the write."""
        return self.current

    def next_epoch(self) -> int:
        """That of the new leader."""
        return self.read_epoch + 1

    def forget(self) -> None:
        """What was read is of no use any more."""
        self.reading = False
        self.current = False
        self.next_leader = NOBODY
        self.next_isr = 0
        self.next_told = 0
        self.read_epoch = 0

    def chosen(self, partition: int, isr: int) -> Choice:
        """What the selector says of an ISR."""
        order = self.order_of(partition)
        if self.selector == Selector.OFFLINE:
            return offline(order, isr, self.live(), self.U == 1)
        if self.selector == Selector.REASSIGNED:
            return reassigned(order, isr, self.live())
        if self.selector == Selector.PREFERRED:
            return preferred(order, isr, self.live())
        return self.chosen_in_shutdown(partition, isr)

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """Whoever leads once some brokers are gone."""
        return controlled_shutdown(
            self.order_of(partition), isr, self.live(), self.shutting_down)

    # --- rules ------------------------------------------------------------------------------

    @step("KAFKA-C31", MUST, "A partition goes from one state to another only as the table says.",
          source=STATES, partition=upto(P))
    def goes_by_the_table(self, after: PartitionChanges, partition: int) -> bool:
        """Whoever asks for what, and in whatever batch."""
        return (after.state[partition] == self.state[partition]
                or self.may[after.state[partition] * len(PartitionState)
                            + self.state[partition]] == 1)

    @leads_to("KAFKA-C32", MUST, "Every batch comes to its end.", source=STATES)
    def batches_end(self) -> tuple[bool, bool]:
        """Leaders do not write for ever."""
        return any(self.todo), not any(self.todo)

    @always("KAFKA-C33", MUST, "A leader is in the ISR of its node.", source=SELECTORS,
            partition=upto(P))
    def the_leader_is_in_sync(self, partition: int) -> bool:
        """Every selector sees to that."""
        return (self.leader[partition] == NOBODY
                or has(self.isr[partition], self.leader[partition]))

    @step("KAFKA-C34", MUST, "Whoever is elected is live.", source=f"{SELECTORS}; KAFKA-3670",
          partition=upto(P))
    def the_elected_is_live(self, after: PartitionChanges, partition: int) -> bool:
        """As far as the controller knows."""
        return after.leader[partition] == self.leader[partition] or has(
            without(self.registered, self.shutting_down), after.leader[partition])

    @step("KAFKA-C35", MUST, "With unclean elections off, whoever is elected was in sync.",
          source=SELECTORS, partition=upto(P))
    def elections_are_clean(self, after: PartitionChanges, partition: int) -> bool:
        """So it has all that was committed."""
        return (self.U == 1 or not self.written[partition]
                or after.leader[partition] == self.leader[partition]
                or has(self.isr[partition], after.leader[partition]))

    @step("KAFKA-C36", MUST, "Of two leaders, the later one has the higher epoch.",
          source=SELECTORS, partition=upto(P))
    def epochs_rise(self, after: PartitionChanges, partition: int) -> bool:
        """By one for each election; else nobody can tell an old request from a new one."""
        return (not self.written[partition]
                or after.leader[partition] == self.leader[partition]
                or after.epoch[partition] == self.epoch[partition] + 1)

    @step("KAFKA-C37", MUST, "With unclean elections off, the controller brings nobody back into "
          "an ISR.", source=f"{STATES} (zkVersion)", partition=upto(P))
    def nobody_is_brought_back(self, after: PartitionChanges, partition: int) -> bool:
        """Only the leader knows who has caught up."""
        return (self.U == 1 or not self.written[partition]
                or after.epoch[partition] == self.epoch[partition]
                or both(after.isr[partition], self.isr[partition]) == after.isr[partition])

    @step("KAFKA-C38", MUST, "A node that a newer controller has written is not written by an "
          "older one.", source=f"{STATES} (controller_epoch); KAFKA-6082", partition=upto(P))
    def newer_ones_stay(self, after: PartitionChanges, partition: int) -> bool:
        """Leader, ISR and epoch are the newer one's."""
        return not self.newer[partition] or (
            after.epoch[partition] == self.epoch[partition]
            and after.leader[partition] == self.leader[partition])

    @step("KAFKA-C39", MUST, "Of those who may lead, the first of the list does.",
          source=f"{SELECTORS}; KAFKA-3670", partition=upto(P))
    def the_first_leads(self, after: PartitionChanges, partition: int) -> bool:
        """Else load would gather on some brokers."""
        live = without(self.registered, self.shutting_down)
        return (after.leader[partition] == self.leader[partition]
                or after.leader[partition] == first(
                    self.order_of(partition), both(after.isr[partition], live)))


# ---- broken ones ----------------------------------------------------------------------------


class IgnoringTheTable(PartitionChanges):
    """Whatever is asked is done."""

    def may_become(self, partition: int, target: PartitionState) -> bool:
        """Nobody looks into the table."""
        return True


class StoppingAtTheFirst(PartitionChanges):
    """The first change that is illegal ends the batch."""

    def pass_over(self, partition: int) -> None:
        """The rest is passed over as well."""
        for each in range(self.P):
            self.todo[each] = False


class WritingBlindly(PartitionChanges):
    """The node is written whatever stands in it by now."""

    def is_current(self) -> bool:
        """There is no condition."""
        return True


class OverwritingNewer(PartitionChanges):
    """It does not look whose the node is (KAFKA-6082: nothing but this look kept old ones out)."""

    def may_write(self, partition: int) -> bool:
        """It is the controller, so it thinks."""
        return True


class KeepingTheEpoch(PartitionChanges):
    """A new leader has the epoch of the old one."""

    def next_epoch(self) -> int:
        """That of the leader before."""
        return self.read_epoch


class ElectingInIsrOrder(PartitionChanges):
    """In a controlled shutdown the first of the ISR leads, as it stands there (KAFKA-3670); here
    by number."""

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """The list is not asked."""
        left = without(isr, self.shutting_down)
        return Choice(first((0, 1, 2), both(left, self.live())), left,
                      both(members(self.order_of(partition)), self.registered))


class ElectingTheDead(PartitionChanges):
    """In a controlled shutdown nobody looks who is live (0.9, before KAFKA-3670)."""

    def chosen_in_shutdown(self, partition: int, isr: int) -> Choice:
        """Whoever does not shut down will do, even if it is gone."""
        left = without(isr, self.shutting_down)
        return Choice(first(self.order_of(partition), left), left,
                      both(members(self.order_of(partition)), self.registered))


class ChoosingAnybody(PartitionChanges):
    """An unclean election, though they are off."""

    def chosen(self, partition: int, isr: int) -> Choice:
        """As if they were on."""
        found = super().chosen(partition, isr)
        if self.selector == Selector.OFFLINE:
            return offline(self.order_of(partition), isr, self.live(), True)
        return found


class PreferringTheLagging(PartitionChanges):
    """A preferred election does not ask whether the head of the list is in sync."""

    def chosen(self, partition: int, isr: int) -> Choice:
        """It is live, and that will do."""
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
          (IgnoringTheTable, "KAFKA-C31", "whatever is asked is done"),
          (WritingBlindly, "KAFKA-C37", "what the leader wrote meanwhile is lost"),
          (OverwritingNewer, "KAFKA-C38", "an old controller overwrites (KAFKA-6082)"),
          (KeepingTheEpoch, "KAFKA-C36", "two leaders of one epoch"),
          (ElectingInIsrOrder, "KAFKA-C39", "the ISR's order for the list's (KAFKA-3670)"),
          (ElectingTheDead, "KAFKA-C34", "liveness is not asked (KAFKA-3670)"),
          (ChoosingAnybody, "KAFKA-C35", "unclean though it is off"),
          (PreferringTheLagging, "KAFKA-C33", "the head lags"),
      )),
)

UNSEEN = {
    "KAFKA-C32":
        "A batch that never ends gives no answer, and whoever has asked waits; a port's requests "
        "have all been answered.",
}
