"""All elections of a log at a time: each is in a set of states, and an event leads from set to set.

The holder of the lock is hidden, so an election is in all states that explain its log. There are
few such sets, as terms are numbered anew, and all keys meet the same ones again and again. So where
an event leads is asked of the sets once (``steps_of``, as event by event), and kept in a table;
then a row is one look into it. What refuses an event, or is too much for the table, goes to the
key's own judge, in the very states in which the key is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ....spec.election.observed_election import ObservedElection, Token
from ....spec.engines.candidates import Candidates, CandidateSets, LostTrack
from ...columns.cells import NONE, Unfit, longer
from ...columns.recent import Recent
from ...columns.rows import Names, Rows
from ...columns.segments import Handed, Segments, greatest_so_far, sorted_by_key
from ...columns.tables import Early
from ...logs.events import Event
from ...logs.kinds import KeyJudge, Terms
from ...logs.notes import AROUND, WHOLE, Notes
from ...logs.understanding import Calls
from .log_steps import is_of_nobody, joined_in, shows_disturbed, size_of, steps_of
from .suite import compared

if TYPE_CHECKING:
    from ...columns.cells import Numbers

__all__ = ["CANDIDATES_MAX", "WholeElections"]

CANDIDATES_MAX: Final = 16
"""Candidates of an election that is judged in whole columns, at most."""

_SETS_MAX: Final = 1 << 15
"""Sets of states that the table has, at most."""

_FEW: Final = 100
"""Keys that take their rows one after the other: of more, all take one row at a time."""

_STOPPED, _UNKNOWN = 0, -1

_TOKENS: Final = [compared(2 * is_some, 1 if is_greater else 3, 2 * is_some if is_own else None)
                  for is_some in (0, 1) for is_greater in (0, 1) for is_own in (0, 1)]
"""The token of a report: by whether it has a number, which is greater than all before, which is the
candidate's own."""


class _Judge(KeyJudge, Protocol):
    """The judge of one election, which can continue where the table is."""

    def continues(self, here: Candidates, numbers: Mapping[str, int], greatest: int,
                  own: Mapping[int, int]) -> None:
        """Continue in the middle of a log."""
        ...

    def has_seen(self, events: Sequence[Event], are_all: bool, notes: Notes) -> None:
        """Take events that were judged elsewhere."""
        ...


class _Event(NamedTuple):
    """An event, without its time and place: by a candidate, or by none."""

    do: str
    candidate: int | None
    token: int


class _Table:
    """Where each event leads from each set of states. The set 0 is none: there a key stays that an
    event was refused, or that needs a closer look."""

    def __init__(self, sets: CandidateSets, terms: Terms, meanings: Sequence[tuple[str, bool]]
                 ) -> None:
        import numpy as np

        self._sets, self._steady, size = sets, shows_disturbed(terms), size_of(terms)
        self.events: list[_Event] = []
        self.first: dict[tuple[str, bool], int] = {}
        for do, is_empty in meanings:
            self.first[do, is_empty] = len(self.events)
            of_none = is_of_nobody(do, "empty" if is_empty else "")
            self.events += [_Event(do, candidate, token)
                            for candidate in ((None,) if of_none else range(size))
                            for token in (Token if do == "leads" else (0,))]
        self.joined = np.zeros((1, size), bool)
        self.leads = np.zeros((1, len(self.events)), np.int32)
        self.sets: list[Candidates | None] = [None]
        self._numbers: dict[frozenset[Any], int] = {}
        self._of_set: dict[int, int] = {}       # by the identity of the set

    def number(self, here: Candidates) -> int:
        """The number of a set; ``_STOPPED`` if the table is full."""
        import numpy as np

        found = self._of_set.get(id(here))
        if found is not None:
            return found
        states = here.states
        found = self._numbers.get(states)
        if found is None:
            if len(self.sets) >= _SETS_MAX:
                return _STOPPED
            found = self._numbers[states] = len(self.sets)
            self.sets.append(here)
            if found >= len(self.leads):
                self.leads = np.concatenate([self.leads, np.full_like(self.leads, _UNKNOWN)])
                self.joined = np.concatenate([self.joined, np.zeros_like(self.joined)])
            self.joined[found] = joined_in(self._sets, here)
        held = self.sets[found]
        if held is here:        # an object that is held has its identity alone
            self._of_set[id(here)] = found
        return found

    def find(self, here: int, event: int) -> int:
        """The number of the set to which an event leads, which is not known yet."""
        there = self.sets[here]
        do, candidate, token = self.events[event]
        has_joined = candidate is not None and bool(self.joined[here, candidate])
        try:
            for step in steps_of(do, candidate, token, has_joined, self._steady):
                there = None if there is None else self._sets.after(there, step)
            found = _STOPPED if there is None else self.number(there)
        except LostTrack:
            found = _STOPPED
        self.leads[here, event] = found
        return found

    def steps(self, event: int, is_idle: bool) -> Sequence[str]:
        """The actions of an event; of one that ``is_idle``, as a candidate has joined or left
        before."""
        do, candidate, token = self.events[event]
        has_joined = (do == "join") == is_idle
        return [action for action, _ in steps_of(do, candidate, token, has_joined, self._steady)]

    def looked_up(self) -> Any:
        """Where all events lead, set by set, to be looked up one by one."""
        return memoryview(self.leads.reshape(-1).data)

    def is_nearly_full(self) -> bool:
        """True if it is time to forget sets in which no key is."""
        return len(self.sets) >= _SETS_MAX * 3 // 4

    def renumbered(self, used: Numbers) -> Any:
        """Forget all sets but those that are ``used``; the new number of each old one."""
        import numpy as np

        kept = np.union1d([_STOPPED], used)
        now = np.full(len(self.sets) + 1, _UNKNOWN, np.int32)
        now[kept] = np.arange(len(kept))
        leads = now[self.leads[kept]]       # what led to a set that is forgotten is not known
        self.sets = [self.sets[each] for each in kept.tolist()]
        self.leads, self.joined = leads, self.joined[kept]
        self._numbers = {each.states: at for at, each in enumerate(self.sets) if each is not None}
        self._of_set = {id(each): at for at, each in enumerate(self.sets) if each is not None}
        return now


class WholeElections:
    """Judges all elections; see ``Whole``. ``make`` makes the judge of one, which notes what it
    finds. Raises ``Unfit`` where an election may be in too many states at first."""

    def __init__(self, terms: Terms, notes: Notes, names: Names, sets: CandidateSets,
                 make: Callable[[str, Notes], _Judge]) -> None:
        import numpy as np

        self._notes, self._names, self._make = notes, names, make
        self._size = size_of(terms)
        operations = [(do, False) for do in names.logs.operations]
        self._table = _Table(sets, terms, [*operations, ("quiet", True)])
        try:
            self._begin = self._table.number(sets.initial)
        except LostTrack as lost:
            raise Unfit from lost
        self._set = np.zeros(0, np.int64)               # by key: the number of its set …
        self._greatest = np.zeros(0, np.int64)          # … its greatest token …
        self._own = np.zeros((0, self._size), np.int64)         # … the last of each candidate …
        self._known = np.zeros((0, self._size), np.int64)       # … and the process that it is
        self._recent, self._early = Recent(AROUND), Early(WHOLE)

    def takes(self, rows: Rows) -> list[Handed]:
        """Take the next rows of the log."""
        import numpy as np

        rows, segments = sorted_by_key(rows)
        self._grows(len(self._names.keys))
        meanings = self._names.meanings
        do = [(do, do == "quiet" and result == "empty") for do, _, result in meanings]
        of_one, reports, may_be_idle = (np.array(each, bool)[rows.said] for each in (
            [not is_of_nobody(do, result) for do, _, result in meanings],
            [do == "leads" for do, _, _ in meanings],
            [do in ("join", "resign") for do, _, _ in meanings]))
        candidate = self._candidates(rows, segments, of_one)
        upto = segments.first_of(np.flatnonzero(candidate >= self._size))
        event = np.array([self._table.first[each] for each in do])[rows.said] + candidate
        leads = np.flatnonzero(reports)
        number, token = self._tokens(rows, segments, leads, candidate[leads])
        event[leads] += (len(Token) - 1) * candidate[leads] + token
        before, after, upto = self._run(event, segments, upto)
        taken = np.arange(len(rows)) < np.repeat(upto, segments.sizes)
        self._counts(event, before, taken, np.flatnonzero(may_be_idle & taken))
        some = taken[leads]
        self._keeps(rows.key[leads[some]], candidate[leads[some]], number[some])
        handed = [self._hands(rows, segments, each, int(upto[each]), int(after[each]))
                  for each in np.flatnonzero(upto < segments.ends).tolist()]
        self._recent.takes(rows, segments)
        self._early.takes(rows, segments)
        return handed

    def ends(self) -> list[Handed]:
        """The log is over; nothing that is judged here depends on it."""
        return []

    def in_use(self, column: str) -> Numbers:
        """The numbers of a column that are in use, or may be shown."""
        import numpy as np

        found = np.concatenate([self._recent.in_use(column), self._early.in_use(column)])
        return found if column != "process" else np.concatenate([found, self._known.reshape(-1)])

    def forgets(self, least: int) -> None:
        """Items with smaller numbers are forgotten, but for those that may be shown."""

    # --- what a row is -----------------------------------------------------------------------

    def _grows(self, keys: int) -> None:
        """Have places for what is known of each key, and free ones in the table."""
        import numpy as np

        self._set = longer(self._set, keys, self._begin)
        self._greatest = longer(self._greatest, keys)
        self._own, self._known = (
            longer(each, keys, NONE) for each in (self._own, self._known))
        if self._table.is_nearly_full():
            now = self._table.renumbered(np.append(self._set, self._begin))
            self._set, self._begin = now[self._set].astype(np.int64), int(now[self._begin])

    def _candidates(self, rows: Rows, segments: Segments, of_one: Any) -> Numbers:
        """By row, the number of its candidate, in the order of their first events; 0 for an event
        of none, and the size for a candidate too many."""
        import numpy as np

        known = self._known[segments.keys]
        found = np.where(of_one, self._size, 0)
        missing = np.flatnonzero(of_one)
        whose = np.repeat(np.arange(len(segments.keys)), segments.sizes)[missing]
        for number in range(self._size):
            if not len(missing):
                break
            process = rows.process[missing]
            first = np.flatnonzero(np.diff(whose, prepend=-1))
            new = first[known[whose[first], number] == NONE]
            known[whose[new], number] = process[new]
            is_it = known[whose, number] == process
            found[missing[is_it]] = number
            missing, whose = missing[~is_it], whose[~is_it]
        self._known[segments.keys] = known
        return found

    def _tokens(self, rows: Rows, segments: Segments, leads: Numbers, candidate: Numbers
                ) -> tuple[Numbers, Numbers]:
        """The numbers of the reports of some rows, and how they compare to those before."""
        import numpy as np

        number, key = rows.value[leads], rows.key[leads]
        number = np.where(number == NONE, 0, number)
        if not len(leads):
            return number, number
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        greatest = greatest_so_far(number, starts, self._greatest[key[starts]])
        before = np.append(0, greatest[:-1])
        before[starts] = self._greatest[key[starts]]
        own = np.full(len(number), NONE)
        for each in range(self._size):
            some = np.flatnonzero(candidate == each)
            mine = number[some]
            last = np.append(0, mine[:-1])
            first = np.flatnonzero(np.diff(key[some], prepend=-1))
            last[first] = self._own[key[some][first], each]
            own[some] = last
        which = 4 * (number != 0) + 2 * (number > before) + (number == own)
        return number, np.array(_TOKENS, np.int64)[which]

    def _keeps(self, key: Numbers, candidate: Numbers, number: Numbers) -> None:
        """Keep the numbers of some reports, in their order."""
        import numpy as np

        np.maximum.at(self._greatest, key, number)
        self._own[key, candidate] = number      # the last one stays

    # --- the sets ------------------------------------------------------------------------------

    def _run(self, event: Numbers, segments: Segments, upto: Numbers
             ) -> tuple[Numbers, Numbers, Numbers]:
        """Let each key take its events up to a row; by row, the set before it. Of each key the set
        in which it is then, and the row up to which it got."""
        import numpy as np

        sizes = upto - segments.starts
        order = np.argsort(-sizes, kind="stable")
        start, size, here = segments.starts[order], sizes[order], self._set[segments.keys[order]]
        before = np.zeros(len(event), np.int64)
        many = np.searchsorted(-size, -np.arange(int(size.max(initial=0)) + 1)).tolist()
        step = 0
        while many[step] > _FEW:
            some = many[step]
            row = start[:some] + step
            now = here[:some]
            before[row] = now
            there = self._table.leads[now, event[row]]
            while int(there.min()) < 0:
                for at in np.flatnonzero(there < 0).tolist():
                    if self._table.leads[now[at], event[row[at]]] < 0:
                        self._table.find(int(now[at]), int(event[row[at]]))
                there = self._table.leads[now, event[row]]
            here[:some] = there
            step += 1
        for at in range(many[step]):
            some = slice(int(start[at]) + step, int(start[at] + size[at]))
            here[at] = self._alone(int(here[at]), event[some], before[some])
        after = np.empty_like(here)
        after[order] = here
        got = upto.copy()
        for each in np.flatnonzero(after == _STOPPED).tolist():
            mine = before[int(segments.starts[each]):int(upto[each])]
            got[each] = segments.starts[each] + int(np.searchsorted(mine == _STOPPED, True)) - 1
            after[each] = before[got[each]]
        self._set[segments.keys] = after
        return before, after, got

    def _alone(self, here: int, events: Numbers, before: Numbers) -> int:
        """Let a key take some events; see ``_run``."""
        width, find = self._table.leads.shape[1], self._table.find
        leads = self._table.looked_up()
        found = []
        for event in events.tolist():
            found.append(here)
            there = leads[here * width + event]
            if there < 0:
                there = find(here, event)
                leads = self._table.looked_up()     # it may have grown
            here = there
        before[:] = found
        return here

    def _counts(self, event: Numbers, before: Numbers, taken: Any, may_be_idle: Numbers) -> None:
        """Note the steps of the rows that were taken."""
        import numpy as np

        table = self._table
        times = np.bincount(event[taken], minlength=len(table.events))
        candidate = np.array([each.candidate or 0 for each in table.events])
        joins = np.array([each.do == "join" for each in table.events])
        which = event[may_be_idle]
        idle = table.joined[before[may_be_idle], candidate[which]] == joins[which]
        idles = np.bincount(which[idle], minlength=len(table.events))
        for is_idle, numbers in ((False, times - idles), (True, idles)):
            for at in np.flatnonzero(numbers).tolist():
                for action in table.steps(at, is_idle):
                    self._notes.steps[ObservedElection, action] += int(numbers[at])

    # --- a key by itself -----------------------------------------------------------------------

    def _hands(self, rows: Rows, segments: Segments, each: int, upto: int, number: int) -> Handed:
        """Hand a key over at a row, in the set with a number; it was taken as far as there."""
        key, start, end = (int(part[each]) for part in segments)
        some, here = rows.at(slice(start, upto)), self._table.sets[number]
        early, recent = self._early.of(key, some), self._recent.of(key, some)
        judge = self._make(self._names.keys[key], self._notes if early is None else Notes())
        assert here is not None
        if early is None:
            known = [each for each in self._known[key].tolist() if each != NONE]
            judge.continues(
                here, {self._names.processes[process]: at for at, process in enumerate(known)},
                int(self._greatest[key]), {at: token for at, token in enumerate(
                    self._own[key].tolist()) if token != NONE})

        def made(calls: Calls) -> KeyJudge:
            judge.has_seen(self._events(recent if early is None else early, calls),
                           early is not None, self._notes)
            return judge

        return Handed(key, made, rows.at(slice(upto, end)))

    def _events(self, rows: Rows, calls: Calls) -> list[Event]:
        return [calls.numbered(*self._names.event(rows, at)) for at in range(len(rows))]
