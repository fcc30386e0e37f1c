"""Lints: odd parts of a design are reported with line and column, before any search."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli import root
from checkvalve.conformance.designs import load_designs
from checkvalve.spec.design.check import check
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.lints import MOST_LOOPS, lints
from checkvalve.spec.notation.errors import InputError

EXAMPLES = Path(__file__).parent.parent / "examples"

DIAMOND = """\
checkvalve: 2
name: diamond
tasks:
  source: {kind: source}
  split: {kind: broadcast}
  work: {kind: map}
  join: {kind: zip}
  sink: {kind: sink}
links:
  - {from: source, to: split, capacity: 2}
  - {from: split, to: work, capacity: 4}
  - {from: work, to: join, capacity: 4}
  - {from: split, to: join, capacity: 4}
  - {from: join, to: sink, capacity: 2}
"""
PROGRAM = """\
checkvalve: 2
name: program
tasks:
  one:
    kind: script
    steps: [{acquire: p, count: 2}, {write: l}, {release: p, count: 2}]
  two:
    kind: script
    steps: [{acquire: p}, {read: l}, {release: p}]
links:
  - {from: one, to: two, capacity: 2, name: l}
pools:
  p: {threads: 3}
"""
BLIND = """\
checkvalve: 2
name: blind
tasks:
  r:
    kind: script
    steps:
      - branch: [[{read: a}], [{read: b}]]
  s: {kind: source}
  t: {kind: source}
links:
  - {from: s, to: r, capacity: 1, name: a}
  - {from: t, to: r, capacity: 1, name: b}
"""
BLIND_OF_KINDS = BLIND.split("  t: {")[0].replace("a}", "k, of: x}").replace(
    "b}", "k, of: y}") + """\
links:
  - {from: s, to: r, capacity: 1, name: k, kinds: [x, y]}
"""
GIVEN_BACK_BY_ANOTHER = """\
checkvalve: 2
name: acks
tasks:
  spout: {kind: script, steps: [{acquire: pending}, {write: tuples}]}
  acker:
    kind: script
    steps: [{read: tuples}, {branch: [[{release: pending}], []]}]
links:
  - {from: spout, to: acker, capacity: 1, name: tuples}
pools:
  pending: {threads: 3}
"""


def changed(text: str, old: str, new: str) -> str:
    """The text with one change."""
    assert old in text
    return text.replace(old, new, 1)


ODD = [
    ("more taken than fits", changed(DIAMOND, "split, capacity: 2", "split, capacity: 2, takes: 3"),
     "10:5", "split takes 3 elements of 'source->split' at once, but only 2 fit"),
    ("more written than fits", changed(DIAMOND, "sink, capacity: 2", "sink, capacity: 2, gives: 3"),
     "14:5", "join writes 3 elements to 'join->sink' at once, but only 2 fit"),
    ("more announced than there is", changed(DIAMOND, "sink, capacity: 2", "sink, capacity: 2, "
     "flow: credit, batch: 3"), "14:5", "announces 3 freed slots together, but has only 2"),
    ("more acquired than there is", changed(PROGRAM, "threads: 3", "threads: 1"), "4:3",
     "one acquires 2 of 'p' at once, which has 1"),
    ("a pool that limits nothing", changed(PROGRAM, "threads: 3", "threads: 4"), "13:3",
     "has 4 threads, and those who use it hold at most 3"),
    ("a pool that nobody uses", PROGRAM + "  q: {threads: 1}\n", "14:3", "no task uses the pool"),
    ("a link that nobody reads", changed(PROGRAM, "{read: l}, ", ""), "11:5", "no task ever reads"),
    ("a link without a reader", changed(PROGRAM, "to: two", "to: []").replace("{read: l}, ", ""),
     "11:5", "no task ever reads"),
    ("a link that nobody writes", changed(PROGRAM, "{write: l}, ", ""), "11:5",
     "no task ever writes"),
    ("permits that nobody gives back", changed(PROGRAM, ", {release: p, count: 2}", ""), "6:13",
     "one acquires 'p', and no task ever releases it"),
    ("fewer permits given back", changed(PROGRAM, "release: p, count: 2", "release: p"), "6:13",
     "with 1 more acquired of 'p' than it releases"),
    ("a way without the release", changed(PROGRAM, "{release: p}]", "{branch: [[{release: p}], []]"
                                          "}]"), "9:13", "with 1 more acquired of 'p'"),
    ("a branch that begins with reads", BLIND, "7:9", "before it knows where there is something"),
    ("a branch that begins with reads of kinds", BLIND_OF_KINDS, "7:9",
     "all ways of this `branch` begin with a read"),
    ("a diamond with two rates", changed(DIAMOND, "join, capacity: 4", "join, capacity: 4, gives: "
     "2"), "13:5|11:5|12:5", "do not balance"),
]


@pytest.mark.parametrize(("text", "spot", "words"), [row[1:] for row in ODD],
                         ids=[row[0] for row in ODD])
def test_what_is_odd_is_told_with_its_place(text: str, spot: str, words: str) -> None:
    """And nothing else is."""
    (lint,) = lints(load(text, "d.yaml"))
    assert re.fullmatch(f"d.yaml:(?:{spot})", lint.where)
    assert words in lint.what
    assert lint.next_step


@pytest.mark.parametrize("text", [
    DIAMOND, PROGRAM, GIVEN_BACK_BY_ANOTHER, BLIND.replace("branch", "either"),
    BLIND_OF_KINDS.replace("branch", "either"), changed(BLIND, "[[{read: a}]", "[[], [{read: a}]"),
    changed(BLIND, "[[{read: a}], [{read: b}]]", "[[{read: a}, {read: b}], [{read: a}]]"),
    changed(PROGRAM, "{acquire: p}, {read: l}, {release: p}",
            "{either: [[{acquire: p}, {read: l}, {release: p}], [{read: l}]]}"),
])
def test_what_the_odd_ones_were_made_of_is_not_odd(text: str) -> None:
    """Else another lint would have been reported of them."""
    assert lints(load(text, "d.yaml")) == ()


def test_of_many_loops_that_do_not_balance_the_first_are_reported() -> None:
    """And how many there are; a long one is shown by the tasks near the link that closes it."""
    number = 150
    ends = "".join(f"  t{n}: {{kind: zip}}\n  u{n}: {{kind: broadcast}}\n" for n in range(number))
    links = "".join(
        f"  - {{from: u{n}, to: t{n}, gives: {gives}, capacity: 4, name: {name}{n}}}\n"
        for n in range(number) for name, gives in (("a", 1), ("b", 2)))
    on = "".join(f"  - {{from: t{n}, to: u{(n + 1) % number}, capacity: 2}}\n"
                 for n in range(number))
    found = lints(load(f"checkvalve: 2\nname: many\ntasks:\n{ends}links:\n{links}{on}", "d.yaml"))
    assert len(found) == MOST_LOOPS + 1
    more = next(each.what for each in found if "more loops" in each.what)
    assert int(more.split()[3]) in (number - MOST_LOOPS, number + 1 - MOST_LOOPS), more
    assert max(len(each.what) for each in found) < 400


def test_what_there_is_instead_is_told_in_the_plural() -> None:
    """A name that no link to a task has, in a file with others."""
    text = DIAMOND.replace("{kind: map}", "{kind: script, steps: [{read: zzz}]}")
    with pytest.raises(InputError) as told:
        load(text)
    assert told.value.next_step == "The links to work are: split->work."


def test_a_pool_of_one_user_is_not_to_be_made_smaller_than_one() -> None:
    """There is no such pool."""
    design = load("checkvalve: 2\nname: odd\ntasks: {s: {kind: source, pool: p}, t: {kind: sink}}\n"
                  "links: [{from: s, to: t, capacity: 1}]\npools: {p: {threads: 2}}\n")
    lint, = lints(design)
    assert "limits nothing" in lint.what and lint.next_step.startswith("Remove the pool, or let")


def test_rates_that_do_not_balance_get_a_bounded_loop_stuck() -> None:
    """In a loop of any directions: what is too much on one way has no free slot in the end."""
    rows = [row for row in ODD if "balance" in row[3]]
    found = [check(load(row[1])).finding("deadlock-free").outcome.value for row in rows]
    assert found == ["violated"] * len(rows) != []


def test_the_examples_are_odd_only_where_they_mean_to_be() -> None:
    """A loop that makes more of each element, and a net in which each permit is used up."""
    files = [*(EXAMPLES / "designs").iterdir(), *(EXAMPLES / "formats").iterdir()]
    odd = {path.name for path in files for design in load_designs(path) if lints(design)}
    assert odd == {"amplifying-cycle.yaml"}


def test_lints_are_printed_before_the_verdict_and_are_in_the_json(tmp_path: Path) -> None:
    """The exit code is that of the verdicts."""
    path = tmp_path / "d.yaml"
    path.write_text(PROGRAM + "  q: {threads: 1}\n")
    told = CliRunner().invoke(root, ["check", str(path)], standalone_mode=False)
    assert told.output.index("odd: ") < told.output.index("deadlock ")
    assert told.return_value == 0
    told = CliRunner().invoke(root, ["check", str(path), "--json"], standalone_mode=False)
    assert "no task uses the pool" in told.output
