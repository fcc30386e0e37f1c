"""One execution of a basic bolt: what acks its input, and when, and what fails it.

Theory of operation
-------------------
A *rich* bolt acks or fails its inputs itself, and may forget to. A *basic* bolt leaves that to the
BasicBoltExecutor around it, which does three things for every input: it anchors the tuples that the
bolt emits on that input; when ``execute`` has returned it acks the input; when ``execute`` raises
FailedException it fails it. Any other exception is not caught here: it ends the worker, and the
input is neither acked nor failed, so its root times out.

The order matters. The ack carries the edges of the emitted tuples, so it must come after the last
emit (see ``AckBeforeEmit`` in ``acker``). And it must follow the *return*: an ack in a ``finally``
would ack a failed input, and the acker cannot undo that.

The notes' MyBolt is a rich bolt that acks, and emits without an anchor: its input's tree is right,
and the tuples that it emits are in none (``EmittingUnanchored`` in ``acker``).

Source: the notes on Storm's acker and KafkaSpout ("emit/ack/fail flow", BasicBoltExecutor); the
code is org.apache.storm.topology.BasicBoltExecutor.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, boolean, choice, const, integer, leads_to, require,
)

__all__ = [
    "AckingAnyway", "AckingBeforehand", "BasicBolt", "EXPECTATIONS", "FailingAnyway",
    "ForgettingFailures", "Phase", "RichBolt",
]

BASIC = "001#flow (BasicBoltExecutor.execute)"


class Phase(IntEnum):
    """The phase of an input's execution."""

    WAITING = 0     # not executed yet
    RUNNING = 1     # the bolt is at work on it
    RETURNED = 2    # execute has returned
    REFUSED = 3     # execute has raised FailedException
    DIED = 4        # it has raised something else: the worker is gone


class BasicBolt(Machine):
    """A basic bolt's executor, with one input after the other."""

    F = const(2)                        # tuples that an execution emits at most

    phase = choice(Phase)
    emitted = integer(0, F)
    acked = boolean(False)
    failed = boolean(False)
    late = boolean(False)               # a tuple was emitted after the ack

    @action(fair=True)
    def begin(self) -> None:
        """The bolt's execute is called."""
        require(self.phase == Phase.WAITING)
        self.phase = Phase.RUNNING

    @action
    def emit(self) -> None:
        """The bolt emits a tuple, anchored on its input."""
        require(self.phase == Phase.RUNNING and self.emitted < self.F)
        self.emitted += 1
        self.late = self.late or self.acked

    @action(fair=True)
    def returns(self) -> None:
        """The user's execute returns."""
        require(self.phase == Phase.RUNNING)
        self.phase = Phase.RETURNED

    @action
    def refuses(self) -> None:
        """The user's execute raises FailedException."""
        require(self.phase == Phase.RUNNING)
        self.phase = Phase.REFUSED

    @action
    def dies(self) -> None:
        """The user's execute raises another exception."""
        require(self.phase == Phase.RUNNING)
        self.phase = Phase.DIED

    @action(fair=True)
    def ack(self) -> None:
        """The executor acks the input."""
        require(self.phase == Phase.RETURNED and not self.acked)
        self.acked = True

    @action(fair=True)
    def fail(self) -> None:
        """The executor fails the input."""
        require(self.phase == Phase.REFUSED and not self.failed)
        self.failed = True

    @action(fair=True)
    def take_next(self) -> None:
        """Take the next input, after this one is settled or its worker has restarted."""
        require(self.acked or self.failed or self.phase == Phase.DIED)
        self.phase = Phase.WAITING
        self.emitted = 0
        self.acked = False
        self.failed = False
        self.late = False

    @leads_to("STORM-E1", MUST,
              "Every input with an execution that has begun is acked or failed eventually, "
              "unless its worker dies.",
              source=f"{BASIC}; 001#bolt-ack: must be acked")
    def inputs_are_settled(self) -> tuple[bool, bool]:
        """It must not need the timeout."""
        return self.phase == Phase.RUNNING, self.is_settled() or self.phase == Phase.DIED

    def is_settled(self) -> bool:
        """True if the input was acked or failed."""
        return self.acked or self.failed

    @always("STORM-E2", MUST,
            "An input is acked only after its execute has returned without an exception.",
            source=BASIC)
    def acks_follow_the_return(self) -> bool:
        """An input is not acked before the return, nor after a failure."""
        return not self.acked or self.phase == Phase.RETURNED

    @always("STORM-E3", MUST, "An input is failed only after execute has raised FailedException.",
            source=BASIC)
    def failures_are_raised(self) -> bool:
        """An input is not failed after a return."""
        return not self.failed or self.phase == Phase.REFUSED

    @always("STORM-E4", MUST, "No tuple is emitted for an input after its ack.",
            source="storm#acker (ack before emit)")
    def acks_come_last(self) -> bool:
        """Otherwise its edge would be in no message."""
        return not self.late


class AckingBeforehand(BasicBolt):
    """The input is acked before the bolt is called."""

    @action(fair=True)
    def begin(self) -> None:
        """The input is acked before execute runs."""
        super().begin()
        self.acked = True


class AckingAnyway(BasicBolt):
    """The ack is in a ``finally``."""

    @action(fair=True)
    def ack(self) -> None:
        """Ack the input even if execute has raised."""
        require(self.phase == Phase.RETURNED or self.phase == Phase.REFUSED)
        require(not self.acked)
        self.acked = True


class ForgettingFailures(BasicBolt):
    """FailedException is caught and ignored."""

    @action(fair=True)
    def fail(self) -> None:
        """Take the next input; the failure is not reported."""
        require(self.phase == Phase.REFUSED)
        self.phase = Phase.WAITING
        self.emitted = 0


class FailingAnyway(BasicBolt):
    """An input is failed if nothing was emitted for it."""

    @action(fair=True)
    def fail(self) -> None:
        """Fail the input after an exception, or if nothing was emitted."""
        require(not self.failed and not self.acked)
        require(self.phase == Phase.REFUSED
                or (self.phase == Phase.RETURNED and self.emitted == 0))
        self.failed = True


class RichBolt(BasicBolt):
    """A bolt that acks its inputs itself, at any time: even before it emits, or never."""

    @action
    def ack(self) -> None:
        """The bolt acks at any time; it need not, so this is not fair."""
        require(self.phase == Phase.RUNNING or self.phase == Phase.RETURNED)
        require(not self.acked)
        self.acked = True


SETTLED, RETURNED, RAISED, LAST = "STORM-E1", "STORM-E2", "STORM-E3", "STORM-E4"

EXPECTATIONS = (
    *(expect(BasicBolt, rule, "holds", about, F=(0, 1, 2)) for rule, about in (
        (SETTLED, "acked or failed"),
        (RETURNED, "acked when it returned"),
        (RAISED, "failed when it raised"),
        (LAST, "the ack comes last"),
    )),
    expect(AckingBeforehand, RETURNED, "violated", "acked on arrival"),
    expect(AckingBeforehand, LAST, "violated", "tuples emitted after an early ack are in no tree"),
    expect(AckingAnyway, RETURNED, "violated", "an ack in a finally"),
    expect(ForgettingFailures, SETTLED, "violated", "FailedException is swallowed"),
    expect(FailingAnyway, RAISED, "violated", "nothing emitted, so failed"),
    expect(RichBolt, SETTLED, "violated", "a bolt that has to ack may forget it"),
    expect(RichBolt, LAST, "violated", "a bolt that has to ack may do it before it emits"),
)
