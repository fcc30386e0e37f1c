"""The 43 rules of Reactive Streams: each has a strength, a status, and the rule that checks it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.reactive.specification import BEYOND_ITS_KIT, THE_43, table_of_the_43

ROOT = Path(__file__).resolve().parent.parent
SUITES = [system.suite for name, system in SYSTEMS.items() if name.startswith("reactive.")]


def test_all_rules_of_the_specification_are_there() -> None:
    """11 for publishers, 13 for subscribers, 17 for subscriptions, 2 for processors."""
    parts = Counter(number.partition(".")[0] for number in THE_43)
    assert parts == {"1": 11, "2": 13, "3": 17, "4": 2}
    assert [number for part, count in parts.items() for number in (
        f"{part}.{each + 1}" for each in range(count))] == list(THE_43)


def test_a_rule_that_is_said_to_be_checked_is_a_rule_of_a_suite() -> None:
    """By its own number, or by those that are named; permissions by none."""
    tested = {rule.id for suite in SUITES for rule in suite.rules()}
    for number, each in THE_43.items():
        named = [f"RS-{one}" for one in each.through if one[0].isdigit()] or [f"RS-{number}"]
        through_all = bool(each.through) and not each.through[0][0].isdigit()
        if each.status != "unchecked" and each.through != ("none",):
            assert through_all or set(named) <= tested, number


def test_what_stays_unchecked_or_in_part_says_why() -> None:
    """In words of its own."""
    reasons = [each.how for each in THE_43.values() if each.status != "checked"]
    assert all(len(reason.split()) > 5 for reason in reasons)
    assert len(set(reasons)) == len(reasons)


def test_most_of_what_the_specifications_kit_leaves_out_is_checked() -> None:
    """Of 17 rules two stay unchecked, and one is checked in part."""
    assert len(BEYOND_ITS_KIT) == 17
    assert Counter(THE_43[number].status for number in BEYOND_ITS_KIT) == {
        "checked": 14, "unchecked": 2, "checked in part": 1}


def test_the_page_has_the_table_of_the_book() -> None:
    """docs/sources/reactive.md repeats it, so that it can be read and cited."""
    assert table_of_the_43() in (ROOT / "docs" / "sources" / "reactive.md").read_text()
