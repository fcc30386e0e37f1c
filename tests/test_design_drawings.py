"""Drawings of designs: everything on the canvas, nothing through a box, the cycle in red."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from benchmarks.random_designs.designs import random_design
from checkvalve.conformance.designs import check_design, load_designs
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.drawing.folding import boxes_of
from checkvalve.spec.design.drawing.detours import around, runs_through
from checkvalve.spec.design.drawing.picture import Box
from checkvalve.spec.design.drawing.svg import draw, draw_to_step_through
from checkvalve.spec.design.drawing.words import width
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design, Kind, Link, Pool, Task
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

ROOT = Path(__file__).resolve().parent.parent

STOPPED = """
tasks:
  send1: {kind: map}
  send2: {kind: map}
  app1: {kind: map}
  app2: {kind: script, count: 1, steps: [{read: stream2}, {write: window}]}
links:
  - {name: window, from: [app1, app2], to: [send1, send2], capacity: 4, initial: 4}
  - {name: stream1, from: send1, to: app1, capacity: 3}
  - {name: stream2, from: send2, to: app2, capacity: 4}
"""
TO_ITSELF = """
tasks: {s: {kind: source}, m: {kind: merge, hand: 1}}
links: [{name: a, from: s, to: m, capacity: 1}, {name: own, from: m, to: m, capacity: 1}]
"""
POOLED = """
tasks:
  s: {kind: source}
  b: {kind: broadcast}
  one: {kind: map, pool: io}
  two: {kind: map, pool: io}
  three: {kind: map, pool: db}
  z: {kind: zip}
  t: {kind: sink, pool: db}
links:
  - {from: s, to: b, capacity: 1}
  - {from: b, to: one, capacity: 1}
  - {from: b, to: two, capacity: 1}
  - {from: b, to: three, capacity: 1}
  - {from: one, to: z, capacity: 1}
  - {from: two, to: z, capacity: 1}
  - {from: three, to: z, capacity: 1}
  - {from: z, to: t, capacity: 1}
pools: {io: {threads: 1}, db: {threads: 2}}
"""
CALLS = """
tasks:
  at A: {kind: call, pool: [A, B], depth: 2}
  at B: {kind: call, pool: [B, A], depth: 2}
pools: {A: {threads: 1}, B: {threads: 1}}
"""


SAGA = """
tasks:
  client: {kind: source}
  order: {kind: script, steps: [{either: [[{read: new}, {write: pay}],
                                          [{read: payed}, {branch: [[{write: done}],
                                                                    [{write: cancel}]]}],
                                          [{read: cancelled}, {write: done}]]}]}
  payment: {kind: script, steps: [{either: [[{read: pay}, {write: payed}],
                                            [{read: cancel}, {write: cancelled}]]}]}
  out: {kind: sink}
links:
  - {from: client, to: order, capacity: 1, name: new}
  - {from: order, to: payment, capacity: 2, name: pay}
  - {from: payment, to: order, capacity: 2, name: payed}
  - {from: order, to: payment, capacity: 1, name: cancel}
  - {from: payment, to: order, capacity: 1, name: cancelled}
  - {from: order, to: out, capacity: 1, name: done}
"""


def report_on(text: str) -> DesignReport:
    """The report on a design."""
    return check_design("checkvalve: 2\nname: drawn\n" + text)


def points_of(path: str) -> list[tuple[float, float]]:
    """The points of a path, control points included (a curve stays within them)."""
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]


def paths(text: str, kind: str) -> list[list[tuple[float, float]]]:
    """The paths of a class."""
    return [points_of(d) for d in re.findall(
        rf'<path class="(?:{kind})(?: holds)?"[^>]* d="([^"]+)"', text)]


class Shape(NamedTuple):
    """The rectangle that a box or a label covers: its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def crossed_by(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """True if a line runs through it, and not only along its edge (Liang and Barsky 1984)."""
        (x, y), (a, b) = start, end
        enter, leave = 0.0, 1.0
        for step, room in ((x - a, x - self.left - 0.2), (a - x, self.right - 0.2 - x),
                           (y - b, y - self.top - 0.2), (b - y, self.bottom - 0.2 - y)):
            if step == 0:
                if room <= 0:
                    return False
            elif step < 0:
                enter = max(enter, room / step)
            else:
                leave = min(leave, room / step)
        return leave - enter > 1e-6

    def overlaps(self, other: Shape) -> bool:
        """True if they cover a place in common."""
        return (self.left < other.right and other.left < self.right
                and self.top < other.bottom and other.top < self.bottom)

    def contains(self, other: Shape) -> bool:
        """True if it covers all of another."""
        return (self.left <= other.left and other.right <= self.right
                and self.top <= other.top and other.bottom <= self.bottom)


def boxes_in(text: str) -> list[Shape]:
    """The boxes of tasks, queues and pools."""
    return [Shape(x, y, x + across, y + down) for x, y, across, down in (
        map(float, found) for found in re.findall(
            r'<rect class="(?:box|queue|pool)[^"]*" x="([-\d.]+)" y="([-\d.]+)" rx="\d+" '
            r'width="([\d.]+)" height="([\d.]+)"', text))]


def labels_in(text: str) -> list[Shape]:
    """The texts below the title, by the usual width of characters."""
    found = []
    for kind, x, y, told in re.findall(
            r'<text class="(task|small)" text-anchor="middle" x="([-\d.]+)" y="([-\d.]+)">'
            r"(.*?)</text>", text):
        half = len(unescape(re.sub("<[^>]*>", "", told))) * (7.3 if kind == "task" else 6.0) / 2
        found.append(Shape(float(x) - half, float(y) - 10, float(x) + half, float(y) + 2))
    return found


def check_geometry(drawing: str) -> None:
    """No line runs through a box or a label, no box over another, and each label is in a box."""
    boxes, labels = boxes_in(drawing), labels_in(drawing)
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawing)[0])
    lines = paths(drawing, "link|uses|wait")
    assert boxes and labels
    for path in lines:
        for start, end in pairwise(path):
            for shape in (*boxes, *labels):
                assert not shape.crossed_by(start, end), (shape, start, end)
        assert all(0 <= x <= width and 0 <= y <= height for x, y in path)
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1:])
        assert box.right <= width and box.bottom <= height
    for label in labels:
        assert any(box.contains(label) for box in boxes), label


FILES = [*sorted((ROOT / "examples" / "designs").iterdir()),
         *sorted((ROOT / "examples" / "formats").iterdir()),
         ROOT / "examples" / "tutorial" / "shop.yaml"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_line_of_an_example_runs_through_a_box_or_a_label(path: Path) -> None:
    """Once with its deadlock, if it has one, and once as the page shows it."""
    for design in load_designs(path, {}):
        report = check_design(design)
        check_geometry(draw(report))
        for finding in report.findings:
            check_geometry(draw_to_step_through(report.design, finding, "m"))


@pytest.mark.parametrize("text", [STOPPED, TO_ITSELF, POOLED, CALLS, SAGA])
def test_no_line_of_a_tangled_design_runs_through_a_box_or_a_label(text: str) -> None:
    """Queues with two ends on each side, links of a task to itself, pools of many."""
    check_geometry(draw(report_on(text)))


def test_no_line_of_a_random_design_runs_through_a_box_or_a_label() -> None:
    """Whatever the cycle is made of; and each of its waits is a red line."""
    circles = 0
    for seed in range(40):
        try:
            report = check_design(random_design(Random(seed)), Budget(max_states=1_000))
        except InputError:  # more ways to move than can be listed
            continue
        check_geometry(draw(report))
        finding = report.finding("deadlock-free")
        if finding.outcome is Outcome.VIOLATED and finding.cycle:
            circles += 1
            assert len(paths(draw(report), "wait")) >= len(finding.cycle), seed
    assert circles > 6


def tangle(tasks: int, seed: int) -> Design:
    """A design of so many tasks with half as many links again between any two, and three pools."""
    random = Random(seed)
    names = [f"task number {number}" for number in range(tasks)]
    pools = {name: Pool(name, 2) for name in ("io", "database", "cores")}
    links = [Link(f"link {number}", tuple(random.sample(names, random.choice((1, 1, 1, 3)))),
                  (random.choice(names),), capacity=random.choice((0, 1, 4, 100, None)))
             for number in range(tasks * 3 // 2)]
    return Design("tangle", "", {name: Task(
        name, Kind.MERGE, pool=random.choice(((), (), ("io",), ("cores", "database"))))
        for name in names}, {link.name: link for link in links}, pools)


@pytest.mark.parametrize(("tasks", "seeds"), [(7, (0, 1)), (20, (0, 1)), (40, (0, 6)), (60, (4,))])
def test_no_line_of_a_large_tangle_runs_through_a_box_or_a_label(
    tasks: int, seeds: tuple[int, ...]
) -> None:
    """Without an order that a layout could follow. The last two are led around boxes."""
    for seed in seeds:
        check_geometry(draw(DesignReport(tangle(tasks, seed), ())))


def test_a_route_through_a_box_is_led_around_it() -> None:
    """From the same point to the same point, with no box on its way; where boxes leave no way,
    there is none."""
    boxes = [(0.0, 0.0, 20.0, 20.0), (60.0, -40.0, 80.0, 50.0), (120.0, 0.0, 140.0, 20.0)]
    straight = ((20.0, 10.0), (120.0, 10.0))
    assert runs_through(straight, boxes)
    found = around(straight, boxes)
    assert found is not None and (found[0], found[-1]) == straight
    assert not runs_through(found, boxes) and len(found) == 6
    walls = [(10.0, -30.0, 60.0, -1.0), (10.0, 21.0, 60.0, 50.0), (30.0, -1.0, 60.0, 21.0)]
    assert around(straight, [boxes[0], *walls, boxes[2]]) is None


def philosophers(number: int) -> str:
    """So many, each of which takes the fork with its number and then the next one."""
    return f"""
tasks:
  philosopher:
    kind: script
    copies: {number}
    steps: [{{acquire: "fork[copy]"}}, {{acquire: "fork[copy % {number} + 1]"}},
            {{release: "fork[copy]"}}, {{release: "fork[copy % {number} + 1]"}}]
pools: {{fork: {{threads: 1, copies: {number}}}}}
"""


def test_a_pool_says_which_tasks_hold_it() -> None:
    """In its box, and by a thick line from each of them."""
    drawing = draw(report_on(philosophers(5)))
    assert drawing.count(">1 held by<") == drawing.count('class="uses holds"') == 5
    assert len(boxes_in(drawing)) == 10


def test_a_pool_whose_permits_no_task_holds_says_how_many_are_taken() -> None:
    """As those of a window, which go along with what is under way."""
    drawing = draw(report_on("""
tasks:
  sender: {kind: script, steps: [{acquire: window}, {write: wire}]}
  receiver: {kind: script, steps: [{read: wire, count: 5}, {release: window, count: 5}]}
links: [{from: sender, to: receiver, capacity: 4, name: wire}]
pools: {window: {threads: 4}}
"""))
    assert ">4 taken<" in drawing and "held by" not in drawing


def test_copies_of_a_large_design_are_one_box() -> None:
    """With their number, and with the numbers of all of them for the page."""
    design = load("checkvalve: 2\nname: drawn\n" + philosophers(400))
    drawing = draw(DesignReport(design, ()))
    assert len(boxes_in(drawing)) == 2
    assert ">philosopher ×400<" in drawing and ">fork ×400<" in drawing
    assert ">1 permit each<" in drawing
    check_geometry(drawing)


def test_members_that_differ_are_not_one_box() -> None:
    """One of seventy copies starts with an element."""
    nodes = [f"node[{number}]" for number in range(1, 71)]
    links = {f"arc[{number}]": Link(f"arc[{number}]", (one,), (other,)) for number, (one, other) in
             enumerate(zip(nodes, [*nodes[1:], nodes[0]], strict=True), 1)}
    design = Design("ring", "", {node: Task(node, Kind.MAP) for node in nodes}, links, {})
    assert boxes_of(design) == 2
    links["arc[1]"] = replace(links["arc[1]"], initial=1)
    drawing = draw(DesignReport(replace(design, links=links), ()))
    assert ">arc ×69<" in drawing and ">arc[1]<" in drawing and ">starts with 1<" in drawing
    check_geometry(drawing)


def test_a_queue_of_many_writers_is_one_box() -> None:
    """With its capacity; each writer has an arrow to it."""
    drawing = draw(report_on("""
tasks:
  one: {kind: source}
  two: {kind: source}
  three: {kind: source}
  out: {kind: sink}
links: [{name: jobs, from: [one, two, three], to: out, capacity: 12}]
"""))
    assert drawing.count(">capacity 12<") == 1
    assert len(paths(drawing, "link")) == 4 and len(boxes_in(drawing)) == 5


def test_a_task_that_waits_for_itself_has_a_red_line_to_the_queue_and_back() -> None:
    """It has filled its own queue."""
    assert len(paths(draw(report_on(TO_ITSELF)), "wait")) == 2


FULL = """
tasks: {s: {kind: source}, m: {kind: merge}, w: {kind: route, hand: 1}, out: {kind: sink}}
links:
  - {name: new, from: s, to: m, capacity: 1}
  - {name: work, from: m, to: w, capacity: 3}
  - {name: retry, from: w, to: m, capacity: 12}
  - {name: done, from: w, to: out, capacity: 2}
"""


def test_queues_show_their_slots_and_what_they_hold() -> None:
    """Few slots one by one, of many a bar; and each place of a hand."""
    drawing = draw(report_on(FULL))
    assert drawing.count('class="wanted cell"') + drawing.count('class="full cell"') == 1 + 3 + 1
    assert drawing.count('class="hand"') == 1
    assert ">work<" in drawing and ">3 of 3<" in drawing and ">12 of 12<" in drawing


def test_each_verdict_is_told_in_its_colour() -> None:
    """Green, red and amber are classes of the document."""
    drawing = draw(report_on(FULL))
    assert 'deadlock: <tspan class="task violated">found</tspan>' in drawing
    assert 'growth: <tspan class="task holds">none</tspan>' in drawing


def test_a_drawing_shows_in_programs_that_know_little_of_css() -> None:
    """cairosvg takes sizes and colours from any rule outside of @media."""
    drawing = draw(report_on(FULL))
    assert "style=" not in drawing and "paint-order" not in drawing
    assert "@media screen { :root { max-width: 100%; height: auto; } }" in drawing
    outside = re.sub(r"@media[^{]*\{(?:[^{}]|\{[^{}]*\})*\}", "", drawing)
    assert ":root" not in outside and "#14191f" not in outside  # nor paper that is dark


def test_an_open_question_is_drawn_with_the_circle_that_was_not_excluded() -> None:
    """Where it was not decided whether the design deadlocks."""
    report = check_design("checkvalve: 2\nname: drawn\n" + FULL,
                          settings=Settings("graph"))
    assert report.finding("deadlock-free").outcome is Outcome.UNKNOWN
    assert "a cycle of waits that was not excluded" in draw(report)
    assert paths(draw(report), "wait")


def test_capitals_and_signs_beyond_the_alphabets_are_wider() -> None:
    """In units of a small letter."""
    assert [width(text, 4) for text in ("ab", "AB", "a_", "漢字")] == [8, 10, 9, 16]


def test_a_box_has_no_space_for_a_title_that_it_has_not() -> None:
    """Its lines alone say how high it is."""
    one, two, titled = (Box("task", (), title, lines).size[1] for title, lines in (
        ("", ("a",)), ("", ("a", "b")), ("t", ("a",))))
    assert one == two - one + 10 < titled
