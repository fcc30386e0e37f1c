"""Condition variables for coroutines with one seeded bug each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_condition import Condition, Turn
from ...suites.twin import Twins
from .adapter import ReferenceCondition

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"kind": bug}


TWINS: Final = Twins(
    "awaits.condition", ReferenceCondition, ("reference.awaits.condition",), _as_kind)


@TWINS.twin(
    "condition-keeps-notification", "COND-4",
    "a sleeper that is cancelled after it was notified keeps the notification",
    "cpython #112202 (asyncio.Condition), and through it janus")
class KeepsNotification(Condition):
    """The notification is not passed on."""

    def stopped(self, turn: Turn) -> None:
        self.asleep.pop(turn, None)


@TWINS.twin(
    "condition-tells-the-cancelled", "COND-8",
    "a notification goes to a sleeper that was cancelled before, and ends with it",
    "anyio up to 4.12.1 (anyio.Condition)")
class TellsTheCancelled(Condition):
    """The first sleeper in the list is notified, whether it can still wake or not."""

    def notify(self, n: int = 1) -> None:
        for turn in list(self.asleep)[:n]:
            del self.asleep[turn]
            if not turn.done():
                turn.set_result(None)


@TWINS.twin(
    "condition-ends-without-lock", "COND-2",
    "a wait that is cancelled while it takes the lock again ends without it",
    "python/asyncio #346 (asyncio.Condition)")
class EndsWithoutLock(Condition):
    """The wait stops as soon as its cancellation is requested."""

    async def again(self) -> bool:
        await self.acquire()
        return False


@TWINS.twin(
    "condition-beside-lock", "COND-1", "a notified sleeper continues without the lock",
    "a wait that gives the lock back, and forgets to take it again")
class BesideLock(Condition):
    """The notifier still holds the lock."""

    async def again(self) -> bool:
        if self.lock.free:
            await self.acquire()
        return False


@TWINS.twin(
    "condition-deaf", "COND-3", "a notification wakes only the first sleeper, however many it is "
                                "for",
    "notify(n) for notify(1)")
class WakingOnlyTheFirst(Condition):
    """The second sleeper keeps sleeping."""

    def notify(self, n: int = 1) -> None:
        super().notify(min(n, 1))


TWINS.add(
    "condition-keeps-lock", "COND-11", "a call that is asked to give the lock back keeps it",
    "a release that is a coroutine, and is never awaited", parts={"leave": lambda by: []})


@TWINS.twin("condition-loses-its-line", "COND-10",
            "the lock is given back, and a call that waits for it keeps sleeping",
            "a wake-up that is lost between a lock and its wait queue")
class LosesItsLine(Condition):
    """The calls that wait for the lock are forgotten."""

    def release(self) -> None:
        self.lock.line.clear()
        super().release()


@TWINS.twin(
    "condition-sleeps-on", "COND-5", "a sleeper whose cancellation is requested keeps sleeping",
    "bpo-32841: asyncio.Condition prevents cancellation")
class SleepsOnWhenCancelled(Condition):
    """The cancellation is caught, and the sleep begins anew."""

    async def wait(self) -> None:
        while True:
            try:
                return await super().wait()
            except asyncio.CancelledError:
                pass


@TWINS.twin(
    "condition-wakes-all", "COND-6", "a notification for one sleeper wakes all",
    "notify_all for notify: a stampede")
class WakesAll(Condition):
    """Every sleeper is woken, needed or not."""

    def notify(self, n: int = 1) -> None:
        super().notify(len(self.asleep))


for _word, _many in (("four", 4), ("six", 6)):
    @TWINS.twin(
        f"condition-wakes-all-from-{_word}", "COND-6",
        f"from {_word} sleepers on, a notification for one wakes all",
        "a notification that goes to all where one by one would take long")
    class WakesAllFrom(Condition):
        """It is sound as long as few sleep."""

        many = _many

        def notify(self, n: int = 1) -> None:
            super().notify(n if len(self.asleep) < self.many else len(self.asleep))


# ---- none, and more than there are ---------------------------------------------------------------


@TWINS.twin("condition-wakes-all-for-none", "COND-6", "a notification for 0 sleepers wakes all",
            "`n or len(waiters)`: a default that takes 0 for no argument")
class WakesAllForNone(Condition):
    """A count that is false is taken for all."""

    def notify(self, n: int = 1) -> None:
        super().notify(n or len(self.asleep))


@TWINS.twin("condition-wakes-one-for-none", "COND-6", "a notification for 0 sleepers wakes one",
            "a loop that tests its end after the first turn")
class WakesOneForNone(Condition):
    """At least one is woken."""

    def notify(self, n: int = 1) -> None:
        super().notify(max(1, n))


@TWINS.twin("condition-wakes-none-of-few", "COND-3",
            "a notification for more sleepers than there are wakes none",
            "a check of the argument that returns, where the rest should be left out")
class WakesNoneOfFew(Condition):
    """Too many is taken for a mistake, and nothing is done."""

    def notify(self, n: int = 1) -> None:
        if n <= len(self.asleep):
            super().notify(n)


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("condition-wakes-all", 40, 300)
