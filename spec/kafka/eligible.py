"""Eligible leader replicas: which replicas may lead while the ISR is below min.insync.replicas.

Theory of operation
-------------------
A replica that is stopped without warning may lose the tail of its log: what the operating system
had and the disk had not. Replication survives that, since the replica is out of the ISR by then and
comes back as a follower. But the *last* replica in the ISR stays in it even if it fails, so that
there is a candidate for the next election. If that replica loses its tail, it still becomes leader
when it is back, the others cut their logs to its own, and committed records are lost on all
replicas.

KIP-966 fixes this in two parts, and each needs the other:

    strict min ISR      the high watermark does not rise while fewer than m are in sync
                        (KAFKA-15583). So each replica that was in sync when the ISR fell
                        below m still has all committed records
    eligible replicas   these are kept in a list (ELR), and elected if no in-sync replica is
                        up. A replica that returns from an unclean stop is removed from both
                        lists, and the ISR may be empty

What is committed is then on m replicas at least, and m - 1 unclean stops cost nothing. If all of
them were unclean, no replica is eligible. One may then wait forever for an operator, or elect the
last leader and lose what it lost. Kafka does the latter. With X unclean and D clean stops in all,
of B replicas

    committed records are lost      exactly where X >= m and D + X >= B    (``Eligible``, KAFKA-R21)
    no leader is ever elected       exactly there                 (``WaitingForSafety``, KAFKA-R22)

and there is no third way. Without ELR a single unclean stop is enough, with or without the strict
rule; with ELR but without the strict rule, clean stops alone are enough.

A leader that was elected uncleanly is marked as RECOVERING in Kafka, and no replica joins its ISR
before it reports that it has recovered; recovery does nothing, so this changes no verdict here.

A log is represented by its length. A follower that fetches has the same log as its leader. Before
its first fetch from this leader it does not count towards the high watermark and does not join the
ISR.

Seen from outside, records lost in an unclean stop are missing when the broker returns. A replica
that is still in sync then has cut a committed record, and a replica that is elected without it
joins the ISR without it; observers refuse both, and also a partition without a leader at the end.

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
    M = const(1, at_least=1)            # capacity of a log in records
    D = const(1)                        # clean stops in total
    X = const(1)                        # unclean stops in total
    Replica = alike(B)

    end = array(Replica, integer(0, M))             # the length of each log
    up = array(Replica, boolean(True))
    unclean = array(Replica, boolean())             # it had an unclean stop and is down
    fetched = array(Replica, boolean())             # from this leader
    in_sync = array(Replica, boolean(True))         # the ISR
    eligible = array(Replica, boolean())            # the ELR
    leader = member(Replica)                        # B: none
    last = member(Replica)                          # the last leader
    hw = integer(0, M)                              # the high watermark
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
        """A follower copies the leader's log."""
        require(self.leader == leader and replica != leader and self.up[replica])
        require(not self.fetched[replica] or self.end[replica] != self.end[leader])
        self.end[replica] = self.end[leader]
        self.fetched[replica] = True

    @action(fair=True)
    def raise_hw(self) -> None:
        """The high watermark rises to what all in-sync replicas have, if there are enough of them.
        """
        require(self.leader < self.B and self.hw < self.reached() and self.may_raise())
        self.hw = self.reached()

    def reached(self) -> int:
        """The smallest log end over the in-sync replicas, as far as this leader knows."""
        return min(
            (self.end[each] if self.fetched[each] else 0) if self.in_sync[each] else self.M
            for each in range(self.B))

    def may_raise(self) -> bool:
        """Strict rule: the high watermark must not rise while fewer than m are in sync."""
        return self.are_enough()

    def are_enough(self) -> bool:
        """True if min.insync.replicas replicas are in sync."""
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
        """An unclean stop; `left` records of the log survive."""
        require(self.up[replica] and self.unclean_stops < self.X and left <= self.end[replica])
        self.unclean_stops += 1
        self.unclean[replica] = True
        self.end[replica] = left
        self.go_down(replica)

    def go_down(self, replica: int) -> None:
        """The replica stops leading."""
        self.up[replica] = False
        self.fetched[replica] = False
        if self.leader == replica:
            self.leader = self.B

    @action(fair=True, replica=Replica)
    def come_back(self, replica: int) -> None:
        """A replica registers again; its broker epoch says whether its stop was clean.

        The controller has noticed its absence before.
        """
        require(not self.up[replica] and not self.in_sync[replica])
        self.up[replica] = True
        if self.unclean[replica]:
            self.unclean[replica] = False
            self.strike(replica)

    def strike(self, replica: int) -> None:
        """Remove a replica that may lack records from the eligible ones."""
        self.eligible[replica] = False

    # --- the controller ----------------------------------------------------------------------

    @action(fair=True, replica=Replica)
    def take_out(self, replica: int) -> None:
        """A stopped replica leaves the ISR, and becomes eligible if fewer than m stay."""
        require(self.in_sync[replica] and not self.up[replica] and self.may_leave())
        self.in_sync[replica] = False
        self.eligible[replica] = not self.are_enough()

    def may_leave(self) -> bool:
        """Any member may leave, also the last one."""
        return True

    @action(fair=True, leader=Replica, replica=Replica)
    def join(self, leader: int, replica: int) -> None:
        """A follower that has caught up joins the ISR; if that has m members, the ELR is emptied.
        """
        require(self.leader == leader and self.up[replica] and not self.in_sync[replica])
        require(self.fetched[replica] and self.end[replica] == self.end[leader])
        self.in_sync[replica] = True
        self.eligible[replica] = False
        if self.are_enough():
            for each in range(self.B):
                self.eligible[each] = False

    @action(fair=True, replica=Replica)
    def elect(self, replica: int) -> None:
        """An in-sync replica becomes leader; if the ISR is empty, an eligible one; if there is none
        either, the last leader.
        """
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
        """True if it is the last known leader, or there was no leader yet."""
        return self.last == replica or self.last == self.B

    # --- rules -------------------------------------------------------------------------------

    @always("KAFKA-R21", MUST,
            "With fewer than min.insync.replicas unclean stops of brokers in all, every leader "
            "has all committed records.",
            source=ELIGIBLE, replica=Replica)
    def nothing_is_lost(self, replica: int) -> bool:
        """Otherwise the followers cut them from their logs."""
        return self.leader != replica or self.end[replica] >= self.hw

    @leads_to("KAFKA-R22", MUST,
              "If stopped brokers come back, a partition without a leader eventually gets one, "
              "whichever of the stops were unclean.",
              source=ELIGIBLE)
    def somebody_leads(self) -> tuple[bool, bool]:
        """The stopped replicas come back eventually."""
        return self.leader == self.B, self.leader < self.B


class WaitingForSafety(Eligible):
    """If no replica is eligible, none becomes leader."""

    def may_lead_at_last(self, replica: int) -> bool:
        """Only an operator may elect the last leader."""
        return False


class StrictAlone(Eligible):
    """The strict rule without ELR (3.7): the last in-sync replica stays in the ISR."""

    def may_leave(self) -> bool:
        """All but the last member may leave."""
        return sum(self.in_sync) > 1

    @action(fair=True, replica=Eligible.Replica)
    def come_back(self, replica: int) -> None:
        """The last member of the ISR is in sync although its stop was unclean."""
        require(not self.up[replica])
        require(not self.in_sync[replica] or sum(self.in_sync) == 1)
        self.up[replica] = True
        self.unclean[replica] = False
        self.strike(replica)


class LastStanding(StrictAlone):
    """Before 3.7: the high watermark depends on the in-sync replicas, however few."""

    def may_raise(self) -> bool:
        """Any number of in-sync replicas is enough."""
        return True


class WithoutStrict(Eligible):
    """ELR, while the high watermark depends on the in-sync replicas, however few."""

    def may_raise(self) -> bool:
        """A record committed below m is missing on eligible replicas."""
        return True


class EligibleSeen(View[Eligible]):
    """Events of the first offset of the partition. A log is visible while its broker is up."""

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
        """The replica's cut or append at the first offset."""
        old, new = before.end[replica] > 0, after.end[replica] > 0
        if old == new:
            return []
        return [see("appends", replica=replica, value=0) if new else see("cuts", replica=replica)]

    @staticmethod
    def in_sync(before: Eligible, after: Eligible) -> list[Seen]:
        """The replicas that leave the ISR, and those that join it."""
        return [see("joins" if after.in_sync[each] else "leaves", replica=each)
                for each in range(after.B) if before.in_sync[each] != after.in_sync[each]]


class LedSeen(View[Eligible]):
    """State of the partition when nothing happens any more."""

    around = ("stop", "crash")

    def at_rest(self, machine: Eligible) -> Iterable[Seen]:
        """At the end: whether there is a leader, and the size of the ISR."""
        yield see("ends", leads=int(machine.leader < machine.B), in_sync=sum(machine.in_sync))


KEPT = refines(
    Eligible, ObservedPlace, "committed records stay, whichever replica is "
                             "elected", shows=EligibleSeen,
    seen_by={"N": "B", "V": 1}, B=2, m=2, M=1, D=(1, 0, 2), X=(1, 0))
LED = refines(
    Eligible, ObservedPartition, "there is a leader at the end", shows=LedSeen,
    seen_by={"N": "B"}, room=("not self.over",), B=2, m=(1, 2), M=1, D=(0, 1), X=(1, 2))

TWO: dict[str, Any] = {"B": 2, "m": (1, 2), "M": 1, "D": (0, 1, 2), "X": (0, 1, 2)}
LOST = "X >= m and D + X >= B"

EXPECTATIONS = (
    expect(Eligible, "KAFKA-R21", "violated", "KIP-966: committed records are lost exactly where "
           "all m replicas that have them may stop uncleanly", where=LOST, **TWO),
    expect(Eligible, "KAFKA-R21", "violated", "KIP-966: the same with three replicas", where=LOST,
           B=3, m=(2, 3), M=1, D=1, X=(1, 2)),
    expect(WaitingForSafety, "KAFKA-R21", "holds", "KIP-966: nothing is lost if the partition "
           "waits", **TWO),
    expect(Eligible, "KAFKA-R22", "holds", "KIP-966: a leader is elected again", **TWO),
    expect(WaitingForSafety, "KAFKA-R22", "violated", "KIP-966: no leader is ever elected exactly "
           "where all replicas that were eligible may stop uncleanly", where=LOST, **TWO),
    expect(StrictAlone, "KAFKA-R21", "violated", "KAFKA-15583 alone: the last in-sync replica "
           "loses its tail and becomes leader", where="X > 0 and D + X >= B", **TWO),
    expect(LastStanding, "KAFKA-R21", "violated", "before KIP-966 one unclean stop is enough",
           where="X > 0 and D + X >= B", **TWO),
    expect(WithoutStrict, "KAFKA-R21", "violated", "KIP-966 without KAFKA-15583: clean stops of "
           "all in-sync replicas are enough", where="D + X >= B and (m > 1 or X > 0)", **TWO),
    KEPT, LED,
    refused(Eligible, "KAFKA-F5", "KIP-966: the last leader leads again, and lacks a committed "
            "record",
            like=KEPT, m=1, D=1, X=1),
    refused(StrictAlone, "KAFKA-F3", "KAFKA-15583 alone: the last in-sync replica loses its tail",
            like=KEPT, D=1, X=1),
    refused(LastStanding, "KAFKA-F3", "the last in-sync replica loses its "
            "tail", like=KEPT, D=1, X=1),
    refused(WithoutStrict, "KAFKA-F5", "an eligible replica lacks a record that was committed "
            "later",
            like=KEPT, D=2, X=0),
    refused(WaitingForSafety, "KAFKA-F14", "KIP-966: no leader is ever "
            "elected", like=LED, m=1, D=1, X=1),
)
