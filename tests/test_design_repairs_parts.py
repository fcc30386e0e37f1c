"""Repairs of designs that have several parts, or are broken in several places."""

from __future__ import annotations

import pytest

from benchmarks.designs import calls
from checkvalve.spec.design.check import decide_one
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs import repair as search
from checkvalve.spec.design.repairs.repair import repair
from checkvalve.spec.design.why.findings import DesignReport


def of_deadlock_alone(design: Design) -> DesignReport:
    """The report on nothing but whether a design deadlocks."""
    return DesignReport(design, (decide_one(design, "deadlock-free"),))


def test_each_part_of_a_large_design_has_its_own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls over a thousand pools are several parts, none of which uses up what is for others."""
    monkeypatch.setattr(search, "MAX_STEPS", 60_000)
    (way,) = repair(of_deadlock_alone(calls(1_000, 10, 1, planted=True))).ways
    assert ([step.kind for step in way.steps], way.open) == (["threads"], ())


def test_a_part_that_is_too_large_to_decide_is_told_with_the_repair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deadlocked part is repaired; the report does not claim that the other parts are
    deadlock-free.
    """
    monkeypatch.setattr(search, "MAX_STEPS", 30_000)
    (way,) = repair(of_deadlock_alone(calls(1_000, 10, 1, planted=True))).ways
    assert [step.kind for step in way.steps] == ["threads"]
    assert (way.checked, way.open) == ((), ("deadlock-free",))


def test_two_changes_of_what_arrives_are_tried_together() -> None:
    """A task on two rings, both of which are empty: an element for each, and for one it is no use.
    """
    design = load("""
checkvalve: 2
name: rings
tasks: {a: {kind: zip}, b: {kind: map}, c: {kind: map}}
links:
  - {from: a, to: b, capacity: 2}
  - {from: b, to: a, capacity: 2}
  - {from: a, to: c, capacity: 2}
  - {from: c, to: a, capacity: 2}
""")
    (way,) = repair(of_deadlock_alone(design)).ways
    assert [step.kind for step in way.steps] == ["more at the start"] * 2
