"""Conditions on all messages of a queue together, in columns: room, turns and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ....spec.flow.observed_delivery import Law, Where
from ...columns.calls import in_groups
from ...columns.cells import NONE
from ...columns.rows import ITEM_MAX
from ...columns.things import Chunk

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["TIMES", "Sums"]

TIMES: Final = 8
"""The bit of what a machine shows at which the number of deliveries begins; below it is where the
message is."""

_WHERE: Final = (1 << TIMES) - 1


class Sums:
    """The sums of all queues. ``queues`` has the messages that are known (``WholeQueues``)."""

    def __init__(self, queues: Any, law: Law, capacity: int) -> None:
        self._queues, self._law, self._capacity = queues, law, capacity
        self.seq: Any = None        # of each message, its place in the order of the log
        self._limits: dict[tuple[int, int], int] = {}

    def adds(self, chunk: Chunk, does: Any) -> None:
        """Add the rows at which something is wrong."""
        import numpy as np

        rows = chunk.rows
        before = chunk.before()
        was, now = before & _WHERE, chunk.shown & _WHERE
        self.seq = self._queues.known.of("seq", chunk.what, NONE)
        if len(chunk.row):
            self.seq = np.where(self.seq == NONE, rows.turn[chunk.row[chunk.starts]], self.seq)
        ready = self._many(chunk, was, now, Where.READY)
        wrong = does.where("receive", "empty") & (ready > 0)
        full = ready >= self._capacity
        if self._law in (Law.REFUSE, Law.DROP_HEAD, Law.DROP_TAIL):
            wrong |= does.where("publish") & full
        wrong |= does.where("publish", "full") & ~(full & (self._law == Law.REFUSE))
        nothing = does.where("dead", "empty")
        if nothing.any():
            wrong |= nothing & (self._many(chunk, was, now, Where.DEAD) > 0)
        if self._limits or does.where("limit").any():
            may = self._may_have(chunk, does, was, now)
            wrong &= ~(does.where("receive", "empty") & ~may)
            wrong |= does.where("receive") & ~may
        over = (was == Where.OVER) | (was == Where.OUT)
        counted = does.where("count")[chunk.row] | does.where("count", "empty")[chunk.row]
        chunk.bad += [np.flatnonzero(wrong), chunk.row[over & counted]]
        self._turns(chunk, does, before, was, now)

    def keeps(self, chunk: Chunk, does: Any, upto: Numbers) -> None:
        """Keep the limits of consumers."""
        import numpy as np

        limits = does.where("limit")
        if not self._limits and not limits.any():
            return
        sets = limits | does.where("disconnect")
        for at in np.flatnonzero(sets & (
                np.arange(len(chunk.rows)) < np.repeat(upto, chunk.segments.sizes))).tolist():
            who = int(chunk.rows.key[at]), int(chunk.rows.process[at])
            limit = int(chunk.rows.value[at]) if limits[at] else 0
            if limit:
                self._limits[who] = limit
            else:
                self._limits.pop(who, None)

    def limits_of(self, key: int) -> dict[str, int]:
        """The limits of the consumers of a queue."""
        return {self._queues.names.processes[process]: limit
                for (of, process), limit in self._limits.items() if of == key}

    def consumers(self) -> Numbers:
        """The numbers of the consumers that have a limit."""
        import numpy as np

        return np.array([process for _, process in self._limits], np.int64)

    # --- how many --------------------------------------------------------------------------------

    def _many(self, chunk: Chunk, was: Numbers, now: Numbers, where: Where) -> Numbers:
        """By row, how many messages of its queue were somewhere before it."""
        import numpy as np

        known, segments = self._queues.known, chunk.segments
        there = np.append(0, np.cumsum((known.columns["seen"] & _WHERE) == where))
        first, last = (np.searchsorted(known.what, keys * ITEM_MAX)
                       for keys in (segments.keys, segments.keys + 1))
        more = np.zeros(len(chunk.rows) + 1, np.int64)
        change = (now == where).astype(np.int64) - (was == where)
        moved = np.flatnonzero(change)
        np.add.at(more, chunk.row[moved] + 1, change[moved])
        so_far = np.cumsum(more)[:-1]
        offset = there[last] - there[first] - so_far[segments.starts]
        found: Numbers = so_far + np.repeat(offset, segments.sizes)
        return found

    def _may_have(self, chunk: Chunk, does: Any, was: Numbers, now: Numbers) -> Any:
        """By row, whether its consumer may be given one more."""
        import numpy as np

        rows, known, keys = chunk.rows, self._queues.known, chunk.segments.keys
        held = np.flatnonzero((known.columns["seen"] & _WHERE) == Where.HELD)
        leaves = np.flatnonzero((was == Where.HELD) & (now != Where.HELD))
        gives, asks, sets, lost = (np.flatnonzero(does.where(*each)) for each in (
            ("receive",), ("receive", "empty"), ("limit",), ("disconnect",)))
        kept = np.array([(key, process, limit) for (key, process), limit in self._limits.items()],
                        np.int64).reshape(-1, 3)
        own = [gives, asks, sets, lost]
        # --- by event: the queue, the consumer, the row, the change of what it has, and its limit
        key = np.concatenate([kept[:, 0], known.what[held] // ITEM_MAX, rows.key[chunk.row[leaves]],
                              *(rows.key[each] for each in own)])
        process = np.concatenate([
            kept[:, 1], known.columns["holder"][held], self._queues.holder[leaves],
            *(rows.process[each] for each in own)])
        row = np.concatenate([np.full(len(kept) + len(held), -1), chunk.row[leaves], *own])
        change = np.repeat([0, 1, -1, 1, 0, 0, 0], [*map(len, (kept, held, leaves, *own))])
        limit = np.concatenate([kept[:, 2], np.full(len(held) + len(leaves) + len(gives)
                                                    + len(asks), NONE), rows.value[sets],
                                np.zeros(len(lost), np.int64)])
        some = np.flatnonzero(np.isin(key, keys))
        some = some[np.argsort(row[some], kind="stable")]
        order, begins = in_groups(key[some], process[some])
        at = some[order]
        change, limit = change[at], limit[at]
        first = np.maximum.accumulate(np.where(begins, np.arange(len(at)), 0))
        many = np.cumsum(change) - change
        many -= many[first]
        limit[begins & (limit == NONE)] = 0
        limit = limit[np.maximum.accumulate(np.where(limit == NONE, 0, np.arange(len(at))))]
        found = np.ones(len(rows) + 1, bool)
        found[row[at]] = (limit == 0) | (many < limit)
        return found[:-1]

    # --- next in turn --------------------------------------------------------------------------

    def _turns(self, chunk: Chunk, does: Any, before: Numbers, was: Numbers, now: Numbers) -> None:
        """Add the rows at which a message is given while it is another one's turn."""
        import numpy as np

        gives = np.flatnonzero(does.where("receive")[chunk.row])
        if not len(gives):
            return
        message = np.repeat(np.arange(len(chunk.what)), chunk.ends - chunk.starts)
        known = self._queues.known
        waits = (known.columns["seen"] & _WHERE) == Where.READY
        if self._law == Law.ANY_ORDER:
            waits &= known.columns["seen"] >> TIMES == 0
        waits[known.find(chunk.what)[0][known.find(chunk.what)[1]]] = False
        row, seq = chunk.row[gives], self.seq[message[gives]]
        segment = np.searchsorted(chunk.segments.starts, row, side="right") - 1
        least = self._least(chunk, np.flatnonzero(waits))[segment]
        fresh = before[gives] >> TIMES == 0
        first = fresh if self._law == Law.ANY_ORDER else np.ones(len(gives), bool)
        chunk.bad.append(row[first & (seq > least)])
        self._first_turns(chunk, before, was, now, message)
        if self._law != Law.ANY_ORDER:
            self._old_places(chunk, was, now, message, row, seq)

    def _least(self, chunk: Chunk, which: Numbers) -> Numbers:
        """By queue, the first message of some that are known."""
        import numpy as np

        known, keys = self._queues.known, chunk.segments.keys
        found = np.full(len(keys) + 1, 1 << 62)
        key = known.what[which] // ITEM_MAX
        at = np.searchsorted(keys, key)
        at[np.append(keys, -1)[at] != key] = len(keys)
        np.minimum.at(found, at, known.columns["seq"][which])
        return found[:-1]

    def _first_turns(self, chunk: Chunk, before: Numbers, was: Numbers, now: Numbers,
                     message: Numbers) -> None:
        """Messages are given for the first time in the order of their places."""
        import numpy as np

        end = len(chunk.rows)
        at = np.flatnonzero((was == Where.READY) & (now != Where.READY) & (before >> TIMES == 0))
        given = np.full(len(chunk.what), end)
        given[message[at]] = chunk.row[at]
        fresh = (chunk.seen == Where.READY)     # and never given
        fresh[message[(was == Where.NOWHERE) & (now == Where.READY)]] = True
        some = np.flatnonzero(fresh)
        key = chunk.what[some] // ITEM_MAX
        order, begins = in_groups(key)
        by_seq = np.argsort(self.seq[some], kind="stable")
        order = by_seq[np.argsort(key[by_seq], kind="stable")]
        place = given[some[order]]
        queue = np.cumsum(begins) * (end + 1)
        latest = np.maximum.accumulate(place + queue) - queue
        chunk.bad.append(place[(place < latest) & (place < end)])

    def _old_places(self, chunk: Chunk, was: Numbers, now: Numbers, message: Numbers, row: Numbers,
                    seq: Numbers) -> None:
        """While a message that came back is ready, none behind it is given."""
        import numpy as np

        backs = np.flatnonzero((now == Where.READY) & (was != Where.READY)
                               & (chunk.shown >> TIMES > 0))
        old = np.flatnonzero(((chunk.seen & _WHERE) == Where.READY) & (chunk.seen >> TIMES > 0))
        if not len(backs) + len(old):
            return
        leaves = np.append(np.flatnonzero((was == Where.READY) & (now != Where.READY)),
                           len(chunk.row))
        of = np.concatenate([message[backs], old])
        step = np.concatenate([backs, chunk.starts[old] - 1])
        leave = leaves[np.searchsorted(leaves, step + 1)]
        segment = np.searchsorted(chunk.segments.keys, chunk.what[of] // ITEM_MAX)
        until = np.where(leave < np.append(chunk.ends, 0)[of], np.append(chunk.row, 0)[leave],
                         chunk.segments.ends[segment])
        since = np.concatenate([chunk.row[backs], chunk.segments.starts[segment[len(backs):]] - 1])
        order = np.argsort(row, kind="stable")
        row, seq = row[order], seq[order]
        low, high = np.searchsorted(row, since + 1), np.searchsorted(row, until)
        most = _most(seq, low, high)
        for at in np.flatnonzero(most > self.seq[of]).tolist():
            behind = np.flatnonzero(seq[low[at]:high[at]] > self.seq[of[at]])
            chunk.bad.append(row[low[at] + behind[:1]])


def _most(values: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """The greatest of the values from each place up to another one; -1 for none."""
    import numpy as np

    found = np.full(len(low), -1)
    sizes = high - low
    some, width = values, 1
    while width <= int(sizes.max(initial=0)):
        here = np.flatnonzero((sizes >= width) & (sizes < 2 * width))
        found[here] = np.maximum(some[low[here]], some[high[here] - width])
        some = np.maximum(some[:-width], some[width:]) if len(some) > width else some[:0]
        width *= 2
    return found
