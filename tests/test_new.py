"""``checkvalve new``: what it writes runs, by the command that it prints."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.new import STARTS, schema_text
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.gate.config import FILE_NAME, load
from checkvalve.spec.notation.errors import InputError


ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"


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


def test_a_gate_lists_the_designs_that_are_in_its_folder() -> None:
    """Here and in designs/, and no other YAML; without any, the lines for them are comments."""
    Path("designs").mkdir()
    assert run(root, ["new", "design"]) == run(root, ["new", "design", "designs/other.yaml"]) == 0
    Path("compose.yaml").write_text("services: {}")
    assert run(root, ["new", "gate"]) == run(root, ["new", "gate", "sub/checkvalve.toml"]) == 0
    assert tomllib.loads(Path("checkvalve.toml").read_text())["designs"] == [
        {"files": ["designs/other.yaml", "my_design.yaml"]}]
    assert "designs" not in tomllib.loads(Path("sub/checkvalve.toml").read_text())


def test_a_file_that_is_there_is_not_changed(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says how to name another one."""
    Path("mine.yaml").write_text("mine")
    assert run(root, ["new", "design", "mine.yaml"]) == 64
    assert Path("mine.yaml").read_text() == "mine"
    assert "checkvalve new design FILE" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["design", "gate"])
def test_the_first_line_names_a_schema_that_is_there_and_fits(kind: str) -> None:
    """By the comment that editors know: of the servers for YAML and for TOML."""
    assert run(root, ["new", kind, f"sub/{STARTS[kind].file}"]) == 0
    path = Path("sub") / STARTS[kind].file
    first = path.read_text().partition("\n")[0]
    named = re.fullmatch(r"(?:# yaml-language-server: \$schema=|#:schema \./)(\S+)", first)
    assert named is not None
    schema = json.loads((Path("sub") / named[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    text = path.read_text()
    document = yaml.safe_load(text) if kind == "design" else tomllib.loads(text)
    jsonschema.validate(document, schema)


def test_the_schemas_are_written_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Into a folder; again, where they are there already."""
    for _ in range(2):
        assert run(root, ["new", "schema", "folder", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, json.loads((SCHEMAS / "new.json").read_text()))
        assert all(Path(file).is_file() for file in document["files"])


GATES = ["examples/checkvalve.toml", *(
    str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("*.toml")) if path.name == FILE_NAME)]


@pytest.mark.parametrize("file", GATES)
def test_the_schema_of_a_gate_fits_what_the_tree_has(file: str) -> None:
    """The examples of users, and our own."""
    jsonschema.validate(tomllib.loads((ROOT / file).read_text()),
                        json.loads(schema_text("checkvalve.schema.json")))


@pytest.mark.parametrize("text", [
    "suites = [{suite = 'queue', targets = ['deque'], cases = 0}]",
    "suites = [{suite = 'queue', targets = ['deque'], cases = 4, quick = true}]",
    "suites = [{suite = 'queue', targets = ['deque'], known = {deque = []}}]",
    "suites = [{suite = 'queue', targets = ['deque'], nonsense = 1}]",
    "suites = [{targets = ['deque']}]",
    "verify = ['flow.credit']\nlimits = {max_memory = '2 apples'}",
    "verify = ['flow.credit']\nlimits = {max_seconds = 0}", "designs = [{}]", "",
])
def test_files_that_the_gate_refuses_the_schema_refuses(text: str, tmp_path: Path) -> None:
    """Wherever that is a matter of shape."""
    path = tmp_path / FILE_NAME
    path.write_text(text)
    with pytest.raises(InputError):
        load(path)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), json.loads(schema_text("checkvalve.schema.json")))


@pytest.mark.parametrize("text", [
    "verify = ['flow.credit']\nlimits = {max_memory = '2G', max_seconds = 1, max_states = 9}",
    "suites = [{suite = 'queue', targets = ['deque'], quick = false, cases = 4, seed = 0}]",
])
def test_files_that_the_gate_takes_the_schema_takes(text: str, tmp_path: Path) -> None:
    """Sizes with units, whole numbers of seconds, a flag that is off."""
    path = tmp_path / FILE_NAME
    path.write_text(text)
    assert load(path)
    jsonschema.validate(tomllib.loads(text), json.loads(schema_text("checkvalve.schema.json")))
