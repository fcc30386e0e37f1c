"""Every rule is tested on implementations, or tied to one that is, or nothing can show it."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache
from importlib import resources

import pytest
from click.testing import CliRunner

from benchmarks.witnesses.breakers import decided, tied
from benchmarks.witnesses.classes import mutants
from benchmarks.witnesses.measures import measures, same_but_for
from checkvalve.conformance.cli.rules import RULE, Entry, command, entries, judging
from checkvalve.spec import witnesses as package
from checkvalve.spec.chapters import chapter_names, chapters
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.flow.sums import FreeSlot
from checkvalve.spec.kafka.timer_text import TimerByTheText
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, boolean, integer, require,
)
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.reach import bookkeeping, unseen, ways
from checkvalve.spec.storm.acking.observed_acker import ObservedAcker
from checkvalve.spec.verdicts.verdict import Outcome
from checkvalve.spec.witnesses.refused import (
    ENOUGH, TABLE, Breaker, distinct, known_breakers, table, to_json,
)


@cache
def book() -> tuple[Entry, ...]:
    """The rules."""
    return tuple(entries())


def test_of_every_rule_it_is_said_how_it_reaches_implementations() -> None:
    """Directly, through another rule, or not, or there is nothing to test: one of these."""
    unclear = [each.id for each in book() if [
        bool(each.uses.test), bool(each.through), each.untested is not None,
        each.bookkeeping is not None].count(True) != 1]
    assert unclear == []


def test_what_nothing_can_show_has_a_sentence_of_its_own() -> None:
    """About this rule, and no other one has the same; where a machine is accepted that breaks it,
    that one says why."""
    sentences = unseen(chapters())
    machines = tied(chapters(), judging())
    looked_at = {rule.id for each in machines
                 for one in (each.machine, *(variant for variant, _ in each.variants))
                 for rule in one.rules_declared}
    without = [each.id for each in book() if each.refused is None and each.id not in looked_at
               and each.untested not in (None, sentences.get(each.id))]
    short = [rule for rule, why in sentences.items() if len(why.split()) < 8 or why[-1] != "."]
    assert (without, short) == ([], [])
    assert len(set(sentences.values())) == len(sentences)


def test_no_chapter_excuses_a_rule_that_it_does_not_have() -> None:
    """Nor one that is tested."""
    tested = {each.id for each in book() if each.untested is None}
    wrong = [rule for chapter in chapters() for rule in chapter.unseen
             if rule in tested or rule not in {each.id for each in chapter.rules}]
    assert wrong == []


REFUSED = Breaker("STORM-A11", "storm.acker.Acker", "storm.acker.AckingInSilence", "", "", {},
                  "STORM-A22 of ObservedAcker")


OTHERS = [replace(REFUSED, machine=f"storm.acker.Other{number}") for number in range(2)]


def test_a_rule_reaches_implementations_where_all_that_breaks_it_is_refused() -> None:
    """One machine that is accepted, and it does not; what is the observer's own is always kept."""
    accepted = replace(REFUSED, machine="storm.acker.Silent", refused="")
    found = ways(chapters(["storm"]), judging(), {"STORM-A11": [REFUSED, *OTHERS]})
    assert list(found["STORM-A11"].texts) == [
        "STORM-A22 of ObservedAcker, which refuses AckingInSilence"]
    assert found["STORM-A11"].is_tested and found["STORM-A11"].of == 3
    assert list(found["STORM-A32"].texts) == [
        "all rules of ObservedAcker: whatever it accepts keeps this"]
    assert found["STORM-A32"].is_tested
    way = ways(chapters(["storm"]), judging(), {
        "STORM-A11": [REFUSED, *OTHERS, accepted]})["STORM-A11"]
    assert (way.refused, way.of, way.accepted, way.is_tested) == (3, 4, "Silent", False)


def test_two_machines_that_break_a_rule_are_too_few() -> None:
    """They are counted by themselves, and it is said how many mutants were tried."""
    way = ways(chapters(["storm"]), judging(), {"STORM-A11": [REFUSED, OTHERS[0]]},
               {"STORM-A11": 217})["STORM-A11"]
    assert (way.of, way.is_refused, way.is_tested, way.tried) == (2, True, False, 217)


def test_two_texts_of_one_graph_are_one_machine() -> None:
    """And so is one that is seen in two ways."""
    first = replace(REFUSED, method="Acker.hear", words="1 for 0", graph="aa")
    same = replace(first, words="not fair for x", graph="aa")
    other = replace(first, words="2 for 0", graph="bb")
    elsewhere = replace(other, like="storm.rotating.AckerMemory", graph="cc")
    assert distinct([first, same]) == 1
    assert distinct([first, same, other, elsewhere]) == 2


def test_what_rests_on_few_machines_says_so() -> None:
    """No rule counts as tested through an observer with fewer than three machines that break it,
    unless it is the observer's own; and each that has fewer prints how far it was looked."""
    own = {rule.id for machine in judging() for rule in machine.rules_declared}
    through = [each for each in book() if each.through]
    assert [each.id for each in through if each.refused is None and each.id not in own] == []
    assert [each.id for each in through if each.refused is not None
            and each.few != (each.refused.of < ENOUGH)] == []
    few = [each for each in through if each.few]
    unasked = [each.id for each in few if each.refused is not None and not each.refused.tried]
    assert [each.id for each in few if each.refused is None or 0 < each.refused.tried < 20] == []
    shown = CliRunner().invoke(command, [each.id for each in few], standalone_mode=False).output
    assert len(re.findall(r"refused ([12]) of \1; no (?:second|third) machine breaks it among "
                          r"[\d,]+ mutants", shown)) == len(few) - len(unasked)
    assert shown.count("no mutant is asked") == len(unasked) < 8


def test_the_table_is_written_as_it_was_read() -> None:
    """So a search of one machine leaves the rows of the others where they are."""
    text = resources.files(package).joinpath(TABLE).read_text(encoding="utf-8")
    assert to_json(table().rows, table().tried) == text
    names = [each.name for each in tied(chapters(), judging())]
    likes = [row.like for row in table().rows]
    assert likes == sorted(likes, key=names.index)


def test_one_way_of_seeing_a_machine_that_refuses_it_is_enough() -> None:
    """A machine of the book is looked at wherever it is tied; and an equivalent mutant is not
    counted at all."""
    elsewhere = replace(REFUSED, like="storm.rotating.AckerMemory", refused="")
    mutant = replace(REFUSED, machine="storm.acker.Acker", method="Acker.hear", words="not fair",
                     refused="", equivalent=True)
    found = ways(chapters(["storm"]), judging(), {"STORM-A11": [elsewhere, REFUSED, mutant]})
    way = found["STORM-A11"]
    assert (way.refused, way.of, way.accepted, way.is_refused) == (1, 1, "", True)


def test_what_one_refusal_of_a_variant_does_not_show_another_one_may() -> None:
    """A rule is beside a machine where no refusal of it is about that rule."""
    cascade = next(each for each in tied(chapters(["storm"]), judging())
                   if each.name == "storm.cascade.Cascade")
    assert cascade.beside == ()
    batching = next(each for each in tied(chapters(["storm"]), judging())
                    if each.name == "storm.batching.BatchingInput")
    assert {rule for _, rule in batching.beside} == {"STORM-B2"}


def test_an_observer_that_no_suite_watches_reaches_nothing() -> None:
    """Neither what it refuses, nor what is true of itself."""
    watched = judging()
    assert FreeSlot not in watched and ObservedAcker in watched
    others = {machine: rules for machine, rules in watched.items() if machine is not ObservedAcker}
    found = ways(chapters(["storm"]), others, {"STORM-A11": [REFUSED]})
    assert "STORM-A32" not in found
    assert not found["STORM-A11"].is_refused


def test_a_refusal_by_a_rule_that_no_suite_names_is_none() -> None:
    """The machine counts as accepted."""
    without = {machine: set(rules) - {"STORM-A22"} for machine, rules in judging().items()}
    found = ways(chapters(["storm"]), without, {"STORM-A11": [REFUSED]})
    assert (found["STORM-A11"].refused, found["STORM-A11"].of) == (0, 1)


@pytest.mark.parametrize("rule", ["STORM-L14", "STORM-A10", "STORM-K10"])
def test_a_rule_is_not_tested_where_a_machine_of_the_book_breaks_it_and_is_accepted(
    rule: str
) -> None:
    """Another one that is refused makes no difference."""
    found = next(each for each in book() if each.id == rule)
    assert found.through == [] and found.untested is not None
    assert found.refused is not None and found.refused.accepted is not None


def test_the_table_says_what_a_search_finds_again() -> None:
    """A sample of it, drawn from a seed, is decided again."""
    rows = [row for rows in known_breakers().values() for row in rows]
    quick = [row for row in rows if row.machine.split(".")[0] in ("flow", "queues", "reactive")]
    watched = judging()
    machines = tied(chapters(), watched)
    for row in random.Random(21).sample(quick, 12):
        again = decided(row, machines, watched)
        assert again is not None, row
        assert bool(again.refused) == bool(row.refused), row


def test_the_table_is_about_rules_that_nobody_tests_directly() -> None:
    """And of machines that are there; after a change of a chapter, ``make breakers`` makes it."""
    machines = {each.name for each in tied(chapters(), judging())}
    ids = {each.id for each in book() if not each.uses.test and not each.bookkeeping}
    stale = [row for rows in known_breakers().values() for row in rows
             if row.like not in machines or row.rule not in ids]
    assert stale == []


def test_what_a_mutant_changes_of_a_measure_alone_is_no_breach() -> None:
    """A variable that only rules read may say anything; one that a guard reads is the machine."""
    class Door(Machine):
        wide, opened = boolean(), integer(0, 3)

        @action
        def go(self) -> None:
            require(not self.wide)
            self.wide = True
            self.opened += 1

        @always("DOOR-1", MUST, "It is opened once.", source="a test")
        def once(self) -> bool:
            return self.opened <= 1

    assert measures(Door, ()) == {"opened"}
    changed = {mutant.words: same_but_for(frozenset({"opened"}), Door, mutant.make())
               for mutant in mutants(Door)}
    assert changed["without self.opened += 1"] and changed["2 for 1"]
    assert not changed["without require(not self.wide)"]


def test_what_an_observer_notes_for_itself_is_no_rule_for_implementations() -> None:
    """It is marked, with a reason of its own, and is neither tested nor untested."""
    marked = bookkeeping(chapters())
    assert {each.id for each in book() if each.bookkeeping} == set(marked) and len(marked) >= 12
    assert not [each.id for each in book() if each.bookkeeping and (
        each.uses.test or each.through or each.refused or each.untested)]
    assert len(set(marked.values())) == len(marked)
    own = {rule.id for machine in judging() for rule in machine.rules_declared}
    assert set(marked) <= own
    shown = CliRunner().invoke(command, ["FLOW-12"], standalone_mode=False).output
    assert f"      bookkeeping: {marked['FLOW-12']}" in shown


def test_every_observer_that_a_chapter_is_tied_to_is_watched_by_a_suite() -> None:
    """A tie to any other one says nothing of implementations; its rules have a sentence, or
    another tie."""
    watched = judging()
    known = {*unseen(chapters()), *bookkeeping(chapters()),
             *ways(chapters(), watched, known_breakers()),
             *(rule.id for each in tied(chapters(), watched)
               for rule in each.machine.rules_declared)}
    unwatched = {tie.observer for chapter in chapters() for tie in chapter.refinements
                 if tie.observer not in watched
                 or (tie.rule and tie.rule not in watched[tie.observer])}
    assert [(machine.__name__, rule.id) for machine in unwatched
            for rule in machine.rules_declared if rule.id not in known] == []


def test_the_three_numbers_are_printed() -> None:
    """Of all rules, and of those that are a MUST."""
    lines = CliRunner().invoke(command, ["storm.acker"], standalone_mode=False).output.splitlines()
    assert any("tested on implementations directly" in line and "are tested)" in line
               for line in lines if line.startswith("Of those that are a MUST"))
    assert any(line.startswith("      tested through STORM-A") for line in lines)
    assert any(re.fullmatch(r" +of what breaks it, refused (\d+) of \1", line) for line in lines)


def test_the_last_line_counts_what_breaks_the_rules() -> None:
    """By kind, and it claims no small change where an observer's refusal is all that is known."""
    found = CliRunner().invoke(command, [], standalone_mode=False).output.splitlines()
    told = [line for line in found if line.startswith("      broken by: ")]
    refused = sum(" refuses " in line and "by more than one guard" in line for line in told)
    assert f"Something is known to break {len(told)} of {len(told)}: " in found[-1]
    assert f"a step that an observer refuses {refused}" in found[-1] and refused > 0


def test_a_claim_is_what_no_implementation_is_to_keep() -> None:
    """It has a counterexample, its sentence says so, and no suite asks for it; and no rule that is
    a MUST or a SHOULD is excused so."""
    excuse = re.compile(
        "so (?:no implementation is to keep it|(?:no implementation|none) has to satisfy it"
        "|it is not required)")
    claims = {each.id for each in book() if each.strength == "CLAIM"}
    broken = {expectation.rule for chapter in chapters() for expectation in chapter.expectations
              if expectation.verdict == "violated"}
    assert claims <= broken
    assert {each.id for each in book()
            if excuse.search(each.untested or "")} == claims


def test_what_the_text_says_of_the_first_bucket_is_false_whenever_the_timer_is_made() -> None:
    """At 0 as at 1; so the time at which it is made is no reason."""
    for start in (0, 1):
        bound = bind(TimerByTheText, u=2, n=2, M=2, H=6, D=6, S=start)
        verdicts = check_rules(bound, instances(bound, "KAFKA-WE2"))
        assert {verdict.outcome for verdict in verdicts} == {Outcome.VIOLATED}
    assert "time than 0" not in unseen(chapters(["kafka"]))["KAFKA-WE2"]


def test_most_rules_that_are_a_must_are_tested() -> None:
    """Directly, or through an observer that refuses all that is known to break them, three
    machines at least; what is an observer's bookkeeping is none of them. Few rest on fewer."""
    must = [each for each in book() if each.strength == "MUST" and not each.bookkeeping]
    few = sum(each.few for each in must)
    assert sum(each.untested is None for each in must) - few >= 0.9 * len(must)
    assert few <= 3


def test_a_rule_is_shown_by_its_id_as_a_report_has_it() -> None:
    """In whatever letters; and one that is not there is refused, with the nearest that are."""
    shown = CliRunner().invoke(command, ["flow-51"], standalone_mode=False)
    assert shown.output.count(" MUST ") == 1 and "flow.observed_jobs\nFLOW-51" in shown.output
    for wrong in ("FLOW-5111", "KAFKA-P2LX"):
        with pytest.raises(InputError, match=f"there is no rule '{wrong}'") as told:
            CliRunner().invoke(command, [wrong], standalone_mode=False, catch_exceptions=False)
        assert told.value.next_step.startswith(f"Did you mean '{wrong[:4]}")
        assert " or '" in told.value.next_step


def test_every_id_of_the_book_is_taken_for_one() -> None:
    """Also those that end in a letter, as KAFKA-P2L."""
    ids = [each.id for each in book()]
    shown = CliRunner().invoke(command, [*ids, "--json"], standalone_mode=False,
                               catch_exceptions=False)
    assert [each["id"] for each in json.loads(shown.output)["rules"]] == ids
    assert not any(RULE.fullmatch(chapter) for chapter in chapter_names())
