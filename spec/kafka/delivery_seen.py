"""Records that are delivered as the observers of failover see them, when nothing fails any more.

Theory. Of a record one sees that a producer is to write it, that the producer is told so, and that
a consumer reads it. When nothing happens any more, each record must have come that far, and the
partition must have come to rest, but for what waits for more replicas than there are
(``delivery``).

Source: ``delivery``, ``observed_delivery``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .delivery import CommittingOnDemand, Delivery, NotAskingAgain, ReadingShort
from .observed_delivery import ObservedRecord, ObservedRest

__all__ = ["EXPECTATIONS", "RecordSeen", "RestSeen"]


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


RECORD = refines(Delivery, ObservedRecord, "what is written is acknowledged and read",
                 shows=RecordSeen, B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3))
REST = refines(Delivery, ObservedRest, "the partition comes to rest", shows=RestSeen,
               B=2, M=2, D=(0, 1, 2), A=(0, 1), m=(1, 2, 3))

EXPECTATIONS = (
    RECORD, REST,
    refused(NotAskingAgain, "KAFKA-F25", "the producer waits for who is gone", like=RECORD,
            M=1, D=1, A=1, m=1),
    refused(ReadingShort, "KAFKA-F26", "the last record is never read", like=RECORD,
            M=1, D=0, A=1, m=1),
    refused(CommittingOnDemand, "KAFKA-F27", "what nobody waits for is not committed", like=REST,
            M=1, D=0, A=0, m=1),
)
