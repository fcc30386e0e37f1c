"""Queues for coroutines that end, with one seeded bug each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_closing import ClosableQueue, Closed, Line
from ...suites.twin import Twins, stack_from
from .adapter import ReferenceClosing

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"kind": bug}


TWINS: Final = Twins(
    "awaits.closing", ReferenceClosing, ("reference.awaits.closing",), _as_kind)


# ---- closing --------------------------------------------------------------------------------


@TWINS.twin(
    "closing-leaves-puts", "CLOSE-3", "closing does not wake a put that waits for room",
    "janus #237")
class LeavesPuts(ClosableQueue[Any]):
    """Takes are woken, and nobody thinks of the others."""

    def close(self) -> None:
        self.closed = True
        self.wake_all(self.takes)


@TWINS.twin(
    "closing-wakes-one-worker", "CLOSE-2",
    "closing wakes one take, and with more workers than items the others wait on",
    "aiochannel #13")
class WakesOneWorker(ClosableQueue[Any]):
    """One of them is told, and passes nothing on."""

    def close(self) -> None:
        self.closed = True
        self.wake_all(self.puts)
        self.wake(self.takes)


@TWINS.twin(
    "closing-wakes-as-many-as-items", "CLOSE-2",
    "closing wakes a take for each item, and with more workers than items the others wait on",
    "aiochannel #13")
class WakesAsManyAsItems(ClosableQueue[Any]):
    """Whoever finds nothing was not thought of."""

    def close(self) -> None:
        self.closed = True
        self.wake_all(self.puts)
        for _ in self.items:
            self.wake(self.takes)


@TWINS.twin(
    "closing-takes-in", "CLOSE-1", "a put into a closed queue goes in if there is room",
    "the flag is looked at only by who waits")
class TakesIn(ClosableQueue[Any]):
    """Its item is there, and nobody comes to take it."""

    async def put(self, item: Any) -> None:
        if self.has_room():
            self.items.append(item)
            self.undone += 1
            self.wake(self.takes)
            return
        await super().put(item)


@TWINS.twin(
    "closing-tells-and-takes-in", "CLOSE-1",
    "a put that waits is told that the queue is closed, and its item goes in",
    "the item is kept with the one who waits, and the line is emptied into the queue")
class TellsAndTakesIn(ClosableQueue[Any]):
    """Whoever tells the sender does not tell the line."""

    async def put(self, item: Any) -> None:
        try:
            await super().put(item)
        except Closed:
            if self.has_room():
                self.items.append(item)
            raise


@TWINS.twin(
    "closing-forgets-items", "CLOSE-4",
    "a take from a closed queue is told so, though there is an item for it",
    "the flag is looked at first; Queue.shutdown of Python without immediate must not")
class ForgetsItems(ClosableQueue[Any]):
    """What is inside is lost."""

    async def take(self) -> Any:
        if self.closed:
            raise Closed
        return await super().take()


@TWINS.twin(
    "closing-cuts-nothing", "CLOSE-5", "a queue that is cut off still gives what is inside",
    "shutdown(immediate=True) that is shutdown()")
class CutsNothing(ClosableQueue[Any]):
    """The items count as done, and come out."""

    def cut(self) -> None:
        self.undone -= len(self.items)
        self.all_may_be_done()
        self.close()


@TWINS.twin(
    "closing-tells-early", "CLOSE-6", "a take that is woken for nothing says that it is closed",
    "a wake-up that is taken for a closing")
class TellsEarly(ClosableQueue[Any]):
    """Another one was faster, and it does not sleep again."""

    async def take(self) -> Any:
        if not self.items and not self.closed:
            await self.sleep(self.takes, self.has_items)
        if not self.items:
            raise Closed
        return await super().take()


# ---- joining --------------------------------------------------------------------------------


@TWINS.twin(
    "join-ends-when-empty", "JOIN-1", "a join ends once all is taken, whether it is done or not",
    "join that looks at the size of the queue")
class EndsWhenEmpty(ClosableQueue[Any]):
    """The last items are still worked on."""

    async def join(self) -> None:
        if self.items:
            await super().join()


@TWINS.twin(
    "join-counts-down-when-taken", "JOIN-1", "an item counts as done when it is taken",
    "get that calls task_done")
class CountsWhenTaken(ClosableQueue[Any]):
    """Who says so again is ignored."""

    async def take(self) -> Any:
        item = await super().take()
        super().task_done()
        return item

    def task_done(self) -> None:
        """It was counted when it was taken."""


@TWINS.twin(
    "join-wakes-one", "JOIN-2", "when all is done one join is woken, and others sleep on",
    "notify for notify_all")
class WakesOneJoin(ClosableQueue[Any]):
    """That one tells nobody else."""

    def all_may_be_done(self) -> None:
        if not self.undone:
            self.wake(self.joins)


@TWINS.twin(
    "join-forgets-what-was-cut", "JOIN-2",
    "what is cut off is never done, and a join waits for it for ever",
    "shutdown(immediate=True) that does not count")
class ForgetsWhatWasCut(ClosableQueue[Any]):
    """Nobody will take it, and nobody can say that it is done."""

    def cut(self) -> None:
        self.items.clear()
        self.close()


@TWINS.twin(
    "join-spins", "JOIN-3",
    "an event that was set and not cleared lets a join look again and again",
    "janus #715, but for a wait in each round, which lets others run")
class Spins(ClosableQueue[Any]):
    """The event is set by a callback, and cleared at once by who puts in between."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.finished = asyncio.Event()

    async def put(self, item: Any) -> None:
        await super().put(item)
        self.finished.clear()

    def all_may_be_done(self) -> None:
        if not self.undone:
            asyncio.get_running_loop().call_soon(self.finished.set)

    async def join(self) -> None:
        while self.undone:
            await self.finished.wait()
            await asyncio.sleep(0)


@TWINS.twin(
    "join-never-gives-way", "JOIN-3",
    "a join waits for an event that is set already, again and again, and nothing else runs",
    "janus #715: set by call_soon_threadsafe, after it was cleared by the next put")
class NeverGivesWay(Spins):
    """A wait for an event that is set does not wait."""

    async def join(self) -> None:
        while self.undone:
            await self.finished.wait()


# ---- what cannot be put ---------------------------------------------------------------------


@TWINS.twin(
    "failed-put-keeps-place", "FAIL-1",
    "a put takes a place, fails, and the place is gone for ever",
    "bpo-33078: multiprocessing.Queue, whose semaphore was not released when pickling failed")
class KeepsPlace(ClosableQueue[Any]):
    """With each of them the queue gets smaller."""

    lost = 0

    def has_room(self) -> bool:
        return len(self.items) + self.lost < self.capacity

    def admit(self, item: Any) -> None:
        try:
            super().admit(item)
        except BaseException:
            self.lost += 1
            raise


@TWINS.twin(
    "failed-put-leaves-item", "FAIL-1", "a put fails, and its item is in the queue",
    "heapq.heappush appends before it compares: asyncio.PriorityQueue does so to this day")
class LeavesItem(ClosableQueue[Any]):
    """It comes out, though its put has failed."""

    def admit(self, item: Any) -> None:
        try:
            super().admit(item)
        except BaseException:
            self.items.append(item)
            raise


@TWINS.twin(
    "failed-put-keeps-wakeup", "FAIL-1",
    "a put that was woken fails, and the next one that waits sleeps on beside a free place",
    "asyncio.PriorityQueue: a put that was woken and raises wakes nobody")
class KeepsWakeUp(ClosableQueue[Any]):
    """It was the one who was told of the place."""

    def admit(self, item: Any) -> None:
        if self.admits is not None:
            self.admits(item)


@TWINS.twin(
    "failed-put-counts", "FAIL-1", "a put fails, and a join waits for its item for ever",
    "the task is counted before the item is put")
class Counts(ClosableQueue[Any]):
    """Nobody can say that it is done."""

    def admit(self, item: Any) -> None:
        try:
            super().admit(item)
        except BaseException:
            self.undone += 1
            raise


# ---- any queue ------------------------------------------------------------------------------


@TWINS.twin(
    "closing-one-too-many", "QUEUE-1", "there is room for one item more than was said",
    "<= for <")
class OneTooMany(ClosableQueue[Any]):
    """A bound that is not kept."""

    def has_room(self) -> bool:
        return len(self.items) <= self.capacity


@TWINS.twin(
    "closing-gives-twice", "QUEUE-6", "the last item before a closing is given twice",
    "whoever drains the queue and whoever was woken both have it")
class GivesTwice(ClosableQueue[Any]):
    """It is looked at, and removed once the queue is open."""

    async def take(self) -> Any:
        if self.closed and len(self.items) == 1 and not hasattr(self, "again"):
            self.again = True
            return self.items[0]
        return await super().take()


@TWINS.twin(
    "closing-deaf-put", "QUEUE-7", "who takes wakes no put, until the queue is closed",
    "anyio #143")
class DeafPut(ClosableQueue[Any]):
    """A put sleeps beside a free place."""

    def wake(self, line: Line) -> None:
        if line is not self.puts or self.closed:
            super().wake(line)


@TWINS.twin(
    "closing-deaf-take", "QUEUE-8", "who puts wakes no take, until the queue is closed",
    "tokio #8075")
class DeafTake(ClosableQueue[Any]):
    """A take sleeps beside an item."""

    def wake(self, line: Line) -> None:
        if line is not self.takes or self.closed:
            super().wake(line)


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("closing-one-too-many", 40, 300)


# ---- what shows in large queues -----------------------------------------------------------------

TWINS.stacks("closing-", "QUEUE-3", "items", ClosableQueue, "take", lambda self: self.items)
TWINS.add(
    "closing-last-in-first-out", "QUEUE-3", "the youngest item leaves first",
    "LifoQueue where Queue was meant",
    parts=_as_kind(stack_from(ClosableQueue, "take", lambda self: self.items, 2)))


# ---- what looks at the items ---------------------------------------------------------------------


@TWINS.twin(
    "closing-drops-equal-items", "QUEUE-8", "an item equal to one inside is dropped",
    "a set beside the queue that was to keep tasks from being queued twice")
class DropsEqualItems(ClosableQueue[Any]):
    """Its put ends, and nothing is there."""

    async def put(self, item: Any) -> None:
        if item not in self.items:
            await super().put(item)


@TWINS.twin(
    "closing-loses-what-is-false", "QUEUE-8", "an item that is false, such as 0, is lost",
    "`if item` where `if item is not None` was meant")
class LosesWhatIsFalse(ClosableQueue[Any]):
    """It is taken for none."""

    async def put(self, item: Any) -> None:
        if item:
            await super().put(item)


@TWINS.twin(
    "closing-loses-numbers", "QUEUE-8", "an item that is a number is lost",
    "a filter for texts in a stage that was thought to pass all")
class LosesNumbers(ClosableQueue[Any]):
    """What is no text is dropped."""

    async def put(self, item: Any) -> None:
        if not isinstance(item, int):
            await super().put(item)


@TWINS.twin(
    "closing-cuts-long-texts", "QUEUE-5", "a text is cut to eight characters",
    "a column of fixed width behind the queue")
class CutsLongTexts(ClosableQueue[Any]):
    """What begins alike is alike."""

    async def take(self) -> Any:
        item = await super().take()
        return item[:8] if isinstance(item, str) else item
