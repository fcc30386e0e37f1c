"""Subscribers with one seeded bug each, for each rule that a subscriber can violate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....reference.reactive.signals import CANCEL, Call, Complete, Failed, Request
from ....reference.reactive.subscriber import BatchSubscriber
from ...ports.base import Message
from ...suites.twin import Twins
from .adapter import ReferenceSubscriber

__all__ = ["TWINS"]

Base = BatchSubscriber[Any]

TWINS: Final = Twins("reactive.subscriber", ReferenceSubscriber, ("reference.subscriber",))


# ---- demand ---------------------------------------------------------------------------------


@TWINS.twin("subscriber-asks-without-bound", "RS-0.2", "requests a whole buffer whenever there is "
            "room", "reactor #167: prefetch is MAX; all of it waits inside")
class AskingWithoutBound(Base):
    """A whole buffer is requested for one free slot."""

    def _room(self) -> int:
        return self.capacity if super()._room() > 0 else 0


@TWINS.twin("subscriber-counts-only-what-waits", "RS-0.2", "counts requested slots as free",
            "003#E4: permits =< Buf(B) - Pending(B), taken for sufficient")
class CountingWhatWaits(Base):
    """Every slot that is not occupied counts as free, even one that is requested."""

    def _room(self) -> int:
        room = self.capacity - len(self._buffer)
        return room if super()._room() > 0 else 0


@TWINS.twin("subscriber-waits-for-more-than-a-batch", "RS-2.1", "requests only more than a batch",
            "rsocket #264: off by one; > instead of >=")
class AskingAboveABatch(Base):
    """After the first element, the threshold of a request is one too high."""

    def _worth_asking(self) -> int:
        return self.batch + 1 if self._asked == 0 and self._begun() else self.batch

    def _begun(self) -> bool:
        return self._seen > 0

    _seen = 0

    def _count_off(self) -> None:
        super()._count_off()
        self._seen += 1

    def _room(self) -> int:
        return min(super()._room(), self.batch if self._seen else self.capacity)


@TWINS.twin("subscriber-asks-once", "RS-2.1", "requests a buffer, and never again",
            "request in onSubscribe only")
class AskingOnce(Base):
    """The first request is also the last one."""

    _asks = 0

    def _next(self) -> Call | None:
        call = super()._next()
        if isinstance(call, Request):
            self._asks += 1
            return call if self._asks == 1 else None
        return call


@TWINS.twin("subscriber-asks-for-nothing", "RS-2.1", "requests 0 elements when it has no free slot",
            "request(buffer - outstanding) without a check of the result")
class AskingForNothing(Base):
    """A request for 0 elements follows each processed element."""

    _processed = False

    def _dequeue(self) -> Any:
        self._processed = True
        return super()._dequeue()

    def _next(self) -> Call | None:
        if self._processed:
            self._processed = False
            return Request(0)
        return super()._next()


# ---- signals --------------------------------------------------------------------------------


@TWINS.twin("subscriber-works-within", "RS-2.2", "processes an element in its signal",
            "the publisher's thread does the subscriber's work")
class WorkingWithin(Base):
    """Elements are processed within their signal, without a buffer."""

    def processes_within(self) -> bool:
        return True


@TWINS.twin("subscriber-cancels-at-the-end", "RS-2.3", "calls cancel within onComplete and onError",
            "a clean-up that all three ends share")
class CancellingAtTheEnd(Base):
    """The clean-up at the end cancels, as after an error of its own."""

    def _is_over(self) -> bool:
        return super()._is_over() and self._cancelled

    def _next(self) -> Call | None:
        if self._ended is not None and not self._cancelled:
            self._cancelled = True
            return CANCEL
        return super()._next()


@TWINS.twin("subscriber-asks-after-the-end", "RS-2.4", "continues to request after onComplete",
            "a request after each element, whatever has come meanwhile")
class AskingAfterTheEnd(Base):
    """After the end, slots of the buffer are requested again."""

    _drained = False

    def _dequeue(self) -> Any:
        self._drained = True
        return super()._dequeue()

    def _is_over(self) -> bool:
        return super()._is_over() and not self._drained

    def _note_end(self, end: Complete | Failed) -> None:
        super()._note_end(end)
        self._drained = False


@TWINS.twin("subscriber-takes-the-last", "RS-2.5", "keeps any subscription that it receives",
            "the field is overwritten")
class TakingTheLast(Base):
    """A second subscription replaces the first."""

    def _takes_another(self) -> bool:
        return True


@TWINS.twin("subscriber-leaves-in-silence", "RS-2.6", "does not cancel when it needs no more",
            "RxJava #7081: the source is not cancelled, and continues without a subscriber")
class LeavingInSilence(Base):
    """After a stop, elements are dropped without a cancel."""

    def _next(self) -> Call | None:
        return None if self._stopped else super()._next()


@TWINS.twin("subscriber-overlaps", "RS-2.7", "calls its subscription while a call has not returned",
            "two threads, one for signals and one for work, and both request")
class CallingWhileInACall(Base):
    """No thread checks whether a call is open."""

    def _is_busy(self) -> bool:
        return False


@TWINS.twin("subscriber-minds-late-elements", "RS-2.8", "raises for an element after its cancel",
            "an assertion that nothing comes any more")
class MindingLate(Base):
    """It assumes that no element comes after its cancel."""

    def on_next(self, element: Any) -> None:
        if self._stopped:
            raise AssertionError("cancelled")
        super().on_next(element)


@TWINS.twin("subscriber-minds-an-early-end", "RS-2.9", "raises for onComplete before any element",
            "a division by the number of elements")
class MindingAnEarlyEnd(Base):
    """It assumes that an element comes before the end."""

    _seen = False

    def on_next(self, element: Any) -> None:
        super().on_next(element)
        self._seen = True

    def on_complete(self) -> None:
        if not self._seen:
            raise ZeroDivisionError
        super().on_complete()


@TWINS.twin("subscriber-forgets-the-end", "RS-2.9", "the application never hears of onComplete "
            "if elements wait", "completion is checked only when the signal comes")
class ForgettingTheEnd(Base):
    """The application is notified of the end at once, or not at all."""

    def on_complete(self) -> None:
        if not self._buffer:
            super().on_complete()
        else:
            self._cancelled = True


@TWINS.twin("subscriber-drops-errors", "RS-2.10", "the application never hears of onError",
            "an empty handler: errors are dropped")
class DroppingErrors(Base):
    """A failure is dropped, and never reported to the application."""

    def _note_end(self, end: Complete | Failed) -> None:
        super()._note_end(end)
        if isinstance(end, Failed):
            self._stopped = True

    @property
    def end(self) -> Complete | Failed | None:
        return None if isinstance(self._ended, Failed) else super().end


@TWINS.twin("subscriber-raises-errors", "RS-2.10", "onError raises its argument",
            "the default handler throws: OnErrorNotImplemented")
class RaisingErrors(Base):
    """The error is raised in the publisher's signal."""

    def on_error(self, error: Exception) -> None:
        super().on_error(error)
        raise error


@TWINS.twin("subscriber-keeps-the-newest", "RS-2.11", "an element overwrites one that waits",
            "a field instead of a queue")
class KeepingTheNewest(Base):
    """The buffer has one slot, whatever was requested."""

    def _enqueue(self, element: Any) -> None:
        self._buffer.clear()
        super()._enqueue(element)


@TWINS.twin("subscriber-processes-the-newest", "RS-2.11", "processes the newest waiting element",
            "a stack instead of a queue")
class ProcessingTheNewest(Base):
    """The buffer is a stack."""

    def _dequeue(self) -> Any:
        return self._buffer.pop()


@TWINS.twin("subscriber-takes-null", "RS-2.13", "takes null for an element",
            "no check: null is found out by the application")
class TakingNull(Base):
    """A null element is ignored without an exception."""

    def on_next(self, element: Any) -> None:
        if element is not None:
            super().on_next(element)


@TWINS.twin("subscriber-raises-when-full", "RS-2.13", "onNext raises when the buffer is full",
            "Queue full?!: add() instead of offer(), one slot too few")
class RaisingWhenFull(Base):
    """The last slot of the buffer cannot be used."""

    def _enqueue(self, element: Any) -> None:
        if len(self._buffer) + 1 >= self.capacity > 1:
            raise OverflowError("queue full")
        super()._enqueue(element)


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("subscriber-asks-without-bound", 40, 300)


# ---- bugs that show in large queues --------------------------------------------------------------

TWINS.stacks("subscriber-", "RS-2.11", "elements", Base, "_dequeue", lambda self: self._buffer)


# ---- bugs in elements ----------------------------------------------------------------------------

@TWINS.twin("subscriber-drops-equal-elements", "RS-0.2",
            "an element equal to one inside is dropped",
            "distinct() taken for an operator that requests no more than once")
class DroppingEqualElements(Base):
    """An element equal to a waiting one is dropped."""

    def _enqueue(self, element: Any) -> None:
        if element not in self._buffer:
            super()._enqueue(element)


@TWINS.twin("subscriber-loses-what-is-false", "RS-2.11",
            "an element that is false, such as 0, is lost",
            "`if element` where `if element is not None` was meant")
class LosingWhatIsFalse(Base):
    """A false element is taken for none."""

    def _enqueue(self, element: Any) -> None:
        if element:
            super()._enqueue(element)


@TWINS.twin("subscriber-cuts-long-texts", "RS-2.11", "a text is cut to eight characters",
            "a column of fixed width behind the stream")
class CuttingLongTexts(Base):
    """Texts with the same beginning become equal."""

    def _enqueue(self, element: Any) -> None:
        super()._enqueue(element[:8] if isinstance(element, str) else element)


@TWINS.twin("subscriber-takes-numbers-for-texts", "RS-2.11", "a number comes out as a text",
            "a stage that writes elements as text, and reads them again")
class TakingNumbersForTexts(Base):
    """A number is not equal to the text that comes out."""

    def _enqueue(self, element: Any) -> None:
        super()._enqueue(f"{element}")


# ---- applications that do not report
# --------------------------------------------------------------

class _Sleeping(ReferenceSubscriber):
    """An application that sometimes processes nothing, and does not report it."""

    def start(self, settings: Mapping[str, Any]) -> None:
        super().start(settings)
        self.processed = 0

    def process(self) -> list[Message]:
        self.processed += 1
        return super().process() if self.processed % 3 else self.then()


TWINS.add("subscriber-application-sleeps", "RS-2.11",
          "every third time, a received element is not processed, and nothing is reported",
          "a worker that misses a wake-up", parts={}, of=_Sleeping)
