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
from functools import cached_property
from itertools import islice
from typing import Any

from checkvalve.spec.chapters import Chapter, chapter_of
from checkvalve.spec.engines.refine import Seeing
from checkvalve.spec.engines.refine import decide as decide_refinement
from checkvalve.spec.engines.search import instances, judged
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.views import View
from checkvalve.spec.refinements import Refinement
from checkvalve.spec.verdicts.verdict import Budget, Outcome
from checkvalve.spec.witnesses.refused import Breaker, Judging

from .classes import Mutant, mutant_named, mutants
from .graphs import digest
from .measures import keeps_to, measures, same_but_for
from .outside import shows_nothing_new

__all__ = [
    "BUDGET", "Point", "Tied", "breakers", "broken_at", "decided", "drawn", "full_name", "keeps",
    "looked_at", "of_the_book", "refusal", "rules_of", "tied", "with_graph",
]

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

ELSEWHERE = 24
"""More choices of constants, with which a mutant is looked at that is accepted with the others."""

NONE = Mutant("", "", lambda: Machine)
"""No change."""

Point = tuple[tuple[str, Any], ...]
_Look = tuple[type[Machine], type[View[Any]], frozenset[str], dict[str, int]]
"""An observer, how it sees a machine, its room, and its constants."""


@dataclass(frozen=True)
class Tied:
    """A machine with the rows that tie it to observers by which suites judge, and its variants.

    ``variants`` are the book's machines that are derived from it, or seen as it is, and itself
    where it breaks something, each with the constants at which it is looked at. ``beside`` has
    what a variant breaks in a way that its refusal does not show. ``above`` are the tied machines
    that it is derived from itself: what it inherits of them is changed there. ``others`` are more
    constants of its rows, and some at which the chapter decides it, such as the tightest: what is
    accepted elsewhere may be refused there.
    """

    machine: type[Machine]
    rows: tuple[Refinement, ...]
    variants: tuple[tuple[type[Machine], tuple[Point, ...]], ...]
    beside: tuple[tuple[type[Machine], str], ...] = ()
    above: tuple[type[Machine], ...] = ()
    others: tuple[Point, ...] = ()

    @property
    def name(self) -> str:
        """As chapters and reports say it: ``flow.credit.Link``."""
        return f"{chapter_of(self.machine.__module__)}.{self.machine.__name__}"

    @cached_property
    def outside(self) -> frozenset[str]:
        """The names of which a change is no change of an implementation: measures, and those that
        every view counts to the harness."""
        views = {row.shows for row in self.rows if row.machine is self.machine}
        around = [frozenset(view.around) for view in views] or [frozenset()]
        return measures(self.machine, views) | frozenset.intersection(*around)

    def asked_of(self, mutant: Mutant, rules: Iterable[str]) -> list[str]:
        """The rules that a mutant is asked about, among these: not those that it is asked about
        above."""
        owner = mutant.method.partition(".")[0]
        elsewhere = {rule for other in self.above for rule in rules_of(other)
                     if owner in {each.__name__ for each in other.__mro__}}
        return [rule for rule in rules if rule not in elsewhere]

    def is_changed_by(self, mutant: type[Machine], base: type[Machine] | None = None) -> bool:
        """Whether it is the mechanism that a mutant changes, and nothing else."""
        right = base or self.machine
        return (keeps_to(self.outside, right, mutant)
                and not same_but_for(self.outside, right, mutant))

    def points(self) -> list[Point]:
        """The constants of its rows: the first of each, and one from the middle."""
        own = [[tuple(point.items()) for point in row.points()]
               for row in self.rows if row.machine is self.machine and not row.rule]
        firsts, middles = [each[0] for each in own], [each[len(each) // 2] for each in own]
        return list(dict.fromkeys((*middles, *firsts)))[:POINTS]

    def more_points(self) -> list[Point]:
        """These, and the last of each row, which has the largest."""
        last = [tuple([*row.points()][-1].items())
                for row in self.rows if row.machine is self.machine and not row.rule]
        return list(dict.fromkeys((*self.points(), *last)))[:POINTS + 1]


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
    """A machine with its rows, its variants at the points where they break something, and its
    right points."""
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
    others = dict.fromkeys(tuple(point.items()) for row in own for point in row.points())
    others |= dict.fromkeys(
        tuple(point.items()) for chapter in book for each in chapter.expectations
        if each.machine is machine and not each.for_all for point in islice(each.points(), 400)
        if each.expected(point) == "holds")
    return Tied(machine, tuple(dict.fromkeys((*own, *seen))), variants, tuple(beside),
                tuple(above), tuple(others))


# --- deciding ----------------------------------------------------------------------------------

def breakers(
    of: Tied, judging: Judging, rules: Collection[str], seed: int = 0
) -> Iterator[Breaker]:
    """What breaks some rules of a machine, refused or not: the book's own, and mutants."""
    yield from of_the_book(of, judging, rules)
    asked = [rule for rule in rules_of(of.machine) if rule in rules]
    kept = {point: keeps(of.machine, point, asked) for point in of.points()} if asked else {}
    wanted = Counter({rule: MUTANTS for rules in kept.values() for rule in rules})
    for mutant in drawn(of, seed):
        made = mutant.make()
        if not of.is_changed_by(made):
            continue
        at = broken_at(made, {
            point: of.asked_of(mutant, [rule for rule in rules if wanted[rule] > 0])
            for point, rules in kept.items()})
        for breaker in looked_at(of, judging, made, at, tuple(kept), of.name, [mutant]):
            if not breaker.equivalent:
                wanted[breaker.rule] = wanted[breaker.rule] - 1 if breaker.refused else 0
            yield breaker
        if not any(wanted.values()):
            return


def of_the_book(
    of: Tied, judging: Judging, rules: Collection[str], without: Collection[str] = ()
) -> Iterator[Breaker]:
    """What the book has that breaks some rules of a machine, but for variants of these names."""
    for machine, own in of.variants:
        if full_name(machine) in without:
            continue
        at = broken_at(machine, dict.fromkeys(own, [
            rule for rule in rules_of(machine) if rule in rules]))
        points = (*own, *of.points())
        is_same = machine is not of.machine and same_but_for(of.outside, of.machine, machine)
        found = {rule: point for rule, point in at.items()
                 if (machine, rule) not in of.beside and not is_same}
        yield from looked_at(of, judging, machine, found, points, name=full_name(machine))


def drawn(of: Tied, seed: int) -> list[Mutant]:
    """The mutants that are tried, in an order drawn from a seed."""
    every = [mutant for mutant in mutants(of.machine) if mutant.words != "not fair"]
    random.Random(f"{seed} {of.name}").shuffle(every)
    return every[:TRIED]


def broken_at(
    machine: type[Machine], rules: Mapping[Point, Sequence[str]], budget: Budget = BUDGET,
    within: bool = False,
) -> dict[str, Point]:
    """The rules that a machine breaks, each with the first constants at which it does."""
    found: dict[str, Point] = {}
    for point, some in rules.items():
        left = [rule for rule in some if rule not in found]
        for rule in broken(machine, point, left, budget, within) if left else ():
            found[rule] = point
    return found


def looked_at(
    of: Tied, judging: Judging, machine: type[Machine], at: Mapping[str, Point],
    points: Sequence[Point], name: str, changes: Sequence[Mutant] = (), within: bool = False,
) -> Iterator[Breaker]:
    """A breaker for each rule that a machine breaks, if it can be decided whether it is refused:
    with any of these constants, or else accepted with those at which it breaks the rule."""
    if not at:
        return
    verdicts: dict[Point, str | None] = {}
    for point in dict.fromkeys((*at.values(), *points)):
        verdicts[point] = refusal(of, machine, point, judging, within)
        if verdicts[point]:
            break
    if changes and not any(verdicts.values()):
        verdicts |= _elsewhere(of, judging, machine, verdicts, within)
    if within and not any(verdicts.values()):
        # What is accepted as far as it was followed may be refused beyond.
        verdicts = {point: refusal(of, machine, point, judging) for point in verdicts}
    refused = next((by for by in verdicts.values() if by), "")
    graph = _graph(of, machine)
    first, second = [(each.method, each.words) for each in (*changes, NONE, NONE)][:2]
    for rule, point in at.items():
        if refused or verdicts[point] is not None:
            yield Breaker(
                rule, of.name, name, *first, dict(point), refused, bool(
                    not refused and changes and _is_equivalent(of, machine, rule, verdicts)),
                graph, *second, within)


def _elsewhere(
    of: Tied, judging: Judging, machine: type[Machine], known: Collection[Point], within: bool
) -> dict[Point, str]:
    """By what a mutant is refused with some other constants, with which the right machine is
    accepted; empty if nothing is found."""
    others = [point for point in of.others if point not in known]
    random.Random(of.name).shuffle(others)
    for point in others[:ELSEWHERE]:
        by = refusal(of, machine, point, judging, within)
        if by and refusal(of, of.machine, point, judging) == "":
            return {point: by}
    return {}


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
    made, points = _again(of, breaker)
    point = tuple(breaker.constants.items())
    if made is None or not broken(
            made, point, [breaker.rule], within=breaker.within):
        return None
    changes = [Mutant(method, words, lambda: made) for method, words in (
        (breaker.method, breaker.words), (breaker.also_method, breaker.also_words)) if words]
    found = looked_at(
        of, judging, made, {breaker.rule: point}, points, breaker.machine, changes,
        breaker.within)
    return next(found, None)


def with_graph(of: Tied, breaker: Breaker) -> Breaker | None:
    """The same row, with the digest of what the machine can do; None if it is gone, or its change
    is none of the mechanism."""
    made, _ = _again(of, breaker)
    return None if made is None else replace(breaker, graph=_graph(of, made))


_POINTS = 3
"""Constants at which machines are told apart that are tied only by their broken forms."""


def _graph(of: Tied, machine: type[Machine]) -> str:
    # What is tied only by its broken forms has no constants at which it is right.
    points = of.more_points() or [
        *dict.fromkeys(point for _, own in of.variants for point in own)][:_POINTS]
    return digest(machine, map(dict, points), of.outside, BUDGET)


def _again(of: Tied, breaker: Breaker) -> tuple[type[Machine] | None, tuple[Point, ...]]:
    """The machine of a row, made again, with the constants at which it is looked at."""
    right = (of.machine, tuple(of.points()))
    varied = {full_name(each): (each, (*own, *of.points())) for each, own in of.variants}
    if not breaker.words:
        return varied.get(breaker.machine, (None, ()))
    made, points = right if of.name == breaker.machine else varied.get(breaker.machine, right)
    for method, words in ((breaker.method, breaker.words),
                          (breaker.also_method, breaker.also_words)):
        changed = mutant_named(made, method, words) if words else made
        if changed is None or (words and not of.is_changed_by(changed, made)):
            return None, ()
        made = changed
    return made, points


def full_name(machine: type[Machine]) -> str:
    """As chapters and reports say it: ``flow.credit.Link``."""
    return f"{chapter_of(machine.__module__)}.{machine.__name__}"


def rules_of(machine: type[Machine]) -> list[str]:
    """The rules of a machine that a search decides, and that implementations are to keep."""
    return [rule.id for rule in machine.rules_declared
            if rule.predicate is not None and rule.strength.value != "CLAIM"]


def keeps(machine: type[Machine], point: Point, asked: Sequence[str]) -> list[str]:
    """The rules that a machine keeps with these constants, among some."""
    lost = broken(machine, point, asked)
    return [rule for rule in asked if rule not in lost]


def broken(
    machine: type[Machine], point: Point, rules: Iterable[str], budget: Budget = BUDGET,
    within: bool = False,
) -> list[str]:
    """The rules that a machine breaks with these constants, among some; none if it is no machine,
    which it is not either where it leaves its ranges, if only what is ``within`` them counts."""
    try:
        bound = bind(machine, **dict(point))
        here = {rule.id for rule in machine.rules_declared}
        items = [item for rule in rules if rule in here for item in instances(bound, rule)]
        verdicts = judged(bound, items, budget, within)
    except Exception:  # noqa: BLE001 - a mutant may do anything; then it is no machine
        return []
    found = {item.rule.id for item, verdict in zip(items, verdicts, strict=True)
             if verdict.outcome is Outcome.VIOLATED}
    return [rule for rule in rules if rule in found]


def refusal(
    of: Tied, machine: type[Machine], point: Point, judging: Judging, within: bool = False
) -> str | None:
    """The rule by which an observer refuses a run of a machine, empty if all accept every run.

    None where a budget was spent, the machine left its ranges, or it cannot be looked at.
    """
    outcomes = []
    for look in _looks(of, machine, point):
        observer = look[0]
        try:
            verdict = decide_refinement(replace(
                _seen(machine, point, look), among=frozenset(judging[observer]),
                within=within), LOOK)
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
