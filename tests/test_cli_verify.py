"""``checkvalve verify`` decides what a chapter promises, ours or a user's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

EXAMPLES = Path(__file__).parent.parent / "examples" / "tutorial"


def test_a_chapter_as_expected_ends_in_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line counts the rows, and says how many were proved for all constants."""
    assert run(root, ["verify", "flow.credit"]) == 0
    assert "all as expected" in capsys.readouterr().out.splitlines()[-1]


def test_the_document_has_the_promised_fields(capsys: pytest.CaptureFixture[str]) -> None:
    """Each row names machine, constants, rule, expected, verdict, method and costs."""
    run(root, ["verify", "flow.credit", "--json"])
    rows = json.loads(capsys.readouterr().out)["results"]
    assert {"machine", "constants", "rule", "expected", "verdict", "method", "states", "steps",
            "seconds"} <= set(rows[0])
    found = [row for row in rows if (row["machine"], row["rule"]) == ("flow.credit.Link", "FLOW-3")]
    assert {row["method"] for row in found} == {"exhaustive"} and len(found) >= 120


def test_a_users_file_is_verified_and_its_violation_shown(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Three philosophers take their left forks, and that is all."""
    assert run(root, ["verify", str(EXAMPLES / "philosophers.py"), "--traces"]) == 1
    shown = capsys.readouterr().out
    assert "3. take_left(i=2)" in shown and "OneLeftHander TABLE-1" in shown


@pytest.mark.parametrize(("text", "message"), [
    ("x = 1\n", "defines no machine"), ("x = \n", "SyntaxError"), ("import nowhere\n", "nowhere"),
])
def test_a_file_that_cannot_be_used_gives_one_message(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, and the file's name."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    assert run(root, ["verify", str(path)]) == 64
    shown = capsys.readouterr().err
    assert message in shown and "mine.py" in shown and "Traceback" not in shown


def test_a_spent_budget_ends_in_two() -> None:
    """Too few states to decide anything: unknown, which is not as expected."""
    assert run(root, ["verify", "storm.queue", "--max-states", "50"]) == 2
