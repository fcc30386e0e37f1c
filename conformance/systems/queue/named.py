"""Queues of the user's, by their names: for threads, and for tasks of asyncio.

The answer of a queue that cannot do something at once differs from class to class. A refused put
raises an exception whose name says that the queue is full (``Full``, ``QueueFull``,
``WouldBlock``), or returns ``False``; a poll of an empty queue raises one that says that it is
empty, or returns ``None``. Any other exception is a failure of the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

from ....spec.notation.errors import InputError
from ...foreign.asleep import WaitsInC
from ...foreign.guard import LOOP_EXIT
from ...foreign.calls import Call, Calls, begun_with
from ...foreign.place import ASYNCIO, THREAD
from ...foreign.surface import (
    GIVES_WAY, Surface, Wanted, is_awaited, is_in_c, made_with, waits_in_coroutines, wrong_kind,
)
from ...foreign.target import Named
from ...ports.base import STEPPED
from .adapter import QueueAdapter, Waits

__all__ = ["ALSO", "NamedThreadQueue", "WANTED", "Ways", "capacity_of", "kind_of", "make", "sample"]

Item = str | int

WANTED: Final = (
    Wanted("put", ("put", "push", "send", "enqueue", "add", "append"), needed=True, given=1,
           instead="put_nowait"),
    Wanted("get", ("get", "pop", "take", "receive", "recv", "dequeue"), needed=True, given=0,
           instead="get_nowait"),
    Wanted("put_nowait", ("put_nowait", "try_put", "offer", "push_nowait", "send_nowait",
                          "try_send")),
    Wanted("get_nowait", ("get_nowait", "try_get", "poll", "pop_nowait", "receive_nowait",
                          "try_receive")),
    Wanted("size", ("qsize", "size", "__len__")),
)
"""The usual names of a queue's methods."""

CAPACITY: Final = ("maxsize", "capacity", "max_size", "size", "limit", "bound", "maxlen", "n")
"""The usual names of the argument that says how many items the queue may hold."""

_WAITS: Final = ("put", "take", "pause")
"""The operations of the port that are not offered where they may wait in C."""

ALSO: Final = ("capacity", "policy", "full", "empty")
"""Other things that may have a name: the argument that says how many items it may hold, its policy
when there is no room (one of the port's policies), and exceptions.
"""

_FULL: Final = ("full", "wouldblock", "would_block")
_EMPTY: Final = ("empty", "wouldblock", "would_block")


def make(named: Named) -> QueueAdapter:
    """The adapter of a queue, by its kind. Raises ``InputError`` if it is not of the kind that was
    given.
    """
    if kind_of(named) != ASYNCIO:
        return NamedThreadQueue(named)
    from .named_loop import NamedLoopQueue

    return NamedLoopQueue(named)


def kind_of(named: Named) -> str:
    """``thread`` or ``asyncio``: whether a queue is for threads or for tasks."""
    names = [*WANTED[0].usual, *WANTED[1].usual, *named.place.names.values()]
    return named.kind_by(
        lambda made: waits_in_coroutines(made, names), lambda: sample(named))


def sample(named: Named) -> Any:
    """A queue of one item, to look at."""
    return made_with(named.factory, named.place, capacity_of(1))


class Ways:
    """The calls of one queue, whether threads or tasks make them."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        names = surface.place.names
        self.full = (*_FULL, *([names["full"].lower()] if "full" in names else ()))
        self.empty = (*_EMPTY, *([names["empty"].lower()] if "empty" in names else ()))
        self.offers = self._at_once("put_nowait", "put")
        self.polls = self._at_once("get_nowait", "get")

    def _at_once(self, name: str, waiting: str) -> Callable[..., Any] | None:
        """The method that answers at once, or the one that waits with an argument that says so."""
        if name in self.surface:
            return self.surface[name]
        says = [each for each in GIVES_WAY
                if waiting in self.surface and self.surface.takes(waiting, each)
                and not is_awaited(self.surface[waiting])]
        return partial(self.surface[waiting], **{says[0]: False}) if says else None

    @property
    def lacks(self) -> Sequence[str]:
        """The operations of the port that it does not have."""
        return [operation for operation, has in (
            ("offer", self.offers), ("poll", self.polls), ("size", "size" in self.surface),
            ("put", "put" in self.surface), ("take", "get" in self.surface),
        ) if not has]

    @property
    def waiting(self) -> Sequence[str]:
        """Its methods that wait, by our names."""
        return [name for name in ("put", "get") if name in self.surface]

    def never_waits(self, ours: str, how: str) -> InputError:
        """The error for a method that answers at once that there is no room, or no item."""
        theirs = self.surface.called[ours]
        lacks = "room" if ours == "put" else "an item"
        return InputError(
            f"{theirs} of {self.surface.place.words} does not wait where it lacks {lacks}, but "
            f"answers at once, {how}; what is called {ours} here waits",
            next_step=f"Write --names {ours}_nowait={theirs}, and --names {ours}=… if another "
            "method waits.")

    def offer(self, item: Item) -> bool:
        """Put an item at once, or answer that there is no room."""
        assert self.offers is not None
        try:
            return self.offers(item) is not False
        except Exception as error:
            if _tells(error, self.full):
                return False
            raise

    def poll(self) -> Item | None:
        """Take an item at once, or answer None."""
        assert self.polls is not None
        try:
            item: Item | None = self.polls()
        except Exception as error:
            if _tells(error, self.empty):
                return None
            raise
        return item

    def size(self) -> int:
        """The number of items."""
        size: int = self.surface["size"]()
        return size


def _tells(error: Exception, words: Sequence[str]) -> bool:
    """True if the name of an error, or of one of its bases, has one of these words."""
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    return any(word in name for word in words for name in names)


def capacity_of(capacity: int) -> Mapping[str, tuple[Any, Sequence[str]]]:
    """The argument of the constructor, as ``made_with`` takes it."""
    return {"capacity": (capacity, CAPACITY)}


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
                if _tells(error, words):
                    raise self._ways.never_waits(ours, f"by {type(error).__name__}") from None
                continue
            if calls[-1].done and calls[-1].value is refusal:
                raise self._ways.never_waits(ours, f"by {refusal}")

    def _made(self, capacity: int) -> Any:
        """A new queue, whose lines are known from its type."""
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
