"""Every verdict that a chapter promises is the one that the engines find."""

from __future__ import annotations

import pytest

from checkvalve.spec.chapters import Chapter, chapter_names, chapters
from checkvalve.spec.verify import verify


def the_chapter(name: str) -> Chapter:
    """The chapter of exactly that name."""
    return next(chapter for chapter in chapters([name]) if chapter.name == name)


DECIDED_ELSEWHERE = {"kafka.replication", "kafka.isr_changes"}
"""By test_kafka_replication, which compares more of their rows, and takes half a minute."""


@pytest.mark.parametrize("name", sorted(set(chapter_names()) - DECIDED_ELSEWHERE))
def test_every_expectation_of_the_chapter_is_met(name: str) -> None:
    """Expected and found agree in every row."""
    wrong = [
        (row.machine, row.constants, row.rule, row.expected, row.verdict.outcome.value)
        for row in verify([the_chapter(name)]) if not row.as_expected
    ]
    assert not wrong


@pytest.mark.parametrize("name", chapter_names())
def test_rule_ids_of_the_chapter_have_statements_and_sources(name: str) -> None:
    """A rule says what it demands in one sentence, and where that comes from."""
    chapter = the_chapter(name)
    assert chapter.rules or chapter.lemmas or chapter.refinements
    for rule in (*chapter.rules, *chapter.lemmas):
        assert rule.statement.endswith(".") and rule.source, rule.id


CONTINUES = ("and", "but", "for", "if", "nor", "or", "so", "the same", "then", "unless", "which",
             "while")
"""First words of a sentence that continues the row above."""


@pytest.mark.parametrize("name", chapter_names())
def test_the_words_of_an_expectation_stand_alone(name: str) -> None:
    """A reader of one row, in a table or in a report, has not read the row above."""
    chapter = the_chapter(name)
    unclear = [row.about for row in (*chapter.expectations, *chapter.refinements)
               if "…" in row.about or len(row.about.split()) < 3
               or row.about.startswith(tuple(f"{word} " for word in CONTINUES))]
    assert not unclear


@pytest.mark.parametrize("name", [
    name for name in chapter_names()
    if name.startswith(("flow.", "storm.")) and ".observed_" not in name])
def test_every_rule_of_flow_and_storm_is_violated_by_some_machine(name: str) -> None:
    """A rule that nothing can break says nothing. What an observer's machine always keeps
    follows from the guard rules that it is judged by, and those are broken by twins."""
    violated = {row.rule for chapter in chapters(["flow", "storm"]) for row in chapter.expectations
                if row.verdict == "violated"}
    rules = {rule.id for rule in the_chapter(name).rules if rule.predicate is not None}
    assert sorted(rules - violated) == []
