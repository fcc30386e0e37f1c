"""A table says which steps of an observer a port's requests, answers and events stand for."""

from __future__ import annotations

from typing import Any

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.ports.base import Message
from checkvalve.conformance.suites.besides import (
    asked, below, constant, equal, given, told, worded,
)
from checkvalve.conformance.suites.exchange import Act, Exchange
from checkvalve.conformance.suites.plain import PlainConversation
from checkvalve.conformance.suites.says import ANY, Fields, each, ends, on, one, says, table
from checkvalve.conformance.suites.run import ITEMS_MAX, run_program
from checkvalve.conformance.systems.bookkeeper_memtable.suite import SUITE as MEMTABLE
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.conformance.systems.election.adapter import ReferenceElection
from checkvalve.conformance.systems.election.suite import SUITE as ELECTION
from checkvalve.conformance.systems.jobs.suite import SUITE as JOBS
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation import Machine, action, const, integer, upto
from checkvalve.spec.notation.errors import TargetError
from checkvalve.spec.notation.labels import filled

SIZE = 3


class Generous:
    """A master of two workers that gives each job to an eighth."""

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Adapter`` has it."""
        if message["do"] == "hello":
            return {"ok": {"name": "generous", "version": "1", "can": ["submit", "ask", "done"],
                           "policy": "drop-oldest"}}
        return {"ok": [["give", message["job"], 7]] if message["do"] == "submit" else []}


class Watched(Machine):
    """A message that comes is passed on, or kept."""

    K = const(SIZE, at_least=2)
    held = integer(0, K)

    @action(count=upto(SIZE))
    def comes(self, count: int) -> None:
        """So many come."""

    @action(count=upto(SIZE))
    def passes(self, count: int) -> None:
        """So many are passed on."""

    @action
    def strays(self) -> None:
        """Something else is passed on."""

    @action(left=upto(SIZE))
    def keeps(self, left: int) -> None:
        """So many are left."""

    @action
    def rests(self) -> None:
        """No more is done."""


PASSED = each(
    ends("rests", "nothing more"),
    says("pass", "passes", "pass {count}", gives="count", where="known"),
    says("pass", "strays", "", "pass what is odd", gives="count"),
    nothing="nothing")


class Talk(PlainConversation):
    """The harness, which asks for what a test says."""

    says = table(
        Watched,
        on("bring", "{count} come", PASSED, tells="comes"),
        on("look", "look", {
            "left": one(says(ANY, "keeps", "{left} are left", gives="left")), "did": PASSED}),
    )

    def request_of(self, act: Act) -> Message:
        """The fields of the act."""
        return {"do": act.do, **dict(act.about)}

    def about(self, message: Message) -> Fields:
        """A passed-on number below 9 is known."""
        return {**message, "known": message["count"] < 9} if "count" in message else message


class Scripted:
    """A target that gives one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def request(self, message: Message) -> Message:
        """The greeting, then the answer."""
        greeting = {"name": "scripted", "version": "1", "can": ["bring", "look"], "policy": "any"}
        return {"ok": greeting if message["do"] == "hello" else self.answer, "events": []}

    def close(self) -> None:
        """Nothing is open."""


def said(answer: Any, act: Act) -> Exchange:
    """The exchange that a conversation reads off an answer."""
    return Talk(Scripted(answer), "any", {}, {}).say(act)


BRING = Act("bring", about=(("count", 1),))


def test_events_are_steps_in_their_order_and_the_end_is_one() -> None:
    """The request is the first step; what could be otherwise comes after it."""
    exchange = said([["pass", 0], ["pass", 9]], BRING)
    assert exchange.words == "1 come: pass 0 and pass what is odd"
    assert [step for step, _ in exchange.observed()] == [
        ("comes", (("count", 1),)), ("passes", (("count", 0),)), ("strays", ()), ("rests", ())]
    assert [is_event for _, is_event in exchange.observed()] == [False, True, True, True]
    assert exchange.possible == ()


def test_all_that_there_could_be_is_what_the_observer_has_numbers_for() -> None:
    """In the order of the table, and without the entries that are only seen."""
    assert [answer.words for answer in said([], BRING).completions] == [
        "nothing more", "pass 0", "pass 1", "pass 2"]


def test_a_number_beyond_the_observers_is_told_as_its_highest() -> None:
    """The words keep the number that was answered."""
    exchange = said({"left": 7, "did": []}, Act("look"))
    assert exchange.words == "look: 7 are left, nothing"
    assert exchange.outcome == ("keeps", (("left", SIZE - 1),))


def test_answers_of_one_part_stand_in_the_place_of_that_part_only() -> None:
    """Not what was done instead of how many are left."""
    answers = said({"left": 0, "did": []}, Act("look")).possible
    assert {answer.instead_of for answer in answers if answer.step[0] == "keeps"} == {("keeps",)}


def test_of_an_answer_with_several_parts_each_could_be_otherwise() -> None:
    """The first step, and those after it."""
    exchange = said({"left": 0, "did": []}, Act("look"))
    assert len(exchange.observed()) == 2
    assert exchange.completions == exchange.possible != ()


def test_what_is_known_when_a_request_is_made_is_looked_up_once() -> None:
    """The answer is understood by it, whatever has changed since."""
    class Counts(Talk):
        looked = 0

        def about(self, message: Message) -> Fields:
            self.looked += message is self.request
            return super().about(message)

    talk = Counts(Scripted([["pass", 0]]), "any", {}, {})
    talk.say(BRING)
    assert talk.looked == 1


class TalkOfMany(Talk):
    """Asks for three, of which two are passed on: fewer say that there are no more, and of several
    messages the first of the best number is due."""

    knows = (given("count", odd=below("count", constant("odd")), known=equal("count", 0)),
             asked("count", listed=worded("count")),
             told("count", due=equal("count", "best")))
    best = 2
    about = PlainConversation.about
    says = table(
        Watched,
        on("bring", "{listed} come", each(
            says(ANY, "passes", "pass {count}", gives="count", where="known"),
            says(None, "rests", "no more"), most="count", fewer=True, nothing="nothing")),
        on("look", "look", each(
            says(ANY, "passes", "{count} is due", gives="count", where="is_due"),
            says(ANY, "strays", "", "{count} is odd", gives="count"),
            says("nothing", "rests", "nothing is due"), due="due", undue={"does": "nothing"})),
    )


def said_of_many(answer: Any, act: Act) -> Exchange:
    """The exchange that such a conversation reads off an answer."""
    return TalkOfMany(Scripted(answer), "any", {}, {"odd": 1}).say(act)


@pytest.mark.parametrize(("message", "besides"), [
    ({"do": "bring", "count": 2}, {"odd": False, "known": False, "listed": "2"}),
    ({"count": 0}, {"odd": True, "known": True, "due": False}),
    ({"do": "look"}, {}),
])
def test_a_message_has_besides_what_follows_from_its_fields(
    message: Message, besides: Message
) -> None:
    """A request has other fields than an answer, and nothing follows from fields that are absent.
    """
    talk = TalkOfMany(Scripted([]), "any", {}, {"odd": 1})
    assert talk.about(message) == {**message, **besides}


def test_fewer_events_than_there_can_be_say_that_there_are_no_more() -> None:
    """True is an answer without events."""
    three = Act("bring", about=(("count", 3),))
    assert said_of_many([0, 0], three).words == "3 come: pass 0 and pass 0 and no more"
    assert said_of_many(True, three).words == "3 come: no more"
    assert said_of_many([0], BRING).words == "1 come: pass 0"


def test_more_events_than_there_can_be_are_the_targets_fault() -> None:
    """The message says how many there are, and how many there can be."""
    with pytest.raises(TargetError, match="'bring' with 2 events, and there can be 1"):
        said_of_many([0, 0], BRING)


def test_the_event_that_is_due_is_judged_after_all_others() -> None:
    """It is the first of its kind, and something stands in its place where there is none."""
    events = [{"count": number} for number in (1, 2, 2)]
    assert said_of_many(events, Act("look")).words == "look: 1 is odd and 2 is odd and 2 is due"
    assert said_of_many(events[:1], Act("look")).words == "look: 1 is odd and nothing is due"


def test_what_no_line_names_is_the_targets_fault() -> None:
    """The message names the event, and what was asked."""
    with pytest.raises(TargetError, match="when 'bring' is asked"):
        said([["eat", 1]], BRING)


def test_a_greeting_asks_nothing_of_the_observer() -> None:
    """The abilities of a target are asked with settings, too, that the observer does not take."""
    assert "look" in Talk(Scripted([]), "any", {}, {"K": 1}).can


def test_a_worker_that_is_not_there_is_an_error_of_the_target_and_breaks_no_rule() -> None:
    """It was once reported as a job that is not the oldest."""
    target = InProcessTarget("generous", Generous, port_named)
    with pytest.raises(TargetError, match="gives job 0 to worker 7, and there is none such"):
        run_program(JOBS, target, (Act("submit", 0),), 1)


class WithoutTokens(ReferenceElection):
    """An election with writes that are said to be fenced, without tokens."""

    def ask(self, candidate: int) -> int | None:
        """Answer without a token, where ``ReferenceElection`` gives one."""
        return None if super().ask(candidate) is None else 0


class Unfenced(WithoutTokens):
    """Says that they are not."""

    policy = "unfenced"


def test_a_leader_without_a_token_is_an_error_of_a_target_whose_writes_are_fenced() -> None:
    """No rule compares a token that is not there, so each of them would pass."""
    program = (Act("join", 0), Act("quiet", 0), Act("ask", 0), Act("write", 0))
    run = run_program(ELECTION, InProcessTarget("no tokens", Unfenced, port_named), program, 2)
    assert len(run.exchanges) == len(program) and not run.breaches
    with pytest.raises(TargetError, match="writes are fenced, and that candidate 0 leads with"):
        run_program(ELECTION, InProcessTarget("fenced", WithoutTokens, port_named), program, 2)


def test_what_is_allowed_of_an_entry_is_told_in_the_words_of_the_story() -> None:
    """An entry that comes again is another addition to the machine, and the same one to a reader.
    """
    session = resolve_target("reference.bookkeeper.memtable").open()
    talk = MEMTABLE.converse(session, 2, ITEMS_MAX)
    assert isinstance(talk, PlainConversation)
    talk.say(Act("add", 0))
    again = talk.say(Act("add", 48))
    assert again.words.startswith("entry 0 comes again")
    told = [answer.words for answer in talk.possible(again.request)]
    assert "entry 0 is in the table" in told and not any("addition" in words for words in told)


@pytest.mark.parametrize(("words", "one", "more"), [
    ("{n} ticks pass", "1 tick passes", "21 ticks pass"),
    ("{n} elements come", "1 element comes", "21 elements come"),
    ("a flush of {n} bytes is asked for", "a flush of 1 byte is asked for",
     "a flush of 21 bytes is asked for"),
    ("Depth: {n} permits; a tick", "Depth: 1 permit; a tick", "Depth: 21 permits; a tick"),
])
def test_one_thing_is_told_in_the_singular(words: str, one: str, more: str) -> None:
    """Also where the verb belongs to it."""
    assert filled(words, {"n": 1}) == one and filled(words, {"n": 21}) == more
