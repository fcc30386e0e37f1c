"""The work of one task of a cluster on a log of which pieces leave little (``columns/remainder``).

No event is shuffled but those that are not over within what a task reads at a time. The task of a
part of the keys takes what is left, in the order of the log, and says how much there was of what.
It finds nothing: a log of which anything is not plain says so (``UNFIT``), and is judged as all
others are.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..columns.cells import Unfit
from ..columns.remainder import Joined, Remainder, Sent, keys_are_few, remainders_of
from ..columns.rows import ITEM_MAX, Names, Rows
from ..logs.notes import Notes
from ..logs.rows import counts_of
from ..logs.run import Judged
from .log_columns import UNFIT, Batches, OfPart, batch_of, hears, part_of
from .log_cut import Following, PacksPieces
from .log_parts import Listener, logs_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JoinedParts", "LeftOver"]

@dataclass(frozen=True, kw_only=True)
class LeftOver(PacksPieces):
    """Makes of the rows that a task reads what they leave; see ``Packs``."""

    def _of_piece(self, file: int, following: Following, names: Names, parts: Iterator[Rows]
                  ) -> Batches:
        first = following.stop
        for left in remainders_of(names.logs, self.terms, names, parts):
            if left is None or not keys_are_few(len(left.keys), left.events):
                raise Unfit
            yield self._sent(left, names, file | first)
            first = following.stop

    def _sent(self, left: Remainder, names: Names, at: int) -> pa.RecordBatch:
        """A row for each part that has any of the keys; the first one has the counts."""
        import numpy as np

        part = np.array([part_of(key, self.labels) for key in names.keys], np.int64)
        rows = []
        for number, label in enumerate(self.labels):
            if not number or (part[left.keys] == number).any():
                some = Sent.of(_of_part(left, part == number, not number), names)
                rows.append((label, at, 0, None, pickle.dumps(some)))
        return batch_of(rows)


def _of_part(left: Remainder, mine: Any, counts: bool) -> Remainder:
    """The remainder of some keys; the counts are those of all keys, or none."""
    return replace(
        left, rows=left.rows.at(mine[left.rows.key]), over=left.over[mine[left.over // ITEM_MAX]],
        of=left.of * counts, lasts=left.lasts.at(mine[left.lasts.key]),
        calls=left.calls[mine[left.calls[:, 0]]], checks=left.checks[mine[left.checks[:, 0]]],
        events=left.events * counts, keys=left.keys[mine[left.keys]])


@dataclass(frozen=True)
class JoinedParts(OfPart):
    """Takes what pieces leave of the keys of a part, in the order of the log; gives counts."""

    def _found(self, batches: Batches) -> Iterator[dict[str, Any]]:
        logs, places = logs_of(self.suite), list(self.files.names.values())
        total = Judged(Notes(doubts=[]), terms=self.terms)
        listener = Listener(total, places)
        names = Names(logs, places, False, self.terms.remember)
        joined = Joined(logs, self.terms, total.notes, names)
        for batch in batches:
            for told, file, left in zip(*(batch.column(name).to_pylist() for name in (
                    "report", "file", "events")), strict=True):
                if told == UNFIT:
                    raise Unfit
                if told is not None:
                    hears(listener, told, file)
                elif not joined.takes(pickle.loads(left).here(names)):
                    raise Unfit
        total.events, total.keys = joined.run.ends()
        if total.keys:
            logs.judge("", self.terms, total.notes, joined.common)
        yield from counts_of(total)
