"""A cluster of workers in virtual time: the reference keeps the rules about whole runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkvalve.conformance.suites.topology_runs import (
    RULES, HistoryJudge, judged, reference, run_once, terms_of,
)
from checkvalve.reference.storm.cluster import Cluster, Happened, run
from checkvalve.reference.storm.faults import Fault, What, scenario
from checkvalve.reference.storm.topologies import (
    TOPOLOGIES, Component, Stream, Topology, TopologyMisuse, deploy,
)
from checkvalve.reference.storm.worker import Settings
from checkvalve.spec.notation import InputError

WORDS = TOPOLOGIES["word-count"]
NAMES = sorted(TOPOLOGIES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("first", [0, 25])
def test_the_reference_breaks_no_rule_under_faults(name: str, first: int) -> None:
    """Fifty scenarios of each topology come to rest, and every rule is kept on the way."""
    found = {seed: run_once(name, seed) for seed in range(first, first + 25)}
    assert {seed: [each.words() for each in offences]
            for seed, offences in found.items() if offences} == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_history(name: str) -> None:
    """A history is a function of its scenario, and a scenario of its seed."""
    assert all(
        run(scenario(TOPOLOGIES[name], seed)) == run(scenario(TOPOLOGIES[name], seed))
        for seed in range(8))


def test_the_scenarios_meet_every_kind_of_fault_and_what_follows_from_it() -> None:
    """What is never exercised is not tested: losses, failures, crashes, spills, waits."""
    seen, faults = set(), set()
    for seed in range(40):
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
    assert judged(history, terms_of(one)) == []
    assert set(attempts) == set(range(12)) and len(attempts) > 12


def test_without_faults_and_limits_every_message_is_emitted_once() -> None:
    """Duplicates have a cause."""
    for name in NAMES:
        one = replace(scenario(TOPOLOGIES[name], 3), faults=(), settings=Settings())
        words = [event.what for event in run(one)]
        assert words.count("root") == words.count("acked") == one.messages
        assert "lost" not in words and "failed" not in words


def test_bolts_that_form_a_circle_are_refused() -> None:
    """They could all wait for each other; the message names them."""
    bolts = tuple(Component(name, WORDS.bolts[0].make) for name in ("ping", "pong"))
    streams = (Stream("source", "ping"), Stream("ping", "pong"), Stream("pong", "ping"))
    with pytest.raises(TopologyMisuse, match="ping, pong form a circle"):
        Topology("looping", str, 1, bolts, streams)


def test_a_stream_to_nowhere_and_a_cluster_of_nobody_are_refused() -> None:
    """What cannot be run is refused before anything runs."""
    with pytest.raises(TopologyMisuse, match="no stream leads from source to nobody"):
        Topology("broken", str, 1, (), (Stream("source", "nobody"),))
    with pytest.raises(TopologyMisuse, match="1 worker or more"):
        deploy(WORDS, 0)


def test_the_wait_for_graph_names_the_circle_of_a_spout_and_an_acker() -> None:
    """A circle of tasks is told from one of them back to it."""
    cluster = Cluster(replace(scenario(WORDS, 0), workers=1))
    cluster.waits = lambda: {0: 5, 5: 0, 1: 5}  # type: ignore[method-assign]
    assert cluster.circle() == (0, 5, 0)


@pytest.mark.parametrize(("event", "message"), [
    (Happened(0, "sneezed", (1,)), "no event of a topology"),
    (Happened(0, "emitted", (1, 0, 2, 5000)), "rule"),
])
def test_a_history_of_other_events_is_refused(event: Happened, message: str) -> None:
    """An unknown word is the input's fault; a number out of turn breaks a rule."""
    judge = HistoryJudge(terms_of(scenario(WORDS, 0)))
    if message == "rule":
        offence = judge.see(event)
        assert offence is not None and offence.rule is RULES["STORM-C2"]
    else:
        with pytest.raises(InputError, match=message):
            judge.see(event)


def test_the_rules_of_a_history_are_those_of_the_chapter() -> None:
    """Fifteen promises, each with a guard that can be broken."""
    assert list(RULES) and set(RULES) == {f"STORM-C{number}" for number in range(1, 16)}
    assert list(reference(scenario(WORDS, 0)))[-1].what == "rested"
