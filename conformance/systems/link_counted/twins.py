"""Links with numbered elements and one seeded bug each, at one of their ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ....reference.flow.counted import CountedReceiver, CountedSender, Freed, Numbered
from ...suites.twin import Twins
from .adapter import ReferenceCountedLink

__all__ = ["TWINS"]

Sender = CountedSender[int]
Receiver = CountedReceiver[int]
Sent = list[Numbered[int]]


def _end(bug: type[Any]) -> dict[str, Any]:
    """The end of the link that a class with a bug replaces."""
    return {"sender" if issubclass(bug, CountedSender) else "receiver": bug}


TWINS: Final = Twins("link.counted", ReferenceCountedLink, ("reference.link.counted",), _end)


# ---- the sender -----------------------------------------------------------------------------


@TWINS.twin(
    "counted-adds-limits-up", "FLOW-18", "A takes a limit that comes again for more credits",
    "credit as an increment, on a network that repeats messages")
class AddingUp(Sender):
    """Each limit that comes adds to the credit, for each batch that it stands for."""

    def _raise_limit(self, limit: int) -> None:
        self._limit += 1


@TWINS.twin(
    "counted-one-beyond", "FLOW-18", "A sends the element at the limit, too",
    "<= in the place of <")
class OneBeyond(Sender):
    """The limit is taken for the last element that may be sent."""

    def _may_send(self) -> bool:
        return self._sent <= self._limit


@TWINS.twin(
    "counted-limit-goes-back", "FLOW-8", "an old limit that comes late takes back a newer one",
    "assignment in the place of the maximum: reordered window updates")
class LimitGoesBack(Sender):
    """The last limit counts, and not the greatest."""

    def _raise_limit(self, limit: int) -> None:
        self._limit = limit


@TWINS.twin(
    "counted-waits-for-acks", "FLOW-8", "A sends nothing new while anything is not acknowledged",
    "stop-and-wait for every window")
class WaitingForAcks(Sender):
    """One element is under way at a time."""

    def _may_send(self) -> bool:
        return super()._may_send() and not self._kept


@TWINS.twin(
    "counted-never-repeats", "FLOW-20", "A repeats no element",
    "003#E19: limits are sent again and data is not, as in remote streams of Akka")
class NeverRepeating(Sender):
    """A has no timer."""

    def repeat(self) -> Sent:
        return []


@TWINS.twin(
    "counted-repeats-only-when-blocked", "FLOW-20", "A repeats only when more elements wait",
    "a timer that is armed with the queue: the last elements are never repeated")
class RepeatingWhileMoreWaits(Sender):
    """A timer runs only while an element waits for a limit."""

    def repeat(self) -> Sent:
        return super().repeat() if self._waiting else []


@TWINS.twin(
    "counted-repeats-the-newest", "FLOW-20", "A repeats the newest element that it keeps",
    "the last packet sent again: a receiver that wants them in order cannot use it")
class RepeatingTheNewest(Sender):
    """The store is treated as a stack."""

    def repeat(self) -> Sent:
        return [Numbered(self._sent - 1, self._kept[-1])] if self._kept else []


@TWINS.twin(
    "counted-deaf-to-limits", "FLOW-21", "A releases elements by acknowledgements alone",
    "a store that grows while ACKs get lost and limits arrive")
class DeafToLimits(Sender):
    """A limit releases no element."""

    def permit(self, limit: int) -> Sent:
        self._raise_limit(limit)
        return self._send()


@TWINS.twin(
    "counted-deaf-to-acks", "FLOW-21", "A releases elements by limits alone",
    "an element that waits at B is repeated for as long as it waits")
class DeafToAcks(Sender):
    """An acknowledgement is ignored."""

    def ack(self, number: int) -> None:
        """An acknowledgement releases no element."""


@TWINS.twin(
    "counted-last-first", "FLOW-22", "A sends the newest of the elements that wait",
    "a stack in the place of a queue")
class LastFirst(Sender):
    """Elements are numbered by the application, and sent in the wrong order."""

    def offer(self, elements: Iterable[int]) -> Sent:
        return [Numbered(element, element) for element, _ in reversed(super().offer(elements))]


# ---- the receiver ---------------------------------------------------------------------------


@TWINS.twin(
    "counted-no-dedupe", "FLOW-23", "B accepts an element for a second time",
    "retries without ids: an element that was not lost comes twice")
class WithoutDedupe(Receiver):
    """Every element that comes is accepted as new."""

    def _is_new(self, number: int) -> bool:
        return len(self._buffer) < self.capacity


@TWINS.twin(
    "counted-wraps", "FLOW-23", "B distinguishes elements by the last bit of their numbers",
    "the alternating bit, on a network that reorders")
class ComparingTheLastBit(Receiver):
    """One bit is enough as long as no message overtakes another."""

    def _is_new(self, number: int) -> bool:
        return number % 2 == self._accepted % 2


@TWINS.twin(
    "counted-acks-what-came", "FLOW-23", "B acknowledges an element that it does not accept",
    "the number that came in the place of the number that it waits for")
class AckingWhatCame(Receiver):
    """An element that comes out of turn is thrown away, and acknowledged."""

    def arrive(self, number: int, element: int) -> int | None:
        super().arrive(number, element)
        return number + 1


@TWINS.twin(
    "counted-mute-to-duplicates", "FLOW-19", "B does not answer an element that it has",
    "an ACK that was lost is never sent again")
class MuteToDuplicates(Receiver):
    """An old element is dropped in silence."""

    def _answer_to_old(self) -> int | None:
        return None


@TWINS.twin(
    "counted-raises-at-arrival", "FLOW-24", "B raises its limit when an element arrives",
    "a limit beyond the accepted elements, whose slots are still taken")
class RaisingForAccepted(Receiver):
    """Elements in the buffer do not count as using slots."""

    def _room(self) -> int:
        return self._accepted + self.capacity


@TWINS.twin(
    "counted-repeats-another-limit", "FLOW-24", "B's timer raises the limit with each repetition",
    "a retry that creates a token")
class RaisingWithTheTimer(Receiver):
    """A limit that is repeated is one higher."""

    def repeat(self) -> int | None:
        self._limit += 1
        return self._limit


@TWINS.twin(
    "counted-says-a-limit-once", "FLOW-25", "B does not repeat its limit",
    "003#E19: the window update that is lost leaves both ends waiting; TCP has probes for it")
class SayingOnce(Receiver):
    """B has no timer."""

    def repeat(self) -> int | None:
        return None


@TWINS.twin(
    "counted-announces-when-empty", "FLOW-9", "B raises its limit only when its buffer is empty",
    "a window that opens only when it is used up")
class RaisingWhenEmpty(Receiver):
    """While an element waits nothing is announced."""

    def _is_worth_a_message(self, limit: int) -> bool:
        return not self._buffer and super()._is_worth_a_message(limit)


@TWINS.twin(
    "counted-processes-newest", "FLOW-11", "B processes the newest waiting element",
    "a stack in the place of a queue")
class ProcessingNewest(Receiver):
    """The buffer is a stack."""

    def process(self) -> Freed[int]:
        self._buffer.reverse()
        freed = super().process()
        self._buffer.reverse()
        return freed


# ---- numbers beyond those that few bits hold ----------------------------------------------------


@TWINS.twin("counted-numbers-in-32-bits", "FLOW-22", "A numbers its elements in 32 bits",
            "sequence numbers that wrap, with a receiver that does not know it")
class NumberingIn32Bits(Sender):
    """After element 2^32 - 1 comes element 0."""

    def _send(self) -> Sent:
        return [Numbered(number % 2**32, element) for number, element in super()._send()]


@TWINS.twin("counted-limits-in-31-bits", "FLOW-8", "of a limit, A keeps 31 bits",
            "a window's end that wraps, compared as a number")
class LimitsIn31Bits(Sender):
    """A limit of 2^31 is one of 0, which is older than any."""

    def _raise_limit(self, limit: int) -> None:
        super()._raise_limit(limit % 2**31)


@TWINS.twin("counted-acks-in-16-bits", "FLOW-19", "B acknowledges in 16 bits",
            "a field of an acknowledgement that is narrower than that of the element")
class AckingIn16Bits(Receiver):
    """After 65,535, B acknowledges 0."""

    def arrive(self, number: int, element: int) -> int | None:
        answer = super().arrive(number, element)
        return None if answer is None else answer % 2**16


@TWINS.twin("counted-grants-in-31-bits", "FLOW-9", "from 2^31 on, B's limits are below 0",
            "an int where the number is a long")
class GrantingIn31Bits(Receiver):
    """A signed number of 32 bits overflows."""

    def process(self) -> Freed[int]:
        element, limit = super().process()
        return Freed(element, limit and (limit + 2**31) % 2**32 - 2**31)


# ---- bugs that show late ----------------------------------------------------------------------

TWINS.late("counted-one-beyond", 40, 300)


# ---- bugs that show in large queues -----------------------------------------------------------

TWINS.stacks("counted-", "FLOW-11", "elements", Receiver, "process", lambda self: self._buffer)
