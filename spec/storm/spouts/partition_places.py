"""The offsets of an observed partition that a window needs.

Theory. Offsets below the commit, and below all that is under way, matter no more, but for two
things: that one of them has left the log, and that one has no retry left. So the first ones may be
left, and the next one stands for them, if it is like them; it counts as gone from the log if one of
them is. Whether an offset has a retry left is kept elsewhere until the next start.

An offset that the log has not had yet makes no difference either, as long as it has not.

Source: observed_partition.
"""

from __future__ import annotations

from ...notation import action, require, upto
from ...notation.places import Reuse
from .observed_partition import ObservedPartition

__all__ = ["END", "WINDOW", "LongerLog", "PartitionWindow"]


class PartitionWindow(ObservedPartition):
    """A partition of which the first offsets leave the window."""

    @action(offset=upto(ObservedPartition.L - 1))
    def leaves_its_place(self, offset: int) -> None:
        """The offsets up to this one and the next one are over, and the next stands for all."""
        first = offset + 1
        require(first < self.committed and first < self.top and first < self.end)
        for each in range(first + 1):
            require(each not in self.under_way and each not in self.failed)
            require(each not in self.twofold)
            require(each in self.done or each in self.given_up or each in self.dropped)
        if any(each in self.dropped for each in range(first)):
            self.dropped.add(first)
        self.tries[first] = 0
        self.wait[first] = 0


class LongerLog(ObservedPartition):
    """A partition with an offset at its end that the log has not had."""

    @action(offset=upto(ObservedPartition.L))
    def leaves_its_place(self, offset: int) -> None:
        """The log has not had the offset."""
        require(offset >= self.end and offset >= self.committed and offset >= self.top)
        require(offset not in self.dropped and offset not in self.under_way)
        require(offset not in self.failed and offset not in self.twofold)
        require(offset not in self.done and offset not in self.given_up)
        require(self.tries[offset] == 0 and self.wait[offset] == 0)


_SMALL = {"F": 2, "M": 1, "retries": 1, "first": 1, "longest": 2}
_COUNTS = ("position", "end", "committed", "top")

WINDOW = Reuse(PartitionWindow, "L", ("offset",), _SMALL, counts=_COUNTS, ordered=True, front=True,
               kept=("tries",))

END = Reuse(LongerLog, "L", ("offset",), _SMALL, counts=_COUNTS, ordered=True, back=True)
