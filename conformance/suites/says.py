"""The meaning of requests and answers as steps of an observer: a table with a line per operation.

``on("take", "somebody asks for {permits}", says(True, "passes", "all are given"), …)`` reads: the
request is described in these words, and the answer true stands for the action ``passes``. A request
that is a step itself ``tells`` it. Where an answer is a list of what was done, ``each`` has a line
for each kind of event; where it is an object, ``each`` or ``one`` stands for a field ``of`` it; and
``ends`` is the step that nothing more was done. From the table come the words, what an answer
shows, and all that could have been in its place.

A parameter of an action is the field of its name: of the event or answer, else of the request. A
number beyond those that the observer knows is judged as the highest, for it is as wrong as that.
Fields of the table can also name what else a conversation knows of a message
(``PlainConversation.about``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache
from itertools import islice, product
from string import Formatter
from typing import Any, Final, NamedTuple, Protocol

from ...spec.notation.errors import TargetError
from ...spec.notation.interpreter import Step
from ...spec.notation.labels import counted, filled
from ...spec.notation.machine import Action, Machine, constants_of, number
from ...spec.notation.types import Domain, DomainLike, domain_values
from ..ports.base import Message, excerpt
from .exchange import Answer

__all__ = [
    "ANY", "END", "WAITS", "Among", "Fields", "Known", "Listed", "On", "Part", "Says", "Seen",
    "Table", "any_one", "done", "each", "ends", "on", "one", "over", "says", "table", "unsaid",
]


class _Other(Enum):
    ANY = "any"
    END = "end"
    WAITS = "waits"


ANY: Final = _Other.ANY
"""Every answer or event that has no line of its own."""

END: Final = _Other.END
"""Nothing more was done: after the last event of a list."""

WAITS: Final = _Other.WAITS
"""No answer yet: the call waits, and an event will end that."""

_SEE_THE_PAGE: Final = "Fix the adapter; the page of its port says what there can be."

_KINDS: Final = ("does", "call")
"""The keys under which an event that is an object has its kind; without one, its only key is the
kind."""

Fields = Mapping[str, Any]

Among = Callable[[Any, Fields], Iterable[Any]]
"""From a conversation and a request: events that there could be, or the one value that each has."""

Listed = str | Sequence[Any] | Among
"""The same as the table has it: some of these, or a variable of the conversation by its name."""

Reads = Callable[[Any, Fields, Any], Iterable[Message]]
"""From a conversation, a request and its answer: the events that the answer stands for."""

Reports = Callable[[Any, Fields, Any], str]
"""From a conversation, a request and its answer: the words of the answer."""

Picks = Callable[[Any, Fields], Sequence[Any]]
"""From a conversation and the first fields of a request: the values of its next field, if any."""

Picked = str | Sequence[Any] | Picks
"""The same as the table has it: some values, or a variable of the conversation by its name."""


@dataclass(frozen=True, eq=False)
class Known:
    """By action and parameter, the values that an observer knows; and answers that were made
    before."""

    values: Mapping[str, Mapping[str, Sequence[int]]]
    answers: dict[tuple[Any, ...], Answer] = field(default_factory=dict)

    def __getitem__(self, action: str) -> Mapping[str, Sequence[int]]:
        return self.values[action]


class _Talk(Protocol):
    """The methods of a conversation that the table calls; see ``PlainConversation``."""

    times: Counter[str]
    wanted: frozenset[str] | None

    @property
    def known(self) -> Known: ...
    def about(self, message: Message) -> Fields: ...
    def told(self, row: On, request: Fields) -> Iterable[Step]: ...
    def note(self, action: str, about: Fields) -> None: ...


class Seen(NamedTuple):
    """The steps of the machines that an answer shows, in their order, and words for it."""

    steps: tuple[Step, ...]
    words: str


@dataclass(frozen=True)
class Says:
    """An answer, or a kind of events, and the action that it stands for.

    ``words`` and, if it was really given, ``seen`` are formats; without ``words`` it is never
    listed among what there could be. It carries what it ``gives``: the names of the values of a
    list, or of its one value. It is meant only ``where`` that field holds. It could be any value
    that the observer knows, or those ``among`` which it is. One that the observer has no number for
    is the action ``beyond``, or passed on as it is where that is ``exact``; or, with ``one_more``,
    the highest amount, and 1 in a step of its own. After one that is ``last`` nothing more is done.
    ``names`` are the action's parameters; these and its words ``need`` fields.
    """

    answer: Any
    action: str
    words: str
    seen: str = ""
    gives: tuple[str, ...] = ()
    where: str = ""
    among: Among | None = None
    beyond: str = ""
    exact: bool = False
    one_more: bool = False
    last: bool = False
    instead_of: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    need: tuple[str, ...] = ()

    def bound(self, declared: Mapping[str, Action]) -> Says:
        """The entry with the parameters that the observer has ``declared`` for its action, and all
        fields that its words need."""
        over = declared[self.action].over if self.action else ()
        names = tuple(name for name, _ in over)
        named = [name for _, name, _, _ in Formatter().parse(self.words) if name]
        return replace(self, names=names, need=tuple(dict.fromkeys((*names, *named))))

    def answer_of(self, request: Fields, about: Fields, known: Known, then: tuple[Step, ...],
                  instead_of: tuple[str, ...]) -> Answer:
        """The answer to a request that is about this; each is made once."""
        key = (id(self), then, *[
            about[name] if name in about else request[name] for name in self.need])
        found = known.answers.get(key)
        if found is None:
            fields = {**request, **about}
            found = known.answers[key] = Answer(
                filled(self.words, fields), self.step(fields, known),
                then if self.last else self.more(fields, known), self.instead_of or instead_of)
        return found

    def more(self, fields: Fields, known: Known) -> tuple[Step, ...]:
        """The step after its own, of an amount that is larger than those that the observer knows.
        """
        if not self.one_more or fields[self.names[0]] < len(known[self.action][self.names[0]]):
            return ()
        return ((self.action, ((self.names[0], 1),)),)

    def step(self, fields: Fields, known: Known) -> Step:
        """The step, with these fields of a request and of what was answered."""
        args = []
        for name in self.names:
            value, values = fields[name], known[self.action][name]
            if isinstance(value, frozenset):
                pass        # one of these, see ``either``
            elif 0 <= value < len(values):
                value = values[value]
            elif self.beyond:
                return self.beyond, ()
            elif not self.exact:
                value = values[max(0, min(value, len(values) - 1))]
            args.append((name, value))
        return self.action, tuple(args)

    def could(self, talk: _Talk, request: Fields) -> Iterator[Fields]:
        """The values that it could carry."""
        if self.among is None:
            free = [name for name in self.names if name in self.gives]
            for chosen in product(*(talk.known[self.action][name] for name in free)):
                yield talk.about(dict(zip(free, chosen, strict=True)))
            return
        for that in self.among(talk, request):
            carried = that if isinstance(that, dict) else {self.gives[0]: that}
            yield talk.about(carried)


@dataclass(frozen=True)
class Part:
    """An answer, or the field ``of`` it: one value, or a list ``each`` of which is an event.

    The events' words are ``joined``, and stand in ``words``; ``nothing`` says that there are none.
    An answer that is no list of events ``reads`` as one, and ``reports`` itself in words. Entries
    of one group are listed together, for each thing that they could be about. Its only answer is no
    choice, and is listed only where it says so: ``listed``. Of a list there are at ``most`` so many
    events, or as many as a field of the request says or has; where ``fewer`` mean that there are no
    more, null stands after them. One event of a list may be due, the first for which the field
    ``due`` holds: it has the field ``is_due``, and is judged after all others; ``undue`` is what
    stands in its place if there is none. True says that there are no events, and so may an empty
    list where the one answer is true.
    """

    groups: tuple[tuple[Says, ...], ...]
    of: str = ""
    is_list: bool = False
    words: str = "{}"
    nothing: str = ""
    joined: str = " and "
    kinds: Mapping[Any, tuple[Says, ...]] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    listed: bool = False
    reads: Reads | None = None
    reports: Reports | None = None
    most: str | int = 0
    fewer: bool = False
    due: str = ""
    undue: Message | None = None
    calls: Mapping[str, str] = field(default_factory=dict)

    def bound(self, declared: Mapping[str, Action], alone: bool) -> Part:
        """The part with what the observer declares of the actions; it may be ``alone`` in its
        answer."""
        groups = tuple(tuple(entry.bound(declared) for entry in group) for group in self.groups)
        kinds: dict[Any, tuple[Says, ...]] = {}
        for entry in (entry for group in groups for entry in group):
            kinds[entry.answer] = (*kinds.get(entry.answer, ()), entry)
        actions = () if alone else tuple(dict.fromkeys(
            action for group in groups for entry in group
            for action in (entry.action, entry.beyond) if action))
        return replace(self, groups=groups, kinds=kinds, actions=actions)

    @cached_property
    def is_told(self) -> bool:
        """True if it could be otherwise."""
        told = [entry for group in self.groups for entry in group if entry.words]
        return self.is_list or self.listed or len(told) > 1 or any(
            entry.among or set(entry.gives) & set(entry.names) for entry in told)

    @cached_property
    def _told(self) -> tuple[tuple[Says, ...], ...]:
        """Its groups without the entries that are never listed: those may be a great many."""
        told = (tuple(entry for entry in group if entry.words) for group in self.groups)
        return tuple(group for group in told if group)

    @cached_property
    def _found(self) -> dict[frozenset[str], tuple[tuple[Says, ...], ...]]:
        return {}

    def _of(self, wanted: frozenset[str]) -> tuple[tuple[Says, ...], ...]:
        """Its groups with those entries alone that stand for one of some actions: of the sets of
        actions that are asked for, few of which differ, each is looked at once."""
        found = self._found.get(wanted)
        if found is None:
            groups = (tuple(entry for entry in group if not wanted.isdisjoint(
                (entry.action, entry.beyond))) for group in self._told)
            found = self._found[wanted] = tuple(group for group in groups if group)
        return found

    def could(self, talk: _Talk, request: Fields) -> Iterator[Answer]:
        """The answers that there could be in its place."""
        end = tuple(entry.step({**request, **talk.about({})}, talk.known)
                    for entry in self.kinds.get(_Other.END, ()))
        for told in self._told if talk.wanted is None else self._of(talk.wanted):
            for about in told[0].could(talk, request):
                for entry in told:
                    if about.get(entry.where, True):
                        yield entry.answer_of(request, about, talk.known, end, self.actions)

    def shown(self, talk: _Talk, request: Fields, answer: Any) -> tuple[list[Step], str]:
        """The steps and the words of what was answered; it is noted too."""
        if not self.is_list:
            entry, about = self._meant(talk, request, answer)
            fields = {**request, **about}
            steps = [entry.step(fields, talk.known), *entry.more(fields, talk.known)] if (
                entry.action) else []
            _noted(talk, entry, fields)
            return steps, self.words.format(filled(entry.seen, fields))
        steps, words = [], list[str]()
        events = answer
        if self.reads is not None:
            events = self.reads(talk, request, answer)
        elif self.most or self.undue or self.calls or answer is True:
            events = self._events(request, answer)
        if self.undue:
            events = self._with_the_due_last(talk, events)
        for event in events:
            entry, about = self._meant(talk, request, event)
            fields = {**request, **about}
            steps.append(entry.step(fields, talk.known))
            if entry.one_more:
                steps += entry.more(fields, talk.known)
            if self.reports is None:
                words.append(filled(entry.seen, fields))
            _noted(talk, entry, about)
        if self.calls:
            first = self.groups[0][0].action
            steps.sort(key=lambda step: step[0] != first)
        for entry in self.kinds.get(_Other.END, ()):
            steps.append(entry.step({**request, **talk.about({})}, talk.known))
        if self.reports is not None:
            return steps, self.reports(talk, request, answer)
        told = self.words.format(self.joined.join(words), s="s" if len(words) > 1 else "")
        return steps, told if words else self.nothing

    def _events(self, request: Fields, answer: Any) -> Sequence[Any]:
        """The events of an answer that is a list, or true."""
        events: Sequence[Any] = () if answer is True else answer
        if self.calls:
            (field, *_), fields = self.calls, self.calls.items()
            return [{"call": each, field: request[name], "which": which}
                    for each, (name, which) in zip(events, fields, strict=True)]
        if not self.most:
            return events
        asked = self.most if isinstance(self.most, int) else request[self.most]
        most = asked if isinstance(asked, int) else len(asked)
        if len(events) > most:
            raise TargetError(
                f"the target answered {request['do']!r} with {counted(len(events), 'event')}, and "
                f"there can be {most}", next_step=_SEE_THE_PAGE)
        return [*events, None] if self.fewer and len(events) < most else events

    def _with_the_due_last(self, talk: _Talk, events: Sequence[Message]) -> Sequence[Any]:
        due = next((place for place, event in enumerate(events)
                    if self.due and talk.about(event).get(self.due)), None)
        if due is None:
            return [*events, self.undue]
        return [*events[:due], *events[due + 1:], {**events[due], "is_due": True}]

    def _meant(self, talk: _Talk, request: Fields, event: Any) -> tuple[Says, Fields]:
        """The entry of an answer or event, and what that carries."""
        entries, carried = self._parsed(event)
        fields = talk.about(carried)
        for entry in entries:
            if not entry.where or fields.get(entry.where):
                return entry, fields
        raise TargetError(
            f"the target reports {excerpt(event)}, which cannot be when {request['do']!r} is asked",
            next_step=_SEE_THE_PAGE)

    def _parsed(self, event: Any) -> tuple[tuple[Says, ...], Message]:
        if isinstance(event, list) and event and event[0] in self.kinds:
            entries = self.kinds[event[0]]
            return entries, dict(zip(entries[0].gives, event[1:], strict=True))
        if isinstance(event, dict):
            kind = next((event[key] for key in _KINDS if key in event), next(iter(event)))
            return self.kinds.get(kind, self.kinds.get(ANY, ())), event
        entries = self.kinds.get(ANY, ())
        if not isinstance(event, list):
            entries = self.kinds.get(event, entries)
        elif not event and not entries:
            entries = self.kinds.get(True, ())
        return entries, {name: event for entry in entries[:1] for name in entry.gives}


@dataclass(frozen=True)
class On:
    """An operation: the words of its request, the steps that it ``tells``, and its answers.

    It is meant only ``where`` that field of the request holds. ``tells`` are steps that the request
    itself is. ``picks`` has, by field of the request, the values that an act picks from; None is
    one that makes no sense now, and an object stands for several fields. A later field gets the
    request so far, and picks by what is left of the pick. A ``new`` field has a value that a
    variable of the conversation has not. A program that sets fields which are ``lists`` names some
    of their values. ``also`` are acts of other names that ask for it, with what they pick. It is
    asked for only while it ``makes_sense``, with all variables of ``only`` true and those of
    ``unless`` false. If its call waits, ``later`` has the answers by which an event may end that.
    What it shows happens as often as the field ``repeated`` says.
    """

    do: str
    asked: str
    parts: tuple[Part, ...]
    tells: tuple[Says, ...] = ()
    where: str = ""
    joined: str = ", "
    later: Part | None = None
    picks: Mapping[str, Picks] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    lists: tuple[str, ...] = ()
    also: Mapping[str, Mapping[str, Picks]] = field(default_factory=dict)
    makes_sense: Callable[[Any], bool] | None = None
    only: str = ""
    unless: str = ""
    repeated: str = ""

    def fits(self, talk: Any) -> bool:
        """True if it makes sense to ask for it now, whatever its fields."""
        for name in self._only:
            if not getattr(talk, name):
                return False
        for name in self._unless:
            if getattr(talk, name):
                return False
        return self.makes_sense is None or self.makes_sense(talk)

    @cached_property
    def _answered(self) -> str:
        """Its name among the actions by which a conversation remembers."""
        return f"{self.do}()"

    @cached_property
    def _only(self) -> list[str]:
        return self.only.split()

    @cached_property
    def _unless(self) -> list[str]:
        return self.unless.split()

    @cached_property
    def begins_to_wait(self) -> str:
        """The action that its call waits; its own name if the observer has none for that."""
        waits = (entry.action for part in self.parts for entry in part.kinds.get(WAITS, ()))
        return next(waits, self.do)

    @cached_property
    def acts(self) -> bool:
        """True if it is a step itself: then what could be otherwise comes after that step."""
        return bool(self.tells) and any(_Other.END in part.kinds for part in self.parts)

    def could(self, talk: _Talk, fields: Fields) -> Iterator[Answer]:
        """All the answers that there could be; none where there is but one."""
        for part in self.parts:
            if part.is_told:
                yield from part.could(talk, fields)

    def shown(self, talk: _Talk, fields: Fields, answer: Any) -> Seen:
        """The steps and words that an answer to a request with these fields shows."""
        steps = list(talk.told(self, fields))
        for tells in self.tells:
            _noted(talk, tells, fields)
        words = []
        for part in self.parts:
            more, told = part.shown(talk, fields, answer[part.of] if part.of else answer)
            steps += more
            words.append(told)
        talk.note(self._answered, fields)
        if self.repeated:
            steps *= fields[self.repeated]
        return Seen(tuple(steps), self.joined.join(words))


@dataclass(frozen=True, eq=False)
class Table:
    """By operation, the ``rows`` of which one is meant, with the actions of some ``observers``."""

    observers: tuple[type[Machine], ...]
    rows: Mapping[str, tuple[On, ...]]

    @cached_property
    def acts(self) -> Mapping[str, tuple[On, Mapping[str, Picks]]]:
        """By act, the row by which it is requested, and what it picks."""
        found: dict[str, tuple[On, Mapping[str, Picks]]] = {}
        for do, (row, *_) in self.rows.items():
            found[do] = row, row.picks
            found |= {act: (row, picks) for act, picks in row.also.items()}
        return found

    @cached_property
    def named(self) -> Mapping[str, str]:
        """Acts that are not named as the operation that they ask for."""
        return {act: row.do for act, (row, _) in self.acts.items() if act != row.do}

    def known(self, constants: Mapping[str, int]) -> Known:
        """The values that the observer knows with some constants; they may be more than its own."""
        return _known(self, tuple(constants.items()))


def says(answer: Any, action: str, words: str, seen: str = "", gives: str = "",
         among: Listed | None = None, **more: Any) -> Says:
    """An answer or a kind of events that stands for an action; see ``Says``."""
    return Says(answer, action, words, seen or words, tuple(gives.split()),
                among=None if among is None else _amongst(among), **more)


def done(words: str = "done") -> Says:
    """An answer that shows nothing."""
    return says(True, "", words)


def ends(action: str, words: str) -> Says:
    """Nothing more was done: the step after the last event."""
    return Says(_Other.END, action, words)


def over(among: Listed, *entries: Says) -> tuple[Says, ...]:
    """Entries that are listed together, for each thing that they could be about."""
    return tuple(replace(entry, among=_amongst(among)) for entry in entries)


def any_one(among: Among) -> Among:
    """The first of what it could be about, if there is anything: one is as good as another."""
    return lambda talk, request: islice(iter(among(talk, request)), 1)


def unsaid(*entries: Says | tuple[Says, ...]) -> tuple[Says, ...]:
    """Entries that can be seen, but are not listed among what there could be."""
    return tuple(replace(entry, words="") for group in _groups(entries) for entry in group)


def each(*entries: Says | tuple[Says, ...], **more: Any) -> Part:
    """A list of events; see ``Part``."""
    return Part(_groups(entries), is_list=True, **more)


def one(*entries: Says | tuple[Says, ...], **more: Any) -> Part:
    """One value; see ``Part``."""
    return Part(_groups(entries), **more)


def on(
    do: str, asked: str, *answers: Says | Part | Mapping[str, Part], tells: str = "",
    picks: Mapping[str, Picked] | None = None,
    also: Mapping[str, Mapping[str, Picked]] | None = None, **more: Any
) -> On:
    """An operation, the words of its request, and what its answers stand for: some values, or a
    part, or by field a part of an object; see ``On``."""
    parts: tuple[Part, ...] = ()
    loose = tuple(that for that in answers if isinstance(that, Says))
    for that in answers:
        if isinstance(that, Part):
            parts = (replace(that, groups=_groups(loose) + that.groups),)
        elif isinstance(that, Mapping):
            parts = tuple(replace(part, of=of) for of, part in that.items())
    if loose and not parts:
        parts = (Part(_groups(loose)),)
    return On(do, asked, parts, tuple(says(None, name, "") for name in tells.split()),
              picks=_pickers(picks or {}), **more,
              also={act: _pickers(picked) for act, picked in (also or {}).items()})


def _pickers(picks: Mapping[str, Picked]) -> Mapping[str, Picks]:
    return {name: _picker(picked) for name, picked in picks.items()}


def _picker(picked: Picked) -> Picks:
    if isinstance(picked, str):
        variable = picked
        return lambda talk, request: getattr(talk, variable)
    if callable(picked):
        return picked
    values = picked
    return lambda talk, request: values


def _amongst(listed: Listed) -> Among:
    return listed if callable(listed) else _picker(listed)


def table(observer: type[Machine] | tuple[type[Machine], ...], *rows: On) -> Table:
    """The rows by operation, each action with its parameters as an observer declares them: of
    several that know it, the first."""
    observers = observer if isinstance(observer, tuple) else (observer,)
    declared = _declared(observers)
    found: dict[str, tuple[On, ...]] = {}
    for row in rows:
        parts = tuple(part.bound(declared, len(row.parts) == 1) for part in row.parts)
        tells = Part((row.tells,)).bound(declared, alone=True).groups[0]
        later = row.later and row.later.bound(declared, alone=True)
        bound = replace(row, parts=parts, tells=tells, later=later)
        found[row.do] = (*found.get(row.do, ()), bound)
    return Table(observers, found)


def _declared(observers: Sequence[type[Machine]]) -> dict[str, Action]:
    return {name: action for each in reversed(observers)
            for name, action in each.actions_declared.items()}


def _noted(talk: _Talk, entry: Says, about: Fields) -> None:
    talk.note(entry.action, about)
    talk.times[entry.action] += 1


def _groups(entries: Iterable[Says | tuple[Says, ...]]) -> tuple[tuple[Says, ...], ...]:
    return tuple(that if isinstance(that, tuple) else (that,) for that in entries)


@lru_cache(maxsize=64)
def _known(rows: Table, constants: tuple[tuple[str, int], ...]) -> Known:
    known: dict[str, Mapping[str, Sequence[int]]] = {}
    for observer in reversed(rows.observers):
        values = constants_of(observer, {
            name: value for name, value in constants if name in observer.constants_declared})
        known |= {name: {parameter: _values(domain, values) for parameter, domain in action.over}
                  for name, action in observer.actions_declared.items()}
    return Known(known)


def _values(domain: DomainLike, constants: Mapping[str, Any]) -> Sequence[int]:
    """The values of a domain. A domain of numbers may have very many, so it is a range."""
    if isinstance(domain, Domain):
        return range(number(domain.size, constants))
    return domain_values(domain, lambda size: number(size, constants))
