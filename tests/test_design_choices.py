"""Choices within scripts: select, timeout, try, and branches."""

from __future__ import annotations

from random import Random

import pytest
from test_design_copies import states
from test_design_promela import agrees

from benchmarks.random_designs.designs import random_design, richer
from benchmarks.random_designs.explanation_judge import complaints
from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.check import parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Flow
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

CLIENT = """
checkvalve: 2
name: client
tasks:
  client: {{kind: script, steps: [{steps}]}}
  server: {{kind: map, hand: 1}}
  other: {{kind: source, count: 2}}
links:
  - {{from: client, to: server, capacity: 2, name: requests}}
  - {{from: server, to: client, capacity: 1, name: replies}}
  - {{from: other, to: client, capacity: 2, name: news}}
pools: {{lock: {{threads: 2}}}}
"""


def client(steps: str) -> list[tuple[Outcome, int]]:
    """The verdict on a client with these steps, and the number of its states."""
    return states(CLIENT.format(steps=steps))


@pytest.mark.parametrize(("choice", "plain"), [
    ("{write: requests}, {either: [[{read: replies}]]}", "{write: requests}, {read: replies}"),
    ("{write: requests}, {branch: [[{read: replies}, {acquire: lock}]]}, {release: lock}",
     "{write: requests}, {branch: [[]]}, {read: replies}, {acquire: lock}, {release: lock}"),
    ("{write: requests, count: 2}, {either: [[{read: replies, count: 2}, {acquire: lock}]]}, "
     "{release: lock}",
     "{write: requests, count: 2}, {read: replies}, {read: replies}, {acquire: lock}, "
     "{release: lock}"),
    ("{either: [[{either: [[{read: news}], [{acquire: lock}]]}, {release: lock}], "
     "[{write: requests}, {read: replies}]]}",
     "{either: [[{read: news}, {release: lock}], [{acquire: lock}, {release: lock}], "
     "[{write: requests}, {read: replies}]]}"),
    ("{either: [[{read: news}, {write: requests}, {read: replies}]], timeout: []}",
     "{read: news}, {write: requests}, {read: replies}"),
    ("{either: [[{read: news}, {write: requests}, {read: replies}]], else: []}",
     "{read: news}, {write: requests}, {read: replies}"),
])
def test_a_choice_of_one_is_none(choice: str, plain: str) -> None:
    """The same states: with one branch, with what is left of a repeated step, one choice in the
    other, and where all that a timeout does is to wait again."""
    assert client(choice) == client(plain)


@pytest.mark.parametrize(("steps", "stuck"), [
    ("{read: news}, {write: requests}, {read: replies}", True),
    ("{either: [[{read: news}]], timeout: [{write: requests}, {read: replies}]}", False),
    ("{either: [[{read: news}]], else: [{write: requests}, {read: replies}]}", False),
    ("{either: [[{read: news}], [{write: requests}, {read: replies}]]}", False),
    ("{branch: [[{read: news}], [{write: requests}, {read: replies}]]}", True),
    ("{either: [[{read: news}], [{read: replies}]]}", True),
    ("{either: [[{read: replies}], [{write: requests}]]}", False),
    ("{acquire: lock, count: 2}, {either: [[{acquire: lock}, {release: lock}]], else: []}, "
     "{release: lock, count: 2}", False),
    ("{acquire: lock, count: 2}, {branch: [[{acquire: lock}, {release: lock}], []]}, "
     "{release: lock, count: 2}", True),
    ("{either: [[{write: requests}]], else: [{read: replies}]}", False),
    ("{either: [[{release: lock}], [{acquire: lock, count: 2}, {release: lock}]]}", False),
])
def test_what_is_waited_for_decides(steps: str, stuck: bool) -> None:
    """News come twice: a script is blocked if it waits for nothing but the third, or decides before
    it looks; one that selects, tries or gives up continues.
    """
    outcome, _ = client(steps)[0]
    assert outcome is (Outcome.VIOLATED if stuck else Outcome.HOLDS)


GROUPED = """
checkvalve: 2
name: grouped
tasks:
  a: {{kind: script, steps: [{steps}]}}
  b: {{kind: zip}}
links:
  - {{from: a, to: b, capacity: 2, name: l1, group: g}}
  - {{from: a, to: b, capacity: 1, name: l2, group: g}}
  - {{from: b, to: a, capacity: 1, name: back}}
"""


def test_a_script_that_writes_to_a_group_decides_first() -> None:
    """It is a branch with a write in each way; twice, one after the other."""
    way = "{branch: [[{write: l1}], [{write: l2}]]}"
    for grouped, by_hand in (
            ("{write: g}, {either: [[{read: back}]], else: []}",
             f"{way}, {{either: [[{{read: back}}]], else: []}}"),
            ("{write: g, count: 2}, {read: back}", f"{way}, {way}, {{read: back}}")):
        assert states(GROUPED.format(steps=grouped)) == states(GROUPED.format(steps=by_hand))


def test_a_script_reads_any_of_the_links_that_its_name_means() -> None:
    """Each of two collectors reads what either of two workers gives it; by key, each worker decides
    which collector gets it.
    """
    text = """
checkvalve: 2
name: collecting
tasks:
  worker: {kind: script, copies: 2, count: 2, steps: [{write: out}]}
  collector: {kind: script, copies: 2, count: 2, steps: [READ]}
links: [{from: worker, to: collector, capacity: 1, name: out, connect: by-key}]
"""
    by_hand = '{either: [[{read: "out[1][copy]"}], [{read: "out[2][copy]"}]]}'
    assert states(text.replace("READ", "{read: out}")) == states(text.replace("READ", by_hand))


@pytest.mark.parametrize(("steps", "told"), [
    ("{either: []}", "is empty"),
    ("{either: [[]]}", "a branch of `either` is empty.*timeout"),
    ("{either: [[{branch: [[]]}]]}", "begins with a choice"),
    ("{either: [[{either: [[{read: news}]], else: []}]]}", "begins with a choice"),
    ("{read: news, else: []}", "no `either`"),
    ("{read: news, timeout: []}", "no `either`"),
    ("{either: [[{read: news}]], count: 2}", "count"),
    ("{either: [[{read: new}]]}", "45: there is no link to client called 'new'.*'news'"),
    ("{branch: [[{acquire: log}]]}", "there is no pool called 'log'"),
    ("{branch: [[{read: news}], 3]}", "must be a list"),
    ("{branch: [[{read: news, write: requests}]]}", "exactly one of"),
    (", ".join(["{branch: [" + ", ".join(["[{read: news}]"] * 20) + "]}"] * 12),
     "252 steps in all"),
])
def test_a_choice_that_is_none_is_refused(steps: str, told: str) -> None:
    """With its place, and what to write instead."""
    with pytest.raises(InputError, match=f"d.yaml:5.*{told}"):
        load(CLIENT.format(steps=steps), "d.yaml")


@pytest.mark.parametrize(("link", "told"), [
    ("capacity: 0", "has capacity 0.*timeout"), ("capacity: 1, flow: drop-oldest", "never taken"),
    ("flow: unbounded", "never taken"),
])
def test_else_stands_beside_a_write_that_may_be_refused(link: str, told: str) -> None:
    """A write that is always possible never takes the else, and whether a reader is there is not
    known.
    """
    text = CLIENT.format(steps="{either: [[{write: requests}]], else: []}")
    with pytest.raises(InputError, match=told):
        load(text.replace("capacity: 2, name: requests", f"{link}, name: requests"))


@pytest.mark.parametrize("seed", range(8))
def test_choices_are_the_same_to_every_engine(seed: int) -> None:
    """The printed model, played, has the explorer's states; an explanation is true."""
    design = richer(random_design(Random(f"choices {seed}")), Random(seed))
    if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
        assert all(agrees(part) for part in parts(design))
    report = check_design(design, Budget(max_states=1_000))
    if report.finding("deadlock-free").outcome is Outcome.VIOLATED:
        assert complaints(report) == []
