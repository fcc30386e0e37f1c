"""The chapter's permits, and so each variant of them, behind the port."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.queues.locks.permits import Permits
from ....spec.queues.locks.permits_seen import PermitsSeen
from ...adapters.base import Declined
from ...ports.base import Message, Port
from ...suites.calls_of_the_book import AdapterOfTheBook
from ...suites.mechanism import Mechanism
from .port import PORT

__all__ = ["BookPermits", "PermitsOfTheBook"]

_CALLS: Final = 256
"""Calls at first, and the most that wait."""

_EVENTS: Final = {"acquire_done": "has", "acquire_waits": "waits", "woken": "has",
                  "cancelled": "cancelled", "released": "released"}


class PermitsOfTheBook(Mechanism):
    """The chapter is the observer's: it says what may happen, and the order is chosen here.

    A permit that is free is granted at once, to the first waiter of which cancellation was not
    requested. Calls that were granted a permit or cancelled run later, in that order.
    """

    machine: ClassVar[type[Machine]] = Permits
    view = PermitsSeen

    def __init__(self, capacity: int) -> None:
        super().__init__(C=capacity, K=_CALLS, W=_CALLS)
        self._names: list[str] = []
        self._ready: deque[tuple[str, int]] = deque()

    # -- the port -----------------------------------------------------------------------------

    def acquire(self, by: str) -> list[Message]:
        """A call has a permit or waits, if the machine insists on an answer."""
        if len(self._names) == self._constants["K"]:
            self.grow(K=2 * len(self._names), W=2 * len(self._names))
        self.fire("begins")
        if self.can("answered"):
            return []
        call = len(self._names)
        self._names.append(by)
        seen = [] if len(self.now.line) else self._act("acquire_done", call)
        return seen or self._act("acquire_waits", call)

    def release(self, by: str) -> list[Message]:
        """The holder of a permit gives it back."""
        seen = self._act("released", self._number(by), call=self._number(by))
        if not seen:
            raise Declined("has-nothing")
        return seen

    def interrupt(self, by: str) -> list[Message]:
        """The cancellation of a call is requested; it runs when it would have run anyway."""
        call = self._number(by)
        self.fire("stops", call=call)
        if ("woken", call) in self._ready:
            self._ready[self._ready.index(("woken", call))] = "cancelled", call
        else:
            self._ready.append(("cancelled", call))
        return []

    def locked(self) -> bool:
        """True if no permit is free."""
        return not self.can("seen_free")

    def run(self, steps: int) -> list[Message]:
        """Let so many calls run that were woken or cancelled."""
        seen: list[Message] = []
        for _ in range(steps):
            if not self._ready:
                break
            action, call = self._ready.popleft()
            seen += self._act(action, call, call=call)
            if action == "cancelled":       # a variant's call is woken all the same
                self._ready.append(("woken", call))
        return seen

    def settle(self) -> list[Message]:      # type: ignore[override]
        """Let all of them run."""
        seen: list[Message] = []
        while self._ready:
            seen += self.run(1)
        self.fire("settled")
        return seen

    # -- within -------------------------------------------------------------------------------

    def _act(self, action: str, number: int, **arguments: Any) -> list[Message]:
        if self.fire(action, **arguments) is None:
            return []
        self._grants()
        return [{"by": self._names[number], "does": _EVENTS[action]}]

    def _grants(self) -> None:
        """Free permits are granted."""
        while places := [place for place, call in enumerate(self.now.line)
                         if call not in self.now.stopping]:
            call = self.now.line[places[0]]
            if self.fire("grant", place=places[0]) is None:
                break
            self._ready.append(("woken", call))

    def _number(self, by: str) -> int:
        if by not in self._names:
            raise Declined("does-not-wait")
        return self._names.index(by)


class BookPermits(AdapterOfTheBook):
    """The permits of the book, one callback at a time."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "line"
    core: type[PermitsOfTheBook] = PermitsOfTheBook
