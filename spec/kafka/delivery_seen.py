"""Delivery of records as the failover observers see it, after the last failure.

Theory. Three events of a record are visible: a producer is asked to write it, the producer gets its
acknowledgement, and a consumer reads it. When nothing happens any more, all three must have
happened for each record, and the partition must be quiescent, except where a producer requires more
replicas than there are (``delivery``). Of a leader that steps down, the requests that wait at it,
the answers, and its copying are visible (``stepping_down``).

Source: ``delivery``, ``stepping_down``, ``observed_failover_liveness``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .delivery import CommittingOnDemand, Delivery, NotAskingAgain, ReadingShort
from .observed_failover_liveness import ObservedHolding, ObservedRecord, ObservedRest
from .stepping_down import AnsweringOne, HoldingAsFollower, LeavingThemWaiting, SteppingDown

__all__ = ["EXPECTATIONS", "HoldingSeen", "RecordSeen", "RestSeen"]


class RecordSeen(View[Delivery]):
    """Events of the first record that is written."""

    def begins(self, machine: Delivery) -> Iterable[Seen]:
        """The producer is asked to write the record."""
        yield see("is_asked")

    @shown
    def write(self, before: Delivery, after: Delivery) -> Seen | None:
        return see("is_told", by_all=0) if before.acked < after.acked == 1 else None

    @shown
    def answer(self, before: Delivery, after: Delivery) -> Seen | None:
        return see("is_told", by_all=1) if after.acked == 1 else None

    @shown
    def consume(self, before: Delivery, after: Delivery) -> Seen | None:
        return see("is_read") if after.read == 1 else None

    def at_rest(self, machine: Delivery) -> Iterable[Seen]:
        """At the end: whether the record may be unacknowledged."""
        yield see("ends", may_wait=int(not machine.can_be_answered()), may_be_missed=0)


class RestSeen(View[Delivery]):
    """Quiescence of the partition, when nothing happens any more."""

    def at_rest(self, machine: Delivery) -> Iterable[Seen]:
        """At the end: whether the partition is quiescent, and whether it need not be."""
        yield see("ends", at_rest=int(machine.rests()),
                  may_wait=int(not machine.can_be_answered()))


class HoldingSeen(View[SteppingDown]):
    """Requests that wait at a replica, their answers, and its copying."""

    around = ("hold",)

    @shown
    def hold(self, before: SteppingDown, after: SteppingDown) -> Seen:
        return see("is_held")

    @shown
    def commit(self, before: SteppingDown, after: SteppingDown) -> Seen:
        return see("is_answered")

    @shown
    def follow(self, before: SteppingDown, after: SteppingDown) -> list[Seen]:
        return [see("is_answered") for _ in range(before.waiting - after.waiting)]

    @shown
    def crash(self, before: SteppingDown, after: SteppingDown) -> Seen:
        return see("is_over")

    @shown
    def copy(self, before: SteppingDown, after: SteppingDown) -> Seen:
        return see("follows")


RECORD = refines(Delivery, ObservedRecord, "what is written is acknowledged and read",
                 shows=RecordSeen, B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3))
REST = refines(Delivery, ObservedRest, "the partition becomes quiescent", shows=RestSeen,
               B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3))

HOLDING = refines(SteppingDown, ObservedHolding, "waiting requests are answered before the leader "
                  "follows",
                  shows=HoldingSeen, seen_by={"Q": "W"}, W=(1, 2), T=(1, 2, 3))

EXPECTATIONS = (
    RECORD, REST, HOLDING,
    refused(NotAskingAgain, "KAFKA-F25", "the producer waits for a failed leader", like=RECORD,
            M=1, D=1, A=1, m=1),
    refused(ReadingShort, "KAFKA-F26", "the last record is never read", like=RECORD,
            M=1, D=0, A=1, m=1),
    refused(CommittingOnDemand, "KAFKA-F27", "a record is not committed unless a producer waits "
            "for it", like=REST,
            M=1, D=0, A=0, m=1),
    refused(LeavingThemWaiting, "KAFKA-F34", "requests wait while it "
            "copies", like=HOLDING, W=1, T=2),
    refused(AnsweringOne, "KAFKA-F34", "one request waits while it copies", like=HOLDING, W=2, T=2),
    refused(HoldingAsFollower, "KAFKA-F34", "a request to a follower "
            "waits", like=HOLDING, W=1, T=1),
)
