"""Timers by their names: classes with a callback after a delay, on the harness's clock.

A timer reads the time by ``time.monotonic``, ``time.time`` or a function that its constructor
takes, and is driven by a call that runs the tasks that are due. It is driven at each instant at
which one of its tasks is due, as a thread that waits for the next one would do. A millisecond of
the port is a second of the timer, since sums of thousandths are not exact, and deadlines could not
be distinguished.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from ....spec.notation.errors import InputError
from ...foreign.calls import Calls, begun_with
from ...foreign.place import ASYNCIO
from ...foreign.stage import STAGE
from ...foreign.surface import (
    Surface, Wanted, waits_in_coroutines, wrong_kind,
)
from ...foreign.target import Named
from ...ports.base import Message
from .adapter import FailingTasks, PlannedError

__all__ = ["WANTED", "NamedTimer", "make"]

WANTED: Final = (
    Wanted("schedule", ("call_later", "schedule", "enter", "add", "after", "set_timeout"),
           needed=True),
    Wanted("drive", ("run_pending", "run_due", "advance", "tick", "poll", "process", "run"),
           needed=True),
    Wanted("cancel", ("cancel", "remove", "unschedule", "clear_timeout")),
)
"""Usual names of the methods. Without ``cancel``, the result of ``schedule`` has one."""

ALSO: Final = ("clock", "policy", "unit", "threads")
"""Other things that may have a name: the argument of the constructor that is a clock, the port's
policy, the unit of delays, ``s`` or ``ms``, and how many threads call it, ``many`` or ``one``.
"""
_AMID: Final = ("add_amid", "cancel_amid", "add_two")

_CLOCK: Final = ("timefunc", "clock", "now", "time", "time_fn", "monotonic")
_DELAY: Final = ("delay", "seconds", "after", "timeout", "delay_ms", "ms", "delta", "when")
_CALLBACK: Final = ("callback", "action", "func", "fn", "function", "task", "handler", "job", "cb")
_FILLED: Final[Mapping[str, Any]] = {"priority": 0, "delayfunc": lambda _: None, "blocking": False}
"""Arguments that some methods require besides."""


def make(named: Named) -> NamedTimer:
    """The adapter of a timer. Raises ``InputError`` if the timer is for coroutines."""
    kind = named.kind_by(
        lambda made: waits_in_coroutines(made, [*WANTED[0].usual, *WANTED[1].usual]),
        lambda: _made(named, lambda: 0.0))
    if kind == ASYNCIO:
        raise wrong_kind(named.place, ASYNCIO,
                         "The suite timer takes no coroutines by their names; write an adapter.")
    if named.place.names.get("unit", "s") not in ("s", "ms"):
        raise InputError("the unit of delays is s or ms", next_step="Write --names unit=ms.")
    if named.place.names.get("threads", "many") not in ("one", "many"):
        raise InputError("a timer is called by one thread or many",
                         next_step="Write --names threads=one.")
    return NamedTimer(named)


def _made(named: Named, clock: Callable[[], float]) -> Any:
    name = _name_in(named.factory, _CLOCK, named.place.names.get("clock"))
    return _call(named.factory, {name: clock})


def _call(method: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call with the arguments that have a name, and with others that the method requires."""
    told = {name: value for name, value in arguments.items() if name}
    return method(**_filled(method) | told)


def _filled(method: Callable[..., Any]) -> dict[str, Any]:
    return {name: _FILLED[name] for name in _names_of(method) if name in _FILLED}


def _names_of(method: Callable[..., Any]) -> Sequence[str]:
    try:
        return [*inspect.signature(method).parameters]
    except (TypeError, ValueError):
        return ()


def _name_in(method: Callable[..., Any], usual: Sequence[str], said: str | None = None) -> str:
    return said or next((name for name in _names_of(method) if name in usual), "")


class NamedTimer(FailingTasks):
    """A timer of the user, found by the names of its methods."""

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version                                      # type: ignore[misc]
        self.policy = named.place.names.get("policy", "deadline")         # type: ignore[misc]
        self._unit = 1000 if named.place.names.get("unit") == "ms" else 1
        self._calls: Calls | None = None
        if named.place.names.get("threads") == "one":
            vars(self).update(dict.fromkeys(_AMID))     # not offered

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Create the timer, and find its methods."""
        self._calls = Calls(self.name, ())
        self._due: dict[int, int] = {}
        self._handles: dict[int, Any] = {}
        self._go(self.now)

        def makes() -> Any:
            return _made(self._named, lambda: self._clock * self._unit)

        self._calls, made, self._named.modules = begun_with(
            self.name, self._named.modules, makes)
        self._surface: Surface = self._named.surface(made, WANTED, ALSO)

    def schedule(self, task: int, delay: int) -> None:
        """Schedule the task anew, with a delay in the timer's unit."""
        self.unschedule(task)
        self._due[task] = self.now + max(0, delay)
        self._handles[task] = self._ask(lambda: self._scheduled(task, delay * self._unit))

    def unschedule(self, task: int) -> None:
        """Cancel the task by the timer's method, or by its handle's."""
        self._due.pop(task, None)
        if task not in self._handles:
            return
        handle = self._handles.pop(task)
        if "cancel" in self._surface:
            self._ask(lambda: self._surface["cancel"](handle))
        elif callable(getattr(handle, "cancel", None)):
            self._ask(handle.cancel)

    def move(self, until: int) -> None:
        """Drive the timer at each instant at which a task is due, up to ``until``."""
        for at in sorted({at for at in self._due.values() if self._clock < at < until} | {until}):
            self._go(at)
            self._drive()

    def add_amid(self, task: int, delay: int, steps: int) -> list[Message]:
        """Add a task while the timer runs what is due."""
        return self._amid(steps, lambda: self.schedule(task, delay))

    def cancel_amid(self, task: int, steps: int) -> list[Message]:
        """Cancel a task while the timer runs what is due: it may be too late for one of these, and
        the timer may say so by an exception.
        """
        is_due = self._due.get(task, self.now + 1) <= self.now

        def cancel() -> None:
            with suppress(*((Exception,) if is_due else ())):
                self.unschedule(task)

        return self._amid(steps, cancel)

    def add_two(self, task: int, delay: int, other: int, steps: int) -> list[Message]:
        """Add two tasks at once."""
        self._due[task] = self.now + delay
        if steps:
            first = self._running.begin(
                "an add", lambda: self._scheduled(task, delay * self._unit), steps)
            self.schedule(other, delay + 1)
            self._handles[task] = self._running.finish(first)
        else:
            self.schedule(other, delay + 1)
            self.schedule(task, delay)
        return self.elapse()

    def close(self) -> None:
        """Give up the thread that makes its calls."""
        if self._calls is not None:
            self._calls.close()

    # -- within -------------------------------------------------------------------------------

    @property
    def _running(self) -> Calls:
        assert self._calls is not None
        return self._calls

    def _amid(self, steps: int, other: Callable[[], None]) -> list[Message]:
        """Drive the timer at ``now``, stopped after so many steps, while another thread calls."""
        self.move(self.now - 1)
        self._go(self.now)
        if steps:
            first = self._running.begin("its run", self._drives, steps)
            other()
            self._running.finish(first)
        else:
            other()
        return self.elapse()

    def _drive(self) -> None:
        """Drive the timer until a task's failure no longer stops it."""
        for _ in range(len(self._due) + 2):
            if self._ask(self._drives):
                break

    def _go(self, at: int) -> None:
        self._clock = at
        STAGE.now = at

    def _drives(self) -> bool:
        """Drive the timer once; false if a task's failure stopped it."""
        drive = self._surface["drive"]
        now = _name_in(drive, _CLOCK)
        with suppress(PlannedError):
            _call(drive, {now: self._clock * self._unit})
            return True
        return False

    def _scheduled(self, task: int, delay: int) -> Any:
        method = self._surface["schedule"]
        callback = partial(self._run, task)
        by_name = {_name_in(method, _DELAY): delay, _name_in(method, _CALLBACK): callback}
        return method(delay, callback) if "" in by_name else _call(method, by_name)

    def _run(self, task: int) -> None:
        self._due.pop(task, None)
        self._handles.pop(task, None)
        self.ran(task, self._clock)

    def _ask(self, call: Callable[[], Any]) -> Any:
        return self._running.at_once("a call", call)
