"""Semaphores and locks for coroutines with one seeded bug each: what asyncio once did wrong."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_permits import LatePermits, Permits
from ....spec.queues.locks.permits_seen import EXPECTATIONS
from ...suites.mechanism import Mechanism
from ...suites.twin import Twins
from .adapter import AsyncioLock, AsyncioSemaphore, ReferenceLatePermits, ReferencePermits
from .mechanism import BookPermits, PermitsOfTheBook

__all__ = ["TWINS"]

Turn = asyncio.Future[None]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"core" if issubclass(bug, Mechanism) else "kind": bug}


TWINS: Final = Twins(
    "awaits.permits", ReferencePermits, ("reference.awaits.permits",), _as_kind)

_LOCK: Final[Mapping[str, Any]] = {"of": AsyncioLock, "originals": ("awaits.asyncio.Lock",)}
_SEMAPHORE: Final[Mapping[str, Any]] = {
    "of": AsyncioSemaphore, "originals": ("awaits.asyncio.Semaphore",)}


class Helping:
    """Permits that are not handed over: a woken waiter takes one itself, and may come too late."""

    def __init__(self, count: int = 1) -> None:
        self.free = count
        self.line: deque[Turn] = deque()

    def locked(self) -> bool:
        """True if an acquire would have to wait."""
        return self.free == 0

    async def acquire(self) -> None:
        """Take a permit, and wait for one if need be."""
        while self.locked():
            await self.wait()
        self.free -= 1

    async def wait(self) -> None:
        """Wait to be woken."""
        turn = asyncio.get_running_loop().create_future()
        self.line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self.stopped(turn)
            raise
        finally:
            if turn in self.line:
                self.line.remove(turn)

    def release(self) -> None:
        """Give a permit back."""
        self.free += 1
        self.wake()

    def wake(self) -> None:
        """Wake the first waiter that was not woken."""
        for turn in self.line:
            if not turn.done():
                turn.set_result(None)
                return

    def stopped(self, turn: Turn) -> None:
        """React to a waiter that is cancelled."""


# ---- lost wake-ups --------------------------------------------------------------------------


@TWINS.twin(
    "semaphore-keeps-wakeup", "PERMIT-4",
    "a waiter that is cancelled after it was woken wakes no other",
    "python/asyncio #270 (asyncio.Semaphore)", **_SEMAPHORE)
class SemaphoreKeepsWakeUp(Helping):
    """No other waiter learns that a permit is free."""


@TWINS.twin(
    "semaphore-stays-scheduled", "PERMIT-2",
    "a waiter that is cancelled after it was woken leaves the semaphore waiting for it",
    "cpython #90155 (asyncio.Semaphore)", **_SEMAPHORE)
class StaysScheduled(Helping):
    """A flag says that a wake-up is under way, and the task that was to clear it is gone."""

    scheduled = False

    def locked(self) -> bool:
        return self.scheduled or super().locked()

    def wake(self) -> None:
        self.scheduled = any(not turn.done() for turn in self.line)
        super().wake()

    async def wait(self) -> None:
        await super().wait()
        self.scheduled = False


@TWINS.twin(
    "semaphore-wakes-first-only", "PERMIT-3",
    "two permits come back, and only the first waiter is woken",
    "cpython #90155, a draft of its fix: the first waiter has been woken already",
    **_SEMAPHORE)
class WakesFirstOnly(Helping):
    """It looks at the head of the wait queue, even if that was woken already."""

    def wake(self) -> None:
        if self.line and not self.line[0].done():
            self.line[0].set_result(None)

    def stopped(self, turn: Turn) -> None:
        self.line.remove(turn)
        if self.free:
            self.wake()


@TWINS.twin(
    "acquire-stands-in-line-late", "PERMIT-3",
    "an acquire finds no permit, yields once, and joins the wait queue without looking again",
    "aiojobs 1.4.0 (Scheduler): two jobs end in one turn, and the one that waits to be pending "
    "enters the queue after both")
class StandsInLineLate(Permits):
    """A permit that came back in between found no waiter to wake."""

    async def acquire(self) -> None:
        if self.locked():
            await asyncio.sleep(0)
            turn = asyncio.get_running_loop().create_future()
            self.line[turn] = None
            try:
                await turn
            except asyncio.CancelledError:
                self.line.pop(turn, None)
                self.stopped(turn)
                raise
        else:
            await super().acquire()


# ---- permits --------------------------------------------------------------------------------


@TWINS.twin("lock-held-twice", "PERMIT-1",
            "a woken waiter takes the lock, although another call was faster",
            "bpo-32734 (asyncio.Lock)", **_LOCK)
class HeldTwice(Helping):
    """Between the wake-up and the first step of the waiter, a newcomer finds the lock free."""

    async def acquire(self) -> None:
        if self.locked():
            await self.wait()
        self.free -= 1

    def locked(self) -> bool:
        return self.free <= 0

    def stopped(self, turn: Turn) -> None:
        self.line.remove(turn)
        if not self.locked():
            self.wake()


@TWINS.twin(
    "acquire-cancelled-after-taking", "PERMIT-2",
    "an acquire that has its permit awaits something else, is cancelled there, and forgets it",
    "httpcore #1093: an await between the entry into the pool and the try that undoes it")
class CancelledAfterTaking(Permits):
    """The code that would give it back begins a line later."""

    async def acquire(self) -> None:
        await super().acquire()
        await asyncio.sleep(0)


@TWINS.twin(
    "cancelled-release-keeps-permit", "PERMIT-2",
    "a release that is cancelled while it waits for something else gives nothing back",
    "httpcore #1093: a connection stays in the pool whose caller was cancelled",
    of=ReferenceLatePermits, originals=("reference.awaits.permits.late",))
class CancelledRelease(LatePermits):
    """The code after the await never runs."""

    async def release(self) -> None:
        await self.tell()
        self.permits.release()


@TWINS.twin(
    "cancel-makes-permit", "PERMIT-1",
    "an acquire that is cancelled gives back a permit that it never had",
    "a careless fix of a lost permit")
class MakesPermit(Permits):
    """Every cancelled waiter gives a permit back."""

    def stopped(self, turn: Turn) -> None:
        self.release()


# ---- order, and reports -----------------------------------------------------------------------


@TWINS.twin(
    "youngest-waiter-first", "PERMIT-6", "the youngest waiter is served first",
    "cpython #90155: asyncio.Semaphore did not keep its order")
class YoungestWaiterFirst(Permits):
    """A stack where a queue was meant."""

    def release(self) -> None:
        self.line = dict(reversed(self.line.items()))
        super().release()
        self.line = dict(reversed(self.line.items()))


for _word, _many in (("four", 4), ("six", 6)):
    @TWINS.twin(
        f"permits-stack-from-{_word}", "PERMIT-6",
        f"from {_word} waiters on, the youngest of them is served first",
        "a ring whose read index is taken from the wrong end once it has wrapped")
    class StackFrom(YoungestWaiterFirst):
        """A line that is a stack where it is long."""

        many = _many

        def release(self) -> None:
            if len(self.line) >= self.many:
                super().release()
            else:
                Permits.release(self)


TWINS.variants(EXPECTATIONS, PermitsOfTheBook, of=BookPermits, known={
    "GivesOneTooMany": ("permits-one-too-many", "bpo-32734 (asyncio.Lock), as a newcomer sees it"),
    "KeepsPermit": (
        "permit-goes-with-caller",
        "a permit taken before it is needed, and forgotten on cancel"),
    "Deaf": ("release-wakes-nobody", "anyio #143, without the item"),
    "KeepsWakeUp": ("lock-keeps-wakeup", "bpo-27585 (asyncio.Lock)"),
    "EndsTwice": ("cancelled-and-granted", "a callback that runs after its call was undone"),
    "Forgets": ("permits-forgets-call", "asyncio: a coroutine that was never awaited"),
})


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("youngest-waiter-first", 40, 300)
