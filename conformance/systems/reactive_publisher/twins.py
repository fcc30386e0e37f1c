"""Publishers with one seeded bug each, for each rule that a publisher can violate."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from ....reference.reactive.outlet import Outlet
from ....reference.reactive.publisher import IterablePublisher, IterableSupply
from ....reference.reactive.signals import (
    COMPLETE, DEMAND_MAX, SUBSCRIBED, Complete, Failed, Next, Signal,
)
from ...suites.twin import Twins
from .adapter import InlinePublisher

__all__ = ["TWINS"]

Out = Outlet[int]
Publisher = IterablePublisher[int]


def _part(bug: type[Any]) -> dict[str, Any]:
    """The part that a class with a bug replaces: the publisher or its outlet."""
    return {"outlet" if issubclass(bug, Outlet) else "publisher": bug}


TWINS: Final = Twins(
    "reactive.publisher", InlinePublisher, ("reference.publisher.inline",), _part)


# ---- demand ---------------------------------------------------------------------------------


@TWINS.twin("publisher-overdraws", "RS-1.1", "signals one element more than was requested",
            ">= 0 instead of > 0")
class Overdrawing(Out):
    """The last requested element counts for two."""

    def _is_wanted(self) -> bool:
        return self._demand >= 0 and self._begun

    def _count_off(self) -> None:
        self._demand -= 1


@TWINS.twin("publisher-takes-any-request-for-all", "RS-1.1",
            "signals all elements, whatever was requested",
            "RxJava #5725: unsubscribeOn requests MAX instead of n")
class TakingAnyForAll(Out):
    """Any request counts as one for all elements."""

    def _sum(self, count: int) -> int:
        return DEMAND_MAX


@TWINS.twin("publisher-takes-the-last-request", "RS-3.8", "a request replaces what is outstanding",
            "= instead of +=")
class TakingTheLast(Out):
    """The demand is the number of the last request."""

    def _sum(self, count: int) -> int:
        return count


@TWINS.twin("publisher-serves-one", "RS-3.8", "signals one element for a request, however many",
            "a drain without its loop: request(n) taken for request(1)")
class ServingOne(Out):
    """Requests are counted, not the elements that they ask for."""

    def _sum(self, count: int) -> int:
        return self._demand + 1


@TWINS.twin("publisher-wraps", "RS-3.17", "adds up demand in 64 bits, and overflows",
            "demand that overflows is negative: request(MAX) twice stops the stream")
class OverflowingDemand(Out):
    """The sum of requests overflows: it is not capped."""

    def _sum(self, count: int) -> int:
        total = self._demand + count
        return total if total <= DEMAND_MAX else total - 2**64


@TWINS.twin("publisher-counts-in-31-bits", "RS-3.17", "keeps the lower 31 bits of a demand",
            "a frame with 31 bits for a number that has 63: -1 & 0x7fffffff is 0 after one more")
class Narrow(Out):
    """The upper bits of the demand are cut off."""

    def _sum(self, count: int) -> int:
        return (self._demand + count + 1) % 2**31 if count > 2**31 else self._demand + count


@TWINS.twin("publisher-requests-in-32-bits", "RS-3.8", "keeps the lower 32 bits of each request",
            "an unsigned 32-bit count on the wire: request(2^32) asks for nothing")
class RequestingIn32Bits(Out):
    """The upper bits of a request are cut off, but for the number that stands for all."""

    def _sum(self, count: int) -> int:
        return self._demand + (count if count == DEMAND_MAX else count % 2**32)


# ---- one at a time --------------------------------------------------------------------------


@TWINS.twin("publisher-overlaps", "RS-1.3",
            "a requesting thread signals even while a signal is open",
            "a loop that is entered by two threads")
class Overlapping(Out):
    """A request does not check whether the loop is occupied."""

    def request(self, count: int) -> None:
        super().request(count)
        self._out = False


@TWINS.twin("publisher-recurses", "RS-3.3", "signals from within request, from within onNext",
            "onNext, request, onNext and so on: as deep as the stream is long")
class Recursing(Out):
    """Signals are made by recursion, not by a loop."""

    def _is_busy(self) -> bool:
        return False


@TWINS.twin("publisher-is-deaf-within", "RS-3.2", "a request from within a signal is lost",
            "the thread in the loop has already looked: lost wake-up")
class DeafWithin(Out):
    """A request is ignored while a signal is open."""

    def request(self, count: int) -> None:
        if not self._out:
            super().request(count)


@TWINS.twin("publisher-forbids-within", "RS-3.2", "a request from within a signal is an error",
            "a lock that its owner cannot take again")
class ForbiddingWithin(Out):
    """A request raises while a signal is open."""

    def request(self, count: int) -> None:
        if self._out:
            raise RuntimeError("reentered")
        super().request(count)


@TWINS.twin("publisher-requests-wait", "RS-3.4", "a request waits until the signal has returned",
            "signals are made under the lock that request takes")
class WaitingRequests(Out):
    """The thread that signals holds the lock, so a request waits."""

    def request(self, count: int) -> None:
        if self._out:
            raise BlockingIOError
        super().request(count)


@TWINS.twin("publisher-cancels-wait", "RS-3.5", "a cancel waits until the signal has returned",
            "signals are made under the lock that cancel takes")
class WaitingCancels(Out):
    """The thread that signals holds the lock, so a cancel waits."""

    def cancel(self) -> None:
        if self._out:
            raise BlockingIOError
        super().cancel()


# ---- the end --------------------------------------------------------------------------------


@TWINS.twin("publisher-never-completes", "RS-1.5", "there is no onComplete",
            "hasNext is asked before, and not after, an element")
class NeverCompleting(Out):
    """The end of the elements is not signalled."""

    def _next(self) -> Signal[int] | None:
        signal = super()._next()
        return None if isinstance(signal, Complete) else signal


@TWINS.twin("publisher-fails-at-its-end", "RS-1.5", "the end of its elements is an error",
            "the iterator's own exception for its end is passed on")
class FailingAtItsEnd(Out):
    """StopIteration is treated like any other exception."""

    def _end(self, signal: Complete | Failed) -> Signal[int]:
        return super()._end(Failed(RuntimeError("no more")) if signal is COMPLETE else signal)


@TWINS.twin("publisher-fails-in-silence", "RS-1.4", "there is no onError when the source fails",
            "an exception that only the log sees")
class WithoutOnError(Out):
    """A failure ends the stream without an onError."""

    def _next(self) -> Signal[int] | None:
        signal = super()._next()
        return None if isinstance(signal, Failed) and self._error is None else signal


@TWINS.twin("publisher-completes-when-it-fails", "RS-1.4", "a failure of the source is an end",
            "finally: onComplete()")
class CompletingWhenItFails(Out):
    """A failure is signalled as onComplete."""

    def _end(self, signal: Complete | Failed) -> Signal[int]:
        return super()._end(signal if self._error else COMPLETE)


@TWINS.twin("publisher-ends-twice", "RS-1.7", "the end is signalled again",
            "onComplete in the loop and once more behind it")
class EndingTwice(Out):
    """The first end does not end the subscription."""

    _ends = 0

    def _end(self, signal: Complete | Failed) -> Signal[int]:
        self._ends += 1
        self.is_over = self._ends > 1
        return signal


@TWINS.twin("publisher-completes-after-its-error", "RS-1.7", "onError, and then onComplete",
            "finally: onComplete(), behind onError")
class CompletingAfterItsError(Out):
    """An onError is followed by onComplete."""

    def _next(self) -> Signal[int] | None:
        if self._error is not None and self.is_over:
            self._error = None
            return COMPLETE
        return super()._next()


@TWINS.twin("publisher-keeps-the-ended", "RS-1.6", "refers to subscribers whose stream has ended",
            "only cancel removes a subscription from the list")
class KeepingTheEnded(Out):
    """The publisher keeps its reference after the end."""

    _ended = False

    def _ignores(self) -> bool:
        return super()._ignores() or self._ended

    def _end(self, signal: Complete | Failed) -> Signal[int]:
        self._ended = True
        return signal


# ---- cancel ---------------------------------------------------------------------------------


@TWINS.twin("publisher-goes-on", "RS-1.8", "a cancel changes nothing",
            "the flag is set, and the loop does not check it")
class GoingOn(Out):
    """All requested elements come in spite of a cancel."""

    def cancel(self) -> None:
        """Do nothing: the loop ignores the cancel."""


@TWINS.twin("publisher-looks-between-batches", "RS-1.8", "a cancel counts once nothing is owed",
            "the flag is checked once for each request, and not for each element")
class LookingBetweenBatches(Out):
    """Elements that were requested before the cancel are still signalled."""

    _cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        if not self._demand:
            super().cancel()

    def _count_off(self) -> None:
        super()._count_off()
        if self._cancelled and not self._demand:
            super().cancel()


@TWINS.twin("publisher-keeps-the-cancelled", "RS-3.13", "refers to subscribers that have cancelled",
            "a flag in the subscription, which stays in the publisher's list")
class KeepingTheCancelled(Out):
    """The publisher keeps its reference after a cancel."""

    _cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    def _ignores(self) -> bool:
        return super()._ignores() or self._cancelled


@TWINS.twin("publisher-revives", "RS-3.6", "a request after a cancel is honoured",
            "request sets the state to running, whatever it was")
class AnsweringAfterACancel(Out):
    """The last call wins: a request undoes a cancel."""

    def request(self, count: int) -> None:
        self.is_over = False
        super().request(count)


@TWINS.twin("publisher-checks-first", "RS-3.6", "complains of an illegal request after a cancel",
            "the argument is checked before the state")
class CheckingFirst(Out):
    """An illegal number is an error even after a cancel."""

    def request(self, count: int) -> None:
        if count < 1:
            self.is_over = False
        super().request(count)


@TWINS.twin("publisher-minds-second-cancels", "RS-3.7", "a second cancel is answered with onError",
            "a state machine without an arrow from cancelled to cancelled")
class MindingSecondCancels(Out):
    """A second cancel is treated as an error."""

    def cancel(self) -> None:
        if self.is_over:
            self._error = RuntimeError("cancelled twice")
            self.is_over = False
        else:
            super().cancel()


@TWINS.twin("publisher-cancel-raises", "RS-3.15", "a cancel of a finished subscription raises",
            "removing from a list an element that is no longer in it")
class CancelRaising(Out):
    """A subscription cannot be removed twice."""

    def cancel(self) -> None:
        if self.is_over:
            raise KeyError("no such subscription")
        super().cancel()


# ---- illegal requests -----------------------------------------------------------------------


@TWINS.twin("publisher-ignores-wrong-requests", "RS-3.9", "a request for less than one is ignored",
            "if (n > 0) … without an else: RxJava 2 outside of its strict mode")
class IgnoringWrong(Out):
    """An illegal request has no effect."""

    def _refuse(self, count: int) -> None:
        """Do nothing: the illegal request is ignored."""


@TWINS.twin("publisher-blames-itself", "RS-3.9", "answers an illegal request with some other error",
            "IllegalStateException instead of IllegalArgumentException")
class BlamingItself(Out):
    """The onError is of another kind than the rule requires."""

    def _refuse(self, count: int) -> None:
        self._error = RuntimeError("illegal state")


@TWINS.twin("publisher-raises-at-wrong-requests", "RS-3.16", "an illegal request raises",
            "the exception goes to the caller, instead of onError")
class RaisingAtWrong(Out):
    """An illegal argument raises an exception in the caller."""

    def _refuse(self, count: int) -> None:
        raise ValueError(count)


# ---- subscribing, and elements --------------------------------------------------------------


@TWINS.twin("publisher-greets-again", "RS-2.12", "onSubscribe comes again with the first element",
            "each stage in a chain hands its subscription on, one of them twice")
class GreetingAgain(Out):
    """A second onSubscribe comes with the first element."""

    _greeted = 0

    def _next(self) -> Signal[int] | None:
        if self._demand and self._greeted == 1:
            self._greeted = 2
            return SUBSCRIBED
        return super()._next()

    def _greeting(self) -> Signal[int]:
        self._greeted += 1
        return super()._greeting()


@TWINS.twin("publisher-refuses-by-exception", "RS-1.9", "subscribe raises for a second subscriber",
            "IllegalStateException: only one subscriber is allowed")
class RefusingByException(Publisher):
    """A second subscriber is refused with an exception."""

    def subscribe(self, subscriber: Hashable) -> Outlet[int]:
        if self._outlets:
            raise RuntimeError("there is a subscriber")
        return super().subscribe(subscriber)


@TWINS.twin("publisher-refuses-without-greeting", "RS-1.9", "onError comes without onSubscribe",
            "the specification's own example of a failed publisher did so")
class RefusingWithoutGreeting(Publisher):
    """A second subscriber gets onError without onSubscribe."""

    def subscribe(self, subscriber: Hashable) -> Outlet[int]:
        outlet = super().subscribe(subscriber)
        if len(self._outlets) > 1:
            outlet._begun, outlet._error = True, RuntimeError("there is a subscriber")
        return outlet


@TWINS.twin("publisher-takes-null", "RS-1.9", "null is subscribed like any subscriber",
            "no check: the exception comes later, elsewhere")
class TakingNull(Publisher):
    """A null subscriber is treated like any other."""

    def subscribe(self, subscriber: Hashable) -> Outlet[int]:
        return super().subscribe("nobody" if subscriber is None else subscriber)


@TWINS.twin("publisher-shares-its-iterator", "RS-0.1", "all subscribers draw from one iterator",
            "an iterable that can be read once, taken for one that can be read again")
class SharingItsIterator(Publisher):
    """An element that one subscriber receives is missing for the others."""

    _only: IterableSupply[int] | None = None

    def _supply(self) -> IterableSupply[int]:
        self._only = self._only or super()._supply()
        return self._only


class _Hasty(IterableSupply[int]):
    """A supply that draws an element to see if there is one, and drops it if it is not wanted."""

    def take(self, wanted: bool) -> Next[int] | Complete | Failed | None:
        signal = super().take(True)
        return signal if wanted or not isinstance(signal, Next) else None


@TWINS.twin("publisher-draws-without-demand", "RS-0.1",
            "drops an element that it has drawn without demand",
            "Akka #24633: every other element is lost")
class DrawingWithoutDemand(Publisher):
    """The demand is checked after the element is drawn."""

    def _supply(self) -> IterableSupply[int]:
        return _Hasty(self._make)


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("publisher-overdraws", 40, 300)


# ---- bugs that show in large buffers ------------------------------------------------------------

class _Ahead(IterableSupply[int]):
    """A supply that reads some elements ahead, and hands out the newest of a full buffer."""

    elements = 4

    def __init__(self, make: Callable[[], Iterable[int]]) -> None:
        super().__init__(make)
        self._read: deque[int] = deque()

    def take(self, wanted: bool) -> Next[int] | Complete | Failed | None:
        if not wanted:
            return None
        end = None
        while end is None and len(self._read) < self.elements:
            signal = super().take(True)
            if isinstance(signal, Next):
                self._read.append(signal.element)
            else:
                end = signal
        if not self._read:
            return end
        return Next(self._read.pop() if end is None else self._read.popleft())


@TWINS.twin("publisher-stack-from-four", "RS-0.1",
            "of four elements that were read ahead, the newest is signalled first",
            "a ring whose read index is taken from the wrong end once it is full")
class StackFromFour(Publisher):
    """A buffer of four elements is a stack as long as it is full."""

    supply: type[_Ahead] = _Ahead

    def _supply(self) -> IterableSupply[int]:
        return self.supply(self._make)


class _AheadOfSix(_Ahead):
    """The same with six."""

    elements = 6


@TWINS.twin("publisher-stack-from-six", "RS-0.1",
            "of six elements that were read ahead, the newest is signalled first",
            "a ring whose read index is taken from the wrong end once it is full")
class StackFromSix(StackFromFour):
    """A buffer of six elements is a stack as long as it is full."""

    supply = _AheadOfSix


# ---- bugs in elements ----------------------------------------------------------------------------

class _Until(IterableSupply[int]):
    """A supply that takes -1 for the end, as in a stream of bytes."""

    def take(self, wanted: bool) -> Next[int] | Complete | Failed | None:
        signal = super().take(wanted)
        return COMPLETE if isinstance(signal, Next) and signal.element == -1 else signal


@TWINS.twin("publisher-ends-at-minus-one", "RS-0.1", "an element of -1 is taken for the end",
            "read() of java.io answers -1 at the end")
class EndingAtMinusOne(Publisher):
    """The element -1 is mistaken for a mark of the end."""

    def _supply(self) -> IterableSupply[int]:
        return _Until(self._make)


class _Wrapping(IterableSupply[int]):
    """A supply that keeps numbers in 32 bits."""

    def take(self, wanted: bool) -> Next[int] | Complete | Failed | None:
        signal = super().take(wanted)
        return Next((signal.element + 2**31) % 2**32 - 2**31) if isinstance(
            signal, Next) else signal


@TWINS.twin("publisher-keeps-32-bits", "RS-0.1", "elements overflow at 2^31",
            "an int where the numbers are longs")
class Keeping32Bits(Publisher):
    """Numbers above the largest of 32 bits become negative."""

    def _supply(self) -> IterableSupply[int]:
        return _Wrapping(self._make)
