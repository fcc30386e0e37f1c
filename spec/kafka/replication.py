"""Replication of one partition: high watermark, in-sync replicas, leader epochs, truncation.

Theory of operation
-------------------
A partition has N replicas, each with a log. One of them leads: it appends what producers write,
and the others fetch from it. The leader's *in-sync replicas* (ISR) are those that it waits for: its
*high watermark* (hw) goes past a record when all of them have it. What is below the high watermark
is *committed*: consumers may have read it, and producers that asked for all acknowledgements have
been told. So it must never be lost: whoever may be elected has to have it.

    log of the leader      a b c d e            hw 3: the ISR is {leader, f}
    log of the follower f  a b c
    log of the follower g  a                    not in the ISR

The *controller* keeps the *quorum's* word of who leads and who is in sync. Each of its changes has
a new *leader epoch*, and is told to the replicas in a request that may be late, doubled or lost. A
replica obeys a request whose epoch is above its own. In between there are leaders who no longer
are, and think they are: they take writes and answer fetches. What they cannot do is change the
ISR, since that takes a write to the quorum, which is conditional on the epoch.

A replica that becomes a follower may have records that its leader has not. It cuts its log, and
where it cuts is the history of this chapter:

    to its own hw         0.10 and before: its hw lags behind the leader's, so it cuts what is
                          committed, and may be elected next
    by epoch              KIP-101 (0.11): at the leader's first record of a larger epoch than that
                          of its own last record
    at the last match     KIP-279 (2.0): behind the last record that both have
    when a fetch tells    KIP-320, first try: it fetches at once, and cuts when the epochs of
                          records do not match
    at the last match,    KIP-320 (2.1): it asks only a leader of the very epoch that it is to
    fenced                follow; fetches and the leader's waiting are fenced alike

``Replication`` is the last one. All others lose a committed record or let two logs differ below
their high watermarks, and the search says how: most need a leader that has been replaced already.

A leader that is new has a high watermark that may lag behind its predecessor's. Until it has passed
the beginning of its own epoch, nobody joins the ISR (KAFKA-7128): who has caught up with a lagging
high watermark may lack what was committed above it.

Epochs are numbered from 1; 0 stands for none yet. Records are numbered from 1; the place of a
record that is not there holds 0. A record is told from all others by its number. A replica that
loses its disk and the number of replicas below which nothing is acknowledged are not modelled
here, and an unclean election only as what it breaks (``ElectingAnyone``).

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
    """One partition with KIP-320: what Kafka does since 2.1."""

    N = const(3, at_least=1)            # replicas
    L = const(2, at_least=1)            # records that a log can hold
    M = const(2, at_least=1)            # records that producers write in all
    E = const(2, at_least=1)            # leader epochs that the controller gives out

    Replica = alike(N)

    log = array(pairs(Replica, upto(L)), record(Entry, number=integer(0, M), epoch=integer(0, E)))
    end = array(Replica, integer(0, L))             # the length of each log
    hw = array(Replica, integer(0, L))              # each replica's high watermark
    epoch = array(Replica, integer(0, E))           # the epoch that each replica is in
    leader = array(Replica, member(Replica))        # whom it takes for its leader; N: nobody
    isr = subset(pairs(Replica, Replica))           # r * N + o: replica r takes o to be in sync

    leading = member(Replica)                       # the quorum's leader; N: nobody
    in_sync = array(Replica, boolean(True))         # the quorum's ISR

    written = integer(0, M)                         # records written so far
    epochs = integer(0, E)                          # epochs given out so far: the quorum's
    told_leader = array(upto(E), member(Replica))           # the request of epoch e + 1
    told_isr = subset(pairs(upto(E), Replica))              # e * N + r: r is in sync, it says

    # --- the controller ------------------------------------------------------------------

    @action(replica=Replica)
    def elect(self, replica: int) -> None:
        """A member of the ISR becomes the leader, because of a failure or a preference."""
        require(self.in_sync[replica] and self.leading != replica)
        self.leading = replica
        self.tell()

    @action(replica=Replica)
    def take_out(self, replica: int) -> None:
        """A broker has failed, or seems to: it leaves the ISR, unless it is the last there; if it
        leads, nobody does until the next election. It may be up all the same, and go on."""
        leads, alone = self.leading == replica, sum(self.in_sync) == 1
        require(leads or (self.in_sync[replica] and self.may_be_taken_out()))
        if leads:
            self.leading = self.N
        if not (leads and self.in_sync[replica] and alone):
            self.in_sync[replica] = False
        self.tell()

    def may_be_taken_out(self) -> bool:
        """Whether a member of the ISR that does not lead may leave it: others remain."""
        return sum(self.in_sync) > 1

    def tell(self) -> None:
        """The quorum is written with a new epoch, and the replicas will be told."""
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
        """Another one obeys it, and cuts its log; only the leader of that epoch says where."""
        leader = self.told_leader[request]
        require(request < self.epochs and leader < self.N and leader != replica)
        require(request + 1 > self.epoch[replica])
        require(self.may_ask(leader, request))
        self.cut(replica, self.cut_at(replica, leader))
        self.obey(replica, request)

    def obey(self, replica: int, request: int) -> None:
        """It is in the epoch of the request, with the leader and the ISR that it tells."""
        self.epoch[replica] = request + 1
        self.leader[replica] = self.told_leader[request]
        for other in range(self.N):
            if request * self.N + other in self.told_isr:
                self.isr.add(replica * self.N + other)
            else:
                self.isr.discard(replica * self.N + other)

    def may_ask(self, leader: int, request: int) -> bool:
        """Whether the leader answers a follower of this epoch: it is in that epoch as well."""
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
        """The log ends there, and so does what is known to be committed."""
        require(at <= self.end[replica])
        for offset in range(self.L):
            if offset >= at:
                self.log[replica * self.L + offset] = Entry(0, 0)
        self.end[replica] = at
        self.hw[replica] = min(at, self.hw[replica])

    # --- leaders ---------------------------------------------------------------------------

    def presumes(self, replica: int) -> bool:
        """Whether it takes itself for the leader: then it takes writes, and answers fetches."""
        return self.leader[replica] == replica

    def leads(self, replica: int) -> bool:
        """Whether it does, and the quorum says so too, in the same epoch."""
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
        """A record goes to the end of a log."""
        self.log[replica * self.L + self.end[replica]] = entry
        self.end[replica] += 1

    @action(leader=Replica)
    def raise_hw(self, leader: int) -> None:
        """All that the leader waits for have the next record: it is committed."""
        require(self.presumes(leader) and self.hw[leader] < self.L)
        require(all(
            not self.waits_for(each, leader)
            or self.has_caught_up(each, leader, self.hw[leader] + 1) for each in range(self.N)))
        self.hw[leader] += 1

    def waits_for(self, replica: int, leader: int) -> bool:
        """Whether a record has to be there before the leader takes it for committed."""
        return leader * self.N + replica in self.isr

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """Whether a replica follows the leader in its epoch, and has what is below an offset."""
        return self.follows(replica, leader) and (
            offset == 0 or offset <= min(self.end[leader], self.end[replica]))

    def follows(self, replica: int, leader: int) -> bool:
        """Whether it takes this one for its leader, in the same epoch."""
        return (self.presumes(leader) and self.leader[replica] == leader
                and self.epoch[replica] == self.epoch[leader])

    @action(leader=Replica, replica=Replica)
    def shrink(self, leader: int, replica: int) -> None:
        """Who lags leaves the ISR; the quorum takes that from its leader only."""
        require(self.leads(leader) and replica != leader)
        require(leader * self.N + replica in self.isr)
        require(not self.has_caught_up(replica, leader, self.end[leader]))
        self.isr.discard(leader * self.N + replica)
        self.agree(leader)

    @action(leader=Replica, replica=Replica)
    def expand(self, leader: int, replica: int) -> None:
        """Who has caught up with the high watermark joins the ISR."""
        require(self.leads(leader) and leader * self.N + replica not in self.isr)
        require(self.has_caught_up(replica, leader, self.hw[leader]))
        require(self.may_expand(leader))
        self.isr.add(leader * self.N + replica)
        self.agree(leader)

    def may_expand(self, leader: int) -> bool:
        """Whether the high watermark has passed the beginning of the leader's own epoch."""
        hw = self.hw[leader]
        return hw == self.end[leader] or (
            hw < self.end[leader]
            and self.log[leader * self.L + min(hw, self.L - 1)].epoch == self.epoch[leader])

    def agree(self, leader: int) -> None:
        """The quorum's ISR is the leader's."""
        for each in range(self.N):
            self.in_sync[each] = leader * self.N + each in self.isr

    # --- followers -------------------------------------------------------------------------

    @action(replica=Replica)
    def fetch(self, replica: int) -> None:
        """The next record, and the leader's high watermark as far as the log goes."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica)
        require(self.may_fetch(replica, leader))
        require(self.end[replica] < self.end[leader])
        self.append(replica, self.log[leader * self.L + min(self.end[replica], self.L - 1)])
        self.hw[replica] = min(self.hw[leader], self.end[replica])

    def may_fetch(self, replica: int, leader: int) -> bool:
        """Whether the leader answers: only who is in its epoch."""
        return self.follows(replica, leader)

    # --- rules -----------------------------------------------------------------------------

    def both_have(self, one: int, other: int, hw: int) -> bool:
        """Whether two logs are the same below an offset, and reach it."""
        return all(
            offset >= hw or (
                offset < min(self.end[one], self.end[other])
                and self.log[one * self.L + offset] == self.log[other * self.L + offset])
            for offset in range(self.L))

    @always("KAFKA-R1", MUST, "Whoever a leader waits for has what the leader takes for committed.",
            source="kafka#replication (WeakIsr)", leader=Replica, replica=Replica)
    def the_leaders_isr_has_all(self, leader: int, replica: int) -> bool:
        """By the leader's own word of who is in sync."""
        return (not self.presumes(leader) or leader * self.N + replica not in self.isr
                or self.both_have(leader, replica, self.hw[leader]))

    @always("KAFKA-R2", MUST, "Whoever may be elected has all that any leader takes for committed: "
            "no committed record is lost.",
            source="kafka#replication (StrongIsr)", leader=Replica, replica=Replica)
    def the_isr_has_all(self, leader: int, replica: int) -> bool:
        """By the quorum's word of who is in sync."""
        return (not self.presumes(leader) or not self.in_sync[replica]
                or self.both_have(leader, replica, self.hw[leader]))

    @always("KAFKA-R3", MUST, "The quorum's leader, if there is one, is in the ISR.",
            source="kafka#replication (LeaderInIsr, as it is meant)")
    def the_leader_is_in_sync(self) -> bool:
        """At first, and after a leader has failed, there is none."""
        return self.leading == self.N or self.in_sync[min(self.leading, self.N - 1)]

    @always("KAFKA-R4", MUST, "A high watermark is not beyond the end of its log.",
            source="kafka#replication (HwWithinLog)", replica=Replica)
    def hw_is_in_the_log(self, replica: int) -> bool:
        """What is committed is there."""
        return self.hw[replica] <= self.end[replica]

    @always("KAFKA-R5", MUST, "Two logs do not differ below both high watermarks.",
            source="kafka#replication (CommittedLogMatching)", one=Replica, other=Replica)
    def committed_logs_match(self, one: int, other: int) -> bool:
        """So consumers read the same from both."""
        return all(
            offset >= min(self.hw[one], self.hw[other])
            or self.log[one * self.L + offset] == self.log[other * self.L + offset]
            for offset in range(self.L))


class AsPublished(Replication):
    """With a rule as the published specification has it."""

    @always("KAFKA-R3W", CLAIM, "The quorum's leader is in the ISR.",
            source="kafka#replication (LeaderInIsr, as written)")
    def the_leader_is_in_sync(self) -> bool:
        """There need not be a leader: there is none in the first state."""
        return self.leading < self.N and self.in_sync[min(self.leading, self.N - 1)]


class LastOneOut(Replication):
    """As the module was published last: where nobody leads, even the last member leaves the ISR.
    Nothing is lost by it, for nobody can be elected any more."""

    def may_be_taken_out(self) -> bool:
        """Nobody asks whether others remain."""
        return True


class JoiningEarly(Replication):
    """A leader lets replicas join whatever its epoch's beginning (KAFKA-7128)."""

    def may_expand(self, leader: int) -> bool:
        """Whoever has caught up with the high watermark."""
        return True


class CountingTheOthers(Replication):
    """A leader counts those who follow it, and forgets that it is in sync itself."""

    def waits_for(self, replica: int, leader: int) -> bool:
        """Alone in the ISR, it waits for nobody."""
        return replica != leader and super().waits_for(replica, leader)


class LeavingAsLeader(Replication):
    """Who fails leaves the ISR, and the quorum goes on naming it as the leader."""

    @action(replica=Replication.Replica)
    def take_out(self, replica: int) -> None:
        """Nobody asks whether it leads."""
        require(self.in_sync[replica] and self.may_be_taken_out())
        self.in_sync[replica] = False
        self.tell()


class ElectingAnyone(Replication):
    """An unclean election wherever nobody forbids it: whoever is up may lead, and is alone in the
    ISR then. It loses what it lacks, while who led before may go on, and commit."""

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
    """Whoever the request names says where to cut, in whatever epoch it is itself."""

    def may_ask(self, leader: int, request: int) -> bool:
        """It answers, even if it does not lead yet, or leads in another epoch."""
        return True


class FirstTry(Replication):
    """KIP-320 as it was first tried: nobody cuts when it becomes a follower, but when a fetch shows
    that the epochs of records do not match; and epochs are compared of records, not of replicas."""

    def may_ask(self, leader: int, request: int) -> bool:
        """There is nothing to ask."""
        return True

    def cut_at(self, replica: int, leader: int) -> int:
        """Its whole log stays, as yet."""
        return self.end[replica]

    @action(replica=Replication.Replica)
    def mend(self, replica: int) -> None:
        """The leader answers a fetch by saying that the logs do not match."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica and self.presumes(leader))
        require(self.does_not_match(replica, leader))
        self.cut(replica, super().cut_at(replica, leader))

    def does_not_match(self, replica: int, leader: int) -> bool:
        """Its log is longer, or the record at its end is of another epoch there."""
        end = self.end[replica]
        return end > self.end[leader] or (end > 0 and not self.same_epoch(replica, leader, end))

    def same_epoch(self, one: int, other: int, offset: int) -> bool:
        """Whether two logs have records of one epoch just below an offset."""
        at = max(offset, 1) - 1
        return self.log[one * self.L + at].epoch == self.log[other * self.L + at].epoch

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """Whether it has a record of the same epoch just below the offset."""
        return self.presumes(leader) and self.leader[replica] == leader and (
            offset == 0 or (offset <= min(self.end[leader], self.end[replica])
                            and self.same_epoch(replica, leader, offset)))

    def may_fetch(self, replica: int, leader: int) -> bool:
        """Whether its log ends with a record of the same epoch as the leader's there."""
        return self.has_caught_up(replica, leader, self.end[replica])


class Unfenced(Replication):
    """Before KIP-320 no epoch is compared but that of requests."""

    def may_ask(self, leader: int, request: int) -> bool:
        """Whoever the request names answers, leader or not."""
        return True

    def follows(self, replica: int, leader: int) -> bool:
        """Whether it takes this one for its leader."""
        return self.leader[replica] == leader

    def may_fetch(self, replica: int, leader: int) -> bool:
        """Whoever takes itself for the leader answers."""
        return self.presumes(leader)

    def may_expand(self, leader: int) -> bool:
        """Whatever the high watermark is."""
        return True


class CutAtLastMatch(Unfenced):
    """KIP-279: behind the last record that both have."""


class CutByEpoch(Unfenced):
    """KIP-101: where the leader's records are of a larger epoch than the follower's last."""

    def cut_at(self, replica: int, leader: int) -> int:
        """At the leader's end, if its last record is of that epoch; at the own high watermark,
        where it knows of none larger."""
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
        """Whether the leader has a record of a larger epoch there."""
        return (offset < self.end[leader]
                and self.log[leader * self.L + offset].epoch > epoch)


class CutToHighWatermark(Unfenced):
    """0.10 and before: to the own high watermark."""

    def cut_at(self, replica: int, leader: int) -> int:
        """What is above it may not be committed. It may be."""
        return self.hw[replica]


NO_LOSS, WAITED_FOR = "KAFKA-R2", "KAFKA-R1"

def as_tlc(
    machine: type[Replication], rule: str, verdict: str, about: str, *, E: Values,
    where: str = "",
) -> Expectation:
    """With two records, and without renaming, as TLC counted states: so they can be compared."""
    return expect(machine, rule, verdict, about, where=where, renaming=False, L=2, M=2, E=E)


EXPECTATIONS = (
    as_tlc(Replication, WAITED_FOR, "holds", "the leader's ISR has all", E=(2, 3)),
    as_tlc(Replication, NO_LOSS, "holds", "no committed record is lost", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R3", "holds", "the leader is in sync", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R4", "holds", "hw is within the log", E=(2, 3)),
    as_tlc(Replication, "KAFKA-R5", "holds", "committed logs match", E=(2, 3)),
    *(expect(machine, f"KAFKA-R{number}", "holds",
             f"KIP-320 keeps rule R{number} with three records and three epochs",
             L=3, M=3, E=3) for machine in (Replication, LastOneOut) for number in range(1, 6)),
    as_tlc(AsPublished, "KAFKA-R3W", "violated", "at first nobody leads", E=2),
    as_tlc(JoiningEarly, NO_LOSS, "violated",
           "who joins before the leader's epoch has begun may lack what is committed (KAFKA-7128)",
           E=2),
    as_tlc(LeavingAsLeader, "KAFKA-R3", "violated", "a leader that fails leaves the ISR, and is "
           "still named", E=2),
    as_tlc(CountingTheOthers, "KAFKA-R4", "violated", "a leader that does not count itself takes "
           "for committed what is nowhere", E=2),
    as_tlc(ElectingAnyone, "KAFKA-R5", "violated", "who was elected uncleanly commits another "
           "record at the offset of one that was committed", E=2),
    as_tlc(CuttingUnfenced, NO_LOSS, "violated", where="E > 2", about="a stale leader says where "
           "to cut, and cuts its own log later: it takes three epochs", E=(2, 3)),
    as_tlc(FirstTry, WAITED_FOR, "violated", where="E > 2", about="a follower of an older epoch "
           "is waited for, and cuts what is committed", E=(2, 3)),
    as_tlc(FirstTry, NO_LOSS, "violated", where="E > 2", about="a follower of an older "
           "epoch is waited for, cuts what is committed, and may be elected", E=(2, 3)),
    as_tlc(CutAtLastMatch, WAITED_FOR, "violated", where="E > 2", about="a leader that has been "
           "replaced is asked where to cut (KIP-279)", E=(2, 3)),
    as_tlc(CutAtLastMatch, NO_LOSS, "violated", "a stale follower counts for the high watermark "
           "(KIP-279)", E=2),
    as_tlc(CutByEpoch, WAITED_FOR, "violated", where="E > 2", about="a leader that has been "
           "replaced is asked where to cut (KIP-101)", E=(2, 3)),
    as_tlc(CutByEpoch, NO_LOSS, "violated", "a stale follower counts for the high watermark "
           "(KIP-101)", E=2),
    as_tlc(CutToHighWatermark, "KAFKA-R3", "holds", "the leader is in sync", E=2),
    as_tlc(CutToHighWatermark, WAITED_FOR, "violated", "a follower cuts what is committed, since "
           "its high watermark lags", E=2),
    as_tlc(CutToHighWatermark, NO_LOSS, "violated", "it may be elected next: the record is lost",
           E=2),
)

UNSEEN = {
    "KAFKA-R3W":
        "The first state of every partition breaks it, so no implementation is to keep it.",
}
