"""Who is held back, and in what order tuples are sent, as the observers of a cluster see it.

Theory. ``senders`` has two executors that send to X, which may be backlogged, and to Y, which never
is. Of that two observers each see one thing: a *lane*, what executor 0 emits for X and what X gets;
and a *flag*, what is known of Y and if a message for it is held back. Executor 1 always has one
for Y, and that it is held back shows as soon as it is asked.

Source: ``senders``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import LEFT_OUT, Seen, View, see, shown
from ...refinements import refines, refused
from .observed_topology import ObservedFlag, ObservedLane
from .senders import (
    ColocatedSender, DestinationSkippingSender, GivingUpLocally, GlobalThrottle,
    HeadSkippingSender, Receiver, Sender,
)

__all__ = ["EXPECTATIONS", "FlagSeen", "LaneSeen"]

K = 4
"""Tuples for X that a run has."""


class LaneSeen(View[Sender]):
    """From executor 0 to X. ``history``: how many tuples for X were emitted, and those that are
    not sent, each by the chapter's number and the observer's."""

    history: tuple[int, tuple[tuple[int, int], ...]] = (0, ())

    @shown
    def emit(self, before: Sender, after: Sender, to: Receiver) -> object:
        if to != Receiver.X:
            return None
        count, unsent = self.history
        if count == K:
            return LEFT_OUT
        self.history = count + 1, (*unsent, (before.emitted[to], count))
        emits = see("emits", number=count)
        was_sent = after.expected[to] != before.expected[to]
        return [emits, self.sent(before.emitted[to])] if was_sent else emits

    @shown
    def retry(self, before: Sender, after: Sender) -> Seen | None:
        head = before.pending[0]
        was_sent = len(after.pending) < len(before.pending)
        return self.sent(head.number) if was_sent and head.to == Receiver.X else None

    def sent(self, number: int) -> Seen:
        """What is sent is processed in that order, for the links are in order."""
        count, unsent = self.history
        mine = next(mine for its, mine in unsent if its == number)
        self.history = count, tuple(each for each in unsent if each[1] != mine)
        return see("processes", number=mine)

    def asked(self, machine: Sender) -> Iterable[Seen]:
        """An executor that has sent all it had is at rest."""
        if machine.left == 0 and not machine.pending:
            yield see("comes_to_rest")


class FlagSeen(View[Sender]):
    """What the worker has heard of Y, to which both executors send."""

    def asked(self, machine: Sender) -> Iterable[Seen]:
        """Executor 1 always has a tuple for Y."""
        if not machine.is_free(Receiver.Y):
            yield see("holds_back")


LANE = refines(Sender, ObservedLane, "what an executor emits is sent in order", shows=LaneSeen,
               seen_by={"K": K}, E=(2, 3))
LOCAL = refines(ColocatedSender, ObservedLane, "within one worker, too, nothing is lost",
                shows=LaneSeen, seen_by={"K": K}, E=2, C=1)
FLAG = refines(Sender, ObservedFlag, "nobody waits for a task that is not his", shows=FlagSeen,
               E=2)

EXPECTATIONS = (
    LANE, LOCAL, FLAG,
    refines(DestinationSkippingSender, ObservedLane, "whole destinations may be skipped",
            shows=LaneSeen, seen_by={"K": K}, E=2),
    refused(HeadSkippingSender, "STORM-C1", "a later tuple passes by one that was put back (D8)",
            like=LANE, E=2),
    refused(GivingUpLocally, "STORM-C3", "what a full recvQ refuses is gone", like=LOCAL),
    refused(GlobalThrottle, "STORM-C24", "a task that is free is held back for another",
            like=FLAG),
)
