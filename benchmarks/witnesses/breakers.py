"""Machines that break a rule, and whether an observer refuses them: what ``reach`` counts.

Theory of operation. A rule of a mechanism is tested through an observer if *every* machine that
breaks it is refused. No search shows that, so machines that break it are collected: the variants
of the book, and mutants of the machine (``classes``), in an order drawn from a seed. Each is
looked at with the constants of the rows that tie the machine to an observer, and with those of
the variant's own rows. It breaks a rule if a search says so, and it is refused if some observer by
which suites judge does not explain one of its runs, by a rule that they name.

What is left out: a mutant that changes no more than a measure, which is a variable that nothing
but rules reads; one that is only unfair, for no finite run shows that; and one that leaves its
declared ranges, which is no machine. What a search cannot decide within its budget counts neither
way. A mutant that is accepted, and breaks a rule about states or steps, is noted as equivalent if
all that it shows the right machine shows, too (``outside``): it would break the rule in a way that
cannot be seen, and no observer can be blamed for it. One of the book is never excused so.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkvalve.spec.chapters import Chapter, chapter_of
from checkvalve.spec.engines.refine import Seeing
from checkvalve.spec.engines.refine import decide as decide_refinement
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.views import View
from checkvalve.spec.refinements import Refinement
from checkvalve.spec.verdicts.verdict import Budget, Outcome
from checkvalve.spec.witnesses.refused import Breaker, Judging

from .classes import Mutant, mutant_named, mutants
from .measures import measures, same_but_for
from .outside import shows_nothing_new

__all__ = ["Tied", "breakers", "decided", "tied"]

MUTANTS = 3
"""Mutants that are looked for to break a rule; none after one that is accepted."""
TRIED = 24
"""Mutants of one machine that are tried."""
POINTS = 2
"""Choices of constants that a mutant is tried at."""
BUDGET = Budget(max_states=4_000)
"""For one search; no budget of time, for the table has to be the same on any machine."""
LOOK = Budget(max_states=12_000)
"""For what one observer sees of a machine."""

SAME = Budget(max_states=60_000)
"""For what a mutant and the right machine show."""

Point = tuple[tuple[str, Any], ...]
_Look = tuple[type[Machine], type[View[Any]], frozenset[str], dict[str, int]]
"""An observer, how it sees a machine, its room, and its constants."""


@dataclass(frozen=True)
class Tied:
    """A machine with the rows that tie it to observers by which suites judge, and its variants.

    ``variants`` are the book's machines that are derived from it, or seen as it is, and itself
    where it breaks something, each with the constants at which it is looked at. ``beside`` has
    what a variant breaks in a way that its refusal does not show. ``above`` are the tied machines
    that it is derived from itself: what it inherits of them is changed there.
    """

    machine: type[Machine]
    rows: tuple[Refinement, ...]
    variants: tuple[tuple[type[Machine], tuple[Point, ...]], ...]
    beside: tuple[tuple[type[Machine], str], ...] = ()
    above: tuple[type[Machine], ...] = ()

    @property
    def name(self) -> str:
        """As chapters and reports say it: ``flow.credit.Link``."""
        return f"{chapter_of(self.machine.__module__)}.{self.machine.__name__}"

    @property
    def outside(self) -> frozenset[str]:
        """The names whose change is no change of an implementation: measures, and those that every
        view counts to the harness."""
        views = {row.shows for row in self.rows if row.machine is self.machine}
        around = [frozenset(view.around) for view in views] or [frozenset()]
        return measures(self.machine, views) | frozenset.intersection(*around)

    def asked_of(self, mutant: Mutant, rules: Iterable[str]) -> list[str]:
        """The rules that a mutant is asked about, among these: not those that it is asked about
        above."""
        owner = mutant.method.partition(".")[0]
        elsewhere = {rule for other in self.above for rule in _rules(other)
                     if owner in {each.__name__ for each in other.__mro__}}
        return [rule for rule in rules if rule not in elsewhere]

    def points(self) -> list[Point]:
        """The constants of its rows: the first of each, and one from the middle."""
        own = [[tuple(point.items()) for point in row.points()]
               for row in self.rows if row.machine is self.machine and not row.rule]
        firsts, middles = [each[0] for each in own], [each[len(each) // 2] for each in own]
        return list(dict.fromkeys((*middles, *firsts)))[:POINTS]


def tied(book: Iterable[Chapter], judging: Judging) -> list[Tied]:
    """The machines of a book that a row ties to an observer by which suites judge."""
    book = list(book)
    rows = [row for chapter in book for row in chapter.refinements if row.observer in judging]
    machines = dict.fromkeys(row.machine for row in rows if not row.rule)
    bases = [machine for machine in machines
             if not any(other is not machine and issubclass(machine, other)
                        and _breaks_something(machine, book) for other in machines)]
    bases += [machine for machine in dict.fromkeys(row.machine for row in rows)
              if not any(issubclass(machine, base) for base in bases)]
    return [_tied(machine, book, rows, [
        other for other in bases if other is not machine and issubclass(machine, other)])
        for machine in bases]


def _breaks_something(machine: type[Machine], book: Sequence[Chapter]) -> bool:
    return any(each.machine is machine and each.verdict == "violated" and not each.where
               for chapter in book for each in chapter.expectations)


def _tied(
    machine: type[Machine], book: Sequence[Chapter], rows: Sequence[Refinement],
    above: Sequence[type[Machine]],
) -> Tied:
    own = tuple(row for row in rows if row.machine is machine and not row.rule)
    views = {(row.observer, row.shows) for row in own}
    seen = [row for row in rows if issubclass(row.machine, machine)
            or (row.rule and (row.observer, row.shows) in views)]
    points: dict[type[Machine], dict[Point, None]] = {}
    for row in seen:
        if row.machine is not machine or row.rule:
            points.setdefault(row.machine, {}).update(
                (tuple(point.items()), None) for point in row.points())
    for chapter in book:
        for each in chapter.expectations:
            if issubclass(each.machine, machine) and not each.for_all:
                broken = [point for point in each.points() if each.expected(point) == "violated"]
                points.setdefault(each.machine, {}).update(
                    (tuple(point.items()), None) for point in broken[:POINTS])
    variants = tuple((each, tuple(found)[:2 * POINTS]) for each, found in points.items() if found)
    refusals = [row for row in seen if row.rule]
    beside = {(row.machine, rule): None for row in refusals for rule in row.beside if all(
        rule in other.beside for other in refusals if other.machine is row.machine)}
    return Tied(machine, tuple(dict.fromkeys((*own, *seen))), variants, tuple(beside),
                tuple(above))


# --- deciding ----------------------------------------------------------------------------------

def breakers(
    of: Tied, judging: Judging, rules: Collection[str], seed: int = 0
) -> Iterator[Breaker]:
    """The machines that break some rules of a machine, refused or not: the book's own, and mutants.
    """
    for machine, own in of.variants:
        at = _broken_at(machine, dict.fromkeys(own, [
            rule for rule in _rules(machine) if rule in rules]))
        points = (*own, *of.points())
        is_same = machine is not of.machine and same_but_for(of.outside, of.machine, machine)
        found = {rule: point for rule, point in at.items()
                 if (machine, rule) not in of.beside and not is_same}
        yield from _judged(of, judging, machine, found, points, name=_name(machine))
    asked = [rule for rule in _rules(of.machine) if rule in rules]
    kept = {point: _kept(of.machine, point, asked) for point in of.points()} if asked else {}
    wanted = Counter({rule: MUTANTS for rules in kept.values() for rule in rules})
    for mutant in _drawn(of, seed):
        made = mutant.make()
        if same_but_for(of.outside, of.machine, made):
            continue
        at = _broken_at(made, {
            point: of.asked_of(mutant, [rule for rule in rules if wanted[rule] > 0])
            for point, rules in kept.items()})
        for breaker in _judged(of, judging, made, at, tuple(kept), of.name, mutant):
            if not breaker.equivalent:
                wanted[breaker.rule] = wanted[breaker.rule] - 1 if breaker.refused else 0
            yield breaker
        if not any(wanted.values()):
            return


def _drawn(of: Tied, seed: int) -> list[Mutant]:
    every = [mutant for mutant in mutants(of.machine) if mutant.words != "not fair"]
    random.Random(f"{seed} {of.name}").shuffle(every)
    return every[:TRIED]


def _broken_at(machine: type[Machine], rules: Mapping[Point, Sequence[str]]) -> dict[str, Point]:
    """The rules that a machine breaks, each with the first constants at which it does."""
    found: dict[str, Point] = {}
    for point, some in rules.items():
        for rule in broken(machine, point, [rule for rule in some if rule not in found]):
            found[rule] = point
    return found


def _judged(
    of: Tied, judging: Judging, machine: type[Machine], at: Mapping[str, Point],
    points: Sequence[Point], name: str, mutant: Mutant | None = None,
) -> Iterator[Breaker]:
    """A breaker for each rule that a machine breaks, if it can be decided whether it is refused:
    with any of these constants, or else accepted with those at which it breaks the rule."""
    if not at:
        return
    verdicts: dict[Point, str | None] = {}
    for point in dict.fromkeys((*at.values(), *points)):
        verdicts[point] = refusal(of, machine, point, judging)
        if verdicts[point]:
            break
    refused = next((by for by in verdicts.values() if by), "")
    for rule, point in at.items():
        if refused or verdicts[point] is not None:
            yield Breaker(
                rule, of.name, name, mutant.method if mutant else "",
                mutant.words if mutant else "", dict(point), refused,
                not refused and mutant is not None and _is_equivalent(of, machine, rule, verdicts))


def _is_equivalent(
    of: Tied, mutant: type[Machine], rule: str, points: Iterable[Point]
) -> bool:
    """True if, with any of these constants, a mutant shows nothing that the right one does not."""
    kind = next(each.kind for each in of.machine.rules_declared if each.id == rule)
    try:
        return kind in ("always", "step") and all(
            shows_nothing_new(_seen(mutant, point, look), _seen(of.machine, point, look), SAME)
            for point in points for look in _looks(of, mutant, point))
    except Exception:  # noqa: BLE001 - as below: it is no machine with some of these constants
        return False


def _seen(machine: type[Machine], point: Point, look: _Look) -> Seeing:
    observer, view, room, constants = look
    return Seeing(bind(machine, **dict(point)), bind(observer, **constants), view, room)


def decided(breaker: Breaker, book: Sequence[Tied], judging: Judging) -> Breaker | None:
    """The same breaker, decided again; None if it breaks the rule no longer, or is gone.

    Another rule may refuse it then, for it is looked at with its own constants first.
    """
    of = next((each for each in book if each.name == breaker.like), None)
    if of is None:
        return None
    if breaker.words:
        made, points = mutant_named(of.machine, breaker.method, breaker.words), tuple(of.points())
    else:
        made, points = next(((each, (*own, *of.points())) for each, own in of.variants
                             if _name(each) == breaker.machine), (None, ()))
    point = tuple(breaker.constants.items())
    if made is None or not broken(made, point, [breaker.rule]):
        return None
    found = _judged(of, judging, made, {breaker.rule: point}, points, breaker.machine)
    again = next(found, None)
    return again and replace(
        again, method=breaker.method, words=breaker.words, equivalent=bool(
            breaker.words and not again.refused
            and _is_equivalent(of, made, breaker.rule, dict.fromkeys((point, *points)))))


def _name(machine: type[Machine]) -> str:
    return f"{chapter_of(machine.__module__)}.{machine.__name__}"


def _rules(machine: type[Machine]) -> list[str]:
    return [rule.id for rule in machine.rules_declared
            if rule.predicate is not None and rule.strength.value != "CLAIM"]


def _kept(machine: type[Machine], point: Point, asked: Sequence[str]) -> list[str]:
    """The rules that a machine keeps with these constants, among some."""
    lost = broken(machine, point, asked)
    return [rule for rule in asked if rule not in lost]


def broken(machine: type[Machine], point: Point, rules: Iterable[str]) -> list[str]:
    """The rules that a machine breaks with these constants, among some; none if it is no machine.
    """
    try:
        bound = bind(machine, **dict(point))
        here = {rule.id for rule in machine.rules_declared}
        items = [item for rule in rules if rule in here for item in instances(bound, rule)]
        verdicts = check_rules(bound, items, BUDGET, "interpreter")
    except Exception:  # noqa: BLE001 - a mutant may do anything; then it is no machine
        return []
    found = {item.rule.id for item, verdict in zip(items, verdicts, strict=True)
             if verdict.outcome is Outcome.VIOLATED}
    return [rule for rule in rules if rule in found]


def refusal(
    of: Tied, machine: type[Machine], point: Point, judging: Judging
) -> str | None:
    """The rule by which an observer refuses a run of a machine, empty if all accept every run.

    None where a budget was spent, the machine left its ranges, or it cannot be looked at.
    """
    outcomes = []
    for look in _looks(of, machine, point):
        observer = look[0]
        try:
            verdict = decide_refinement(replace(
                _seen(machine, point, look), among=frozenset(judging[observer])), LOOK)
        except InputError:
            continue  # these constants are none of theirs
        except Exception:  # noqa: BLE001 - as above
            return None
        if verdict.outcome is Outcome.VIOLATED:
            by = verdict.reason.partition(" by ")[2].partition(":")[0]
            return f"{by} of {observer.__name__}"
        outcomes.append(verdict.outcome)
    return None if not outcomes or Outcome.UNKNOWN in outcomes else ""


def _looks(
    of: Tied, machine: type[Machine], point: Point
) -> Iterator[_Look]:
    """The observers that may look at a machine with these constants, with theirs: those of rows
    about this machine, or else of those about the one that it varies."""
    found: dict[Any, None] = {}
    own = [row for row in of.rows if row.machine is machine]
    for row in own or [row for row in of.rows if row.machine is of.machine]:
        try:
            constants = replace(row, machine=machine).observers_constants(dict(point))
        except InputError:
            continue  # the variant has not all that this row speaks of
        found[row.observer, row.shows, frozenset(row.room), tuple(constants.items())] = None
    for observer, view, room, constants in found:
        yield observer, view, room, dict(constants)
