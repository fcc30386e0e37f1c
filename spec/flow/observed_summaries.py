"""A stage that rolls up, or batches, as seen from outside: values come, and outputs go.

Theory. An observer that is the stage's source and its sink knows each value that the stage has
taken, and gives it credits. So it knows what the next output has to stand for: all values that came
since the one before. If the values are different powers of two, their sum says which of them an
output stands for.

A stage that rolls up takes every value that comes, and gives one summary. One that batches takes m
values, then makes its source wait, and gives a list.

Source: ``summaries``; 003#rolling, 003#frames.
"""

from __future__ import annotations

from ..notation import MUST, Machine, action, const, guard_rule, integer, require, upto

__all__ = ["EXPECTATIONS", "ObservedBatches", "ObservedSummaries"]

ROLLED, FRAMES = "003#rolling", "003#frames"

WHOLE = guard_rule(
    "FLOW-56", MUST,
    "The sum in an output is that of all values that the stage took since its previous output.",
    source=f"{ROLLED}: instead of dropping messages, we start to roll them up into summaries")
NOBODY_WAITS = guard_rule(
    "FLOW-120", MUST,
    "A stage that rolls up takes every value the first time that it comes.",
    source=ROLLED)
WAITS_WHERE_FULL = guard_rule(
    "FLOW-121", MUST, "A stage that batches makes its source wait only while its batch is full.",
    source=FRAMES)
ONE = guard_rule(
    "FLOW-122", MUST, "An output of a stage that rolls up is one summary.", source=ROLLED)
BOUNDED = guard_rule(
    "FLOW-123", MUST, "A stage that batches takes no value while its batch is full.",
    source=FRAMES)
NOT_KEPT = guard_rule(
    "FLOW-124", MUST, "A stage that holds a value answers each credit with an output.",
    source=f"{ROLLED}: until they can be sent")
OF_SOMETHING = guard_rule("FLOW-125", MUST, "Every output stands for at least one value.",
                          source="003#tokens: no data is made")
AS_THEY_CAME = guard_rule(
    "FLOW-126", MUST,
    "A batch contains the values that the stage took since its previous output, unchanged and "
    "in their order.",
    source=FRAMES)


class ObservedSummaries(Machine):
    """A stage that rolls up values of a sum of K at most."""

    K = const(4, at_least=1)

    values = integer(0, K)              # number of values that its summary stands for
    total = integer(0, K)               # their sum

    @action(value=upto(K + 1))
    def takes(self, value: int) -> None:
        """A value comes from upstream, and the stage takes it."""
        require(value > 0 and self.total + value <= self.K)
        self.values += 1
        self.total += value

    @action(rests=True)
    def holds_up(self) -> None:
        """A value comes from upstream, is not taken, and has to come again."""
        require(False, NOBODY_WAITS)

    @action(total=upto(K + 1))
    def emits(self, total: int) -> None:
        """A credit comes, and a summary with the sum ``total`` goes."""
        require(total == self.total, WHOLE)
        require(self.values > 0, OF_SOMETHING)
        self.values = 0
        self.total = 0

    @action
    def emits_several(self) -> None:
        """A credit comes, and the output is not one summary."""
        require(False, ONE)

    @action(rests=True)
    def emits_nothing(self) -> None:
        """A credit comes, and no output goes."""
        require(self.values == 0, NOT_KEPT)


class ObservedBatches(Machine):
    """A stage with batches of m values at most, with a sum of K at most."""

    K = const(4, at_least=1)
    m = const(2, at_least=1)

    values = integer(0, K)              # number of values that it holds
    total = integer(0, K)               # their sum

    @action(value=upto(K + 1))
    def collects(self, value: int) -> None:
        """A value comes from upstream, and the stage takes it."""
        require(value > 0 and self.total + value <= self.K)
        require(self.values < self.m, BOUNDED)
        self.values += 1
        self.total += value

    @action(rests=True)
    def makes_wait(self) -> None:
        """A value comes from upstream, is not taken, and has to come again."""
        require(self.values >= self.m, WAITS_WHERE_FULL)

    @action(total=upto(K + 1))
    def sends(self, total: int) -> None:
        """A credit comes, and a batch with the sum ``total`` goes."""
        require(total == self.total, WHOLE)
        require(self.values > 0, OF_SOMETHING)
        self.values = 0
        self.total = 0

    @action
    def sends_others(self) -> None:
        """A credit comes, and a batch goes that has the right sum, but other values."""
        require(False, AS_THEY_CAME)

    @action(rests=True)
    def sends_nothing(self) -> None:
        """A credit comes, and no batch goes."""
        require(self.values == 0, NOT_KEPT)


EXPECTATIONS = ()
