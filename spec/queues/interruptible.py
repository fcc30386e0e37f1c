"""A queue with waiting calls that are asked to cancel, and learn it later.

Theory. With coroutines a cancellation has two instants. Some caller requests it for a call that
waits; when that call runs again it finds out, and has either completed by then or is undone. In
between it is still in the wait queue, and its end is open: the queue may serve it, for then it is
too late to cancel, or pass it over, for it is about to leave. What ``queue`` says of capacity,
order and cancelling holds as it stands, if the second instant is taken for the cancellation. Only
the order of service depends on the first: a call that was asked to cancel may be passed
over, and has not lost its turn either.

Source: asyncio's documentation of ``Task.cancel``; libraries#trio-channels (of a queue with an
order). A queue that looks for a waiter without a cancellation under way: anyio.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import action, require, subset, upto
from ..refinements import refines
from .queue import IN_TURN, BoundedQueue, OrderlyQueue
from .queue_seen import QueueSeen

__all__ = ["EXPECTATIONS", "InLineSeen", "InterruptibleQueue", "InterruptibleSeen"]


class InterruptibleQueue(BoundedQueue):
    """A queue that serves in turn and may pass over calls whose cancellation was requested."""

    stopping_puts = subset(upto(BoundedQueue.K))    # items of puts that were asked to cancel
    stopping_takes = subset(upto(BoundedQueue.T))   # takes that were asked to cancel

    @action(item=upto(BoundedQueue.K))
    def stops_put(self, item: int) -> None:
        """Request the cancellation of an item's put; it waits, or its item is in already."""
        require(item < self.named)
        self.stopping_puts.add(item)

    @action(ticket=upto(BoundedQueue.T))
    def stops_take(self, ticket: int) -> None:
        """Request the cancellation of a take; it waits, or it has its item already."""
        require(ticket < self.asked)
        self.stopping_takes.add(ticket)

    @action
    def put_done(self) -> None:
        """A put does not overtake a waiting put whose cancellation was not requested."""
        require(all(item in self.stopping_puts for item in self.puts), IN_TURN)
        super().put_done()

    @action(item=upto(BoundedQueue.K))
    def take_item(self, item: int) -> None:
        """A take does not overtake a waiting take whose cancellation was not requested."""
        require(all(ticket in self.stopping_takes for ticket in self.takes), IN_TURN)
        super().take_item(item)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def admit(self, place: int) -> None:
        """A put is admitted after all before it but those whose cancellation was requested."""
        require(place < len(self.puts))
        require(all(self.puts[before] in self.stopping_puts or before >= place
                    for before in range(len(self.puts))), IN_TURN)
        super().admit(place)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def serve(self, place: int) -> None:
        """A take is served after all before it but those whose cancellation was requested."""
        require(place < len(self.takes))
        require(all(self.takes[before] in self.stopping_takes or before >= place
                    for before in range(len(self.takes))), IN_TURN)
        super().serve(place)


class InterruptibleSeen(QueueSeen):
    """All that the observer of a queue sees, without the requests to cancel."""


class InLineSeen(QueueSeen):
    """The same of an orderly queue; runs in which a thread was stopped on its way to the wait queue
    are left out, for this observer requires an order in all of them.
    """

    def follows(self, machine: BoundedQueue, action: str) -> bool:
        """True for every action but such a stop."""
        return action != "stopped_on_its_way"


EXPECTATIONS = (
    expect(InterruptibleQueue, "QUEUE-13", "holds",
           "cancellation requests never make a queue exceed its capacity",
           C=(1, 2), K=2, T=2, W=2),
    expect(InterruptibleQueue, "QUEUE-14", "holds",
           "no item is in two places, with or without cancellation requests", C=(1, 2), K=2, T=2,
           W=2),
    expect(InterruptibleQueue, "QUEUE-15", "holds",
           "in turn, room does not stay unused beside a put, with or without cancellation requests",
           C=(1, 2), K=2, T=2, W=2),
    refines(OrderlyQueue, InterruptibleQueue,
            "an orderly queue is one in which no cancellation is requested", shows=InLineSeen,
            seen_by={"K": "K", "T": "T", "W": "W", "C": "C"}, C=(1, 2), K=2, T=1, W=1),
    refines(InterruptibleQueue, BoundedQueue,
            "with cancellation requests, too, it is a bounded queue", shows=InterruptibleSeen,
            seen_by={"K": "K", "T": "T", "W": "W", "C": "C"}, C=1, K=2, T=1, W=1),
)
