"""The remainder of a piece of a log, where each thing of a key is judged by itself.

An item that is put and taken within a piece, or a root of which all messages are in it, matters to
nothing else: it is judged where the piece is read, and what is left of it is that it was there.
All other rows are left, and pieces of which only these are left are judged one after the other,
in their order, by the judge of all keys (``Run``): it is where it would be if it had read all rows.
Where what is left is not plain, that piece is read once more, and all rows after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..logs.kinds import Logs, Terms
from ..logs.notes import AROUND, WHOLE, Notes
from .cells import NONE, Unfit
from .rows import ITEM_MAX, Meaning, Names, Rows
from .run import Run, gathered
from .segments import Segments, Whole, stable_order

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Joined", "Remainder", "Sent", "in_order_of", "keys_are_few", "lasts_of", "many_rows",
           "remainders_of"]

_KEYS_MOST: Final = 64
_OF_KEY: Final = 1_024
"""Keys that a log which is cut may always have, and rows of each, in the mean, if there are more:
what a piece leaves grows with its keys."""


@dataclass(frozen=True)
class Remainder:
    """The ``rows`` that a piece leaves, in the order of the log, and of those that are not left:
    the things that came and went (``over``, the key of each with its item), how many rows there
    were ``of`` each kind, the ``lasts`` of each key that has any (the last rows but for one that is
    not understood yet), the ``calls`` (key and process) that begin before any other row of their
    process, and ``checks``: at a line of a key, a number.

    ``events`` is the number of all rows, ``keys`` are all that have any.
    """

    rows: Rows
    over: Numbers
    of: Numbers
    lasts: Rows
    calls: Numbers
    checks: Numbers
    events: int
    keys: Numbers


class Divided(Whole, Protocol):
    """A ``Whole`` of things that are judged each by itself."""

    def remainder(self, rows: Rows) -> Remainder | None:
        """Return what some rows leave, with nothing known of those before; None if they need a
        closer look."""
        ...

    def fits(self, left: Remainder) -> bool:
        """True if the rows of which this is left are plain from here on; nothing is changed."""
        ...

    def joins(self, left: Remainder) -> None:
        """Be where all rows would have led to of which this is left; it ``fits``."""
        ...


def remainders_of(logs: Logs, terms: Terms, names: Names, parts: Iterable[Rows]
                  ) -> Iterator[Remainder | None]:
    """The remainders of the chunks of a piece. Raises ``Unfit``."""
    for rows in gathered(iter(parts)):
        if not _has_no(rows.call):
            raise Unfit     # of each identity of a call it would have to be said that it began
        notes = Notes()
        yield _divided(logs, terms, notes, names, logs.common(terms, notes)).remainder(rows)


def _has_no(column: Numbers) -> bool:
    return bool((column[:1] == NONE).all() if column.strides == (0,) else (column == NONE).all())


def _divided(logs: Logs, terms: Terms, notes: Notes, names: Names, common: Any) -> Divided:
    if logs.whole is None or not logs.by_item(terms):
        raise Unfit
    found: Divided | None = logs.whole(terms, notes, names, common)
    if found is None:
        raise Unfit
    return found


def keys_are_few(keys: int, rows: int) -> bool:
    """True if so many keys in so many rows are few enough to cut a log."""
    return keys <= max(_KEYS_MOST, rows // _OF_KEY)


class Joined:
    """The judge of all keys, which takes what pieces leave, or their rows. What is found goes to
    the ``notes``; ``watch`` gets the number of events now and then."""

    def __init__(self, logs: Logs, terms: Terms, notes: Notes, names: Names,
                 watch: Callable[[int], None] = lambda at: None) -> None:
        self.common = logs.common(terms, notes)
        self._whole = _divided(logs, terms, notes, names, self.common)
        self.run = Run(logs, self._whole, names, watch)

    def takes(self, left: Remainder) -> bool:
        """Take what the next rows leave; false, and nothing is changed, if these are not plain."""
        if not self._whole.fits(left):
            return False
        self.run.joins(left.events, left.keys, lambda: self._whole.joins(left))
        return True


# --- for systems --------------------------------------------------------------------------------


def many_rows(segments: Segments) -> Any:
    """The keys that have so many rows that these are not all kept: others leave all of them."""
    return segments.sizes > WHOLE


def lasts_of(rows: Rows, segments: Segments, which: Any, waits: Any = None) -> Rows:
    """The last rows of some keys, but for the very last one of each that ``waits``."""
    import numpy as np

    ends = segments.ends if waits is None else segments.ends - waits
    places = ends[which][:, None] + np.arange(-AROUND, 0)[None, :]
    return rows.at(places.reshape(-1))


def in_order_of(rows: Rows) -> Rows:
    """The rows in the order of the log."""
    return rows.at(stable_order(rows.turn))


# --- on their way ---------------------------------------------------------------------------------


class _Few:
    """The numbers in some columns, numbered anew, without gaps; -1 for none."""

    def __init__(self, *columns: Numbers) -> None:
        import numpy as np

        found = np.unique(np.concatenate(columns))
        self._numbers = found[found != NONE]

    def __call__(self, column: Numbers) -> Numbers:
        """The new numbers of a column."""
        import numpy as np

        return np.where(column == NONE, -1, np.searchsorted(self._numbers, column))

    def named(self, name: Callable[[int], Any]) -> list[Any]:
        """The names of the numbers, in their new order."""
        return list(map(name, self._numbers.tolist()))


def _with_numbers(rows: Rows, key: Numbers, said: Numbers, process: Numbers, item: Numbers) -> Rows:
    return Rows(key, said, process, rows.call, item, rows.value, rows.place, rows.time, rows.line,
                rows.turn)


@dataclass(frozen=True)
class Sent:
    """A remainder, with names in place of numbers."""

    left: Remainder
    keys: Sequence[str]
    processes: Sequence[str]
    meanings: Sequence[Meaning]
    items: Sequence[Any] | None
    are_texts: bool

    @classmethod
    def of(cls, left: Remainder, names: Names) -> Sent:
        """A remainder, as it is sent."""

        rows, lasts, over = left.rows, left.lasts, left.over % ITEM_MAX
        key = _Few(rows.key, lasts.key, left.keys, left.calls[:, 0], left.checks[:, 0],
                   left.over // ITEM_MAX)
        process = _Few(rows.process, lasts.process, left.calls[:, 1])
        item = None if names.items is None else _Few(rows.item, lasts.item, over)

        def sent(given: Rows) -> Rows:
            return _with_numbers(given, key(given.key), given.said, process(given.process),
                                 given.item if item is None else item(given.item))

        found = _numbered(left, sent, key, process, over if item is None else item(over))
        return cls(found, key.named(names.keys.__getitem__),
                   process.named(names.processes.__getitem__), list(names.meanings),
                   None if item is None else item.named(names.item),
                   names.items is not None and names.items.are_texts)

    def here(self, names: Names) -> Remainder:
        """The remainder, with the numbers that its names have here. Raises ``Unfit``."""
        import numpy as np

        key = np.array([*names.keys.numbers(self.keys), NONE], np.int64)
        process = np.array([*names.processes.numbers(self.processes), NONE], np.int64)
        said = np.array([*(names.said(each) for each in self.meanings), NONE], np.int64)
        item = None
        if self.items is not None:
            texts = np.empty(len(self.items), object)
            texts[:] = self.items
            item = np.append(names.numbers_of_items(texts, self.are_texts), NONE)
        elif not names.plain_items():
            raise Unfit

        def here(given: Rows) -> Rows:
            return _with_numbers(given, key[given.key], said[given.said], process[given.process],
                                 given.item if item is None else item[given.item])

        over = self.left.over % ITEM_MAX
        return _numbered(self.left, here, key.__getitem__, process.__getitem__,
                         over if item is None else item[over])


def _numbered(left: Remainder, rows: Callable[[Rows], Rows], key: Callable[[Numbers], Numbers],
              process: Callable[[Numbers], Numbers], over: Numbers) -> Remainder:
    """A remainder with other numbers."""
    import numpy as np

    return Remainder(
        rows(left.rows), key(left.over // ITEM_MAX) * ITEM_MAX + over, left.of, rows(left.lasts),
        np.stack([key(left.calls[:, 0]), process(left.calls[:, 1])], axis=1),
        np.concatenate([key(left.checks[:, 0])[:, None], left.checks[:, 1:]], axis=1),
        left.events, key(left.keys))
