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
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, Generic, TypeVar

from ...spec.notation.labels import counted
from .says import Fields
from .values import in_words

__all__ = [
    "Derived", "Given", "Operand", "Works", "asked", "at_least", "at_most", "being", "below",
    "both", "by_policy", "constant", "counted_as", "equal", "first_of", "given", "holds",
    "inside", "is_there", "just", "lacks", "looked_up", "made", "minus", "next_names",
    "next_several",
    "number_in", "number_of", "of_policy", "outside", "plus", "room", "same", "setting",
    "size_of", "starts", "times", "told", "value", "worded", "words",
]

T = TypeVar("T")

Works = Callable[[Any, Fields], Any]
"""From a conversation, and the fields that are known so far, to a value."""

Operand = int | str | Works
"""A number, a variable of the conversation by its name, or a value that is worked out."""


# ---- fields of a message ------------------------------------------------------------------------


class Given:
    """The fields that a message has besides, if it has the field ``first``: some by their names,
    each of which may need those before it, and ``several`` at once. They may be those of a request
    only, or of anything else only."""

    def __init__(self, first: str, several: Sequence[Works], fields: Mapping[str, Works],
                 of_request: bool | None = None) -> None:
        self.first = first
        self._of_request = of_request
        self._several = several
        self._fields = tuple(fields.items())

    def add(self, talk: Any, fields: dict[str, Any]) -> None:
        """Add them to the fields of a message."""
        if self._of_request is not None and self._of_request != ("do" in fields):
            return
        for works in self._several:
            fields |= works(talk, fields)
        for name, works in self._fields:
            fields[name] = works(talk, fields)

    @property
    def works(self) -> list[Works]:
        """Everything that works out a field."""
        return [*self._several, *(works for _, works in self._fields)]


def given(name: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of a message that has the field of this name (none: of every message)."""
    return Given(name, several, fields)


def asked(name: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of a request that has the field of this name."""
    return Given(name, several, fields, of_request=True)


def told(name: str, /, *several: Works, **fields: Works) -> Given:
    """The fields of an answer or an event that has the field of this name, or could be."""
    return Given(name, several, fields, of_request=False)


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


def looked_up(field: str, entries: Mapping[Any, Any]) -> Works:
    """The entry for the value of a field."""
    return lambda talk, fields: entries[fields[field]]


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


# ---- conditions ---------------------------------------------------------------------------------


def equal(field: str, operand: Operand) -> Works:
    """True if a field has that value."""
    return _compared(operator.eq, field, operand)


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


def is_there(field: str) -> Works:
    """True if a field is not null."""
    return lambda talk, fields: fields[field] is not None


def of_policy(name: str) -> Works:
    """True if the target has this policy."""
    return lambda talk, fields: talk.policy == name


def both(one: Works, other: Works) -> Works:
    """True if both conditions hold."""
    return lambda talk, fields: one(talk, fields) and other(talk, fields)


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


# ---- values of a conversation -------------------------------------------------------------------


class Derived(Generic[T]):
    """A value of a conversation that follows from its variables, whenever it is asked for."""

    def __init__(self, works: Callable[[Any], T]) -> None:
        self._works = works

    def __get__(self, talk: Any, owner: type) -> T:
        return self._works(talk)


def room(of: str, most: str | int, spare: int = 0) -> Derived[bool]:
    """True if there may be one more of what a variable has, or is the number of: it is less than a
    constant, or a number, by so many more as are ``spare``."""
    return Derived(lambda talk: _how_many(getattr(talk, of)) + spare < (
        most if isinstance(most, int) else talk.constants[most]))


def next_names(
    letters: str, of: str = "", most: str = "", *, spare: int = 0, action: str = ""
) -> Derived[list[str]]:
    """The name of the next one after those that a variable has, or after so many times of an
    ``action``: some letters, and its number from 1. None if there is no ``room`` for it."""
    def works(talk: Any) -> list[str]:
        number = talk.times[action] if action else _how_many(getattr(talk, of))
        return [f"{letters}{number + 1}"] if number + spare < talk.constants[most] else []
    return Derived(works)


def next_several(
    letters: str, of: str, most: str, few: int, spare: int = 0
) -> Derived[list[list[str] | None]]:
    """The names of the next one, of the next two, and so on up to a ``few``; None for more than
    there is ``room`` for."""
    def works(talk: Any) -> list[list[str] | None]:
        here = _how_many(getattr(talk, of))
        return [[f"{letters}{here + each}" for each in range(1, count + 1)]
                if here + count + spare <= talk.constants[most] else None
                for count in range(1, few + 1)]
    return Derived(works)


def being(variable: str, *states: str) -> Derived[list[Any]]:
    """Those that are in some states."""
    return Derived(lambda talk: [
        each for each, state in getattr(talk, variable).items() if state in states])


def _how_many(found: Sized | int) -> int:
    return found if isinstance(found, int) else len(found)


def _compared(compare: Callable[[Any, Any], bool], field: str, operand: Operand) -> Works:
    other = _worked_out(operand)
    return lambda talk, fields: compare(fields[field], other(talk, fields))


def _worked_out(operand: Operand) -> Works:
    if isinstance(operand, str):
        return value(operand)
    if callable(operand):
        return operand
    number = operand
    return lambda talk, fields: number
