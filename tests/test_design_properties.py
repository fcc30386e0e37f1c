"""The names of properties: good things, the same everywhere, with one table of words for people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.properties import (
    FACTS, FORMER, FOUND, fact, no_starvation, starved_task,
)
from checkvalve.spec.design.reading.schema import schema
from checkvalve.spec.notation.errors import InputError

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"
OLD = """checkvalve: 1
name: old
tasks: {a: {kind: source}, b: {kind: sink}}
links: [{from: a, to: b, capacity: 1}]
"""


def refused(text: str) -> InputError:
    """The error that a design file gives."""
    with pytest.raises(InputError) as caught:
        load(text, "old.yaml")
    return caught.value


def test_the_keys_of_expect_are_the_properties() -> None:
    """In the order of the table."""
    assert list(schema()["$defs"]["expect"]["properties"]) == list(FACTS)


def test_the_glossary_has_the_words_of_every_verdict() -> None:
    """Nine rows, each with what is said where the property holds and where it is violated."""
    page = GLOSSARY.read_text(encoding="utf-8")
    row = r"^\| `([a-z-]+)(?:: TASK)?` \|.*\| (.*): \*\*none\*\* \| (.*): \*\*found\*\* \|$"
    rows = re.findall(row, page, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(FACTS)
    for name, holds, violated in rows:
        told = fact(no_starvation("TASK") if name == "no-starvation" else name)
        assert told == holds == violated
    assert FOUND["holds"] == "none" and FOUND["violated"] == "found"


def test_the_task_of_a_starvation_is_in_its_name() -> None:
    """And no other property has one."""
    assert starved_task(no_starvation("worker[2]")) == "worker[2]"
    assert all(starved_task(name) is None for name in FACTS if name != "no-starvation")


def test_a_file_of_version_1_is_refused_with_the_new_name_of_each_old_key() -> None:
    """One message for all of them, at the line of the version."""
    expected = "{deadlock: holds, bounded: holds, loss: violated, starvation: {a: holds}}"
    error = refused(OLD + f"expect: {expected}\n")
    assert error.where == "old.yaml:1:13"
    assert error.next_step == (
        "Write `checkvalve: 2`, and rename the keys of `expect`: `deadlock` is `deadlock-free`, "
        "`loss` is `no-loss`, `starvation` is `no-starvation`.")
    every = ", ".join(f"{key}: holds" for key in FORMER)
    told = refused(OLD + f"expect: {{{every}}}\n").next_step
    assert all(f"`{old}` is `{new}`" in told for old, new in FORMER.items())


@pytest.mark.parametrize("expected", ["", "expect: {live: holds}\n", "expect: 3\n"])
def test_a_file_of_version_1_without_old_keys_needs_the_number_alone(expected: str) -> None:
    """Whatever else it expects."""
    assert refused(OLD + expected).next_step == (
        "Write `checkvalve: 2`; nothing else in this file has changed.")


@pytest.mark.parametrize("key", FORMER)
def test_an_old_key_in_a_new_file_is_no_alias(key: str) -> None:
    """It is refused, and the message asks for the new one."""
    error = refused(OLD.replace("checkvalve: 1", "checkvalve: 2") + f"expect: {{{key}: holds}}\n")
    assert error.next_step == f"Did you mean {FORMER[key]!r}?"
