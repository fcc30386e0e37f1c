"""A link for networks that lose, duplicate and reorder messages: credit is a limit.

Elements are numbered by the sender: 0, 1, …, or from another ``first`` number on. The receiver says
below which number it has accepted all, and below which one the sender may send. Of either a
greater number says all that a smaller one does, so a message that comes late or twice does no harm,
and a lost one is made good by the next one.

Both ends repeat themselves when a driver's timer runs out: the sender the oldest element that it
keeps, the receiver its limit. Without the second the link can deadlock: the sender has nothing
outstanding if the limit that was lost was the last one.

Neither end has a clock or a connection. A call that raises has changed nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from .link import LinkMisuse, check_batch, check_number

__all__ = ["CountedReceiver", "CountedSender", "Freed", "Numbered"]

E = TypeVar("E")


class Numbered(NamedTuple, Generic[E]):
    """A message of the sender: an element with its number."""

    number: int
    element: E


class Freed(NamedTuple, Generic[E]):
    """The element that was processed, and the limit to send (None: no message)."""

    element: E
    limit: int | None


class CountedSender(Generic[E]):
    """The end that has elements; the receiver has ``capacity`` slots, which is the first limit.

    It keeps what the receiver may not have: never more than ``capacity`` elements.
    """

    def __init__(self, capacity: int, *, first: int = 0) -> None:
        check_number("a capacity", capacity, 1)
        check_number("the first number", first, 0)
        self.capacity: Final = capacity
        self._limit = first + capacity
        self._sent = first
        self._acked = first
        self._kept: deque[E] = deque()      # of the elements from acked to sent
        self._waiting: deque[E] = deque()

    @property
    def kept(self) -> int:
        """Number of elements that it keeps to repeat them."""
        return len(self._kept)

    @property
    def waiting(self) -> int:
        """Number of elements that wait for a limit that admits them."""
        return len(self._waiting)

    def offer(self, elements: Iterable[E]) -> list[Numbered[E]]:
        """Take more elements; return those to send now, in order."""
        self._waiting.extend(elements)
        return self._send()

    def permit(self, limit: int) -> list[Numbered[E]]:
        """Take a limit; return the elements to send now, in order."""
        check_number("a limit", limit, 0)
        self._raise_limit(limit)
        # The receiver grants no limit that is further ahead of the elements that it has freed.
        self._let_go(limit - self.capacity)
        return self._send()

    def ack(self, number: int) -> None:
        """The receiver has all elements below a number. Raises ``LinkMisuse`` if some of these
        were not sent."""
        check_number("the number of an acknowledgement", number, 0)
        if number > self._sent:
            raise LinkMisuse(f"the elements below {number} are acknowledged, and those below "
                             f"{self._sent} were sent")
        self._let_go(number)

    def repeat(self) -> list[Numbered[E]]:
        """The timer has run out; the oldest element that is kept, if there is one."""
        return [Numbered(self._acked, self._kept[0])] if self._kept else []

    def _send(self) -> list[Numbered[E]]:
        sent: list[Numbered[E]] = []
        while self._waiting and self._may_send():
            element = self._waiting.popleft()
            self._kept.append(element)
            sent.append(Numbered(self._sent, element))
            self._sent += 1
        return sent

    # -- the few places where something is decided --------------------------------------------

    def _may_send(self) -> bool:
        return self._sent < self._limit

    def _raise_limit(self, limit: int) -> None:
        self._limit = max(self._limit, limit)

    def _let_go(self, number: int) -> None:
        while self._acked < min(number, self._sent):
            self._kept.popleft()
            self._acked += 1


class CountedReceiver(Generic[E]):
    """The end that processes elements: ``capacity`` slots; a limit for each ``batch`` of them."""

    def __init__(self, capacity: int, batch: int = 1, *, first: int = 0) -> None:
        check_batch(capacity, batch)
        check_number("the first number", first, 0)
        self.capacity: Final = capacity
        self.batch: Final = batch
        self._buffer: deque[E] = deque()
        self._first: Final = first
        self._accepted = first      # all below this number
        self._limit = first + capacity

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def accepted(self) -> int:
        """Number of elements that it has accepted so far."""
        return self._accepted - self._first

    def arrive(self, number: int, element: E) -> int | None:
        """An element has come, perhaps not for the first time; the number to acknowledge.

        Raises ``LinkMisuse`` where it is beyond the limit.
        """
        check_number("the number of an element", number, 0)
        if number >= self._limit:
            raise LinkMisuse(f"element {number} came, and the limit is {self._limit}")
        if self._is_new(number):
            self._buffer.append(element)
            self._accepted += 1
            return self._accepted
        return self._answer_to_old()

    def process(self) -> Freed[E]:
        """The oldest element was processed, and its slot is free. Raises ``LinkMisuse`` where
        there is none."""
        if not self._buffer:
            raise LinkMisuse("there is no element to process")
        element = self._buffer.popleft()
        limit = self._room()
        if not self._is_worth_a_message(limit):
            return Freed(element, None)
        self._limit = limit
        return Freed(element, limit)

    def repeat(self) -> int | None:
        """The timer has run out; the limit to send again."""
        return self._limit

    # -- the few places where something is decided --------------------------------------------

    def _is_new(self, number: int) -> bool:
        return number == self._accepted

    def _answer_to_old(self) -> int | None:
        # The answer before may be lost, so there is another one.
        return self._accepted

    def _room(self) -> int:
        """The number below which there is a slot for each element."""
        return self._accepted - len(self._buffer) + self.capacity

    def _is_worth_a_message(self, limit: int) -> bool:
        return limit - self._limit >= self.batch
