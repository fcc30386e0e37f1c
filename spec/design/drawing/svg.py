"""A design as an SVG drawing, with the cycle of waits of a deadlock in red."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from ...notation.labels import counted
from ...verdicts.verdict import Outcome
from ..reading.kinds import is_slots
from ..reading.signs import is_sign
from ..reading.language import Design, Flow, Kind, Link, Merging, Routing, Task
from ..reading.properties import DEADLOCK_FREE, FOUND, fact
from ..why.cycles import held, led
from ..why.findings import DesignReport, Finding
from ..why.blocked import OF_A_POOL, Blocked
from .layout import Arrow, lay_out

__all__ = ["draw", "draw_to_step_through"]

BOX_HEIGHT = 52
COLUMN_GAP = 84
SLOT, MANY_SLOTS = 9, 5  # the width of a slot, and how many are drawn one by one
ROW_HEIGHT = 104
MARGIN = 36
POOL_GAP = 66  # between the lowest box and the pools
TOP = 92
CHARACTER = 7.3  # the usual width of a character at 13 px

Point = tuple[float, float]

_STYLE = """
@media screen { :root { max-width: 100%; height: auto; } }
text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2933; }
.title { font-size: 19px; font-weight: 600; }
.task { font-weight: 600; }
.small { font-size: 11.5px; fill: #52606d; }
.box { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.4; }
.pool { fill: #fffbea; stroke: #b7791f; stroke-width: 1.4; }
.link { fill: none; stroke: #52606d; stroke-width: 1.6; }
.uses { fill: none; stroke: #b7791f; stroke-width: 1.2; stroke-dasharray: 2 4; }
.halo { fill: #ffffff; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
.slot { fill: #ffffff; stroke: #52606d; stroke-width: 1.2; }
.full { fill: #52606d; stroke: #ffffff; stroke-width: 1.2; }
.wanted { fill: #cf1124; stroke: #ffffff; stroke-width: 1.2; }
.hand { fill: #ffffff; stroke: #52606d; stroke-width: 1.4; }
.holds { fill: #147d64; }
.violated { fill: #cf1124; }
.unknown { fill: #b7791f; }
.blocked { stroke: #cf1124; stroke-width: 2.4; }
.wait { fill: none; stroke: #cf1124; stroke-width: 2.4; stroke-dasharray: 7 4; }
.red { fill: #cf1124; }
"""


def draw(report: DesignReport) -> str:
    """The SVG text. The cycle of the first violated property that has one is marked; where
    it is not known whether the design deadlocks, the first that was not excluded.
    """
    finding = next((f for f in report.findings if f.cycle), None)
    cycle, legend = _left_open(report), ["Red, dashed: a cycle of waits that was not excluded."]
    if finding:
        cycle = finding.cycle
        legend = ["Red, dashed: a cycle of waits.",
                  *held(report.design, cycle, dict(finding.free))]
    blocked = next((f for f in report.findings if f.contents and (f.cycle or f.waits)), None)
    free = finding.free if finding else ()
    drawing = _Drawing(report.design, cycle, dict(blocked.contents) if blocked else {}, dict(free),
                       legend)
    return drawing.text(report.design.name, [
        (fact(finding.name), finding.outcome.value) for finding in report.findings])


def draw_to_step_through(design: Design, finding: Finding, mark: str) -> str:
    """The SVG text without title and style, for a page that shows each step of a counterexample.

    Its parts are named by attributes: ``data-task``, ``data-pool`` and ``data-link`` have the
    number of a task, a pool or a link in the design, ``data-wait`` that of a wait in the cycle.
    ``mark`` sets its arrow heads apart from those of other drawings in the page.
    """
    drawing = _Drawing(design, finding.cycle, {}, {}, (), numbered=True)
    return drawing.bare(mark)


def _left_open(report: DesignReport) -> tuple[Blocked, ...]:
    """A cycle that the wait-for graph does not rule out, of a design that may deadlock in it."""
    if all(f.outcome is not Outcome.UNKNOWN for f in report.findings if f.name == DEADLOCK_FREE):
        return ()
    return next((cycle.waits for cycle in report.cycles if not cycle.excluded), ())


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float

    def left(self, offset: float) -> Point:
        return self.x, self.y + BOX_HEIGHT / 2 + offset

    def right(self, offset: float) -> Point:
        return self.x + self.width, self.y + BOX_HEIGHT / 2 + offset


class _Drawing:
    def __init__(
        self, design: Design, cycle: Sequence[Blocked], contents: Mapping[str, int],
        free: Mapping[str, int], legend: Sequence[str], numbered: bool = False
    ) -> None:
        self.legend = legend
        self.numbered = numbered
        self.design = design
        self.cycle = cycle
        self.contents = contents
        self.free = free
        self._pairs = list(led(cycle))
        self.arrows = [
            Arrow(f"{link.name}\n{writer}\n{reader}", writer, reader)
            for link in design.links.values() for writer in link.writers for reader in link.readers
        ]
        self.link_of = {
            f"{link.name}\n{writer}\n{reader}": link
            for link in design.links.values() for writer in link.writers for reader in link.readers
        }
        self.layout = lay_out(list(design.tasks), self.arrows)
        self.lines = {name: _describe(task) for name, task in design.tasks.items()}
        self.columns = self._columns()
        self.boxes = {name: self._box(name) for name in design.tasks}
        rows = [row for _, row in self.layout.boxes.values()]
        rows += [row for bends in self.layout.bends.values() for _, row in bends]
        self.height = TOP + max(rows) * ROW_HEIGHT + BOX_HEIGHT
        self.width = max(box.x + box.width for box in self.boxes.values())
        self.pools = self._pool_boxes()
        self.paths = self._paths()

    # --- geometry ------------------------------------------------------------------------

    def _columns(self) -> list[tuple[float, float]]:
        """The left edge and the width of each layer."""
        count = max(layer for layer, _ in self.layout.boxes.values()) + 1
        widths = [90.0] * count
        for name, (layer, _) in self.layout.boxes.items():
            longest = max(len(name) * 1.08, len(self.lines[name]) * 0.9)
            widths[layer] = max(widths[layer], longest * CHARACTER + 24)
        left, out = float(MARGIN), []
        for layer in range(count):
            out.append((left, widths[layer]))
            left += widths[layer] + max(COLUMN_GAP, self._label_width(layer) + 34)
        return out

    def _label_width(self, layer: int) -> float:
        """The width of the longest label of a link that leaves or enters after a layer."""
        near = []
        for arrow in self.arrows:
            ends = sorted((self.layout.boxes[arrow.start][0], self.layout.boxes[arrow.end][0]))
            if layer in (ends[0], ends[1] - 1):
                near.append(len(self._label(self.link_of[arrow.key])))
        return max(near, default=0) * CHARACTER * 0.9

    def _box(self, name: str) -> _Box:
        layer, row = self.layout.boxes[name]
        left, width = self.columns[layer]
        return _Box(left, TOP + row * ROW_HEIGHT, width)

    def _pool_boxes(self) -> dict[str, _Box]:
        """The pools below all else, each as near to its users as those before it let it."""
        users: dict[str, list[float]] = {
            name: [] for name in self.design.pools
            if not is_slots(name) and not is_sign(name)}
        for task in self.design.tasks.values():
            for name in _pools_of(task):
                users[name].append(self.boxes[task.name].x + self.boxes[task.name].width / 2)
        middle = {name: sum(at) / len(at) if at else 0.0 for name, at in users.items()}
        x, found = float(MARGIN), {}
        for name in sorted(users, key=lambda name: middle[name]):
            width = max(96.0, (len(name) + 4) * CHARACTER + 24)
            x = max(x, middle[name] - width / 2)
            found[name] = _Box(x, self.height + POOL_GAP, width)
            x += width + 60
        return found

    def _to_pool(self, task: str, pool: str, shift: float = 0) -> list[Point]:
        """A line from a task to a pool that runs through no box: straight down, beside the
        column where the task has others below it, and across only under all of them."""
        box, end = self.boxes[task], self.pools[pool]
        layer, row = self.layout.boxes[task]
        above = [r for where, r in self.layout.boxes.values() if where == layer and r > row]
        floor = self.height + POOL_GAP / 3
        start: list[Point] = [(box.x + box.width / 2 + shift, box.y + BOX_HEIGHT)]
        if above:
            y = box.y + BOX_HEIGHT - 7 + shift / 2
            start = [(box.x + box.width, y), (box.x + box.width + 8 * len(above) + shift + 8, y)]
        return [*start, (start[-1][0], floor), (end.x + end.width / 2 + shift, end.y)]

    def _paths(self) -> dict[str, list[Point]]:
        """The points that each arrow passes, with its ends spread along the boxes' sides."""
        ports: dict[tuple[str, bool], list[tuple[float, str, bool]]] = {}
        between = [arrow for arrow in self.arrows if arrow.start != arrow.end]
        for arrow in between:
            back = arrow.key in self.layout.backward
            for name, other, is_start in (
                (arrow.start, arrow.end, True), (arrow.end, arrow.start, False),
            ):
                bends = self.layout.bends[arrow.key]
                aim = (bends[0 if is_start else -1] if bends else self.layout.boxes[other])[1]
                ports.setdefault((name, is_start != back), []).append((aim, arrow.key, is_start))
        ends: dict[tuple[str, bool], Point] = {}
        for (name, on_right), users in ports.items():
            users.sort()
            for number, (_, key, is_start) in enumerate(users):
                offset = (number - (len(users) - 1) / 2) * min(24, 46 / len(users))
                box = self.boxes[name]
                ends[key, is_start] = box.right(offset) if on_right else box.left(offset)
        return self._loops() | {
            arrow.key: [ends[arrow.key, True], *self._bend_points(arrow), ends[arrow.key, False]]
            for arrow in between
        }

    def _loops(self) -> dict[str, list[Point]]:
        """The links from a task to itself: over its box, one above the other."""
        found: dict[str, list[Point]] = {}
        number = dict.fromkeys(self.boxes, 0)
        for arrow in self.arrows:
            if arrow.start == arrow.end:
                box, n = self.boxes[arrow.start], number[arrow.start]
                number[arrow.start] = n + 1
                right, left, y = box.x + box.width - 16 + 5 * n, box.x + 16 - 5 * n, box.y
                top = y - 16 - 17 * n  # a label's height apart
                found[arrow.key] = [(right, y), (right, top), (left, top), (left, y)]
        return found

    def _bend_points(self, arrow: Arrow) -> Iterator[Point]:
        back = arrow.key in self.layout.backward
        for layer, row in self.layout.bends[arrow.key]:
            left, width = self.columns[layer]
            y = TOP + row * ROW_HEIGHT + BOX_HEIGHT / 2
            yield from [(left + width, y), (left, y)] if back else [(left, y), (left + width, y)]

    # --- drawing -------------------------------------------------------------------------

    def text(self, title: str, verdicts: Sequence[tuple[str, str]]) -> str:
        """The whole document, as SVG; a wide one is shown as small as it must be to fit."""
        legend = self.legend if self.cycle else self.legend[:1]
        bottom = self.height + (POOL_GAP + BOX_HEIGHT + 12 if self.pools else 0) + 22 + (
            18 * len(legend))
        said = sum(len(name) + len(FOUND[verdict]) + 5 for name, verdict in verdicts)
        width = max(self.width + MARGIN, said * CHARACTER, len(title) * 12 + 72)
        width = max([width, *(len(told) * CHARACTER + 72 for told in legend)])
        width = max([width, *(box.x + box.width + MARGIN for box in self.pools.values())])
        body = [
            f'<text class="title" x="{MARGIN}" y="34">{escape(title)}</text>',
            f'<text class="small" x="{MARGIN}" y="56">{" · ".join(map(_verdict, verdicts))}</text>',
            *self._uses(), *self._links(), *self._waits(), *self._queues(),
            *self._task_boxes(), *self._drawn_pools(),
        ]
        if self.cycle:
            body += [f'<text class="small red" x="{MARGIN}" '
                     f'y="{bottom - 12 - 18 * (len(legend) - 1 - line)}">{escape(told)}</text>'
                     for line, told in enumerate(legend)]
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom:.0f}" '
            f'viewBox="0 0 {width:.0f} {bottom:.0f}" role="img">',
            f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", _MARKERS,
            '<rect width="100%" height="100%" fill="#ffffff"/>', *body, "</svg>", "",
        ])

    def bare(self, mark: str) -> str:
        """The drawing alone, below each other what ``text`` draws below its title."""
        bottom = self.height + (POOL_GAP + BOX_HEIGHT + 12 if self.pools else 0) + MARGIN / 2
        right = max(box.x + box.width for box in (*self.boxes.values(), *self.pools.values()))
        top = min([TOP - 24, *(y - 24 for path in self.paths.values() for _, y in path)])
        body = "\n".join([
            _MARKERS, *self._uses(), *self._links(), *self._waits(), *self._queues(),
            *self._task_boxes(), *self._drawn_pools()])
        for head in ("end", "wait"):
            body = body.replace(f'id="{head}"', f'id="{mark}-{head}"')
            body = body.replace(f"url(#{head})", f"url(#{mark}-{head})")
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="design" role="img" '
                f'viewBox="0 {top:.0f} {right + MARGIN:.0f} {bottom - top:.0f}" '
                f'width="{right + MARGIN:.0f}" height="{bottom - top:.0f}">'
                f"<title>{escape(self.design.name)}</title>\n{body}\n</svg>")

    def _number(self, of: str, name: str, among: Iterable[str]) -> str:
        """The attribute that numbers a part of the drawing, if they are numbered."""
        return f' data-{of}="{list(among).index(name)}"' if self.numbered else ""

    def _waited(self, *waits: Blocked) -> str:
        """The attribute with the numbers of the waits in the cycle that an arrow stands for."""
        if not self.numbered:
            return ""
        return f' data-wait="{" ".join(str(self.cycle.index(wait)) for wait in waits)}"'

    def _links(self) -> Iterator[str]:
        """The links; one whose writer waits for room is itself the arrow of waiting."""
        looped: set[str] = set()
        for arrow in self.arrows:
            line = _curve(self.paths[arrow.key])
            waits = {wait.task: wait for wait, other in self._pairs
                     if wait.where in _names(self.link_of[arrow.key])
                     and ({wait.task, other} == {arrow.start, arrow.end}
                          or wait.task == other == arrow.start)}  # it has filled its own queue
            if arrow.start not in waits or self.numbered:
                yield f'<path class="link" marker-end="url(#end)" d="{line}"/>'
            if arrow.start in waits:
                yield (f'<path class="wait"{self._waited(waits[arrow.start])} '
                       f'marker-end="url(#wait)" d="{line}"/>')
            if arrow.end in waits and arrow.end != arrow.start:
                beside = [(x, y + 8) for x, y in reversed(self.paths[arrow.key])]
                yield (f'<path class="wait"{self._waited(waits[arrow.end])} '
                       f'marker-end="url(#wait)" d="{_curve(beside)}"/>')
            own = [wait for wait, other in self._pairs
                   if wait.where in _names(self.link_of[arrow.key])
                   and wait.task == other == arrow.end != arrow.start]
            if own and arrow.end not in looped:
                looped.add(arrow.end)  # it holds up what it wants itself
                yield _loop_at(self.paths[arrow.key][-1], self._waited(own[0]))

    def _waits(self) -> Iterator[str]:
        """Arrows of the waits for pools: from the waiting task to the pool, and from there to its
        holders.
        """
        lines = {}
        for wait, other in self._pairs:
            if wait.where in self.pools and wait.what in (*OF_A_POOL, "an acquire"):
                lines[wait.task, wait.where, "to"] = (
                    self._to_pool(wait.task, wait.where, 6), wait)
                lines[other, wait.where, "from"] = (
                    self._to_pool(other, wait.where, -6)[::-1], wait)
        for points, wait in lines.values():
            yield (f'<path class="wait"{self._waited(wait)} marker-end="url(#wait)" '
                   f'd="{_straight(points)}"/>')

    def _uses(self) -> Iterator[str]:
        for task in self.design.tasks.values():
            for name in _pools_of(task):
                yield f'<path class="uses" d="{_straight(self._to_pool(task.name, name))}"/>'

    def _queues(self) -> Iterator[str]:
        """Each link's slots on its line, those that are taken filled, and its label above them."""
        shown = [arrow for arrow in self.arrows  # a link with several ends is labelled once
                 if (arrow.start, arrow.end) == (self.link_of[arrow.key].writers[0],
                                                 self.link_of[arrow.key].readers[0])]
        stretches = {arrow.key: _stretch(self.paths[arrow.key]) for arrow in shown}
        slots = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in stretches.values()]
        labels: list[tuple[float, float, float]] = []
        for arrow in shown:
            link = self.link_of[arrow.key]
            (left, above), (right, below) = stretches[arrow.key]
            x, y = (left + right) / 2, (above + below) / 2
            waits = [wait for wait in self.cycle if wait.where in _names(link)]
            red = bool(waits) and not self.numbered
            if self.numbered:
                yield f"<g{self._number('link', link.name, self.design.links)}" + (
                    f"{self._waited(*waits)}>")
            yield from self._slots(link, x, y, red)
            label, falls = self._label(link), (below - above) * (right - left)
            slope = 0 if abs(below - above) < 12 else 1 if falls > 0 else -1
            half = len(label) * CHARACTER * 0.45
            beside, at = self._free((x, y), slope, half, slots, labels)
            labels.append((beside, at, half))
            told = self._with_number(link, label) if self.numbered else escape(label)
            where = f'text-anchor="middle" x="{beside:.1f}" y="{at:.1f}">{told}</text>'
            yield f'<text class="small halo" aria-hidden="true" {where}'
            yield f'<text class="small label{" red" if red else ""}" {where}'
            if self.numbered:
                yield "</g>"

    def _free(self, middle: Point, slope: int, half: float, slots: Sequence[Point],
              labels: Sequence[tuple[float, float, float]]) -> Point:
        """The place nearest to a queue at which a label covers no slots, no box and no other
        label; or else the one where it covers the fewest."""
        boxes = [*self.boxes.values(), *self.pools.values()]
        x, y = middle
        aside = slope * (half + SLOT * MANY_SLOTS / 2)

        def covers(place: Point) -> int:
            across, down = place
            return sum(abs(across - a) < half + SLOT * MANY_SLOTS / 2 - 1 and -8 < down - b < 18
                       for a, b in slots) + sum(
                abs(across - a) < half + other + 4 and abs(down - b) < 14
                for a, b, other in labels) + sum(
                box.x - half < across < box.x + box.width + half
                and box.y - 4 < down < box.y + BOX_HEIGHT + 12 for box in boxes)

        return min(((x + side * aside, y + down) for down, side in (
            (-11, 1), (19, -1), (-27, 1), (35, -1), (-43, 1), (51, -1), (-59, 1), (67, -1))),
            key=covers)

    def _slots(self, link: Link, x: float, y: float, red: bool) -> Iterator[str]:
        """The slots, the front of the queue on the right; of many, a bar that is filled so far."""
        room = link.capacity
        held = self.contents.get(link.name, link.initial)
        full = "wanted" if red else "full"
        if room and room <= MANY_SLOTS:
            left = x - room * SLOT / 2
            for slot in range(room):
                kind = full if slot >= room - held else "slot"
                yield (f'<rect class="{kind}" x="{left + slot * SLOT:.1f}" y="{y - 6:.1f}" '
                       f'width="{SLOT}" height="12"/>')
        elif room != 0:
            wide = MANY_SLOTS * SLOT
            part = wide * (min(1.0, held / room) if room else min(1.0, held / 4))
            yield (f'<rect class="slot" x="{x - wide / 2:.1f}" y="{y - 6:.1f}" '
                   f'width="{wide}" height="12" rx="2"/>')
            if part or self.numbered:
                yield (f'<rect class="{full}" x="{x + wide / 2 - part:.1f}" y="{y - 6:.1f}" '
                       f'width="{part:.1f}" height="12" rx="2"/>')

    def _label(self, link: Link) -> str:
        """The name where it says more than the ends do, how full it is, and its flow."""
        room = "unbounded" if link.capacity is None else str(link.capacity)
        held = self.contents.get(link.name, link.initial if self.numbered else None)
        size = f"{held} of {room}" if held is not None else room
        extra = [] if link.flow in (Flow.BLOCKING, Flow.UNBOUNDED) else [link.flow.value]
        if link.flow is Flow.CREDIT and link.batch > 1:
            extra.append(f"batch {link.batch}")
        if link.flow is Flow.STOP_GO:
            extra.append(f"stops above {link.stop}, resumes at {link.go}")
        if link.in_line:
            extra.append("read at its head")
        if (link.gives, link.takes) != (1, 1):
            extra.append(f"{link.gives} in, {link.takes} out")
        if link.initial and held is None:
            extra.append(f"starts with {link.initial}")
        if link.lossy:
            extra.append(f"may lose {link.lossy}")
        name = f"{link.name}: " if link.name != _ends(link) else ""
        return name + ", ".join([size, *extra])

    def _with_number(self, link: Link, label: str) -> str:
        """The label with the number of elements as a part of its own."""
        name = "" if link.name == _ends(link) else f"{link.name}: "
        held = str(self.contents.get(link.name, link.initial))
        rest = label.removeprefix(name).removeprefix(held)
        return f'{escape(name)}<tspan class="held">{held}</tspan>{escape(rest)}'

    def _task_boxes(self) -> Iterator[str]:
        blocked = {wait.task for wait in self.cycle}
        for name, box in self.boxes.items():
            middle = box.x + box.width / 2
            marked = " blocked" if name in blocked and not self.numbered else ""
            if self.numbered:
                waits = [wait for wait in self.cycle if wait.task == name]
                yield f"<g{self._number('task', name, self.boxes)}{self._waited(*waits)}>"
            yield (f'<rect class="box{marked}" x="{box.x:.1f}" y="{box.y:.1f}" rx="6" '
                   f'width="{box.width:.1f}" height="{BOX_HEIGHT}"/>')
            yield (f'<text class="task" text-anchor="middle" x="{middle:.1f}" '
                   f'y="{box.y + 22:.1f}">{escape(name)}</text>')
            yield (f'<text class="small" text-anchor="middle" x="{middle:.1f}" '
                   f'y="{box.y + 40:.1f}">{escape(self.lines[name])}</text>')
            for place in range(min(MANY_SLOTS, self.design.tasks[name].hand)):
                yield (f'<circle class="hand" cx="{box.x + 10 + 11 * place:.1f}" '
                       f'cy="{box.y:.1f}" r="4.5"><title>a place in the hand</title></circle>')
            if self.numbered:
                yield "</g>"

    def _drawn_pools(self) -> Iterator[str]:
        blocked = {wait.where for wait in self.cycle if wait.what in (*OF_A_POOL, "an acquire")}
        for name, box in self.pools.items():
            middle = box.x + box.width / 2
            marked = " blocked" if name in blocked and not self.numbered else ""
            if self.numbered:
                waits = [wait for wait in self.cycle
                         if wait.where == name and wait.what in (*OF_A_POOL, "an acquire")]
                yield f"<g{self._number('pool', name, self.design.pools)}{self._waited(*waits)}>"
            count = self.design.pools[name].threads
            taken = count - self.free.get(name, count)
            known = f", {taken} held" if name in blocked and taken and not self.numbered else ""
            yield (f'<rect class="pool{marked}" x="{box.x:.1f}" y="{box.y:.1f}" rx="26" '
                   f'width="{box.width:.1f}" height="{BOX_HEIGHT}"/>')
            yield (f'<text class="task" text-anchor="middle" x="{middle:.1f}" '
                   f'y="{box.y + 22:.1f}">{escape(name)}</text>')
            yield (f'<text class="small" text-anchor="middle" x="{middle:.1f}" '
                   f'y="{box.y + 40:.1f}">{counted(count, self.design.unit(name))}{known}</text>')
            if self.numbered:
                yield "</g>"


_MARKERS = (
    '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#52606d"/></marker>'
    '<marker id="wait" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#cf1124"/></marker></defs>'
)


def _verdict(told: tuple[str, str]) -> str:
    """A verdict in its colour."""
    name, verdict = told
    return f'{escape(name)}: <tspan class="task {verdict}">{FOUND[verdict]}</tspan>'


def _straight(points: Sequence[Point]) -> str:
    return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _curve(points: Sequence[Point]) -> str:
    """A smooth path that leaves and enters horizontally."""
    (x, y), *rest = points
    parts = [f"M{x:.1f},{y:.1f}"]
    for a, b in rest:
        if abs(b - y) < 0.1:
            parts.append(f"L{a:.1f},{b:.1f}")
        else:
            half = (x + a) / 2
            parts.append(f"C{half:.1f},{y:.1f} {half:.1f},{b:.1f} {a:.1f},{b:.1f}")
        x, y = a, b
    return " ".join(parts)


def _loop_at(point: Point, waited: str) -> str:
    """An arrow from the end of a link back to it, for a task that waits for a step of its own."""
    x, y = point
    return (f'<path class="wait"{waited} marker-end="url(#wait)" d="M{x:.1f},{y + 8:.1f} '
            f'C{x - 40:.1f},{y + 14:.1f} {x - 40:.1f},{y + 40:.1f} {x:.1f},{y + 22:.1f}"/>')


def _stretch(points: Sequence[Point]) -> tuple[Point, Point]:
    """The first stretch that is not upright, where the queue is drawn."""
    return next(pair for pair in pairwise(points) if pair[0][0] != pair[1][0])


def _ends(link: Link) -> str:
    """The name that a link has where the file gives it none."""
    return f"{'+'.join(link.writers)}->{'+'.join(link.readers)}"


def _names(link: Link) -> tuple[str, str]:
    """The names of a link in waits: by its kind, and, for its room, by its queue."""
    return link.name, link.queue


def _pools_of(task: Task) -> list[str]:
    steps = (step.target for step in task.actions if step.kind.value in ("acquire", "release"))
    return [name for name in dict.fromkeys([*task.pool, *steps]) if not is_sign(name)]


def _describe(task: Task) -> str:
    """The second line of a task's box."""
    parts = [task.kind.value]
    if task.kind is Kind.MERGE and task.merging is not Merging.ANY:
        parts.append(f"prefers {task.prefers}" if task.prefers else task.merging.value)
    if task.kind is Kind.ROUTE:
        parts += ["by room"] if task.routing is Routing.ROOM else []
    if task.kind is Kind.WINDOW:
        parts.append(f"of {task.size}")
        parts += [f"slides by {task.slide}"] if task.slide < task.size else []
    if task.kind is Kind.ALIGN:
        parts.append(f"waits for each {task.barrier}")
    if task.kind is Kind.SCRIPT:
        parts.append("; ".join(
            f"{step.kind.value} {step.count if step.count > 1 else ''}".strip()
            for step in task.steps[:4]
        ) + ("; …" if len(task.steps) > 4 else ""))
    if task.kind is Kind.CALL:
        parts.append(f"{task.roots} at once, {task.depth} deep")
    if task.may.value:
        parts.append(f"may {task.may.value}")
    if task.count is not None:
        parts.append("once" if task.count == 1 else f"{task.count} times")
    if task.hand > MANY_SLOTS:
        parts.append(f"holds {task.hand}")
    return ", ".join(parts)

