"""Looking for witnesses: mutants of a machine that break a rule which the machine keeps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from checkvalve.spec.chapters import Chapter, chapters
from checkvalve.spec.engines.search import RuleInstance, check_rules, instances
from checkvalve.spec.notation.bound import BoundMachine, bind
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.rules import CLAIM, Rule
from checkvalve.spec.verdicts.verdict import Budget
from checkvalve.spec.witnesses.book import Witness

from .classes import mutants
from .confirm import states
from .refusals import refusals
from .walk import Walk

__all__ = ["find_in", "of_chapter"]

BUDGET = Budget(max_states=30_000)
"""For one mutant; no budget of time, for the table has to be the same on any machine."""
WITHIN_RANGES = 100_000
"""Steps that are tried of a mutant that leaves its ranges."""

Steps = tuple[Step, ...]
Found = tuple[RuleInstance, Steps, int | None]
Place = tuple[type[Machine], tuple[tuple[str, Any], ...]]


def of_chapter(name: str, known: Collection[str]) -> list[Witness]:
    """What is found in a chapter of this name. It is here, and not in ``__main__``, since a new
    process cannot import that."""
    return list(find_in(next(chapters([name])), known))


def find_in(chapter: Chapter, known: Collection[str]) -> Iterator[Witness]:
    """Witnesses for the rules of a chapter that have none yet, as they are found."""
    wanted = {rule.id: rule for rule in chapter.rules if rule.id not in known}
    open_ids = {id for id, rule in wanted.items() if rule.predicate is not None}
    # A claim is shown by the machine as it stands, also if it is true at some constants.
    for witness in _false_statements(
            chapter, [wanted[id] for id in sorted(open_ids) if wanted[id].strength is CLAIM]):
        open_ids.discard(witness.rule)
        yield witness
    for few in (True, False):
        for place, ids in _places(chapter, open_ids, few).items():
            for witness in _by_mutants(chapter, place, [id for id in ids if id in open_ids]):
                open_ids.discard(witness.rule)
                yield witness
    yield from _false_statements(chapter, [wanted[id] for id in sorted(open_ids)])
    yield from refusals(chapter, {id for id, rule in wanted.items() if rule.predicate is None})


def _places(chapter: Chapter, ids: Collection[str], few: bool) -> Mapping[Place, list[str]]:
    """The machines and constants at which each rule is expected to hold.

    A rule of which nothing is expected is looked at where it is declared. Mostly a few of them
    are enough: of each machine the first constants, which are the smallest.
    """
    found: dict[Place, list[str]] = {}
    for id in sorted(ids):
        spoken: list[Place] = [
            (expectation.machine, tuple(point.items()))
            for expectation in chapter.expectations if expectation.rule == id
            for point in expectation.points() if expectation.expected(point) == "holds"]
        places = list(dict.fromkeys(spoken)) or [
            (machine, ()) for machine in chapter.machines
            if any(rule.id == id for rule in machine.rules_declared)]
        for number, place in enumerate(places):
            is_first = place[0] not in [machine for machine, _ in places[:number]]
            if is_first == few:
                found.setdefault(place, []).append(id)
    return found


def _by_mutants(
    chapter: Chapter, place: Place, ids: Sequence[str]
) -> Iterator[Witness]:
    """The witnesses that the mutants of one machine with its constants give.

    Of a rule that the machine itself violates, a mutant shows nothing.
    """
    machine, constants = place
    broken = {item.rule.id for item, _, _ in _violations(
        lambda: machine, dict(constants), ids)} if ids else set()
    left = [id for id in ids if id not in broken]
    for method, words, make in mutants(machine):
        if not left:
            return
        for item, steps, loop in _violations(make, dict(constants), left):
            if item.rule.id in left:
                left.remove(item.rule.id)
                yield Witness(
                    item.rule.id, f"{chapter.name}.{machine.__name__}", dict(constants),
                    method, words, item.args, steps, loop)


def _itself(machine: type[Machine]) -> type[Machine]:
    return machine


def _false_statements(chapter: Chapter, rules: Iterable[Rule]) -> Iterator[Witness]:
    """Witnesses for what a text says of a machine that violates it as it stands."""
    for rule in rules:
        for expectation in chapter.expectations:
            machine = expectation.machine
            points = [point for point in expectation.points()
                      if expectation.rule == rule.id and states(machine, rule)
                      and expectation.expected(point) == "violated"]
            found = [(point, *one) for point in points[:1]
                     for one in _violations(partial(_itself, machine), dict(point), [rule.id])]
            if found:
                point, item, steps, loop = found[0]
                yield Witness(rule.id, f"{chapter.name}.{machine.__name__}", dict(point),
                              args=item.args, steps=steps, loop=loop)
                break


def _violations(
    make: Callable[[], type[Machine]], constants: Mapping[str, Any], ids: Iterable[str]
) -> list[Found]:
    """The rules that a machine violates, with a run for each."""
    try:
        bound = bind(make(), **constants)
        items = [item for id in ids for item in instances(bound, id)]
        verdicts = check_rules(bound, items, BUDGET)
    except ModelFault:
        return list(_within_ranges(bound, items))
    except Exception:  # noqa: BLE001 - a mutant may do anything; then it is no machine any more
        return []
    return [
        (item, tuple((step.action, step.args) for step in verdict.trace.steps),
         verdict.trace.loop)
        for item, verdict in zip(items, verdicts, strict=True) if verdict.trace is not None
    ]


def _within_ranges(bound: BoundMachine, items: Iterable[RuleInstance]) -> Iterator[Found]:
    """The safety rules that a machine violates before it leaves its declared ranges."""
    oracle = bound.interpreter
    left = [item for item in items if item.rule.kind in ("always", "step")]
    walk = Walk(oracle, WITHIN_RANGES)
    for here, state in walk.states():
        for item in left[:]:
            if item.rule.kind == "always" and not oracle.holds(item.rule, item.args, state):
                left.remove(item)
                yield item, walk.way(here), None
        for step, after in walk.steps(here):
            for item in left[:]:
                if item.rule.kind == "step" and after is not None and not oracle.holds(
                        item.rule, item.args, state, after):
                    left.remove(item)
                    yield item, (*walk.way(here), step), None
        if not left:
            return
