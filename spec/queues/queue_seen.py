"""The bounded queue as the observers of a queue see it, and variants that they refuse.

Theory. ``queue`` allows whatever a queue with waiting calls may do; its observers are machines,
too. An orderly queue is a bounded one, and a bounded one conserves what it holds, so an orderly
queue conserves it, too. All is seen but the instant at which a waiter is admitted or served.

The variants are what real queues have done wrong. Each is the bounded queue with one line changed,
and each is refused by the rule by which a suite finds it in an implementation.

Source: ``queue``, ``conserved``, ``dropping``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..expectations import expect
from ..notation import action, require, upto
from ..notation.views import Seen, View, see
from ..refinements import refines, refused
from .conserved import ConservingQueue
from .dropping import DroppingQueue, Policy
from .queue import BoundedQueue, OrderlyQueue

__all__ = [
    "EXPECTATIONS", "AsCustodianSeen", "DeafConsumer", "DeafProducer", "DroppingInSilence",
    "DroppingSeen", "DroppingTheOther", "GhostPut", "LosingWithTheTaker", "OneTooMany",
    "QueueSeen", "RefusingEarly",
    "SwallowingWakeUps", "YoungestFirst",
]


class QueueSeen(View[BoundedQueue]):
    """All calls, all answers, and the instants at which everything has run that can run."""

    same = (
        "offer_accepted", "offer_refused", "poll_item", "poll_empty", "sized", "put_done",
        "put_waits", "take_item", "take_waits", "woken_put", "woken_take", "cancelled_put",
        "cancelled_take", "too_late_for_put", "too_late_for_take", "settled",
    )

    def asked(self, machine: BoundedQueue) -> Iterable[Seen]:
        """Report ``settled`` if no step can happen by itself, whatever the machine says of that."""
        if not self.enabled & {"admit", "serve", "woken_put", "woken_take"}:
            yield see("settled")


class AsCustodianSeen(View[BoundedQueue]):
    """All that a custodian of items observes: neither sizes nor whether a call is late."""

    same = (
        "offer_accepted", "offer_refused", "poll_item", "poll_empty", "put_done", "put_waits",
        "take_item", "take_waits", "woken_put", "woken_take", "cancelled_put", "cancelled_take",
        "too_late_for_put",
    )


# --- one line wrong --------------------------------------------------------------------------

class OneTooMany(BoundedQueue):
    """The length is compared with > where it has to be >=."""

    @action
    def offer_accepted(self) -> None:
        """Accept it although there is no free place."""
        require(len(self.inside) <= self.C)
        self.enter(self.name_item())


class DroppingInSilence(BoundedQueue):
    """A full queue frees a slot by dropping its oldest item, and reports nothing."""

    @action
    def offer_accepted(self) -> None:
        """Always accepted: the oldest item pays for it."""
        if len(self.inside) >= self.C:
            self.inside.pop()
        self.enter(self.name_item())


class RefusingEarly(BoundedQueue):
    """An offer is refused while one place is free."""

    @action
    def offer_refused(self) -> None:
        """One place too early."""
        require(len(self.inside) + 1 >= self.C)
        self.name_item()


class YoungestFirst(BoundedQueue):
    """A stack where a queue was meant."""

    def leave(self, item: int) -> None:
        """The item at the tail leaves first."""
        require(len(self.inside) > 0 and self.inside[-1] == item)
        for _ in range(len(self.inside)):
            other = self.inside.pop()
            if other != item:
                self.inside.push(other)


class LosingWithTheTaker(BoundedQueue):
    """A take that is cancelled after it was served takes its item with it (bpo-23812)."""

    @action(ticket=upto(BoundedQueue.T))
    def cancelled_take(self, ticket: int) -> None:
        """It looks as if it had waited all the while."""
        require(ticket in self.takes or self.holds[ticket] < self.K)
        self.stop_waiting_take(ticket)
        self.holds[ticket] = self.K


class GhostPut(BoundedQueue):
    """A put that is cancelled stays in the wait queue, and its item enters later."""

    @action(item=upto(BoundedQueue.K))
    def cancelled_put(self, item: int) -> None:
        """The caller is informed of the cancellation; the wait queue keeps the put."""
        require(item in self.puts)


class DeafProducer(BoundedQueue):
    """Free room wakes no waiting put."""

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def admit(self, place: int) -> None:
        """Never: the waiting put would have to ask again."""
        require(place < 0)

    @action
    def settled(self) -> None:
        """All has run that runs of itself."""
        require(len(self.admitted) == 0 and len(self.takes) == 0)
        require(all(item == self.K for item in self.holds))


class DeafConsumer(BoundedQueue):
    """A new item wakes no waiting take."""

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def serve(self, place: int) -> None:
        """Never: the waiting take would have to ask again."""
        require(place < 0)

    @action
    def settled(self) -> None:
        """All has run that runs of itself."""
        require(len(self.admitted) == 0 and len(self.puts) == 0)


class SwallowingWakeUps(BoundedQueue):
    """A waiter that is cancelled after it was woken wakes no other (bpo-27585)."""

    @action(internal=True, fair=True, place=upto(BoundedQueue.W))
    def serve(self, place: int) -> None:
        """Not after a cancellation that leaves an item inside."""
        require(not self.take_withdrew)
        super().serve(place)

    @action
    def settled(self) -> None:
        """After a woken take was cancelled, the next one keeps waiting."""
        require(len(self.admitted) == 0 and (len(self.puts) == 0 or len(self.inside) >= self.C))
        require(all(item == self.K for item in self.holds))
        require(self.take_withdrew or len(self.takes) == 0 or len(self.inside) == 0)
        self.put_withdrew = False
        self.take_withdrew = False


class DroppingTheOther(DroppingQueue):
    """A queue that drops its oldest item where it promised to drop what arrives, and conversely."""

    def arrives(self) -> None:
        """If there is no free slot, drop the wrong item."""
        item = self.name_item()
        if self.has_room():
            self.inside.push(item)
        else:
            self.dropped += 1
            if self.policy != Policy.DROP_OLDEST:
                self.inside.pop()
                self.inside.push(item)


class DroppingSeen(View[DroppingQueue]):
    """The promise of the queue, and the calls that never wait."""

    same = ("promised", "offer_accepted", "offer_refused", "put_done", "poll_item", "poll_empty",
            "take_item")


SIZE = {"K": "K", "T": "T", "W": "W", "C": "C"}

SEEN = refines(OrderlyQueue, BoundedQueue, "an orderly queue is a bounded one", shows=QueueSeen,
               seen_by=SIZE, C=(1, 2), K=2, T=1, W=1)
CONSERVED = refines(BoundedQueue, ConservingQueue, "it loses, makes up and duplicates nothing",
                    shows=AsCustodianSeen, seen_by={"K": "K", "T": "T"}, C=(1, 2), K=3, T=1, W=1)
DROPPING = refines(DroppingQueue, DroppingQueue, "it drops what it says", shows=DroppingSeen,
                   seen_by={"C": "C", "K": "K"}, C=1, K=3)

EXPECTATIONS = (
    SEEN, CONSERVED,
    *(refused(variant, rule, about, like=SEEN, C=1, T=T, W=T)
      for variant, rule, about, T in (
        (OneTooMany, "QUEUE-1", "one item above the capacity", 1),
        (DroppingInSilence, "QUEUE-1", "a full queue drops its oldest item", 1),
        (RefusingEarly, "QUEUE-2", "an offer is refused too early", 1),
        (DeafProducer, "QUEUE-7", "room wakes no waiting put", 1),
        (DeafConsumer, "QUEUE-8", "an item wakes no waiting take", 1),
        (SwallowingWakeUps, "QUEUE-10", "a cancelled waiter keeps the wake-up", 2),
    )),
    refused(YoungestFirst, "QUEUE-3", "the youngest item leaves first", like=SEEN, C=2),
    refused(LosingWithTheTaker, "QUEUE-9", "a cancelled take loses its item", like=CONSERVED, C=1),
    refused(DroppingTheOther, "QUEUE-17", "the other item is dropped", like=DROPPING),
    refused(GhostPut, "QUEUE-9", "a cancelled put arrives all the same", like=CONSERVED, C=1),
    expect(OneTooMany, "QUEUE-13", "violated", "one item above the capacity", C=1),
    expect(DeafProducer, "QUEUE-15", "violated", "room wakes no waiting put", C=1),
)
