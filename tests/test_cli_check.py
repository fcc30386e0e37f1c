"""``checkvalve check``: what it prints, what it draws, and how it ends."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.designs import check_design, check_file
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.drawing.svg import draw
from checkvalve.spec.design.why.findings import in_short

ROOT = Path(__file__).resolve().parent.parent
DESIGNS = ROOT / "examples" / "designs"
EXAMPLES = sorted(DESIGNS.glob("*.yaml"))
STUCK = str(DESIGNS / "akka-a1-deadlocked.yaml")


def written(folder: Path, text: str) -> str:
    """A design file with this text."""
    path = folder / "design.yaml"
    path.write_text("checkvalve: 2\nname: d\n" + text)
    return str(path)


TWO = "tasks: {a: {kind: source}, b: {kind: sink}}\nlinks: [{from: a, to: b, capacity: "


@pytest.mark.parametrize(("rest", "code"), [
    ("1}]\n", 0),
    ("1}]\nexpect: {deadlock-free: violated}\n", 1),
    ("1, takes: 2}]\n", 1),
    ("1, takes: 2}]\nexpect: {deadlock-free: violated}\n", 0),
    ("-1}]\n", 64),
], ids=["live", "live against expectation", "deadlocked", "deadlocked as expected", "bad input"])
def test_the_exit_code_tells_expected_from_found(rest: str, code: int, tmp_path: Path) -> None:
    """0 as expected, 1 not as expected, 64 no design."""
    assert run(root, ["check", "--no-repair", written(tmp_path, TWO + rest)]) == code


def test_the_graph_says_that_no_cycle_but_an_end_is_what_it_cannot_exclude() -> None:
    """A consumer that may crash stops the others without any cycle of waits."""
    report = check_design("""checkvalve: 2
name: crashes
tasks: {p: {kind: source}, a: {kind: sink, may: crash}, b: {kind: sink}}
links: [{from: p, to: [a, b], capacity: 2, name: q}]
""", settings=Settings("graph"))
    assert report.cycles and all(cycle.excluded for cycle in report.cycles)
    reason = report.finding("deadlock-free").reason
    assert "ended, stopped or crashed" in reason and "cycles" not in reason


def test_the_graph_alone_leaves_unknown_what_it_cannot_prove() -> None:
    """Exit code 2."""
    assert run(root, ["check", "--method", "graph", STUCK]) == 2


def test_the_text_names_the_steps_the_waits_and_a_way_out(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """All in the words of the design."""
    run(root, ["check", STUCK])
    out = capsys.readouterr().out
    assert "broadcast reads from merge->broadcast" in out
    assert "merge->broadcast (holds 2)" in out
    assert "broadcast -> merge -> broadcast" in out
    assert "one that LOSES something, checked" in out
    assert "+  - {from: broadcast, to: merge, capacity: 2, name: feedback, flow: drop-" in out


def test_the_document_fits_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/schemas/check.json describes what --json prints."""
    run(root, ["check", "--json", "--no-repair", STUCK, str(DESIGNS / "ring-live.yaml")])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads((ROOT / "docs/schemas/check.json").read_text()))
    verdicts = {(row["design"], row["property"]): row["verdict"] for row in document["results"]}
    assert verdicts["akka-a1-deadlocked", "deadlock-free"] == "violated"
    assert verdicts["ring-live", "deadlock-free"] == "holds"


def test_bad_input_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A good design beside a bad one is neither reported nor drawn."""
    bad = written(tmp_path, TWO + "1}]\nexpect: {deadlock-free: maybe}\n")
    assert run(root, ["check", "--svg", str(tmp_path / "out"), STUCK, bad]) == 64
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{bad}:5" in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_drawing_is_wellformed_and_marks_the_cycle(path: Path) -> None:
    """Each task is in it; red arrows are there exactly if a cycle of waits was found."""
    report = check_file(path)
    text = draw(report)
    found = "".join(ElementTree.fromstring(text).itertext())
    assert all(task in found for task in report.design.tasks)
    has_cycle = any(finding.cycle for finding in report.findings)
    assert ('class="wait"' in text) == has_cycle


def test_a_drawing_is_written_for_each_design(tmp_path: Path) -> None:
    """Named after the design."""
    run(root, ["check", "--no-repair", "--svg", str(tmp_path), STUCK])
    assert (tmp_path / "akka-a1-deadlocked.svg").read_text().startswith("<svg")


def test_one_design_is_drawn_into_the_file_that_is_named(tmp_path: Path) -> None:
    """And of two designs none: each would overwrite the other."""
    there, other = tmp_path / "drawn.svg", next(path for path in EXAMPLES if str(path) != STUCK)
    run(root, ["check", "--no-repair", "--svg", str(there), STUCK])
    assert there.read_text().startswith("<svg")
    there.unlink()
    assert run(root, ["check", "--no-repair", "--svg", str(there), STUCK, str(other)]) == 64
    assert not there.exists()


def test_repetitions_are_told_once() -> None:
    """Runs of a block become the block and how often."""
    steps = ["a"] * 1000 + ["b", "c"] * 5 + ["d"]
    assert in_short(steps) == [(["a"], 1000), (["b", "c"], 5), (["d"], 1)]
