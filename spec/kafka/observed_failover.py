"""What can be seen of replicated partitions while brokers and controllers fail.

Theory. A cluster leaves a history of events: a leader appends, a follower copies or cuts, a high
watermark rises, the quorum is written, a request of a controller is obeyed, a producer is
acknowledged, a consumer reads. Each event is about one thing, and every promise of replication
can be put as one about the events of *one* thing. So there is no machine of the whole cluster, but
small ones, and one copy of the fitting one for each thing:

    ObservedPlace       an offset of a partition: who holds what there, and what is committed
    ObservedEpoch       a leader epoch of a partition: who takes writes in it
    ObservedMark        a leader in an epoch, in one life: the high watermark that it tells
    ObservedProducer    a producer that waits for all acknowledgements: where its records are
    ObservedQuorum      a partition: what the quorum says of its leader, its ISR and its replicas
    ObservedDepartures  a partition: whose broker wants to go, and has left the ISR for that
    ObservedBroker      a broker in one life: which controllers it obeys
    ObservedReplica     a partition on a broker in one life: which epochs it obeys
    ObservedPartition   a partition at the end, after all faults are over
    ObservedWishes      what operators have wished for, at the end

A record is told from all others by its value. The values that are met at a place are numbered 1, 2,
… as they come; 0 is none. A place is *committed* from the moment when a leader's high watermark
passes it, and stays so: whoever leads later has that value there. Those that may lead later are
the members of the quorum's ISR, so all of them must hold it, and none may join that does not.
That an acknowledged record is neither lost nor moved follows: it was committed when it was
acknowledged (KAFKA-F2), what is committed stays (KAFKA-F3, KAFKA-F5), and is what is read
(KAFKA-F6).

This is so with clean elections, and as long as disks keep what was written to them. An unclean
election in a partition ends all promises about its records, and new ones begin: its places are new,
and hold what the replicas hold when the new leader begins. What is said in an earlier epoch is none
of them: a leader that was replaced so may go on alone, and acknowledge what is lost. A leader may
have been replaced without knowing it. It may append, and acknowledge with acks=1; none of that is
promised to anybody. A leader that starts anew may lead in the same epoch again, if the controller
was replaced meanwhile; its high watermark is then that of its checkpoint, and has to rise anew.

Epochs are numbered from 1 here: one more than Kafka's, and 0 for none yet. What is larger than
the range of a machine is not followed.

What is owed when all faults are over is in ``observed_delivery``.

Source: kafka#replication, kafka#failover, kafka#broker-changes, kafka#reassignment.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, guard_rule, integer, require,
    upto,
)

__all__ = [
    "EXPECTATIONS", "ObservedBroker", "ObservedDepartures", "ObservedEpoch", "ObservedMark",
    "ObservedPartition", "ObservedPlace", "ObservedProducer", "ObservedQuorum", "ObservedReplica",
    "ObservedWishes",
]

ONE_LEADER = guard_rule(
    "KAFKA-F1", MUST, "In a leader epoch of a partition at most one broker takes writes.",
    source="kafka#failover; KAFKA-532, KAFKA-1096")
ACKED = guard_rule(
    "KAFKA-F2", MUST, "A record is committed where it is when a producer that waits for all "
    "acknowledgements is told so.", source="kafka#failover")
KEPT = guard_rule(
    "KAFKA-F3", MUST, "Who is in sync neither cuts nor replaces what is committed.",
    source="kafka#replication; KAFKA-1211")
HELD = guard_rule(
    "KAFKA-F4", MUST, "A high watermark goes past a record only when all that are in sync hold "
    "it, and never past another record than the one that is committed there.",
    source="kafka#replication; KAFKA-6361, KAFKA-7395")
ELIGIBLE = guard_rule(
    "KAFKA-F5", MUST, "Only who holds all that is committed joins the ISR.",
    source="kafka#replication; KAFKA-7128")
READ = guard_rule(
    "KAFKA-F6", MUST, "Consumers read only what is committed, so all read the same at an offset.",
    source="kafka#replication")
MONOTONE = guard_rule(
    "KAFKA-F7", MUST, "The high watermark of which a leader tells consumers does not fall within "
    "its epoch, as long as it lives.", source="kafka#failover; KAFKA-7235")
ORDER = guard_rule(
    "KAFKA-F8", MUST, "The records of a producer that are acknowledged by all are at offsets in "
    "the order in which it wrote them.", source="kafka#failover")
FENCED = guard_rule(
    "KAFKA-F9", MUST, "A controller's request has an effect only if no newer controller was "
    "heeded before, it was meant for this life of the broker, and its leader epoch is a new one.",
    source="kafka#failover; KAFKA-1188, KAFKA-7235")
REPLACED = guard_rule(
    "KAFKA-F10", MUST, "A controller that has been replaced writes nothing to the quorum.",
    source="kafka#failover; KAFKA-6082")
GROWS = guard_rule(
    "KAFKA-F11", MUST, "The quorum's leader epoch does not fall, and has one leader.",
    source="kafka#failover")
CLEAN = guard_rule(
    "KAFKA-F12", MUST, "Who is elected was in sync, and no leader leaves the ISR.",
    source="kafka#replication")
ENOUGH = guard_rule(
    "KAFKA-F13", MUST, "What is acknowledged by all is held by min.insync.replicas at least.",
    source="kafka#failover")
LED = guard_rule(
    "KAFKA-F14", MUST, "After quiet, every partition has a leader, and every producer is answered, "
    "if the partition has min.insync.replicas replicas.",
    source="kafka#failover; KAFKA-1029, KAFKA-1387, KAFKA-1187")
REJOINED = guard_rule(
    "KAFKA-F15", MUST, "After quiet, all replicas of a partition are in sync again.",
    source="kafka#failover; KAFKA-1382, KAFKA-2729")
LET_GO = guard_rule(
    "KAFKA-F18", MUST, "Who is let go by the controller leads nothing.",
    source="kafka#broker-changes")
PREFERRED = guard_rule(
    "KAFKA-F19", MUST, "After quiet, the first of a partition's replicas leads, if that was wished "
    "for.", source="kafka#selectors; KAFKA-840")
LISTED = guard_rule(
    "KAFKA-F20", MUST, "Whoever leads or is in sync is one of the partition's replicas.",
    source="kafka#reassignment; KAFKA-1097, KAFKA-1170, KAFKA-9672")
ALONE = guard_rule(
    "KAFKA-F21", MUST, "Who is elected though it was not in sync is alone in the ISR.",
    source="kafka#selectors")
CARRIED_OUT = guard_rule(
    "KAFKA-F22", MUST, "After quiet, every wish of an operator has been carried out or refused.",
    source="kafka#reassignment; KAFKA-928")
REPLACED_FIRST = guard_rule(
    "KAFKA-F23", MUST, "A replica is taken off the list only when each that stays has been in sync "
    "since it came onto it.", source="kafka#reassignment")

STAYS_OUT = guard_rule(
    "KAFKA-F24", SHOULD, "A broker that wants to go, and that the controller has taken out of the "
    "ISR, does not join it again, unless it has registered anew or another controller is there.",
    source="kafka#broker-changes; KAFKA-14140")


class ObservedPlace(Machine):
    """One offset of one partition."""

    N = const(3, at_least=1)            # replicas
    V = const(2, at_least=1)            # values that may be met at one offset
    m = const(1, at_least=1)            # min.insync.replicas

    holds = array(upto(N), integer(0, V))           # what each replica has there; 0: nothing
    in_sync = array(upto(N), boolean(True))         # the quorum's ISR
    committed = integer(0, V)                       # 0: nothing is committed there

    @action(replica=upto(N), value=upto(V))
    def appends(self, replica: int, value: int) -> None:
        """A leader writes, or a follower copies, the value with this number, from 0."""
        is_it = value + 1 == self.committed
        require(is_it or not (self.in_sync[replica] and self.has(replica)), KEPT)
        self.holds[replica] = value + 1

    @action(replica=upto(N))
    def cuts(self, replica: int) -> None:
        """A replica cuts its log there, or before."""
        require(not (self.in_sync[replica] and self.has(replica)), KEPT)
        self.holds[replica] = 0

    def has(self, replica: int) -> bool:
        """Whether a replica has what is committed."""
        return self.committed > 0 and self.holds[replica] == self.committed

    @action(leader=upto(N))
    def commits(self, leader: int) -> None:
        """A leader's high watermark goes past it."""
        value = self.holds[leader]
        require(value > 0, HELD)
        require(self.committed == 0 or self.committed == value, HELD)
        require(all(not self.in_sync[each] or self.holds[each] == value
                    for each in range(self.N)), HELD)
        self.committed = value

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """A replica is in the quorum's ISR from now on."""
        require(self.committed == 0 or self.has(replica), ELIGIBLE)
        self.in_sync[replica] = True

    @action(replica=upto(N))
    def leaves(self, replica: int) -> None:
        """A replica is in the quorum's ISR no more."""
        self.in_sync[replica] = False

    @action(value=upto(V))
    def is_acked(self, value: int) -> None:
        """A producer that waits for all is told that its record is there."""
        require(self.committed == value + 1, ACKED)
        require(sum(self.has(each) for each in range(self.N)) >= self.m, ENOUGH)

    @action(value=upto(V))
    def is_read(self, value: int) -> None:
        """A consumer finds this value there."""
        require(self.committed == value + 1, READ)

    @always("KAFKA-F16", MUST, "Whoever is in sync has what is committed: whoever may be elected "
            "loses nothing.", source="kafka#replication (StrongIsr)", replica=upto(N))
    def the_isr_has_it(self, replica: int) -> bool:
        """By the quorum's word of who is in sync."""
        return self.committed == 0 or not self.in_sync[replica] or self.has(replica)


class ObservedEpoch(Machine):
    """One leader epoch of one partition."""

    N = const(3, at_least=1)            # replicas

    leader = integer(0, N, init=N)      # who takes writes in it; N: nobody yet

    @action(broker=upto(N))
    def leads(self, broker: int) -> None:
        """A broker takes writes, or answers consumers, as the leader of the epoch."""
        require(self.leader == self.N or self.leader == broker, ONE_LEADER)
        self.leader = broker


class ObservedMark(Machine):
    """A broker that leads in one epoch, in one life of its process, as consumers see it."""

    H = const(3, at_least=1)            # the largest high watermark

    hw = integer(0, H)

    @action(hw=upto(H + 1))
    def tells(self, hw: int) -> None:
        """A consumer is told of this high watermark."""
        require(hw >= self.hw, MONOTONE)
        self.hw = hw


class ObservedProducer(Machine):
    """A producer that waits for all acknowledgements. Its records are numbered as it writes them;
    a number without an acknowledgement may be missing."""

    H = const(3, at_least=1)            # the largest offset, as of a high watermark
    R = const(3, at_least=1)            # the records that it may write

    number = integer(0, R)              # one more than the last that was acknowledged …
    offset = integer(0, H + 1)          # … and one more than where that is

    @action(number=upto(R), offset=upto(H + 1))
    def is_told(self, number: int, offset: int) -> None:
        """Its record with this number is at this offset."""
        require((number >= self.number) == (offset >= self.offset), ORDER)
        if number >= self.number:
            self.number = number + 1
            self.offset = offset + 1


class ObservedQuorum(Machine):
    """What the quorum says of one partition."""

    N = const(3, at_least=1)            # replicas
    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers

    newest = integer(0, E)              # the largest epoch of a controller that was elected
    writer = integer(0, E)              # the controller that wrote last, or whose leader did
    epoch = integer(0, E)               # the leader epoch
    leader = integer(0, N, init=N)      # N: nobody
    in_sync = array(upto(N), boolean(True))
    listed = array(upto(N), boolean(True))      # the partition's replicas …
    was_in_sync = array(upto(N), boolean(True))     # … and who of them has been in sync since

    @action(controller=upto(E + 1))
    def is_elected(self, controller: int) -> None:
        """A broker knows that it is the controller with this epoch."""
        self.newest = max(self.newest, controller)

    @action(controller=upto(E + 1))
    def is_written(self, controller: int) -> None:
        """It is written by this controller, or by a leader that this one has made."""
        self.writer = controller

    @action(epoch=upto(E + 1), leader=upto(N + 1))
    def says(self, epoch: int, leader: int) -> None:
        """In the same write: in this epoch this replica leads, or nobody (N). Only controllers
        begin epochs, so it was one that wrote, if the epoch is a new one."""
        require(epoch == self.epoch or self.writer >= self.newest, REPLACED)
        require(epoch >= self.epoch, GROWS)
        require(epoch > self.epoch or leader == self.leader, GROWS)
        require(leader == self.N or self.in_sync[min(leader, self.N - 1)], CLEAN)
        self.epoch = epoch
        self.leader = leader

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """In the same write, a replica comes into the ISR."""
        require(self.listed[replica], LISTED)
        self.in_sync[replica] = True
        self.was_in_sync[replica] = True

    @action(replica=upto(N))
    def leaves(self, replica: int) -> None:
        """In the same write, a replica leaves the ISR."""
        require(replica != self.leader, CLEAN)
        self.in_sync[replica] = False

    @action(epoch=upto(E + 1), leader=upto(N), others=upto(N))
    def says_uncleanly(self, epoch: int, leader: int, others: int) -> None:
        """Where that is permitted, it says that one leads who was not in sync, and that so many
        others are in sync."""
        require(epoch > self.epoch, GROWS)
        require(self.writer >= self.newest, REPLACED)
        require(others == 0, ALONE)
        for each in range(self.N):
            self.in_sync[each] = each == leader
        self.was_in_sync[leader] = True
        self.epoch = epoch
        self.leader = leader

    @action(replica=upto(N))
    def is_let_go(self, replica: int) -> None:
        """The controller has told a broker that it leads nothing, so that it may go."""
        require(self.leader != replica, LET_GO)

    @action(replica=upto(N))
    def is_listed(self, replica: int) -> None:
        """It is one of the partition's replicas from now on."""
        self.listed[replica] = True
        self.was_in_sync[replica] = self.in_sync[replica]

    @action(replica=upto(N))
    def is_struck(self, replica: int) -> None:
        """It is one no more."""
        require(not self.in_sync[replica], LISTED)
        require(all(self.was_in_sync[each] or not self.listed[each] or each == replica
                    for each in range(self.N)), REPLACED_FIRST)
        self.listed[replica] = False
        self.was_in_sync[replica] = False

    @always("KAFKA-F17", MUST, "The quorum's leader, if there is one, is in the ISR.",
            source="kafka#replication (LeaderInIsr, as it is meant)")
    def the_leader_is_in_sync(self) -> bool:
        """So whoever leads has what is committed."""
        return self.leader == self.N or self.in_sync[min(self.leader, self.N - 1)]


class ObservedDepartures(Machine):
    """The replicas of one partition whose brokers want to go, as far as the controller knows."""

    N = const(3, at_least=1)            # replicas

    leaving = array(upto(N), boolean())     # its broker wants to go …
    out = array(upto(N), boolean())         # … and was taken out of the ISR since

    @action(replica=upto(N))
    def wants_to_go(self, replica: int) -> None:
        """Its broker asks whether it may."""
        self.leaving[replica] = True

    @action(replica=upto(N))
    def is_taken_out(self, replica: int) -> None:
        """By a write that begins an epoch, and so the controller's, it is in the ISR no more."""
        if self.leaving[replica]:
            self.out[replica] = True

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """It comes into the ISR."""
        require(not self.out[replica], STAYS_OUT)

    @action(replica=upto(N))
    def stays(self, replica: int) -> None:
        """Its broker has registered anew; or there is another controller, which was not asked yet,
        or has it lead though it was not in sync."""
        self.leaving[replica] = False
        self.out[replica] = False


class ObservedBroker(Machine):
    """A broker in one life of its process, as the controllers' requests reach it."""

    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers
    B = const(3, at_least=1)            # the largest broker epoch

    controller = integer(0, E)          # the newest controller that it has heard of

    @action(controller=upto(E + 1), meant=upto(B + 1), own=upto(B + 1))
    def heeds(self, controller: int, meant: int, own: int) -> None:
        """It accepts a request of this controller, which was meant for the broker epoch ``meant``;
        the broker has its own."""
        require(controller >= self.controller, FENCED)
        require(meant >= own, FENCED)
        self.controller = controller


class ObservedReplica(Machine):
    """One partition on one broker, in one life of its process."""

    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers

    epoch = integer(0, E)               # its leader epoch

    @action(epoch=upto(E + 1))
    def obeys(self, epoch: int) -> None:
        """By a controller's request it is in this leader epoch."""
        require(epoch > self.epoch, FENCED)
        self.epoch = epoch


class ObservedPartition(Machine):
    """One partition, when all faults are over and what could be done was done."""

    N = const(3, at_least=1)            # replicas

    over = boolean()
    short = boolean()                   # it has fewer replicas than min.insync.replicas

    @action
    def is_short(self) -> None:
        """It has so few replicas that no producer can be answered that waits for all."""
        self.short = True

    @action(leads=upto(2), in_sync=upto(N + 1), rests=True)
    def ends(self, leads: int, in_sync: int) -> None:
        """Somebody leads and has answered every producer, or not; so many are in sync."""
        require(not self.over)
        require(leads == 1 or self.short, LED)
        require(in_sync == self.N, REJOINED)
        self.over = True

    @action(preferred=upto(2), rests=True)
    def is_led(self, preferred: int) -> None:
        """By the first of its replicas, or not; told only where somebody has wished for it."""
        require(preferred == 1, PREFERRED)


class ObservedWishes(Machine):
    """What operators have wished for, when all faults are over."""

    over = boolean()

    @action(left=upto(2), rests=True)
    def are(self, left: int) -> None:
        """Some wait still (1), or none (0)."""
        require(left == 0, CARRIED_OUT)
        self.over = True


EXPECTATIONS = (
    expect(ObservedPlace, "KAFKA-F16", "holds", "what is accepted keeps the ISR complete",
           N=(2, 3), V=2),
    expect(ObservedQuorum, "KAFKA-F17", "holds", "what is accepted keeps the leader in sync",
           N=3, E=2),
)
