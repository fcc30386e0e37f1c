"""Backpressure status with one line wrong: what each line of the protocol is for.

Theory of operation
-------------------
Each machine is ``status``'s under its lock, with one thing changed: as it was written once, in a
review or in a release, or as one might write it. The rules are those of ``status``; the shortest
trace of each shows what the line was for.

A lock leaves two questions to the one who tells: *whether* to tell (the flag was not set, or the
overflowQ has grown by more than R), and *what* the other side makes of it. Whoever gets the first
wrong breaks the bound on the overflowQ, or tells without need. Whoever gets the second wrong loses
an OFF together with something else, and stalls.

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
    "SkippingSystemTask",
]


class NegatedRecord(LockedSpill):
    """STORM-3141, in review: recordBackPressure returned what getAndSet returned, not its
    negation, so U is not told when the flag is set, but at every tuple after that."""

    def is_worth_telling(self) -> bool:
        """The wrong way round."""
        return self.backlogged or self.is_reminder_due()


class NeverTellingOn(LockedSpill):
    """The flag is set, and only OFFs are told."""

    def is_worth_telling(self) -> bool:
        """Nothing is ever worth telling."""
        return False


class RemindingOnly(LockedSpill):
    """U is told when a reminder is due, and not when the flag is set."""

    def is_worth_telling(self) -> bool:
        """However late that is."""
        return self.is_reminder_due()


class LookingInTwoMaps(LockedSpill):
    """PR 2502, in review: N looks its task up in one of two maps and moves it later, while T
    moves it back; so N may find the flag set that is clear by the time it matters."""

    found_set = boolean()               # what N has seen when it looked

    @action(fair=True)
    def take(self) -> None:
        """The look comes with the tuple, before N has the lock."""
        super().take()
        self.found_set = self.backlogged and self.at[Thread.N] == Step.WRITE

    @action(fair=True)
    def set_flag(self) -> None:
        """Under the lock; what was found set is left as it is."""
        found, is_set = self.found_set, self.backlogged
        super().set_flag()
        self.backlogged = is_set if found else True
        self.found_set = False

    def is_worth_telling(self) -> bool:
        """By the old look."""
        return not self.found_set or self.is_reminder_due()


class FailingOnSystemTask(LockedSpill):
    """STORM-3148: the system task, -1, is told of when it is backlogged, and U's client fails
    on a number that is out of its range: the rest of that status is not applied.

    Once it is backlogged the system task stays so. That U fails is judged when it hears, so a
    status that was read before counts as well: one step earlier, and no other behaviour.
    """

    system = boolean()                  # the system task is backlogged

    @action
    def system_spills(self) -> None:
        """A tuple for the system task finds no room."""
        require(not self.system)
        self.system = True

    def believe(self, status: Status) -> None:
        """As far as U gets."""
        if not self.system:
            super().believe(status)


class SkippingSystemTask(FailingOnSystemTask):
    """The remedy: what U does not know it passes over, and goes on."""

    def believe(self, status: Status) -> None:
        """U believes what it hears of any task."""
        self.blocked = status.on


class DeafSender(LockedSpill):
    """U goes on sending whatever it hears."""

    def may_send(self) -> bool:
        """U may send whatever it heard."""
        return True


class HastyReminders(LockedSpill):
    """The growth of the overflowQ is compared with >= instead of >."""

    def is_reminder_due(self) -> bool:
        """One tuple too early."""
        return self.overflowq - self.told_at >= self.R


class ForgetfulOfReminders(LockedSpill):
    """U is told once, when the flag is set: then a lost ON is lost."""

    def is_reminder_due(self) -> bool:
        """No reminder is ever due."""
        return False


class LateReminders(LockedSpill):
    """A reminder comes when the overflowQ has grown by more than R + 1."""

    def is_reminder_due(self) -> bool:
        """One tuple too late."""
        return self.overflowq - self.told_at > self.R + 1


SOUND, NOT_STALLED = "STORM-S1", "STORM-S3"
IN_FLIGHT, REMINDED, SPARING = "STORM-S4", "STORM-S5", "STORM-S7"

EXPECTATIONS = (
    expect(NegatedRecord, IN_FLIGHT, "violated", "getAndSet without negation (STORM-3141)"),
    expect(NegatedRecord, SPARING, "violated", "getAndSet without negation (STORM-3141)"),
    expect(NeverTellingOn, SPARING, "violated", "no ON when the flag is set"),
    expect(NeverTellingOn, IN_FLIGHT, "violated", "a sender that is never told ON goes on sending"),
    expect(RemindingOnly, SPARING, "violated", "reminders, and no ON before", R=(0, 1)),
    expect(LookingInTwoMaps, SOUND, "violated",
           "looked up in one map, moved in two (storm#review-2502)"),
    expect(LookingInTwoMaps, IN_FLIGHT, "violated",
           "a task that is moved between two maps gets lost, and nobody is told "
           "(storm#review-2502)"),
    expect(FailingOnSystemTask, NOT_STALLED, "violated",
           "the client fails on task -1, and the OFF beside it is lost (STORM-3148)"),
    expect(FailingOnSystemTask, IN_FLIGHT, "violated",
           "the client fails on task -1, and the ON beside it is lost (STORM-3148)"),
    expect(SkippingSystemTask, NOT_STALLED, "holds",
           "a client that skips unknown tasks hears every OFF"),
    expect(SkippingSystemTask, IN_FLIGHT, "holds",
           "a client that skips unknown tasks hears every ON"),
    expect(DeafSender, "STORM-S6", "violated", "a sender that does not heed ON"),
    expect(DeafSender, IN_FLIGHT, "violated",
           "a sender that does not heed ON bombards the overflowQ"),
    expect(HastyReminders, SPARING, "violated", ">= instead of > before a reminder"),
    expect(ForgetfulOfReminders, REMINDED, "violated", "a lost ON, and no reminder", L=1),
    expect(LateReminders, REMINDED, "violated", "a reminder that comes one tuple late", L=1,
           R=(0, 1)),
)
