"""Queues of the user's, by their names: for threads, and for tasks of asyncio.

The answer of a queue that cannot do something at once differs from class to class. A refused put
raises an exception with a name that says that the queue is full (``Full``, ``QueueFull``,
``WouldBlock``), or returns ``False``; a poll of an empty queue raises one that says that it is
empty, or returns ``None``. Any other exception is a failure of the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

from ....spec.notation.errors import InputError
from ...foreign.asleep import WaitsInC
from ...foreign.guard import LOOP_EXIT
from ...foreign.calls import Call, Calls, begun_with
from ...foreign.place import ASYNCIO, THREAD
from ...foreign.surface import is_in_c, made_with, waits_in_coroutines, wrong_kind
from ...foreign.target import Named
from ...ports.base import STEPPED
from .adapter import QueueAdapter, Waits
from .named_ways import ALSO, WANTED, Ways, capacity_of, tells

__all__ = ["NamedThreadQueue", "kind_of", "make", "sample"]

Item = str | int

_WAITS: Final = ("put", "take", "pause")
"""The operations of the port that are not offered where they may wait in C."""


def make(named: Named) -> QueueAdapter:
    """The adapter of a queue, by its kind. Raises ``InputError`` if it is not of the kind that was
    given.
    """
    if kind_of(named) != ASYNCIO:
        return NamedThreadQueue(named)
    from .named_loop import NamedLoopQueue      # threads are run without asyncio

    return NamedLoopQueue(named)


def kind_of(named: Named) -> str:
    """``thread`` or ``asyncio``: whether a queue is for threads or for tasks."""
    names = [*WANTED[0].usual, *WANTED[1].usual, *named.place.names.values()]
    return named.kind_by(
        lambda made: waits_in_coroutines(made, names), lambda: sample(named))


def sample(named: Named) -> Any:
    """A queue of one item, to look at."""
    return made_with(named.factory, named.place, capacity_of(1))


class NamedThreadQueue(QueueAdapter):
    """A queue for threads, which are run one at a time, and stopped between its lines."""

    wakes: ClassVar[str] = STEPPED

    def __init__(self, named: Named) -> None:
        super().__init__()
        self._named = named
        self.name = named.place.words      # type: ignore[misc]
        self.version = named.version
        self.policy = named.place.names.get("policy", self.policy)      # type: ignore[misc]
        self._calls: Calls | None = None

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        if not self._named.staged:
            raise InputError(
                f"{self.name} is for threads, and was imported before its locks could be replaced",
                next_step=f"Write {THREAD}:{self._named.place.module}:…")
        self._pause: int | None = None
        self._waiting: list[tuple[str, Call]] = []
        made = self._made(capacity)
        self._ways = Ways(self._named.surface(made, WANTED, ALSO))
        waiting, surface = self._ways.waiting, self._ways.surface
        unseen = (not waiting or bool(self._named.waits_in_c)
                  or any(is_in_c(surface[name]) for name in waiting))
        stops = self._stops("put_nowait", "put"), self._stops("get_nowait", "get")
        self.lacks = [      # type: ignore[misc]
            *self._ways.lacks, *(_WAITS if unseen else ()),
            *(name for name, does in zip(("begin_offer", "begin_poll"), stops, strict=True)
              if not does),
            *(() if any(stops) or not unseen else ("proceed",))]
        if waits_in_coroutines(made, list(surface.called.values())):
            raise wrong_kind(self._named.place, ASYNCIO)
        self._must_have_more()
        if not (unseen or self._named.is_tried):
            self._try()
            self._named.is_tried = True
            self.start(capacity)

    def _must_have_more(self) -> None:
        """Raise InputError for a queue of which nothing is left beside what waits in C."""
        for ours, place in self._named.waits_in_c.items():
            if not (self._ways.offers or self._ways.polls):
                raise InputError(
                    f"{self._ways.surface.called[ours]} of {self.name} waits in C, where that is "
                    "not seen, and no method of it answers at once", place,
                    "Say by --names put_nowait=…,get_nowait=… which methods never wait, or write "
                    "an adapter: docs/settling.md.")

    def _stops(self, name: str, waiting: str) -> bool:
        """True if a method of its own that never waits is stopped between its lines. Where it only
        asks the one that waits not to, the lines are those of that one, which is stopped anyway.
        """
        ways, surface = self._ways, self._ways.surface
        if name not in surface or is_in_c(surface[name]):
            return False
        code = getattr(surface[name], "__code__", None)
        return waiting not in ways.waiting or code is None or (
            getattr(surface[waiting], "__name__", waiting) not in code.co_names)

    def _try(self) -> None:
        """Raise InputError if what is called put or get does not wait on a small queue, but says
        that it is full or empty: no run could tell that from a put that is done."""
        for ours, times, refusal, words in (
                ("get", 1, None, self._ways.empty), ("put", 2, False, self._ways.full)):
            if ours not in self._ways.waiting or (ours == "put" and self.policy != "wait"):
                continue
            method = self._named.surface(self._made(1), WANTED, ALSO)[ours]
            given = ("a1",) if ours == "put" else ()
            action = partial(method, *given)
            try:
                calls = [self._running.begin_watched(ours, action) for _ in range(times)]
            except WaitsInC as seen:
                self._named.waits_in_c[ours] = seen.place
                return
            except Exception as error:  # noqa: BLE001 - what else is wrong the cases will say
                if type(error).__name__ == LOOP_EXIT:
                    self._named.waits_in_c[ours] = "the loop of gevent"
                    return
                if tells(error, words):
                    raise self._ways.never_waits(ours, f"by {type(error).__name__}") from None
                continue
            if calls[-1].done and calls[-1].value is refusal:
                raise self._ways.never_waits(ours, f"by {refusal}")

    def _made(self, capacity: int) -> Any:
        """A new queue; its lines are known from its type."""
        def makes() -> Any:
            return made_with(self._named.factory, self._named.place, capacity_of(capacity))

        self._calls, made, self._named.modules = begun_with(
            self.name, self._named.modules, makes)
        return made

    # -- the port -----------------------------------------------------------------------------

    def offer(self, item: Item) -> bool:
        return bool(self._at_once("an offer", lambda: self._ways.offer(item)))

    def poll(self) -> Item | None:
        item: Item | None = self._at_once("a poll", self._ways.poll)
        return item

    def size(self) -> int:
        size: int = self._at_once("its size", self._ways.size)
        return size

    def put(self, item: Item) -> object:
        return self._begin("put", lambda: self._put(item))

    def take(self) -> object:
        return self._begin("take", self._ways.surface["get"])

    def begin_offer(self, item: Item, steps: int) -> object:
        self._pause = steps
        return self._begin("offer", lambda: self._ways.offer(item))

    def begin_poll(self, steps: int) -> object:
        self._pause = steps
        return self._begin("poll", self._ways.poll)

    def pause(self, steps: int) -> bool:
        self._pause = steps
        return True

    def proceed(self, place: int) -> bool:
        self._running.proceed(place)
        self._tell()
        return True

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        self._running.settle()
        self._tell()
        return True

    def close(self) -> None:
        """End all threads, including those that wait."""
        if self._calls is not None:
            self._calls.close()

    # -- within -------------------------------------------------------------------------------

    @property
    def _running(self) -> Calls:
        assert self._calls is not None
        return self._calls

    def _put(self, item: Item) -> bool:
        self._ways.surface["put"](item)
        return True

    def _at_once(self, name: str, action: Callable[[], Any]) -> Any:
        return self._running.at_once(name, action)

    def _begin(self, name: str, action: Callable[[], Any]) -> object:
        steps, self._pause = self._pause, None
        ticket = self.new_ticket()
        call = self._running.begin(f"{name} {ticket}", action, steps)
        if call.done:
            return call.value
        self._waiting.append((ticket, call))
        return Waits(ticket)

    def _tell(self) -> None:
        """Report the calls that have ended, in the order in which they began."""
        for ticket, call in [each for each in self._waiting if each[1].done]:
            self._waiting.remove((ticket, call))
            self.completed(ticket, call.value)
