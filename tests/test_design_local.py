"""Local deadlock: decided by equations and by all states, as the plainest algorithm says."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from benchmarks.designs import calls
from benchmarks.random_designs.designs import random_design, random_file
from benchmarks.random_designs.plain_local import PlainGraph, plain_local
from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.equations.bounds import Bound
from checkvalve.spec.design.equations.emptying import returning
from checkvalve.spec.design.equations.silent import ask_equations
from checkvalve.spec.design.equations.closure import closure
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow, Link
from checkvalve.spec.design.search.space import Space, trace_along
from checkvalve.spec.design.verdicts import local as verdict
from checkvalve.spec.design.verdicts import occupancy
from checkvalve.spec.design.verdicts.alone import Halted
from checkvalve.spec.design.reading.properties import NO_LOCAL_DEADLOCK as LOCAL
from checkvalve.spec.design.verdicts.local import (
    EMPTIES, Spaces, decide_local, finish, on_all_states,
)
from checkvalve.spec.design.why.findings import Attempt, Finding
from checkvalve.spec.design.why.parts import Part, parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

TWO_CLIENTS = """
checkvalve: 2
name: two clients of a store
tasks:
  a: {kind: script, steps: [{write: ask}, {read: answer}]}
  b: {kind: script, steps: [{write: ask}, {read: answer}, {read: answer}]}
  store: {kind: map, hand: 1}
links:
  - {name: ask, from: [a, b], to: store, capacity: 2}
  - {name: answer, from: store, to: [a, b], capacity: 2}
"""
STOPPED_READER = """
checkvalve: 2
name: stopped
tasks:
  source: {kind: source}
  route: {kind: route, by: room}
  reader: {kind: script, count: 1, steps: [{read: short}]}
  feeder: {kind: source}
  both: {kind: merge}
  sink: {kind: sink}
links:
  - {name: in, from: source, to: route, capacity: 1}
  - {name: short, from: route, to: reader, capacity: 1}
  - {name: long, from: route, to: both, capacity: 1}
  - {name: more, from: feeder, to: both, capacity: 1}
  - {name: out, from: both, to: sink, capacity: 1}
"""
FINISHED_SOURCE = """
checkvalve: 2
name: finished
tasks:
  first: {kind: source, count: 2}
  work: {kind: map, hand: 1}
  second: {kind: source}
  both: {kind: merge}
  sink: {kind: sink}
links:
  - {from: first, to: work, capacity: 1}
  - {from: work, to: both, capacity: 1}
  - {from: second, to: both, capacity: 1}
  - {from: both, to: sink, capacity: 1}
"""
LARGE = """
checkvalve: 2
name: large
tasks:
  orders: {kind: source}
  returns: {kind: source}
  check: {kind: merge, policy: fair}
  pack: {kind: route, pool: hands}
  again: {kind: map, hand: 1}
  ship: {kind: sink}
links:
  - {from: orders, to: check, capacity: 5000}
  - {from: returns, to: check, capacity: 50}
  - {from: check, to: pack, capacity: 3000, flow: credit}
  - {from: pack, to: again, capacity: 700}
  - {from: again, to: ship, capacity: 400}
  - {from: pack, to: ship, capacity: 900}
pools: {hands: {threads: 3}}
"""
LOCKED = """
checkvalve: 2
name: locked
tasks:
  thief: {kind: script, count: 1, steps: [{acquire: lock}]}
  worker: {kind: script, steps: [{acquire: lock}, {release: lock}]}
  waiting: {kind: script, steps: [{acquire: lock}, {release: lock}, {read: never}]}
links: [{name: never, from: [], to: waiting, capacity: 1}]
pools: {lock: {threads: 1}}
expect: {deadlock-free: violated}
"""


def local(text: str) -> Finding:
    """The finding on local deadlock."""
    return check_design(text).finding(LOCAL)


def test_who_is_stuck_while_the_others_go_on_is_named() -> None:
    """One client may take both answers that were meant for the other, and then waits alone."""
    locked = TWO_CLIENTS.replace("{read: answer}, {read: answer}", "{read: answer}, {read: never}")
    found = local(locked + "  - {name: never, from: [], to: b, capacity: 1}\n")
    assert found.outcome is Outcome.VIOLATED and found.meanwhile is not None
    assert found.meanwhile.tasks == ("b",)
    assert [(wait.task, wait.what, wait.where) for wait in found.waits] == [("b", "data", "never")]
    assert {step.split()[0] for step in found.meanwhile.steps} == {"a", "store"}


def test_a_route_that_may_go_elsewhere_is_not_stuck_behind_a_reader_that_ended() -> None:
    """All others continue, and a reader that has ended is not blocked."""
    assert local(STOPPED_READER).outcome is Outcome.HOLDS
    by_content = STOPPED_READER.replace("route, by: room", "route")
    found = local(by_content)
    assert found.outcome is Outcome.VIOLATED and found.meanwhile is not None
    assert found.meanwhile.tasks == ("route",)


def test_who_comes_after_a_source_that_is_done_is_not_stuck() -> None:
    """It has finished, too."""
    assert local(FINISHED_SOURCE).outcome is Outcome.HOLDS
    assert local(FINISHED_SOURCE.replace("count: 2", "count: 1000")).outcome is Outcome.HOLDS


def test_large_capacities_need_no_states() -> None:
    """Both if the whole can deadlock and if it cannot."""
    found = local(LARGE)
    assert found.outcome is Outcome.HOLDS and not found.states
    loop = LARGE.replace("from: again, to: ship", "from: again, to: check")
    report = check_design(loop, Budget(max_states=500))
    assert report.finding("deadlock-free").outcome is not Outcome.HOLDS
    found = report.finding(LOCAL)
    assert found.outcome is Outcome.HOLDS and not found.states


def test_what_empties_itself_is_decided_at_any_size() -> None:
    """Calls over many pools, for which the solver cannot decide which tasks may stop alone."""
    sections = [Part.of(part) for part in parts(calls(90, 9, 3))]
    found = decide_local(Spaces(sections, Settings("auto", Budget().start()), False))
    assert found.outcome is Outcome.HOLDS and not found.states and EMPTIES in found.method


def test_the_threads_of_each_pool_are_known_as_they_were_meant() -> None:
    """A basis of all sums has those of some pools mixed with calls: too long to follow."""
    largest = max(parts(calls(60, 10_000, 125)), key=lambda part: len(part.tasks))
    table = translate(largest, AIM)
    assert returning(Counters.of(table), table) is not None


def test_runs_find_a_part_that_gets_stuck_where_there_are_too_many_states() -> None:
    """The report has the run into it, the blocked tasks, and a run of the others that can be
    repeated.
    """
    locked = TWO_CLIENTS.replace("{read: answer}, {read: answer}", "{read: answer}, {read: never}")
    report = check_design(locked + "  - {name: never, from: [], to: b, capacity: 1}\n",
                          Budget(max_states=2))
    found = report.finding(LOCAL)
    assert found.outcome is Outcome.VIOLATED and found.meanwhile is not None
    assert not found.is_shortest and found.meanwhile.tasks == ("b",)
    assert {step.split()[0] for step in found.meanwhile.steps} == {"a", "store"}


def test_others_may_go_on_as_long_as_they_leave_out_who_would_stop_them() -> None:
    """A task that takes the only lock for good would stop all; while it never does, one task is
    blocked.
    """
    found = local(LOCKED)
    assert found.outcome is Outcome.VIOLATED and found.meanwhile is not None
    assert found.meanwhile.tasks == ("waiting",)


def test_what_nobody_asked_for_may_stay_unknown() -> None:
    """The report names the tasks that may stop, and the exit code stays the same."""
    text = STOPPED_READER.replace("capacity: 1", "capacity: 500")
    report = check_design(text, settings=Settings("auto", Budget(max_states=500)))
    found = report.finding(LOCAL)
    assert found.outcome is Outcome.UNKNOWN and found.expected is None
    assert "reader" in found.reason
    asked = check_design(text + "expect: {no-local-deadlock: holds}\n", Budget(max_states=500))
    assert not asked.finding(LOCAL).as_expected


def test_both_ways_agree_with_the_plain_algorithm_on_random_designs() -> None:
    """The same verdict and the same depth; and no argument ever says that none stops alone where
    one does."""
    seen = {True: 0, False: 0}
    proved = stopping = 0
    for seed in range(55):
        for design in _small_parts(seed):
            try:
                graph = PlainGraph(design, 400)
            except InputError:
                continue
            if not graph.whole:
                continue
            plain = plain_local(graph)
            found = on_all_states(
                Spaces([Part.of(design)], Settings("explorer", Budget().start()), True), 0)
            assert (found.outcome is Outcome.VIOLATED) == (plain is not None), seed
            if plain is not None:
                assert found.meanwhile is not None
                assert (len(found.steps), list(found.meanwhile.tasks)) == plain, seed
            total = closure(design).total, ask_equations(design).total
            ends = any(not after for after in graph.next.values())
            assert plain is None or ends or not any(total), seed
            proved += any(total)
            seen[plain is None] += 1
            may_fail = any(link.flow is Flow.FAIL for link in design.links.values())
            if not may_fail and ask_equations(design, may_stop=True).total:
                assert plain is None, seed
                stopping += ends
    assert min(seen.values()) > 5 and proved > 5 and stopping > 5


def test_runs_are_right_about_random_designs() -> None:
    """Each task that they call blocked is so in every state that follows, and the others come
    round.
    """
    found = 0
    for seed in range(20):
        for design in _small_parts(seed):
            try:
                graph = PlainGraph(design, 150)
            except InputError:
                continue
            plain = plain_local(graph) if graph.whole else None
            way = Halted(graph.table, finish(design, graph.table)).look_for((), 3_000)
            assert plain is not None or not graph.whole or way is None, seed
            if way is None:
                continue
            found += 1
            run = [each.state for each in trace_along(graph.table, [*way.way, *way.on]).steps]
            start = len(way.way) + way.loop - 1
            assert start < 0 or run[start] == run[-1], seed
    assert found > 2


def _small_parts(seed: int) -> list[Design]:
    try:
        found = parts(random_design(Random(seed)) if seed < 45 else random_file(Random(seed)))
    except InputError:
        return []
    return [part for part in found
            if all(link.flow is not Flow.UNBOUNDED for link in part.links.values())]


@pytest.mark.parametrize(("text", "most"), [
    (FINISHED_SOURCE, {"first->work": 1, "work->both": 1, "second->both": 1, "both->sink": 1}),
    (TWO_CLIENTS, {"ask": 2, "answer": 2}),
    (TWO_CLIENTS.replace("capacity: 2", "capacity: 7"), {"ask": 2, "answer": 2}),
])
def test_the_largest_occupancy_is_exact_where_all_states_are_visited(
    text: str, most: dict[str, int]
) -> None:
    """Each client has one request under way, so two slots of seven are used."""
    found = check_design(text).finding("bounded")
    assert dict(found.bounds) == most and found.reached == frozenset(most)


def test_a_bound_is_proved_where_there_are_too_many_states() -> None:
    """By a sum that no step raises: the clients never ask for more than one at a time."""
    text = TWO_CLIENTS.replace("capacity: 2", "capacity: 7").replace(
        "read: answer}]", "read: answer, count: 1}]")
    found = check_design(text, Budget(max_states=5)).finding("bounded")
    assert dict(found.bounds)["ask"] == 2 and not found.reached


def test_states_that_were_found_to_be_too_many_are_not_visited_again(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for a deadlock has counted them."""
    def space_of(table: object, budget: object) -> Space:
        raise AssertionError("visited again")

    monkeypatch.setattr(verdict, "space_of", space_of)
    spaces = Spaces([Part.of(part) for part in parts(calls(4, 3, 2))], Settings(), False)
    first = next(iter(spaces.sections[0].design.tasks))
    tried = Attempt(first, "explorer", 0.1, Outcome.UNKNOWN, "", verdict.UNASKED + 1)
    spaces.know(Finding("deadlock-free", Outcome.UNKNOWN, "", tried=(tried,)))
    assert not spaces.is_small(0)
    assert spaces.of(0) == "there are more than 800,000 states"


def test_no_sum_is_looked_for_of_a_link_that_runs_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none that allows less; of a link that no run can fill there may be one."""
    asked: list[str] = []

    def bounds(part: Design, links: Sequence[Link], watch: object) -> tuple[None, dict[str, Bound]]:
        asked.extend(link.name for link in links)
        return None, {}

    monkeypatch.setattr(occupancy, "bounds", bounds)
    check_design(TWO_CLIENTS.replace("{name: answer, from: store, to: [a, b], capacity: 2}",
                                     "{name: answer, from: store, to: [a, b], capacity: 9}"),
                 Budget(max_states=2))
    assert asked == ["answer"]
