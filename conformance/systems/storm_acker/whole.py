"""All ackers of a log at a time: each root has a machine of its own, which sees the ticks.

The value of a root is the xor of what came since its entry began. Where an entry begins is proposed
here, by the answers and the ticks; the machine shows whether it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ....spec.engines.native.running import Step, runner_of
from ....spec.storm.acking.observed_acker import ADDRESSED, ObservedAcker, Told
from ...columns.cells import NONE, longer
from ...columns.remainder import Remainder, in_order_of, lasts_of, many_rows
from ...columns.rows import ITEM_MAX, Rows
from ...columns.segments import Segments, sorted_by_key
from ...columns.things import Chunk, WholeThings, by_thing

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["WholeAckers"]

_TOLD, _EXPIRED = 32, 33
_SHOWS: Final = (("left[0]", 0), ("told{0}", _TOLD), ("expired{0}", _EXPIRED))
_LEFT: Final = (1 << _TOLD) - 1
_ROUNDS: Final = 16
"""Times that a root's entry may expire within the rows that are judged at a time."""


@dataclass
class _Messages:
    """The messages about roots, by root, in the order of the log. By message: its row, its
    operation, what it is answered, and the ticks before it; whether an entry ``begins`` with it,
    the ticks when that was renewed, its ``value`` after the message, whether that ``turns`` from
    zero or to it, and the spout task. By root: its first message, and what it is."""

    at: Numbers
    does: Numbers
    told: Numbers
    ticks: Numbers
    starts: Numbers
    what: Numbers
    begins: Any = None
    renewed: Any = None
    value: Any = None
    turns: Any = None
    task: Any = None

    def root(self) -> Numbers:
        """By message, the number of its root."""
        import numpy as np

        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.at)))

    def since(self, marked: Any) -> Numbers:
        """By message, the last one so far of its root that is marked; else the root's first."""
        import numpy as np

        found = np.zeros(len(self.at), np.int64)
        found[self.starts] = self.starts
        found[marked] = np.flatnonzero(marked)
        return np.maximum.accumulate(found)


class WholeAckers(WholeThings):
    """Judges all ackers; see ``Whole``. ``messages`` has the action of each operation that is one,
    ``answers`` the answer of each other one; those ``with_edges`` have a value."""

    columns = ("value", "renewed", "ticks", "task", "seen")

    def __init__(self, *given: Any, messages: Mapping[str, str], answers: Mapping[str, Told],
                 with_edges: tuple[str, ...], make: Callable[..., Any]) -> None:
        import numpy as np

        terms, notes, names = given
        self._buckets = terms.settings["buckets"]
        of_root = [do for do in messages if do != "tick"]
        machine: Any = ObservedAcker
        super().__init__(terms, notes, names, runner_of(
            machine, (("N", self._buckets), ("R", 1)), _steps(
                tuple((messages[do], do in with_edges) for do in of_root), messages["tick"]),
            shows=_SHOWS), make)
        operations = [*names.logs.operations, ""]
        self._actions = [messages.get(do) for do in operations]
        self._tick, self._init = operations.index("tick"), operations.index("init")
        self._step = np.array([1 + of_root.index(do) if do in of_root else 0 for do in operations])
        self._tick_step = 1 + len(of_root)
        self._is_message = np.array([do in messages for do in operations])
        self._tells = np.array([int(answers.get(do, Told.NOTHING)) for do in operations])
        self._has_edges = np.array([do in with_edges for do in operations])
        self._renews = np.array([do in ("fail", "reset_timeout") for do in operations])
        self._ticks = np.zeros(0, np.int64)     # by acker
        self._told, self._expired = self.over(), self.over()
        self._messages: Any = None
        self._strays: Any = None        # rows that no message about a root explains
        self._step_of: Any = None       # by message
        self._passed: Any = None        # ticks before each row, and at the end, of all ackers

    def waits(self, rows: Rows) -> Any:
        """The next row shows whether a message is answered."""
        return self._is_message[self.operation_of(rows)]

    def plan(self, rows: Rows, segments: Segments) -> Chunk:
        """The steps of some rows: those of messages about roots, after the ticks that passed."""
        import numpy as np

        does = self.operation_of(rows)
        told, bad = self._answered(rows, segments, does)
        self._strays = np.concatenate(bad)
        ticks = self._ticked(does == self._tick, segments)
        at, starts, what = by_thing(rows, np.flatnonzero(self._step[does]))
        messages = self._messages = _Messages(at, does[at], told[at], ticks[at], starts, what)
        self._begins(messages, bad)
        self._values(messages, rows)
        messages.task = self._tasks(messages, rows, bad)
        passed = np.diff(messages.ticks, prepend=0)
        before = self.known.of("ticks", what, NONE)
        passed[starts] = np.where(before == NONE, 0, messages.ticks[starts] - before)
        ends = np.cumsum(np.minimum(passed, self._buckets) + 1)
        self._step_of = ends - 1
        of = np.repeat(np.arange(len(at)), np.diff(ends, prepend=0))
        step = np.full(len(of), self._tick_step)
        step[self._step_of] = self._step[messages.does]
        edges = np.append(0, ends)
        return Chunk(
            rows, segments, what, edges[starts], edges[np.append(starts[1:], len(at))], at[of],
            step, messages.turns[of], messages.told[of], bad, np.zeros(len(of), np.int64),
            self.known.of("seen", what, 0))

    def across(self, chunk: Chunk) -> None:
        """Add the rows at which an entry does not begin as was proposed."""
        messages = self._messages
        if len(messages.at):
            left = chunk.before()[self._step_of] & _LEFT
            chunk.bad.append(messages.at[(left == 0) != messages.begins])

    def states(self, chunk: Chunk) -> Numbers:
        """The states of roots, as they are before; of some that ended something is remembered."""
        states = super().states(chunk)
        told, expired = self._told.has(chunk.what), self._expired.has(chunk.what)
        fresh = (told | expired) & ~self.known.find(chunk.what)[1]
        if fresh.any():
            of = self.runner.states({str(number): {"told{0}": number & 1, "expired{0}": number >> 1}
                                     for number in range(4)})
            states[fresh] = of[(told + 2 * expired)[fresh]]
        return states

    def counts(self, rows: Rows, taken: Any) -> None:
        """Note the steps of rows."""
        import numpy as np

        self._adds(np.bincount(self.operation_of(rows)[taken], minlength=len(self._actions)))

    def _adds(self, times: Numbers) -> None:
        for action, number in zip(self._actions, times.tolist(), strict=True):
            if number and action is not None:
                self.notes.steps[ObservedAcker, action] += number
        if answers := int(times[self._tells != Told.NOTHING].sum()):
            self.notes.times[ADDRESSED.id] += answers

    def keeps(self, chunk: Chunk, states: Numbers, upto: Numbers) -> None:
        """Keep roots that have an entry, and of others that they had one."""
        import numpy as np

        segments, messages = chunk.segments, self._messages
        self._ticks[segments.keys] += self._passed[upto] - self._passed[segments.starts]
        if len(messages.at):
            root = messages.root()
            taken = np.bincount(root[self._step_of < chunk.ends[root]], minlength=len(chunk.what))
            last = messages.starts + np.maximum(taken - 1, 0)
            columns = {name: np.where(taken > 0, getattr(messages, name)[last],
                                      self.known.of(name, chunk.what, 0))
                       for name in self.columns if name != "seen"}
            shown = columns["seen"] = chunk.last()
            has_entry = shown & _LEFT > 0
            self._remembers(chunk.what[~has_entry], shown[~has_entry])
            self.known.puts(chunk.what, states, columns, has_entry)
        of, key = self.known.columns, self.known.what // ITEM_MAX
        gone = self._ticks[key] - of["ticks"] >= of["seen"] & _LEFT
        if gone.any():      # they have expired since
            self._remembers(self.known.what[gone], of["seen"][gone] | 1 << _EXPIRED)
            self.known.keeps(~gone)

    def brings(self, judge: Any, key: int) -> None:
        """Bring the judge of an acker to where it is."""
        now, some = int(self._ticks[key]), self.of_key(key)
        entries = []
        for at in range(some.start, some.stop):
            slots: dict[str, Any] = {**self.runner.slots(self.known.states[at])}
            value, ticks, task = (int(self.known.columns[name][at])
                                  for name in ("value", "ticks", "task"))
            slots["left[0]"] -= now - ticks
            entries.append((self.name(int(self.known.what[at])), slots, value,
                            None if task == NONE else self.names.processes[task]))
        judge.continues(entries, self.was(self._told, key), self.was(self._expired, key))

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        found = super().in_use(column)
        return found if column != "process" else np.concatenate(
            [found, self.known.columns["task"]])

    # --- pieces of a log: see Divided ---------------------------------------------------------

    def remainder(self, rows: Rows) -> Remainder | None:
        """The remainder of some rows, without the roots that were answered among them; None where
        an answer is out of place."""
        import numpy as np

        rows, segments = sorted_by_key(rows)
        chunk, _, _, stops = self.tried(rows, segments)
        does, messages = self.operation_of(rows), self._messages
        answers = self._tells[does] != Told.NOTHING
        late = segments.starts[answers[segments.starts]]    # to the last row before these
        if len(np.setdiff1d(self._strays, late)):
            return None
        root = messages.root()
        of_row = np.full(len(rows), -1)
        of_row[messages.at] = root
        shown = chunk.last()
        over = (shown & _LEFT == 0) & (shown >> _TOLD & 1 == 1) & (shown >> _EXPIRED & 1 == 0)
        over[stops >= 0] = False
        over[np.isin(chunk.what, rows.key[late] * ITEM_MAX + rows.item[late])] = False
        last = segments.ends - 1
        last = np.where(answers[last], np.maximum(last - 1, segments.starts), last)
        for some in (*chunk.bad, last):     # the last one shows what an answer after it is to
            over[of_row[some][of_row[some] >= 0]] = False
        many = many_rows(segments)
        over &= np.isin(chunk.what // ITEM_MAX, segments.keys[many])
        gone = np.zeros(len(rows) + 1, bool)
        of_over = messages.at[over[root]]
        gone[of_over] = True
        gone[of_over[messages.told[over[root]] != Told.NOTHING] + 1] = True
        gone = gone[:-1]
        none = np.zeros((0, 3), np.int64)
        return Remainder(
            in_order_of(rows.at(~gone)), chunk.what[over],
            np.bincount(does[gone], minlength=len(self._actions)),
            lasts_of(rows, segments, many, self.waits(rows)[segments.ends - 1]),
            none[:, :2], none, len(rows), segments.keys)

    def fits(self, left: Remainder) -> bool:
        """True if the rows with this remainder are plain after those so far: no root is known that
        was answered among them."""
        import numpy as np

        held = self.held.key * ITEM_MAX + self.held.item
        if self.known.find(left.over)[1].any() or np.isin(held, left.over).any() or any(
                ended.has(left.over).any() for ended in (self._told, self._expired)):
            return False
        rows, segments, _ = self.split(left.rows, are_all=False)
        if not len(rows):
            return True
        chunk, *_ = self.tried(rows, segments)
        return not len(np.concatenate(chunk.bad))

    def joins(self, left: Remainder) -> None:
        """Be behind the rows with this remainder, which fits."""
        super().joins(left)
        self._adds(left.of)
        self._told.add(left.over)

    # --- what is proposed ---------------------------------------------------------------------

    def _answered(self, rows: Rows, segments: Segments, does: Numbers
                  ) -> tuple[Numbers, list[Numbers]]:
        """By row, what the message is answered; and the rows that need a closer look."""
        import numpy as np

        is_message, tells = self._is_message[does], self._tells[does]
        told = np.append(tells[1:], Told.NOTHING)
        told[segments.ends - 1] = Told.NOTHING
        told[~is_message] = Told.NOTHING
        alone = tells != Told.NOTHING
        alone[1:] &= told[:-1] == Told.NOTHING
        answered = np.flatnonzero(told)
        ticks = does == self._tick
        others = answered[ticks[answered] | (rows.item[answered] != rows.item[
            np.minimum(answered + 1, len(rows) - 1)])]
        return told, [np.flatnonzero(alone | (~is_message & (tells == Told.NOTHING))
                                     | (ticks & (rows.item != NONE))), others]

    def _ticked(self, is_tick: Any, segments: Segments) -> Numbers:
        """By row, the ticks of its acker before it."""
        import numpy as np

        self._ticks = longer(self._ticks, len(self.names.keys))
        self._passed = np.append(0, np.cumsum(is_tick))
        offset = self._ticks[segments.keys] - self._passed[segments.starts]
        found: Numbers = self._passed[:-1] + np.repeat(offset, segments.sizes)
        return found

    def _begins(self, messages: _Messages, bad: list[Numbers]) -> None:
        """Where entries begin: at first, after an answer, and when one has expired."""
        import numpy as np

        at, starts, ticks = messages.at, messages.starts, messages.ticks
        ends = (messages.told == Told.ACK) | (messages.told == Told.FAIL)
        begins = np.append(False, ends[:-1])[:len(at)]
        renewed = self.known.of("renewed", messages.what, NONE)
        begins[starts] = renewed == NONE
        renews = self._renews[messages.does]
        for _ in range(_ROUNDS):
            then = ticks.copy()
            then[starts] = np.where(begins[starts] | renews[starts], ticks[starts], renewed)
            then = then[messages.since(begins | renews)]
            before = np.append(0, then[:-1])[:len(at)]
            before[starts] = renewed
            late = ~begins & (ticks - before >= self._buckets)
            if not late.any():
                break
            first = np.flatnonzero(late)
            root = messages.root()[first]
            begins[first[np.append(True, root[1:] != root[:-1])]] = True
        else:
            bad.append(at[late])
        messages.begins, messages.renewed = begins, then

    def _values(self, messages: _Messages, rows: Rows) -> None:
        """The value of each entry after each message, and whether that turns zero, or from it."""
        import numpy as np

        value = np.where(self._has_edges[messages.does], rows.value[messages.at], 0)
        goes_on = messages.starts[~messages.begins[messages.starts]]
        carried = value.copy()
        carried[goes_on] ^= self.known.of("value", messages.what, 0)[
            ~messages.begins[messages.starts]]
        so_far = np.append(0, np.bitwise_xor.accumulate(carried))
        messages.value = so_far[1:] ^ so_far[:-1][messages.since(messages.begins)]
        messages.turns = (((messages.value ^ value) == 0) != (messages.value == 0)).astype(np.int64)

    def _tasks(self, messages: _Messages, rows: Rows, bad: list[Numbers]) -> Numbers:
        """The spout task of each root after each message; answers to another one are bad."""
        import numpy as np

        at, is_init = messages.at, messages.does == self._init
        since = messages.since(is_init)
        task = np.where(is_init[since], rows.process[at][since], np.repeat(
            self.known.of("task", messages.what, NONE),
            np.diff(messages.starts, append=len(at))))
        answered = np.flatnonzero(messages.told)
        other = rows.process[at[answered] + 1] != task[answered]
        bad.append(at[answered[other & (task[answered] != NONE)]])
        return task

    def _remembers(self, what: Numbers, shown: Numbers) -> None:
        """Remember of some roots without an entry that they were answered, and have expired."""
        for ended, bit in ((self._told, _TOLD), (self._expired, _EXPIRED)):
            ended.add(what[shown >> bit & 1 == 1])


@cache
def _steps(of_root: tuple[tuple[str, bool], ...], tick: str) -> tuple[Step, ...]:
    return (Step(), *(Step(action, {"root": 0, "tells": "second", **(
        {"a": "first", "b": 0} if has_edges else {})}) for action, has_edges in of_root),
        Step(tick, {"tells": int(Told.NOTHING)}))
