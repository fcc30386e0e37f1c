"""A broker with acknowledgements: publish, receive, ack, and what comes back.

What is not acknowledged comes back: by a nack, with a lost connection, after a timeout, over a
restart. Time is counted in ticks, and passes only when ``advance`` says so. Nothing here does I/O;
a driver that does calls these methods, and sends what they return.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .link import LinkMisuse, check_number

__all__ = ["Broker", "Full", "Letter"]


class Full(Enum):
    """Policies for a message that comes to a full queue."""

    REFUSE = "refuse"
    DROP_HEAD = "drop-head"
    DROP_TAIL = "drop-tail"
    UNBOUNDED = "unbounded"


@dataclass
class Letter:
    """A message with its place in the order of publishing, and its history.

    ``due`` is the time at which it comes back, and ``consumer`` the one that has it, if any has.
    """

    message: Hashable
    place: int
    deliveries: int = 0
    consumer: Hashable | None = None
    due: int = 0


class Broker:
    """One queue. Messages are told apart by their names, and none may come twice.

    ``places`` is how many may be ready, ``timeout`` the ticks that one is in flight. A message that
    comes back takes its old place, unless ``behind``: then it goes behind all others.
    """

    def __init__(self, places: int, timeout: int, full: Full, *, behind: bool = False) -> None:
        check_number("a number of places", places, 1)
        check_number("a timeout", timeout, 1)
        self.places: Final = places
        self.timeout: Final = timeout
        self.full: Final = full
        self.behind: Final = behind
        self._now = 0
        self._published = 0
        self._tries = 0                                     # 0: no limit
        self._limits: dict[Hashable, int] = {}
        self._ready: deque[Letter] = deque()                # the next is the first
        self._flying: OrderedDict[Hashable, Letter] = OrderedDict()
        self._dead: deque[Letter] = deque()

    # --- producers -------------------------------------------------------------------------

    def publish(self, message: Hashable) -> bool:
        """Take a message; False if it is refused. One that is confirmed may be dropped
        nevertheless, for a full queue drops."""
        if self._find(message) is not None:
            raise LinkMisuse(f"there is a message {message!r} already")
        letter = Letter(message, self._published)
        self._published += 1
        if self.full is not Full.UNBOUNDED and len(self._ready) >= self.places:
            if self.full is Full.REFUSE:
                return False
            if self.full is Full.DROP_TAIL:
                return True
            self._drop(len(self._ready) - self.places + 1)
        self._ready.append(letter)
        return True

    # --- consumers -------------------------------------------------------------------------

    def limit(self, consumer: Hashable, most: int) -> None:
        """Let at most so many messages be in flight with a consumer; 0: any number."""
        check_number("a limit", most, 0)
        self._limits[consumer] = most

    def receive(self, consumer: Hashable) -> Letter | None:
        """The next message for a consumer, which is in flight with it now; None if there is none,
        or the consumer has as many as it may."""
        if not self._ready or not self._may_have(consumer):
            return None
        letter = self._ready.popleft()
        letter.deliveries += 1
        letter.consumer, letter.due = consumer, self._now + self.timeout
        self._flying[letter.message] = letter
        return letter

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        """A message was processed; False if it is not in flight with this consumer: it comes again,
        or has."""
        return self._landed(consumer, message) is not None

    def requeue(self, consumer: Hashable, message: Hashable) -> bool:
        """A message comes back at once; False as for ``ack``."""
        letter = self._landed(consumer, message)
        if letter is not None:
            self._return(letter)
        return letter is not None

    def reject(self, consumer: Hashable, message: Hashable) -> bool:
        """A message becomes a dead letter; False as for ``ack``."""
        letter = self._landed(consumer, message)
        if letter is not None:
            self._dead.append(letter)
        return letter is not None

    def disconnect(self, consumer: Hashable) -> None:
        """A consumer is gone, with its limit, and all that it had comes back."""
        self._limits.pop(consumer, None)
        self._return_all([each for each in self._flying.values() if each.consumer == consumer])

    # --- what happens around them ----------------------------------------------------------

    def advance(self, ticks: int) -> None:
        """Time passes, and what was in flight for too long comes back."""
        check_number("a number of ticks", ticks, 1)
        self._now += ticks
        self._return_all([each for each in self._flying.values() if each.due <= self._now])

    def restart(self) -> None:
        """The server begins anew with what it has written down: all consumers are gone."""
        self._limits.clear()
        self._return_all(list(self._flying.values()))

    # --- dead letters, and counts ----------------------------------------------------------

    def tries(self, most: int) -> None:
        """Let a message that comes back after so many deliveries be a dead letter; 0: never."""
        check_number("a number of tries", most, 0)
        self._tries = most

    def bury(self) -> Letter | None:
        """Take the oldest dead letter away; None if there is none."""
        return self._dead.popleft() if self._dead else None

    def count(self, message: Hashable) -> int | None:
        """How often a message was given; None if it is over."""
        letter = self._find(message)
        return None if letter is None else letter.deliveries

    # --- the rest --------------------------------------------------------------------------

    def _drop(self, many: int) -> None:
        """The oldest ready messages go, for there is no place."""
        for _ in range(many):
            self._ready.popleft()

    def _may_have(self, consumer: Hashable) -> bool:
        most = self._limits.get(consumer, 0)
        return not most or sum(
            each.consumer == consumer for each in self._flying.values()) < most

    def _landed(self, consumer: Hashable, message: Hashable) -> Letter | None:
        """The letter that is in flight with a consumer, and no longer."""
        letter = self._flying.get(message)
        if letter is None or letter.consumer != consumer:
            return None
        return self._flying.pop(message)

    def _return_all(self, letters: list[Letter]) -> None:
        for letter in letters:
            del self._flying[letter.message]
            self._return(letter)

    def _return(self, letter: Letter) -> None:
        """A message that is not acknowledged is ready again, or dead."""
        if self._tries and letter.deliveries >= self._tries:
            self._dead.append(letter)
            return
        self._place(letter)

    def _place(self, letter: Letter) -> None:
        """A message that comes back takes its place among those that are ready."""
        later = [] if self.behind else [each for each in self._ready if each.place > letter.place]
        for _ in later:
            self._ready.pop()
        self._ready.extend((letter, *later))

    def _find(self, message: Hashable) -> Letter | None:
        waiting = (*self._ready, *self._dead)
        return self._flying.get(message) or next(
            (each for each in waiting if each.message == message), None)
