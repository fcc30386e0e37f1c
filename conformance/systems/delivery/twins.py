"""Brokers with one seeded bug each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ....reference.flow.broker import Broker, Letter
from ...suites.twin import Twins
from ....spec.flow.broker_seen import EXPECTATIONS
from .mechanism import BrokerOfTheBook, UnlimitedTries
from .adapter import DroppingHead, DroppingTail, ReferenceBroker

__all__ = ["TWINS"]

TWINS: Final = Twins("delivery", ReferenceBroker, ("reference.delivery",))

_HEAD: Final = {"of": DroppingHead, "originals": ("reference.delivery.drop-head",)}
_TAIL: Final = {"of": DroppingTail, "originals": ("reference.delivery.drop-tail",)}


# ---- what is published ------------------------------------------------------------------------

@TWINS.twin(
    "delivery-one-place-more", "DELIV-2", "a queue is full one message too late",
    "> in the place of >=")
class OnePlaceMore(Broker):
    """A message is confirmed for which there is no place."""

    def publish(self, message: Hashable) -> bool:
        if len(self._ready) == self.places:
            self._ready.append(Letter(message, self._published))
            self._published += 1
            return True
        return super().publish(message)


@TWINS.twin(
    "delivery-drops-newest-ready", "DELIV-18", "a full queue drops its newest ready message",
    "the wrong end of the queue", **_HEAD)
class DroppingNewestReady(Broker):
    """The head stays, though the head is to be dropped."""

    def _drop(self, many: int) -> None:
        for _ in range(many):
            self._ready.pop()


@TWINS.twin(
    "delivery-drops-in-flight", "DELIV-10", "a full queue drops the oldest message, also in flight",
    "redis #6199, #5570: MAXLEN trims entries that are pending", **_HEAD)
class DroppingInFlight(Broker):
    """The oldest of all is cut off; its consumer still has it, and its requeue brings nothing
    back."""

    def _drop(self, many: int) -> None:
        super()._drop(many)
        if self._flying:
            self._flying.popitem(last=False)

    def requeue(self, consumer: Hashable, message: Hashable) -> bool:
        super().requeue(consumer, message)
        return True

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        super().ack(consumer, message)
        return True


@TWINS.twin(
    "delivery-keeps-what-it-drops", "DELIV-18", "a message that is dropped at the tail comes later",
    "a full queue whose overflow is put aside, and not thrown away", **_TAIL)
class KeepingDropped(Broker):
    """A full queue of this kind is unbounded."""

    def publish(self, message: Hashable) -> bool:
        if len(self._ready) >= self.places:
            self._ready.append(Letter(message, self._published))
            self._published += 1
            return True
        return super().publish(message)


@TWINS.twin(
    "delivery-keeps-what-it-refuses", "DELIV-18", "a message that is refused is stored all the "
    "same",
    "the nack is sent after the message was written")
class KeepingRefused(Broker):
    """A producer that tries again has published twice."""

    def publish(self, message: Hashable) -> bool:
        taken = super().publish(message)
        if not taken:
            self._ready.append(Letter(message, self._published))
            self._published += 1
        return taken


# ---- what is given ------------------------------------------------------------------------------

@TWINS.twin(
    "delivery-one-limit-for-all", "DELIV-3", "the limit of a consumer counts what all have in "
    "flight",
    "AMQP 0-9-1: prefetch is counted for a channel, and not for a consumer")
class OneLimitForAll(Broker):
    """A slow consumer takes all places of the others."""

    def _may_have(self, consumer: Hashable) -> bool:
        most = self._limits.get(consumer, 0)
        return not most or len(self._flying) < most


@TWINS.twin(
    "delivery-limit-forgets-acks", "DELIV-3", "an ack frees no place of its consumer's limit",
    "NATS #4112: more is counted as in flight than is, and nothing is sent")
class ForgettingAcks(Broker):
    """A consumer that works as it should is given nothing more after a while."""

    def _may_have(self, consumer: Hashable) -> bool:
        self._had = getattr(self, "_had", {})
        most = self._limits.get(consumer, 0)
        return not most or self._had.get(consumer, 0) < most

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is not None:
            self._may_have(consumer)
            self._had[consumer] = self._had.get(consumer, 0) + 1
        return letter

    def limit(self, consumer: Hashable, most: int) -> None:
        super().limit(consumer, most)
        self._had = {consumer: sum(each.consumer == consumer for each in self._flying.values())}


@TWINS.twin(
    "delivery-limit-is-late", "DELIV-8", "a limit is kept one message too late",
    "NATS #4112: more in flight than MaxAckPending")
class LateLimit(Broker):
    """A consumer that has as many as it may is given one more."""

    def _may_have(self, consumer: Hashable) -> bool:
        most = self._limits.get(consumer, 0)
        return not most or sum(
            each.consumer == consumer for each in self._flying.values()) <= most


@TWINS.twin(
    "delivery-again-without-limit", "DELIV-8", "what comes again is given beyond the limit",
    "STAN #85: what is sent again passes the limit, so that a consumer does not "
    "stall")
class AgainWithoutLimit(Broker):
    """The limit is on what is given for the first time."""

    def _may_have(self, consumer: Hashable) -> bool:
        return self._ready[0].deliveries > 0 or super()._may_have(consumer)


@TWINS.twin(
    "delivery-again-first-come", "DELIV-10", "what comes back last is given first",
    "a message that is given back is put to the head, whatever waits there")
class AgainInFront(Broker):
    """Two messages that come back have changed their order."""

    def _place(self, letter: Letter) -> None:
        self._ready.appendleft(letter)


@TWINS.twin(
    "delivery-second-first", "DELIV-9", "of two messages that wait, the second "
    "goes first if none was given yet", "a heap whose keys are equal for all new messages")
class SecondFirst(Broker):
    """Only messages that were never given change their order."""

    def receive(self, consumer: Hashable) -> Letter | None:
        if len(self._ready) == 2 and not any(each.deliveries for each in self._ready):
            self._ready.rotate(1)
        return super().receive(consumer)


@TWINS.twin(
    "delivery-gives-twice", "DELIV-7", "a consumer that asks again is given what another has",
    "a job that two workers have: the reservation is a look, and then a mark")
class GivingTwice(Broker):
    """An idle consumer steals the last message in flight."""

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is None and len(self._flying) == 1 and self._may_have(consumer):
            return next(iter(self._flying.values()))
        return letter


@TWINS.twin(
    "delivery-comes-early", "DELIV-7", "what is in flight comes back a tick early",
    "a timeout that is counted from the tick before")
class ComingEarly(Broker):
    """A message that was given in this tick has one tick less than it should."""

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is not None:
            letter.due -= 1
        return letter


# ---- what comes back ----------------------------------------------------------------------------

@TWINS.twin(
    "delivery-times-out-once", "DELIV-4", "a message that comes back stays with its next consumer",
    "a timer that is set for the first delivery only")
class TimingOutOnce(Broker):
    """The timer of a delivery is that of the message, and has run."""

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is not None and letter.deliveries > 1:
            letter.due = 2**60
        return letter


@TWINS.twin(
    "delivery-keeps-for-the-lost", "DELIV-4", "a lost connection gives back one message only",
    "the list of a connection's messages is changed while it is walked")
class KeepingForTheLost(Broker):
    """The others come back with their timeout."""

    def disconnect(self, consumer: Hashable) -> None:
        self._limits.pop(consumer, None)
        self._return_all([each for each in self._flying.values()
                          if each.consumer == consumer][:1])


@TWINS.twin(
    "delivery-counts-again-as-in-flight", "DELIV-4", "a message that comes back keeps its place "
    "in the limit", "NATS #6093: what is to be sent again is still pending")
class CountingAgain(Broker):
    """A consumer is given none of its messages again that timed out."""

    def _may_have(self, consumer: Hashable) -> bool:
        most = self._limits.get(consumer, 0)
        return not most or sum(each.consumer == consumer for each in (
            *self._flying.values(), *self._ready)) < most


# ---- what consumers answer ----------------------------------------------------------------------

@TWINS.twin(
    "delivery-acks-first-only", "DELIV-11", "the ack of a second delivery is ignored",
    "an ack is looked up by the number of the first delivery")
class AckingFirstOnly(Broker):
    """A message that has come again comes again forever."""

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        letter = self._flying.get(message)
        return (letter is None or letter.deliveries < 2) and super().ack(consumer, message)


@TWINS.twin(
    "delivery-acked-comes-again", "DELIV-6", "an ack after a timeout is confirmed, and not heeded",
    "SQS: a delete by an old receipt is answered as done, and the message may come again")
class AckedComingAgain(Broker):
    """The consumer believes that the message is over."""

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        there = message in self._flying or any(
            each.message == message and each.deliveries for each in self._ready)
        return super().ack(consumer, message) or there


@TWINS.twin(
    "delivery-late-ack-of-another", "DELIV-3", "a late ack ends the message that is next",
    "RabbitMQ #4305: late acks of a consumer end other messages; delivery tags that are "
    "used anew")
class LateAckOfAnother(Broker):
    """An ack of what is not in flight counts for the head of the queue."""

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        taken = super().ack(consumer, message)
        if not taken and self._ready:
            self._ready.popleft()
        return taken


@TWINS.twin(
    "delivery-acks-twice", "DELIV-12", "an ack of what is over is taken",
    "no record of what is over: any ack is answered as done")
class AckingWhatIsOver(Broker):
    """A consumer cannot know whether it was the one."""

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        return super().ack(consumer, message) or self._find(message) is None


@TWINS.twin(
    "delivery-late-reject", "DELIV-13", "a late reject kills a message that another consumer has",
    "a receipt that names the message, and not the delivery")
class LateReject(Broker):
    """The next consumer's ack comes too late then."""

    def reject(self, consumer: Hashable, message: Hashable) -> bool:
        letter = self._flying.get(message)
        return letter is not None and super().reject(letter.consumer, message)


# ---- dead letters -------------------------------------------------------------------------------

@TWINS.twin(
    "delivery-dies-early", "DELIV-14", "a message is dead one delivery early",
    "the count is looked at before it is raised, or after; the limit is on redeliveries")
class DyingEarly(Broker):
    """Of three tries there are two; a limit of one is kept."""

    def _return(self, letter: Letter) -> None:
        if self._tries > 1 and letter.deliveries == self._tries - 1:
            self._dead.append(letter)
            return
        super()._return(letter)


@TWINS.twin(
    "delivery-shows-the-living", "DELIV-14", "the oldest ready message is shown as a dead letter",
    "the dead letters of a queue are looked for in the queue itself, as where one topic has both")
class ShowingTheLiving(Broker):
    """It stays ready as well; where there is a dead letter, that one is shown."""

    def bury(self) -> Letter | None:
        return super().bury() or (self._ready[0] if self._ready else None)


@TWINS.twin(
    "delivery-dies-late", "DELIV-16", "a message is dead one delivery late",
    "RabbitMQ #1805, LavinMQ #975: deliveries are taken for redeliveries")
class DyingLate(Broker):
    """Of two tries there are three."""

    def _return(self, letter: Letter) -> None:
        if self._tries and letter.deliveries == self._tries:
            self._place(letter)
            return
        super()._return(letter)


@TWINS.twin(
    "delivery-nobody-buries", "DELIV-15", "what was given too often is thrown away",
    "JetStream: after MaxDeliver an advisory is sent, and there is no queue of dead letters")
class BuryingNothing(Broker):
    """Only what a consumer rejects is found."""

    def _return(self, letter: Letter) -> None:
        if not self._tries or letter.deliveries < self._tries:
            super()._return(letter)


@TWINS.twin(
    "delivery-rejects-into-nothing", "DELIV-15", "what a consumer rejects is thrown away",
    "RabbitMQ: a queue without a dead-letter exchange")
class RejectingIntoNothing(Broker):
    """Only what was given too often is found."""

    def reject(self, consumer: Hashable, message: Hashable) -> bool:
        return self._landed(consumer, message) is not None


@TWINS.twin(
    "delivery-dead-and-alive", "DELIV-16", "a rejected message comes back, too",
    "the copy to the dead letters is made, and the message is not removed")
class DeadAndAlive(Broker):
    """The poison stays in the queue."""

    def reject(self, consumer: Hashable, message: Hashable) -> bool:
        taken = super().reject(consumer, message)
        if taken:
            self._place(self._dead[-1])
        return taken


# ---- counts --------------------------------------------------------------------------------------

@TWINS.twin(
    "delivery-counts-no-lost-connection", "DELIV-17", "a delivery that ends with its connection "
    "is not counted", "a message that kills its consumers is never dead, for no delivery of it "
    "counts")
class CountingNoLostConnection(Broker):
    """Only timeouts and requeues count."""

    def disconnect(self, consumer: Hashable) -> None:
        for each in self._flying.values():
            each.deliveries -= each.consumer == consumer
        super().disconnect(consumer)


@TWINS.twin(
    "delivery-counts-again-only", "DELIV-17", "the first delivery is not counted",
    "RabbitMQ #1805, LavinMQ #975: redeliveries are counted where deliveries are meant")
class CountingRedeliveries(Broker):
    """The count is one too low."""

    def count(self, message: Hashable) -> int | None:
        count = super().count(message)
        return count and count - 1


# ---- restarts ------------------------------------------------------------------------------------

@TWINS.twin(
    "delivery-not-durable", "DELIV-5", "a restart loses what is ready",
    "a durable queue with messages that are not persistent; fsync after the confirm")
class NotDurable(Broker):
    """Confirmed messages were in memory only."""

    def restart(self) -> None:
        self._ready.clear()
        super().restart()


@TWINS.twin(
    "delivery-restart-loses-what-is-in-flight", "DELIV-5", "a restart loses what is in flight",
    "what is given is taken from the disk at once, and not when it is acknowledged")
class LosingInFlight(Broker):
    """At most once, for those that were given."""

    def restart(self) -> None:
        self._flying.clear()
        super().restart()


@TWINS.twin(
    "delivery-restart-brings-back", "DELIV-6", "a restart brings back what was acknowledged last",
    "acks are written to the disk with a delay, and their answers are not")
class BringingBack(Broker):
    """The last ack is lost with the process."""

    def ack(self, consumer: Hashable, message: Hashable) -> bool:
        letter = self._flying.get(message)
        taken = super().ack(consumer, message)
        if taken:
            self._last = letter
        return taken

    def restart(self) -> None:
        super().restart()
        letter = getattr(self, "_last", None)
        if letter is not None and self._find(letter.message) is None:
            self._place(letter)


# ---- what shows late, and in long queues ---------------------------------------------------------

TWINS.late("delivery-comes-early", 40, 300)
TWINS.stacks("delivery-", "DELIV-9", "messages", Broker, "receive", lambda self: self._ready)


# ---- bugs that depend on names and amounts -------------------------------------------------------

@TWINS.twin(
    "delivery-loses-what-is-false", "DELIV-3", "a message whose name is false, such as 0, is lost",
    "`if not message` where `if message is None` was meant")
class LosingWhatIsFalse(Broker):
    """It is confirmed nevertheless."""

    def publish(self, message: Hashable) -> bool:
        return super().publish(message) if message else True


@TWINS.twin(
    "delivery-cuts-names", "DELIV-6", "the name of a message is cut to eight characters",
    "a column of fixed width")
class CuttingNames(Broker):
    """A message comes out as another."""

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is None or not isinstance(letter.message, str):
            return letter
        return Letter(letter.message[:8], letter.place)


@TWINS.twin(
    "delivery-ignores-case", "DELIV-6", "the letters of a message become small ones",
    "a header whose names are made small, as those of HTTP are, in the place of a body")
class IgnoringCase(Broker):
    """A message comes out as another."""

    def receive(self, consumer: Hashable) -> Letter | None:
        letter = super().receive(consumer)
        if letter is None or not isinstance(letter.message, str):
            return letter
        return Letter(letter.message.lower(), letter.place)


@TWINS.twin(
    "delivery-limit-in-16-bits", "DELIV-3", "a consumer with a limit of 65,536 is given nothing",
    "AMQP 0-9-1: prefetch-count is a number of 16 bits")
class LimitIn16Bits(Broker):
    """A large limit is one of nothing at all."""

    def _may_have(self, consumer: Hashable) -> bool:
        most = self._limits.get(consumer, 0)
        return not (most and most % 2**16 == 0) and super()._may_have(consumer)


@TWINS.twin(
    "delivery-time-in-16-bits", "DELIV-4", "after a pause of 2^16 ticks no time has passed",
    "beanstalkd #72: the time that is left in a number that is too small")
class TimeIn16Bits(Broker):
    """A message in flight stays there."""

    def advance(self, ticks: int) -> None:
        if ticks % 2**16:
            super().advance(ticks % 2**16)


# ---- variants of the chapter ------------------------------------------------------------------

TWINS.variants(
    EXPECTATIONS, BrokerOfTheBook, of=UnlimitedTries, known={
        "CountingInFlight": (
            "delivery-counts-what-is-in-flight",
            "the opposite of RabbitMQ #2313: a limit on all messages, where one on ready ones is "
            "meant"),
        "PuttingBehind": (
            "delivery-again-behind",
            "pika #1153: a message that is given back is seen behind later ones"),
        "WithoutTimeouts": (
            "delivery-never-times-out",
            "beanstalkd #262, #380: a reserved job whose time is over stays reserved"),
        "TakingNacksOfOthers": (
            "delivery-late-requeue",
            "a receipt that names the message, and not the delivery"),
        "CountingInMemory": (
            "delivery-count-starts-anew", "counts in memory, messages on the disk"),
    }, apart=("TryingOnceMore", "DroppingDeadLetters"))
