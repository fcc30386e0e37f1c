"""Tuples that are held back, and the order of the others, as the observers of a cluster see it.

Theory. ``senders`` has two executors that send to X, which may be backlogged, and to Y, which never
is. Two observers each see one part of that: a *lane*, the tuples that executor 0 emits for X and
those that X receives; and a *flag*, the last status heard of Y and whether a message for it is held
back. Executor 1 always has a tuple for Y, and if it is held back, that shows as soon as it is
asked.

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
    """From executor 0 to X. ``history``: how many tuples for X were emitted, and each one that is
    not sent, by the chapter's number and the observer's."""

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
        """The processing of a sent tuple: links are in order, so tuples are processed as they are
        sent."""
        count, unsent = self.history
        mine = next(mine for its, mine in unsent if its == number)
        self.history = count, tuple(each for each in unsent if each[1] != mine)
        return see("processes", number=mine)

    def asked(self, machine: Sender) -> Iterable[Seen]:
        """The quiescence, if the executor has sent all it had."""
        if machine.left == 0 and not machine.pending:
            yield see("comes_to_rest")


class FlagSeen(View[Sender]):
    """The statuses heard of Y, to which both executors send."""

    def asked(self, machine: Sender) -> Iterable[Seen]:
        """Show that executor 1's tuple for Y is held back, if Y is not free."""
        if not machine.is_free(Receiver.Y):
            yield see("holds_back")


LANE = refines(Sender, ObservedLane, "an executor's tuples are sent in order", shows=LaneSeen,
               seen_by={"K": K}, E=(2, 3))
LOCAL = refines(ColocatedSender, ObservedLane, "within one worker, too, nothing is lost",
                shows=LaneSeen, seen_by={"K": K}, E=2, C=1)
FLAG = refines(Sender, ObservedFlag, "no tuple waits for a task that is not its own",
               shows=FlagSeen,
               E=2)

EXPECTATIONS = (
    LANE, LOCAL, FLAG,
    refines(DestinationSkippingSender, ObservedLane, "whole destinations may be skipped",
            shows=LaneSeen, seen_by={"K": K}, E=2),
    refused(HeadSkippingSender, "STORM-C1", "a later tuple overtakes one that was put back (D8)",
            like=LANE, E=2),
    refused(GivingUpLocally, "STORM-C3", "a tuple that a full recvQ refuses is lost", like=LOCAL),
    refused(GlobalThrottle, "STORM-C24", "a tuple for a free task is held back for another task",
            like=FLAG),
)
