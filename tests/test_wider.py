"""The wider search for machines that break a rule: what it changes, and what it counts."""

from __future__ import annotations

import ast

import pytest

from checkvalve.spec.engines.search import instances, judged
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, const, integer, leads_to, require,
)
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.verdicts.verdict import Budget, Outcome
from benchmarks.witnesses.classes import mutant_named, mutants
from benchmarks.witnesses.graphs import digest
from benchmarks.witnesses.measures import keeps_to, same_but_for
from benchmarks.witnesses.mutate import Known, further_edits

SMALL = Budget(max_states=100)


class Basket(Machine):
    """A basket with room for K, and a count that only its rule reads."""

    K = const(2, at_least=1)
    held = integer(0, K + 1)
    taken = integer(0, 9)

    @action(fair=True)
    def fill(self) -> None:
        """One more."""
        require(self.held < self.K)
        self.held += 1

    @action(fair=True)
    def take(self) -> None:
        """One less."""
        require(self.held > 0 and self.taken < 9)
        self.held -= 1
        self.taken += 1

    @always("BASKET-1", MUST, "It is not overfull.", source="a test")
    def fits(self) -> bool:
        """As many as there is room for."""
        return self.held <= self.K

    @leads_to("BASKET-2", MUST, "What is in it is taken.", source="a test")
    def empties(self) -> tuple[bool, bool]:
        """It is empty at the end, each time."""
        return self.held > 0, self.taken > 0


def _mutant(method: str, words: str) -> type[Machine]:
    made = mutant_named(Basket, f"Basket.{method}", words)
    assert made is not None
    return made


def _verdicts(machine: type[Machine], within: bool) -> dict[str, Outcome]:
    bound = bind(machine)
    items = instances(bound)
    return {item.rule.id: verdict.outcome for item, verdict in zip(
        items, judged(bound, items, SMALL, within), strict=True)}


@pytest.mark.parametrize(("text", "words"), [
    ("require(self.a < self.K)", "require(not self.a < self.K) for require(self.a < self.K)"),
    ("require(self.a < self.K)", "self.a >= self.K for self.a < self.K"),
    ("require(self.a < self.K)", "self.K + 1 for self.K"),
    ("if self.a and self.b:\n  self.a = 0", "self.b for self.a and self.b"),
    ("if self.a:\n  self.a = 0", "never as if self.a"),
    ("require(not self.b)", "self.b for not self.b"),
    ("require(all(self.b))", "any(self.b) for all(self.b)"),
    ("self.a += x", "self.a += x twice"),
    ("self.a += x", "self.a += x + 1 for self.a += x"),
    ("self.a += x", "y for x"),
    ("self.a = 1\nself.b = 2", "self.b = 2 before self.a = 1"),
    ("return self.b", "return not self.b for return self.b"),
])
def test_there_is_a_further_change_of_each_kind(text: str, words: str) -> None:
    """Each with the words that name it, and a text that differs."""
    lines = "\n".join(f"  {line}" for line in text.split("\n"))
    method = ast.parse(f"def go(self, x, y) -> bool:\n{lines}\n").body[0]
    assert isinstance(method, ast.FunctionDef)
    found = {edit.words: edit for edit in further_edits(method, Known(["K"], ["a"]))}
    assert words in found
    assert ast.unparse(found[words].make()) != ast.unparse(method)


def test_no_change_has_the_name_of_another_one() -> None:
    """Nor does a further one that of a first one."""
    names = [(each.method, each.words) for further in (False, True)
             for each in mutants(Basket, further=further)]
    assert len(names) == len(set(names)) > 40


def test_machines_that_can_do_the_same_have_one_digest() -> None:
    """Whatever their texts say; a measure makes no difference."""
    without = frozenset({"taken"})
    points = [{"K": 1}, {"K": 2}]

    def of(machine: type[Machine]) -> str:
        return digest(machine, points, without, SMALL)

    at_most = _mutant("fill", "self.held <= self.K for self.held < self.K")
    one_more = _mutant("fill", "self.K + 1 for self.K")
    assert of(at_most) == of(one_more) != of(Basket)
    counting_twice = _mutant("take", "self.taken += 1 twice")
    assert of(counting_twice) == of(Basket)


def test_a_machine_is_followed_within_its_ranges() -> None:
    """A breach about states counts on its way out; of what must happen nothing is said."""
    boundless = _mutant("fill", "without require(self.held < self.K)")
    with pytest.raises(ModelFault):
        _verdicts(boundless, within=False)
    assert _verdicts(boundless, within=True) == {
        "BASKET-1": Outcome.VIOLATED, "BASKET-2": Outcome.UNKNOWN}
    assert set(_verdicts(Basket, within=True).values()) == {Outcome.HOLDS}


def test_a_change_of_a_measure_says_nothing_of_the_mechanism() -> None:
    """Also where it is made twice, or in the place of another change."""
    measured = frozenset({"taken"})
    twice = _mutant("take", "self.taken += 1 twice")
    assert not same_but_for(measured, Basket, twice) and not keeps_to(measured, Basket, twice)
    swapped = _mutant("take", "self.taken for self.held (2)")
    assert not keeps_to(measured, Basket, swapped)
    assert keeps_to(measured, Basket, _mutant("take", "2 for 1"))


def test_a_guard_about_the_world_around_is_none_of_the_machine() -> None:
    """One that asks for something else as well is."""
    without = _mutant("fill", "without require(self.held < self.K)")
    assert same_but_for(frozenset({"held"}), Basket, without)
    without = _mutant("take", "without require(self.held > 0 and self.taken < 9)")
    assert not same_but_for(frozenset({"taken"}), Basket, without)
