"""Calls of a foreign class by threads of the stage, which hold what they got until they are let go.

It is for threads what ``loop_adapter.py`` is for tasks: each call has a name and a
thread of its own. It runs until it ends or waits, or is stopped between two lines of the class, if
that was asked for; then it continues at ``proceed`` and ``settle``. A thread cannot be cancelled,
so that no adapter made of this has ``interrupt``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from ...reference.drivers.schedules.scheduling import Task, Waitable
from ...spec.notation.errors import InputError
from ..foreign.calls import Call, Calls, begun_with
from ..foreign.place import THREAD
from ..foreign.stage import STAGE, StagedLock, StagedRLock
from ..foreign.surface import Surface, is_in_c
from ..foreign.target import Named
from ..ports.base import STEPPED, Message
from .base import Declined
from .port_adapter import PortAdapter

__all__ = ["HeldByThread", "ThreadAdapter"]

Answer = TypeVar("Answer")

_IN_C: dict[type[Any], str] = {
    StagedLock: "", StagedRLock: " threading:_RLock, the same in Python, can be tested."}
"""The locks that stand here in the places of those of ``threading``, and what to test instead."""


class HeldByThread(Waitable):
    """One call: its thread, which waits here while it has what it asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.has = False
        self.call: Call | None = None
        self._leaves = False

    def free_for(self, task: Task | None) -> bool:
        """True once it may leave."""
        return self._leaves

    def holders(self) -> tuple[str, ...]:
        """No task: the harness lets it go."""
        return ()

    def keeps(self) -> None:
        """Keep it until ``leave``."""
        assert STAGE.scheduler is not None
        self.has = True
        STAGE.scheduler.wait_for(self, STAGE.task)
        self.has = False

    def leave(self) -> None:
        """The call continues, and gives back what it has."""
        self._leaves = True


class ThreadAdapter(PortAdapter):
    """The calls by name, and what they have reported."""

    wakes: ClassVar[str] = STEPPED

    def __init__(self, named: Named) -> None:
        self._named = named
        self.name = named.place.words
        self.version = named.version      # type: ignore[misc]
        self._running: Calls | None = None

    # -- for subclasses -----------------------------------------------------------------------

    def begin_anew(self, makes: Callable[[], Any]) -> Any:
        """A fresh object in a fresh session; what was there ends. Raises ``InputError`` for one
        that is not under test: a lock of ``threading``."""
        self.close()
        self._held: dict[str, HeldByThread] = {}
        self._events: list[Message] = []
        self._steps: int | None = None
        self._running, made, self._named.modules = begun_with(
            self.name, self._named.modules, makes)
        if type(made) in _IN_C:
            raise InputError(
                f"{self.name} is written in C: no wait in it is seen, and here a lock of the "
                "harness stands in its place, of which a verdict would be",
                next_step=f"Test what is built from it: threading:Semaphore, threading:Condition, "
                f"threading:Event, or a class of yours.{_IN_C[type(made)]}")
        return made

    def must_be_seen(self, surface: Surface, *names: str) -> None:
        """Raise ``InputError`` for methods in C: a call that waits there is not seen to wait."""
        for ours in names:
            if is_in_c(surface[ours]):
                raise InputError(
                    f"{surface.called[ours]} of {self.name} is written in C, and what waits there "
                    "is not seen to wait",
                    next_step=f"Write an adapter: docs/settling.md; or name a class of {THREAD}s "
                    "that is written in Python.")

    def call(self, name: str, does: Callable[[HeldByThread], None]) -> HeldByThread:
        """A new call, which runs until it ends or waits, or is stopped."""
        if name in self._held:
            raise Declined("name-is-taken")
        held = self._held[name] = HeldByThread(name)
        held.call = self._calls.begin(name, lambda: does(held), self._taken())
        return held

    def at_once(self, name: str, action: Callable[[], Answer]) -> Answer:
        """The answer of a call that must not wait."""
        answer: Answer = self._calls.at_once(name, action)
        return answer

    def note(self, held: HeldByThread, does: str) -> None:
        """Report what became of a call."""
        self._events.append({"by": held.name, "does": does})

    def let_go(self, name: str, stops: bool = True) -> list[Message]:
        """A call that has something gives it back, until it is stopped or has to wait."""
        held = self._held.get(name)
        if held is None or not held.has or held.call is None:
            raise Declined("has-nothing")
        held.leave()
        self._calls.go_on(held.call, self._taken() if stops else None)
        return self.seen(name)

    def seen(self, by: str = "") -> list[Message]:
        """The events of one call that are in no answer yet. Those of others, one of which may have
        continued to give a lock back, are in the answer of the next ``proceed`` or ``settle``."""
        own = [each for each in self._events if each["by"] == by]
        self._events = [each for each in self._events if each["by"] != by]
        return own

    # -- what all their ports have ------------------------------------------------------------

    def pause(self, steps: int) -> bool:
        """Stop the next call after so many lines."""
        self._steps = steps
        return True

    def proceed(self, place: int) -> list[Message]:
        """Let one of the calls that can continue run, until it ends or waits."""
        self._calls.proceed(place)
        return self._all_seen()

    def settle(self) -> list[Message]:    # type: ignore[override]
        """Let everything run that can run at this instant."""
        self._calls.settle()
        return self._all_seen()

    def close(self) -> None:
        """End all threads, including those that wait."""
        if self._running is not None:
            self._running.close()

    # -- within -------------------------------------------------------------------------------

    @property
    def _calls(self) -> Calls:
        assert self._running is not None
        return self._running

    def _all_seen(self) -> list[Message]:
        seen, self._events = self._events, []
        return seen

    def _taken(self) -> int | None:
        """After how many steps the call is stopped that begins now; None: never."""
        steps, self._steps = self._steps, None
        return steps
