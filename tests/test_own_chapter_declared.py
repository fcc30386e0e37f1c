"""Declarations that make no sense: each is reported with its own line, whatever the constants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

HEAD = """from statistics import mean
from checkvalve.spec.notation import *
class A(Machine):
{declared}
    @action
    def go(self):
        require(self.x < 1)
        {act}
    @always({id}, MUST, "It stays small.", source="here")
    def small(self):
        return True
"""
PLAIN = "    x = integer(0, 1)"

DECLARED = {
    "a constant that is declared twice":
        ("    N = const(3)\n    x = integer(0, N)\n    N = const(4)", 5, "once more below"),
    "a constant with two names":
        ("    M = N = const(3)\n    x = integer(0, N)", 4, "also called N"),
    "a lower limit that is none": ("    N = const(2, at_least=None)\n" + PLAIN, 4, "None is not"),
    "a constant that is a text": ("    N = const('2')\n" + PLAIN, 4, "no whole number"),
    "a default beyond its limit": ("    N = const(9, at_most=3)\n" + PLAIN, 4, "at most 3"),
    "a default of 5,000 digits": ("    N = const(10**5000, at_most=3)\n" + PLAIN, 4, "16,610 bits"),
    "a range of 5,000 digits":
        ("    N = const(10**5000)\n    x = integer(0, N)", 5, "beyond 2**62"),
    "a domain of 2**64 values":
        ("    N = const(2**64)\n    s = subset(upto(N))\n" + PLAIN, 5, "18446744073709551616 v"),
    "a domain of fewer than no values":
        ("    s = subset(upto(0 - const(1)))\n" + PLAIN, 4, "outside the class"),
    "a domain of -2 values":
        ("    N = const(1)\n    s = subset(upto(N - 3))\n" + PLAIN, 5, "-2 values"),
    "a truth value that starts as None": ("    b = boolean(init=None)\n" + PLAIN, 4, "as None"),
    "a start outside its range": ("    x = integer(0, 1, init=7)", 4, "starts as 7"),
    "a table that is too short":
        ("    T = table((1,))\n    a = array(upto(3), integer(0, each(T)))\n" + PLAIN, 5, "table"),
    "a table that is too short, in an expression":
        ("    T = table((1,))\n    a = array(upto(3), integer(0, 4 - each(T)))\n" + PLAIN, 5,
         "not one number for each"),
    "an entry of a table outside an array":
        ("    T = table((1,))\n    y = integer(0, each(T))\n" + PLAIN, 5, "no element of an array"),
    "a table of texts": ("    T = table(('a',))\n" + PLAIN, 4, "no tuple"),
    "a division by zero in a range":
        ("    N = const(0)\n    y = integer(0, 4 // N if 0 else N // N)\n" + PLAIN, 5, "by zero"),
    "a record of no tuple": ("    p = record(5, a=integer(0, 1))\n" + PLAIN, 4, "fields"),
    "a queue of numbers": ("    q = fifo(5, 3)\n" + PLAIN, 4, "declare"),
    "a queue of negative capacity": ("    q = fifo(boolean(), -1)\n" + PLAIN, 4, "capacity is -1"),
}


def failure(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> tuple[int, str]:
    """The line and the fact that the one message of ``verify`` names."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    assert run(root, ["verify", str(path), "--json"]) == 64
    shown = json.loads(capsys.readouterr().out)["error"]
    assert shown["fault"] == "input" and shown["next_step"]
    name, _, line = shown["where"].rpartition(":")
    assert name == str(path)
    return int(line), shown["what"]


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_that_makes_no_sense_is_told_with_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the author's, and never an internal error."""
    declared, line, told = DECLARED[name]
    text = HEAD.format(declared=declared, act="self.x = 1", id='"A-1"')
    where, what = failure(tmp_path, capsys, text)
    assert (where, told in what) == (line, True)


@pytest.mark.parametrize("act", [
    "self.x = boolean()", 'step("A-2", MUST, "It.", source="x")', "self.x = mean([1])",
])
def test_a_call_that_the_notation_lacks_is_told_where_it_is_made(
    act: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And not in the file of the function that is called."""
    text = HEAD.format(declared=PLAIN, act=act, id='"A-1"')
    line, what = failure(tmp_path, capsys, text)
    assert (line, "cannot call" in what) == (8, True)


@pytest.mark.parametrize("id", ["2", "None", '""'])
def test_the_id_of_a_rule_is_a_text(
    id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it can stand in reports, and be found again."""
    text = HEAD.format(declared=PLAIN, act="self.x = 1", id=id)
    line, what = failure(tmp_path, capsys, text)
    assert (line, "must be a text" in what) == (9, True)


def test_a_constant_of_the_module_is_none_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody could set it."""
    text = "from checkvalve.spec.notation import *\nN = const(3)\n" + HEAD.format(
        declared="    x = integer(0, N)", act="self.x = 1", id='"A-1"')
    line, what = failure(tmp_path, capsys, text)
    assert (line, "outside the class" in what) == (6, True)


def test_a_rule_over_no_values_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is none of it to decide, which no verdict should hide."""
    text = HEAD.format(declared="    N = const(0)\n" + PLAIN, act="self.x = 1", id='"A-1"')
    text = text.replace('source="here")', 'source="here", i=upto(N))').replace(
        "small(self)", "small(self, i)")
    line, what = failure(tmp_path, capsys, text)
    assert (line, "speaks of nothing" in what) == (10, True)


def test_an_assumption_that_does_not_hold_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The default constants are the author's as well."""
    text = HEAD.format(declared=PLAIN, act="self.x = 1", id='"A-1"') + (
        "    @assume\n    def fine(self):\n        return False\n")
    line, what = failure(tmp_path, capsys, text)
    assert (line, "it assumes fine" in what) == (12, True)


def test_an_element_may_start_with_what_is_left_of_its_own_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An expression over the entry of a table is one at the element's own index."""
    declared = ("    C = const(5)\n    T = table((1, 3))\n"
                "    a = array(one_of(T), integer(0, C, init=C - each(T)))\n" + PLAIN)
    path = tmp_path / "mine.py"
    text = HEAD.format(declared=declared, act="self.x = 1", id='"A-1"')
    path.write_text(text.replace("return ", "return self.a[0] == 4 and self.a[1] == 2 and "))
    assert run(root, ["verify", str(path)]) == 0, capsys.readouterr()


def test_a_domain_without_a_size_is_told_before_a_proof_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A proof for all values of a constant cannot take steps that are as many as it says."""
    path = tmp_path / "mine.py"
    path.write_text(HEAD.format(declared="    N = const(2)\n" + PLAIN, act="self.x = 1", id='"A-1"')
                    .replace("@action", "@action(i=upto(N))").replace("go(self)", "go(self, i)")
                    + "from checkvalve.spec.expectations import prove\n"
                    + "EXPECTATIONS = (prove(A, 'A-1', 'small', for_all=('N',)),)\n")
    assert run(root, ["verify", str(path)]) == 64
    assert "to which a proof gives no value" in capsys.readouterr().err
