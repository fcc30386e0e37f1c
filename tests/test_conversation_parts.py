"""Parts of conversations that several suites share: items, calls that wait, values to pick from."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pages.conversations import drawn
from checkvalve.conformance.suites.exchange import Act
from checkvalve.conformance.suites.items import Items
from checkvalve.conformance.suites.plain import PlainConversation
from checkvalve.conformance.suites.run import ITEMS_MAX
from checkvalve.conformance.suites.suite import Suite
from checkvalve.conformance.systems.catalogue import SYSTEMS, selected
from checkvalve.conformance.systems.targets import resolve_target

FATES = ("inside", "away", "out")
VALUES = st.one_of(st.integers(0, 2), st.sampled_from(("0", "1", "a")))
PICKING = ("queue", "awaits.queue", "jobs", "link", "link.counted", "marks", "storm.partition",
           "election", "rate", "timer", "bookkeeper.memtable", "kafka.controller",
           "reactive.publisher", "reactive.subscriber", "reactive.processor")


@given(st.lists(VALUES))
def test_an_item_that_comes_out_is_any_of_those_with_its_value(values: list[int | str]) -> None:
    """The number 1 is not the text 1; and what nobody named has the next number."""
    items = Items(FATES, inside=FATES[:1])
    for value in values:
        items.add(value, "inside")
    for value in (*values, "never named"):
        numbers = {number for number, other in enumerate(values)
                   if (type(other), other) == (type(value), value)} or {len(values)}
        meant = items.meant(value)["item"]
        assert (meant if isinstance(meant, frozenset) else {meant}) == numbers


@given(st.lists(st.tuples(VALUES, st.sampled_from(FATES))))
def test_every_item_that_may_come_out_is_listed_and_one_that_was_never_named(
    named: list[tuple[int | str, str]],
) -> None:
    """Of the others, at least one of each fate."""
    items = Items(FATES, inside=FATES[:1])
    for value, fate in named:
        items.add(value, fate)
    listed: set[int] = set()
    for one in items.could():
        listed |= one["item"] if isinstance(one["item"], frozenset) else {one["item"]}
    assert {number for number, (_, fate) in enumerate(named) if fate == "inside"} <= listed
    assert {fate for _, fate in named} == {named[number][1] for number in listed - {len(named)}}
    assert len(named) in listed


@pytest.mark.parametrize("name", PICKING)
def test_a_request_that_was_picked_is_made_again_by_the_act_found_for_it(name: str) -> None:
    """So a fixture replays, though what may be picked depends on what was shown before."""
    suite = SYSTEMS[name].suite
    assert isinstance(suite, Suite)
    session = resolve_target(SYSTEMS[name].reference.name).open()
    try:
        talk = suite.converse(session, suite.capacities[-1], ITEMS_MAX)
        assert isinstance(talk, PlainConversation)
        chance, asked = Random(1), 0
        for _ in range(80):
            act = Act(chance.choice(list(suite.weights)), chance.randrange(8))
            if talk.makes_sense(act):
                request = talk.request_of(act)
                assert request is not None
                found = talk.act_for(request)
                assert found is not None and talk.request_of(found) == request
                talk.say(found)
                asked += 1
        assert asked > 20
    finally:
        session.close()


def test_a_conversation_that_nobody_wrote_down_has_every_operation_that_is_asked_for() -> None:
    """The page of a new port has an example without a file of requests."""
    for name in ("jobs", "marks", "link"):
        suite = SYSTEMS[name].suite
        assert isinstance(suite, Suite)
        assert suite.weights.keys() <= {request["do"] for request, _ in drawn(SYSTEMS[name])}


@pytest.mark.parametrize(("chapter", "suites"), [
    ("flow.credit", {"link"}), ("flow.workers", {"jobs"}),
    ("kafka.timer", {"timer", "kafka.races"}), ("queues.permits", {"awaits.permits"}),
])
def test_the_name_of_a_chapter_selects_the_suites_that_are_tied_to_it(
    chapter: str, suites: set[str]
) -> None:
    """Nothing lists them: they are read off the judges and the refinements."""
    assert {system.name for system in selected([chapter])} == suites
