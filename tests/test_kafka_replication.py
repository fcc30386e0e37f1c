"""Replication: the same verdicts, states and steps as TLC found for the published modules."""

from __future__ import annotations

import re
from pathlib import Path

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


def found(chapter: str) -> dict[tuple[str, tuple[int, ...], str], Row]:
    """The rows of a chapter, by machine, constants and rule; all of them are as expected."""
    (one,) = chapters([chapter])
    rows = list(verify_chapter(one, Budget()))
    assert [row.about for row in rows if not row.as_expected] == []
    return {(row.machine, tuple(row.constants.values()), row.rule): row for row in rows}


def as_told(rows: dict[tuple[str, tuple[int, ...], str], Row], told: tuple[str, ...]) -> bool:
    """True if a row has the verdict, the number of states and of steps that the page gives."""
    machine, constants, rule, verdict, states, steps = told
    values = tuple(int(each) for each in constants.split(","))
    here = rows[machine, (2, *values) if rule == "KAFKA-R6" else values, rule]
    return (here.verdict.outcome.value == verdict
            and (not states or f"{here.verdict.states:,}" == states)
            and (not steps or here.steps == int(steps)))


def test_published_modules_of_replication_have_the_verdicts_that_tlc_found() -> None:
    """With as many distinct states where they hold, and as short counterexamples where not. With
    three records and three epochs, states are counted up to the names of the replicas."""
    rows = found("kafka.replication")
    assert [told for told in ROWS if told[2] != "KAFKA-R6" and not as_told(rows, told)] == []
    for machine in ("Replication", "LastOneOut"):
        largest = rows[machine, (3, 3, 3), "KAFKA-R2"].verdict
        assert largest.outcome.value == "holds"
        assert largest.method.endswith("up to the names in Replica (3 members)")
        assert f"{largest.states:,}" in PAGE.read_text()


def test_published_modules_of_isr_changes_have_the_verdicts_that_tlc_found() -> None:
    """The same of the module in which the controller decides."""
    rows = found("kafka.isr_changes")
    assert [told for told in ROWS if told[2] == "KAFKA-R6" and not as_told(rows, told)] == []


def test_the_page_has_the_verdicts_of_all_seven_modules() -> None:
    """Nothing that the table lacks would be compared."""
    assert len(ROWS) == 20
    assert len({machine for machine, *_ in ROWS}) == 9


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
