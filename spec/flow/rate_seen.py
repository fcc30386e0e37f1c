"""A source with a bucket, as seen by the callers that it admits or refuses.

Theory. In a tick of ``bucket`` tokens come, and then elements are sent. The first is a tick for
the callers as well, and the elements are admitted in one event. At the end of a tick a caller that
asked for more than the tokens that are left would be refused. The receiver behind the source is
not seen: its waiting elements are no matter of the limit.

Source: ``bucket``, ``observed_rate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..notation import action, require, upto
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .bucket import Bottomless, Bucket
from .observed_rate import ObservedLog, ObservedLogRefusals, ObservedRate, ObservedRefusals
from .sums import Saving, Spending

__all__ = [
    "AsBucket", "EXPECTATIONS", "Forgetting", "LogSeen", "RateSeen", "SlidingLog", "StepsSeen",
]


class RateSeen(View[Bucket]):
    """The ticks, what is sent in them, and requests that would be refused. The worst window is a
    measure at which the machine ends.
    """

    around = ("burst",)

    @shown
    def tick(self, before: Bucket, after: Bucket, sent: int) -> list[Seen]:
        return [see("tick"), see("passes", permits=sent)]

    def asked(self, machine: Bucket) -> Iterable[Seen | Sequence[Seen]]:
        """Report that a caller that asks for more than there is gets nothing."""
        for permits in range(machine.b + 1):
            if permits > machine.tokens:
                yield see("is_turned_away", permits=permits)


class StepsSeen(View[Spending]):
    """The same for a bucket with its tick split into steps. The receiver, and when it serves, is
    not the bucket's matter.
    """

    around = ("burst", "waiting", "idle", "serve", "served", "within")

    @shown
    def come(self, before: Spending, after: Spending) -> Seen:
        return see("tick")

    @shown
    def send(self, before: Spending, after: Spending) -> Seen:
        return see("passes", permits=1)


class Forgetting(Bucket):
    """A bucket that never keeps more than the tokens of one tick."""

    def kept(self, tokens: int) -> int:
        """Keep no more than the tokens of one tick."""
        return min(self.r, tokens)


class SlidingLog(ObservedLogRefusals):
    """A log that admits all that fits beside its entries, and refuses all else."""

    @action(permits=upto(ObservedLogRefusals.b + 1))
    def is_logged(self, permits: int) -> None:
        """Admit as much as fits beside the entries of the log."""
        require(self.logged() + permits <= self.b)
        super().is_logged(permits)

    @action(call=upto(ObservedLogRefusals.K), permits=upto(ObservedLogRefusals.b + 1))
    def waits(self, call: int, permits: int) -> None:
        """Never: in this chapter no call of a log waits."""
        require(permits < 0)


class LogSeen(View[SlidingLog]):
    """Time, and the callers that are admitted and refused."""

    same = ("tick", "is_logged", "has_no_room")


class AsBucket(View[SlidingLog]):
    """The same log, observed as a limit that claims to be a bucket."""

    same = ("tick",)

    @shown
    def is_logged(self, before: SlidingLog, after: SlidingLog, permits: int) -> Seen:
        return see("passes", permits=permits)

    @shown
    def has_no_room(self, before: SlidingLog, after: SlidingLog, permits: int) -> Seen:
        return see("is_turned_away", permits=permits)


LIMITED = refines(
    Bucket, ObservedRate, "what a bucket admits is within the rate and the depth",
    shows=RateSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=(1, 2), th=0)
GIVEN = refines(
    Bucket, ObservedRefusals, "a bucket refuses a caller only if it has too few tokens for it",
    shows=RateSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=(1, 2), th=0)

IN_STEPS = refines(
    Spending, ObservedRate, "what it admits one by one is within the rate and the depth",
    shows=StepsSeen, seen_by={"r": "r", "b": "b"}, r=(1, 2), b=(2, 3), u=2, th=0)

WITHIN = refines(
    SlidingLog, ObservedRate, "a sliding log is within the rate and the depth",
    shows=AsBucket, seen_by={"r": "r", "b": "b"}, r=1, b=2, P=2, K=1)
LOGGED = refines(
    SlidingLog, ObservedLog, "a sliding log admits its number in a period, and no more",
    shows=LogSeen, seen_by={"r": "r", "b": "b", "P": 2}, r=1, b=2, P=2, K=1)
ROOM = refines(SlidingLog, ObservedLogRefusals,
               "a sliding log refuses a caller only if its request does not fit", shows=LogSeen,
               seen_by={"r": "r", "b": "b", "P": 2}, r=1, b=2, P=2, K=1)

EXPECTATIONS = (
    WITHIN,
    LOGGED,
    ROOM,
    refused(SlidingLog, "FLOW-84", "a log of too short a period", like=LOGGED, P=1),
    refused(SlidingLog, "FLOW-85", "a log of too long a period", like=ROOM, P=3),
    replace(WITHIN, observer=ObservedRefusals, rule="FLOW-81",
            about="a log gives a permit back later than a bucket does"),
    LIMITED,
    GIVEN,
    IN_STEPS,
    refused(Saving, "FLOW-80", "without a depth, more is saved than b", like=IN_STEPS, r=(1, 2),
            b=2, u=2, th=0),
    refused(Bottomless, "FLOW-80", "003#E17: without a depth, what was saved is sent at once",
            like=LIMITED, r=(1, 2), b=3, u=2, th=0),
    refused(Forgetting, "FLOW-81", "a bucket that saves nothing delays callers that were quiet",
            like=GIVEN, r=1, b=2, u=1, th=0),
)
