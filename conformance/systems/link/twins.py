"""Links with one seeded bug each, at one of their ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ....reference.flow.link import LinkReceiver, LinkSender
from ....spec.flow import frames_seen, shares_seen
from ...suites.twin import Twins
from .adapter import ReferenceLink
from .mechanism import (
    AllSenders, BatchesOfTheBook, OneOfSeveral, SendersOfTheBook, SingleCredits, StageOfTheBook,
)

__all__ = ["TWINS"]

Sender = LinkSender[int]
Receiver = LinkReceiver[int]


def _end(bug: type[Any]) -> dict[str, Any]:
    """The end of the link that a class with a bug replaces."""
    is_sender = issubclass(bug, LinkSender | SendersOfTheBook)
    return {"sender" if is_sender else "receiver": bug}


TWINS: Final = Twins("link", ReferenceLink, ("reference.link",), _end)
TWINS.variants(frames_seen.EXPECTATIONS, StageOfTheBook, of=SingleCredits, apart=("KeepingAPlace",))
TWINS.variants(frames_seen.EXPECTATIONS, BatchesOfTheBook)
TWINS.variants(shares_seen.EXPECTATIONS, OneOfSeveral, of=SingleCredits)
TWINS.variants(shares_seen.EXPECTATIONS, AllSenders, of=SingleCredits, apart=("Unknown",))
TWINS.variants(shares_seen.EXPECTATIONS, SendersOfTheBook, apart=("Forgetting",))


# ---- the sender -----------------------------------------------------------------------------


@TWINS.twin(
    "link-overdraws", "FLOW-6", "A sends one element more than it has credits",
    ">= 0 in the place of > 0")
class SendingPastItsCredits(Sender):
    """The test for a credit lets the last one be spent twice."""

    def _may_send(self) -> bool:
        return self._permits >= 0


@TWINS.twin(
    "link-spends-nothing", "FLOW-6", "A looks for a credit and does not spend it",
    "a check without the decrement")
class Unspent(Sender):
    """A credit, once there, is good for any number of elements."""

    def _spend(self) -> None:
        """Nothing is subtracted: the credit stays for the next element."""


@TWINS.twin(
    "link-counts-a-permit-twice", "FLOW-6", "A adds the credits that come twice",
    "one WINDOW_UPDATE applied to the window by two handlers")
class CountingTwice(Sender):
    """Each credit that comes is counted twice."""

    def _take_in(self, count: int) -> None:
        self._permits += 2 * count


@TWINS.twin(
    "link-takes-a-batch-for-one", "FLOW-8", "A counts a message with several credits as one",
    "request(n) taken for request(1)")
class CountingMessages(Sender):
    """Credits are counted by message."""

    def _take_in(self, count: int) -> None:
        self._permits += 1


@TWINS.twin(
    "link-forgets-permits", "FLOW-8", "credits that come while A has nothing to send are lost",
    "demand kept only while there is an element for it")
class ForgettingPermits(Sender):
    """An idle sender throws away the credits that come."""

    def _take_in(self, count: int) -> None:
        if self._waiting:
            super()._take_in(count)


@TWINS.twin(
    "link-filters", "FLOW-8", "A takes a credit for every third element and sends nothing for it",
    "a filter behind the credit: the demand of a dropped element is not given back")
class Filtering(Sender):
    """Every third credit that is spent is wasted."""

    def _spend(self) -> None:
        self._spent = getattr(self, "_spent", 0) + 1
        self._permits = max(0, self._permits - (2 if self._spent % 3 == 0 else 1))


@TWINS.twin(
    "link-sleeps-on-permits", "FLOW-8", "credits wake A only with the next offer",
    "a credit that causes no wake-up: a lost wake-up")
class SleepingOnPermits(Sender):
    """The waiting elements are sent when the application comes again."""

    def permit(self, count: int) -> list[int]:
        self._take_in(count)
        return []


@TWINS.twin(
    "link-newest-first", "FLOW-10", "A sends the newest of the elements that wait",
    "a stack in the place of a queue")
class NewestElementFirst(Sender):
    """The waiting elements form a stack."""

    def _send(self) -> list[int]:
        self._waiting.reverse()
        sent = super()._send()
        self._waiting.reverse()
        return sent


@TWINS.twin("link-sends-again", "FLOW-10",
            "A peeks at a waiting element, and sends it again with the next credit",
            "peek without poll")
class SendingAgain(Sender):
    """The last element that a credit released stays in the queue."""

    def permit(self, count: int) -> list[int]:
        sent = super().permit(count)
        self._waiting.extendleft(sent[-1:])
        return sent


@TWINS.twin("link-drops-without-permit", "FLOW-8",
            "A forgets elements that it is offered while it has no credit",
            "an offer that is refused, and taken for done")
class DroppingWithoutPermit(Sender):
    """An element that cannot be sent at once is dropped."""

    def offer(self, elements: Iterable[int]) -> list[int]:
        sent = super().offer(elements)
        self._waiting.clear()
        return sent


# ---- the receiver ---------------------------------------------------------------------------


@TWINS.twin(
    "link-grants-at-arrival", "FLOW-7", "B grants a credit when an element arrives",
    "credit returned at receipt: acknowledged before it is processed")
class GrantingAtArrival(Receiver):
    """An element that arrives counts as freed; one that is processed does not count any more."""

    def _enqueue(self, element: int) -> None:
        super()._enqueue(element)
        self._freed += 1

    def _dequeue(self) -> int:
        self._freed -= 1
        return super()._dequeue()


@TWINS.twin(
    "link-announces-again", "FLOW-7", "B announces freed slots without counting them off",
    "a credit resent without an id")
class AnnouncingAgain(Receiver):
    """Slots that are announced stay counted."""

    def _announce(self) -> int:
        return self._granted()


@TWINS.twin("link-grants-all-room", "FLOW-7",
            "B grants all its free room, regardless of the elements under way to it",
            "003#E4: credits =< Buf(B) - Pending(B), taken for sufficient")
class GrantingAllRoom(Receiver):
    """Free is the room that the buffer does not use."""

    def _announce(self) -> int:
        room = self.capacity - len(self._buffer)
        return room if super()._announce() else 0


@TWINS.twin(
    "link-trickles", "FLOW-5", "B announces each slot as soon as it is free",
    "batching switched off: a message for each element")
class Trickling(Receiver):
    """The batch is ignored."""

    def _granted(self) -> int:
        return self._freed


@TWINS.twin(
    "link-waits-for-all", "FLOW-9", "B announces slots only when all are free",
    "a window that opens only when it is used up: stop-and-wait for every window")
class WaitingForAll(Receiver):
    """The batch is taken for the capacity."""

    def _granted(self) -> int:
        return super()._granted() if self._freed >= self.capacity else 0


@TWINS.twin(
    "link-more-than-a-batch", "FLOW-3", "B announces slots only when more than a batch is free",
    "> in the place of >=: deadlocked if a batch is all that there is")
class MoreThanABatch(Receiver):
    """The threshold is one too high."""

    def _granted(self) -> int:
        return self.batch if self._freed > self.batch else 0


@TWINS.twin(
    "link-grants-with-the-next", "FLOW-3", "B announces freed slots only while an element waits",
    "credits that ride on other work: none goes out from an idle receiver")
class GrantingWhileBusy(Receiver):
    """An empty receiver sends nothing."""

    def _granted(self) -> int:
        return super()._granted() if self._buffer else 0


@TWINS.twin(
    "link-loses-at-arrival", "FLOW-11", "B drops an element that arrives while another waits",
    "a slot of one: the mailbox is overwritten")
class KeepingOne(Receiver):
    """The buffer holds the oldest element only."""

    def _enqueue(self, element: int) -> None:
        if not self._buffer:
            super()._enqueue(element)


@TWINS.twin(
    "link-processes-newest", "FLOW-11", "B processes the newest waiting element",
    "a stack in the place of a queue")
class ProcessingNewest(Receiver):
    """The buffer is a stack."""

    def _dequeue(self) -> int:
        return self._buffer.pop()


# ---- numbers beyond those that few bits hold ----------------------------------------------------


@TWINS.twin("link-sends-16-bits", "FLOW-10", "A sends the lower 16 bits of an element",
            "a field of a frame that is narrower than the numbers that it carries")
class SendingIn16Bits(Sender):
    """Element 65,536 goes out as 0."""

    def offer(self, elements: Iterable[int]) -> list[int]:
        return super().offer([element % 2**16 for element in elements])


@TWINS.twin("link-sends-31-bits", "FLOW-10", "an element from 2^31 on is sent as a number below 0",
            "an int where the number is a long")
class SendingIn31Bits(Sender):
    """A signed number of 32 bits overflows."""

    def offer(self, elements: Iterable[int]) -> list[int]:
        return super().offer([(element + 2**31) % 2**32 - 2**31 for element in elements])


@TWINS.twin("link-keeps-32-bits", "FLOW-11", "B keeps the lower 32 bits of an element",
            "an unsigned int where the number is a long")
class KeepingIn32Bits(Receiver):
    """Element 2^32 is processed as 0."""

    def _enqueue(self, element: int) -> None:
        super()._enqueue(element % 2**32)


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("link-overdraws", 40, 300)


# ---- bugs that show in large queues -----------------------------------------------------------

TWINS.stacks("link-", "FLOW-11", "elements", Receiver, "_dequeue", lambda self: self._buffer)
