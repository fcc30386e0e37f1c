"""Events of which the order is not certain, in every order in which they may have been.

Of a master, an acker, an election few things overlap at a time, so all orders of these are
followed: a place is in all states that one of them leads to, each with the calls that have had
their effect in it. A call has it by its end, and not before its begin. Orders that lead to the same
state are one from there on. A log is explained if a state is left; if none is, no order explains
it. Only where there were too many states, or a call has no end, is that not known.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from ...spec.engines.monitor import Failure
from .events import Event
from .instants import Instants, Span
from .notes import WHOLE

__all__ = ["Foreign", "Ordered", "Orders", "Saved"]

_AHEAD: Final = 4_096
"""Instants that are read ahead for the ends of the calls that are open, at most."""

_AT_FIRST: Final = 10
_EACH: Final = 64
_FEW: Final = 16
"""Attempts to take a call: at first so many times as there may be states, and for each end some
more. What is not used is left for later. Where none are left, a few states are followed."""

_BETWEEN: Final = 1_000
"""Ends of calls for which a place may be in several states: then one is followed alone."""

_MANY_ORDERS: Final = ("no order that was tried explains this, and they are too many to try all "
                       "(--max-states)")
_NO_END: Final = ("no order explains this, if a call without an end had no effect, or had one at "
                  "once: how it ended is not known")
_LATE: Final = "events of one key are further from their order than clocks may differ"


class Foreign(str):
    """Why no log of the system has an event, where that hangs on its order."""

    __slots__ = ()


class Saved(Protocol):
    """A state of a judge; ``key`` is the same for states that explain the same events."""

    @property
    def key(self) -> Any:
        """A value that can be compared and hashed."""
        ...


class Ordered(Protocol):
    """A judge, as it is asked for orders. It is in one state at a time."""

    clocks: ClassVar[Mapping[str, str]]
    """By operation, the clock that may have recorded it, if it is not that of its process."""

    def attempt(self, event: Event | None) -> Failure | str | None:
        """Take an event (None: the end of the log), and note nothing; or say why not."""
        ...

    def attempted(self) -> tuple[Counter[Any], Counter[str]]:
        """The steps of the last attempt, and what was exercised besides."""
        ...

    def counts(self, done: tuple[Counter[Any], Counter[str]]) -> None:
        """Note what was done and exercised."""
        ...

    def saved(self) -> Any:
        """The state, to be restored: a ``Saved``."""
        ...

    def restore(self, saved: Any) -> None:
        """Be in a state."""
        ...

    def settles_down(self) -> None:
        """There is but one state: what has ended may be remembered as such."""
        ...

    def fails(self, event: Event, why: Failure | str, whole: Sequence[Event]) -> None:
        """No order explains an event: this is why, in one of them."""
        ...

    def unsure(self, why: str, event: Event | None) -> None:
        """From here on the key is unknown."""
        ...


@dataclass
class _State:
    """A state, with the calls that are open and have had their effect; ``saved`` is None for the
    one in which the judge is."""

    done: frozenset[Span]
    saved: Any = None


_Refused = tuple[Any, "Failure | str"]
"""The state in which something was refused, and why."""


@dataclass
class _Tried:
    """All orders up to an end, as they were tried: the states after it, and why others ended."""

    after: dict[Any, _State] = field(default_factory=dict)
    seen: set[Any] = field(default_factory=set)
    refused: list[_Refused] = field(default_factory=list)


class Orders:
    """Gives a judge the events of a key in every order in which they may have been; clocks differ
    by a ``tolerance``, and there are at most so many states."""

    def __init__(self, judge: Ordered, tolerance: int, most: int) -> None:
        self._judge, self._tolerance, self._most = judge, tolerance, most
        self._instants = Instants(tolerance)
        self._held: deque[tuple[bool, Span]] = deque()
        self._open: dict[Span, None] = {}
        self._states = [_State(frozenset())]
        self._are_all = True
        self._unclear = ""          # why it is not known what an order leads to
        self._left = _AT_FIRST * most
        self._since = 0             # ends for which there were several states
        self._over: list[Span] | None = []
        self._last: Span | None = None
        self._done: dict[Span, tuple[Counter[Any], Counter[str]]] = {}
        self.is_over = False

    def take(self, event: Event) -> None:
        """Take the next event of the key."""
        self._held.extend(self._instants.of(event))
        self._goes_on(False)

    def end(self) -> None:
        """The log is over: no more ends come, and one of the states has to explain that, too."""
        self._held.extend(self._instants.rest())
        self._goes_on(True)
        if self.is_over:
            return
        failures = list[_Refused]()
        for state in self._states:
            self._is_in(state)
            why = self._judge.attempt(None)
            if why is None:
                self._judge.counts(self._judge.attempted())
                return
            failures.append((state.saved, why))
        self._gives_up(self._last, failures)

    def _goes_on(self, final: bool) -> None:
        while self._held and not self.is_over:
            is_end, span = self._held[0]
            if not is_end:
                self._open[span] = None
            elif not final and len(self._held) < _AHEAD and any(
                    each.end is None for each in self._open):
                return
            else:
                self._ends(span)
            self._held.popleft()

    def _ends(self, span: Span) -> None:
        """A call has had its effect by now, in every state that is left."""
        if len(self._states) == 1 == len(self._open) and not self._states[0].done:
            failures = self._alone(span)
        else:
            failures = self._in_all_orders(span)
        del self._open[span]
        if failures:
            self._gives_up(span, failures)
            return
        self._last = span
        self._judge.counts(self._done.pop(span))
        if self._over is not None:
            self._over.append(span)
            if len(self._over) > WHOLE:
                self._over = None
        self._settles()

    def _settles(self) -> None:
        several = len(self._states) > 1 or bool(self._states[0].done)
        self._since = self._since + 1 if several else 0
        if self._since > _BETWEEN and len(self._states) > 1:
            self._are_all, self._since = False, 0
            least = min(self._states, key=lambda each: len(each.done))
            self._states = [least]
        if len(self._states) == 1 and not self._states[0].done:
            self._is_in(self._states[0])
            self._judge.settles_down()
            self._states = [_State(frozenset())]

    def _alone(self, span: Span) -> list[_Refused]:
        """Take what nothing overlaps, in the only state."""
        assert span.end is not None
        self._is_in(self._states[0])
        self._states = [_State(frozenset())]
        why = self._judge.attempt(span.end)
        if why is None:
            self._done[span] = self._judge.attempted()
        return [] if why is None else [(None, why)]

    def _in_all_orders(self, span: Span) -> list[_Refused]:
        tried = _Tried()
        self._left += _EACH
        for state in self._states:
            if self._left <= 0 and len(tried.after) >= _FEW:
                self._are_all = False
                break
            if span in state.done:
                saved = self._saved(state)
                done = state.done - {span}
                tried.after.setdefault((done, saved.key), _State(done, saved))
            else:
                self._tries(span, state, tried)
        if tried.after:
            self._states = [*tried.after.values()]
            return []
        return tried.refused or [(None, _MANY_ORDERS)]

    def _tries(self, span: Span, state: _State, tried: _Tried) -> None:
        """Let open calls have their effect, in all orders, up to the end of one."""
        self._saved(state)
        todo = deque([state])
        while todo:
            here = todo.popleft()
            for each in self._next(here.done, span):
                if len(tried.seen) + len(tried.after) >= self._most or (
                        self._left <= 0 and tried.after):
                    self._are_all = False
                    return
                self._left -= 1
                why = self._takes(each, here)
                if why is not None:
                    if each is span:
                        tried.refused.append((here.saved, why))
                    continue
                saved = self._judge.saved()
                done = here.done if each is span else here.done | {each}
                key = done, saved.key
                if each is span:
                    tried.after.setdefault(key, _State(done, saved))
                elif key not in tried.seen:
                    tried.seen.add(key)
                    todo.append(_State(done, saved))

    def _next(self, done: frozenset[Span], first: Span) -> list[Span]:
        """The calls that may have their effect next, the one that ends now before others."""
        left = [first, *(each for each in self._open if each is not first and each not in done)]
        if not self._tolerance:
            return left
        return [each for each in left if not any(
            self._is_before(other, each) for other in left if other is not each)]

    def _is_before(self, one: Span, other: Span) -> bool:
        """True if one process did the one before the other, by one clock."""
        first, second = one.end or one.begin, other.end or other.begin
        assert first is not None and second is not None
        clock = self._judge.clocks.get
        return (first.process == second.process != "" and first.file == second.file
                and clock(first.operation) == clock(second.operation) and one.is_before(other))

    def _takes(self, span: Span, here: _State) -> Failure | str | None:
        """Take a call in a state; one without an end is taken as one that ends well."""
        event = span.end
        if event is None:
            assert span.begin is not None
            event = span.begin._replace(phase="end", result="ok")
        self._is_in(here)
        why = self._judge.attempt(event)
        if isinstance(why, str) and not isinstance(why, Foreign):
            self._unclear = self._unclear or why
        if why is None and span not in self._done:
            self._done[span] = self._judge.attempted()
        return why

    def _is_in(self, state: _State) -> None:
        if state.saved is not None:
            self._judge.restore(state.saved)

    def _saved(self, state: _State) -> Any:
        if state.saved is None:
            state.saved = self._judge.saved()
        return state.saved

    def _gives_up(self, span: Span | None, failures: Sequence[_Refused]) -> None:
        """In no state is there an order that explains a call."""
        self.is_over = True
        assert span is not None and span.end is not None
        unclear = self._unclear or next((why for _, why in failures if isinstance(
            why, str) and not isinstance(why, Foreign)), "")
        if not self._instants.are_sorted:
            unclear = _LATE
        elif any(each.end is None for each in self._open):
            unclear = _NO_END
        elif not self._are_all:
            unclear = _MANY_ORDERS
        if unclear:
            self._judge.unsure(unclear, span.end)
            return
        broken = [each for each in failures
                  if isinstance(each[1], Failure) and each[1].rule is not None]
        saved, why = (broken or failures)[0]
        if saved is not None:
            self._judge.restore(saved)
        self._judge.fails(span.end, why, self._whole(span))

    def _whole(self, last: Span) -> Sequence[Event]:
        """The events so far, if they are few, with that one last."""
        if self._over is None:
            return ()
        spans = dict.fromkeys((*self._over, last))
        events = sorted((each for span in spans for each in span.events), key=lambda each: each[0])
        assert last.end is not None
        return (*(event for _, event in events if event is not last.end), last.end)
