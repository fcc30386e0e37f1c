"""Parameters: one file stands for a design, or for one for each choice of their values."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.cli.check import command
from checkvalve.conformance.designs import load_designs
from checkvalve.conformance.gate.config import Designs, Limits
from checkvalve.conformance.gate.sections import design_rows
from checkvalve.spec.design.check import decide_one
from checkvalve.spec.design.loader import load, load_all
from checkvalve.spec.design.reading.schema import schema
from checkvalve.spec.notation.errors import InputError

GRIDS = Path(__file__).parents[1] / "examples/grids"

EDGE = """checkvalve: 2
name: edge
parameters: {parameters}
tasks: {{a: {{kind: source}}, b: {{kind: sink}}}}
links:
  - {{from: a, to: b, capacity: {capacity}, gives: p, takes: 2}}
expect: {{deadlock-free: {{holds: "{condition}"}}}}
"""


def edge(
    parameters: str = "{p: 3, n: 2*p}", capacity: str = "n - 2", condition: str = "n > 5",
) -> str:
    """A design of one link, with parameters."""
    return EDGE.format(parameters=parameters, capacity=capacity, condition=condition)


@pytest.mark.parametrize("grid", sorted(GRIDS.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_exact_condition_is_right_at_every_point_of_its_grid(grid: Path) -> None:
    """The engines confirm the formula of the literature, design by design."""
    designs = load_designs(grid)
    found = [{name: decide_one(design, name).outcome.value for name in design.expect}
             for design in designs]
    assert found == [dict(design.expect) for design in designs]
    both = [name for name in found[0] if len({each[name] for each in found}) == 2]
    assert len(designs) >= 40 and len(both) == 1


def test_numbers_are_computed_from_parameters_in_their_order() -> None:
    """A later one may be computed from those before it; a condition decides what is expected."""
    design = load(edge())
    assert design.parameters == (("p", 3), ("n", 6))
    link, = design.links.values()
    assert (link.capacity, link.gives, design.expect) == (4, 3, {"deadlock-free": "holds"})
    assert load(edge(condition="n > 6")).expect == {"deadlock-free": "violated"}


def test_a_range_stands_for_a_design_for_each_value() -> None:
    """They are told apart by what they differ in; a value given takes the place of the file's."""
    found = load_all(edge("{p: 1..3, n: 7, m: p}"))
    assert [each.name for each in found] == ["edge p=1 m=1", "edge p=2 m=2", "edge p=3 m=3"]
    assert [each.name for each in load_all(edge("{p: 1..3, n: 7}"), given={"p": "2"})] == ["edge"]
    with pytest.raises(InputError, match="the file stands for 3 designs"):
        load(edge("{p: 1..3, n: 7}"))


NUMBERS = st.recursive(
    st.sampled_from(["p", "n", "0", "1", "7", "13"]),
    lambda part: st.one_of(
        st.builds("({} {} {})".format, part, st.sampled_from(["+", "-", "*"]), part),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), part, part),
        st.builds("-{}".format, part)),
    max_leaves=8)
CONDITIONS = st.builds(
    "{} {} {} {} {}".format, NUMBERS, st.sampled_from(["<", "<=", "==", "!="]), NUMBERS,
    st.sampled_from([">", "and 1 <=", "or not 2 >="]), NUMBERS)


@given(CONDITIONS.filter(lambda text: len(text) <= 200))
def test_an_expression_means_what_it_means_in_python(condition: str) -> None:
    """Precedence, chains of comparisons and all; here Python itself is asked."""
    is_so = eval(condition, {"p": 3, "n": 6, "min": min, "max": max})  # noqa: S307 - drawn above
    wanted = "holds" if is_so else "violated"
    assert load(edge(condition=condition)).expect == {"deadlock-free": wanted}


@pytest.mark.parametrize(("text", "line", "what"), [
    (edge(capacity="room"), 6, "there is no parameter 'room' before it; there are p, n"),
    (edge("{n: 2*p, p: 3}"), 3, "there is no parameter 'p' before it"),
    (edge(capacity="p / 2"), 6, "'p / 2' means nothing here"),
    (edge(capacity="p // (n - 6)"), 6, "it divides by 0"),
    (edge(capacity="p **"), 6, "it is no expression"),
    (edge(capacity="n > 2"), 6, "it is a condition and no number"),
    (edge(capacity='"' + "(" * 150 + "1" + ")" * 20 + '"'), 6, "it is no expression"),
    (edge(capacity='"' + "9" * 18 + ' * 99"'), 6, "a number in it is too large"),
    (edge(capacity='"' + "1 + " * 60 + '1"'), 6, "more than 200 characters"),
    (edge(capacity='"len(p, n)"'), 6, "means nothing here"),
    (edge(capacity="p.real"), 6, "means nothing here"),
    (edge(condition="q"), 7, "there is no parameter 'q'"),
    (edge("{p: , n: 2}"), 3, "must be a whole number, a range or an expression, but is null"),
    (edge("{p: 1..1000000000, n: 2}"), 3, "1000000000 choices of values, more than 1000"),
    (edge("{p: 5..1, n: 2}"), 3, "has no value: 5 is more than 1"),
    (edge("{p: 1.5, n: 2}"), 3, "must be a whole number, a range or an expression"),
    (edge("[p, n]"), 3, "must be a mapping"),
    (edge("{p: 3, n: 6, 1x: 2}"), 3, "has characters that are not allowed"),
    (edge(capacity="2 - n"), 6, "is -4, but must be 0 to 1000000"),
    (edge("{p: 1..40, n: 1..40}"), 3, "1600 choices of values, more than 1000"),
    (edge("{p: 1..999999999999999999, n: 6}"), 3, "choices of values, more than 1000"),
])
def test_what_cannot_be_computed_is_refused_with_its_line(text: str, line: int, what: str) -> None:
    """And with what to write instead."""
    with pytest.raises(InputError) as caught:
        load_all(text, "design.yaml")
    assert what in caught.value.what
    assert re.fullmatch(rf"design\.yaml:{line}:\d+", caught.value.where)
    assert caught.value.next_step


def test_a_sweep_is_told_in_a_line_for_each_property(tmp_path: Path) -> None:
    """Then what is not as expected: how often, at which values, and the report on the first."""
    file = tmp_path / "edge.yaml"
    file.write_text(edge("{p: 1..5, n: 5}", "n", "p != 4"))
    ran = CliRunner().invoke(command, [str(file)], standalone_mode=False)
    assert ran.return_value == 1
    told = ran.output.splitlines()
    assert told[0] == f"{file}  p = 1..5, n = 5: 5 designs"
    assert told[1].startswith("  FAIL  deadlock        none in 4 designs, found in 1; ")
    assert told[1].endswith("not as expected: edge p=4, edge p=5")
    assert f"edge p=4  ({file})" in told and told[-1] == "3 of 5 designs as expected"
    ran = CliRunner().invoke(
        command, [str(file), "--set", "p=1..3", "--json"], standalone_mode=False)
    document = json.loads(ran.output)
    assert [each["parameters"] for each in document["designs"]] == [
        {"p": value, "n": 5} for value in (1, 2, 3)]


@pytest.mark.parametrize("setting", ["p", "p=", "=3", "q=3", "p=x"])
def test_a_value_that_cannot_be_set_is_refused(setting: str, tmp_path: Path) -> None:
    """With the name that was meant, or how to write it."""
    file = tmp_path / "edge.yaml"
    file.write_text(edge())
    ran = CliRunner().invoke(command, [str(file), "--set", setting], standalone_mode=False)
    assert isinstance(ran.exception, InputError) and ran.exception.next_step
    assert ran.output == ""


def test_a_gate_has_rows_for_each_design_of_a_file(tmp_path: Path) -> None:
    """Each under its own name."""
    file = tmp_path / "edge.yaml"
    file.write_text(edge("{p: 1..2, n: 6}"))
    rows = design_rows("edge.yaml", file, Designs((file,), Limits(5.0)))
    assert [row.subject for row in rows if row.property == "deadlock-free"] == [
        "edge.yaml (edge p=1)", "edge.yaml (edge p=2)"]


@pytest.mark.parametrize("grid", sorted(GRIDS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_schema_for_editors_knows_parameters(grid: Path) -> None:
    """An editor marks nothing in the examples, though what is checked has numbers only."""
    jsonschema.validate(yaml.safe_load(grid.read_text()), schema())
