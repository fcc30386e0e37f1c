"""What check_and_complete answers: the number of requests that this call has completed.

Theory of operation
-------------------
An event goes through its key's list. It drops what is completed already, and tries the rest; what
it completes it drops as well, and that alone is counted. Whoever waits for the number takes it for
work done. Two neighbours of that sum are wrong: what has left the list (somebody else may have
completed it), and what was found ready (somebody else may have been first).

Source: DelayedOperationPurgatory.Watchers.tryCompleteWatched of Kafka 0.9 to 3.9; kafka#purgatory,
kafka#P8.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, action, always, integer, upto
from .purgatory import Purgatory

__all__ = ["EXPECTATIONS", "AnsweringPurgatory", "CountingTheDead", "CountingTheReady"]


class AnsweringPurgatory(Purgatory):
    """With what check_and_complete answers, all calls together."""

    answered = integer(0, Purgatory.J * Purgatory.K)
    by_events = integer(0, Purgatory.K)     # requests that such calls have completed

    @action(key=upto(Purgatory.J))
    def check_and_complete(self, key: int) -> None:
        """What became completed in this call is compared with what it counts."""
        before = sum(self.completions)
        super().check_and_complete(key)
        self.by_events += sum(self.completions) - before

    def complete_found(self, request: int) -> None:
        """Counted if this call has won."""
        if self.is_open(request):
            self.answered += 1
        self.complete(request)

    @always("KAFKA-P8", MUST,
            "check_and_complete answers how many requests it completed.",
            source="kafka#purgatory (tryCompleteWatched), kafka#P8")
    def answers_are_right(self) -> bool:
        """Of all calls so far."""
        return self.answered == self.by_events


class CountingTheDead(AnsweringPurgatory):
    """What leaves a list is counted, whoever completed it."""

    def complete_found(self, request: int) -> None:
        """What completes in its try is not counted here."""
        self.complete(request)

    def strike(self, request: int, key: int) -> None:
        """Whatever leaves the list is counted, also what was completed before."""
        self.answered += 1
        self.watched.discard(key * self.K + request)


class CountingTheReady(AnsweringPurgatory):
    """A request that is found ready is counted, although another was first."""

    def complete_found(self, request: int) -> None:
        """It is counted whoever completed it."""
        self.answered += 1
        self.complete(request)


EXPECTATIONS = (
    expect(AnsweringPurgatory, "KAFKA-P8", "holds", "answers are right", K=2, J=(1, 2), Q=0),
    expect(CountingTheDead, "KAFKA-P8", "violated", "what leaves a list is counted",
           K=2, J=2, Q=0),
    expect(CountingTheReady, "KAFKA-P8", "violated", "a completed request is counted",
           K=2, J=2, Q=0),
)
