"""Connections in virtual time: asynchronous, in order, and what is under way is gone when cut.

A connection leads from a sending worker to a receiving one; tuples go one way, statuses the
other. Either way is a FIFO: what is sent arrives in order, each after a delay that is drawn
when it is sent. What is under way when the connection is cut is lost, so what arrives is a
subsequence with gaps at reconnects. Times are instants of the driver's clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Connection", "Link", "LinkMisuse"]

F = TypeVar("F")
G = TypeVar("G")


class LinkMisuse(ValueError):
    """A capacity below 1, or something sent over a link that is cut."""


class Link(Generic[F]):
    """One way: at most ``capacity`` things under way (0: any number).

    What could be there earlier waits behind what was sent before it.

    ``delay`` draws the time to arrival; ``extra`` is added while something delays it, and
    the next ``losing`` things that are sent get lost.
    """

    def __init__(self, delay: Callable[[], int], capacity: int = 0) -> None:
        if type(capacity) is not int or capacity < 0:
            raise LinkMisuse(f"a capacity is an integer from 0 up, not {capacity!r}")
        self.capacity = capacity
        self.extra = 0
        self.losing = 0
        self._delay = delay
        self._under_way: deque[tuple[int, F]] = deque()

    def is_writable(self) -> bool:
        """True if there is room for one more."""
        return self.capacity == 0 or len(self._under_way) < self.capacity

    def send(self, now: int, thing: F) -> bool:
        """Send; False if it gets lost."""
        if self.losing > 0:
            self.losing -= 1
            return False
        self._under_way.append((now + self._delay() + self.extra, thing))
        return True

    def arrived(self, now: int) -> list[F]:
        """The messages that have arrived since the last call, in order."""
        found = []
        while self._under_way and self._under_way[0][0] <= now:
            found.append(self._under_way.popleft()[1])
        return found

    def has_arrived(self, now: int) -> bool:
        """True if there is something to take."""
        return bool(self._under_way) and self._under_way[0][0] <= now

    def take(self) -> F:
        """Take the first thing off the link, whether it is due or not."""
        return self._under_way.popleft()[1]

    def next_arrival(self) -> int | None:
        """When the next thing arrives; None if nothing is under way."""
        return self._under_way[0][0] if self._under_way else None

    def cut(self) -> list[F]:
        """Lose all that is under way, and return it."""
        lost = [thing for _, thing in self._under_way]
        self._under_way.clear()
        return lost

    def __len__(self) -> int:
        return len(self._under_way)


class Connection(Generic[F, G]):
    """Tuples one way, statuses the other. ``down`` counts the reasons why it is not there."""

    def __init__(self, delay: Callable[[], int], capacity: int) -> None:
        self.tuples: Link[F] = Link(delay, capacity)
        self.statuses: Link[G] = Link(delay)
        self.down = 0

    @property
    def is_up(self) -> bool:
        """True if anything can be sent."""
        return self.down == 0

    def has_arrived(self, now: int) -> bool:
        """True if something is there to be taken, at either end."""
        return self.tuples.has_arrived(now) or self.statuses.has_arrived(now)
