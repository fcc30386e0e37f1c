"""Queues of the user's for tasks of asyncio, by their names."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ClassVar

from ...foreign.surface import Wanted, made_with
from ...foreign.target import Named
from .event_loop import LoopQueue
from .named_ways import ALSO, WANTED, Ways, capacity_of

__all__ = ["NamedLoopQueue"]

Item = str | int


class NamedLoopQueue(LoopQueue):
    """A queue for tasks of asyncio."""

    wanted: ClassVar[Sequence[Wanted]] = WANTED

    def __init__(self, named: Named) -> None:
        super().__init__()
        self._named = named
        self.name = named.place.words      # type: ignore[misc]
        self.version = named.version
        self.policy = named.place.names.get("policy", self.policy)      # type: ignore[misc]

    def make(self, capacity: int) -> None:
        """Create the queue under test."""
        made = made_with(self._named.factory, self._named.place, capacity_of(capacity))
        self._ways = Ways(self._named.surface(made, self.wanted, ALSO))
        alone = () if self._ways.waiting else ("cancel",)
        self.lacks = [*self._ways.lacks, *alone]      # type: ignore[misc]
        self.offer_now = self._ways.offer  # type: ignore[method-assign]
        self.poll_now = self._ways.poll    # type: ignore[method-assign]
        self.size_now = self._ways.size    # type: ignore[method-assign]

    def put_later(self, item: Item) -> Coroutine[Any, Any, object]:
        """The coroutine of a put."""
        return self._later(lambda: self._ways.surface["put"](item), yields=False)

    def take_later(self) -> Coroutine[Any, Any, object]:
        """The coroutine of a take."""
        return self._later(self._ways.surface["get"], yields=True)

    async def _later(self, call: Callable[[], Any], yields: bool) -> object:
        answer = call()
        value = await answer if hasattr(answer, "__await__") else answer
        if value is False and not yields:
            raise self._ways.never_waits("put", "by False")
        return value if yields else True
