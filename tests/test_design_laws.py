"""A law says in a formula for which parameters a design keeps a property, and how that was decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.conformance.cli.law import command
from checkvalve.conformance.designs.grids import Grid
from checkvalve.spec.design.formats.files import read_any
from checkvalve.spec.design.laws.filling import prove_value
from checkvalve.spec.certify.checker import check_law_certificate
from checkvalve.spec.design.laws.law import Atom, Law, Term, find_law
from checkvalve.spec.design.laws.law_certificate import law_certificate
from checkvalve.spec.design.laws.law_proof import prove
from checkvalve.spec.design.laws.rates import proved_by_rates
from checkvalve.spec.design.laws.regions import Domain, Made, Regions, settled
from checkvalve.spec.design.laws.value import Value, find_value
from checkvalve.spec.design.loader import load_point
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.parameters import point_with, points
from checkvalve.spec.design.reading.properties import fact
from checkvalve.spec.design.reading.source import Node, parse
from checkvalve.spec.design.reading.symbols import Form
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime
from checkvalve.spec.verdicts.verdict import Budget

GRIDS = Path(__file__).parents[1] / "examples/grids"

TEXT = """checkvalve: 2
name: n
parameters: {p: 1..5, B: 1..7, twice: 2*B}
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: B, gives: p}]
"""


def law(*arguments: str) -> tuple[str, int]:
    """The output of the command, and its exit code."""
    ran = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if ran.exception is not None:
        raise ran.exception
    return ran.output, int(ran.return_value)


NARROW = {
    "echo": ["W=1..5", "S=1..2", "O=0..1", "Cr=0..1"],
    "dataflow-edge": ["p=1..3", "c=1..4", "d=0..2", "B=2..8"],
    "permits-in-batches": ["C=1..4", "b=1..4", "L=0..3"], "ring": ["k=0..6", "a=1..2", "c=1..2"],
    "shared-window": ["W=1..4", "t=1..3", "M=1..3"], "nested-calls": ["P=1..4"],
}
"""Ranges that are enough to see the law, and take less time than those of the files."""


def narrow(grid: str) -> list[str]:
    """The command's arguments for a grid, with narrow ranges."""
    return [str(GRIDS / f"{grid}.yaml"),
            *(word for each in NARROW.get(grid, ()) for word in ("--set", each)), "--json"]


@pytest.mark.parametrize(("grid", "formula", "bounded"), [
    ("nested-calls", "P + n > n*d", {"d"}),
    ("permits-in-batches", "C >= b + L", set()),
    ("ring", "k >= 1 and a + b + c > k", set()),
    ("echo", "S + h + O + Cr >= W", set()),
    ("dataflow-edge", "B + gcd(p, c) >= p + c + d % gcd(p, c)", set()),
    ("late-credit", "B >= m", set()),
    ("shared-window", "W + 1 >= t + M", set()),
])
def test_the_laws_of_the_literature_are_found_and_proved(
    grid: str, formula: str, bounded: set[str]
) -> None:
    """From the grid alone, whatever the file expects; and they are true of all values, but for
    the parameters on which the net itself depends."""
    told, code = law(*narrow(grid))
    document = json.loads(told)
    assert (document["law"], document["against"], code) == (formula, [], 0)
    assert document["needed"] < document["designs"] / 4 and document["beyond"] >= 3
    assert document["proved"]
    for side in document["sides"].values():
        assert {name for name, (_, top) in side["values"].items() if top < 1_000_000} == bounded
    assert bool(document["sides"]["violated"]["runs"]) == (grid != "dataflow-edge")
    assert not document["sides"]["holds"]["runs"]


@pytest.mark.parametrize(("least", "proved"), [
    (0, (True, True)), (1, (True, False)), (-1, (False, True)),
])
def test_only_the_side_of_a_law_that_is_true_is_proved(
    least: int, proved: tuple[bool, bool]
) -> None:
    """A formula that asks for too much, or for too little, is wrong on one side."""
    formula = Law((Atom(((("one", ("B",)), 1), (("one", ("m",)), -1)), least),))
    found = prove(formula, maker("late-credit"), {"m": (1, 3), "B": (1, 3)}, [],
                  [{"m": 2, "B": 2}], Deadline())
    assert (found.holds.proved, found.violated.proved) == proved
    assert all(side.proved or side.reason for side in (found.holds, found.violated))


RATES = "p", "c"


@pytest.mark.parametrize(("terms", "least", "proved"), [
    ([(("gcd", RATES), 1), (("rest", (*RATES, "d")), -1)], 0, (True, True)),
    ([(("gcd", RATES), 1)], 0, (False, True)),  # it asks for too little: some that deadlock
    ([(("gcd", RATES), 1), (("rest", (*RATES, "d")), -1)], 1, (True, False)),
    ([(("gcd", ("p", "d")), 1)], 0, (False, False)),  # not what is left of this link's elements
])
def test_a_law_of_rates_is_proved_for_all_rates_or_not_at_all(
    terms: list[tuple[Term, int]], least: int, proved: tuple[bool, bool]
) -> None:
    """The solver does not know what a greatest common divisor is, and what it knows suffices."""
    one: list[tuple[Term, int]] = [(("one", (name,)), by) for name, by in
                                   (("B", 1), ("p", -1), ("c", -1))]
    formula = Law((Atom((*one, *terms), least),))
    regions = Regions(maker("dataflow-edge"), Domain(
        {"p": (1, 5), "c": (1, 5), "d": (0, 3), "B": (1, 9)}), False)
    assert proved_by_rates(formula, regions, [{"p": 2, "c": 3, "d": 1, "B": 6}],
                           Deadline()) == proved
    assert "p" not in regions.domain.bounded


def test_what_is_more_than_one_link_is_not_proved_by_its_rates() -> None:
    """Another design may deadlock for another reason."""
    regions = Regions(maker("late-credit"), Domain({"m": (1, 3), "B": (1, 3)}), False)
    assert proved_by_rates(Law((Atom(((("gcd", ("m", "B")), 1),), 1),)), regions,
                           [{"m": 2, "B": 2}], Deadline()) == (False, False)


def test_deep_calls_are_proved_to_get_stuck_by_one_run_for_each_depth() -> None:
    """Runs that make each step as often as it can be made are the same at most points; those that
    end one call before they begin another are a different one at each."""
    calls = ("one", ("n",)), ("one", ("P",))
    formula = Law((Atom(((calls[1], 1), (calls[0], -4)), 1),))  # P > n*(d - 1)
    found = prove(formula, maker("nested-calls"), {"P": (1, 5), "n": (1, 3), "d": (5, 5)},
                  [{"P": 1, "n": 1, "d": 5}, {"P": 5, "n": 3, "d": 5}],
                  [{"P": 5, "n": 1, "d": 5}], Deadline())
    assert found.is_whole and len(found.violated.runs) <= 5


def test_the_law_of_two_rates_is_certified_on_both_sides() -> None:
    """It has greatest common divisors, so each pair of rates has runs of its own."""
    law = Law((Atom(((("one", ("B",)), 1), (("gcd", ("p", "c")), 1), (("one", ("p",)), -1),
                     (("one", ("c",)), -1), (("rest", ("p", "c", "d")), -1)), 0),))
    made, tight = maker("dataflow-edge"), {"p": 5, "c": 4, "d": 0, "B": 5}
    proof = prove(law, made, {"p": (5, 5), "c": (4, 4), "d": (0, 1), "B": (3, 10)}, [tight], [],
                  Deadline(), apart=False)
    document = law_certificate("dataflow edge", law, proof, ())
    assert document is not None and len(document["violated"]["runs"]) > 1
    told = check_law_certificate(json.loads(json.dumps(document)), made)
    assert told.confirmed and "where it is false, each design can" in told.why


def test_a_proof_that_has_no_time_says_so() -> None:
    """Neither side is proved then, and the law is one that was observed."""
    found = prove(Law(()), maker("late-credit"), {"m": (1, 3), "B": (1, 3)}, [],
                  [{"m": 2, "B": 2}], Deadline(0.0))
    assert not found.holds.proved and found.holds.reason == "there was no time left"


@settings(max_examples=30)
@given(st.data())
def test_a_net_with_symbols_is_the_net_of_every_point_of_its_region(data: st.DataObject) -> None:
    """With numbers in place of its symbols it is what is translated at that point."""
    grid = data.draw(st.sampled_from(sorted(file.stem for file in GRIDS.glob("*.yaml"))))
    made, all_points = maker(grid), grid_points(grid)
    names = list(all_points[0])

    def drawn() -> dict[str, int]:
        return data.draw(st.sampled_from(all_points))
    point = drawn()
    regions = Regions(made, Domain(dict.fromkeys(names, (0, 99))), data.draw(st.booleans()))
    regions.add(point)
    region, = regions.found
    for other in (point, *(drawn() for _ in range(10))):
        if region.has(other) and region.nets:
            nets = [Counters.of(translate(part, AIM)) for part in parts(made(other))]
            assert [settled(net, other) for net in region.nets] == nets


@cache
def plain(grid: str) -> Node:
    """The tree of a grid, of which nothing is expected."""
    tree = parse((GRIDS / f"{grid}.yaml").read_text(), grid)
    return replace(tree, value={k: v for k, v in tree.value.items() if k != "expect"})


def maker(grid: str) -> Made:
    """The function that makes the designs of a grid, also of symbols."""
    root = plain(grid)

    def made(values: Mapping[str, int]) -> Design:
        return load_point(root, point_with(root, grid, {}, values), grid, known=True)
    return made


@cache
def grid_points(grid: str) -> list[dict[str, int]]:
    """The values of those parameters of a grid that have a range."""
    declared = plain(grid).value["parameters"].value
    names = [name for name, node in declared.items() if ".." in str(node.value)]
    return [{name: point[name] for name in names} for point in points(plain(grid), grid, {})]


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


def test_two_short_inequalities_come_before_one_long_one() -> None:
    """With products, one inequality can be bent to fit a small grid; nobody would read it."""
    grid = [{"v": v, "w": w, "W": most} for v in (1, 2, 3) for w in (1, 2, 3)
            for most in range(1, 6)]
    found = find_law([(point, max(point["v"], point["w"]) < point["W"]) for point in grid],
                     ["v", "w", "W"])
    assert str(found) == "W > v and W > w"


def test_what_no_formula_says_has_no_law() -> None:
    """Parity is none of the terms, and two inequalities do not make it."""
    assert find_law([({"x": x}, x % 2 == 0) for x in range(9)], ["x"]) is None


def test_a_parameter_that_follows_from_others_is_no_part_of_a_law(tmp_path: Path) -> None:
    """It has nothing to choose; here the link needs room for what is written at once."""
    (tmp_path / "n.yaml").write_text(TEXT)
    told, code = law(str(tmp_path / "n.yaml"))
    assert "p, B: 35 designs" in told and "deadlock: none if and only if B >= p" in told
    assert "proved for every p >= 1, B >= 1 (up to 1,000,000)" in told and code == 0
    assert "For one capacity each: B >= p.\n" in told
    assert "Smallest that suffice with p=5, checked: (B=5)" in told


def test_a_law_that_fails_beyond_the_ranges_does_not_stand(tmp_path: Path) -> None:
    """The ranges were too narrow to see what else matters: the exit code says unknown."""
    (tmp_path / "n.yaml").write_text(TEXT.replace("p: 1..5", "p: 1..3, q: 1..2").replace(
        "gives: p", 'gives: "max(p, q)"'))
    told, code = law(str(tmp_path / "n.yaml"), "--set", "q=1..4", "--set", "p=4..5")
    assert "It is wrong at " in told and "Widen the ranges." in told and code == 2


def test_where_no_design_is_decided_in_time_there_is_no_law() -> None:
    """Nothing is claimed, and it is said what would help: the exit code says unknown."""
    file = GRIDS / "two-windows.yaml"
    told, code = law(str(file), "--set", "W=5", "--set", "v=2..3", "--set", "w=2..3",
                     "--max-seconds", "0.000000001")
    assert "4 designs could not be decided" in told and "Give more time" in told and code == 2
    assert "too little time for deciding the designs." in told


def test_time_is_given_to_a_law_as_a_whole() -> None:
    """Designs of a grid are decided while there is time, and the others stay unknown; they do not
    each have the time of all.
    """
    ticks = count()
    reading = read_any((GRIDS / "late-credit.yaml").read_text(), "late-credit.yaml")
    grid = Grid.of(reading, "late-credit.yaml", {}, "deadlock-free", Budget(max_seconds=1e6),
                   deadline=Deadline(20, lambda: float(next(ticks))))
    assert 0 < len(grid.decided) < 20 and len(grid.decided) + grid.unknown == 42


def test_a_formula_is_looked_for_only_while_there_is_time() -> None:
    """A later call is answered with the phase that was under way."""
    ticks = count()
    observed = [({"x": x}, x % 2 == 0) for x in range(9)]
    with pytest.raises(OutOfTime, match="looking for a formula"):
        find_law(observed, ["x"], Deadline(5, lambda: float(next(ticks))))


CHAIN = """checkvalve: 2
name: n
parameters: {W: 40}
tasks: {a: {kind: script, steps: [{write: q, count: W}, {read: to a, count: W}]}, b: {kind: map}}
links: [{from: a, to: b, capacity: 3, name: q}, {from: b, to: a, capacity: 3, name: to a}]
"""


@pytest.mark.parametrize(("over", "formula", "smallest"), [
    ("q,to a", "q + to a >= 40", {"q": 8, "to a": 32}),
    ("b.queue", "b.queue >= 37", {"b.queue": 37}),
    ("q=30..40,W=38..42", "q + 3 >= W", {"q": 37}),  # for the file's own W of 40
])
def test_a_law_is_found_over_numbers_that_are_no_parameters(
    over: str, formula: str, smallest: dict[str, int], tmp_path: Path
) -> None:
    """Values around those in the file are looked at, and more where the verdict changes."""
    (tmp_path / "n.yaml").write_text(CHAIN)
    told, code = law(str(tmp_path / "n.yaml"), "--over", over, "--json")
    document = json.loads(told)
    assert (document["law"], document["proved"], code) == (formula, True, 0)
    assert smallest in document["smallest"]["points"] and document["designs"] < 130


def test_a_proof_says_that_some_values_make_no_design(tmp_path: Path) -> None:
    """Elements that are there at the start must fit, or there is no design."""
    ring = CHAIN.replace("{kind: script, steps: [{write: q, count: W}, {read: to a, count: W}]}",
                         "{kind: map}").replace("name: to a", "name: to a, initial: 2")
    (tmp_path / "n.yaml").write_text(ring)
    told, _ = law(str(tmp_path / "n.yaml"), "--over", "to a=2..4,to a.initial=0..2")
    assert "initial >= 0 (up to 1,000,000), where there is such a design." in told


def test_what_no_capacity_can_mend_is_proved_to_get_stuck_with_each(tmp_path: Path) -> None:
    """There is no law then, and what is proved is reported all the same."""
    (tmp_path / "n.yaml").write_text(CHAIN.replace("{write: q, count: W}, ", ""))
    told, code = law(str(tmp_path / "n.yaml"), "--over", "q,to a")
    assert "deadlock: found in every design: there is no law." in told and code == 0
    assert "Each can deadlock: proved for every q >= 1, to a >= 1 (up to 1,000,000)." in told


def test_where_a_proof_finds_no_run_the_law_is_tried(tmp_path: Path) -> None:
    """So it is seen that the ranges were too narrow, however far away it is wrong."""
    (tmp_path / "n.yaml").write_text(CHAIN.replace("W: 40", "W: 4000"))
    told, code = law(str(tmp_path / "n.yaml"), "--over", "q=1..3")
    assert "It is wrong at 1 of 41 tried beyond the ranges: q=3997. Widen" in told and code == 2


@pytest.mark.parametrize(("arguments", "what"), [
    (["--over", "Q"], "'Q' names no number of the design"),
    (["--over", "p=x"], "--over p=x: 'x' is no range of values"),
    (["--over", "p="], "--over p=: '' is no range of values"),
    (["--over", "p,B,p"], "--over: 'p' is named twice"),
    (["--over", "p=1..1000000000,B"], "there are [0-9]+000000000 choices of values"),
    (["--over", "p=5..1"], "--over p=5..1: 'p' has no value: 5 is more than 1"),
    (["--over", ""], "--over: it names no number"),
    (["--set", "B=5..1"], "--set B=5..1: 'B' has no value: 5 is more than 1"),
    (["--over", "a.count"], "'a.count' has no number in the file"),
    (["--over", "p"], "the parameter 'B' has a range, and is not named in --over"),
    (["--over", "a->b"], "'a->b' is computed from parameters"),
    (["--set", "p=2", "--set", "B=3"], "none of the design's parameters has a range"),
    (["--property", "lost"], "does not ask for the property 'lost'"),
])
def test_what_has_no_law_to_find_is_refused(
    arguments: list[str], what: str, tmp_path: Path
) -> None:
    """The message says what to do instead."""
    (tmp_path / "n.yaml").write_text(TEXT)
    with pytest.raises(InputError, match=what) as caught:
        law(str(tmp_path / "n.yaml"), *arguments)
    assert caught.value.next_step


def test_a_mark_and_the_size_of_a_window_are_numbers_to_find_a_law_over(tmp_path: Path) -> None:
    """Room must be found beside the elements that a window keeps."""
    (tmp_path / "n.yaml").write_text("""
checkvalve: 2
name: window
tasks:
  source: {kind: script, steps: [{write: in}, {write: beside}]}
  sums: {kind: window, size: 2, slide: 1}
  join: {kind: script, steps: [{read: out}, {read: beside}]}
links:
  - {from: source, to: sums, name: in, flow: stop-go, stop: 1}
  - {from: sums, to: join, capacity: 1, name: out}
  - {from: source, to: join, capacity: 1, name: beside}
""")
    told, _ = law(str(tmp_path / "n.yaml"), "--over", "sums.size=1..4,beside=1..4")
    assert "deadlock: none if and only if beside + 1 >= sums.size" in told
    told, _ = law(str(tmp_path / "n.yaml"), "--over", "in.stop=1..2")
    assert "deadlock: none in every design" in told


ECHO = CHAIN.replace("{W: 40}", "{S: 1..3, W: 1..4}").replace("capacity: 3, name: q",
                                                              "capacity: S, name: q")


def test_how_full_a_queue_gets_is_found_and_proved_for_all_values(tmp_path: Path) -> None:
    """The upper bound is proved by sums, and the lower one by runs that fill the queue."""
    (tmp_path / "n.yaml").write_text(ECHO)
    told, code = law(str(tmp_path / "n.yaml"), "--property", "bounded", "--json")
    found = [(each["link"], each["formula"], each["never_more"], each["as_much"], each["against"])
             for each in json.loads(told)["largest"]]
    assert found == [("q", "min(S, W)", True, True, []), ("to a", "min(3, W)", True, True, [])]
    assert code == 0


def test_a_queue_behind_a_pool_gets_no_fuller_than_there_is_credit() -> None:
    """The initial number of permits of a pool is a parameter there, and no number."""
    found = prove_value(Value((Form.of({"B": 1}),)), "elements", maker("late-credit"),
                        {"m": (1, 3), "B": (1, 3)}, [], Deadline())
    assert found.never_more == "" and not found.domain.bounded


def test_a_product_of_parameters_is_no_shorter_than_two_sums() -> None:
    """k elements in a cycle of K places continue exactly where 1 <= k < K, and nobody would see
    that in a formula with products, which says the same where no link has more than fits.
    """
    grid = [{"f": f, "g": g, "j": j, "k": k} for f in (1, 2, 3) for g in (1, 2, 3)
            for j in range(f + 1) for k in range(g + 1)]
    found = find_law([(each, 1 <= each["j"] + each["k"] < each["f"] + each["g"])
                      for each in grid], ["f", "g", "j", "k"])
    assert str(found) == "j + k >= 1 and f + g > j + k"


@pytest.mark.parametrize(("forms", "proved"), [
    ([{"W": 1}, {"S": 1}], (True, True)), ([{"W": 1}], (True, False)),
    ([{"S": 1, "": -1}, {"W": 1, "": -1}], (False, True)),
])
def test_only_a_bound_that_is_true_is_proved(
    forms: list[dict[str, int]], proved: tuple[bool, bool]
) -> None:
    """One that is too large is not reached, and one that is too small is passed."""
    root = parse(ECHO, "n.yaml")

    def made(values: Mapping[str, int]) -> Design:
        return load_point(root, point_with(root, "n.yaml", {}, values), "n.yaml", known=True)
    value = Value(tuple(Form.of({n: k for n, k in form.items() if n}, form.get("", 0))
                        for form in forms))
    found = prove_value(value, "q", made, {"S": (2, 3), "W": (2, 4)}, [], Deadline())
    assert (not found.never_more, not found.as_much) == proved


@settings(max_examples=5)
@given(st.tuples(*[st.integers(0, 1)] * 2), st.integers(0, 4), st.sampled_from([min, max]))
def test_a_formula_for_a_number_gives_it_at_every_point(
    factors: tuple[int, int], constant: int, joint: Callable[[int, int], int]
) -> None:
    """The less or the more of two sums, from the numbers alone."""
    counted = [({"x": x, "y": y}, joint(x + 1, factors[0] * x + factors[1] * y + constant))
               for x in range(5) for y in range(5)]
    found = find_value(counted, ["x", "y"])
    assert found is not None and all(found.at(point) == number for point, number in counted)


def test_the_more_of_three_things_has_no_formula() -> None:
    """So nothing is made up: a square is none of the shapes."""
    assert find_value([({"x": x}, x * x) for x in range(9)], ["x"]) is None


@pytest.mark.parametrize(
    "name", ["live", "ordered", "no-local-deadlock", "no-duplicates", "no-loss"])
def test_a_law_may_be_of_a_property_that_the_file_does_not_expect(
    name: str, tmp_path: Path
) -> None:
    """It is asked of each design, found, and said to be observed."""
    (tmp_path / "n.yaml").write_text(CHAIN.replace("W: 40", "W: 1..3").replace("y: 3", "y: 1"))
    told, code = law(str(tmp_path / "n.yaml"), "--property", name)
    where = " if and only if 2 >= W" if name == "live" else " in every design"
    assert code == 0 and f"{fact(name)}: none{where}" in told and "Observed, not proved." in told


def test_values_that_no_capacity_of_the_ranges_suffices_for_are_named(tmp_path: Path) -> None:
    """Of n = 1..6 with w up to 3, the smallest that suffice are those of n=4."""
    (tmp_path / "n.yaml").write_text("""checkvalve: 2
name: tree
parameters: {n: 1..6, w: 1..3}
tasks:
  a: {kind: script, steps: [{write: q, count: n}, {read: r, count: n}]}
  b: {kind: map}
links:
  - {from: a, to: b, capacity: w, name: q}
  - {from: b, to: a, capacity: 1, name: r}
""")
    told, _ = law(str(tmp_path / "n.yaml"))
    assert "Smallest that suffice with n=4, checked: (w=3)" in told
    assert "With n=5 and 1 more choice, nothing in the range of w suffices." in told
