"""Links between processes in virtual time: they lose, delay and reorder.

Each message takes a random time of its own, so a later one may arrive earlier, as over several
connections or with several threads in real systems. A message is lost if the link is cut when it
should arrive. A process that needs an answer asks with a number and a timeout, and accepts only the
answer to that number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from ...numbers import below

__all__ = ["DELAY_MAX", "Envelope", "Network"]

DELAY_MAX: Final = 4
"""The maximal delay of a message without a fault, in ms."""


class Envelope(NamedTuple):
    """A request or an answer between two processes, in one of their lives."""

    sender: int
    to: int
    number: int
    body: Any
    is_answer: bool = False


class Network:
    """All links. ``at`` plans a call for an instant; ``deliver`` receives messages."""

    def __init__(
        self, random: Random, now: Callable[[], int],
        at: Callable[[int, Callable[[], None]], object], deliver: Callable[[Envelope], None],
    ) -> None:
        self._random, self._now, self._at, self._deliver = random, now, at, deliver
        self._cuts: Counter[tuple[int, int]] = Counter()
        self._extra: Counter[tuple[int, int]] = Counter()
        self._losing: Counter[tuple[int, int]] = Counter()

    def send(self, envelope: Envelope) -> None:
        """Send a message, which arrives later, or never."""
        link = envelope.sender, envelope.to
        delay = 1 + below(self._random, DELAY_MAX)
        extra = self._extra.get(link, 0)
        if extra and self._random.random() < 0.5:
            delay += below(self._random, extra + 1)
        if below(self._random, 100) < self._losing.get(link, 0):
            return
        self._at(self._now() + delay, partial(self._arrive, envelope))

    def _arrive(self, envelope: Envelope) -> None:
        if not self._cuts.get((envelope.sender, envelope.to)):
            self._deliver(envelope)

    def cut(self, one: int, other: int) -> None:
        """Cut a link in both directions; there may be several cuts at a time."""
        self._both_ways(self._cuts, one, other, 1)

    def mend(self, one: int, other: int) -> None:
        """Undo one cut of a link."""
        self._both_ways(self._cuts, one, other, -1)

    def delay(self, one: int, other: int, extra: int) -> None:
        """Half of the messages take up to ``extra`` ms more, at random, and so are overtaken by the
        others; less, if negative.
        """
        self._both_ways(self._extra, one, other, extra)

    def lose(self, one: int, other: int, percent: int) -> None:
        """So many more per cent of the messages get lost; fewer, if negative."""
        self._both_ways(self._losing, one, other, percent)

    def recover(self) -> None:
        """End all faults of all links."""
        for counts in (self._cuts, self._extra, self._losing):
            counts.clear()

    @staticmethod
    def _both_ways(counts: Counter[tuple[int, int]], one: int, other: int, by: int) -> None:
        counts[one, other] += by
        counts[other, one] += by
