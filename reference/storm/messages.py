"""Messages between tasks, and the interfaces of a bolt's user code: messages, bolts, outputs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Protocol

__all__ = ["Bolt", "Kind", "Message", "Output", "Value"]

Value = tuple[Any, ...]


class Kind(Enum):
    """The kind of a message between tasks."""

    DATA = "data"
    INIT = "init"       # spout -> acker: (xor of the root's edges)
    ACK = "ack"         # bolt -> acker: (xor of an edge with those emitted from it)
    FAIL = "fail"       # bolt -> acker: (), an edge of the root has failed
    RESET = "reset"     # bolt -> acker: (), more time is asked for
    TELL = "tell"       # acker -> spout: (the outcome of the root)
    TICK = "tick"       # the worker's timer -> each of its tasks: ()
    FLUSH = "flush"     # the worker's timer -> a task that has a batch: ()


class Message(NamedTuple):
    """A tuple, or a message about one, from a task to a task.

    ``life`` is how often the sender's worker had been restarted; ``number`` counts the
    messages from 0, for each receiver and life. ``anchors`` has, for each root of a tree that
    the tuple is in, the root and the id of the edge.
    """

    kind: Kind
    sender: int
    life: int
    to: int
    number: int
    value: Value
    anchors: tuple[tuple[int, int], ...] = ()


class Output(Protocol):
    """The output of a bolt: see ``executor.BoltTask``."""

    def emit(self, value: Value, anchors: Iterable[Message]) -> None:
        """Send a tuple to every subscribed component, in the trees of its anchors."""
        ...

    def ack(self, message: Message) -> None:
        """The tuple is processed; everything that comes of it was emitted."""
        ...

    def fail(self, message: Message) -> None:
        """The tuple cannot be processed: the root of its tree must fail at once."""
        ...

    def reset_timeout(self, message: Message) -> None:
        """The tuple is still being processed: its root's timeout must restart."""
        ...


class Bolt(Protocol):
    """User code of a component."""

    def execute(self, message: Message, out: Output) -> None:
        """Process one tuple, and emit to ``out``."""
        ...

    def tick(self) -> None:
        """A period of the message timeout has passed."""
        ...
