"""``make needs``: with which operations each rule can be tested, as runs of the references show.

A rule can be tested by some operations if programs of these alone have occasions to break it: that
is what a run counts as well, and where there are none a rule is *not exercised*. So the search asks
a reference for as little as it can. It finds a program with an occasion, leaves out what it can do
without, and tries again without one of the operations that are left. Where there is an occasion
still, that is another way; where there is none in so many programs, one of those operations is
needed. What comes out are groups, of each of which one is needed. The suites read the table of them
(``suites.needs``).

Some rules are about what a target promises, its policy: that is found by letting the references
claim one after the other. The programs are drawn as for any target, but without knowing what a rule
needs: the table depends on chapters, suites and references, and not on itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle, product
from pathlib import Path
from typing import Final

from checkvalve.spec.notation.errors import TargetError
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.notation.rules import Rule

from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.ports.base import Message, Session, Target
from checkvalve.conformance.suites import needs as package
from checkvalve.conformance.suites.judge import Judge
from checkvalve.conformance.suites.history import HistorySuite
from checkvalve.conformance.suites.needs import Groups
from checkvalve.conformance.suites.run import capabilities, items_for, run_before, run_program
from checkvalve.conformance.suites.suite import Answer, Program, Suite
from checkvalve.conformance.suites.system import System
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.targets import resolve_target

__all__ = ["derived", "groups_of", "main"]

PROGRAMS: Final = 20
ROUNDS: Final = 8
"""So many programs are drawn, so often, before it is said that there is no occasion."""

Way = frozenset[str]
"""A way to test a rule: by these operations alone."""

Asked = Suite | HistorySuite
"""A suite of either kind."""


class _Claiming:
    """A target that says it has another policy than it has."""

    def __init__(self, target: Target, policy: str) -> None:
        self._target = target
        self._policy = policy
        self.name = target.name

    def open(self) -> Session:
        return _ClaimingSession(self._target.open(), self._policy)

    def renew(self) -> bool:
        return self._target.renew()


class _ClaimingSession:
    def __init__(self, session: Session, policy: str) -> None:
        self._session = session
        self._policy = policy
        self.close = session.close

    def request(self, message: Message) -> Message:
        reply = self._session.request(message)
        if message["do"] == "hello" and "ok" in reply:
            return {**reply, "ok": {**reply["ok"], "policy": self._policy}}
        return reply


class _Noting(Judge):
    """Notes of each answer that there could be which rule it would have broken, or that none."""

    def __init__(self, suite: Suite, capacity: int, program: Program) -> None:
        super().__init__(suite.watches, suite.constants(capacity, items_for(program)), None,
                         counting=True)
        self.refused: set[tuple[str, Step]] = set()
        self.allowed: set[Step] = set()

    def count(self, answers: tuple[Answer, ...]) -> None:
        for answer in answers:
            if self.takes(answer):
                self.allowed.add(answer.step)
            else:
                self.refused |= {(rule, answer.step) for rule in self.at_stake((answer,))}


class _Occasions:
    """The occasions that some targets give to break one rule.

    Where this is ``strict``, the rule refuses an answer that it allows at another time. A history
    has nothing to tell in its place: there, an event counts that the rule could have refused.
    """

    def __init__(
        self, suite: Asked, rule: Rule, targets: Sequence[Target], strict: bool
    ) -> None:
        self._suite = suite
        self._rule = rule
        self._strict = strict
        telling = suite.telling.get(rule.id, suite.capacities)
        self._places = [*product(targets, telling)]
        self._can = frozenset(chain.from_iterable(
            capabilities(suite, target, *suite.capacities) for target in targets))

    def way(self, without: Way = frozenset()) -> Way | None:
        """The operations of a program with an occasion, as few as can be, and none of some."""
        for program, (target, capacity) in zip(
                self._drawn(self._can - without), cycle(self._places)):
            if self._has_occasion(target, capacity, program):
                return self._least(target, capacity, program)
        return None

    def _drawn(self, can: Collection[str]) -> Iterator[Program]:
        for seed in range(ROUNDS if can else 0):
            drawn: list[Program] = []
            self._suite.explore(can, self._rule, seed, PROGRAMS, drawn.append)
            # What programs have of their own, whatever a target can do, is left out as well.
            yield from (tuple(act for act in each if act.do in can or act.do == "settle")
                        for each in drawn)

    def _has_occasion(self, target: Target, capacity: int, program: Program) -> bool:
        try:
            return self._gives_one(target, capacity, program)
        except TargetError:     # it refuses the capacity, or fails, as some twins do
            return False

    def _gives_one(self, target: Target, capacity: int, program: Program) -> bool:
        if isinstance(self._suite, HistorySuite):
            run = run_program(self._suite, target, program, capacity, count=True)
            return run.exercised[self._rule.id] > 0
        judge = _Noting(self._suite, capacity, program)
        run_before(judge, self._suite, target, program, capacity)
        return any(rule_id == self._rule.id and (step in judge.allowed or not self._strict)
                   for rule_id, step in judge.refused)

    def _least(self, target: Target, capacity: int, program: Program) -> Way:
        for do in dict.fromkeys(act.do for act in reversed(program)):
            without = tuple(act for act in program if act.do != do)
            if self._has_occasion(target, capacity, without):
                program = without
        return frozenset(act.do for act in program) - {"settle"}


def derived(system: System, suite: Asked) -> Mapping[str, Groups]:
    """By rule of a system, groups of what is needed; a rule without occasions has none."""
    # No such name is in the table: its programs are drawn by a suite that knows of no needs.
    unled = replace(suite, name="", needs={})
    order = _operations(system, suite)
    return {rule.id: groups for rule in suite.rules()
            if (groups := _groups_of_rule(system, unled, rule, order))}


def _groups_of_rule(
    system: System, suite: Asked, rule: Rule, order: Sequence[str]
) -> Groups:
    names = [each.name for each in system.references]
    names += [f"zoo:{twin.name}" for twin in system.twins.values() if twin.rule == rule.id]
    by_policy = _by_policy(system, suite, [*map(resolve_target, names)])
    targets = [*chain.from_iterable(by_policy.values())]
    for strict in (True, False):
        groups = groups_of(_Occasions(suite, rule, targets, strict).way, order)
        if groups:
            told = tuple(policy for policy, claiming in by_policy.items() if len(by_policy) == 1
                         or _Occasions(suite, rule, claiming, strict=False).way())
            return groups if len(told) == len(by_policy) else (*groups, told)
    return ()


def _by_policy(
    system: System, suite: Asked, targets: Sequence[Target]
) -> Mapping[str, Sequence[Target]]:
    """Some targets, as they claim each policy; once, where no rule depends on what they claim."""
    told: dict[str, Sequence[Target]] = {}
    for policy in system.port.policies:
        claiming = [_Claiming(each, policy) for each in targets]
        told[_name_of_policy(system, suite, claiming[0])] = claiming
    return told if "" not in told else {"": targets}


def groups_of(way_without: Callable[[Way], Way | None], order: Sequence[str]) -> Groups:
    """What all ways have one of, as few as can be, in some order; ``way_without`` finds a way."""
    ways, closed = set[Way](), set[Way]()
    while open_ := [each for each in _hitting(ways) if each not in closed]:
        way = way_without(open_[0])
        if way is None:
            closed.add(open_[0])
        else:
            ways.add(way)
    told = [tuple(sorted(group, key=order.index)) for group in _hitting(ways)]
    return tuple(sorted((each for each in told if each),
                        key=lambda group: [order.index(do) for do in group]))


def _hitting(ways: Collection[Way]) -> list[Way]:
    """The smallest sets that have something of each way."""
    hitting: set[Way] = {frozenset()}
    for way in ways:
        more = {group if group & way else group | {do}
                for group in hitting for do in ([""] if group & way else way)}
        hitting = {group for group in more if not any(other < group for other in more)}
    return sorted(hitting, key=lambda group: (len(group), sorted(group)))


def _operations(system: System, suite: Asked) -> list[str]:
    """What can be asked for, in the order of the suite's weights, if it has any."""
    return [*(suite.weights if isinstance(suite, Suite) else ()), *system.port.operations]


def _name_of_policy(system: System, suite: Asked, target: Target) -> str:
    """What a target can that no program asks for: to keep what its policy promises."""
    can = {*capabilities(suite, target, *suite.capacities)}
    return next(iter(sorted(can - {*_operations(system, suite)})), "")


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
        if isinstance(suite, Asked) and name in (options.suites or SYSTEMS):
            found = derived(system, suite)
            rows[name] = {rule: each for rule, each in found.items() if rule not in suite.needs}
            print(f"{name}: {len(rows[name])} of {len(suite.rules())} rules", flush=True)
            for rule, groups in suite.needs.items():
                same = groups == found.get(rule)
                needless = needless or same
                print(f"  {rule} is written by hand: {groups}; found: "
                      f"{'the same' if same else found.get(rule, ())}", flush=True)
            write_whole(table, package.to_json(rows))
    return int(needless)


if __name__ == "__main__":
    sys.exit(main())
