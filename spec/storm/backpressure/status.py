"""Backpressure status in Storm: how a worker learns that a task of another one is backlogged.

Theory of operation
-------------------
U, an upstream worker, sends tuples to a task of another worker, and keeps one flag for it:
*blocked*. The task's own worker keeps one too: *backlogged*. Between the two run statuses.

    U  ----- tuples (at most W on their way) ----->  N  --> [recvQ] or [overflowQ] --> task
    ^                                                |                 |
    '--- hear --- [ statuses, at most D ] <-- send --+---- T ----------'

Two threads change *backlogged* and send statuses to U. N, the receiving thread, never waits. If a
tuple finds no free slot in recvQ, N sets the flag, sends a status if the flag was not set or if the
overflowQ has grown by more than R since the last status, and puts the tuple into the overflowQ. T,
the timer's thread, checks whether the flag is set and the overflowQ empty; then it clears the flag
and sends a status. To send a status is to read the flags of all tasks (a *snapshot*; here there is
one task) and to write it to every connection, without an answer and without a second try.

U must not stay blocked forever: it sends nothing while it is, so nothing that U does brings
the next status. Everything depends on the *last* status that U hears being a true one. Four
things can come between, and each alone stalls U for good:

1. Writing the flag, the snapshot, and sending it are separate steps of two threads, so the
   older snapshot may be sent last (D4). The statuses carry ids, which are not compared.
2. A status may overtake another on its way. TCP does not do that; a channel may.
3. The last OFF may be lost (D6). A lost ON is repaired by the reminder, because U continues to
   send; a lost OFF is repaired by nothing, because U is silent.
4. A new connection gets a snapshot, and may miss what is sent meanwhile (D5); that is the
   subject of the chapter ``storm.joining``.

Three corrections, each with what it needs:

- a *lock* around {write the flag, snapshot, send}: needs a channel that neither reorders nor
  loses;
- *numbers*: U ignores a status older than the newest it heard. That repairs any order, provided
  that a newer number means a newer snapshot: write the flag, take the number, then read.
  With the number taken after the reading, as the code does, U still stalls. It repairs no loss;
- *repetition*: T sends the status from time to time, changed or not. This repairs everything,
  losses too, as soon as the faults end, and needs no argument about threads.

What these leave open is the flag itself: between N's look at it and N's putting the tuple,
T can clear it, and a tuple waits in the overflowQ of a task that is not marked as backlogged.
That does not affect liveness, it only makes the overflowQ longer. The lock avoids it if it covers
the putting too.

Granularity: one step is one access to what threads share. The task takes from either queue
at any time: the order is the subject of ``storm.queue``. The halt-lag is H: while an ON is on
its way U sends at most H tuples more. The guard with M only keeps the model finite.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#throttling, 000#memory,
000#detecting; in the code WorkerState.transferLocalBatch, BackPressureTracker,
and StormClientHandler.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, array, assume, boolean, choice, const, fifo,
    integer, leads_to, record, require, step,
)

__all__ = [
    "EXPECTATIONS", "LockedSpill", "LockedStatus", "NumberedAfterReading", "NumberedStatus",
    "RepeatedStatus", "Status", "StatusAsWritten", "Step", "Thread",
]

THROTTLING, MEMORY, DETECTING = "000#throttling", "000#memory", "000#detecting"


class Thread(IntEnum):
    """The threads of the task's worker that send statuses."""

    N = 0           # receives tuples
    T = 1           # checks for drained overflowQs


class Step(IntEnum):
    """The next step of a thread."""

    REST = 0        # idle
    WRITE = 1       # writes the flag
    NUMBER = 2      # takes a number for the status
    READ = 3        # reads the flags: the snapshot
    SEND = 4        # sends it
    PUT = 5         # puts the tuple at hand into the overflowQ
    ADD = 6         # adds the new connection to the known ones


class Status(NamedTuple):
    """A status for U: the snapshot, and its number (how much newer than the newest heard)."""

    number: int
    on: bool


def has_grown(length: int, told_at: int, reminder: int) -> bool:
    """True if a reminder is due: the overflowQ has grown by more since the last status."""
    return length - told_at > reminder


class StatusAsWritten(Machine):
    """The text's protocol, in the steps in which the code takes it."""

    C = const(1, at_least=1)            # capacity of recvQ
    W = const(1, at_least=1)            # tuples on their way to N
    H = const(1)                        # tuples that U sends while an ON is on its way to it
    R = const(1)                        # growth of the overflowQ without a reminder
    L = const(0)                        # statuses that the channel loses in all
    D = const(2, at_least=2)            # statuses on their way at once
    M = const(7, at_least=1)            # tuples outstanding at which U pauses in any case
    K = const(0)                        # highest number of a status; 0: they have none
    unordered = const(0, at_most=1)     # 1: a status may overtake others

    @assume
    def pausing_hides_nothing(self) -> bool:
        """U pauses only where the rules about the overflowQ are violated already."""
        return 1 + self.W + self.H + self.L * (self.R + 1) < self.M

    # --- U, and what is on its way ---
    blocked = boolean()                 # the flag that U last heard
    pipe = integer(0, W)                # tuples on their way
    channel = fifo(record(Status, number=integer(0, K), on=boolean()), D)
    late = integer(0, H)                # tuples that U has sent while an ON is on its way
    lost = integer(0, L)

    # --- the task's worker ---
    backlogged = boolean()
    recvq = integer(0, C)
    overflowq = integer(0, M)
    told_at = integer(0, M)             # length of the overflowQ when N last sent a status
    at = array(Thread, choice(Step))
    snapshot = array(Thread, boolean())
    number = array(Thread, integer(0, K))

    # --- U -------------------------------------------------------------------------------

    @action
    def emit(self) -> None:
        """U sends a tuple; it may also have none to send, so this is not fair."""
        require(self.may_send())
        require(self.pipe < self.W and self.outstanding() < self.M)
        require(self.late < self.H or not self.on_is_coming())
        self.late += int(self.on_is_coming())
        self.pipe += 1

    def may_send(self) -> bool:
        """True if U is not blocked."""
        return not self.blocked

    def outstanding(self) -> int:
        """Number of tuples sent and not processed, without those in recvQ."""
        return self.pipe + int(self.at[Thread.N] != Step.REST) + self.overflowq

    def on_is_coming(self) -> bool:
        """True if an ON is on its way to U."""
        return any(status.on for status in self.channel)

    @action(fair=True)
    def hear(self) -> None:
        """The oldest status on its way reaches U."""
        self.believe(self.channel.pop())
        self.keep_time()

    def believe(self, status: Status) -> None:
        """U believes every status that it hears; ids are not compared."""
        self.blocked = status.on

    def keep_time(self) -> None:
        """The halt-lag ends when no ON is on its way any more."""
        if not self.on_is_coming():
            self.late = 0

    @action
    def lose(self) -> None:
        """The channel loses a status; it need not, so this is not fair."""
        require(self.lost < self.L)
        self.channel.pop()
        self.lost += 1
        self.keep_time()

    @action
    def fall_behind(self) -> None:
        """The oldest status on its way is overtaken by the others."""
        require(self.unordered == 1 and len(self.channel) > 1)
        oldest = self.channel.pop()
        self.channel.push(oldest)

    # --- N, the receiving thread -----------------------------------------------------------

    @action(fair=True)
    def take(self) -> None:
        """N takes a tuple from the connection, and puts it into recvQ or begins to spill it."""
        require(self.at[Thread.N] == Step.REST and self.pipe > 0)
        self.pipe -= 1
        if self.overflowq == 0 and self.recvq < self.C:
            self.recvq += 1
        else:
            self.at[Thread.N] = Step.WRITE

    @action(fair=True)
    def set_flag(self) -> None:
        """N sets the flag, and begins to send a status if there is a reason."""
        require(self.at[Thread.N] == Step.WRITE)
        self.at[Thread.N] = Step.PUT
        if self.is_worth_telling():
            self.told_at = self.overflowq
            self.at[Thread.N] = self.telling_begins()
        self.backlogged = True

    def is_worth_telling(self) -> bool:
        """True if the flag was not set, or a reminder is due."""
        return not self.backlogged or self.is_reminder_due()

    def is_reminder_due(self) -> bool:
        """True if the overflowQ has grown by more than R since N last sent a status."""
        return has_grown(self.overflowq, self.told_at, self.R)

    @action(fair=True)
    def put(self) -> None:
        """N puts the tuple at hand into the overflowQ."""
        require(self.at[Thread.N] == Step.PUT)
        self.overflowq += 1
        self.at[Thread.N] = Step.REST

    # --- T, the thread of the backpressure-check-timer ---------------------------------------

    @action(fair=True)
    def check(self) -> None:
        """T finds the flag set and the overflowQ empty."""
        require(self.at[Thread.T] == Step.REST)
        require(self.backlogged and self.overflowq == 0)
        self.at[Thread.T] = Step.WRITE

    @action(fair=True)
    def clear_flag(self) -> None:
        """T clears the flag."""
        require(self.at[Thread.T] == Step.WRITE)
        self.backlogged = False
        self.told_at = 0                # not read until it is set anew
        self.at[Thread.T] = self.telling_begins()

    # --- sending a status, by either thread ----------------------------------------------------

    def telling_begins(self) -> Step:
        """The first step of sending a status."""
        return Step.READ

    @action(fair=True, thread=Thread)
    def read_flags(self, thread: Thread) -> None:
        """A thread takes its snapshot."""
        require(self.at[thread] == Step.READ)
        self.snapshot[thread] = self.backlogged
        self.at[thread] = Step.SEND

    @action(fair=True, thread=Thread)
    def send(self, thread: Thread) -> None:
        """A thread sends its snapshot, and continues its work."""
        require(self.at[thread] == Step.SEND and len(self.channel) < self.D)
        self.tell(Status(self.number[thread], self.snapshot[thread]))
        self.snapshot[thread] = False
        self.number[thread] = 0
        self.at[thread] = Step.PUT if thread == Thread.N else Step.REST

    def tell(self, status: Status) -> None:
        """Write a status to every known connection; here U's."""
        self.channel.push(status)

    # --- the task ----------------------------------------------------------------------------

    @action(fair=True)
    def process(self) -> None:
        """The task takes a tuple from recvQ."""
        require(self.recvq > 0)
        self.recvq -= 1

    @action(fair=True)
    def process_overflow(self) -> None:
        """The task takes a tuple from the overflowQ."""
        require(self.overflowq > 0)
        self.overflowq -= 1

    # --- rules -------------------------------------------------------------------------------

    @always("STORM-S1", MUST,
            "While a task's overflowQ is not empty, the task is marked as backlogged, or to set "
            "that mark is the receiving thread's next step.",
            source=f"{DETECTING}; storm#bp-sound")
    def flag_is_sound(self) -> bool:
        """About to be: setting the flag is what N does next. To have set it does not count."""
        return self.overflowq == 0 or self.backlogged or self.at[Thread.N] == Step.WRITE

    @leads_to("STORM-S2", MUST,
              "If the sender's flag for a task differs from the receiver's, eventually the two "
              "agree or a tuple is on its way to the task.",
              source=f"{DETECTING}; storm#bp-convergence, storm#D4, storm#D6")
    def flags_converge(self) -> tuple[bool, bool]:
        """If they differ, they agree eventually, unless U starts sending again."""
        agree = self.blocked == self.backlogged
        return not agree, agree or self.pipe > 0

    @leads_to("STORM-S3", MUST,
              "If a sender's flag stops it from sending to a task, the flag is cleared "
              "eventually.",
              source=f"{THROTTLING}; 000#detecting; storm#D4, storm#D5, storm#D6; "
                     "STORM-3763, STORM-1949, JStorm #404")
    def no_permanent_stall(self) -> tuple[bool, bool]:
        """The task continues to process, so there is no reason to stay blocked."""
        return self.blocked, not self.blocked

    @always("STORM-S4", MUST,
            "With one sender, the overflowQ holds at most 1 + W + H tuples: one at hand, W that "
            "fit on their way, and H that are sent while an ON is on its way.",
            source="000#overflow; storm#status, storm#D6")
    def overflow_is_what_was_in_flight(self) -> bool:
        """Tuples on their way when U heard ON, and those of the halt-lag."""
        return self.overflowq <= 1 + self.W + self.H

    @always("STORM-S5", MUST,
            "With one sender, the overflowQ holds at most the 1 + W + H tuples of STORM-S4 and "
            "R + 1 more for each lost status, R being its growth without a reminder.",
            source=f"{MEMORY} ('as a reminder')")
    def reminders_bound_the_overflow(self) -> bool:
        """Only losses that have happened count, not those that are still possible."""
        return self.overflowq <= 1 + self.W + self.H + self.lost * (self.R + 1)


    @step("STORM-S6", MUST, "A worker sends nothing to a task of which it last heard ON.",
          source=THROTTLING)
    def on_is_heeded(self, after: StatusAsWritten) -> bool:
        """More tuples are on their way only after a step in which U was not blocked."""
        return after.pipe <= self.pipe or not self.blocked


# --- corrected protocols ------------------------------------------------------------------------

class LockedStatus(StatusAsWritten):
    """(a) One lock around {write the flag, snapshot, send}: each is one step for the others."""

    @action(fair=True)
    def set_flag(self) -> None:
        """Under the lock: the flag, and the status if there is a reason."""
        require(self.at[Thread.N] == Step.WRITE and len(self.channel) < self.D)
        if self.is_worth_telling():
            self.told_at = self.overflowq
            self.tell(Status(0, True))
        self.backlogged = True
        self.at[Thread.N] = Step.PUT

    @action(fair=True)
    def check(self) -> None:
        """Under the lock: the look, the flag, and the status."""
        require(self.at[Thread.T] == Step.REST and len(self.channel) < self.D)
        require(self.backlogged and self.overflowq == 0)
        self.backlogged = False
        self.told_at = 0
        self.tell(Status(0, False))

    @step("STORM-S7", SHOULD,
          "ON is sent in the step that sets the flag and, while the flag is set, only if the "
          "overflowQ has grown by more than R, the reminder interval, since the last ON.",
          source=f"{MEMORY}; storm#remote-receive, STORM-3141")
    def on_is_not_repeated_needlessly(self, after: LockedStatus) -> bool:
        """Writing and sending are one step here: it sets the flag and sends ON, or it finds the
        flag set and sends ON only for growth since then."""
        is_told = len(after.channel) > len(self.channel) and after.channel[-1].on
        if not self.backlogged:
            return is_told == after.backlogged
        return not is_told or self.overflowq - self.told_at > self.R


class LockedSpill(LockedStatus):
    """(a) with the putting under the lock too: T never clears the flag between the two."""

    @action(fair=True)
    def set_flag(self) -> None:
        """Under the lock: the flag, the status, and the tuple."""
        super().set_flag()
        self.overflowq += 1
        self.at[Thread.N] = Step.REST


class NumberedStatus(StatusAsWritten):
    """(b) Write the flag, take a number, read, send; U ignores a status older than it knows.

    Only the order of numbers matters, so they are kept relative to the newest that U has
    heard: 0 is anything not newer, and the next number to be taken is ``upcoming``. That keeps
    them bounded in a run without end.
    """

    K = const(6, at_least=4)

    upcoming = integer(1, K, init=1)    # the number that the next status gets

    def telling_begins(self) -> Step:
        """The number is taken before the flags are read."""
        return Step.NUMBER

    @action(fair=True, thread=Thread)
    def take_number(self, thread: Thread) -> None:
        """A thread takes the next number."""
        require(self.at[thread] == Step.NUMBER)
        self.number[thread] = self.upcoming
        self.upcoming += 1
        self.at[thread] = Step.READ

    def believe(self, status: Status) -> None:
        """U believes a status only if it is newer than all that it has heard."""
        if status.number > 0:
            self.blocked = status.on
            self.count_from(status.number)

    def count_from(self, newest: int) -> None:
        """Every number from here on counts from the newest one that U has heard."""
        self.upcoming -= newest
        for thread in Thread:
            self.number[thread] = max(0, self.number[thread] - newest)
        under_way = len(self.channel)
        for place in range(self.D):
            if place < under_way:
                status = self.channel.pop()
                self.channel.push(Status(max(0, status.number - newest), status.on))


class RepeatedStatus(StatusAsWritten):
    """(c) T sends the status from time to time, changed or not, one repetition at a time."""

    @action(fair=True)
    def repeat(self) -> None:
        """T finds nothing to clear, and sends the status again."""
        require(self.at[Thread.T] == Step.REST and not self.channel)
        require(not self.backlogged or self.overflowq > 0)
        self.at[Thread.T] = Step.READ


# --- the code's protocol, with numbers ----------------------------------------

class NumberedAfterReading(NumberedStatus):
    """The number is taken after the snapshot, as BackPressureStatus's constructor does."""

    def telling_begins(self) -> Step:
        """The flags are read before the number is taken."""
        return Step.READ

    @action(fair=True, thread=Thread)
    def read_flags(self, thread: Thread) -> None:
        """The number comes next."""
        super().read_flags(thread)
        self.at[thread] = Step.NUMBER

    @action(fair=True, thread=Thread)
    def take_number(self, thread: Thread) -> None:
        """With its number the status is ready to be sent."""
        super().take_number(thread)
        self.at[thread] = Step.SEND


SOUND, CONVERGES, NOT_STALLED = "STORM-S1", "STORM-S2", "STORM-S3"
IN_FLIGHT, REMINDED, SPARING = "STORM-S4", "STORM-S5", "STORM-S7"
ANY = (0, 1)

EXPECTATIONS = (
    expect(StatusAsWritten, NOT_STALLED, "violated", "a stale ON after the OFF (D4)"),
    expect(StatusAsWritten, CONVERGES, "violated", "a stale ON after the OFF (D4)"),
    expect(StatusAsWritten, IN_FLIGHT, "violated", "a stale OFF after the ON (D4)"),
    expect(StatusAsWritten, SOUND, "violated", "cleared between N's look and N's putting"),

    expect(LockedSpill, NOT_STALLED, "violated", "(a) a lock: stalls exactly if a status is "
           "overtaken, or an OFF is lost (D6)", where="L > 0 or unordered", L=ANY, unordered=ANY),
    expect(LockedSpill, CONVERGES, "violated", "(a) a lock: diverges in the same places",
           where="L > 0 or unordered", L=ANY, unordered=ANY),
    expect(LockedSpill, SOUND, "holds", "(a) a lock that covers the putting", L=ANY, unordered=ANY),
    expect(LockedSpill, IN_FLIGHT, "violated", "(a) bounded, unless an ON is lost or overtaken",
           where="L > 0 or unordered", L=ANY, unordered=ANY),
    expect(LockedSpill, IN_FLIGHT, "holds",
           "(a) a lock around the whole spill bounds the overflowQ", W=(1, 2), H=(0, 1, 2)),
    expect(LockedSpill, REMINDED, "holds", "the reminder repairs a lost ON (D6)",
           L=ANY, R=ANY),
    expect(LockedSpill, "STORM-S6", "holds", "U obeys the status that it has heard", L=ANY,
           unordered=ANY),
    expect(LockedSpill, SPARING, "holds", "no ON without a reason", R=(0, 1, 2)),
    expect(LockedStatus, NOT_STALLED, "holds", "(a) a lock around flag, snapshot and sending"),
    expect(LockedStatus, CONVERGES, "holds", "(a) a lock around flag, snapshot and sending"),
    expect(LockedStatus, SOUND, "violated",
           "under one lock T may clear the flag before the tuple is put"),
    expect(LockedStatus, IN_FLIGHT, "violated",
           "under one lock the overflowQ gets one longer, as T may clear the flag too early"),

    expect(NumberedStatus, NOT_STALLED, "holds", "(b) numbers, taken before the reading",
           unordered=ANY, M=4),
    expect(NumberedStatus, CONVERGES, "holds", "(b) numbers, taken before the reading",
           unordered=ANY, M=4),
    expect(NumberedStatus, NOT_STALLED, "violated", "(b) numbers do not repair a lost OFF (D6)",
           L=1,
           H=0, M=5),
    expect(NumberedAfterReading, NOT_STALLED, "violated", "numbers taken after the reading (D4)",
           M=4),

    expect(RepeatedStatus, NOT_STALLED, "holds",
           "(c) repeating the status ends every stall", L=1, unordered=ANY, M=6),
    expect(RepeatedStatus, CONVERGES, "holds",
           "(c) repeating the status repairs every difference", L=1, unordered=ANY, M=6),
    expect(RepeatedStatus, SOUND, "violated", "(c) repetition leaves the flag as it was"),
    expect(NumberedStatus, SOUND, "violated", "(b) numbers leave the flag as it was, too", M=4),
)
