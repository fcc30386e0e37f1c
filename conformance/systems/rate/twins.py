"""Rate limits with one seeded bug each."""

from __future__ import annotations

from typing import Final

from ....reference.flow.bucket import RateLimit
from ...suites.twin import Twins
from .adapter import ReferenceRate

__all__ = ["TWINS"]

TWINS: Final = Twins("rate", ReferenceRate, ("reference.rate",))


@TWINS.twin(
    "rate-keeps-all", "FLOW-80", "what nobody takes is kept without end",
    "003#E17: a bucket without a depth")
class KeepingAll(RateLimit):
    """A pause is saved up, however long it was."""

    def tick(self) -> None:
        self._held += self._bucket.rate


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
    """It is filled as if a tick had passed since it was asked last."""

    def take(self, permits: int = 1) -> bool:
        self._held += self._bucket.tick(self._held)
        return super().take(permits)


@TWINS.twin(
    "rate-overdraws", "FLOW-80", "whoever finds one permit gets all that were asked for",
    "a comparison with 0 in the place of the number")
class Overdrawing(RateLimit):
    """What is left may be less than nothing."""

    def take(self, permits: int = 1) -> bool:
        if self._held < 1:
            return False
        self._held -= permits
        return True


@TWINS.twin(
    "rate-one-too-many", "FLOW-80", "the bucket keeps one permit more than its depth",
    "> in the place of >= at the depth")
class OneTooMany(RateLimit):
    """There is room for one more."""

    def tick(self) -> None:
        self._held = min(self._bucket.depth + 1, self._held + self._bucket.rate)


@TWINS.twin(
    "rate-refusals-cost", "FLOW-81", "who is turned away has spent permits",
    "the permits are taken before they are compared, and not given back")
class RefusalsCost(RateLimit):
    """What there was is gone."""

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
    "rate-restarts-when-refused", "FLOW-81", "whoever is turned away delays the next permits",
    "the time of the last request is kept where that of the last refill should be")
class RestartingWhenRefused(RateLimit):
    """The tick after somebody was turned away brings nothing."""

    _refused = False

    def tick(self) -> None:
        if not self._refused:
            super().tick()
        self._refused = False

    def take(self, permits: int = 1) -> bool:
        given = super().take(permits)
        self._refused = self._refused or not given
        return given
