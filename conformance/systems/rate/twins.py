"""Rate limits with one seeded bug each."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Final

from ....reference.flow.bucket import RateLimit, SlidingLog
from ....spec.flow.rate_seen import EXPECTATIONS
from ...suites.twin import Twins
from .adapter import ReferenceLog, ReferenceRate
from .mechanism import BucketOfTheBook, LimitOfTheBook

__all__ = ["TWINS"]

TWINS: Final = Twins("rate", ReferenceRate, ("reference.rate",))
TWINS.variants(EXPECTATIONS, BucketOfTheBook, of=LimitOfTheBook, known={
    "Bottomless": ("rate-keeps-all", "003#E17: a bucket without a depth"),
    "Forgetting": ("rate-bucket-forgets", "permits of the present tick alone")})


@TWINS.twin(
    "rate-counts-windows", "FLOW-80", "the count begins anew at each full period",
    "a counter for each window of time: twice the number may pass around its end")
class CountingWindows(RateLimit):
    """A period is as many ticks as bring a whole depth."""

    _tick = 0

    def tick(self) -> None:
        self._tick += 1
        if self._tick % -(-self._bucket.depth // self._bucket.rate) == 0:
            self._held = self._bucket.depth


@TWINS.twin(
    "rate-gains-when-asked", "FLOW-80", "each request brings the permits of a tick",
    "kombu #680: the time of the last refill is not kept")
class GainingWhenAsked(RateLimit):
    """Permits are added as if a tick had passed since the last request."""

    def take(self, permits: int = 1) -> bool:
        self._held += self._bucket.tick(self._held)
        return super().take(permits)


@TWINS.twin(
    "rate-overdraws", "FLOW-80", "a caller that finds one permit gets all that it asks for",
    "a comparison with 0 in the place of the number")
class GivingAllForOne(RateLimit):
    """The number of permits left may be negative."""

    def take(self, permits: int = 1) -> bool:
        if self._held < 1:
            return False
        self._held -= permits
        return True


@TWINS.twin(
    "rate-one-too-many", "FLOW-80", "the bucket keeps one permit more than its depth",
    "> in the place of >= at the depth")
class OnePermitTooMany(RateLimit):
    """There is room for one more."""

    def tick(self) -> None:
        self._held = min(self._bucket.depth + 1, self._held + self._bucket.rate)


@TWINS.twin(
    "rate-refusals-cost", "FLOW-81", "a refused caller has spent permits",
    "the permits are taken before they are compared, and not given back")
class RefusalsCost(RateLimit):
    """A refusal takes a permit that was there."""

    def take(self, permits: int = 1) -> bool:
        given = super().take(permits)
        if not given:
            self._held = max(0, self._held - 1)
        return given


@TWINS.twin(
    "rate-begins-empty", "FLOW-81", "a fresh bucket is empty",
    "the permits of the time before the first request are not counted")
class BeginningEmpty(RateLimit):
    """It has to be filled first."""

    def __init__(self, rate: int, depth: int) -> None:
        super().__init__(rate, depth)
        self._held = 0


@TWINS.twin(
    "rate-forgets-pauses", "FLOW-81", "a pause brings the permits of one tick",
    "a refill at each request, by one tick and not by the time that has passed")
class ForgettingPauses(RateLimit):
    """Only the last tick since the last request counts."""

    _waiting = 0

    def tick(self) -> None:
        self._waiting = 1

    def take(self, permits: int = 1) -> bool:
        if self._waiting:
            super().tick()
        self._waiting = 0
        return super().take(permits)


@TWINS.twin(
    "rate-keeps-one-less", "FLOW-81", "the bucket keeps one permit less than its depth",
    "< in the place of <= at the depth")
class KeepingOneLess(RateLimit):
    """A whole depth is never given at once after a pause."""

    def tick(self) -> None:
        super().tick()
        self._held = min(max(1, self._bucket.depth - 1), self._held)


@TWINS.twin(
    "rate-restarts-when-refused", "FLOW-81", "a refusal delays the next permits",
    "the time of the last request is kept where that of the last refill should be")
class RestartingWhenRefused(RateLimit):
    """The tick after a refusal brings nothing."""

    _refused = False

    def tick(self) -> None:
        if not self._refused:
            super().tick()
        self._refused = False

    def take(self, permits: int = 1) -> bool:
        given = super().take(permits)
        self._refused = self._refused or not given
        return given


# ---- two callers at once --------------------------------------------------------------------


@TWINS.twin(
    "rate-checks-then-takes", "FLOW-80", "two callers at once both find enough, and both take it",
    "token_bucket.MemoryStorage.consume, whose notes say so: a check and a write without a lock")
class CheckingThenTaking(RateLimit):
    """The number of permits was read before the other caller took them."""

    def taking(self, permits: int) -> Generator[None, None, bool]:
        enough = not self.line and permits <= self._held
        yield
        self._held -= permits if enough else 0
        return enough


@TWINS.twin("rate-refills-twice", "FLOW-80",
            "two callers at once both find that time has passed, and both refill",
            "limits.MemoryStorage.get: two threads find a window that is over, and both begin it "
            "anew")
class RefillingTwice(RateLimit):
    """Time is counted when a caller asks: new permits are added once by each of the two."""

    _ticks = 0

    def tick(self) -> None:
        self._ticks += 1

    def let_through(self) -> list[str]:
        if self.line:
            self._fill(self._ticks)
        return super().let_through()

    def take(self, permits: int = 1) -> bool:
        self._fill(self._ticks)
        return super().take(permits)

    def taking(self, permits: int) -> Generator[None, None, bool]:
        ticks = self._ticks
        yield
        self._fill(ticks)
        return super().take(permits)

    def _fill(self, ticks: int) -> None:
        for _ in range(ticks):
            super().tick()
        self._ticks = 0


# ---- none, and more than there ever are ---------------------------------------------------------


@TWINS.twin("rate-refuses-none", "FLOW-81", "a caller that asks for no permit is refused",
            "it is asked whether anything is left, and not whether there is enough")
class RefusingNone(RateLimit):
    """Something must be left, whatever is asked for."""

    def take(self, permits: int = 1) -> bool:
        return self._held > 0 and super().take(permits)


@TWINS.twin("rate-cuts-to-the-depth", "FLOW-80",
            "a caller that asks for more than the depth gets what is there, as if that were all",
            "a number that is cut to the largest in the place of an error")
class CuttingToTheDepth(RateLimit):
    """A full bucket is enough for any caller."""

    def take(self, permits: int = 1) -> bool:
        return super().take(min(permits, self._bucket.depth))


@TWINS.twin("rate-in-16-bits", "FLOW-80", "of a number of permits the last 16 bits count",
            "a field of a frame that holds fewer bits than the argument")
class InSixteenBits(RateLimit):
    """Of 65,536 permits, 0 are taken."""

    def take(self, permits: int = 1) -> bool:
        return super().take(permits % 2**16)


# ---- long times -------------------------------------------------------------------------------


@TWINS.twin("rate-idles-in-16-bits", "FLOW-81", "of a long time the last 16 bits count",
            "milliseconds in a field that was made for seconds")
class IdlingIn16Bits(RateLimit):
    """After 65,536 ticks the clock is where it was."""

    def idle(self, ticks: int) -> None:
        super().idle(ticks % 2**16)


@TWINS.twin("rate-idles-in-31-bits", "FLOW-81", "after 2^31 ticks time has gone backwards",
            "milliseconds since the last call in an int: 25 days are less than nothing")
class IdlingIn31Bits(RateLimit):
    """A time below 0 brings nothing."""

    def idle(self, ticks: int) -> None:
        super().idle(ticks if ticks < 2**31 else 0)


@TWINS.twin("rate-idles-in-32-bits", "FLOW-81", "of a long time the last 32 bits count",
            "GetTickCount: 49.7 days are no time at all")
class IdlingIn32Bits(RateLimit):
    """After 2^32 ticks the clock is where it was."""

    def idle(self, ticks: int) -> None:
        super().idle(ticks % 2**32)


# ---- waiting calls ---------------------------------------------------------------------------


@TWINS.twin(
    "rate-wakes-nobody", "FLOW-82", "permits come, and no waiting call is notified",
    "a timer for the next permits that only the next request sets")
class WakingNobody(RateLimit):
    """A waiting call is notified only when another caller asks."""

    _asleep = False

    def tick(self) -> None:
        super().tick()
        self._asleep = True

    def wait(self, name: str, permits: int) -> None:
        super().wait(name, permits)
        self._asleep = False

    def let_through(self) -> list[str]:
        return [] if self._asleep else super().let_through()


@TWINS.twin("rate-serves-the-gone", "FLOW-82",
            "a call that gave up stays in the wait queue, and gets its permits",
            "cpython #90155, of a semaphore: a waiter that was cancelled is woken in its turn")
class ServingTheGone(RateLimit):
    """The permits are spent, and no caller has them."""

    gone: frozenset[str] = frozenset()

    def give_up(self, name: str) -> None:
        self.gone |= {name}

    def let_through(self) -> list[str]:
        return [name for name in super().let_through() if name not in self.gone]


@TWINS.twin("rate-least-first", "FLOW-83",
            "of the waiting calls, the one that asks for the least is served first",
            "aiolimiter 1.3.0: a heap of amounts; a call that asks for much may wait without end")
class LeastFirst(RateLimit):
    """Calls that come later and want less overtake."""

    def let_through(self) -> list[str]:
        self.line = dict(sorted(self.line.items(), key=lambda each: each[1]))
        return super().let_through()


@TWINS.twin("rate-newcomers-overtake", "FLOW-83",
            "a call that does not wait takes permits for which others wait",
            "a try_acquire that does not look at the wait queue")
class NewcomersOvertake(RateLimit):
    """Only waiting calls look at the wait queue."""

    def take(self, permits: int = 1) -> bool:
        line, self.line = self.line, {}
        given = super().take(permits)
        self.line = line
        return given


# ---- sliding logs ---------------------------------------------------------------------------


@TWINS.twin(
    "rate-log-forgets-early", "FLOW-84", "a log forgets entries that are not a period old yet",
    "< in the place of <= at the end of the window", of=ReferenceLog,
    originals=("reference.rate.log",))
class ForgettingEarly(SlidingLog):
    """Its period is a tick too short."""

    def __init__(self, rate: int, depth: int) -> None:
        super().__init__(rate, depth)
        self.log = deque([0], max(1, self.period - 1))


@TWINS.twin(
    "rate-log-keeps-refused", "FLOW-85", "a refused call is written into the log",
    "a log in Redis whose ZADD comes before its ZCARD", of=ReferenceLog,
    originals=("reference.rate.log",))
class LoggingRefused(SlidingLog):
    """A caller that asks too often is refused forever."""

    def take(self, permits: int = 1) -> bool:
        given = super().take(permits)
        if not given:
            self.log[-1] += permits
        return given


@TWINS.twin(
    "rate-log-cuts-to-the-depth", "FLOW-80",
    "a log that is empty lets in more than its depth, and notes the depth",
    "a number that is cut to the largest in the place of an error", of=ReferenceLog,
    originals=("reference.rate.log",))
class LoggingTheDepth(SlidingLog):
    """It has room for any caller."""

    def take(self, permits: int = 1) -> bool:
        return super().take(min(permits, self.depth))


@TWINS.twin(
    "rate-log-refuses-none", "FLOW-85", "a full log refuses a caller that asks for no permit",
    "it is asked whether there is room, and not for how many", of=ReferenceLog,
    originals=("reference.rate.log",))
class RefusingNoneWhenFull(SlidingLog):
    """Room for nothing is not there."""

    def take(self, permits: int = 1) -> bool:
        return sum(self.log) < self.depth and super().take(permits)


@TWINS.twin(
    "rate-log-idles-in-32-bits", "FLOW-85", "a log takes 2^32 ticks for none",
    "GetTickCount: 49.7 days are no time at all", of=ReferenceLog,
    originals=("reference.rate.log",))
class LogIdlingIn32Bits(SlidingLog):
    """Entries stay, however old they are."""

    def idle(self, ticks: int) -> None:
        super().idle(ticks % 2**32)


# ---- bugs that show late ----------------------------------------------------------------------

class KeepingUntakenPermits(RateLimit):
    """A bucket without a depth, as code: a pause is saved up, however long it was."""

    def tick(self) -> None:
        self._held += self._bucket.rate


TWINS.late("rate-keeps-all", 40, 300, code=KeepingUntakenPermits)
