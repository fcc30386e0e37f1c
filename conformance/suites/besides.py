"""The fields that a message has besides its own, and other values that follow from variables.

The rows of a table name fields: a request is described by them, an answer is meant where one of
them holds, and an action takes its parameters from them. A message has some of these; the others
follow from it and from what the conversation remembers. A suite says how, by the fields that a
message has to have for that::

    knows = (
        given("element", id=same("element"), due=equal("element", "accepted")),
        given("elements", count=size_of("elements"), listed=worded("elements")),
        given("", law=by_policy(_LAWS)),
    )

The first argument of most functions here is a field; the second is a number, a variable of the
conversation by its name, or worked out itself (``constant``, ``setting``, ``just``). A function of
the suite's own (``made``) is code that is written by hand, and counted as such.

Values of a conversation that follow from its variables are declared in the same way (``Derived``):
``room``, ``next_names``, ``being``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

from ...spec.notation.labels import counted
from .says import Among, Fields, Works
from .values import in_words

__all__ = [
    "Derived", "Given", "Operand", "Plan", "Works", "any_of", "as_asked", "as_set", "asked",
    "at_least", "at_most", "being", "below", "both", "by_policy", "constant", "counted_as",
    "each_looked_up", "empty", "equal", "fails", "first_of", "first_there", "given", "holds",
    "if_any", "if_equal", "index_in", "inside", "inside_asked", "is_there", "just", "lacks",
    "list_of", "looked_up", "made", "minus", "next_around", "next_names", "next_several",
    "number_in", "number_of", "of_policy", "one_each", "one_of", "outside", "phrase", "phrases",
    "place_of", "plus", "room", "same", "setting", "size_of", "spread", "starts", "times", "told",
    "unequal", "value", "worded", "words",
]

Steps = tuple[tuple[str, Works], ...]
"""The fields that a message has besides: by name, what works each out; without one, several."""

Operand = int | str | Works
"""A number, a variable of the conversation by its name, or a value that is worked out."""


# ---- fields of a message ------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """The fields that a message has besides, if it has the ``field``, or all of several: what works
    them out, by name, each of which may need those before it; without a name, several at once. They
    may be those ``of_request`` only, or of anything else only."""

    field: str
    works: Steps
    of_request: bool | None = None

    def fits(self, message: Collection[str]) -> bool:
        """True if a message with some fields has these besides."""
        return self.of_request in (None, "do" in message) and all(
            name in message for name in self.field.split())


class Plan(dict[tuple[str, ...], Steps]):
    """The fields that messages have besides, by the fields of a message: of these there are few
    kinds, and what is to be done for each is found once."""

    def __init__(self, knows: Sequence[Given]) -> None:
        super().__init__()
        self.knows = tuple(knows)

    def __missing__(self, kind: tuple[str, ...]) -> Steps:
        self[kind] = tuple(step for field in ("", *kind) for each in self.knows
                           if each.field.partition(" ")[0] == field and each.fits(kind)
                           for step in each.works)
        return self[kind]


def given(field: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of a message that has this field (none: of every message)."""
    return Given(field, (*(("", each) for each in several), *fields.items()))


def asked(field: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of a request that has this field."""
    return replace(given(field, *several, **fields), of_request=True)


def told(field: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of an answer or an event that has this field, or could be."""
    return replace(given(field, *several, **fields), of_request=False)


# ---- values -------------------------------------------------------------------------------------


def same(field: str) -> Works:
    """The value of a field, under another name."""
    return lambda talk, fields: fields[field]


def value(variable: str) -> Works:
    """The value of a variable now."""
    return lambda talk, fields: getattr(talk, variable)


def constant(name: str, factor: int = 1) -> Works:
    """A constant of the observer, or so many times that."""
    return lambda talk, fields: talk.constants[name] * factor


def setting(name: str) -> Works:
    """A setting of hello."""
    return lambda talk, fields: talk.settings[name]


def times(action: str) -> Works:
    """The number of times that an action was shown."""
    return lambda talk, fields: talk.times[action]


def just(constant: Any) -> Works:
    """This value, whatever the message."""
    return lambda talk, fields: constant


def made(function: Callable[..., Any], *names: str) -> Works:
    """A value that a function of the suite's own makes of some fields."""
    return lambda talk, fields: function(*[fields[name] for name in names])


def looked_up(
    operand: str | Works, entries: Mapping[Any, Any] | Sequence[Any], none: Any = ...
) -> Works:
    """The entry for a value, of a field or one that is worked out; ``none`` where a mapping has
    none, if that may be."""
    if callable(operand):
        found = operand
        return lambda talk, fields: entries[found(talk, fields)]
    field = operand
    if none is ... or not isinstance(entries, Mapping):
        return lambda talk, fields: entries[fields[field]]
    known = entries
    return lambda talk, fields: known.get(fields[field], none)


def first_there(*names: str, none: int | None = None) -> Works:
    """The value of the first of some fields that is not null; ``none`` without any."""
    return lambda talk, fields: next(
        (fields[name] for name in names if fields.get(name) is not None), none)


def one_each(field: str, place: int | None = None) -> Works:
    """The values of a list, or of a place of each list in it: each once, the smallest first."""
    if place is None:
        return lambda talk, fields: sorted({*fields[field]})
    return lambda talk, fields: sorted({each[place] for each in fields[field]})


def spread(field: str, *names: str) -> Works:
    """By these names, the values of each list in a list; of each of its values by the only one."""
    if len(names) == 1:
        return lambda talk, fields: [{names[0]: each} for each in fields[field]]
    return lambda talk, fields: [dict(zip(names, each, strict=True)) for each in fields[field]]


def as_set(field: str, below: int) -> Works:
    """The numbers of a list that are less than that, as one number that has them as its bits."""
    return lambda talk, fields: sum(1 << each for each in {*fields[field]} if each < below)


def each_looked_up(field: str, entries: Mapping[Any, Any]) -> Works:
    """The entries for the values of a list."""
    return lambda talk, fields: [entries[each] for each in fields[field]]


def list_of(operand: str | Works, entries: Sequence[Any]) -> Works:
    """The list of that number, the value of a field or one that is worked out: a new one each time.
    """
    number = same(operand) if isinstance(operand, str) else operand
    return lambda talk, fields: [*entries[number(talk, fields)]]


def index_in(operand: str | Works, entries: Sequence[Any], none: int | None = None) -> Works:
    """The number of a value among some, of a field or one that is worked out; ``none`` without that
    field, if that may be. Raises ``ValueError`` where it is not among them."""
    found = same(operand) if isinstance(operand, str) else operand

    def works(talk: Any, fields: Fields) -> int:
        if none is not None and operand not in fields:
            return none
        return entries.index(found(talk, fields))
    return works


def place_of(field: str, place: int, inner: int | None = None) -> Works:
    """The value in a place of a list; from its end, if the place is below 0. ``inner``: the value
    in that place of the list that is there."""
    if inner is None:
        return lambda talk, fields: fields[field][place]
    return lambda talk, fields: fields[field][place][inner]


def number_of(field: str, variable: str) -> Works:
    """The number that a variable has for the value of a field; -1 if it has none."""
    return lambda talk, fields: getattr(talk, variable).get(fields[field], -1)


def number_in(field: str) -> Works:
    """The number, from 0, in a name that is a letter and a number from 1; -1 in any other name."""
    def works(talk: Any, fields: Fields) -> int:
        number = str(fields[field])[1:]
        return int(number) - 1 if number.isdecimal() else -1
    return works


def size_of(field: str) -> Works:
    """The number of values in a list."""
    return lambda talk, fields: len(fields[field])


def by_policy(entries: Mapping[str, Any]) -> Works:
    """The entry for the target's policy."""
    return lambda talk, fields: entries[talk.policy]


def plus(field: str, *operands: Operand) -> Works:
    """The value of a field and some more."""
    more = [_worked_out(each) for each in operands]
    return lambda talk, fields: fields[field] + sum(each(talk, fields) for each in more)


def minus(field: str, operand: Operand, least: int | None = None) -> Works:
    """The value of a field less another one, and never less than the ``least``."""
    goes = _worked_out(operand)

    def works(talk: Any, fields: Fields) -> Any:
        left = fields[field] - goes(talk, fields)
        return left if least is None else max(least, left)
    return works


def any_of(field: str, *others: str) -> Among:
    """The value of a field, and those of others that a request has: each once."""
    return lambda talk, request: [
        {field: each} for each in {request[name] for name in (field, *others)}]


# ---- conditions ---------------------------------------------------------------------------------


def equal(field: str, operand: Operand) -> Works:
    """True if a field has that value."""
    return _compared(operator.eq, field, operand)


def unequal(field: str, operand: Operand) -> Works:
    """True where a field is not an operand."""
    return _compared(operator.ne, field, operand)


def below(field: str, operand: Operand) -> Works:
    """True if the value of a field is less."""
    return _compared(operator.lt, field, operand)


def at_most(field: str, operand: Operand) -> Works:
    """True if the value of a field is no more."""
    return _compared(operator.le, field, operand)


def at_least(field: str, operand: Operand) -> Works:
    """True if the value of a field is no less."""
    return _compared(operator.ge, field, operand)


def inside(field: str, variable: str) -> Works:
    """True if the value of a field is one of those in a variable."""
    return lambda talk, fields: fields[field] in getattr(talk, variable)


def inside_asked(field: str, of: str) -> Works:
    """True if the value of a field of an answer is one of those in a field of the request."""
    return lambda talk, fields: fields[field] in talk.asks[of]


def outside(field: str, variable: str) -> Works:
    """True if the value of a field is none of those in a variable."""
    return lambda talk, fields: fields[field] not in getattr(talk, variable)


def holds(variable: str) -> Works:
    """True if a variable is true, or has anything."""
    return lambda talk, fields: bool(getattr(talk, variable))


def lacks(variable: str) -> Works:
    """True if a variable is false, or has nothing."""
    return lambda talk, fields: not getattr(talk, variable)


def starts(field: str, letters: str) -> Works:
    """True if the value of a field, a name, begins with some letters."""
    return lambda talk, fields: fields[field].startswith(letters)


def as_asked(field: str, of: str) -> Works:
    """True if a field of an answer equals one of the request."""
    return lambda talk, fields: fields[field] == talk.request.get(of)


def empty(field: str) -> Works:
    """True if a field is false, or a list without values."""
    return lambda talk, fields: not fields[field]


def is_there(field: str) -> Works:
    """True if a field is not null."""
    return lambda talk, fields: fields[field] is not None


def of_policy(name: str) -> Works:
    """True if the target has this policy."""
    return lambda talk, fields: talk.policy == name


def both(one: Works, other: Works) -> Works:
    """True if both conditions hold."""
    return lambda talk, fields: one(talk, fields) and other(talk, fields)


def fails(condition: Works) -> Works:
    """True if a condition does not hold."""
    return lambda talk, fields: not condition(talk, fields)


# ---- words --------------------------------------------------------------------------------------


def worded(field: str, none: str = "") -> Works:
    """The value of a field for a reader, or the values of a list; words for ``none``."""
    def works(talk: Any, fields: Fields) -> str:
        found = fields.get(field, ())
        return ", ".join(map(in_words, found)) or none if isinstance(found, list | tuple) else (
            in_words(found))
    return works


def first_of(variable: str) -> Works:
    """The first value of a variable, for a reader; nothing if it has none."""
    return lambda talk, fields: in_words(found[0]) if (found := getattr(talk, variable)) else ""


def counted_as(field: str, noun: str) -> Works:
    """A number of things: ``2 callbacks``."""
    return lambda talk, fields: counted(fields[field], noun)


def words(form: str) -> Works:
    """A text with the values of fields in it."""
    return lambda talk, fields: form.format_map(fields)


def phrase(field: str, form: str, but: Mapping[Any, str]) -> Works:
    """A text with the value of a field in it, ``but`` others for some values; nothing without the
    field."""
    def works(talk: Any, fields: Fields) -> str:
        if field not in fields:
            return ""
        return but[found] if (found := fields[field]) in but else form.format_map(fields)
    return works


def if_any(field: str, form: str) -> Works:
    """A text with the values of fields in it, if one of them is there, and neither false nor empty.
    """
    return lambda talk, fields: form.format_map(fields) if fields.get(field) else ""


def if_equal(field: str, value: Any, form: str) -> Works:
    """A text with the values of fields in it, if one of them has that value."""
    return lambda talk, fields: form.format_map(fields) if fields[field] == value else ""


def phrases(*several: Works) -> Works:
    """Some texts, without those that are empty."""
    return lambda talk, fields: ", ".join(
        told for each in several if (told := each(talk, fields)))


# ---- values of a conversation -------------------------------------------------------------------


class Derived(property):
    """A value of a conversation that follows from its variables, whenever it is asked for."""


def room(of: str, most: str | int, spare: int = 0) -> Derived:
    """True if there may be one more of what a variable has, or is the number of: it is less than a
    constant, or a number, by so many more as are ``spare``."""
    return Derived(lambda talk: _how_many(getattr(talk, of)) + spare < (
        most if isinstance(most, int) else talk.constants[most]))


def next_names(
    letters: str, of: str = "", most: str = "", *, spare: int = 0, action: str = ""
) -> Derived:
    """The name of the next one after those that a variable has, or after so many times of an
    ``action``: some letters, and its number from 1; no name if there is no ``room`` for it."""
    def works(talk: Any) -> list[str]:
        number = talk.times[action] if action else _how_many(getattr(talk, of))
        return [f"{letters}{number + 1}"] if number + spare < talk.constants[most] else []
    return Derived(works)


def next_several(
    letters: str, of: str, most: str, few: int, spare: int = 0
) -> Derived:
    """The names of the next one, of the next two, and so on up to a ``few``; None for more than
    there is ``room`` for."""
    def works(talk: Any) -> list[list[str] | None]:
        here = _how_many(getattr(talk, of))
        return [[f"{letters}{here + each}" for each in range(1, count + 1)]
                if here + count + spare <= talk.constants[most] else None
                for count in range(1, few + 1)]
    return Derived(works)


def being(variable: str, *states: str, by: str = "") -> Derived:
    """Those that are in some states, or what another variable has for them."""
    def works(talk: Any) -> list[Any]:
        found = [each for each, state in getattr(talk, variable).items() if state in states]
        if by:
            entries = getattr(talk, by)
            return [entries[each] for each in found]
        return found
    return Derived(works)


def next_around(action: str, most: str) -> Derived:
    """The number, from 0, of the next time of an action, round and round below a constant."""
    return Derived(lambda talk: talk.times[action] % talk.constants[most])


def one_of(value: str, variable: str) -> Derived:
    """True if a value is one of those in a variable."""
    return Derived(lambda talk: getattr(talk, value) in getattr(talk, variable))


def _how_many(found: Sized | int) -> int:
    return found if isinstance(found, int) else len(found)


def _compared(compare: Callable[[Any, Any], bool], field: str, operand: Operand) -> Works:
    if isinstance(operand, str):
        variable = operand
        return lambda talk, fields: compare(fields[field], getattr(talk, variable))
    if callable(operand):
        other = operand
        return lambda talk, fields: compare(fields[field], other(talk, fields))
    return lambda talk, fields: compare(fields[field], operand)


def _worked_out(operand: Operand) -> Works:
    if isinstance(operand, str):
        return value(operand)
    if callable(operand):
        return operand
    number = operand
    return lambda talk, fields: number
