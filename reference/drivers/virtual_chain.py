"""A chain of stages in virtual time, with messages that take time and a sink that works.

Time is whole instants, and jumps to the next at which anything happens. The source has another
element whenever one was sent, until there are no more. The delays and the work are drawn by two
functions of the caller's, so a run is a function of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..flow.chains import Chain, Down, Sent
from ..links import Link

__all__ = ["VirtualChain"]


class VirtualChain:
    """Runs a chain. ``delay`` draws how long a message is under way, ``work`` how long the sink
    works on an element. The last argument is called with every message that is offered, sent,
    delivered or consumed, and then when all ends are idle.
    """

    def __init__(self, chain: Chain, delay: Callable[[], int], work: Callable[[], int],
                 told: Callable[[str, Any], object] = lambda what, about: None) -> None:
        self.chain = chain
        self.now = 0
        self.most_waiting = 0
        self._work = work
        self._told = told
        count = len(chain.windows)
        self._ways: list[Link[Sent]] = [Link(delay) for _ in range(2 * count)]
        self._busy_until: int | None = None

    def run(self, elements: Iterable[Any]) -> list[Any]:
        """The elements that the sink has processed when nothing is left to happen, in order."""
        rest = iter(elements)
        processed: list[Any] = []
        self._feed(rest)
        while (instant := self._next_instant()) is not None:
            self.now = instant
            for way in self._ways:
                for message in way.arrived(self.now):
                    self._told("delivered", message)
                    self._send(self.chain.deliver(message))
            processed += self._consumed()
            self.most_waiting = max(self.most_waiting, self.chain.waiting)
            self._begin_work()
            self._feed(rest)
        return processed

    def _feed(self, rest: Iterator[Any]) -> None:
        """The source offers elements until one has to wait for a credit."""
        while not self.chain.source.waiting:
            element = next(rest, _NO_MORE)
            if element is _NO_MORE:
                return
            self._told("offered", element)
            self._send(self.chain.offer([element]))

    def _send(self, messages: list[Sent]) -> None:
        for message in messages:
            self._told("sent", message)
            self._ways[2 * message.link + isinstance(message, Down)].send(self.now, message)
        self._told("rests", None)

    def _consumed(self) -> list[Any]:
        if self._busy_until != self.now:
            return []
        self._busy_until = None
        element, sent = self.chain.consume()
        self._told("consumed", element)
        self._send(sent)
        return [element]

    def _begin_work(self) -> None:
        if self._busy_until is None and len(self.chain.sink):
            self._busy_until = self.now + max(1, self._work())

    def _next_instant(self) -> int | None:
        arrivals = [way.next_arrival() for way in self._ways]
        known = [each for each in (*arrivals, self._busy_until) if each is not None]
        return min(known, default=None)


_NO_MORE = object()
