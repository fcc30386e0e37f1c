"""Links between processes in virtual time: they lose, delay and reorder.

Each message is on its way for a time that is drawn for it alone, so one that was sent later may
arrive earlier: what goes over several connections, or is worked off by several threads, does so in
real systems. What is on its way is lost where the link is cut when it should arrive. Whoever
needs an answer asks with a number and a limit of time, and takes only the answer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

__all__ = ["DELAY_MAX", "Envelope", "Network"]

DELAY_MAX: Final = 4
"""Milliseconds that a message takes where nothing goes wrong."""


@dataclass(frozen=True)
class Envelope:
    """A request (``answers`` None) or an answer, between two processes in one of their lives."""

    sender: int
    to: int
    number: int
    body: Any
    is_answer: bool = False


class Network:
    """All links. ``at`` plans a call for an instant; ``deliver`` hands a message over."""

    def __init__(
        self, random: Random, now: Callable[[], int],
        at: Callable[[int, Callable[[], None]], None], deliver: Callable[[Envelope], None],
    ) -> None:
        self._random, self._now, self._at, self._deliver = random, now, at, deliver
        self._cuts: Counter[tuple[int, int]] = Counter()
        self._extra: Counter[tuple[int, int]] = Counter()
        self._losing: Counter[tuple[int, int]] = Counter()

    def send(self, envelope: Envelope) -> None:
        """Send a message; it arrives later, or never."""
        link = envelope.sender, envelope.to
        delay = self._random.randint(1, DELAY_MAX)
        if self._extra[link] and self._random.random() < 0.5:
            delay += self._random.randint(0, self._extra[link])
        if self._random.randrange(100) < self._losing[link]:
            return
        self._at(self._now() + delay, lambda: self._arrive(envelope))

    def _arrive(self, envelope: Envelope) -> None:
        if not self._cuts[envelope.sender, envelope.to]:
            self._deliver(envelope)

    def cut(self, one: int, other: int) -> None:
        """Nothing gets through, either way; there may be several reasons for that."""
        self._both_ways(self._cuts, one, other, 1)

    def mend(self, one: int, other: int) -> None:
        """There is one reason less."""
        self._both_ways(self._cuts, one, other, -1)

    def delay(self, one: int, other: int, extra: int) -> None:
        """Half of the messages take up to ``extra`` ms more, as chance wants, and so are overtaken
        by the others; less, if negative."""
        self._both_ways(self._extra, one, other, extra)

    def lose(self, one: int, other: int, percent: int) -> None:
        """So many more in 100 messages get lost; fewer, if negative."""
        self._both_ways(self._losing, one, other, percent)

    def recover(self) -> None:
        """Nothing is wrong with any link any more."""
        for counts in (self._cuts, self._extra, self._losing):
            counts.clear()

    @staticmethod
    def _both_ways(counts: Counter[tuple[int, int]], one: int, other: int, by: int) -> None:
        counts[one, other] += by
        counts[other, one] += by
