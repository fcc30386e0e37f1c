"""Ends that depend on what a conversation remembers, events that show several steps, and what is
said and listed of them."""

from __future__ import annotations

from typing import Any

import pytest

from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.suites.besides import Derived, inside, told
from checkvalve.conformance.suites.exchange import Act, Exchange
from checkvalve.conformance.suites.plain import PlainConversation
from checkvalve.conformance.suites.remembered import flag, kept, largest, tallies
from checkvalve.conformance.suites.says import (
    ANY, all_events, each, ends, for_each, of_request, on, over, says, table,
)
from checkvalve.spec.notation import Machine, action, upto
from checkvalve.spec.notation.interpreter import Step

GUESTS = upto(3)


class House(Machine):
    """Guests ring, enter, are kept, and leave; at last the house is quiet for each of them."""

    @action(guest=GUESTS)
    def rings(self, guest: int) -> None:
        """A guest is at the door."""

    @action(guest=GUESTS)
    def enters(self, guest: int) -> None:
        """A guest is let in."""

    @action(guest=GUESTS)
    def stays(self, guest: int) -> None:
        """A guest is kept."""

    @action
    def opened(self) -> None:
        """The door was opened."""

    @action(guest=GUESTS)
    def quiet(self, guest: int) -> None:
        """Nothing more is heard of a guest."""


class Door(PlainConversation):
    """It remembers each guest that rings."""

    here = kept("guest", adds="rings enters", once=True)
    chosen = kept("guest", adds="keep()")
    noisy = flag(on="hums", off="rings")
    visits = tallies("guest", {"enters": 1})
    latest = largest("guest", "enters")
    knows = (told("guest", is_chosen=inside("guest", "chosen")),)
    still = Derived(lambda talk: not talk.noisy)
    measures = {"latest": "latest"}


HEARD = (
    ends("opened", to="ring", denying="shut"),
    ends("quiet", gives="guest", of_each="here", only_if="still"),
    over(for_each("here", "guest"), says(
        "in", "enters", "guest {guest} enters", then=says(None, "stays", "", where="is_chosen"))),
    says("hums", "", "", quiet=True),
)


class Hall(Door):
    """The table of all that can be heard."""

    says = table(
        House, on("ring", "guest {guest} rings", all_events(*HEARD), tells="rings"),
        on("wait", "wait", all_events(*HEARD)), on("keep", "keep {guest}", all_events(*HEARD)),
        on("all", "all of {guests}", {
            "": each(says(ANY, "rings", "", quiet=True), reads=of_request("guests")),
            "seen": each(says(ANY, "enters", "", "{guest} is in"),
                         says(ANY, "stays", "", quiet=True), every=True)}))

    def request_of(self, act: Act) -> Message:
        """The fields of the act."""
        return {"do": act.do, **dict(act.about)}


class Scripted:
    """A target that gives these answers, one after the other."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [{"name": "scripted", "version": "1", "policy": "any",
                         "can": ["ring", "wait", "keep", "all"]}, *answers]

    def request(self, message: Message) -> Message:
        """The next answer."""
        return {"ok": self.answers.pop(0), "events": []}

    def close(self) -> None:
        """Nothing is open."""


RING = Act("ring", about=(("guest", 1),))


def said(*pairs: tuple[Act, Any]) -> list[Exchange]:
    """The exchanges of some acts and their answers."""
    talk = Hall(Scripted(*(answer for _, answer in pairs)), "hall", {})
    return [talk.say(act) for act, _ in pairs]


def heard(name: str, guest: int) -> Step:
    """A step about a guest."""
    return name, (("guest", guest),)


def test_a_request_is_the_outcome_and_all_else_are_events() -> None:
    """A request that is no step has no outcome, and what could be otherwise is an event."""
    rung, waited = said((RING, []), (Act("wait"), [{"event": "in", "guest": 1}]))
    assert (rung.outcome, rung.possible) == (heard("rings", 1), ())
    assert (waited.outcome, waited.possible) == (None, ())
    assert waited.events == (heard("enters", 1), heard("quiet", 1))
    assert [each.words for each in waited.completions] == ["guest 1 enters"]


@pytest.mark.parametrize(("events", "ended"), [
    ([], [("opened", ()), heard("quiet", 1)]),
    ([{"event": "hums", "shut": True}], []),
    ([{"event": "hums"}], [("opened", ())]),
])
def test_an_end_comes_unless_an_event_denies_it_or_a_variable_is_false(
    events: list[Message], ended: list[Step],
) -> None:
    """An event that is no step changes variables by its own name, and nothing is said of it."""
    exchange, = said((RING, events))
    assert list(exchange.events) == ended
    assert exchange.words == "guest 1 rings: nothing"


def test_an_end_comes_only_to_the_requests_that_it_belongs_to() -> None:
    """Waiting opens no door."""
    assert ("opened", ()) not in said((Act("wait"), []))[0].events


def test_an_event_may_show_another_step_after_its_own() -> None:
    """It does where its condition holds."""
    *_, kept_, other = said(
        (Act("keep", about=(("guest", 2),)), True), (Act("wait"), [{"event": "in", "guest": 2}]),
        (Act("wait"), [{"event": "in", "guest": 0}]))
    assert kept_.events[:2] == (heard("enters", 2), heard("stays", 2))
    assert heard("stays", 0) not in other.events
    assert kept_.measured == other.measured == {"latest": 2}


def test_a_measure_is_not_there_before_it_is_known() -> None:
    """No guest has come in."""
    assert said((RING, []))[0].measured == {}


def test_the_parts_of_an_answer_are_the_changes_asked_for_and_all_that_is_seen_of_each() -> None:
    """One object shows every entry, and only what is not quiet is said."""
    exchange, = said((Act("all", about=(("guests", ({"guest": 0}, {"guest": 2})),)),  # type: ignore[arg-type]
                      {"seen": [{"guest": 0}]}))
    assert (exchange.outcome, *exchange.events) == (
        heard("rings", 0), heard("rings", 2), heard("enters", 0), heard("stays", 0))
    assert exchange.words.endswith(": 0 is in")
