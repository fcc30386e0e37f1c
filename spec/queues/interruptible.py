"""A queue whose waiting calls are told to stop, and learn it later.

Theory. With coroutines a cancellation has two instants. Somebody asks a call that waits to stop;
when it runs again it finds out, and has either completed by then or is undone. In between it is
still in line, and nobody knows how it will end: the queue may serve it, for then it is too late to
stop, or pass it over, for it is about to leave. What ``bounded`` says of capacity, order and
cancelling holds as it stands, if the second instant is taken for the cancellation. Only whose turn
it is depends on the first: who was told to stop need not be waited for, and has not lost its turn
either.

Source: asyncio's documentation of ``Task.cancel``; libraries#trio-channels (of a queue with an
order). A queue that looks for a waiter without a cancellation under way: anyio.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import action, require, subset, upto
from ..refinements import refines
from .bounded import BoundedQueue, OrderlyQueue
from .bounded_seen import QueueSeen
from .rules import IN_TURN

__all__ = ["EXPECTATIONS", "InLineSeen", "InterruptibleQueue", "InterruptibleSeen"]


class InterruptibleQueue(BoundedQueue):
    """A queue that serves in turn, where a turn passes by who was told to stop."""

    stopping_puts = subset(upto(BoundedQueue.K))    # items whose puts were told to stop
    stopping_takes = subset(upto(BoundedQueue.T))   # takes that were told to stop

    @action(item=upto(BoundedQueue.K))
    def stops_put(self, item: int) -> None:
        """The put of an item that waits is told to stop; or its item is in already."""
        require(item < self.named)
        self.stopping_puts.add(item)

    @action(ticket=upto(BoundedQueue.T))
    def stops_take(self, ticket: int) -> None:
        """A take that waits is told to stop; or it has its item already."""
        require(ticket < self.asked)
        self.stopping_takes.add(ticket)

    @action
    def put_done(self) -> None:
        """A put does not overtake one that waits to go on."""
        require(all(item in self.stopping_puts for item in self.puts), IN_TURN)
        super().put_done()

    @action(item=upto(BoundedQueue.K))
    def take_item(self, item: int) -> None:
        """A take does not overtake one that waits to go on."""
        require(all(ticket in self.stopping_takes for ticket in self.takes), IN_TURN)
        super().take_item(item)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def admit(self, place: int) -> None:
        """Whoever stands before who is admitted was told to stop."""
        require(place < len(self.puts))
        require(all(self.puts[before] in self.stopping_puts or before >= place
                    for before in range(len(self.puts))), IN_TURN)
        super().admit(place)

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def serve(self, place: int) -> None:
        """Whoever stands before who is served was told to stop."""
        require(place < len(self.takes))
        require(all(self.takes[before] in self.stopping_takes or before >= place
                    for before in range(len(self.takes))), IN_TURN)
        super().serve(place)


class InterruptibleSeen(QueueSeen):
    """What the observer of a queue is told, who does not hear of a call that was told to stop."""


class InLineSeen(QueueSeen):
    """The same of an orderly queue; runs in which a thread was stopped on its way to the line are
    left out, for this observer asks for an order in all of them."""

    def follows(self, machine: BoundedQueue, action: str) -> bool:
        """Not behind such a stop."""
        return action != "stopped_on_its_way"


EXPECTATIONS = (
    expect(InterruptibleQueue, "QUEUE-13", "holds",
           "a queue whose calls are told to stop never holds more than its capacity",
           C=(1, 2), K=2, T=2, W=2),
    expect(InterruptibleQueue, "QUEUE-14", "holds",
           "no item is in two places, told to stop or not", C=(1, 2), K=2, T=2, W=2),
    expect(InterruptibleQueue, "QUEUE-15", "holds",
           "in turn, everyone who waits is served, told to stop or not", C=(1, 2), K=2, T=2, W=2),
    refines(OrderlyQueue, InterruptibleQueue, "in an orderly queue nobody is told to stop",
            shows=InLineSeen, seen_by={"K": "K", "T": "T", "W": "W", "C": "C"}, C=(1, 2), K=2, T=1,
            W=1),
    refines(InterruptibleQueue, BoundedQueue, "whoever is told to stop, it is a bounded queue",
            shows=InterruptibleSeen, seen_by={"K": "K", "T": "T", "W": "W", "C": "C"}, C=1, K=2,
            T=1, W=1),
)
