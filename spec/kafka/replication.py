"""Replication of one partition: high watermark, in-sync replicas, leader epochs, truncation.

Theory of operation
-------------------
A partition has N replicas, each with a log. One of them leads: it appends the records of producers,
and the others fetch from it. The leader waits for its *in-sync replicas* (ISR): its *high
watermark* (hw) passes a record when all of them have it. A record below the high watermark is
*committed*: consumers may have read it, and a producer with acks=all has got its acknowledgement.
So it must never be lost: every candidate for an election must have it.

    log of the leader      a b c d e            hw 3: the ISR is {leader, f}
    log of the follower f  a b c
    log of the follower g  a                    not in the ISR

The *quorum* stores the leader and the ISR, and the *controller* changes them. Each of its changes
has a new *leader epoch*, and is sent to the replicas in a request that may be late, doubled or
lost. A replica obeys a request with an epoch above its own. In between there are replaced leaders
that still consider themselves leaders: they take writes and answer fetches. They cannot change the
ISR, since that takes a write to the quorum, which is conditional on the epoch.

A replica that becomes a follower may have records that its leader does not have. It cuts its log;
the place of the cut is the history of this chapter:

    to its own hw         0.10 and before: its hw lags behind the leader's, so it cuts committed
                          records, and may be elected next
    by epoch              KIP-101 (0.11): at the leader's first record of a larger epoch than that
                          of its own last record
    at the last match     KIP-279 (2.0): behind the last record that both have
    on a failed fetch     KIP-320, first try: it fetches at once, and cuts when the epochs of
                          records do not match
    at the last match,    KIP-320 (2.1): it asks only a leader of the very epoch that it is to
    fenced                follow; fetches and the leader's waiting are fenced alike

``Replication`` is the last one. All others lose a committed record or let two logs differ below
their high watermarks, and the search finds counterexamples: most need a leader that has been
replaced already.

A new leader's high watermark may lag behind its predecessor's. Until it has passed the beginning of
its own epoch, no replica joins the ISR (KAFKA-7128): a replica that has caught up with a lagging
high watermark may lack records that were committed above it.

Epochs are numbered from 1; 0 stands for none yet. Records are numbered from 1; an empty place holds
0. A record is identified by its number. The loss of a disk and min.insync.replicas are not modelled
here, and an unclean election only as a violation (``ElectingAnyone``).

Source: kafka#replication; KAFKA-1211, KAFKA-6361, KAFKA-7395, KAFKA-7128.
"""

from __future__ import annotations

from typing import NamedTuple

from ..expectations import Expectation, Values, expect
from ..notation import (
    CLAIM, MUST, Machine, action, alike, always, array, boolean, const, integer, member, pairs,
    record, require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "CountingTheOthers", "CutAtLastMatch", "CutByEpoch", "CutToHighWatermark",
    "CuttingUnfenced", "ElectingAnyone", "FirstTry", "JoiningEarly", "LastOneOut",
    "LeavingAsLeader", "Replication", "Unfenced",
]


class Entry(NamedTuple):
    """A record in a log: its number, and the epoch of the leader that appended it."""

    number: int
    epoch: int


class Replication(Machine):
    """One partition with KIP-320, as in Kafka since 2.1."""

    N = const(3, at_least=1)            # replicas
    L = const(2, at_least=1)            # records that a log can hold
    M = const(2, at_least=1)            # records that producers write in all
    E = const(2, at_least=1)            # leader epochs that the controller gives out

    Replica = alike(N)

    log = array(pairs(Replica, upto(L)), record(Entry, number=integer(0, M), epoch=integer(0, E)))
    end = array(Replica, integer(0, L))             # the length of each log
    hw = array(Replica, integer(0, L))              # each replica's high watermark
    epoch = array(Replica, integer(0, E))           # the epoch of each replica
    leader = array(Replica, member(Replica))        # the replica's leader; N: none
    isr = subset(pairs(Replica, Replica))           # r * N + o: replica r considers o in sync

    leading = member(Replica)                       # the quorum's leader; N: none
    in_sync = array(Replica, boolean(True))         # the quorum's ISR

    written = integer(0, M)                         # records written so far
    epochs = integer(0, E)                          # epochs given out so far: the quorum's
    told_leader = array(upto(E), member(Replica))           # leader in the request of epoch e + 1
    told_isr = subset(pairs(upto(E), Replica))              # e * N + r: r is in sync there

    # --- the controller ------------------------------------------------------------------

    @action(replica=Replica)
    def elect(self, replica: int) -> None:
        """A member of the ISR becomes the leader, because of a failure or a preference."""
        require(self.in_sync[replica] and self.leading != replica)
        self.leading = replica
        self.tell()

    @action(replica=Replica)
    def take_out(self, replica: int) -> None:
        """A broker has failed, or seems to: it leaves the ISR, unless it is the last member; if it
        leads, there is no leader until the next election. It may be up nevertheless, and continue.
        """
        leads, alone = self.leading == replica, sum(self.in_sync) == 1
        require(leads or (self.in_sync[replica] and self.may_be_taken_out()))
        if leads:
            self.leading = self.N
        if not (leads and self.in_sync[replica] and alone):
            self.in_sync[replica] = False
        self.tell()

    def may_be_taken_out(self) -> bool:
        """True if a member of the ISR that does not lead may leave it: others remain."""
        return sum(self.in_sync) > 1

    def tell(self) -> None:
        """Write the quorum with a new epoch; the replicas will get a request."""
        require(self.epochs < self.E)
        self.told_leader[self.epochs] = self.leading
        for each in range(self.N):
            if self.in_sync[each]:
                self.told_isr.add(self.epochs * self.N + each)
        self.epochs += 1

    # --- requests of the controller -----------------------------------------------------------

    @action(request=upto(E))
    def become_leader(self, request: int) -> None:
        """The replica that a request names obeys it."""
        replica = self.told_leader[request]
        require(request < self.epochs and replica < self.N)
        require(request + 1 > self.epoch[replica])
        self.obey(replica, request)

    @action(replica=Replica, request=upto(E))
    def become_follower(self, replica: int, request: int) -> None:
        """Another replica obeys the request, and cuts its log where the leader of that epoch says.
        """
        leader = self.told_leader[request]
        require(request < self.epochs and leader < self.N and leader != replica)
        require(request + 1 > self.epoch[replica])
        require(self.may_ask(leader, request))
        self.cut(replica, self.cut_at(replica, leader))
        self.obey(replica, request)

    def obey(self, replica: int, request: int) -> None:
        """The replica enters the epoch of the request, with its leader and its ISR."""
        self.epoch[replica] = request + 1
        self.leader[replica] = self.told_leader[request]
        for other in range(self.N):
            if request * self.N + other in self.told_isr:
                self.isr.add(replica * self.N + other)
            else:
                self.isr.discard(replica * self.N + other)

    def may_ask(self, leader: int, request: int) -> bool:
        """True if the leader answers a follower of this epoch: it is in that epoch as well."""
        return self.presumes(leader) and self.epoch[leader] == request + 1

    def cut_at(self, replica: int, leader: int) -> int:
        """Behind the last record that both have."""
        at = 0
        for offset in range(self.L):
            if offset < min(self.end[replica], self.end[leader]) and (
                self.log[replica * self.L + offset] == self.log[leader * self.L + offset]
            ):
                at = offset + 1
        return at

    def cut(self, replica: int, at: int) -> None:
        """Cut the log, and lower the high watermark to the new end."""
        require(at <= self.end[replica])
        for offset in range(self.L):
            if offset >= at:
                self.log[replica * self.L + offset] = Entry(0, 0)
        self.end[replica] = at
        self.hw[replica] = min(at, self.hw[replica])

    # --- leaders ---------------------------------------------------------------------------

    def presumes(self, replica: int) -> bool:
        """True if the replica considers itself the leader: it takes writes, and answers fetches."""
        return self.leader[replica] == replica

    def leads(self, replica: int) -> bool:
        """True if the replica considers itself the leader, and is the quorum's leader in the same
        epoch.
        """
        return (self.leading == replica and self.presumes(replica)
                and self.epoch[replica] == self.epochs)

    @action(leader=Replica)
    def write(self, leader: int) -> None:
        """A producer's record is appended to the leader's log."""
        require(self.presumes(leader))
        require(self.written < self.M and self.end[leader] < self.L)
        self.written += 1
        self.append(leader, Entry(self.written, self.epoch[leader]))

    def append(self, replica: int, entry: Entry) -> None:
        """Append a record to the end of a log."""
        self.log[replica * self.L + self.end[replica]] = entry
        self.end[replica] += 1

    @action(leader=Replica)
    def raise_hw(self, leader: int) -> None:
        """All replicas that the leader waits for have the next record: it is committed."""
        require(self.presumes(leader) and self.hw[leader] < self.L)
        require(all(
            not self.waits_for(each, leader)
            or self.has_caught_up(each, leader, self.hw[leader] + 1) for each in range(self.N)))
        self.hw[leader] += 1

    def waits_for(self, replica: int, leader: int) -> bool:
        """True if the leader must wait for the replica before it considers a record committed."""
        return leader * self.N + replica in self.isr

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """True if the replica follows the leader in its epoch, and has all records below the
        offset.
        """
        return self.follows(replica, leader) and (
            offset == 0 or offset <= min(self.end[leader], self.end[replica]))

    def follows(self, replica: int, leader: int) -> bool:
        """True if the replica follows this leader, in the same epoch."""
        return (self.presumes(leader) and self.leader[replica] == leader
                and self.epoch[replica] == self.epoch[leader])

    @action(leader=Replica, replica=Replica)
    def shrink(self, leader: int, replica: int) -> None:
        """A lagging replica leaves the ISR; the quorum accepts that only from its leader."""
        require(self.leads(leader) and replica != leader)
        require(leader * self.N + replica in self.isr)
        require(not self.has_caught_up(replica, leader, self.end[leader]))
        self.isr.discard(leader * self.N + replica)
        self.agree(leader)

    @action(leader=Replica, replica=Replica)
    def expand(self, leader: int, replica: int) -> None:
        """A replica that has caught up with the high watermark joins the ISR."""
        require(self.leads(leader) and leader * self.N + replica not in self.isr)
        require(self.has_caught_up(replica, leader, self.hw[leader]))
        require(self.may_expand(leader))
        self.isr.add(leader * self.N + replica)
        self.agree(leader)

    def may_expand(self, leader: int) -> bool:
        """True if the high watermark has passed the beginning of the leader's own epoch."""
        hw = self.hw[leader]
        return hw == self.end[leader] or (
            hw < self.end[leader]
            and self.log[leader * self.L + min(hw, self.L - 1)].epoch == self.epoch[leader])

    def agree(self, leader: int) -> None:
        """The leader's ISR is written to the quorum."""
        for each in range(self.N):
            self.in_sync[each] = leader * self.N + each in self.isr

    # --- followers -------------------------------------------------------------------------

    @action(replica=Replica)
    def fetch(self, replica: int) -> None:
        """Copy the next record, and the leader's high watermark as far as the log reaches."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica)
        require(self.may_fetch(replica, leader))
        require(self.end[replica] < self.end[leader])
        self.append(replica, self.log[leader * self.L + min(self.end[replica], self.L - 1)])
        self.hw[replica] = min(self.hw[leader], self.end[replica])

    def may_fetch(self, replica: int, leader: int) -> bool:
        """True if the leader answers the fetch: the follower is in its epoch."""
        return self.follows(replica, leader)

    # --- rules -----------------------------------------------------------------------------

    def both_have(self, one: int, other: int, hw: int) -> bool:
        """True if two logs are equal below the offset, and reach it."""
        return all(
            offset >= hw or (
                offset < min(self.end[one], self.end[other])
                and self.log[one * self.L + offset] == self.log[other * self.L + offset])
            for offset in range(self.L))

    @always("KAFKA-R1", MUST,
            "For each replica that considers itself the leader, every member of the ISR that it "
            "knows has all records below this replica's high watermark, at the same offsets.",
            source="kafka#replication (WeakIsr)", leader=Replica, replica=Replica)
    def the_leaders_isr_has_all(self, leader: int, replica: int) -> bool:
        """The leader's own ISR counts."""
        return (not self.presumes(leader) or leader * self.N + replica not in self.isr
                or self.both_have(leader, replica, self.hw[leader]))

    @always("KAFKA-R2", MUST,
            "Every replica in the ISR of the coordination service (every candidate for an "
            "election) has all records below the high watermark of any replica that considers "
            "itself the leader, at the same offsets.",
            source="kafka#replication (StrongIsr)", leader=Replica, replica=Replica)
    def the_isr_has_all(self, leader: int, replica: int) -> bool:
        """The quorum's ISR counts."""
        return (not self.presumes(leader) or not self.in_sync[replica]
                or self.both_have(leader, replica, self.hw[leader]))

    @always("KAFKA-R3", MUST,
            "If the coordination service names a leader of a partition, this leader is in the "
            "ISR stored there.",
            source="kafka#replication (LeaderInIsr, as it is meant)")
    def the_leader_is_in_sync(self) -> bool:
        """There is no leader at first, and after a leader has failed."""
        return self.leading == self.N or self.in_sync[min(self.leading, self.N - 1)]

    @always("KAFKA-R4", MUST, "A replica's high watermark is not beyond the end of its log.",
            source="kafka#replication (HwWithinLog)", replica=Replica)
    def hw_is_in_the_log(self, replica: int) -> bool:
        """Committed records are in the log."""
        return self.hw[replica] <= self.end[replica]

    @always("KAFKA-R5", MUST,
            "The logs of two replicas have the same record at every offset below both of their "
            "high watermarks.",
            source="kafka#replication (CommittedLogMatching)", one=Replica, other=Replica)
    def committed_logs_match(self, one: int, other: int) -> bool:
        """So consumers read the same records from both."""
        return all(
            offset >= min(self.hw[one], self.hw[other])
            or self.log[one * self.L + offset] == self.log[other * self.L + offset]
            for offset in range(self.L))


class AsPublished(Replication):
    """A rule as the published specification has it."""

    @always("KAFKA-R3W", CLAIM,
            "At any time the coordination service names a leader of the partition, and this "
            "leader is in the ISR stored there.",
            source="kafka#replication (LeaderInIsr, as written)")
    def the_leader_is_in_sync(self) -> bool:
        """There need not be a leader: there is none in the first state."""
        return self.leading < self.N and self.in_sync[min(self.leading, self.N - 1)]


class LastOneOut(Replication):
    """As in the last published module: without a leader, even the last member leaves the ISR.

    Nothing is lost by it, since no replica can be elected any more.
    """

    def may_be_taken_out(self) -> bool:
        """Any member may leave, even the last one."""
        return True


class JoiningEarly(Replication):
    """A leader lets replicas join before its high watermark has passed the beginning of its epoch
    (KAFKA-7128).
    """

    def may_expand(self, leader: int) -> bool:
        """Every replica that has caught up with the high watermark may join."""
        return True


class CountingTheOthers(Replication):
    """A leader counts its followers, and forgets that it is in sync itself."""

    def waits_for(self, replica: int, leader: int) -> bool:
        """Alone in the ISR, it waits for no replica."""
        return replica != leader and super().waits_for(replica, leader)


class LeavingAsLeader(Replication):
    """A failed leader leaves the ISR, and the quorum still names it as the leader."""

    @action(replica=Replication.Replica)
    def take_out(self, replica: int) -> None:
        """The test whether the replica leads is missing."""
        require(self.in_sync[replica] and self.may_be_taken_out())
        self.in_sync[replica] = False
        self.tell()


class ElectingAnyone(Replication):
    """An unclean election whenever possible: any live replica may lead, and is then alone in the
    ISR. Records that it lacks are lost, while the previous leader may continue, and commit.
    """

    @action(replica=Replication.Replica)
    def elect(self, replica: int) -> None:
        """A replica becomes the leader, in sync or not."""
        require(self.leading != replica)
        if not self.in_sync[replica]:
            for each in range(self.N):
                self.in_sync[each] = each == replica
        self.leading = replica
        self.tell()


class CuttingUnfenced(Replication):
    """The replica that the request names says where to cut, whatever epoch it is in itself."""

    def may_ask(self, leader: int, request: int) -> bool:
        """It answers even if it does not lead yet, or leads in another epoch."""
        return True


class FirstTry(Replication):
    """KIP-320 as it was first tried: a new follower does not cut its log until a fetch shows that
    the epochs of records do not match; and epochs of records are compared, not epochs of replicas.
    """

    def may_ask(self, leader: int, request: int) -> bool:
        """There is nothing to ask."""
        return True

    def cut_at(self, replica: int, leader: int) -> int:
        """The whole log stays for now."""
        return self.end[replica]

    @action(replica=Replication.Replica)
    def mend(self, replica: int) -> None:
        """The leader answers a fetch with a mismatch, and the follower cuts its log."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica and self.presumes(leader))
        require(self.does_not_match(replica, leader))
        self.cut(replica, super().cut_at(replica, leader))

    def does_not_match(self, replica: int, leader: int) -> bool:
        """True if the log is longer than the leader's, or its last record has another epoch there.
        """
        end = self.end[replica]
        return end > self.end[leader] or (end > 0 and not self.same_epoch(replica, leader, end))

    def same_epoch(self, one: int, other: int, offset: int) -> bool:
        """True if the records of two logs just below the offset have the same epoch."""
        at = max(offset, 1) - 1
        return self.log[one * self.L + at].epoch == self.log[other * self.L + at].epoch

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """True if the replica has a record of the same epoch just below the offset."""
        return self.presumes(leader) and self.leader[replica] == leader and (
            offset == 0 or (offset <= min(self.end[leader], self.end[replica])
                            and self.same_epoch(replica, leader, offset)))

    def may_fetch(self, replica: int, leader: int) -> bool:
        """True if the log ends with a record of the same epoch as the leader's there."""
        return self.has_caught_up(replica, leader, self.end[replica])


class Unfenced(Replication):
    """Before KIP-320 only the epochs of requests are compared."""

    def may_ask(self, leader: int, request: int) -> bool:
        """The replica that the request names answers, leader or not."""
        return True

    def follows(self, replica: int, leader: int) -> bool:
        """True if the replica follows this leader, in any epoch."""
        return self.leader[replica] == leader

    def may_fetch(self, replica: int, leader: int) -> bool:
        """Every replica that considers itself the leader answers."""
        return self.presumes(leader)

    def may_expand(self, leader: int) -> bool:
        """A replica may join whatever the high watermark is."""
        return True


class CutAtLastMatch(Unfenced):
    """KIP-279: behind the last record that both have."""


class CutByEpoch(Unfenced):
    """KIP-101: where the leader's records are of a larger epoch than the follower's last."""

    def cut_at(self, replica: int, leader: int) -> int:
        """Cut at the leader's end, if its last record is of that epoch; at the replica's own high
        watermark, if the leader knows no larger epoch.
        """
        mine = self.log[replica * self.L + max(self.end[replica], 1) - 1].epoch
        end = self.end[leader]
        at = self.hw[replica]
        if end > 0 and self.log[leader * self.L + end - 1].epoch == mine:
            at = end
        elif any(self.is_larger(leader, offset, mine) for offset in range(self.L)):
            at = sum(
                not any(self.is_larger(leader, earlier, mine) and earlier <= offset
                        for earlier in range(self.L))
                for offset in range(self.L))
        return 0 if self.end[replica] == 0 else at

    def is_larger(self, leader: int, offset: int, epoch: int) -> bool:
        """True if the leader has a record of a larger epoch at the offset."""
        return (offset < self.end[leader]
                and self.log[leader * self.L + offset].epoch > epoch)


class CutToHighWatermark(Unfenced):
    """0.10 and before: to the own high watermark."""

    def cut_at(self, replica: int, leader: int) -> int:
        """Records above it may or may not be committed."""
        return self.hw[replica]


NO_LOSS, WAITED_FOR = "KAFKA-R2", "KAFKA-R1"

def as_tlc(
    machine: type[Replication], rule: str, verdict: str, about: str, *, E: Values,
    where: str = "",
) -> Expectation:
    """An expectation with two records and without renaming, so that state counts compare with
    TLC's.
    """
    return expect(machine, rule, verdict, about, where=where, renaming=False, L=2, M=2, E=E)


EXPECTATIONS = (
    as_tlc(Replication, WAITED_FOR, "holds", "each replica in the leader's ISR has all committed "
           "records", E=(2, 3)),
    as_tlc(Replication, NO_LOSS, "holds", "no committed record is lost", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R3", "holds", "the leader is in sync", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R4", "holds", "hw is within the log", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R5", "holds", "committed logs match", E=(2, 3)),
    *(expect(machine, f"KAFKA-R{number}", "holds",
             f"KIP-320 keeps rule R{number} with three records and three epochs",
             L=3, M=3, E=3) for machine in (Replication, LastOneOut) for number in range(1, 6)),
    as_tlc(AsPublished, "KAFKA-R3W", "violated", "there is no leader at first", E=2),
    as_tlc(JoiningEarly, NO_LOSS, "violated",
           "a replica that joins before the leader's epoch has begun may lack a committed record "
           "(KAFKA-7128)",
           E=2),
    as_tlc(LeavingAsLeader, "KAFKA-R3", "violated", "a failed leader leaves the ISR, and is still "
           "named as leader", E=2),
    as_tlc(CountingTheOthers, "KAFKA-R4", "violated", "a leader that does not count itself "
           "considers records committed that no replica has", E=2),
    as_tlc(ElectingAnyone, "KAFKA-R5", "violated", "a leader that was elected uncleanly commits "
           "another record at a committed offset", E=2),
    as_tlc(CuttingUnfenced, NO_LOSS, "violated", where="E > 2", about="a stale leader says where "
           "to cut, and cuts its own log later: it takes three epochs", E=(2, 3)),
    as_tlc(FirstTry, WAITED_FOR, "violated", where="E > 2", about="a follower of an older epoch is "
           "waited for, and cuts committed records", E=(2, 3)),
    as_tlc(FirstTry, NO_LOSS, "violated", where="E > 2", about="a follower of an older epoch is "
           "waited for, cuts committed records, and may be elected", E=(2, 3)),
    as_tlc(CutAtLastMatch, WAITED_FOR, "violated", where="E > 2", about="a replaced leader is "
           "asked where to cut (KIP-279)", E=(2, 3)),
    as_tlc(CutAtLastMatch, NO_LOSS, "violated", "a stale follower counts for the high watermark "
           "(KIP-279)", E=2),
    as_tlc(CutByEpoch, WAITED_FOR, "violated", where="E > 2", about="a replaced leader is asked "
           "where to cut (KIP-101)", E=(2, 3)),
    as_tlc(CutByEpoch, NO_LOSS, "violated", "a stale follower counts for the high watermark "
           "(KIP-101)", E=2),
    as_tlc(CutToHighWatermark, "KAFKA-R3", "holds", "the leader is in sync", E=2),
    as_tlc(CutToHighWatermark, WAITED_FOR, "violated", "a follower cuts committed records, since "
           "its high watermark lags", E=2),
    as_tlc(CutToHighWatermark, NO_LOSS, "violated", "it may be elected next: the record is lost",
           E=2),
)

UNSEEN = {
    "KAFKA-R3W":
        "It is false in the first state of every partition, so no implementation has to satisfy "
        "it.",
}
