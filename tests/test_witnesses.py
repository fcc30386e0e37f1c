"""Every rule of the book can be broken: by a small change of its machine, which still replays."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchmarks
from benchmarks.witnesses.classes import mutant_named, mutants
from benchmarks.witnesses.confirm import confirm
from benchmarks.witnesses.mutate import edits
from benchmarks.witnesses.refusals import seen_refused
from checkvalve.spec.chapters import Chapter, chapters
from checkvalve.spec.election.observed_election import ObservedElection
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import (
    MUST, Machine, action, always, assume, bind, boolean, const, guard_rule, integer, require,
)
from checkvalve.spec.verdicts.verdict import Outcome
from checkvalve.spec.witnesses.book import Witness, witnesses


@pytest.mark.parametrize("chapter", list(chapters()), ids=lambda chapter: chapter.name)
def test_every_rule_of_a_chapter_has_a_witness_that_replays(chapter: Chapter) -> None:
    """The interpreter takes the run on the mutant again, and the rule is broken by it; after a
    change of a chapter, ``make witnesses`` looks for new ones."""
    table = witnesses()
    silent = {rule.id for rule in chapter.rules} - set(table)
    assert not silent, "nothing is known that breaks these rules: run make witnesses"
    stale = {rule.id: why for rule in chapter.rules
             if rule.id in table and (why := confirm(table[rule.id]))}
    assert not stale, "run make witnesses"


def test_the_table_has_no_rule_that_the_book_lacks() -> None:
    """A rule that went takes its witness along."""
    assert set(witnesses()) <= {rule.id for chapter in chapters() for rule in chapter.rules}


ONLY_WHAT_ARRIVED = guard_rule("POST-1", MUST, "Only what has arrived is read.", source="none")


class Bin(Machine):
    """A bin that is filled from one side."""

    C = const(2, at_least=1)
    held = integer(0, 3)

    @assume
    def is_small(self) -> bool:
        return self.C < 3

    @action(fair=True)
    def fill(self) -> None:
        require(self.held < self.room())
        self.held += 1

    def room(self) -> int:
        """The free capacity."""
        return max(self.C, 1)

    def top(self) -> int:
        """The most that there may be."""
        return self.C

    @always("BIN-1", MUST, "It never overflows.", source="a test")
    def fits(self) -> bool:
        return self.held <= self.top()


class DoubleBin(Bin):
    """A bin that is filled twice as fast."""

    def fill(self) -> None:
        require(self.held + 1 < self.room())
        super().fill()
        self.held += 1

    fill = action(fill)


def test_a_method_is_changed_in_one_place_at_a_time() -> None:
    """Guards, statements, comparisons and numbers, each named by what was done to it."""
    tree = ast.parse(
        "def fill(self):\n    require(self.a < 2 and self.b)\n    self.a += 1\n").body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert {edit.words for edit in edits(tree)} == {
        "without require(self.a < 2 and self.b)",
        "require(self.a < 2 and self.b) without self.a < 2",
        "require(self.a < 2 and self.b) without self.b",
        "without self.a += 1", "self.a -= 1 for self.a += 1",
        "self.a < 2 or self.b for self.a < 2 and self.b", "self.a <= 2 for self.a < 2",
        "3 for 2", "1 for 2", "2 for 1", "0 for 1",
    }


def test_what_a_rule_calls_is_left_alone() -> None:
    """Else the rule would be another one, and anything could break it."""
    assert {mutant.method for mutant in mutants(Bin)} == {"Bin.fill", "Bin.room"}


def test_what_a_rule_calls_of_each_member_is_left_alone() -> None:
    """A call within ``all(…)`` is one of the rule as well."""
    class Bins(Bin):
        @always("BIN-2", MUST, "None of them overflows.", source="a test")
        def all_fit(self) -> bool:
            return all(self.fits_one(each) for each in range(2))

        def fits_one(self, each: int) -> bool:
            return self.held <= self.C + each

    assert "Bins.fits_one" not in {mutant.method for mutant in mutants(Bins)}


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_mutant_is_a_machine_in_both_readings(engine: str) -> None:
    """Also where a method calls its base's, and the base's is the one that is changed."""
    machine = mutant_named(DoubleBin, "Bin.fill", "self.held -= 1 for self.held += 1")
    assert machine is not None
    bound = bind(machine)
    assert check_rules(bound, engine=engine)[0].outcome is Outcome.HOLDS  # type: ignore[arg-type]
    start = bound.interpreter.initial()
    assert bound.interpreter.step(start, "fill") == start, "one in, one out"
    loose = mutant_named(Bin, "Bin.fill", "self.held <= self.room() for self.held < self.room()")
    assert loose is not None
    verdict, = check_rules(bind(loose), instances(bind(loose), "BIN-1"), engine=engine)  # type: ignore[arg-type]
    assert verdict.outcome is Outcome.VIOLATED
    assert len(verdict.trace.steps) == 3  # type: ignore[union-attr]


def test_a_guard_rule_is_shown_by_the_one_guard_that_the_mutant_lacks() -> None:
    """The observer refuses the step, and without that guard it takes it; so a witness with a mutant
    that lacks another guard, or with a run that ends earlier, shows nothing."""
    kept = next(one for one in witnesses().values() if one.rule == "ELECT-2")
    assert kept.of_a_guard and kept.kind == "a guard left out"
    assert confirm(kept) == ""
    assert "does not refuse" in confirm(Witness(**{**vars(kept), "steps": kept.steps[:-1]}))
    other = next(
        mutant for mutant in mutants(ObservedElection) if mutant.words.startswith("without require")
        and (mutant.method, mutant.words) != (kept.method, kept.words))
    wrong = {**vars(kept), "method": other.method, "words": other.words}
    assert "does not refuse" in confirm(Witness(**wrong))


class Post(Machine):
    """A letter that is sent arrives unseen, and is read after that."""

    sent, there = boolean(), boolean()

    @action
    def send(self) -> None:
        self.sent = True

    @action(internal=True)
    def arrive(self) -> None:
        require(self.sent)
        self.there = True

    @action
    def read(self) -> None:
        require(self.there, ONLY_WHAT_ARRIVED)
        self.there = self.sent = False


def test_what_an_implementation_showed_is_a_witness_with_the_hidden_steps_between() -> None:
    """Up to the step that no run of the observer has; a run that it explains shows nothing."""
    send, arrive, read = ("send", ()), ("arrive", ()), ("read", ())
    found = seen_refused("a.chapter", Post, {}, "POST-1", [send, read, read, send])
    assert found is not None and found.steps == (send, arrive, read, read)
    assert (found.method, found.words) == (
        "Post.read", "without require(self.there, ONLY_WHAT_ARRIVED)")
    assert seen_refused("a.chapter", Post, {}, "POST-1", [send, read]) is None
    assert seen_refused("a.chapter", Post, {}, "POST-2", [read]) is None


def test_only_the_machine_that_states_a_rule_shows_it_to_be_false() -> None:
    """A broken variant that breaks a rule of another machine is no small change."""
    kept = witnesses()["FLOW-E1"]
    assert (kept.method, kept.of_a_guard) == ("", False) and confirm(kept) == ""
    variant = Witness("FLOW-1", "flow.credit.MintingLink", {"C": 1}, steps=kept.steps)
    assert "is about another machine" in confirm(variant)


def test_variables_of_one_kind_and_arguments_are_mixed_up() -> None:
    """The author of the machine might have done so."""
    class Pair(Machine):
        left = integer(0, 3)
        right = integer(0, 3)

        @action
        def move(self) -> None:
            require(self.left < 3)
            self.left = max(self.right, self.left + 1)

    words = {mutant.words for mutant in mutants(Pair)}
    assert {"self.right for self.left", "max(self.left + 1, self.right) for "
            "max(self.right, self.left + 1)"} <= words


def test_a_witness_of_another_text_is_not_confirmed() -> None:
    """A mutant that the chapter no longer has, a rule that holds, and a machine that is gone."""
    kept = witnesses()["FLOW-2"]
    for changed, why in (
        ({"words": "without require(nothing)"}, "has no mutant"),
        ({"rule": "FLOW-99"}, "has no rule"),
        ({"machine": "flow.credit.Gone"}, "there is no machine"),
        ({"steps": kept.steps[:-1]}, "does not replay"),
    ):
        assert why in confirm(Witness(**{**vars(kept), **changed}))


def test_no_program_of_a_package_hands_its_own_functions_to_other_processes() -> None:
    """``python -m benchmarks.witnesses`` did, and ended with an error: a new process imports no
    ``__main__`` of a package, and so does not find what it is to run."""
    wrong = []
    for file in sorted(Path(str(benchmarks.__path__[0])).glob("*/__main__.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        wrong += [f"{file.parent.name}: {name.id}" for call in ast.walk(tree)
                  if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                  and ast.unparse(call.func) in ("pool.map", "pool.submit")
                  for argument in call.args for name in ast.walk(argument)
                  if isinstance(name, ast.Name) and name.id in own]
    assert wrong == []
