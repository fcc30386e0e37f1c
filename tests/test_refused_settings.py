"""A target that refuses a capacity: its cases show nothing, and the others run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.suites.results import REFUSED

TARGET = """
from checkvalve.conformance.systems.queue.reference import ReferenceQueue
class Queue(ReferenceQueue):
    def request(self, message):
        if message["do"] == "hello" and message["settings"]["capacity"] not in {takes}:
            return {{"error": "{error}", "definite": {definite}}}
        return super().request(message)
"""
SCHEMAS = Path(__file__).resolve().parent.parent / "docs" / "schemas"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, which targets are looked for in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def conform(
    capsys: pytest.CaptureFixture[str], takes: tuple[int, ...],
    error: str = "unsupported-capacity", definite: bool = True, asked: tuple[str, ...] = (),
) -> tuple[int, dict[str, object]]:
    """The exit code, and the entry of a target that supports ``takes`` in the document."""
    # A module that is new each time: an idle child would serve the one before.
    name = f"takes_{'_'.join(map(str, takes))}_{len(error)}_{definite}"
    Path(f"{name}.py").write_text(TARGET.format(takes=takes, error=error, definite=definite))
    code = run(root, ["conform", f"python:{name}:Queue", "--suite", "queue", "--json", *asked])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(next(SCHEMAS.glob("conform*.json")).read_text()))
    return code, document["targets"][0]


def refused_times(target: dict[str, object], capacity: int) -> int:
    """The number of cases in which a capacity was refused."""
    refused = target["refused"]
    assert isinstance(refused, dict)
    return refused[f"not offered: capacity {capacity}"]


@pytest.mark.parametrize("takes", [(1,), (2,), (1, 3)])
def test_the_cases_of_a_refused_capacity_are_counted_and_the_others_pass(
    takes: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the first capacity that is tried is the one that is refused."""
    code, target = conform(capsys, takes)
    refused = {f"not offered: capacity {each}" for each in (1, 2, 3, 7) if each not in takes}
    assert (code, target["verdict"], set(target["refused"])) == (0, "passed", refused)
    assert refused_times(target, 7) == 1, "of 40 cases, one of the long ones fills a larger size"
    small = [refused_times(target, each) for each in (1, 2, 3) if each not in takes]
    assert min(small) >= 11, "of 36 short cases, about a third has each small capacity"


def test_a_target_that_refuses_every_capacity_has_had_nothing_decided(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown, and no failure of the target."""
    code, target = conform(capsys, (), asked=("--cases", "6"))
    assert (code, target["verdict"], target["error"]) == (2, "not shown", "")
    assert target["refused"] == {"not offered: capacity 1, 2, 3": 6}


@pytest.mark.parametrize(("error", "definite"), [
    ("unsupported-capacity", False), ("no-room", True)])
def test_any_other_error_to_hello_is_a_failure(
    error: str, definite: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Something may have happened, or it is another error."""
    code, target = conform(capsys, (1,), error, definite)
    assert (code, target["verdict"]) == (69, "error")


def test_a_row_says_what_was_refused(here: Path) -> None:
    """So that a table of rows can be read without the summary."""
    (here / "takes_one.py").write_text(
        TARGET.format(takes=(1,), error="unsupported-capacity", definite=True))
    rows = [run_case("queue", "python:takes_one:Queue", case, RunSettings(capacity=2))
            for case in plan("queue", cases=2, seed=0)]
    assert [(row.verdict, row.message) for row in rows] == [
        (REFUSED, "not offered: capacity 2")] * 2


def test_a_gate_does_not_pass_what_was_not_run(here: Path) -> None:
    """Every rule is unknown where every capacity was refused."""
    (here / "takes_none.py").write_text(
        TARGET.format(takes=(), error="unsupported-capacity", definite=True))
    (here / "checkvalve.toml").write_text(
        '[[suites]]\nsuite = "queue"\ncases = 3\ntargets = ["python:takes_none:Queue"]\n')
    assert run(root, ["gate", "."]) == 2
