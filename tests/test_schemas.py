"""What a command prints with --json is what docs/schemas says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkvalve.conformance.cli import COMMANDS, root
from checkvalve.conformance.cli.outcome import run

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "schemas"


def schema(name: str) -> dict[str, Any]:
    """The schema in docs/schemas/``name``.json."""
    return dict(json.loads((SCHEMAS / f"{name}.json").read_text()))


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """The one JSON document that the command prints."""
    run(root, arguments)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", [*COMMANDS, "error"])
def test_every_schema_is_one(name: str) -> None:
    """Each command has a schema, and it is a schema itself."""
    jsonschema.Draft202012Validator.check_schema(schema(name))


EXAMPLE = "examples/designs"
RUNS = [
    ("doctor", ["doctor", "--json"]),
    ("error", ["frobnicate", "--json"]),
    ("error", ["gate", "no-such-folder", "--json"]),
]


@pytest.mark.parametrize(("name", "arguments"), RUNS, ids=[" ".join(row[1]) for row in RUNS])
def test_what_is_printed_fits_its_schema(
    name: str, arguments: list[str], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One document on stdout, valid by the schema of its command."""
    monkeypatch.chdir(ROOT)
    jsonschema.validate(printed(arguments, capsys), schema(name))
