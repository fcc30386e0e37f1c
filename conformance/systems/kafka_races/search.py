"""All schedules of a scene with few preemptions, with each of their histories judged once.

Far fewer histories can be distinguished from outside than there are schedules: the machine judges
each of them once, and the first schedule with it represents it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ....reference.drivers.schedules.interleavings import explore
from ....reference.drivers.schedules.scheduling import Scheduler, Segment
from ....spec.engines.candidates import CandidateSets
from ....spec.engines.monitor import LostTrack, Monitor
from ....spec.kafka.observed_races import ObservedRaces
from ....spec.notation import bind
from ....spec.notation.interpreter import Step
from ....spec.notation.rules import Rule
from ...ports.base import Message
from .adapter import Bench, Kit
from .scenes import RaceScene
from .suite import CONSTANTS, PURGE, Translator, rest

__all__ = ["RaceFound", "RacesSearched", "search_races"]

WHEEL_SIZE = 2


@dataclass(frozen=True)
class RaceFound:
    """A rule that a schedule violates, and the first such schedule."""

    rule: Rule
    observation: str
    schedule: tuple[Segment, ...]
    preemptions: int


@dataclass(frozen=True)
class RacesSearched:
    """Result of a search: the number of schedules and histories, and the violations.

    ``undecided`` counts the histories that more states explain than the monitor may hold.
    """

    schedules: int
    histories: int
    found: tuple[RaceFound, ...]
    undecided: int = 0


def search_races(kit: Kit, scene: RaceScene, *, preemptions: int = 2) -> RacesSearched:
    """Run a scene under every schedule with at most that many preemptions, and judge it."""
    seen: dict[str, None] = {}
    found: list[RaceFound] = []
    schedules = undecided = 0
    for each in explore(_set_up(kit, scene), kit.modules, preemptions=preemptions):
        schedules += 1
        key = json.dumps(each.result)
        if key not in seen:
            seen[key] = None
            try:
                broken = _judge(each.result)
            except LostTrack:
                undecided += 1
                continue
            if broken is not None:
                found.append(RaceFound(*broken, each.schedule, each.preemptions))
    return RacesSearched(schedules, len(seen), tuple(found), undecided)


def _set_up(kit: Kit, scene: RaceScene) -> Callable[[Scheduler], Callable[[], list[Message]]]:
    """The function that lays out a scene for a scheduler, and returns what reports its end."""
    def set_up(scheduler: Scheduler) -> Callable[[], list[Message]]:
        bench = Bench(kit, scheduler, WHEEL_SIZE, PURGE)
        bench.body(scene.setup)()
        for name, calls in scene.threads.items():
            scheduler.spawn(name, bench.body(calls))

        def conclude() -> list[Message]:
            if scheduler.deadlock():
                return [*bench.events, {"does": "stuck"}]
            told = len(bench.events)
            at_rest = [_rest(bench)]
            bench.body(scene.finish)()
            after = bench.events[told:]
            return [*bench.events[:told], *at_rest, *after, _rest(bench)]
        return conclude
    return set_up


def _rest(bench: Bench) -> Message:
    return {"does": "rests", "size": bench.size(), "keys": bench.keys()}


@lru_cache(maxsize=1)
def _sets() -> CandidateSets:
    return CandidateSets(bind(ObservedRaces, **CONSTANTS))


def _judge(events: Sequence[Message]) -> tuple[Rule, str] | None:
    """The first rule that a history violates, and the observation. Raises ``LostTrack``."""
    sets = _sets()
    monitor = Monitor(sets.bound, sets=sets)
    for step in _steps(events):
        failure = monitor.observe([step])
        if failure is not None:
            assert failure.rule is not None
            return failure.rule, failure.observation
    return None


def _steps(events: Iterable[Message]) -> Iterator[Step]:
    translator = Translator()
    for event in events:
        if event["does"] == "stuck":
            yield "stuck", ()
        elif event["does"] == "rests":
            yield rest(event["size"], event["keys"])
        else:
            yield translator.step(event)
