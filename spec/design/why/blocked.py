"""The waits of tasks in a state in which nothing moves, read off the net itself.

A task's *ways* to continue are its rows with true guards on its own places: what its hand, its
position or its turn forbids is no wait but a decision. So is what a row asks of a link that the
task stands at the other end of: a merge that prefers an input, or passes one over in its turn,
takes another only where the first is empty, and a writer drops only where the link is full. What
is left of a way's guards fails in a link or a pool, and is what the task needs. A way that needs
more than another one is not reported: the other would be open first; so it is if the other meets a
partner that lacks less than this. Nor is one that needs more than can ever be (two elements of a
link with one slot), unless the task has no other.

A wait is *on* the tasks that still have a step ahead that would end it (see ``ahead``). Those
that had one, and have it no more, are *gone*. In a deadlocked state, the walk from a wait to those
it is on either comes back, which is a cycle, or ends at a wait that no task can end any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...notation.labels import counted
from ..net.lines import front, slot_of
from ..net.places import LinkPlaces, Unbounded
from ..net.rows import Meeting, Place, Row, Table
from ..net.signals import lost_go
from ..net.translate import position_of
from ..reading.language import Design, Kind
from ..reading.signs import OPEN, RUNNING, sign_of
from .ahead import Ahead, dead_rows
from .waits import SHARED

__all__ = [
    "ENDS", "OF_A_POOL", "WORDS", "Blocked", "Left", "left_in", "told_gone", "waits_in",
]

Need = tuple[str, str, bool]
"""A need: "room", "data", "a go", "a thread", "a permit", "an acquire", "an end", "a close", or
FRONT; of which link, pool or task; and whether it is more than can ever be.
"""

ENDS = {RUNNING: "an end", OPEN: "a close"}
"""By sign, the need of a task that waits for it to be taken."""

OF_A_POOL = ("a thread", "a permit")
"""The needs of a pool that others hold: threads where tasks run on it, else permits."""

FRONT = "its kind at the front"
"""The need of a task for which an element of another kind is in the way."""

WORDS = {
    FRONT: ("for its kind at the front of {}", "where only {} can take the element in front"),
    "room": ("for room in {}", "which only {} can make"),
    "data": ("for data in {}", "which only {} can bring"),
    "a go": ("for a go for {}", "which only {} can send"),
    "a thread": ("for a thread of {}", "which only {} can give back"),
    "a permit": ("for a permit of {}", "which only {} can give back"),
    "an acquire": ("to give a permit back to {}, which is already full",
                   "until {} acquires one"),
    "an end": ("for the end of {}", "which only {} can reach"),
    "a close": ("for {} to be closed", "which only {} can do"),
}


@dataclass(frozen=True)
class Blocked:
    """A task that waits for ``what`` in ``where``: a slot or data in a link, a go for one if the
    call was lost, its kind at the front of a queue, a thread or a permit of a pool, or an acquire
    of one to which it gives back more than all tasks have taken; for the end of a task that it
    joins; or for a link to be closed.

    ``on`` are the tasks that could end the wait, ``gone`` those that no longer can: they have
    ended, or are past the step that would have. ``never`` says that no task ever could: more is
    asked at once than fits, or there is no task that it could meet at a link of capacity 0.
    """

    task: str
    what: str
    where: str
    on: tuple[str, ...]
    gone: tuple[str, ...] = ()
    never: bool = False

    @property
    def in_short(self) -> str:
        """The wait as a sentence, without the tasks that could end it."""
        return f"{self.task} waits {WORDS[self.what][0].format(self.where)}"

    def sentence(self) -> str:
        """The wait as a sentence, with the tasks that could end it."""
        if self.never:
            return f"{self.in_short}, and can never get it"
        if not self.on:
            done = f": {' and '.join(self.gone)} will not any more" if self.gone else ""
            return f"{self.in_short}, and no task can end this wait{done}"
        return f"{self.in_short}, {WORDS[self.what][1].format(' or '.join(self.on))}"


@dataclass(frozen=True)
class Left:
    """Elements that are left in a link where all tasks are done: ``number`` of them are in
    ``where``, and those who could have read them are ``gone``."""

    where: str
    number: int
    gone: tuple[str, ...]

    def sentence(self, ceased: Mapping[str, str]) -> str:
        """It as a sentence; ``ceased`` are those who have stopped or crashed."""
        why = f": {told_gone(self.gone, ceased)}" if self.gone else ""
        what = "is left in" if self.number == 1 else "are left in"
        return (f"{counted(self.number, 'element')} {what} {self.where}, and no task reads so "
                f"many any more{why}.")


def told_gone(gone: Sequence[str], ceased: Mapping[str, str]) -> str:
    """The words for tasks that do nothing any more, with the reason: those of ``ceased`` have
    stopped or crashed."""
    done = [task for task in gone if task not in ceased]
    told = [f"{task} {ceased[task]}" for task in gone if task in ceased]
    if done:
        told.insert(0, f"{' and '.join(done)} {'is' if len(done) == 1 else 'are'} done")
    return ", and ".join(told)


def left_in(design: Design, table: Table, marking: Mapping[str, int]) -> list[Left]:
    """The elements left in links of a design that may end, which no task will read any more."""
    if not table.may_end:
        return []
    state = _State(design, table, marking)
    found = []
    for place in table.places:
        if place.role == "queue" and marking[place.name] > place.rest:
            able, gone = state.told_readers(place.of)
            if not able:
                found.append(Left(place.of, marking[place.name], gone))
    return found


def waits_in(design: Design, table: Table, marking: Mapping[str, int]) -> list[Blocked]:
    """The waits in a marking, task by task, without doubles.

    A task that has ended, or that continues but does nothing except dropping, waits for nothing.
    """
    state = _State(design, table, marking)
    return [state.told(task, need) for task in design.tasks for need in state.needs(task)]


class _State:
    """A marking, and what the rows of the net say about it."""

    def __init__(self, design: Design, table: Table, marking: Mapping[str, int]) -> None:
        self.design = design
        self.table = table
        self.marking = marking
        self.dead = dead_rows(table)
        self.ahead = Ahead(table, marking, self.dead)
        start = {place.name: place.start for place in table.places}
        self.at_start = Ahead(table, start, self.dead)
        self.places = {place.name: place for place in table.places}
        self._joined: dict[int, list[Row]] = {}
        for row in table.joined:
            for part in row.parts:
                self._joined.setdefault(id(part), []).append(row)
        self._offers: dict[str, list[Row]] = {}
        for row in table.offers:
            if row.own:
                self._offers.setdefault(row.task, []).append(row)
        self._helpers: dict[Need, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._at: dict[str, set[str]] = {}
        for row in table.offers:
            for end in (*row.effect.change, *(link for link, _ in row.effect.meets)):
                self._at.setdefault(end, set()).add(row.task)
        self._pools = {p.of: p.name for p in table.places if p.role == "pool"}
        self._slots = {p.of: p.name for p in table.places if p.role == "slots"}
        self._signs = {
            (ENDS.get(p.of.removeprefix(sign_of(p.of))), sign_of(p.of)): p.name
            for p in table.places if p.role == "sign"}
        self._in_line: dict[str, dict[int, list[str]]] = {}
        for place in table.places:
            if place.role == "slot":
                self._in_line.setdefault(place.of, {}).setdefault(
                    slot_of(place.name), []).append(place.name)
        self._units: dict[str, str] = {}
        self._order = {task: number for number, task in enumerate(design.tasks)}

    # --- what a task needs ------------------------------------------------------------------

    def needs(self, task: str) -> list[Need]:
        """The needs of the task in one or another of its ways; none if one is open."""
        rows = self._offers.get(task, ())
        ways = [way for row in rows if (way := self._way(row)) is not None]
        able = [way for way in ways if not any(never for _, _, never in way)]
        if not able:
            never = not any(self._may_choose(row) for row in rows)
            able = [{(what, where, never): None for what, where, dead in way if dead}
                    for way in ways]
        opening = [{*way} for way in able] + list(self._partners_needs(rows))
        least = [way for way in able if not any(other < way.keys() for other in opening)]
        return list(dict.fromkeys(need for way in least for need in way))

    def _partners_needs(self, rows: Sequence[Row]) -> Iterator[set[Need]]:
        """The needs of a meeting that the task itself is ready for."""
        for row in rows:
            if self._failing(row):
                continue
            for joint in filter(self._since, self._joined.get(id(row), [])):
                needs = {self._need(joint, self.places[p], few) for p, few in self._failing(joint)}
                if needs and None not in needs:
                    yield {need for need in needs if need is not None}

    def _way(self, row: Row) -> dict[Need, None] | None:
        """The needs of a row; None if it is not up to others that it is closed."""
        found: dict[Need, None] = {}
        for place, few in self._failing(row):
            need = self._need(row, self.places[place], few)
            if need is None:
                return None
            if need[0] != FRONT or self._front(need[1]):  # else there is nothing in its way
                found[need] = None
        meetings = self._joined.get(id(row), [])
        if row.effect.unless and not any(self._since(joint) for joint in meetings):
            return None
        ends = sorted(row.effect.meets)
        if ends and id(row) in self.dead and not any(never for _, _, never in found):
            return {(what, link, True): None for what, link, _ in map(_end, ends)}
        for end in ends:
            if not any(self._comes(joint, row, end) for joint in meetings):
                found[_end(end)] = None
        if ends and not found:
            found.update(dict.fromkeys(self._only_together(meetings, ends)))
        return found

    def _may_choose(self, row: Row) -> bool:
        """True if a row is not dead, and closed only by what links and pools hold."""
        return id(row) not in self.dead and all(
            self.places[place].role in SHARED for place, _ in self._failing(row))

    def _need(self, row: Row, place: Place, few: bool) -> Need | None:
        """The need that a failing guard has of others; None if it is a decision of the task's."""
        room = min(place.most, row.effect.at_most.get(place.name, place.most))
        never = room < max(0, row.effect.at_least.get(place.name, 0))
        if place.role == "pool":
            return (f"a {self._unit(place.of)}" if few else "an acquire"), place.of, never
        if place.role == "sign":
            end = ENDS.get(place.of.removeprefix(sign_of(place.of)))
            return None if few or end is None else (end, sign_of(place.of), never)
        if place.role == "slot":
            return FRONT, place.of, never
        if place.role == "slots":
            return ("room", place.of, never) if few else None
        if place.role not in ("queue", "permits"):
            return None
        link = self.design.links[place.of]
        if place.role == "permits" and self.marking.get(lost_go(link.name)):
            return ("a go", link.name, never)
        if place.role == "queue" and few:
            return ("data", link.name, never) if set(row.tasks) & {*link.readers} else None
        return ("room", link.name, never) if set(row.tasks) & {*link.writers} else None

    def _failing(self, row: Row) -> list[tuple[str, bool]]:
        effect, marking = row.effect, self.marking
        few = [(place, True) for place, n in effect.at_least.items() if marking[place] < n]
        many = [(place, False) for place, n in effect.at_most.items() if marking[place] > n]
        return few + many

    def _unit(self, pool: str) -> str:
        if pool not in self._units:
            self._units[pool] = self.design.unit(pool)
        return self._units[pool]

    # --- links of capacity 0 -------------------------------------------------------------------

    def _since(self, joint: Row) -> bool:
        """True if no task is ready at the links that a part of the row passes over."""
        return not any(self._failing(Row(joint.task, reason)) for reason in joint.since)

    def _comes(self, joint: Row, row: Row, end: Meeting) -> bool:
        """True if the row's partner at a link of capacity 0 is ready in this joint step, and
        so are those that the partner meets in turn.
        """
        link, writing = end
        there = [part for part in joint.parts if (link, not writing) in part.effect.meets]
        reached: list[Row] = []
        while there:
            part = there.pop()
            reached.append(part)
            others = {(name, not writes) for name, writes in part.effect.meets}
            there += [
                other for other in joint.parts
                if other is not row and other.effect.meets & others
                and not any(other is each for each in (*reached, *there))
            ]
        return self._since(joint) and not any(self._failing(part) for part in reached)

    def _only_together(self, meetings: Sequence[Row], ends: Sequence[Meeting]) -> Iterator[Need]:
        """Each partner is ready, but they cannot all move at once: two need the last thread, or
        one is needed at two links."""
        ready = [joint for joint in meetings
                 if self._since(joint) and not any(map(self._failing, joint.parts))]
        for joint in ready:
            needs = [self._need(joint, self.places[p], few) for p, few in self._failing(joint)]
            yield from (need for need in needs if need is not None)
        if not ready:
            yield from map(_end, ends)

    # --- the tasks that could help -----------------------------------------------------------

    def told(self, task: str, need: Need) -> Blocked:
        """The wait of a task for what it needs."""
        what, where, never = need
        if what == "a go":
            return Blocked(task, what, where, ())
        if never:
            return Blocked(task, what, where, (), never=True)
        on, gone = self._who(need)
        if what == "an acquire":  # its own would come after what it waits to do
            on = tuple(other for other in on if other != task)
        return Blocked(task, what, where, on, gone)

    def told_readers(self, link: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tasks that will still read a link, and those that did and do not any more."""
        return self._who(("room", link, False))

    def _who(self, need: Need) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tasks that could give what is needed, and those that no longer can."""
        if need not in self._helpers:
            near = self._near(need)
            able = [task for task in near if self._could(task, need, self.ahead)]
            gone = [
                task for task in near if task not in able
                and (self._could(task, need, self.at_start) or self._keeps(task, need))
            ]
            self._helpers[need] = tuple(able), tuple(gone)
        return self._helpers[need]

    def _near(self, need: Need) -> list[str]:
        """The tasks that ever change what is needed, in the order of the design."""
        what, where, _ = need
        if what == FRONT:
            ends = [self._front(where)]
        elif what in ENDS.values():
            ends = [self._signs[what, where]]
        elif what in (*OF_A_POOL, "an acquire"):
            ends = [self._pools[where]]
        else:
            ends = [where, self._queue(where)]
        tasks = set().union(*(self._at.get(end, set()) for end in ends))
        return sorted(tasks, key=self._order.__getitem__)

    def _could(self, task: str, need: Need, ahead: Ahead) -> bool:
        what, where, _ = need
        if what in OF_A_POOL:
            return ahead.gains(task, self._pools[where], 1)
        if what in ENDS.values():
            return any(row.effect.change.get(self._signs[what, where], 0) < 0
                       for row in ahead.rows(task))
        if what == "an acquire":
            return ahead.gains(task, self._pools[where], -1)
        return any(self._gives(row, need) for row in ahead.rows(task))

    def _gives(self, row: Row, need: Need) -> bool:
        """True if the row would bring a link what is needed there."""
        what, where, _ = need
        if what == FRONT:
            return row.effect.change.get(self._front(where), 0) < 0
        if where in self._slots:
            return row.effect.change.get(self._slots[where], 0) > 0
        if self.design.links[where].capacity == 0:
            return (where, what == "data") in row.effect.meets
        change = row.effect.change.get(self._queue(where), 0)
        return change > 0 if what == "data" else change < 0

    def _front(self, where: str) -> str:
        """The place of what stands at the front of a queue; empty where nothing does."""
        slots = self._in_line[where]
        here = next(slot for slot in slots if self.marking[front(where, slot)])
        return next((place for place in slots[here] if self.marking[place]), "")

    def _queue(self, where: str) -> str:
        """The place of a link's elements, or of the free slots that several links share."""
        return self._slots.get(where) or LinkPlaces(
            self.design.links[where], Unbounded(1, abstract=True)).queue

    def _keeps(self, task: str, need: Need) -> bool:
        """True if the task has taken threads and will never give them back."""
        what, where, _ = need
        if what not in OF_A_POOL:
            return False
        pool, rows = self._pools[where], self.ahead.all_rows(task)
        if self.design.tasks[task].kind is not Kind.SCRIPT:
            held = self.table.holders.get(pool, frozenset())
            return any(self.marking[p] > 0 for p in held if self.places[p].of == task)
        position = position_of(self.design.tasks[task])
        at = {row.effect.at_least[position]: row.effect.change.get(pool, 0) for row in rows}
        return sum(at.values()) < 0 and not any(
            row.effect.change.get(pool) for row in self.ahead.rows(task))


def _end(end: Meeting) -> Need:
    link, writing = end
    return ("room" if writing else "data"), link, False
