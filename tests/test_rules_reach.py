"""Every rule is tested on implementations, or tied to one that is, or nothing can show it."""

from __future__ import annotations

from functools import cache

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.rules import Entry, command, entries, judging
from checkvalve.spec.chapters import chapters
from checkvalve.spec.flow.sums import FreeSlot
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.reach import unseen, ways
from checkvalve.spec.storm.acking.observed_acker import ObservedAcker


@cache
def book() -> tuple[Entry, ...]:
    """The rules."""
    return tuple(entries())


def test_of_every_rule_it_is_said_how_it_reaches_implementations() -> None:
    """Directly, through another rule, or not at all: one of the three."""
    unclear = [each.id for each in book()
               if [bool(each.uses.test), bool(each.through), each.untested is not None].count(True)
               != 1]
    assert unclear == []


def test_what_nothing_can_show_has_a_sentence_of_its_own() -> None:
    """About this rule, and no other one has the same."""
    sentences = unseen(chapters())
    without = [each.id for each in book() if each.untested not in (None, sentences.get(each.id))]
    short = [rule for rule, why in sentences.items() if len(why.split()) < 8 or why[-1] != "."]
    assert (without, short) == ([], [])
    assert len(set(sentences.values())) == len(sentences)


def test_no_chapter_excuses_a_rule_that_it_does_not_have() -> None:
    """Nor one that is tested."""
    tested = {each.id for each in book() if each.untested is None}
    wrong = [rule for chapter in chapters() for rule in chapter.unseen
             if rule in tested or rule not in {each.id for each in chapter.rules}]
    assert wrong == []


def test_a_rule_reaches_implementations_by_a_variant_that_breaks_it() -> None:
    """And that is refused, or because it is the observer's own."""
    found = ways(chapters(), judging())
    assert found["STORM-A11"] == [
        "STORM-A22 of ObservedAcker, by which storm.acker_seen refuses AckingInSilence"]
    assert found["STORM-A32"] == [
        "all rules of ObservedAcker: whatever it accepts keeps this"]
    assert "KAFKA-P6S" not in found


def test_a_tie_to_an_observer_that_no_suite_watches_reaches_nothing() -> None:
    """Neither what a variant breaks, nor what is true of the observer itself."""
    watched = judging()
    assert FreeSlot not in watched and ObservedAcker in watched
    others = {machine: rules for machine, rules in watched.items() if machine is not ObservedAcker}
    found = ways(chapters(["storm"]), others)
    assert "STORM-A32" not in found
    assert not any("of ObservedAcker" in way for each in found.values() for way in each)


def test_a_refusal_by_a_rule_that_no_suite_names_reaches_nothing() -> None:
    """The rule of another refusal still does."""
    without = {machine: set(rules) - {"STORM-A22"} for machine, rules in judging().items()}
    found = ways(chapters(["storm"]), without)
    assert "STORM-A11" not in found
    assert "STORM-A1" in found


def test_every_observer_that_a_chapter_is_tied_to_is_watched_by_a_suite() -> None:
    """A tie to any other one says nothing of implementations; its rules have a sentence, or
    another tie."""
    watched = judging()
    known = {*unseen(chapters()), *ways(chapters(), watched)}
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
    assert any(line.startswith("      tested through STORM-A22 of ObservedAcker") for line in lines)


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
    excuse = "so no implementation is to keep it"
    claims = {each.id for each in book() if each.strength == "CLAIM"}
    broken = {expectation.rule for chapter in chapters() for expectation in chapter.expectations
              if expectation.verdict == "violated"}
    assert claims <= broken
    assert {each.id for each in book() if excuse in (each.untested or "")} == claims


def test_most_rules_that_are_a_must_are_tested() -> None:
    """Nine tenths, directly or through a refinement."""
    must = [each for each in book() if each.strength == "MUST"]
    assert sum(each.untested is None for each in must) >= 0.9 * len(must)


def test_a_rule_is_shown_by_its_id_as_a_report_has_it() -> None:
    """In whatever letters; and one that is not there is refused, with the nearest that is."""
    shown = CliRunner().invoke(command, ["flow-51"], standalone_mode=False)
    assert shown.output.count(" MUST ") == 1 and "flow.observed_jobs\nFLOW-51" in shown.output
    with pytest.raises(InputError, match="there is no rule 'FLOW-5111'") as told:
        CliRunner().invoke(command, ["FLOW-5111"], standalone_mode=False, catch_exceptions=False)
    assert told.value.next_step.startswith("Did you mean 'FLOW-")
