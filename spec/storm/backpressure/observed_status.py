"""Backpressure status between two Storm workers, as an observer of the network sees it.

Theory. ``storm.status`` and ``storm.joining`` say which protocols keep a sender from stalling.
This machine says what that amounts to for an observer that controls the network: it makes tuples
spill, lets the timer check, delivers, loses and reorders statuses, and reads the sender's flags. It
prescribes no protocol; but a status has to be sent at the first spill, when a reminder is due, when
a drained overflowQ is found, and to a new connection; and a lost status has to be made good within
P checks, by whatever means. While nothing is lost or on its way, a check without news may repeat
the status, but only once in P checks.

What a sender must believe is then decided by *newest*: of the statuses that reached it, the one
that was sent last. Two threads can send at once (the harness stops the receiving thread in the
middle), and then no observer can say which of their statuses is the newer one. Such statuses are
*vague*; the sender's belief after them is judged only once it is quiet: nothing is on its way and
nothing was lost without being made good. Then sender and receiver agree. A receiving thread that
was stopped may or may not have put its tuple and set its flag: these are *internal* actions here.

The flags of all tasks are one number, with bit t for task t.

Source: "Backpressure model for Storm 2.0" (STORM-2306), 000#throttling, 000#memory,
000#detecting; storm#remote-receive, storm#status, storm#D4, storm#D5, storm#D6.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, choice, const, fifo, guard_rule,
    integer, record, require, upto,
)
from .status import has_grown

__all__ = ["EXPECTATIONS", "Busy", "ObservedStatus", "Taken", "Told"]


ON = guard_rule(
    "STORM-O1", MUST,
    "If a tuple spills while its task is not marked as backlogged, the worker sends ON to a "
    "connected sender before the receiving thread finishes that spill.",
    source="000#detecting")
REMINDER = guard_rule(
    "STORM-O2", MUST,
    "If a tuple spills when its overflowQ has grown by more than R, the reminder interval, "
    "since the last ON that was due for it, ON is sent again to a connected sender.",
    source="000#memory ('as a reminder'); storm#remote-receive")
OFF = guard_rule(
    "STORM-O3", MUST,
    "At the first check that finds a task marked as backlogged and its overflowQ empty, OFF is "
    "sent to the sender, if its connection is complete.",
    source="000#detecting; storm#status")
SPARING = guard_rule(
    "STORM-O4", SHOULD,
    "At a spill, a status is sent only if the task was not marked as backlogged before, or its "
    "overflowQ has grown by more than R, the reminder interval, since the last ON.",
    source="storm#remote-receive; STORM-3141")
SNAPSHOT = guard_rule(
    "STORM-O5", MUST,
    "A status has the flag of every task of its worker, and of no other, as set when it is "
    "sent, unless its thread was stopped in the midst of the sending.",
    source="storm#status; STORM-3148")
SOUND = guard_rule(
    "STORM-O6", MUST,
    "When the receiving thread has finished a spill, the tuple's task is marked as backlogged "
    "if its overflowQ is not empty.",
    source="000#detecting; storm#bp-sound")
JOINED = guard_rule(
    "STORM-O7", MUST,
    "When a sender connects, the worker sends it a status before the receiving thread has "
    "finished with the new connection.",
    source="000#memory (its end)")
MADE_GOOD = guard_rule(
    "STORM-O8", MUST,
    "After a status to a connected sender was lost, the next one is sent at the latest with the "
    "P-th check since, P being the allowed number.",
    source="storm#D6; STORM-3763, STORM-1949, JStorm #404")
NEWEST = guard_rule(
    "STORM-O9", MUST,
    "Of the statuses that have reached it, a sender believes the newest and ignores older ones, "
    "where their order of sending is known.",
    source="storm#D4; STORM-3763")
AGREE = guard_rule(
    "STORM-O10", MUST,
    "When sender and receiver are idle, no status is under way, and each lost one was made "
    "good, the sender's flags are the receiver's.",
    source="storm#bp-convergence, storm#D4, storm#D5")
STRAY = guard_rule(
    "STORM-O12", MUST,
    "A tuple for a task that the worker does not have (any more) causes no status.",
    source="STORM-3751")


RARELY = guard_rule(
    "STORM-O13", SHOULD,
    "While no status is on its way and every lost one was made good, a check that clears no "
    "flag sends a status at most once in P checks, P being the repetition interval.",
    source="storm#status (the check runs every 50 ms); storm#D6: repetitions must be rare")


class Busy(IntEnum):
    """The operation in which the receiving thread was stopped."""

    REST = 0
    SPILLING = 1
    JOINING = 2


class Taken(IntEnum):
    """A sender's report on a status that has reached it."""

    UNTOLD = 0
    BELIEVED = 1
    IGNORED = 2


class Told(NamedTuple):
    """A status on its way: its place in the order of sending, its flags, its vagueness."""

    place: int
    flags: int
    vague: bool


class ObservedStatus(Machine):
    """A receiving and a sending worker, seen from the network between them."""

    n = const(2, at_least=1)        # tasks: 0 .. n - 1
    A = const(3, at_least=1)        # the flags of all tasks: 2**n - 1
    R = const(1)                    # growth of an overflowQ without a reminder
    P = const(2, at_least=1)        # checks within which a lost status is made good, and in
                                    # which it is repeated at most once
    K = const(4, at_least=1)        # statuses that a run may send
    S = const(3, at_least=1)        # tuples that a run may spill

    overflow = array(upto(n), integer(0, S))
    flagged = array(upto(n), boolean())
    told_at = array(upto(n), integer(0, S))
    spilled_so_far = integer(0, S)

    busy = choice(Busy)
    task = integer(0, n - 1)        # the task of the receiving thread's tuple
    before = integer(0, S)          # length of the overflowQ when it began
    is_put = boolean()
    is_marked = boolean()
    owes = boolean()                # the receiving thread still has to send a status
    stirred = boolean()             # meanwhile a check has cleared a flag

    connected = boolean(True)
    on_their_way = fifo(record(Told, place=integer(0, K), flags=integer(0, A), vague=boolean()), K)
    told = integer(0, K)            # statuses sent so far
    lost = boolean()                # … and one of them lost, and not made good
    checks = integer(0, P)          # checks since then
    unrepeated = integer(0, P)      # checks since a check without news sent a status

    heard = integer(0, K)           # place of the newest status heard; 0: none
    believed = integer(0, A)
    unsure = boolean()              # that status is vague

    # --- the receiving thread ------------------------------------------------------------

    @action(task=upto(n), told=upto(A + 2), rests=(ON, REMINDER))
    def spilled(self, task: int, told: int) -> None:
        """A tuple spills, and a status is sent: ``told`` is 1 + its flags, or 0 for none."""
        before = self.overflow[task]
        due = has_grown(before, self.told_at[task], self.R)
        first = not self.flagged[task]
        require(told > 0 or not first or not self.connected, ON)
        require(told > 0 or not due or not self.connected, REMINDER)
        require(told == 0 or first or due, SPARING)
        if first or due:
            self.told_at[task] = before
        self.flagged[task] = True
        self.count_spill()
        self.overflow[task] += 1
        self.tell(told)

    @action(told=upto(A + 2))
    def strayed(self, told: int) -> None:
        """A tuple spills for a task that the worker does not have."""
        require(told == 0, STRAY)

    @action(task=upto(n), told=upto(A + 2))
    def spill_begun(self, task: int, told: int) -> None:
        """A tuple spills, and the receiving thread is stopped in the middle."""
        require(self.busy == Busy.REST)
        self.busy = Busy.SPILLING
        self.task = task
        self.before = self.overflow[task]
        self.count_spill()
        self.tell_unclearly(told)

    @action(internal=True, fair=True)
    def put(self) -> None:
        """The tuple is put into the overflowQ."""
        require(self.busy == Busy.SPILLING and not self.is_put)
        self.overflow[self.task] += 1
        self.is_put = True

    @action(internal=True, fair=True)
    def mark(self) -> None:
        """The flag is set."""
        require(self.busy == Busy.SPILLING and not self.is_marked)
        due = has_grown(self.before, self.told_at[self.task], self.R)
        if due or not self.flagged[self.task]:
            self.told_at[self.task] = self.before
            self.owes = self.connected
        self.flagged[self.task] = True
        self.is_marked = True

    @action(told=upto(A + 2), rests=(ON, JOINED))
    def finished(self, told: int) -> None:
        """The receiving thread has finished its operation."""
        require(self.busy != Busy.REST)
        require(told == 0 or self.stirred or told - 1 == self.all_flags(), SNAPSHOT)
        if self.busy == Busy.SPILLING:
            require(self.is_put and self.is_marked)
            require(self.overflow[self.task] == 0 or self.flagged[self.task], SOUND)
            require(told > 0 or not self.owes, ON)
        else:
            require(told > 0 or not self.owes, JOINED)
        self.tell_unclearly(told)
        self.busy = Busy.REST
        self.owes = False
        self.stirred = False
        self.is_put = False
        self.is_marked = False
        self.task = 0
        self.before = 0

    def count_spill(self) -> None:
        """A run spills no more than S tuples."""
        require(self.spilled_so_far < self.S)
        self.spilled_so_far += 1

    # --- the task, and the timer's thread ----------------------------------------------------

    @action(task=upto(n))
    def drained(self, task: int) -> None:
        """A task processes all tuples of its overflowQ."""
        self.overflow[task] = 0

    @action(told=upto(A + 2), rests=(OFF, MADE_GOOD))
    def checked(self, told: int) -> None:
        """The check clears the flags of drained tasks, and sends a status if one changed."""
        is_news = False
        for task in range(self.n):
            if self.flagged[task] and self.overflow[task] == 0:
                self.flagged[task] = False
                self.told_at[task] = 0
                is_news = True
                self.stirred = self.busy != Busy.REST
        is_told = self.connected and self.busy != Busy.JOINING
        require(told > 0 or not is_news or not is_told, OFF)
        if told == 0 and self.lost and is_told:
            require(self.checks + 1 < self.P, MADE_GOOD)
            self.checks += 1
        self.unrepeated = min(self.P, self.unrepeated + 1)
        if told > 0 and not is_news:
            is_quiet = not self.lost and len(self.on_their_way) == 0
            require(not is_quiet or self.unrepeated >= self.P, RARELY)
            self.unrepeated = 0
        self.tell(told)

    # --- the connection ----------------------------------------------------------------------

    @action
    def disconnected(self) -> None:
        """The connection to the sending worker breaks."""
        require(self.connected and self.busy == Busy.REST)
        self.cut()

    @action
    def restarted(self) -> None:
        """The receiving worker restarts."""
        require(self.busy == Busy.REST)
        for task in range(self.n):
            self.overflow[task] = 0
            self.flagged[task] = False
            self.told_at[task] = 0
        self.unrepeated = 0
        self.cut()

    @action(told=upto(A + 2), rests=(JOINED,))
    def joined(self, told: int) -> None:
        """The sender connects again."""
        require(not self.connected and self.busy == Busy.REST)
        self.connected = True
        require(told > 0, JOINED)
        self.tell(told)

    @action(told=upto(A + 2))
    def join_begun(self, told: int) -> None:
        """The sender connects again, and the receiving thread is stopped in the middle."""
        require(not self.connected and self.busy == Busy.REST)
        self.connected = True
        self.busy = Busy.JOINING
        self.owes = True
        self.tell_unclearly(told)

    @action(index=upto(K), taken=Taken)
    def delivered(self, index: int, taken: Taken) -> None:
        """A status reaches the sender, which reports whether it took it as news, if it can."""
        status = self.take_away(index)
        is_clear = not (status.vague and self.unsure)
        require(not is_clear or status.place < self.heard or taken != Taken.IGNORED, NEWEST)
        require(not is_clear or status.place > self.heard or taken != Taken.BELIEVED, NEWEST)
        if status.place > self.heard:
            self.heard = status.place
            self.believed = status.flags
            self.unsure = status.vague

    @action(index=upto(K))
    def lost_on_its_way(self, index: int) -> None:
        """A status is lost."""
        self.take_away(index)
        self.lost = True
        self.checks = 0

    def cut(self) -> None:
        """Everything on its way is lost; the next connection makes that good."""
        self.connected = False
        self.on_their_way.clear()
        self.lost = False
        self.checks = 0

    def take_away(self, index: int) -> Told:
        """Remove a status that is on its way; the others keep their order."""
        require(index < len(self.on_their_way))
        wanted = self.on_their_way[index]
        for _ in range(len(self.on_their_way)):
            status = self.on_their_way.pop()
            if status.place != wanted.place:
                self.on_their_way.push(status)
        return wanted

    # --- the sender ----------------------------------------------------------------------------

    @action(flags=upto(A + 1), rests=(AGREE,))
    def flags_seen(self, flags: int) -> None:
        """The sender reports the tasks to which it does not send."""
        require(self.unsure or flags == self.believed, NEWEST)
        is_quiet = (self.connected and self.busy == Busy.REST and not self.lost
                    and len(self.on_their_way) == 0)
        require(not is_quiet or flags == self.all_flags(), AGREE)

    # --- sending -------------------------------------------------------------------------------

    def tell(self, told: int) -> None:
        """Send a status from a thread that was not stopped; its flags must be true."""
        require(told == 0 or self.connected, SNAPSHOT)
        require(told == 0 or told - 1 == self.all_flags(), SNAPSHOT)
        self.send(told, self.busy != Busy.REST)

    def tell_unclearly(self, told: int) -> None:
        """Send a status from a thread that was stopped; its flags may be old."""
        require(told == 0 or self.connected, SNAPSHOT)
        require(told <= self.A + 1, SNAPSHOT)
        if told > 0:
            self.owes = False
        self.send(told, True)

    def send(self, told: int, vague: bool) -> None:
        """Put a status on its way. It makes good an earlier loss, unless it is vague: then the
        lost one may have been newer."""
        if told > 0:
            require(self.told < self.K)
            self.told += 1
            self.on_their_way.push(Told(self.told, told - 1, vague))
            self.lost = self.lost and vague
            self.checks = 0

    def all_flags(self) -> int:
        """The flags of all tasks, as a number."""
        total = 0
        weight = 1
        for task in range(self.n):
            if self.flagged[task]:
                total += weight
            weight = 2 * weight
        return total

    # --- rules ---------------------------------------------------------------------------

    @always("STORM-O11", MUST,
            "While the sender is connected, the receiving thread idle and every lost status "
            "made good by a later one, the newest status, if no stopped thread sent it, has the "
            "present flags of all tasks.",
            source="storm#bp-convergence")
    def what_was_told_is_true(self) -> bool:
        """So a sender that hears all statuses believes the true one eventually."""
        is_judged = self.connected and self.busy == Busy.REST and not self.lost
        is_true = True
        if is_judged and self.told > 0 and self.heard == self.told:
            is_true = self.unsure or self.believed == self.all_flags()
        elif is_judged and len(self.on_their_way) > 0:
            newest = self.on_their_way[-1]
            is_true = newest.vague or newest.flags == self.all_flags()
        return is_true


EXPECTATIONS = (
    expect(ObservedStatus, "STORM-O11", "holds", "the newest status is true", K=2, S=2, n=1, A=1),
    expect(ObservedStatus, "STORM-O11", "holds",
           "the newest status is true, with two tasks", K=2, S=2, n=2, A=3),
)
