"""The publisher's side of one subscription: demand in, signals out, one at a time.

The driver of an outlet takes its next signal, hands it to the subscriber, and reports when that
call has returned. While a signal is out there is no other, whatever is requested meanwhile, and by
any thread: so signals never overlap, and a request from within a signal cannot recurse. A driver
calls

    while (signal := outlet.take()) is not None:
        deliver(signal)
        outlet.done()

after every request, cancel, and change of its supply. If a signal is out already, the loop does
nothing: the thread that is in it continues.

An outlet has no clock and starts nothing. Demand and cancel never wait and never raise.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from .signals import (
    DEMAND_MAX, SUBSCRIBED, Complete, Failed, Next, Signal, StreamMisuse,
)

__all__ = ["Outlet", "Supply"]

E = TypeVar("E")


class Supply(Protocol[E]):
    """The source of an outlet's elements."""

    def take(self, wanted: bool) -> Next[E] | Complete | Failed | None:
        """The next element, if one is wanted; or the end, which needs no demand if it is known.

        None: nothing now.
        """
        ...


class Outlet(Generic[E]):
    """One subscription, as its publisher has it. ``is_over``: it was cancelled, or has ended."""

    def __init__(self, supply: Supply[E]) -> None:
        self._supply = supply
        self._demand = 0
        self._begun = False
        self._out = False
        self._error: Exception | None = None
        self.is_over = False

    @property
    def demand(self) -> int:
        """Number of elements that are requested and not signalled."""
        return self._demand

    def request(self, count: int) -> None:
        """The subscriber requests elements. After the end, or a cancel, this has no effect."""
        if self._ignores():
            return
        if count < 1:
            self._refuse(count)
        else:
            self._demand = self._sum(count)

    def cancel(self) -> None:
        """The subscriber wants no more signals."""
        self.is_over = True
        self._demand = 0

    def take(self) -> Signal[E] | None:
        """The next signal to deliver; None while one is out, or while there is none."""
        if self._is_busy():
            return None
        signal = self._next()
        self._out = signal is not None
        return signal

    def done(self) -> None:
        """The signal that was taken has returned."""
        self._out = False

    # -- decisions ----------------------------------------------------------------------------

    def _next(self) -> Signal[E] | None:
        if self._ignores():
            return None
        if not self._begun:
            self._begun = True
            return self._greeting()
        if self._error is not None:
            return self._end(Failed(self._error))
        signal = self._supply.take(self._is_wanted())
        if isinstance(signal, Next):
            self._count_off()
        return self._end(signal) if isinstance(signal, Complete | Failed) else signal

    def _greeting(self) -> Signal[E]:
        return SUBSCRIBED

    def _ignores(self) -> bool:
        return self.is_over

    def _is_busy(self) -> bool:
        return self._out

    def _is_wanted(self) -> bool:
        return self._demand > 0

    def _count_off(self) -> None:
        # Demand that is practically unbounded stays so.
        if self._demand < DEMAND_MAX:
            self._demand -= 1

    def _sum(self, count: int) -> int:
        return min(DEMAND_MAX, self._demand + count)

    def _refuse(self, count: int) -> None:
        self._error = StreamMisuse(f"a request is for 1 element or more, not for {count}")

    def _end(self, signal: Complete | Failed) -> Signal[E]:
        self.is_over = True
        return signal
