"""The parts that tables are built with: places and rows of a design's links, pools and tasks.

What each kind of task puts down stands in ``translate`` and ``gathering``, in terms of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from ..reading.kinds import is_slots
from ..reading.language import Design, Kind, Link, Task
from .links import LinkMoves
from .meetings import join_meetings
from .places import Unbounded, free_threads
from .rows import (
    FAILED, MAX_ROWS, MAX_WAYS, NOTHING, ROWS_OF_A_TASK, Effect, Invariant, Place, Row, Table,
    TooManyWays, together, watched,
)

__all__ = ["Aim", "Builder", "Gate", "Reads", "Way", "link_names", "own_place"]

LOST = "an element was lost"
BEAT = "the watched task's beat"
HAND = "elements in the hand"


@dataclass(frozen=True)
class Aim:
    """The question that the table is made for.

    ``losses`` and ``failures`` make the first loss, or failure, pass a limit; ``watch``
    follows the steps of one task, and ``emptied`` those that take from a place, while the place
    ``wanted`` (or the one that is emptied) holds at least ``least``; ``unbounded`` says how
    unbounded links are counted.
    ``relaxed`` lets every merge take any input: that has all the runs of the other policies
    and deadlocks in the same states (a merge that writes to its own input is left as it is:
    whether that link has a free slot then depends on the input it takes). ``idle_drops`` keeps the
    steps that change nothing but drop an element; a design in which only those are left is
    deadlocked.
    """

    unbounded: Unbounded = field(default_factory=lambda: Unbounded(3, abstract=True))
    losses: bool = False
    failures: bool = False
    watch: str = ""
    emptied: str = ""
    wanted: str = ""
    least: int = 0
    relaxed: bool = False

    @property
    def idle_drops(self) -> bool:
        """See above."""
        return self.losses or self.watches

    @property
    def watches(self) -> bool:
        """True if some steps are followed."""
        return bool(self.watch or self.emptied)

    def follows(self, row: Row) -> bool:
        """True if a row is one of those steps, which a link does not take by itself."""
        if self.watch:
            return self.watch in row.tasks and row.own
        return row.own and row.effect.change.get(self.emptied, 0) < 0


Reads = Mapping[str, list[Effect]]
"""By the kind of the element, or "" where it is not known, every way to read it."""


@dataclass(frozen=True)
class Gate:
    """A queue that a task reads: a link, or several with elements of one kind each."""

    links: tuple[LinkMoves, ...]

    @property
    def name(self) -> str:
        """The queue's name in the file."""
        return self.links[0].link.queue

    def reads(self) -> dict[str, list[Effect]]:
        """Every way to read an element of each kind."""
        return {link.link.kind: list(link.read()) for link in self.links}

    def read(self) -> list[Effect]:
        """Every way to read an element."""
        return [effect for link in self.links for effect in link.read()]

    def is_empty(self) -> Effect:
        """Nothing can be read."""
        whole = NOTHING
        for link in self.links:
            whole = whole.then(link.is_empty())
        return whole


@dataclass(frozen=True)
class Way:
    """A decision about an element when a task reads it: ``name`` tells it from the others,
    and ``writes`` are the ways to write it then."""

    name: str
    reads: list[Effect]
    writes: list[Effect]


class Builder:
    """Collects places and rows: what the functions of each kind of task build with."""

    def __init__(self, design: Design, aim: Aim) -> None:
        self.design = design
        self.aim = aim
        self.links: Mapping[str, LinkMoves] = {
            link.name: LinkMoves(
                link, aim.unbounded, min(design.taken(link), default=link.takes),
                max((*design.taken(link), *design.given(link)), default=1),
                design.abandoned(link) and not aim.emptied)
            for link in design.links.values()
        }
        self.places = [Place(FAILED, "flag", "", 0, 1, 1, 0 if aim.failures else 1)]
        self.rows: list[Row] = []
        self.most = MAX_ROWS + ROWS_OF_A_TASK * len(design.tasks)
        self.invariants: list[Invariant] = []
        self.scripted = {s.target for t in design.tasks.values() for s in t.actions}
        self.holders: dict[str, dict[str, int]] = {name: {} for name in design.pools}

    def place(self, task: Task, what: str, role: str, start: int, most: int, rest: int) -> str:
        """Add a place of a task."""
        name = own_place(task, what)
        self.places.append(Place(name, role, task.name, start, most, rest, most))
        return name

    def add(self, task: Task, effects: Iterator[Effect]) -> None:
        """Add a row for each effect."""
        self.rows.extend(Row(task.name, effect) for effect in effects)
        if len(self.rows) > self.most:
            raise TooManyWays

    def inputs(self, task: Task) -> list[LinkMoves]:
        """The links that a task reads."""
        return [self.links[link.name] for link in self.design.inputs(task.name)]

    def gates(self, task: Task) -> list[Gate]:
        """The queues that a task reads."""
        return [Gate(tuple(self.links[link.name] for link in links))
                for links in self.design.gates(task.name)]

    def outputs(self, task: Task) -> list[LinkMoves]:
        """The links that a task writes."""
        return [self.links[link.name] for link in self.design.outputs(task.name)]

    def ways(self, task: Task, reads: Reads) -> list[Way]:
        """The decisions of a task about an element of each kind: to which link of each choice it
        goes. Kinds for which it can decide the same are not told apart."""
        choices = self.design.choices(task.name)
        found: dict[tuple[str, ...], Way] = {}
        for kind, effects in reads.items():
            able = [[link for link in choice if link.carries(kind)] for choice in choices]
            if prod(map(len, able)) + len(found) > MAX_WAYS:
                raise TooManyWays
            for chosen in product(*able):
                key = tuple(link.name for link in chosen)
                if key not in found:
                    found[key] = Way(link_names(
                        link for link, choice in zip(chosen, choices, strict=True)
                        if len(choice) > 1), [], list(together(*(
                            self.links[link.name].write() for link in chosen))))
                found[key].reads.extend(effects)
        return list(found.values())

    def pass_on(self, task: Task, reads: Reads) -> None:
        """Read and write in one move, or through the hand."""
        ways = self.ways(task, reads)
        hand = max(task.hand, 1 if task.pool or len(ways) > 1 else 0)
        if hand:
            self.through_hand(task, ways, hand)
        else:
            self.add(task, together(ways[0].reads, ways[0].writes))

    def through_hand(self, task: Task, ways: list[Way], hand: int) -> Effect:
        """Read, hold and write; where there is something to decide, what is held has been decided.
        The effect is that there is a free hand, and changes nothing."""
        if len(ways) == 1:
            (way,) = ways
            held = self.place(task, HAND, "hand", 0, hand, 0)
            pick, put = Effect({}, {held: hand - 1}, {held: 1}), Effect({held: 1}, {}, {held: -1})
            self.add(task, together([self.acquire(task, held)], way.reads, [pick]))
            self.add(task, together([put], way.writes, [self.release(task)]))
            return Effect({}, {held: hand - 1})
        free = self.place(task, "free hands", "free hand", hand, hand, hand)
        weights = {free: 1}
        for way in ways:
            held = self.place(task, f"elements for {way.name} in the hand", "hand", 0, hand, 0)
            weights[held] = 1
            pick = Effect({free: 1}, {}, {free: -1, held: 1}, (f"that is for {way.name}",))
            put = Effect({held: 1}, {}, {held: -1, free: 1})
            self.add(task, together([self.acquire(task, held)], way.reads, [pick]))
            self.add(task, together([put], way.writes, [self.release(task)]))
        self.invariants.append(Invariant(weights, hand))
        return Effect({free: 1})

    def acquire(self, task: Task, holding: str) -> Effect:
        """Take a thread for what is then in the place ``holding``."""
        if not task.pool:
            return NOTHING
        self.holders[task.pool[0]][holding] = 1
        return self.threads(task.pool[0], -1)

    def release(self, task: Task) -> Effect:
        """Give the thread back."""
        return self.threads(task.pool[0], 1) if task.pool else NOTHING

    def busy(self, task: Task) -> Effect:
        """A thread is needed for a moment, and is free again at once."""
        if not task.pool:
            return NOTHING
        return Effect({free_threads(task.pool[0]): 1})

    def threads(self, pool: str, change: int) -> Effect:
        """Take (a negative change) or give back threads of a pool.

        Where scripts give threads back by hand they may give back more than was taken; then
        the task that gives back waits until somebody has taken.
        """
        place = free_threads(pool)
        if change < 0:
            return Effect({place: -change}, {}, {place: change})
        most = self.design.pools[pool].threads - change
        return Effect({}, {place: most} if pool in self.scripted else {}, {place: change})

    def conserve_threads(self) -> None:
        """A pool's threads are free or held, unless a script takes them by hand. Slots are free, or
        there is an element in them."""
        rooms: dict[str, dict[str, int]] = {}
        for link in self.links.values():
            rooms.setdefault(link.link.room, {})[link.queue] = 1
        by_hand = self.scripted | {
            name for task in self.design.tasks.values() if task.steps for name in task.pool}
        for pool in self.design.pools.values():
            if is_slots(pool.name):
                held = rooms.get(pool.name, {})
                self.invariants.append(
                    Invariant({free_threads(pool.name): 1, **held}, pool.threads))
            elif pool.name not in by_hand:
                weights = {free_threads(pool.name): 1, **self.holders[pool.name]}
                self.invariants.append(Invariant(weights, pool.threads))

    def table(self) -> Table:
        """The table of all that was collected, for the aim."""
        places, offers = self.places, tuple(self.rows)
        joined = join_meetings(offers, [n for n, link in self.links.items() if link.meets])
        rows = joined
        if not self.aim.idle_drops:
            rows = [row for row in rows if row.effect.change or not row.effect.loses]
        if any(link.may_fail for link in self.design.links.values()):
            alive = Effect(at_most={FAILED: 0})
            rows = [replace(row, effect=alive.then(row.effect)) for row in rows]
        if self.aim.losses:
            once = Effect({}, {LOST: 0}, {LOST: 1})
            places.append(Place(LOST, "flag", "", 0, 1, 1, 0))
            rows = [replace(r, effect=r.effect.then(once)) if r.effect.loses else r for r in rows]
        if self.aim.watches:
            places.append(Place(BEAT, "beat", self.aim.watch, 0, 1, 1, 1))
            rows = list(watched(rows, self.aim.follows, BEAT))
        ordered = sorted(rows, key=lambda row: not row.effect.fair)
        return Table(tuple(places), tuple(ordered), tuple(self.invariants),
                     _may_end(self.design), BEAT if self.aim.watches else FAILED, offers,
                     tuple(joined), {free_threads(name): frozenset(held)
                                     for name, held in self.holders.items()},
                     self.aim.wanted or self.aim.emptied or FAILED, self.aim.least)


def own_place(task: Task, what: str) -> str:
    """The name of a task's place; no name in a design has a colon, so none can collide."""
    return f"{task.name}: {what}"


def link_names(links: Iterable[Link]) -> str:
    """The names of some links, in words."""
    return " and ".join(link.name for link in links)


def _may_end(design: Design) -> bool:
    """True if a design can end: it has work that can be finished and none that lasts forever."""
    workers = [t for t in design.tasks.values()
               if t.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL)]
    return bool(workers) and all(task.may_end for task in workers)
