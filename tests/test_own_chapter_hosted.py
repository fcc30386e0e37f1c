"""A chapter of a user's runs in a child: whatever it does, there is one message and a verdict."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from checkvalve.conformance.chapters import hosted
from checkvalve.conformance.chapters.file import load_chapter
from checkvalve.conformance.chapters.wire import row_from, row_to
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.spec.engines.report import trace_lines
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.verify import Row, verify

CHAPTER = """import ctypes, os, sys, threading, time
from checkvalve.spec.notation import *
class Counter(Machine):
    x = integer(0, 3)
    @assume
    def fine(self):
        {assume}
    @action
    def act(self):
        require(self.x < 3)
        self.x += 1
    @always("C-1", MUST, "It stays small.", source="here")
    def small(self):
        return self.x < 9
{end}
"""
PATIENCE_SECONDS = 60.0
"""For what fails by itself, on a machine that is busy with other tests."""

MISDEEDS = {
    "ends the process": ("os._exit(0)", "ended with exit status 0"),
    "exits": ("raise SystemExit(0)", "SystemExit"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "recurses": ("return self.fine()", "recursion"),
    "takes all memory": ("return bytearray(1 << 45)", "MemoryError"),
    "takes all memory in steps": ("return [0] * (1 << 30)", "MemoryError"),
    "crashes": ("return ctypes.string_at(0)", "signal 11 (SIGSEGV)"),
    "aborts": ("os.abort()", "signal 6 (SIGABRT)"),
}


def chapter(folder: Path, assume: str = "return True", end: str = "") -> Path:
    """A chapter with ``assume`` as its seventh line, and ``end`` as its last, the 15th."""
    path = folder / "mine.py"
    path.write_text(CHAPTER.format(assume=assume, end=end))
    return path


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The place and the text of the one message of ``verify --json``."""
    assert run(root, ["verify", str(path), "--json"]) == 64
    shown = json.loads(capsys.readouterr().out)["error"]
    assert shown["fault"] == "input" and shown["next_step"]
    return shown["where"], shown["what"]


@pytest.mark.parametrize("name", MISDEEDS)
def test_an_assumption_that_fails_is_one_message_with_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process that gives the verdict is not the one that fails."""
    body, words = MISDEEDS[name]
    path = chapter(tmp_path, assume=body)
    where, what = told(path, capsys)
    assert where == f"{path}:7" and words in what


@pytest.mark.parametrize("name", MISDEEDS)
def test_an_import_that_fails_is_one_message_with_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same at the end of the file, when it has defined all."""
    body, words = MISDEEDS[name]
    body = body.replace("return self.fine()", "def f(): f()\nf()").replace("return ", "")
    path = chapter(tmp_path, end=body)
    where, what = told(path, capsys)
    assert where == f"{path}:15" and words in what


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(600)", "sum(iter(int, 1))"])
def test_a_chapter_that_hangs_is_killed_and_its_line_told(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its assumption or where it is imported, in Python, asleep or in C."""
    monkeypatch.setattr(hosted, "OWN_SECONDS", 1.0)
    started = time.monotonic()
    where, what = told(path := chapter(tmp_path, assume=body), capsys)
    assert where == f"{path}:7" and "does not come to an end within 1 s" in what
    where, _ = told(chapter(tmp_path, end=body), capsys)
    assert where == f"{path}:15"
    assert time.monotonic() - started < PATIENCE_SECONDS


def test_a_thread_that_goes_on_holds_up_nothing(tmp_path: Path) -> None:
    """The child is not asked to end."""
    end = "threading.Thread(target=time.sleep, args=(600,)).start()"
    started = time.monotonic()
    assert run(root, ["verify", str(chapter(tmp_path, end=end))]) == 0
    assert time.monotonic() - started < PATIENCE_SECONDS


def test_what_is_written_to_stdout_behind_python_stays_out_of_the_document(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever way it takes, it ends on stderr."""
    end = "print('in words'); sys.stdout = sys.__stdout__; print('again'); os.write(1, b'raw')"
    assert run(root, ["verify", str(chapter(tmp_path, end=end)), "--json"]) == 0
    shown = capfd.readouterr()
    assert json.loads(shown.out)["verdict"] == "as expected"
    assert all(words in shown.err for words in ("in words", "again", "raw"))


def test_the_patience_of_a_row_is_its_budget_and_a_little(tmp_path: Path) -> None:
    """Without a budget there is no end, for that is what was asked for."""
    path = chapter(tmp_path)
    limited = hosted.OwnChapter(path, Budget(max_seconds=1.0))
    endless = hosted.OwnChapter(path, Budget())
    assert 1.0 < limited.patience < 60.0 < endless.patience
    assert [row.as_expected for row in limited.rows()] == [True]
    assert [row.as_expected for row in endless.rows()] == [True]


def test_a_search_that_overlooks_its_budget_is_ended_and_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows after it are decided all the same, by a new child."""
    end = ("from checkvalve.spec import verify\n"
           "decide, asked = verify.check_rules, [0]\n"
           "def slow(bound, *rest):\n"
           "    if bound.constants['N'] == 1: time.sleep(600)\n"
           "    return decide(bound, *rest)\n"
           "verify.check_rules = slow\n"
           "class Other(Counter):\n    N = const(0)\n"
           "from checkvalve.spec.expectations import expect\n"
           "EXPECTATIONS = [expect(Other, 'C-1', 'holds', N=range(3))]\n")
    monkeypatch.setattr(hosted, "GRACE_SECONDS", 0.5)
    rows = list(hosted.OwnChapter(chapter(tmp_path, end=end), Budget(max_seconds=0.5)).rows())
    assert [row.verdict.outcome.value for row in rows] == ["holds", "unknown", "holds"]
    assert "0.5 s was spent" in rows[1].verdict.reason


def test_a_row_is_the_same_on_both_sides_of_the_pipe() -> None:
    """With its trace and its numbers; only how long it took differs."""
    path = Path(__file__).parent.parent / "examples" / "tutorial" / "philosophers.py"
    rows = list(hosted.OwnChapter(path, Budget()).rows())
    assert {row.verdict.trace.loop for row in rows if row.verdict.trace} >= {None, 1}
    here = list(verify([load_chapter(path)]))
    assert list(map(_told, rows)) == list(map(_told, here))
    assert [_without_time(row_from(json.loads(json.dumps(row_to(row))))) for row in rows] == [
        _without_time(row) for row in rows]


def _told(row: Row) -> list[object]:
    """The fields of a row that a reader sees, but for the time that it took."""
    trace = row.verdict.trace
    return [row.to_json() | {"seconds": 0}, trace and list(trace_lines(trace, row.slots))]


def _without_time(row: Row) -> Row:
    return replace(row, verdict=replace(row.verdict, seconds=0.0))


def test_what_python_remarks_on_a_chapter_does_not_come_before_its_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A comparison that is always false is Python's to warn of, and a failing import is ours."""
    path = tmp_path / "remarked.py"
    path.write_text('x = 1\nassert x is 1, "a remark"\nimport nothing_of_this_name\n')
    assert run(root, ["verify", str(path)]) == 64
    said = capfd.readouterr().err
    assert said.startswith("checkvalve: error: ") and "SyntaxWarning" not in said
