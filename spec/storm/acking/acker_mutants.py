"""The acker with one line wrong: what each line of it is for.

Theory of operation
-------------------
Each machine is ``acker``'s with one thing changed in the acker itself or in the spout; the bolts
are sound, but for the one that fails a tuple and acks it. The rules are those of ``acker``; the
shortest trace of each machine shows what the line was for.

Some lines keep the value right: INIT is xored in like all else, and zero counts only once INIT is
known. Whoever gets these wrong acks too early, or never. Some keep a failure: FAIL may come before
INIT, waits for nobody else's tuples, and comes second to a value of zero. The others keep promises
to the spout and to the memory: an entry that goes is answered, what is never answered ages away
with ticks, and an answer that comes late is ignored.

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
    """INIT is or-ed into the value: right only if it comes first."""

    def add_init(self) -> None:
        """An edge that was acked before stays in."""
        for edge in self.init:
            self.value.add(edge)


class AckingAtZeroWithoutInit(Acker):
    """A zero value is taken for complete although INIT has not been seen."""

    def is_complete(self) -> bool:
        """An entry that a FAIL or a RESET_TIMEOUT made has value zero at first."""
        return self.entry and not self.value


class FailFirst(FailAndAck):
    """The mark is looked at before the value."""

    def conclude(self) -> None:
        """A failed entry is answered FAIL, whatever its value."""
        if self.known and self.failed:
            self.failed_at_zero = self.failed_at_zero or not self.value
            self.answers.add(Answer.FAIL)
            self.forget()
        else:
            super().conclude()


class ForgettingEarlyFail(Acker):
    """A FAIL of a root that is not known yet is thrown away."""

    @action(fair=True, edge=upto(Acker.E))
    def receive_fail(self, edge: int) -> None:
        """Only an entry with INIT is marked."""
        require(edge in self.fails)
        if self.known:
            super().receive_fail(edge)
        else:
            self.fails.discard(edge)


class IgnoringMarkAtInit(Acker):
    """The mark is looked at only when FAIL arrives, not at INIT."""

    @action(fair=True)
    def receive_init(self) -> None:
        """A mark that is there already is not acted upon."""
        require(self.init_in_flight)
        self.init_in_flight = False
        self.entry = True
        self.add_init()
        self.known = True
        if self.is_complete():
            self.conclude()


class FailingInSilence(Acker):
    """A failed tree is forgotten, and nobody is told; the spout's timeout may find out."""

    def conclude(self) -> None:
        """The entry goes without a word."""
        if self.known and self.failed and self.value:
            self.forget()
        else:
            super().conclude()


class FailingAtTheEnd(Acker):
    """A failure is told when all other tuples are acked, not at once."""

    def conclude(self) -> None:
        """The edges of failed tuples are all that is left."""
        if not self.waiting and not self.acks:
            super().conclude()


class AckingInSilence(Acker):
    """A complete tree is forgotten, and nobody is told."""

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
        """No timeout ever comes."""
        require(False)


class AnsweringSpout(Acker):
    """A spout that calls ack() or fail() for a root that is no longer pending."""

    def listens(self) -> bool:
        """As long as there is room to count the calls."""
        return self.calls < 2


EXPECTATIONS = (
    expect(OringInit, "STORM-A3", "violated", "INIT or-ed, not xored", E=2),
    expect(AckingAtZeroWithoutInit, "STORM-A1", "violated", "complete without INIT", E=2),
    expect(FailFirst, "STORM-A5", "violated", "fail before zero", E=2),
    expect(ForgettingEarlyFail, "STORM-A6", "violated", "FAIL before INIT is thrown away", E=2),
    expect(ForgettingEarlyFail, "STORM-A4", "violated",
           "the spout is not told at INIT of a FAIL that came before and was thrown away", E=2),
    expect(FailingInSilence, "STORM-A4", "violated", "a failed entry goes in silence", E=2,
           T=(0, 1)),
    expect(FailingInSilence, "STORM-A6", "violated",
           "the spout waits for a failed entry that went in silence", E=2, T=(0, 1)),
    expect(FailingAtTheEnd, "STORM-A4", "violated", "a failure waits for the other tuples", E=2),
    expect(AckingInSilence, "STORM-A11", "violated", "a complete entry goes in silence", E=2,
           T=(0, 1)),
    expect(AckingInSilence, "STORM-A3", "violated",
           "the spout waits for a complete entry that went in silence", E=2, T=(0, 1)),
    expect(IgnoringMarkAtInit, "STORM-A4", "violated", "FAIL before INIT is not told at INIT", E=2),
    expect(AckerWithoutTicks, "STORM-A7", "violated", "no ticks: orphans stay (STORM-2786)", E=2),
    expect(AnsweringSpout, "STORM-A2", "violated", "late answers are not ignored", E=2, T=1),
    expect(AckingAtZeroWithoutInit, "STORM-A12", "violated", "told ack while a bolt is at work",
           E=2),
)
