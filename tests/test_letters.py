"""A letter means one thing in all chapters about a component, its observer's included."""

from __future__ import annotations

import inspect
import re
from itertools import combinations

import pytest

from checkvalve.spec.chapters import chapters

COMPONENTS = {
    "a task's input": ("storm.queue", "storm.batching", "storm.limit", "storm.observed_input"),
    "status": ("storm.status", "storm.joining", "storm.observed_status"),
    "acker": ("storm.acker", "storm.rotating", "storm.observed_acker"),
    "spout": ("storm.spout", "storm.rotating", "storm.observed_spout"),
    "source": ("storm.source", "storm.guarantees", "storm.starting", "storm.observed_partition"),
    "topology": ("storm.topology", "storm.crossing", "storm.senders", "storm.executions",
                 "storm.spout", "storm.observed_topology"),
    "timer": ("kafka.timer", "kafka.observed_timer"),
    "purgatory": ("kafka.purgatory", "kafka.observed_purgatory"),
    "races": ("kafka.timer_races", "kafka.purgatory_races", "kafka.observed_races"),
    "election": ("election.lock", "election.lease", "election.observed_election"),
    "controller": ("kafka.partition_changes", "kafka.replica_changes",
                   "kafka.observed_controller"),
    "a server of BookKeeper": (
        "bookkeeper.admission", "bookkeeper.loops", "bookkeeper.polls", "bookkeeper.response",
        "bookkeeper.observed_bookkeeper"),
    "a memtable": ("bookkeeper.memtable", "bookkeeper.observed_memtable"),
    "queues": ("queues.queue", "queues.dropping", "queues.policies",
               "queues.conserved"),
    "streams": ("reactive.stream", "reactive.processor", "reactive.observed_publisher",
                "reactive.observed_subscriber"),
}
"""The chapters that a reader of one component reads together."""

DECLARED = re.compile(r"^    (\w+) = const\([^#\n]*#\s*(?:noqa: \S+\s+)?(.*)$", re.MULTILINE)


def constants(component: str) -> list[tuple[str, str, str]]:
    """(letter, what its comment says that it is, chapter), for each constant that says so."""
    return [
        (letter, says, name) for name in COMPONENTS[component]
        for chapter in chapters([name]) if chapter.name == name
        for letter, says in DECLARED.findall(inspect.getsource(chapter.module))
    ]


def subjects(says: str) -> set[str]:
    """The words of a comment that carry its meaning, by how they begin."""
    return {word[:4] for word in re.findall(r"[a-z]{3,}", says.lower())} - {
        "and", "any", "for", "one", "the", "that", "then", "each", "may", "most", "what", "when",
        "with"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_letter_keeps_its_meaning(component: str) -> None:
    """Two constants of one name are about the same thing, so their comments share a word."""
    declared = constants(component)
    assert len(declared) > 1
    differing = [
        (one, other) for one, other in combinations(declared, 2)
        if one[0] == other[0] and not subjects(one[1]) & subjects(other[1])
    ]
    assert not differing
