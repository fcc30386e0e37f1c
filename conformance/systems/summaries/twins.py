"""Stages that roll up, or batch, and one seeded bug each."""

from __future__ import annotations

from typing import Any, Final

from ....reference.flow.stages import Groups, RolledUp
from ....spec.flow.summaries_seen import EXPECTATIONS
from ...suites.twin import Twins
from .adapter import ReferenceBatches, ReferenceSummaries
from .mechanism import BatchesOfTheBook, StageOfTheBook

__all__ = ["TWINS"]


TWINS: Final = Twins("summaries", ReferenceSummaries, ("reference.summaries",))
TWINS.variants(EXPECTATIONS, StageOfTheBook, known={
    "Losing": ("summaries-latest-only", "a gauge in the place of a counter: the last one wins"),
    "HoldingUp": ("summaries-holds-up", "a bound on rolled-up values, as if those took room"),
    "Appending": (
        "summaries-appends",
        "conflate with a seed that is a list, which grows as long as nothing goes"),
    "EmittingNothing": (
        "summaries-sends-zero",
        "StatsD, which sends counters of 0 unless it is set to delete them"),
})
TWINS.variants(
    EXPECTATIONS, BatchesOfTheBook, of=ReferenceBatches, originals=("reference.batches",), known={
        "WaitingForMore": (
            "batch-waits-until-full",
            "a batch without a time limit: the last values stay in an incomplete batch"),
        "Hesitating": ("batch-hesitates", "off by one in the size of a batch"),
        "Overfilling": ("batch-one-too-many", "<= in the place of <"),
    })


@TWINS.twin(
    "summaries-cumulative", "FLOW-56", "an output stands for all values that ever came",
    "cumulative values that are read as differences, or the other way round")
class Cumulative(RolledUp[int, Any]):
    """The summary is not reset when it is sent."""

    _ever = 0

    def make(self) -> Any:
        self._ever += super().make()
        return self._ever


@TWINS.twin("summaries-forgets-when-asked-twice", "FLOW-56",
            "a credit without an output loses the next value",
            "a flush that begins a new interval although the one before was empty")
class ForgettingTheNext(RolledUp[int, Any]):
    """The next value is put into an interval that is over."""

    _is_over = False

    @property
    def ready(self) -> bool:
        self._is_over = not super().ready
        return super().ready

    def take(self, element: int) -> None:
        if self._is_over:
            element, self._is_over = 0, False
        super().take(element)


class _Counting(RolledUp[int, Any]):
    """It counts the values in its summary."""

    _values = 0

    def take(self, element: int) -> None:
        super().take(element)
        self._values += 1

    def make(self) -> Any:
        self._values = 0
        return super().make()


@TWINS.twin(
    "summaries-starts-at-two", "FLOW-124", "a single value does not go",
    "> 1 in the place of > 0")
class StartingAtTwo(_Counting):
    """A single value waits for another, as long as that takes."""

    @property
    def ready(self) -> bool:
        return self._values > 1


@TWINS.twin("batch-drops-in-silence", "FLOW-123",
            "a value that comes while the batch is full is taken, and lost",
            "a batch processor with a bounded queue, which drops the excess", of=ReferenceBatches,
            originals=("reference.batches",))
class Dropping(Groups[int]):
    """The source need not wait, and learns nothing of the loss."""

    @property
    def wants(self) -> bool:
        return True

    def take(self, element: int) -> None:
        if len(self._held) < self._size:
            super().take(element)


@TWINS.twin(
    "batch-repeats-the-last", "FLOW-56", "the last value of a batch goes with the next one, too",
    "a page that begins with the last element of the page before",
    of=ReferenceBatches, originals=("reference.batches",))
class RepeatingTheLast(Groups[int]):
    """The last value is sent twice."""

    def make(self) -> list[int]:
        made = super().make()
        if len(made) > 1:
            self._held.append(made[-1])
        return made


@TWINS.twin(
    "batch-newest-first", "FLOW-126", "the newest value of a batch comes first",
    "a list that is filled and emptied at the same end",
    of=ReferenceBatches, originals=("reference.batches",))
class NewestValueFirst(Groups[int]):
    """The values come out as of a stack."""

    def make(self) -> list[int]:
        return super().make()[::-1]


@TWINS.twin(
    "batch-goes-empty", "FLOW-125", "if nothing came, an empty batch goes",
    "a batch processor that sends when its time is over, even if nothing came",
    of=ReferenceBatches, originals=("reference.batches",))
class GoingEmpty(Groups[int]):
    """The time limit is treated as always reached."""

    @property
    def ready(self) -> bool:
        return True


@TWINS.twin(
    "batch-merges", "FLOW-126", "two values that come in a row are one",
    "values are rolled up where they should be batched",
    of=ReferenceBatches, originals=("reference.batches",))
class MergingNeighbours(Groups[int]):
    """The sum of the two values is right."""

    def take(self, element: int) -> None:
        if len(self._held) > 1:
            self._held[-1] += element
        else:
            super().take(element)


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("summaries-cumulative", 40, 300)


# ---- what looks at the values --------------------------------------------------------------------

@TWINS.twin(
    "summaries-loses-nought", "FLOW-124", "values whose sum is 0 do not go",
    "`if self.total` where `if self.count` was meant")
class LosingNought(RolledUp[int, Any]):
    """A sum of 0 is taken for an empty summary."""

    @property
    def ready(self) -> bool:
        return bool(self._summary and self._summary[0])


@TWINS.twin(
    "summaries-in-32-bits", "FLOW-56", "a sum is kept in 32 bits",
    "SNMP's counters of 32 bits, on a link that fills them in seconds")
class In32Bits(RolledUp[int, Any]):
    """The highest bits of the sum are lost."""

    def make(self) -> Any:
        return super().make() % 2**32


@TWINS.twin(
    "batch-drops-nought", "FLOW-126", "a value of 0 does not go into its batch",
    "filter(None, values)",
    of=ReferenceBatches, originals=("reference.batches",))
class DroppingNought(Groups[int]):
    """A false value is taken for none."""

    def make(self) -> list[int]:
        return [*filter(None, super().make())]


@TWINS.twin(
    "batch-drops-equal-values", "FLOW-126", "of equal values of a batch, one goes",
    "a set, or a dict of values, in the place of a list",
    of=ReferenceBatches, originals=("reference.batches",))
class DroppingEqualValues(Groups[int]):
    """Equal measurements are counted once."""

    def make(self) -> list[int]:
        return [*dict.fromkeys(super().make())]


# ---- what shows in large batches -----------------------------------------------------------------

class _StackFrom(Groups[int]):
    """From this many values on, the newest comes first."""

    values = 4

    def make(self) -> list[int]:
        made = super().make()
        return made[::-1] if len(made) >= self.values else made


@TWINS.twin(
    "batch-stack-from-four", "FLOW-126", "from four values on, the newest of a batch comes first",
    "a small batch in an array, a large one in a linked list that grows at its head",
    of=ReferenceBatches, originals=("reference.batches",))
class StackFromFour(_StackFrom):
    """With four or more it is a stack."""


@TWINS.twin(
    "batch-stack-from-six", "FLOW-126", "from six values on, the newest of a batch comes first",
    "a small batch in an array, a large one in a linked list that grows at its head",
    of=ReferenceBatches, originals=("reference.batches",))
class StackFromSix(_StackFrom):
    """With six or more it is a stack."""

    values = 6
