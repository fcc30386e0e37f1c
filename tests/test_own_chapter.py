"""A machine file of one's own: each mistake in it is reported once, with its line, and ends in 64.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

HEAD = '''from checkvalve.spec.notation import *
from checkvalve.spec.expectations import expect, prove
class Counter(Machine):
    x = integer(0, 3)
    @action
    def act(self):
        require(self.x < 3)
        {act}
    @always("C-1", MUST, "It stays small.", source="here")
    def small(self):
        return {rule}
{end}
'''


def text(act: str = "self.x += 1", rule: str = "self.x < 9", end: str = "") -> str:
    """A machine with ``act`` on its eighth line, ``rule`` on its eleventh; ``end`` begins on its
    twelfth.
    """
    return HEAD.format(act=act, rule=rule, end=end)


def table(row: str) -> str:
    """The text with a table of one row, on its twelfth line."""
    return text(end=f"EXPECTATIONS = ({row},)")


def rule(name: str, id: str, kind: str = "always") -> str:
    """A rule in lines 12 to 14."""
    return f'    @{kind}("{id}", MUST, "Other.", source="here")\n    def {name}(self):\n' \
           "        return True\n"


MISTAKES = {
    "a loop without end": (text("while True: pass"), 8, "While"),
    "a true division": (text(rule="self.x / 2 < 1"), 11, "Div"),
    "too many rounds": (text("for i in range(1000000000): self.x = 1"), 8, "goes round"),
    "a variable that is not declared": (text("self.y += 1"), 8, "no attribute y"),
    "a division by zero": (text(rule="1 // self.x < 2"), 11, "by zero"),
    "too few arguments": (text("self.x = min()"), 8, "min"),
    "an assertion that fails": (text("assert self.x < 2; self.x += 1"), 5, "AssertionError"),
    "an assumption that fails": (
        text(end="    @assume\n    def fine(self): return 1 // 0"), 13, "fine"),
    "a domain that is none": (
        text(end="    @action(k=5)\n    def go(self, k): self.x = k"), 12, "not a domain"),
    "a parameter without a domain": (
        text(end="    @action\n    def go(self, k): self.x = k"), 13, "parameters"),
    "a bound that is no number": (text().replace("(0, 3)", "(0, '3')"), 4, "whole number"),
    "two rules of one id": (text(end=rule("other", "C-1")), 12, "small"),
    "a table that is none": (text(end="EXPECTATIONS = 5"), 12, "no Expectation"),
    "a row that is none": (table("5"), 12, "no Expectation"),
    "a misspelt verdict": (table('expect(Counter, "C-1", "vilated")'), 12, "vilated"),
    "a rule that is not there": (table('expect(Counter, "C-2", "holds")'), 12, "C-2"),
    "a constant that is not there": (table('expect(Counter, "C-1", "holds", K=1)'), 12, "'K'"),
    "a proof for all of nothing": (table('prove(Counter, "C-1", for_all=["K"])'), 12, "'K'"),
    "a condition of other names": (
        table('expect(Counter, "C-1", "holds", where="K > 2")'), 12, "'K'"),
    "a machine that is none": (table('expect(5, "C-1", "holds")'), 12, "machine"),
    "an end of the program": (text(end="raise SystemExit(0)"), 12, "SystemExit"),
    "a name that is not there": (text(end="nowhere"), 12, "NameError"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line_and_the_next_step(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the author's, never an internal error, also where the path is a relative one."""
    content, line, told = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(content)
    code = run(root, ["verify", "mine.py", "--json"])
    shown = json.loads(capsys.readouterr().out)["error"]
    assert (code, shown["fault"]) == (64, "input")
    assert shown["where"].endswith(f"mine.py:{line}") and told in shown["what"]
    assert shown["next_step"]


def test_two_rules_of_one_id_are_both_named_with_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first stands on line 9, the second on line 12."""
    path = tmp_path / "mine.py"
    path.write_text(text(end=rule("other", "C-1")))
    assert run(root, ["verify", str(path)]) == 64
    shown = capsys.readouterr().err
    assert f"small ({path}:9) and other" in shown and f"{path}:12: " in shown


def test_a_variant_may_override_a_rule_by_its_name(tmp_path: Path) -> None:
    """With the id of its base, which then counts once."""
    path = tmp_path / "mine.py"
    path.write_text(text(end="class Variant(Counter):\n" + rule("small", "C-1")))
    assert run(root, ["verify", str(path)]) == 0


def test_what_a_file_prints_is_not_part_of_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither where it is loaded nor from an action, which the docs allow to print."""
    path = tmp_path / "mine.py"
    path.write_text(text("self.x += 1; print('in the action')", end="print('at the end')"))
    assert run(root, ["verify", str(path), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["verdict"] == "as expected"
    assert "at the end" in shown.err and "in the action" in shown.err


def test_a_file_may_have_the_name_of_a_module_that_others_import(tmp_path: Path) -> None:
    """Its machines do not take that module's place."""
    path = tmp_path / "json.py"
    path.write_text(text())
    assert run(root, ["verify", str(path), "--json"]) == 0
    assert __import__("json") is json


def test_a_file_without_a_rule_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No row is not the same as every row as expected."""
    path = tmp_path / "mine.py"
    path.write_text(text(end="EXPECTATIONS = ()"))
    assert run(root, ["verify", str(path)]) == 64
    assert "no rule to decide" in capsys.readouterr().err


def test_a_row_that_is_not_known_is_not_called_bad(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the form of the report."""
    for form in ([], ["--rows"]):
        run(root, ["verify", "storm.queue", "--max-states", "5", *form])
        lines = [line for line in capsys.readouterr().out.splitlines() if "STORM-Q1 [" in line]
        assert {line[:3] for line in lines} == {"?  "}


def test_a_violation_that_is_called_exhaustive_counts_every_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four states are reachable, though the rule breaks in the second."""
    path = tmp_path / "mine.py"
    path.write_text(text(rule="self.x < 1"))
    assert run(root, ["verify", str(path), "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert (row["method"], row["states"], row["steps"]) == ("exhaustive", 4, 1)
