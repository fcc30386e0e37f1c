"""Sending a response to a client that does not read.

Theory of operation
-------------------
A channel takes responses until too many of its bytes wait to be sent: then it is not *writable*. A
thread that has a response for such a channel waits up to t ticks from when it began, and it waits
alone: other threads wait until the first one is done (the channel's monitor), in the order in
which they came, and their time runs as well. Then, if the channel is

- writable, the response is written;
- not writable, it is *dropped*, and the channel is on a *blacklist* for t ticks. If the server
  closes such channels, it closes this one.

While a channel is on the list and still not writable, responses to it are dropped at once. One
that is written takes the channel off the list.

So a thread is held for t ticks at most (BK-30), and after waiting in vain it is not held by that
channel again for t ticks (BK-31): one slow client costs one thread at most half of its time.
That holds for all threads that have a response for that client, not for one only: the others wait
at the monitor meanwhile (BK-34). A monitor that keeps no order, like Java's, lets a thread wait
longer than t, while others come and go before it (``UnfairMonitor``).

With t = 0 a response is dropped at once, and no channel is on the list. The client learns of a
dropped response only if the channel is closed (BK-33).

Source: BookKeeper pull request 1410; 004#responses, bookkeeper#responses.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, choice, const, integer, require,
    upto,
)

__all__ = [
    "EXPECTATIONS", "At", "AwaitingWrites", "Closing", "FromMonitor", "ListingAgain", "Responses",
    "Stubborn", "UnfairMonitor",
]

TEXT = "004#responses"
CODE = "bookkeeper#responses"


class At(IntEnum):
    """The place of a thread that has a response for the channel."""

    NOWHERE = 0         # it has none
    MONITOR = 1         # it waits until nobody else waits for the channel
    WAITING = 2         # it waits until the channel is writable


class Responses(Machine):
    """One channel, and the threads that have responses for it."""

    H = const(1, at_least=1)            # threads
    t = const(2)                        # ticks that a thread waits, at most

    writable = boolean(True)
    at = array(upto(H), choice(At, At.NOWHERE))
    held = array(upto(H), integer(0, 2 * t + 1))    # ticks since each began; 2 t + 1: or more
    left = array(upto(H), integer(0, t))    # ticks that each still waits
    listed = integer(0, t)              # ticks that the channel is still on the blacklist
    rested = integer(0, t, init=t)      # ticks since a thread last waited in vain; t: or more
    closed = boolean()
    dropped = boolean()                 # some response was

    @action
    def fill(self) -> None:
        """The client does not read."""
        require(self.writable)
        self.writable = False

    @action
    def drain(self) -> None:
        """The client takes what is there."""
        require(not self.writable)
        self.writable = True

    @action(thread=upto(H))
    def respond(self, thread: int) -> None:
        """A thread has a response for the channel."""
        require(self.at[thread] == At.NOWHERE)
        if not self.writable and not self.is_listed():
            self.held[thread] = 0
            self.left[thread] = self.t
            self.at[thread] = At.MONITOR
        else:
            self.send(thread)

    def is_listed(self) -> bool:
        """True if the channel is on the blacklist."""
        return self.listed > 0

    @action(fair=True, thread=upto(H))
    def enter(self, thread: int) -> None:
        """No other thread waits: the thread checks again, and perhaps waits."""
        require(self.at[thread] == At.MONITOR and self.is_next(thread))
        require(all(self.at[other] != At.WAITING for other in range(self.H)))
        if self.writable or self.is_listed():
            self.send(thread)
        else:
            self.at[thread] = At.WAITING

    def is_next(self, thread: int) -> bool:
        """True if no thread at the monitor came before: the order is that of arrival."""
        return all(self.at[other] != At.MONITOR or self.held[other] <= self.held[thread]
                   for other in range(self.H))

    @action(fair=True, thread=upto(H))
    def leave(self, thread: int) -> None:
        """The channel is writable, or the time is over."""
        require(self.at[thread] == At.WAITING and self.may_leave(thread))
        if not self.writable:
            self.listed = self.t
            self.rested = 0
            self.give_up()
        self.send(thread)

    def may_leave(self, thread: int) -> bool:
        """True if the channel is writable, or the time since the thread began is over."""
        return self.writable or self.left[thread] == 0

    def give_up(self) -> None:
        """Nothing: the channel stays open."""

    def send(self, thread: int) -> None:
        """The response is written, or dropped."""
        if self.writable:
            self.listed = 0
        else:
            self.dropped = True
        self.at[thread] = At.NOWHERE
        self.held[thread] = 0
        self.left[thread] = 0

    @action(fair=True)
    def tick(self) -> None:
        """One tick passes, once no thread can take a step."""
        require(not any(self.is_due(thread) for thread in range(self.H)))
        for thread in range(self.H):
            if self.at[thread] != At.NOWHERE:
                self.held[thread] = min(self.held[thread] + 1, 2 * self.t + 1)
                self.left[thread] = max(0, self.left[thread] - 1)
        self.listed = max(0, self.listed - 1)
        self.rested = min(self.t, self.rested + 1)

    def is_due(self, thread: int) -> bool:
        """True if the thread can take a step now."""
        if self.at[thread] == At.WAITING:
            return self.may_leave(thread)
        return self.at[thread] == At.MONITOR and all(
            self.at[other] != At.WAITING for other in range(self.H))

    # --- rules -------------------------------------------------------------------------------

    @always("BK-30", MUST,
            "A thread with a response for an unwritable channel waits at most t ticks, its time "
            "limit, including its wait at the monitor.",
            source=f"{TEXT} ('wait up to certain timeout'); {CODE}", thread=upto(H))
    def nobody_waits_long(self, thread: int) -> bool:
        """Time at the monitor counts as well."""
        return self.held[thread] <= self.t

    @always("BK-31", MUST,
            "For t ticks after a thread's wait for a channel has timed out, no thread waits for "
            "it outside the monitor, unless a response was written to it since.",
            source=f"{CODE}; bookkeeper#B8", thread=upto(H))
    def nobody_waits_again(self, thread: int) -> bool:
        """So a slow client costs at most half of a thread's time."""
        return self.rested >= self.t or self.listed == 0 or self.at[thread] != At.WAITING

    @always("BK-32", MUST,
            "A channel is on the blacklist for at most t ticks, the time limit, after the last "
            "thread's wait for it has timed out.",
            source=CODE)
    def lists_end(self) -> bool:
        """After that the channel gets another chance."""
        return self.listed == 0 or self.listed + self.rested <= self.t

    @always("BK-35", MUST,
            "For each thread that waits for a channel or at its monitor, the time waited and "
            "the time left add up to t ticks, its time limit.",
            source=CODE)
    def time_is_measured_once(self) -> bool:
        """Time runs from when a thread began; a thread without a response does not wait."""
        return all(
            self.held[thread] + self.left[thread] == (
                0 if self.at[thread] == At.NOWHERE else self.t)
            for thread in range(self.H))

    @always("BK-36", MUST,
            "At most one thread waits for the channel to become writable, and no thread at the "
            "monitor began to wait in an earlier tick.",
            source=CODE)
    def first_come_first_in(self) -> bool:
        """At most one thread waits for the channel itself."""
        return all(
            self.at[thread] != At.WAITING or other == thread or self.at[other] == At.NOWHERE
            or (self.at[other] == At.MONITOR and self.held[other] <= self.held[thread])
            for thread in range(self.H) for other in range(self.H))

    @always("BK-33", CLAIM,
            "Once a response to a client has been dropped, the client's channel is closed.",
            source=f"{TEXT} ('disconnect will notify the client')")
    def dropping_is_told(self) -> bool:
        """Otherwise, says the text, the client does not learn of it."""
        return not self.dropped or self.closed

    @always("BK-34", CLAIM,
            "At most one thread at a time waits because of one channel, threads at its monitor "
            "included.",
            source="bookkeeper#B8")
    def one_thread_is_held(self) -> bool:
        """Threads at the monitor count as well."""
        return sum(self.at[thread] != At.NOWHERE for thread in range(self.H)) <= 1


class Closing(Responses):
    """A channel that takes no response in time is closed."""

    def give_up(self) -> None:
        """Close the channel, so that the client learns that no response comes."""
        self.closed = True


class Stubborn(Responses):
    """No channel is ever on the list."""

    def is_listed(self) -> bool:
        """Never: each response is waited for."""
        return False


class ListingAgain(Responses):
    """Each dropped response puts the channel on the list for t ticks more."""

    def send(self, thread: int) -> None:
        """List the channel even if no thread has waited for it."""
        if not self.writable:
            self.listed = self.t
        super().send(thread)


class UnfairMonitor(Responses):
    """As merged: any thread at the monitor may be the next one."""

    def is_next(self, thread: int) -> bool:
        """True always, however long others have waited."""
        return True


class FromMonitor(Responses):
    """A thread's time begins when no other thread waits any more."""

    @action(fair=True, thread=upto(Responses.H))
    def enter(self, thread: int) -> None:
        """Start the thread's time only now."""
        self.left[thread] = self.t
        super().enter(thread)


class AwaitingWrites(Responses):
    """The thread waits until the response is written, however long that takes."""

    def may_leave(self, thread: int) -> bool:
        """True only if the channel is writable: there is no timeout."""
        return self.writable


GRID: dict[str, Any] = {"H": (1, 2, 3), "t": range(4)}

EXPECTATIONS = (
    *(expect(Responses, rule, "holds", says, **GRID) for rule, says in (
        ("BK-30", "no thread is held for long"), ("BK-31", "a channel that was waited for in vain "
         "is not waited for again"), ("BK-32", "no channel is listed forever"))),
    expect(Responses, "BK-35", "holds", "time is measured once", **GRID),
    *(prove(Responses, rule, f"{says}, for all timeouts", for_all=("t",), lemmas=lemmas, H=(1, 2))
      for rule, says, lemmas in (
          ("BK-36", "threads enter in the order of arrival", ()),
          ("BK-35", "time is measured once", ("BK-36",)),
          ("BK-30", "no thread is held for long", ("BK-35", "BK-36")),
          ("BK-32", "the list ends", ("BK-35",)),
          ("BK-31", "a listed channel holds no thread", ("BK-32", "BK-35", "BK-36")))),
    expect(UnfairMonitor, "BK-30", "violated", "bookkeeper#B8: a monitor that keeps no order lets "
           "a thread wait longer", where="H > 1 and t > 0", H=(1, 2), t=range(4)),
    expect(Responses, "BK-34", "violated", "bookkeeper#B8: a slow client holds all threads that "
           "have a response for it, not only one", where="H > 1", **GRID),
    expect(Responses, "BK-33", "violated", "004: the client does not learn of a dropped "
           "response", **GRID),
    expect(Closing, "BK-33", "holds", "the client learns of it if the channel is closed", **GRID),
    expect(Closing, "BK-30", "holds", "closing holds no thread", **GRID),
    expect(Stubborn, "BK-31", "violated", "without a list, each response costs t ticks",
           H=(1, 2), t=(2, 3)),
    expect(FromMonitor, "BK-30", "violated",
           "a thread that is timed from when it is the first waiter "
           "is held longer", H=2, t=(1, 2)),
    expect(FromMonitor, "BK-35", "violated", "a thread that reads the clock late waits longer than "
           "its time", H=2, t=(1, 2)),
    expect(ListingAgain, "BK-32", "violated", "a client that asks often enough never gets "
           "another chance", H=1, t=(2, 3)),
    expect(UnfairMonitor, "BK-36", "violated", "the faster thread enters first", H=2, t=(1, 2)),
    expect(AwaitingWrites, "BK-30", "violated", "BookKeeper #3582: without a timeout a client that "
           "never reads holds a thread forever", H=(1, 2), t=(1, 2)),
)

UNSEEN = {
    "BK-33": "It is false wherever channels are not closed, so it is not required of "
             "implementations.",
    "BK-34": "It is false wherever there are two threads, so it is not required of "
             "implementations.",
}
