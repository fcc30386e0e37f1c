"""Claims of the text about the replacement of leaders: three sentences that are false, one by
design.

Theory of operation
-------------------
The text's account of a failing leader is that of ``replication``, and is wrong in three places.

*A new leader's end of log becomes the high watermark.* It does not. A new leader has the high
watermark that it had as a follower, and raises it when all in-sync replicas have fetched its log.
The high watermark *will* reach its end of log if it stays leader. ``LeadingWithAll`` does what the
sentence says: then a leader considers records committed that it alone has.

*A leader whose compare-and-set fails realises that it leads no more.* Both parts are false. It
continues to lead, and answers producers with acks=1, until it gets a controller's request
(KAFKA-2729); and the failure does not mean that it was replaced. The controller may have changed
the ISR itself, with the same leader, or the leader's own write succeeded and the reply was lost
(KAFKA-1382). So a leader that steps down then (``SteppingDown``) abandons a partition that it
should lead.

*A replaced leader commits nothing, unless it shrinks its ISR first.* It may: as long as its
followers do not know the new leader they fetch from the old one, and what all of them have is
committed. That is harmless, since the new leader is one of them. KAFKA-R2 holds: every replica that
may be elected has all records that any leader considers committed; and for producers with acks=all
KAFKA-F2 holds.

A leader learns the ends of its followers' logs from their fetches: each names the offset at which
it starts. ``KnowingByFetches`` models that, where ``replication`` reads the logs of others. The
knowledge belongs to one epoch: a follower cuts nothing while it follows in that epoch. A replica
that leads again must start without knowledge, otherwise it counts records that have been cut
meanwhile (``KeepingKnowledge``).

Source: 001#leader-failover; kafka#replication; KAFKA-1382, KAFKA-2729.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, action, always, array, boolean, integer, pairs, require, step, upto,
)
from .replication import Replication

__all__ = [
    "EXPECTATIONS", "KeepingKnowledge", "KnowingByFetches", "LeadersReplaced", "LeadingWithAll",
    "SteppingDown",
]

FAILOVER = "001#leader-failover"


class LeadersReplaced(Replication):
    """Replication, in which a replaced leader also tries to change the ISR."""

    refused = array(Replication.Replica, boolean())     # its last write to the quorum failed
    late = array(upto(Replication.M), boolean())        # a record was appended by a replaced leader

    @action(leader=Replication.Replica)
    def fail_to_shrink(self, leader: int) -> None:
        """The compare-and-set of an older version fails."""
        require(self.presumes(leader) and self.epoch[leader] < self.epochs)
        self.refused[leader] = True
        self.when_refused(leader)

    def when_refused(self, leader: int) -> None:
        """It continues to lead until a request comes."""

    def obey(self, replica: int, request: int) -> None:
        """A controller's request ends the uncertainty."""
        super().obey(replica, request)
        self.refused[replica] = False

    @action(leader=Replication.Replica)
    def write(self, leader: int) -> None:
        """A replaced leader's append is marked as late."""
        require(self.presumes(leader))
        require(self.written < self.M and self.end[leader] < self.L)
        self.late[self.written] = self.leading != leader
        super().write(leader)

    # --- what the text says --------------------------------------------------------------------

    @step("KAFKA-RE1", CLAIM, "When a replica becomes leader, its high watermark is the end of its "
          "log.",
          source=f"{FAILOVER} ('the new leader's LEO becomes the new HW')",
          replica=Replication.Replica)
    def a_leader_begins_with_all(self, after: LeadersReplaced, replica: int) -> bool:
        """Checked in the step in which the replica becomes leader."""
        return (after.epoch[replica] == self.epoch[replica] or not after.presumes(replica)
                or after.hw[replica] == after.end[replica])

    @always("KAFKA-RE2", CLAIM,
            "Between a refused write of its ISR and the controller's next request, a replica "
            "does not consider itself the leader.",
            source=f"{FAILOVER} ('A then realises'); KAFKA-2729",
            replica=Replication.Replica)
    def who_is_refused_knows(self, replica: int) -> bool:
        """Checked from the moment when the write failed."""
        return not (self.refused[replica] and self.presumes(replica))

    @always("KAFKA-RE3", CLAIM,
            "Between a refused write of its ISR and the controller's next request, a replica is "
            "not the leader that the coordination service names.",
            source=f"{FAILOVER} ('A then realises'); KAFKA-1382", replica=Replication.Replica)
    def who_is_refused_is_replaced(self, replica: int) -> bool:
        """According to the quorum."""
        return not (self.refused[replica] and self.leading == replica)

    @always("KAFKA-RE4", CLAIM,
            "As long as a replaced leader still considers itself the leader, its high watermark "
            "passes no record that was appended by a leader after its replacement.",
            source=f"{FAILOVER} ('only after it has shrunk its ISR')",
            replica=Replication.Replica)
    def who_is_replaced_commits_nothing(self, replica: int) -> bool:
        """Checked also before its followers know the new leader."""
        return not self.presumes(replica) or self.leading == replica or not any(
            offset < self.hw[replica]
            and self.late[max(self.log[replica * self.L + offset].number, 1) - 1]
            for offset in range(self.L))


class LeadingWithAll(LeadersReplaced):
    """The text: a new leader considers its whole log committed."""

    @action(request=upto(Replication.E))
    def become_leader(self, request: int) -> None:
        """Its high watermark is the end of its log."""
        super().become_leader(request)
        replica = min(self.told_leader[request], self.N - 1)
        self.hw[replica] = self.end[replica]


class SteppingDown(LeadersReplaced):
    """The text: a leader no longer considers itself the leader after its write is refused."""

    def when_refused(self, leader: int) -> None:
        """It has no leader until a request names one."""
        self.leader[leader] = self.N


class KnowingByFetches(Replication):
    """A leader knows of another log what its last fetch said."""

    knows = array(pairs(Replication.Replica, Replication.Replica), integer(0, Replication.L))

    def obey(self, replica: int, request: int) -> None:
        """In a new epoch a leader knows nothing of the others."""
        super().obey(replica, request)
        self.begin_to_know(replica)

    def begin_to_know(self, replica: int) -> None:
        """The followers will fetch, and name their offsets."""
        for other in range(self.N):
            self.knows[replica * self.N + other] = 0

    @action(replica=Replication.Replica)
    def ask(self, replica: int) -> None:
        """A follower fetches from the end of its log, and gets no record."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica and self.may_fetch(replica, leader))
        require(self.knows[min(leader, self.N - 1) * self.N + replica] != self.end[replica])
        self.knows[min(leader, self.N - 1) * self.N + replica] = self.end[replica]

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """A leader knows its own log, and of another log what fetches said."""
        if replica == leader:
            return offset <= self.end[leader]
        return self.presumes(leader) and offset <= min(
            self.end[leader], self.knows[leader * self.N + replica])

    @always("KAFKA-R14", MUST,
            "While a replica follows a leader in the leader's epoch, its log ends at or beyond "
            "the offset of its last fetch that the leader remembers.",
            source="001#leader-failover (each follower's LEO); "
            "kafka#replication", leader=Replication.Replica, replica=Replication.Replica)
    def what_is_known_is_there(self, leader: int, replica: int) -> bool:
        """A follower cuts nothing within an epoch."""
        return (replica == leader or not self.follows(replica, leader)
                or self.knows[leader * self.N + replica] <= self.end[replica])


class KeepingKnowledge(KnowingByFetches):
    """A replica that leads again keeps its old knowledge."""

    def begin_to_know(self, replica: int) -> None:
        """Followers may have cut their logs since."""


CLAIMS = ("KAFKA-RE1", "KAFKA-RE2", "KAFKA-RE3", "KAFKA-RE4")

EXPECTATIONS = (
    *(expect(LeadersReplaced, rule, "violated", about, where=where, N=(2, 3), L=1, M=1, E=(1, 2))
      for rule, where, about in (
          ("KAFKA-RE1", "E > 1", "a new leader does not know yet which replicas have its records"),
          ("KAFKA-RE2", "E > 1", "it continues until a request comes (KAFKA-2729)"),
          ("KAFKA-RE3", "E > 1",
           "the controller removed another replica from the ISR, not the leader"),
          ("KAFKA-RE4", "E > 1", "its followers do not know the new leader either"),
      )),
    *(expect(LeadersReplaced, rule, "holds", "a failed attempt to change the ISR is harmless",
             L=1, M=1, E=2) for rule in ("KAFKA-R1", "KAFKA-R2")),
    expect(LeadingWithAll, "KAFKA-RE1", "holds", "the variant implements the "
           "sentence", L=1, M=1, E=2),
    expect(LeadingWithAll, "KAFKA-R1", "violated", "records that it alone has count as committed",
           L=1, M=1, E=2),
    expect(LeadingWithAll, "KAFKA-R2", "violated", "the next leader may lack a committed record",
           L=1, M=1, E=2),
    expect(SteppingDown, "KAFKA-RE2", "holds", "the variant implements the "
           "sentence", L=1, M=1, E=2),
    expect(SteppingDown, "KAFKA-RE3", "violated", "it steps down although it is the "
           "leader", L=1, M=1,
           E=2),
    *(expect(KnowingByFetches, rule, "holds", "fetches carry enough information", L=1, M=2, E=3)
      for rule in ("KAFKA-R1", "KAFKA-R2", "KAFKA-R14")),
    expect(KeepingKnowledge, "KAFKA-R14", "violated", where="N > 2 and E > 2",
           about="the follower has cut what was known, while a third replica led in between",
           N=(2, 3), L=1, M=2, E=(2, 3)),
    expect(KeepingKnowledge, "KAFKA-R1", "violated", "a record that was cut counts as replicated",
           L=1, M=2, E=3),
)

UNSEEN = {
    "KAFKA-RE1":
        "The text claims it of a new leader; an implementation that satisfies it commits records "
        "that may be lost, so none has to satisfy it.",
    "KAFKA-RE2":
        "The text claims it of a leader with a failed write; that leader continues until a request "
        "comes, so no implementation has to satisfy it.",
    "KAFKA-RE3":
        "The text needs it to be right, and the quorum makes it false, so no implementation has to "
        "satisfy it.",
    "KAFKA-RE4":
        "The text concludes it; a replaced leader may not know of its replacement, and does no "
        "harm, so no implementation has to satisfy it.",
    "KAFKA-R14":
        "A leader does not report what it knows of its followers; what it commits by that is "
        "visible (KAFKA-F4).",
}
