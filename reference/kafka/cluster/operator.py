"""An operator: requests for leaders, other replicas and topics, as znodes for the controllers.

There is one request under way at a time: its znode stays until a controller has carried it out, or
refused it, and the next request waits for that. A new topic exists as soon as its znode does. A
request without a reply is repeated; it may then be carried out twice, which is harmless.

Source: Kafka's ``kafka-leader-election.sh``, ``kafka-reassign-partitions.sh``, ``kafka-topics.sh``.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from ...coordination.terms import Create, Created, Event, NodeExists, NoNode, Read, Result
from .process import Answer, Process

__all__ = ["Operator"]

LOOK_EVERY: Final = 15


class Operator:
    """Creates one znode after the other, as ``Hosted``."""

    def __init__(self, process: Process) -> None:
        self.process = process
        process.hosted = self
        self._wishes: deque[Create] = deque()
        self._staying: set[str] = set()         # znodes that are not to vanish again
        self._is_connected = self._is_going = False
        process.open()

    @property
    def waiting(self) -> int:
        """The number of requests that have not been carried out."""
        return len(self._wishes)

    def wish(self, path: str, text: bytes, *, stays: bool = False) -> None:
        """Create a znode, after those requested before; it stays, or vanishes when a controller has
        done what it asks for.
        """
        self._wishes.append(Create(path, text))
        if stays:
            self._staying.add(path)
        self._go_on()

    def _go_on(self) -> None:
        if self._wishes and self._is_connected and not self._is_going:
            self._is_going = True
            self._make()

    def _make(self) -> None:
        self.process.ask(self._wishes[0], self._made)

    def _made(self, result: Result) -> None:
        if self._wishes[0].path in self._staying and isinstance(result, Created | NodeExists):
            self._next()
            return
        self._later(self._look if isinstance(result, Created) else self._make)

    def _look(self) -> None:
        self.process.ask(Read(self._wishes[0].path), self._looked)

    def _looked(self, result: Result) -> None:
        if isinstance(result, NoNode):
            self._next()
        else:
            self._later(self._look)

    def _next(self) -> None:
        self._wishes.popleft()
        self._is_going = False
        self._go_on()

    def _later(self, what: Any) -> None:
        session = self.process.session
        self.process.later(
            LOOK_EVERY, lambda: what() if self.process.session == session else None)

    # -- see ``Hosted`` ---------------------------------------------------------------------------

    def handle(self, sender: int, body: Any, answer: Answer) -> None:
        """Ignore the request: operators get none."""

    def connected(self) -> None:
        """Begin with the current request in a new session."""
        self._is_connected, self._is_going = True, False
        self._go_on()

    def changed(self, event: Event) -> None:
        """Ignore the event: an operator has no watches."""

    def expired(self) -> None:
        """Open requests to the service are forgotten; there will be another session."""
        self._is_connected = False
