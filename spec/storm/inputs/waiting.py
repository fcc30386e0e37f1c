"""The pause of a task between two attempts to send: the BackPressureWaitStrategy.

Theory of operation
-------------------
A task has to try again if its tuple is refused, and gets no wake-up when it can succeed. So it
*polls*, and a strategy decides what it does between two attempts. It is a function from the number
of idle turns so far to a pause and a new number:

    progressive   spin for l1 turns, park for l2 (as briefly as can be), then sleep, at each turn
    park          park at each turn for a configured time; 0 is to spin

An attempt that succeeds resets the number. That gives two guarantees. A task that is refused for
long uses almost no CPU: at most l1 + l2 + 1 attempts in a row without a sleep. And a task that is
refused for a moment loses only a moment: the first retries come at once.

"Puts the tasks to sleep in between retry attempts", as the text has it, is true of *park* alone:
the default strategy, which is *progressive*, begins by spinning. How long a pause takes is not
modelled; that it ends is.

Source: "Backpressure model for Storm 2.0" (STORM-2306), 000#aims ("BackPressureWaitStrategy");
storm#defaults, storm#executors; WaitStrategyProgressive, WaitStrategyPark.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, boolean, choice, const, integer, leads_to, require,
)

__all__ = [
    "CountingOn", "EXPECTATIONS", "Parking", "Pause", "Retrying", "Spinning", "WaitingForWakeUp",
]

STRATEGY = "000#aims ('BackPressureWaitStrategy')"


class Pause(IntEnum):
    """The pause in which a task is."""

    NONE = 0        # about to try
    PARK = 1        # parked, for as short a time as can be
    SLEEP = 2       # asleep


class Retrying(Machine):
    """A task with the progressive strategy, and a receiver that may have a free slot or not."""

    l1 = const(1)                       # turns in which it spins
    l2 = const(2)                       # turns in which it parks

    refused = boolean(False)            # a tuple was refused, and is pending
    pause = choice(Pause)
    idle = integer(0, l1 + l2 + 1)      # idle turns, as the strategy counts them
    busy = integer(0, l1 + l2 + 2)      # attempts in a row without a sleep
    hasty = boolean(False)              # it has tried again without any pause
    room = boolean(True)                # the receiver takes a tuple

    @action
    def emit(self) -> None:
        """The task has a tuple to send, and this is refused."""
        require(not self.refused and not self.room)
        self.refused = True

    @action(fair=True)
    def attempt(self) -> None:
        """The head of pendingEmits is tried again."""
        require(self.refused and self.pause == Pause.NONE)
        self.busy = min(self.busy + 1, self.l1 + self.l2 + 2)
        if self.room:
            self.refused = False
            self.succeed()
        else:
            self.wait()
        self.hasty = self.refused and self.pause == Pause.NONE

    def succeed(self) -> None:
        """A success resets both counts of attempts."""
        self.idle = 0
        self.busy = 0

    def wait(self) -> None:
        """The strategy: spin, park, then sleep."""
        if self.idle < self.l1:
            self.idle += 1
        elif self.idle < self.l1 + self.l2:
            self.idle += 1
            self.pause = Pause.PARK
        else:
            self.pause = Pause.SLEEP

    @action(fair=True)
    def wake(self) -> None:
        """The pause is over."""
        require(self.pause != Pause.NONE)
        if self.pause == Pause.SLEEP:
            self.busy = 0
        self.pause = Pause.NONE

    @action
    def fill_up(self) -> None:
        """The receiver has no free slot any more."""
        require(self.room)
        self.room = False

    @action
    def drain(self) -> None:
        """The receiver has a free slot again."""
        require(not self.room)
        self.room = True

    @leads_to("STORM-W1", MUST,
              "A refused tuple is sent eventually, unless its receiver runs out of space again.",
              source="000#aims ('required to retry until the situation changes')")
    def retries_succeed(self) -> tuple[bool, bool]:
        """The task needs no wake-up."""
        return self.refused and self.room, not self.refused or not self.room

    @always("STORM-W2", MUST, "A task retries a refused tuple at most l1 + l2 + 1 times in a row "
            "without a sleep (l1 spins, l2 parks).", source=f"{STRATEGY}: 'to conserve CPU'")
    def waiting_costs_little(self) -> bool:
        """This holds however long its receiver is backlogged."""
        return self.busy <= self.l1 + self.l2 + 1

    @always("STORM-W3", MUST,
            "While a task has no refused tuple, its wait strategy's count of turns without "
            "success is 0.",
            source=f"{STRATEGY}; storm#defaults")
    def success_begins_anew(self) -> bool:
        """So the next refusal is retried at once, and not after a sleep."""
        return self.refused or self.idle == 0

    @always("STORM-W4", SHOULD,
            "Between two attempts to send the same refused tuple, a task parks or sleeps: it "
            "does not spin.",
            source=STRATEGY)
    def every_attempt_is_followed_by_a_pause(self) -> bool:
        """The text taken literally; the default strategy spins at first."""
        return not self.hasty


class Parking(Retrying):
    """WaitStrategyPark: the same pause at each turn; it counts as a sleep."""

    def wait(self) -> None:
        """The turns are not counted."""
        self.pause = Pause.SLEEP


class Spinning(Retrying):
    """WaitStrategyPark with a time of 0."""

    def wait(self) -> None:
        """Nothing: the task does not pause."""


class CountingOn(Retrying):
    """The number of idle turns is not reset."""

    def succeed(self) -> None:
        """The next refusal continues with the old number of idle turns."""
        self.busy = 0


class WaitingForWakeUp(Retrying):
    """A sleeping task is woken only by its receiver, when that gets a free slot."""

    @action(fair=True)
    def wake(self) -> None:
        """Sleep has no end of its own."""
        require(self.pause != Pause.SLEEP)
        super().wake()

    @action
    def drain(self) -> None:
        """A sleeping task is woken; one that is about to sleep is not."""
        super().drain()
        if self.pause == Pause.SLEEP:
            self.pause = Pause.NONE
            self.busy = 0

    @action(fair=True)
    def attempt(self) -> None:
        """It checks, and goes to sleep later: the result may not be true any more."""
        require(self.refused and self.pause == Pause.NONE)
        if self.idle == self.l1 + self.l2:
            self.pause = Pause.SLEEP
        else:
            super().attempt()


RETRIED, CHEAP, ANEW, LITERAL = "STORM-W1", "STORM-W2", "STORM-W3", "STORM-W4"
LEVELS = (0, 1, 2)

EXPECTATIONS = (
    *(expect(Retrying, rule, "holds", about, l1=LEVELS, l2=LEVELS) for rule, about in (
        (RETRIED, "retries need no wake-up"),
        (CHEAP, "progressive: few attempts without a sleep"),
        (ANEW, "a success resets the idle turns"),
    )),
    expect(Retrying, LITERAL, "violated", "progressive spins at first", where="l1 > 0", l1=LEVELS,
           l2=LEVELS),
    *(expect(Parking, rule, "holds", "park: a pause at each turn")
      for rule in (RETRIED, CHEAP, ANEW, LITERAL)),
    expect(Spinning, CHEAP, "violated", "a park of 0 spins forever"),
    expect(CountingOn, ANEW, "violated", "idle turns are not reset"),
    expect(WaitingForWakeUp, RETRIED, "violated", "a wake-up that comes before the sleep"),
)

UNSEEN = {
    "STORM-W2":
        "Attempts and sleeps of a thread are inside it: an observer sees only when the tuple is "
        "sent.",
    "STORM-W3": "An idle turn changes nothing that an observer could see.",
    "STORM-W4":
        "An observer does not see how long a thread pauses between two attempts; whether it "
        "spins shows in a profiler.",
}
