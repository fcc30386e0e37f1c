"""The common part of the adapters with puts that wait one at a time.

If real threads or sockets are behind two waiting puts, the operating system decides which of them
comes first, and no reply could be repeated. So a second put is declined while one waits.
"""

from __future__ import annotations

from ...adapters.base import Declined
from .adapter import QueueAdapter, Waits

__all__ = ["BUSY", "OneWaitQueue"]

Item = str | int

BUSY = "one-wait-at-a-time"
"""The definite error of a put while another one waits."""


class OneWaitQueue(QueueAdapter):
    """A subclass offers at once, and defines in ``begin`` and ``over`` how a put waits."""

    _ticket: str | None = None

    def offer(self, item: Item) -> bool:
        raise NotImplementedError

    def begin(self, item: Item) -> None:
        """A put of ``item``, for which there is no free slot, begins to wait."""
        raise NotImplementedError

    def over(self) -> bool:
        """True if the put that waits has ended, once all has run that can run."""
        raise NotImplementedError

    def put(self, item: Item) -> bool | Waits:
        self.settle()
        if self._ticket is not None:
            raise Declined(BUSY)
        if self.offer(item):
            return True
        self.begin(item)
        self._ticket = self.new_ticket()
        return Waits(self._ticket)

    def settle(self) -> bool:
        """Let everything run that can run at this instant."""
        if self._ticket is not None and self.over():
            self.completed(self._ticket, True)
            self._ticket = None
        return True
