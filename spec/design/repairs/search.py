"""The search for changes of one part of a design, several at once if need be, led by what is
blocked.

Changes are tried by what they give up: all of one tier, one by one and then together, before any of
the next. A set that does not help leaves a deadlocked state, and only what takes part in that one
joins the set (so each set is one that hits every deadlock which was seen on the way to it). Of the
free changes only those of a number that a task waits for are tried: a run into a deadlock is still
a run where other queues are larger, and still ends in one.

A change is tried with its least amount and with its utmost. What helps is then made small: first
all amounts together, by steps that double, and then each by halving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ...notation.errors import InputError
from ...notation.labels import counted
from ...verdicts.verdict import Outcome
from ..equations.confluence import has_choice
from ..net.counters import AIM, Counters
from ..net.translate import translate
from ..reading.language import Design
from ..reading.properties import DEADLOCK_FREE
from ..why.findings import Finding
from .change import Change, KindOfChange, Scope, Tier
from .judge import Answer, Judge
from .region import Blockage
from .table import KINDS

__all__ = ["WAYS", "Candidate", "Found", "Search", "changed"]

SIZES = (4, 3, 2, 2, 2, 1)
"""By tier: so many changes at most are tried together."""
LARGEST_SET = 3
"""So many changes are made all at once before they are tried two by two, and so on."""
WIDTH = 80
"""So many sets of one size, for each change more."""
WAYS = 3
"""So many ways are looked for, each of other kinds than those before."""
SHARES = (2, 2, 2, 2, 2, 1)
"""By tier: one of so many parts of what is left may be used; what it leaves is for the next."""
LAST_RESORTS = (Tier.ARRIVING, Tier.PRIMES, Tier.LOSES)
"""Tiers that are looked at only where nothing that gives up less helps."""
SHARE_OF_A_KIND = 3
FOR_MORE = 4
"""Once there is a way, one of so many parts of what is left is for others."""
NO_DESIGN = Answer(Outcome.UNKNOWN, Finding(
    DEADLOCK_FREE, Outcome.UNKNOWN, "", reason="the changes do not fit together"))
"""The answer about changes that make no design: nothing is left open by it."""


@dataclass(frozen=True)
class Candidate:
    """A change that may be tried, of a kind, with its place in the order of all of them."""

    kind: KindOfChange
    change: Change
    rank: int


Chosen = tuple[tuple[Candidate, int], ...]
"""Changes, each with the index of its value."""


@dataclass(frozen=True, eq=False)
class Found:
    """Changes that help together, each with the index of its value and whether that is the least;
    ``answer`` is what was said of them."""

    chosen: Chosen
    least: tuple[bool, ...]
    answer: Answer


def changed(design: Design, chosen: Chosen) -> Design | None:
    """The design with these changes; None where they do not fit together."""
    for candidate, index in chosen:
        design = candidate.change.done(design, candidate.change.values[index])
    fits = all(link.capacity is None or link.initial <= link.capacity
               for link in design.links.values())
    return design if fits else None


def _deadlocks_anyhow(design: Design) -> bool:
    """True if all runs of a design that can deadlock come to the same end, so that no part of them
    alone is better: no step takes what another needs.
    """
    net = Counters.of(translate(design, AIM))
    return not net.may_end and not has_choice(net)


class Search:
    """The search in one design, of which ``base`` is what fails; ``ask`` is asked of each change of
    it, and ``accepts`` says what else is broken by what helps, if anything is. So many ``ways``
    are looked for."""

    def __init__(
        self, design: Design, scope: Scope, base: Finding, judge: Judge,
        ask: Callable[[Design], Answer], accepts: Callable[[Found], Finding | None],
        ways: int = WAYS,
    ) -> None:
        self.design, self.judge = design, judge
        self._ask_of, self._accepts = ask, accepts
        self.base, self.ways = base, ways
        names = {*design.links, *design.tasks, *design.pools}
        every = ((kind, change) for kind in KINDS for change in kind.find(scope) if change.values)
        found = list(takewhile(lambda _: not scope.late(), every))
        found = [each for each in found if not each[1].at or not names.isdisjoint(each[1].at)]
        if any(change.restricts for _, change in found) and _deadlocks_anyhow(design):
            found = [each for each in found if not each[1].restricts]
        self.candidates = [Candidate(kind, change, rank)
                           for rank, (kind, change) in enumerate(found)]
        self.found: list[Found] = []
        self.rejected: list[Found] = []
        self._answers: dict[tuple[tuple[int, int], ...], Answer] = {}
        self._asked: dict[int, int] = {}
        self._sets: dict[int, int] = {}
        self._unknown: set[int] = set()
        self._left: dict[str, None] = {}

    def run(self) -> list[Found]:
        """Ways that help, what gives up least first."""
        for tier, share in zip(Tier, SHARES, strict=True):
            if self.found and tier in LAST_RESORTS:
                break
            with self.judge.share(FOR_MORE if self.found else share):
                self._tier(tier)
            if len(self.found) >= self.ways:
                break
        return self.found

    # --- sets --------------------------------------------------------------------------------

    def _tier(self, tier: Tier) -> None:
        sets: list[tuple[Candidate, ...]] = []
        blockage = Blockage.of(self.base)
        for kind in KINDS:
            own = [(each,) for each in self.candidates if each.kind is kind and kind.tier == tier
                   and (not blockage.tasks or self._concerns(each, blockage))]
            with self.judge.share(SHARE_OF_A_KIND):
                sets += self._level(own, tier)
        for _ in range(1, SIZES[tier]):
            if self.found or (tier == Tier.RESOURCES and self._all_in_vain(sets)):
                return
            sets = self._level(self._first(sets), tier)

    def _all_in_vain(self, sets: Sequence[tuple[Candidate, ...]]) -> bool:
        """True if all changes of these sets together, to their utmost, are known not to help: then
        some of them hardly ever do, and there are many such sets.
        """
        unique = {each.change.slot: each for chosen in sets for each in chosen}
        everything = tuple(sorted(unique.values(), key=lambda each: each.rank))
        if len(everything) < LARGEST_SET or not self.judge.may_ask():
            return False
        self._sets[len(everything)] = self._sets.get(len(everything), 0) + 1
        utmost = [len(each.change.values) - 1 for each in everything]
        return self._ask(everything, utmost).outcome is Outcome.VIOLATED

    def _first(self, sets: Sequence[tuple[Candidate, ...]]) -> list[tuple[Candidate, ...]]:
        """Those to try first: of kinds that give up little, near to what is blocked."""
        unique = {tuple(sorted(each, key=lambda c: c.rank)): None for each in sets}
        ordered = sorted(unique, key=lambda each: (
            [KINDS.index(c.kind) for c in reversed(each)], [c.rank for c in each]))
        if len(ordered) > WIDTH:
            over = counted(len(ordered) - WIDTH, "set")
            self._left[f"{over} of {len(ordered[0])} changes"] = None
        return ordered[:WIDTH]

    def _level(
        self, sets: Sequence[tuple[Candidate, ...]], tier: Tier
    ) -> list[tuple[Candidate, ...]]:
        """Try these sets; the sets of one change more that are to be tried next."""
        more: list[tuple[Candidate, ...]] = []
        for each in sets:
            kinds = {c.kind.name for c in each}
            if any(kinds >= {c.kind.name for c, _ in found.chosen} for found in self.found):
                continue
            if len(self.found) >= self.ways:
                break
            if not self.judge.may_ask():
                self._left[" with ".join(f"{c.kind.name} of {c.change.place}" for c in each)] = None
                continue
            finding = self._try(each)
            if finding is not None and not self.found:
                more += self._joined(each, finding, tier)
        return more

    def _joined(
        self, each: tuple[Candidate, ...], finding: Finding, tier: Tier
    ) -> Iterator[tuple[Candidate, ...]]:
        """The set with one change more, of what takes part in the deadlock that is left."""
        blockage = Blockage.of(finding)
        slots = {c.change.slot for c in each}
        for other in self.candidates:
            if other.kind.tier <= tier and other.change.slot not in slots \
                    and self._concerns(other, blockage):
                yield (*each, other)

    def _concerns(self, candidate: Candidate, blockage: Blockage) -> bool:
        """True if a change may make a difference to the blocked tasks."""
        at = candidate.change.at
        if candidate.kind.tier == Tier.RESOURCES:
            return not at.isdisjoint((*blockage.places, *blockage.held))
        if blockage.tasks == Blockage.of(self.base).tasks or not at:
            return True
        near = {link.name for task in blockage.tasks if task in self.design.tasks
                for link in (*self.design.inputs(task), *self.design.outputs(task))}
        return not at.isdisjoint(blockage.names | near)

    # --- one set -------------------------------------------------------------------------------

    def _try(self, each: tuple[Candidate, ...]) -> Finding | None:
        """Try a set with its least amounts and its utmost; what fails then, if that is known."""
        size = len(each)
        self._sets[size] = self._sets.get(size, 0) + 1
        least, utmost = [_first_of(c) for c in each], [len(c.change.values) - 1 for c in each]
        if least == utmost:  # it does not grow, and may do too much
            least = [0] * size
        rungs = [least, utmost] if size == 1 and each[0].change.grows else [utmost, least]
        last: Finding | None = None
        for rung in rungs[:1] if least == utmost else rungs:
            answer = self._ask(each, rung)
            if answer.outcome is Outcome.HOLDS:
                return self._keep(each, rung)
            if answer.outcome is Outcome.VIOLATED and (last is None or rung == utmost):
                last = answer.finding
        if self._ask(each, utmost).outcome is Outcome.UNKNOWN:
            self._between(each, utmost)
        return last

    def _between(self, each: tuple[Candidate, ...], utmost: Sequence[int]) -> None:
        """Try amounts of which the utmost is too much to decide."""
        step = 1
        while step < max(utmost):
            rung = [min(max(_first_of(c), step), top)
                    for c, top in zip(each, utmost, strict=True)]
            answer = self._ask(each, rung)
            if answer.outcome is Outcome.HOLDS:
                self._keep(each, rung)
            if answer.outcome is not Outcome.VIOLATED:
                return
            step = 2 * step + 1

    def _ask(self, each: Sequence[Candidate], rung: Sequence[int]) -> Answer:
        """The answer about the design with these changes; asked once."""
        key = tuple(sorted((c.rank, index) for c, index in zip(each, rung, strict=True)))
        if key not in self._answers:
            self._answers[key] = self._answer(tuple(zip(each, rung, strict=True)))
            for candidate, index in zip(each, rung, strict=True):
                self._asked[candidate.rank] = max(index, self._asked.get(candidate.rank, 0))
                if self._answers[key].outcome is Outcome.UNKNOWN \
                        and self._answers[key] is not NO_DESIGN:
                    self._unknown.add(candidate.rank)
        return self._answers[key]

    def _answer(self, chosen: Chosen) -> Answer:
        try:
            design = changed(self.design, chosen)
            return NO_DESIGN if design is None else self._ask_of(design)
        except InputError as told:  # more transitions than can be listed
            return Answer(Outcome.UNKNOWN, Finding(DEADLOCK_FREE, Outcome.UNKNOWN, "",
                                                   reason=str(told)))

    # --- the least that helps ------------------------------------------------------------------

    def _keep(self, each: tuple[Candidate, ...], rung: Sequence[int]) -> Finding | None:
        """Make what helps small, and keep it if it breaks nothing else; else, what it breaks."""
        rung = list(rung)
        if len(each) > 1:
            rung = self._together(each, rung)
        for place in reversed(range(len(each))):
            rung[place] = self._lowest(each, rung, place)
        least = tuple(self._is_least(each, rung, place) for place in range(len(each)))
        found = Found(tuple(zip(each, rung, strict=True)), least, self._ask(each, rung))
        broken = self._accepts(found)
        (self.found if broken is None else self.rejected).append(found)
        if broken is not None:  # from now on that is asked, too
            self._answers = {key: answer for key, answer in self._answers.items()
                             if answer.outcome is Outcome.VIOLATED}
        return broken

    def _together(self, each: tuple[Candidate, ...], enough: list[int]) -> list[int]:
        """All amounts as small as they can be together, by steps that double."""
        step = 0
        while step < max(enough):
            rung = [min(max(_first_of(c), step), top) for c, top in zip(each, enough, strict=True)]
            if self._ask(each, rung).outcome is Outcome.HOLDS:
                return rung
            step = 2 * step + 1
        return enough

    def _lowest(self, each: tuple[Candidate, ...], rung: Sequence[int], place: int) -> int:
        """The least amount of one change that helps with the others, if more helps ever more."""
        def helps(index: int) -> bool:
            trial = [*rung[:place], index, *rung[place + 1:]]
            return self._ask(each, trial).outcome is Outcome.HOLDS

        few, enough, step = -1, rung[place], 0
        while step < enough:
            if helps(step):
                enough = step
            else:
                few, step = step, 2 * step + 1
        while enough - few > 1:
            middle = (few + enough) // 2
            if helps(middle):
                enough = middle
            else:
                few = middle
        return enough

    def _is_least(self, each: tuple[Candidate, ...], rung: Sequence[int], place: int) -> bool:
        if not rung[place]:
            return True
        trial = [*rung[:place], rung[place] - 1, *rung[place + 1:]]
        return self._ask(each, trial).outcome is Outcome.VIOLATED

    # --- what is said about it -----------------------------------------------------------------

    def tried(self) -> list[str]:
        """The changes of each kind that were tried, how far, and in what numbers together."""
        told = []
        for kind in KINDS:
            own = [c for c in self.candidates if c.kind is kind and c.rank in self._asked]
            if own:
                large = sum(c.rank in self._unknown for c in own)
                open_ones = f" ({large} of them too large to decide)" if large else ""
                places = [c.change.tried(c.change.values[self._asked[c.rank]]) for c in own]
                told.append(f"{kind.name}: {_some(places)}{open_ones}")
        useless = [kind.name for kind in KINDS if kind.tier == Tier.RESOURCES and any(
            c.kind is kind for c in self.candidates) and not any(
            told_of.startswith(f"{kind.name}: ") for told_of in told)]
        if useless and not self._left:
            told.insert(0, f"more {' or '.join(useless)}: no blocked task waits for it")
        sets = [f"{counted(times, 'set')} of {size}" for size, times in self._sets.items()
                if size > 1]
        return told + ([f"together: {', '.join(sets)}"] if sets else [])

    def undecided(self) -> str:
        """Why a change that was tried may be a fix all the same; empty if none may."""
        return "some of what was tried is too large to decide" if self._unknown else ""

    def untried(self) -> list[str]:
        """The changes that the budget of the search did not reach."""
        return list(self._left)


def _first_of(candidate: Candidate) -> int:
    """The index of the value to begin with: of what grows the least, of the rest the utmost."""
    return 0 if candidate.change.grows else len(candidate.change.values) - 1


def _some(places: Sequence[str], most: int = 8) -> str:
    more = f" and {len(places) - most} more" if len(places) > most else ""
    return ", ".join(places[:most]) + more
