"""A publisher of an iterable: each subscriber gets all elements, at its own pace.

The iterable is asked for an element only when one is wanted, so it may be endless, or make each
element with much work. An exception that it raises is signalled as the failure of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from .outlet import Outlet
from .signals import COMPLETE, Complete, Failed, Next, StreamMisuse

__all__ = ["IterablePublisher", "IterableSupply"]

E = TypeVar("E")


class IterableSupply(Generic[E]):
    """The elements of one iterable, which is made and asked when they are wanted."""

    def __init__(self, make: Callable[[], Iterable[E]]) -> None:
        self._make = make
        self._iterator: Iterator[E] | None = None

    def take(self, wanted: bool) -> Next[E] | Complete | Failed | None:
        """See ``Supply``. The end is known once an element was wanted that there is not."""
        if not wanted:
            return None
        try:
            if self._iterator is None:
                self._iterator = iter(self._make())
            return Next(next(self._iterator))
        except StopIteration:
            return COMPLETE
        except Exception as error:  # noqa: BLE001 any exception is passed on to the subscriber
            return Failed(error)


class IterablePublisher(Generic[E]):
    """Makes an outlet for each subscriber; ``make`` gives it elements of its own.

    A subscriber is any object by which the driver knows it. The publisher refers to it until its
    subscription is over, which it notices when the next one comes, or when it is asked.
    """

    outlet: type[Outlet[E]] = Outlet

    def __init__(self, make: Callable[[], Iterable[E]]) -> None:
        self._make = make
        self._outlets: dict[Hashable, Outlet[E]] = {}

    @property
    def subscribers(self) -> tuple[Hashable, ...]:
        """The subscribers that the publisher refers to, in the order in which they came."""
        self._forget()
        return tuple(self._outlets)

    def subscribe(self, subscriber: Hashable) -> Outlet[E]:
        """A subscriber comes; its first signal is in its outlet. Raises ``StreamMisuse`` for
        None, and for one that is subscribed already, in a subscription that is not over."""
        self._forget()
        if subscriber is None or subscriber in self._outlets:
            raise StreamMisuse(f"{subscriber!r} cannot subscribe" + (
                "" if subscriber is None else " again"))
        self._outlets[subscriber] = made = self.outlet(self._supply())
        return made

    def _forget(self) -> None:
        for subscriber in [each for each in self._outlets if self._may_forget(each)]:
            del self._outlets[subscriber]

    # -- decisions ----------------------------------------------------------------------------

    def _supply(self) -> IterableSupply[E]:
        return IterableSupply(self._make)

    def _may_forget(self, subscriber: Hashable) -> bool:
        return self._outlets[subscriber].is_over

