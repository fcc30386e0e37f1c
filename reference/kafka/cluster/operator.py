"""An operator: wishes for leaders, other replicas and topics, as znodes that controllers see.

There is one wish under way at a time: its znode stays until a controller has carried it out, or
refused it, and the next wish waits for that. A topic that is made is there as soon as its znode is.
Where no reply came a wish is made again; it may then be carried out twice, which does no harm.

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
    """Makes one znode after the other; see ``Hosted``."""

    def __init__(self, process: Process) -> None:
        self.process = process
        process.hosted = self
        self._wishes: deque[Create] = deque()
        self._staying: set[str] = set()         # the znodes that are not to vanish again
        self._is_connected = self._is_going = False
        process.open()

    @property
    def waiting(self) -> int:
        """How many wishes were not carried out yet."""
        return len(self._wishes)

    def wish(self, path: str, text: bytes, *, stays: bool = False) -> None:
        """Make a znode, after those that are wished for already; it stays, or tells by vanishing
        that a controller has done what it asks for."""
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
        """Nobody asks an operator."""

    def connected(self) -> None:
        """In a new session it begins with the wish of now."""
        self._is_connected, self._is_going = True, False
        self._go_on()

    def changed(self, event: Event) -> None:
        """See the protocol: an operator watches nothing."""

    def expired(self) -> None:
        """What was asked is forgotten; there will be another session."""
        self._is_connected = False
