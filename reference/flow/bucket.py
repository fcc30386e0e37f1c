"""A token bucket: permits that come with time, for a receiver that says nothing.

``rate`` permits come a tick, and up to ``depth`` are kept. In t ticks that follow one another no
more than depth + rate t elements can go, so a receiver with a known rate is not overrun while the
rates of all its senders together are not above it. A stage with such a bucket in the place of its
downstream link's credits is a throttle; with ``RolledUp`` between, nothing is lost by it.
``RateLimit`` is a bucket for any callers, and lets those wait that want to. ``SlidingLog``
limits by the permits that it gave in the last period.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Final

from .link import LinkMisuse, check_number

__all__ = ["RateLimit", "SlidingLog", "TokenBucket"]


class TokenBucket:
    """Says how many permits a tick brings. Raises ``LinkMisuse`` if a tick's do not fit."""

    def __init__(self, rate: int, depth: int) -> None:
        check_number("a rate", rate, 1)
        check_number("a depth", depth, 1)
        if rate > depth:
            raise LinkMisuse(f"{rate} permits a tick do not fit a bucket of {depth}")
        self.rate: Final = rate
        self.depth: Final = depth

    def tick(self, held: int, ticks: int = 1) -> int:
        """Number of permits that so many ticks add to ``held`` ones; those beyond the depth are
        lost."""
        return min(ticks * self.rate, self.depth - held)


class RateLimit:
    """Admits at most depth + rate t in t ticks in a row, and refuses no more than it must.

    ``take`` asks for some permits at once, all or none; time advances by ``tick``. A caller that
    would rather wait joins a wait queue (``wait``) until it is admitted or gives up; none overtakes
    it. Raises ``LinkMisuse`` for a rate that does not fit the depth, for less than no permit, and
    for a call that would wait for less than one.
    """

    def __init__(self, rate: int, depth: int) -> None:
        self._bucket = TokenBucket(rate, depth)
        self._held = depth
        self.line: dict[str, int] = {}

    @property
    def held(self) -> int:
        """The permits that are left now."""
        return self._held

    def tick(self) -> None:
        """A tick passes, and its permits come as far as they fit."""
        self._held += self._bucket.tick(self._held)

    def idle(self, ticks: int) -> None:
        """So many ticks pass in which no caller asks: as ``tick`` so often, at the cost of one."""
        self._held += self._bucket.tick(self._held, ticks)

    def take(self, permits: int = 1) -> bool:
        """True if the caller gets ``permits`` permits; one that gets none may ask again."""
        check_number("a number of permits", permits, 0)
        if self.line or permits > self._held:
            return False
        self._held -= permits
        return True

    def taking(self, permits: int) -> Generator[None, None, bool]:
        """``take`` in steps, between which another caller may come: it is one step here."""
        yield
        return self.take(permits)

    def wait(self, name: str, permits: int) -> None:
        """Add a call to the wait queue, for ``permits`` permits, no more than the depth."""
        check_number("a number of permits", permits, 1)
        if permits > self._bucket.depth:
            raise LinkMisuse(f"{permits} permits never come of a depth of {self._bucket.depth}")
        self.line[name] = permits

    def give_up(self, name: str) -> None:
        """Remove a call from the wait queue."""
        self.line.pop(name, None)

    def let_through(self) -> list[str]:
        """Admit waiting calls for which there are enough permits now, in their order."""
        through = []
        for name, permits in list(self.line.items()):
            if permits > self._held:
                break
            del self.line[name]
            self._held -= permits
            through.append(name)
        return through


class SlidingLog:
    """Admits at most ``depth`` in any depth / rate ticks in a row, and all requests that fit.

    Raises ``LinkMisuse`` for a rate of which no number of ticks brings just the depth.
    """

    def __init__(self, rate: int, depth: int) -> None:
        check_number("a rate", rate, 1)
        if depth % rate:
            raise LinkMisuse(f"no number of ticks with {rate} permits brings {depth}")
        self.depth: Final = depth
        self.period: Final = depth // rate
        self.log: deque[int] = deque([0], self.period)

    def tick(self) -> None:
        """A tick passes, and entries that are a period old are forgotten."""
        self.log.append(0)

    def idle(self, ticks: int) -> None:
        """So many ticks pass in which no caller asks: as ``tick`` so often, at the cost of few."""
        self.log.extend([0] * min(ticks, self.period))

    def take(self, permits: int = 1) -> bool:
        """True if the caller gets ``permits`` permits; one that gets none may ask again."""
        check_number("a number of permits", permits, 0)
        if sum(self.log) + permits > self.depth:
            return False
        self.log[-1] += permits
        return True
