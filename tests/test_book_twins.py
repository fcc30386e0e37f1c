"""Variants of chapters that are twins: how many, what keeps the others from it, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from book_twins import Answer, answers, played, refused_rows, suites_of

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.systems.catalogue import zoo
from checkvalve.conformance.systems.queue.mechanism import DroppingOfTheBook

ROOT = Path(__file__).resolve().parent.parent

DROPS = {"QUEUE-1", "QUEUE-4"}
"""Rules that each queue breaks that drops what it was given, the reference's policies too."""


def test_each_row_that_refuses_a_variant_is_a_twin_or_has_a_reason() -> None:
    """The decision has each reason, and how many rows it kept from the port then."""
    found = answers()
    assert not found[Answer.OPEN]
    assert sum(map(len, found.values())) == len([*refused_rows()])
    text = (ROOT / "docs/decisions/variants-as-twins.md").read_text(encoding="utf-8")
    assert not [answer for answer in Answer if f"| {answer} | " not in text]


def test_a_name_in_chapters_and_code_is_of_one_bug_that_a_reason_keeps_from_the_port() -> None:
    """A twin of code has the name of a variant only if that is refused at the same rule by an
    observer of the same suite, and is no twin itself. Other bugs have other names."""
    alike = {(row.machine.__name__, suite.name, row.rule)
             for answer, rows in answers().items() if answer not in (Answer.TWIN, Answer.OPEN)
             for row in rows for suite in suites_of(row)}
    stands_for: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
    for twin in zoo().values():
        for bug in _bugs(twin.parts.values()):
            stands_for.setdefault((bug.__name__, _folder_of(bug.__module__)), set()).add(
                (bug.__name__, twin.suite, twin.rule))
    book = _classes("spec/**/*.py")
    odd = {(name, folder.name) for folder in (ROOT / "conformance/systems").iterdir()
           for name in _classes(f"conformance/systems/{folder.name}/twins*.py") & book
           if not stands_for.get((name, folder.name), set()) & alike}
    assert not odd


def test_the_machine_of_each_chapter_passes_the_suite_of_its_port(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what a variant of it answers otherwise is the variant's fault."""
    for core, (variant, twin) in {each.__mro__[1]: (each, twin) for each, twin in played()}.items():
        part = next(name for name, each in twin.parts.items() if each is variant)
        monkeypatch.setitem(twin.parts, part, core)
        summary, _ = conduct(
            f"zoo:{twin.name}", Order(twin.suite, 4, settings=RunSettings(programs=6)))
        assert summary.longest and not summary.error, core
        broken = {*summary.those("violated"), *summary.those("follows")}
        assert broken == (DROPS if core is DroppingOfTheBook else set()), core


def _bugs(parts: Any) -> Iterator[type[Any]]:
    """The classes with which a twin replaces parts of an adapter, alone or in a record."""
    for part in parts:
        if isinstance(part, type):
            yield part
        elif is_dataclass(part):
            yield from _bugs(getattr(part, each.name) for each in fields(part))


def _folder_of(module: str) -> str:
    """The folder of a system, of which a module is a part."""
    return (module.partition(".systems.")[2] or ".").split(".")[0]


def _classes(pattern: str) -> set[str]:
    return {name for path in ROOT.glob(pattern) for name in re.findall(
        r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)}
