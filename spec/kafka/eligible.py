"""Eligible leader replicas: who may lead where fewer are in sync than min.insync.replicas.

Theory of operation
-------------------
A replica that is stopped without warning may lose the tail of its log: what the operating system
had and the disk had not. Replication survives that, since the replica is out of the ISR by then and
comes back as a follower. But the *last* one in the ISR stays in it, whatever becomes of it, so that
there is somebody to be elected. If that one loses its tail it leads all the same when it is back,
the others cut their logs to its own, and what was committed is gone from all of them.

KIP-966 mends this in two parts, and each needs the other:

    strict min ISR      the high watermark does not rise while fewer than m are in sync
                        (KAFKA-15583). So whoever was in sync when the ISR fell below m still has
                        all that is committed
    eligible replicas   these are remembered (ELR), and elected if nobody in sync is up. Who comes
                        back from an unclean stop is struck from both, and the ISR may be empty

What is committed is then on m replicas at least, and m - 1 unclean stops cost nothing. If all of
them were unclean, nobody is eligible. One may then wait for an operator, for ever, or elect the
last leader and lose what it lost. Kafka does the latter. With X unclean and D clean stops in all,
of B replicas

    committed records are lost      exactly where X >= m and D + X >= B    (``Eligible``, KAFKA-R21)
    nobody ever leads               exactly there                 (``WaitingForSafety``, KAFKA-R22)

and there is no third way. Without ELR a single one is enough, with or without the strict rule; and
with ELR, but without the strict rule, it takes no unclean stop at all.

A leader that was elected uncleanly is marked as RECOVERING in Kafka, and takes nobody into the ISR
before it has said that it is done; it has nothing to do, so that this changes no verdict here.

Logs are told by how long they are. A follower that fetches has what its leader has from then on,
and is not waited for, nor joins, before it has fetched from this leader.

Seen from outside, what an unclean stop has cost is missing when the broker is back. Who is in sync
then has cut what was committed, and who is elected without it joins the ISR without it; both are
refused, and so is a partition without a leader when all is over.

Source: kafka#eligible; KAFKA-15583.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, array, boolean, const, integer, leads_to, member, require,
    upto,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_failover import ObservedPartition, ObservedPlace

__all__ = [
    "EXPECTATIONS", "Eligible", "EligibleSeen", "LastStanding", "LedSeen", "StrictAlone",
    "WaitingForSafety", "WithoutStrict",
]

ELIGIBLE = "kafka#eligible"


class Eligible(Machine):
    """A partition with KIP-966, as of Kafka 4.1."""

    B = const(2, at_least=1)            # replicas
    m = const(2, at_least=1)            # min.insync.replicas
    M = const(1, at_least=1)            # records that a log can hold
    D = const(1)                        # clean stops, in all
    X = const(1)                        # unclean stops, in all
    Replica = alike(B)

    end = array(Replica, integer(0, M))             # the length of each log
    up = array(Replica, boolean(True))
    unclean = array(Replica, boolean())             # it was stopped without warning, and is gone
    fetched = array(Replica, boolean())             # from this leader
    in_sync = array(Replica, boolean(True))         # the ISR
    eligible = array(Replica, boolean())            # the ELR
    leader = member(Replica)                        # B: nobody
    last = member(Replica)                          # who has led last
    hw = integer(0, M)                              # what is committed
    stops = integer(0, D)
    unclean_stops = integer(0, X)

    # --- records -----------------------------------------------------------------------------

    @action(replica=Replica)
    def write(self, replica: int) -> None:
        """A producer's record is appended to the leader's log."""
        require(self.leader == replica and self.end[replica] < self.M)
        self.end[replica] += 1

    @action(fair=True, leader=Replica, replica=Replica)
    def fetch(self, leader: int, replica: int) -> None:
        """A follower makes its log as the leader's."""
        require(self.leader == leader and replica != leader and self.up[replica])
        require(not self.fetched[replica] or self.end[replica] != self.end[leader])
        self.end[replica] = self.end[leader]
        self.fetched[replica] = True

    @action(fair=True)
    def raise_hw(self) -> None:
        """What all in sync have is committed, if they are enough."""
        require(self.leader < self.B and self.hw < self.reached() and self.may_raise())
        self.hw = self.reached()

    def reached(self) -> int:
        """What all have that are in sync, as far as this leader knows."""
        return min(
            (self.end[each] if self.fetched[each] else 0) if self.in_sync[each] else self.M
            for each in range(self.B))

    def may_raise(self) -> bool:
        """The strict rule: not while fewer than m are in sync."""
        return self.are_enough()

    def are_enough(self) -> bool:
        """Whether as many are in sync as are asked for."""
        return sum(self.in_sync) >= self.m

    # --- faults ------------------------------------------------------------------------------

    @action(replica=Replica)
    def stop(self, replica: int) -> None:
        """A broker stops, with all of its log on disk."""
        require(self.up[replica] and self.stops < self.D)
        self.stops += 1
        self.go_down(replica)

    @action(replica=Replica, left=upto(M + 1))
    def crash(self, replica: int, left: int) -> None:
        """A broker is stopped without warning; so much of its log is left."""
        require(self.up[replica] and self.unclean_stops < self.X and left <= self.end[replica])
        self.unclean_stops += 1
        self.unclean[replica] = True
        self.end[replica] = left
        self.go_down(replica)

    def go_down(self, replica: int) -> None:
        """It leads no more."""
        self.up[replica] = False
        self.fetched[replica] = False
        if self.leader == replica:
            self.leader = self.B

    @action(fair=True, replica=Replica)
    def come_back(self, replica: int) -> None:
        """It registers; whether its stop was clean, its broker epoch tells. The controller has
        noticed by then that it was gone."""
        require(not self.up[replica] and not self.in_sync[replica])
        self.up[replica] = True
        if self.unclean[replica]:
            self.unclean[replica] = False
            self.strike(replica)

    def strike(self, replica: int) -> None:
        """Who may lack something is not eligible."""
        self.eligible[replica] = False

    # --- the controller ----------------------------------------------------------------------

    @action(fair=True, replica=Replica)
    def take_out(self, replica: int) -> None:
        """Who is gone leaves the ISR; if fewer than m stay, it is remembered."""
        require(self.in_sync[replica] and not self.up[replica] and self.may_leave())
        self.in_sync[replica] = False
        self.eligible[replica] = not self.are_enough()

    def may_leave(self) -> bool:
        """Also the last one."""
        return True

    @action(fair=True, leader=Replica, replica=Replica)
    def join(self, leader: int, replica: int) -> None:
        """A follower that has caught up is in sync; if they are enough, nobody else is eligible."""
        require(self.leader == leader and self.up[replica] and not self.in_sync[replica])
        require(self.fetched[replica] and self.end[replica] == self.end[leader])
        self.in_sync[replica] = True
        self.eligible[replica] = False
        if self.are_enough():
            for each in range(self.B):
                self.eligible[each] = False

    @action(fair=True, replica=Replica)
    def elect(self, replica: int) -> None:
        """Somebody in sync leads, or if none of these is there, somebody eligible; else who has led
        last, if nobody is left at all."""
        require(self.leader == self.B and self.up[replica])
        require(self.in_sync[replica] or not any(self.in_sync))
        require(self.in_sync[replica] or self.eligible[replica] or (
            not any(self.eligible) and self.may_lead_at_last(replica)))
        if not self.in_sync[replica]:
            self.in_sync[replica] = True
            self.eligible[replica] = False
        self.leader = replica
        self.last = replica
        for each in range(self.B):
            self.fetched[each] = each == replica

    def may_lead_at_last(self, replica: int) -> bool:
        """Whether it is the last known leader, or none has led yet."""
        return self.last == replica or self.last == self.B

    # --- rules -------------------------------------------------------------------------------

    @always("KAFKA-R21", MUST, "Whoever leads has all that was committed, also after m - 1 unclean "
            "stops.", source=ELIGIBLE, replica=Replica)
    def nothing_is_lost(self, replica: int) -> bool:
        """Else the others cut it from their logs."""
        return self.leader != replica or self.end[replica] >= self.hw

    @leads_to("KAFKA-R22", MUST, "A partition that nobody leads is led again, also after m - 1 "
              "unclean stops.", source=ELIGIBLE)
    def somebody_leads(self) -> tuple[bool, bool]:
        """When those who were stopped are back."""
        return self.leader == self.B, self.leader < self.B


class WaitingForSafety(Eligible):
    """If nobody is eligible, nobody leads."""

    def may_lead_at_last(self, replica: int) -> bool:
        """An operator has to say so."""
        return False


class StrictAlone(Eligible):
    """The strict rule without ELR (3.7): the last one in sync stays in it."""

    def may_leave(self) -> bool:
        """Not the last one."""
        return sum(self.in_sync) > 1

    @action(fair=True, replica=Eligible.Replica)
    def come_back(self, replica: int) -> None:
        """The last one is in sync all the same."""
        require(not self.up[replica])
        require(not self.in_sync[replica] or sum(self.in_sync) == 1)
        self.up[replica] = True
        self.unclean[replica] = False
        self.strike(replica)


class LastStanding(StrictAlone):
    """As before 3.7: the high watermark goes by whoever is in sync, however few."""

    def may_raise(self) -> bool:
        """By whoever is in sync, of whatever number."""
        return True


class WithoutStrict(Eligible):
    """ELR, while the high watermark goes by whoever is in sync."""

    def may_raise(self) -> bool:
        """What rises below m is missing on those that were remembered."""
        return True


class EligibleSeen(View[Eligible]):
    """The first offset of the partition. A log is seen while its broker is up."""

    around = ("stop", "crash")

    @shown
    def write(self, before: Eligible, after: Eligible, replica: int) -> list[Seen]:
        return self.changes(before, after, replica)

    @shown
    def fetch(self, before: Eligible, after: Eligible, leader: int, replica: int) -> list[Seen]:
        return self.changes(before, after, replica)

    @shown
    def come_back(self, before: Eligible, after: Eligible, replica: int) -> list[Seen]:
        return [] if after.end[replica] else [see("cuts", replica=replica)]

    @shown
    def raise_hw(self, before: Eligible, after: Eligible) -> list[Seen]:
        if before.hw > 0:
            return []
        return [see("commits", leader=after.leader), see("is_acked", value=0)]

    @shown
    def take_out(self, before: Eligible, after: Eligible, replica: int) -> list[Seen]:
        return self.in_sync(before, after)

    @shown
    def join(self, before: Eligible, after: Eligible, leader: int, replica: int) -> list[Seen]:
        return self.in_sync(before, after)

    @shown
    def elect(self, before: Eligible, after: Eligible, replica: int) -> list[Seen]:
        return self.in_sync(before, after)

    @staticmethod
    def changes(before: Eligible, after: Eligible, replica: int) -> list[Seen]:
        """What a replica has cut or appended there."""
        old, new = before.end[replica] > 0, after.end[replica] > 0
        if old == new:
            return []
        return [see("appends", replica=replica, value=0) if new else see("cuts", replica=replica)]

    @staticmethod
    def in_sync(before: Eligible, after: Eligible) -> list[Seen]:
        """Who leaves the ISR, and who joins it."""
        return [see("joins" if after.in_sync[each] else "leaves", replica=each)
                for each in range(after.B) if before.in_sync[each] != after.in_sync[each]]


class LedSeen(View[Eligible]):
    """The partition, when nothing happens any more."""

    around = ("stop", "crash")

    def at_rest(self, machine: Eligible) -> Iterable[Seen]:
        """Whether somebody leads, and how many are in sync."""
        yield see("ends", leads=int(machine.leader < machine.B), in_sync=sum(machine.in_sync))


KEPT = refines(
    Eligible, ObservedPlace, "what is committed stays, whoever is elected", shows=EligibleSeen,
    seen_by={"N": "B", "V": 1}, B=2, m=2, M=1, D=(1, 0, 2), X=(1, 0))
LED = refines(
    Eligible, ObservedPartition, "somebody leads when all is over", shows=LedSeen,
    seen_by={"N": "B"}, room=("not self.over",), B=2, m=(1, 2), M=1, D=(0, 1), X=(1, 2))

TWO: dict[str, Any] = {"B": 2, "m": (1, 2), "M": 1, "D": (0, 1, 2), "X": (0, 1, 2)}
LOST = "X >= m and D + X >= B"

EXPECTATIONS = (
    expect(Eligible, "KAFKA-R21", "violated", "KIP-966: what was committed is lost exactly where "
           "all m that have it may be stopped uncleanly", where=LOST, **TWO),
    expect(Eligible, "KAFKA-R21", "violated", "KIP-966: so it is with three replicas", where=LOST,
           B=3, m=(2, 3), M=1, D=1, X=(1, 2)),
    expect(WaitingForSafety, "KAFKA-R21", "holds", "KIP-966: nothing is lost if one waits", **TWO),
    expect(Eligible, "KAFKA-R22", "holds", "KIP-966: somebody leads again", **TWO),
    expect(WaitingForSafety, "KAFKA-R22", "violated", "KIP-966: one waits for ever exactly where "
           "all that were eligible may be stopped uncleanly", where=LOST, **TWO),
    expect(StrictAlone, "KAFKA-R21", "violated", "KAFKA-15583 alone: the last one in sync loses "
           "its tail, and leads", where="X > 0 and D + X >= B", **TWO),
    expect(LastStanding, "KAFKA-R21", "violated", "before KIP-966 one unclean stop is enough",
           where="X > 0 and D + X >= B", **TWO),
    expect(WithoutStrict, "KAFKA-R21", "violated", "KIP-966 without KAFKA-15583: clean stops are "
           "enough, of all that were in sync", where="D + X >= B and (m > 1 or X > 0)", **TWO),
    KEPT, LED,
    refused(Eligible, "KAFKA-F5", "KIP-966: who led last leads, and lacks what was committed",
            like=KEPT, m=1, D=1, X=1),
    refused(StrictAlone, "KAFKA-F3", "KAFKA-15583 alone: the last one in sync loses its tail",
            like=KEPT, D=1, X=1),
    refused(LastStanding, "KAFKA-F3", "the last one in sync loses its tail", like=KEPT, D=1, X=1),
    refused(WithoutStrict, "KAFKA-F5", "who was remembered lacks what was committed since",
            like=KEPT, D=2, X=0),
    refused(WaitingForSafety, "KAFKA-F14", "KIP-966: one waits for ever", like=LED, m=1, D=1, X=1),
)
