"""A part that is blocked forever on the run into a deadlock, while an element goes round."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.plain_local import PlainGraph, plain_local
from benchmarks.shapes import loops
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.equations.legs import Leg
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.verdicts.aside import Aside, Round
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.design.verdicts.local import Spaces, decide_local, finish
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome


ROW = """
checkvalve: 2
name: row
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: 2}]
"""


def on_the_way(design: Design, deadlock: Finding) -> Round | None:
    """The local deadlock found on the run into a deadlock of a part."""
    table = translate(design, AIM)
    return Aside(table, Counters.of(table), finish(design, table), lambda: None).on_the_way(
        deadlock)


def test_it_is_never_said_of_a_random_design_where_nobody_is_stuck_alone() -> None:
    """By the plainest algorithm on all states, in designs that the explorer brings into a deadlock.
    """
    found = 0
    for seed in range(150):
        for design in parts(random_design(Random(seed))):
            if any(link.flow is Flow.UNBOUNDED for link in design.links.values()):
                continue
            try:
                graph = PlainGraph(design, 150)
            except InputError:
                continue
            if not graph.whole or all(graph.next.values()):
                continue
            deadlock = decide_deadlock(
                Part.of(design, cycles=False), Settings("explorer", Budget().start()))
            if deadlock.outcome is not Outcome.VIOLATED:
                continue
            way = on_the_way(design, deadlock)
            if way is not None:
                found += 1
                assert plain_local(graph) is not None, seed
    assert found > 2


def both(design: Design) -> tuple[Finding, Finding]:
    """The findings on deadlock and on local deadlock."""
    sections = [Part.of(part) for part in parts(design)]
    settings = Settings(budget=Budget(max_states=1_000).start())
    deadlock, = (decide_deadlock(section, settings) for section in sections)
    spaces = Spaces(sections, settings, asked=False)
    spaces.know(deadlock)
    return deadlock, decide_local(spaces)


@pytest.mark.parametrize("seed", [0, 1])
def test_of_a_large_loop_that_is_stuck_it_is_told_in_legs(seed: int) -> None:
    """The report has the waits there, and a certificate that is confirmed without any state:
    whether an element goes round before the loop or, where the loop is the first, behind it.
    """
    design = loops(160, 10_000, seed, planted=True)
    _, found = both(design)
    assert found.outcome is Outcome.VIOLATED and found.meanwhile is not None
    assert found.legs and found.length > 10_000 and not found.is_shortest
    assert {wait.task for wait in found.cycle} <= {*found.meanwhile.tasks}
    told = certificate(DesignReport(design, (found,)), found)
    assert told is not None and check_certificate(told, design).confirmed
    evidence = told["evidence"]
    steps, loop = evidence["steps"], evidence["loop"]
    for change in ({"legs": evidence["legs"][1:]}, {"steps": steps[:-1]}, {"loop": len(steps)},
                   {"at": loop + 1}):
        forged = {**told, "evidence": {**evidence, **change}}
        assert check_certificate(forged, design).confirmed is False, change


def test_a_round_is_begun_before_the_way_where_nothing_is_left_afterwards() -> None:
    """The first loop is the one that deadlocks: nothing passes it, so nothing later runs."""
    design = loops(24, 9, 1, planted=True)
    deadlock = decide_deadlock(Part.of(design), Settings("structure", Budget().start()))
    way = on_the_way(design, deadlock)
    assert way is not None and "work 0" in way.tasks
    table = translate(design, AIM)
    transitions = Counters.of(table).transitions
    assert not {table.rows[transitions[n].row].task for n in way.on} & {*way.tasks}


def test_a_leg_that_cannot_be_made_so_often_is_no_way() -> None:
    """Two elements find a free slot, and the third finds none."""
    design = load(ROW)
    table = translate(design, AIM)
    net = Counters.of(table)
    aside = Aside(table, net, finish(design, table), lambda: None)
    writes = next(n for n, transition in enumerate(net.transitions)
                  if 1 in transition.change.values())
    assert aside._after((Leg(0, (writes,), 2),)) is not None
    assert aside._after((Leg(0, (writes,), 3),)) is None
