"""The acker with one line wrong: what each line of it is for.

Theory of operation
-------------------
Each machine is ``acker``'s with one thing changed in the acker itself or in the spout; the bolts
are correct, except for the one that fails a tuple and acks it. The rules are those of ``acker``;
the shortest counterexample of each machine shows the purpose of the line.

Some lines keep the value right: INIT is xored in like all else, and zero counts only once INIT is
known. Without them the acker acks too early, or never. Some keep a failure: FAIL may come before
INIT, does not wait for other tuples, and comes second to a value of zero. The others keep promises
to the spout and to the memory: an entry that is removed is answered, one that is never answered
ages away with ticks, and an answer that comes late is ignored.

Source: org.apache.storm.daemon.Acker, with single lines left out or changed; storm#acker;
STORM-2786.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import action, require, upto
from .acker import Acker, Answer, FailAndAck

__all__ = [
    "AckerWithoutTicks", "AckingAtZeroWithoutInit", "AckingInSilence", "AnsweringSpout",
    "EXPECTATIONS", "FailFirst", "FailingAtTheEnd", "FailingInSilence", "ForgettingEarlyFail",
    "IgnoringMarkAtInit", "OringInit",
]


class OringInit(Acker):
    """INIT is or-ed into the value: correct only if it comes first."""

    def add_init(self) -> None:
        """Add the edges of INIT; one that was acked before stays in."""
        for edge in self.init:
            self.value.add(edge)


class AckingAtZeroWithoutInit(Acker):
    """A zero value is taken for complete although INIT has not been seen."""

    def is_complete(self) -> bool:
        """True for any zero value, as in an entry that a FAIL or a RESET_TIMEOUT has made."""
        return self.entry and not self.value


class FailFirst(FailAndAck):
    """The mark is checked before the value."""

    def conclude(self) -> None:
        """Answer fail for a failed entry, whatever its value."""
        if self.known and self.failed:
            self.failed_at_zero = self.failed_at_zero or not self.value
            self.answers.add(Answer.FAIL)
            self.forget()
        else:
            super().conclude()


class ForgettingEarlyFail(Acker):
    """A FAIL for a root is thrown away before its INIT has come."""

    @action(fair=True, edge=upto(Acker.E))
    def receive_fail(self, edge: int) -> None:
        """Mark the entry only if INIT is known."""
        require(edge in self.fails)
        if self.known:
            super().receive_fail(edge)
        else:
            self.fails.discard(edge)


class IgnoringMarkAtInit(Acker):
    """The mark is checked only when FAIL arrives, not at INIT."""

    @action(fair=True)
    def receive_init(self) -> None:
        """INIT arrives, and an earlier mark is ignored."""
        require(self.init_in_flight)
        self.init_in_flight = False
        self.entry = True
        self.add_init()
        self.known = True
        if self.is_complete():
            self.conclude()


class FailingInSilence(Acker):
    """A failed tree is forgotten without an answer; only the spout's timeout may notice."""

    def conclude(self) -> None:
        """The entry goes without a word."""
        if self.known and self.failed and self.value:
            self.forget()
        else:
            super().conclude()


class FailingAtTheEnd(Acker):
    """A failure is answered when all other tuples are acked, not at once."""

    def conclude(self) -> None:
        """Answer only if no other tuple is being processed or acked."""
        if not self.waiting and not self.acks:
            super().conclude()


class AckingInSilence(Acker):
    """A complete tree is forgotten without an answer."""

    def conclude(self) -> None:
        """The entry goes without a word."""
        if self.is_complete():
            self.forget()
        else:
            super().conclude()


class AckerWithoutTicks(Acker):
    """No ticks reach the acker, so nothing is ever rotated out (STORM-2786)."""

    @action(fair=True)
    def expire(self) -> None:
        """Never: no tick arrives."""
        require(False)


class AnsweringSpout(Acker):
    """A spout that calls ack() or fail() for a root that is no longer pending."""

    def listens(self) -> bool:
        """True until two calls were counted, which bounds the model."""
        return self.calls < 2


EXPECTATIONS = (
    expect(OringInit, "STORM-A3", "violated", "INIT or-ed, not xored", E=2),
    expect(AckingAtZeroWithoutInit, "STORM-A1", "violated", "complete without INIT", E=2),
    expect(FailFirst, "STORM-A5", "violated", "fail before zero", E=2),
    expect(ForgettingEarlyFail, "STORM-A6", "violated", "FAIL before INIT is thrown away", E=2),
    expect(ForgettingEarlyFail, "STORM-A4", "violated",
           "no answer at INIT to a FAIL that came before and was thrown away", E=2),
    expect(FailingInSilence, "STORM-A4", "violated", "a failed entry is removed silently", E=2,
           T=(0, 1)),
    expect(FailingInSilence, "STORM-A6", "violated",
           "the spout waits for a failed entry that was removed silently", E=2, T=(0, 1)),
    expect(FailingAtTheEnd, "STORM-A4", "violated", "a failure waits for the other tuples", E=2),
    expect(AckingInSilence, "STORM-A11", "violated", "a complete entry is removed silently", E=2,
           T=(0, 1)),
    expect(AckingInSilence, "STORM-A3", "violated",
           "the spout waits for a complete entry that was removed silently", E=2, T=(0, 1)),
    expect(IgnoringMarkAtInit, "STORM-A4", "violated", "FAIL before INIT is not answered at INIT",
           E=2),
    expect(AckerWithoutTicks, "STORM-A7", "violated", "no ticks: orphans stay (STORM-2786)", E=2),
    expect(AnsweringSpout, "STORM-A2", "violated", "late answers are not ignored", E=2, T=1),
    expect(AckingAtZeroWithoutInit, "STORM-A12", "violated",
           "ack is answered while a bolt is at work",
           E=2),
)
