"""Queues with one seeded bug each: the reference core, with one hook overridden.

They test the suite: a suite that does not find all of them checks less than it claims. Each names
the bug of a real library that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from ....reference.queue import EMPTY, BoundedQueue, NotYet, Overflow, Step, Ticket
from ....spec.queues.queue_seen import EXPECTATIONS
from ...suites.twin import Twins
from .mechanism import (
    BookDropping, BookQueue, CustodianOfTheBook, DroppingOfTheBook, QueueOfTheBook,
)
from .reference import DeferredQueue, ReferenceQueue

__all__ = ["TWINS"]

Core = BoundedQueue[Any]


TWINS: Final = Twins("queue", ReferenceQueue, ("reference",))


# ---- items ----------------------------------------------------------------------------------


@TWINS.twin(
    "doubled-on-cancel", "QUEUE-6",
    "a take cancelled after its wake-up leaves its item there twice",
    "a careless fix of bpo-23812", of=DeferredQueue)
class DoubledOnCancel(Core):
    """A take that is cancelled after it was woken puts back an item that never left."""

    def _leave(self, ticket: Ticket) -> None:
        if ticket in self._takes and ticket in self._told and self._items and self._has_room():
            self._items.appendleft(self._items[0])
        super()._leave(ticket)


@TWINS.twin(
    "silent-drop", "QUEUE-1", "a full queue accepts an offer and drops its oldest item",
    "drop-tail in place of refuse, without a trace in the counts")
class SilentDrop(Core):
    """A full queue accepts an offer, and forgets its oldest item to free a slot."""

    def offer(self, item: Any) -> Step[bool]:
        if not self._has_room():
            self._items.popleft()
        return super().offer(item)


# ---- capacity -------------------------------------------------------------------------------


@TWINS.twin(
    "handed-back", "QUEUE-9", "the item of a cancelled taker goes back above the capacity",
    "anyio #147, its review: handing a cancelled item to the buffer exceeds its size",
    of=DeferredQueue)
class HandedBack(Core):
    """An item is handed to a taker when it is woken, and put back if the taker is cancelled:
    its place may have been taken by then.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._hands: dict[Ticket, Any] = {}

    def _wake(self) -> tuple[Ticket, ...]:
        woken = super()._wake()
        for ticket in woken:
            if ticket in self._takes:
                self._hands[ticket] = self._remove()
                del self._takes[ticket]
        return woken + super()._wake() if woken else woken

    def claim(self, ticket: Ticket) -> Step[Any | NotYet]:
        if ticket in self._hands:
            return Step(self._hands.pop(ticket), self._wake())
        return super().claim(ticket)

    def cancel(self, ticket: Ticket) -> Step[bool]:
        if ticket in self._hands:
            self._items.appendleft(self._hands.pop(ticket))
            return Step(True, self._wake())
        return super().cancel(ticket)


# ---- order ----------------------------------------------------------------------------------


@TWINS.twin(
    "youngest-put-first", "QUEUE-12", "of the waiting puts, the youngest is admitted first",
    "cpython #83055: the order of puts on a full queue")
class YoungestPutFirst(Core):
    """Of the puts that wait for a free slot, the youngest is admitted first."""

    def _is_ready(self, ticket: Ticket, line: Any, turns: int) -> bool:
        return line is self._puts or super()._is_ready(ticket, line, turns)

    def _ready(self) -> Iterator[Ticket]:
        yield from islice(self._takes, len(self._items))
        yield from islice(reversed(self._puts), max(0, self.capacity - len(self._items)))


@TWINS.twin(
    "hides-the-last", "QUEUE-4", "poll says empty while one item is inside", "an index off by one")
class HidesTheLast(Core):
    """The last item does not come out: a poll of one item answers that the queue is empty."""

    def poll(self) -> Step[Any]:
        return super().poll() if len(self._items) > 1 else Step(EMPTY)


@TWINS.twin(
    "refused-comes-out", "QUEUE-5", "an item that was refused comes out all the same",
    "a producer that is refused, and offers again: the item is in twice")
class RefusedComesOut(Core):
    """A refused item is kept aside, and comes out when there is nothing else."""

    _aside: tuple[Any, ...] = ()

    def offer(self, item: Any) -> Step[bool]:
        step = super().offer(item)
        self._aside = self._aside if step.answer else (item,)
        return step

    def poll(self) -> Step[Any]:
        aside, self._aside = self._aside, ()
        return Step(aside[0]) if aside and not self._items else super().poll()


@TWINS.twin(
    "counts-the-waiting", "QUEUE-11", "the size includes the puts that wait",
    "a size that is read off two lists: qsize() of a queue with pending senders")
class CountsTheWaiting(Core):
    """Waiting puts count as items."""

    def __len__(self) -> int:
        return super().__len__() + len(self._puts)


class _UndoesTheEnd(ReferenceQueue):
    """A call that waits no more is answered that its cancellation succeeded."""

    def cancel(self, ticket: str) -> bool:
        return super().cancel(ticket) if ticket in self._waiting else True


TWINS.add(
    "undoes-what-has-ended", "QUEUE-9",
    "a cancel of a call that has ended, and was reported, answers that it is undone",
    "a cancel that answers whether the caller is out of the wait queue, not whether it left it",
    parts={}, of=_UndoesTheEnd)
TWINS.add(
    "says-newest-drops-oldest", "QUEUE-17",
    "a queue that promises to drop what arrives drops its oldest item",
    "a deque(maxlen) where the oldest items are the ones that count",
    parts={"overflow": Overflow.DROP_OLDEST, "policy": "drop-newest"})
TWINS.add(
    "says-youngest-drops-oldest", "QUEUE-17",
    "a queue that promises to drop its youngest item drops its oldest",
    "Akka Streams' dropTail and dropHead taken for each other",
    parts={"overflow": Overflow.DROP_OLDEST, "policy": "drop-youngest-queued"})
TWINS.add(
    "says-clear-drops-oldest", "QUEUE-17",
    "a queue that promises to drop all its items drops its oldest only",
    "Akka Streams' dropBuffer and dropHead taken for each other",
    parts={"overflow": Overflow.DROP_OLDEST, "policy": "clear"})


TWINS.variants(EXPECTATIONS, QueueOfTheBook, of=BookQueue, known={
    "OneTooMany": ("one-too-many", "the watermark compared with > for >="),
    "DroppingInSilence": (
        "drops-before-waiters", "the same as silent-drop, where the waiters run later"),
    "RefusingEarly": ("refuses-early", "rsocket #264: off by one"),
    "DeafProducer": ("deaf-producer", "anyio #143: a sender not woken after receive_nowait"),
    "DeafConsumer": ("deaf-consumer", "tokio #8075: a receiver not woken"),
    "SwallowingWakeUps": (
        "swallowed-wakeup",
        "bpo-27585 (asyncio.Lock), cpython #108042, python/asyncio #265, python/asyncio #268"),
    "YoungestFirst": ("last-in-first-out", "a stack where a queue was meant"),
})
TWINS.variants(EXPECTATIONS, CustodianOfTheBook, of=BookQueue, known={
    "LosingWithTheTaker": (
        "lossy-cancel", "bpo-23812: a cancelled asyncio.Queue.get loses an item"),
    "GhostPut": ("ghost-put", "a permit taken before its data exists and forgotten on cancel"),
})
TWINS.variants(EXPECTATIONS, DroppingOfTheBook, of=BookDropping, known={
    "DroppingTheOther": (
        "says-oldest-drops-newest",
        "onBackpressureLatest and onBackpressureDrop taken for each other"),
})


# ---- bugs that show late, or in large queues ------------------------------------------------


class PollWakesNobody(Core):
    """``poll`` frees a slot and wakes no waiting put."""

    def poll(self) -> Step[Any]:
        return super().poll()._replace(woken=())


TWINS.late("deaf-producer", 40, 300, code=PollWakesNobody)
TWINS.late("silent-drop", 40, 300)


TWINS.stacks("", "QUEUE-3", "items", Core, "_remove", lambda self: self._items)


@TWINS.twin(
    "second-turn", "QUEUE-3",
    "at the second turn of its ring of sixteen places two items change their places",
    "a ring whose read index is compared before it is wrapped")
class SecondTurn(Core):
    """Every sixteenth removal takes the second item, if there is one."""

    _removed = 0

    def _remove(self) -> Any:
        self._removed += 1
        if self._removed > 16 and self._removed % 16 == 1 and len(self._items) > 1:
            self._items[0], self._items[1] = self._items[1], self._items[0]
        return super()._remove()


# ---- bugs that depend on the value of items -------------------------------------------------

@TWINS.twin(
    "loses-what-is-false", "QUEUE-4", "an item that is false, such as 0, is lost",
    "`if not item` where `if item is None` was meant")
class LosesWhatIsFalse(Core):
    """An item that is false is dropped."""

    def _admit(self, item: Any) -> None:
        if item:
            super()._admit(item)


@TWINS.twin(
    "loses-numbers", "QUEUE-4", "an item that is a number is lost",
    "a filter for texts in a stage that was thought to pass all")
class LosesNumbers(Core):
    """An item that is not a text is dropped."""

    def _admit(self, item: Any) -> None:
        if isinstance(item, str):
            super()._admit(item)


@TWINS.twin(
    "drops-equal-items", "QUEUE-4", "an item that equals one inside is dropped",
    "a set beside the queue that was to keep tasks from being queued twice")
class DropsEqualItems(Core):
    """An item that equals one inside is dropped."""

    def _admit(self, item: Any) -> None:
        if item not in self._items:
            super()._admit(item)


@TWINS.twin(
    "drops-alike-but-for-case", "QUEUE-4",
    "an item is dropped if one inside differs from it in case alone",
    "a table with a collation that ignores case, as MySQL's default, behind a queue of unique jobs")
class DropsAlikeButForCase(Core):
    """An item that equals one inside, whatever their case, is dropped."""

    def _admit(self, item: Any) -> None:
        if _lower(item) not in map(_lower, self._items):
            super()._admit(item)


def _lower(item: Any) -> Any:
    return item.lower() if isinstance(item, str) else item


@TWINS.twin(
    "cuts-long-texts", "QUEUE-5", "a text is cut to eight characters",
    "a column of fixed width behind the queue")
class CutsLongTexts(Core):
    """An item that comes out has eight characters at most."""

    def _admit(self, item: Any) -> None:
        super()._admit(item[:8] if isinstance(item, str) else item)
