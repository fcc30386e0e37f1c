"""Progress of a partition: records are written, copied, committed, acknowledged and read.

Theory of operation
-------------------
Replication says what must never happen to a record (``replication``). This chapter says what must
eventually happen to it, once nothing fails any more. A record takes five steps, and each of them
waits for the one before:

    a producer sends it, and repeats that until it is acknowledged
    the followers fetch it from the leader
    the leader's high watermark passes it, when all in-sync replicas have it
    the leader answers the producer, if min.insync.replicas are in sync
    a consumer reads what is below the high watermark, and asks again

A failed broker holds up the others only until the controller has noticed: it leaves the ISR,
another replica becomes leader, and the broker joins again when it is back and has caught up. So
every step happens eventually, and the partition becomes quiescent: every record is acknowledged, is
on every replica and has been read, and every replica is in sync.

There is one exception, without any fault. A producer with acks=all requires ``m`` replicas in sync;
if the partition has fewer than m replicas, the producer waits forever. The rules exclude that case;
KAFKA-R13 is the claim without the exception, and it is false.

Until 3.7 the high watermark depends on the in-sync replicas alone, even if they are fewer than m:
with acks=1, or if the ISR shrinks while a producer waits (KAFKA-R20). Since KAFKA-15583 it does not
advance then (``CommittingWithEnough``). This allows replicas outside the ISR to become leader
(``eligible``). Its price is a second exception: a partition with fewer than m replicas, if its
producer uses acks=1, never becomes quiescent: none of its records is ever committed or read.

There are B replicas, and one producer that writes M records; A is 1 if it uses acks=all, and 0 for
acks=1. D bounds the number of broker failures.

Source: kafka#failover, kafka#replication.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, array, boolean, const, integer, leads_to, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "CommittingOnDemand", "CommittingWithEnough", "Delivery", "NotAskingAgain",
    "ReadingShort",
]

FAILOVER = "kafka#failover"


class Delivery(Machine):
    """A partition with its replicas, a producer, a consumer, and a controller."""

    B = const(2, at_least=1)            # replicas
    M = const(2, at_least=1)            # records that the producer writes
    D = const(1)                        # broker failures
    A = const(1, at_most=1)             # 1: acks=all, 0: acks=1
    m = const(1, at_least=1)            # min.insync.replicas

    end = array(upto(B), integer(0, M))         # end of each log
    up = array(upto(B), boolean(True))
    in_sync = array(upto(B), boolean(True))
    leader = integer(0, B)                      # B: none
    hw = integer(0, M)                          # the leader's high watermark
    sent = boolean()                            # the next record awaits its acknowledgement
    acked = integer(0, M)                       # records acknowledged
    read = integer(0, M)                        # records read
    failed = integer(0, D)

    # --- the producer, and the consumer --------------------------------------------------------

    @action(fair=True)
    def write(self) -> None:
        """The producer sends its next record, or repeats the one that was not acknowledged; the
        leader appends it unless it has it already.
        """
        require(self.leader < self.B and self.acked < self.M and not self.sent)
        require(self.A == 0 or self.are_enough())
        if self.A == 0 or self.end[min(self.leader, self.B - 1)] == self.acked:
            self.end[min(self.leader, self.B - 1)] += 1
        if self.A == 1:
            self.sent = True
        else:
            self.acked += 1

    def are_enough(self) -> bool:
        """True if min.insync.replicas replicas are in sync."""
        return sum(self.in_sync) >= self.m

    @action(fair=True)
    def answer(self) -> None:
        """The record is committed, and the producer gets its acknowledgement."""
        require(self.leader < self.B and self.sent and self.hw > self.acked and self.are_enough())
        self.acked += 1
        self.sent = False

    @action(fair=True)
    def consume(self) -> None:
        """The consumer reads the next record."""
        require(self.leader < self.B and self.read < self.readable())
        self.read += 1

    def readable(self) -> int:
        """The offset up to which consumers may read."""
        return self.hw

    # --- the replicas --------------------------------------------------------------------------

    @action(fair=True, replica=upto(B))
    def fetch(self, replica: int) -> None:
        """A follower copies the leader's log."""
        require(self.leader < self.B and self.up[replica])
        require(self.end[replica] != self.end[min(self.leader, self.B - 1)])
        self.end[replica] = self.end[min(self.leader, self.B - 1)]

    @action(fair=True)
    def raise_hw(self) -> None:
        """The high watermark rises to the smallest log end in the ISR."""
        require(self.leader < self.B and self.hw < self.reached() and self.may_raise())
        self.hw = self.reached()

    def reached(self) -> int:
        """The smallest log end over the in-sync replicas."""
        return min(self.end[each] if self.in_sync[each] else self.M for each in range(self.B))

    def may_raise(self) -> bool:
        """True if the leader may raise its high watermark now."""
        return True

    @action(fair=True, replica=upto(B))
    def join(self, replica: int) -> None:
        """A replica that has caught up joins the ISR."""
        require(self.leader < self.B and self.up[replica] and not self.in_sync[replica])
        require(self.end[replica] == self.end[min(self.leader, self.B - 1)])
        self.in_sync[replica] = True

    # --- faults, and the controller ------------------------------------------------------------

    @action(replica=upto(B))
    def fail(self, replica: int) -> None:
        """A broker fails; it never sends the answers that it owes."""
        require(self.up[replica] and self.failed < self.D)
        self.failed += 1
        self.up[replica] = False
        if self.leader == replica:
            self.leader = self.B
            self.hears_nothing()

    def hears_nothing(self) -> None:
        """The producer's request times out, and it will send the record again."""
        self.sent = False

    @action(fair=True, replica=upto(B))
    def come_back(self, replica: int) -> None:
        """The broker returns with the log on its disk."""
        require(not self.up[replica])
        self.up[replica] = True

    @action(fair=True, replica=upto(B))
    def take_out(self, replica: int) -> None:
        """A failed replica leaves the ISR, unless it is the last member."""
        require(self.in_sync[replica] and not self.up[replica] and sum(self.in_sync) > 1)
        self.in_sync[replica] = False

    @action(fair=True, replica=upto(B))
    def elect(self, replica: int) -> None:
        """A live in-sync replica becomes leader, if there is none."""
        require(self.leader == self.B and self.up[replica] and self.in_sync[replica])
        self.leader = replica

    # --- rules ---------------------------------------------------------------------------------

    def can_be_answered(self) -> bool:
        """True if the partition has as many replicas as the producer requires in sync."""
        return self.A == 0 or self.m <= self.B

    def rests(self) -> bool:
        """True if all is acknowledged and read, and every replica is in sync with the same log."""
        end = self.end[min(self.leader, self.B - 1)]
        return (self.leader < self.B and self.acked == self.M and self.read == self.hw == end
                and all(self.in_sync) and all(each == end for each in self.end))

    @leads_to("KAFKA-R10", MUST,
              "If broker failures end and failed brokers return, a record acknowledged with "
              "acks=all is eventually read by a consumer that keeps reading.",
              source=FAILOVER, number=upto(M))
    def what_was_acknowledged_is_read(self, number: int) -> tuple[bool, bool]:
        """Holds whichever broker fails in between."""
        return self.A == 1 and self.acked > number, self.read > number

    @leads_to("KAFKA-R11", MUST,
              "If broker failures end and failed brokers return, every record that a producer "
              "sends until it is acknowledged eventually is, unless acks=all requires more "
              "in-sync replicas than the partition has replicas.",
              source=FAILOVER, number=upto(M))
    def every_producer_is_answered(self, number: int) -> tuple[bool, bool]:
        """The producer sends an unacknowledged record again."""
        return self.can_be_answered(), self.acked > number

    @leads_to("KAFKA-R12", MUST,
              "After the last broker failure a partition eventually becomes quiescent (every "
              "record acknowledged, read and on all replicas, all in sync), unless its producer "
              "requires more in-sync replicas than the partition has replicas.",
              source=FAILOVER)
    def it_comes_to_rest(self) -> tuple[bool, bool]:
        """Nothing waits for anything in a quiescent partition."""
        return not self.rests() and self.can_be_answered(), self.rests()

    @leads_to("KAFKA-R13", CLAIM,
              "After the last broker failure every record is eventually acknowledged, read and "
              "on all replicas, and all are in sync, however many in-sync replicas its producer "
              "requires.",
              source=FAILOVER)
    def it_always_comes_to_rest(self) -> tuple[bool, bool]:
        """False if a producer requires more in-sync replicas than the partition has."""
        return not self.rests(), self.rests()


    @step("KAFKA-R20", CLAIM, "The high watermark rises only while at least min.insync.replicas "
          "replicas are in sync.", source=f"{FAILOVER}; KAFKA-15583")
    def what_is_committed_is_on_enough(self, after: Delivery) -> bool:
        """False until 3.7, where m matters for acknowledgements alone."""
        return after.hw == self.hw or self.are_enough()


class CommittingWithEnough(Delivery):
    """The high watermark does not rise while fewer than m replicas are in sync (since 3.7)."""

    def may_raise(self) -> bool:
        """Every committed record is then on m replicas."""
        return self.are_enough()


# ---- broken ones ----------------------------------------------------------------------------


class ReadingShort(Delivery):
    """Consumers read only up to the record before the last committed one."""

    def readable(self) -> int:
        """One record too few."""
        return max(0, self.hw - 1)


class NotAskingAgain(Delivery):
    """A producer waits for its acknowledgement without a timeout."""

    def hears_nothing(self) -> None:
        """The broker that owes the answer is gone."""


class CommittingOnDemand(Delivery):
    """The high watermark rises only while a producer waits for it."""

    def may_raise(self) -> bool:
        """With acks=1 no producer waits."""
        return self.sent


DELIVERS = ("KAFKA-R10", "KAFKA-R11", "KAFKA-R12")

EXPECTATIONS = (
    *(expect(Delivery, rule, "holds", "a broker fails, and comes back",
             B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3)) for rule in DELIVERS),
    expect(Delivery, "KAFKA-R13", "violated", "a producer requires more in-sync replicas than "
           "there are",
           where="A == 1 and m == 3", B=2, M=1, D=(0, 1), A=(0, 1), m=(1, 2, 3)),
    expect(Delivery, "KAFKA-R20", "violated", "KAFKA-15583: until 3.7 records on fewer than m "
           "replicas are committed, if the ISR shrinks or the producer uses acks=1",
           where="m == 2 and D > 0 or m == 3 and A == 0", B=2, M=1, D=(0, 1), A=(0, 1),
           m=(1, 2, 3)),
    *(expect(CommittingWithEnough, rule, "holds", "KAFKA-15583: what is committed is on m replicas",
             B=2, M=2, D=(0, 1), A=(0, 1), m=(1, 2, 3))
      for rule in ("KAFKA-R10", "KAFKA-R11", "KAFKA-R20")),
    expect(CommittingWithEnough, "KAFKA-R12", "violated", "KAFKA-15583: with acks=1 exactly the "
           "partitions with fewer than m replicas are never "
           "read", where="A == 0 and m > 2", B=2, M=2,
           D=(0, 1), A=(0, 1), m=(1, 2, 3)),
    expect(ReadingShort, "KAFKA-R10", "violated", "the last record is never read",
           B=2, M=1, D=0, A=1, m=1),
    expect(NotAskingAgain, "KAFKA-R11", "violated", "the leader failed before it answered",
           B=2, M=1, D=1, A=1, m=1),
    expect(CommittingOnDemand, "KAFKA-R12", "violated", "with acks=1 nothing is committed",
           B=2, M=1, D=0, A=0, m=1),
)

UNSEEN = {
    "KAFKA-R20":
        "It is false of releases before 3.7, which also keep every record acknowledged with "
        "acks=all, so no implementation has to satisfy it.",
    "KAFKA-R13":
        "It is false if a producer requires more in-sync replicas than a partition has, so no "
        "implementation has to satisfy it.",
}
