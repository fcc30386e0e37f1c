"""A chapter's machine with calls that begin, sleep and wake, behind a port of driven callbacks.

A chapter of such calls says what a call does when it runs, and which sleepers a step wakes; in
which order the woken ones run it leaves open. Here that is the order of an event loop: a call takes
its first step when it begins, and later ones run in the order in which they were woken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from ..adapters.base import Declined
from ..adapters.port_adapter import PortAdapter
from ..ports.base import STEPPED, Message
from .mechanism import Mechanism

__all__ = ["AdapterOfTheBook", "CallsOfTheBook"]

_CALLBACKS_MAX: Final = 500
"""Callbacks after which a machine is taken for one that would never be idle."""

Callback = tuple[str, str, int]
"""A step of a call: the action, and its one argument."""


class AdapterOfTheBook(PortAdapter):
    """The adapter of a machine that has the port's operations as methods: ``core``, which is made
    for a capacity and is what a twin replaces."""

    name = "the rule book"
    wakes: ClassVar[str] = STEPPED
    core: type[Any]

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh machine."""
        self._machine = self.core(settings["capacity"])

    def _method(self, do: str) -> Callable[..., Any] | None:
        return getattr(self._machine, f"{do}_", None) or getattr(self._machine, do, None)


class CallsOfTheBook(Mechanism):
    """A run of such a machine. A subclass says which calls are ``asleep``, and the event of each
    step that is shown."""

    def __init__(self, **constants: int) -> None:
        super().__init__(**constants)
        self._ready: deque[Callback] = deque()
        self._events: list[Message] = []

    # -- for subclasses -----------------------------------------------------------------------

    def asleep(self) -> list[Callback]:
        """The next steps of the calls that sleep, in the order in which they are woken."""
        raise NotImplementedError

    def event(self, name: str, arguments: Mapping[str, int]) -> Message | None:
        """The event that a step of the observer stands for, if it is one."""
        raise NotImplementedError

    def spins(self) -> Message | None:
        """The event of a machine that does not become idle, if it does not."""
        return None

    def act(self, action: str, **arguments: int) -> list[Message]:
        """Take a step, and return the events that there are. Raises ``Declined`` where it cannot
        be taken."""
        if not self._step(action, **arguments):
            raise Declined("not-possible-now")
        return self._seen()

    # -- the port -----------------------------------------------------------------------------

    def run(self, steps: int) -> list[Message]:
        """Let so many calls take a step that are awake."""
        for _ in range(min(steps, len(self._ready) + _CALLBACKS_MAX)):
            if not self._ready:
                break
            action, argument, value = self._ready.popleft()
            self._step(action, **{argument: value})
        return self._seen()

    def settle(self) -> list[Message]:      # type: ignore[override]
        """Let all calls run that are awake."""
        seen = self.run(_CALLBACKS_MAX)
        spins = self.spins()
        return [*seen, *([spins] if spins else [])]

    # -- within -------------------------------------------------------------------------------

    def _step(self, action: str, **arguments: int) -> bool:
        """Take a step, after which the calls that it woke are ready; true if it was enabled."""
        before = self.asleep()
        shown = self.fire(action, **arguments)
        asleep = {*self.asleep()}
        self._ready += [each for each in before if each not in asleep]
        for name, told in shown or ():
            event = self.event(name, dict(told))
            self._events += [event] if event else []
        return shown is not None

    def _seen(self) -> list[Message]:
        seen, self._events = self._events, []
        return seen
