"""``checkvalve new``: what it writes runs, by the command that it prints."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.new import STARTS
from checkvalve.conformance.cli.outcome import run


SCHEMAS = Path(__file__).resolve().parent.parent / "docs" / "schemas"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", STARTS)
def test_what_it_writes_runs_by_the_command_that_it_prints(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it is, with nothing to fill in."""
    assert run(root, ["new", kind]) == 0
    printed = capsys.readouterr().out.strip().rpartition("\n")[2].strip()
    assert printed.startswith("checkvalve ")
    assert run(root, shlex.split(printed)[1:]) == 0, capsys.readouterr().out


def test_the_document_says_what_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    """And by which command it is run, as the schema has it."""
    assert run(root, ["new", "gate", "sub/checkvalve.toml", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads((SCHEMAS / "new.json").read_text()))
    assert document == {"file": "sub/checkvalve.toml", "run": "checkvalve gate sub"}


def test_a_file_that_is_there_is_not_changed(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says how to name another one."""
    Path("mine.yaml").write_text("mine")
    assert run(root, ["new", "design", "mine.yaml"]) == 64
    assert Path("mine.yaml").read_text() == "mine"
    assert "checkvalve new design FILE" in capsys.readouterr().err
