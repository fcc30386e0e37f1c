"""Causes and consequences among the rules that a run found broken.

A failure has culprits (suites/cause.py): earlier replies: in their place another one would explain
all of it. If the culprit is such a reply as breaks another rule, in a failure of that rule's own,
then that rule is the cause, and this one follows. It has to be so in every failure of the rule:
one that is seen to break in another way as well has a cause of its own. A MUST never follows from
a SHOULD, for it binds implementations that break the SHOULD on purpose, too. Where two explain each
other, the cause is the one that explains more rules, and of these the one with the smaller history.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from ...spec.notation import MUST, SHOULD
from ..suites.results import VIOLATED, CaseRow
from ..suites.fixture import Fixture
from ..suites.suite import AnySuite, Suite

__all__ = ["causes_of", "kinds_of"]

_Kind = tuple[str, str]
_NUMBERS: Final = re.compile(r"\d+")


def causes_of(suite: AnySuite, rows: Sequence[CaseRow]) -> Mapping[str, str]:
    """By rule that follows from another one, the id of that one."""
    failures: dict[str, list[Fixture]] = {}
    for row in rows:
        if row.verdict == VIOLATED and row.fixture:
            # Our own rows: they need no checks, and there may be thousands.
            failures.setdefault(row.rule, []).append(Fixture(json.loads(row.fixture)))
    if len(failures) < 2:
        return {}
    breaks = {rule: _kinds(pair for each in found for pair in each.refused)
              for rule, found in failures.items()}
    explained = {rule: {other for other in failures if other != rule
                        and _may_cause(suite, rule, other) and all(
        _explains(breaks[rule], each, other in _added(suite)) for each in failures[other])}
        for rule in failures}
    smallest = {rule: min(each.length for each in found) for rule, found in failures.items()}
    causes: dict[str, str] = {}
    for rule in sorted(failures, key=lambda rule: (-len(explained[rule]), smallest[rule])):
        if rule not in causes:
            causes |= {other: rule for other in explained[rule]
                       if other not in causes and other not in causes.values()}
    return causes


def _may_cause(suite: AnySuite, rule: str, other: str) -> bool:
    """True if a breach of one rule may explain that another one is broken: a SHOULD never explains
    a MUST."""
    cause, effect = suite.rule(rule), suite.rule(other)
    return cause is None or effect is None or not (
        cause.strength is SHOULD and effect.strength is MUST)


def _explains(breaks: Collection[_Kind], failure: Fixture, added: bool) -> bool:
    """True if replies that break one rule explain a failure of another.

    ``added``: a machine judges the rule beside the others, so that the same reply may break both.
    """
    return not _kinds(failure.culprits).isdisjoint(breaks) or (
        added and not _kinds(failure.refused).isdisjoint(breaks))


def kinds_of(failure: Fixture) -> tuple[frozenset[_Kind], frozenset[_Kind]]:
    """All that is asked of a failure here: the kinds of replies that broke its rule, and those that
    would explain it."""
    return _kinds(failure.refused), _kinds(failure.culprits)


def _kinds(pairs: Iterable[_Kind]) -> frozenset[_Kind]:
    """Kinds of replies, whatever the numbers of their items and callers."""
    return frozenset((action, _NUMBERS.sub("#", words))
                     for action, words in pairs)


def _added(suite: AnySuite) -> Collection[str]:
    """The rules that a machine of their own adds to another."""
    watches = suite.watches if isinstance(suite, Suite) else ()
    return {watch.adds.id for watch in watches if watch.adds is not None}
