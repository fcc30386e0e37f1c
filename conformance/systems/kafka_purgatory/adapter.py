"""The reference purgatories behind the port ``kafka.purgatory``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ....reference.kafka.delayed_operation import DelayedOperation, PurgatoryMisuse
from ....reference.kafka.old_purgatory import OldPurgatory
from ....reference.kafka.purgatory import Purgatory, Waiting
from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Message, Port
from ..timer.adapter import PlannedError
from .port import PORT

__all__ = ["ReferenceOldPurgatory", "ReferencePurgatory", "ReportingOperation"]


class ReportingOperation(DelayedOperation):
    """A request that reports its calls in ``calls``.

    It is ready as soon as its name is in ``ready``, and after its first try if it is in ``soon``.
    Its next call of a kind raises if both are in ``failing``.
    """

    __slots__ = ("calls", "failing", "name", "ready", "soon")

    def __init__(
        self, name: str, delay: int, ready: set[str], soon: set[str],
        failing: set[tuple[str, str]], calls: list[Message],
    ) -> None:
        super().__init__(delay)
        self.name, self.ready, self.soon, self.calls = name, ready, soon, calls
        self.failing = failing

    def _report(self, call: str) -> None:
        self.calls.append({"call": call, "request": self.name})
        if (self.name, call) in self.failing:
            self.failing.discard((self.name, call))
            self.calls.append({"call": "raise", "request": self.name})
            raise PlannedError

    def try_complete(self) -> bool:
        """Complete the request if it is ready; otherwise it may be ready next time."""
        self._report("try")
        if self.name in self.ready:
            return self.force_complete()
        if self.name in self.soon:
            self.ready.add(self.name)
        return False

    def on_complete(self) -> None:
        """Report the completion, and raise if planned."""
        self._report("complete")

    def on_expiration(self) -> None:
        """Report the expiry, and raise if planned."""
        self._report("expire")


class ReferenceOldPurgatory(PortAdapter):
    """The old purgatory behind the port; twins replace ``core`` and ``operation``.

    It has no estimate, counts completed requests as delayed, and cannot cancel; its keys disappear
    when it purges. So it does not offer the operations for these.
    """

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "length"
    name = "reference old purgatory"
    core: type[Waiting] = OldPurgatory
    operation: type[ReportingOperation] = ReportingOperation

    def start(self, settings: Mapping[str, Any]) -> None:
        """Start with an empty purgatory; the capacity is the purge interval."""
        self._now = 0
        self._ready: set[str] = set()
        self._soon: set[str] = set()
        self._failing: set[tuple[str, str]] = set()
        self._moved = False
        self._calls: list[Message] = []
        self._made: dict[str, ReportingOperation] = {}
        made: Any = self.core
        try:
            self.purgatory = made(settings["capacity"])
        except PurgatoryMisuse as misuse:
            raise Declined(str(misuse)) from None

    def _reported(self, call: Callable[[], object]) -> Message:
        outcome: Message = {"raised": True}
        try:
            outcome = {"answer": call()}
        except* PlannedError:
            pass
        calls = list(self._calls)
        self._calls.clear()
        return {**outcome, "calls": calls}

    def ready(self, request: str) -> bool:
        """Make the request ready."""
        self._ready.add(request)
        return True

    def soon(self, request: str) -> bool:
        """Make the request ready after its first try; declined if it exists already."""
        if request in self._made:
            raise Declined("made-already")
        self._soon.add(request)
        return True

    def fail(self, request: str, call: str) -> bool:
        """The next such call of the request raises."""
        self._failing.add((request, call))
        return True

    def watch(self, request: str, keys: list[str], timeout: int) -> Message:
        """Create a request: try it, watch its keys, try again, and begin its timeout."""
        if request in self._made:
            raise Declined("made-already")
        made = self.operation(
            request, timeout, self._ready, self._soon, self._failing, self._calls)
        try:
            report = self._reported(
                lambda: self.purgatory.try_complete_else_watch(made, keys, self._now))
        except PurgatoryMisuse as misuse:
            raise Declined(str(misuse)) from None
        self._made[request] = made
        return report

    def force(self, request: str) -> Message:
        """Complete a request; declined if it is unknown."""
        if request not in self._made:
            raise Declined("unknown-request")
        return self._reported(self._made[request].force_complete)

    def check(self, key: str) -> Message:
        """Report an event of a key; return the number of completed requests."""
        return self._reported(lambda: self.purgatory.check_and_complete(key))

    def advance(self, by: int) -> Message:
        """Let time pass, and run a round of the reaper."""
        self._now += by
        return self._reported(self._go_round)

    def _go_round(self) -> bool:
        # A callback that raises belongs to an expired request, so something was due.
        self._moved = True
        self._moved = self.purgatory.advance(self._now)
        return True

    def moved(self) -> bool:
        """The timer's answer in the last round: whether anything was due."""
        return self._moved

    def watched(self) -> int:
        """The total length of the watcher lists."""
        count: int = self.purgatory.watched
        return count


class ReferencePurgatory(ReferenceOldPurgatory):
    """The new purgatory, with all of its operations."""

    policy: ClassVar[str] = "estimate"
    name = "reference purgatory"
    core: type[Waiting] = Purgatory

    def cancel(self, key: str) -> Message:
        """Remove a key's requests from list and timer."""
        return self._reported(lambda: bool(self.purgatory.cancel_for_key(key)) or True)

    def delayed(self) -> int:
        """The number of requests in the timer."""
        count: int = self.purgatory.delayed
        return count

    def estimate(self) -> int:
        """The estimate of the watched requests."""
        count: int = self.purgatory.estimate
        return count

    def keys(self) -> int:
        """The number of keys with a watcher list."""
        return len(self.purgatory.lists.keys)
