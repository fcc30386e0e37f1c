"""A design as an SVG drawing, with the cycle of waits of a deadlock in red."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from textwrap import wrap

from ...verdicts.deadline import Deadline
from ...verdicts.verdict import Outcome
from ..reading.language import Design
from ..reading.properties import DEADLOCK_FREE, FOUND, fact
from ..why.blocked import Blocked
from ..why.cycles import held
from ..why.findings import DesignReport, Finding
from .layout import Area, Point, lay_out
from .picture import LINE, SLOT, TOP_LINE, Box, Picture
from .style import MARKERS, STYLE
from .words import MANY_SLOTS, SMALL

__all__ = ["draw", "draw_to_step_through"]

MARGIN = 28
TOP = 84  # below the title and the verdicts
LONGEST_LINE = 110  # characters of the legend
ROUND = 6.0  # the radius of a bend


def draw(report: DesignReport, deadline: Deadline | None = None) -> str:
    """The SVG text. The cycle of the first violated property that has one is marked; where
    it is not known whether the design deadlocks, the first that was not excluded. Raises Spent
    where the ``deadline`` does not allow that.
    """
    finding = next((f for f in report.findings if f.cycle), None)
    cycle, legend = _left_open(report), ["Red: a cycle of waits that was not excluded."]
    if finding:
        cycle = finding.cycle
        legend = ["Red: a cycle of waits.",
                  *held(report.design, cycle, dict(finding.free))]
    blocked = next((f for f in report.findings if f.cycle or f.waits), None)
    until = deadline or Deadline()
    picture = Picture(
        report.design, cycle, dict(blocked.contents) if blocked else {},
        dict(blocked.free) if blocked else {}, blocked.waits if blocked else (), False, until)
    return _Drawing(picture, until).text(report.design.name, [
        (fact(finding.name), finding.outcome.value) for finding in report.findings],
        legend if cycle else [])


def draw_to_step_through(
    design: Design, finding: Finding, mark: str, deadline: Deadline | None = None
) -> str:
    """The SVG text without title and style, for a page that shows each step of a counterexample.

    Its parts are named by attributes: ``data-task``, ``data-pool`` and ``data-link`` have the
    numbers of tasks, pools or links in the design, ``data-holds`` those of the tasks and of the
    pools at the ends of an arrow, ``data-wait`` those of waits in the cycle. ``mark`` sets its
    arrow heads apart from those of other drawings in the page. Raises Spent where the ``deadline``
    does not allow that.
    """
    until = deadline or Deadline()
    picture = Picture(design, finding.cycle, {}, {}, (), True, until)
    return _Drawing(picture, until, numbered=True).bare(mark)


def _left_open(report: DesignReport) -> tuple[Blocked, ...]:
    """A cycle that the wait-for graph does not rule out, of a design that may deadlock in it."""
    if all(f.outcome is not Outcome.UNKNOWN for f in report.findings if f.name == DEADLOCK_FREE):
        return ()
    return next((cycle.waits for cycle in report.cycles if not cycle.excluded), ())


class _Drawing:
    """A picture with its layout, as text. What is ``numbered`` can be found in it by a program."""

    def __init__(
        self, picture: Picture, deadline: Deadline, numbered: bool = False
    ) -> None:
        self.picture, self.numbered = picture, numbered
        self.layout = lay_out(picture.sizes(),
                              [(edge.start, edge.end) for edge in picture.edges], deadline)
        self._watch = deadline.watch("writing down the drawing")
        design = picture.design
        self._numbers: Mapping[str, Mapping[str, int]] = {
            kind: {name: number for number, name in enumerate(names)} for kind, names in (
                ("task", design.tasks), ("link", design.links), ("pool", design.pools))}
        self._links: dict[str, list[str]] = {}
        for link in design.links.values():
            self._links.setdefault(link.queue, []).append(link.name)

    def text(self, title: str, verdicts: Sequence[tuple[str, str]], legend: Sequence[str]) -> str:
        """The whole document, as SVG; a wide one is shown as small as it must be to fit."""
        said = sum(len(name) + len(FOUND[verdict]) + 5 for name, verdict in verdicts)
        longest = max(map(len, legend), default=0)
        width = max(self.layout.width, said * 7.0, len(title) * 11.0, 420,
                    min(longest, LONGEST_LINE) * SMALL + SMALL) + 2 * MARGIN
        lines = [line for told in legend for line in wrap(told, int((width - 2 * MARGIN) / SMALL))]
        bottom = TOP + self.layout.height + MARGIN
        height = bottom + 18 * len(lines)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", MARKERS,
            '<rect class="paper" width="100%" height="100%"/>',
            f'<text class="title" x="{MARGIN}" y="34">{escape(title)}</text>',
            f'<text class="small" x="{MARGIN}" y="56">{" · ".join(map(_verdict, verdicts))}</text>',
            *self._body(MARGIN, TOP),
            *(f'<text class="small red" x="{MARGIN}" y="{bottom + 18 * number:.0f}">'
              f"{escape(line)}</text>" for number, line in enumerate(lines)), "</svg>", ""])

    def bare(self, mark: str) -> str:
        """The drawing without its title, verdicts, legend and style."""
        body = "\n".join([MARKERS, *self._body(MARGIN, MARGIN)])
        for head in ("end", "wait"):
            body = body.replace(f'id="{head}"', f'id="{mark}-{head}"')
            body = body.replace(f"url(#{head})", f"url(#{mark}-{head})")
        width, height = (size + 2 * MARGIN for size in (self.layout.width, self.layout.height))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="design" role="img" '
                f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
                f'height="{height:.0f}"><title>{escape(self.picture.design.name)}</title>\n'
                f"{body}\n</svg>")

    def _body(self, left: float, top: float) -> Iterator[str]:
        routes = [[(x + left, y + top) for x, y in route] for route in self.layout.routes]
        yield from self._edges(routes)
        yield from self._waits(routes)
        for number, (box, area) in enumerate(
                zip(self.picture.boxes, self.layout.boxes, strict=True)):
            yield from self._box(number, box, Area(
                area.x + left, area.y + top, area.width, area.height))

    # --- arrows --------------------------------------------------------------------------

    def _edges(self, routes: Sequence[Sequence[Point]]) -> Iterator[str]:
        """The links, and the uses of pools."""
        for number, (edge, route) in enumerate(zip(self.picture.edges, routes, strict=True)):
            self._watch()
            head = ' marker-end="url(#end)"' if edge.kind != "uses" else ""
            kind = "uses holds" if number in self.picture.held else (
                "uses" if edge.kind == "ends" else edge.kind)
            holds = ""
            if self.numbered and edge.kind == "uses":
                ends = (self._of("task", self.picture.boxes[edge.start].members),
                        self._of("pool", self.picture.boxes[edge.end].members))
                holds = f' data-holds="{"/".join(ends)}"'
            yield f'<path class="{kind}"{holds}{head} d="{_path(route)}"/>'

    def _waits(self, routes: Sequence[Sequence[Point]]) -> Iterator[str]:
        """The waits of the cycle along the arrows, towards what is waited for."""
        for wait in self.picture.waits:
            route = routes[wait.edge][::-1] if wait.back else routes[wait.edge]
            yield (f'<path class="wait"{self._waited(wait.of)} marker-end="url(#wait)" '
                   f'd="{_path(route)}"/>')

    def _waited(self, waits: Sequence[int]) -> str:
        """The attribute with the numbers of the waits in the cycle that a part stands for."""
        return f' data-wait="{" ".join(map(str, waits))}"' if self.numbered else ""

    def _of(self, kind: str, names: Iterable[str]) -> str:
        return " ".join(str(self._numbers[kind][name]) for name in names)

    # --- boxes ---------------------------------------------------------------------------

    def _box(self, number: int, box: Box, area: Area) -> Iterator[str]:
        """The shape of a box with its title, its slots, its lines of text and the places in its
        hand."""
        self._watch()
        waits = self.picture.blocked(number)
        marked = " blocked" if waits and not self.numbered else ""
        if self.numbered:
            kind, names = box.kind, box.members
            if kind == "queue":
                kind, names = "link", tuple(
                    link for queue in box.members for link in self._links[queue])
            room = "" if box.room is None or kind != "link" else f' data-room="{box.room}"'
            yield f'<g data-{kind}="{self._of(kind, names)}"{room}{self._waited(waits)}>'
        corner = {"task": 6, "queue": 2, "pool": 22}[box.kind]
        shape = {"task": "box", "queue": "queue", "pool": "pool"}[box.kind]
        yield (f'<rect class="{shape}{marked}" x="{area.x:.1f}" y="{area.y:.1f}" rx="{corner}" '
               f'width="{area.width:.1f}" height="{area.height:.1f}"/>')
        yield f"<title>{escape(_members(box))}</title>" if self.numbered else ""
        middle, y = area.x + area.width / 2, area.y + 5.0 + (area.height - box.size[1]) / 2
        if box.title:
            y += TOP_LINE
            yield (f'<text class="task" text-anchor="middle" x="{middle:.1f}" y="{y - 4:.1f}">'
                   f"{escape(box.title)}</text>")
        if box.slots:
            yield from self._slots(box, middle, y + 3, bool(marked))
            y += 18
        for line in range(len(box.lines)):
            y += LINE
            yield (f'<text class="small" text-anchor="middle" x="{middle:.1f}" y="{y - 3:.1f}">'
                   f"{self._line(box, line)}</text>")
        for place in range(min(MANY_SLOTS, box.hand)):
            yield (f'<circle class="hand" cx="{area.x + 10 + 11 * place:.1f}" '
                   f'cy="{area.y:.1f}" r="4.5"><title>a place in the hand</title></circle>')
        if self.numbered:
            yield "</g>"

    def _line(self, box: Box, line: int) -> str:
        """A line of a box, with the numbers that change as parts of their own."""
        text = box.lines[line]
        if self.numbered and box.kind == "pool":
            return f'<tspan class="free">{text}</tspan>'
        for at, before, links in box.counts if self.numbered else ():
            if at == line:
                digits = next((n for n, each in enumerate(text[len(before):])
                               if not each.isdigit()), len(text) - len(before))
                number, rest = text[len(before):][:digits], text[len(before):][digits:]
                return (f'{escape(before)}<tspan class="held" data-of="{self._of("link", links)}">'
                        f"{number}</tspan>{escape(rest)}")
        return escape(text)

    def _slots(self, box: Box, middle: float, y: float, red: bool) -> Iterator[str]:
        """The slots, the front of the queue on the right; of many, a bar that is filled so far."""
        taken, wide, left = "wanted" if red else "full", box.slots * SLOT, middle - (
            box.slots * SLOT / 2)
        if box.room is not None and box.room <= MANY_SLOTS:
            for slot in range(box.slots):
                kind = taken if slot >= box.room - box.held else "slot"
                yield (f'<rect class="{kind} cell" x="{left + slot * SLOT:.1f}" y="{y:.1f}" '
                       f'width="{SLOT:.0f}" height="12"/>')
            return
        part = wide * min(1.0, box.held / (box.room or 4))
        yield (f'<rect class="slot cell" x="{left:.1f}" y="{y:.1f}" '
               f'width="{wide:.0f}" height="12" rx="2"/>')
        if part or self.numbered:
            yield (f'<rect class="{taken} cell" x="{left + wide - part:.1f}" y="{y:.1f}" '
                   f'width="{part:.1f}" height="12" rx="2"/>')


def _members(box: Box) -> str:
    shown = ", ".join(box.members[:12])
    return shown if len(box.members) <= 12 else f"{shown}, … ({len(box.members)})"


def _verdict(told: tuple[str, str]) -> str:
    """A verdict in its colour."""
    name, verdict = told
    return f'{escape(name)}: <tspan class="task {verdict}">{FOUND[verdict]}</tspan>'


def _path(points: Sequence[Point]) -> str:
    """A path with rounded bends."""
    parts = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        into, out = (_towards(here, other) for other in (before, after))
        parts.append(f"L{into[0]:.1f},{into[1]:.1f} "
                     f"Q{here[0]:.1f},{here[1]:.1f} {out[0]:.1f},{out[1]:.1f}")
    return " ".join([*parts, f"L{points[-1][0]:.1f},{points[-1][1]:.1f}"])


def _towards(here: Point, other: Point) -> Point:
    """The point on the way from a bend to another point where its rounding ends."""
    across, down = other[0] - here[0], other[1] - here[1]
    length = (across * across + down * down) ** 0.5 or 1.0
    part = min(ROUND, length / 2) / length
    return here[0] + across * part, here[1] + down * part
