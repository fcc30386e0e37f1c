"""A chain: a source, stages, and a sink, each two joined by a link with credits.

Backpressure is only ever between two neighbours; that of the whole chain follows from it. A chain
holds no more than the slots of all its links, and the elements that its stages have in hand.

A chain has no clock and delivers nothing. It is called with each event at one of its ends, and
returns the messages to send over its links: link i leads from end i to end i + 1, data goes down,
and credits go up. On each link messages arrive in the order in which they were sent, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .link import LinkMisuse, LinkReceiver, LinkSender
from .stages import Pumped, Stage, Transform

__all__ = ["Chain", "Consumed", "Down", "Sent", "Up", "Window"]


class Window(NamedTuple):
    """The slots at the lower end of a link, and how many of them are announced together."""

    capacity: int = 4
    batch: int = 1


class Down(NamedTuple):
    """An element on its way down a link."""

    link: int
    element: Any


class Up(NamedTuple):
    """A message with credits on its way up a link."""

    link: int
    permits: int


Sent = Down | Up


class Consumed(NamedTuple):
    """The element that the sink has processed, and the messages to send then."""

    element: Any
    sent: list[Sent]


class Chain:
    """As many stages as there are transforms, and a window for each of the links, which are one
    more. Raises ``LinkMisuse`` for another number, and for windows that would deadlock.
    """

    def __init__(self, transforms: Sequence[Transform[Any, Any]],
                 windows: Sequence[Window]) -> None:
        if len(windows) != len(transforms) + 1:
            raise LinkMisuse(f"{len(transforms)} stages stand between {len(transforms) + 1} links, "
                             f"and there are {len(windows)} windows")
        self.windows = tuple(windows)
        self.source: LinkSender[Any] = LinkSender(windows[0].capacity)
        self.stages = [
            Stage(transform, *above, permits=below.capacity)
            for transform, above, below in zip(transforms, windows, windows[1:], strict=False)]
        self.sink: LinkReceiver[Any] = LinkReceiver(*windows[-1])

    def offer(self, elements: Iterable[Any]) -> list[Sent]:
        """The source has more elements; return the messages to send now."""
        return [Down(0, element) for element in self.source.offer(elements)]

    def deliver(self, message: Sent) -> list[Sent]:
        """A message has arrived at the other end of its link; return the messages to send now.
        Raises ``LinkMisuse`` if there is no slot for an element.
        """
        link = message.link
        if isinstance(message, Down):
            if link < len(self.stages):
                return _sent(link, self.stages[link].arrive(message.element))
            self.sink.arrive(message.element)
            return []
        if link > 0:
            return _sent(link - 1, self.stages[link - 1].permit(message.permits))
        return [Down(0, element) for element in self.source.permit(message.permits)]

    def consume(self) -> Consumed:
        """The sink has processed its oldest element. Raises ``LinkMisuse`` if it has none."""
        element, permits = self.sink.process()
        return Consumed(element, [Up(len(self.stages), permits)] if permits else [])

    @property
    def waiting(self) -> int:
        """Number of elements that wait in the buffers of the stages and of the sink."""
        return sum(len(stage.inlet) for stage in self.stages) + len(self.sink)


def _sent(above: int, pumped: Pumped[Any]) -> list[Sent]:
    """The messages that a stage sends up the link above it, and down the one below."""
    return [*(Up(above, permits) for permits in pumped.permits),
            *(Down(above + 1, element) for element in pumped.elements)]
