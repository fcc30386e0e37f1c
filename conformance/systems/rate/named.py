"""Limits of a rate, by their names: for threads, and for tasks of asyncio.

Their clock is the harness's: the time that they read by ``time.monotonic``, ``time.time`` or the
loop's ``time`` moves by the ticks of the port alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from ....spec.notation.errors import InputError
from ...foreign.calls import Calls, modules_of
from ...foreign.place import ASYNCIO
from ...foreign.stage import STAGE
from ...foreign.surface import (
    GIVES_WAY, Surface, Wanted, made_with, waits_in_coroutines,
)
from ...foreign.target import Named
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from .libraries import TICK, LoopRate
from .port import PORT
from .suite import STEPS_MAX

__all__ = ["WANTED", "NamedLoopRate", "NamedThreadRate", "make"]

WANTED: Final = (
    Wanted("take", ("try_acquire", "try_take", "allow", "allows", "consume", "hit", "take",
                    "is_allowed")),
    Wanted("acquire", ("acquire", "wait"), given=1),
)
"""The usual names of the methods. ``take`` answers at once; ``acquire`` is a coroutine."""

CAPACITY: Final = (
    "capacity", "burst", "depth", "max_burst", "bucket_size", "max_rate", "max_calls", "limit",
    "rate_limit", "max_requests", "calls")
RATE: Final = ("rate", "refill_rate", "fill_rate", "per_second", "rate_per_second")
PERIOD: Final = ("period", "time_period", "per", "window", "interval", "seconds")
"""The usual names of the arguments: how many permits are kept, how many come in a second, and in
how many seconds as many come as are kept.
"""

PERMITS: Final = ("permits", "tokens", "weight", "amount", "cost", "n", "num", "count")
"""The usual names of the argument that is the number of permits; else it is the first one."""

ALSO: Final = ("capacity", "rate", "period", "policy")
"""Other things that may have a name: those arguments, and the policy, one of the port's."""


def make(named: Named) -> PortAdapter:
    """The adapter of a limit, by its kind."""
    names = [*WANTED[1].usual, *named.place.names.values()]
    kind = named.kind_by(lambda made: waits_in_coroutines(made, names),
                         lambda: _made(named, {"capacity": 1, "rate": 1}))
    return NamedLoopRate(named) if kind == ASYNCIO else NamedThreadRate(named)


def _made(named: Named, settings: Mapping[str, Any]) -> Any:
    depth, rate = settings["capacity"], settings["rate"]
    return made_with(named.factory, named.place, {
        "capacity": (depth, CAPACITY), "rate": (rate, RATE), "period": (depth / rate, PERIOD)})


def _asking(
    surface: Surface, method: str, permits: int, at_once: bool = True,
) -> Callable[[], Any]:
    """The call of a method that asks for permits, and does not wait if it is to answer at once.
    Raises ``Declined`` if it takes no number, and more than one permit is asked for.
    """
    said = {each: False for each in GIVES_WAY if at_once and surface.takes(method, each)}
    name = next((each for each in PERMITS if surface.takes(method, each)), "")
    if name:
        return partial(surface[method], **{name: permits}, **said)
    if surface.takes_more(method):
        return partial(surface[method], permits, **said)
    if permits > 1:
        raise Declined("asks-for-one-permit")
    return partial(surface[method], **said)


class NamedThreadRate(PortAdapter):
    """A limit for threads, which are run one at a time, and stopped between its lines."""

    port: ClassVar[Port] = PORT

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version                                  # type: ignore[misc]
        self.policy = named.place.names.get("policy", "bucket")       # type: ignore[misc]
        self._calls: Calls | None = None

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        STAGE.now = 0.0
        made = Calls(self.name, ()).at_once("its constructor", lambda: _made(self._named, settings))
        self._calls = Calls(self.name, modules_of(made))
        self._surface = self._new(settings)
        self._ask_by = self._answers_at_once()
        # How many steps a call takes is seen from one, of an object that is of no more use.
        self._running.at_once("an ask", lambda: self._ask(1))
        self._stride = -(-self._running.taken // STEPS_MAX)
        self._surface = self._new(settings)
        self._named.called["policy"] = self.policy

    def _new(self, settings: Mapping[str, Any]) -> Surface:
        made = self._running.at_once("its constructor", lambda: _made(self._named, settings))
        return self._named.surface(made, WANTED, ALSO)

    def _answers_at_once(self) -> str:
        """The method by which a caller asks, by our name: it may be asked not to wait."""
        surface = self._surface
        if "take" not in surface and "acquire" in surface:
            if any(surface.takes("acquire", each) for each in GIVES_WAY):
                return "acquire"
            raise InputError(
                f"{surface.called['acquire']} of {self.name} waits for its permits, and of a limit "
                "for threads only what answers at once is judged",
                next_step="Say by --names take=… which method does, or write an adapter: "
                "docs/rate-port.md.")
        surface.must_have("take", WANTED[0])
        return "take"

    def take(self, permits: int) -> bool:
        return bool(self._running.at_once("an ask", lambda: self._ask(permits)))

    def tick(self, ticks: int) -> bool:
        STAGE.now += ticks * TICK
        return True

    def both(self, permits: int, other: int, steps: int) -> list[bool]:
        """Let two callers ask at once; if either asks for too many, neither is asked. A step is as
        many lines as make a call about as long as the longest that the suite stops.
        """
        for many in (permits, other):
            _asking(self._surface, self._ask_by, many)
        if not steps:
            second = self.take(other)
            return [self.take(permits), second]
        at = steps * self._stride - (permits + other) % self._stride
        first = self._running.begin("the first", lambda: self._ask(permits), at)
        second = self.take(other)
        self._running.settle()
        return [bool(first.value), second]

    def close(self) -> None:
        """End all threads, including those that wait."""
        if self._calls is not None:
            self._calls.close()

    @property
    def _running(self) -> Calls:
        assert self._calls is not None
        return self._calls

    def _ask(self, permits: int) -> bool:
        answer: object = _asking(self._surface, self._ask_by, permits)()
        return answer is not False and answer is not None


class NamedLoopRate(LoopRate):
    """A limit for tasks of asyncio."""

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version                                  # type: ignore[misc]
        self.policy = named.place.names.get("policy", "bucket")       # type: ignore[misc]

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        self.begin_anew()
        with self._loop.running():
            made = _made(self._named, settings)
        self._surface = self._named.surface(made, WANTED, ALSO)
        self._surface.must_have("acquire", WANTED[1])
        self._named.called["policy"] = self.policy
        # A take that is a coroutine may wait.
        if "take" not in self._surface or waits_in_coroutines(
                made, [self._surface.called["take"]]):
            self.take_ = None

    def _take(self, permits: int) -> bool:
        with self._loop.running():
            answer: object = _asking(self._surface, "take", permits)()
            return answer is not False and answer is not None

    take_: Any = _take

    async def asks(self, permits: int) -> None:
        """Wait until ``permits`` permits are given."""
        await _asking(self._surface, "acquire", permits, at_once=False)()

    def acquire(self, by: str, permits: int) -> list[str]:
        _asking(self._surface, "acquire", permits, at_once=False)
        return super().acquire(by, permits)
