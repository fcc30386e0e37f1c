"""Backpressure status with one line wrong: what each line of the protocol is for.

Theory of operation
-------------------
Each machine is ``status``'s under its lock, with one thing changed: as it was written once, in a
review or in a release, or as one might write it. The rules are those of ``status``; the shortest
counterexample of each shows the purpose of the line.

A lock leaves two questions open: *whether* to send a status (the flag was not set, or the overflowQ
has grown by more than R), and *how* the receiver of the status applies it. An error in the first
breaks the bound on the overflowQ, or sends statuses without need. An error in the second loses an
OFF together with another entry, and stalls.

Source: STORM-3141, STORM-3148, and the review of pull request 2502; "Backpressure model for Storm
2.0" (STORM-2306); 000#memory.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import action, boolean, require
from .status import LockedSpill, Status, Step, Thread

__all__ = [
    "DeafSender", "EXPECTATIONS", "FailingOnSystemTask", "ForgetfulOfReminders", "HastyReminders",
    "LateReminders", "LookingInTwoMaps", "NegatedRecord", "NeverTellingOn", "RemindingOnly",
    "SkippingSystemTask", "TryingAgain",
]


class NegatedRecord(LockedSpill):
    """STORM-3141, in review: recordBackPressure returned the result of getAndSet, not its
    negation, so no status is sent when the flag is set, but one at every tuple after that."""

    def is_worth_telling(self) -> bool:
        """The negation of what is right."""
        return self.backlogged or self.is_reminder_due()


class NeverTellingOn(LockedSpill):
    """The flag is set, and only OFFs are sent."""

    def is_worth_telling(self) -> bool:
        """Never: no ON is sent."""
        return False


class RemindingOnly(LockedSpill):
    """A status is sent when a reminder is due, and not when the flag is set."""

    def is_worth_telling(self) -> bool:
        """True only if a reminder is due."""
        return self.is_reminder_due()


class LookingInTwoMaps(LockedSpill):
    """PR 2502, in review: N looks its task up in one of two maps and moves it later, while T
    moves it back; so N may find the flag set that is clear by the time it matters."""

    found_set = boolean()               # the flag as N read it

    @action(fair=True)
    def take(self) -> None:
        """N reads the flag when it takes the tuple, before it has the lock."""
        super().take()
        self.found_set = self.backlogged and self.at[Thread.N] == Step.WRITE

    @action(fair=True)
    def set_flag(self) -> None:
        """Set the flag under the lock, unless it was found set before."""
        found, is_set = self.found_set, self.backlogged
        super().set_flag()
        self.backlogged = is_set if found else True
        self.found_set = False

    def is_worth_telling(self) -> bool:
        """Decide by the flag as it was read before the lock."""
        return not self.found_set or self.is_reminder_due()


class FailingOnSystemTask(LockedSpill):
    """STORM-3148: statuses include the system task, -1, when it is backlogged, and U's client
    fails on a number that is out of its range: the rest of that status is not applied.

    Once it is backlogged the system task stays so. That U fails is judged when it hears, so a
    status that was read before counts as well: one step earlier, and no other behaviour.
    """

    system = boolean()                  # the system task is backlogged

    @action
    def system_spills(self) -> None:
        """A tuple for the system task finds no free slot."""
        require(not self.system)
        self.system = True

    def believe(self, status: Status) -> None:
        """U applies the status unless it fails on the system task."""
        if not self.system:
            super().believe(status)


class SkippingSystemTask(FailingOnSystemTask):
    """The fix: U skips tasks that it does not know, and continues."""

    def believe(self, status: Status) -> None:
        """U applies the status in any case."""
        self.blocked = status.on


class DeafSender(LockedSpill):
    """U continues to send, whatever it hears."""

    def may_send(self) -> bool:
        """True always, whatever U heard."""
        return True


class TryingAgain(LockedSpill):
    """U heeds an ON only as long as another status is on its way."""

    def may_send(self) -> bool:
        """When it hears nothing more, it tries again."""
        return not self.blocked or len(self.channel) == 0


class HastyReminders(LockedSpill):
    """The growth of the overflowQ is compared with >= instead of >."""

    def is_reminder_due(self) -> bool:
        """True one tuple too early."""
        return self.overflowq - self.told_at >= self.R


class ForgetfulOfReminders(LockedSpill):
    """One ON is sent, when the flag is set: if it is lost, it stays lost."""

    def is_reminder_due(self) -> bool:
        """Never: no reminder is due."""
        return False


class LateReminders(LockedSpill):
    """A reminder comes when the overflowQ has grown by more than R + 1."""

    def is_reminder_due(self) -> bool:
        """True one tuple too late."""
        return self.overflowq - self.told_at > self.R + 1


SOUND, NOT_STALLED = "STORM-S1", "STORM-S3"
IN_FLIGHT, REMINDED, SPARING = "STORM-S4", "STORM-S5", "STORM-S7"

EXPECTATIONS = (
    expect(NegatedRecord, IN_FLIGHT, "violated", "getAndSet without negation (STORM-3141)"),
    expect(NegatedRecord, SPARING, "violated", "getAndSet without negation (STORM-3141)"),
    expect(NeverTellingOn, SPARING, "violated", "no ON when the flag is set"),
    expect(NeverTellingOn, IN_FLIGHT, "violated", "a sender that receives no ON continues to send"),
    expect(RemindingOnly, SPARING, "violated", "reminders, and no ON before", R=(0, 1)),
    expect(LookingInTwoMaps, SOUND, "violated",
           "looked up in one map, moved in two (storm#review-2502)"),
    expect(LookingInTwoMaps, IN_FLIGHT, "violated",
           "a task that is moved between two maps gets lost, and no status is sent "
           "(storm#review-2502)"),
    expect(FailingOnSystemTask, NOT_STALLED, "violated",
           "the client fails on task -1, and the OFF beside it is lost (STORM-3148)"),
    expect(FailingOnSystemTask, IN_FLIGHT, "violated",
           "the client fails on task -1, and the ON beside it is lost (STORM-3148)"),
    expect(SkippingSystemTask, NOT_STALLED, "holds",
           "a client that skips unknown tasks hears every OFF"),
    expect(SkippingSystemTask, IN_FLIGHT, "holds",
           "a client that skips unknown tasks hears every ON"),
    expect(DeafSender, "STORM-S6", "violated", "a sender that ignores ON"),
    expect(TryingAgain, "STORM-S6", "violated", "a sender that tries again though it heard ON"),
    expect(DeafSender, IN_FLIGHT, "violated",
           "a sender that ignores ON bombards the overflowQ"),
    expect(HastyReminders, SPARING, "violated", ">= instead of > before a reminder"),
    expect(ForgetfulOfReminders, REMINDED, "violated", "a lost ON, and no reminder", L=1),
    expect(LateReminders, REMINDED, "violated", "a reminder that comes one tuple late", L=1,
           R=(0, 1)),
)
