"""How much a rule must be exercised before a run may say that it passed; and with which cases.

The cases of a run are the first of a sequence that never ends: each rule is in focus again and
again, and each case's seed depends on nothing but its place. So what a run does beyond its
first cases is more of the same sequence: those places at which a rule is in focus that was
exercised too little. Which these are follows from the rows so far, and from nothing else.

Where a rule turned out to be broken the verdict of the run is settled, and yet whoever mends it
wants to know of the others. But a breach may be the end of each program before anything else can be
exercised. So a rule is then given up once a few cases that looked for it did not exercise it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..results import ERROR, FLAKY, REFUSED, VIOLATED, Case, CaseRow
from ..suites.suite import AnySuite
from ..systems.catalogue import suite_named
from .case import plan

__all__ = ["ENOUGH", "FRUITLESS_MAX", "FURTHER_MAX", "Coverage", "coverage", "further_cases"]

ENOUGH: Final = 9
"""Cases that must have exercised a rule: three for each of three capacities. Of the zoo's twins,
96 in 100 are found by their own rule once so many cases have exercised it."""

FURTHER_MAX: Final = 3 * ENOUGH
"""Cases that are added at most for the sake of one rule."""

FRUITLESS_MAX: Final = 3
"""Cases in which a rule was in focus and not exercised, after which it gets no further ones where
another rule is broken."""


@dataclass(frozen=True)
class Coverage:
    """How far the rows of a run exercised one rule that applies to the target.

    ``cases`` exercised it, with ``steps`` that could have broken it, out of ``of`` cases; in
    ``unjudged`` programs its machine lost track. ``decided``: a breach was found, or replies
    that differ from run to run.
    """

    rule: Rule
    cases: int
    steps: int
    of: int
    unjudged: int
    decided: bool
    conditional: bool

    @property
    def without_occasion(self) -> bool:
        """Whether enough cases show that the target gives no occasion to break it.

        Only of rules of which the suite knows that some targets give none.
        """
        return self.conditional and not self.steps and self.of >= ENOUGH

    @property
    def suffices(self) -> bool:
        """Whether more cases would say no more that matters."""
        return self.decided or self.without_occasion or self.cases >= ENOUGH

    def shortfall(self) -> str:
        """What is missing, in words."""
        if not self.cases:
            return f"none of {counted(self.of, 'case')} could have broken it; {ENOUGH} are enough"
        return (f"{counted(self.cases, 'case')} of {self.of} could have broken it; "
                f"{ENOUGH} are enough")


def coverage(suite: AnySuite, rows: Sequence[CaseRow]) -> Mapping[str, Coverage]:
    """How far each rule that applies to the target was exercised, by its id."""
    rows = [row for row in rows if row.verdict != REFUSED]
    counts = [json.loads(row.exercised) for row in rows]
    unjudged = [json.loads(row.unjudged) for row in rows]
    decided = {row.rule for row in rows if row.verdict in (VIOLATED, FLAKY)}
    applying = {rule_id for each in counts for rule_id in each}
    return {
        rule.id: Coverage(
            rule, sum(bool(each.get(rule.id)) for each in counts),
            sum(each.get(rule.id, 0) for each in counts), len(rows),
            sum(lost.get(rule.id, 0) for lost in unjudged),
            rule.id in decided, rule.id in suite.takes_more)
        for rule in suite.rules() if rule.id in applying
    }


def further_cases(
    suite: str, rows: Sequence[CaseRow], seed: int, first: int, known: Collection[str] = (),
) -> list[Case]:
    """The cases to run next, in the order of their places; none once there is nothing to gain.

    ``rows`` are those so far, of which the ``first`` places were run whatever they exercised.
    ``known`` are the ids of rules known to be broken, which settle nothing. A pure function of its
    arguments. Call it again with the rows of these cases added.
    """
    if any(row.verdict == ERROR for row in rows):
        return []
    covered = coverage(suite_named(suite), rows)
    missing = [each for each in covered.values() if not each.suffices and not each.unjudged]
    if not missing:
        return []
    settled = any(row.verdict == VIOLATED and row.rule not in known for row in rows)
    done = {row.case: row for row in rows}
    places: set[int] = set()
    for each in missing:
        focus = range(list(covered).index(each.rule.id), max(done) + 1, len(covered))
        seen = [(place, done[place]) for place in focus if place in done]
        added = sum(place >= first for place, _ in seen)
        wanted = min(ENOUGH - each.cases, FURTHER_MAX - added)
        if settled:
            wanted = min(wanted, FRUITLESS_MAX - _fruitless(each.rule, seen))
        places.update(_next_places(focus.start, focus.step, wanted, done, first))
    return _cases_at(suite, sorted(places), seed)


def _fruitless(rule: Rule, seen: Sequence[tuple[int, CaseRow]]) -> int:
    """How many cases looked for a rule and did not exercise it."""
    return sum(not json.loads(row.exercised).get(rule.id) for _, row in seen)


def _next_places(
    position: int, rules: int, wanted: int, done: Collection[int], first: int
) -> Iterator[int]:
    """The next places at which a rule is in focus, so many of them."""
    every = (place for place in count(position, rules) if place >= first and place not in done)
    return islice(every, max(0, wanted))


def _cases_at(suite: str, places: Sequence[int], seed: int) -> list[Case]:
    if not places:
        return []
    every = plan(suite, cases=places[-1] + 1, seed=seed)
    return [every[place] for place in places]
