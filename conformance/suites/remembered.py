"""The memory of a conversation, declared by the actions that change it.

An observer keeps what it judges by, and forgets all else as soon as it can. What makes sense to
request next may depend on more: how many elements have come, which jobs wait, whether a stop was
shown. A suite declares that beside its table: a variable of its conversation for each thing, with
the actions of the observers that change it, and the field of the action that is kept::

    held = tally({"arrives": "count", "gives": "-count"})
    stopped = flag(on="says_stop", off="says_go")
    waiting = kept("job", adds="submit", drops="drops gives")

Actions are named as their observer has them; ``go()`` is the operation ``go``, once it is answered,
whatever that shows; and ``acks:taken`` is an action that has that field, which is neither false nor
nothing. The table reads variables by name: a request ``picks`` from one, or from ``those`` values
that stand in some of them, and is made only while some are true (``On.only``, ``On.unless``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, Generic, TypeVar

from .says import Fields, Picks

__all__ = [
    "Change", "Effect", "Variable", "counts", "drawn", "flag", "highest", "in_state", "kept",
    "kept_by", "largest", "latest", "newest", "next_few", "next_number", "numbered",
    "numbers_below", "oldest", "places", "states", "tallies", "tally", "those", "up_to", "within",
]

T = TypeVar("T")
Memory = dict[str, Any]

Effect = Callable[[Memory, Fields], None]
"""The change of a conversation's variables by an action with some fields."""

Change = Callable[[Any, Fields], Any]
"""From the value of a variable, and the fields of an action, to its value after that."""


class Variable(Generic[T]):
    """A variable of a conversation: it has its own value in each, and ``first`` this one.

    ``changes`` are the actions that change it, in this order where several are of one name.
    """

    def __init__(self, first: Callable[[], T], *changes: Iterable[tuple[str, Change]]) -> None:
        self.first = first
        self._changes = [change for group in changes for change in group]
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, talk: Any, owner: type) -> T:
        """For types alone: a conversation has an attribute of that name, which comes first."""
        raise AttributeError(f"{self.name} is a variable of conversations, which begin with hello")

    def effects(self) -> Iterator[tuple[str, Effect]]:
        """Each action that changes it, and how."""
        for action, change in self._changes:
            name, _, where = action.partition(":")
            yield name, _effect(self.name, change, where)


def _effect(name: str, change: Change, where: str) -> Effect:
    def always(memory: Memory, about: Fields) -> None:
        memory[name] = change(memory[name], about)

    def sometimes(memory: Memory, about: Fields) -> None:
        if about.get(where):
            memory[name] = change(memory[name], about)
    return sometimes if where else always


# ---- variables ----------------------------------------------------------------------------------


def tally(changes: Mapping[str, int | str], clears: str = "") -> Variable[int]:
    """How many there are, from 0: by action, what comes to them, a number or a field of the action,
    and with a minus what goes. After an action of ``clears`` there are none."""
    return Variable(int, [(action, _adding(by)) for action, by in changes.items()],
                    _all_of(clears, lambda value, about: 0))


def flag(on: str = "", off: str = "", first: bool = False) -> Variable[bool]:
    """True since one of some actions, until one of some others."""
    return Variable(lambda: first, _all_of(on, lambda value, about: True),
                    _all_of(off, lambda value, about: False))


def tallies(by: str, changes: Mapping[str, int]) -> Variable[Counter[Any]]:
    """How many there are by the value of a field: by action, what comes to them, or goes."""
    def changed(number: int) -> Change:
        def change(value: Counter[Any], about: Fields) -> Counter[Any]:
            value[about[by]] = max(0, value[about[by]] + number)
            return value
        return change
    return Variable(Counter, [(action, changed(number)) for action, number in changes.items()])


def highest(field: str, actions: str, first: int = 0) -> Variable[int]:
    """The largest value of a field, of that one and those that actions had."""
    return Variable(lambda: first, _all_of(actions, lambda value, about: max(value, about[field])))


def largest(field: str, actions: str) -> Variable[int | None]:
    """The largest value of a field that actions had; None before the first."""
    return Variable(lambda: None, _all_of(
        actions, lambda value, about: about[field] if value is None else max(value, about[field])))


def kept(
    field: str, adds: str, drops: str = "", clears: str = "", *, once: bool = False,
    renewed: bool = False,
) -> Variable[list[Any]]:
    """The values of a field, in the order in which they came; all values of a field that is a list.

    An action of ``drops`` takes the first equal one away, one of ``clears`` all. ``once``: one that
    is there does not come again; ``renewed``: it comes anew. An action without the field changes
    nothing.
    """
    def add(value: list[Any], about: Fields) -> list[Any]:
        if field in about:
            _add(value, about[field], once, renewed)
        return value

    def drop(value: list[Any], about: Fields) -> list[Any]:
        if about.get(field) in value:
            value.remove(about[field])
        return value
    return Variable(list, _all_of(adds, add), _all_of(drops, drop),
                    _all_of(clears, lambda value, about: []))


def kept_by(
    key: str, field: str, adds: str, drops: str = ""
) -> Variable[defaultdict[Any, list[Any]]]:
    """By the value of a field, those of another one, each once, the last that came at the end. An
    action of ``drops`` takes its value away everywhere."""
    def add(value: defaultdict[Any, list[Any]], about: Fields) -> Any:
        _add(value[about[key]], about[field], False, True)
        return value

    def drop(value: defaultdict[Any, list[Any]], about: Fields) -> Any:
        for each in value.values():
            if about[field] in each:
                each.remove(about[field])
        return value
    return Variable(lambda: defaultdict(list), _all_of(adds, add), _all_of(drops, drop))


def numbered(field: str, actions: str) -> Variable[dict[Any, int]]:
    """The values of a field with their numbers, from 0, in the order in which they came."""
    def number(value: dict[Any, int], about: Fields) -> dict[Any, int]:
        for each in about[field] if isinstance(about[field], list) else [about[field]]:
            value[each] = len(value)
        return value
    return Variable(dict, _all_of(actions, number))


def counts(field: str, actions: str) -> Variable[Counter[Any]]:
    """How often an action had each value of a field."""
    def count(value: Counter[Any], about: Fields) -> Counter[Any]:
        if field in about:
            value[about[field]] += 1
        return value
    return Variable(Counter, _all_of(actions, count))


def latest(
    field: str, actions: str | Mapping[str, str], of: str = "", ends: str = "", *,
    alone: bool = False,
) -> Variable[dict[Any, Any]]:
    """The last value of a field: by the value of the field ``of``, until an action ``ends`` that,
    or by a name that each action has; of two lists, of each by the other. ``alone``: until it is
    the last one of another value."""
    def last(value: dict[Any, Any], about: Fields) -> dict[Any, Any]:
        if alone:
            value = {each: here for each, here in value.items() if here != about[field]}
        if isinstance(about[of], list):
            value |= zip(about[of], about[field], strict=True)
        else:
            value[about[of]] = about[field]
        return value
    if isinstance(actions, str):
        return Variable(dict, _all_of(actions, last), _all_of(ends, _without(of)))
    return Variable(dict, [(action, _as(name, field)) for action, name in actions.items()])


def states(field: str, becomes: Mapping[str, str], ends: str = "") -> Variable[dict[Any, str]]:
    """By the value of a field, the state in which it is since an action that it ``becomes``; those
    that have had an action of ``ends`` are not there."""
    return Variable(dict, [(action, _in(state, field)) for action, state in becomes.items()],
                    _all_of(ends, _without(field)))


def places(
    field: str, enters: Mapping[str, str], leaves: str = "",
    moves: Mapping[str, tuple[str, str]] | None = None,
) -> Variable[dict[Any, str]]:
    """By the value of a field, the place where it is, in the order in which they came there: it
    ``enters`` one by an action, and leaves it by another. An action ``moves`` all that are in a
    place away, or into another place unless there is anything."""
    def enter(place: str) -> Change:
        def change(value: dict[Any, str], about: Fields) -> dict[Any, str]:
            value.pop(about[field], None)
            value[about[field]] = place
            return value
        return change

    def move(here: str, there: str) -> Change:
        def change(value: dict[Any, str], about: Fields) -> dict[Any, str]:
            if there and there in value.values():
                return value
            left = {each: place for each, place in value.items() if place != here}
            return left | {each: there for each in value if there and each not in left}
        return change
    return Variable(dict, [(action, enter(place)) for action, place in enters.items()],
                    _all_of(leaves, _without(field)),
                    [(action, move(*way)) for action, way in (moves or {}).items()])


# ---- what a request picks -----------------------------------------------------------------------


def those(values: Sequence[Any] | str, inside: str = "", outside: str = "") -> Picks:
    """The values that stand in all of some variables and in none of others; None for each that does
    not, so that a pick means the same value at any time. They may be the numbers below a constant.
    """
    wanted, unwanted = inside.split(), outside.split()

    def picks(talk: Any, request: Fields) -> Sequence[Any]:
        found = range(talk.constants[values]) if isinstance(values, str) else values
        for name in wanted:
            here = getattr(talk, name)
            found = [value if value in here else None for value in found]
        for name in unwanted:
            here = getattr(talk, name)
            found = [None if value in here else value for value in found]
        return found
    return picks


def oldest(variable: str) -> Picks:
    """The one that has been there for longest, if there is one."""
    return lambda talk, request: getattr(talk, variable)[:1]


def newest(variable: str) -> Picks:
    """Those that are there, the last that came first."""
    return lambda talk, request: getattr(talk, variable)[::-1]


def numbers_below(variable: str, first: str = "") -> Picks:
    """The numbers of those that a tally has counted: from 0, or from the setting ``first`` on."""
    def picks(talk: Any, request: Fields) -> range:
        start = talk.settings[first] if first else 0
        return range(start, start + getattr(talk, variable))
    return picks


def in_state(variable: str, *names: str) -> Picks:
    """Those that are in some states."""
    return lambda talk, request: [
        each for each, state in getattr(talk, variable).items() if state in names]


def up_to(constant: str) -> Picks:
    """The numbers from 1 to a constant; of a large one the ends, and some in between."""
    return lambda talk, request: _spread(talk.constants[constant])


_FEW: Final = 48
"""Numbers that are picked from one by one."""


def _spread(most: int) -> Sequence[int]:
    """The numbers from 1 to ``most``, or twelve of them, from the least to the largest."""
    if most <= _FEW:
        return range(1, most + 1)
    return (1, 2, 3, most // 8, most // 4, most // 3, most // 2, most - most // 4,
            most - 3, most - 2, most - 1, most)


def within(counts: Sequence[int], variable: str, constant: str) -> Picks:
    """Of some counts those that a tally can grow by, and not get larger than a constant."""
    return lambda talk, request: [
        count if getattr(talk, variable) + count <= talk.constants[constant] else None
        for count in counts]


def next_number(variable: str) -> Picks:
    """The number of the one that comes after those that are there, or of a tally, counted from 0.
    """
    def picks(talk: Any, request: Fields) -> list[int]:
        here = getattr(talk, variable)
        return [here if isinstance(here, int) else len(here)]
    return picks


def next_few(variable: str, constant: str, few: int = 3, first: str = "") -> Picks:
    """The next numbers of a tally, one of them, two, and so on, as far as the constant goes. They
    are counted from 0, or from the setting ``first`` on."""
    def picks(talk: Any, request: Fields) -> list[list[int] | None]:
        counted = getattr(talk, variable)
        start = counted + (talk.settings[first] if first else 0)
        return [[*range(start, start + count)] if counted + count <= talk.constants[constant]
                else None for count in range(1, few + 1)]
    return picks


def drawn(name: str, picks: int, **fields: Sequence[Any]) -> Sequence[Fields]:
    """By pick the fields that it stands for, drawn of some values each, in this order, by a seed of
    a name and the pick: values that come more often in a list are picked more often."""
    return _Drawn(name, picks, fields)


class _Drawn(Sequence[Fields]):
    """See ``drawn``: each is drawn when it is picked first."""

    def __init__(self, name: str, picks: int, fields: Mapping[str, Sequence[Any]]) -> None:
        self._name, self._picks, self._fields = name, picks, fields
        self._drawn: dict[int, Fields] = {}

    def __len__(self) -> int:
        return self._picks

    def __getitem__(self, pick: Any) -> Any:
        if pick not in self._drawn:
            random = Random(f"{self._name} {pick}")
            self._drawn[pick] = {
                field: random.choice(values) for field, values in self._fields.items()}
        return self._drawn[pick]


# ---- changes ------------------------------------------------------------------------------------


def _all_of(actions: str, change: Change) -> list[tuple[str, Change]]:
    return [(action, change) for action in actions.split()]


def _adding(by: int | str) -> Change:
    if isinstance(by, int):
        number = by
        return lambda value, about: max(0, value + number)
    if by.startswith("-"):
        goes = by[1:]
        return lambda value, about: max(0, value - about[goes])
    comes = by
    return lambda value, about: value + about[comes]


def _add(value: list[Any], what: Any, once: bool, renewed: bool) -> None:
    if isinstance(what, list):
        value += what
        return
    if renewed and what in value:
        value.remove(what)
    if not once or what not in value:
        value.append(what)


def _as(name: str, field: str) -> Change:
    return lambda value, about: {**value, name: about[field]}


def _without(field: str) -> Change:
    def end(value: dict[Any, Any], about: Fields) -> dict[Any, Any]:
        value.pop(about[field], None)
        return value
    return end


def _in(state: str, field: str) -> Change:
    def become(value: dict[Any, str], about: Fields) -> dict[Any, str]:
        value[about[field]] = state
        return value
    return become
