"""Small programs for several threads, some of them wrong: what the scheduler is tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Account", "Counter", "Loop", "Pair", "Stubborn", "Wanderer"]


class Counter:
    """Counted by reading, and then writing."""

    def __init__(self) -> None:
        self.value = 0

    def count(self) -> None:
        """Not for several threads."""
        seen = self.value
        self.value = seen + 1


class Account:
    """The same under a lock, which is taken twice."""

    def __init__(self, lock: Callable[[], Any]) -> None:
        self.balance = 0
        self._lock = lock()

    def deposit(self) -> None:
        """For several threads."""
        with self._lock:
            self._add()

    def _add(self) -> None:
        with self._lock:
            seen = self.balance
            self.balance = seen + 1


class Pair:
    """Two locks that are taken in both orders."""

    def __init__(self, lock: Callable[[], Any]) -> None:
        self._first = lock()
        self._second = lock()
        self.moves = 0

    def there(self) -> None:
        """First, then second."""
        self._first.acquire()
        self._second.acquire()
        self.moves += 1
        self._second.release()
        self._first.release()

    def back(self) -> None:
        """The other way round."""
        self._second.acquire()
        self._first.acquire()
        self.moves += 1
        self._first.release()
        self._second.release()


class Loop:
    """A thread that waits for another one in a loop."""

    def __init__(self) -> None:
        self.flag = False

    def wait(self) -> None:
        """Until somebody raises the flag."""
        while not self.flag:
            pass


class Stubborn:
    """Code that takes every exception for its own."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.caught = False

    def go(self) -> None:
        """Wait for a lock, whatever comes."""
        try:
            with self._lock:
                pass
        except BaseException:       # noqa: BLE001  that is the point
            self.caught = True


class Wanderer:
    """Leaves a trace of its steps."""

    def __init__(self) -> None:
        self.trace: list[tuple[str, int]] = []

    def walk(self, name: str) -> None:
        """Two steps that leave a trace, and those of the loop."""
        for number in range(2):
            self.trace.append((name, number))
