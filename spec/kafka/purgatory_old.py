"""The old purgatory: a timer that gives nothing back, and a reaper that goes by lengths.

Theory of operation
-------------------
The old design has the same requests and watcher lists, and one queue of all timeouts in the place
of the timing wheels. What is completed stays in that queue, for a queue of this kind has no cheap
deletion, and on the lists. After each expiry the reaper looks at two lengths:

    total length of the lists >= Q      every list is scanned for what is completed
    length of the timer queue >= Q      the queue is scanned for what is completed

Both scans are needed. Without them what is completed stays until its timeout (KAFKA-P6M), and the
text says what comes of it: the heap is exhausted. With a low Q memory is bounded; but both lengths
count what is *pending* as well, so a purgatory in which much is pending is scanned again and again,
and nothing is found (KAFKA-P6E and KAFKA-P6S are violated). That is the penalty that the text
speaks of, and why the new design counts what was completed.

Its expiry callback came before completion, and regardless of it (KAFKA-1989).

Source: 002#old; RequestPurgatory and DelayedOperationPurgatory of Kafka 0.8;
kafka#old-purgatory.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, action, always, boolean, require, upto
from .purgatory import OLD, TWO, Purgatory, Request

__all__ = ["EXPECTATIONS", "OldPurgatory", "ScanningForTheCompleted", "ScanningListsAlone"]


class OldPurgatory(Purgatory):
    """Completed requests stay in the timer, the expiry callback comes first and regardless, and the
    lengths of timer and lists decide about scans."""

    vain = boolean(False)               # the timer was scanned, and nothing was found

    def leave_timer(self, request: int) -> None:
        """The timer does not support random delete."""

    @action(fair=True, request=upto(Purgatory.K))
    def expire(self, request: int) -> None:
        """onExpiration, then forceComplete, whatever that says."""
        require(request in self.timer)
        self.timer.discard(request)
        self.expirations[request] += 1
        self.complete(request)

    def has_to_purge(self) -> bool:
        """Whether the lists together are as long as the threshold."""
        return len(self.watched) >= max(self.Q, 1)

    @action(fair=True)
    def scan_timer(self) -> None:
        """Whatever is completed leaves the queue."""
        require(self.has_to_scan())
        self.vain = self.vain or all(
            request not in self.timer or self.phase[request] != Request.COMPLETED
            for request in range(self.K))
        for request in range(self.K):
            if self.phase[request] == Request.COMPLETED:
                self.timer.discard(request)

    def has_to_scan(self) -> bool:
        """Whether the timer's queue is as long as the threshold."""
        return len(self.timer) >= max(self.Q, 1)

    def rests(self) -> bool:
        """Neither lists nor timer are to be scanned."""
        return len(self.to_purge) == 0 and not self.has_to_purge() and not self.has_to_scan()

    @always("KAFKA-P6S", MUST, "The timer is scanned only if something in it is completed.",
            source=f"{OLD} ('a significant performance penalty if it scans all lists too "
                   "frequently'); kafka#purgatory")
    def scans_find_something(self) -> bool:
        """Else the scan was for nothing."""
        return not self.vain


class ScanningListsAlone(OldPurgatory):
    """The reaper forgets the timer queue."""

    def has_to_scan(self) -> bool:
        """The timer's queue is never scanned."""
        return False


class ScanningForTheCompleted(OldPurgatory):
    """The timer is scanned for a reason, which takes somebody who counts."""

    def has_to_scan(self) -> bool:
        """Something completed is in it."""
        return any(
            request in self.timer and self.phase[request] == Request.COMPLETED
            for request in range(self.K))


EXPECTATIONS = (
    expect(OldPurgatory, "KAFKA-P1", "holds", "the old purgatory completes once", **TWO),
    expect(OldPurgatory, "KAFKA-P2L", "holds",
           "the old purgatory completes each request in the end", **TWO),
    expect(OldPurgatory, "KAFKA-P6M", "holds", "two scans with a low threshold bound the memory",
           K=2, J=2, Q=(0, 1)),
    expect(ScanningListsAlone, "KAFKA-P6M", "violated",
           "lists alone are scanned: completed requests fill the timer", **TWO),
    expect(OldPurgatory, "KAFKA-P6S", "violated", "all is pending, and scanned", **TWO),
    expect(ScanningForTheCompleted, "KAFKA-P6S", "holds",
           "scans would pay if somebody counted the completed",
           **TWO),
    expect(OldPurgatory, "KAFKA-P1E", "violated",
           "expiry callback of a completed request (KAFKA-1989)", **TWO),
    expect(OldPurgatory, "KAFKA-P4", "violated", "completed requests fill the timer (KAFKA-1989)",
           **TWO),
    expect(OldPurgatory, "KAFKA-P6E", "violated", "purges while nothing is completed", **TWO),
)

UNSEEN = {
    "KAFKA-P6S":
        "A scan that finds nothing changes nothing that anybody outside could see, but for its "
        "time.",
}
