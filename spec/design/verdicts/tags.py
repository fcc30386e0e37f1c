"""A design in which two elements of one sender are told apart from all others.

A table counts elements. Here a second number goes with each queue and hand: at which place of it,
counted from its front, the *first* of two elements is, and where the *second* is, which the same
sender wrote later (0: not there). Each row becomes several: by where the two are when it is taken,
and, where one of them moves on, by how many elements it comes to stand behind. So the two move as
the rows of the table say, and the same engines decide whether the second one can be read first.

Whatever a task reads continues in all that it writes in the same move, or holds in its hand; a
script's reads end there, and what it writes is new. A hand is first in, first out, but for threads
of a pool: each has an element of its own, and any of them may be done first. Of an element that was
copied, the last copy of the first and the first copy of the second count.

**Forgetting positions.** Of a link that is *loose* neither the number of its elements is kept nor
where among them the two are, but only which of the two is in it, and which is ahead if both are: it
is a first in, first out link of the two alone. A read takes the one that is ahead, or some other
element; a write always finds a free slot. Each run of the design is a run of this, whatever the
capacity, for what is left out are guards, and an element that is read before one of the two is
*some other*. So order that holds here holds for all capacities; order that is lost here may be kept
there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from ..net.rows import Effect, Place, Row, Table
from ..reading.language import Design, Flow, Kind

__all__ = ["LATE", "MERGED", "TWICE", "NotTold", "tagged"]

LATE = "the second was received before the first"
TWICE = "a copy was received after another"
MERGED = "two copies were in one store"
ABSENT, STAYS, COMES_NEARER, TAKEN = "absent", "stays", "comes nearer", "taken"
FIRST, SECOND = "the first", "the second"
LOOK = 1_000
"""Ways of two elements between two looks at the clock."""
MAX_ROWS = 1_200
"""Transitions, each of which is compiled: some ten seconds."""


class NotTold(Exception):
    """The reason why elements cannot be told apart here."""


@dataclass(frozen=True)
class _Store:
    """A queue or a hand: its place, how many fit, and whether any element of it may go first; or,
    of a link that is ``loose``, that it has just the two."""

    place: str
    room: int
    mixed: bool
    loose: bool = False


@dataclass
class _Option:
    """An option for one of the two elements in a row: guards, changes, and whether it moves,
    is received, or stays in a store that is mixed. ``parts`` says what it does in loose stores.
    """

    least: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    change: dict[str, int] = field(default_factory=dict)
    moves: bool = False
    stays: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()

    def at(self, place: str, here: int, there: int) -> _Option:
        """The same where a place holds exactly ``here``, which becomes ``there``."""
        return _Option({**self.least, place: here}, {**self.most, place: here},
                       {**self.change, place: there - here}, self.moves, self.stays,
                       self.parts)


def tagged(
    design: Design, table: Table, sender: str, receiver: str, wrong: str = LATE,
    watch: Callable[[], object] = lambda: None, loose: Collection[str] = (),
) -> Table:
    """The table in which elements of ``sender`` are followed to ``receiver``: two, and the place
    ``LATE`` passes its limit where the second arrives first; or one, with all its copies, and it is
    ``TWICE`` or ``MERGED`` that does (of copies in one store the last is followed). ``watch`` is
    called all along, and may raise. ``loose`` are links in which positions are forgotten, by name.
    Raises NotTold."""
    return _Tagging(design, table, sender, receiver, wrong, watch, loose).table()


class _Tagging:
    def __init__(
        self, design: Design, table: Table, sender: str, receiver: str, wrong: str,
        watch: Callable[[], object], loose: Collection[str],
    ) -> None:
        self.design, self.plain, self.watch = design, table, watch
        self.wrong = wrong
        self.tags = (FIRST, SECOND) if wrong == LATE else (FIRST,)
        self.sender, self.receiver = sender, receiver
        self.stores: dict[str, _Store] = {}
        for place in table.places:
            if place.role == "slot" or (
                    place.role == "queue" and not design.links[place.of].in_line):
                is_loose = place.role == "queue" and place.of in loose
                self.stores[place.name] = _Store(
                    place.name, 2 if is_loose else place.most, mixed=False, loose=is_loose)
            elif place.role == "hand":
                task = design.tasks[place.of]
                self.stores[place.name] = _Store(
                    place.name, place.most, mixed=bool(task.pool) and place.most > 1)

    def table(self) -> Table:
        """All rows in all their ways."""
        if any(store.loose for store in self.stores.values()):
            self._refuse_copies()
        idle = [row for row in self.plain.joined if row.effect.loses and not row.effect.change]
        rows: list[Row] = []
        for row in (*self.plain.rows, *idle):
            self.watch()
            for way in self._ways(row):
                rows.append(way)
                _refuse_more(len(rows))
        places = list(self.plain.places)
        for flag in (LATE,) if self.wrong == LATE else (TWICE, MERGED):
            places.append(Place(flag, "flag", "", 0, 1, 1, int(flag != self.wrong)))
        for tag in self.tags:
            places.append(Place(_sent(tag), "flag", "", 0, 1, 1, 1))
            places += [Place(_where(tag, store.place), "tag", "", 0, store.room, store.room,
                             store.room) for store in self.stores.values()]
        places.append(Place(_received(self.tags[-1]), "flag", "", 0, 1, 1, 1))
        rows.sort(key=lambda row: not row.effect.fair)
        return replace(self.plain, places=tuple(places), rows=tuple(rows), invariants=())

    # --- one row ------------------------------------------------------------------------------

    def _ways(self, row: Row) -> Iterator[Row]:
        """The ways in which a row can move the one or two elements that are followed, or leave
        them where they are, each with that in its words."""
        takes, puts = self._moved(row)
        first = list(self._options(FIRST, row, takes, puts))
        if SECOND not in self.tags:
            yield from self._of_one(row, first, takes, puts)
            return
        second = list(self._options(SECOND, row, takes, puts))
        for number, (one, other) in enumerate(product(first, second)):
            if number % LOOK == 0:
                self.watch()
            if one.moves and other.moves and not takes:
                continue  # one element is not both
            if not _agree(dict(one.parts), dict(other.parts)):
                continue
            both = _Option(dict.fromkeys({*one.stays} & {*other.stays}, 3))
            effect = self._loosened(_merged(row.effect, one, other, both))
            if not _possible(effect):
                continue
            words = [f"({name})" for name, each in ((FIRST, one), (SECOND, other)) if each.moves]
            told = replace(effect, words=(*effect.words, *words))
            if row.task == self.receiver and self._ends(row.task, takes, puts):
                yield from self._received(replace(row, effect=told), one, other)
            else:
                yield replace(row, effect=told)

    def _of_one(
        self, row: Row, options: Iterable[_Option], takes: Mapping[str, int],
        puts: Mapping[str, int],
    ) -> Iterator[Row]:
        """The row by where the copies of one element are."""
        came = _received(FIRST)
        for option in options:
            effect = _merged(row.effect, option)
            if not _possible(effect):
                continue
            if not option.moves:
                yield replace(row, effect=effect)
                continue
            told = replace(effect, words=(*effect.words, "(the element)"))
            if row.task == self.receiver and self._ends(row.task, takes, puts):
                again = replace(effect, words=(*effect.words, "(the element, again)"))
                yield replace(row, effect=_with(told, came, 0, 1))
                yield replace(row, effect=_with(_with(again, came, 1, 0), TWICE, 0, 1))
            else:
                yield replace(row, effect=told)

    def _received(self, row: Row, one: _Option, other: _Option) -> Iterator[Row]:
        """The rows for what the receiver has read of the two."""
        came = _received(SECOND)
        if one.moves and not other.moves:
            yield replace(row, effect=_with(row.effect, came, 0, 0))
            yield replace(row, effect=_with(_with(row.effect, came, 1, 0), LATE, 0, 1))
        elif other.moves and not one.moves:
            yield replace(row, effect=_with(row.effect, came, 0, 1))
            yield replace(row, effect=_with(row.effect, came, 1, 0))
        else:
            yield row

    def _loosened(self, effect: Effect) -> Effect:
        """The effect without what is about the number of elements in loose links."""
        loose = {store.place for store in self.stores.values() if store.loose}
        if not loose:
            return effect

        def rest(numbers: Mapping[str, int]) -> dict[str, int]:
            return {place: n for place, n in numbers.items() if place not in loose}

        return replace(effect, at_least=rest(effect.at_least), at_most=rest(effect.at_most),
                       change=rest(effect.change))

    def _refuse_copies(self) -> None:
        for name, task in self.design.tasks.items():
            if len(self.design.choices(name)) > 1 and task.kind not in (Kind.ROUTE, Kind.SCRIPT):
                raise NotTold(f"{name} copies elements, of which positions are not forgotten")

    def _moved(self, row: Row) -> tuple[dict[str, int], dict[str, int]]:
        """Numbers of elements that a row takes from its stores, and puts into others."""
        if row.partners:
            raise NotTold("a link of capacity 0 has no place in which an element could be")
        takes = {p: -n for p, n in row.effect.change.items() if n < 0 and p in self.stores}
        puts = {p: n for p, n in row.effect.change.items() if n > 0 and p in self.stores}
        for link in self.design.outputs(row.task):
            queue = f"elements in {link.name}"
            if row.task in link.readers:
                raise NotTold(f"{row.task} reads what it wrote to {link.name}")
            if row.effect.loses and any(n > 1 for n in self.design.given(link)):
                raise NotTold(f"some of several elements written to {link.name} may be dropped")
            if queue in row.effect.overflows and link.overflow is Flow.DROP_OLDEST:
                takes[queue], puts[queue] = 1, 1
        moved = [n for place, n in (*takes.items(), *puts.items()) if self.stores[place].loose]
        if moved and (max(moved) > 1 or sum(takes.values()) > 1):
            raise NotTold(f"{row.task} moves several elements at once")
        return takes, puts

    def _ends(self, task: str, takes: Mapping[str, int], puts: Mapping[str, int]) -> bool:
        """True if what a row takes has arrived."""
        return bool(takes) and not puts and self.design.tasks[task].kind in (
            Kind.SINK, Kind.SCRIPT)

    def _options(
        self, tag: str, row: Row, takes: Mapping[str, int], puts: Mapping[str, int]
    ) -> Iterator[_Option]:
        """The ways in which a tagged element may take part in a row: it is taken, put, dropped, or
        sent first."""
        dropping = {p for p in puts if p in takes}  # the oldest goes, and is not what is written
        for taken in product(*(self._taken(tag, p, n) for p, n in takes.items() if
                               p not in dropping)):
            option = _joined(taken)
            yield from (self._put(tag, option, puts, dropping) if option.moves
                        else self._dropped(tag, [option], dropping))
            self.watch()
        sends = (row.task == self.sender and not set(takes) - dropping and puts
                 and row.own and self.design.tasks[row.task].kind in (Kind.SOURCE, Kind.SCRIPT))
        if sends:
            option = _Option(moves=True).at(_sent(tag), 0, 1)
            if tag is SECOND:
                option.least[_sent(FIRST)] = 1
            yield from self._put(tag, option, puts, dropping)

    def _taken(self, tag: str, store: str, number: int) -> Iterator[_Option]:
        """The element is not there, or behind those that are taken, or among them."""
        where, here = _where(tag, store), self.stores[store]
        if here.loose:
            yield _Option(most={where: 0}, parts=((store, ABSENT),))
            yield _Option({where: 1}, parts=((store, STAYS),))
            yield _Option(parts=((store, COMES_NEARER),)).at(where, 2, 1)
            yield _Option(moves=True, parts=((store, TAKEN),)).at(where, 1, 0)
            return
        yield _Option(most={where: 0})
        if here.mixed:
            yield _Option({where: 1, store: 2}, stays=(store,))
            yield _Option(moves=True).at(where, 1, 0)
            return
        yield _Option({where: number + 1}, {}, {where: -number})
        for place in range(1, min(number, here.room) + 1):
            yield _Option(moves=True).at(where, place, 0)

    def _dropped(
        self, tag: str, options: Iterable[_Option], dropping: Iterable[str]
    ) -> Iterator[_Option]:
        """The oldest element of a full link goes: the others come nearer to its front."""
        for option in options:
            ways = [option]
            for store in dropping:
                where = _where(tag, store)
                ways = [each for way in ways for each in (
                    replace(way, most={**way.most, where: 0}),
                    replace(way, least={**way.least, where: 1},
                            change={**way.change, where: -1}))]
            yield from ways

    def _put(
        self, tag: str, option: _Option, puts: Mapping[str, int], dropping: Iterable[str]
    ) -> Iterator[_Option]:
        """The element comes to stand behind those that are there."""
        ways = [option]
        for store, number in puts.items():
            if not self.stores[store].loose:
                _refuse_more(self.stores[store].room - number)  # so many places to stand behind
            ways = [each for way in ways
                    for each in self._behind(tag, way, store, number, store in dropping)]
            _refuse_more(len(ways))
        yield from ways

    def _behind(
        self, tag: str, way: _Option, store: str, number: int, full: bool
    ) -> Iterator[_Option]:
        """The ways to put a tagged element behind what a store holds, by how many that are and
        where the tag is among them."""
        where, here = _where(tag, store), self.stores[store]
        if here.loose:
            beside = _where(SECOND if tag is FIRST else FIRST, store)
            yield replace(way, most={**way.most, beside: 0}).at(where, 0, 1)
            yield replace(way, least={**way.least, beside: 1}).at(where, 0, 2)
            return
        for held in [here.room] if full else range(here.room - number + 1):
            there = held - full + (number if tag is FIRST else 1)
            counted = replace(way, least={**way.least, store: max(held, way.least.get(store, 0))},
                              most={**way.most, store: min(held, way.most.get(store, held))})
            yield counted.at(where, 0, 1 if here.mixed else there)
            for copy in range(1, held + 1):
                if here.mixed and copy > 1:
                    break
                left = max(0, copy - full)
                keeps = tag is SECOND and left > 0
                other = counted.at(where, copy, 1 if here.mixed else left if keeps else there)
                yield other if SECOND in self.tags or not left else other.at(MERGED, 0, 1)


def _agree(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """True if two elements do this in loose stores together: where one is taken, the other is not
    there or comes nearer, and it comes nearer only then."""
    return all(
        (there == COMES_NEARER) == (here == TAKEN and there != ABSENT)
        and (here == COMES_NEARER) == (there == TAKEN and here != ABSENT)
        for store, here in one.items() for there in (other.get(store, ABSENT),))


def _refuse_more(ways: int) -> None:
    if ways > MAX_ROWS:
        raise NotTold(f"there are more than {MAX_ROWS:,} ways for two elements to move")


def _sent(tag: str) -> str:
    return f"{tag} was sent"


def _received(tag: str) -> str:
    return f"{tag} was received"


def _where(tag: str, store: str) -> str:
    return f"place of {tag} among {store}"


def _joined(options: Iterable[_Option]) -> _Option:
    whole = _Option()
    for each in options:
        whole = _Option(
            {**whole.least, **each.least}, {**whole.most, **each.most},
            {**whole.change, **each.change}, whole.moves or each.moves, whole.stays + each.stays,
            whole.parts + each.parts)
    return whole


def _merged(effect: Effect, *options: _Option) -> Effect:
    """All guards and all changes at once; guards are about the marking before."""
    least, most, change = dict(effect.at_least), dict(effect.at_most), dict(effect.change)
    for option in options:
        for place, n in option.least.items():
            least[place] = max(n, least.get(place, n))
        for place, n in option.most.items():
            most[place] = min(n, most.get(place, n))
        change.update({place: n for place, n in option.change.items() if n})
    return replace(effect, at_least=least, at_most=most, change=change)


def _with(effect: Effect, place: str, here: int, by: int) -> Effect:
    change = {**effect.change, place: by} if by else dict(effect.change)
    return replace(effect, at_least={**effect.at_least, place: here},
                   at_most={**effect.at_most, place: here}, change=change)


def _possible(effect: Effect) -> bool:
    return all(n <= effect.at_most.get(place, n) for place, n in effect.at_least.items())
