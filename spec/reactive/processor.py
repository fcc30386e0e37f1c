"""A processor: between the demand of its subscriber and the elements of its publisher.

Theory of operation
-------------------
A processor has two subscriptions. Of the one above it is the subscriber, of the one below the
publisher. It passes each element on as it is, and has a buffer of C slots in between. Demand is not
passed on, the two sides are *separate*: it asks its publisher for what its buffer holds, C at first
and b more as soon as b slots are free, whatever its own subscriber asks for. What it is asked for,
and whether anything is asked for at all, only decides when a slot becomes free.

    above --bring--> waits W --loop: signal--> below: sent
      ^                          frees a slot F       ^
      +------- ask (b) <--------------+               +--- want: allowed

Two threads meet in a processor: the publisher's, which brings elements and their end, and the
subscriber's, which requests. Both find that something can be signalled now. So both enter the same
*loop*, in which there is at most one of them, and which is left in the step that sees that nothing
is owed (``stream`` has the same loop, where only requests enter it).

What ends a stream goes through in three ways. The end stands behind the elements that wait, and
takes no demand. A failure is passed on at once: before what waits, which is dropped (the
specification's 4.2). A cancel goes up, and what is still brought then is dropped.

The buffer is never overrun, for what was asked for, what waits and what is free are C slots; it is
never stuck either, if b <= C. A processor that asks for what it is asked for needs a buffer without
a bound as soon as its subscriber asks for more than that. Which element is signalled is not told
here: a buffer that gives out its newest is ``observed_processor``'s to refuse, by RS-0.1.

Source: reactive#specification (2.1, 2.6, 4.1, 4.2); reactive#ours; reactor #167, RxJava #7081.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, assume, boolean, choice, const, integer, leads_to, require, step,
)
from .observed_processor import Source
from .stream import Loop

__all__ = [
    "EXPECTATIONS", "AskingAfterTheEnd", "AskingAtArrival", "AskingForAll", "AskingOnce",
    "DroppingTheEnd", "DroppingFailures", "EndingWithElementsLeft", "FailingInTurn", "GoingOn",
    "KeepingCancels", "Overdrawing", "Overlapping", "Processor", "TwoStepsOut",
]


class Processor(Machine):
    """One that maps elements one by one. Its subscriber cancels whenever it likes, or never."""

    C = const(2, at_least=1)            # slots of its buffer, between the two sides
    b = const(1, at_least=1)            # freed slots that are requested together
    N = const(3, at_least=1)            # elements of the source
    X = const(0, at_most=1)             # 1: after these the source fails, or before

    asked = integer(0, C, init=C)       # requested above, and not brought
    brought = integer(0, N)             # elements that were signalled to it
    source = choice(Source, Source.OPEN)
    W = integer(0, C)                   # elements that wait in its buffer
    F = integer(0, C)                   # slots that are free and not requested again
    left = boolean(False)               # it has cancelled above

    allowed = integer(0, N)             # requested below in all
    sent = integer(0, N)                # elements signalled below
    loop = choice(Loop, Loop.IDLE)
    open = integer(0, 1)                # signals below that have not returned
    ended = boolean(False)              # the end was signalled below
    cancelled = boolean(False)          # below

    @assume
    def a_batch_fits(self) -> bool:
        """With larger batches no second request is ever made."""
        return self.b <= self.C

    # --- the publisher above ---------------------------------------------------------------

    @action(fair=True)
    def bring(self) -> None:
        """An element that was asked for, perhaps one that was under way at the cancel."""
        require(self.source == Source.OPEN and self.asked > 0 and self.brought < self.N)
        self.asked -= 1
        self.brought += 1
        if not self.cancelled:
            self.put()
        self.enter()

    @action(fair=True)
    def complete(self) -> None:
        """There are no more elements."""
        require(self.source == Source.OPEN and self.all_is_brought())
        self.source = Source.COMPLETED
        self.enter()

    def all_is_brought(self) -> bool:
        """The publisher has nothing left, and does not fail."""
        return self.X == 0 and self.brought == self.N

    @action(fair=True)
    def fail(self) -> None:
        """The source fails, and what waits is dropped."""
        require(self.source == Source.OPEN and self.is_to_fail())
        self.source = Source.FAILED
        self.drop()
        self.enter()

    def is_to_fail(self) -> bool:
        """The publisher fails, some time."""
        return self.X == 1

    # --- the processor ---------------------------------------------------------------------

    @action(fair=True)
    def signal(self) -> None:
        """The oldest element that waits, in the loop: its slot is free."""
        require(self.may_signal())
        self.W -= 1
        self.free()
        self.sent += 1
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
        require(self.loop == Loop.LOOKING and self.is_on() and self.end_is_due())
        self.ended = True

    @action(fair=True)
    def leave(self) -> None:
        """Nothing is owed: out of the loop, in the same step."""
        require(self.loop == Loop.LOOKING and self.owes_nothing())
        self.loop = Loop.IDLE

    @action(fair=True)
    def ask(self) -> None:
        """As many elements as slots were freed together, whatever is wanted below."""
        require(self.may_ask())
        self.asked += self.batch()
        self.F = max(0, self.F - self.batch())

    @action(fair=True)
    def pass_cancel_on(self) -> None:
        """Nobody is left to want anything: the cancel goes up."""
        require(self.may_leave())
        self.left = True

    # --- the subscriber below --------------------------------------------------------------

    @action(fair=True)
    def want(self) -> None:
        """One element more is requested: the demand first, then the loop."""
        require(self.allowed < self.N and self.is_on())
        self.allowed += 1
        self.enter()

    @action
    def cancel(self) -> None:
        """The subscriber wants no more, and what waits is dropped."""
        require(self.is_on())
        self.cancelled = True
        self.drop()

    # --- in other words --------------------------------------------------------------------

    def enter(self) -> None:
        """Into the loop, if nobody is in it: whoever is in it looks again."""
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING

    def put(self) -> None:
        """An element is put into the buffer."""
        self.W += 1

    def free(self) -> None:
        """A slot is free again."""
        self.F += 1

    def drop(self) -> None:
        """What waits is dropped."""
        self.W = 0

    def is_on(self) -> bool:
        """The subscription below is neither cancelled nor ended."""
        return not (self.cancelled or self.ended)

    def may_signal(self) -> bool:
        """An element waits and is wanted, and this thread alone may signal it."""
        return self.loop == Loop.LOOKING and self.owes_an_element()

    def owes_an_element(self) -> bool:
        """An element waits and is wanted."""
        return self.is_on() and self.W > 0 and self.sent < self.allowed

    def end_is_due(self) -> bool:
        """A failure goes first, the end of the elements last."""
        return self.source == Source.FAILED or (self.source == Source.COMPLETED and self.W == 0)

    def owes_nothing(self) -> bool:
        """Neither an element nor the end is to be signalled now."""
        return not self.owes_an_element() and not (self.is_on() and self.end_is_due())

    def may_ask(self) -> bool:
        """A batch of slots is free, and somebody wants elements of a publisher that has some."""
        return self.F >= self.b and self.source == Source.OPEN and not self.cancelled

    def batch(self) -> int:
        """How many are requested together."""
        return self.b

    def may_leave(self) -> bool:
        """Its subscriber has cancelled, and its publisher does not know."""
        return self.cancelled and not self.left and self.source == Source.OPEN

    # --- rules -----------------------------------------------------------------------------

    @always("RS-0.9", MUST, "What a processor has asked for and not passed on fits its buffer.",
            source="reactive#ours; reactor #167")
    def is_bounded(self) -> bool:
        """What waits and what may still come."""
        return self.cancelled or self.asked + self.W <= self.C

    @always("RS-0.10", MUST, "A processor signals no more than its subscriber has requested.",
            source="reactive#R1-1; reactive#R4-1")
    def sends_what_is_allowed(self) -> bool:
        """In all, so far."""
        return self.sent <= self.allowed

    @always("RS-0.11", MUST, "Of the two threads that meet in a processor one signals at a time.",
            source="reactive#R1-3; reactive#R4-1")
    def is_serial(self) -> bool:
        """Whoever signals is alone in the loop."""
        return self.open <= 1 and (self.open == 0) == (self.loop != Loop.SIGNALLING)

    @always("RS-0.12", MUST, "The end that a processor passes on stands behind all elements, "
            "unless its source has failed.", source="reactive#R4-1; reactive#ours")
    def ends_behind_all(self) -> bool:
        """Of a source that has not failed."""
        return not self.ended or self.source == Source.FAILED or self.sent == self.brought

    @step("RS-0.13", MUST, "Once a processor has heard of a failure it begins no other signal.",
          source="reactive#R4-2")
    def fails_at_once(self, after: Processor) -> bool:
        """Whatever waits, and whatever is wanted."""
        return self.source != Source.FAILED or after.sent == self.sent

    @leads_to("RS-0.14", MUST, "A stream through a processor that is not cancelled comes to its "
              "end.", source="reactive#R4-1; reactive#R2-1")
    def comes_to_its_end(self) -> tuple[bool, bool]:
        """Whatever the order of its steps."""
        return True, self.ended or self.cancelled

    @leads_to("RS-0.15", MUST, "A cancel goes through a processor to a publisher that goes on.",
              source="reactive#R4-1; reactive#R2-6; RxJava #7081")
    def passes_cancels_on(self) -> tuple[bool, bool]:
        """Unless that one ends by itself."""
        return self.cancelled, self.left or self.source != Source.OPEN


# --- one line wrong, above ---------------------------------------------------------------------

class AskingForAll(Processor):
    """Demand does not go through, a whole buffer does, whenever a batch is free."""

    asked = integer(0, Processor.C + Processor.N, init=Processor.C)
    W = integer(0, Processor.N)
    F = integer(0, Processor.N)

    @action(fair=True)
    def ask(self) -> None:
        """All slots, as if they were free."""
        require(self.may_ask() and self.asked + self.batch() <= self.C + self.N)
        self.asked += self.batch()
        self.F = max(0, self.F - self.batch())

    def batch(self) -> int:
        """What a buffer holds."""
        return self.C


class AskingAtArrival(AskingForAll):
    """A slot is asked for again when its element comes, and not when that has left."""

    def put(self) -> None:
        """What was asked for is there."""
        self.W += 1
        self.F += 1

    def free(self) -> None:
        """That was said before."""

    def batch(self) -> int:
        """As many as have come together."""
        return self.b


class AskingOnce(Processor):
    """It asks for what its buffer holds, and never again: no demand goes through."""

    def may_ask(self) -> bool:
        """What was asked for at first is all."""
        return False


class AskingAfterTheEnd(Processor):
    """It goes on asking after the end."""

    def may_ask(self) -> bool:
        """The end makes no difference."""
        return self.F >= self.b and not self.cancelled


class KeepingCancels(Processor):
    """A cancel stays in the processor."""

    def may_leave(self) -> bool:
        """What is left to do is to forget the subscriber."""
        return False


# --- one line wrong, below ---------------------------------------------------------------------

class Overdrawing(Processor):
    """<= in the place of <: one element too many."""

    def owes_an_element(self) -> bool:
        """Where nothing was requested, one element may go."""
        return (self.is_on() and self.W > 0 and self.sent <= self.allowed
                and self.source != Source.FAILED)


class Overlapping(Processor):
    """Who brings an element signals it, whoever else is in the loop."""

    open = integer(0, 2)

    def may_signal(self) -> bool:
        """Another thread's signal is no obstacle."""
        return self.loop != Loop.IDLE and self.open < 2 and self.owes_an_element()


class TwoStepsOut(Processor):
    """Out of the loop in two steps: to see that nothing is owed, and to say so."""

    @action(fair=True)
    def leave(self) -> None:
        """It has looked, and will not look again."""
        require((self.loop == Loop.LOOKING and self.owes_nothing()) or self.loop == Loop.LEAVING)
        self.loop = Loop.IDLE if self.loop == Loop.LEAVING else Loop.LEAVING


class GoingOn(Processor):
    """A cancel goes up, and what waits goes on down."""

    def drop(self) -> None:
        """What was brought is still there."""

    def is_on(self) -> bool:
        """Whether a cancel has come is not asked."""
        return not self.ended


# --- one line wrong, between both --------------------------------------------------------------

class EndingWithElementsLeft(Processor):
    """The end is passed on when it comes, as a failure is."""

    def end_is_due(self) -> bool:
        """The end is not behind the elements, but beside them."""
        return self.source != Source.OPEN


class FailingInTurn(Processor):
    """A failure stands behind the elements that wait, as the end does."""

    def drop(self) -> None:
        """Nothing that was brought is lost."""

    def end_is_due(self) -> bool:
        """Once all that waits has gone."""
        return self.source != Source.OPEN and self.W == 0


class DroppingTheEnd(Processor):
    """The end is looked at only when it comes: where elements wait then, nobody hears of it."""

    heard = boolean(False)              # it came while nothing waited

    @action(fair=True)
    def complete(self) -> None:
        """There are no more elements."""
        require(self.source == Source.OPEN and self.all_is_brought())
        self.source = Source.COMPLETED
        self.heard = self.W == 0
        self.enter()

    def end_is_due(self) -> bool:
        """It is not remembered."""
        return self.source == Source.FAILED or self.heard


class DroppingFailures(Processor):
    """A failure is seen by the log only."""

    def end_is_due(self) -> bool:
        """There is no handler for it."""
        return self.source == Source.COMPLETED and self.W == 0


def _batches(C: int) -> range:
    return range(1, C + 1)


EXPECTATIONS = (
    *(expect(Processor, f"RS-0.{number}", "holds", words, C=(1, 2, 3), b=_batches, N=(1, 3),
             X=(0, 1))
      for number, words in (
          (9, "the buffer of a processor is never overrun"),
          (10, "no element without a request below"), (11, "two threads, one in the loop"),
          (12, "the end comes last"), (13, "a failure comes next"),
          (14, "it comes to its end through a processor"), (15, "a cancel goes up"))),
    expect(AskingForAll, "RS-0.9", "violated", "a buffer requested for a batch above", C=(2, 3),
           b=1, N=4),
    expect(AskingAtArrival, "RS-0.9", "violated", "a slot requested while it is taken", C=(1, 2),
           N=4),
    expect(AskingOnce, "RS-0.14", "violated", "a buffer is requested, and no more", C=(1, 2), N=4),
    expect(KeepingCancels, "RS-0.15", "violated", "a cancel stays in the processor", C=(1, 2),
           N=4),
    expect(Overdrawing, "RS-0.10", "violated", "one element too many below", C=(1, 2), N=4),
    expect(Overlapping, "RS-0.11", "violated", "who brings an element signals it", C=(2, 3), N=4),
    expect(TwoStepsOut, "RS-0.14", "violated", "an element between looking and leaving", C=(1, 2),
           N=4),
    expect(EndingWithElementsLeft, "RS-0.12", "violated", "the end overtakes what waits", C=(1, 2),
           N=4),
    expect(FailingInTurn, "RS-0.13", "violated", "a failure stands in line", C=(1, 2), N=4, X=1),
    expect(DroppingTheEnd, "RS-0.14", "violated", "the end is forgotten while elements wait",
           C=(1, 2), N=4),
    expect(DroppingFailures, "RS-0.14", "violated", "the failure is not passed on", C=(1, 2), N=4,
           X=1),
)
