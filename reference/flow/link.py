"""A credit-controlled link: a sender that holds credits, and a receiver that gives them back.

The receiver has ``capacity`` slots, and the sender begins with a credit for each (a *permit* in the
names here, as in the text that this follows). A credit is spent on an element, and goes back when
the element was processed: ``batch`` of them in one message. So there are never more elements under
way and at the receiver than it has slots.

Neither end has a clock or a connection. A driver delivers what an end returns to the other end,
once each and in order: a message that is lost is a credit lost, and one that comes twice is a
credit for which there is no free slot. For networks that do that, see ``counted``.

A call that raises has changed nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

__all__ = [
    "LinkMisuse", "LinkReceiver", "LinkSender", "Processed", "check_batch", "check_number",
]

E = TypeVar("E")


class LinkMisuse(ValueError):
    """The other end, or the driver, broke a rule of the link; nothing has changed.

    Usual causes: no capacity, a batch that does not fit it, fewer than one credit, an element
    for which there is no slot, nothing to process.
    """


class Processed(NamedTuple, Generic[E]):
    """The element that was processed, and the credits to send (0: no message)."""

    element: E
    permits: int


class LinkSender(Generic[E]):
    """The end that has elements. It begins with ``permits`` credits."""

    def __init__(self, permits: int) -> None:
        check_number("a number of credits", permits, 0)
        self._permits = permits
        self._waiting: deque[E] = deque()

    @property
    def permits(self) -> int:
        """Number of credits that it holds."""
        return self._permits

    @property
    def waiting(self) -> int:
        """Number of elements that wait for a credit."""
        return len(self._waiting)

    def offer(self, elements: Iterable[E]) -> list[E]:
        """Take more elements; return those to send now, in order."""
        self._waiting.extend(elements)
        return self._send()

    def permit(self, count: int) -> list[E]:
        """Take a message with credits; return the elements to send now, in order."""
        check_number("a number of credits", count, 1)
        self._take_in(count)
        return self._send()

    def _send(self) -> list[E]:
        sent: list[E] = []
        while self._waiting and self._may_send():
            self._spend()
            sent.append(self._waiting.popleft())
        return sent

    # -- the few places where something is decided --------------------------------------------

    def _take_in(self, count: int) -> None:
        self._permits += count

    def _may_send(self) -> bool:
        return self._permits > 0

    def _spend(self) -> None:
        self._permits -= 1


def check_batch(capacity: int, batch: int) -> None:
    """Raise ``LinkMisuse`` unless ``batch`` slots of ``capacity`` can be free together."""
    check_number("a capacity", capacity, 1)
    check_number("a batch", batch, 1)
    if batch > capacity:
        raise LinkMisuse(f"a batch of {batch} never comes together in {capacity} slots: the link "
                         "would deadlock")


class LinkReceiver(Generic[E]):
    """The end that processes elements: ``capacity`` slots, announced ``batch`` at a time."""

    def __init__(self, capacity: int, batch: int = 1) -> None:
        check_batch(capacity, batch)
        self.capacity: Final = capacity
        self.batch: Final = batch
        self._buffer: deque[E] = deque()
        self._freed = 0

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def freed(self) -> int:
        """Number of slots that are free and not yet announced."""
        return self._freed

    def arrive(self, element: E) -> int:
        """Take an element; return the credits to send (0: no message).

        Raises ``LinkMisuse`` if there is no slot for it: the sender had no credit.
        """
        if len(self._buffer) >= self.capacity:
            raise LinkMisuse(f"an element came for which there is no slot of {self.capacity}")
        self._enqueue(element)
        return self._announce()

    def process(self) -> Processed[E]:
        """Process the oldest element; its slot is free then.

        Raises ``LinkMisuse`` if there is none.
        """
        if not self._buffer:
            raise LinkMisuse("there is no element to process")
        element = self._dequeue()
        self._freed += 1
        return Processed(element, self._announce())

    def _announce(self) -> int:
        count = self._granted()
        self._freed -= count
        return count

    # -- the few places where something is decided --------------------------------------------

    def _enqueue(self, element: E) -> None:
        self._buffer.append(element)

    def _dequeue(self) -> E:
        return self._buffer.popleft()

    def _granted(self) -> int:
        """Number of credits to grant now."""
        return self.batch if self._freed >= self.batch else 0


def check_number(what: str, number: int, least: int) -> None:
    """Raise ``LinkMisuse`` unless ``number`` is an integer from ``least`` up."""
    if type(number) is not int or number < least:
        raise LinkMisuse(f"{what} is an integer from {least} up, not {number!r}")
