"""What the text says of leaders that come and go: three sentences that are false, one by design.

Theory of operation
-------------------
The text's account of a failing leader is that of ``replication``, and goes astray in three places.

*A new leader's end of log becomes the high watermark.* It does not. A replica that begins to lead
has the high watermark that it had as a follower, and raises it when all that it waits for have
fetched what it has. Its end of log is where the high watermark *will* be, if it goes on leading.
``LeadingWithAll`` does what the sentence says: then it takes for committed what it alone has.

*A leader whose compare-and-set fails realises that it leads no more.* Neither is so. It goes on
leading, and answers producers with acks=1, until a controller's request tells it (KAFKA-2729); and
the failure does not say that it was replaced. The controller may have changed the ISR itself, with
the same leader, or the leader's own write was done and the reply lost (KAFKA-1382). So who steps
down then (``SteppingDown``) leaves a partition that it is to lead.

*A replaced leader commits nothing, unless it shrinks its ISR first.* It may: as long as its
followers have not heard of the new one they fetch from it, and what all of them have is committed.
That does no harm, since the new leader is one of them. What holds is KAFKA-R2: whoever may be
elected has all that any leader takes for committed; and for producers KAFKA-F2, which speaks of
those alone that wait for all acknowledgements.

A leader learns of its followers' logs by their fetches: each says from where it asks, and so what
is there. ``KnowingByFetches`` has that, where ``replication`` reads the logs of others. What is
known is of an epoch: a follower cuts nothing while it follows in one. Who leads again knows nothing
yet, else it counts what has been cut meanwhile (``KeepingKnowledge``).

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
    """Replication, in which a leader that was replaced also tries to change the ISR."""

    refused = array(Replication.Replica, boolean())     # its last write to the quorum failed
    late = array(upto(Replication.M), boolean())        # a record was appended by who was replaced

    @action(leader=Replication.Replica)
    def fail_to_shrink(self, leader: int) -> None:
        """The compare-and-set of an older version fails."""
        require(self.presumes(leader) and self.epoch[leader] < self.epochs)
        self.refused[leader] = True
        self.when_refused(leader)

    def when_refused(self, leader: int) -> None:
        """It goes on; it will be told."""

    def obey(self, replica: int, request: int) -> None:
        """It has been told."""
        super().obey(replica, request)
        self.refused[replica] = False

    @action(leader=Replication.Replica)
    def write(self, leader: int) -> None:
        """It is remembered whether the leader had been replaced when it appended a record."""
        require(self.presumes(leader))
        require(self.written < self.M and self.end[leader] < self.L)
        self.late[self.written] = self.leading != leader
        super().write(leader)

    # --- what the text says --------------------------------------------------------------------

    @step("KAFKA-RE1", CLAIM, "The high watermark of a new leader is the end of its log.",
          source=f"{FAILOVER} ('the new leader's LEO becomes the new HW')",
          replica=Replication.Replica)
    def a_leader_begins_with_all(self, after: LeadersReplaced, replica: int) -> bool:
        """Where it begins to lead."""
        return (after.epoch[replica] == self.epoch[replica] or not after.presumes(replica)
                or after.hw[replica] == after.end[replica])

    @always("KAFKA-RE2", CLAIM, "A leader whose change of the ISR is refused takes itself for the "
            "leader no more.", source=f"{FAILOVER} ('A then realises'); KAFKA-2729",
            replica=Replication.Replica)
    def who_is_refused_knows(self, replica: int) -> bool:
        """As soon as its write has failed."""
        return not (self.refused[replica] and self.presumes(replica))

    @always("KAFKA-RE3", CLAIM, "A leader whose change of the ISR is refused leads no more.",
            source=f"{FAILOVER} ('A then realises'); KAFKA-1382", replica=Replication.Replica)
    def who_is_refused_is_replaced(self, replica: int) -> bool:
        """By the quorum's word."""
        return not (self.refused[replica] and self.leading == replica)

    @always("KAFKA-RE4", CLAIM, "A leader that was replaced commits nothing that it has appended "
            "since.", source=f"{FAILOVER} ('only after it has shrunk its ISR')",
            replica=Replication.Replica)
    def who_is_replaced_commits_nothing(self, replica: int) -> bool:
        """Also before its followers have heard of the new one."""
        return not self.presumes(replica) or self.leading == replica or not any(
            offset < self.hw[replica]
            and self.late[max(self.log[replica * self.L + offset].number, 1) - 1]
            for offset in range(self.L))


class LeadingWithAll(LeadersReplaced):
    """The text: a new leader takes all that it has for committed."""

    @action(request=upto(Replication.E))
    def become_leader(self, request: int) -> None:
        """Its high watermark is the end of its log."""
        super().become_leader(request)
        replica = min(self.told_leader[request], self.N - 1)
        self.hw[replica] = self.end[replica]


class SteppingDown(LeadersReplaced):
    """The text: a leader whose write is refused leads no more, as far as it knows."""

    def when_refused(self, leader: int) -> None:
        """It takes nobody for the leader, until it is told."""
        self.leader[leader] = self.N


class KnowingByFetches(Replication):
    """A leader knows of another log what the last fetch from there has said."""

    knows = array(pairs(Replication.Replica, Replication.Replica), integer(0, Replication.L))

    def obey(self, replica: int, request: int) -> None:
        """In a new epoch nothing is known of anybody."""
        super().obey(replica, request)
        self.begin_to_know(replica)

    def begin_to_know(self, replica: int) -> None:
        """Whoever follows will ask, and say from where."""
        for other in range(self.N):
            self.knows[replica * self.N + other] = 0

    @action(replica=Replication.Replica)
    def ask(self, replica: int) -> None:
        """A follower fetches from the end of its log, and there is nothing yet."""
        leader = self.leader[replica]
        require(leader < self.N and leader != replica and self.may_fetch(replica, leader))
        require(self.knows[min(leader, self.N - 1) * self.N + replica] != self.end[replica])
        self.knows[min(leader, self.N - 1) * self.N + replica] = self.end[replica]

    def has_caught_up(self, replica: int, leader: int, offset: int) -> bool:
        """Of itself it knows all; of another one what it has heard."""
        if replica == leader:
            return offset <= self.end[leader]
        return self.presumes(leader) and offset <= min(
            self.end[leader], self.knows[leader * self.N + replica])

    @always("KAFKA-R14", MUST, "What a leader knows of a follower's log is there, as long as that "
            "one follows it.", source="001#leader-failover (each follower's LEO); "
            "kafka#replication", leader=Replication.Replica, replica=Replication.Replica)
    def what_is_known_is_there(self, leader: int, replica: int) -> bool:
        """In its epoch a follower cuts nothing."""
        return (replica == leader or not self.follows(replica, leader)
                or self.knows[leader * self.N + replica] <= self.end[replica])


class KeepingKnowledge(KnowingByFetches):
    """Who leads again goes by what it has known before."""

    def begin_to_know(self, replica: int) -> None:
        """Others may have cut since."""


CLAIMS = ("KAFKA-RE1", "KAFKA-RE2", "KAFKA-RE3", "KAFKA-RE4")

EXPECTATIONS = (
    *(expect(LeadersReplaced, rule, "violated", about, where=where, N=(2, 3), L=1, M=1, E=(1, 2))
      for rule, where, about in (
          ("KAFKA-RE1", "E > 1", "a new leader does not know yet who has what it has"),
          ("KAFKA-RE2", "E > 1", "it goes on until it is told (KAFKA-2729)"),
          ("KAFKA-RE3", "E > 1",
           "the controller has taken another one out of the ISR, and not the leader"),
          ("KAFKA-RE4", "E > 1", "its followers have not heard of the new one either"),
      )),
    *(expect(LeadersReplaced, rule, "holds", "whoever tries to change the ISR in vain does no harm",
             L=1, M=1, E=2) for rule in ("KAFKA-R1", "KAFKA-R2")),
    expect(LeadingWithAll, "KAFKA-RE1", "holds", "as the text has it", L=1, M=1, E=2),
    expect(LeadingWithAll, "KAFKA-R1", "violated", "what it alone has counts as committed",
           L=1, M=1, E=2),
    expect(LeadingWithAll, "KAFKA-R2", "violated", "whoever is elected next may lack it",
           L=1, M=1, E=2),
    expect(SteppingDown, "KAFKA-RE2", "holds", "as the text has it", L=1, M=1, E=2),
    expect(SteppingDown, "KAFKA-RE3", "violated", "it steps down, and is the leader", L=1, M=1,
           E=2),
    *(expect(KnowingByFetches, rule, "holds", "fetches tell enough", L=1, M=2, E=3)
      for rule in ("KAFKA-R1", "KAFKA-R2", "KAFKA-R14")),
    expect(KeepingKnowledge, "KAFKA-R14", "violated", where="N > 2 and E > 2",
           about="the follower has cut what was known: it takes a third one, which led in between",
           N=(2, 3), L=1, M=2, E=(2, 3)),
    expect(KeepingKnowledge, "KAFKA-R1", "violated", "what was cut counts as copied",
           L=1, M=2, E=3),
)

UNSEEN = {
    "KAFKA-RE1":
        "It is what the text says of a new leader, and who keeps it commits what may be lost, "
        "so no implementation is to keep it.",
    "KAFKA-RE2":
        "It is what the text says of a leader whose write fails; that goes on until it is told, "
        "so no implementation is to keep it.",
    "KAFKA-RE3":
        "It is what would have to be so for the text to be right, and the quorum makes it false, "
        "so no implementation is to keep it.",
    "KAFKA-RE4":
        "It is what the text concludes; who was replaced need not know it, and does no harm, "
        "so no implementation is to keep it.",
    "KAFKA-R14":
        "What a leader takes its followers to have it keeps to itself; what it commits by that is "
        "seen (KAFKA-F4).",
}
