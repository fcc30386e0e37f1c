"""The timer's races: cancel against cascade, creation of an overflow wheel, and the clock.

Theory of operation
-------------------
**Cancel against cascade.** While a bucket is flushed, an entry is for a moment in no list: it has
been unlinked from the upper wheel's bucket, and not yet linked into the lower one's. A cancel that
comes then finds no list to take it out of; all it can do is to mark the task (it forgets its
entry). So the driver tests the mark before it links an entry and before it runs it.
A cancel that comes between the test and the link still leaves a *dead entry*, counted by the
timer's size until its bucket expires. So KAFKA-W2 is exact for an idle timer without cancellations
(``timer``), and otherwise true eventually; here the lower bucket does expire. The dead entry never
runs. A task that is cancelled *after* the last test, on its way to the executor, may run: the
cancel is too late then, and the purgatory's CAS decides the winner.

Unlinking is idempotent because it tests, under the list's lock, that the entry is in this list. A
canceller reads the entry's list first, and gets the lock later, by when the entry may be elsewhere.
Without the test it unlinks the entry from another list, and counts it twice.

**Overflow wheels** are made by the first adder that needs them, and adders share a read lock. The
code is double-checked: look; lock; look again; make; publish. The second look ensures a single
wheel. And the field is volatile, so that no thread sees the wheel before it is initialised
(KAFKA-2112).

**The clock** must not be set back: with the wall clock, a request expires only when that clock has
caught up again (KAFKA-4051). A monotonic clock has no such step.

Source: TimerTaskList, TimerTaskEntry, TimingWheel, SystemTimer of Kafka 3.9; kafka#wheel,
kafka#lists, kafka#system-timer, kafka#W1; KAFKA-2112, KAFKA-2226, KAFKA-4051.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require,
    subset, upto,
)

__all__ = [
    "EXPECTATIONS", "Cascade", "Clock", "OverflowWheel", "PublishedTooEarly", "UncheckedUnlink",
    "UntestedEntry", "WallClock", "WithoutSecondLook",
]

LISTS = "kafka#lists (TimerTaskList, TimerTaskEntry)"


class Place(IntEnum):
    """The list that holds an entry."""

    UPPER = 0       # the bucket that is flushed
    LOWER = 1       # the one it is cascaded to
    NONE = 2


class Driving(IntEnum):
    """Next steps of the driver."""

    FLUSH = 0       # about to unlink the entry from the upper bucket
    TEST = 1        # test whether it is cancelled
    LINK = 2        # into the lower bucket
    EXPIRE = 3      # about to unlink it from the lower bucket
    TEST_AGAIN = 4
    RUN = 5
    DONE = 6


class Cancelling(IntEnum):
    """Next steps of the canceller."""

    READ = 0        # the list the entry is in
    UNLINK = 1      # from the list that it has read
    MARK = 2        # the task forgets its entry
    DONE = 3


class Cascade(Machine):
    """One entry, the driver that moves it down a level and runs it, and one cancel."""

    linked = subset(Place, (0,))        # the lists that hold the entry
    list = choice(Place)                # the list that the entry names
    size = integer(0 - 1, 2, init=1)
    marked = boolean(False)             # cancelled: the task has forgotten its entry
    driver = choice(Driving)
    canceller = choice(Cancelling)
    read = choice(Place)                # the list that the canceller has read
    late = boolean(False)               # the mark came after the last test
    runs = integer(0, 1)

    # --- the driver, which holds the flushed list's lock until the entry is placed ----

    @action(fair=True)
    def flush(self) -> None:
        """The entry is unlinked from the upper bucket, if it is still there."""
        require(self.driver == Driving.FLUSH)
        if Place.UPPER in self.linked:
            self.unlink(Place.UPPER)
            self.driver = Driving.TEST
        else:
            self.driver = Driving.DONE

    @action(fair=True)
    def test(self) -> None:
        """TimingWheel.add refuses a cancelled entry."""
        require(self.driver == Driving.TEST)
        self.driver = Driving.DONE if self.is_seen_cancelled() else Driving.LINK

    def is_seen_cancelled(self) -> bool:
        """TimerTaskEntry.cancelled, as the driver reads it."""
        return self.marked

    @action(fair=True)
    def link(self) -> None:
        """Link the entry into the lower bucket."""
        require(self.driver == Driving.LINK)
        self.linked.add(Place.LOWER)
        self.list = Place.LOWER
        self.size += 1
        self.driver = Driving.EXPIRE

    @action(fair=True)
    def expire(self) -> None:
        """The lower bucket expires: an entry that is still in it is unlinked, to be run."""
        require(self.driver == Driving.EXPIRE)
        if Place.LOWER in self.linked:
            self.unlink(Place.LOWER)
            self.driver = Driving.TEST_AGAIN
        else:
            self.driver = Driving.DONE

    @action(fair=True)
    def test_again(self) -> None:
        """SystemTimer.addTimerTaskEntry: the task is submitted unless it is cancelled."""
        require(self.driver == Driving.TEST_AGAIN)
        self.driver = Driving.DONE if self.is_seen_cancelled() else Driving.RUN

    @action(fair=True)
    def run(self) -> None:
        """The executor runs the task."""
        require(self.driver == Driving.RUN)
        self.runs += 1
        self.driver = Driving.DONE

    def unlink(self, place: Place) -> None:
        """Remove the entry from a list."""
        self.linked.discard(place)
        self.list = Place.NONE
        self.size -= 1

    # --- the canceller ---------------------------------------------------------------

    @action
    def read_list(self) -> None:
        """TimerTaskEntry.remove reads the entry's list, without any lock."""
        require(self.canceller == Cancelling.READ)
        self.read = self.list
        self.canceller = Cancelling.MARK if self.list == Place.NONE else Cancelling.UNLINK

    @action(fair=True)
    def unlink_read(self) -> None:
        """Under that list's lock, which a flush holds, the entry is unlinked if it is in the list.

        Then the entry's list is read again.
        """
        require(self.canceller == Cancelling.UNLINK and not self.is_locked(self.read))
        if self.is_in(self.read):
            self.unlink(self.read)
        self.read = self.list
        if self.list == Place.NONE:
            self.canceller = Cancelling.MARK

    def is_locked(self, place: Place) -> bool:
        """True if the driver is flushing that list."""
        upper = self.driver == Driving.TEST or self.driver == Driving.LINK
        lower = self.driver == Driving.TEST_AGAIN
        return (place == Place.UPPER and upper) or (place == Place.LOWER and lower)

    def is_in(self, place: Place) -> bool:
        """The test under the lock: true if the entry is in that list."""
        return self.list == place

    @action(fair=True)
    def mark(self) -> None:
        """The task forgets its entry: cancel returns."""
        require(self.canceller == Cancelling.MARK)
        self.marked = True
        self.late = self.driver == Driving.RUN or self.runs > 0
        self.canceller = Cancelling.DONE

    # --- rules -----------------------------------------------------------------------

    @always("KAFKA-W1CR", MUST,
            "A task never runs if its cancel returned before the test by which the driver "
            "decides to run it or to insert it again.",
            source=f"{LISTS}; kafka#W1; KAFKA-2226")
    def cancelled_tasks_never_run(self) -> bool:
        """Running begins with the last test; a later cancel is too late."""
        return not self.marked or self.runs == 0 or self.late

    @always("KAFKA-W1S", CLAIM, "A task does not start to run after its cancel has returned.",
            source=f"{LISTS}: too strong, the executor may have it already")
    def nothing_starts_after_cancel(self) -> bool:
        """False if the cancel has returned, and the task is about to run."""
        return not (self.marked and self.driver == Driving.RUN)

    @always("KAFKA-W2L", MUST,
            "At any time, the timer's size is the sum of the lengths of its lists, linked "
            "entries of cancelled tasks included.",
            source=f"{LISTS}; kafka#W2; KAFKA-1616, KAFKA-2226")
    def size_counts_entries(self) -> bool:
        """Dead entries count as long as they are linked."""
        return self.size == len(self.linked)

    @always("KAFKA-W2E", MUST,
            "An entry is linked into exactly the one list that its own field names, and into "
            "none if the field names none.",
            source=f"{LISTS}; KAFKA-2226")
    def entry_is_in_one_list(self) -> bool:
        """Or in none, if it names none."""
        if self.list == Place.NONE:
            return len(self.linked) == 0
        return len(self.linked) == 1 and self.list in self.linked

    @always("KAFKA-W2R", CLAIM,
            "Once a call that cancels a task has returned, the timer's size no longer counts "
            "this task.",
            source="002#purging ('exactly at any time'); kafka#lists: not while "
                   "a dead entry waits for its bucket")
    def size_is_exact(self) -> bool:
        """A cancelled task would not be counted."""
        return not self.marked or self.size == 0

    @leads_to("KAFKA-W2D", MUST,
              "A cancelled task is eventually no longer counted in the timer's size.",
              source=f"{LISTS}; kafka#W2 ('only eventually')")
    def dead_entries_go(self) -> tuple[bool, bool]:
        """Until its bucket expires, at the latest."""
        return self.marked, self.size == 0


class UntestedEntry(Cascade):
    """The driver does not test whether the task was cancelled while its entry was in no list
    (KAFKA-2226).
    """

    def is_seen_cancelled(self) -> bool:
        """The driver sees no mark."""
        return False


class UncheckedUnlink(Cascade):
    """An entry is unlinked without the test that it is still in the list that was read
    (KAFKA-2226).
    """

    @action(fair=True)
    def unlink_read(self) -> None:
        """The entry counts as removed from that list, wherever it is now."""
        require(self.canceller == Cancelling.UNLINK and not self.is_locked(self.read))
        self.linked.discard(self.read)
        self.list = Place.NONE
        self.size -= 1
        self.canceller = Cancelling.MARK


# --- creation of an overflow wheel ---------------------------------------------------

class Adding(IntEnum):
    """Next steps of an adder."""

    LOOK = 0
    ENTER = 1       # the lock
    LOOK_AGAIN = 2
    MAKE = 3
    INITIALISE = 4  # only if the wheel is published first
    USE = 5
    DONE = 6


class OverflowWheel(Machine):
    """T threads that need an overflow wheel at the same time."""

    T = const(2, at_least=1)

    adder = array(upto(T), choice(Adding))
    lock = integer(0, T, init=T)        # thread in the synchronized block; T: none
    made = integer(0, T)                # wheels
    initialised = boolean(False)
    careless = boolean(False)           # a wheel was used before it was initialised

    @action(fair=True, thread=upto(T))
    def look(self, thread: int) -> None:
        """Read without the lock whether there is a wheel."""
        require(self.adder[thread] == Adding.LOOK)
        self.adder[thread] = Adding.USE if self.made > 0 else Adding.ENTER

    @action(fair=True, thread=upto(T))
    def enter(self, thread: int) -> None:
        """A thread enters the synchronized block."""
        require(self.adder[thread] == Adding.ENTER and self.lock == self.T)
        self.lock = thread
        self.adder[thread] = Adding.LOOK_AGAIN

    @action(fair=True, thread=upto(T))
    def look_again(self, thread: int) -> None:
        """Read with the lock whether there is a wheel now."""
        require(self.adder[thread] == Adding.LOOK_AGAIN)
        if self.is_missing():
            self.adder[thread] = Adding.MAKE
        else:
            self.lock = self.T
            self.adder[thread] = Adding.USE

    def is_missing(self) -> bool:
        """The second look: true if no wheel has been made."""
        return self.made == 0

    @action(fair=True, thread=upto(T))
    def make(self, thread: int) -> None:
        """The wheel is initialised, then published: the field is volatile."""
        require(self.adder[thread] == Adding.MAKE)
        self.made += 1
        self.initialised = True
        self.lock = self.T
        self.adder[thread] = Adding.USE

    @action(fair=True, thread=upto(T))
    def use(self, thread: int) -> None:
        """The task is added to the wheel."""
        require(self.adder[thread] == Adding.USE)
        self.careless = self.careless or not self.initialised
        self.adder[thread] = Adding.DONE

    @always("KAFKA-W10", MUST,
            "Above each wheel at most one overflow wheel is ever made.",
            source="kafka#wheel (addOverflowWheel)")
    def one_wheel(self) -> bool:
        """The clock would not reach the first wheel's tasks."""
        return self.made <= 1

    @always("KAFKA-W11", MUST, "No thread uses an overflow wheel before it is initialised.",
            source="kafka#wheel (overflowWheel is volatile); KAFKA-2112")
    def wheels_are_initialised(self) -> bool:
        """Its tick and its clock would be zero."""
        return not self.careless


class WithoutSecondLook(OverflowWheel):
    """Locked, but not double-checked."""

    def is_missing(self) -> bool:
        """The result of the look before the lock still counts."""
        return True


class PublishedTooEarly(OverflowWheel):
    """The field is not volatile: its new value may be visible before the wheel's own (KAFKA-2112).
    """

    @action(fair=True, thread=upto(OverflowWheel.T))
    def make(self, thread: int) -> None:
        """The wheel is published before it is initialised."""
        require(self.adder[thread] == Adding.MAKE)
        self.made += 1
        self.adder[thread] = Adding.INITIALISE

    @action(fair=True, thread=upto(OverflowWheel.T))
    def initialise(self, thread: int) -> None:
        """The wheel is initialised only then, as far as others can see."""
        require(self.adder[thread] == Adding.INITIALISE)
        self.initialised = True
        self.lock = self.T
        self.adder[thread] = Adding.USE


# --- the clock -----------------------------------------------------------------------

class Clock(Machine):
    """One request with a timeout, and the clock by which its deadline is measured."""

    D = const(3, at_least=1)            # its timeout
    B = const(2, at_least=1)            # how far a clock may be set back at a time

    clock = integer(0, D + B, init=B)
    pending = boolean(True)
    waited = integer(0, D + 1)          # in real time; D + 1: longer than its timeout

    @action(fair=True)
    def elapse(self) -> None:
        """Time passes, unless the request is due."""
        require(self.pending and not self.is_due())
        self.clock += 1
        self.waited = min(self.waited + 1, self.D + 1)

    def is_due(self) -> bool:
        """True if the timer's clock has reached the deadline."""
        return self.clock >= self.B + self.D

    @action(fair=True)
    def expire(self) -> None:
        """The timer runs the request."""
        require(self.pending and self.is_due())
        self.pending = False

    @always("KAFKA-W12", MUST,
            "A request waits at most its timeout, measured in real time, even if the system's "
            "clock is set back.",
            source="002#requests; kafka#wheel (hiResClockMs); KAFKA-4051")
    def timeouts_are_kept(self) -> bool:
        """Measured in real time, whatever the timer's clock shows."""
        return self.waited <= self.D

    @leads_to("KAFKA-W12L", MUST,
              "A pending request eventually expires, even if the system's clock is set back "
              "again and again.",
              source="002#requests; KAFKA-4051")
    def requests_expire(self) -> tuple[bool, bool]:
        """Holds whatever happens to the clock."""
        return self.pending, not self.pending


class WallClock(Clock):
    """currentTimeMillis, which may be set back (KAFKA-4051)."""

    @action(by=upto(Clock.B))
    def set_back(self, by: int) -> None:
        """Set the clock back by up to B units."""
        require(self.pending and self.clock > by)
        self.clock -= by + 1


CASCADING = (
    ("KAFKA-W1CR", "cancelled tasks do not run"), ("KAFKA-W2L", "each entry counted once"),
    ("KAFKA-W2E", "in one list"), ("KAFKA-W2D", "dead entries go"),
)

EXPECTATIONS = (
    *(expect(Cascade, rule, "holds", about) for rule, about in CASCADING),
    expect(Cascade, "KAFKA-W2R", "violated", "a dead entry is counted until its bucket expires"),
    expect(Cascade, "KAFKA-W1S", "violated", "cancelled between the last test and the run"),
    expect(UntestedEntry, "KAFKA-W1CR", "violated",
           "KAFKA-2226: cancelled during the cascade, and run"),
    expect(UncheckedUnlink, "KAFKA-W2L", "violated", "KAFKA-2226: subtracted twice"),
    expect(UncheckedUnlink, "KAFKA-W2E", "violated", "KAFKA-2226: in a list that it does not name"),
    expect(OverflowWheel, "KAFKA-W10", "holds", "one overflow wheel", T=(2, 3)),
    expect(OverflowWheel, "KAFKA-W11", "holds",
           "an overflow wheel is visible only after it is initialised", T=(2, 3)),
    expect(WithoutSecondLook, "KAFKA-W10", "violated", "no second look: two wheels", T=2),
    expect(PublishedTooEarly, "KAFKA-W11", "violated", "KAFKA-2112: not volatile", T=2),
    expect(Clock, "KAFKA-W12", "holds", "a monotonic clock", D=3, B=2),
    expect(Clock, "KAFKA-W12L", "holds",
           "a request eventually expires with a monotonic clock", D=3, B=2),
    expect(WallClock, "KAFKA-W12", "violated", "KAFKA-4051: the clock is set back", D=3, B=2),
    expect(WallClock, "KAFKA-W12L", "violated",
           "KAFKA-4051: the clock is set back again and again", D=3, B=2),
    expect(UncheckedUnlink, "KAFKA-W2D", "violated", "the counter is wrong forever (KAFKA-2226)"),
)

UNSEEN = {
    "KAFKA-W1S":
        "It is too strong: the executor may have the task already, so no implementation has to "
        "satisfy it.",
    "KAFKA-W2R":
        "It is false while a dead entry waits for its bucket, so no implementation has to satisfy "
        "it; KAFKA-W2L holds instead.",
}
