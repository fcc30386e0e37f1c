"""The chapter's condition variable, and so each variant of it, behind the port."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from ....spec.notation.machine import Machine
from ....spec.queues.locks.condition import ConditionVariable
from ....spec.queues.locks.condition_seen import ConditionSeen
from ...adapters.base import Declined
from ...ports.base import Message, Port
from ...suites.calls_of_the_book import AdapterOfTheBook
from ...suites.mechanism import Mechanism
from .port import PORT

__all__ = ["BookCondition", "ConditionOfTheBook"]

_CALLS: Final = 16
"""Calls of wait at first."""
_NOTIFICATIONS: Final = 2**20
"""More notifications than any call gives."""

_EVENTS: Final = {
    "sleeps": "sleeps", "notifies": "notifies", "notifies_none": "notifies", "goes_on": "goes on",
    "is_cancelled": "cancelled", "has_no_lock": "has no lock", "leaves": "left"}


class ConditionOfTheBook(Mechanism):
    """The chapter is the observer's: it says what may happen, and when it is idle.

    So the order is chosen here. Calls get the lock first come first; then comes the first sleeper
    that was notified or cancelled, and as long as it is unclear which sleeper a notification is
    for, those that were not cancelled come before the others. ``settle`` takes steps until the
    machine says that it has settled.
    """

    machine: ClassVar[type[Machine]] = ConditionVariable
    view = ConditionSeen

    def __init__(self, capacity: int) -> None:
        if capacity != 1:
            raise Declined("unsupported-capacity")
        super().__init__(K=_CALLS, N=_NOTIFICATIONS)
        self._line: deque[tuple[str, int | None]] = deque()     # they want the lock
        self._sleepers: list[str] = []

    # -- the port -----------------------------------------------------------------------------

    def wait(self, by: str) -> list[Message]:
        """A call begins to wait; it sleeps at once where the lock is free."""
        return self._begins(by, None)

    def notify(self, by: str, count: int) -> list[Message]:
        """A call begins to notify, and does at once where the lock is free."""
        return self._begins(by, count)

    def leave(self, by: str) -> list[Message]:
        """The call that continued gives the lock back, if the machine insists on it."""
        call = self._number(by)
        if self.can("was_asked_to_leave", call=call):
            return []
        return self._act(by, "leaves", call=call)

    def interrupt(self, by: str) -> list[Message]:
        """The cancellation of a sleeper is requested."""
        self.fire("stops", call=self._number(by))
        return []

    def run(self, steps: int) -> list[Message]:
        """Take so many steps of its own, if there are as many."""
        seen: list[Message] = []
        for _ in range(steps):
            more = self._goes_on()
            if not more:
                break
            seen += more
        return seen

    def settle(self) -> list[Message]:      # type: ignore[override]
        """Take steps of its own until it has settled."""
        seen: list[Message] = []
        while self.fire("settled") is None and (more := self._goes_on()):
            seen += more
        return seen

    # -- within -------------------------------------------------------------------------------

    def _begins(self, by: str, count: int | None) -> list[Message]:
        if len(self._line) + len(self._sleepers) + 1 >= self._constants["K"]:
            self._has_room()
        self.fire("begins")
        self._line.append((by, count))
        return self._has_lock() if len(self._line) == 1 else []

    def _has_room(self) -> None:
        """Make the machine larger. That nobody holds the lock is the first number beyond."""
        calls = self._constants["K"]
        free = self.now.inside == calls
        self.grow(K=2 * calls)
        if free:
            self.put(inside=2 * calls)

    def _goes_on(self) -> list[Message]:
        """The next step of its own, if one is possible."""
        seen = self._has_lock() if self._line else []
        for action, call in [] if seen else self._wake_ups():
            if seen := self._act(self._sleepers[call], action, call=call):
                break
        return seen

    def _has_lock(self) -> list[Message]:
        """The first call that wants the lock takes it, if it is free."""
        by, count = self._line[0]
        if count is None:
            seen = self._act(by, "sleeps")
            self._sleepers += [by] if seen else []
        elif count == 0:
            seen = self._act(by, "notifies_none")
        else:
            seen = self._act(by, "notifies", count=min(count, _NOTIFICATIONS) - 1)
        if seen:
            self._line.popleft()
        return seen

    def _wake_ups(self) -> Iterator[tuple[str, int]]:
        """The sleepers that may have to wake, and how."""
        now = self.now
        stopping, unclear = {*now.stopping}, bool(now.unclear)
        due = {*now.meant} - stopping if now.due > 0 else set()
        for call in sorted(stopping | due, key=lambda each: (unclear and each in stopping, each)):
            if call in due:
                yield "goes_on", call
            else:
                yield from [("has_no_lock", call), ("is_cancelled", call)]

    def _act(self, by: str, action: str, **arguments: Any) -> list[Message]:
        return [] if self.fire(action, **arguments) is None else [
            {"by": by, "does": _EVENTS[action]}]

    def _number(self, by: str) -> int:
        if by not in self._sleepers:
            raise Declined("does-not-wait")
        return self._sleepers.index(by)


class BookCondition(AdapterOfTheBook):
    """The condition variable of the book, one callback at a time."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "sleep"
    core: type[ConditionOfTheBook] = ConditionOfTheBook
