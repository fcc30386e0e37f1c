"""Runs, replays, judges and the shrinker, each by itself: which steps, and which breach."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns import case
from checkvalve.conformance.campaigns.case import (
    CANDIDATES_MAX, CAPACITY_MAX, RunSettings, plan, run_case,
)
from checkvalve.conformance.campaigns.replay import Replay, _outcome, replay
from checkvalve.conformance.campaigns.steadiness import Sessions, kept_state, left_behind
from checkvalve.conformance.engines.local import _done
from checkvalve.conformance.ports.base import Adapter
from checkvalve.conformance.suites.results import ERROR, FLAKY, VIOLATED, Case, CaseRow
from checkvalve.conformance.suites.fixture import Fixture, read_fixture
from checkvalve.conformance.suites.history import HistorySuite
from checkvalve.conformance.suites.breach import Breach
from checkvalve.conformance.computer.places import from_root
from checkvalve.conformance.suites.judge import _alternatives
from checkvalve.conformance.suites.run import Run, capabilities, run_program
from checkvalve.conformance.suites.shrink import shrink
from checkvalve.conformance.suites.suite import Act, Answer, Program
from checkvalve.conformance.systems.catalogue import port_named, suite_named, zoo
from checkvalve.conformance.systems.queue.dropping import DroppingDeque
from checkvalve.conformance.systems.queue.reference import ReferenceQueue
from checkvalve.conformance.systems.queue.suite import SUITE as QUEUE_SUITE
from checkvalve.conformance.systems.targets import reference_of, resolve_target
from checkvalve.spec.notation.errors import InputError, TargetError
from checkvalve.spec.verdicts.deadline import Deadline

SUITE = QUEUE_SUITE
RULES = SUITE.rules()


def breach(number: int, step: int) -> Breach:
    """A breach of one of the suite's rules, in a step."""
    return Breach(RULES[number], step, "offer", "room", "spec/x.py:1", (), "")


# ---- runs --------------------------------------------------------------------------------------


def test_a_program_is_cut_after_the_step_that_broke_the_rule() -> None:
    """That step belongs to it, the next one does not."""
    acts = [Act("offer"), Act("poll"), Act("size"), Act("settle")]
    run = Run(acts=acts)
    assert [run.up_to(breach(0, step)) for step in range(4)] == [
        tuple(acts[: step + 1]) for step in range(4)]


def test_the_first_breach_of_a_rule_is_the_one() -> None:
    """And none of another rule."""
    run = Run(breaches=[breach(0, 1), breach(1, 2), breach(1, 3)])
    assert run.breach_of(RULES[1]) == breach(1, 2)
    assert run.breach_of(RULES[2]) is None


def test_a_run_goes_on_after_a_breach_of_another_rule_and_stops_after_its_own() -> None:
    """As long as a machine is left that could show the rule that is looked for."""
    program = (Act("offer"),) * 9 + (Act("poll"),) * 9
    target = resolve_target("zoo:silent-drop")
    whole = run_program(SUITE, target, program, 2)
    assert whole.breaches
    own = whole.breaches[0].rule
    focused = run_program(SUITE, target, program, 2, focus=own)
    assert len(focused.acts) == whole.breaches[0].step + 1
    assert len(focused.exchanges) == len(focused.acts)


def test_what_was_at_stake_is_counted_only_if_that_is_asked_for() -> None:
    """By rule, the steps at which another answer would have broken it."""
    program = (Act("offer"), Act("offer"), Act("poll"))
    target = resolve_target("reference")
    assert not run_program(SUITE, target, program, 1).exercised
    counts = run_program(SUITE, target, program, 1, count=True).exercised
    assert counts and all(0 < count <= 9 for count in counts.values())


# ---- cases -------------------------------------------------------------------------------------


def test_cases_are_planned_within_bounds_and_each_has_a_seed_of_its_own() -> None:
    """From 1 to a million, with seeds of 53 bits."""
    assert [each.index for each in plan("queue", cases=3, seed=0)] == [0, 1, 2]
    seeds = {each.seed for seed in (0, 2**53 - 1)
             for each in plan("queue", cases=40, seed=seed)}
    assert len(seeds) == 80 and 2**50 < max(seeds) < 2**53
    for cases, seed in ((0, 0), (1_000_001, 0), (1, -1), (1, 2**53)):
        with pytest.raises(InputError, match="must be a whole number from"):
            plan("queue", cases=cases, seed=seed)


def test_cases_take_the_capacities_of_a_suite_in_turn_unless_one_is_asked_for() -> None:
    """So a run meets small and large ones; and a user's own is the only one then."""
    def capacities(settings: RunSettings) -> set[int]:
        found = set()
        for planned in plan("queue", cases=60, seed=0):
            search = case._Search(SUITE, "d", resolve_target("reference"), planned, settings)
            search.rules = RULES
            found.add(search.capacity)
        return found

    assert SUITE.long is not None
    assert capacities(RunSettings()) == {*SUITE.capacities, *SUITE.long.sizes}
    assert capacities(RunSettings(capacity=7)) == {7}


def test_settings_out_of_their_bounds_are_refused() -> None:
    """By name, with the bounds."""
    for name, most in (("capacity", CAPACITY_MAX), ("programs", 10_000),
                       ("candidates", CANDIDATES_MAX)):
        for value in (1, most):
            RunSettings(**{name: value})
        for value in (0, most + 1):
            with pytest.raises(InputError, match=f"{name} must be a whole number from 1 to {most}"):
                RunSettings(**{name: value})


def test_a_target_that_dies_while_its_breach_is_seen_again_is_an_error(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not a pass: the first breach is no verdict, and the error is reported."""

    def die(*_: object) -> None:
        raise TargetError("it died")

    monkeypatch.setattr(case._Search, "_fails", die)
    row = run_case("queue", "zoo:silent-drop", Case(0, 7), RunSettings(programs=9))
    assert row.verdict == ERROR and "it died" in row.message


class Worn(Deadline):
    """A deadline that is over with the first failure: time is counted in what was run."""

    def __init__(self) -> None:
        self.over = False
        super().__init__(1.0, lambda: float(self.over))


def test_a_failure_is_confirmed_after_the_deadline_and_not_made_shorter(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a run takes minutes, shortening it would take hours after the time was over."""
    deadline, shorter = Worn(), run_case("queue", "zoo:silent-drop", Case(0, 7), RunSettings())
    runs = 0

    def counted_run(*given: Any, **more: Any) -> Run:
        nonlocal runs
        runs += deadline.over
        run = run_program(*given, **more)
        deadline.over = deadline.over or bool(run.breaches)
        return run

    monkeypatch.setattr(case, "run_program", counted_run)
    row = run_case("queue", "zoo:silent-drop", Case(0, 7), RunSettings(), deadline)
    assert (row.verdict, row.rule) == (VIOLATED, shorter.rule)
    assert read_fixture(row.fixture, "f").length > read_fixture(shorter.fixture, "f").length
    assert runs <= 2 * case._REPEATS


def test_a_case_that_takes_all_the_time_hides_none_of_the_others() -> None:
    """After the deadline the rows of those that are done are taken, in their order."""
    row = run_case("queue", "reference", Case(0, 7), RunSettings(programs=1))
    chunks: list[Future[list[CaseRow]]] = [Future(), Future(), Future()]
    chunks[0].set_result([row])
    chunks[2].set_result([replace(row, case=2)])
    assert [each.case for each in _done(chunks, Deadline(0.0))] == [0, 2]


def test_what_a_target_keeps_is_not_looked_for_after_the_deadline() -> None:
    """That takes dozens of sessions; a failure is reported as it came."""
    failed = TargetError("it did not answer")
    sessions = Sessions(SUITE, resolve_target("deque"), 1, deadline=Deadline(0.0))
    assert kept_state(sessions, (), (Act("offer"),)) is None
    assert left_behind(sessions, (), (Act("offer"),), failed) is failed


@pytest.mark.parametrize("index", [0, 3])
def test_a_target_that_gets_well_while_its_program_is_shrunk_is_flaky(
    index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both if the rule broke by itself (case 0) and if it broke behind another one (case 3)."""
    is_well = False

    def adapter() -> Adapter:
        return ReferenceQueue() if is_well else DroppingDeque()

    def shrink_and_mend(*given: Any) -> Program:
        nonlocal is_well
        found = shrink(*given)
        is_well = True
        return found

    planned = plan("queue", cases=4, seed=0)[index]
    target = InProcessTarget("d", adapter, port_named)
    whole = case._Search(SUITE, "d", target, planned, RunSettings()).row()
    assert (whole.verdict, whole.follows != "{}") == (VIOLATED, index == 3)
    monkeypatch.setattr(case, "shrink", shrink_and_mend)
    row = case._Search(SUITE, "d", target, planned, RunSettings()).row()
    assert row.verdict == FLAKY and "broken in 1 of 11 runs of the same program" in row.message
    assert read_fixture(row.fixture, "f").came_in == (1, 11)


def test_after_a_failure_nothing_more_is_asked_of_a_target() -> None:
    """Its later answers mean nothing; the row has the first failure."""
    started = 0

    class Dying(ReferenceQueue):
        """Fails at its third start, and at no other."""

        def start(self, capacity: int) -> None:
            nonlocal started
            started += 1
            if started == 3:
                raise SystemError("out of order")
            super().start(capacity)

    planned, = plan("queue", cases=1, seed=0)
    target = InProcessTarget("d", Dying, port_named)
    row = case._Search(SUITE, "d", target, planned, RunSettings(programs=9)).row()
    assert (row.verdict, started) == (ERROR, 3) and "out of order" in row.message


# ---- replays -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved() -> Fixture:
    """The fixture of a queue that drops in silence."""
    for each in plan("queue", cases=12, seed=0):
        row = run_case("queue", "zoo:silent-drop", each, RunSettings())
        if row.fixture:
            return read_fixture(row.fixture, "f")
    raise AssertionError("the twin is killed by one of the first cases")


def test_a_replay_tells_the_breach_of_the_fixtures_own_rule(saved: Fixture) -> None:
    """In its last step, in the words of that step."""
    again = replay(saved, resolve_target("zoo:silent-drop"))
    assert again.same and again.breach is not None and again.left_at is None
    assert again.breach.rule.id == saved.rule_id
    assert again.breach.step == saved.length - 1 == len(again.words) - 1


def test_a_fixture_with_other_settings_than_its_suite_has_is_refused(saved: Fixture) -> None:
    """It would be judged by machines of another size; the message says what to use."""
    changed = replace(saved, document=saved.document | {
        "settings": {**saved.document["settings"], "speed": 3}})
    with pytest.raises(InputError, match="no such settings") as found:
        replay(changed, resolve_target("reference"), "f.json")
    assert found.value.where == "f.json" and "capacity" in found.value.next_step


def test_a_replay_on_a_target_that_is_right_has_no_breach(saved: Fixture) -> None:
    """All steps were taken, and none was wrong."""
    again = replay(saved, resolve_target("reference"))
    assert (again.breach, again.same) == (None, False) and len(again.words) == saved.length


def test_a_breach_of_another_rule_is_told_and_is_not_the_same(saved: Fixture) -> None:
    """The fixture says one rule, the target breaks another one by the same requests."""
    own = SUITE.rule(saved.rule_id)
    other = next(rule for rule in RULES if rule != own)
    document = saved.document | {"rule": saved.document["rule"] | {"id": other.id}} \
        if isinstance(saved.document.get("rule"), dict) else saved.document | {"rule": other.id}
    changed = replace(saved, document=document)
    assert changed.rule_id == other.id
    again = replay(changed, resolve_target("zoo:silent-drop"))
    assert again.breach is None or (again.breach.rule == own and not again.same)


def test_of_several_breaches_the_fixtures_own_rule_is_told() -> None:
    """Also where another one was broken before it; without it the first of the others."""
    fixture, words = SimpleNamespace(length=3), ("a", "b", "c")

    def outcome(*breaches: Breach) -> Replay:
        judge = SimpleNamespace(breaches=list(breaches), unjudged=())
        return _outcome("t", judge, RULES[1], fixture, words, None)  # type: ignore[arg-type]

    assert outcome(breach(0, 1), breach(1, 2)).breach == breach(1, 2)
    assert outcome(breach(0, 1), breach(1, 2)).same
    assert not outcome(breach(1, 1)).same and not outcome(breach(0, 2)).same
    assert outcome(breach(0, 1), breach(2, 2)).breach == breach(0, 1)
    assert outcome().breach is None


# ---- the shrinker ------------------------------------------------------------------------------


def only(*needed: str) -> Program:
    """A program of acts by name."""
    return tuple(Act(name) for name in needed)


def holding(*needed: str) -> object:
    """Fails where these acts come in this order, up to the last of them."""

    def fails(program: Program) -> Program | None:
        left = list(needed)
        for at, act in enumerate(program):
            if left and act.do == left[0]:
                left.pop(0)
                if not left:
                    return program[: at + 1]
        return None

    return fails


def nothing(_act: Act) -> tuple[Act, ...]:
    """Nothing is simpler."""
    return ()


@pytest.mark.parametrize("noise", [0, 1, 2, 5])
@pytest.mark.parametrize("needed", [("a",), ("a", "b"), ("a", "b", "c"), ("a", "a", "a", "a")])
def test_only_what_is_needed_is_left(needed: tuple[str, ...], noise: int) -> None:
    """Wherever the rest stands."""
    program = only(*[name for each in needed for name in ("x",) * noise + (each,)], "y")
    assert shrink(program, holding(*needed), nothing) == only(*needed)  # type: ignore[arg-type]


def test_two_acts_that_go_only_together_go_together() -> None:
    """A wait and its cancellation: one alone breaks nothing; they need not be neighbours."""

    def fails(program: Program) -> Program | None:
        names = [act.do for act in program]
        return program if names.count("wait") == names.count("cancel") and "b" in names else None

    program = only("wait", "b", "cancel")
    assert shrink(program, fails, nothing) == only("b")
    program = only("wait", "wait", "b", "cancel", "cancel")
    assert shrink(program, fails, nothing) == only("b")


def test_an_act_is_made_simpler_as_long_as_it_fails() -> None:
    """The first that fails is taken, also of the last act, and then again from there."""

    def fails(program: Program) -> Program | None:
        return program if sum(act.pick for act in program) >= 3 else None

    def less(act: Act) -> list[Act]:
        return [act._replace(pick=act.pick - by) for by in (4, 2, 1) if act.pick >= by]

    found = shrink((Act("a", 9), Act("b", 9)), fails, less)
    assert sum(act.pick for act in found) == 3 and len(found) == 1


def test_half_of_a_program_is_left_out_first() -> None:
    """So a small budget is spent on the step that may save most."""
    tried: list[Program] = []

    def fails(program: Program) -> Program | None:
        tried.append(program)
        return program if Act("f") in program else None

    assert shrink(only(*"abcdef"), fails, nothing, runs_max=1) == only(*"def") == tried[0]


def test_no_candidate_is_tried_twice_and_the_budget_counts_runs() -> None:
    """A candidate that did not fail once is known."""
    tried: list[Program] = []

    def fails(program: Program) -> Program | None:
        tried.append(program)
        return program if len(program) >= 4 else None

    found = shrink(only(*"abcdef"), fails, nothing)
    assert len(found) == 4
    in_vain = [program for program in tried if len(program) < 4]
    assert len(in_vain) == len(set(in_vain))
    tried.clear()
    shrink(only(*"abcdef"), fails, nothing, runs_max=3)
    assert len(tried) == 3


# ---- the judge ---------------------------------------------------------------------------------


def test_places_in_our_chapters_are_told_from_the_root(saved: Fixture) -> None:
    """The same on every machine; of others the file's name is enough."""
    again = replay(saved, resolve_target("zoo:silent-drop"))
    assert again.breach is not None
    assert again.breach.where.startswith("spec/queues/") and ".py:" in again.breach.where
    assert from_root("/somewhere/else/chapter.py:7") == "chapter.py:7"


# ---- suites that talk plainly --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["storm.acker", "storm.spout", "storm.partition", "timer"])
def test_a_fixture_of_a_plain_suite_replays_by_the_same_acts(name: str) -> None:
    """Each request is found among those that an act can make; on the reference nothing breaks."""
    suite = suite_named(name)
    twin = next(twin for twin in zoo().values() if twin.suite == name and not twin.equivalent)
    rows = (run_case(name, f"zoo:{twin.name}", each, RunSettings())
            for each in plan(name, cases=12, seed=0))
    written = next(row.fixture for row in rows if row.fixture)
    fixture = read_fixture(written, "f")
    again = replay(fixture, resolve_target(f"zoo:{twin.name}"))
    assert again.same and len(again.words) == fixture.length
    assert replay(fixture, resolve_target(reference_of(name))).breach is None
    assert suite.rule(fixture.rule_id) in suite.rules()


def test_an_act_makes_sense_where_the_target_can_do_it_and_it_makes_a_request() -> None:
    """Both: a tick can be asked for at once, an ack only of what is there."""
    suite = suite_named("storm.spout")
    session = resolve_target("reference.storm.spout").open()
    conversation = suite.converse(session, suite.capacities[0], 18)
    sense = {do: conversation.makes_sense(Act(do)) for do in sorted(conversation.can)}
    assert set(sense.values()) == {True, False}
    assert not conversation.makes_sense(Act("no such thing"))
    session.close()


def test_a_suite_of_histories_applies_to_what_offers_one_of_each_group() -> None:
    """All of them to a target that does all, none to one that does nothing."""
    suite = suite_named("storm.topology")
    target = resolve_target("reference.storm.topology")
    can = capabilities(suite, target, 1)
    assert suite.applicable(can) == suite.rules() and not suite.applicable(())
    for rule in suite.rules():
        assert suite.rule(rule.id) is rule and suite.missing(rule, can) == ()
        assert suite.missing(rule, ()) and suite.machines(rule)
    assert suite.rule("STORM-C0") is None
    assert isinstance(suite, HistorySuite)
    rule = suite.rules()[0]
    either = replace(suite, needs={rule.id: (("walk", "fly"),)})
    assert either.missing(rule, ("fly",)) == ()
    assert either.missing(rule, ("run",)) == ("walk or fly",)


def test_a_suite_of_histories_tries_a_quarter_as_many_programs_rounded_up() -> None:
    """Each a pure function of the seed, and none twice."""
    suite = suite_named("storm.topology")
    can = capabilities(suite, resolve_target("reference.storm.topology"), 1)
    for examples, tried in ((1, 1), (4, 1), (5, 2), (20, 5)):
        programs: list[Program] = []
        suite.explore(can, suite.rules()[0], 3, examples, programs.append)
        assert len(set(programs)) == len(programs) == tried


def test_an_answer_is_offered_only_in_the_place_of_its_own_kind_of_step() -> None:
    """Where one reply shows steps of several kinds; one that names no kind fits anywhere."""
    offers = Answer("full", ("refuse", ()), instead_of=("accept", "refuse"))
    counts = Answer("2 items", ("size", ()), instead_of=("size",))
    anywhere = Answer("nothing", ("rest", ()))
    every = (offers, counts, anywhere)
    assert _alternatives(every, ("accept", ()), []) == (offers, anywhere)
    assert _alternatives(every, ("size", ()), []) == (counts, anywhere)
