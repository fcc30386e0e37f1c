"""Queues for coroutines with one seeded bug each: what asyncio and anyio have done wrong.

There are three bases: ``asyncio.Queue`` itself, with a method as it once was; a queue that hands
its items over; and the reference's core behind its asyncio driver, with bugs that any queue may
have.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from ....reference.queue import BoundedQueue, Empty, Step, Ticket
from ...suites.twin import Twins
from ..queue.twins import TWINS as QUEUE_TWINS
from .adapter import AsyncioAwaits, ReferenceAwaits
from .handing import HandingQueue, Turn

__all__ = ["TWINS"]

Core = BoundedQueue[Any]

_ASYNCIO: Final[Mapping[str, Any]] = {"of": AsyncioAwaits, "originals": ("awaits.asyncio.Queue",)}


def _as_part(bug: type[Any]) -> Mapping[str, Any]:
    return {"core": bug} if issubclass(bug, BoundedQueue) else {"queue": bug}


TWINS: Final = Twins("awaits.queue", ReferenceAwaits, ("reference.awaits.queue",), _as_part)


# ---- asyncio.Queue --------------------------------------------------------------------------


async def _wait_in(line: Any) -> None:
    """Wait to be woken; when cancelled, leave the wait queue and wake no other."""
    turn = asyncio.get_running_loop().create_future()
    line.append(turn)
    try:
        await turn
    except asyncio.CancelledError:
        if turn in line:
            line.remove(turn)
        raise


@TWINS.twin(
    "asyncio-get-keeps-wakeup", "QUEUE-10",
    "a get that is cancelled after it was woken wakes no other get",
    "python/asyncio #265, fixed by python/asyncio #269; cpython #108042", **_ASYNCIO)
class GetKeepsWakeup(asyncio.Queue[Any]):
    """A get that is woken first and then cancelled keeps the wake-up."""

    async def get(self) -> Any:
        while self.empty():
            await _wait_in(self._getters)    # type: ignore[attr-defined]
        return self.get_nowait()


@TWINS.twin(
    "asyncio-put-keeps-wakeup", "QUEUE-10",
    "a put that is cancelled after it was woken wakes no other put",
    "python/asyncio #268, fixed by python/asyncio #269; cpython #108042", **_ASYNCIO)
class PutKeepsWakeup(asyncio.Queue[Any]):
    """The same on the other side."""

    async def put(self, item: Any) -> None:
        while self.full():
            await _wait_in(self._putters)    # type: ignore[attr-defined]
        self.put_nowait(item)


@TWINS.twin(
    "asyncio-get-loses-item", "QUEUE-9",
    "a get that is cancelled after an item was put into its future loses the item",
    "bpo-23812, fixed by python/asyncio #256; open in tornado as tornado #2826", **_ASYNCIO)
class GetLosesItem(asyncio.Queue[Any]):
    """put_nowait gives the item to a future that is not read once its get is cancelled."""

    def put_nowait(self, item: Any) -> None:
        getters = self._getters     # type: ignore[attr-defined]
        while getters:
            turn = getters.popleft()
            if not turn.done():
                turn.set_result(item)
                return
        super().put_nowait(item)

    async def get(self) -> Any:
        if not self.empty():
            return self.get_nowait()
        turn = asyncio.get_running_loop().create_future()
        self._getters.append(turn)      # type: ignore[attr-defined]
        return await turn


# ---- hand-over ------------------------------------------------------------------------------


@TWINS.twin(
    "anyio-deaf-sender", "QUEUE-7", "a receive that does not wait frees a slot and wakes no send",
    "anyio #143")
class LeavingSendersAsleep(HandingQueue):
    """Only a take that had to wait admits the next put."""

    def poll(self) -> Any | Empty:
        waiting, self._puts = self._puts, {}
        item = super().poll()
        self._puts = waiting
        return item


@TWINS.twin(
    "anyio-drops-for-receiver", "QUEUE-9",
    "a receive that is cancelled after it was handed an item loses the item",
    "anyio #146; with asyncio's own cancellation, anyio 4.16 still does")
class DropsForReceiver(HandingQueue):
    """The take is cancelled, even if it has been handed an item."""

    def _take_cancelled(self, turn: Turn) -> Any:
        raise asyncio.CancelledError


@TWINS.twin(
    "anyio-hands-to-cancelled", "QUEUE-9",
    "an item is handed to a receive that was cancelled before",
    "anyio #728")
class HandsToCancelled(HandingQueue):
    """The sender does not check whether the receiver is about to leave."""

    def _hand(self, turn: Turn, item: Any) -> bool:
        return super()._hand(turn, item) or True


@TWINS.twin(
    "anyio-hands-back", "QUEUE-9",
    "the item of a receive that is cancelled goes back, whether there is a free slot or not",
    "anyio #147, its review: the buffer may exceed its size")
class HandsBack(HandingQueue):
    """The place of the item may have been taken by then."""

    def _take_cancelled(self, turn: Turn) -> Any:
        if not turn.cancelled():
            self._items.appendleft(turn.result())
        raise asyncio.CancelledError


@TWINS.twin(
    "anyio-send-in-two-minds", "QUEUE-9",
    "a send that is cancelled after its item was taken says that it was cancelled",
    "anyio #536; anyio 4.16 still does")
class SendInTwoMinds(HandingQueue):
    """The sender will send again, and the item comes twice."""

    def _put_cancelled(self, turn: Turn) -> None:
        raise asyncio.CancelledError


@TWINS.twin(
    "curio-callback-takes-lock", "QUEUE-7",
    "a put gives its item to a get that was cancelled, whose callback puts it back: under the lock "
    "that the put holds",
    "curio #373")
class CallbackTakesLock(HandingQueue):
    """A lock that its holder takes again, and so waits for itself."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._mutex = asyncio.Lock()
        self._left: deque[Callable[[Any], Awaitable[None]]] = deque()

    async def put(self, item: Any) -> None:
        async with self._mutex:
            while self._left:
                await self._left.popleft()(item)
        await super().put(item)

    def _take_cancelled(self, turn: Turn) -> Any:
        if turn.cancelled():
            self._left.append(self.put)
        return super()._take_cancelled(turn)


# ---- any queue ------------------------------------------------------------------------------


@TWINS.twin(
    "awaits-overtaking-put", "QUEUE-12", "a put that need not wait overtakes one that was woken",
    "cpython #83055: asyncio.Queue does so to this day")
class OvertakingPut(BoundedQueue[Any]):
    """A put takes free room, even if that was made for a woken one."""

    def put(self, item: Any) -> Step[Any]:
        if self._has_room():
            self._admit(item)
            return Step(None, self._wake())
        return super().put(item)


class RoomForOneMore(Core):
    """Room is counted with ``<=`` where ``<`` was meant."""

    def _has_room(self) -> bool:
        return len(self._items) <= self.capacity


class RefusesEarly(Core):
    """An offer is refused while one place is still free."""

    def offer(self, item: Any) -> Step[bool]:
        if len(self._items) == self.capacity - 1 and not self._takes:
            return Step(False)
        return super().offer(item)


class YoungestItemFirst(Core):
    """The youngest item leaves first."""

    def _remove(self) -> Any:
        self._left += 1
        return self._items.pop()


class OfferWakesNobody(Core):
    """``offer`` brings an item and wakes no waiting take."""

    def offer(self, item: Any) -> Step[bool]:
        return super().offer(item)._replace(woken=())


class AdmitsTheCancelled(Core):
    """A put that is cancelled while it waits is admitted all the same."""

    def _leave(self, ticket: Ticket) -> None:
        self._ghosts = [*getattr(self, "_ghosts", []), *(
            [self._puts[ticket]] if ticket in self._puts else [])]
        super()._leave(ticket)

    def _remove(self) -> Any:
        item = super()._remove()
        if getattr(self, "_ghosts", []):
            self._admit(self._ghosts.pop(0))
        return item


_IN_CODE: Final[Mapping[str, type[Any]]] = {
    "one-too-many": RoomForOneMore, "refuses-early": RefusesEarly,
    "last-in-first-out": YoungestItemFirst, "deaf-consumer": OfferWakesNobody,
    "ghost-put": AdmitsTheCancelled}
"""Bugs that are variants of a chapter there, and stand in the core here."""


def _like(name: str) -> None:
    """Register the same bug in the core, behind the driver for asyncio."""
    twin = QUEUE_TWINS[name]
    parts = _as_part(_IN_CODE[name]) if name in _IN_CODE else twin.parts
    TWINS.add(f"awaits-{name}", twin.rule, twin.bug, twin.history, parts=parts)


for _name in (
    "one-too-many", "refuses-early", "last-in-first-out", "hides-the-last", "refused-comes-out",
    "doubled-on-cancel", "deaf-consumer", "counts-the-waiting", "ghost-put",
    "stack-from-four", "stack-from-six", "second-turn", "loses-what-is-false", "loses-numbers",
    "drops-equal-items", "cuts-long-texts",
):
    _like(_name)


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("awaits-one-too-many", 40, 300)
