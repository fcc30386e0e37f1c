"""Witnesses from the zoo: the run of a twin, for a rule that no search finds refused.

An observer with many steps refuses some of them only after a long story, which neither a search
nor random runs come upon. A twin that breaks the rule tells that story: what it showed up to its
breach is a run of the observer, and the guard that the last step meets is left out as ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from checkvalve.conformance.suites.fixture import Fixture
from checkvalve.conformance.suites.run import ITEMS_MAX
from checkvalve.conformance.suites.suite import AnySuite, Suite
from checkvalve.conformance.suites.twin import Twin
from checkvalve.conformance.systems.catalogue import suite_named
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.hunt import hunt, twins
from checkvalve.spec.chapters import chapters
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.witnesses.book import Witness

from .refusals import seen_refused

__all__ = ["of_twins"]


def of_twins(ids: Collection[str]) -> Iterator[Witness]:
    """A witness for each of these rules that a twin's own run gives."""
    left = set(ids)
    for twin in twins():
        if twin.rule in left and (witness := _of(twin)) is not None:
            left.discard(twin.rule)
            yield witness


def _of(twin: Twin) -> Witness | None:
    suite, fixture = suite_named(twin.suite), hunt(twin).fixture
    if fixture is None or not isinstance(suite, Suite):
        return None
    items = max(ITEMS_MAX, fixture.length + 2)
    shown = _shown(suite, twin, fixture, items)
    for watch in suite.watches:
        machine = watch.machine
        if watch.adds is None and twin.rule in {rule.id for rule in watch.rules()}:
            constants = {
                name: value for name, value in suite.constants(fixture.capacity, items).items()
                if name in machine.constants_declared}
            steps = [step for step in shown if step[0] in machine.actions_declared]
            witness = seen_refused(_chapter_of(machine), machine, constants, twin.rule, steps)
            if witness is not None:
                return witness
    return None


def _shown(suite: AnySuite, twin: Twin, fixture: Fixture, items: int) -> list[Step]:
    """What the twin shows when it is asked what the fixture asks."""
    steps: list[Step] = []
    session = resolve_target(f"zoo:{twin.name}").open()
    try:
        conversation = suite.converse(session, fixture.capacity, items)
        for request in fixture.requests:
            act = conversation.act_for(request)
            if act is not None:
                steps += [step for step, _ in conversation.say(act).observed()]
    finally:
        session.close()
    return steps


def _chapter_of(machine: type[Machine]) -> str:
    return next(chapter.name for chapter in chapters() if machine in chapter.machines)
