"""Runs that follow what the equations leave open, reported in legs, and their certificates."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings

from benchmarks.designs import loops
from benchmarks.random_designs.designs import designs
from checkvalve.conformance.designs.text import lines
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.check import Part, Settings, check, decide_deadlock, parts
from checkvalve.spec.design.equations.legs import Guarded, Leg, expanded, followed, steps_in
from checkvalve.spec.design.equations.pursuit import amounts, falling
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.verdicts.verdict import Budget, Outcome


@pytest.fixture(scope="module")
def planted() -> DesignReport:
    """The report on forty stages with capacities of thousands, one of which can fill up."""
    return check(loops(320, 10_000, seed=3, planted=True))


def test_a_deadlock_at_the_end_of_a_long_row_is_found(planted: DesignReport) -> None:
    """Millions of steps in some hundred legs; twice the same."""
    found = planted.finding("deadlock-free")
    assert found.outcome is Outcome.VIOLATED and found.cycle
    assert found.length > 1_000_000 and len(found.legs) < 400 and not found.steps
    again = check(planted.design).finding("deadlock-free")
    assert (again.legs, again.waits) == (found.legs, found.waits)


def test_a_long_way_is_told_leg_by_leg(planted: DesignReport) -> None:
    """With how often each is made, and JSON has all of them."""
    told = "\n".join(lines(planted))
    assert "a counterexample, perhaps not the shortest" in told
    assert " legs):" in told and "steps of leg" in told
    assert len(told.splitlines()) < 600
    (result,) = (r for r in planted.results if r["property"] == "deadlock-free")
    assert result["length"] == planted.finding("deadlock-free").length and result["trace"] == []
    assert result["legs"][0]["keep"] == 0 and result["legs"][0]["times"] > 1


def test_the_certificate_of_a_long_way_is_confirmed(planted: DesignReport) -> None:
    """By the reader that has its own moves; and refuted once a leg is made once more, is left out,
    or keeps what is not there."""
    document = certificate(planted, planted.finding("deadlock-free"))
    text = json.dumps(document)
    opinion = check_certificate(json.loads(text), planted.design)
    assert opinion.confirmed, opinion.why
    for number, key, by in ((0, "times", 1), (3, "times", 10**9), (2, "keep", 10**6)):
        spoilt = json.loads(text)
        spoilt["evidence"]["legs"][number][key] += by
        assert check_certificate(spoilt, planted.design).confirmed is False
    spoilt = json.loads(text)
    del spoilt["evidence"]["legs"][0]
    assert check_certificate(spoilt, planted.design).confirmed is False


def _random_legs(draw: Random, transitions: int) -> list[Leg]:
    """Some legs, each of which keeps a part of the one before."""
    legs: list[Leg] = []
    length = 0
    for _ in range(draw.randint(1, 5)):
        keep = draw.randint(0, length)
        then = tuple(draw.randrange(transitions) for _ in range(draw.randint(0 if keep else 1, 3)))
        legs.append(Leg(keep, then, draw.randint(1, 4)))
        length = keep + len(then)
    return legs


def _one_by_one(
    legs: list[Leg], transitions: list[Guarded[str]], marking: dict[str, int]
) -> dict[str, int] | None:
    """The same run, step by step."""
    here = dict(marking)
    for number in expanded(legs):
        transition = transitions[number]
        if any(here[p] < n for p, n in transition.at_least.items()) or any(
                here[p] > n for p, n in transition.at_most.items()):
            return None
        for place, by in transition.change.items():
            here[place] += by
    return here


def test_legs_come_to_what_their_steps_come_to() -> None:
    """Random legs of random moves: possible in the same cases, with the same end."""
    possible = 0
    for seed in range(3_000):
        draw = Random(seed)
        start = {place: draw.randint(0, 9) for place in "abc"}
        transitions = [Guarded.within(
            {p: draw.randint(0, 3) for p in "abc" if draw.random() < 0.3},
            {p: draw.randint(5, 9) for p in "abc" if draw.random() < 0.3},
            {p: by for p in "abc" if (by := draw.choice((0, 0, -1, 1, 2)))},
            lambda _: 9) for _ in range(4)]
        legs = _random_legs(draw, len(transitions))
        wanted = _one_by_one(legs, transitions, start)
        assert followed(legs, transitions.__getitem__, start) == wanted
        assert steps_in(legs) == len(list(expanded(legs)))
        possible += wanted is not None
    assert possible > 100


@settings(max_examples=40)
@given(designs)
def test_what_structure_runs_into_the_explorer_finds_too(design: Design) -> None:
    """And what it proves, the explorer does not contradict."""
    for part in parts(design):
        ours = decide_deadlock(Part.of(part, cycles=False), Settings("structure"))
        if ours.outcome is Outcome.UNKNOWN:
            continue
        searched = decide_deadlock(
            Part.of(part, cycles=False), Settings("explorer", Budget(max_states=20_000)))
        assert searched.outcome in (ours.outcome, Outcome.UNKNOWN)


def test_where_no_amounts_lead_a_sum_says_so() -> None:
    """A stage with a window that is smaller than its loop: nobody fills all of it."""
    net = Counters.of(translate(loops(8, 5, seed=1), AIM))
    full = [counter.most or 0 for counter in net.counters]
    assert amounts(net, full) is None
    clause = falling(net, full)
    assert clause is not None and not clause.holds(full)
    assert clause.holds([counter.start for counter in net.counters])


def test_a_proof_needs_no_run() -> None:
    """A property that holds is proved as before, with nothing to follow."""
    answer = decide(loops(80, 10_000, seed=2))
    assert answer.deadlock_free and answer.legs is None
