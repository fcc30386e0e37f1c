"""Histories of logs, made again on an implementation: does it break the same rule?

A suite makes what its requests make. So the short history of a violation becomes a program: each
call of it is asked for where it begins, by the request that the system's logs name (``Asks``), with
items and processes named as the suite names its own. What overlapped in the log is asked for one
after the other, and calls wait if they have to. So a race may not come again: then the rule is not
broken, and nothing more is said.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...spec.notation.errors import InputError, TargetError
from ..logs.events import Event, shown
from ..logs.kinds import Asks, Logs
from ..logs.notes import Finding
from ..ports.base import Target
from ..suites.breach import Breach
from ..suites.plain import PlainConversation
from ..suites.run import items_for
from ..suites.suite import Act, AnySuite

__all__ = ["Remade", "document_of", "in_words", "remade"]

_PICKS_MAX: Final = 512
_CAPACITY_MAX: Final = 1_000
"""A capacity of a suite is looked for that gives the settings of a log, up to this one."""


@dataclass(frozen=True)
class Remade:
    """A history on an implementation: the ``words`` of each step, and the breach that the suite
    sees, if any. ``cannot`` says why the suite cannot make the history."""

    rule: str
    key: str
    target: str
    words: tuple[str, ...] = ()
    breach: Breach | None = None
    cannot: str = ""

    @property
    def is_same(self) -> bool:
        """True if the rule is broken that the log breaks."""
        return self.breach is not None and self.breach.rule.id == self.rule


@dataclass
class _Names:
    """By event's name of an item or a process, the suite's."""

    of: dict[tuple[str, Hashable], Any] = field(default_factory=dict)

    def fits(self, request: Mapping[str, Any], asks: Asks, event: Event) -> bool:
        """True if a request is about the event's item, process and value, as far as it asks."""
        for name, wanted in self._wanted(asks, event):
            known = None if name in asks.new else self.of.get((name, wanted))
            given = request.get(name)
            if given != known if known is not None else given in self._taken(name):
                return False
        if event.value is None:
            return True
        return (not asks.value or request.get(asks.value) == event.value) and (
            not asks.many or len(request.get(asks.many, ())) == event.value)

    def note(self, request: Mapping[str, Any], asks: Asks, event: Event) -> None:
        """Know how the suite names what a request is about."""
        for name, wanted in self._wanted(asks, event):
            self.of[name, wanted] = request[name]

    def _wanted(self, asks: Asks, event: Event) -> Iterator[tuple[str, Hashable]]:
        if asks.item and event.item is not None:
            yield asks.item, event.item
            if asks.process == asks.item and asks.item not in asks.new:
                return
        if asks.process:
            yield asks.process, ("process", event.process)

    def _taken(self, name: str) -> list[Any]:
        return [value for (of, _), value in self.of.items() if of == name]


def in_words(found: Remade) -> Iterator[str]:
    """The lines on a history that was made again."""
    yield f"{found.rule} of {found.key!r} on {found.target}:"
    for number, words in enumerate(found.words, 1):
        yield f"  {number}. {words}"
    if found.cannot:
        yield f"  Not made again: {found.cannot}."
    elif found.breach is None:
        yield ("  Not broken by these steps. Perhaps it takes the timing that it had in the log, "
               "or what came before.")
    else:
        breach = found.breach
        told = "This breaks the same rule" if found.is_same else f"This breaks {breach.rule.id}"
        yield f"  {told}, in step {breach.step + 1}."
        if breach.alternatives:
            yield f"  {breach.allowed_in_words()}"


def document_of(found: Remade) -> dict[str, Any]:
    """A history that was made again, as JSON has it."""
    breach = found.breach
    return {"rule": found.rule, "key": found.key, "target": found.target,
            "steps": list(found.words), "same": found.is_same,
            "breach": None if breach is None else {"rule": breach.rule.id,
                                                   "step": breach.step + 1},
            "cannot": found.cannot}


def remade(finding: Finding, suite: AnySuite, logs: Logs, settings: Mapping[str, int],
           target: Target) -> Remade:
    """Make a finding's history on a fresh instance of a target; and if that breaks no rule, all of
    the key's log, if it is short."""
    if not (finding.history or finding.whole):
        return Remade(finding.rule, finding.key, target.name,
                      cannot="no short history was found that breaks the rule by itself")
    found = _remade(finding, finding.history or finding.whole, suite, logs, settings, target)
    if not found.is_same and finding.whole not in ((), finding.history):
        again = _remade(finding, finding.whole, suite, logs, settings, target)
        return again if again.is_same or found.cannot or not found.words else found
    return found


def _remade(finding: Finding, history: Sequence[Event], suite: AnySuite, logs: Logs,
            settings: Mapping[str, int], target: Target) -> Remade:
    try:
        asked = list(_asked(history, logs))
        own = {"capacity": settings[logs.capacity]} if logs.capacity in settings else {}
        capacity = _capacity_for(suite, {**settings, **own}, len(asked))
    except InputError as error:
        return Remade(finding.rule, finding.key, target.name, cannot=error.what)
    items_max = items_for(asked)
    judge = suite.judge(capacity, items_max, suite.rule(finding.rule))
    words: list[str] = []
    try:
        session = target.open()
    except TargetError as error:
        return Remade(finding.rule, finding.key, target.name, cannot=str(error))
    try:
        conversation = suite.converse(session, capacity, items_max)
        assert isinstance(conversation, PlainConversation), "only these are asked by tables"
        names = _Names()
        for number, (event, asks) in enumerate(asked):
            act = _act(conversation, names, asks, event)
            exchange = conversation.say(act)
            words.append(exchange.words)
            judge.see(exchange, number)
            if not exchange.judged:
                break
    except InputError as error:
        return Remade(finding.rule, finding.key, target.name, tuple(words), cannot=error.what)
    except TargetError as error:
        return Remade(finding.rule, finding.key, target.name, tuple(words), cannot=str(error))
    finally:
        session.close()
    those = [breach for breach in judge.breaches if breach.rule.id == finding.rule]
    return Remade(finding.rule, finding.key, target.name, tuple(words),
                  next(iter([*those, *judge.breaches]), None))


def _asked(history: Sequence[Event], logs: Logs) -> Iterator[tuple[Event, Asks]]:
    """The requests of a history in their order, each with the event that it makes. Raises
    ``InputError`` for one that the suite cannot make."""
    if not logs.asks:
        raise InputError(logs.no_asks)
    ends = {event.call: event for event in history if event.phase == "end" and event.call >= 0}
    begun: set[int] = set()
    for event in history:
        end = ends.get(event.call, event) if event.phase == "begin" else event
        result = "unknown" if end.phase == "begin" else end.result
        key = event.operation, result
        if key not in logs.asks:
            raise InputError(f"the suite cannot make this: {shown(end)}")
        asks = logs.asks[key]
        if event.phase == "begin" and (asks is None or not asks.at_end):
            begun.add(event.call)
        elif event.phase == "begin" or event.call in begun:
            continue
        if asks is not None:
            yield end if event.item is None else event, asks


def _capacity_for(suite: AnySuite, settings: Mapping[str, int], many: int) -> int:
    """A capacity with which the suite has the settings of the log, as far as it has them; where the
    log has none of them, one that is never reached. Raises ``InputError`` if there is none."""
    for capacity in (*suite.capacities, *range(1, _CAPACITY_MAX)):
        try:
            own = suite.settings(capacity)
        except InputError:
            continue
        shared = own.keys() & settings.keys()
        enough = bool(shared) or capacity >= min(many, max(suite.capacities))
        if enough and all(own[name] == settings[name] for name in shared):
            return int(capacity)
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    raise InputError(f"the suite does not run with {told}")


def _act(conversation: PlainConversation, names: _Names, asks: Asks, event: Event) -> Act:
    """The act that makes a request about an event. Raises ``InputError`` if there is none."""
    do = next((each for each in asks.do if each in conversation.can), None)
    if do is None:
        raise InputError(f"the target cannot do {' or '.join(asks.do)}")
    about = ((asks.value, event.value),) if asks.value and event.value is not None else ()
    # In a log any process may answer; a suite lets only those answer that were given something.
    for wanted in dict.fromkeys((asks, replace(asks, process=""))):
        for act in (Act(do, pick, told) for told in dict.fromkeys(((), about))
                    for pick in range(_PICKS_MAX)):
            request = conversation.request_of(act)
            if request is not None and names.fits(request, wanted, event):
                names.note(request, wanted, event)
                return act
    raise InputError(f"the suite cannot make this here: {shown(event)}")
