"""Responses to a client that does not read, as the network of the server sees them.

Theory. ``response`` has the threads that have responses for one channel: where each waits, and how
long. The observer of a server (``observed_bookkeeper``) sees the channel from the network: a
request is read, started and done when a thread has its response, and the response is written or
dropped later. The clock is the same. A server is quiescent if no thread can take a step
before the clock does.

There is room for all threads in the pool, and permits for all requests: admission is another
chapter's subject.

Source: ``response``, ``observed_bookkeeper``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_bookkeeper import Kind, ObservedBookkeeper
from .response import (
    At, AwaitingWrites, Closing, FromMonitor, ListingAgain, Responses, Stubborn, UnfairMonitor,
)

__all__ = ["EXPECTATIONS", "ResponsesSeen"]

Requests = tuple[int, tuple[tuple[int, int], ...]]
"""The number of requests read so far; and each thread that has a response, with its request."""


class ResponsesSeen(View[Responses]):
    """Requests are numbered as their responses come."""

    history: Requests = (0, ())

    @shown
    def respond(self, before: Responses, after: Responses, thread: int) -> Iterable[Seen]:
        named, owed = self.history
        self.history = named + 1, (*owed, (thread, named))
        comes = [see("receive", channel=0, kind=Kind.READ), see("starts", request=named),
                 see("done", request=named)]
        return [*comes, *self.sent(after, thread)]

    @shown
    def enter(self, before: Responses, after: Responses, thread: int) -> Iterable[Seen]:
        return self.sent(after, thread)

    @shown
    def leave(self, before: Responses, after: Responses, thread: int) -> Iterable[Seen]:
        return self.sent(after, thread)

    def sent(self, after: Responses, thread: int) -> list[Seen]:
        """The write or drop of a thread's response, if the step ended it."""
        if after.at[thread] != At.NOWHERE:
            return []
        named, owed = self.history
        request = next(number for at, number in owed if at == thread)
        self.history = named, tuple(each for each in owed if each[0] != thread)
        if after.writable:
            return [see("writes", request=request)]
        closes = [see("closes", channel=0)] if after.closed else []
        return [see("drops", request=request), *closes]

    @shown
    def fill(self, before: Responses, after: Responses) -> Seen:
        return see("turns", channel=0)

    @shown
    def drain(self, before: Responses, after: Responses) -> Seen:
        return see("turns", channel=0)

    @shown
    def tick(self, before: Responses, after: Responses) -> Seen:
        return see("ticks")

    def follows(self, machine: Responses, action: str) -> bool:
        """False once the channel is closed: it is not observed any more."""
        return not machine.closed

    def asked(self, machine: Responses) -> Iterable[Seen]:
        """The quiescence, if no thread of the server can take a step."""
        if not machine.closed and not any(machine.is_due(thread) for thread in range(machine.H)):
            yield see("rests")


ROOM = ("self.named < self.R",)
SEEN = refines(
    Responses, ObservedBookkeeper, "each response is written or dropped by the rules",
    shows=ResponsesSeen,
    seen_by={"K": 4, "J": 4, "Q": 4, "t": "t", "R": 3}, room=ROOM, H=(1, 2), t=(0, 1, 2))

EXPECTATIONS = (
    SEEN,
    refines(Closing, ObservedBookkeeper, "a channel that takes no response in time is closed",
            shows=ResponsesSeen, seen_by={"K": 4, "J": 4, "Q": 4, "t": "t", "c": 1, "R": 3},
            room=ROOM, H=2, t=(0, 1)),
    refused(Stubborn, "BK-60", "a thread waits for a listed channel", like=SEEN, H=1, t=2),
    refused(UnfairMonitor, "BK-60", "bookkeeper#B8: a later thread at the monitor enters first",
            like=SEEN, H=3, t=1, seen_by={"R": 4}),
    refused(FromMonitor, "BK-60", "time is counted from when a thread is the first waiter",
            like=SEEN,
            H=2, t=1),
    refused(AwaitingWrites, "BK-60", "BookKeeper #3582: a response waits without a timeout",
            like=SEEN, H=1, t=1),
    refused(ListingAgain, "BK-59", "each response that is dropped lists the channel anew",
            like=SEEN, H=1, t=2),
)
