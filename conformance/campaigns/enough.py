"""How much a rule must be exercised before a run may say that it passed; and with which cases.

The cases of a run are the first of a sequence that never ends: each rule is in focus again and
again, and each case's seed depends on nothing but its place. So what a run does beyond its
first cases is more of the same sequence: those places at which a rule is in focus that was
exercised too little. Which these are follows from the rows so far, and from nothing else.

Once a rule turned out to be broken, the verdict of the run is settled, but the developer who fixes
it wants to know of the others, too. A breach may be the end of each program before anything else
can be exercised. So a rule is then given up once a few cases that looked for it did not exercise
it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ..ports.base import NO_OCCASION_FOR
from ..suites.results import ERROR, FLAKY, REFUSED, VIOLATED, Case, CaseRow
from ..suites.suite import AnySuite
from ..systems.catalogue import suite_named
from .case import RunSettings, case_at, offers
from .places import is_long, place_of, turn_of

__all__ = ["ENOUGH", "FRUITLESS_MAX", "FURTHER_MAX", "Coverage", "coverage", "foreseen",
           "foretold", "further_cases", "said_by"]

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
    """The extent to which the rows of a run exercised one rule that applies to the target.

    ``cases`` with short programs exercised it, out of ``of``, of which ``looked_for`` had it in
    focus; in ``unjudged`` programs its machine lost track. ``decided``: a breach was found, or
    replies that differ from run to run.
    ``conditional``: some targets give no occasion to break it, and this may be one.
    """

    rule: Rule
    cases: int
    of: int
    unjudged: int
    decided: bool
    conditional: bool
    looked_for: int = 1

    @property
    def without_occasion(self) -> bool:
        """True if enough cases show that the target gives no occasion to break the rule.

        Asked only of rules of which it is known that some targets give none.
        """
        return self.conditional and self.never

    @property
    def never(self) -> bool:
        """True if there were enough cases and no step of them could have broken the rule."""
        return not self.cases and self.of >= ENOUGH

    @property
    def suffices(self) -> bool:
        """True if more cases would say no more that matters."""
        return self.decided or self.without_occasion or (
            self.cases >= ENOUGH and self.looked_for > 0)

    def shortfall(self) -> str:
        """The missing cases or steps, in words."""
        if self.cases >= ENOUGH:
            return f"none of {counted(self.of, 'case')} looked for it"
        if not self.cases:
            return f"none of {counted(self.of, 'case')} could have broken it; {ENOUGH} are enough"
        return (f"{counted(self.cases, 'case')} of {self.of} could have broken it; "
                f"{ENOUGH} are enough")


def coverage(suite: AnySuite, rows: Sequence[CaseRow]) -> Mapping[str, Coverage]:
    """The coverage of each rule that applies to the target, by its id."""
    rows = [row for row in rows if row.verdict != REFUSED]
    short = [json.loads(row.exercised) for row in rows if not is_long(row.case)]
    counts = [json.loads(row.exercised) for row in rows]
    unjudged = [json.loads(row.unjudged) for row in rows]
    decided = {row.rule for row in rows if row.verdict in (VIOLATED, FLAKY)}
    can = said_by(rows)
    applying = [rule for rule in suite.rules() if any(rule.id in each for each in counts)]
    return {
        rule.id: Coverage(
            rule, sum(bool(each.get(rule.id)) for each in short), len(short),
            sum(lost.get(rule.id, 0) for lost in unjudged),
            rule.id in decided, _may_have_no_occasion(suite, rule, can),
            sum(not is_long(row.case) and turn_of(row.case) % len(applying) == place
                for row in rows))
        for place, rule in enumerate(applying)
    }


def said_by(rows: Sequence[CaseRow]) -> Collection[str]:
    """The operations that the target of some rows offers, with what else it says of itself."""
    told: Iterator[list[str]] = (json.loads(row.can) for row in rows if row.can != "[]")
    return frozenset(next(told, ()))


def _may_have_no_occasion(suite: AnySuite, rule: Rule, can: Collection[str]) -> bool:
    """True if the suite, the target's technique or its own words let one expect no occasion."""
    hidden = any(each.is_technique and not {*each.takes} & {*can}
                 for each in suite.fuller.get(rule.id, ()))
    return hidden or rule.id in suite.takes_more or f"{NO_OCCASION_FOR}{rule.id}" in can


def foretold(suite: str, target: str, cases: int, settings: RunSettings) -> str:
    """The rules that so many cases cannot show of a target, in words, before any is run; empty if
    none."""
    return foreseen(suite_named(suite), offers(suite, target, settings), cases)


def foreseen(suite: AnySuite, can: Collection[str], cases: int) -> str:
    """The rules that so many cases cannot show of a target that can do this much; empty if none."""
    rules = suite.applicable(can)
    if not rules:
        return ""
    if cases < ENOUGH:
        return (f"{counted(cases, 'case')} cannot show any of {counted(len(rules), 'rule')}: "
                f"{ENOUGH} have to exercise a rule, and one has to look for it. Ask for "
                f"{max(ENOUGH, len(rules))} or more, or for no number")
    beyond = [rule.id for rule in rules[turn_of(cases):]]
    if not beyond:
        return ""
    return (f"{counted(cases, 'case')} cannot show {len(beyond)} of "
            f"{counted(len(rules), 'rule')}, for none looks for them: {', '.join(beyond)}. Ask for "
            f"{len(rules)} or more, or for no number")


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
        turn = list(covered).index(each.rule.id)
        focus = [place_of(at) for at in range(turn, turn_of(max(done)) + 1, len(covered))]
        seen = [(place, done[place]) for place in focus if place in done]
        added = sum(place >= first for place, _ in seen)
        wanted = min(max(1, ENOUGH - each.cases), FURTHER_MAX - added)
        if settled:
            wanted = min(wanted, FRUITLESS_MAX - _fruitless(each.rule, seen))
        places.update(_next_places(turn, len(covered), wanted, done, first))
    return _cases_at(suite, sorted(places), seed)


def _fruitless(rule: Rule, seen: Sequence[tuple[int, CaseRow]]) -> int:
    """The number of cases that looked for a rule and did not exercise it."""
    return sum(not json.loads(row.exercised).get(rule.id) for _, row in seen)


def _next_places(
    turn: int, rules: int, wanted: int, done: Collection[int], first: int
) -> Iterator[int]:
    """The next places at which a rule is in focus, so many of them."""
    every = (place for place in map(place_of, count(turn, rules))
             if place >= first and place not in done)
    return islice(every, max(0, wanted))


def _cases_at(suite: str, places: Sequence[int], seed: int) -> list[Case]:
    return [case_at(suite, place, seed) for place in places]
