"""A whole run over columns: chunks of a log, its keys judged together, and some of them one by one.

Each chunk is sorted by key, and the system's ``Whole`` judges all its keys at a time. It says
nothing of a log but that it is right: a key at which it finds anything else is handed over to the
judge of one key, which is brought to where the key is and goes on from there, event by event. So
what is violated, unknown or foreign is said by one judge, whichever way a log is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ....spec.notation.errors import NotationError
from ....spec.verdicts.native_refusal import NotNative
from ..kinds import KeyJudge, Logs, Terms
from ..notes import Notes
from ..readers import Log, batches_of
from ..understanding import Calls
from .rows import Names, Rows, Unfit, joined, rows_of_batch
from .segments import Handed, Segments, Whole, sorted_by_key

if TYPE_CHECKING:
    from ..run import Judged

__all__ = ["CHUNK", "judged_whole"]

CHUNK: Final = 1 << 18
"""Rows that are judged at a time."""


def judged_whole(log: Log, logs: Logs, terms: Terms, notes: Notes, found: Judged,
                 watch: Callable[[int], None]) -> bool:
    """Judge a log in whole columns; False if it has to be judged row by row: then ``notes`` and
    ``found`` are to be made anew. Raises ``InputError`` as a run row by row does."""
    batches = batches_of(log, CHUNK) if logs.whole is not None and terms.from_start else None
    if batches is None or log.mapped.order != "file":
        return False
    assert logs.whole is not None
    names = Names(logs, log.file)
    try:
        common = logs.common(terms, notes)
        whole = logs.whole(terms, notes, names, common)
        if whole is None:
            return False
        _Run(logs, whole, names, found, watch).judges(log, batches)
    except (Unfit, NotNative, NotationError):
        return False
    if found.events:
        logs.judge("", terms, notes, common)    # notes what is not shown on these terms
    return True


class _Run:
    def __init__(self, logs: Logs, whole: Whole, names: Names, found: Judged,
                 watch: Callable[[int], None]) -> None:
        import numpy as np

        self._logs, self._whole, self._names = logs, whole, names
        self._found, self._watch = found, watch
        self._alone: dict[int, KeyJudge] = {}
        self._is_alone = np.zeros(1024, bool)
        self._is_over = np.zeros(1024, bool)
        self._calls = Calls()
        self._seen = np.zeros(1024, bool)

    def judges(self, log: Log, batches: Iterator[Any]) -> None:
        """Judge all chunks, and end all judges."""
        line = 1
        parts: list[Rows] = []
        for batch in batches:   # no larger than a part of the file, which may be small
            parts.append(rows_of_batch(log, batch, line, self._names))
            line += batch.num_rows
            if sum(map(len, parts)) >= CHUNK:
                self._takes(joined(parts))
                self._watch(self._found.events)
                parts = []
        if any(map(len, parts)):
            self._takes(joined(parts))
        self._feeds([], self._whole.ends())
        for judge in self._alone.values():
            judge.end()
        self._found.keys = int(self._seen.sum())

    def _takes(self, rows: Rows) -> None:
        self._found.events += len(rows)
        keys = len(self._names.keys)
        self._is_alone, self._is_over, self._seen = (
            _longer(each, keys) for each in (self._is_alone, self._is_over, self._seen))
        self._seen[rows.key] = True
        alone = self._is_alone[rows.key] if self._alone else None
        parts = []
        if alone is not None and alone.any():
            parts.append(rows.at(alone & ~self._is_over[rows.key]))
            rows = rows.at(~alone)
        handed = []
        if len(rows):
            rows, segments = sorted_by_key(rows)
            handed = self._whole.takes(rows, segments)
        self._feeds(parts, handed)

    def _feeds(self, parts: list[Rows], handed: list[Handed]) -> None:
        """Let the judges of single keys take rows, in the order of the log."""
        for each in handed:
            self._alone[each.key] = each.judge(self._calls)
            self._is_alone[each.key] = True
            parts.append(each.rows)
        if not parts:
            return
        rows = joined(parts)
        for at in rows.line.argsort(kind="stable").tolist():
            key = int(rows.key[at])
            judge = self._alone[key]
            if not self._is_over[key]:
                judge.take(self._calls.numbered(*self._names.event(rows, at)))
                self._is_over[key] = judge.is_over


def _longer(mask: Any, size: int) -> Any:
    import numpy as np

    if len(mask) >= size:
        return mask
    found = np.zeros(2 * size, bool)
    found[:len(mask)] = mask
    return found
