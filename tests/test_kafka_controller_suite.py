"""The suite of Kafka's controller tries every cell, and its selectors are the reference's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.suites.system import QUICK_CASES
from checkvalve.conformance.suites.suite import Program
from checkvalve.conformance.systems.kafka_controller.courses import (
    PARTITION_WALKS, REPLICA_WALKS,
)
from checkvalve.conformance.systems.kafka_controller.drawings import FIGURES
from checkvalve.conformance.systems.kafka_controller.suite import SUITE
from checkvalve.reference.kafka.controller import selectors as reference
from checkvalve.reference.kafka.controller.states import PARTITIONS, REPLICAS, REPLICAS_0_9
from checkvalve.spec.kafka.controller import selectors as chapter
from checkvalve.spec.kafka.controller.transitions import (
    PARTITION_CHANGES, REPLICA_CHANGES_OF, Era, PartitionState, ReplicaState,
)


def programs(rule: str) -> Iterator[Program]:
    """The programs of a user's run that look for a rule."""
    found: list[Program] = []
    rules = SUITE.rules()
    for case in plan("kafka.controller", cases=QUICK_CASES, seed=0):
        if rules[case.index % len(rules)].id == rule:
            focus = SUITE.rule(rule)
            assert focus is not None
            SUITE.explore(SUITE.weights, focus, case.seed, RunSettings().programs, found.append)
    yield from found


def follows(program: Program, do: str, walk: tuple[PartitionState | ReplicaState, ...]) -> bool:
    """True if a program asks for these states, one after the other, among others."""
    targets = iter([dict(act.about).get("target") for act in program if act.do == do])
    return all(state in targets for state in walk)


@pytest.mark.parametrize(("changes", "walks"), [
    (PARTITION_CHANGES, PARTITION_WALKS), (REPLICA_CHANGES_OF[Era.V0_9], REPLICA_WALKS)],
    ids=["partitions", "replicas"])
def test_the_walks_try_every_cell(changes: dict[int, tuple[int, ...]],
                                  walks: tuple[tuple[int, ...], ...]) -> None:
    """Followed through the table, they ask for each target in each state."""
    tried = set()
    for walk in walks:
        here = max(changes)         # nothing exists at first
        for target in walk:
            tried.add((here, target))
            here = target if here in changes[target] else here
    assert tried == set(product(changes, changes))


@pytest.mark.parametrize(("rules", "do", "walks"), [
    (("KAFKA-C1", "KAFKA-C3"), "change", PARTITION_WALKS),
    (("KAFKA-C16", "KAFKA-C17", "KAFKA-C20", "KAFKA-C21"), "change_replicas", REPLICA_WALKS)],
    ids=["partitions", "replicas"])
def test_a_users_run_goes_along_every_walk(
    rules: tuple[str, ...], do: str,
    walks: tuple[tuple[PartitionState | ReplicaState, ...], ...],
) -> None:
    """So all 16 and all 49 cells are tried by default."""
    drawn = [program for rule in rules for program in programs(rule)]
    assert [walk for walk in walks
            if not any(follows(program, do, walk) for program in drawn)] == []


def test_the_tables_of_the_chapters_and_of_the_reference_are_the_same() -> None:
    """They were written apart from each other."""
    def named(table: object) -> dict[str, set[str]]:
        assert isinstance(table, dict)
        return {target.name: {each.name for each in before} for target, before in table.items()}

    assert named(PARTITION_CHANGES) == named(PARTITIONS)
    assert named(REPLICA_CHANGES_OF[Era.V0_9]) == named(REPLICAS_0_9)
    assert named(REPLICA_CHANGES_OF[Era.V3_9]) == named(REPLICAS)


def numbers(brokers: int) -> tuple[int, ...]:
    """The members of a set."""
    return tuple(each for each in range(chapter.BROKERS) if chapter.has(brokers, each))


def situations() -> Iterator[tuple[chapter.Order, int, int, int]]:
    """Every list, ISR, set of registered brokers, and set of those that shut down."""
    sets = range(chapter.ALL + 1)
    for order, isr, registered, leaving in product(chapter.ORDERS[:-1], sets, sets, sets):
        inside = chapter.both(isr, chapter.members(order)) == isr
        if inside and chapter.both(leaving, registered) == leaving:
            yield order, isr, registered, leaving


def same(mine: chapter.Choice, theirs: reference.Elected | reference.NotElected,
         registered: int) -> bool:
    """True if two selectors give the same; a broker that is not registered gets no request."""
    if isinstance(theirs, reference.NotElected):
        return mine.leader == chapter.NOBODY
    told = tuple(each for each in sorted(theirs.recipients) if chapter.has(registered, each))
    return (mine.leader, numbers(mine.isr), numbers(chapter.both(mine.told, registered))) == (
        theirs.leader, tuple(sorted(theirs.isr)), told)


def test_the_selectors_of_the_chapters_and_of_the_reference_agree() -> None:
    """In every situation with three brokers."""
    for order, isr, registered, leaving in situations():
        live = chapter.without(registered, leaving)
        listed = tuple(each for each in order if each >= 0)
        found = reference.Candidates(
            listed, -1, numbers(isr), frozenset(numbers(registered)),
            frozenset(numbers(leaving)), listed)
        pairs = (
            (chapter.offline(order, isr, live, False), reference.offline),
            (chapter.offline(order, isr, live, True), reference.offline_unclean),
            (chapter.reassigned(order, isr, live), reference.reassigned),
            (chapter.preferred(order, isr, live), reference.preferred),
            (chapter.controlled_shutdown(order, isr, live, leaving),
             reference.controlled_shutdown))
        for mine, theirs in pairs:
            assert same(mine, theirs(found), registered), (theirs.__name__, found, mine)


@pytest.mark.parametrize(("figure", "legal", "later"), [
    ("kafka-partition-states.svg", 8, 0), ("kafka-replica-states.svg", 14, 1)])
def test_a_drawing_has_an_arrow_for_each_legal_change(
    figure: str, legal: int, later: int
) -> None:
    """And a dashed one for what came later."""
    arrows = re.findall(r'class="(arrow(?: later)?)"', FIGURES[figure])
    assert (len(arrows), arrows.count("arrow later")) == (legal, later)
