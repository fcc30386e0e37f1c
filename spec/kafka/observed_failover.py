"""Observable behaviour of replicated partitions while brokers and controllers fail.

Theory. A cluster leaves a history of events: a leader appends, a follower copies or cuts, a high
watermark rises, the quorum is written, a request of a controller is obeyed, a producer is
acknowledged, a consumer reads. Each event is about one thing, and every promise of replication can
be stated about the events of *one* thing. So there is no machine of the whole cluster, but small
ones, with one copy for each thing:

    ObservedPlace       an offset of a partition: each replica's record, and the committed one
    ObservedEpoch       a leader epoch of a partition: the brokers that take writes in it
    ObservedMark        a leader in an epoch, in one life: the high watermark that it reports
    ObservedProducer    a producer with acks=all: the offsets of its records
    ObservedQuorum      a partition: its leader, its ISR and its replicas according to the quorum
    ObservedDepartures  a partition: the brokers that shut down, and have left the ISR for that
    ObservedBroker      a broker in one life: which controllers it obeys
    ObservedReplica     a partition on a broker in one life: which epochs it obeys
    ObservedPartition   a partition at the end, after all faults are over
    ObservedWishes      requests of operators, at the end

A record is identified by its value. The values at a place are numbered 1, 2, … in the order of
their appearance; 0 is none. A place is *committed* from the moment when a leader's high watermark
passes it, and stays so: every later leader has that value there. The candidates for later elections
are the members of the quorum's ISR, so all of them must hold it, and no replica may join without
it. It follows that an acknowledged record is neither lost nor moved: it was committed when it was
acknowledged (KAFKA-F2), committed records stay (KAFKA-F3, KAFKA-F5), and consumers read them
(KAFKA-F6).

This holds with clean elections, and as long as disks keep what was written to them. An unclean
election in a partition ends all promises about its records, and new ones begin: its places are new,
and hold what the replicas hold when the new leader begins. Events of an earlier epoch make no
promise: a leader that was replaced in this way may continue alone, and acknowledge records that are
lost. A leader may have been replaced without knowing it. It may append, and acknowledge with
acks=1; none of that is a promise. A leader that restarts may lead in the same epoch again, if the
controller was replaced meanwhile; its high watermark is then that of its checkpoint, and has to
rise again.

Epochs are numbered from 1 here: one more than Kafka's, and 0 for none yet. Values beyond the range
of a machine are not followed.

Liveness after the last fault is in ``observed_failover_liveness``.

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
    "KAFKA-F1", MUST,
    "In each leader epoch of a partition at most one broker acts as the leader, by taking "
    "writes or answering consumers.",
    source="kafka#failover; KAFKA-532, KAFKA-1096")
ACKED = guard_rule(
    "KAFKA-F2", MUST,
    "When a producer with acks=all gets its acknowledgement, a leader's high watermark has "
    "passed its record at the acknowledged offset, unless an unclean election has come after "
    "the write.",
    source="kafka#failover")
KEPT = guard_rule(
    "KAFKA-F3", MUST,
    "A replica in the ISR of the coordination service neither cuts nor overwrites a committed "
    "record, unless an unclean election has voided the record.",
    source="kafka#replication; KAFKA-1211")
HELD = guard_rule(
    "KAFKA-F4", MUST,
    "Unless an unclean election has replaced the leader, its high watermark passes an offset "
    "only when it and the ISR in the coordination service hold one record there, with no other "
    "committed there since such an election.",
    source="kafka#replication; KAFKA-6361, KAFKA-7395")
ELIGIBLE = guard_rule(
    "KAFKA-F5", MUST,
    "A replica joins the ISR in the coordination service only if it holds every record "
    "committed so far, unless an unclean election has voided the record or elects the replica.",
    source="kafka#replication; KAFKA-7128")
READ = guard_rule(
    "KAFKA-F6", MUST,
    "Consumers read only committed records, and all read the same one at an offset, unless an "
    "unclean election has come in between.",
    source="kafka#replication")
MONOTONE = guard_rule(
    "KAFKA-F7", MUST, "The high watermark that a leader reports to consumers does not decrease "
    "within its epoch, while its process lives.", source="kafka#failover; KAFKA-7235")
ORDER = guard_rule(
    "KAFKA-F8", MUST,
    "A record acknowledged with acks=all and the latest-written one that its producer had "
    "acknowledged before lie in the partition in the order of their writes, unless an unclean "
    "election came in between.",
    source="kafka#failover")
FENCED = guard_rule(
    "KAFKA-F9", MUST,
    "A controller's request takes effect only if the broker's process has accepted no newer "
    "controller, it was not meant for an earlier life, and any leader epoch in it exceeds the "
    "partition's known one.",
    source="kafka#failover; KAFKA-1188, KAFKA-7235")
REPLACED = guard_rule(
    "KAFKA-F10", MUST,
    "Once a newer controller has been elected, an older one writes no new leader epoch of a "
    "partition to the coordination service.",
    source="kafka#failover; KAFKA-6082")
GROWS = guard_rule(
    "KAFKA-F11", MUST,
    "The leader epoch of a partition in the coordination service never decreases, and the "
    "leader named there changes only when the epoch grows.",
    source="kafka#failover")
CLEAN = guard_rule(
    "KAFKA-F12", MUST,
    "Except in an unclean election, the coordination service names as leader only a replica "
    "that was in the ISR before, and the leader that it names never leaves the ISR.",
    source="kafka#replication")
ENOUGH = guard_rule(
    "KAFKA-F13", MUST, "When a record is acknowledged with acks=all, at least min.insync.replicas "
    "replicas hold it.", source="kafka#failover")
LED = guard_rule(
    "KAFKA-F14", MUST,
    "When all faults and all possible work are over, every partition with at least "
    "min.insync.replicas replicas has a leader that has answered all of its producers.",
    source="kafka#failover; KAFKA-1029, KAFKA-1387, KAFKA-1187")
REJOINED = guard_rule(
    "KAFKA-F15", MUST,
    "When all faults and all possible work are over, all replicas on a partition's list are in "
    "its ISR.",
    source="kafka#failover; KAFKA-1382, KAFKA-2729")
LET_GO = guard_rule(
    "KAFKA-F18", MUST,
    "When the controller allows a broker to shut down, the coordination service names this "
    "broker as the leader of no partition.",
    source="kafka#broker-changes")
PREFERRED = guard_rule(
    "KAFKA-F19", MUST,
    "When all faults and all possible work are over, the first replica on its list (the "
    "preferred one) leads each partition for which an operator requested it.",
    source="kafka#selectors; KAFKA-840")
LISTED = guard_rule(
    "KAFKA-F20", MUST,
    "A replica joins the ISR only while it is on the partition's list of replicas, and leaves "
    "the list only while it is outside the ISR.",
    source="kafka#reassignment; KAFKA-1097, KAFKA-1170, KAFKA-9672")
ALONE = guard_rule(
    "KAFKA-F21", MUST, "An unclean election leaves the new leader as the only member of the ISR.",
    source="kafka#selectors")
CARRIED_OUT = guard_rule(
    "KAFKA-F22", MUST,
    "When all faults and all possible work are over, no request of an operator is open: each "
    "has been carried out or refused.",
    source="kafka#reassignment; KAFKA-928")
REPLACED_FIRST = guard_rule(
    "KAFKA-F23", MUST,
    "A replica is removed from a partition's list only when every replica that stays on it has "
    "been in the ISR at some time since it was added.",
    source="kafka#reassignment")

STAYS_OUT = guard_rule(
    "KAFKA-F24", SHOULD,
    "A replica that the controller took out of an ISR after its broker had asked to shut down "
    "does not rejoin, unless the broker registers anew, another controller comes or an unclean "
    "election names it.",
    source="kafka#broker-changes; KAFKA-14140")


class ObservedPlace(Machine):
    """One offset of one partition."""

    N = const(3, at_least=1)            # replicas
    V = const(2, at_least=1)            # values that may occur at one offset
    m = const(1, at_least=1)            # min.insync.replicas

    holds = array(upto(N), integer(0, V))           # value of each replica there; 0: none
    in_sync = array(upto(N), boolean(True))         # the quorum's ISR
    committed = integer(0, V)                       # 0: no value is committed there

    @action(replica=upto(N), value=upto(V))
    def appends(self, replica: int, value: int) -> None:
        """A leader writes, or a follower copies, the value with this number, from 0."""
        is_it = value + 1 == self.committed
        require(is_it or not (self.in_sync[replica] and self.has(replica)), KEPT)
        self.holds[replica] = value + 1

    @action(replica=upto(N))
    def cuts(self, replica: int) -> None:
        """A replica cuts its log at this offset or below."""
        require(not (self.in_sync[replica] and self.has(replica)), KEPT)
        self.holds[replica] = 0

    def has(self, replica: int) -> bool:
        """True if the replica has the committed value."""
        return self.committed > 0 and self.holds[replica] == self.committed

    @action(leader=upto(N))
    def commits(self, leader: int) -> None:
        """A leader's high watermark passes the offset."""
        value = self.holds[leader]
        require(value > 0, HELD)
        require(self.committed == 0 or self.committed == value, HELD)
        require(all(not self.in_sync[each] or self.holds[each] == value
                    for each in range(self.N)), HELD)
        self.committed = value

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """A replica joins the quorum's ISR."""
        require(self.committed == 0 or self.has(replica), ELIGIBLE)
        self.in_sync[replica] = True

    @action(replica=upto(N))
    def leaves(self, replica: int) -> None:
        """A replica leaves the quorum's ISR."""
        self.in_sync[replica] = False

    @action(value=upto(V))
    def is_acked(self, value: int) -> None:
        """A producer with acks=all gets the acknowledgement of its record at this offset."""
        require(self.committed == value + 1, ACKED)
        require(sum(self.has(each) for each in range(self.N)) >= self.m, ENOUGH)

    @action(value=upto(V))
    def is_read(self, value: int) -> None:
        """A consumer reads this value at the offset."""
        require(self.committed == value + 1, READ)

    @always("KAFKA-F16", MUST,
            "Every replica in the ISR of the coordination service holds every committed record, "
            "unless an unclean election has voided it, so a clean election loses nothing.",
            source="kafka#replication (StrongIsr)", replica=upto(N))
    def the_isr_has_it(self, replica: int) -> bool:
        """The ISR is the quorum's."""
        return self.committed == 0 or not self.in_sync[replica] or self.has(replica)


class ObservedEpoch(Machine):
    """One leader epoch of one partition."""

    N = const(3, at_least=1)            # replicas

    leader = integer(0, N, init=N)      # broker that takes writes in it; N: none yet

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
        """A consumer learns this high watermark from the leader."""
        require(hw >= self.hw, MONOTONE)
        self.hw = hw


class ObservedProducer(Machine):
    """A producer with acks=all.

    Its records are numbered as it writes them; a number without an acknowledgement may be missing.
    """

    H = const(3, at_least=1)            # the largest offset, like a high watermark
    R = const(3, at_least=1)            # the records that it may write

    number = integer(0, R)              # number of the last acknowledged record plus 1 …
    offset = integer(0, H + 1)          # … and its offset plus 1

    @action(number=upto(R), offset=upto(H + 1))
    def is_told(self, number: int, offset: int) -> None:
        """The record with this number is acknowledged at this offset."""
        require((number >= self.number) == (offset >= self.offset), ORDER)
        if number >= self.number:
            self.number = number + 1
            self.offset = offset + 1


class ObservedQuorum(Machine):
    """The quorum's state of one partition."""

    N = const(3, at_least=1)            # replicas
    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers

    newest = integer(0, E)              # the largest epoch of a controller that was elected
    writer = integer(0, E)              # controller of the last write, or of the leader that wrote
    epoch = integer(0, E)               # the leader epoch
    leader = integer(0, N, init=N)      # N: none
    in_sync = array(upto(N), boolean(True))
    listed = array(upto(N), boolean(True))      # the partition's replicas …
    was_in_sync = array(upto(N), boolean(True))   # … and has been in sync since it was added

    @action(controller=upto(E + 1))
    def is_elected(self, controller: int) -> None:
        """A broker knows that it is the controller with this epoch."""
        self.newest = max(self.newest, controller)

    @action(controller=upto(E + 1))
    def is_written(self, controller: int) -> None:
        """The writer of the next events: this controller, or a leader that it appointed."""
        self.writer = controller

    @action(epoch=upto(E + 1), leader=upto(N + 1))
    def says(self, epoch: int, leader: int) -> None:
        """In the same write: this replica leads in this epoch, or none (N).

        Only controllers begin epochs, so a new epoch was written by a controller.
        """
        require(epoch == self.epoch or self.writer >= self.newest, REPLACED)
        require(epoch >= self.epoch, GROWS)
        require(epoch > self.epoch or leader == self.leader, GROWS)
        require(leader == self.N or self.in_sync[min(leader, self.N - 1)], CLEAN)
        self.epoch = epoch
        self.leader = leader

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """In the same write, a replica joins the ISR."""
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
        """An unclean election: a leader that was not in sync, and the number of others in sync."""
        require(epoch > self.epoch, GROWS)
        require(self.writer >= self.newest, REPLACED)
        require(others == 0, ALONE)
        require(self.listed[leader], LISTED)
        for each in range(self.N):
            self.in_sync[each] = each == leader
        self.was_in_sync[leader] = True
        self.epoch = epoch
        self.leader = leader

    @action(replica=upto(N))
    def is_let_go(self, replica: int) -> None:
        """The controller has reported to a broker that it leads nothing and may shut down."""
        require(self.leader != replica, LET_GO)

    @action(replica=upto(N))
    def is_listed(self, replica: int) -> None:
        """A replica is added to the partition's list."""
        self.listed[replica] = True
        self.was_in_sync[replica] = self.in_sync[replica]

    @action(replica=upto(N))
    def is_struck(self, replica: int) -> None:
        """A replica is removed from the partition's list."""
        require(not self.in_sync[replica], LISTED)
        require(all(self.was_in_sync[each] or not self.listed[each] or each == replica
                    for each in range(self.N)), REPLACED_FIRST)
        self.listed[replica] = False
        self.was_in_sync[replica] = False

    @always("KAFKA-F17", MUST,
            "If the coordination service names a leader of a partition, this leader is in the "
            "ISR stored there.",
            source="kafka#replication (LeaderInIsr, as it is meant)")
    def the_leader_is_in_sync(self) -> bool:
        """So every leader has the committed records."""
        return self.leader == self.N or self.in_sync[min(self.leader, self.N - 1)]


class ObservedDepartures(Machine):
    """The replicas of one partition on brokers that shut down, as far as the controller knows."""

    N = const(3, at_least=1)            # replicas

    leaving = array(upto(N), boolean())     # its broker is shutting down …
    out = array(upto(N), boolean())         # … and was removed from the ISR since

    @action(replica=upto(N))
    def wants_to_go(self, replica: int) -> None:
        """Its broker asks the controller for a shutdown."""
        self.leaving[replica] = True

    @action(replica=upto(N))
    def is_taken_out(self, replica: int) -> None:
        """A write that begins an epoch, hence the controller's, removes it from the ISR."""
        if self.leaving[replica]:
            self.out[replica] = True

    @action(replica=upto(N))
    def joins(self, replica: int) -> None:
        """The replica joins the ISR."""
        require(not self.out[replica], STAYS_OUT)

    @action(replica=upto(N))
    def stays(self, replica: int) -> None:
        """Its broker has registered anew; or there is another controller, which has not been asked
        yet, or which makes it leader although it was not in sync.
        """
        self.leaving[replica] = False
        self.out[replica] = False


class ObservedBroker(Machine):
    """A broker in one life of its process, as the controllers' requests reach it."""

    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers
    B = const(3, at_least=1)            # the largest broker epoch

    controller = integer(0, E)          # the newest controller from which it accepted a request

    @action(controller=upto(E + 1), meant=upto(B + 1), own=upto(B + 1))
    def heeds(self, controller: int, meant: int, own: int) -> None:
        """The broker accepts a request of this controller.

        `meant` is the broker epoch in the request, `own` that of the broker.
        """
        require(controller >= self.controller, FENCED)
        require(meant >= own, FENCED)
        self.controller = controller


class ObservedReplica(Machine):
    """One partition on one broker, in one life of its process."""

    E = const(2, at_least=1)            # the largest epoch, of leaders and of controllers

    epoch = integer(0, E)               # its leader epoch

    @action(epoch=upto(E + 1))
    def obeys(self, epoch: int) -> None:
        """A controller's request puts it into this leader epoch."""
        require(epoch > self.epoch, FENCED)
        self.epoch = epoch


class ObservedPartition(Machine):
    """One partition, when all faults are over and all possible work is done."""

    N = const(3, at_least=1)            # replicas

    over = boolean()
    short = boolean()                   # it has fewer replicas than min.insync.replicas

    @action
    def is_short(self) -> None:
        """It has too few replicas for any producer with acks=all."""
        self.short = True

    @action(leads=upto(2), in_sync=upto(N + 1), rests=True)
    def ends(self, leads: int, in_sync: int) -> None:
        """`leads` is 1 if there is a leader that has answered every producer; `in_sync` is the size
        of the ISR.
        """
        require(not self.over)
        require(leads == 1 or self.short, LED)
        require(in_sync == self.N, REJOINED)
        self.over = True

    @action(preferred=upto(2), rests=True)
    def is_led(self, preferred: int) -> None:
        """True if the preferred replica leads; reported only if an operator requested it."""
        require(preferred == 1, PREFERRED)


class ObservedWishes(Machine):
    """Requests of operators, when all faults are over."""

    over = boolean()

    @action(left=upto(2), rests=True)
    def are(self, left: int) -> None:
        """Some requests are still open (1), or none (0)."""
        require(left == 0, CARRIED_OUT)
        self.over = True


EXPECTATIONS = (
    expect(ObservedPlace, "KAFKA-F16", "holds", "the accepted events keep the ISR complete",
           N=(2, 3), V=2),
    expect(ObservedQuorum, "KAFKA-F17", "holds", "the accepted events keep the leader in sync",
           N=3, E=2),
)
