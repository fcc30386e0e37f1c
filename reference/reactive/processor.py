"""A processor that makes one element of each: a buffered subscriber in front of an outlet.

It requests no more than its buffer holds, whatever its own subscriber requests, so it needs no
other room. It transforms an element when the result is wanted. A failure of its publisher, or
of the function, is passed on before the elements that wait; when its subscriber cancels, it
cancels.

Its driver takes signals from the outlet and calls from the inlet, until there are neither.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .outlet import Outlet
from .signals import Complete, Failed, Next, StreamMisuse
from .subscriber import BatchSubscriber

__all__ = ["MapProcessor"]

A = TypeVar("A")
B = TypeVar("B")


class _Mapped(Generic[A, B]):
    """The elements that wait in an inlet, transformed."""

    def __init__(self, inlet: BatchSubscriber[A], function: Callable[[A], B]) -> None:
        self._inlet = inlet
        self._function = function

    def take(self, wanted: bool) -> Next[B] | Complete | Failed | None:
        end = self._inlet.end
        if end is not None or not wanted:
            return end
        element = self._inlet.process()
        if element is None:
            return None
        try:
            return Next(self._function(element))
        except Exception as error:  # noqa: BLE001 any exception is passed on to the subscriber
            self._inlet.stop()
            return Failed(error)


class MapProcessor(Generic[A, B]):
    """A processor with one subscriber: ``function`` transforms each element that the ``inlet``
    gets."""

    outlet: type[Outlet[B]] = Outlet

    def __init__(self, function: Callable[[A], B], inlet: BatchSubscriber[A]) -> None:
        self.inlet = inlet
        self._function = function
        self._subscriber: Hashable = None
        self._outlet: Outlet[B] | None = None

    @property
    def subscribers(self) -> tuple[Hashable, ...]:
        """The subscriber to which the processor refers, until its stream is over."""
        if self._outlet is None or self._outlet.is_over:
            self._subscriber = None
        return () if self._subscriber is None else (self._subscriber,)

    def subscribe(self, subscriber: Hashable) -> Outlet[B]:
        """The subscriber comes. Raises ``StreamMisuse`` for None, and for a second one."""
        if subscriber is None or self._outlet is not None:
            raise StreamMisuse(f"{subscriber!r} cannot subscribe")
        self._subscriber = subscriber
        self._outlet = self.outlet(_Mapped(self.inlet, self._function))
        return self._outlet

    def follow(self) -> None:
        """To be called before calls are taken: without a subscriber, the processor cancels."""
        if self._outlet is not None and self._outlet.is_over and self.inlet.end is None:
            self._leave()

    # -- decisions ----------------------------------------------------------------------------

    def _leave(self) -> None:
        self.inlet.stop()
