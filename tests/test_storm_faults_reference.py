"""Faults in a cluster: each begins when it says, does what it says, and is over after that."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import pytest

from checkvalve.reference.links import Link
from checkvalve.reference.storm.cluster import GHOST, SLOWNESS, Cluster
from checkvalve.reference.storm.faults import Fault, Scenario, What, scenario
from checkvalve.reference.storm.retry import Backoff
from checkvalve.reference.storm.rotating import RotatingMap
from checkvalve.reference.storm.spout import Fetch, PartitionManager, PartitionMisuse
from checkvalve.reference.storm.coordinator import Coordinator
from checkvalve.reference.storm.topologies import WORD_COUNT
from checkvalve.reference.storm.worker import Settings


class Look(NamedTuple):
    """An instant: what is wrong with the connection from worker 0 to worker 1, and with task 1."""

    now: int
    losing: int
    extra: int
    down: int
    lives: bool


class Looking(Cluster):
    """Looks at itself after what was due in each instant."""

    def __init__(self, scenario: Scenario) -> None:
        self.looks: list[Look] = []
        self.turns: list[tuple[int, int | None]] = []
        super().__init__(scenario)

    def _what_is_due(self) -> bool:
        something = super()._what_is_due()
        connection = self.connections[0, 1]
        self.looks.append(Look(
            self.now, connection.statuses.losing, connection.statuses.extra, connection.down,
            self.workers[1] is not None))
        return something

    def _turn(self, number: int, task: int | None) -> bool:
        happened = super()._turn(number, task)
        if happened:
            self.turns.append((self.now, task))
        return happened


def looking(*faults: Fault, messages: int = 9) -> Looking:
    """A run of word count on two workers, to its end."""
    run = Looking(Scenario(WORD_COUNT, 2, messages, Settings(), faults, 0))
    assert run.run()[-1].what == "rested"
    return run


def when(run: Looking, name: str, wrong: object) -> set[int]:
    """The instants at which a look has this."""
    return {look.now for look in run.looks if getattr(look, name) == wrong}


def test_without_a_fault_nothing_is_wrong() -> None:
    """Connections are there, statuses arrive, workers live."""
    run = looking()
    assert {look[1:] for look in run.looks} == {(0, 0, 0, True)}


def test_a_status_gets_lost_or_the_fault_is_over() -> None:
    """No status is sent between checks, so the loss waits from 11 on; at 14 it is called off."""
    run = looking(Fault(11, What.LOSE_STATUS, 0, 1, lasts=3), Fault(12, What.LOSE_STATUS, 0, 1))
    seen = {look.now: look.losing for look in run.looks}
    assert seen[11] == 1 and max(seen.values()) == 2
    assert {losing for now, losing in seen.items() if now >= 14} == {0}
    assert {losing for now, losing in seen.items() if now < 11} == {0}


def test_the_status_of_a_check_is_the_one_that_gets_lost() -> None:
    """A loss that lasts over several repetitions is used up by the first of them."""
    run = looking(Fault(1, What.LOSE_STATUS, 0, 1, lasts=5_000), messages=60)
    assert 1 in when(run, "losing", 1) and when(run, "losing", 0) - {0}


def test_statuses_are_late_for_as_long_as_it_lasts() -> None:
    """And by as much; two such faults add up."""
    run = looking(Fault(3, What.DELAY_STATUS, 0, 1, lasts=6),
                  Fault(5, What.DELAY_STATUS, 0, 1, lasts=2))
    seen = {look.now: look.extra for look in run.looks}
    assert [seen.get(now) for now in (2, 3, 5, 7, 9)] == [0, 6, 8, 6, 0]


def test_a_connection_is_cut_and_comes_back() -> None:
    """Only that one, and only for so long."""
    run = looking(Fault(4, What.CUT, 0, 1, lasts=5))
    assert when(run, "down", 1) == set(range(4, 9)) and run.connections[1, 0].is_up


def test_a_worker_is_killed_and_starts_anew() -> None:
    """Its connections are down meanwhile; the history has both its lives."""
    run = looking(Fault(4, What.KILL, 1, lasts=5))
    assert when(run, "lives", False) == when(run, "down", 1) == set(range(4, 9))
    told = [(each.at, each.what, each.about) for each in run.history
            if each.what in ("killed", "began") and each.about[0] == 1]
    assert told == [(0, "began", (1, 0)), (4, "killed", (1,)), (9, "began", (1, 1))]


def test_a_worker_that_is_dead_already_is_not_killed_again() -> None:
    """Nor started twice."""
    run = looking(Fault(4, What.KILL, 1, lasts=5), Fault(6, What.KILL, 1, lasts=20))
    assert sum(each.what == "killed" for each in run.history) == 1
    assert run.connections[0, 1].is_up


@pytest.mark.parametrize("task", WORD_COUNT.tasks_of()["count"])
def test_a_slow_task_rests_between_its_turns(task: int) -> None:
    """As long as it is slow; then it takes one in every instant again."""
    run = looking(Fault(0, What.SLOW, task, lasts=100), messages=30)
    at = [now for now, who in run.turns if who == task]
    slow = [later - now for now, later in zip(at, at[1:], strict=False) if later < 100]
    assert len(slow) > 2 and min(slow) >= SLOWNESS
    others = [now for now, who in run.turns if who not in (task, None)]
    assert len(others) > len(set(others)) or len(others) > len(at)


def test_a_stray_is_a_tuple_for_nobody() -> None:
    """It is sent, and lost where it arrives; over a cut connection none is sent."""
    run = looking(Fault(3, What.STRAY, 0, 1))
    ghosts = [each.what for each in run.history if GHOST in each.about]
    assert ghosts == ["emitted", "lost"]
    cut = looking(Fault(2, What.CUT, 0, 1, lasts=4), Fault(3, What.STRAY, 0, 1))
    assert not any(GHOST in each.about for each in cut.history)


def test_a_new_leader_answers_no_fetch_of_the_old_one() -> None:
    """A fetch is forgotten with the old manager; without a change of the leader it is not."""
    coordinator = Coordinator(0, 1, lambda _: PartitionManager())
    coordinator.refresh({0: "b1"})
    assert coordinator.wants() == {0: Fetch(0, 1)}
    coordinator.refresh({0: "b1"})
    assert coordinator.fetched(0, [0], 1)
    assert coordinator.next() is not None and coordinator.wants() == {0: Fetch(1, 1)}
    coordinator.refresh({0: "b2"})
    with pytest.raises(PartitionMisuse, match="not asked for"):
        coordinator.fetched(0, [1], 2)


def test_a_run_without_faults_has_its_last_one_at_the_beginning() -> None:
    """So the patience of a run counts from 0."""
    one = Scenario(WORD_COUNT, 2, 1, Settings(), (), 0)
    assert one.last_fault == 0
    late = replace(one, faults=(Fault(9, What.KILL, 1, lasts=4), Fault(1, What.KILL, 0)))
    assert late.last_fault == 13


@pytest.mark.parametrize(("retries", "failures", "worth"), [
    (0, 1, False), (2, 1, True), (2, 2, True), (2, 3, False), (None, 10**6, True)])
def test_a_message_is_emitted_again_as_often_as_was_said(
    retries: int | None, failures: int, worth: bool
) -> None:
    """After its n-th failure the n-th retry, and then none."""
    assert Backoff(retries=retries).is_worth_a_retry(failures) is worth


def test_a_key_that_is_not_there_cannot_be_changed_or_removed() -> None:
    """Not before its time, and not after it."""
    held: RotatingMap[str, int] = RotatingMap(2)
    held.put("a", 1)
    held.replace("a", 2)
    assert held.remove("a") == 2 and held.get("a") is None
    for call in (lambda: held.remove("a"), lambda: held.replace("a", 3)):
        with pytest.raises(KeyError):
            call()
    assert len(held) == 0 and "a" not in held


def test_scenarios_are_mostly_of_several_workers() -> None:
    """Two and three are drawn as often, one half as often: with one there is no connection."""
    drawn = 1_000
    of = Counter(scenario(WORD_COUNT, seed).workers for seed in range(drawn))
    assert set(of) == {1, 2, 3}
    for workers, share in ((1, 0.2), (2, 0.4), (3, 0.4)):
        assert abs(of[workers] - share * drawn) < 0.05 * drawn


def test_a_fault_of_one_worker_names_no_other() -> None:
    """Faults that are drawn for a cluster of one worker are about that one."""
    alone = [each for seed in range(300) for each in [scenario(WORD_COUNT, seed)]
             if each.workers == 1]
    killed = {(fault.on, fault.to) for each in alone for fault in each.faults
              if fault.what is What.KILL}
    assert killed == {(0, 0)}


def test_a_link_loses_the_next_things_and_no_others() -> None:
    """It loses as many as the fault says; their senders hear of it, and they take no room."""
    link: Link[str] = Link(lambda: 3, capacity=1)
    link.losing = 2
    assert [link.send(0, each) for each in "abc"] == [False, False, True]
    assert not link.is_writable() and link.arrived(3) == ["c"]
