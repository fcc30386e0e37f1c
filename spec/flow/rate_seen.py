"""A source with a bucket, as those see it whom it lets through and turns away.

Theory. In a tick of ``bucket`` tokens come, and then elements are sent. The first is a tick for
those outside as well, and the elements are let through in one. At the end of a tick whoever asked
for more than the tokens that are left would be turned away. The receiver behind the source is
not seen: what waits there is no affair of the limit.

Source: ``bucket``, ``observed_rate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .bucket import Bottomless, Bucket
from .observed_rate import ObservedRate, ObservedRefusals
from .sums import Saving, Spending

__all__ = ["EXPECTATIONS", "Forgetting", "RateSeen", "StepsSeen"]


class RateSeen(View[Bucket]):
    """The ticks, what is sent in them, and who would be turned away."""

    @shown
    def tick(self, before: Bucket, after: Bucket, sent: int) -> list[Seen]:
        return [see("tick"), see("passes", permits=sent)]

    def asked(self, machine: Bucket) -> Iterable[Seen | Sequence[Seen]]:
        """Somebody who asks for more than there is gets nothing."""
        for permits in range(machine.b + 1):
            if permits > machine.tokens:
                yield see("is_turned_away", permits=permits)


class StepsSeen(View[Spending]):
    """The same of a bucket whose tick is told in steps."""

    @shown
    def come(self, before: Spending, after: Spending) -> Seen:
        return see("tick")

    @shown
    def send(self, before: Spending, after: Spending) -> Seen:
        return see("passes", permits=1)


class Forgetting(Bucket):
    """A bucket that never keeps more than the tokens of one tick."""

    def kept(self, tokens: int) -> int:
        """Of what was saved nothing is left."""
        return min(self.r, tokens)


LIMITED = refines(
    Bucket, ObservedRate, "what a bucket lets through is within the rate and the depth",
    shows=RateSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=(1, 2), th=0)
GIVEN = refines(
    Bucket, ObservedRefusals, "a bucket turns away only those for whom it has too little",
    shows=RateSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=(1, 2), th=0)

IN_STEPS = refines(
    Spending, ObservedRate, "what it lets through one by one is within the rate and the depth",
    shows=StepsSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=2, th=0)

EXPECTATIONS = (
    LIMITED,
    GIVEN,
    IN_STEPS,
    refused(Saving, "FLOW-80", "without a depth, more is saved than b", like=IN_STEPS, r=(1, 2),
            b=2, u=2, th=0),
    refused(Bottomless, "FLOW-80", "003#E17: without a depth, what was saved is sent at once",
            like=LIMITED, r=(1, 2), b=3, u=2, th=0),
    refused(Forgetting, "FLOW-81", "a bucket that saves nothing holds back those who were quiet",
            like=GIVEN, r=1, b=2, u=1, th=0),
)
