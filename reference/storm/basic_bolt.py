"""Bolts that acknowledge by themselves: what Storm's BasicBoltExecutor does for a basic bolt.

A basic bolt processes one tuple and emits: every tuple that it emits is in the trees of its
input. When it returns, the input is acked; when it raises ``FailedException``, the input is
failed, whatever it had emitted before. Any other exception ends the worker, as in every bolt.

Source: org.apache.storm.topology.BasicBoltExecutor; 001, on bolts that ack by themselves.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from .messages import Message, Output

__all__ = ["Basic", "BasicBolt", "BasicOutput", "FailedException"]


class FailedException(Exception):
    """Raised by a basic bolt: the tuple that it processes has failed."""


class BasicOutput(NamedTuple):
    """The output of a basic bolt: every emitted tuple is anchored to the one that it processes."""

    out: Output
    input: Message

    def emit(self, value: tuple[Any, ...]) -> None:
        """Send a tuple to every subscribed component."""
        self.out.emit(value, (self.input,))


class BasicBolt(Protocol):
    """User code that neither acks nor fails."""

    def process(self, value: tuple[Any, ...], out: BasicOutput) -> None:
        """Process one tuple. Raises ``FailedException`` to fail it."""
        ...


class Basic:
    """A basic bolt as a bolt; see ``messages.Bolt``."""

    def __init__(self, bolt: BasicBolt) -> None:
        self.bolt: Final = bolt

    def execute(self, message: Message, out: Output) -> None:
        """Process one tuple, then ack it, or fail it."""
        try:
            self.bolt.process(message.value, BasicOutput(out, message))
        except FailedException:
            self.failed(message, out)
        else:
            out.ack(message)

    def failed(self, message: Message, out: Output) -> None:
        """The basic bolt has raised ``FailedException``."""
        out.fail(message)

    def tick(self) -> None:
        """A basic bolt keeps nothing that could grow old."""
