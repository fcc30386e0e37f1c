"""Backpressure status, as its observers see it.

Theory. ``status`` has U, N and T with their steps, for one task. ``observed_status`` controls the
network: it sees each spill with the status that N sends, each check with the status that T sends,
each status that arrives, is overtaken or lost, and may read U's flag. Tuples on their way, and
those that find a free slot in recvQ, are hidden. What is shown is the protocol under its lock
(``LockedSpill``): there a spill, and a check, is one step. If the tuple is put after the lock is
released (``LockedStatus``), the observer sees N begin and finish.

The observer sees a task drain its overflowQ, and not the taking of single tuples. So a task that
has begun drains it to the end, and nothing comes between. A check that finds nothing to do may come
at any time. U's flag may be read at any time.

``observed_topology`` has two observers for the effects in a cluster: how long an overflowQ gets
(``OverflowSeen``), and which sender is held back (``FlagSeen``).

Source: ``status``, ``status_mutants``, ``observed_status``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..topologies.observed_topology import ObservedFlag, ObservedOverflow
from .observed_status import ObservedStatus, Taken
from .status import LockedSpill, LockedStatus, StatusAsWritten
from .status_mutants import (
    FailingOnSystemTask, ForgetfulOfReminders, HastyReminders, LateReminders, LookingInTwoMaps,
    NegatedRecord, NeverTellingOn, RemindingOnly,
)

__all__ = ["EXPECTATIONS", "FlagSeen", "OverflowSeen", "SpillSeen", "StatusSeen"]

class StatusSeen(View[LockedSpill]):
    """``history``: whether the task drains its overflowQ, how many statuses were sent, and the
    numbers of those on their way, in the channel's order."""

    history: tuple[bool, int, tuple[int, ...]] = (False, 0, ())

    def follows(self, machine: LockedSpill, action: str) -> bool:
        """False if a task drains its overflowQ and ``action`` does not continue that."""
        return not self.history[0] or action == "process_overflow"

    @shown
    def set_flag(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("spilled", task=0, told=self.told(before, after))

    @shown
    def check(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("checked", told=self.told(before, after))

    def told(self, before: StatusAsWritten, after: StatusAsWritten) -> int:
        """1 + the flags of the status that this step has sent, or 0."""
        if len(after.channel) == len(before.channel):
            return 0
        drains, count, under_way = self.history
        self.history = drains, count + 1, (*under_way, count)
        return 1 + int(after.channel[-1].on)

    @shown
    def process_overflow(self, before: LockedSpill, after: LockedSpill) -> Seen | None:
        self.history = after.overflowq > 0, *self.history[1:]
        return None if self.history[0] else see("drained", task=0)

    @shown
    def hear(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("delivered", index=self.first(), taken=Taken.UNTOLD)

    @shown
    def lose(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("lost_on_its_way", index=self.first())

    @shown
    def fall_behind(self, before: LockedSpill, after: LockedSpill) -> None:
        drains, count, under_way = self.history
        self.history = drains, count, (*under_way[1:], under_way[0])

    def first(self) -> int:
        """The observer's index of the status at the channel's head: it lists the oldest first."""
        drains, count, (head, *others) = self.history
        self.history = drains, count, tuple(others)
        return sum(other < head for other in others)

    def asked(self, machine: LockedSpill) -> Iterable[Seen]:
        """A check without news, and U's flag."""
        if not self.history[0]:
            if not (machine.backlogged and machine.overflowq == 0):
                yield see("checked", told=0)
            yield see("flags_seen", flags=machine.blocked)


class SpillSeen(StatusSeen):
    """The same view, if the tuple is put after the lock is released."""

    @shown
    def set_flag(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("spill_begun", task=0, told=self.told(before, after))

    @shown
    def put(self, before: LockedSpill, after: LockedSpill) -> Seen:
        return see("finished", told=0)


class OverflowSeen(View[StatusAsWritten]):
    """The length of the overflowQ, and the statuses that are lost."""

    @shown
    def lose(self, before: StatusAsWritten, after: StatusAsWritten) -> Seen:
        return see("loses_status")

    def asked(self, machine: StatusAsWritten) -> Iterable[Seen]:
        """The length of the overflowQ, at any time."""
        longest = 1 + machine.W + machine.H + machine.L * (machine.R + 1)
        yield see("holds", overflowq=min(machine.overflowq, longest + 1))


class FlagSeen(View[StatusAsWritten]):
    """The statuses that U hears, and that it holds tuples back."""

    @shown
    def hear(self, before: StatusAsWritten, after: StatusAsWritten) -> Seen:
        return see("hears", blocked=before.channel[0].on)

    def asked(self, machine: StatusAsWritten) -> Iterable[Seen]:
        """Show that a tuple is held back, if U may not send."""
        if not machine.may_send():
            yield see("holds_back")


ROOM = ("self.spilled_so_far < self.S", "self.told < self.K")
ONE_TASK: dict[str, int | str] = {"n": 1, "A": 1, "R": "R", "P": 2, "K": 4, "S": 4}
LENGTH: dict[str, int | str] = {"W": "W", "H": "H", "R": "R", "L": "L"}

SEEN = refines(LockedSpill, ObservedStatus, "statuses are sent and believed by the rules",
               shows=StatusSeen, seen_by=ONE_TASK, room=ROOM, R=(0, 1), H=1, W=1, M=5)
PUTTING = replace(SEEN, machine=LockedStatus, shows=SpillSeen)
LENGTHS = refines(LockedSpill, ObservedOverflow, "the overflowQ keeps its bound",
                  shows=OverflowSeen, seen_by=LENGTH, L=(0, 1), R=1, H=1, W=1)
FLAGS = refines(LockedSpill, ObservedFlag, "only a sender that heard ON holds back",
                shows=FlagSeen)

EXPECTATIONS = (
    SEEN, LENGTHS, FLAGS,
    *(refused(variant, rule, about, like=SEEN, R=1) for variant, rule, about in (
        (NegatedRecord, "STORM-O1", "getAndSet without negation (STORM-3141)"),
        (NeverTellingOn, "STORM-O1", "no ON when the flag is set"),
        (RemindingOnly, "STORM-O1", "reminders, and no ON before"),
        (LookingInTwoMaps, "STORM-O1", "looked up in one map, moved in two"),
        (HastyReminders, "STORM-O4", ">= instead of > before a reminder"),
        (ForgetfulOfReminders, "STORM-O2", "an ON is sent once, and not again"),
        (LateReminders, "STORM-O2", "a reminder comes one tuple late"),
        (FailingOnSystemTask, "STORM-O9", "a client fails on task -1 (STORM-3148)"),
    )),
    refused(LockedSpill, "STORM-O8", "no later status makes good a loss (D6)", like=SEEN, R=1, L=1,
            M=7),
    refused(LockedSpill, "STORM-O9", "a sender believes an overtaken status (D4)", like=SEEN, R=1,
            unordered=1),
    refused(LockedStatus, "STORM-O6", "cleared before the tuple is put", like=PUTTING),
    refused(ForgetfulOfReminders, "STORM-C19", "a lost ON, and no reminder", like=LENGTHS, L=1),
    refused(LateReminders, "STORM-C19", "one tuple too many for a reminder", like=LENGTHS, L=1),
)
