"""A processor: between the demand of its subscriber and the elements of its publisher.

Theory of operation
-------------------
A processor has two subscriptions. It is the subscriber of the one above, and the publisher of the
one below. It passes each element on unchanged, and has a buffer of C slots in between. Demand is
not passed on; the two sides are *separate*: the processor requests from its publisher what its
buffer can hold, C at first and b more as soon as b slots are free, whatever its own subscriber
requests. The subscriber's requests only decide when a slot becomes free.

    above --bring--> waits W --loop: signal--> below: sent
      ^                          frees a slot F       ^
      +------- ask (b) <--------------+               +--- want: allowed

Two threads meet in a processor: the publisher's, which brings elements and their end, and the
subscriber's, which requests. Either may find that something can be signalled now. So both enter the
same *loop*, in which there is at most one of them, and which is left in the step that sees that
nothing is owed (``stream`` has the same loop, where only requests enter it).

The end of a stream passes through in three ways. Completion comes after the elements that wait, and
needs no demand. A failure is passed on at once: before the waiting elements, which are dropped (the
specification's 4.2). A cancel is passed upwards, and elements that still arrive then are dropped.

The buffer never overflows, because the requested elements, the waiting elements and the free slots
are C in all; the processor is never blocked either, if b <= C. A processor that passes its
subscriber's demand on needs a buffer without a bound. This chapter does not say which element is
signalled: a buffer that gives out its newest element violates RS-0.1 of ``observed_processor``.

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
    """A processor that maps elements one by one. Its subscriber may cancel at any time."""

    C = const(2, at_least=1)            # slots of its buffer, between the two sides
    b = const(1, at_least=1)            # freed slots that are requested together
    N = const(3, at_least=1)            # elements of the source
    X = const(0, at_most=1)             # 1: the source fails, after these or before

    asked = integer(0, C, init=C)       # requested above, and not brought
    brought = integer(0, N)             # elements that were signalled to it
    source = choice(Source, Source.OPEN)
    W = integer(0, C)                   # elements that wait in its buffer
    F = integer(0, C)                   # slots that are free and not requested again
    left = boolean(False)               # it has cancelled above
    told = boolean(False)               # so its publisher has been told

    allowed = integer(0, N)             # requested below in all
    sent = integer(0, N)                # elements signalled below
    loop = choice(Loop, Loop.IDLE)
    open = integer(0, 1)                # signals below that have not returned
    ended = boolean(False)              # the end was signalled below
    over = boolean(False)               # so its subscriber has been told
    cancelled = boolean(False)          # below

    @assume
    def a_batch_fits(self) -> bool:
        """With larger batches no second request is ever made."""
        return self.b <= self.C

    # --- the publisher above ---------------------------------------------------------------

    @action(fair=True)
    def bring(self) -> None:
        """A requested element arrives, perhaps one that was under way at the cancel."""
        require(self.may_bring())
        self.asked -= 1
        self.brought += 1
        if not self.cancelled:
            self.put()
        self.enter()

    def may_bring(self) -> bool:
        """True if the publisher has an element left that was requested."""
        return self.source == Source.OPEN and self.asked > 0 and self.brought < self.N

    @action(fair=True)
    def complete(self) -> None:
        """There are no more elements."""
        require(self.source == Source.OPEN and self.all_is_brought())
        self.source = Source.COMPLETED
        self.enter()

    def all_is_brought(self) -> bool:
        """True if the publisher has signalled all its elements and does not fail."""
        return self.X == 0 and self.brought == self.N

    @action(fair=True)
    def fail(self) -> None:
        """The source fails, and the waiting elements are dropped."""
        require(self.source == Source.OPEN and self.is_to_fail())
        self.source = Source.FAILED
        self.drop()
        self.enter()

    def is_to_fail(self) -> bool:
        """True if the publisher fails at some time."""
        return self.X == 1

    # --- the processor ---------------------------------------------------------------------

    @action(fair=True)
    def signal(self) -> None:
        """Signal the oldest waiting element, in the loop; its slot is free."""
        require(self.may_signal())
        self.W -= 1
        self.free()
        self.sent += 1
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
        require(self.loop == Loop.LOOKING and self.is_on() and self.end_is_due())
        self.ended = True
        self.over = True

    @action(fair=True)
    def leave(self) -> None:
        """See that nothing is owed, and leave the loop in the same step."""
        require(self.loop == Loop.LOOKING and self.owes_nothing())
        self.loop = Loop.IDLE

    @action(fair=True)
    def ask(self) -> None:
        """Request as many elements as slots were freed, whatever is requested below."""
        require(self.may_ask())
        self.asked += self.batch()
        self.F = max(0, self.F - self.batch())

    @action(fair=True)
    def pass_cancel_on(self) -> None:
        """The subscriber has cancelled: cancel above, too."""
        require(self.may_leave())
        self.left = True
        self.told = True

    # --- the subscriber below --------------------------------------------------------------

    @action(fair=True)
    def want(self) -> None:
        """Request one more element: first add the demand, then enter the loop."""
        require(self.allowed < self.N and self.is_on())
        self.allowed += 1
        self.enter()

    @action
    def cancel(self) -> None:
        """The subscriber cancels, and the waiting elements are dropped."""
        require(self.is_on())
        self.cancelled = True
        self.drop()

    # --- derived values --------------------------------------------------------------------

    def enter(self) -> None:
        """Enter the loop if it is idle; a thread that is already in it looks again."""
        if self.loop == Loop.IDLE:
            self.loop = Loop.LOOKING

    def put(self) -> None:
        """Put an element into the buffer."""
        self.W += 1

    def free(self) -> None:
        """Count a slot as free."""
        self.F += 1

    def drop(self) -> None:
        """Drop the elements that wait."""
        self.W = 0

    def is_on(self) -> bool:
        """True if the subscription below is neither cancelled nor ended."""
        return not (self.cancelled or self.ended)

    def may_signal(self) -> bool:
        """True if an element is owed and the loop is free to signal it."""
        return self.loop == Loop.LOOKING and self.owes_an_element()

    def owes_an_element(self) -> bool:
        """True if an element waits and was requested below."""
        return self.is_on() and self.W > 0 and self.sent < self.allowed

    def end_is_due(self) -> bool:
        """True after a failure, and after completion once no element waits."""
        return self.source == Source.FAILED or (self.source == Source.COMPLETED and self.W == 0)

    def owes_nothing(self) -> bool:
        """True if neither an element nor the end is to be signalled now."""
        return not self.owes_an_element() and not (self.is_on() and self.end_is_due())

    def may_ask(self) -> bool:
        """True if a batch of slots is free, and neither side has ended or cancelled."""
        return self.F >= self.b and self.source == Source.OPEN and not self.cancelled

    def batch(self) -> int:
        """Number of elements that one request asks for."""
        return self.b

    def may_leave(self) -> bool:
        """True if its subscriber has cancelled, and the publisher does not know yet."""
        return self.cancelled and not self.left and self.source == Source.OPEN

    # --- rules -----------------------------------------------------------------------------

    @always("RS-0.9", MUST,
            "Until its subscriber cancels, the elements that a processor has requested and not "
            "yet signalled are no more than its buffer holds.",
            source="reactive#ours; reactor #167")
    def is_bounded(self) -> bool:
        """Elements that wait, plus elements that may still come, fit C slots."""
        return self.cancelled or self.asked + self.W <= self.C

    @always("RS-0.10", MUST,
            "A processor signals no more elements than its subscriber has requested.",
            source="reactive#R1-1; reactive#R4-1")
    def sends_what_is_allowed(self) -> bool:
        """Compare the totals so far."""
        return self.sent <= self.allowed

    @always("RS-0.11", MUST, "A processor signals serially: of the two threads that meet in it "
            "only one signals at a time.", source="reactive#R1-3; reactive#R4-1")
    def is_serial(self) -> bool:
        """The thread that signals is alone in the loop."""
        return self.open <= 1 and (self.open == 0) == (self.loop != Loop.SIGNALLING)

    @always("RS-0.12", MUST, "A processor whose source has not failed signals its end only after "
            "all elements that the source brought.", source="reactive#R4-1; reactive#ours")
    def ends_behind_all(self) -> bool:
        """The end follows all elements if the source completed normally."""
        return not self.over or self.source == Source.FAILED or self.sent == self.brought

    @step("RS-0.13", MUST, "Once its source has failed, a processor signals no further element.",
          source="reactive#R4-2")
    def fails_at_once(self, after: Processor) -> bool:
        """Neither waiting elements nor demand delay the failure."""
        return self.source != Source.FAILED or after.sent == self.sent

    @leads_to("RS-0.14", MUST,
              "A processor that is not cancelled signals the end of its stream eventually.",
              source="reactive#R4-1; reactive#R2-1")
    def comes_to_its_end(self) -> tuple[bool, bool]:
        """The end comes under every fair order of steps."""
        return True, self.ended or self.cancelled

    @leads_to("RS-0.15", MUST,
              "When its subscriber cancels, a processor eventually cancels at its publisher, "
              "unless the publisher ends first.",
              source="reactive#R4-1; reactive#R2-6; RxJava #7081")
    def passes_cancels_on(self) -> tuple[bool, bool]:
        """The publisher may end by itself before the cancel reaches it."""
        return self.cancelled, self.told or self.source != Source.OPEN


# --- variants, above ---------------------------------------------------------------------------

class AskingForAll(Processor):
    """The processor requests a whole buffer whenever a batch is free."""

    asked = integer(0, Processor.C + Processor.N, init=Processor.C)
    W = integer(0, Processor.N)
    F = integer(0, Processor.N)

    @action(fair=True)
    def ask(self) -> None:
        """Request all slots, as if they were free."""
        require(self.may_ask() and self.asked + self.batch() <= self.C + self.N)
        self.asked += self.batch()
        self.F = max(0, self.F - self.batch())

    def batch(self) -> int:
        """The number of slots of the whole buffer."""
        return self.C


class AskingAtArrival(AskingForAll):
    """A slot is requested again when its element arrives, not when the element leaves."""

    def put(self) -> None:
        """Put the element in, and count its slot as free already."""
        self.W += 1
        self.F += 1

    def free(self) -> None:
        """Nothing: ``put`` has already counted the slot."""

    def batch(self) -> int:
        """Number of elements that arrived together."""
        return self.b


class AskingOnce(Processor):
    """It requests what its buffer can hold once, and never again."""

    def may_ask(self) -> bool:
        """Never: the first request is the only one."""
        return False


class AskingAfterTheEnd(Processor):
    """A processor that continues to request after the end."""

    def may_ask(self) -> bool:
        """True even after the end of the source."""
        return self.F >= self.b and not self.cancelled


class KeepingCancels(Processor):
    """A cancel stays in the processor."""

    def may_leave(self) -> bool:
        """Never: the processor only forgets its subscriber."""
        return False


# --- variants, below ---------------------------------------------------------------------------

class Overdrawing(Processor):
    """``<=`` instead of ``<``: one element too many."""

    def owes_an_element(self) -> bool:
        """Allow one element even if nothing was requested."""
        return (self.is_on() and self.W > 0 and self.sent <= self.allowed
                and self.source != Source.FAILED)


class Overlapping(Processor):
    """The thread that brings an element signals it, even if another thread is in the loop."""

    open = integer(0, 2)

    def may_signal(self) -> bool:
        """True even while another thread's signal is open."""
        return self.loop != Loop.IDLE and self.open < 2 and self.owes_an_element()


class TwoStepsOut(Processor):
    """It leaves the loop in two steps: it sees that nothing is owed, and then leaves."""

    @action(fair=True)
    def leave(self) -> None:
        """Leave without looking again."""
        require((self.loop == Loop.LOOKING and self.owes_nothing()) or self.loop == Loop.LEAVING)
        self.loop = Loop.IDLE if self.loop == Loop.LEAVING else Loop.LEAVING


class GoingOn(Processor):
    """The cancel is passed up, but the waiting elements are still signalled."""

    def drop(self) -> None:
        """Nothing is dropped: elements that were brought stay in the buffer."""

    def is_on(self) -> bool:
        """True until the end, even after a cancel."""
        return not self.ended


# --- variants, between both --------------------------------------------------------------------

class EndingWithElementsLeft(Processor):
    """The end is passed on as soon as it comes, like a failure."""

    def end_is_due(self) -> bool:
        """True even while elements wait."""
        return self.source != Source.OPEN


class FailingInTurn(Processor):
    """A failure comes after the waiting elements, as the end does."""

    def drop(self) -> None:
        """Keep all elements that were brought."""

    def end_is_due(self) -> bool:
        """True once no element waits."""
        return self.source != Source.OPEN and self.W == 0


class DroppingTheEnd(Processor):
    """The end is checked only when it comes: if elements wait then, it is never passed on."""

    heard = boolean(False)              # it came while nothing waited

    @action(fair=True)
    def complete(self) -> None:
        """There are no more elements."""
        require(self.source == Source.OPEN and self.all_is_brought())
        self.source = Source.COMPLETED
        self.heard = self.W == 0
        self.enter()

    def end_is_due(self) -> bool:
        """True only if no element waited when the end came."""
        return self.source == Source.FAILED or self.heard


class DroppingFailures(Processor):
    """A failure is only logged, and not passed on."""

    def end_is_due(self) -> bool:
        """True after completion only."""
        return self.source == Source.COMPLETED and self.W == 0


def _batches(C: int) -> range:
    return range(1, C + 1)


EXPECTATIONS = (
    *(expect(Processor, f"RS-0.{number}", "holds", words, C=(1, 2, 3), b=_batches, N=(1, 3),
             X=(0, 1))
      for number, words in (
          (9, "the buffer of a processor never overflows"),
          (10, "no element without a request below"), (11, "two threads, at most one in the loop"),
          (12, "the end comes last"), (13, "a failure comes next"),
          (14, "a stream through a processor ends"), (15, "a cancel is passed on"))),
    expect(AskingForAll, "RS-0.9", "violated", "a whole buffer requested above for a freed batch",
           C=(2, 3),
           b=1, N=4),
    expect(AskingAtArrival, "RS-0.9", "violated", "a slot requested while it is occupied", C=(1, 2),
           N=4),
    expect(AskingOnce, "RS-0.14", "violated", "a buffer is requested once only", C=(1, 2), N=4),
    expect(KeepingCancels, "RS-0.15", "violated", "a cancel stays in the processor", C=(1, 2),
           N=4),
    expect(Overdrawing, "RS-0.10", "violated", "one element too many below", C=(1, 2), N=4),
    expect(Overlapping, "RS-0.11", "violated", "the thread that brings an element signals it", C=(2,
           3), N=4),
    expect(TwoStepsOut, "RS-0.14", "violated", "an element between looking and leaving", C=(1, 2),
           N=4),
    expect(EndingWithElementsLeft, "RS-0.12", "violated", "the end overtakes waiting elements",
           C=(1, 2),
           N=4),
    expect(FailingInTurn, "RS-0.13", "violated", "a failure waits behind elements", C=(1, 2), N=4,
           X=1),
    expect(DroppingTheEnd, "RS-0.14", "violated", "the end is forgotten while elements wait",
           C=(1, 2), N=4),
    expect(DroppingFailures, "RS-0.14", "violated", "the failure is not passed on", C=(1, 2), N=4,
           X=1),
)
