"""The boxes and arrows of a drawing, before it is known where they are.

A box stands for a task, for a queue with all its writers and readers, or for a pool; in a large
design for all members that are alike (see ``folding``). Every label is in a box, so that no arrow
can run through one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...notation.labels import counted
from ...verdicts.deadline import Deadline
from ..reading.kinds import slots_of
from ..reading.language import Design, Link, Task
from ..reading.signs import OPEN, RUNNING, is_sign, sign_of
from ..why.blocked import ENDS, OF_A_POOL, Blocked
from ..why.cycles import led
from .folding import Groups, folded, named_alike
from .words import BOLD, MANY_SLOTS, SMALL, described, flow_of, is_named, lines_of, width

__all__ = ["LINE", "SLOT", "Box", "Edge", "TOP_LINE", "Picture", "Wait"]

LINE, TOP_LINE, SLOT = 15.0, 20.0, 10.0
"""The heights of a line of small text and of the bold one, and the width of a slot."""

_PAD = 10.0
_APART = 9.0  # between the ends of two arrows
_OF_POOL = (*OF_A_POOL, "an acquire")


Count = tuple[int, str, tuple[str, ...]]


@dataclass(frozen=True)
class Box:
    """A box: its ``kind`` (task, queue or pool), its ``members``, the bold ``title`` and the
    ``lines`` of small text. Of a queue with so much ``room`` (None: unbounded), that many ``slots``
    are drawn and so many elements ``held``; ``counts`` are the numbers in its lines that change:
    the line, what stands before the number, and the links that it counts the elements of."""

    kind: str
    members: tuple[str, ...]
    title: str
    lines: tuple[str, ...]
    slots: int = 0
    room: int | None = None
    held: int = 0
    counts: tuple[Count, ...] = ()
    hand: int = 0

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height that its contents need."""
        wide = max([width(self.title, BOLD), *(width(line, SMALL) for line in self.lines),
                    *(width(self.lines[line], SMALL) + 3 * SMALL for line, *_ in self.counts),
                    self.slots * SLOT, 11.0 * min(self.hand, MANY_SLOTS) + 8])
        high = (TOP_LINE if self.title else 0) + LINE * len(self.lines)
        return max(64.0, wide + 2 * _PAD), high + (18 if self.slots else 0) + 10


@dataclass(frozen=True)
class Edge:
    """An arrow between two boxes, by their numbers: a ``link``, one that ``uses`` a pool, or one
    that ``ends``: the task closes a queue, or joins or cancels a task."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Wait:
    """A part of a wait, drawn along an edge, ``back`` against its direction; ``of`` are the waits
    of the cycle by their numbers."""

    edge: int
    back: bool
    of: tuple[int, ...]


class Picture:
    """The boxes and arrows of a design: with ``contents`` by link where they are known, and the
    waits that close a ``cycle``. The text of a box that changes step by step is written with room
    for its largest number (``stepped``). Raises Spent where the ``deadline`` passes."""

    def __init__(self, design: Design, cycle: Sequence[Blocked], contents: Mapping[str, int],
                 free: Mapping[str, int], waits: Sequence[Blocked], stepped: bool,
                 deadline: Deadline) -> None:
        self.design, self.cycle = design, cycle
        self._contents, self._free, self._stepped = contents, free, stepped
        self._holders = {wait.where: wait.on for wait in waits if wait.what in OF_A_POOL}
        tasks, queues, pools = folded(design, deadline)
        self._watch = deadline.watch("writing down the boxes of the drawing")
        self.boxes = [*self._tasks(tasks), *self._queues(queues), *self._pools(pools)]
        self._number = {(box.kind, member): number for number, box in enumerate(self.boxes)
                        for member in box.members}

    # --- boxes ---------------------------------------------------------------------------

    def _tasks(self, groups: Groups) -> Iterator[Box]:
        for name, members in groups.items():
            self._watch()
            task = self.design.tasks[name]
            yield Box("task", members, _titled(members), tuple(lines_of(described(task))),
                      hand=task.hand)

    def _queues(self, groups: Groups) -> Iterator[Box]:
        of_queue: dict[str, list[tuple[int, Link]]] = {}
        for number, link in enumerate(self.design.links.values()):
            of_queue.setdefault(link.queue, []).append((number, link))
        for members in groups.values():
            self._watch()
            numbered = sorted((each for queue in members for each in of_queue[queue]),
                              key=lambda each: each[0])
            links = tuple(link for _, link in numbered)
            first = links[0]
            title = _titled(members) if is_named(first) else _times(members)
            room = None if first.capacity is None else first.capacity * len(members)
            held = sum(self._contents.get(link.name, link.initial) for link in links)
            slots = MANY_SLOTS if room is None else min(room, MANY_SLOTS)
            lines, counts = self._told(links, len(members), held)
            yield Box("queue", members, title, tuple(lines), slots, room, held, tuple(counts))

    def _told(self, links: Sequence[Link], times: int, held: int) -> tuple[list[str], list[Count]]:
        """The lines of a queue: how much is in it, of each kind, and its flow control; and the
        numbers in them."""
        first, counts = links[0], []
        known = self._stepped or any(link.name in self._contents for link in links)
        size = "unbounded" if first.capacity is None else str(first.capacity * times)
        lines = [size if first.capacity is None else
                 f"capacity {first.capacity}" + (" each" if times > 1 else "")]
        if known:
            lines = [f"{held} of {size}"]
            counts.append((0, "", tuple(link.name for link in links)))
        kinds = links if first.kind and first.of and times == 1 else ()
        for link in kinds if known else ():
            before = f"kind {link.kind}: "
            counts.append((len(lines), before, (link.name,)))
            lines.append(f"{before}{self._contents.get(link.name, link.initial)}")
        if kinds and not known:
            lines += lines_of(f"kinds {', '.join(link.kind for link in kinds)}")
        extra = ", ".join(flow_of(first, initial=not known))
        return lines + (lines_of(extra) if extra else []), counts

    def _pools(self, groups: Groups) -> Iterator[Box]:
        for name, members in groups.items():
            count, unit = self.design.pools[name].threads, self.design.unit(name)
            lines = [counted(count, unit) + (" each" if len(members) > 1 else "")]
            taken = [pool for pool in members if pool in self._holders
                     and self._free.get(pool, count) < count]
            if self._stepped:
                lines = [f"{count * len(members)} of {count * len(members)} free"]
            elif taken and len(members) == 1:
                # Permits that go along with an element are held by no task.
                holders = ", ".join(dict.fromkeys(self._holders[name]))
                lines += [f"{count - self._free[name]} {'held by' if holders else 'taken'}",
                          *(lines_of(holders) if holders else ())]
            elif taken:
                lines.append(f"{len(taken)} of them held")
            yield Box("pool", members, _titled(members), tuple(lines))

    # --- arrows --------------------------------------------------------------------------

    @cached_property
    def edges(self) -> list[Edge]:
        """The arrows, each pair of boxes once for each direction."""
        found: dict[Edge, None] = {}
        for link in self.design.links.values():
            self._watch()
            queue = self._number["queue", link.queue]
            for writer in link.writers:
                found.setdefault(Edge("link", self._number["task", writer], queue))
            for reader in link.readers:
                found.setdefault(Edge("link", queue, self._number["task", reader]))
        for task in self.design.tasks.values():
            for pool in _pools_of(task):
                found.setdefault(Edge("uses", self._number["task", task.name],
                                      self._number["pool", pool]))
            for ended in _ends_of(task):
                found.setdefault(Edge("ends", self._number["task", task.name],
                                      self._number[ended]))
        return list(found)

    def sizes(self) -> list[tuple[float, float]]:
        """The size of each box, with room for the arrows at its sides."""
        ends: Counter[tuple[int, bool]] = Counter()
        for edge in self.edges:
            ends[edge.start, True] += 1
            ends[edge.end, False] += 1
        sizes = []
        for box in self.boxes:
            self._watch()
            sizes.append(box.size)
        return [(wide, max(high, _APART * max(ends[number, True], ends[number, False])))
                for number, (wide, high) in enumerate(sizes)]

    @cached_property
    def held(self) -> frozenset[int]:
        """The edges by which a task holds something of a pool at the end of a counterexample."""
        ends = {(self._number["task", task], self._number["pool", pool])
                for pool, holders in self._holders.items() for task in holders
                if self._free.get(pool, 0) < self.design.pools[pool].threads}
        return frozenset(number for number, edge in enumerate(self.edges)
                         if edge.kind == "uses" and (edge.start, edge.end) in ends)

    @cached_property
    def waits(self) -> list[Wait]:
        """The waits of the cycle along the edges: from each task to the queue or pool that it waits
        at, and from there to the tasks that could end the wait."""
        number = {(edge.start, edge.end): at for at, edge in enumerate(self.edges)}
        place = {wait: at for at, wait in reversed([*enumerate(self.cycle)])}
        found: dict[tuple[int, bool], list[int]] = {}

        def along(start: int, end: int, forward: bool, wait: Blocked) -> None:
            for back in (not forward, forward):
                edge = number.get((end, start) if back else (start, end))
                if edge is not None:
                    of = found.setdefault((edge, back), [])
                    of += [at] if (at := place[wait]) not in of else []
                    return

        for wait, other in led(self.cycle):
            at = self._number.get(self.place_of(wait))
            if at is None:
                continue
            onward = wait.what in (*_OF_POOL, "room", "a go")  # along the elements, to their reader
            along(self._number["task", wait.task], at, onward, wait)
            along(at, self._number["task", other], onward and wait.what not in _OF_POOL, wait)
        return [Wait(edge, back, tuple(of)) for (edge, back), of in found.items()]

    def place_of(self, wait: Blocked) -> tuple[str, str]:
        """The queue or pool that a task waits at, as the kind of its box and a member of it."""
        if wait.what in _OF_POOL and ("pool", wait.where) in self._number:
            return "pool", wait.where
        if wait.what == ENDS[RUNNING]:
            return "task", wait.where
        link = self.design.links.get(wait.where)
        return "queue", slots_of(wait.where) if link is None else link.queue

    def blocked(self, number: int) -> tuple[int, ...]:
        """The waits of the cycle, by their numbers, in which a box has a part."""
        return tuple(self._blocked.get(number, ()))

    @cached_property
    def _blocked(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {}
        for at, wait in enumerate(self.cycle):
            for box in {self._number.get(("task", wait.task)),
                        self._number.get(self.place_of(wait))}:
                if box is not None:
                    found.setdefault(box, []).append(at)
        return found

def _times(members: Sequence[str]) -> str:
    return f"×{len(members)}" if len(members) > 1 else ""


def _titled(members: Sequence[str]) -> str:
    return f"{named_alike(members)} {_times(members)}".strip()


def _ends_of(task: Task) -> list[tuple[str, str]]:
    """The queues that a task closes, the tasks that it joins or cancels, as kinds and members of
    boxes."""
    asked = [step.target for own in task.steps for step in own.asked]
    signs = [*(step.target for step in task.actions if is_sign(step.target)),
             *(name for name in asked if not name.endswith(OPEN))]
    found = dict.fromkeys(("queue" if name.endswith(OPEN) else "task", sign_of(name))
                          for name in signs)
    return [end for end in found if end != ("task", task.name)]


def _pools_of(task: Task) -> list[str]:
    steps = (step.target for step in task.actions if step.kind.value in ("acquire", "release"))
    return [name for name in dict.fromkeys([*task.pool, *steps]) if not is_sign(name)]
