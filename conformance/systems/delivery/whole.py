"""All queues of a log at a time: each message has a machine of its own.

The machine of a message is the broker's observer with room for that message, and for one that is
always ready: so it may refuse a message where the queue is full. It has two consumers: the one that
had the message last, and all others. It sees what becomes of that message. Whether the queue may
refuse, and which message is to be given to which consumer, is asked of all messages together
(``Sums``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ....spec.engines.native.running import Step, runner_of
from ....spec.flow.observed_delivery import Law, ObservedDelivery, Where
from ...columns.calls import in_groups
from ...columns.cells import NONE, Unfit, longer
from ...columns.rows import ITEM_MAX, Rows
from ...columns.segments import Segments
from ...columns.things import Chunk, WholeThings
from .sums import TIMES, Sums

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["Does", "WholeQueues"]

_MOST: Final = 1 << 16
"""Deliveries of a message."""

_SHOWS: Final = (("where[0]", 0), ("times[0]", TIMES))
_WHERE: Final = (1 << TIMES) - 1
_LOST, _LATE = ("disconnect", "ok"), ("tick", "ok")
_ODD: Final = ("restart", "tries")      # seldom, and about all messages

Actions = Mapping[tuple[str, str], str]
"""By operation and result, an action of the observer."""


class Does(NamedTuple):
    """The actions of rows: by row, the place of its action among ``Actions``; -1 for a beginning,
    and -2 for what needs a closer look."""

    number: Numbers
    places: Mapping[tuple[str, str], int]

    def where(self, operation: str, result: str = "ok") -> Any:
        """Which rows are an operation with a result."""
        return self.number == self.places[operation, result]


class _Places(NamedTuple):
    """Steps in the order of the log: the row and the message of each, and what it is."""

    row: Numbers
    key: Numbers
    item: Numbers
    step: Numbers


@cache
def _steps(actions: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Step, ...]:
    given: dict[str, str | int] = {
        "message": 0, "consumer": "first", "count": "first", "taken": "second", "ticks": 1}
    return tuple(
        Step(name, {each: given.get(each, int(Law.REFUSE if name == "refuses" else Law.UNBOUNDED))
                    for each in parameters}) for name, parameters in actions)


class WholeQueues(WholeThings):
    """Judges all queues; see ``Whole``. ``actions`` are those of the operations by their results,
    and ``parameters`` what each of the observer's actions has."""

    columns = ("seen", "seq", "holder", "due")

    def __init__(self, *given: Any, actions: Actions, law: Law, limits: Mapping[str, int],
                 parameters: Mapping[str, tuple[str, ...]], make: Callable[..., Any]) -> None:
        import numpy as np

        terms, notes, names = given
        machine: Any = ObservedDelivery
        self._actions, self._places = actions, {each: at for at, each in enumerate(actions)}
        own = {at: action for at, ((do, _), action) in enumerate(actions.items())
               if "message" in parameters[action] or (do, "ok") in (_LOST, _LATE)}
        self._of_message = np.array([at in own for at in range(len(actions))] + [False, False])
        self._step = np.array([list(own).index(at) if at in own else -1
                               for at in range(len(actions))] + [-1, -1])
        for each in (_LOST, _LATE):
            self._of_message[self._places[each]] = False
        super().__init__(terms, notes, names, runner_of(
            machine, (("K", 1), ("W", 2), ("R", 2), ("T", 1), ("D", _MOST)),
            _steps(tuple((action, parameters[action]) for action in own.values())), shows=_SHOWS),
            make)
        self._law, self._ticks_of_one = law, limits["ticks"]
        self._sums = Sums(self, law, limits["capacity"])
        self._blank = {"where[1]": int(Where.READY), "tries": min(limits["tries"], _MOST)}
        self._ended = {Where.OVER: self.over(), Where.OUT: self.over()}
        self._ticks = np.zeros(0, np.int64)     # by queue
        self._passed: Any = None        # ticks before each row, and at the end, of all queues
        self._does: Any = None

    def waits(self, rows: Rows) -> Any:
        """The next row shows whether calls overlap."""
        return self.does(rows).number == -1

    def does(self, rows: Rows) -> Does:
        """The actions that rows are, by the operations and results that they have."""
        import numpy as np

        table = np.array([-1 if phase == "begin" else self._places.get((do, result), -2)
                          for do, phase, result in self.names.meanings], np.int64)
        return Does(table[rows.said], self._places)

    def plan(self, rows: Rows, segments: Segments) -> Chunk:
        """The steps of some rows: those of messages, and where one comes back by itself."""
        import numpy as np

        does = self._does = self.does(rows)
        bad = [self._odd(rows, segments, does)]
        which = np.flatnonzero(self._of_message[does.number] & (rows.item != NONE))
        own = _Places(which, rows.key[which], rows.item[which], self._step[does.number[which]])
        backs = self._comes_back(rows, segments, does)
        if len(backs.row):
            both = [np.concatenate(pair) for pair in zip(own, backs, strict=True)]
            order = np.argsort(both[0], kind="stable")
            own = _Places(*(each[order] for each in both))
        if len(own.row):
            order, begins = in_groups(own.key, own.item)
            own = _Places(*(each[order] for each in own))
            starts = np.flatnonzero(begins)
        else:
            starts = own.row
        what = own.key[starts] * ITEM_MAX + own.item[starts]
        ends = np.append(starts[1:], len(own.row))[:len(starts)]
        chunk = Chunk(rows, segments, what, starts, ends, own.row, own.step, np.zeros_like(own.row),
                      np.zeros_like(own.row), bad, np.zeros_like(own.row),
                      self.known.of("seen", what, 0))
        self._names_consumers(chunk, does)
        return chunk

    def across(self, chunk: Chunk) -> None:
        """Add the rows at which the queue may not refuse, give, or have nothing."""
        self._sums.adds(chunk, self._does)

    def states(self, chunk: Chunk) -> Numbers:
        """The states of messages, as they are before; of some it is known that they are over."""
        states = self.runner.initial(len(chunk.what), **self._blank)
        place, found = self.known.find(chunk.what)
        states[found] = self.known.states[place[found]]
        for where, ended in self._ended.items():
            has = ended.has(chunk.what) & ~found
            if has.any():
                states[has] = self.runner.initial(1, **self._blank, **{"where[0]": int(where)})
        return states

    def counts(self, rows: Rows, taken: Any) -> None:
        """Note the steps of rows."""
        import numpy as np

        number = self.does(rows).number[taken]
        times = np.bincount(number[number >= 0], minlength=len(self._actions))
        for action, many in zip(self._actions.values(), times.tolist(), strict=True):
            if many:
                self.notes.steps[ObservedDelivery, action] += many

    def keeps(self, chunk: Chunk, states: Numbers, upto: Numbers) -> None:
        """Keep messages that are in the queue or in flight, and of others that they are over."""
        import numpy as np

        segments = chunk.segments
        self._sums.keeps(chunk, self._does, upto)
        if len(chunk.what):
            last = np.maximum(chunk.ends - 1, chunk.starts)
            shown, taken = chunk.last(), chunk.ends > chunk.starts
            columns = {"seen": shown, "seq": self._sums.seq,
                       "holder": np.where(taken, self.holder[last],
                                          self.known.of("holder", chunk.what, NONE)),
                       "due": np.where(taken, self.due[last],
                                       self.known.of("due", chunk.what, 0))}
            at = shown & _WHERE
            for where, ended in self._ended.items():
                ended.add(chunk.what[at == where])
            self.known.puts(chunk.what, states, columns,
                            (at == Where.READY) | (at == Where.HELD) | (at == Where.DEAD))
        self._ticks[segments.keys] += self._passed[upto] - self._passed[segments.starts]

    def brings(self, judge: Any, key: int) -> None:
        """Bring the judge of a queue to where it is."""
        some, now = self.of_key(key), int(self._ticks[key])
        messages = []
        for at in sorted(range(some.start, some.stop), key=self.known.columns["seq"].__getitem__):
            seen, holder, due = (int(self.known.columns[name][at])
                                 for name in ("seen", "holder", "due"))
            where = Where(seen & _WHERE)
            messages.append((
                self.name(int(self.known.what[at])), where, seen >> TIMES,
                self.names.processes[holder] if where == Where.HELD else None, due - now))
        judge.continues(messages, self._sums.limits_of(key),
                        {where: self.was(ended, key) for where, ended in self._ended.items()})

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        found = super().in_use(column)
        return found if column != "process" else np.concatenate(
            [found, self.known.columns["holder"], self._sums.consumers()])

    # --- what rows say --------------------------------------------------------------------------

    def _odd(self, rows: Rows, segments: Segments, does: Does) -> Numbers:
        """The rows that need a closer look: overlapping calls, and what is seldom."""
        import numpy as np

        begins = does.number == -1
        apart = np.append(rows.process[1:] != rows.process[:-1], True) | np.append(
            begins[1:], True)
        apart[segments.ends - 1] = False    # nothing follows at all
        odd = (does.number == -2) | begins & apart
        for each in _ODD:
            odd |= does.where(each)
        odd |= (does.where("receive") | does.where("dead")) & (rows.item == NONE)
        for each in ("limit", "tick", "count"):
            odd |= does.where(each) & (rows.value < 0)
        return np.flatnonzero(odd)

    def _comes_back(self, rows: Rows, segments: Segments, does: Does) -> _Places:
        """The steps of messages that come back by themselves: the connection of their consumer is
        lost, or their time is over. Where they are not in flight any more, these change nothing."""
        import numpy as np

        self._ticks = longer(self._ticks, len(self.names.keys))
        ticks, lost = does.where("tick"), np.flatnonzero(does.where("disconnect"))
        self._passed = np.append(0, np.cumsum(np.where(ticks, rows.value, 0)))
        if not (len(lost) or ticks.any()):
            return _Places(lost, lost, lost, lost)
        segment = np.repeat(np.arange(len(segments.keys)), segments.sizes)
        given = np.flatnonzero(does.where("receive") & (rows.item != NONE))
        held = np.flatnonzero((self.known.columns["seen"] & _WHERE) == Where.HELD)
        key = self.known.what[held] // ITEM_MAX
        there = np.searchsorted(segments.keys, key)
        fits = np.append(segments.keys, -1)[there] == key
        held, there = held[fits], there[fits]
        # --- all that is, or may be, in flight: since when, and until when
        of = np.concatenate([there, segment[given]])
        since = np.concatenate([segments.starts[there] - 1, given])
        item = np.concatenate([self.known.what[held] % ITEM_MAX, rows.item[given]])
        process = np.concatenate([self.known.columns["holder"][held], rows.process[given]])
        base = self._passed[segments.starts] - self._ticks[segments.keys]
        due = np.concatenate([self.known.columns["due"][held] + base[there],
                              self._passed[given] + self._ticks_of_one])
        again = _next(of, item, since, len(rows))
        found = []
        for step, place in (
                (_LOST, _following(
                    segment[lost], rows.process[lost], lost, of, process, since, len(rows))),
                (_LATE, self._reached(np.flatnonzero(ticks), segments, of, due))):
            comes = np.flatnonzero((place < again) & (place < len(rows)))
            found.append((place[comes], segments.keys[of[comes]], item[comes],
                          np.full(len(comes), self._step[self._places[step]])))
        return _Places(*(np.concatenate(pair) for pair in zip(*found, strict=True)))

    def _reached(self, ticks: Numbers, segments: Segments, of: Numbers, due: Numbers) -> Numbers:
        """The row of the tick of each queue with which a number of ticks is reached."""
        import numpy as np

        after = self._passed[1:][ticks]
        place = np.append(ticks, self._passed.size)[np.searchsorted(after, due)]
        return np.where(place < segments.ends[of], place, self._passed.size)

    def _names_consumers(self, chunk: Chunk, does: Does) -> None:
        """Which consumer each step is of, and its other numbers."""
        import numpy as np

        rows, row, number = chunk.rows, chunk.row, does.number[chunk.row]
        gives = number == self._places["receive", "ok"]
        since = np.zeros(len(row), np.int64)
        since[chunk.starts] = chunk.starts
        since[gives] = np.flatnonzero(gives)
        since = np.maximum.accumulate(since)
        sizes = chunk.ends - chunk.starts
        before = np.repeat(self.known.of("holder", chunk.what, NONE), sizes)
        due = np.repeat(self.known.of("due", chunk.what, 0), sizes)
        segment = np.searchsorted(chunk.segments.starts, row, side="right") - 1
        base = self._passed[chunk.segments.starts] - self._ticks[chunk.segments.keys]
        self.holder = np.where(gives[since], rows.process[row][since], before)
        self.due = np.where(gives[since], self._passed[row][since] - base[segment]
                            + self._ticks_of_one, due)
        answers = np.zeros(len(self._actions) + 2, bool)
        taken = np.zeros(len(self._actions) + 2, np.int64)
        for (do, result), at in self._places.items():
            answers[at], taken[at] = do in ("ack", "requeue", "reject"), result == "ok"
        chunk.first = np.where(answers[number] & (rows.process[row] != self.holder), 1, 0)
        counted = number == self._places["count", "ok"]
        chunk.first[counted] = rows.value[row[counted]]
        chunk.second = taken[number]
        new = self.known.of("seq", chunk.what, NONE) == NONE
        for ended in self._ended.values():
            new &= ~ended.has(chunk.what)
        opens = np.isin(number[chunk.starts], [
            self._places["publish", result] for result in ("ok", "full")])
        chunk.bad.append(row[chunk.starts[new & ~opens]])


def _next(of: Numbers, item: Numbers, since: Numbers, end: int) -> Numbers:
    """Of each delivery, the row of the next one of the same message, or the end."""
    import numpy as np

    found = np.full(len(of), end)
    order, begins = in_groups(of, item)
    same = ~begins[1:]
    found[order[:-1][same]] = since[order[1:][same]]
    return found


def _following(group: Numbers, member: Numbers, row: Numbers, of: Numbers, whose: Numbers,
               since: Numbers, end: int) -> Numbers:
    """For each of some instants, the first row behind it of the same group and member, or the end.
    """
    import numpy as np

    if not len(row):
        return np.full(len(of), end)
    width = int(max(member.max(), whose.max(initial=0))) + 1
    if (int(max(group.max(), of.max(initial=0))) + 1) * width * (end + 2) >= 1 << 62:
        raise Unfit
    all_ = np.sort((group * width + member) * (end + 2) + row + 1)
    asked = (of * width + whose) * (end + 2)
    found = np.append(all_, -1)[np.searchsorted(all_, asked + since + 1, side="right")]
    return np.where(found // (end + 2) == asked // (end + 2), found % (end + 2) - 1, end)
