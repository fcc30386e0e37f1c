"""Gates for coroutines with one seeded bug each."""

from __future__ import annotations

import asyncio
from asyncio.streams import FlowControlMixin
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_gate import Broken, Gate
from ....spec.queues.locks.gate_seen import EXPECTATIONS
from ...suites.mechanism import Mechanism
from ...suites.twin import Twins
from .adapter import AsyncioDrain, ReferenceGate
from .mechanism import BookGate, GateOfTheBook

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    part = "protocol" if issubclass(bug, FlowControlMixin) else "kind"
    return {"core" if issubclass(bug, Mechanism) else part: bug}


TWINS: Final = Twins("awaits.gate", ReferenceGate, ("reference.awaits.gate",), _as_kind)

_DRAIN: Final[Mapping[str, Any]] = {"of": AsyncioDrain, "originals": ("awaits.asyncio.drain",)}

Turn = asyncio.Future[None]


class OneWaiter(FlowControlMixin):
    """The protocol as it was up to Python 3.10: there is one slot for a drain."""

    _loop: Any
    _paused: bool
    _connection_lost: bool
    _slot: Turn | None = None

    async def _drain_helper(self) -> None:
        if self._connection_lost:
            raise ConnectionResetError("Connection lost")
        if not self._paused:
            return
        self.occupied()
        self._slot = self._loop.create_future()
        await self._slot

    def occupied(self) -> None:
        """React to a drain while another one waits."""
        assert self._slot is None or self._slot.cancelled()

    def resume_writing(self) -> None:
        self._paused = False
        slot, self._slot = self._slot, None
        if slot is not None and not slot.done():
            slot.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection_lost = True
        slot, self._slot = self._slot, None
        if slot is not None and not slot.done():
            slot.set_exception(ConnectionResetError("Connection lost"))


@TWINS.twin(
    "drain-forgets-the-first", "GATE-2",
    "the second of two tasks that drain at once takes the first one's place, which waits forever",
    "cpython #74116, without the assertion, as python -O runs it", **_DRAIN)
class DrainForgetsTheFirst(OneWaiter):
    """There is one slot."""

    def occupied(self) -> None:
        """Nothing is done: the slot is overwritten."""


@TWINS.twin(
    "gate-late-comers-wait", "GATE-4", "a call that comes to a broken gate waits forever",
    "the end is reported to waiting calls, and not kept")
class LateComersWait(Gate):
    """Only the calls that waited were informed."""

    def break_(self) -> None:
        super().break_()
        self.broken = False


@TWINS.twin(
    "gate-opens-for-one", "GATE-2", "opening lets the first waiter pass, and no other",
    "notify for notify_all")
class OpensForOne(Gate):
    """The others keep sleeping beside an open gate."""

    def open(self) -> None:
        self.is_open = True
        for turn in list(self.asleep)[:1]:
            if not turn.done():
                turn.set_result(None)


@TWINS.twin(
    "gate-stays-open", "GATE-1", "a gate that was open once is never shut again",
    "an event that is set and not cleared; Netty #13104 reads on")
class StaysOpen(Gate):
    """A call that comes passes, and writes into a buffer without a bound."""

    def shut(self) -> None:
        """The request to shut is ignored."""


@TWINS.twin("gate-tells-for-nothing", "GATE-5",
            "a call that is woken by an opening may be informed of a break",
            "one future for both, and the wrong result")
class TellsTheWoken(Gate):
    """The gate was whole all the time."""

    async def wait(self) -> None:
        waits = not self.is_open
        await super().wait()
        if waits and not self.is_open:
            raise Broken


TWINS.variants(EXPECTATIONS, GateOfTheBook, of=BookGate, known={
    "TurnsNobodyAway": ("gate-turns-nobody-away", "a wait that does not look"),
    "TellsForNothing": ("gate-tells-at-the-shut", "one flag for shut and for broken"),
    "OneSlot": ("drain-asserts", "cpython #74116"),
    "BreaksInSilence": ("drain-waits-at-the-end", "connection_lost that wakes no task"),
    "LooksAgain": ("gate-looks-again", "while not open: wait"),
    "SleepsOn": ("gate-sleeps-on", "bpo-32841, of another kind: a cancellation is caught"),
})


# ---- bugs that show late ----------------------------------------------------------------------


class WaitsWhileShut(Gate):
    """A woken call that looks again, as code."""

    async def wait(self) -> None:
        while True:
            await super().wait()
            if self.is_open:
                return


TWINS.late("gate-looks-again", 40, 300, code=WaitsWhileShut)
