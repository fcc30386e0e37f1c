"""A subscriber with a buffer, which requests a batch as soon as there is room for one.

Signals come in, and calls of the subscription go out, one at a time: the driver takes the
next call, makes it, and reports when it has returned. So calls never overlap, whichever threads
bring signals and process elements. A driver calls

    while (call := subscriber.take()) is not None:
        make(call)
        subscriber.done()

after every signal and whenever an element was processed. No signal waits for an element to be
processed: elements are put into the buffer.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

from .signals import CANCEL, COMPLETE, Call, Complete, Failed, Request, StreamMisuse

__all__ = ["BatchSubscriber"]

E = TypeVar("E")


class BatchSubscriber(Generic[E]):
    """A buffer of ``capacity`` elements. It requests ``batch`` or more at a time."""

    def __init__(self, capacity: int, batch: int = 1) -> None:
        if not 1 <= batch <= capacity:
            raise StreamMisuse(f"a batch is from 1 to {capacity} elements, not {batch}")
        self.capacity: Final = capacity
        self.batch: Final = batch
        self._buffer: deque[E] = deque()
        self._asked = 0
        self._on = False
        self._stopped = False
        self._cancelled = False
        self._out = False
        self._ended: Complete | Failed | None = None

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def end(self) -> Complete | Failed | None:
        """The end of the stream, once the application has processed all elements before it."""
        return None if self._buffer or self._stopped else self._ended

    # --- signals -----------------------------------------------------------------------------

    def on_subscribe(self, subscription: object) -> bool:
        """A subscription comes. False: there is one, and this one is to be cancelled."""
        _check(subscription, "a subscription")
        if self._on:
            return self._takes_another()
        self._on = True
        return True

    def on_next(self, element: E) -> None:
        """An element comes. After a cancel it may have been under way, and is dropped."""
        _check(element, "an element")
        self._count_off()
        if not self._stopped:
            self._enqueue(element)

    def on_complete(self) -> None:
        """No more elements come."""
        self._note_end(COMPLETE)

    def on_error(self, error: Exception) -> None:
        """No more elements come, and those that wait are dropped."""
        _check(error, "an error")
        self._buffer.clear()
        self._note_end(Failed(error))

    # --- the application ---------------------------------------------------------------------

    def process(self) -> E | None:
        """The oldest element, which the application processes now; None if none waits."""
        return self._dequeue() if self._buffer else None

    def stop(self) -> None:
        """The application needs no more elements."""
        self._stopped = True
        self._buffer.clear()

    # --- calls of the subscription -----------------------------------------------------------

    def take(self) -> Call | None:
        """The next call to make; None while one is out, or while there is none."""
        if self._is_busy() or not self._on or self._is_over():
            return None
        call = self._next()
        self._out = call is not None
        return call

    def done(self) -> None:
        """The call that was taken has returned."""
        self._out = False

    # -- decisions ----------------------------------------------------------------------------

    def _next(self) -> Call | None:
        if self._cancelled:
            return None
        if self._stopped:
            self._cancelled = True
            return CANCEL
        room = self._room()
        if room < self._worth_asking():
            return None
        self._asked += room
        return Request(room)

    def _room(self) -> int:
        """Number of elements that fit and were not requested."""
        return self.capacity - len(self._buffer) - self._asked

    def _worth_asking(self) -> int:
        return self.batch

    def _is_busy(self) -> bool:
        return self._out

    def _is_over(self) -> bool:
        return self._ended is not None

    def _takes_another(self) -> bool:
        return False

    def _count_off(self) -> None:
        self._asked -= 1

    def _enqueue(self, element: E) -> None:
        self._buffer.append(element)

    def _dequeue(self) -> E:
        return self._buffer.popleft()

    def _note_end(self, end: Complete | Failed) -> None:
        self._ended = end

    def processes_within(self) -> bool:
        """True if a driver must process an element within the signal that brings it."""
        return False


def _check(value: object, what: str) -> None:
    if value is None:
        raise StreamMisuse(f"{what} is not None")
