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
    """A request that reports what is called of it in ``calls``.

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
        """See ``DelayedOperation``."""
        self._report("try")
        if self.name in self.ready:
            return self.force_complete()
        if self.name in self.soon:
            self.ready.add(self.name)
        return False

    def on_complete(self) -> None:
        """See ``DelayedOperation``."""
        self._report("complete")

    def on_expiration(self) -> None:
        """See ``DelayedOperation``."""
        self._report("expire")


class ReferenceOldPurgatory(PortAdapter):
    """``core`` and ``operation`` are what the twins replace.

    The old purgatory has no estimate, counts what is completed as delayed, and cannot cancel;
    when its keys go depends on its purges. So it has not the operations that ask for these.
    """

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "length"
    name = "reference old purgatory"
    core: type[Waiting] = OldPurgatory
    operation: type[ReportingOperation] = ReportingOperation

    def start(self, settings: Mapping[str, Any]) -> None:
        """See ``PortAdapter.start``."""
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
        """See the port."""
        self._ready.add(request)
        return True

    def soon(self, request: str) -> bool:
        """See the port."""
        if request in self._made:
            raise Declined("made-already")
        self._soon.add(request)
        return True

    def fail(self, request: str, call: str) -> bool:
        """See the port."""
        self._failing.add((request, call))
        return True

    def watch(self, request: str, keys: list[str], timeout: int) -> Message:
        """See the port."""
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
        """See the port."""
        if request not in self._made:
            raise Declined("unknown-request")
        return self._reported(self._made[request].force_complete)

    def check(self, key: str) -> Message:
        """See the port."""
        return self._reported(lambda: self.purgatory.check_and_complete(key))

    def advance(self, by: int) -> Message:
        """See the port."""
        self._now += by
        return self._reported(self._go_round)

    def _go_round(self) -> bool:
        # Who raises has expired, so something was due.
        self._moved = True
        self._moved = self.purgatory.advance(self._now)
        return True

    def moved(self) -> bool:
        """See the port."""
        return self._moved

    def watched(self) -> int:
        """See the port."""
        count: int = self.purgatory.watched
        return count


class ReferencePurgatory(ReferenceOldPurgatory):
    """With all that the new design adds."""

    policy: ClassVar[str] = "estimate"
    name = "reference purgatory"
    core: type[Waiting] = Purgatory

    def cancel(self, key: str) -> Message:
        """See the port."""
        return self._reported(lambda: bool(self.purgatory.cancel_for_key(key)) or True)

    def delayed(self) -> int:
        """See the port."""
        count: int = self.purgatory.delayed
        return count

    def estimate(self) -> int:
        """See the port."""
        count: int = self.purgatory.estimate
        return count

    def keys(self) -> int:
        """See the port."""
        return len(self.purgatory.lists.keys)
