"""A log that is cut in time: what a piece of it does to the machines of each key, from all states
in which it may begin, and the composition of pieces in their order (``Jumps``).

Pieces are read apart, in any order, at the same time. Only where a machine refuses an event of a
piece, from the state in which the piece before left it, that piece is read again, and judged event
by event from there: so what is found is found by the judge of a key, as in a log that is not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...spec.engines.jumps import Jumps, NotJumping, composed
from ..logs.events import Event
from ..logs.kinds import Logs, Terms
from ..logs.live import bound
from ..logs.notes import AROUND, Notes
from .cells import Unfit
from .points import WholePoints
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


class _Machine:
    """One machine of all keys, in a piece: the maps of what was read so far."""

    def __init__(self, watching: Any, terms: Terms, actions: Sequence[str], steps: Numbers) -> None:
        self.watching, self.actions, self._steps = watching, actions, steps
        self._args = {row.action: list(row.args) for row in watching.rows.values()}
        self.logic = Jumps(bound(watching.machine, **watching.constants(terms)),
                           list(dict.fromkeys(actions)))
        self.jumps = self.logic.none()
        self.taken = self._none(1)

    def _none(self, keys: int) -> Numbers:
        import numpy as np

        return np.zeros((keys, len(self.actions)), np.int64)

    def grows(self, keys: int) -> None:
        """Have a map for each key."""
        import numpy as np

        more = 2 * keys - len(self.taken)
        if len(self.taken) < keys:
            self.jumps = np.concatenate(
                [self.jumps, np.repeat(self.logic.none(), more, axis=-1)], axis=-1)
            self.taken = np.concatenate([self.taken, self._none(more)])

    def takes(self, keys: Numbers, starts: Numbers, ends: Numbers, operation: Numbers,
              number: Numbers) -> None:
        """Take the steps of some keys, from ``starts`` up to ``ends`` of each."""
        import numpy as np

        steps = np.append(self._steps, 0)[operation]
        some = np.flatnonzero(steps)
        first, last = np.searchsorted(some, starts), np.searchsorted(some, ends)
        keys, sizes, first = keys[last > first], (last - first)[last > first], first[last > first]
        if not len(keys):
            return
        jumps, which = self._maps(steps[some], number[some])
        found = self.logic.folded(jumps, which, first, sizes)
        self.jumps[..., keys] = composed(self.jumps[..., keys], found)
        many = len(self.actions)
        self.taken += np.bincount(np.repeat(keys, sizes) * many + steps[some] - 1,
                                  minlength=self.taken.size).reshape(-1, many)

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
        return [_Machine(eye.watching, whole.terms, eye.actions, eye.steps) for eye in whole.eyes]
    except NotJumping:
        raise Unfit from None


def piece_of(whole: WholePoints, parts: Iterable[Rows]) -> Piece:
    """The effect of the rows of a piece, which come in their order. Raises ``Unfit``."""
    import numpy as np

    machines = _machines(whole)
    events = 0
    for rows in parts:
        events += len(rows)
        keys = len(whole.names.keys)
        rows, segments = sorted_by_key(rows)
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
    return Piece(whole.names.keys, [machine.jumps[..., :keys] for machine in machines],
                 [machine.taken[:keys] for machine in machines], events)


@dataclass
class _Key:
    """Where a key is: the state of each machine, None for one that has refused; and the rules that
    it has broken."""

    states: list[tuple[int, ...] | None]
    found: set[str]


class Composition:
    """Takes pieces in their order. What is found goes to the ``notes`` of ``whole``."""

    def __init__(self, whole: WholePoints) -> None:
        self._whole = whole
        self._machines = _machines(whole)
        self._keys: dict[str, _Key] = {}
        self.events = 0

    @property
    def notes(self) -> Notes:
        """The violations and doubts of the whole log, its pieces together."""
        return self._whole.notes

    @property
    def keys(self) -> int:
        """The number of keys so far."""
        return len(self._keys)

    def takes(self, piece: Piece) -> dict[str, list[int]]:
        """Take the next piece; the machines that refuse an event of it, by key: the piece has to be
        judged again (``again``)."""
        self.events += piece.events
        refused: dict[str, list[int]] = {}
        for at, name in enumerate(piece.keys):
            key = self._keys.get(name)
            if key is None:
                key = self._keys[name] = _Key(
                    [machine.logic.initial() for machine in self._machines], set())
            for number, (machine, jumps, taken) in enumerate(zip(
                    self._machines, piece.jumps, piece.taken, strict=True)):
                state = key.states[number]
                if state is None:
                    continue
                after = machine.logic.after(jumps[..., at], state)
                if after is None:
                    refused.setdefault(name, []).append(number)
                    continue
                key.states[number] = after
                for action, times in zip(machine.actions, taken[at].tolist(), strict=True):
                    if times:
                        self._whole.notes.steps[machine.watching.machine, action] += times
        return refused

    def again(self, refused: Mapping[str, Sequence[int]], opened: Callable[[], Opened],
              before: Mapping[str, Sequence[Event]]) -> None:
        """Judge a piece again, which is ``opened`` anew, for the keys and machines that refuse an
        event of it; ``before`` are the last ones of each key."""
        groups: dict[tuple[int, ...], list[str]] = {}
        for name, numbers in refused.items():
            groups.setdefault(tuple(numbers), []).append(name)
        findings = self._whole.notes.findings
        known = len(findings)
        for numbers, names in groups.items():
            whole, parts = opened()
            states = {name: [self._machines[number].logic.slots(state) for number in numbers
                             if (state := self._keys[name].states[number]) is not None]
                      for name in names}
            found = {name: self._keys[name].found for name in names}
            whole.continues_with(numbers, states, found, before)
            run = Run(whole.names.logs, whole, whole.names)
            for rows in of_keys(whole.names, parts, names):
                whole.loads(rows)
                run.takes(rows)
            run.ends()
            for name in names:
                for number in numbers:
                    self._keys[name].states[number] = None
        findings[known:] = sorted(findings[known:], key=lambda each: each.event.line)


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
