"""What is measured: the purgatories, timing wheels by themselves, and asyncio's timers.

All are given the same requests, one at a time, and told the time; each makes an object with the
request's data. A request that takes no time at all is completed at once, which every contender
finds out before it starts a timer.
"""

from __future__ import annotations

import asyncio
import selectors
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, TypeVar

from checkvalve.reference.kafka.old_purgatory import OldPurgatory
from checkvalve.reference.kafka.purgatory import DelayedOperation, Purgatory
from checkvalve.reference.kafka.timer import Timer, TimerTask

from .workload import Settings, keys_of

__all__ = ["CONTENDERS", "AsyncioTimers", "Contender", "NewPurgatory", "OldDesign", "WheelsAlone"]

Ticket = TypeVar("Ticket")


class Contender(ABC, Generic[Ticket]):
    """Requests wait in it until they are completed or time out. It starts at time 0, in ms.

    ``now`` is the time it was told last, ``expired`` how many requests timed out.
    """

    name: ClassVar[str]

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.now = 0
        self.expired = 0

    @abstractmethod
    def enqueue(self, latency: int) -> Ticket | None:
        """A request comes, which will take ``latency`` ms; None if it is complete already."""

    @abstractmethod
    def complete(self, tickets: Iterable[Ticket]) -> None:
        """These requests are done."""

    @abstractmethod
    def advance(self, now: int) -> None:
        """The time is ``now``: expire what is due, and do what else is to be done."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many entries the timer has, dead or alive."""

    @property
    def purges(self) -> int:
        """How often all watcher lists were scanned; without lists, never."""
        return 0

    def close(self) -> None:
        """Give back what it holds of the system."""


class _Request(DelayedOperation):
    """A request that is complete from a moment on."""

    __slots__ = ("_data", "_due", "_owner")

    def __init__(self, owner: _Purgatories, latency: int, timeout: int, size: int) -> None:
        DelayedOperation.__init__(self, timeout)  # quicker than super(), in a million requests
        self._data = bytes(size)
        self._due = owner.now + latency
        self._owner = owner

    def try_complete(self) -> bool:
        return self._owner.now >= self._due and self.force_complete()

    def on_expiration(self) -> None:
        self._owner.expired += 1


class _Purgatories(Contender[_Request]):
    """What is common to the two purgatories: every request watches the same keys."""

    def __init__(self, settings: Settings, purgatory: Purgatory | OldPurgatory) -> None:
        super().__init__(settings)
        self._keys = keys_of(settings)
        self._purgatory = purgatory
        self._watch = purgatory.try_complete_else_watch

    def enqueue(self, latency: int) -> _Request | None:
        settings = self.settings
        request = _Request(self, latency, settings.timeout, settings.size)
        return None if self._watch(request, self._keys, self.now) else request

    def complete(self, tickets: Iterable[_Request]) -> None:
        # Not an event of a key: as in Kafka's program, only purges clean the watcher lists.
        for request in tickets:
            request.force_complete()

    @property
    def size(self) -> int:
        return self._purgatory.delayed

    @property
    def purges(self) -> int:
        return self._purgatory.purges


class NewPurgatory(_Purgatories):
    """Timing wheels; purges when the estimate says so."""

    name = "new purgatory"

    def __init__(self, settings: Settings) -> None:
        timer = Timer(settings.tick, settings.wheel_size)
        self._new = Purgatory(settings.purge_interval, timer=timer)
        super().__init__(settings, self._new)

    def advance(self, now: int) -> None:
        self.now = now
        self._new.advance(now)


class OldDesign(_Purgatories):
    """One delay queue of requests; looks at lengths after each that is due, and only then."""

    name = "old purgatory"

    def __init__(self, settings: Settings) -> None:
        self._old = OldPurgatory(settings.purge_interval)
        super().__init__(settings, self._old)

    def advance(self, now: int) -> None:
        self.now = now
        due = self._old.next_expiration
        # A round for each: the reaper waits for the next one before it looks at lengths again.
        while (first := due()) is not None and first <= now:
            self._old.advance(now, rounds=1)


class _Timeout(TimerTask):
    """A request that nobody watches."""

    __slots__ = ("_data", "_owner")

    def __init__(self, owner: WheelsAlone, timeout: int, size: int) -> None:
        TimerTask.__init__(self, timeout)
        self._data = bytes(size)
        self._owner = owner

    def run(self) -> None:
        self.cancel()  # or the task and its entry would wait for the collector of cycles
        self._owner.expired += 1


class WheelsAlone(Contender[_Timeout]):
    """The new purgatory's timer without a purgatory: what asyncio's timers compare with."""

    name = "timing wheels alone"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._timer = Timer(settings.tick, settings.wheel_size)

    def enqueue(self, latency: int) -> _Timeout | None:
        request = _Timeout(self, self.settings.timeout, self.settings.size)
        if latency == 0:
            return None
        self._timer.add(request, self.now)
        return request

    def complete(self, tickets: Iterable[_Timeout]) -> None:
        for request in tickets:
            request.cancel()

    def advance(self, now: int) -> None:
        self.now = now
        self._timer.advance(now)

    @property
    def size(self) -> int:
        return self._timer.size


class _NothingToRead(selectors.SelectSelector):
    """Never waits for a file: nothing but timers happens here."""

    def select(self, _timeout: float | None = None) -> list[Any]:
        return []


class _ToldTime(asyncio.SelectorEventLoop):
    """An event loop with a clock that does not move until somebody sets it. In ms."""

    now = 0

    def time(self) -> float:
        return self.now


class _Plain:
    """A request of asyncio's timers."""

    __slots__ = ("_data",)

    def __init__(self, size: int) -> None:
        self._data = bytes(size)


class AsyncioTimers(Contender[asyncio.TimerHandle]):
    """A heap of handles; cancelled ones stay until they are due, or are more than half of it.

    One round of the loop for each ms, without going through ``run_forever``: that would cost
    asyncio more.
    """

    name = "asyncio timers"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._loop = _ToldTime(_NothingToRead())
        self._round: Callable[[], None] = self._loop._run_once  # type: ignore[attr-defined]

    def enqueue(self, latency: int) -> asyncio.TimerHandle | None:
        request = _Plain(self.settings.size)
        if latency == 0:
            return None
        return self._loop.call_at(self.now + self.settings.timeout, self._expire, request)

    def _expire(self, _request: _Plain) -> None:
        self.expired += 1

    def complete(self, tickets: Iterable[asyncio.TimerHandle]) -> None:
        for handle in tickets:
            handle.cancel()

    def advance(self, now: int) -> None:
        self.now = self._loop.now = now
        self._round()

    @property
    def size(self) -> int:
        return len(self._loop._scheduled)  # type: ignore[attr-defined]

    def close(self) -> None:
        self._loop.close()


CONTENDERS: dict[str, type[Contender[Any]]] = {
    kind.name: kind for kind in (NewPurgatory, OldDesign, AsyncioTimers, WheelsAlone)
}
"""By name, in the order in which they take turns."""
