"""The condition for *passed*: a rule was judged, and exercised enough, in its full form."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from checkvalve.conformance.systems import targets
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.enough import (
    ENOUGH, FRUITLESS_MAX, FURTHER_MAX, Coverage, coverage, further_cases,
)
from checkvalve.conformance.campaigns.places import is_long, place_of, turn_of
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.campaigns.summary import summarise
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.engines.conduct import Engine, Order, conduct, next_cases
from checkvalve.conformance.ports.base import Adapter
from checkvalve.conformance.suites.results import (
    NOT_OFFERED, NOT_SHOWN, NO_OCCASION, PASSED, UNKNOWN, VIOLATED, CaseRow,
)
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.conformance.systems.kafka_races import search as race_search
from checkvalve.conformance.systems.kafka_races.adapter import Kit
from checkvalve.conformance.systems.kafka_races.scenes import SCENES
from checkvalve.conformance.systems.storm_input.adapter import ReferenceInput
from checkvalve.conformance.systems.storm_topology.adapter import ReferenceTopology
from checkvalve.conformance.systems.storm_topology.runs import Happened, follow
from checkvalve.conformance.systems.storm_topology.telling import Terms
from checkvalve.spec.engines.candidates import CandidateSets
from checkvalve.spec.engines.monitor import LostTrack, Monitor
from checkvalve.spec.kafka.observed_races import ObservedRaces
from checkvalve.spec.notation import bind
from checkvalve.spec.queues.queue import BoundedQueue
from checkvalve.spec.verdicts.deadline import Deadline

QUICK = RunSettings(programs=3)
NARROW = RunSettings(programs=3, candidates=1)
SMALL = {"C": 1, "K": 4, "T": 2, "W": 2}
TERMS = Terms(1, 0, 0, 1, 1, 1, {}, {})


def use(adapter: type[Adapter], monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a target that is this adapter, in this test."""
    monkeypatch.setattr(
        targets, "resolve_target",
        lambda spec, timeout=5.0: InProcessTarget(spec, adapter, port_named))
    return "mine"


# ---- a machine that loses track -------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 1])
def test_a_monitor_that_has_lost_track_cannot_be_asked(most: int) -> None:
    """It raises, then and ever after: nobody can take its silence for consent."""
    monitor = Monitor(bind(BoundedQueue, **SMALL), max_states=most)
    with pytest.raises(LostTrack):
        for _ in range(3):
            monitor.observe([("put_waits", ()), ("put_done", ()), ("offer_accepted", ())])
    with pytest.raises(LostTrack):
        monitor.observe([("settled", ())])
    with pytest.raises(LostTrack):
        monitor.allowed([("settled", ())])


def test_a_case_whose_machine_loses_track_is_unknown() -> None:
    """The row names the rules that were not judged to the end, and in how many programs."""
    row = run_case("queue", "reference.deferred", plan("queue", cases=1, seed=0)[0], NARROW)
    assert row.verdict == UNKNOWN and "more than 1 state, and lost track" in row.message
    assert json.loads(row.unjudged)["QUEUE-7"] > 0


def test_a_rule_that_adds_to_a_machine_that_lost_track_is_not_judged_either() -> None:
    """QUEUE-12 is judged by a machine of its own, which is worth nothing without the other."""
    row = run_case("queue", "reference.deferred", plan("queue", cases=1, seed=0)[0], NARROW)
    assert {"QUEUE-1", "QUEUE-12"} <= set(json.loads(row.unjudged))


def test_a_run_whose_machine_loses_track_is_unknown_in_report_and_exit_code(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what to do; a machine that kept track may still pass its rules."""
    code = run(root, ["conform", "reference.deferred", "--cases", "9", "--max-states", "1"])
    out = capsys.readouterr().out
    assert code == 2
    assert "UNKNOWN: " in out and "Lost track: " in out and "--max-states" in out


def test_a_rule_is_violated_even_if_its_machine_loses_track_in_other_cases() -> None:
    """A breach counts in any case."""
    rows = [run_case("queue", "zoo:one-too-many", case, NARROW)
            for case in plan("queue", cases=9, seed=0)]
    lost = [row for row in rows if json.loads(row.unjudged)]
    summary = summarise("queue", "t", rows)
    assert lost and summary.verdict == VIOLATED


def test_a_replay_whose_machine_loses_track_is_unknown() -> None:
    """It shows no breach, and says that it could not have."""
    row = run_case(
        "queue", "zoo:deaf-producer", plan("queue", cases=7, seed=0)[6], RunSettings())
    fixture = read_fixture(row.fixture, "a row")
    target = targets.resolve_target("zoo:deaf-producer")
    assert replay(fixture, target).same
    found = replay(fixture, target, candidates=1)
    assert found.breach is None and fixture.rule_id in found.unjudged


def test_a_gate_whose_suite_loses_track_is_unknown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit code 2, and an error in JUnit's report."""
    (tmp_path / "checkvalve.toml").write_text(
        '[[suites]]\nsuite = "queue"\ntargets = ["reference.deferred"]\ncases = 9\n'
        "max_states = 1\n")
    junit = tmp_path / "report.xml"
    assert run(root, ["gate", str(tmp_path), "--junit", str(junit)]) == 2
    assert "lost track" in capsys.readouterr().out
    assert 'type="unknown"' in junit.read_text()


def test_a_history_whose_machine_loses_track_is_not_judged() -> None:
    """Its rules are named, and nothing counts as exercised."""
    rest = [Happened(1, "rested", ())]
    assert "STORM-C13" in follow(rest, TERMS, 0).unjudged
    assert not follow(rest, TERMS).unjudged


def test_races_whose_machine_loses_track_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of all schedules says how many histories it could not judge."""
    lost = CandidateSets(bind(ObservedRaces, **race_search.CONSTANTS), 0)
    monkeypatch.setattr(race_search, "_sets", lambda: lost)
    searched = race_search.search_races(Kit(), SCENES["a heartbeat"], preemptions=0)
    assert searched.undecided == searched.histories > 0


# ---- what is enough -------------------------------------------------------------------------


def rows_of(cases: Iterator[int], exercised: dict[str, int]) -> list[CaseRow]:
    """Rows by hand, which all exercised the same."""
    return [CaseRow("queue", "1", "t", case, case, PASSED, "", 9, "", json.dumps(exercised), "")
            for case in cases]


def test_a_breach_suffices_however_few_cases_exercised_its_rule() -> None:
    """More of them would say no more."""
    rule = suite_named("queue").rules()[0]
    seen = Coverage(rule, cases=1, of=1, unjudged=0, decided=False, conditional=False)
    assert not seen.suffices and replace(seen, decided=True).suffices


def test_further_cases_are_those_that_look_for_what_was_exercised_too_little() -> None:
    """The rule is the second of three, so every third short case looks for it: as many as it
    lacks, after those that were run."""
    rows = rows_of(iter(range(40)), {"QUEUE-1": 1, "QUEUE-2": 0, "QUEUE-3": 1})
    places = [case.index for case in further_cases("queue", rows, seed=4, first=40)]
    assert places == [place_of(37 + 3 * more) for more in range(ENOUGH)]
    assert further_cases("queue", rows, 4, 40) == [plan("queue", cases=99, seed=4)[place]
                                                   for place in places]


def test_a_rule_that_nothing_exercises_gets_a_limited_number_of_cases() -> None:
    """Then the run ends, with no place done twice."""
    rows = rows_of(iter(range(36)), {"QUEUE-1": 1, "QUEUE-2": 0})
    while more := further_cases("queue", rows, 0, 36):
        rows += rows_of(iter(case.index for case in more), {"QUEUE-1": 1, "QUEUE-2": 0})
    places = [row.case for row in rows]
    assert len(places) == len(set(places)) == 36 + FURTHER_MAX


def test_who_asks_for_a_number_of_cases_gets_so_many() -> None:
    """No more, whatever they exercise."""
    rows = rows_of(iter(range(36)), {"QUEUE-1": 0})
    assert next_cases(Order(cases=36), rows) == []
    assert next_cases(Order(), rows)


def looks_for_second(case: int) -> bool:
    """True if the case at a place has the second of three rules in focus."""
    return not is_long(case) and turn_of(case) % 3 == 1


def broken_run(fruitful: bool) -> list[CaseRow]:
    """Rows in which a rule is broken, and another one is exercised where it is in focus or never;
    as many as a run adds by itself."""
    def row(case: int) -> CaseRow:
        second = int(fruitful and looks_for_second(case))
        exercised = {"QUEUE-1": 1, "QUEUE-2": second, "QUEUE-3": 1}
        return replace(rows_of(iter([case]), exercised)[0], verdict=VIOLATED, rule="QUEUE-1")

    rows = [row(case) for case in range(6)]
    while more := further_cases("queue", rows, 0, 6):
        rows += [row(case.index) for case in more]
    return rows


def test_a_run_that_found_a_breach_goes_on_for_the_other_rules() -> None:
    """As long as the cases that look for them exercise them."""
    assert coverage(suite_named("queue"), broken_run(fruitful=True))["QUEUE-2"].suffices
    fruitless = [row for row in broken_run(fruitful=False) if looks_for_second(row.case)]
    assert len(fruitless) == FRUITLESS_MAX


def test_a_breach_that_is_known_settles_nothing() -> None:
    """A rule that is hard to exercise gets as many cases as in a run without a breach."""
    rows = broken_run(fruitful=False)
    assert further_cases("queue", rows, 0, 6, known=["QUEUE-1"])


def test_a_default_run_exercises_every_rule_of_the_reference_enough() -> None:
    """It continues beyond its first cases where it has to, and its rows depend on nothing else."""
    order = Order("storm.status", settings=RunSettings(programs=6))
    summary, rows = conduct("reference.storm.status", order)
    assert summary.verdict == PASSED and len(rows) > 36
    covered = coverage(suite_named("storm.status"), rows)
    assert min(each.cases for each in covered.values()) >= ENOUGH
    assert conduct("reference.storm.status", order, engine=Engine(jobs=2))[1] == rows


class Silent(ReferenceTopology):
    """A cluster that keeps no record of what its tasks hold."""

    def run(self) -> list[str]:
        """See the port."""
        return [row for row in super().run() if " holds " not in row]


def test_a_target_that_reports_nothing_of_what_a_rule_is_about_does_not_pass(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run continues for those rules, within limits, and then says so."""
    order = Order("storm.topology", settings=RunSettings(programs=2))
    summary, rows = conduct(use(Silent, monkeypatch), order)
    silent = summary.not_shown[NO_OCCASION]
    assert summary.verdict == NOT_SHOWN and silent
    rules = len(summary.results)
    assert 36 + FURTHER_MAX * len(silent) <= len(rows) <= 36 + FURTHER_MAX * rules


class Unstoppable(ReferenceInput):
    """A task that cannot be stopped between two of its steps."""

    step = property()    # type: ignore[assignment]


def test_a_rule_that_is_tested_in_a_weaker_form_says_what_was_not_looked_for(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``step`` nobody looks for D2: the row names it, and which part was tested."""
    order = Order("storm.input", 12, settings=QUICK)
    summary, _ = conduct(use(Unstoppable, monkeypatch), order)
    (result,) = (each for each in summary.results if each.rule.id == "STORM-Q1")
    assert (result.verdict, result.reason, result.declared) == (NOT_SHOWN, NOT_OFFERED, True)
    assert "D2" in result.message and "takes step" in result.message
    assert "a part of it was tested" in result.message and result.cases


def test_what_does_not_apply_names_only_what_is_missing() -> None:
    """A deque can offer and poll; of QUEUE-7 it lacks put, and puts that wait."""
    summary, _ = conduct("deque", Order(cases=1, settings=QUICK))
    (result,) = (each for each in summary.results if each.rule.id == "QUEUE-7")
    assert (result.reason, result.message) == (NOT_OFFERED, "it needs put; and the policy wait")


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_case_begins_after_the_deadline(jobs: int) -> None:
    """By a clock of its own: the run ends with a case, says so, and shows no rule that it had not
    exercised enough by then."""
    ticks = itertools.count()
    deadline = Deadline(3, clock=lambda: float(next(ticks)))
    summary, rows = conduct("reference", Order("queue"), engine=Engine(jobs, deadline=deadline))
    assert 1 <= len(rows) <= 3 and f"after {len(rows)} case" in summary.cut
    assert summary.verdict == "not shown" and "too few cases" in summary.not_shown
