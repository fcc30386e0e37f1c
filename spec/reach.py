"""How a rule of the book reaches implementations that no suite tests it on directly.

A chapter's rule speaks of a mechanism, which nobody outside can see. It is tested all the same
where a refinement ties the mechanism to an observer: a variant of the mechanism that breaks the
rule is one that the observer refuses, by a rule of its own, and a suite tests that one. What is
true of an observer's own machine is true of every run that it accepts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .chapters import Chapter
from .notation.machine import Machine

__all__ = ["Judging", "unseen", "ways"]

SAFETY = ("always", "step")

Judging = Mapping[type[Machine], Collection[str]]
"""The machines by which suites judge, each with the ids of the rules that they name by it."""


def ways(book: Iterable[Chapter], judging: Judging) -> dict[str, list[str]]:
    """For each rule that reaches implementations by a refinement, how it does, in words.

    A tie to an observer by which no suite judges reaches none, and neither does a refusal by a
    rule that no suite names.
    """
    book = list(book)
    broken_by: dict[object, dict[str, None]] = {}
    for chapter in book:
        for expectation in chapter.expectations:
            if expectation.verdict == "violated" and not expectation.for_all:
                broken_by.setdefault(expectation.machine, {})[expectation.rule] = None
    found: dict[str, dict[str, None]] = {}
    for chapter in book:
        for tie in chapter.refinements:
            observer, variant = tie.observer, tie.machine
            if observer not in judging:
                continue
            for rule in broken_by.get(variant, {}) if tie.rule in judging[observer] else ():
                if rule not in tie.beside:
                    found.setdefault(rule, {})[
                        f"{tie.rule} of {observer.__name__}, by which {chapter.name} refuses "
                        f"{variant.__name__}"] = None
            for own in observer.rules_declared:
                if own.kind in SAFETY:
                    found.setdefault(own.id, {})[
                        f"all rules of {observer.__name__}: whatever it accepts keeps this"] = None
    return {rule: list(texts) for rule, texts in found.items()}


def unseen(book: Iterable[Chapter]) -> dict[str, str]:
    """For each rule that nothing outside can show, why, as the chapters say it."""
    return {rule: why for chapter in book for rule, why in chapter.unseen.items()}
