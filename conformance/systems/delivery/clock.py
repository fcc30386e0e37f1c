"""The ticks of a server in real time: what is in flight, and for how long by the harness's count.

A server gives a message back when its time is over by its own clock. On a machine that halts for
too long that is earlier than the ticks say; then the adapter reports that it does not know what has
happened, for nothing can be judged.
"""

from __future__ import annotations

import time
from typing import Final

from ...adapters.base import Declined

__all__ = ["RealTicks"]

Item = int | str

_SLOW: Final = "the-machine-was-too-slow"


class RealTicks:
    """A tick has so many ``seconds``; what is in flight for ``timeout`` of them comes back.

    A message that was in flight for ``late`` seconds longer than its ticks say is judged no more.
    """

    def __init__(self, seconds: float, timeout: int, *, late: float) -> None:
        self._seconds = seconds
        self._timeout = timeout
        self._late = late
        self._given: dict[Item, tuple[int, float, int]] = {}

    def given(self, message: Item, consumer: int) -> None:
        """A consumer was given a message now."""
        self._given[message] = (0, time.monotonic(), consumer)

    def over(self, message: Item) -> None:
        """A message is in flight no more."""
        self._given.pop(message, None)

    def left(self, consumer: int) -> None:
        """The connection of a consumer is lost: it has nothing in flight any more."""
        self._given = {message: each for message, each in self._given.items()
                       if each[2] != consumer}

    def holds(self, consumer: int, message: Item) -> bool:
        """True if a message is in flight with a consumer, as far as the harness can know."""
        return message in self._given and self._given[message][2] == consumer

    def check(self) -> None:
        """Raise ``Declined``, nobody knows what happens now, if the time of a message is over that
        should not be."""
        now = time.monotonic()
        for ticks, since, _ in self._given.values():
            if now - since - ticks * self._seconds > self._late:
                raise Declined(_SLOW, definite=False)

    def advance(self, ticks: int) -> None:
        """Wait for so many ticks; what is over by then is in flight no more."""
        self.check()
        passed = min(ticks, self._timeout)      # then all is over that can be over
        time.sleep(passed * self._seconds)
        aged = {message: (before + passed, since, consumer)
                for message, (before, since, consumer) in self._given.items()}
        self._given = {message: each for message, each in aged.items() if each[0] < self._timeout}

    def clear(self) -> None:
        """Nothing is in flight any more."""
        self._given.clear()
