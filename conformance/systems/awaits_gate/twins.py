"""Gates for coroutines with one seeded bug each."""

from __future__ import annotations

import asyncio
from asyncio.streams import FlowControlMixin
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_gate import Broken, Gate
from ...suites.twin import Twins
from .adapter import AsyncioDrain, ReferenceGate

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"protocol" if issubclass(bug, FlowControlMixin) else "kind": bug}


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
    "drain-asserts", "GATE-3", "the second of two tasks that drain at once fails an assertion",
    "cpython #74116", **_DRAIN)
class DrainAsserts(OneWaiter):
    """No call is expected to drain while another one does."""


@TWINS.twin(
    "drain-forgets-the-first", "GATE-2",
    "the second of two tasks that drain at once takes the first one's place, which waits forever",
    "cpython #74116, without the assertion, as python -O runs it", **_DRAIN)
class DrainForgetsTheFirst(OneWaiter):
    """There is one slot."""

    def occupied(self) -> None:
        """Nothing is done: the slot is overwritten."""


@TWINS.twin(
    "drain-waits-at-the-end", "GATE-4", "a connection is lost, and a waiting drain keeps waiting",
    "connection_lost that wakes no task", **_DRAIN)
class DrainWaitsAtTheEnd(FlowControlMixin):
    """Only later drains are informed."""

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection_lost = True


@TWINS.twin(
    "gate-late-comers-wait", "GATE-4", "a call that comes to a broken gate waits forever",
    "the end is reported to waiting calls, and not kept")
class LateComersWait(Gate):
    """Only the calls that waited were informed."""

    def break_(self) -> None:
        super().break_()
        self.broken = False


@TWINS.twin("gate-looks-again", "GATE-2",
            "a woken call looks again, and keeps waiting if the gate is shut by then",
            "while not open: wait")
class LooksAgain(Gate):
    """The call may never see the gate open."""

    async def wait(self) -> None:
        while True:
            await super().wait()
            if self.is_open:
                return


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
class TellsForNothing(Gate):
    """The gate was whole all the time."""

    async def wait(self) -> None:
        waits = not self.is_open
        await super().wait()
        if waits and not self.is_open:
            raise Broken


@TWINS.twin(
    "gate-sleeps-on", "GATE-6", "a cancelled waiter keeps sleeping",
    "bpo-32841, of another kind: a cancellation is caught")
class SleepsOn(Gate):
    """The cancellation is caught, and the sleep begins anew."""

    async def wait(self) -> None:
        while True:
            try:
                return await super().wait()
            except asyncio.CancelledError:
                pass


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("gate-looks-again", 40, 300)
