"""Queues for coroutines that end, with one seeded bug each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_closing import ClosableQueue, Closed
from ....spec.queues.closing_seen import EXPECTATIONS
from ...suites.mechanism import Mechanism
from ...suites.twin import Twins
from .adapter import ReferenceClosing
from .mechanism import BookClosing, ClosingOfTheBook

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"core" if issubclass(bug, Mechanism) else "kind": bug}


TWINS: Final = Twins(
    "awaits.closing", ReferenceClosing, ("reference.awaits.closing",), _as_kind)


# ---- closing --------------------------------------------------------------------------------


@TWINS.twin(
    "closing-wakes-as-many-as-items", "CLOSE-2",
    "closing wakes a take for each item, and with more workers than items the others keep waiting",
    "aiochannel #13")
class WakesAsManyAsItems(ClosableQueue[Any]):
    """The takes for which there is no item are not woken."""

    def close(self) -> None:
        self.closed = True
        self.wake_all(self.puts)
        for _ in self.items:
            self.wake(self.takes)


@TWINS.twin(
    "closing-tells-and-takes-in", "CLOSE-1",
    "a waiting put is refused as closed, and its item goes in",
    "the item is kept with its waiter, and the wait queue is emptied into the queue")
class TellsAndTakesIn(ClosableQueue[Any]):
    """The sender is informed, and the wait queue is not."""

    async def put(self, item: Any) -> None:
        try:
            await super().put(item)
        except Closed:
            if self.has_room():
                self.items.append(item)
            raise


@TWINS.twin("closing-tells-early", "CLOSE-6",
            "a take that is woken without reason reports that the queue is closed",
            "a wake-up that is taken for a closing")
class TellsEarly(ClosableQueue[Any]):
    """Another take was faster, and this one does not sleep again."""

    async def take(self) -> Any:
        if not self.items and not self.closed:
            await self.sleep(self.takes, self.has_items)
        if not self.items:
            raise Closed
        return await super().take()


# ---- joining --------------------------------------------------------------------------------


@TWINS.twin(
    "join-counts-down-when-taken", "JOIN-1", "an item counts as done when it is taken",
    "get that calls task_done")
class CountsWhenTaken(ClosableQueue[Any]):
    """A later call of ``task_done`` is ignored."""

    async def take(self) -> Any:
        item = await super().take()
        super().task_done()
        return item

    def task_done(self) -> None:
        """Ignored: the item was counted when it was taken."""


@TWINS.twin(
    "join-wakes-one", "JOIN-2", "when all is done one join is woken, and the others keep sleeping",
    "notify for notify_all")
class WakesOneJoin(ClosableQueue[Any]):
    """The woken join wakes no other."""

    def all_may_be_done(self) -> None:
        if not self.undone:
            self.wake(self.joins)


@TWINS.twin(
    "join-forgets-what-was-cut", "JOIN-2",
    "an item that is cut off is never done, and a join waits for it forever",
    "shutdown(immediate=True) that does not count")
class ForgetsWhatWasCut(ClosableQueue[Any]):
    """No call will take the item, and no consumer can report that it is done."""

    def cut(self) -> None:
        self.items.clear()
        self.close()


@TWINS.twin(
    "join-spins", "JOIN-3",
    "an event that was set and not cleared makes a join look again and again",
    "janus #715, but for a wait in each round, which lets others run")
class Spins(ClosableQueue[Any]):
    """A callback sets the event, and a put in between clears it at once."""

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


# ---- items that cannot be put -----------------------------------------------------------------


@TWINS.twin(
    "failed-put-leaves-item", "FAIL-1", "a put fails, and its item is in the queue",
    "heapq.heappush appends before it compares: asyncio.PriorityQueue does so to this day")
class LeavesItem(ClosableQueue[Any]):
    """The item comes out, although its put has failed."""

    def admit(self, item: Any) -> None:
        try:
            super().admit(item)
        except BaseException:
            self.items.append(item)
            raise


@TWINS.twin(
    "failed-put-keeps-wakeup", "FAIL-1",
    "a put that was woken fails, and the next waiting put keeps sleeping beside a free place",
    "asyncio.PriorityQueue: a put that was woken and raises wakes no other")
class FailsWithItsWakeUp(ClosableQueue[Any]):
    """The failed put had the only wake-up for the place."""

    def admit(self, item: Any) -> None:
        if self.admits is not None:
            self.admits(item)


@TWINS.twin(
    "failed-put-counts", "FAIL-1", "a put fails, and a join waits for its item forever",
    "the task is counted before the item is put")
class Counts(ClosableQueue[Any]):
    """No consumer can report that the item is done."""

    def admit(self, item: Any) -> None:
        try:
            super().admit(item)
        except BaseException:
            self.undone += 1
            raise


# ---- any queue ------------------------------------------------------------------------------


@TWINS.twin(
    "closing-gives-twice", "QUEUE-6", "the last item before a closing is handed out twice",
    "the call that drains the queue and the woken call both have it")
class GivesTwice(ClosableQueue[Any]):
    """The item is read, and only a later take removes it."""

    async def take(self) -> Any:
        if self.closed and len(self.items) == 1 and not hasattr(self, "again"):
            self.again = True
            return self.items[0]
        return await super().take()


TWINS.variants(EXPECTATIONS, ClosingOfTheBook, of=BookClosing, known={
    "ClosesForTakes": ("closing-leaves-puts", "janus #237"),
    "ClosesForOne": ("closing-wakes-one-worker", "aiochannel #13"),
    "TakesInLate": ("closing-takes-in", "only waiting calls look at the flag"),
    "TellsAtOnce": (
        "closing-forgets-items",
        "the flag is looked at first; Queue.shutdown of Python without immediate must not"),
    "GivesAfterCut": ("closing-cuts-nothing", "shutdown(immediate=True) that is shutdown()"),
    "EndsEarly": ("join-ends-when-empty", "join that looks at the size of the queue"),
    "KeepsPlace": (
        "failed-put-keeps-place",
        "bpo-33078: multiprocessing.Queue, whose semaphore was not released when pickling failed"),
    "OneTooMany": ("closing-one-too-many", "<= for <"),
    "GivesAgain": ("closing-gives-again", "items[0] for popleft()"),
    "TellsForNothing": ("closing-tells-the-empty", "one exception for empty and for closed"),
    "DeafToDone": ("join-deaf", "the last task_done wakes no join"),
    "Spinning": ("join-asks-again", "janus #715"),
    "DeafToRoom": ("closing-deaf-put", "anyio #143"),
    "DeafToItems": ("closing-deaf-take", "tokio #8075"),
    "NewestFirst": ("closing-last-in-first-out", "LifoQueue where Queue was meant"),
})


# ---- bugs that show late ----------------------------------------------------------------------


class OnePlaceMore(ClosableQueue[Any]):
    """A bound that is not kept, as code."""

    def has_room(self) -> bool:
        return len(self.items) <= self.capacity


TWINS.late("closing-one-too-many", 40, 300, code=OnePlaceMore)


# ---- bugs that show in large queues -----------------------------------------------------------

TWINS.stacks("closing-", "QUEUE-3", "items", ClosableQueue, "take", lambda self: self.items)


# ---- bugs that depend on the value of items ---------------------------------------------------


@TWINS.twin(
    "closing-drops-equal-items", "QUEUE-8", "an item equal to one inside is dropped",
    "a set beside the queue that was to keep tasks from being queued twice")
class DropsEqualItems(ClosableQueue[Any]):
    """The put ends, and its item is nowhere."""

    async def put(self, item: Any) -> None:
        if item not in self.items:
            await super().put(item)


@TWINS.twin(
    "closing-loses-what-is-false", "QUEUE-8", "an item that is false, such as 0, is lost",
    "`if item` where `if item is not None` was meant")
class LosesWhatIsFalse(ClosableQueue[Any]):
    """The item is taken for none."""

    async def put(self, item: Any) -> None:
        if item:
            await super().put(item)


@TWINS.twin(
    "closing-loses-numbers", "QUEUE-8", "an item that is a number is lost",
    "a filter for texts in a stage that was thought to pass all")
class LosesNumbers(ClosableQueue[Any]):
    """An item that is not a text is dropped."""

    async def put(self, item: Any) -> None:
        if not isinstance(item, int):
            await super().put(item)


@TWINS.twin(
    "closing-cuts-long-texts", "QUEUE-5", "a text is cut to eight characters",
    "a column of fixed width behind the queue")
class CutsLongTexts(ClosableQueue[Any]):
    """Items that begin alike become equal."""

    async def take(self) -> Any:
        item = await super().take()
        return item[:8] if isinstance(item, str) else item
