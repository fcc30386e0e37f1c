"""A queue that drops: ``collections.deque`` with a greatest length."""

from __future__ import annotations

import platform
from collections import deque
from typing import ClassVar

from .adapter import QueueAdapter

__all__ = ["DroppingDeque"]

Item = str | int


class DroppingDeque(QueueAdapter):
    """``collections.deque(maxlen=capacity)``: a full one silently forgets its oldest item."""

    name: ClassVar[str] = "collections.deque"
    policy: ClassVar[str] = "drop-oldest"
    version = platform.python_version()

    def start(self, capacity: int) -> None:
        """Begin with a fresh, empty queue of ``capacity`` items."""
        self._items: deque[Item] = deque(maxlen=capacity)

    def offer(self, item: Item) -> bool:
        self._items.append(item)
        return True

    def poll(self) -> Item | None:
        return self._items.popleft() if self._items else None

    def size(self) -> int:
        return len(self._items)
