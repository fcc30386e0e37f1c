"""The joint state of all machines that watch, while every one of them explains the run.

Theory of operation. Each machine that watches walks along its own candidate sets. What they say
together of a step follows from where they stand together, and most runs of a suite come where
another one was: on the reference two thirds of the steps. So a combination of sets is one object,
which remembers where each step led all of them, and which rules some answers would have broken.
Nothing is remembered of a step that one of them refuses, or at which one loses track: from there
on they are looked at one by one (``judge``).
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeGuard

from ...spec.engines.candidates import (
    Candidates, CandidateSets, LostTrack, alternatives_of,
)
from ...spec.engines.effects import Asked
from ...spec.notation.bound import bind_to_watch
from ...spec.notation.interpreter import Step
from ...spec.notation.machine import Action
from ...spec.notation.progress import rules_cited
from ...spec.notation.rules import Rule
from .exchange import Answer, Watch

__all__ = ["Group", "Standing", "Watcher", "Watchers", "at_stake", "watchers_of"]

KEPT: Final = 20_000
"""Combinations that are remembered of the same machines, about at most; then all are dropped."""

KEPT_SETS: Final = 200_000
KEPT_OF_LONG: Final = 8_000
"""Entries that the candidate sets of one machine remember: many in short programs, few in long
ones, which hardly come to a state again."""

KEPT_OF_LONG_RUNS: Final = 64
"""Combinations that are remembered in long programs, of which one after another comes to hardly any
of them again."""

MACHINES_KEPT: Final = 24
"""Machines with their constants of which anything is remembered."""

_Constants = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Group:
    """Some ``answers``, one object each time, by how it is asked what refuses them.

    Of ``alike`` ones, which mostly depend on the same variables, and of ``single`` ones one machine
    alone knows the actions: each machine with its place, and the rule that it adds. Of ``others``
    several know them, or none.
    """

    answers: tuple[Answer, ...]
    alike: list[tuple[int, CandidateSets, Rule | None, tuple[Asked, ...]]]
    single: list[tuple[int, CandidateSets, Rule | None, tuple[Step, ...]]]
    others: list[Answer]



@dataclass(frozen=True, eq=False)
class Watcher:
    """One machine that watches with its constants: what is the same in all runs."""

    watch: Watch
    sets: CandidateSets

    @cached_property
    def rule_ids(self) -> frozenset[str]:
        """The rules that can be seen to be broken through it."""
        return frozenset(rule.id for rule in self.watch.rules())

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        """Its actions by name; a step of another name means nothing to it."""
        return self.watch.machine.actions_declared

    def begins(self) -> Candidates | None:
        """Its states before anything was seen; None if these are too many."""
        try:
            return self.sets.initial
        except LostTrack:
            return None


class Standing:
    """A candidate set of each machine. ``Watchers`` makes them, one for each combination."""

    __slots__ = ("after", "at_stake", "heres")

    def __init__(self, heres: tuple[Candidates, ...]) -> None:
        self.heres = heres
        self.after: dict[Step, Standing] = {}
        self.at_stake: dict[Group, frozenset[str]] = {}


class Watchers:
    """The machines that watch the runs of some settings, in their order."""

    def __init__(self, every: Sequence[Watcher], kept: int = KEPT) -> None:
        self.every = tuple(every)
        self._kept = kept
        self.ids = tuple(each.rule_ids for each in every)
        self._steps = tuple((each.actions, each.sets.after) for each in every)
        self._known: dict[tuple[Candidates, ...], Standing] = {}
        self._grouped: dict[tuple[Answer, ...], Group] = {}
        self._grouped_by_id: dict[tuple[int, ...], Group] = {}
        self._initial: Standing | None = None

    def citing(self, rules: frozenset[str]) -> frozenset[str]:
        """The actions of which a step could break one of some rules, all by their names."""
        return frozenset(name for name, cited in self._cited.items() if cited & rules)

    @cached_property
    def _cited(self) -> Mapping[str, set[str]]:
        """By action, the ids of the rules that a step of that name could break."""
        found: dict[str, set[str]] = {}
        for each in self.every:
            for name, action in each.actions.items():
                added = each.watch.adds
                cited = (added,) if added else rules_cited(action, each.watch.machine)
                found.setdefault(name, set()).update(rule.id for rule in cited)
        return found

    def initial(self) -> Standing | None:
        """Their combination before anything was seen; None if one lost track there already."""
        heres = tuple([each.begins() for each in self.every])
        if not _all_there(heres):
            return None
        # Another set at the beginning: a machine has dropped what it remembered.
        if self._initial is None or self._initial.heres != heres or len(
                self._known) > self._kept:
            self._known.clear()
            self._initial = self._at(heres)
        return self._initial

    def after(self, here: Standing, step: Step) -> Standing | None:
        """Their combination after a step; None if one refuses it or loses track."""
        found = here.after.get(step)
        if found is None:
            found = self._led(here, step)
            if found is not None:
                here.after[step] = found
        return found

    def group(self, answers: tuple[Answer, ...]) -> Group:
        """Some answers as ``at_stake`` takes them: each of them is looked at here, and once."""
        # Answers are mostly made once, and are many: to hash them all takes longer than the rest.
        ids = tuple(map(id, answers))
        found = self._grouped_by_id.get(ids)
        if found is not None:
            return found
        found = self._grouped.get(answers)
        if found is None:
            if len(self._grouped) > self._kept:
                self._grouped.clear()
                self._grouped_by_id.clear()
            found = self._grouped[answers] = self._group_of(answers)
            self._grouped_by_id[ids] = found    # which holds the answers: their ids stay theirs
        return found

    def at_stake(self, here: Standing, group: Group) -> frozenset[str]:
        """The ids of the rules that one of some answers would break; see ``at_stake``."""
        found = here.at_stake.get(group)
        if found is None:
            found = here.at_stake[group] = self._at_stake(here, group)
        return found

    def _at_stake(self, here: Standing, group: Group) -> frozenset[str]:
        broken: set[Rule | None] = set()
        for place, sets, adds, several in group.alike:
            rules = sets.refused_any(here.heres[place], several)
            broken.update([adds] if adds and rules else rules)
        for place, sets, adds, steps in group.single:
            each = sets.refused_each(here.heres[place], steps)
            broken.update([adds] if adds and each else each)
        found = frozenset([rule.id for rule in broken if rule is not None])
        return found | at_stake(
            list(zip(self.every, here.heres, strict=True)), group.others
        ) if group.others else found

    def _group_of(self, answers: tuple[Answer, ...]) -> Group:
        """Answers of which one machine alone knows the action, by that and by all parameters but
        the last: these mostly depend on the same variables; or one by one. And all others."""
        known: dict[str, list[int]] = {}
        for place, watcher in enumerate(self.every):
            for name in watcher.actions:
                known.setdefault(name, []).append(place)
        steps: dict[Step, list[Step]] = {}
        single: dict[int, dict[Step, None]] = {}
        others: list[Answer] = []
        for answer in answers:
            name, args = answer.step
            if len(known.get(name, ())) != 1:
                others.append(answer)
            elif len(args) > 1 or len(alternatives_of(answer.step)) != 1:
                steps.setdefault((name, args[:-1]), []).append(answer.step)
            else:
                single.setdefault(known[name][0], {})[answer.step] = None
        alike: dict[int, list[Asked]] = {}
        for (name, _), each in steps.items():
            alike.setdefault(known[name][0], []).append(
                Asked(each, [alternatives_of(step) for step in each]))
        return Group(answers, [
            (place, self.every[place].sets, self.every[place].watch.adds, tuple(several))
            for place, several in alike.items()], [
            (place, self.every[place].sets, self.every[place].watch.adds, tuple(steps))
            for place, steps in single.items()], others)

    def _led(self, here: Standing, step: Step) -> Standing | None:
        name = step[0]
        heres: list[Candidates] = []
        try:
            for (actions, after), candidates in zip(self._steps, here.heres, strict=True):
                there = after(candidates, step) if name in actions else candidates
                if there is None:
                    return None
                heres.append(there)
        except LostTrack:
            return None
        return self._at(tuple(heres))

    def _at(self, heres: tuple[Candidates, ...]) -> Standing:
        found = self._known.get(heres)
        if found is None:
            if len(self._known) > 2 * self._kept:
                # In the midst of a run: its sets keep alive all that their machines remembered.
                self._known.clear()
                self._initial = None
            found = self._known[heres] = Standing(heres)
        return found


def _all_there(heres: tuple[Candidates | None, ...]) -> TypeGuard[tuple[Candidates, ...]]:
    return None not in heres


def at_stake(
    standing: Sequence[tuple[Watcher, Candidates]], answers: Sequence[Answer]
) -> frozenset[str]:
    """The ids of the rules that one of some answers would break: for each answer, those of the
    first machine that refuses it."""
    asked = [(each.actions, each.sets.refused, here, each.watch.adds) for each, here in standing]
    broken: set[Rule | None] = set()
    for answer in answers:
        step = answer.step
        for actions, refused, here, adds in asked:
            if step[0] in actions and (rules := refused(here, step)) is not None:
                broken.update([adds] if adds else rules)
                break
    return frozenset([rule.id for rule in broken if rule is not None])


@lru_cache(maxsize=MACHINES_KEPT)
def watchers_of(
    watches: tuple[Watch, ...], constants: _Constants, candidates: int, long: bool = False
) -> Watchers:
    """The machines that watch, with those of some constants that they know; each machine may be
    in ``candidates`` states at one time. Of ``long`` programs less is remembered."""
    return Watchers([Watcher(watch, _sets_of(watch, constants, candidates, long))
                     for watch in watches], KEPT_OF_LONG_RUNS if long else KEPT)


def _sets_of(
    watch: Watch, constants: _Constants, candidates: int, long: bool
) -> CandidateSets:
    """The candidate sets of a machine. Settings that it knows nothing of make no others."""
    declared = watch.machine.constants_declared
    known = tuple((name, value) for name, value in constants if name in declared)
    return _sets(Watch(watch.machine), known, candidates, long)


@lru_cache(maxsize=MACHINES_KEPT)
def _sets(
    watch: Watch, constants: _Constants, candidates: int, long: bool
) -> CandidateSets:
    for defining in watch.machine.__mro__:
        # The monitor quotes the source, which in an archive only the loader can read.
        names = vars(sys.modules[defining.__module__])
        linecache.lazycache(str(names.get("__file__")), names)
    return CandidateSets(bind_to_watch(watch.machine, **dict(constants)), candidates,
                         kept=KEPT_OF_LONG if long else KEPT_SETS)
