"""Drawings of designs: everything on the canvas, nothing through a box, the cycle in red."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest

from benchmarks.random_designs.designs import random_design
from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.drawing.svg import draw
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

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
    return [points_of(d) for d in re.findall(rf'<path class="{kind}"[^>]* d="([^"]+)"', text)]


@pytest.mark.parametrize("text", [STOPPED, TO_ITSELF, POOLED, CALLS])
def test_every_line_is_on_the_canvas(text: str) -> None:
    """Also one that goes back below all the boxes."""
    drawing = draw(report_on(text))
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawing)[0])
    for kind in ("link", "wait", "uses"):
        for x, y in (point for path in paths(drawing, kind) for point in path):
            assert 0 <= x <= width
            assert 0 <= y <= height - 24  # the line below the drawing


@pytest.mark.parametrize("text", [POOLED, CALLS])
def test_no_line_to_a_pool_runs_through_a_task(text: str) -> None:
    """Tried at many points of each."""
    drawing = draw(report_on(text))
    boxes = [tuple(map(float, found)) for found in re.findall(
        r'<rect class="box[^"]*" x="([\d.]+)" y="([\d.]+)" rx="6" width="([\d.]+)"', drawing)]
    assert boxes
    for path in paths(drawing, "uses") + paths(drawing, "wait"):
        for (x, y), (a, b) in pairwise(path):
            for part in range(101):
                px, py = x + (a - x) * part / 100, y + (b - y) * part / 100
                assert not any(left < px < left + width and top < py < top + 52
                               for left, top, width in boxes)


def test_a_wait_on_itself_is_a_red_line_outside_the_box() -> None:
    """A link from a task to itself is drawn over it."""
    (red,) = paths(draw(report_on(TO_ITSELF)), "wait")
    ends = {y for _, y in (red[0], red[-1])}
    assert len(ends) == 1
    assert min(y for _, y in red) < ends.pop()


def test_a_circle_is_drawn_with_a_red_line_for_each_of_its_waits() -> None:
    """Whatever the cycle is made of; a wait for a thread is two lines."""
    circles = 0
    for seed in range(60):
        try:
            report = check_design(random_design(Random(seed)), Budget(max_states=1_000))
        except InputError:  # more ways to move than can be listed
            continue
        finding = report.finding("deadlock-free")
        if finding.outcome is Outcome.VIOLATED and finding.cycle:
            circles += 1
            assert len(paths(draw(report), "wait")) >= len(finding.cycle), seed
    assert circles > 10


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
    assert drawing.count('class="wanted"') + drawing.count('class="full"') == 1 + 3 + 1
    assert drawing.count('class="hand"') == 1
    assert "work: 3 of 3" in drawing and "retry: 12 of 12" in drawing


def test_each_verdict_is_told_in_its_colour() -> None:
    """Green, red and amber are classes of the document."""
    drawing = draw(report_on(FULL))
    assert 'deadlock: <tspan class="task violated">found</tspan>' in drawing
    assert 'growth: <tspan class="task holds">none</tspan>' in drawing


@pytest.mark.parametrize("text", [STOPPED, POOLED, FULL, SAGA])
def test_no_label_is_written_over_slots_boxes_or_another_label(text: str) -> None:
    """Each stands beside its line, above or below, also where four lines run side by side."""
    drawing = draw(report_on(text))
    boxes = [tuple(map(float, box)) for box in re.findall(
        r'<rect class="box[^"]*" x="([-\d.]+)" y="([-\d.]+)" rx="6" width="([-\d.]+)"', drawing)]
    labels = [(float(x), float(y), 6.6 * len(told)) for x, y, told in re.findall(
        r'label[^"]*" text-anchor="middle" x="([-\d.]+)" y="([-\d.]+)">([^<]*)<', drawing)]
    slots = [(float(x), float(y)) for x, y in re.findall(
        r'<rect class="(?:slot|full|wanted)" x="([-\d.]+)" y="([-\d.]+)"', drawing)]
    assert labels and slots
    for number, (x, y, width) in enumerate(labels):
        assert not any(abs(x - a) < width / 2 and y - 11 < b + 6 < y for a, b in slots)
        assert not any(abs(x - a) < (width + other) / 2 and abs(y - b) < 11
                       for a, b, other in labels[number + 1:])
        assert not any(left - width / 2 < x < left + across + width / 2 and top < y < top + 60
                       for left, top, across in boxes)


def test_a_drawing_shows_in_programs_that_know_little_of_css() -> None:
    """cairosvg takes a size from any rule outside of @media, and paints a stroke over its text."""
    drawing = draw(report_on(FULL))
    assert "style=" not in drawing and "paint-order" not in drawing
    assert "@media screen { :root { max-width: 100%; height: auto; } }" in drawing
    assert drawing.index('class="small halo"') < drawing.index('class="small label')


def test_an_open_question_is_drawn_with_the_circle_that_was_not_excluded() -> None:
    """Where it was not decided whether the design deadlocks."""
    report = check_design("checkvalve: 2\nname: drawn\n" + FULL,
                          settings=Settings("graph"))
    assert report.finding("deadlock-free").outcome is Outcome.UNKNOWN
    assert "a cycle of waits that was not excluded" in draw(report)
    assert paths(draw(report), "wait")
