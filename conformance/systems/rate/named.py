"""Limits of a rate, by their names: for threads, and for tasks of asyncio.

Their clock is the harness's: what they read by ``time.monotonic``, ``time.time`` or the loop's
``time`` moves by the ticks of the port alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ....reference.drivers.virtual_loop import VirtualLoop
from ...foreign.calls import Calls, modules_of
from ...foreign.place import ASYNCIO
from ...foreign.stage import STAGE
from ...foreign.surface import Surface, Wanted, made_with, waits_in_coroutines
from ...foreign.target import Named
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .libraries import TICK
from .port import PORT

__all__ = ["WANTED", "NamedLoopRate", "NamedThreadRate", "make"]

WANTED: Final = (
    Wanted("take", ("try_acquire", "try_take", "allow", "allows", "consume", "hit", "take",
                    "is_allowed")),
    Wanted("acquire", ("acquire", "wait")),
)
"""What the methods are usually called. ``take`` answers at once; ``acquire`` is a coroutine."""

CAPACITY: Final = (
    "capacity", "burst", "depth", "max_burst", "bucket_size", "max_rate", "max_calls", "limit")
RATE: Final = ("rate", "refill_rate", "fill_rate", "per_second", "rate_per_second")
PERIOD: Final = ("period", "time_period", "per", "window", "interval", "seconds")
"""What the arguments are usually called: how many permits are kept, how many come in a second, and
in how many seconds as many come as are kept."""


ALSO: Final = ("capacity", "rate", "period", "policy")
"""What may have a name besides: those arguments, and which of the port's policies it is of."""


def make(named: Named) -> PortAdapter:
    """The adapter of a limit, by what it is."""
    names = [*WANTED[1].usual, *named.place.names.values()]
    kind = named.kind_by(lambda made: waits_in_coroutines(made, names),
                         lambda: _made(named, {"capacity": 1, "rate": 1}))
    return NamedLoopRate(named) if kind == ASYNCIO else NamedThreadRate(named)


def _made(named: Named, settings: Mapping[str, Any]) -> Any:
    depth, rate = settings["capacity"], settings["rate"]
    return made_with(named.factory, named.place, {
        "capacity": (depth, CAPACITY), "rate": (rate, RATE), "period": (depth / rate, PERIOD)})


def _takes(surface: Surface, permits: int) -> Sequence[int]:
    """The arguments of an ask: one that asks for one permit may take none."""
    return (permits,) if surface.takes_more("take" if "take" in surface else "acquire") else ()


class NamedThreadRate(PortAdapter):
    """A limit that threads ask, which are run one at a time, and stopped between its lines."""

    port: ClassVar[Port] = PORT

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version                                  # type: ignore[misc]
        self.policy = named.place.names.get("policy", "bucket")       # type: ignore[misc]
        self._calls: Calls | None = None

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        STAGE.now = 0.0
        made = Calls(self.name, ()).at_once("its constructor", lambda: _made(self._named, settings))
        self._calls = Calls(self.name, modules_of(type(made)))
        made = self._calls.at_once("its constructor", lambda: _made(self._named, settings))
        self._surface = self._named.surface(made, WANTED, ALSO)
        self._surface.must_have("take", WANTED[0])

    def take(self, permits: int) -> bool:
        """See the port."""
        return bool(self._running.at_once("an ask", lambda: self._ask(permits)))

    def tick(self, ticks: int) -> bool:
        """See the port."""
        STAGE.now += ticks * TICK
        return True

    def both(self, permits: int, other: int, steps: int) -> list[bool]:
        """See the port."""
        if not steps:
            second = self.take(other)
            return [self.take(permits), second]
        first = self._running.begin("the first", lambda: self._ask(permits), steps)
        second = self.take(other)
        self._running.settle()
        return [bool(first.value), second]

    def close(self) -> None:
        """Give up all threads, those included that wait."""
        if self._calls is not None:
            self._calls.close()

    @property
    def _running(self) -> Calls:
        assert self._calls is not None
        return self._calls

    def _ask(self, permits: int) -> bool:
        answer: object = self._surface["take"](*_takes(self._surface, permits))
        return answer is not False and answer is not None


class NamedLoopRate(PortAdapter):
    """A limit that tasks of asyncio ask."""

    port: ClassVar[Port] = PORT

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version                                  # type: ignore[misc]
        self.policy = named.place.names.get("policy", "bucket")       # type: ignore[misc]
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._through: list[str] = []

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
        self.close()
        self._loop = VirtualLoop()
        self._waiting, self._through = {}, []
        with self._loop.running():
            made = _made(self._named, settings)
        self._surface = self._named.surface(made, WANTED, ALSO)
        self._surface.must_have("acquire", WANTED[1])
        # A take that is a coroutine may wait; and what answers of itself is asked within the loop.
        if "take" not in self._surface or waits_in_coroutines(
                made, [self._surface.called["take"]]):
            self.take_ = None

    def _take(self, permits: int) -> bool:
        with self._loop.running():
            answer: object = self._surface["take"](*_takes(self._surface, permits))
            return answer is not False and answer is not None

    take_: Any = _take

    def acquire(self, by: str, permits: int) -> list[str]:
        """See the port."""
        async def acquires() -> None:
            await self._surface["acquire"](*_takes(self._surface, permits))
            self._through.append(by)

        with self._loop.running():
            self._waiting[by] = self._loop.begin(acquires())
            self._loop.settle()
        return self._told()

    def give_up(self, by: str) -> list[str]:
        """See the port."""
        with self._loop.running():
            self._waiting[by].cancel()
            self._loop.settle()
        return self._told()

    def tick(self, ticks: int) -> list[str]:
        """See the port."""
        with self._loop.running():
            self._loop.jump(self._loop.time() + ticks * TICK)
            self._loop.settle()
        return self._told()

    def close(self) -> None:
        """End what still waits."""
        if not hasattr(self, "_loop") or self._loop.is_closed():
            return
        with self._loop.running():
            for task in self._waiting.values():
                task.cancel()
            self._loop.settle()
        self._loop.close()

    def _told(self) -> list[str]:
        told, self._through = self._through, []
        return told
