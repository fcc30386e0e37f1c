"""Replication: the same verdicts, states and steps as TLC found for the published modules."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from checkvalve.spec.chapters import chapters
from checkvalve.spec.notation.interpreter import Interpreter
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.kafka.replication import CutToHighWatermark
from checkvalve.spec.notation import bind
from checkvalve.spec.verify import Row, verify_chapter

PAGE = Path(__file__).parent.parent / "docs" / "sources" / "kafka.md"
ROWS = re.findall(
    r"^\| .* \| `(\w+)` \| ([\d, ]+) \| (KAFKA-R\d) \| (holds|violated) \| ([\d,]*) ?\| (\d*) ?\|$",
    PAGE.read_text(), re.MULTILINE)


@cache
def found(chapter: str) -> dict[tuple[str, tuple[int, ...], str], Row]:
    """The rows of a chapter, by machine, constants and rule."""
    (one,) = chapters([chapter])
    return {(row.machine, tuple(row.constants.values()), row.rule): row
            for row in verify_chapter(one, Budget())}


@pytest.mark.xdist_group("kafka.replication")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:3]))
def test_a_published_module_has_the_verdict_that_tlc_found(row: tuple[str, ...]) -> None:
    """With as many distinct states where it holds, and as short a counterexample where not."""
    machine, constants, rule, verdict, states, steps = row
    values = tuple(int(each) for each in constants.split(","))
    if rule == "KAFKA-R6":
        here = found("kafka.isr_changes")[machine, (2, *values), rule]
    else:
        here = found("kafka.replication")[machine, values, rule]
    assert here.verdict.outcome.value == verdict
    if states:
        assert f"{here.verdict.states:,}" == states
    if steps:
        assert here.steps == int(steps)


def test_the_page_has_the_verdicts_of_all_seven_modules() -> None:
    """Nothing that the table lacks would be compared."""
    assert len(ROWS) == 20
    assert len({machine for machine, *_ in ROWS}) == 9


@pytest.mark.xdist_group("kafka.replication")
@pytest.mark.parametrize("machine", ["Replication", "LastOneOut"])
def test_the_page_says_how_large_the_largest_is(machine: str) -> None:
    """Three records and three epochs, up to the names of the replicas."""
    largest = found("kafka.replication")[machine, (3, 3, 3), "KAFKA-R2"].verdict
    assert largest.outcome.value == "holds"
    assert largest.method.endswith("up to the names in Replica (3 members)")
    assert f"{largest.states:,}" in PAGE.read_text()


def run_of(run: Interpreter, *steps: tuple[str, dict[str, int]]) -> dict[str, int]:
    """The slots after some steps, each of which has to be possible."""
    state = run.initial()
    for name, args in steps:
        after = run.step(state, name, tuple(args.items()))
        assert after is not None, name
        state = after
    return run.slots(state)


def test_a_follower_that_cuts_to_its_high_watermark_loses_what_is_committed() -> None:
    """Replica 1 has the record, and cuts it when it hears of the leader that it has already."""
    run = bind(CutToHighWatermark, L=2, M=2, E=2).interpreter
    steps = [("elect", {"replica": 0}), ("become_leader", {"request": 0}),
             ("become_follower", {"replica": 1, "request": 0}),
             ("become_follower", {"replica": 2, "request": 0}), ("write", {"leader": 0}),
             ("fetch", {"replica": 1}), ("fetch", {"replica": 2}), ("raise_hw", {"leader": 0}),
             ("take_out", {"replica": 2})]
    before = run_of(run, *steps)
    assert (before["hw[0]"], before["hw[1]"], before["end[1]"]) == (1, 0, 1)
    after = run_of(run, *steps, ("become_follower", {"replica": 1, "request": 1}))
    assert (after["hw[0]"], after["end[1]"]) == (1, 0)
