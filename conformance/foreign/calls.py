"""Calls of a foreign class by threads of the stage: begun, stopped between two lines, continued."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from threading import Thread
from typing import Any, Final

from ...reference.drivers.schedules.scheduling import Task
from ...spec.notation.errors import TargetError
from .asleep import LONG, Asleep, WaitsInC
from .stage import STAGE

__all__ = ["Call", "Calls", "begun_with", "modules_of"]


_DEPTH: Final = 2
"""How far the parts of an object are looked at: its own, and theirs."""

_MAKES: Final = 2
"""How often an object is made, so that its lines are known from the start."""

_NOT_UNDER_TEST: Final = frozenset({*sys.stdlib_module_names, "checkvalve"})


class Call:
    """One call in a thread: its result, once it is ``done``."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.value: Any = None
        self.done = False


class Calls:
    """The calls of one session."""

    def __init__(self, name: str, modules: Collection[str]) -> None:
        self._name = name
        self._scheduler = STAGE.begin(modules)
        self._scheduler.look = Asleep(LONG)
        self._calls: set[Task] = set()
        """The tasks of calls; others are threads of the class."""

    @property
    def taken(self) -> int:
        """The number of steps that the last call took until it ended or waited."""
        return self._scheduler.taken

    def begin(self, name: str, action: Callable[[], Any], steps: int | None = None) -> Call:
        """Begin a call that may wait: it runs until it ends or waits, or for so many steps. Threads
        that the class has started come first: what was handed to them is done.
        """
        self._run_threads()
        call = self._call(name, action)
        self._go_on(call.task, steps)
        return call

    def go_on(self, call: Call, steps: int | None = None) -> None:
        """Let a call that was begun continue, until it ends or waits, or for so many steps."""
        self._run_threads()
        if not call.done and not call.task.blocked():
            self._go_on(call.task, steps)

    def begin_watched(self, name: str, action: Callable[[], Any]) -> Call:
        """As ``begin``, but raise ``WaitsInC`` for a call that waits in C, as far as that can be
        seen. Then this session is over, and its thread is left where it is.
        """
        call = self._call(name, action)
        self._scheduler.look = Asleep()
        self._run(call.task)
        self._scheduler.look = Asleep(LONG)
        return call

    def at_once(self, name: str, action: Callable[[], Any]) -> Any:
        """The answer of a call that must not wait. Threads that the class has started come first:
        what was handed to them is done. If the call needs a lock, the holder continues, line by
        line, until the lock is free. Raises ``TargetError`` if the call waits all the same.
        """
        self._run_threads()
        return self.finish(self._call(name, action))

    def finish(self, call: Call) -> Any:
        """The answer of a call that was begun, and must not wait; as ``at_once`` has it."""
        while not call.done:
            if call.task.blocked():
                self._go_on(self._in_its_way(call.task), 1)
            else:
                self._go_on(call.task)
        return call.value

    def proceed(self, place: int = 0) -> bool:
        """Run one of the tasks that can continue, until it ends or waits; True if there was one."""
        can = self._scheduler.runnable()
        if can:
            self._go_on(can[place % len(can)])
        return bool(can)

    def settle(self) -> None:
        """Run all tasks that can continue; then each time limit set by then passes, in its turn."""
        while self.proceed():
            pass
        for task in sorted(STAGE.limits, key=STAGE.limits.__getitem__):
            if task in STAGE.limits and not task.done:
                STAGE.expire(task)
                while self.proceed():
                    pass

    def close(self) -> None:
        """End all threads, including those that wait."""
        STAGE.end()

    # -- within -------------------------------------------------------------------------------

    def _run_threads(self) -> None:
        """Run the threads that the class has started, until each of them ends or waits."""
        while own := [each for each in self._scheduler.runnable() if each not in self._calls]:
            self._go_on(own[0])

    def _call(self, name: str, action: Callable[[], Any]) -> Call:
        def body() -> None:
            call.value = action()
            call.done = True

        call = Call(self._scheduler.spawn(name, body))
        self._calls.add(call.task)
        return call

    def _go_on(self, task: Task, steps: int | None = None) -> None:
        try:
            self._run(task, steps)
        except WaitsInC as seen:
            raise TargetError(
                f"{self._name} waits in C, in {task.name}, and what waits there is not seen to "
                "wait", seen.place, "Write an adapter for it: docs/settling.md.") from None

    def _run(self, task: Task, steps: int | None = None) -> None:
        """Run a task. Raises ``WaitsInC`` if it does not come back; then this session is over, and
        its thread is left where it is."""
        STAGE.reads = 0
        try:
            self._scheduler.advance(task, steps)
        except WaitsInC:
            STAGE.leave()
            raise
        if task.done:
            self._scheduler.forget(task)
            self._calls.discard(task)
        if task.error is not None:
            error, task.error = task.error, None
            raise error

    def _in_its_way(self, task: Task) -> Task:
        """The task that has to continue for a call: the holder of its lock, or any other."""
        lock: Any = task.waits_for
        holder = lock.held_by() if hasattr(lock, "held_by") else None
        can = [each for each in self._scheduler.runnable() if each is not task]
        if isinstance(holder, Task) and holder in can:
            return holder
        if not can:
            raise TargetError(
                f"{self._name} lets {task.name} wait, which is to answer at once: "
                f"{self._scheduler.standing(task).words()}",
                next_step="Say by --names which method answers at once, or let it be left out.")
        return can[0]


def begun_with(
    name: str, modules: Collection[str], makes: Callable[[], Any],
) -> tuple[Calls, Any, tuple[str, ...]]:
    """The calls of a new session, an object that the factory has made in it, and the modules of
    which the lines are its own. ``modules`` are those of the session before: where the object has
    others, which shows only once it is there, it is made once more.
    """
    known = tuple(modules)
    for _ in range(_MAKES):
        calls = Calls(name, known)
        made = calls.at_once("its constructor", makes)
        before, known = known, modules_of(made)
        if known == before:
            break
    return calls, made, known


def modules_of(made: Any) -> tuple[str, ...]:
    """The modules with the lines of an object: of its class and the bases of that, and of
    the parts that it keeps, and theirs, as far as these are not of the standard library.
    """
    names = [each.__module__ for each in type(made).__mro__ if each not in (object, Thread)]
    own = frozenset(names)
    parts = [made]
    for _ in range(_DEPTH):
        parts = [part for each in parts for part in _parts_of(each)]
        names += [name for part in parts for name in [type(part).__module__]
                  if name.partition(".")[0] not in _NOT_UNDER_TEST]
    return tuple(name for name in dict.fromkeys(names)
                 if name not in ("builtins", "abc", "typing") and name in sys.modules
                 and (name in own or name != "threading"))


def _parts_of(made: Any) -> list[Any]:
    """The values of an object's attributes, those in slots included."""
    slots = [slot for kind in type(made).__mro__ for slot in vars(kind).get("__slots__", ())]
    return [*getattr(made, "__dict__", {}).values(), *(getattr(made, slot, None) for slot in slots)]
