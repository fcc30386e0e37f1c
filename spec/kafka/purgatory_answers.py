"""The answer of check_and_complete: the number of requests that this call has completed.

Theory of operation
-------------------
An event goes through its key's list. It drops completed requests, and tries the others; it drops
those that it completes as well, and counts only them. Callers take the number for work done. Two
similar numbers are wrong: the requests that left the list (another call may have completed them),
and the requests that were found ready (another call may have been first).

Source: DelayedOperationPurgatory.Watchers.tryCompleteWatched of Kafka 0.9 to 3.9; kafka#purgatory,
kafka#P8.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, action, always, integer, upto
from .purgatory import Purgatory

__all__ = ["EXPECTATIONS", "AnsweringPurgatory", "CountingTheDead", "CountingTheReady"]


class AnsweringPurgatory(Purgatory):
    """A purgatory with the answers of check_and_complete, added up over all calls."""

    answered = integer(0, Purgatory.J * Purgatory.K)
    by_events = integer(0, Purgatory.K)     # requests that such calls have completed

    @action(key=upto(Purgatory.J))
    def check_and_complete(self, key: int) -> None:
        """Compare the number of requests completed in this call with its answer."""
        before = sum(self.completions)
        super().check_and_complete(key)
        self.by_events += sum(self.completions) - before

    def complete_found(self, request: int) -> None:
        """Count the request if this call completed it."""
        if self.is_open(request):
            self.answered += 1
        self.complete(request)

    @always("KAFKA-P8", MUST,
            "check_and_complete returns the number of requests that it completed.",
            source="kafka#purgatory (tryCompleteWatched), kafka#P8")
    def answers_are_right(self) -> bool:
        """Over all calls so far."""
        return self.answered == self.by_events


class CountingTheDead(AnsweringPurgatory):
    """Every request that leaves a list is counted, even if another call completed it."""

    def complete_found(self, request: int) -> None:
        """A request that completes in its try is not counted here."""
        self.complete(request)

    def strike(self, request: int, key: int) -> None:
        """A request is counted when it leaves the list, even if it was completed before."""
        self.answered += 1
        self.watched.discard(key * self.K + request)


class CountingTheReady(AnsweringPurgatory):
    """A request that is found ready is counted, although another call was first."""

    def complete_found(self, request: int) -> None:
        """The request is counted even if another call completed it."""
        self.answered += 1
        self.complete(request)


EXPECTATIONS = (
    expect(AnsweringPurgatory, "KAFKA-P8", "holds", "answers are right", K=2, J=(1, 2), Q=0),
    expect(CountingTheDead, "KAFKA-P8", "violated", "every request that leaves a list is counted",
           K=2, J=2, Q=0),
    expect(CountingTheReady, "KAFKA-P8", "violated", "a completed request is counted",
           K=2, J=2, Q=0),
)
