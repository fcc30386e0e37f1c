"""A cluster of workers in virtual time: the reference keeps the rules about whole runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from checkvalve.conformance.systems.storm_topology.runs import RULES, HistoryJudge, Offence, judged
from checkvalve.conformance.systems.storm_topology.telling import Terms, terms_of
from checkvalve.reference.storm.cluster import Cluster, Happened, run
from checkvalve.reference.storm.executor import BoltTask
from checkvalve.reference.storm.faults import (
    Fault, Scenario, ScenarioMisuse, What, bolts_of, scenario,
)
from checkvalve.reference.storm.status import (
    Status, StatusMisuse, UnknownTask, UnknownWorker,
)
from checkvalve.reference.storm.topologies import (
    TOPOLOGIES, Component, Kind, Message, Stream, Topology, TopologyMisuse, deploy, ping_pong,
)
from checkvalve.reference.storm.worker import Parts, Settings, SettingsMisuse, Worker
from checkvalve.spec.notation import InputError

WORDS = TOPOLOGIES["word-count"]
NAMES = sorted(TOPOLOGIES)


def terms(one: Scenario) -> Terms:
    """The terms of a scenario."""
    return terms_of(
        one.topology, messages=one.messages, workers=one.workers, **asdict(one.settings))


def offences(one: Scenario) -> list[Offence]:
    """The offences of the reference's run of a scenario."""
    return judged(run(one), terms(one))


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_breaks_no_rule_under_faults(name: str) -> None:
    """Thirty scenarios of each topology become quiescent, and every rule is kept on the way."""
    found = {seed: offences(scenario(TOPOLOGIES[name], seed)) for seed in range(30)}
    assert {seed: [each.words() for each in some] for seed, some in found.items() if some} == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_history(name: str) -> None:
    """A history is a function of its scenario, and a scenario of its seed."""
    assert all(
        run(scenario(TOPOLOGIES[name], seed)) == run(scenario(TOPOLOGIES[name], seed))
        for seed in range(5))


def test_the_scenarios_meet_every_kind_of_fault_and_what_follows_from_it() -> None:
    """An event that never occurs is not tested: losses, failures, crashes, spills, waits."""
    seen, faults = set(), set()
    for seed in range(30):
        one = scenario(WORDS, seed)
        faults |= {fault.what for fault in one.faults}
        for event in run(one):
            seen.add(event.what)
            if event.what == "holds" and int(event.about[2]) > 0:
                seen.add("overflow")
            if event.what == "stands" and int(event.about[1]) > 0:
                seen.add("pending")
    assert faults == set(What)
    assert {"lost", "failed", "killed", "overflow", "pending", "rested"} <= seen


def test_a_killed_spout_repeats_only_what_was_not_committed() -> None:
    """After a restart messages below the commit do not come again; all others are acked."""
    one = replace(scenario(WORDS, 0), workers=2, messages=12, settings=Settings(max_pending=2),
                  faults=(Fault(45, What.KILL, 0, lasts=10),))
    history = run(one)
    attempts = [event.about[0] for event in history if event.what == "root"]
    assert judged(history, terms(one)) == []
    assert set(attempts) == set(range(12)) and len(attempts) > 12


def test_without_faults_and_limits_every_message_is_emitted_once() -> None:
    """Duplicates have a cause."""
    for name in NAMES:
        one = replace(scenario(TOPOLOGIES[name], 3), faults=(), settings=Settings())
        words = [event.what for event in run(one)]
        assert words.count("root") == words.count("acked") == one.messages
        assert "lost" not in words and "failed" not in words


def test_bolts_that_form_a_cycle_are_refused() -> None:
    """They could all wait for each other; the message names them."""
    bolts = tuple(Component(name, WORDS.bolts[0].make) for name in ("ping", "pong"))
    streams = (Stream("source", "ping"), Stream("ping", "pong"), Stream("pong", "ping"))
    with pytest.raises(TopologyMisuse, match="ping, pong form a cycle"):
        Topology("looping", str, 1, bolts, streams)


def test_a_cycle_of_bolts_that_is_let_through_stalls() -> None:
    """Without the check the two bolts wait for each other, and the history says so."""
    one = replace(scenario(WORDS, 0), topology=ping_pong(cycles=True), faults=(),
                  settings=Settings(capacity=1), workers=1)
    (offence,) = offences(one)
    assert offence.rule is RULES["STORM-C13"]
    assert "in a cycle: " in offence.words()
    with pytest.raises(TopologyMisuse, match="ping, pong form a cycle"):
        ping_pong()


EVERY_TOPOLOGY = pytest.mark.parametrize(
    "topology", [*TOPOLOGIES.values(), ping_pong(cycles=True)], ids=lambda each: each.name)


@EVERY_TOPOLOGY
def test_a_message_has_as_many_parts_at_the_sinks_as_is_said_of_its_topology(
    topology: Topology
) -> None:
    """The rules use that number to decide whether all of a message has arrived."""
    one = replace(scenario(topology, 0), faults=(), workers=1, settings=Settings(capacity=64))
    parts = {message: {event.about for event in run(one)
                       if event.what == "reached" and event.about[0] == message}
             for message in range(one.messages)}
    assert {len(of) for of in parts.values()} == {topology.parts}


@EVERY_TOPOLOGY
def test_a_bolt_emits_as_much_as_is_said_of_it_and_no_more(topology: Topology) -> None:
    """The bound of pendingEmits in the rules is what one execution emits at most; so it is exact.
    """
    one = replace(scenario(topology, 0), faults=(), workers=1, settings=Settings(capacity=64))
    most: Counter[int] = Counter()
    emitted: Counter[int] = Counter()
    for event in run(one):
        if event.what == "processed":
            emitted[int(event.about[0])] = 0
        elif event.what == "emitted":
            task = int(event.about[0])
            emitted[task] += 1
            most[task] = max(most[task], emitted[task])
    bolts = bolts_of(one.topology)
    assert {task: most[task] for task in bolts} == {
        task: one.topology.emits_at_most(task) for task in bolts}


def test_a_stream_to_nowhere_and_a_cluster_of_nobody_are_refused() -> None:
    """They are refused before anything runs."""
    with pytest.raises(TopologyMisuse, match="no stream leads from source to nobody"):
        Topology("broken", str, 1, (), (Stream("source", "nobody"),))
    with pytest.raises(TopologyMisuse, match="1 worker or more"):
        deploy(WORDS, 0)


@pytest.mark.parametrize("wrong", [
    lambda: Settings(capacity=0), lambda: Settings(overflow_limit=-1),
    lambda: Settings(transfer_capacity=0), lambda: Settings(max_pending=-1),
    lambda: Settings(per_round=True),
])
def test_sizes_that_make_no_sense_are_refused(wrong: Callable[[], Settings]) -> None:
    """A negative limit, no room at all, a number that is none."""
    with pytest.raises(SettingsMisuse, match="is an integer from"):
        wrong()


@pytest.mark.parametrize("fault", [
    Fault(1, What.KILL, 2), Fault(1, What.SLOW, 6), Fault(1, What.CUT, 0, 0),
    Fault(1, What.LOSE_STATUS, 0, 2), Fault(-1, What.KILL, 0), Fault(1, What.KILL, 0, lasts=0),
])
def test_a_fault_that_cannot_happen_is_refused(fault: Fault) -> None:
    """An unknown worker or task, a worker connected to itself, a time before the start."""
    one = replace(scenario(WORDS, 0), workers=2, faults=())
    with pytest.raises(ScenarioMisuse, match="cannot happen here"):
        replace(one, faults=(fault,))
    with pytest.raises(ScenarioMisuse, match="0 messages or more"):
        replace(one, messages=-1)


@pytest.mark.parametrize(("misuse", "refusal"), [
    (lambda worker: worker.hear(Status("worker 7", 0, 1, frozenset({1}), frozenset())),
     UnknownWorker),
    (lambda worker: worker.transfer(Message(Kind.DATA, 0, 0, 99, 0, ())), UnknownTask),
    (lambda worker: worker.disconnect(5), StatusMisuse),
])
def test_a_worker_that_is_misused_stays_as_it_was(
    misuse: Callable[[Worker], object], refusal: type[StatusMisuse]
) -> None:
    """A status of an unknown worker and a tuple for an unknown task are refused; the run that
    follows is the one that would have been without them."""
    one = scenario(WORDS, 5)
    disturbed = Cluster(one)
    for worker in disturbed.workers.values():
        assert worker is not None
        with pytest.raises(refusal):
            misuse(worker)
    assert disturbed.run() == run(one)


def calm(*faults: Fault, **settings: int) -> Scenario:
    """A run in which nothing goes wrong but what bolts do."""
    return replace(scenario(WORDS, 0), workers=2, settings=Settings(**settings), faults=faults)


def failures(history: tuple[Happened, ...]) -> list[int]:
    """The instants at which attempts failed."""
    return [event.at for event in history if event.what == "failed"]


def test_a_bolts_fail_reaches_the_spout_at_once_and_the_message_comes_again() -> None:
    """Long before a timeout; every message is acked all the same."""
    one = calm(Fault(0, What.FAIL, 1), Fault(0, What.FAIL, 3))
    history = run(one)
    assert len(failures(history)) == 2 and max(failures(history)) < 100
    assert judged(history, replace(terms(one), calm=True)) == []


def test_a_root_for_which_more_time_is_asked_does_not_time_out() -> None:
    """A bolt works at a tuple for three periods of the message timeout, and asks."""
    history = run(calm(Fault(0, What.TOIL, 1, lasts=900)))
    assert [event.what for event in history].count("asking") > 10
    assert failures(history) == [] and history[-1].what == "rested"


def test_a_root_for_which_nobody_asks_times_out() -> None:
    """The same without the requests: so the test above means something."""
    class Silent(BoltTask):
        def ask(self) -> None:
            """It does not."""
    history = run(calm(Fault(0, What.TOIL, 1, lasts=900)), Parts(bolt=Silent))
    assert len(failures(history)) >= 1 and min(failures(history)) > 300


def test_room_appears_between_two_emits_of_one_execution() -> None:
    """Others run inside a turn: a task processes something between two emits of another."""
    found = False
    for seed in range(5):
        history = run(replace(scenario(WORDS, seed), faults=()))
        for before, between, after in zip(history, history[1:], history[2:], strict=False):
            is_split = before.what == after.what == "emitted" and before.about[0] in (1, 2)
            found |= (is_split and before.about[0] == after.about[0]
                      and between.what == "processed" and between.about[0] != before.about[0])
    assert found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ackers", [0, 1, 3, None])
def test_any_number_of_ackers_will_do(name: str, ackers: int | None) -> None:
    """None means one for each worker; with 0 nothing is tracked, and all else is judged."""
    for seed in range(6):
        one = scenario(replace(TOPOLOGIES[name], ackers=ackers), seed)
        assert one.topology.ackers == (one.workers if ackers is None else ackers)
        history = run(one)
        assert offences(one) == [] and history[-1].what == "rested"
        assert ("acked" in {event.what for event in history}) == (ackers != 0)


def test_the_wait_for_graph_names_the_cycle_of_a_spout_and_an_acker() -> None:
    """A cycle of tasks is printed from one of them back to it."""
    cluster = Cluster(replace(scenario(WORDS, 0), workers=1))
    cluster.waits = lambda: {0: 5, 5: 0, 1: 5}  # type: ignore[method-assign]
    assert cluster.cycle() == (0, 5, 0)


@pytest.mark.parametrize(("event", "message"), [
    (Happened(0, "sneezed", (1,)), "no event of a topology"),
    (Happened(0, "emitted", (1, 0, 2, 5000)), "rule"),
])
def test_a_history_of_other_events_is_refused(event: Happened, message: str) -> None:
    """An unknown word is the input's fault; a number out of turn breaks a rule."""
    judge = HistoryJudge(terms(scenario(WORDS, 0)))
    if message == "rule":
        offence = judge.see(event)
        assert offence is not None and offence.rule is RULES["STORM-C2"]
    else:
        with pytest.raises(InputError, match=message):
            judge.see(event)


def test_the_rules_of_a_history_are_those_of_the_chapter() -> None:
    """Each of them has a guard that can be broken; C16 to C18 are judged otherwise."""
    assert set(RULES) == {f"STORM-C{number}" for number in (*range(1, 16), *range(19, 26))}
    assert run(scenario(WORDS, 0))[-1].what == "rested"


def test_a_rule_counts_as_exercised_only_where_something_could_break_it() -> None:
    """Without a limit of the overflowQ nothing is over it, and so with the pending roots; with one,
    STORM-C19 says nothing."""
    def exercised(one: Scenario) -> Counter[str]:
        found: Counter[str] = Counter()
        judged(run(one), terms(one), exercised=found)
        return found
    free, bound = (
        replace(scenario(WORDS, 0), workers=2,
                settings=Settings(overflow_limit=limit, max_pending=limit))
        for limit in (0, 2))
    assert not {"STORM-C5", "STORM-C7"} & exercised(free).keys()
    failing = replace(bound, faults=(
        Fault(0, What.FAIL, 1), Fault(5, What.THROW, 2), Fault(9, What.SLOW, 3, lasts=90),
        Fault(30, What.CUT, 0, 1, 40)))
    of_fails = {"STORM-C20", "STORM-C21"}
    assert not of_fails & exercised(replace(bound, faults=())).keys()
    assert (exercised(failing) + exercised(bound)).keys() == (
        RULES.keys() - {"STORM-C19", "STORM-C21"})


@pytest.mark.parametrize("task", [0, 1, 3])
def test_a_worker_dies_at_once_when_user_code_raises_and_all_is_delivered_still(task: int) -> None:
    """A spout's and a bolt's: nothing is recorded between the two, and a new life finishes it."""
    one = Scenario(WORDS, 2, 6, Settings(), (Fault(1, What.THROW, task),), seed=task)
    history = run(one)
    assert history == run(one)
    (raised,) = (n for n, event in enumerate(history) if event.what == "raised")
    died = history[raised + 1]
    assert (died.what, died.about[0], died.at) == ("died", task % 2, history[raised].at)
    assert history[-1].what == "rested"
    assert judged(history, terms(one)) == []


def test_an_acker_has_no_user_code_that_could_raise() -> None:
    """A plan that says otherwise is refused."""
    acker = WORDS.on(1).tasks_of()["acker"][0]
    with pytest.raises(ScenarioMisuse):
        Scenario(WORDS, 1, 1, Settings(), (Fault(0, What.THROW, acker),), seed=0)


class Insisting(Cluster):
    """Gives its turn to each task that rests, too."""

    def _turn(self, number: int, task: int | None) -> bool:
        worker = self.workers[number]
        if worker is not None and task is not None and worker.tasks[task].rests():
            before = len(self.history)
            assert not worker.tasks[task].call() and len(self.history) == before
        return super()._turn(number, task)


@pytest.mark.parametrize("name", NAMES)
def test_a_task_that_rests_would_do_nothing_at_its_turn(name: str) -> None:
    """So a run in which those get their turns as well has the same history."""
    for seed in range(6):
        one = scenario(TOPOLOGIES[name], seed)
        assert Insisting(one).run() == run(one)
