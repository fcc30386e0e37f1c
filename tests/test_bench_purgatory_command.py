"""``python -m benchmarks.purgatory``: its options, files and figure."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.purgatory.__main__ import PROGRAM, command
from benchmarks.purgatory.driver import Measured
from benchmarks.purgatory.plot import COLOURS, draw, figure_of
from benchmarks.purgatory.report import document
from benchmarks.purgatory.rows import Plan, Row
from benchmarks.purgatory.workload import CASES
from checkvalve.conformance.cli.outcome import run

SVG = "{http://www.w3.org/2000/svg}"


def measured() -> dict[str, Any]:
    """A document with a row for each case, contender and target."""
    rows = [Row("real", case, name, rate,
                (Measured(requests=3000, seconds=1.0, all_seconds=1.2, cpu_seconds=0.6),))
            for case in CASES for name in COLOURS for rate in (1000, 2000, inf)]
    return document(Plan(), rows, [])


def test_the_figure_has_every_point() -> None:
    """Two diagrams for each case, with a line of points for each contender, and one beyond the
    axis for the run without a target."""
    axes = figure_of(measured()).axes
    assert len(axes) == 2 * len(CASES)
    for each in axes:
        points = {colour: sum(len(np.atleast_1d(line.get_xdata())) for line in each.lines
                              if line.get_color() == colour) for colour in COLOURS.values()}
        assert set(points.values()) == {3}


def test_a_figure_is_the_same_each_time_that_it_is_drawn() -> None:
    """It has no date and no random names."""
    first, second = draw(measured()), draw(measured())
    assert first == second
    assert ElementTree.fromstring(first).tag == f"{SVG}svg"


def test_a_small_run_writes_figures_and_drawing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """Every contender is in the JSON, and every aim is on the screen, met or not."""
    code = run(command, [
        "--num", "100", "--rate", "2000", "--rates", "2000,none", "--repeats", "1", "--timeout",
        "10", "--seconds", "0.02", "--limit", "0.5", "--json", str(tmp_path / "found.json"),
        "--svg", str(tmp_path / "found.svg"),
    ], PROGRAM)
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert code == 0 and len(found["rows"]) == 2 * (4 + 2 * 3)
    assert len(found["aims"]) == 11
    assert all(f"{aim['text']}: " in printed for aim in found["aims"])
    assert ElementTree.fromstring((tmp_path / "found.svg").read_text()).tag == f"{SVG}svg"


@pytest.mark.parametrize(("arguments", "said"), [
    (["--num", "0"], "not in the range"),
    (["--rates", "fast"], "give whole numbers"),
    (["--rates", ""], "give whole numbers"),
    (["--seconds", "nan"], "nan is not a number"),
    (["--wheel-size", "1"], "not in the range"),
    (["--no-real", "--svg", "x.svg"], "there are none"),
    (["--json", "no/such/folder/x.json"], "there is no such folder"),
    (["--fast"], "No such option"),
])
def test_bad_usage_is_told_and_measures_nothing(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str],
) -> None:
    """One message on stderr with what to do next, and the exit code 64."""
    assert run(command, ["--quick", *arguments], PROGRAM) == 64
    told = capsys.readouterr()
    assert said in told.err and "Traceback" not in told.err
    assert "virtual time" not in told.out
