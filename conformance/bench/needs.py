"""``make needs``: with which operations each rule can be tested at all, read off the observers.

A rule is tested by some operations if they can bring its observer to where it allows a step, and to
where the rule refuses that same step: then an implementation has to know one from the other. For a
step that is never allowed, one in whose place it would stand is; if there is none for any step, it
is enough that the rule refuses. What operations it takes to show a step is what conversations with
the reference and its twins say. So the search needs nothing by hand: it goes breadth-first through
the observer, and keeps, for what it reaches, the smallest sets of operations that lead there.

The sets are written as groups, of each of which one is needed, into the table that the suites read
(``suites.needs``). What a search that ends early has missed is a smaller set, never a needless one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from checkvalve.spec.engines.candidates import Candidates, CandidateSets, LostTrack
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.errors import ModelFault, TargetError
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.witnesses.book import witnesses

from ..files import write_whole
from ..ports.base import Target
from ..suites import needs as package
from ..suites.generate import LENGTH_MAX
from ..suites.run import ITEMS_MAX, capabilities
from ..suites.suite import Act, Program, Suite, Watch
from ..suites.system import System
from ..systems.catalogue import SYSTEMS
from ..targets import resolve_target

__all__ = ["Shown", "derived", "main", "shown"]

TRIALS_MAX = 250_000
"""Steps that a search tries; each in a set of states, with the operations that led there."""

DEPTH_MAX = 9
SMALL = 600
"""Programs of few operations, by which is found out what these show."""

Operations = frozenset[str]


class _Smallest(dict[Any, list[Operations]]):
    """By what is reached, the smallest sets of operations that lead there."""

    def add(self, key: Any, operations: Operations) -> bool:
        """Whether a set is news: none that is known is part of it."""
        known = self.setdefault(key, [])
        if any(each <= operations for each in known):
            return False
        known[:] = [each for each in known if not operations < each] + [operations]
        return True


@dataclass
class Shown:
    """What conversations have shown: by action, the smallest sets of operations of a program that
    came to show it, or could have; and which actions stand in one another's place."""

    actions: _Smallest = field(default_factory=_Smallest)
    places: set[tuple[str, ...]] = field(default_factory=set)


def shown(system: System, suite: Suite) -> Shown:
    """What the operations of a suite show, of its reference and of the twins."""
    found = Shown()
    target = resolve_target(system.reference.name)
    can = capabilities(suite, target, *suite.capacities)
    for course in chain.from_iterable(suite.courses.values()):
        _talk(suite, target, tuple(
            Act(each) if isinstance(each, str) else each[0] for each in course), found)
    random = Random(suite.name)
    names = [name for name in suite.weights if name in can]
    for number in range(SMALL):
        few = random.sample(names, min(len(names), number % 5 + 1))
        _talk(suite, target, _of_few(random, suite, few), found)
    for twin in system.twins.values():
        broken = resolve_target(f"zoo:{twin.name}")
        for _ in range(SMALL // 20):
            _talk(suite, broken, _of_few(random, suite, names), found)
    return found


def _of_few(random: Random, suite: Suite, names: list[str]) -> Program:
    return tuple(
        Act(do, random.randrange(suite.picks or 3))
        for do in (*random.choices(names, k=LENGTH_MAX), "settle"))


def _talk(suite: Suite, target: Target, program: Program, found: Shown) -> None:
    for capacity in suite.capacities[:2]:
        session, said = target.open(), set[str]()
        try:
            conversation = suite.converse(session, capacity, ITEMS_MAX)
            for act in program:
                if conversation.makes_sense(act):
                    said.add(act.do)
                    exchange = conversation.say(act)
                    answers = (*exchange.possible, *exchange.completions)
                    steps = [step for step, _ in exchange.observed()]
                    steps += [step for answer in answers for step in (answer.step, *answer.then)]
                    for name in {step[0] for step in steps}:
                        found.actions.add(name, frozenset(said - {"settle"}))
                    found.places |= {answer.instead_of for answer in answers if answer.instead_of}
        except TargetError:
            pass    # so twins may end
        finally:
            session.close()


class _Search:
    """Goes through one observer, with some constants."""

    def __init__(self, watch: Watch, constants: Mapping[str, int], seen: Shown) -> None:
        self._watch = watch
        self._by = {name: sorted(sets, key=sorted) for name, sets in seen.actions.items()}
        self._sets = CandidateSets(bind(watch.machine, **constants))
        self._base = CandidateSets(bind(watch.base, **constants)) if watch.base else None
        self._steps = [step for step in self._sets.bound.interpreter.steps()
                       if step[0] in self._by]
        self.allowed, self.refused, self._reached = _Smallest(), _Smallest(), _Smallest()

    def run(self) -> None:
        """Fill ``allowed``, by step, and ``refused``, by rule and step."""
        start = (self._sets.initial, self._base.initial if self._base else None)
        self._reached.add(start, frozenset())
        queue = deque([(start, frozenset[str](), 0)])
        for _ in range(TRIALS_MAX // max(1, len(self._steps))):
            if not queue:
                return
            here, operations, depth = queue.popleft()
            if operations not in self._reached[here]:
                continue
            for there, more in self._beyond(here, operations):
                if depth < DEPTH_MAX and self._reached.add(there, more):
                    queue.append((there, more, depth + 1))

    def _beyond(
        self, here: tuple[Candidates, Candidates | None], operations: Operations
    ) -> Iterator[tuple[tuple[Candidates, Candidates | None], Operations]]:
        for step in self._steps:
            all_operations = [operations | each for each in self._by[step[0]]]
            try:
                rules = self._refusing(here, step)
                there = self._after(here, step) if rules is None else None
            except (LostTrack, ModelFault):
                continue
            for more in all_operations:
                for rule in rules or ():
                    self.refused.add((rule, step), more)
                if there is not None:
                    self.allowed.add(step, more)
                    yield there, more

    def _refusing(
        self, here: tuple[Candidates, Candidates | None], step: Step
    ) -> Collection[str] | None:
        rules = self._sets.refused(here[0], step)
        if rules is None or self._watch.adds is None:
            return rules if rules is None else {rule.id for rule in rules if rule is not None}
        return {self._watch.adds.id} if self._after_of_base(here, step) is not None else ()

    def _after_of_base(
        self, here: tuple[Candidates, Candidates | None], step: Step
    ) -> Candidates | None:
        base, before = self._base, here[1]
        if base is None or before is None or step[0] not in base.bound.machine.actions_declared:
            return before
        return base.after(before, step)

    def _after(
        self, here: tuple[Candidates, Candidates | None], step: Step
    ) -> tuple[Candidates, Candidates | None] | None:
        after, base = self._sets.after(here[0], step), self._after_of_base(here, step)
        return None if after is None or (base is None and self._base) else (after, base)


def derived(suite: Suite, seen: Shown) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """By rule, groups of operations: one of each is needed. A rule that is not found has none."""
    found, at_least = _Smallest(), _Smallest()
    for watch in suite.watches:
        for constants in _constants_of(watch):
            search = _Search(watch, constants, seen)
            search.run()
            for (rule, step), refusing in search.refused.items():
                for each in refusing:
                    at_least.add(rule, each)
                    for allowing in _allowing(search.allowed, step, seen.places):
                        found.add(rule, allowing | each)
    order = [*suite.weights]
    groups = {rule.id: _groups(found.get(rule.id) or at_least.get(rule.id, []), order)
              for rule in suite.rules()}
    return {rule: each for rule, each in groups.items() if each}


def _allowing(
    allowed: _Smallest, step: Step, places: Iterable[tuple[str, ...]]
) -> list[Operations]:
    """With which operations a step is allowed, or another one in whose place it would stand."""
    if step in allowed:
        return allowed[step]
    others = set(chain.from_iterable(place for place in places if step[0] in place))
    kept = _Smallest()
    for other, sets in allowed.items():
        if other[0] in others:
            for each in sets:
                kept.add(0, each)
    return kept.get(0, [])


def _constants_of(watch: Watch) -> Iterator[Mapping[str, int]]:
    """Those that an observer declares; and those with which a rule of its was seen to refuse."""
    told: list[Mapping[str, int]] = [{}]
    ids = {rule.id for rule in watch.rules()}
    for witness in witnesses().values():
        constants = dict(witness.constants)
        if witness.rule in ids and _is_of(watch.machine, witness.machine) and (
                constants not in told):
            told.append(constants)
    yield from told


def _is_of(machine: type[Machine], name: str) -> bool:
    return name.rpartition(".")[2] == machine.__name__


def _groups(sets: Collection[Operations], order: list[str]) -> tuple[tuple[str, ...], ...]:
    """The same said the other way: what all of the sets have one of, as few as can be."""
    if not sets:
        return ()
    groups = _Smallest()
    hitting: list[Operations] = [frozenset()]
    for each in sets:
        kept = _Smallest()
        for group in hitting:
            for more in ([group] if group & each else [group | {do} for do in sorted(each)]):
                kept.add(0, more)
        hitting = kept.get(0, [])
    for group in hitting:
        groups.add(0, group)
    told = [tuple(sorted(group, key=order.index)) for group in groups.get(0, [])]
    return tuple(sorted(told, key=lambda group: [order.index(do) for do in group]))


def main() -> int:
    """Derive, write and print; 1 if a suite names by hand what is found as well, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help="these only")
    options = parser.parse_args()
    table = Path(str(package.__file__)).resolve().with_name(package.TABLE)
    rows = {name: package.needs_of(name) for name in SYSTEMS} if table.exists() else {}
    needless = False
    for name, system in SYSTEMS.items():
        suite = system.suite
        if isinstance(suite, Suite) and name in (options.suites or SYSTEMS):
            found = derived(suite, shown(system, suite))
            rows[name] = {rule: each for rule, each in found.items() if rule not in suite.needs}
            print(f"{name}: {len(rows[name])} of {len(suite.rules())} rules", flush=True)
            for rule, groups in suite.needs.items():
                same = _are_same(groups, found.get(rule))
                needless = needless or same
                print(f"  {rule} is written by hand: {_told(groups)}; found: "
                      f"{'the same' if same else _told(found.get(rule, ()))}", flush=True)
            write_whole(table, package.to_json(rows))
    return int(needless)


def _are_same(
    some: Iterable[Iterable[str]], others: Iterable[Iterable[str]] | None
) -> bool:
    return others is not None and {*map(frozenset, some)} - {frozenset({"settle"})} == {
        *map(frozenset, others)}


def _told(groups: Iterable[Iterable[str]]) -> str:
    return json.dumps([list(group) for group in groups])


if __name__ == "__main__":
    sys.exit(main())
