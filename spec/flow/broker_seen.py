"""A broker with its log, as its clients see it.

Theory. All calls of ``broker`` and their answers are seen, and time, lost connections and kills.
The observer knows neither the log nor the windows' counts: it finds them wrong by what a consumer
is given, or not given, after a kill or a lost connection. It also accepts brokers that give back at
a restart nothing before its time, or the newest messages alone; this one gives back all at once.

Source: ``broker``, ``observed_delivery``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation import action
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .broker import (
    AckingBeforeWriting, Broker, ConfirmingBeforeWriting, CountingInMemory, FillingTheWindow,
    GivingFirst, Kept, KeepingTheHolder, PuttingBehind, TryingOnceMore, WithoutTimeouts,
)
from .observed_delivery import Law, ObservedDelivery

__all__ = [
    "BrokerSeen", "CountingInFlight", "DroppingDeadLetters", "EXPECTATIONS", "ForgettingTheLost",
    "TakingNacksOfOthers",
]


class BrokerSeen(View[Broker]):
    """All calls and answers; clients, clocks and kills are the harness's."""

    around = ("kill", "kills", "set_window", "published")

    def begins(self, machine: Broker) -> Iterable[Seen]:
        """The limit of deliveries is set first."""
        return [see("allows", most=machine.N)]

    @shown
    def publish(self, before: Broker, after: Broker) -> Seen:
        message = before.published
        taken = message in after.line or before.P == Law.DROP_TAIL
        return see("confirms" if taken else "refuses", message=message, law=before.P)

    @shown
    def set_window(self, before: Broker, after: Broker, consumer: int, most: int) -> Seen:
        return see("limits", consumer=consumer, most=most)

    @shown
    def ask(self, before: Broker, after: Broker, consumer: int) -> Seen:
        for message in range(before.R):
            if before.times[message] != after.times[message]:
                return see("gives", consumer=consumer, message=message, law=before.P)
        return see("gives_nothing", consumer=consumer)

    @shown
    def ack(self, before: Broker, after: Broker, consumer: int, message: int) -> Seen:
        gone = self.moved(before, after, message)
        return see("acks", consumer=consumer, message=message, taken=int(gone))

    @shown
    def requeue(self, before: Broker, after: Broker, consumer: int, message: int) -> Seen:
        gone = self.moved(before, after, message)
        return see("requeues", consumer=consumer, message=message, taken=int(gone))

    @shown
    def reject(self, before: Broker, after: Broker, consumer: int, message: int) -> Seen:
        gone = self.moved(before, after, message)
        return see("rejects", consumer=consumer, message=message, taken=int(gone))

    def moved(self, before: Broker, after: Broker, message: int) -> bool:
        """True if the broker took an answer: the message is not where it was."""
        return before.holder[message] != after.holder[message] or (
            message in before.line) != (message in after.line)

    @shown
    def lose(self, before: Broker, after: Broker, consumer: int) -> Seen:
        return see("disconnects", consumer=consumer)

    @shown
    def tick(self, before: Broker, after: Broker) -> Seen:
        return see("advances", ticks=1)

    @shown
    def kill(self, before: Broker, after: Broker) -> Seen:
        return see("restarts")

    @shown
    def dig(self, before: Broker, after: Broker, message: int) -> Seen:
        return see("buries", message=message)

    def asked(self, machine: Broker) -> Iterable[Seen | Sequence[Seen]]:
        """Report how often each message was given, and that there is no dead letter."""
        for message in range(machine.R):
            if message in machine.line or message in machine.dead or (
                    machine.holder[message] < machine.W):
                yield see("counts", message=message, count=machine.times[message])
            else:
                yield see("counts_nothing", message=message)
        if not machine.dead:
            yield see("buries_nothing")


# --- what shows only outside -----------------------------------------------------------------

class TakingNacksOfOthers(Broker):
    """A requeue or a reject is looked up by its message alone."""

    def may_return(self, consumer: int, message: int) -> bool:
        """True for a message that is in flight with any consumer."""
        return self.holder[message] < self.W


class CountingInFlight(Broker):
    """A queue with all its messages in flight is full (the opposite of RabbitMQ #2313)."""

    def is_full(self) -> bool:
        """True if as many messages are in the log as there are places."""
        return (self.P != Law.UNBOUNDED and self.P != Law.ANY_ORDER
                and sum(each == Kept.STORED for each in self.kept) >= self.K)


class DroppingDeadLetters(Broker):
    """A message that would be a dead letter is erased."""

    def buries(self, message: int) -> None:
        """There is nowhere to put it."""
        self.kept[message] = Kept.NOTHING


class ForgettingTheLost(Broker):
    """The messages of a lost connection are with no consumer, and never come back."""

    @action(consumer=Broker.Consumer)
    def lose(self, consumer: int) -> None:
        """The window and its messages are forgotten."""
        self.window[consumer] = 0
        for each in range(self.R):
            if self.has(consumer, each):
                self.frees(each)


SEEN = refines(Broker, ObservedDelivery, "what is promised outlives the broker", shows=BrokerSeen,
               seen_by={"K": "K", "W": "W", "R": "R", "T": "T", "D": "D"}, K=1, W=1, R=2, T=1,
               N=(0, 1), P=(0, 1, 2, 3, 4), A=0)

EXPECTATIONS = (
    SEEN,
    refines(Broker, ObservedDelivery, "two consumers see promises that outlive the broker",
            shows=BrokerSeen, seen_by=dict(SEEN.seen_by), K=1, W=2, R=2, T=1, N=2, P=0,
            A=(0, 1)),
    refused(ConfirmingBeforeWriting, "DELIV-5", "a kill loses what was confirmed", like=SEEN, R=1,
            N=0, P=0, A=0),
    refused(AckingBeforeWriting, "DELIV-6", "a kill brings back what was acknowledged", like=SEEN,
            R=1, N=0, P=0, A=0),
    refused(CountingInMemory, "DELIV-17", "a kill forgets deliveries", like=SEEN, R=1, N=0, P=0,
            A=0),
    refused(FillingTheWindow, "DELIV-4", "a window is full of messages that are not there",
            like=SEEN, R=1, N=0, P=0, A=0),
    refused(KeepingTheHolder, "DELIV-13", "a late nack of what is ready is taken", like=SEEN, R=1,
            N=0, P=0, A=0),
    refused(PuttingBehind, "DELIV-10", "what comes back is last", like=SEEN, N=0, P=3, A=0),
    refused(TryingOnceMore, "DELIV-15", "one delivery too many", like=SEEN, R=1, N=1, P=0, A=0),
    refused(GivingFirst, "DELIV-8", "a window that is exceeded", like=SEEN, N=0, P=3, A=0),
    refused(WithoutTimeouts, "DELIV-4", "a consumer that never answers keeps its message",
            like=SEEN, R=1, N=0, P=0, A=0),
    refused(TakingNacksOfOthers, "DELIV-13", "a late nack takes the message from another consumer",
            like=SEEN, W=2, R=1, N=0, P=0, A=0),
    refused(CountingInFlight, "DELIV-1", "a message is refused beside free places", like=SEEN, N=0,
            P=0, A=0),
    refused(DroppingDeadLetters, "DELIV-17", "a dead letter that is nowhere", like=SEEN, R=1, N=1,
            P=0, A=0),
    refused(ForgettingTheLost, "DELIV-4", "a lost connection loses its messages", like=SEEN, R=1,
            N=0, P=0, A=0),
)
