"""A publisher and a subscriber with one subscription: demand, and who may signal.

Theory of operation
-------------------
The subscriber has a buffer of C slots. It requests C elements at first, and b more as soon as it
has processed b. The publisher keeps how many were requested in all, ``allowed``, and signals the
next element while fewer were ``sent``. Both are calls, not messages, and any thread may make them:
so a request may come while a signal has not returned.

Signals must not overlap. So at most one thread is in the publisher's *loop*, which signals until
nothing is owed. Whoever requests adds to the demand first, and then enters the loop if nobody is in
it. Whoever is in it leaves in the same step in which it sees that nothing is owed. In two steps a
request may come between them: it finds somebody in the loop, and relies on one who has already
looked. Then the demand stays, and nobody serves it.

The loop also bounds the recursion of onNext and request: a request from within a signal finds
somebody in the loop, and returns.

    subscriber: waiting N --process--> freed F --request (b)--> allowed --loop: signal--> sent, N

The buffer is never overrun, for what is allowed, and not processed, is at most C. It is not stuck
either, if b freed slots can come together at all: b <= C. The source ends after its elements, or
fails; this is signalled without any demand.

Source: reactive#specification (1.1, 1.3, 2.1, 3.3, 3.8, 3.17); reactor #167.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, assume, boolean, choice, const, integer, leads_to, require,
)

__all__ = [
    "EXPECTATIONS", "DeafAfterwards", "EndingInSilence", "GoingOn", "HoardingSubscriber",
    "HonouringLate", "Loop", "Overdrawing", "Overlapping", "Restless", "Stream",
    "TwoStepsOut", "UnboundedSubscriber", "Wrapping",
]


class Loop(IntEnum):
    """What the thread does that signals."""

    IDLE = 0            # nobody is in the loop
    LOOKING = 1         # somebody is, and looks what is owed
    SIGNALLING = 2      # a signal has not returned
    LEAVING = 3         # it has seen that nothing is owed (of a broken variant)


class Stream(Machine):
    """One subscription. Its subscriber cancels whenever it likes, or never."""

    C = const(2, at_least=1)            # slots of the subscriber's buffer
    b = const(1, at_least=1)            # freed slots that are requested together
    N = const(3, at_least=1)            # elements of the source
    X = const(0, at_most=1)             # 1: after these the source fails

    allowed = integer(0, N + C, init=C)     # requested in all
    sent = integer(0, N)                # elements signalled
    loop = choice(Loop, Loop.LOOKING)
    open = integer(0, 1)                # signals that have not returned
    W = integer(0, C)                   # elements that wait at the subscriber
    F = integer(0, C)                   # slots that are free and not requested again
    ended = boolean(False)              # the end was signalled
    cancelled = boolean(False)

    @assume
    def a_batch_fits(self) -> bool:
        """With larger batches no second request is ever made."""
        return self.b <= self.C

    # --- the publisher ---------------------------------------------------------------------

    @action(fair=True)
    def signal(self) -> None:
        """The next element, in the loop."""
        require(self.may_signal())
        self.sent += 1
        self.W += 1
        self.open += 1
        self.loop = Loop.SIGNALLING

    @action(fair=True)
    def signal_returns(self) -> None:
        """onNext returns, and the loop goes on."""
        require(self.open > 0)
        self.open -= 1
        self.loop = Loop.LOOKING

    @action(fair=True)
    def end(self) -> None:
        """onComplete or onError, which take no demand."""
        require(self.loop == Loop.LOOKING and self.is_on() and self.sent == self.N)
        self.ended = True

    @action(fair=True)
    def leave(self) -> None:
        """Nothing is owed: out of the loop, in the same step."""
        require(self.loop == Loop.LOOKING and self.owes_nothing())
        self.loop = Loop.IDLE

    # --- the subscriber --------------------------------------------------------------------

    @action(fair=True)
    def process(self) -> None:
        """The oldest element that waits: its slot is free."""
        require(self.W > 0 and not self.cancelled)
        self.W -= 1
        self.F += 1

    @action(fair=True)
    def request(self) -> None:
        """As many as were freed together: the demand first, then the loop."""
        require(self.may_request() and self.allowed + self.batch() <= self.N + self.C)
        self.allowed += self.batch()
        self.F = max(0, self.F - self.b)
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING

    @action
    def cancel(self) -> None:
        """The subscriber wants no more."""
        require(not self.cancelled and not self.ended)
        self.cancelled = True

    # --- in other words --------------------------------------------------------------------

    def is_on(self) -> bool:
        """The subscription is neither cancelled nor ended."""
        return not (self.cancelled or self.ended)

    def may_signal(self) -> bool:
        """There is an element that was requested, and this thread alone may signal it."""
        return (self.loop == Loop.LOOKING and self.is_on() and self.sent < self.allowed
                and self.sent < self.N)

    def owes_nothing(self) -> bool:
        """Neither an element nor the end is to be signalled now."""
        return not self.is_on() or (self.sent >= self.allowed and self.sent < self.N)

    def may_request(self) -> bool:
        """A batch of slots is free, and the subscription is on."""
        return self.F >= self.b and self.is_on()

    def batch(self) -> int:
        """How many are requested together."""
        return self.b

    # --- rules -----------------------------------------------------------------------------

    @always("RS-0.4", MUST, "What was requested and is not processed fits the subscriber's buffer.",
            source="reactive#ours; reactor #167")
    def is_bounded(self) -> bool:
        """What waits and what may still come."""
        return self.W + max(0, self.allowed - self.sent) <= self.C

    @always("RS-0.5", MUST, "No more is signalled than was requested.", source="reactive#R1-1")
    def sends_what_is_allowed(self) -> bool:
        """In all, so far."""
        return self.sent <= self.allowed

    @always("RS-0.6", MUST, "No two signals are open at a time.", source="reactive#R1-3")
    def is_serial(self) -> bool:
        """Whoever signals is alone in the loop."""
        return self.open <= 1 and (self.open == 0) == (self.loop != Loop.SIGNALLING)

    @leads_to("RS-0.7", MUST, "A stream that is not cancelled signals its end.",
              source="reactive#R1-4; reactive#R1-5")
    def comes_to_its_end(self) -> tuple[bool, bool]:
        """Whatever the order of its steps."""
        return True, self.ended or self.cancelled


# --- one line wrong, in the publisher ----------------------------------------------------------

class Overdrawing(Stream):
    """<= in the place of <: one element too many."""

    W = integer(0, Stream.C + 1)
    F = integer(0, Stream.C + 1)

    def may_signal(self) -> bool:
        """Where nothing was requested, one element may go."""
        return (self.loop == Loop.LOOKING and self.is_on() and self.sent <= self.allowed
                and self.sent < self.N and self.W <= self.C and self.F <= self.C)


class Overlapping(Stream):
    """Who requests signals itself, whoever else is in the loop."""

    open = integer(0, 2)

    def may_signal(self) -> bool:
        """Another thread's signal is no obstacle."""
        return (self.loop != Loop.IDLE and self.open < 2 and self.is_on()
                and self.sent < self.allowed and self.sent < self.N)


class TwoStepsOut(Stream):
    """Out of the loop in two steps: to see that nothing is owed, and to say so."""

    @action(fair=True)
    def leave(self) -> None:
        """It has looked, and will not look again."""
        require((self.loop == Loop.LOOKING and self.owes_nothing()) or self.loop == Loop.LEAVING)
        self.loop = Loop.IDLE if self.loop == Loop.LEAVING else Loop.LEAVING


class Wrapping(Stream):
    """A sum of requests that wraps: what was requested before is forgotten."""

    @action(fair=True)
    def request(self) -> None:
        """The sum has room for one batch less than there will be."""
        require(self.may_request())
        total = self.allowed + self.batch()
        self.allowed = total if total <= self.C + 1 else 0
        self.F -= self.b
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING


class GoingOn(Stream):
    """A publisher that does not look whether it is cancelled."""

    def is_on(self) -> bool:
        """Whether a cancel has come is not asked."""
        return not self.ended


class HonouringLate(Stream):
    """A request takes back a cancel."""

    def may_request(self) -> bool:
        """Also where the subscription is cancelled, once."""
        return self.F >= self.b and not self.ended

    @action(fair=True)
    def request(self) -> None:
        """The publisher goes by the last call."""
        require(self.may_request() and self.allowed + self.batch() <= self.N + self.C)
        self.allowed += self.batch()
        self.F -= self.b
        self.cancelled = False
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING


class EndingInSilence(Stream):
    """A publisher that signals elements only."""

    @action(fair=True)
    def end(self) -> None:
        """There is no such signal."""
        require(False)

    def owes_nothing(self) -> bool:
        """The end is nothing."""
        return not self.is_on() or self.sent >= self.allowed or self.sent == self.N


class DeafAfterwards(Stream):
    """A publisher that takes no request while a signal is open."""

    @action(fair=True)
    def request(self) -> None:
        """Whoever is in the loop does not look again."""
        require(self.may_request() and self.allowed + self.batch() <= self.N + self.C)
        self.F -= self.b
        if self.loop == Loop.IDLE:
            self.allowed += self.batch()
            self.loop = Loop.LOOKING


# --- one line wrong, in the subscriber ---------------------------------------------------------

class HoardingSubscriber(Stream):
    """A subscriber that requests only what is more than a batch: > in the place of >=."""

    def may_request(self) -> bool:
        """One slot more than a batch is free."""
        return self.F > self.b and self.is_on()


class UnboundedSubscriber(Stream):
    """A subscriber that requests a whole buffer whenever a batch is free."""

    W = integer(0, Stream.N)
    F = integer(0, Stream.N)

    def batch(self) -> int:
        """All slots, as if they were free."""
        return self.C


class Restless(Stream):
    """A subscriber that goes on requesting after the end."""

    def may_request(self) -> bool:
        """The end makes no difference."""
        return self.F >= self.b and not self.cancelled


def _batches(C: int) -> range:
    return range(1, C + 1)


EXPECTATIONS = (
    *(expect(Stream, f"RS-0.{number}", "holds", words, C=(1, 2, 3), b=_batches, N=(1, 4), X=(0, 1))
      for number, words in (
          (4, "the buffer is never overrun"), (5, "no element without a request"),
          (6, "one thread in the loop"), (7, "it comes to its end"))),
    expect(Overdrawing, "RS-0.5", "violated", "one element too many", C=(1, 2), N=4),
    expect(Overdrawing, "RS-0.4", "violated", "one element too many overruns the buffer",
           C=(1, 2), N=4),
    expect(Overlapping, "RS-0.6", "violated", "who requests signals itself", C=(2, 3), N=4),
    expect(TwoStepsOut, "RS-0.7", "violated", "a request between looking and leaving is not served",
           C=(1, 2), N=4),
    expect(Wrapping, "RS-0.7", "violated", "a sum that wraps", C=(1, 2), N=4),
    expect(EndingInSilence, "RS-0.7", "violated", "no end is signalled", C=(1, 2), N=4),
    expect(DeafAfterwards, "RS-0.7", "violated", "a request during a signal is lost", C=(1, 2),
           N=4),
    expect(HoardingSubscriber, "RS-0.7", "violated", "the last batch is not requested", C=(1, 2),
           b=lambda C: C, N=4),
    expect(UnboundedSubscriber, "RS-0.4", "violated", "a buffer requested for a batch", C=(2, 3),
           N=4),
)
