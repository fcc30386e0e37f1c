"""A change of one thing in a design's file, and the part of the design that it is about.

An entry of a file may stand for many links, pools or tasks: copies of it, or the links of each kind
and the free slots of a link with ``kinds``. They share the entry's spot, and here they are one
*family*: a change of the number in the file changes it for all of them. So every change is made
to a family, and several changes can be made one after the other, for each takes the design that it
changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic, TypeVar

from ..reading.kinds import is_slots
from ..reading.signs import is_sign
from ..reading.language import Design, Link, Pool, StepKind, Task
from ..reading.source import NOWHERE, Spot
from ..why.findings import Edit

__all__ = [
    "MOST", "Change", "Family", "KindOfChange", "Scope", "Tier", "above", "below", "changed_links",
    "changed_pools", "changed_tasks", "number", "once", "shown", "taken",
]

MOST = 1_000_000
"""The largest number in a design file."""


@dataclass(frozen=True)
class Change:
    """A change to try in one ``place``: ``says``, ``edits`` and ``done`` take one of ``values``.

    A later value changes more. ``grows`` says that it also makes more states, and that it disables
    no step of any task. Its ``costs``, by its value, are reported in place of what its kind gives
    up. Two changes of one ``slot`` exclude each other. ``at`` names the links, pools and tasks that
    are changed; none for a change of the whole design. One that ``restricts`` makes no step
    possible that was not so before.
    """

    slot: str
    place: str
    values: Sequence[int]
    says: Callable[[int], str]
    done: Callable[[Design, int], Design]
    edits: Callable[[int], tuple[Edit, ...]]
    at: frozenset[str] = frozenset()
    grows: bool = True
    restricts: bool = False
    costs: Callable[[int], str] | None = None

    def tried(self, value: int) -> str:
        """The words for how far this change was tried."""
        if self.values == range(1):
            return self.place
        return f"{self.place} {'up' if self.grows else 'down'} to {value}"


class Tier(IntEnum):
    """The general cost of a change, the least first."""

    RESOURCES = 0
    """More memory, threads, permits."""
    SLOWER = 1
    """Some wait longer, or more often."""
    PROGRAM = 2
    """The program does the same in another order."""
    ARRIVING = 3
    """Other elements arrive, or in another order."""
    PRIMES = 4
    """Elements that no task wrote: the program has to put them there before the start."""
    LOSES = 5
    """Elements, or work, are lost."""


@dataclass(frozen=True)
class KindOfChange:
    """A row of the table: its name, what it gives up, the tier to which that belongs (kinds of one
    tier are made together before any of the next is), and where a design offers it."""

    name: str
    gives_up: str
    tier: Tier
    find: Callable[[Scope], Iterator[Change]]

    def price(self, change: Change, value: int) -> str:
        """The cost of a change of this kind, in words."""
        return self.gives_up if change.costs is None else change.costs(value)


T = TypeVar("T", Link, Pool, Task)


@dataclass(frozen=True)
class Family(Generic[T]):
    """The things that one entry of the file stands for: ``members`` by name, of which ``first`` is
    one.

    Links with kinds are several in each of their ``queues``, and have pools for their free
    ``slots``.
    """

    first: T
    members: tuple[str, ...]
    name: str
    slots: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of its members in a design."""
        return frozenset((*self.members, *self.slots, *self.queues))

    @property
    def told(self) -> str:
        """Its name, as a report has it."""
        copies = len(self.queues or self.members)
        return self.name if copies == 1 else f"{self.name} (all {copies} copies)"


class Scope:
    """The part of a design that may be changed, with what is nearest to the cycle of waits first.
    Once it is ``late``, changes are looked for no longer.
    """

    def __init__(
        self, design: Design, tasks: Iterable[str], places: Iterable[str],
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self.design, self.late = design, late
        near = {name: number for number, name in enumerate(dict.fromkeys(tasks))}
        where = {name: number for number, name in enumerate(dict.fromkeys(places))}

        def distance(link: Link) -> int:
            if link.name in where:
                return where[link.name]
            touches = not near.keys().isdisjoint((*link.writers, *link.readers))
            return len(where) + (not touches)

        used = {name for task in design.tasks.values() for name in (*task.pool, *taken(task))}
        slots: dict[Spot, list[str]] = {}
        for pool in design.pools.values():
            if is_slots(pool.name):
                slots.setdefault(pool.spot, []).append(pool.name)
        close = {spot: min(where.get(name, len(where)) for name in names)
                 for spot, names in slots.items()}
        links = _families(design.links.values())
        self.links = sorted(
            (_queues(design, family, slots.get(family.first.spot, ())) for family in links),
            key=lambda family: min(close.get(family.first.spot, len(where) + 1), *(
                distance(design.links[name]) for name in family.members)))
        # What is read from other formats has tasks of several kinds in one place.
        self.tasks = sorted(_families(design.tasks.values(), lambda task: task.kind),
                            key=lambda family: min(
                                near.get(name, len(near)) for name in family.members))
        self.pools = sorted(_families(
            pool for pool in design.pools.values() if pool.name in used and not is_slots(pool.name)
            and not is_sign(pool.name)
        ), key=lambda family: min(where.get(name, len(where)) for name in family.members))


def _families(
    items: Iterable[T], kind: Callable[[T], object] = lambda _: None
) -> list[Family[T]]:
    """The families of items of one kind: those that one entry of the file has made."""
    found: dict[object, list[T]] = {}
    for item in items:
        found.setdefault(
            item.name if item.spot == NOWHERE else (item.spot, kind(item)), []).append(item)
    return [Family(group[0], tuple(item.name for item in group),
                   group[0].name if len(group) == 1 else _without_numbers(group[0].name))
            for group in found.values()]


def _queues(design: Design, family: Family[Link], slots: Sequence[str]) -> Family[Link]:
    """A family of links as that of the queues which they make up: one for all kinds of elements."""
    queues = tuple(dict.fromkeys(design.links[name].queue for name in family.members))
    name = queues[0] if len(queues) == 1 else _without_numbers(queues[0])
    return replace(family, slots=tuple(slots), name=name, queues=queues)


def _without_numbers(name: str) -> str:
    """The common part of the names of copies."""
    return re.sub(r"\[\d+\]", "", name)


def taken(task: Task) -> list[str]:
    """The pools that a script's steps name."""
    return [step.target for step in task.actions
            if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE)]


# --- making a change -------------------------------------------------------------------------

def changed_links(design: Design, family: Family[Link], change: Callable[[Link], Link]) -> Design:
    """The design with other links in place of a family's (of those that it has)."""
    return replace(design, links=_changed(design.links, family.members, change))


def changed_tasks(design: Design, family: Family[Task], change: Callable[[Task], Task]) -> Design:
    """The design with other tasks in place of a family's (of those that it has)."""
    return replace(design, tasks=_changed(design.tasks, family.members, change))


def changed_pools(
    design: Design, names: Sequence[str], change: Callable[[Pool], Pool]
) -> Design:
    """The design with other pools in place of these (of those that it has)."""
    return replace(design, pools=_changed(design.pools, names, change))


def _changed(items: Mapping[str, T], names: Sequence[str], change: Callable[[T], T]) -> dict[
        str, T]:
    return {**items, **{name: change(items[name]) for name in names if name in items}}


# --- numbers ------------------------------------------------------------------------------------

def above(old: int) -> range:
    """Larger numbers to try."""
    return range(old + 1, min(MOST, old + max(8, 2 * old)) + 1)


def below(old: int, least: int) -> range:
    """Smaller numbers to try."""
    return range(old - 1, least - 1, -1)


def number(
    family: Family[T], key: str, old: Sequence[int], values: Sequence[int],
    says: Callable[[int], str], done: Callable[[Design, int], Design],
    at: Iterable[str] | None = None, restricts: bool = False,
    costs: Callable[[int], str] | None = None,
) -> Change:
    """A change of a number under ``key``, which is ``old`` in each member (``values`` are those of
    the first; where they differ, all are changed by as much); ``done`` is given the difference.
    """
    first = family.first
    uniform = len(set(old)) == 1
    of = shown(family)

    def told(value: int) -> str:
        if uniform:
            return says(value)
        return f"{says(value)}; the others {abs(value - old[0])} {_way(value - old[0])} too"

    return Change(
        f"{key} of {of}", family.told, values, told,
        lambda design, value: done(design, value - old[0]),
        lambda value: (Edit(of, key, first.spot, str(old[0]), str(value),
                            None if uniform else value - old[0]),),
        family.names if at is None else frozenset(at),
        not values or values[0] > old[0], restricts, costs)


def _way(by: int) -> str:
    return "more" if by > 0 else "fewer"


def shown(family: Family[T]) -> str:
    """The words for a family, as ``link q``."""
    item = family.first
    if isinstance(item, Link):
        return f"link {family.name}"
    if isinstance(item, Pool):
        return f"pool {family.name}"
    return f"task {family.name}"


def once(
    family: Family[T], key: str, place: str, old: str, new: str, says: str,
    done: Callable[[Design], Design], costs: str = "", also: Sequence[Edit] = (),
) -> Change:
    """A change that is made or not made: ``key`` of an entry is ``new`` in place of ``old``, and
    what is written ``also``."""
    return Change(
        f"{key} of {shown(family)}", place, range(1), lambda _: says,
        lambda design, _: done(design),
        lambda _: (Edit(shown(family), key, family.first.spot, old, new), *also),
        family.names, grows=False, costs=(lambda _: costs) if costs else None)
