"""Variants of chapters that are twins: how many, what keeps the others from it, and their names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from book_twins import Answer, answers, refused_rows

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.mechanism import Mechanism
from checkvalve.conformance.systems.catalogue import zoo
from checkvalve.conformance.systems.delivery.mechanism import BrokerOfTheBook
from checkvalve.conformance.systems.summaries.mechanism import BatchesOfTheBook, StageOfTheBook
from checkvalve.conformance.systems.timer.mechanism import TimerOfTheBook

ROOT = Path(__file__).resolve().parent.parent

ROWS = {
    Answer.TWIN: 38, Answer.NO_SUITE: 1, Answer.HISTORY: 83, Answer.UNSHOWN: 27, Answer.SETTING: 9,
    Answer.SAME_VIEW: 2, Answer.CLIENTS: 74, Answer.HIDDEN: 124, Answer.OPEN: 69,
}
"""Rows of the book that say *refused*, by what became of them: those that are twins may become
more, and those without a reason fewer."""

NAMED_TWICE = 94
"""Names of classes that are in the book and among the twins: they may become fewer."""


def test_each_row_that_refuses_a_variant_is_a_twin_or_has_a_reason() -> None:
    """The decision has these figures."""
    found = {answer: len(rows) for answer, rows in answers().items()}
    assert found == ROWS
    assert sum(ROWS.values()) == len([*refused_rows()])
    text = (ROOT / "docs/decisions/variants-as-twins.md").read_text(encoding="utf-8")
    assert not [answer for answer, count in ROWS.items() if f"| {answer} | {count} |" not in text]


def test_no_code_has_the_name_of_a_variant_that_is_a_twin() -> None:
    """Such a bug is written once, in the book."""
    variants = {core.machine.__name__ for twin in zoo().values()
                if isinstance(core := twin.parts.get("core"), type) and issubclass(core, Mechanism)}
    twice = _classes("spec/**/*.py") & _classes("conformance/systems/*/twins*.py")
    assert len(twice) <= NAMED_TWICE
    for system in ("timer", "summaries", "delivery", "marks"):
        own = _classes(f"conformance/systems/{system}/twins*.py") & variants
        assert own <= {"CallingLate"}, system      # by two elements in the book, by one there


@pytest.mark.parametrize(
    "core", [BatchesOfTheBook, BrokerOfTheBook, StageOfTheBook, TimerOfTheBook])
def test_the_machine_of_the_chapter_passes_the_suite_of_its_port(
    core: type[Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what a variant of it answers otherwise is the variant's fault."""
    twin = next(twin for twin in zoo().values() if isinstance(twin.parts.get("core"), type)
                and issubclass(twin.parts["core"], core))
    monkeypatch.setitem(twin.parts, "core", core)
    summary, _ = conduct(f"zoo:{twin.name}", Order(twin.suite, 3, settings=RunSettings(programs=6)))
    assert not [*summary.those("violated"), *summary.those("follows")]


def _classes(pattern: str) -> set[str]:
    return {name for path in ROOT.glob(pattern) for name in re.findall(
        r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)}
