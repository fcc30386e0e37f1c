"""Parts of a suite: its programs, its shrinker, its summary, its treatment of faults."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.summary import known_rules, summarise
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.results import (
    ERROR, NOT_SHOWN, NO_OCCASION, PASSED, TOO_FEW, VIOLATED, CaseRow,
)
from checkvalve.conformance.suites.generate import LENGTH_MAX, explore
from checkvalve.conformance.suites.judge import Judge
from checkvalve.conformance.suites.run import ITEMS_MAX, run_program
from checkvalve.conformance.suites.shrink import shrink
from checkvalve.conformance.suites.suite import Act, Program
from checkvalve.conformance.systems.queue.suite import SUITE as QUEUE_SUITE
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.rules import Rule

SUITE = QUEUE_SUITE
ALL = tuple(SUITE.weights)


def programs(seed: int, can: tuple[str, ...] = ALL, rule: str = "QUEUE-3") -> list[Program]:
    """The programs of a seed."""
    focus = SUITE.rule(rule)
    assert focus is not None
    found: list[Program] = []
    explore(SUITE, can, focus, seed, 15, found.append)
    return found


# --- programs ---------------------------------------------------------------------------

def test_programs_are_a_function_of_the_seed_alone() -> None:
    """Not of what was drawn before, nor of which modules are imported."""
    script = textwrap.dedent("""
        from checkvalve.conformance.systems.catalogue import suite_named
        from checkvalve.conformance.suites.generate import explore
        suite = suite_named("queue")
        explore(suite, tuple(suite.weights), suite.rule("QUEUE-3"), 11, 15, print)
    """)
    apart = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert apart.stdout.splitlines() == [str(program) for program in programs(11)]
    assert programs(11) == programs(11) != programs(12)


def test_programs_ask_only_for_what_the_target_can_do() -> None:
    """A capability that is missing is never requested."""
    for program in programs(3, ("offer", "poll", "size")):
        assert {act.do for act in program} <= {"offer", "poll", "size", "settle"}


def test_a_program_names_no_more_items_than_the_machines_have() -> None:
    """The longest program fits the constants that all programs share."""
    assert LENGTH_MAX + 2 < ITEMS_MAX


def test_a_machine_that_adds_a_rule_is_asked_about_that_rule_only() -> None:
    """The machine to which it adds judges the others."""
    added = [watch for watch in QUEUE_SUITE.watches if watch.adds is not None]
    assert added and all(watch.rules() == (watch.adds,) for watch in added)


def test_a_machine_that_adds_a_rule_watches_where_that_rule_is_looked_for_or_all_are() -> None:
    """Elsewhere it would take time, and say nothing that is asked."""
    adding = next(watch for watch in QUEUE_SUITE.watches if watch.adds is not None)

    def watch(focus: Rule | None) -> bool:
        judge = Judge(QUEUE_SUITE.watches, QUEUE_SUITE.constants(2, ITEMS_MAX), focus)
        return any(each.watch is adding for each in judge._watchers.every)

    assert {rule.id for rule in QUEUE_SUITE.rules() if watch(rule)} == {"QUEUE-12"}
    assert watch(None)


def test_drawing_programs_leaves_no_files_behind(tmp_path: Path) -> None:
    """The folder from which a suite is run stays as it was."""
    script = (
        "from checkvalve.conformance.campaigns import *\n"
        "for case in plan('queue', cases=1, seed=0):\n"
        "    run_case('queue', 'deque', case, RunSettings(programs=3))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


# --- shrinking ----------------------------------------------------------------------------

ACTS = st.builds(Act, st.sampled_from(ALL), st.integers(0, 2), st.just(()))


@given(st.lists(ACTS, max_size=12).map(tuple))
def test_the_shrinker_finds_the_two_acts_that_matter(noise: Program) -> None:
    """Whatever stands around a cancel that follows a put, only these two are left."""
    def fails(program: Program) -> Program | None:
        puts = [at for at, act in enumerate(program) if act.do == "put"]
        cancels = [at for at, act in enumerate(program) if act.do == "cancel"]
        if puts and cancels and puts[0] < cancels[-1]:
            return program[: cancels[-1] + 1]
        return None
    program = (*noise, Act("put"), *noise, Act("cancel", 2), *noise)
    assert shrink(program, fails, SUITE.simpler) == (Act("put"), Act("cancel"))


@given(st.lists(ACTS, min_size=1, max_size=40).map(tuple), st.integers(0, 60))
def test_the_shrinker_keeps_to_its_budget(program: Program, budget: int) -> None:
    """It stops by the number of runs, whatever it is given."""
    runs = 0

    def fails(candidate: Program) -> Program | None:
        nonlocal runs
        runs += 1
        return candidate
    shrink(program, fails, SUITE.simpler, budget)
    assert runs <= budget


def test_acts_that_make_no_sense_are_left_out_of_a_run() -> None:
    """Nothing is cancelled that does not wait, and no more wait than the machines follow."""
    program = (Act("cancel"), *(Act("take"),) * 9, Act("settle"))
    run = run_program(SUITE, resolve_target("reference"), program, 1)
    assert run.acts == [*(Act("take"),) * 3, Act("settle")]


UNTOLD = """
    class Adapter:  # a wait is never answered: neither that it is done, nor at a cancel
        def request(self, message):
            do = message["do"]
            if do == "hello":
                self.asked = 0
                return {"ok": {"name": "untold", "version": "1", "policy": "wait",
                               "can": ["put", "poll", "cancel"]}}
            self.asked += do == "put"
            if do == "put":
                return {"ok": True} if self.asked == 1 else {"waiting": self.asked}
            return {"ok": "a1" if do == "poll" else do == "settle"}
"""


def test_no_more_wait_than_the_machines_follow_where_no_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancel that comes too late, of which no event reports, leaves no place for one more."""
    target = target_from(UNTOLD, tmp_path, monkeypatch, "untold_adapter")
    puts, poll, cancel = (Act("put"),) * 4, Act("poll"), Act("cancel")
    run = run_program(SUITE, resolve_target(target), (*puts, poll, cancel, Act("put")), 1)
    assert run.acts == [*puts, poll, cancel]
    summary, _ = conduct(target, Order(cases=12))
    assert summary.verdict == VIOLATED
    assert {"QUEUE-7", "QUEUE-9"} & {each.rule.id for each in summary.results
                                     if each.verdict == VIOLATED}


# --- targets that fail -----------------------------------------------------------------------

HEADER = """
    from checkvalve.conformance.systems.queue.reference import ReferenceQueue
    class Base(ReferenceQueue):
        pass
"""


def target_from(body: str, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    """A target with an adapter that is written in a test."""
    text = textwrap.dedent(HEADER) + textwrap.dedent(body)
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return f"python:{name}:Adapter"


def row_of(target: str) -> CaseRow:
    """The first row of a target."""
    (case,) = plan("queue", cases=1, seed=0)
    return run_case("queue", target, case, RunSettings(capacity=1))


def test_a_target_that_dies_is_an_error_that_tells_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error row says which requests led there; it is no verdict on a rule."""
    target = target_from("""
        class Adapter(Base):
            def poll(self):
                raise SystemError("out of order")
    """, tmp_path, monkeypatch, "dying_adapter")
    row = row_of(target)
    assert (row.verdict, row.rule) == (ERROR, "")
    assert "out of order" in row.message and "after: " in row.message


def test_a_target_that_fails_at_once_is_asked_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target that hangs costs one time limit, not one for each case."""
    target = target_from("""
        class Adapter(Base):
            def start(self, capacity):
                raise SystemError("no")
    """, tmp_path, monkeypatch, "adapter_that_fails_late")
    summary, rows = conduct(target, Order(cases=36))
    assert [row.verdict for row in rows] == [ERROR]
    assert summary.verdict == "error"
    assert {result.verdict for result in summary.results} == {"not shown"}
    assert {result.reason for result in summary.results} == {"target failed"}


def test_a_target_that_cannot_do_what_it_claims_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the operation, and no rule passes on the strength of it."""
    target = target_from("""
        from checkvalve.conformance.systems.queue.adapter import Declined
        class Adapter(Base):
            def take(self):
                raise Declined("unknown-operation")
    """, tmp_path, monkeypatch, "boasting_adapter")
    summary, _ = conduct(target, Order(cases=6))
    assert summary.verdict == "error"
    assert "'take'" in summary.error


def test_a_definite_error_means_that_nothing_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target that declines some requests is judged by what it did do."""
    target = target_from("""
        from checkvalve.conformance.systems.queue.adapter import Declined
        class Adapter(Base):
            def offer(self, item):
                raise Declined("busy")
    """, tmp_path, monkeypatch, "declining_adapter")
    assert row_of(target).verdict == PASSED


def test_nothing_is_judged_after_an_indefinite_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an item may or may not be inside, no later answer can be wrong for sure."""
    target = target_from("""
        from checkvalve.conformance.systems.queue.adapter import Declined
        class Adapter(Base):
            def offer(self, item):
                super().offer(item)
                raise Declined("connection lost", definite=False)
    """, tmp_path, monkeypatch, "doubtful_adapter")
    assert row_of(target).verdict == PASSED


# --- plans and summaries -------------------------------------------------------------------

def test_the_seed_of_a_case_does_not_depend_on_how_many_there_are() -> None:
    """More cases are the same cases and more."""
    assert plan("queue", cases=50, seed=4)[:7] == plan("queue", cases=7, seed=4)
    assert len({case.seed for case in plan("queue", cases=500, seed=4)}) == 500


@pytest.mark.parametrize("wrong", [
    lambda: plan("queue", cases=0, seed=0), lambda: plan("queue", cases=1, seed=-1),
    lambda: plan("stack", cases=1, seed=0), lambda: RunSettings(capacity=0),
    lambda: RunSettings(programs=0), lambda: RunSettings(timeout_seconds=0),
    lambda: known_rules("queue", ["QUEUE-99"]),
])
def test_what_makes_no_sense_is_refused_with_a_message(wrong: object) -> None:
    """Bad numbers and names are the user's, and said so."""
    assert callable(wrong)
    with pytest.raises(InputError):
        wrong()


def a_row(case: int, verdict: str, rule: str = "", fixture: str = "") -> CaseRow:
    """A row by hand."""
    exercised = json.dumps({"QUEUE-1": 5, "QUEUE-2": 4, "QUEUE-12": 1})
    return CaseRow("queue", "1", "t", case, case, verdict, rule, 9, "", exercised, fixture)


def passing(cases: int) -> list[CaseRow]:
    """As many rows without a breach."""
    return [a_row(case, PASSED) for case in range(cases)]


@pytest.fixture(scope="module")
def broken() -> dict[str, CaseRow]:
    """Rows of a queue that breaks a MUST, and of one that breaks a SHOULD."""
    return {
        rule: next(
            row for row in (
                run_case("queue", target, case, RunSettings())
                for case in plan("queue", cases=36, seed=0)[at::12]
            ) if row.rule == rule
        )
        for rule, target, at in (("QUEUE-1", "deque", 0),
                                 ("QUEUE-12", "zoo:youngest-put-first", 11))
    }


def test_a_known_violation_stays_violated_and_decides_nothing(
    broken: dict[str, CaseRow]
) -> None:
    """The report says what is broken; the verdict says whether that was news."""
    rows = [*passing(9), replace(
        broken["QUEUE-1"], exercised=a_row(9, PASSED).exercised)]
    news, old = summarise("queue", "t", rows), summarise("queue", "t", rows, ["QUEUE-1"])
    assert (news.verdict, old.verdict) == ("violated", "passed")
    assert old.results[0].verdict == VIOLATED


def test_a_should_that_is_broken_is_a_violation_until_it_is_known(
    broken: dict[str, CaseRow]
) -> None:
    """There may be reasons not to do what one SHOULD; a user who has them says so."""
    rows = [*passing(9), replace(
        broken["QUEUE-12"], exercised=a_row(9, PASSED).exercised)]
    news, old = summarise("queue", "t", rows), summarise("queue", "t", rows, ["QUEUE-12"])
    assert (news.verdict, old.verdict) == ("violated", "passed")
    verdicts = [result.verdict for summary in (news, old) for result in summary.results
                if result.rule.id == "QUEUE-12"]
    assert verdicts == [VIOLATED, VIOLATED]


def test_a_known_violation_that_is_gone_is_told(broken: dict[str, CaseRow]) -> None:
    """A developer who fixes a queue hears that its entry can go."""
    assert summarise("queue", "t", passing(9), ["QUEUE-1"]).no_longer_broken == (
        "QUEUE-1",)


@pytest.mark.parametrize(("cases", "verdict", "reason"), [
    (0, NOT_SHOWN, NO_OCCASION), (8, NOT_SHOWN, TOO_FEW), (9, PASSED, "")])
def test_a_rule_that_too_few_cases_exercised_is_not_shown(
    cases: int, verdict: str, reason: str
) -> None:
    """Another rule was exercised in all of them; the run shows no more than it does of this one."""
    rows = [CaseRow("queue", "1", "t", at, at, PASSED, "", 9, "",
                    json.dumps({"QUEUE-1": int(at < cases), "QUEUE-2": 3}), "")
            for at in range(36)]
    summary = summarise("queue", "t", rows)
    assert [summary.results[0].verdict, summary.verdict] == [verdict, verdict]
    assert summary.results[0].reason == reason and not summary.results[0].declared


def test_a_run_in_which_nothing_could_break_shows_nothing() -> None:
    """A green run that proved nothing says so."""
    rows = [CaseRow("queue", "1", "t", 0, 0, PASSED, "", 9, "", '{"QUEUE-1": 0}', "")]
    assert summarise("queue", "t", rows).verdict == NOT_SHOWN
