"""Replication as the failover observers see it.

Theory. ``replication`` has replicas, requests and the quorum; its observers each see one thing: a
*place*, which is one offset with what each replica holds there; a leader *epoch*; the *quorum*. A
record has the same value at every place, its number. A producer with acks=all gets its
acknowledgement as soon as the high watermark has passed its record, and a consumer may at any time
ask any broker that considers itself the leader. Time, producers with acks=1, replaced controllers
and restarted brokers are not in the machine, so the other observers have nothing to see.

Variants that need three epochs for a violation (``CuttingUnfenced``, ``FirstTry``) are left to
``replication``: the search over pairs would take minutes.

Since 2.7 a leader asks its controller for another ISR, and gets the answer later (``isr_changes``).
No port reports its request; the replicas that the controller lets in, and what the leader has
committed by then, are visible.

Source: ``replication``, ``isr_changes``, ``observed_failover``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .isr_changes import IsrChanges, WaitingForKnown
from .observed_failover import ObservedEpoch, ObservedPlace, ObservedQuorum
from .replication import (
    CountingTheOthers, CutAtLastMatch, CutByEpoch, CutToHighWatermark, ElectingAnyone, JoiningEarly,
    LeavingAsLeader, Replication,
)

__all__ = ["EXPECTATIONS", "ChangesSeen", "EpochSeen", "PlaceSeen", "QuorumSeen", "SecondSeen"]


class PlaceSeen(View[Replication]):
    """Events of the first offset of the partition."""

    offset = 0

    @shown
    def write(self, before: Replication, after: Replication, leader: int) -> list[Seen]:
        return self.changes(before, after)

    @shown
    def fetch(self, before: Replication, after: Replication, replica: int) -> list[Seen]:
        return self.changes(before, after)

    @shown
    def become_follower(
        self, before: Replication, after: Replication, replica: int, request: int
    ) -> list[Seen]:
        return self.changes(before, after)

    @shown
    def raise_hw(self, before: Replication, after: Replication, leader: int) -> list[Seen]:
        if before.hw[leader] != self.offset:
            return []
        return [see("commits", leader=leader),
                see("is_acked", value=self.there(after, leader) - 1)]

    @shown
    def take_out(self, before: Replication, after: Replication, replica: int) -> list[Seen]:
        return in_sync_changes(before, after)

    @shown
    def shrink(
        self, before: Replication, after: Replication, leader: int, replica: int
    ) -> list[Seen]:
        return in_sync_changes(before, after)

    @shown
    def expand(
        self, before: Replication, after: Replication, leader: int, replica: int
    ) -> list[Seen]:
        return in_sync_changes(before, after)

    def there(self, machine: Replication, replica: int) -> int:
        """The number of the record that a replica has at this offset; 0 if none."""
        return machine.log[replica * machine.L + self.offset].number

    def changes(self, before: Replication, after: Replication) -> list[Seen]:
        """Cuts and appends of all replicas at this offset."""
        found = []
        for replica in range(before.N):
            old, new = self.there(before, replica), self.there(after, replica)
            if old and old != new:
                found.append(see("cuts", replica=replica))
            if new and old != new:
                found.append(see("appends", replica=replica, value=new - 1))
        return found

    def asked(self, machine: Replication) -> Iterable[Seen]:
        """A consumer may read from any broker that considers itself the leader."""
        for replica in range(machine.N):
            if machine.presumes(replica) and machine.hw[replica] > self.offset:
                yield see("is_read", value=self.there(machine, replica) - 1)


def in_sync_changes(before: Replication, after: Replication) -> list[Seen]:
    """The replicas that leave the quorum's ISR, and those that join it."""
    return [see("joins" if after.in_sync[replica] else "leaves", replica=replica)
            for replica in range(before.N) if before.in_sync[replica] != after.in_sync[replica]]


class SecondSeen(PlaceSeen):
    """Events of the second offset, which only a second record reaches."""

    offset = 1


class ChangesSeen(View[IsrChanges]):
    """Events of the first offset, where the leader asks its controller for other ISRs.

    The leader is replica 0, and it acknowledges at once what it considers committed. ``history`` is
    true once it has done so.
    """

    history: bool = False

    @shown
    def write(self, before: IsrChanges, after: IsrChanges) -> list[Seen]:
        return [] if before.written else [see("appends", replica=0, value=0)]

    @shown
    def fetch(self, before: IsrChanges, after: IsrChanges, follower: int) -> list[Seen]:
        has = see("appends", replica=follower + 1, value=0)
        return [*([] if before.offset[follower] else [has]), *self.committed(after)]

    @shown
    def hear(self, before: IsrChanges, after: IsrChanges, told: int) -> list[Seen]:
        return self.committed(after)

    def committed(self, after: IsrChanges) -> list[Seen]:
        """The commit and its acknowledgement, when the high watermark first passes the offset."""
        if self.history or after.hw() == 0:
            return []
        self.history = True
        return [see("commits", leader=0), see("is_acked", value=0)]

    @shown
    def take_out(self, before: IsrChanges, after: IsrChanges, follower: int) -> list[Seen]:
        return self.changes(before, after)

    @shown
    def accept(self, before: IsrChanges, after: IsrChanges, request: int) -> list[Seen]:
        return self.changes(before, after)

    @staticmethod
    def changes(before: IsrChanges, after: IsrChanges) -> list[Seen]:
        """The followers that leave the controller's ISR, and those that join it."""
        return [see("joins" if after.has(after.agreed, each) else "leaves", replica=each + 1)
                for each in range(after.F)
                if after.has(after.agreed, each) != before.has(before.agreed, each)]


class EpochSeen(View[Replication]):
    """The brokers that take writes in the first leader epoch."""

    @shown
    def write(self, before: Replication, after: Replication, leader: int) -> Seen | None:
        return see("leads", broker=leader) if before.epoch[leader] == 1 else None


class QuorumSeen(View[Replication]):
    """The quorum's writes; there is one controller."""

    @shown
    def elect(self, before: Replication, after: Replication, replica: int) -> list[Seen]:
        return self.says(before, after)

    @shown
    def take_out(self, before: Replication, after: Replication, replica: int) -> list[Seen]:
        return self.says(before, after)

    @shown
    def shrink(
        self, before: Replication, after: Replication, leader: int, replica: int
    ) -> list[Seen]:
        return self.says(before, after)

    @shown
    def expand(
        self, before: Replication, after: Replication, leader: int, replica: int
    ) -> list[Seen]:
        return self.says(before, after)

    @staticmethod
    def says(before: Replication, after: Replication) -> list[Seen]:
        """A write of the quorum: first the leader, then the ISR."""
        return [see("says", epoch=after.epochs, leader=after.leading),
                *in_sync_changes(before, after)]


FIRST = refines(Replication, ObservedPlace, "the first committed record stays",
                shows=PlaceSeen, seen_by={"N": "N", "V": "M"}, L=1, M=1, E=2)

CHANGES = refines(
    IsrChanges, ObservedPlace, "every replica that the controller lets in has what the leader "
                               "commits",
    shows=ChangesSeen, seen_by={"N": "F + 1", "V": 1}, F=(1, 2), S=lambda F: (2 ** F,), O=1, V=2)

QUORUM = refines(
    Replication, ObservedQuorum, "the quorum has one leader in an epoch, and it is in sync",
    shows=QuorumSeen, seen_by={"N": "N", "E": "E"}, L=1, M=1, E=2)

EXPECTATIONS = (
    FIRST,
    refines(Replication, ObservedPlace, "the second committed record stays",
            shows=SecondSeen, seen_by={"N": "N", "V": "M"}, N=2, L=2, M=2, E=(2, 3)),
    refines(Replication, ObservedEpoch, "one broker takes writes in an epoch", shows=EpochSeen,
            seen_by={"N": "N"}, L=1, M=1, E=2),
    QUORUM,
    CHANGES,
    refused(WaitingForKnown, "KAFKA-F5", "a follower joins without the leader's knowledge, and "
            "lacks what the leader considers committed", like=CHANGES, F=2, S=4, V=3),
    refused(CutToHighWatermark, "KAFKA-F3", "a follower cuts a committed record (KAFKA-1211)",
            like=FIRST),
    refused(LeavingAsLeader, "KAFKA-F12", "a leader leaves the ISR and is still named as leader",
            like=QUORUM),
    refused(CountingTheOthers, "KAFKA-F4", "a leader commits a record that it does not "
            "have", like=FIRST),
    refused(ElectingAnyone, "KAFKA-F5", "a replica that was elected uncleanly joins the ISR, and "
            "lacks a committed record", like=FIRST),
    *(refused(variant, "KAFKA-F5", about, like=FIRST, L=2, M=2) for variant, about in (
        (CutByEpoch, "KIP-101: a replica joins the ISR without a record that a stale leader "
         "considers committed"),
        (CutAtLastMatch, "KIP-279: as much"),
        (JoiningEarly, "a replica joins too early, without a committed record (KAFKA-7128)"),
    )),
)
