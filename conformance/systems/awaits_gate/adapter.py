"""Gates for asyncio, callback by callback: the port ``awaits.gate``."""

from __future__ import annotations

import asyncio
from asyncio.streams import FlowControlMixin
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ....reference.drivers.asyncio_gate import Broken, Gate
from ...adapters.base import Declined, missing
from ...adapters.loop_adapter import Held, LoopAdapter
from ...ports.base import Message, Port
from .port import PORT

__all__ = ["AnyioEvent", "AsyncioDrain", "AsyncioEvent", "ReferenceGate"]


class ReferenceGate(LoopAdapter):
    """The reference's gate, and the common part of all adapters of gates."""

    port: ClassVar[Port] = PORT
    name = "reference"
    policy: ClassVar[str] = "sleep"
    kind: ClassVar[type[Any]] = Gate
    told: ClassVar[type[Exception]] = Broken

    # -- for subclasses -----------------------------------------------------------------------

    def make(self) -> Any:
        """Create the gate under test."""
        return self.kind()

    async def come(self, call: Held) -> None:
        """Wait until the gate is open; raise the error for a broken gate if it breaks."""
        await self.gate.wait()

    def opens(self) -> None:
        """Let all waiting calls pass, and those that come later."""
        self.gate.open()

    def shuts(self) -> None:
        """Make the calls wait that come from now on."""
        self.gate.shut()

    def breaks(self) -> None:
        """Report the break to all waiting calls, and to those that come later."""
        self.gate.break_()

    # -- the port -----------------------------------------------------------------------------

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["capacity"] != 1:
            raise Declined("unsupported-capacity")
        self.begin_anew()
        with self._loop.running():
            self.gate = self.make()

    def wait(self, by: str) -> list[Message]:
        """Begin a call that waits for the gate, and note how it ends."""
        async def waits(call: Held) -> None:
            try:
                await self.come(call)
            except asyncio.CancelledError:
                self.note(call, "cancelled")
            except self.told:
                self.note(call, "told")
            except Exception:       # noqa: BLE001  any other error is not the caller's
                self.note(call, "fails")
            else:
                self.note(call, "passes")

        self.call(by, waits)
        return self._seen()

    def _open(self) -> list[Message]:
        return self._now(self.opens)

    def _shut(self) -> list[Message]:
        return self._now(self.shuts)

    def _break(self) -> list[Message]:
        return self._now(self.breaks)

    open_: Callable[..., Any] | None = _open
    shut_: Callable[..., Any] | None = _shut
    break_: Callable[..., Any] | None = _break

    # -- within -------------------------------------------------------------------------------

    def _now(self, does: Callable[[], None]) -> list[Message]:
        with self._loop.running():
            does()
        return self._seen()


class AsyncioEvent(ReferenceGate):
    """``asyncio.Event`` of the Python that runs us; nothing can break it."""

    name = "asyncio.Event"
    kind: ClassVar[type[Any]] = asyncio.Event
    break_ = None

    def opens(self) -> None:
        """Let all waiting calls pass, and those that come later."""
        self.gate.set()

    def shuts(self) -> None:
        """Make the calls wait that come from now on."""
        self.gate.clear()


class AnyioEvent(AsyncioEvent):
    """anyio's event, on asyncio; cancelled by its own cancel scopes, and never shut again."""

    name = "anyio.Event"
    shut_ = None

    def make(self) -> Any:
        """Create the gate under test."""
        try:
            import anyio
        except ImportError as error:
            raise missing("anyio") from error
        self._anyio = anyio
        return anyio.Event()

    async def come(self, call: Held) -> None:
        """Wait until the gate is open; raise the error for a broken gate if it breaks."""
        over = False
        with self._anyio.CancelScope() as call.scope:
            await self.gate.wait()
            over = True
        if not over:
            raise asyncio.CancelledError

    def stop(self, call: Held) -> None:
        """Request the cancellation of a call's task."""
        call.scope.cancel()


class AsyncioDrain(ReferenceGate):
    """``StreamWriter.drain``: a protocol that its transport pauses, resumes, and informs of the
    end.

    ``drain`` itself needs a transport; under test is the protocol, on which all drains wait.
    """

    name = "asyncio drain"
    told = ConnectionResetError
    protocol: ClassVar[type[Any]] = FlowControlMixin

    def make(self) -> Any:
        """Create the protocol under test; at first its transport accepts all that is written."""
        self._paused = False
        self._lost = False
        gate = self.protocol(self._loop)
        self._transport = _Transport()
        self._writer = asyncio.StreamWriter(
            self._transport, gate, None, self._loop)     # type: ignore[arg-type]
        self.gate = gate
        self.shuts()
        return gate

    async def come(self, call: Held) -> None:
        """Wait until the gate is open; raise the error for a broken gate if it breaks."""
        await self._writer.drain()

    def opens(self) -> None:
        """Let all waiting calls pass; a transport resumes its protocol once."""
        if self._paused and not self._lost:
            self.gate.resume_writing()
        self._paused = False

    def shuts(self) -> None:
        """Make the calls wait that come from now on."""
        if not self._paused and not self._lost:
            self.gate.pause_writing()
        self._paused = True

    def breaks(self) -> None:
        """Break the gate; a transport reports the end once."""
        if not self._lost:
            self.gate.connection_lost(ConnectionResetError("the other end is gone"))
        self._lost = True

    def close(self) -> None:
        """Cancel the calls that still wait, and mark the writer as closed: else it warns later."""
        super().close()
        if hasattr(self, "_transport"):
            self._transport.closing = True


class _Transport:
    """The part of a transport that a writer uses."""

    closing = False

    def is_closing(self) -> bool:
        """True if this end closes it: then a drain lets others run first."""
        return self.closing
