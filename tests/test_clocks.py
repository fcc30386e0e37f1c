"""Each phase looks at the clock: by one that moves on as it is read, so that a phase that never
looks never ends too early here, whatever it is given."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from checkvalve.conformance.designs.certificates import write_certificates
from checkvalve.conformance.designs.laws import law_of
from checkvalve.conformance.gate import load as load_gate
from checkvalve.conformance.gate import run_gate
from checkvalve.conformance.report.designs import section
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.chapters import chapters
from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.drawing.svg import draw, draw_to_step_through
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.design.loader import load, load_tree
from checkvalve.spec.design.reading.source import parse
from checkvalve.spec.design.repairs.repair import repair
from checkvalve.spec.design.verdicts.certificates import Certificates
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.design.drawing.layout import lay_out
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime, Spent
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.verify import verify

HEAD = "checkvalve: 2\nname: n\n"
MANY = 600


def ticking(seconds: float = 3.0) -> Deadline:
    """A deadline after so many looks."""
    ticks = count()
    return Deadline(seconds, lambda: float(next(ticks)))


def budget(seconds: float = 3.0) -> Budget:
    """The same as a budget."""
    ticks = count()
    return Budget(max_seconds=seconds, threads=1, clock=lambda: float(next(ticks)))


def lines(words: str, number: int = MANY) -> str:
    """So many lines, each with its number for N and the next for M."""
    return "\n".join(words.replace("N", str(n)).replace("M", str((n + 1) % number))
                     for n in range(number))


RING = (f"{HEAD}tasks:\n{lines('  tN: {kind: map}')}\nlinks:\n"
        + lines("  - {from: tN, to: tM, capacity: 2}"))
LATE = 12 * MANY
"""Looks of a reader at most, before the last of a ring is translated."""

TEXTS = {
    "ring.yaml": RING,
    "copies.yaml": f"{HEAD}tasks: {{a: {{kind: map, copies: {MANY}}}}}\n"
                   "links: [{from: a, to: a, capacity: 2, connect: ring}]\n",
    "ranges.yaml": f"{HEAD}parameters: {{c: 1..{MANY}}}\ntasks: {{a: {{kind: map}}}}\n"
                   "links: [{from: a, to: a, capacity: c}]\n",
    "ring.dot": f"digraph g {{\n{lines('tN -> tM;')}\n}}",
    "ring.graphml": '<graphml><graph edgedefault="directed">' + lines('<node id="tN"/>', 3_000)
                    + lines('<edge source="tN" target="tM"/>', 3_000) + "</graph></graphml>",
    "plan.json": '{"nodes": [' + ",\n".join(
        f'{{"id": {n}, "type": "t{n}", "pact": "Operator", "contents": "c", "parallelism": 1}}'
        for n in range(MANY)) + "]}",
    "storm.flux": "name: n\nspouts:\n" + lines("  - {id: sN, className: c, parallelism: 1}", 900),
    "topology.txt": "Topologies:\n   Sub-topology: 0\n" + lines(
        "    Source: sN (topics: [t])\n      --> none"),
    "net.pnml": '<pnml><net id="n" type="ptnet">' + lines('<place id="pN"/>', 3_000)
                + lines('<transition id="tN"/><arc id="aN" source="pN" target="tN"/>', 3_000)
                + "</net></pnml>",
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_reader_looks_at_the_clock(name: str) -> None:
    """Of every format, and it says what it was reading."""
    with pytest.raises(OutOfTime, match=f"reading {name}"):
        load_any(TEXTS[name], name, deadline=ticking())


def test_a_reader_looks_at_the_clock_to_the_end() -> None:
    """At each task and link that is loaded, and at each task that is translated."""
    looks = count()
    load_any(RING, "ring.yaml", deadline=Deadline(LATE, lambda: float(next(looks))))
    assert 4 * MANY < next(looks) < LATE


@cache
def report() -> DesignReport:
    """A design that deadlocks, checked without a limit."""
    return check(load(f"{HEAD}tasks:\n{lines('  tN: {kind: map}', 40)}\nlinks:\n"
                      + lines("  - {from: tN, to: tM, capacity: 1, initial: 1}", 40)),
                 Settings(budget=Budget(threads=1)))


def first_of(made: DesignReport) -> dict[str, object]:
    """A certificate of the first finding."""
    return Certificates(made).of(made.findings[0])


ENDS: dict[str, Callable[[], object]] = {
    "drawing": lambda: draw(report(), ticking()),
    "a drawing to step through": lambda: draw_to_step_through(
        report().design, report().findings[0], "m", ticking()),
}
"""Phases that raise where the time is over."""


KINDS = (f"{HEAD}tasks:\n" + lines(
    "  sN: {kind: script, steps: [{write: wN, of: a}, {write: wN, of: b}]}\n"
    "  rN: {kind: script, steps: [{read: wN, of: b}, {read: wN, of: a}]}")
    + "\nlinks:\n" + lines("  - {from: sN, to: rN, capacity: 3, name: wN, kinds: [a, b], "
                           "take: head}"))


def test_kinds_are_written_out_before_the_clock() -> None:
    """It is looked at for each task and link there, and for each link, pool and task of the net."""
    looks: Counter[str] = Counter()

    def look() -> None:
        looks[sys._getframe(1).f_code.co_name] += 1

    load_tree(parse(KINDS, "kinds.yaml"), "kinds.yaml", watch=look)
    assert looks["sorted_out"] == (2 + 1 + 1) * MANY
    assert looks["translate"] == (2 + 2 + 1) * MANY


@pytest.mark.parametrize("phase", ENDS)
def test_what_writes_down_looks_at_the_clock(phase: str) -> None:
    """A phase without a verdict of its own ends as one that is late."""
    with pytest.raises(Spent):
        ENDS[phase]()


class Looks(Deadline):
    """A deadline that counts, by phase, how often it is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.of = Counter[str]()

    def check(self, phase: str) -> None:
        """Count it."""
        self.of[phase] += 1


@pytest.mark.parametrize("to_step_through", [False, True])
def test_a_drawing_looks_at_the_clock_for_each_box_and_arrow(to_step_through: bool) -> None:
    """In each phase: what is alike, the boxes and their sizes, the routes, and the text."""
    looks = Looks()
    if to_step_through:
        draw_to_step_through(report().design, report().findings[0], "m", looks)
    else:
        draw(report(), looks)
    tasks, queues, arrows = 40, 40, 80
    assert looks.of["looking for what is alike in the drawing"] == tasks + queues
    assert looks.of["writing down the boxes of the drawing"] == 2 * (tasks + queues) + arrows // 2
    assert looks.of["looking for arrows that run through a box"] >= arrows
    assert looks.of["writing down the drawing"] == tasks + queues + arrows


def test_a_page_looks_at_the_clock_for_each_box_and_place() -> None:
    """Where it counts the boxes, to find out whether it draws them, and where it lists places."""
    few, many = Looks(), Looks()
    draw_to_step_through(report().design, report().findings[0], "m", few)
    section(report(), "m", many)
    alike = "looking for what is alike in the drawing"
    assert many.of[alike] > few.of[alike]
    assert many.of["writing down the steps"] > 3 * 40


def said_by_gate(folder: Path) -> str:
    """The rows of a gate with a design that has no time to be read."""
    (folder / "ring.yaml").write_text(RING)
    path = folder / "checkvalve.toml"
    path.write_text('[[designs]]\nfiles = ["ring.yaml"]\nmax_seconds = 0.001\n')
    row, = run_gate(load_gate(path), lambda _: None).rows
    assert row.judgement == "unknown"
    return row.message


def law_found(folder: Path) -> str:
    """Search for a law without any time, and return what is printed."""
    path = folder / "grid.yaml"
    path.write_text(f"{HEAD}parameters: {{c: 1..3}}\ntasks: {{a: {{kind: map}}}}\n"
                    "links: [{from: a, to: a, capacity: c, initial: 1}]\n")
    found = law_of(str(path), "deadlock-free", {}, Budget(threads=1), seconds=60.0)
    assert not found.spent
    try:
        return " ".join(law_of(str(path), "deadlock-free", {}, Budget(), seconds=1e-9).spent)
    except Spent as late:
        return str(late)


SAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "check": (lambda _: check(report().design, Settings(budget=budget())).findings[0].reason,
              "budget of time"),
    "repair": (lambda _: repair(report(), budget()).undecided, "time"),
    "verify": (lambda _: next(verify(chapters(["flow.credit"]), budget())).verdict.reason,
               "budget of time"),
    "certificates": (lambda folder: write_certificates(report(), folder, ticking(1.0))[1].why,
                     "time"),
    "certify": (lambda _: check_certificate(
        first_of(report()), report().design, budget(1.0)).why, "time"),
    "page": (lambda _: " ".join(section(report(), "m", ticking()).notes), "is left out: the"),
    "gate": (said_by_gate, "reading"),
    "law": (law_found, ""),
}
"""Phases that say so in what they answer: how they are asked, and a part of what is said."""


@pytest.mark.parametrize("phase", SAYS)
def test_a_phase_that_is_late_says_so(phase: str, tmp_path: Path) -> None:
    """In its answer, which is no error and claims nothing."""
    ask, part = SAYS[phase]
    said = str(ask(tmp_path))
    assert said and part in said, said


def test_a_drawing_that_would_take_longer_than_is_left_is_not_said_to_have_spent_the_time() -> None:
    """The clock shows one time only: nothing is spent, and so large a tangle is not begun."""
    boxes = 6000
    with pytest.raises(Spent, match="too little of the budget of time is left for laying out"):
        lay_out([(10.0, 10.0)] * boxes, [(at, at + 1) for at in range(boxes - 1)],
                Deadline(2.0, lambda: 0.0))
