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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any, Protocol

from ...spec.notation.interpreter import Step
from ...spec.notation.machine import Action, Machine, constants_of, number
from ...spec.notation.types import Domain, DomainLike, domain_values
from ..ports.base import Message
from .exchange import Answer
from .shown import (
    ANY, END, WAITS, Among, Fields, Known, Listed, Part, Reads, Says, Seen, Talk,
    Works, noted,
)

__all__ = [
    "ANY", "END", "WAITS", "Among", "Fields", "Known", "Listed", "On", "Part", "Says", "Seen",
    "Table", "Works", "all_events", "any_one", "done", "each", "ends", "for_each", "of_request",
    "on", "one", "over", "says", "table", "unsaid",
]

Picks = Callable[[Any, Fields], Sequence[Any]]
"""From a conversation and the first fields of a request: the values of its next field, if any."""

Picked = str | Sequence[Any] | Picks
"""The same as the table has it: some values, or a variable of the conversation by its name."""


class _Talk(Talk, Protocol):
    def told(self, row: On, request: Fields) -> Iterable[Step]: ...


@dataclass(frozen=True)
class On:
    """An operation: the words of its request, the steps that it ``tells``, and its answers.

    It is meant only ``where`` that field of the request holds. ``tells`` are steps that the request
    itself is. ``picks`` has, by field of the request, the values that an act picks from; None is
    one that makes no sense now, and an object stands for several fields. A later field gets the
    request so far, and picks by what is left of the pick. A ``new`` field has a value that a
    variable of the conversation has not. A program that sets fields which are ``lists`` names some
    of their values. ``also`` are acts of other names that ask for it, with what they pick, and the
    first of ``turns`` is the pick from which on an act picks these, whatever a program sets. What
    an act picks is a request only ``if_all`` of some conditions hold of it; if it ``sends`` other
    fields, these are worked out of what was picked, and of those that are sent before them. It is
    asked for only while it ``makes_sense``, with all variables of ``only`` true and those of
    ``unless`` false. Where it makes the same call twice at once, the ``second`` one has these
    fields. If its call waits, ``later`` has the answers by which an event may end that. What it
    shows happens as often as the field ``repeated`` says.
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
    turns: tuple[int, Mapping[str, Picks]] | None = None
    if_all: tuple[Works, ...] = ()
    sends: Mapping[str, Works] = field(default_factory=dict)
    second: Mapping[str, Works] = field(default_factory=dict)
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
        return bool(self.tells) and any(END in part.kinds for part in self.parts)

    @cached_property
    def is_outcome(self) -> bool:
        """True if all that its answers show are events, so that its outcome is the request itself.
        """
        return any(part.are_events for part in self.parts)

    def could(self, talk: Talk, fields: Fields) -> Iterator[Answer]:
        """All the answers that there could be; none where there is but one."""
        for part in self.parts:
            if part.is_told:
                yield from part.could(talk, fields)

    def _calls(self, talk: _Talk, fields: Fields) -> Iterator[Fields]:
        """The fields of its call, or of both."""
        yield fields
        if self.second:
            yield talk.about({"do": self.do} | {
                name: works(talk, fields) for name, works in self.second.items()})

    def shown(self, talk: _Talk, fields: Fields, answer: Any) -> Seen:
        """The steps and words that an answer to a request with these fields shows."""
        steps: list[Step] = []
        for call in self._calls(talk, fields):
            steps += talk.told(self, call)
            for tells in self.tells:
                noted(talk, tells, call)
        words = []
        for part in self.parts:
            more, told = part.shown(talk, fields, answer[part.of] if part.of else answer)
            steps += more
            words.append(told)
        talk.note(self._answered, fields)
        if self.repeated:
            steps *= fields[self.repeated]
        told = words[0] if len(words) == 1 else self.joined.join(filter(None, words))
        return Seen(tuple(steps), told)


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


def ends(action: str, words: str = "", gives: str = "", **more: Any) -> Says:
    """Nothing more was done: the step after the last event."""
    return says(END, action, words, gives=gives, **more)


def for_each(values: str, field: str, *those: Message, only: str = "") -> Among:
    """Each of ``those``, with the ``field`` that is each value of a variable or of a field of the
    request; without ``field`` the values are fields themselves. None unless ``only`` is true."""
    def among(talk: Any, request: Fields) -> Iterator[Message]:
        if only and not getattr(talk, only):
            return
        found = request[values] if values in request else getattr(talk, values)
        for value, that in product(found, those or ({},)):
            yield {field: value, **that} if field else {**value, **that}
    return among


def over(among: Listed, *entries: Says) -> tuple[Says, ...]:
    """Entries that are listed together, for each thing that they could be about."""
    return tuple(replace(entry, among=_amongst(among)) for entry in entries)


def any_one(among: Among) -> Among:
    """The first of what it could be about, if there is anything: one is as good as another."""
    return lambda talk, request: islice(iter(among(talk, request)), 1)


def of_request(field: str) -> Reads:
    """The events of an answer are those that a field of its request has, whatever it is."""
    return lambda talk, request, answer: request[field]


def unsaid(*entries: Says | tuple[Says, ...]) -> tuple[Says, ...]:
    """Entries that can be seen, but are not listed among what there could be."""
    return tuple(replace(entry, words="") for group in _groups(entries) for entry in group)


def each(*entries: Says | tuple[Says, ...], **more: Any) -> Part:
    """A list of events; see ``Part``."""
    return Part(_groups(entries), is_list=True, **more)


def all_events(*entries: Says | tuple[Says, ...]) -> Part:
    """A list of events, each of which could be another: the outcome of the request is itself."""
    return each(*entries, nothing="nothing", joined=", ", are_events=True)


def one(*entries: Says | tuple[Says, ...], **more: Any) -> Part:
    """One value; see ``Part``."""
    return Part(_groups(entries), **more)


def on(
    do: str, asked: str, *answers: Says | Part | Mapping[str, Part], tells: str = "",
    picks: Mapping[str, Picked] | None = None,
    also: Mapping[str, Mapping[str, Picked]] | None = None,
    turns: tuple[int, Mapping[str, Picked]] | None = None, **more: Any
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
              picks=_pickers(picks or {}), turns=turns and (turns[0], _pickers(turns[1])), **more,
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
        parts = tuple(part.in_answer_to(row.do).bound(declared, len(row.parts) == 1)
                      for part in row.parts)
        tells = Part((row.tells,)).bound(declared, alone=True).groups[0]
        later = row.later and row.later.bound(declared, alone=True)
        bound = replace(row, parts=parts, tells=tells, later=later)
        found[row.do] = (*found.get(row.do, ()), bound)
    return Table(observers, found)


def _declared(observers: Sequence[type[Machine]]) -> dict[str, Action]:
    return {name: action for each in reversed(observers)
            for name, action in each.actions_declared.items()}


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
