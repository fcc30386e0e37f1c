"""Condition variables for coroutines with one seeded bug each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....reference.drivers.asyncio_condition import Condition
from ....spec.queues.locks.condition_seen import EXPECTATIONS
from ...suites.mechanism import Mechanism
from ...suites.twin import Twins
from .adapter import ReferenceCondition
from .mechanism import BookCondition, ConditionOfTheBook

__all__ = ["TWINS"]


def _as_kind(bug: type[Any]) -> Mapping[str, Any]:
    return {"core" if issubclass(bug, Mechanism) else "kind": bug}


TWINS: Final = Twins(
    "awaits.condition", ReferenceCondition, ("reference.awaits.condition",), _as_kind)


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
    "condition-deaf", "COND-3", "a notification wakes only the first sleeper, however many it is "
                                "for",
    "notify(n) for notify(1)")
class NotifiesOne(Condition):
    """The second sleeper keeps sleeping."""

    def notify(self, n: int = 1) -> None:
        super().notify(min(n, 1))


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


TWINS.variants(EXPECTATIONS, ConditionOfTheBook, of=BookCondition, known={
    "KeepingNotification": (
        "condition-keeps-notification",
        "cpython #112202 (asyncio.Condition), and through it janus"),
    "TellingTheDead": (
        "condition-tells-the-cancelled", "anyio up to 4.12.1 (anyio.Condition)"),
    "WithoutLock": (
        "condition-cancelled-without-lock",
        "python/asyncio #346, for every wait that is cancelled"),
    "Deaf": ("condition-wakes-none", "a notification that is only counted"),
    "NotTakingTheLock": (
        "condition-beside-lock", "a wait that gives the lock back, and forgets to take it again"),
    "KeepsLock": (
        "condition-keeps-lock", "a release that is a coroutine, and is never awaited"),
    "LosesCalls": (
        "condition-loses-its-line",
        "a wake-up that is lost between a lock and its wait queue"),
    "IgnoringStop": (
        "condition-sleeps-on", "bpo-32841: asyncio.Condition prevents cancellation"),
})


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("condition-wakes-all", 40, 300)
