"""A law says in a formula for which parameters a design keeps a property, and what it rests on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.cli.law import command
from checkvalve.spec.design.law import find_law
from checkvalve.spec.notation.errors import InputError

GRIDS = Path(__file__).parents[1] / "examples/grids"

TEXT = """checkvalve: 1
name: n
parameters: {p: 1..5, B: 1..7, twice: 2*B}
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: B, gives: p}]
"""


def law(*arguments: str) -> tuple[str, int]:
    """What the command prints, and its exit code."""
    ran = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if ran.exception is not None:
        raise ran.exception
    return ran.output, int(ran.return_value)


@pytest.mark.parametrize(("grid", "formula"), [
    ("nested-calls", "P + n > n*d"),
    ("permits-in-batches", "C >= b + L"),
    ("ring", "k >= 1 and a + b + c > k"),
    ("echo", "S + h + O >= W"),
])
def test_the_laws_of_the_literature_are_found(grid: str, formula: str) -> None:
    """From the grid alone, whatever the file expects; and they are true beyond it."""
    told, code = law(str(GRIDS / f"{grid}.yaml"), "--json")
    document = json.loads(told)
    assert (document["law"], document["against"], code) == (formula, [], 0)
    assert document["needed"] < document["designs"] / 4 and document["beyond"] >= 3


@settings(max_examples=25)
@given(st.tuples(*[st.integers(-2, 2)] * 3), st.integers(-6, 6))
def test_a_law_is_true_of_every_point_that_it_was_given(
    factors: tuple[int, int, int], least: int
) -> None:
    """And where one inequality says it, one inequality is found, no longer than that one."""
    grid = [{"x": x, "y": y, "z": z} for x in range(4) for y in range(4) for z in range(4)]
    observed = [(point, sum(a * v for a, v in zip(factors, point.values(), strict=True)) >= least)
                for point in grid]
    found = find_law(observed, ["x", "y", "z"])
    assert found is not None
    assert all(found.holds(point) == holds for point, holds in observed)
    assert sum(abs(each) for atom in found.atoms for _, each in atom.factors) <= sum(
        map(abs, factors))


def test_a_law_does_not_depend_on_what_was_asked_before() -> None:
    """Z3 remembers whatever a process has asked it, and answers otherwise then."""
    grid = [{"a": a, "b": b, "k": k} for a in range(4) for b in range(4) for k in range(6)]
    observed = [(point, 1 <= point["k"] < point["a"] + point["b"]) for point in grid]
    laws = set()
    for asked in range(4):
        find_law(observed[asked:], ["k", "b", "a"])
        laws.add(str(find_law(observed, ["a", "b", "k"])))
    assert laws == {"k >= 1 and a + b > k"}


def test_what_no_formula_says_has_no_law() -> None:
    """Parity is none of the terms, and two inequalities do not make it."""
    assert find_law([({"x": x}, x % 2 == 0) for x in range(9)], ["x"]) is None


def test_a_parameter_that_follows_from_others_is_no_part_of_a_law(tmp_path: Path) -> None:
    """It has nothing to choose; here the link needs room for what is written at once."""
    (tmp_path / "n.yaml").write_text(TEXT)
    told, code = law(str(tmp_path / "n.yaml"))
    assert "p, B: 35 designs" in told and "deadlock holds if and only if B >= p" in told
    assert "Observed, not proved." in told and code == 0


def test_a_law_that_fails_beyond_the_ranges_does_not_stand(tmp_path: Path) -> None:
    """The ranges were too narrow to see what else matters: the exit code says unknown."""
    (tmp_path / "n.yaml").write_text(TEXT.replace("p: 1..5", "p: 1..3, q: 1..2").replace(
        "gives: p", 'gives: "max(p, q)"'))
    told, code = law(str(tmp_path / "n.yaml"), "--set", "q=1..4", "--set", "p=4..5")
    assert "It is wrong at " in told and "Widen the ranges." in told and code == 2


@pytest.mark.parametrize(("arguments", "what"), [
    (["--set", "p=2", "--set", "B=3"], "none of the design's parameters has a range"),
    (["--property", "loss"], "nobody asks for the property 'loss'"),
])
def test_what_has_no_law_to_find_is_refused(
    arguments: list[str], what: str, tmp_path: Path
) -> None:
    """With what to do instead."""
    (tmp_path / "n.yaml").write_text(TEXT)
    with pytest.raises(InputError, match=what) as caught:
        law(str(tmp_path / "n.yaml"), *arguments)
    assert caught.value.next_step
