"""A gate in GitHub Actions: annotations, and the summary of the step."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.gate.github import SUMMARY_BYTES_MAX, commands, summary
from checkvalve.conformance.gate.report import EXIT_CODES, Place, Report, Row

ROWS = st.builds(
    Row, st.sampled_from(["designs", "suites", "chapters"]), st.text(), st.text(), st.text(),
    st.text(), st.sampled_from(sorted(EXIT_CODES)), st.text(), st.floats(0, 100), st.just({}),
    st.lists(st.text()).map(tuple), st.none() | st.builds(Place, st.text(min_size=1)))
COMMAND = re.compile(r"::(error|warning) ([^:\r\n]*)::([^\r\n]*)")


def row(message: str, *story: str, place: Place | None = None) -> Row:
    """A violated row."""
    return Row("suites", "queue on a", "QUEUE-1", "no breach", "violated", "violated", message,
               story=story, place=place)


def of(*rows: Row) -> Report:
    """A report of these rows."""
    return Report("x.toml", rows, 1.0)


@given(st.lists(ROWS.filter(lambda row: row.place is None or "\0" not in row.place.file)))
def test_an_annotation_is_one_line_whatever_the_rows_say(rows: list[Row]) -> None:
    """No text of a target can begin a command of its own, or end one."""
    lines = list(commands(of(*rows)))
    assert len(lines) == sum(row.judgement in ("violated", "error", "unknown") for row in rows)
    assert all(COMMAND.fullmatch(line) for line in lines)


def test_an_annotation_names_the_place_from_the_folder_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the gate runs in a folder below it."""
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    line, = commands(of(row("50%\nof: it, all", place=Place("a.yaml", 3, 5))), str(tmp_path))
    found = COMMAND.fullmatch(line)
    assert found is not None
    assert found[2] == ("file=inner/a.yaml,line=3,col=5,"
                        "title=checkvalve%3A QUEUE-1 of queue on a")
    assert found[3] == "QUEUE-1: violated, expected: no breach. 50%25%0Aof: it, all"


def test_the_summary_shows_texts_as_they_are() -> None:
    """Neither a table nor a fence can be left by what a target says."""
    text = summary(of(row("a | b <i>*c*", "````", "</details>")))
    assert r"a \| b \<i\>\*c\*" in text
    assert "\n`````text\n````\n</details>\n`````\n" in text


def test_a_summary_is_never_larger_than_github_takes() -> None:
    """Stories that do not fit are left out, and it says so."""
    text = summary(of(*(row("x", "y" * 400_000) for _ in range(4)), row("z" * 2_000_000)))
    assert len(text.encode()) <= SUMMARY_BYTES_MAX and "The rest is in the files" in text


def test_a_gate_in_github_actions_annotates_and_writes_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, so that stdout is one JSON document; the summary is appended to."""
    monkeypatch.chdir(tmp_path)
    Path("checkvalve.toml").write_text(
        '[[suites]]\nsuite = "queue"\ncases = 4\ntargets = ["deque"]\n')
    assert run(root, ["gate", "--json"]) == 1
    assert "::error" not in capsys.readouterr().err
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert run(root, ["gate", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["exit_code"] == 1
    assert "::error file=checkvalve.toml,line=4,col=1,title=" in captured.err
    told = Path("summary.md").read_text()
    assert told.startswith("before\n### checkvalve gate: violated") and "1. offer a1" in told
