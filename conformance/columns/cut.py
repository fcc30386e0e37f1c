"""A log that is cut in time: what a piece of it does to the machines of each key, from all states
in which it may begin, and the composition of pieces in their order (``Jumps``).

Pieces are read apart, in any order, at the same time. Only where a machine refuses an event of a
piece, from the state in which the piece before left it, that piece is read again, and judged event
by event from there: so what is found is found by the judge of a key, as in a log that is not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...spec.engines.jumps import Jumps, NotJumping, composed
from ..logs.events import Event
from ..logs.kinds import Logs, Terms
from ..logs.live import bound
from ..logs.notes import AROUND, Notes
from .cells import Unfit, longer
from .points import Eye, WholePoints
from .rows import Names, Rows, numbered_kinds
from .run import Run
from .segments import sorted_by_key

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["Composition", "Opened", "Piece", "last_events", "piece_of", "whole_of"]

_NUMBER_MAX: Final = 1 << 40

Opened = tuple[WholePoints, Iterable[Rows]]
"""A piece that is read anew: its rows, and the judge of all keys, at their beginning."""


@dataclass(frozen=True)
class Piece:
    """The effect of a piece of a log: by machine, the map of each of the ``keys``, and how often
    each of its actions was taken there; and the number of the piece's ``events``."""

    keys: Sequence[str]
    jumps: Sequence[Numbers]
    taken: Sequence[Numbers]
    events: int


_FIRST: Final = 512
"""Steps of a key that are taken from all states, before it is asked whether these are one now."""


class _Machine:
    """One machine of all keys, in a piece: the maps of what was read so far. Most machines forget:
    after some steps the state is the same, wherever the piece began. From there on a key has that
    one state, and its steps are taken as in a log that is not cut."""

    def __init__(self, eye: Eye, terms: Terms) -> None:
        import numpy as np

        self.watching, self.actions, self._eye = eye.watching, eye.actions, eye
        self._args = {row.action: list(row.args) for row in eye.watching.rows.values()}
        self.logic = Jumps(bound(eye.watching.machine, **eye.watching.constants(terms)),
                           list(dict.fromkeys(eye.actions)))
        self._jumps = self.logic.none()
        self._is_one = np.zeros(1, bool)
        self._is_refused = np.zeros(1, bool)
        self.taken = self._none(1)

    def _none(self, keys: int) -> Numbers:
        import numpy as np

        return np.zeros((keys, len(self.actions)), np.int64)

    def grows(self, keys: int) -> None:
        """Have a map for each key."""
        import numpy as np

        self._eye.grows(keys)
        self._is_one, self._is_refused, self.taken = (
            longer(each, keys) for each in (self._is_one, self._is_refused, self.taken))
        more = len(self.taken) - self._jumps.shape[-1]
        if more > 0:
            self._jumps = np.concatenate(
                [self._jumps, np.repeat(self.logic.none(), more, axis=-1)], axis=-1)

    def takes(self, keys: Numbers, starts: Numbers, ends: Numbers, operation: Numbers,
              number: Numbers) -> None:
        """Take the steps of some keys, from ``starts`` up to ``ends`` of each."""
        import numpy as np

        steps = np.append(self._eye.steps, 0)[operation]
        some = np.flatnonzero(steps)
        first, last = np.searchsorted(some, starts), np.searchsorted(some, ends)
        keys, first, last = keys[last > first], first[last > first], last[last > first]
        steps, number = steps[some], number[some]
        many = len(self.actions)
        self.taken += np.bincount(np.repeat(keys, last - first) * many + steps - 1,
                                  minlength=self.taken.size).reshape(-1, many)
        from_all = ~self._is_one[keys]
        upto = np.where(from_all, np.minimum(last, first + _FIRST), first)
        self._folds(keys, first, upto, steps, number)
        for at in np.flatnonzero(from_all & (upto < last)).tolist():
            self._asks(int(keys[at]))
        rest = np.where(self._is_one[keys], upto, last)
        self._folds(keys, upto, rest, steps, number)
        self._runs(keys, rest, last, steps, number)

    def _folds(self, keys: Numbers, first: Numbers, last: Numbers, steps: Numbers, number: Numbers
               ) -> None:
        """Take the steps from ``first`` up to ``last`` of keys from all states."""
        import numpy as np

        here = last > first
        if not here.any():
            return
        keys, first, sizes = keys[here], first[here], (last - first)[here]
        before = np.cumsum(sizes) - sizes
        places = np.arange(int(sizes.sum())) + np.repeat(first - before, sizes)
        jumps, which = self._maps(steps[places], number[places])
        found = self.logic.folded(jumps, which, before, sizes)
        self._jumps[..., keys] = composed(self._jumps[..., keys], found)

    def _asks(self, key: int) -> None:
        """Be in one state at a key, if there is but one by now."""
        state = self.logic.end(self._jumps[..., key])
        if state is not None:
            self._is_one[key] = True
            self._eye.states[key] = self._eye.runner.states({"": self.logic.slots(state)})[0]

    def _runs(self, keys: Numbers, first: Numbers, last: Numbers, steps: Numbers, number: Numbers
              ) -> None:
        """Take the steps from ``first`` up to ``last`` of keys that are in one state."""
        import numpy as np

        here = last > first
        if here.any():
            none = np.zeros(1, np.int64)
            keys, first, last = (np.ascontiguousarray(each[here]) for each in (keys, first, last))
            stops = self._eye.runner.run(self._eye.states, keys, first, last, steps,
                                         np.ascontiguousarray(number), none, none)
            self._is_refused[keys[stops >= 0]] = True

    def jumps(self, keys: Numbers) -> Numbers:
        """The maps of some keys."""
        import numpy as np

        found = self._jumps[..., keys]
        for at in np.flatnonzero(self._is_one[keys]).tolist():
            key, jump = int(keys[at]), found[..., at]
            found[..., at] = self.logic.refused(jump) if self._is_refused[key] else (
                self.logic.leading(jump, self.logic.state_of(
                    self._eye.runner.slots(self._eye.states[key]))))
        return found

    def _maps(self, steps: Numbers, number: Numbers) -> tuple[Numbers, Numbers]:
        """The maps of the steps that there are, each once, and which of them each step is."""
        import numpy as np

        has = np.array([False, *(bool(self._args[name]) for name in self.actions)])
        value = np.where(has[steps], number, 0)
        if len(value) and not 0 <= int(value.min()) <= int(value.max()) < _NUMBER_MAX:
            raise Unfit
        codes, _, which = numbered_kinds(value * len(has) + steps)
        parts, order = [], []
        for at, action in enumerate(self.actions, 1):
            mine = np.flatnonzero(codes % len(has) == at)
            if len(mine):
                args = dict.fromkeys(self._args[action], codes[mine] // len(has))
                parts.append(self.logic.of(action, args, len(mine)))
                order.append(mine)
        jumps = np.empty((*parts[0].shape[:-1], len(codes)), np.int64)
        for part, mine in zip(parts, order, strict=True):
            jumps[..., mine] = part
        return jumps, which


def _machines(whole: WholePoints) -> list[_Machine]:
    """The machines of a system. Raises ``Unfit`` where a log of them cannot be cut."""
    if any(eye.by_number.any() for eye in whole.eyes):
        raise Unfit
    try:
        return [_Machine(eye, whole.terms) for eye in whole.eyes]
    except NotJumping:
        raise Unfit from None


def piece_of(whole: WholePoints, parts: Iterable[Rows]) -> Piece:
    """The effect of the rows of a piece, which come in their order. Raises ``Unfit``."""
    import numpy as np

    machines = _machines(whole)
    events = 0
    has = np.zeros(0, bool)
    for rows in parts:
        events += len(rows)
        keys = len(whole.names.keys)
        rows, segments = sorted_by_key(rows)
        has = longer(has, keys)
        has[segments.keys] = True
        whole.begins(rows, segments)
        taken, upto = whole.steps(rows, segments)
        if bool((upto < segments.ends).any()):
            raise Unfit
        starts = np.searchsorted(taken.row, segments.starts)
        ends = np.searchsorted(taken.row, segments.ends)
        try:
            for machine in machines:
                machine.grows(keys)
                machine.takes(segments.keys, starts, ends, taken.operation, taken.number)
        except NotJumping:
            raise Unfit from None
    keys = len(whole.names.keys)
    for machine in machines:
        machine.grows(keys)
    seen = np.flatnonzero(longer(has, keys)[:keys])    # some keys have ignored lines only
    return Piece([whole.names.keys[key] for key in seen.tolist()],
                 [machine.jumps(seen) for machine in machines],
                 [machine.taken[seen] for machine in machines], events)


class Composition:
    """Takes pieces in their order. What is found goes to the ``notes`` of ``whole``."""

    def __init__(self, whole: WholePoints) -> None:
        import numpy as np

        self._whole = whole
        self._machines = _machines(whole)
        self._number: dict[str, int] = {}
        self._found: dict[str, set[str]] = {}
        """The rules that a key has broken."""
        self._states = [np.array([machine.logic.initial()], np.int64)
                        for machine in self._machines]
        """By machine, the state of each key; longer than the keys are many."""
        self._lives = [np.ones(1, bool) for _ in self._machines]
        """By machine, whether it has refused no event of a key so far."""
        self.events = 0

    @property
    def notes(self) -> Notes:
        """The violations and doubts of the whole log, its pieces together."""
        return self._whole.notes

    @property
    def keys(self) -> int:
        """The number of keys so far."""
        return len(self._number)

    @property
    def shapes(self) -> list[tuple[tuple[int, ...], int]]:
        """By machine, the shape of a map, and how many actions are counted."""
        return [(machine.logic.none().shape[:-1], len(machine.actions))
                for machine in self._machines]

    def numbers(self, keys: Sequence[str]) -> Numbers:
        """The numbers of some keys; those that are new begin where a log begins."""
        import numpy as np

        known = self._number
        found = np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
        for at, machine in enumerate(self._machines):
            first = np.array([machine.logic.initial()], np.int64)
            self._states[at] = longer(self._states[at], len(known), first)
            self._lives[at] = longer(self._lives[at], len(known), True)
        return found

    def state(self, key: str, machine: int) -> tuple[int, ...]:
        """The state of a machine at a key."""
        return tuple(self._states[machine][self._number[key]].tolist())

    def continues_at(self, key: str, states: Mapping[int, Sequence[int]]) -> None:
        """Have some machines of a key, by their numbers, in some states."""
        number = self.numbers([key])[0]
        for machine, state in states.items():
            self._states[machine][number] = state

    def takes(self, piece: Piece) -> dict[str, list[int]]:
        """Take the next piece; the machines that refuse an event of it, by key: the piece has to be
        judged again (``again``)."""
        import numpy as np

        self.events += piece.events
        refused: dict[str, list[int]] = {}
        numbers = self.numbers(piece.keys)
        for at, (machine, jumps, taken) in enumerate(zip(
                self._machines, piece.jumps, piece.taken, strict=True)):
            lives = self._lives[at][numbers]
            after, are_taken = machine.logic.after_each(jumps, self._states[at][numbers])
            takes = lives & are_taken
            self._states[at][numbers[takes]] = after[takes]
            for place in np.flatnonzero(lives & ~are_taken).tolist():
                refused.setdefault(piece.keys[place], []).append(at)
            for action, times in zip(machine.actions, taken[takes].sum(axis=0).tolist(),
                                     strict=True):
                if times:
                    self._whole.notes.steps[machine.watching.machine, action] += times
        return refused

    def again(self, refused: Mapping[str, Sequence[int]], opened: Callable[[], Opened],
              before: Mapping[str, Sequence[Event]], watch: Callable[[int], None] = lambda at: None
              ) -> None:
        """Judge a piece again, which is ``opened`` anew, for the keys and machines that refuse an
        event of it; ``before`` are the last ones of each key, and ``watch`` is called now and
        then."""
        groups: dict[tuple[int, ...], list[str]] = {}
        for name, numbers in refused.items():
            groups.setdefault(tuple(numbers), []).append(name)
        findings = self._whole.notes.findings
        known = len(findings)
        for numbers, names in groups.items():
            whole, parts = opened()
            states = {name: [self._machines[number].logic.slots(self.state(name, number))
                             for number in numbers] for name in names}
            found = {name: self._found.setdefault(name, set()) for name in names}
            whole.continues_with(numbers, states, found, before)
            run = Run(whole.names.logs, whole, whole.names, watch)
            for rows in of_keys(whole.names, parts, names):
                whole.loads(rows)
                run.takes(rows)
            run.ends()
            for name in names:
                for number in numbers:
                    self.is_over(name, number)
        findings[known:] = sorted(findings[known:], key=lambda each: each.event.line)


    def is_over(self, key: str, machine: int) -> None:
        """Have a machine of a key take nothing any more."""
        self._lives[machine][self._number[key]] = False


def last_events(names: Names, parts: Iterable[Rows], keys: Iterable[str]) -> dict[str, list[Event]]:
    """The last events of some keys."""
    found: dict[str, list[Event]] = {key: [] for key in keys}
    for rows in of_keys(names, parts, found):
        rows, segments = sorted_by_key(rows)
        for key, start, end in zip(*(part.tolist() for part in segments), strict=True):
            some = [names.event(rows, at)[0] for at in range(max(start, end - AROUND), end)]
            found[names.keys[key]] = [*found[names.keys[key]], *some][-AROUND:]
    return found


def of_keys(names: Names, parts: Iterable[Rows], keys: Iterable[str]) -> Iterator[Rows]:
    """The rows of some keys."""
    import numpy as np

    some = set(keys)
    for rows in parts:
        found = rows.at(np.array([name in some for name in names.keys], bool)[rows.key])
        if len(found):
            yield found


def whole_of(logs: Logs, terms: Terms, notes: Notes, names: Names) -> WholePoints:
    """The judge in whole columns of a system of which logs can be cut. Raises ``Unfit``."""
    if logs.whole is None or not logs.is_cut(terms):
        raise Unfit
    whole = logs.whole(terms, notes, names, logs.common(terms, notes))
    assert isinstance(whole, WholePoints)
    return whole
