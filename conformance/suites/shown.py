"""Entries of a table, and parts of an answer: what is shown, and what could be shown.

An entry (``Says``) is an answer, or a kind of events, with the action of the observer that it
stands for. A part (``Part``) is one value or a list of events, in the words of a reader and as
steps; it lists what there could have been in its place, too. ``says`` makes them, with the
rows of operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import product
from string import Formatter
from typing import Any, Final, NamedTuple, Protocol

from ...spec.notation.errors import TargetError
from ...spec.notation.interpreter import Step
from ...spec.notation.labels import counted, filled
from ...spec.notation.machine import Action
from ..ports.base import Message, excerpt
from .exchange import Answer

__all__ = [
    "ANY", "END", "WAITS", "Among", "Fields", "Known", "Listed", "Part", "Reads", "Reports", "Says",
    "Seen", "Talk", "Works", "noted",
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

_KINDS: Final = ("does", "event", "call")
"""The keys under which an event that is an object has its kind; without one, its only key is the
kind."""

Fields = Mapping[str, Any]

Works = Callable[[Any, Fields], Any]
"""From a conversation, and the fields that are known so far, to a value."""

Among = Callable[[Any, Fields], Iterable[Any]]
"""From a conversation and a request: events that there could be, or the one value that each has."""

Listed = str | Sequence[Any] | Among
"""The same as the table has it: some of these, or a variable of the conversation by its name."""

Reads = Callable[[Any, Fields, Any], Iterable[Message]]
"""From a conversation, a request and its answer: the events that the answer stands for."""

Reports = Callable[[Any, Fields, Any], str]
"""From a conversation, a request and its answer: the words of the answer."""


KEPT: Final = 5_000
"""Answers to requests that are remembered with what they show, at most; then all are dropped."""


@dataclass(frozen=True, eq=False)
class Known:
    """By action and parameter, the values that an observer knows; and answers that were made, and
    parts that were listed or ``shown``, before."""

    values: Mapping[str, Mapping[str, Sequence[int]]]
    answers: dict[tuple[Any, ...], Answer] = field(default_factory=dict)
    listed: dict[tuple[Any, ...], tuple[Answer, ...]] = field(default_factory=dict)
    shown: dict[tuple[Any, ...], Shown] = field(default_factory=dict)

    def __getitem__(self, action: str) -> Mapping[str, Sequence[int]]:
        return self.values[action]


class Shown(NamedTuple):
    """The steps and words of a part, and the entries that it noted, with what each is about."""

    steps: list[Step]
    words: str
    noted: list[tuple[Says, Fields]]


class Talk(Protocol):
    """The methods of a conversation that the table calls; see ``PlainConversation``."""

    times: Counter[str]
    wanted: frozenset[str] | None

    @property
    def known(self) -> Known:
        """The values that the observer knows."""
        ...

    def about(self, message: Message) -> Fields:
        """A message with the fields that it has besides."""
        ...

    def note(self, action: str, about: Fields) -> None:
        """Remember an action that was shown."""
        ...


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
    the highest amount, and 1 in a step of its own. After one that is ``last`` nothing more is done,
    and one may show ``then`` another step, where that is meant. ``names`` are the action's
    parameters; these and its words ``need`` fields. It is listed in the answers ``to`` some
    requests alone; and nothing is said of one that is ``quiet`` when it was really shown.

    An end (END) is shown ``only_if`` some variables are true, and unless an event of the answer has
    the field ``denying`` it; once for each value of the variable ``of_each``, if it has one.
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
    then: Says | None = None
    to: str = ""
    quiet: bool = False
    only_if: str = ""
    denying: str = ""
    of_each: str = ""
    instead_of: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    need: tuple[str, ...] = ()

    @cached_property
    def depends(self) -> bool:
        """True of an end that may not come, or comes several times: it is remembered, too."""
        return bool(self.only_if or self.denying or self.of_each or self.to)

    def bound(self, declared: Mapping[str, Action]) -> Says:
        """The entry with the parameters that the observer has ``declared`` for its action, and all
        fields that its words need."""
        over = declared[self.action].over if self.action else ()
        names = tuple(name for name, _ in over)
        named = [name for _, name, _, _ in Formatter().parse(self.words) if name]
        return replace(self, names=names, need=tuple(dict.fromkeys((*names, *named))),
                       then=self.then and self.then.bound(declared))

    def in_answer_to(self, do: str) -> Says | None:
        """The entry in the answers to a request, where it may not be listed; None for an end that
        does not come there."""
        if not self.to or do in self.to.split():
            return self
        return None if self.answer is END else replace(self, words="")

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

    def could(self, talk: Talk, request: Fields) -> Iterator[Fields]:
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
    list where the one answer is true. An event may show ``every`` entry of its kind, where it has
    several. Of a request whose answers ``are_events`` the outcome is the request itself, if that is
    a step. If it ``follows`` from some fields of the request, what it shows and what could be in
    its place depend on nothing else, and are worked out once.
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
    every: bool = False
    are_events: bool = False
    follows: str = ""

    def in_answer_to(self, do: str) -> Part:
        """The part in the answers to one request of those that have it."""
        if not any(entry.to for group in self.groups for entry in group):
            return self
        groups = (tuple(meant for entry in group if (meant := entry.in_answer_to(do)))
                  for group in self.groups)
        return replace(self, groups=tuple(group for group in groups if group))

    def bound(self, declared: Mapping[str, Action], alone: bool) -> Part:
        """The part with what the observer declares of the actions; it may be ``alone`` in its
        answer."""
        groups = tuple(tuple(entry.bound(declared) for entry in group) for group in self.groups)
        kinds: dict[Any, tuple[Says, ...]] = {}
        for entry in (entry for group in groups for entry in group):
            kinds[entry.answer] = (*kinds.get(entry.answer, ()), entry)
        assert not self.follows or not any(
            entry.depends for entry in kinds.get(_Other.END, ())), (
            f"{self.follows}: an end that depends on more has to be noted each time")
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

    def could(self, talk: Talk, request: Fields) -> Iterable[Answer]:
        """The answers that there could be in its place."""
        if not (self.follows and KEPT):
            return self._could(talk, request)
        listed = talk.known.listed
        key = (talk.wanted, *self._key(request))
        found = listed.get(key)
        if found is None:
            found = tuple(self._could(talk, request))
            if len(listed) >= KEPT:
                listed.clear()
            listed[key] = found
        return found

    def _key(self, request: Fields) -> Iterator[object]:
        """The part, and what it follows from in a request."""
        yield id(self)
        for name in self._follows:
            yield repr(request.get(name))

    @cached_property
    def _follows(self) -> list[str]:
        return self.follows.split()

    def _could(self, talk: Talk, request: Fields) -> Iterator[Answer]:
        end = tuple(entry.step({**request, **talk.about({})}, talk.known)
                    for entry in self._ends if not entry.depends)
        last: Says | None = None
        carried: Sequence[Fields] = ()
        for told in self._told if talk.wanted is None else self._of(talk.wanted):
            first = told[0]
            if last is None or first.among is None or (first.among, first.gives) != (
                    last.among, last.gives):
                last, carried = first, list(first.could(talk, request))
            for about in carried:
                for entry in told:
                    if about.get(entry.where, True):
                        yield entry.answer_of(request, about, talk.known, end, self.actions)

    def shown(self, talk: Talk, request: Fields, answer: Any) -> tuple[list[Step], str]:
        """The steps and the words of what was answered; it is noted too."""
        if not (self.follows and KEPT):
            found = self._shown(talk, request, answer)
            return found.steps, found.words
        shown = talk.known.shown
        key = (repr(answer), *self._key(request))
        known = shown.get(key)
        if known is None:
            known = self._shown(talk, request, answer)
            if len(shown) >= KEPT:
                shown.clear()
            shown[key] = known
        else:
            for entry, about in known.noted:
                noted(talk, entry, about)
        return known.steps, known.words

    def _shown(self, talk: Talk, request: Fields, answer: Any) -> Shown:
        if not self.is_list:
            (entry, *_), about = self._meant(talk, request, answer)
            fields = {**request, **about}
            steps = [entry.step(fields, talk.known), *entry.more(fields, talk.known)] if (
                entry.action) else []
            noted(talk, entry, fields)
            return Shown(steps, self.words.format(filled(entry.seen, fields)), [(entry, fields)])
        steps, words = [], list[str]()
        told = list[tuple[Says, Fields]]()
        events = answer
        if self.reads is not None:
            events = self.reads(talk, request, answer)
        elif self.most or self.undue or self.calls or answer is True:
            events = self._events(request, answer)
        if self.undue:
            events = self._with_the_due_last(talk, events)
        denying = self._denying
        denied: set[str] | tuple[()] = ()
        silent = self.reports is not None
        for event in events:
            entries, about = self._meant(talk, request, event)
            fields = {**request, **about}
            for entry in entries:
                if entry.action:
                    steps.append(entry.step(fields, talk.known))
                if entry.one_more:
                    steps += entry.more(fields, talk.known)
                if not (silent or entry.quiet):
                    words.append(filled(entry.seen, fields))
                noted(talk, entry, about)
                told.append((entry, about))
                if entry.then is not None and fields.get(entry.then.where):
                    steps.append(entry.then.step(fields, talk.known))
                    noted(talk, entry.then, about)
                    told.append((entry.then, about))
            if denying:
                denied = {*denied, *(name for name in denying if about.get(name))}
        if self.calls:
            first = self.groups[0][0].action
            steps.sort(key=lambda step: step[0] != first)
        for entry in self._ends:
            if not entry.depends:
                steps.append(entry.step({**request, **talk.about({})}, talk.known))
            elif entry.denying not in denied:
                steps += self._at_the_end(talk, entry, {**request, **talk.about({})})
        if self.reports is not None:
            return Shown(steps, self.reports(talk, request, answer), told)
        inside = self.words.format(self.joined.join(words), s="s" if len(words) > 1 else "")
        return Shown(steps, inside if words else self.nothing, told)

    @cached_property
    def _ends(self) -> tuple[Says, ...]:
        """The steps that nothing more was done."""
        return self.kinds.get(_Other.END, ())

    @cached_property
    def _denying(self) -> set[str]:
        """The fields of events that deny one of its ends."""
        return {entry.denying for entry in self._ends if entry.denying}

    @staticmethod
    def _at_the_end(talk: Talk, entry: Says, fields: Fields) -> Sequence[Step]:
        """The steps of an end that depends on what is remembered, or shown."""
        if entry.only_if and not all(getattr(talk, name) for name in entry.only_if.split()):
            return ()
        if not entry.of_each:
            noted(talk, entry, fields)
            return (entry.step(fields, talk.known),)
        own = [{**fields, entry.gives[0]: each} for each in sorted(getattr(talk, entry.of_each))]
        for about in own:
            noted(talk, entry, about)
        return [entry.step(about, talk.known) for about in own]

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

    def _with_the_due_last(self, talk: Talk, events: Sequence[Message]) -> Sequence[Any]:
        due = next((place for place, event in enumerate(events)
                    if self.due and talk.about(event).get(self.due)), None)
        if due is None:
            return [*events, self.undue]
        return [*events[:due], *events[due + 1:], {**events[due], "is_due": True}]

    def _meant(
        self, talk: Talk, request: Fields, event: Any
    ) -> tuple[tuple[Says, ...], Fields]:
        """The entry of an answer or event, or every one, and what that carries."""
        entries, carried = self._parsed(event)
        fields = talk.about(carried)
        if len(entries) == 1 and not entries[0].where:
            return entries, fields
        meant = tuple([
            entry for entry in entries if not entry.where or fields.get(entry.where)])
        if meant:
            return meant if self.every else meant[:1], fields
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


def noted(talk: Talk, entry: Says, about: Fields) -> None:
    """Remember and count what an entry has shown: what is no step, by the name of the answer."""
    action = entry.action or str(entry.answer)
    talk.note(action, about)
    talk.times[action] += 1
