"""The chapter's bucket behind the port of limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.flow.bucket import Bucket
from ....spec.flow.rate_seen import RateSeen
from ....spec.notation.machine import Machine
from ...suites.mechanism import Mechanism
from .adapter import ReferenceRate

__all__ = ["BucketOfTheBook", "LimitOfTheBook"]

_SERVED: Final = 2**20
"""Elements that are served in a tick: none ever waits behind the bucket."""


class BucketOfTheBook(Mechanism):
    """In the chapter all that is sent in a tick is sent in one step, which is taken here when the
    tick is over. The machine begins with a full bucket, to which the first tick adds nothing."""

    machine: ClassVar[type[Machine]] = Bucket
    view = RateSeen

    def __init__(self, rate: int, depth: int) -> None:
        super().__init__(r=rate, b=depth, u=_SERVED, th=0)
        self._sent = 0

    def take(self, permits: int) -> bool:
        """True if so many are admitted in this tick, beside those that were."""
        if not self.can("tick", sent=self._sent + permits):
            return False
        self._sent += permits
        return True

    def tick(self) -> None:
        """A tick ends, and another begins."""
        self.fire("tick", sent=self._sent)
        self._sent = 0


class LimitOfTheBook(ReferenceRate):
    """No call waits in the chapter. ``core`` is what the twins replace."""

    name = "bucket of the book"
    core: type[BucketOfTheBook] = BucketOfTheBook   # type: ignore[assignment]
    acquire = give_up = idle = both = None          # type: ignore[assignment]

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a full bucket."""
        self._bucket = self.core(settings["rate"], settings["capacity"])

    def take(self, permits: int) -> bool:
        """True if the caller gets all."""
        return self._bucket.take(permits)

    ask = take

    def tick(self, ticks: int) -> list[str]:
        """So many ticks pass; no call waits that could be admitted."""
        for _ in range(ticks):
            self._bucket.tick()
        return []
