"""Requests follow from what an act picks, and what is remembered is declared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as supposing, strategies

from checkvalve.conformance.suites.besides import any_of, index_in, list_of, minus, plus
from checkvalve.conformance.suites.exchange import Act
from checkvalve.conformance.suites.plain import PlainConversation
from checkvalve.conformance.suites.remembered import drawn, highest, places
from checkvalve.conformance.suites.says import ANY, each, on, over, says, table
from checkvalve.spec.notation import Machine, action, const, upto
from checkvalve.spec.notation.errors import InputError

WAITS = (3, 5)


class Watched(Machine):
    """Time passes, and callers get what they ask for."""

    K = const(3, at_least=2)

    @action(now=upto(100))
    def passes(self, now: int) -> None:
        """It is that late."""

    @action(many=upto(K))
    def gets(self, many: int) -> None:
        """A caller gets so many."""

    @action(many=upto(K))
    def lacks(self, many: int) -> None:
        """A caller gets none."""


class Talk(PlainConversation):
    """Waits are picked, and instants are sent."""

    now = highest("now", "passes")
    carries = {"wait": {"wait": minus("now", "now")}}
    says = table(
        Watched,
        on("wait", "until {now}", says(ANY, "", ""), tells="passes", picks={"wait": WAITS},
           if_all=(lambda talk, picked: 0 < picked["wait"] < 9,),
           sends={"now": plus("wait", "now")}),
        on("both", "two callers", each(
            over(any_of("many", "more"), says(True, "gets", "{many}", "the {which}", one_more=True),
                 says(False, "lacks", "none", "not the {which}")),
            calls={"many": "first", "more": "second"}), picks={"many": (1,), "more": (5,)}),
    )


class Scripted:
    """A target that gives one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """The greeting, then the answer."""
        greeting = {"name": "scripted", "version": "1", "can": ["wait", "both"], "policy": "any"}
        return {"ok": greeting if message["do"] == "hello" else self.answer, "events": []}

    def close(self) -> None:
        """Nothing is open."""


def talk(answer: Any = True) -> Talk:
    """A conversation with a target that gives this answer."""
    return Talk(Scripted(answer), "any", {}, {"K": 3})


def test_a_request_has_what_follows_from_the_pick() -> None:
    """Each wait is added to the time that was said before."""
    conversation = talk()
    said = [conversation.say(Act("wait", pick)).request for pick in (0, 1, 0)]
    assert said == [{"do": "wait", "now": now} for now in (3, 8, 11)]


@pytest.mark.parametrize(("now", "act"), [
    (5, Act("wait", 1)), (7, Act("wait", 0, (("wait", 7),))), (9, None), (0, None)])
def test_the_act_of_a_request_is_found_where_it_is_one(now: object, act: Act | None) -> None:
    """By its pick, or by what a program would have set; not if the conditions do not hold."""
    assert talk().act_for({"do": "wait", "now": now}) == act


def test_a_request_with_a_value_that_is_never_sent_is_the_files_fault() -> None:
    """It is no request of another time: no act makes it, ever."""
    with pytest.raises(InputError, match="is not a request that this suite sends"):
        talk().act_for({"do": "wait", "now": "a"})


@supposing(strategies.booleans(), strategies.booleans())
def test_of_calls_at_once_those_that_got_it_may_have_come_first(one: bool, other: bool) -> None:
    """The words keep the order of the request; 5 are more than any number that is known."""
    exchange = talk([one, other]).say(Act("both"))
    first, second = (("gets", (("many", 1),)) if one else ("lacks", (("many", 1),))), (
        [("gets", (("many", 2),)), ("gets", (("many", 1),))] if other
        else [("lacks", (("many", 2),))])
    steps = [first, *second] if one or not other else [*second, first]
    assert [step for step, _ in exchange.observed()] == steps
    assert exchange.words == (
        f"two callers: {'' if one else 'not '}the first and {'' if other else 'not '}the second")


def test_what_moves_together_keeps_its_order_and_waits_for_an_empty_place() -> None:
    """And leaves together."""
    variable = places("it", {"comes": "here"}, "goes",
                      {"moves": ("here", "there"), "ends": ("there", "")})
    variable.name = "them"
    memory: dict[str, Any] = {"them": variable.first()}

    def does(name: str, it: int = 0) -> dict[int, str]:
        for action_, effect in variable.effects():
            if action_ == name:
                effect(memory, {"it": it})
        return dict(memory["them"])
    for it in (2, 1, 3):
        does("comes", it)
    assert list(does("goes", 1).items()) == [(2, "here"), (3, "here")]
    assert set(does("moves").values()) == {"there"}
    does("comes", 4)
    assert does("moves") == {2: "there", 3: "there", 4: "here"}
    assert does("ends") == {4: "here"}


@supposing(strategies.integers(0, 63), strategies.text(max_size=5))
def test_what_a_pick_stands_for_depends_on_the_name_and_the_pick_alone(
    pick: int, name: str
) -> None:
    """And is one of the values of each field."""
    one, other = (drawn(name, 64, some=range(5), more=("a", "b")) for _ in range(2))
    assert other[pick] == one[pick]
    assert one[pick]["some"] in range(5) and one[pick]["more"] in ("a", "b")
    assert len(one) == 64


@supposing(strategies.integers(0, 3))
def test_a_list_has_the_number_by_which_it_is_sent(number: int) -> None:
    """And is a list of its own each time: a target may change it."""
    lists = [[], [0], [1], [0, 1]]
    nobody = SimpleNamespace()
    sent = list_of("it", lists)(nobody, {"it": number})
    assert sent == lists[number] and sent is not lists[number]
    assert index_in("it", lists)(nobody, {"it": sent}) == number
    assert index_in("it", lists, 0)(nobody, {}) == 0
