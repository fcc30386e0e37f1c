"""The output of a command with --json is as docs/schemas has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkvalve.conformance.cli import COMMANDS, root
from checkvalve.conformance.cli.outcome import run
from checkvalve.spec.design.why.blocked import WORDS

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"


def schema(name: str) -> dict[str, Any]:
    """The schema in docs/schemas/``name``.json."""
    return dict(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The one JSON document that the command prints."""
    run(root, [*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", [*COMMANDS, "error"])
def test_every_command_has_a_schema(name: str) -> None:
    """Each command has a schema, and it is a schema itself."""
    jsonschema.Draft202012Validator.check_schema(schema(name))


RUNS = [
    ["check", "examples/designs/akka-a1-deadlocked.yaml", "examples/designs/ring-live.yaml"],
    ["law", "examples/grids/nested-calls.yaml", "--set", "P=1..3"],
    ["conform", "deque", "--cases", "4"],
    ["doctor"],
    ["completion", "bash"],
    ["suites"],
    ["judge"],
    ["judge", "examples/logs/jobs.csv", "--suite", "queue", "--map", "examples/logs/jobs.yaml"],
    ["judge", "examples/logs/jobs.csv", "--suite", "queue", "--map", "examples/logs/jobs.yaml",
     "--dry-run"],
    ["suites", "queue", "awaits.gate"],
    ["targets", "--twins"],
    ["rules"],
    ["export", "flow.credit.Link", "--to", "tla"],
    ["export", "examples/designs/ring-live.yaml", "--to", "promela"],
    ["zoo", "marks"],
    ["zoo", "storm.spout", "--default"],
    ["zoo", "--histories"],
    ["verify", "flow.credit"],
]


@pytest.mark.parametrize("arguments", RUNS, ids=lambda row: row[0])
def test_what_is_printed_fits_its_schema(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One document on stdout, valid by the schema of its command."""
    monkeypatch.chdir(ROOT)
    jsonschema.validate(printed(capsys, *arguments), schema(arguments[0]))


WAITS = {
    "room": """
tasks: {a: {kind: script, steps: [{write: x}]}, b: {kind: script, count: 1, steps: [{read: x}]}}
links: [{name: x, from: a, to: b, capacity: 1}]
""",
    "data": """
tasks: {a: {kind: script, steps: [{read: y}, {write: x}]},
        b: {kind: script, steps: [{read: x}, {write: y}]}}
links: [{name: x, from: a, to: b, capacity: 1}, {name: y, from: b, to: a, capacity: 1}]
""",
    "a go": """
tasks: {writer: {kind: source}, reader: {kind: sink}}
links:
  - {name: main, from: writer, to: reader, flow: stop-go, capacity: 4, stop: 1, go: 0, lag: 1,
     lossy: 1, full: drop-newest}
""",
    "its kind at the front": """
tasks:
  server: {kind: script, steps: [{write: wire, of: a}, {write: wire, of: b}]}
  client: {kind: script, steps: [{read: wire, of: b}, {read: wire, of: a}]}
links: [{from: server, to: client, capacity: 3, name: wire, kinds: [a, b], take: head}]
""",
    "a thread": """
tasks: {calls: {kind: call, pool: p, depth: 2, roots: 2}}
pools: {p: {threads: 2}}
""",
    "a permit": """
tasks: {a: {kind: script, steps: [{acquire: p, count: 2}, {release: p}]}}
pools: {p: {threads: 2}}
""",
    "an acquire": """
tasks: {t0: {kind: script, steps: [{release: p}, {write: l0}, {acquire: p}]}, t1: {kind: sink}}
links: [{name: l0, from: t0, to: t1, capacity: 2}]
pools: {p: {threads: 3}}
""",
    "an end": """
tasks:
  main: {kind: script, count: 1, steps: [{join: child}, {read: out, count: 2}]}
  child: {kind: script, count: 1, steps: [{write: out, count: 2}]}
links: [{name: out, from: child, to: main, capacity: 1}]
""",
    "a close": """
tasks:
  main: {kind: script, count: 1, steps: [{read: out, until: closed}]}
  child: {kind: script, count: 1, steps: [{write: out}]}
  never: {kind: script, count: 1, steps: [{join: main}, {close: out}]}
links: [{name: out, from: child, to: main, capacity: 1}]
""",
}


def test_there_is_a_design_for_each_kind_of_wait() -> None:
    """The engines know no other, and the schema has them all."""
    kinds = schema("check")["$defs"]["wait"]["properties"]["for"]["enum"]
    assert {*WAITS} == {*WORDS} == {*kinds}


@pytest.mark.parametrize("kind", WAITS)
def test_each_kind_of_wait_fits_the_schema(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In a design that deadlocks with it."""
    path = tmp_path / "design.yaml"
    path.write_text(f"checkvalve: 2\nname: waits\n{WAITS[kind]}")
    document = printed(capsys, "check", str(path), "--no-repair")
    jsonschema.validate(document, schema("check"))
    assert kind in {wait["for"] for result in document["results"] for wait in result["waits"]}


def test_a_campaign_fits_its_schema(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It has a unit that runs and one with a target that fails."""
    path = tmp_path / "grid.toml"
    path.write_text('[[runs]]\nsuites = ["marks"]\ntargets = ["reference.marks", "command:false"]\n'
                    'cases = 4\nprograms = 2\n')
    document = printed(capsys, "campaign", str(path), "--out", str(tmp_path / "out"))
    jsonschema.validate(document, schema("campaign"))
    assert [unit["given_up"] for unit in document["units"]] == [False, True]


def test_a_certified_verdict_fits_its_schema(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict with a certificate that was written just before."""
    monkeypatch.chdir(ROOT)
    design = "examples/designs/ring-live.yaml"
    printed(capsys, "check", design, "--certificates", str(tmp_path))
    for path in tmp_path.iterdir():
        document = printed(capsys, "certify", str(path), design)
        jsonschema.validate(document, schema("certify"))
        assert document["confirmed"]


def test_a_replay_fits_its_schema(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A fixture of a dropping queue, replayed on that queue and on one that does not drop."""
    printed(capsys, "conform", "deque", "--cases", "4", "--fixtures", str(tmp_path))
    fixture = str(next(tmp_path.glob("*QUEUE-1.json")))
    for target, broken in (("deque", True), ("queue.Queue", False)):
        document = printed(capsys, "replay", fixture, target)
        jsonschema.validate(document, schema("replay"))
        assert (document["breach"] is not None) == broken


def test_a_gate_fits_its_schema(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate's output, with rows of every kind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkvalve.toml").write_text(
        'verify = ["flow.bucket"]\n[[suites]]\nsuite = "queue"\ncases = 4\n'
        'targets = ["deque", "command:./none"]\n'
    )
    document = printed(capsys, "gate")
    jsonschema.validate(document, schema("gate"))
    assert {row["judgement"] for row in document["results"]} == {
        "as expected", "violated", "follows", "not shown", "unknown", "error"}


@pytest.mark.parametrize("arguments", [["frobnicate"], ["gate", "none"], ["check", "none.yaml"]])
def test_an_error_fits_the_schema_of_errors(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bad usage and bad input are one document too."""
    monkeypatch.chdir(tmp_path)
    jsonschema.validate(printed(capsys, *arguments), schema("error"))
