"""What keeps a partition moving: records are written, copied, committed, acknowledged and read.

Theory of operation
-------------------
Replication says what must never happen to a record (``replication``). This chapter says what must
eventually happen to it, once nothing fails any more. A record takes five steps, and each of them
waits for the one before:

    a producer sends it, and sends it again until it is answered
    the followers fetch it from the leader
    the leader's high watermark passes it, when all that are in sync have it
    the leader answers the producer, if min.insync.replicas are in sync
    a consumer reads what is below the high watermark, and asks again

A broker that fails is waited for only until the controller has noticed: it leaves the ISR, another
one leads, and it joins again when it is back and has caught up. So each of them goes on, and the
partition comes to rest: all was answered, every replica has all of it and is in sync, and all was
read.

There is one case in which it does not, with nothing broken. A producer that waits for all
acknowledgements asks for ``m`` replicas in sync; where the partition has fewer replicas at all, it
waits without end. The rules except that case, and KAFKA-R13 is what is false without the exception.

Until 3.7 the high watermark rises by whoever is in sync, also where these are fewer than m: with
acks=1, and where the ISR shrinks behind a producer that waits (KAFKA-R20). Since KAFKA-15583 it
stands still then (``CommittingWithEnough``). That is what lets others lead than those in sync
(``eligible``). Its price is a third case: a partition that has fewer replicas than m, and whose
producer waits for the leader alone, comes to no rest: nothing of it is ever committed, or read.

There are B replicas, and one producer that writes M records; A is 1 if it waits for all
acknowledgements, else it waits for the leader's. D bounds how often a broker fails.

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
    D = const(1)                        # times that a broker fails
    A = const(1, at_most=1)             # whether the producer waits for all acknowledgements
    m = const(1, at_least=1)            # min.insync.replicas

    end = array(upto(B), integer(0, M))         # how far each log goes
    up = array(upto(B), boolean(True))
    in_sync = array(upto(B), boolean(True))
    leader = integer(0, B)                      # B: nobody
    hw = integer(0, M)                          # what is committed
    sent = boolean()                            # the next record waits for its answer
    acked = integer(0, M)                       # so many were answered
    read = integer(0, M)                        # so many were read
    failed = integer(0, D)

    # --- the producer, and the consumer --------------------------------------------------------

    @action(fair=True)
    def write(self) -> None:
        """The producer sends its next record, or again what was not answered; the leader appends it
        unless it has it already."""
        require(self.leader < self.B and self.acked < self.M and not self.sent)
        require(self.A == 0 or self.are_enough())
        if self.A == 0 or self.end[min(self.leader, self.B - 1)] == self.acked:
            self.end[min(self.leader, self.B - 1)] += 1
        if self.A == 1:
            self.sent = True
        else:
            self.acked += 1

    def are_enough(self) -> bool:
        """Whether min.insync.replicas are in sync."""
        return sum(self.in_sync) >= self.m

    @action(fair=True)
    def answer(self) -> None:
        """The record is committed, and the producer hears of it."""
        require(self.leader < self.B and self.sent and self.hw > self.acked and self.are_enough())
        self.acked += 1
        self.sent = False

    @action(fair=True)
    def consume(self) -> None:
        """The consumer reads the next record."""
        require(self.leader < self.B and self.read < self.readable())
        self.read += 1

    def readable(self) -> int:
        """Up to where consumers read."""
        return self.hw

    # --- the replicas --------------------------------------------------------------------------

    @action(fair=True, replica=upto(B))
    def fetch(self, replica: int) -> None:
        """A follower makes its log as the leader's."""
        require(self.leader < self.B and self.up[replica])
        require(self.end[replica] != self.end[min(self.leader, self.B - 1)])
        self.end[replica] = self.end[min(self.leader, self.B - 1)]

    @action(fair=True)
    def raise_hw(self) -> None:
        """The high watermark rises to the least end of all that are in sync."""
        require(self.leader < self.B and self.hw < self.reached() and self.may_raise())
        self.hw = self.reached()

    def reached(self) -> int:
        """What all have that are in sync."""
        return min(self.end[each] if self.in_sync[each] else self.M for each in range(self.B))

    def may_raise(self) -> bool:
        """Whether the leader looks at it now."""
        return True

    @action(fair=True, replica=upto(B))
    def join(self, replica: int) -> None:
        """A replica that has caught up is in sync again."""
        require(self.leader < self.B and self.up[replica] and not self.in_sync[replica])
        require(self.end[replica] == self.end[min(self.leader, self.B - 1)])
        self.in_sync[replica] = True

    # --- faults, and the controller ------------------------------------------------------------

    @action(replica=upto(B))
    def fail(self, replica: int) -> None:
        """A broker is gone; what it has not answered it never will."""
        require(self.up[replica] and self.failed < self.D)
        self.failed += 1
        self.up[replica] = False
        if self.leader == replica:
            self.leader = self.B
            self.hears_nothing()

    def hears_nothing(self) -> None:
        """The producer gives up waiting after a while, and will send again."""
        self.sent = False

    @action(fair=True, replica=upto(B))
    def come_back(self, replica: int) -> None:
        """With what is on its disk."""
        require(not self.up[replica])
        self.up[replica] = True

    @action(fair=True, replica=upto(B))
    def take_out(self, replica: int) -> None:
        """A replica that is gone leaves the ISR, unless it is the last one there."""
        require(self.in_sync[replica] and not self.up[replica] and sum(self.in_sync) > 1)
        self.in_sync[replica] = False

    @action(fair=True, replica=upto(B))
    def elect(self, replica: int) -> None:
        """A replica in sync leads, where none does."""
        require(self.leader == self.B and self.up[replica] and self.in_sync[replica])
        self.leader = replica

    # --- rules ---------------------------------------------------------------------------------

    def can_be_answered(self) -> bool:
        """Whether there are as many replicas as a producer asks for."""
        return self.A == 0 or self.m <= self.B

    def rests(self) -> bool:
        """All was answered, all have all of it and are in sync, and all was read."""
        end = self.end[min(self.leader, self.B - 1)]
        return (self.leader < self.B and self.acked == self.M and self.read == self.hw == end
                and all(self.in_sync) and all(each == end for each in self.end))

    @leads_to("KAFKA-R10", MUST, "What was acknowledged by all is eventually read by a consumer "
              "that goes on reading.", source=FAILOVER, number=upto(M))
    def what_was_acknowledged_is_read(self, number: int) -> tuple[bool, bool]:
        """Whichever broker fails in between."""
        return self.A == 1 and self.acked > number, self.read > number

    @leads_to("KAFKA-R11", MUST, "Every record that a producer is to write is eventually "
              "acknowledged, if the partition has min.insync.replicas replicas or the producer "
              "waits for the leader alone.", source=FAILOVER, number=upto(M))
    def every_producer_is_answered(self, number: int) -> tuple[bool, bool]:
        """It sends its record again."""
        return self.can_be_answered(), self.acked > number

    @leads_to("KAFKA-R12", MUST, "When no broker fails any more the partition comes to rest, "
              "unless a producer waits for more replicas than there are.", source=FAILOVER)
    def it_comes_to_rest(self) -> tuple[bool, bool]:
        """Nothing waits for anything then."""
        return not self.rests() and self.can_be_answered(), self.rests()

    @leads_to("KAFKA-R13", CLAIM, "When no broker fails any more the partition comes to rest, "
              "whatever is asked of it.", source=FAILOVER)
    def it_always_comes_to_rest(self) -> tuple[bool, bool]:
        """Not where a producer waits for more replicas than there are."""
        return not self.rests(), self.rests()


    @step("KAFKA-R20", CLAIM, "The high watermark rises only while min.insync.replicas replicas "
          "are in sync.", source=f"{FAILOVER}; KAFKA-15583")
    def what_is_committed_is_on_enough(self, after: Delivery) -> bool:
        """False until 3.7, where m counts for acknowledgements alone."""
        return after.hw == self.hw or self.are_enough()


class CommittingWithEnough(Delivery):
    """The high watermark stands still while fewer than m are in sync (since 3.7)."""

    def may_raise(self) -> bool:
        """What is committed is on m replicas."""
        return self.are_enough()


# ---- broken ones ----------------------------------------------------------------------------


class ReadingShort(Delivery):
    """Consumers read up to the record before the last that is committed."""

    def readable(self) -> int:
        """One record too few."""
        return max(0, self.hw - 1)


class NotAskingAgain(Delivery):
    """A producer waits for its answer without a limit of time."""

    def hears_nothing(self) -> None:
        """The broker that was to answer is gone."""


class CommittingOnDemand(Delivery):
    """The high watermark rises only while a producer waits for it."""

    def may_raise(self) -> bool:
        """With acks=1 nobody does."""
        return self.sent


DELIVERS = ("KAFKA-R10", "KAFKA-R11", "KAFKA-R12")

EXPECTATIONS = (
    *(expect(Delivery, rule, "holds", "a broker fails, and comes back",
             B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3)) for rule in DELIVERS),
    expect(Delivery, "KAFKA-R13", "violated", "a producer waits for more replicas than there are",
           where="A == 1 and m == 3", B=2, M=1, D=(0, 1), A=(0, 1), m=(1, 2, 3)),
    expect(Delivery, "KAFKA-R20", "violated", "KAFKA-15583: until 3.7 what fewer than m have is "
           "committed, where the ISR shrinks or nobody asks for m",
           where="m == 2 and D > 0 or m == 3 and A == 0", B=2, M=1, D=(0, 1), A=(0, 1),
           m=(1, 2, 3)),
    *(expect(CommittingWithEnough, rule, "holds", "KAFKA-15583: what is committed is on m replicas",
             B=2, M=2, D=(0, 1), A=(0, 1), m=(1, 2, 3))
      for rule in ("KAFKA-R10", "KAFKA-R11", "KAFKA-R20")),
    expect(CommittingWithEnough, "KAFKA-R12", "violated", "KAFKA-15583: with acks=1 a partition of "
           "fewer than m replicas is never read, exactly there", where="A == 0 and m > 2", B=2, M=2,
           D=(0, 1), A=(0, 1), m=(1, 2, 3)),
    expect(ReadingShort, "KAFKA-R10", "violated", "the last record is never read",
           B=2, M=1, D=0, A=1, m=1),
    expect(NotAskingAgain, "KAFKA-R11", "violated", "the leader has failed before it answered",
           B=2, M=1, D=1, A=1, m=1),
    expect(CommittingOnDemand, "KAFKA-R12", "violated", "with acks=1 nothing is committed",
           B=2, M=1, D=0, A=0, m=1),
)

UNSEEN = {
    "KAFKA-R20":
        "It is false of releases before 3.7, which keep what all have acknowledged as well, so no "
        "implementation is to keep it.",
    "KAFKA-R13":
        "It is false where a producer waits for more replicas than a partition has, so no "
        "implementation is to keep it.",
}
