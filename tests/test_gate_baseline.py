"""Baselines, and a gate against a revision of git: only what is new counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.gate.against import Before
from checkvalve.conformance.gate.baseline import Baseline
from checkvalve.conformance.gate.report import Judgement, Report, Row
from talk import DEAD, LIVE, git

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"

THREE = """\
checkvalve: 2
name: talk
tasks:
  a: {kind: script, steps: [{read: q}, {write: r}]}
  b: {kind: script, steps: [{read: r}, {write: s}]}
  c: {kind: script, steps: [{read: s}, {write: q}]}
links:
  - {from: c, to: a, name: q, capacity: 1}
  - {from: a, to: b, name: r, capacity: 1}
  - {from: b, to: c, name: s, capacity: 1}
"""
DESIGNS = '[[designs]]\nfiles = ["*.yaml"]\n'
SUITE = '[[suites]]\nsuite = "queue"\ncases = 3\ntargets = ["deque"]\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test in a folder of its own, with a gate of designs."""
    monkeypatch.chdir(tmp_path)
    Path("checkvalve.toml").write_text(DESIGNS)


def gate(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of a gate."""
    code = run(root, ["gate", *arguments])
    document = json.loads(Path(".checkvalve/gate.json").read_text())
    jsonschema.validate(document, json.loads((SCHEMAS / "gate.json").read_text()))
    assert document["exit_code"] == code
    return code, document


def commit(**files: str) -> None:
    """Write the designs, and commit all that there is."""
    if not Path(".git").exists():
        git(Path(), "init", "-q")
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(text)
    git(Path(), "add", "-A")
    git(Path(), "commit", "-qm", "x")


# --- baselines ------------------------------------------------------------------------------------

def test_a_baseline_accepts_what_there_was_and_not_what_is_new(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Written once, the next gate is as expected; a new deadlock ends it with 1."""
    Path("old.yaml").write_text(DEAD)
    Path("checkvalve.toml").write_text(DESIGNS + SUITE)
    assert gate()[0] == 1
    assert gate("--write-baseline", "base.json")[0] == 0
    jsonschema.validate(json.loads(Path("base.json").read_text()),
                        json.loads((SCHEMAS / "baseline.json").read_text()))
    code, document = gate("--baseline", "base.json")
    assert code == 0 and document["counts"]["accepted"] >= 2 and document["stale"] == []
    Path("new.yaml").write_text(DEAD)
    code, document = gate("--baseline", "base.json")
    wrong = [row["subject"] for row in document["results"] if row["judgement"] == "violated"]
    assert code == 1 and wrong == ["new.yaml"]
    Path("old.yaml").write_text(LIVE)
    Path("new.yaml").unlink()
    capsys.readouterr()
    code, document = gate("--baseline", "base.json")
    assert code == 0 and [row["subject"] for row in document["stale"]] == ["old.yaml"]
    assert "Not needed in the baseline any more: old.yaml: deadlock-free" in capsys.readouterr().out


def test_a_baseline_does_not_accept_an_error() -> None:
    """A design with a mistake has to be repaired."""
    Path("bad.yaml").write_text("checkvalve: 2\n")
    assert gate("--write-baseline", "base.json")[0] == 64
    assert json.loads(Path("base.json").read_text())["rows"] == []


@pytest.mark.parametrize(("text", "what"), [
    ("{", "not JSON"), ("[]", "format"), ("\xff", "not JSON"), ("[" * 100_000, "not JSON"),
    ('{"format": "checkvalve-baseline", "version": 2}', "version"),
    ('{"format": "checkvalve-baseline", "version": 1, "rows": 3}', "rows"),
    ('{"format": "checkvalve-baseline", "version": 1, "rows": [{"section": 1}]}', "rows[0]"),
    ('{"format": "checkvalve-baseline", "version": 1, "rows": [{"section": "designs", '
     '"subject": "x", "property": "y", "judgement": "error"}]}', "no judgement"),
])
def test_what_is_no_baseline_is_refused(
    text: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message, before anything is run."""
    Path("x.yaml").write_text(LIVE)
    Path("base.json").write_text(text, encoding="latin-1")
    assert run(root, ["gate", "--baseline", "base.json"]) == 64
    captured = capsys.readouterr()
    assert what in captured.err and captured.out == ""


def row(judgement: Judgement, subject: str = "x.yaml", name: str = "deadlock-free") -> Row:
    """A row of a design."""
    return Row("designs", subject, name, "holds", "violated", judgement)


def listing(judgement: str, *cycles: list[str]) -> Baseline:
    """A baseline that lists the row of a design."""
    return Baseline({row("violated").key: {"judgement": judgement, "possible": list(cycles)}})


@pytest.mark.parametrize(("now", "is_stale"), [
    (["violated"], False), (["accepted"], False), (["as expected"], True), ([], True),
])
def test_an_entry_is_stale_when_it_is_as_expected_or_not_listed(
    now: list[Judgement], is_stale: bool
) -> None:
    """While its subject cannot be run, it stays."""
    known = listing("violated")
    assert known.stale([row(each) for each in now]) == ([row("violated").key] if is_stale else [])
    assert known.stale([row("error", name="can be run")]) == []


def test_only_what_is_no_graver_than_listed_is_accepted() -> None:
    """A row that was unknown and is violated now is new, and an error never is accepted."""
    accept = listing("violated").accept
    assert accept(row("unknown")).judgement == "accepted"
    assert accept(row("error")).judgement == "error"
    assert accept(row("as expected")).judgement == "as expected"
    assert listing("unknown").accept(row("violated")).judgement == "violated"


def test_a_cycle_that_the_baseline_does_not_list_is_new() -> None:
    """Where a cycle begins makes no difference, its direction does."""
    def with_cycle(*tasks: str) -> Row:
        return replace(row("violated"), details={"around": list(tasks)})

    accept = listing("violated", ["a", "b", "c"]).accept
    assert accept(with_cycle("b", "c", "a")).judgement == "accepted"
    assert accept(with_cycle("c", "b", "a")).judgement == "violated"
    assert accept(with_cycle("a", "d")).judgement == "violated"


# --- against a revision ---------------------------------------------------------------------------

def words(document: dict[str, Any], kind: str) -> list[str]:
    """All that a change adds, removes or drops."""
    return [change["words"] for change in document["against"][kind]]


def test_against_a_revision_only_what_the_change_adds_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A cycle that is added is named, as is one that is removed; the worktree is gone."""
    commit(old=DEAD, talk=LIVE)
    code, document = gate("--against", "HEAD")
    assert code == 0 and words(document, "added") == words(document, "removed") == []
    assert "this change adds nothing and removes nothing" in capsys.readouterr().out
    Path("talk.yaml").write_text(THREE)
    Path("old.yaml").write_text(LIVE)
    code, document = gate("--against", "HEAD")
    shown = capsys.readouterr().out
    assert code == 1
    assert words(document, "added") == ["adds a wait-for cycle through a, c, b in talk.yaml"]
    assert words(document, "removed") == ["removes a wait-for cycle through a, b in old.yaml"]
    assert all(f"  {each}\n" in shown for kind in ("added", "removed")
               for each in words(document, kind))
    assert "2 files here are not committed" in shown
    assert len(git(Path(), "worktree", "list").splitlines()) == 1
    assert len(git(Path(), "status", "--porcelain", "--", "*.yaml").splitlines()) == 2


def test_another_cycle_in_the_place_of_one_is_added() -> None:
    """The verdict is the same, and the tasks that wait are others."""
    commit(talk=DEAD)
    Path("talk.yaml").write_text(THREE)
    code, document = gate("--against", "HEAD")
    assert code == 1
    assert len(words(document, "added")) == len(words(document, "removed")) == 1


def test_a_file_and_its_tasks_may_be_renamed() -> None:
    """The cycle is the one that there was: nothing is added."""
    commit(talk=DEAD)
    Path("talk.yaml").unlink()
    Path("speech.yaml").write_text(DEAD.replace("b: {", "z: {").replace("from: b", "from: z")
                                   .replace("to: b", "to: z"))
    code, document = gate("--against", "HEAD")
    assert code == 0 and document["against"]["renamed"] == {"talk.yaml": "speech.yaml"}
    assert words(document, "added") == words(document, "removed") == []


def test_a_chapter_is_verified_where_the_change_lists_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that was listed before comes with checkvalve: no change of the user's touches it."""
    commit(talk=LIVE)
    config = Path("checkvalve.toml")
    without = config.read_text()
    config.write_text('verify = ["queues.queue"]\n' + without)
    _, document = gate("--against", "HEAD")
    assert any(row["section"] == "chapters" for row in document["results"])
    assert words(document, "added") == []
    git(Path(), "commit", "-qam", "verify a chapter")
    _, document = gate("--against", "HEAD")
    assert not any(row["section"] == "chapters" for row in document["results"])
    assert document["against"]["notes"][0].startswith("Not verified again: queues.queue, ")
    assert "Not verified again: queues.queue" in capsys.readouterr().out
    config.write_text(without)
    _, document = gate("--against", "HEAD")
    assert words(document, "dropped") == ["no longer verifies chapter queues.queue"]


def test_a_deadlock_that_is_expected_is_named_and_does_not_count() -> None:
    """As is a design that is not listed any more."""
    commit(talk=LIVE, other="# another text\n" + THREE)
    Path("talk.yaml").write_text(DEAD + "expect: {deadlock-free: violated}\n")
    Path("other.yaml").unlink()
    code, document = gate("--against", "HEAD")
    assert code == 0
    assert words(document, "added") == [
        "adds a wait-for cycle through a, b in talk.yaml, as is expected of it"]
    assert words(document, "dropped") == ["no longer checks other.yaml"]


def test_a_further_cycle_beside_one_that_there_was_is_undecided() -> None:
    """The counterexample ends in the old one, so none shows whether a run reaches the other."""
    def before(*cycles: list[str]) -> Before:
        details = {"around": ["a", "b"], "possible": list(cycles)}
        return Before("HEAD", "0", Report("", (replace(row("violated"), details=details),), 0.0))

    now = replace(row("violated"), details={"around": ["b", "a"],
                                            "possible": [["a", "b"], ["c", "d"]]})
    assert before(["c", "d"]).accept(now).judgement == "accepted"
    undecided = before().accept(now)
    assert undecided.judgement == "unknown" and "cycle through c, d possible" in undecided.message


def test_a_rule_that_was_broken_before_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each revision is judged by its own modules, also where a package is installed from this
    folder."""
    Path("src").mkdir()
    monkeypatch.syspath_prepend(str(Path("src").resolve()))
    Path("checkvalve.toml").write_text(
        '[[suites]]\nsuite = "queue"\ncases = 3\ntargets = ["python:mine:make"]\n')
    good = ("from checkvalve.conformance.systems.targets import adapter_factory\n"
            "make = adapter_factory({})\n")
    Path("src/mine.py").write_text(good.format("'reference'"))
    commit()
    Path("src/mine.py").write_text(good.format("'deque'"))
    code, document = gate("--against", "HEAD")
    assert code == 1 and words(document, "added")[0] == (
        "breaks rule QUEUE-1 in suite queue for target python:mine:make")


def test_a_gate_that_is_new_is_added_as_a_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the revision has no checkvalve.toml, or one that cannot be used."""
    Path("checkvalve.toml").unlink()
    commit(talk=DEAD)
    Path("checkvalve.toml").write_text(DESIGNS)
    code, document = gate("--against", "HEAD")
    assert code == 1 and len(document["against"]["added"]) == 1
    assert "Nothing to compare with: HEAD has no checkvalve.toml, so" in capsys.readouterr().out
    Path("checkvalve.toml").write_text("designs = 3\n")
    commit()
    Path("checkvalve.toml").write_text(DESIGNS)
    why = gate("--against", "HEAD")[1]["against"]["why"]
    assert "checkvalve.toml of HEAD cannot be used" in why


@pytest.mark.parametrize(("arguments", "what"), [
    (["--against", "no-such"], "there is no revision 'no-such'"),
    (["--against", "--output=x"], "there is no revision"),
    (["--against", "HEAD", "--baseline", "x"], "both say what was there before"),
])
def test_a_revision_that_is_none_is_refused(
    arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message with what to write; git reads none of it as an option."""
    commit(talk=LIVE)
    assert run(root, ["gate", *arguments]) == 64
    assert what in capsys.readouterr().err


def test_against_needs_a_repository(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without one, or without git, a message says so."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path("talk.yaml").write_text(LIVE)
    assert run(root, ["gate", "--against", "HEAD"]) == 64
    assert "this is in no repository of git" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(root, ["gate", "--against", "HEAD"]) == 64
    assert "needs git" in capsys.readouterr().err
