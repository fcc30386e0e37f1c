"""A wider search, for rules that too few machines break: what stands behind "refused 2 of 2".

Theory of operation. A rule is tested through an observer if at least three machines that break it
are known, and all are refused. Two texts that can do the same are one machine (``graphs``). Where
``breakers`` finds fewer, more is tried, in this order, until there are three or one is accepted:

1. all single changes of the machine, and not only those that were drawn (``edits``);
2. other single changes: guards turned round, statements in another order or twice, branches always
   or never taken, constants moved by one, and so on (``further_edits``);
3. single changes of what a variant of the book defines, where the variant keeps the rule and an
   observer accepts it;
4. pairs of single changes in two methods. A pair counts only if each of the two alone keeps the
   rule and is accepted: else it would say no more than one of them does.

They are tried with larger constants, too. A mutant may leave the declared ranges, as a queue
without its bound does; it is followed as far as it is within them, and of what must happen in the
end nothing is said then; that it is accepted so far counts neither way. Each step is drawn from a
seed and has a limit; how many mutants were tried is noted with the rules for which that was not
enough.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.verdicts.verdict import Budget
from .breakers import (
    Point, Tied, breakers, broken_at, full_name, keeps, looked_at, of_the_book, refusal, rules_of,
    with_graph,
)
from .classes import Mutant, mutant_named, mutants
from checkvalve.spec.witnesses.refused import ENOUGH, Breaker, Judging, distinct

__all__ = ["Found", "searched"]

SINGLES = 600
"""Mutants that are tried of one machine in each of the first two steps; of a variant in all."""
PAIRS = 400
"""Pairs of changes that are tried of one machine."""
BUDGET = Budget(max_states=2_000)
"""For one search: there are many, and what breaks a rule does it soon."""


@dataclass
class Found:
    """What breaks some rules of a machine, and of those that fewer than three break, how many
    mutants were tried."""

    rows: list[Breaker] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)

    def short(self, rules: Collection[str]) -> list[str]:
        """Those of some rules that fewer than three machines are known to break, all refused."""
        known = {rule: [row for row in self.rows if row.rule == rule and not row.equivalent]
                 for rule in rules}
        return [rule for rule, rows in known.items()
                if all(row.refused for row in rows) and distinct(rows) < ENOUGH]


class Candidate(NamedTuple):
    """A machine that is tried: its name without the changes, and these; ``points`` has the rules
    that it is asked about."""

    name: str
    made: type[Machine]
    changes: tuple[Mutant, ...]
    points: Mapping[Point, Sequence[str]]


def searched(
    of: Tied, judging: Judging, rules: Collection[str], known: Sequence[Breaker] | None = None,
    seed: int = 0,
) -> Found:
    """What ``breakers`` finds of a machine, or what is known of it, and more where that is too
    little."""
    found = Found(list(breakers(of, judging, rules, seed)) if known is None
                  else _known(of, judging, rules, known))
    short = found.short([rule for rule in rules_of(of.machine) if rule in rules])
    kept = {point: keeps(of.machine, point, short) for point in of.more_points()} if short else {}
    short = [rule for rule in short if any(rule in some for some in kept.values())]
    alone: list[Mutant] = []
    for candidate in _candidates(of, kept, alone, seed):
        left = found.short(short)
        if not left:
            break
        _tried(found, of, judging, candidate, left, alone)
    left = found.short(short)
    found.tried = Counter({rule: found.tried[rule] for rule in left})
    return found


def _known(
    of: Tied, judging: Judging, rules: Collection[str], known: Sequence[Breaker]
) -> list[Breaker]:
    """What is known, with what the book has gained meanwhile, in the order of a whole search."""
    rows = _with_graphs(of, known)
    new = of_the_book(of, judging, rules, {row.machine for row in rows if not row.words})
    places = {full_name(machine): place for place, (machine, _) in enumerate(of.variants)}
    book = [*(row for row in rows if not row.words), *new]
    return [*sorted(book, key=lambda row: places[row.machine]),
            *(row for row in rows if row.words)]


def _with_graphs(of: Tied, known: Sequence[Breaker]) -> list[Breaker]:
    """The same rows, each with its digest; those that are gone are left out."""
    found: dict[tuple[str, ...], Breaker | None] = {}
    known = [row for row in known if row.refused or not row.within]
    for row in known:
        if row.which not in found:
            found[row.which] = with_graph(of, row)
    return [replace(row, graph=same.graph) for row in known
            if (same := found[row.which]) is not None]


def _tried(
    found: Found, of: Tied, judging: Judging, candidate: Candidate, left: Collection[str],
    alone: list[Mutant],
) -> None:
    """Look at one candidate, and keep what is new about the rules that are left."""
    asked = {point: of.asked_of(candidate.changes[-1], [rule for rule in some if rule in left])
             for point, some in candidate.points.items()}
    found.tried.update({rule for some in asked.values() for rule in some})
    at = broken_at(candidate.made, asked, BUDGET, within=True)
    if not at:
        if len(candidate.changes) == 1 and candidate.name == of.name:
            alone += candidate.changes
        return
    if len(candidate.changes) > 1 and not all(
            _is_harmless(of, judging, change, at) for change in candidate.changes):
        return
    for row in looked_at(of, judging, candidate.made, at, tuple(candidate.points), candidate.name,
                         candidate.changes, within=True):
        same = [each for each in found.rows if each.rule == row.rule]
        if distinct([*same, row]) > distinct(same):
            found.rows.append(row)


def _is_harmless(
    of: Tied, judging: Judging, change: Mutant, at: Mapping[str, Point]
) -> bool:
    """Whether a change alone breaks none of these rules, and is accepted."""
    made = change.make()
    points = dict.fromkeys(at.values())
    return not broken_at(made, {point: list(at) for point in points}, within=True) and all(
        refusal(of, made, point, judging, within=True) == "" for point in points)


def _candidates(
    of: Tied, kept: Mapping[Point, Sequence[str]], alone: Sequence[Mutant], seed: int
) -> Iterator[Candidate]:
    """What is tried; ``alone`` are the single changes that broke nothing, as far as they are
    known."""
    for further in (False, True):
        for mutant in _drawn(of.machine, further, seed):
            yield from _one(of, of.machine, mutant, kept)
    asked = {rule for some in kept.values() for rule in some}
    for variant, points in _right_variants(of, asked).items():
        for further in (False, True):
            for mutant in _drawn(variant, further, seed, beside=of.machine):
                yield from _one(of, variant, mutant, points)
    for first, second in _pairs(alone, f"{seed} {of.name}"):
        made = mutant_named(first.make(), second.method, second.words)
        if made is not None:
            yield Candidate(of.name, made, (first, second), kept)


def _drawn(
    machine: type[Machine], further: bool, seed: int, beside: type[Machine] | None = None
) -> list[Mutant]:
    """The mutants of a machine, in an order drawn from a seed; not of what another one has."""
    shared = {owner.__name__ for owner in beside.__mro__} if beside else set()
    every = [mutant for mutant in mutants(machine, further=further)
             if mutant.words != "not fair" and mutant.method.partition(".")[0] not in shared]
    random.Random(f"{seed} {further} {full_name(machine)}").shuffle(every)
    return every[:SINGLES]


def _one(
    of: Tied, machine: type[Machine], mutant: Mutant, points: Mapping[Point, Sequence[str]]
) -> Iterator[Candidate]:
    made = mutant.make()
    if of.is_changed_by(made, machine):
        yield Candidate(full_name(machine), made, (mutant,), points)


def _right_variants(
    of: Tied, asked: Collection[str]
) -> dict[type[Machine], dict[Point, list[str]]]:
    """The variants of the book that an observer accepts, with the rules that they keep."""
    found: dict[type[Machine], dict[Point, list[str]]] = {}
    for row in of.rows:
        if row.machine is not of.machine and not row.rule and issubclass(row.machine, of.machine):
            known = [rule for rule in rules_of(row.machine) if rule in asked]
            every = [tuple(point.items()) for point in row.points()]
            for point in dict.fromkeys((every[0], every[-1])):
                found.setdefault(row.machine, {})[point] = keeps(row.machine, point, known)
    return found


def _pairs(alone: Sequence[Mutant], seed: str) -> Iterator[tuple[Mutant, Mutant]]:
    """Pairs of changes in two methods, each once."""
    draw, every = random.Random(seed), list(alone)
    seen: set[tuple[str, ...]] = set()
    for _ in range(PAIRS if len(every) > 1 else 0):
        first, second = draw.sample(every, 2)
        which = (first.method, first.words, second.method, second.words)
        if first.method != second.method and which not in seen:
            seen.add(which)
            yield first, second
