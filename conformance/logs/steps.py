"""Judging by a machine in one state, by events with a meaning that depends on those before.

So it is of a master, an acker, a broker: one place takes one thing after the other, and what it
does is one step. Their logs have to be in the order of that place. Two calls that overlap have none
there, and neither have clocks that may differ. A judge says how it finds out what is certain then:
by all orders (``Orders``), or by one, and a few items (``Overlap``). Else the key is *unknown*.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...spec.engines.monitor import Failure, LostTrack
from ...spec.notation.labels import counted, show_value
from ...spec.notation.machine import Machine
from ...spec.notation.places import Reuse
from ...spec.notation.rules import Rule
from .events import Event
from .instants import Instants, as_read
from .kinds import Terms
from .live import Live, frozen
from .many import Many, Unclear, Ways, step
from .notes import AROUND, WHOLE, Finding, Notes
from .orders import Foreign, Orders
from .overlap import Overlap

__all__ = ["Saved", "StepJudge", "ids_of"]

def ids_of(rules: Sequence[Rule]) -> tuple[str, ...]:
    """The ids of some rules."""
    return tuple(rule.id for rule in rules)


@dataclass(frozen=True)
class Saved:
    """A state of a judge: the variables of its machine, and what it knows itself; see
    ``orders.Saved``."""

    key: Hashable
    variables: Mapping[str, Any]
    own: Mapping[str, Any]


class StepJudge:
    """Judges the events of one key by one machine, until it refuses one; see ``KeyJudge``.

    A subclass says in ``sees`` what an event is, and takes its ``step``; ``rules`` are those that
    become *unknown* together.
    """

    rules: ClassVar[tuple[str, ...]] = ()
    machine: ClassVar[type[Machine]]
    reuse: ClassVar[Reuse | None] = None
    """Of the same machine: the places in which one thing is after the other."""
    may_overlap: ClassVar[bool] = False
    """True if calls that overlap are judged all the same."""
    comes: ClassVar[str] = ""
    """The operation by which an item comes in, and gets its place in the order of items."""
    early: ClassVar[frozenset[str]] = frozenset()
    """Operations that are best supposed to take effect as soon as they can."""
    everywhere: ClassVar[frozenset[str]] = frozenset()
    """Operations that matter to all items."""
    of_few_items: ClassVar[frozenset[str]] = frozenset()
    """Rules that the events about one item or two, and those that matter to all, can show broken.
    Without any, calls that overlap make the key unknown."""
    own: ClassVar[tuple[str, ...] | None] = None
    """Attributes that belong to the state in which the judge is, besides its machine: with these,
    events that overlap are taken in all orders. None: they are not."""
    clocks: ClassVar[Mapping[str, str]] = {}
    """By operation, the clock that may have recorded it, if it is not that of its process."""
    many: Many | None = None
    """All states in which the machine may be, of a log that begins in the middle."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        self.key, self.terms, self.notes = key, terms, notes
        self.live = Live(self.reuse.machine if self.reuse else self.machine, **self.constants())
        self.now: Any = self.live.machine
        self._common = common
        self._open: dict[int, Event] = {}
        self._overlap: Overlap | Orders | None = None
        self._instants: Instants | None = None      # where points are calls, for one order
        self._scratch = Notes()
        self._outcome: Failure | str | None = None
        self._is_trial = False
        self._recent: deque[Event] = deque(maxlen=AROUND)
        self._all: list[Event] | None = []
        self._closed = False
        self._is_new = True

    def has_seen(self, events: Sequence[Event], are_all: bool, notes: Notes) -> None:
        """Take events that were judged elsewhere, the last ones or all of the key; from here on
        what is found is noted in ``notes``. The last ones are only shown."""
        if are_all:
            for event in events:
                self.take(event)
            self.settles()
        else:
            self._all = None
            self._recent.extend(events)
        self.notes = notes

    def settles(self) -> None:
        """The next event is no reaction to those so far."""

    def constants(self) -> Mapping[str, int]:
        """The constants of the machine, on the terms."""
        raise NotImplementedError

    def sees(self, event: Event) -> None:
        """Take the steps of an event that is not a begin."""
        raise NotImplementedError

    def before(self) -> Iterable[Mapping[str, Any]] | None:
        """The states in which the machine may be where a log begins in the middle, each by the
        variables that differ from the first one; None for one state."""
        return None

    def begins(self, event: Event) -> None:
        """Look at the begin of a call, which is no step."""

    def take(self, event: Event) -> None:
        """Take the next event of the key."""
        if self._closed:
            return
        if self._all is not None:
            self._all.append(event)
            if len(self._all) > WHOLE:
                self._all = None
        if self.terms.tolerance and self._overlap is None:
            self._differs(event)
        if self._instants is not None:
            for is_end, span in self._instants.of(event):
                self._takes_next(span.said(is_end))
        else:
            self._takes_next(event)
        self._recent.append(event)

    def _takes_next(self, event: Event) -> None:
        if self._closed:
            return
        if self._overlap is not None:
            self._overlap.take(event)
        elif self._open and not self.may_overlap and any(
                each.process != event.process or (self.own is not None and number != event.call)
                for number, each in self._open.items()):
            self._overlaps(event)
        elif event.phase == "begin":
            self._open[event.call] = event
            self.begins(event)
        else:
            if event.phase == "end":
                self._open.pop(event.call, None)
            try:
                self._begins_anywhere()
                self.sees(event)
            except Unclear as unclear:
                self.unsure(str(unclear), event)
            except LostTrack:
                self.unsure("it may be in more than "
                            f"{counted(self.terms.states, 'state')} (--max-states)", event)

    def _begins_anywhere(self) -> None:
        """At the first event of a log that begins in the middle, be in all states."""
        if self._is_new and not self.terms.from_start and (states := self.before()) is not None:
            self.many = Many(self.live, self.terms.states)
            self.many.splits(lambda now: states)
        self._is_new = False

    def _differs(self, event: Event) -> None:
        if self.terms.from_start and self.own is not None:
            self._overlap = Orders(self, self.terms.tolerance, self.terms.states)
        elif self.terms.from_start and self.of_few_items:
            self._overlap, self._instants = Overlap(self), Instants(self.terms.tolerance)
        elif not self.of_few_items or event.phase == "point":
            self.unsure("clocks that may differ do not show in which order it took its events",
                        event)

    def _overlaps(self, event: Event) -> None:
        if not (self.of_few_items or self.own is not None) or not self.terms.from_start:
            self.unsure("calls overlap, and the log does not show in which order they were taken",
                        event)
            return
        self._overlap = Overlap(self, (self._all or [])[:-1]) if self.own is None else Orders(
            self, self.terms.tolerance, self.terms.states)
        for each in (*self._open.values(), event):
            self._overlap.take(each)

    def end(self) -> None:
        """The log is over; a reaction that it does not have may be cut off with it."""
        for is_end, span in self._instants.rest() if self._instants is not None else ():
            self._takes_next(span.said(is_end))
        if self._closed:
            return
        if self._overlap is not None:
            self._overlap.end()
        else:
            self.at_end()

    def at_end(self) -> None:
        """Take what the end of the log shows."""

    # --- events in all orders: see Ordered ----------------------------------------------------

    @property
    def in_orders(self) -> bool:
        """True if events are taken in all orders: then there are other states besides this one."""
        return isinstance(self._overlap, Orders)

    def attempt(self, event: Event | None) -> Failure | str | None:
        """Take an event (None: the end of the log), and note nothing; or say why not."""
        notes, self.notes = self.notes, self._scratch
        self._scratch.steps, self._scratch.times = Counter(), Counter()
        try:
            return self.trial(event)
        finally:
            self.notes = notes

    def attempted(self) -> tuple[Counter[Any], Counter[str]]:
        """The steps of the last attempt, and what was exercised besides."""
        return self._scratch.steps, self._scratch.times

    def counts(self, done: tuple[Counter[Any], Counter[str]]) -> None:
        """Note what was done and exercised."""
        self.notes.steps.update(done[0])
        self.notes.times.update(done[1])

    def saved(self) -> Any:
        """The state, to be restored."""
        variables = self.live.saved()
        own = {name: copy(getattr(self, name)) for name in self.own or ()}
        return Saved(frozen((*variables.values(), *own.values())), variables, own)

    def restore(self, saved: Any) -> None:
        """Be in a state."""
        self.live.restore(saved.variables)
        for name, value in saved.own.items():
            setattr(self, name, copy(value))

    def settles_down(self) -> None:
        """There is but one state: what has ended may be remembered as such."""

    def fails(self, event: Event, why: Failure | str, whole: Sequence[Event]) -> None:
        """No order explains an event: this is why, in one of them."""
        if isinstance(why, str):
            self.is_foreign(why, event)
            return
        self._all = list(whole) or None
        self.refused(event, why)

    # --- calls that overlap: see Overlapped ---------------------------------------------------

    def trial(self, event: Event | None) -> Failure | str | None:
        """Take an event (None: the end of the log); or say why not, and be as before."""
        self._outcome, self._is_trial = None, True
        try:
            if event is None:
                self.at_end()
            else:
                self.sees(event)
        except LostTrack:
            self._outcome = "it may be in too many states"
        finally:
            self._is_trial = False
        if self._outcome is not None and event is not None:
            self.forgets(event)
        return self._outcome

    def forgets(self, event: Event) -> None:
        """Know nothing of an event that was not taken."""

    def goes_first(self, item: Hashable, before: Callable[[Hashable, Hashable], bool]) -> bool:
        """Take an item for older than all that are in its way; false if that cannot be."""
        return False

    def rivals(self, event: Event, others: Sequence[Event]) -> Iterable[Sequence[Hashable]]:
        """The items that may show, together and without any other, that an event breaks a rule;
        ``others`` are the events so far that matter to all items."""
        return ()

    def alone(self, events: Sequence[Event]) -> Finding | None:
        """Return what is broken by some events about a few items, if no other events matter to
        that."""
        notes = Notes()
        terms = replace(self.terms, tolerance=0)    # they are in one order
        judge = type(self)(self.key, terms, notes, self._common)
        judge._all = None
        for event in events:
            judge.take(event)
        found = notes.findings
        return found[0] if found and found[0].rule in self.of_few_items else None

    def violates(self, finding: Finding) -> None:
        """Note a violation; nothing more is judged."""
        self._closed = True
        self.notes.violated(replace(
            finding, event=as_read(finding.event) or finding.event, before=tuple(self._recent),
            whole=tuple(event for each in finding.whole if (event := as_read(each)) is not None)))

    @property
    def is_over(self) -> bool:
        """True once an event was refused, or the key is unknown."""
        return self._closed

    def step(self, event: Event, action: str, **args: int) -> bool:
        """Take a step of the machine; false if it is refused, which ends the judging."""
        failure = self.tries(action, **args)
        if failure is not None:
            self.refused(event, failure)
        return failure is None

    def tries(self, action: str, **args: int) -> Failure | None:
        """Take a step of the machine, or say why it is refused."""
        if self.many is not None:
            return self._from_all(lambda now: [step(action, **args)])
        failure = self.live.takes(action, **args)
        if failure is None:
            self.notes.steps[self.machine, action] += 1
        return failure

    def takes(self, event: Event, of: Ways) -> bool:
        """Take an event that means what the state of the machine says, in the first way that it
        has, or, where there are many states, in each; false if it is refused."""
        if self.many is None:
            way = next(iter(of(self.now)))
            return all(self.step(event, action, **args) for action, args in way)
        failure = self._from_all(of)
        if failure is not None:
            self.refused(event, failure)
        return failure is None

    def _from_all(self, of: Ways) -> Failure | None:
        assert self.many is not None
        failure = self.many.takes(of)
        if failure is None:
            for action, _ in self.many.way:
                self.notes.steps[self.machine, action] += 1
        return failure

    def refused(self, event: Event, failure: Failure) -> None:
        """Note what a refusal means; nothing more is judged at the key."""
        if self._is_trial:
            self._outcome = self._outcome or failure
            return
        self._closed = True
        if not self.notes.is_found(failure, self.key, event, set()):
            return
        assert failure.rule is not None
        self.notes.violated(Finding(
            failure.rule.id, self.key, event, failure,
            f"what keeps to {failure.conjunct}, with {self.shown()}",
            (), tuple(self._recent), tuple(self._all or (*self._recent, event))))

    def unsure(self, why: str, event: Event | None) -> None:
        """From here on the key is unknown."""
        if self._is_trial:
            self._outcome = self._outcome or why
            return
        if not self._closed:
            self.notes.unsure(self.rules, self.key, why, event and (as_read(event) or event))
        self._closed = True

    def is_foreign(self, why: str, event: Event) -> None:
        """No log of the system has this event here."""
        if self._is_trial:
            self._outcome = self._outcome or Foreign(why)
            return
        self._closed = True
        self.notes.is_foreign(self.key, why, event)

    def shown(self) -> str:
        """The state in words, without what is long."""
        said = ((name, show_value(value)) for name, value in self.live.variables().items())
        words = ", ".join(f"{name} = {value if len(value) < 60 else '…'}" for name, value in said)
        more = 0 if self.many is None else len(self.many) - 1
        return f"{words}, or in {counted(more, 'other state')}" if more else words
