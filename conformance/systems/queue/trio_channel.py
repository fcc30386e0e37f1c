"""trio's memory channel under test, in a thread that runs only while a request is answered.

trio has no loop that can be stepped from outside through its public interface. So the run lives
in a thread of its own; its main task answers requests and *blocks the whole run* while it
waits for the next: nothing runs between requests, and there is no sleeping. trio shuffles the
tasks that become ready together; a channel hands items over at the instant of the call, so the
order in which those tasks then run changes nothing but the order of reports, and they are
reported in the order of their tickets.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any, ClassVar

from ...adapters.base import Declined, missing
from ...ports.base import STEPPED
from .adapter import QueueAdapter, Waits

__all__ = ["TrioQueue"]

Item = str | int


class _Wait:
    """One put or take under way, and the scope that cancels it."""

    __slots__ = ("cancelled", "done", "scope", "value")

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.value: object = None
        self.done = False
        self.cancelled = False


class TrioQueue(QueueAdapter):
    """``trio.open_memory_channel``; cancelled by trio's own cancel scopes."""

    name: ClassVar[str] = "trio memory channel"
    wakes: ClassVar[str] = STEPPED

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        try:
            import trio
            import trio.testing
        except ImportError as error:
            raise missing("trio") from error
        self.version = trio.__version__
        self._trio = trio
        self._waits: dict[str, _Wait] = {}
        self._inbox: SimpleQueue[tuple[str, Any] | None] = SimpleQueue()
        self._outbox: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(capacity,), daemon=True)
        self._thread.start()

    def offer(self, item: Item) -> bool:
        answer: bool = self._ask("offer", item)
        return answer

    def poll(self) -> Item | None:
        answer: Item | None = self._ask("poll", None)
        return answer

    def put(self, item: Item) -> object:
        answer = self._ask("put", item)
        return answer if isinstance(answer, Waits) else True

    def take(self) -> object:
        return self._ask("take", None)

    def cancel(self, ticket: str) -> bool:
        if ticket not in self._waits:
            raise Declined("unknown-ticket")
        answer: bool = self._ask("cancel", ticket)
        return answer

    def size(self) -> int:
        answer: int = self._ask("size", None)
        return answer

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        answer: bool = self._ask("settle", None)
        return answer

    def close(self) -> None:
        """End the run and its thread."""
        if hasattr(self, "_thread"):
            self._inbox.put(None)
            self._thread.join()

    def _ask(self, do: str, argument: object) -> Any:
        self._inbox.put((do, argument))
        answer = self._outbox.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    # -- in the thread of the run -------------------------------------------------------------

    def _run(self, capacity: int) -> None:
        try:
            self._trio.run(self._serve, capacity, clock=self._trio.testing.MockClock())
        except BaseException as error:  # noqa: BLE001  the harness waits for an answer, always
            self._outbox.put(error)

    async def _serve(self, capacity: int) -> None:
        self._send, self._receive = self._trio.open_memory_channel(capacity)
        async with self._trio.open_nursery() as self._nursery:
            while (asked := self._inbox.get()) is not None:
                do, argument = asked
                answer = await getattr(self, f"_do_{do}")(argument)
                self._report()
                self._outbox.put(answer)
            self._nursery.cancel_scope.cancel()

    async def _do_offer(self, item: Item) -> bool:
        try:
            self._send.send_nowait(item)
        except self._trio.WouldBlock:
            return False
        return True

    async def _do_poll(self, _: object) -> object:
        try:
            return self._receive.receive_nowait()
        except self._trio.WouldBlock:
            return None

    async def _do_put(self, item: Item) -> object:
        return await self._begin(self._send.send, item)

    async def _do_take(self, _: object) -> object:
        return await self._begin(self._receive.receive)

    async def _do_cancel(self, ticket: str) -> bool:
        wait = self._waits[ticket]
        wait.scope.cancel()
        await self._rest()
        if wait.cancelled:
            del self._waits[ticket]
        return wait.cancelled

    async def _do_size(self, _: object) -> int:
        size: int = self._send.statistics().current_buffer_used
        return size

    async def _do_settle(self, _: object) -> bool:
        await self._rest()
        return True

    async def _rest(self) -> None:
        # A cushion of 0 asks trio whether anything can run now; no time passes.
        await self._trio.testing.wait_all_tasks_blocked(0.0)

    async def _begin(self, operation: Any, *arguments: object) -> object:
        wait = _Wait(self._trio.CancelScope())
        self._nursery.start_soon(self._carry, wait, operation, arguments)
        await self._rest()
        if wait.done:
            return wait.value
        ticket = self.new_ticket()
        self._waits[ticket] = wait
        return Waits(ticket)

    async def _carry(self, wait: _Wait, operation: Any, arguments: tuple[object, ...]) -> None:
        with wait.scope:
            wait.value = await operation(*arguments)
            wait.done = True
        wait.cancelled = not wait.done

    def _report(self) -> None:
        for ticket in [ticket for ticket, wait in self._waits.items() if wait.done]:
            value = self._waits.pop(ticket).value
            self.completed(ticket, True if value is None else value)
