"""All states of a design that this reading leads to, each as one key.

A key has the numbers of all counters as its digits, so two states are never taken for one, and a
transition adds the same to every key. States are found many at a time: of all that are new, those
in which a transition is possible are picked out with a few comparisons, and changed together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .run import Refuted
from .limits import allow, look
from .system import Transition, NotCovered, System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Keys = npt.NDArray[Any]
    Words = npt.NDArray[np.uint64]
    Marks = npt.NDArray[np.bool_]

__all__ = ["MAX_LINKED", "MAX_STATES", "States", "states_of"]

VISITING = "visiting all states"
MAX_STATES = 50_000_000
"""States that are visited at most, and words of their keys: 400 MB, and as much for a moment."""
MAX_LINKED = 2_000_000
"""States at most where the steps between them are asked for, too."""
LOOKS = 400_000
"""The most looks at a transition in a batch of states: a long thin design has a batch for each."""
AT_ONCE = 100_000
"""States of one batch."""
ENDLESS = 5_000
"""More than this is never counted where a counter has no end."""
SO_FAR = 4
"""Numbers beyond all that transitions ask for that are counted, where more stand for as many."""
WORD = 2**64
"""Numbers below this are a word of a key."""


class _Digits:
    """The place of each counter in a key: its word, and what its digit counts there."""

    def __init__(self, system: System, last: Mapping[str, int]) -> None:
        self.last = last
        self.top = {name: last.get(name, ENDLESS) if counter.most is None else counter.most
                    for name, counter in system.counters.items()}
        self.place: dict[str, tuple[int, int]] = {}
        word, radix = 0, 1
        for name, top in self.top.items():
            if radix * (top + 1) >= WORD:
                word, radix = word + 1, 1
            self.place[name] = word, radix
            radix *= top + 1
        self.words = word + 1

    def sums(self, amounts: Mapping[str, int]) -> Words:
        """The sums of these amounts in each word; less than nothing wraps around."""
        import numpy as np
        found = [0] * self.words
        for name, amount in amounts.items():
            word, radix = self.place[name]
            found[word] += amount * radix
        return np.array([each % 2**64 for each in found], dtype=np.uint64)

    def values(self, states: Words, name: str) -> Numbers:
        """The values of a counter in each of these states."""
        import numpy as np
        word, radix = self.place[name]
        found = states[:, word] // np.uint64(radix) % np.uint64(self.top[name] + 1)
        return found.astype(np.int64)

    def keys(self, states: Words) -> Keys:
        """The states as what can be sorted, one each."""
        import numpy as np
        return states[:, 0] if self.words == 1 else np.ascontiguousarray(
            states).view(f"S{8 * self.words}")[:, 0]

    def states(self, keys: Keys) -> Words:
        """The words of each key."""
        import numpy as np
        found: Words = np.ascontiguousarray(keys).view(np.uint64).reshape(-1, self.words)
        return found

    def same(self, ones: Keys, others: Keys) -> Marks:
        """The marks of the places where two rows of keys are the same."""
        found: Marks = (self.states(ones) == self.states(others)).all(axis=1)
        return found


@dataclass
class _Batch:
    """Some states, and the counters that were looked up in them."""

    digits: _Digits
    states: Words
    found: dict[str, Numbers] = field(default_factory=dict)

    def values(self, name: str) -> Numbers:
        """The values of a counter in each state."""
        import numpy as np
        if name not in self.found:
            small = np.min_scalar_type(self.digits.top[name])
            self.found[name] = self.digits.values(self.states, name).astype(small)
        return self.found[name]

    def allow(self, transition: Transition) -> Marks:
        """The states in which a transition is possible."""
        import numpy as np
        found = np.ones(len(self.states), dtype=np.bool_)
        for name, least in transition.need.items():
            if least > 0:
                found &= self.values(name) >= least
        for name, most in transition.room.items():
            found &= self.values(name) <= most
        return found

    def after(self, transition: Transition) -> tuple[Numbers, Words]:
        """The states in which a transition is possible, and those after it. Raises NotCovered."""
        import numpy as np
        rows = np.flatnonzero(self.allow(transition))
        ours = {name: by for name, by in transition.change.items() if name not in self.digits.last}
        for name, by in ours.items() if len(rows) else ():
            now = self.values(name)[rows].astype(np.int64) + by
            if now.min() < 0 or now.max() > self.digits.top[name]:
                raise NotCovered("a counter leaves its range, or has no end")
        after = self.states[rows] + self.digits.sums(ours)
        for name in transition.change.keys() - ours.keys():
            after = self._or_more(after, name, transition.change[name])
        return rows, after

    def _or_more(self, after: Words, name: str, by: int) -> Words:
        """The states after a counter was changed, of which ``last`` stands for so many or more."""
        import numpy as np
        last, now = self.digits.last[name], self.digits.values(after, name)
        one = self.digits.sums({name: 1})
        changed = np.minimum(by, last - now)
        after = after + changed.astype(np.uint64)[:, None] * one
        full = after[now == last]
        return np.concatenate([after, *(full + one * np.uint64(more)
                                        for more in range(1, -by + 1))])


class _Known:
    """The keys that are known, in rows that are sorted, each much shorter than the one before."""

    def __init__(self, digits: _Digits) -> None:
        self.digits, self.number = digits, 0
        self.rows: list[Keys] = []

    def new(self, keys: Keys) -> Keys:
        """Those of these keys that were not known, sorted; from now on they are."""
        import numpy as np
        keys = np.sort(keys)
        keys = keys[np.concatenate([[True], ~self.digits.same(keys[1:], keys[:-1])])]
        for row in self.rows:
            place = np.minimum(np.searchsorted(row, keys), len(row) - 1)
            keys = keys[~self.digits.same(row[place], keys)]
        self.number += len(keys)
        if len(keys):
            self.rows.append(keys)
            self._join(2)
        return keys

    def all(self) -> Keys:
        """Those of all rows, in one."""
        self._join(0)
        return self.rows[0]

    def _join(self, times: int) -> None:
        """Join the last rows until one is so many times as long as what is after it."""
        import numpy as np
        while len(self.rows) > 1 and not 0 < times * len(self.rows[-1]) <= len(self.rows[-2]):
            last = self.rows.pop()
            self.rows[-1] = np.sort(np.concatenate([self.rows[-1], last]), kind="stable")


@dataclass
class States:
    """The reachable states, by number.

    Step ``n`` leads from ``source[n]`` to ``target[n]`` by the transition ``via[n]`` of
    ``transitions``; there are none where they were not asked for.
    """

    system: System
    transitions: Sequence[Transition]
    digits: _Digits
    keys: Keys
    source: Numbers
    target: Numbers
    via: Numbers

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _whole(self) -> _Batch:
        return _Batch(self.digits, self.digits.states(self.keys))

    def _batches(self) -> Iterator[_Batch]:
        """All states in their order; of few, what was looked up is kept."""
        if len(self) <= MAX_LINKED:
            yield self._whole
            return
        for first in range(0, len(self), AT_ONCE):
            yield _Batch(self.digits, self.digits.states(self.keys[first:first + AT_ONCE]))

    def values(self, name: str) -> Numbers:
        """The values of a counter in each state."""
        import numpy as np
        return np.concatenate([batch.values(name) for batch in self._batches()])

    def largest(self, name: str) -> int:
        """The most that a counter ever is."""
        return max(int(batch.values(name).max()) for batch in self._batches())

    def allow(self, transition: Transition) -> Marks:
        """The states in which a transition is possible."""
        return self.allow_any([transition])

    def allow_any(self, transitions: Iterable[Transition]) -> Marks:
        """The states in which one of these transitions is possible."""
        import numpy as np
        every = list(transitions)
        found = []
        for batch in self._batches():
            here = np.zeros(len(batch.states), dtype=np.bool_)
            for transition in every:
                here |= batch.allow(transition)
            found.append(here)
        return np.concatenate(found)

    def within(self, left: Mapping[str, int]) -> Marks:
        """The states in which no more than that is left in these counters."""
        return self.allow(Transition(room=dict(left)))

    def leading_to(self, goal: Marks, steps: Marks) -> Marks:
        """The states from which some of these steps lead to one of these states."""
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order
        number = len(self)
        ends = np.flatnonzero(goal)  # one more state, from which all steps are gone backwards
        froms = np.concatenate([self.target[steps], np.full(len(ends), number)])
        tos = np.concatenate([self.source[steps], ends])
        back = csr_array((np.ones(len(froms)), (froms, tos)),
                         shape=(number + 1, number + 1))
        found = np.zeros(number + 1, dtype=np.bool_)
        found[breadth_first_order(back, number, return_predecessors=False)] = True
        return found[:number]

    def cycles(self, states: Marks, steps: Marks) -> tuple[Numbers, Marks]:
        """For each state its number among groups that lead to each other by these steps between
        these states; and the steps within a group."""
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components
        inner = steps & states[self.source] & states[self.target]
        graph = csr_array((np.ones(int(inner.sum())), (
            self.source[inner], self.target[inner])), shape=(len(self), len(self)))
        _, group = connected_components(graph, connection="strong")
        group = group.astype(np.int64)
        return group, inner & (group[self.source] == group[self.target])


def states_of(
    system: System, most: int = MAX_STATES, edges: bool = False, so_far: bool = False
) -> States:
    """All states that the transitions of a system lead to; one that gives up goes nowhere.
    ``so_far`` counts what has no end only so far, see above; then there are no steps.

    Raises Refuted where there are more than ``most``, and NotCovered where there are more than are
    visited at all.
    """
    import numpy as np
    digits = _Digits(system, _last_numbers(system) if so_far else {})
    transitions = [each for each in system.steps if not each.fails] if edges else [
        each for each in system.transitions if not each.fails and each.change]
    keys = _reached(system, digits, transitions, most, MAX_LINKED if edges else MAX_STATES)
    none = np.zeros(0, dtype=np.int64)
    found = States(system, transitions, digits, keys, none, none, none)
    if edges:
        _link(found)
    return found


def _reached(
    system: System, digits: _Digits, transitions: Sequence[Transition], claimed: int, limit: int
) -> Keys:
    """The keys of all that can be reached, level by level."""
    import numpy as np
    limit = min(limit, MAX_STATES // digits.words)
    known, looks = _Known(digits), 0
    start = {name: counter.start for name, counter in system.counters.items()}
    if any(number > digits.top[name] for name, number in start.items()):
        raise NotCovered("a counter begins beyond its range")
    level = known.new(digits.keys(digits.sums(start)[None]))
    while len(level):
        found = [level[:0]]
        for first in range(0, len(level), AT_ONCE):
            look(VISITING)
            batch = _Batch(digits, digits.states(level[first:first + AT_ONCE]))
            looks += len(transitions)
            if looks > LOOKS:
                raise NotCovered("its states lie too deep to visit them all")
            after = np.concatenate([
                batch.states[:0], *(batch.after(each)[1] for each in transitions)])
            if len(after):
                found.append(known.new(digits.keys(after)))
            allow(known.number)
            if known.number > claimed < limit:
                raise Refuted(f"there are more than {claimed:,} states")
            if known.number > limit:
                raise NotCovered(f"more than {limit:,} states")
        level = np.concatenate(found)
    return known.all()


def _link(states: States) -> None:
    """Find the steps between all states."""
    import numpy as np
    source, target, via = [states.source], [states.target], [states.via]
    for first in range(0, len(states), AT_ONCE):
        look(VISITING)
        batch = _Batch(states.digits, states.digits.states(states.keys[first:first + AT_ONCE]))
        for number, transition in enumerate(states.transitions):
            rows, after = batch.after(transition)
            source.append(rows + first)
            target.append(np.searchsorted(states.keys, states.digits.keys(after)))
            via.append(np.full(len(rows), number, dtype=np.int64))
    states.source, states.target, states.via = map(np.concatenate, (source, target, via))


def _last_numbers(system: System) -> dict[str, int]:
    """For each counter without end, the number that stands for so many or more."""
    found = {name: max(counter.start, 1 + (counter.rest or 0))
             for name, counter in system.counters.items() if counter.most is None}
    for transition in system.steps:
        for name in found:
            by = abs(transition.change.get(name, 0))
            found[name] = max(found[name], transition.need.get(name, 0),
                              transition.room.get(name, 0) + 1, by)
    return {name: number + SO_FAR for name, number in found.items()}
