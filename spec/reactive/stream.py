"""A publisher and a subscriber with one subscription: demand, and which thread may signal.

Theory of operation
-------------------
The subscriber has a buffer of C slots. It requests C elements at first, and b more as soon as it
has processed b. The publisher keeps the number of elements requested in all, ``allowed``, and
signals the next element while fewer were ``sent``. Both are calls, not messages, and any thread may
make them: so a request may come while a signal has not returned.

Signals must not overlap. So at most one thread is in the publisher's *loop*, which signals until
nothing is owed. A requesting thread adds to the demand first, and then enters the loop if it is
empty. The thread in the loop leaves it in the same step in which it sees that nothing is owed. If
it took two steps, a request could come between them: it would find the loop occupied, and rely on a
thread that has already looked. Then the demand stays, and no thread serves it.

The loop also bounds the recursion of onNext and request: a request from within a signal finds the
loop occupied, and returns.

    subscriber: waiting N --process--> freed F --request (b)--> allowed --loop: signal--> sent, N

The buffer never overflows, because at most C elements are requested and not processed. The stream
is never blocked either, if b freed slots can come together at all: b <= C. The source ends after
its elements, or fails; this is signalled without any demand.

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
    """The state of the loop that signals."""

    IDLE = 0            # no thread is in the loop
    LOOKING = 1         # a thread is in it, and checks what is owed
    SIGNALLING = 2      # a signal has not returned
    LEAVING = 3         # it has seen that nothing is owed (only in a variant)


class Stream(Machine):
    """One subscription. Its subscriber may cancel at any time."""

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
        """Signal the next element, in the loop."""
        require(self.may_signal())
        self.sent += 1
        self.W += 1
        self.open += 1
        self.loop = Loop.SIGNALLING

    @action(fair=True)
    def signal_returns(self) -> None:
        """onNext returns, and the loop continues."""
        require(self.open > 0)
        self.open -= 1
        self.loop = Loop.LOOKING

    @action(fair=True)
    def end(self) -> None:
        """Signal onComplete or onError, which need no demand."""
        require(self.loop == Loop.LOOKING and self.is_on() and self.sent == self.N)
        self.ended = True

    @action(fair=True)
    def leave(self) -> None:
        """See that nothing is owed, and leave the loop in the same step."""
        require(self.loop == Loop.LOOKING and self.owes_nothing())
        self.loop = Loop.IDLE

    # --- the subscriber --------------------------------------------------------------------

    @action(fair=True)
    def process(self) -> None:
        """Process the oldest waiting element; its slot is free."""
        require(self.W > 0 and not self.cancelled)
        self.W -= 1
        self.F += 1

    @action(fair=True)
    def request(self) -> None:
        """Request a batch of freed slots: first add the demand, then enter the loop."""
        require(self.may_request() and self.allowed + self.batch() <= self.N + self.C)
        self.allowed += self.batch()
        self.F = max(0, self.F - self.b)
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING

    @action
    def cancel(self) -> None:
        """The subscriber wants no more elements."""
        require(not self.cancelled and not self.ended)
        self.cancelled = True

    # --- derived values --------------------------------------------------------------------

    def is_on(self) -> bool:
        """True if the subscription is neither cancelled nor ended."""
        return not (self.cancelled or self.ended)

    def may_signal(self) -> bool:
        """True if a requested element is there, and the loop is free to signal it."""
        return (self.loop == Loop.LOOKING and self.is_on() and self.sent < self.allowed
                and self.sent < self.N)

    def owes_nothing(self) -> bool:
        """True if neither an element nor the end is to be signalled now."""
        return not self.is_on() or (self.sent >= self.allowed and self.sent < self.N)

    def may_request(self) -> bool:
        """True if a batch of slots is free, and the subscription is on."""
        return self.F >= self.b and self.is_on()

    def batch(self) -> int:
        """Number of elements that one request asks for."""
        return self.b

    # --- rules -----------------------------------------------------------------------------

    @always("RS-0.4", MUST,
            "The elements that are requested and not yet processed fit the subscriber's buffer.",
            source="reactive#ours; reactor #167")
    def is_bounded(self) -> bool:
        """Elements that wait, plus elements that may still come, fit C slots."""
        return self.W + max(0, self.allowed - self.sent) <= self.C

    @always("RS-0.5", MUST, "No more elements are signalled than were requested.",
            source="reactive#R1-1")
    def sends_what_is_allowed(self) -> bool:
        """Compare the totals so far."""
        return self.sent <= self.allowed

    @always("RS-0.6", MUST, "No signal begins before the one before it has returned.",
            source="reactive#R1-3")
    def is_serial(self) -> bool:
        """The thread that signals is alone in the loop."""
        return self.open <= 1 and (self.open == 0) == (self.loop != Loop.SIGNALLING)

    @leads_to("RS-0.7", MUST,
              "Every stream eventually signals its end, unless it is cancelled.",
              source="reactive#R1-4; reactive#R1-5")
    def comes_to_its_end(self) -> tuple[bool, bool]:
        """The end comes under every fair order of steps."""
        return True, self.ended or self.cancelled


# --- variants of the publisher ------------------------------------------------------------------

class Overdrawing(Stream):
    """``<=`` instead of ``<``: one element too many."""

    W = integer(0, Stream.C + 1)
    F = integer(0, Stream.C + 1)

    def may_signal(self) -> bool:
        """Allow one element even if nothing was requested."""
        return (self.loop == Loop.LOOKING and self.is_on() and self.sent <= self.allowed
                and self.sent < self.N and self.W <= self.C and self.F <= self.C)


class Overlapping(Stream):
    """The requesting thread signals by itself, even if another thread is in the loop."""

    open = integer(0, 2)

    def may_signal(self) -> bool:
        """True even while another thread's signal is open."""
        return (self.loop != Loop.IDLE and self.open < 2 and self.is_on()
                and self.sent < self.allowed and self.sent < self.N)


class TwoStepsOut(Stream):
    """It leaves the loop in two steps: it sees that nothing is owed, and then leaves."""

    @action(fair=True)
    def leave(self) -> None:
        """Leave without looking again."""
        require((self.loop == Loop.LOOKING and self.owes_nothing()) or self.loop == Loop.LEAVING)
        self.loop = Loop.IDLE if self.loop == Loop.LEAVING else Loop.LEAVING


class Wrapping(Stream):
    """A sum of requests that overflows: earlier requests are forgotten."""

    @action(fair=True)
    def request(self) -> None:
        """The sum overflows one batch before the last."""
        require(self.may_request())
        total = self.allowed + self.batch()
        self.allowed = total if total <= self.C + 1 else 0
        self.F -= self.b
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING


class GoingOn(Stream):
    """A publisher that does not check for a cancel."""

    def is_on(self) -> bool:
        """True until the end, even after a cancel."""
        return not self.ended


class HonouringLate(Stream):
    """A request undoes a cancel."""

    def may_request(self) -> bool:
        """True also after a cancel."""
        return self.F >= self.b and not self.ended

    @action(fair=True)
    def request(self) -> None:
        """The last call wins: a request undoes the cancel."""
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
        """Never: there is no such signal."""
        require(False)

    def owes_nothing(self) -> bool:
        """True also when only the end is left to signal."""
        return not self.is_on() or self.sent >= self.allowed or self.sent == self.N


class DeafAfterwards(Stream):
    """A publisher that takes no request while a signal is open."""

    @action(fair=True)
    def request(self) -> None:
        """The demand is lost if a thread is in the loop."""
        require(self.may_request() and self.allowed + self.batch() <= self.N + self.C)
        self.F -= self.b
        if self.loop == Loop.IDLE:
            self.allowed += self.batch()
            self.loop = Loop.LOOKING


# --- variants of the subscriber -----------------------------------------------------------------

class HoardingSubscriber(Stream):
    """A subscriber that waits for more than a batch: ``>`` instead of ``>=``."""

    def may_request(self) -> bool:
        """True if more slots than a batch are free."""
        return self.F > self.b and self.is_on()


class UnboundedSubscriber(Stream):
    """A subscriber that requests a whole buffer whenever a batch is free."""

    W = integer(0, Stream.N)
    F = integer(0, Stream.N)

    def batch(self) -> int:
        """The number of all slots, free or not."""
        return self.C


class Restless(Stream):
    """A subscriber that continues to request after the end."""

    def may_request(self) -> bool:
        """True even after the end of the source."""
        return self.F >= self.b and not self.cancelled


def _batches(C: int) -> range:
    return range(1, C + 1)


EXPECTATIONS = (
    *(expect(Stream, f"RS-0.{number}", "holds", words, C=(1, 2, 3), b=_batches, N=(1, 4), X=(0, 1))
      for number, words in (
          (4, "the buffer never overflows"), (5, "no element without a request"),
          (6, "at most one thread in the loop"), (7, "the stream ends"))),
    expect(Overdrawing, "RS-0.5", "violated", "one element too many", C=(1, 2), N=4),
    expect(Overdrawing, "RS-0.4", "violated", "one element too many for the buffer",
           C=(1, 2), N=4),
    expect(Overlapping, "RS-0.6", "violated", "the requesting thread signals itself", C=(2, 3),
           N=4),
    expect(TwoStepsOut, "RS-0.7", "violated", "a request between looking and leaving is not served",
           C=(1, 2), N=4),
    expect(Wrapping, "RS-0.7", "violated", "a sum that overflows", C=(1, 2), N=4),
    expect(EndingInSilence, "RS-0.7", "violated", "no end is signalled", C=(1, 2), N=4),
    expect(DeafAfterwards, "RS-0.7", "violated", "a request during a signal is lost", C=(1, 2),
           N=4),
    expect(HoardingSubscriber, "RS-0.7", "violated", "the last batch is not requested", C=(1, 2),
           b=lambda C: C, N=4),
    expect(UnboundedSubscriber, "RS-0.4", "violated", "a whole buffer requested for a freed batch",
           C=(2, 3),
           N=4),
)
