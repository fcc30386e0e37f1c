"""Records that are delivered as the observers of failover see them, when nothing fails any more.

Theory. Of a record one sees that a producer is to write it, that the producer is told so, and that
a consumer reads it. When nothing happens any more, each record must have come that far, and the
partition must have come to rest, but for what waits for more replicas than there are
(``delivery``). Of a leader that steps down one sees who waits at it, who was answered, and that it
copies (``stepping_down``).

Source: ``delivery``, ``stepping_down``, ``observed_delivery``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .delivery import CommittingOnDemand, Delivery, NotAskingAgain, ReadingShort
from .observed_delivery import ObservedHolding, ObservedRecord, ObservedRest
from .stepping_down import AnsweringOne, HoldingAsFollower, LeavingThemWaiting, SteppingDown

__all__ = ["EXPECTATIONS", "HoldingSeen", "RecordSeen", "RestSeen"]


class RecordSeen(View[Delivery]):
    """The first record that is written."""

    def begins(self, machine: Delivery) -> Iterable[Seen]:
        """It is to be written."""
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
        """Whether it may wait still."""
        yield see("ends", may_wait=int(not machine.can_be_answered()), may_be_missed=0)


class RestSeen(View[Delivery]):
    """Whether the partition rests, when nothing happens any more."""

    def at_rest(self, machine: Delivery) -> Iterable[Seen]:
        """And whether it may wait still."""
        yield see("ends", at_rest=int(machine.rests()),
                  may_wait=int(not machine.can_be_answered()))


class HoldingSeen(View[SteppingDown]):
    """Who waits at a replica, and what it copies."""

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
REST = refines(Delivery, ObservedRest, "the partition comes to rest", shows=RestSeen,
               B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3))

HOLDING = refines(SteppingDown, ObservedHolding, "who waits is answered before the leader follows",
                  shows=HoldingSeen, seen_by={"Q": "W"}, W=(1, 2), T=(1, 2, 3))

EXPECTATIONS = (
    RECORD, REST, HOLDING,
    refused(NotAskingAgain, "KAFKA-F25", "the producer waits for who is gone", like=RECORD,
            M=1, D=1, A=1, m=1),
    refused(ReadingShort, "KAFKA-F26", "the last record is never read", like=RECORD,
            M=1, D=0, A=1, m=1),
    refused(CommittingOnDemand, "KAFKA-F27", "what nobody waits for is not committed", like=REST,
            M=1, D=0, A=0, m=1),
    refused(LeavingThemWaiting, "KAFKA-F34", "they wait, and it copies", like=HOLDING, W=1, T=2),
    refused(AnsweringOne, "KAFKA-F34", "one waits, and it copies", like=HOLDING, W=2, T=2),
    refused(HoldingAsFollower, "KAFKA-F34", "who asks a follower waits", like=HOLDING, W=1, T=1),
)
