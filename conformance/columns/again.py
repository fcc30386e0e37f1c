"""A second look at a log in whole columns: see ``logs.again``.

Of a key with many rows only those become events that may be of use: the rows about the item of the
finding with the beginnings of their calls, those of no item if they are few, and the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...spec.notation.errors import InputError
from ..logs.again import LAST, MOST, Gathered, by_events
from ..logs.kinds import Logs, Terms
from ..logs.readers import Log
from ..logs.understanding import Calls
from .cells import NONE, Unfit
from .rows import LINE, Names, Rows
from .run import chunks_of

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["look"]

_ALL: Final = 2_000
"""Rows of a key in a chunk that all become events."""

_BACK: Final = 4_096
"""Rows of a key before an end, among which the beginning of its call is looked for."""


def look(files: Sequence[Log], logs: Logs, terms: Terms, wanted: Sequence[Gathered],
         watch: Callable[[int], None]) -> None:
    """Read a log once more for what is gathered, in whole columns if that can be."""
    chunks = chunks_of(files, logs, terms)
    if chunks is not None:
        try:
            _looks(*chunks, wanted, watch)
            return
        except (Unfit, InputError, UnicodeDecodeError):
            for file in files:      # what was gathered until then is gathered again
                file.begins_anew()
            for each in wanted:
                each.begins_anew()
    by_events(files, logs, terms, wanted, watch)


def _looks(names: Names, chunks: Any, wanted: Sequence[Gathered], watch: Callable[[int], None]
           ) -> None:
    calls, read = [Calls() for _ in wanted], 0
    for rows in chunks:
        read += len(rows)
        watch(read)
        for each, numbered in zip(wanted, calls, strict=True):
            if not each.is_over:
                some = rows.at(_of_use(rows, names, each))
                for at in range(len(some)):
                    each.takes(numbered.numbered(*names.event(some, at)))
        if all(each.is_over for each in wanted):
            return


def _of_use(rows: Rows, names: Names, gathered: Gathered) -> Numbers:
    """The places of the rows that may be of use, up to the one of the finding."""
    import numpy as np

    event = gathered.finding.event
    key = names.keys.number(gathered.finding.key)
    places = np.flatnonzero(rows.key == key)
    line = names.files.index(event.file) << LINE | event.line if event.file in names.files else -1
    here = np.flatnonzero(rows.line[places] == line)
    if len(here):
        places = places[:here[-1] + 1]
    if len(places) <= _ALL:
        return places
    item = rows.item[places]
    chosen = np.zeros(len(places), bool)
    chosen[-LAST:] = True
    bare = np.flatnonzero(item == NONE)
    if len(bare) <= MOST:
        chosen[bare] = True
    if event.item is not None:
        about = np.flatnonzero(item == names.item_number(event.item))
        chosen[about] = True
        for end in about.tolist():
            chosen[_begin_before(rows, names, places, end)] = True
    found: Numbers = places[chosen]
    return found


def _begin_before(rows: Rows, names: Names, places: Numbers, end: int) -> Any:
    """The row that began the call that ended here, among those of the key; nothing for none."""
    import numpy as np

    before = places[max(0, end - _BACK):end]
    is_begin = np.array([phase == "begin" for _, phase, _ in names.meanings], bool)
    same = np.flatnonzero(is_begin[rows.said[before]]
                          & (rows.process[before] == rows.process[places[end]])
                          & (rows.call[before] == rows.call[places[end]]))
    return same[-1:] + max(0, end - _BACK)
