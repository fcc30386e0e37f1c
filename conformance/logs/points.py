"""Judging by machines that are always in one state: a table from operations to their actions.

Each event of a log that is a point is a step of the machine of its key. The table says which
action an operation is, and from which field of the event each parameter comes. A number beyond
those that the machine knows is judged as the highest, as everywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...spec.engines.monitor import Failure, LostTrack
from ...spec.notation.labels import show_value
from ...spec.notation.machine import Machine
from .events import Event
from .kinds import Terms
from .live import Live, rules_at_stake
from .many import Many, Unclear, step
from .notes import AROUND, Finding, Notes

__all__ = ["PointJudge", "Row", "Watching"]


@dataclass(frozen=True)
class Row:
    """The ``action`` that an operation is, with the field of the event for each parameter:
    ``value``, or ``number`` for the number of its item in the order of first mention."""

    action: str
    args: Mapping[str, str] = field(default_factory=dict)
    names: bool = False
    """True if it may mention an item for the first time."""


@dataclass(frozen=True)
class Watching:
    """A machine, its constants on some terms, and by operation the row of it."""

    machine: type[Machine]
    constants: Callable[[Terms], Mapping[str, int]]
    rows: Mapping[str, Row]
    before: Callable[[Terms], Iterable[Mapping[str, Any]]] | None = None
    """The states in which it may be where a log begins in the middle, by what differs from the
    first one; left out: from the first one all is allowed that is from any."""
    ranged: tuple[str, int] = ("", 0)
    """The variable that has any value up to a number in each of these; see ``Many``."""
    ordered: bool = False
    """True if the events of several processes have to be in an order that is certain."""


class PointJudge:
    """Judges the events of one key by some machines, each until it refuses; see ``KeyJudge``.
    ``eyes`` are those that have not refused yet."""

    def __init__(self, key: str, terms: Terms, notes: Notes, watching: tuple[Watching, ...]
                 ) -> None:
        self._key, self._terms, self._notes = key, terms, notes
        self.eyes: list[tuple[Watching, Live | Many]] = []
        for each in watching:
            try:
                self.eyes.append((each, self._begun(each)))
            except LostTrack:
                self._is_unsure(each, f"it may be in more than {terms.states} states "
                                      "(--max-states)", None)
        self._numbers: dict[Any, int] = {}
        self._named = 0
        self._recent: deque[Event] = deque(maxlen=AROUND)
        self._found: set[str] = set()
        self._open: dict[int, str] = {}     # calls with their processes, where the order counts
        self._times: dict[str, int] = {}    # of the last event of each process, where clocks differ
        self._ordered = any(each.ordered for each in watching)

    def _begun(self, watching: Watching) -> Live | Many:
        live = Live(watching.machine, **watching.constants(self._terms))
        if self._terms.from_start or watching.before is None:
            return live
        states = watching.before(self._terms)
        many = Many(live, self._terms.states, *watching.ranged)
        many.splits(lambda now: states)
        return many

    def _is_unsure(self, watching: Watching, why: str, event: Event | None) -> None:
        """The rules of a machine are unknown from here on."""
        rules = {rule for those in rules_at_stake(watching.machine).values() for rule in those}
        self._notes.unsure(sorted(rules), self._key, why, event)

    def has_seen(self, events: Iterable[Event]) -> None:
        """Take events that were judged elsewhere: they are only shown."""
        self._recent.extend(event for event in events if event.phase != "begin")

    def continues_with(self, numbers: Sequence[int], found: set[str]) -> None:
        """Continue with some of the machines, by their numbers; rules that were ``found`` broken
        are not found again."""
        self.eyes = [self.eyes[number] for number in numbers]
        self._found = found

    def take(self, event: Event) -> None:
        """Take the next event of the key."""
        if self._ordered and self.eyes and not self._is_in_order(event):
            for watching, _ in self.eyes:
                self._is_unsure(watching, "it is not certain in which order events of several "
                                          "processes happened", event)
            self.eyes = []
        if self.eyes and event.phase != "begin":      # what it did is known at its end
            self.steps(event, 1)
            self._recent.append(event)

    def _is_in_order(self, event: Event) -> bool:
        """True if the event is after all of other processes so far, and before all others."""
        if event.phase == "begin":
            self._open[event.call] = event.process
            return True
        self._open.pop(event.call, None)
        if any(process != event.process for process in self._open.values()):
            return False
        if self._terms.tolerance and event.time is not None:
            since = event.time - self._terms.tolerance
            if any(time >= since for process, time in self._times.items()
                   if process != event.process):
                return False
            self._times[event.process] = event.time
        return True

    def steps(self, event: Event, times: int) -> None:
        """Take the step of an event, so many times, in each machine that still explains the log."""
        refused = []
        for eye in self.eyes:
            watching, live = eye
            row = watching.rows.get(event.operation)
            if row is None:
                continue
            args = self._args(row, event)
            if args is None:
                continue
            for _ in range(times):
                try:
                    failure = _taken(live, row.action, args)
                except Unclear as unclear:
                    refused.append(eye)
                    self._is_unsure(watching, str(unclear), event)
                    break
                if failure is not None:
                    refused.append(eye)
                    self._is_refused(live, failure, event)
                    break
                self._notes.steps[watching.machine, row.action] += 1
        if refused:
            self.eyes = [eye for eye in self.eyes if eye not in refused]

    def _args(self, row: Row, event: Event) -> dict[str, int] | None:
        """The arguments of an event's action; None where the log began before the thing was named,
        or lacks a value."""
        args = {}
        for name, source in row.args.items():
            if source == "number":
                if event.item not in self._numbers:
                    if row.names:
                        self._numbers[event.item] = self._named
                        self._named += 1
                    elif not self._terms.from_start:
                        return None
                args[name] = self._numbers.get(event.item, self._named)
            elif event.value is None:
                self._notes.is_foreign(self._key, f"a {event.operation} has no value", event)
                return None
            else:
                args[name] = event.value
        return args

    def _is_refused(self, live: Live | Many, failure: Failure, event: Event) -> None:
        if not self._notes.is_found(failure, self._key, event, self._found):
            return
        assert failure.rule is not None
        state = ", ".join(f"{name} = {show_value(value)}"
                          for name, value in live.variables().items())
        self._notes.violated(Finding(
            failure.rule.id, self._key, event, failure,
            f"what keeps to {failure.conjunct}, with {state}",
            (), tuple(self._recent), (*self._recent, event)))

    def end(self) -> None:
        """The log is over; nothing that is judged here depends on it."""

    @property
    def is_over(self) -> bool:
        """True if all machines have refused an event."""
        return not self.eyes


def _taken(live: Live | Many, action: str, args: Mapping[str, int]) -> Failure | None:
    """Take a step, in one state or in all."""
    if isinstance(live, Many):
        return live.takes(lambda now: [step(action, **args)])
    return live.takes(action, **args)
