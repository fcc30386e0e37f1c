"""The harness's subscribers: they report their signals, and act within them as planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...ports.base import Message

__all__ = ["SourceFailed", "Subscribers"]


class SourceFailed(Exception):
    """The exception of a source in a program with a source that fails."""


class Subscribers:
    """All subscribers of one session.

    ``request`` and ``cancel`` call the subscription of one of them. ``events`` are those since the
    last reply. If a source is drawn from through ``drawing``, they report the buffer as well.
    """

    def __init__(
        self, request: Callable[[int, int], None], cancel: Callable[[int], None]
    ) -> None:
        self._request = request
        self._cancel = cancel
        self._first: dict[int, int] = {}
        self._plan: dict[int, int] = {}
        self._quitting: set[int] = set()
        self._holding: set[int] = set()
        self.events: list[Message] = []
        self._drawn = self._signalled = 0
        self._holds: int | None = None

    def drawing(self, elements: Iterable[int]) -> Iterator[int]:
        """The elements of a source, counted when they are drawn."""
        for element in elements:
            self._drawn += 1
            yield element

    def told(self) -> list[Message]:
        """The events since the last reply; and the number of elements held, if it has changed."""
        holds = self._drawn - self._signalled
        if self._drawn and holds != self._holds:
            self._holds = holds
            self.events.append({"event": "holds", "n": max(0, holds)})
        events, self.events = self.events, []
        return events

    def begins(self, subscriber: int, first: int) -> None:
        """Plan that a subscriber requests ``first`` elements within its onSubscribe."""
        self._first[subscriber] = first

    def plan(self, subscriber: int, count: int) -> None:
        """Plan that a subscriber requests ``count`` elements in each onNext."""
        self._plan[subscriber] = count

    def quit(self, subscriber: int) -> None:
        """Plan that a subscriber cancels in its next onNext."""
        self._quitting.add(subscriber)

    def hold(self, subscriber: int) -> None:
        """Plan that a subscriber's next onNext is held."""
        self._holding.add(subscriber)

    def event(self, name: str, subscriber: int, **more: object) -> None:
        """Record an event for the next reply."""
        self.events.append({"event": name, "subscriber": subscriber, **more})

    def call(self, name: str, subscriber: int, made: Callable[[], object]) -> None:
        """Make a call, and record an event if it does not return normally."""
        try:
            made()
        except BlockingIOError:
            self.event("waits", subscriber, call=name)
        except Exception:  # noqa: BLE001 any exception is reported as an event
            self.event("raised", subscriber, call=name)

    # --- signals -----------------------------------------------------------------------------

    def on_subscribe(self, subscriber: int) -> None:
        """The subscriber receives its subscription."""
        self.event("subscribed", subscriber)
        if first := self._first.get(subscriber):
            self._requests(subscriber, first)

    def on_next(self, subscriber: int, element: int) -> bool:
        """The subscriber receives an element; true if its onNext returns now, and is not held."""
        self._signalled += 1
        self.event("next", subscriber, element=element)
        if subscriber in self._holding:
            self._holding.discard(subscriber)
            return False
        if subscriber in self._quitting:
            self._quitting.discard(subscriber)
            self.event("cancels", subscriber)
            self.call("cancels", subscriber, lambda: self._cancel(subscriber))
        if count := self._plan.get(subscriber):
            self._requests(subscriber, count)
        self.event("returned", subscriber)
        return True

    def on_complete(self, subscriber: int) -> None:
        """The subscriber's stream ends normally."""
        self.event("complete", subscriber)

    def on_error(self, subscriber: int, error: BaseException) -> None:
        """The subscriber's stream fails, for one of three causes."""
        cause = ("failure" if isinstance(error, SourceFailed)
                 else "argument" if isinstance(error, ValueError) else "other")
        self.event("error", subscriber, cause=cause)

    def _requests(self, subscriber: int, count: int) -> None:
        self.event("requests", subscriber, n=count)
        self.call("requests", subscriber, lambda: self._request(subscriber, count))
