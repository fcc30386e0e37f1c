"""The old purgatory: a timer without deletion, and a reaper that decides by lengths.

Theory of operation
-------------------
The old design has the same requests and watcher lists, and one queue of all timeouts instead of the
timing wheels. Completed requests stay in that queue, since such a queue has no cheap deletion, and
on the lists. After each expiry the reaper looks at two lengths:

    total length of the lists >= Q      every list is scanned for completed requests
    length of the timer queue >= Q      the queue is scanned for completed requests

Both scans are needed. Without them a completed request stays until its timeout (KAFKA-P6M), and the
text says the consequence: the heap is exhausted. With a low Q memory is bounded; but both lengths
count *pending* requests as well, so a purgatory with many pending requests is scanned again and
again, and nothing is found (KAFKA-P6E and KAFKA-P6S are violated). That is the penalty that the
text mentions, and the reason why the new design counts completed requests.

Its expiry callback came before completion, and also for completed requests (KAFKA-1989).

Source: 002#old; RequestPurgatory and DelayedOperationPurgatory of Kafka 0.8; kafka#old-purgatory.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, action, always, boolean, require, upto
from .purgatory import OLD, TWO, Purgatory, Request

__all__ = ["EXPECTATIONS", "OldPurgatory", "ScanningForTheCompleted", "ScanningListsAlone"]


class OldPurgatory(Purgatory):
    """Completed requests stay in the timer, the expiry callback comes first and unconditionally,
    and the lengths of timer and lists decide about scans.
    """

    vain = boolean(False)               # the timer was scanned, and nothing was found

    def leave_timer(self, request: int) -> None:
        """The timer does not support deletion."""

    @action(fair=True, request=upto(Purgatory.K))
    def expire(self, request: int) -> None:
        """onExpiration, then forceComplete, whatever its answer."""
        require(request in self.timer)
        self.timer.discard(request)
        self.expirations[request] += 1
        self.complete(request)

    def has_to_purge(self) -> bool:
        """True if the lists together are at least as long as the threshold."""
        return len(self.watched) >= max(self.Q, 1)

    @action(fair=True)
    def scan_timer(self) -> None:
        """Every completed request leaves the queue."""
        require(self.has_to_scan())
        self.vain = self.vain or all(
            request not in self.timer or self.phase[request] != Request.COMPLETED
            for request in range(self.K))
        for request in range(self.K):
            if self.phase[request] == Request.COMPLETED:
                self.timer.discard(request)

    def has_to_scan(self) -> bool:
        """True if the timer's queue is at least as long as the threshold."""
        return len(self.timer) >= max(self.Q, 1)

    def rests(self) -> bool:
        """True if neither lists nor timer have to be scanned."""
        return len(self.to_purge) == 0 and not self.has_to_purge() and not self.has_to_scan()

    @always("KAFKA-P6S", MUST, "The timer is scanned only if it holds a completed request.",
            source=f"{OLD} ('a significant performance penalty if it scans all lists too "
                   "frequently'); kafka#purgatory")
    def scans_find_something(self) -> bool:
        """Other scans are wasted."""
        return not self.vain


class ScanningListsAlone(OldPurgatory):
    """The reaper never scans the timer queue."""

    def has_to_scan(self) -> bool:
        """The timer's queue is never scanned."""
        return False


class ScanningForTheCompleted(OldPurgatory):
    """The timer is scanned only with a reason, which needs a count."""

    def has_to_scan(self) -> bool:
        """True if the timer holds a completed request."""
        return any(
            request in self.timer and self.phase[request] == Request.COMPLETED
            for request in range(self.K))


EXPECTATIONS = (
    expect(OldPurgatory, "KAFKA-P1", "holds", "the old purgatory completes once", **TWO),
    expect(OldPurgatory, "KAFKA-P2L", "holds",
           "the old purgatory eventually completes each request", **TWO),
    expect(OldPurgatory, "KAFKA-P6M", "holds", "two scans with a low threshold bound the memory",
           K=2, J=2, Q=(0, 1)),
    expect(ScanningListsAlone, "KAFKA-P6M", "violated",
           "lists alone are scanned: completed requests fill the timer", **TWO),
    expect(OldPurgatory, "KAFKA-P6S", "violated", "all requests are pending, and scanned", **TWO),
    expect(ScanningForTheCompleted, "KAFKA-P6S", "holds",
           "scans would pay if completed requests were counted",
           **TWO),
    expect(OldPurgatory, "KAFKA-P1E", "violated",
           "expiry callback of a completed request (KAFKA-1989)", **TWO),
    expect(OldPurgatory, "KAFKA-P4", "violated", "completed requests fill the timer (KAFKA-1989)",
           **TWO),
    expect(OldPurgatory, "KAFKA-P6E", "violated", "purges while nothing is completed", **TWO),
)

UNSEEN = {
    "KAFKA-P6S":
        "A scan that finds nothing changes nothing visible, except for its time.",
}
