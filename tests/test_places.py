"""Places that are used again: it is proved that they make no difference, or shown where they do."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from test_logs_columns import overlapping, permits, written

from checkvalve import spec
from checkvalve.conformance import systems
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.live import Live
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import judge_files, terms_of
from checkvalve.conformance.logs.steps import StepJudge
from checkvalve.conformance.systems.awaits_permits import logs as of_permits
from checkvalve.conformance.systems.awaits_permits.logs import PermitsJudge
from checkvalve.conformance.systems.queue import calls as of_calls
from checkvalve.conformance.systems.queue.following import Follower
from checkvalve.spec.engines.prove.places import prove_reuse
from checkvalve.spec.flow.delivery_places import MESSAGES
from checkvalve.spec.kafka.timer_places import TASKS
from checkvalve.spec.notation import InputError, action, require, upto
from checkvalve.spec.notation.places import LEAVES, Reuse
from checkvalve.spec.queues.locks.gate import Gate
from checkvalve.spec.queues.locks.gate_places import CALLS as CALLS_AT_GATES
from checkvalve.spec.queues.locks.permits import Permits
from checkvalve.spec.queues.locks.permits_places import CALLS, PermitsPlaces
from checkvalve.spec.queues.queue import BoundedQueue
from checkvalve.spec.queues.queue_places import ItemPlaces, TakePlaces
from checkvalve.spec.storm.acking.acker_places import ROOTS
from checkvalve.spec.storm.acking.observed_acker import ObservedAcker
from checkvalve.spec.storm.spouts.observed_partition import ObservedPartition
from checkvalve.spec.storm.spouts.observed_spout import ObservedSpout
from checkvalve.spec.storm.spouts.partition_places import WINDOW
from checkvalve.spec.storm.spouts.spout_places import ROOTS as ROOTS_OF_SPOUTS


def _reused() -> Iterator[tuple[str, Reuse]]:
    """All that the chapters declare."""
    for module in pkgutil.walk_packages(spec.__path__, f"{spec.__name__}."):
        if module.name.endswith("_places"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Reuse):
                    yield value.machine.__name__, value


REUSED = dict(_reused())


@pytest.mark.parametrize("name", REUSED)
def test_places_may_be_used_again(name: str) -> None:
    """Whatever the state of a machine with three places is."""
    assert prove_reuse(REUSED[name]) > 0


def test_each_judge_that_uses_places_again_has_a_proof() -> None:
    def of(judge: type[StepJudge]) -> Iterator[Reuse]:
        for each in judge.__subclasses__():
            yield from [each.reuse] if each.reuse is not None else []
            yield from of(each)

    for module in pkgutil.iter_modules(systems.__path__, f"{systems.__name__}."):
        if module.ispkg and importlib.util.find_spec(f"{module.name}.logs") is not None:
            importlib.import_module(f"{module.name}.logs")
    found = list(of(StepJudge))
    assert len(found) >= 5
    assert all(each in REUSED.values() for each in found)


# --- what is not so is shown ---------------------------------------------------------------------

class KeepsWhatItWas(ObservedAcker):
    """A root leaves its place, and that it was answered stays there."""

    @action(root=upto(ObservedAcker.R))
    def leaves_its_place(self, root: int) -> None:
        require(self.left[root] == 0 and self.is_zero(root))
        require(not self.known[root] and not self.failed[root])
        self.expired.discard(root)


class LeavesTooEarly(ObservedSpout):
    """A root leaves its place while it is pending."""

    @action(root=upto(ObservedSpout.R))
    def leaves_its_place(self, root: int) -> None:
        self.left[root] = 0


class LeavesWaiting(Gate):
    """A call leaves its place while it waits."""

    @action(call=upto(Gate.K))
    def leaves_its_place(self, call: int) -> None:
        require(call not in self.may_pass)
        require(call not in self.stopping and call not in self.away)
        self.waiting.discard(call)


class LeavesTheLine(Permits):
    """A call leaves its place and still waits."""

    @action(call=upto(Permits.K))
    def leaves_its_place(self, call: int) -> None:
        require(call not in self.granted and call not in self.held)
        require(call not in self.giving and call not in self.given and call not in self.stopping)


class ForgetsWhatIsGone(ObservedPartition):
    """An offset leaves the window, and that it is gone from the log is forgotten."""

    @action(offset=upto(ObservedPartition.L - 1))
    def leaves_its_place(self, offset: int) -> None:
        first = offset + 1
        require(first < self.committed and first < self.top and first < self.end)
        for each in range(first + 1):
            require(each not in self.under_way and each not in self.failed)
            require(each not in self.twofold)
            require(each in self.done or each in self.given_up or each in self.dropped)
        self.tries[first] = 0
        self.wait[first] = 0


@pytest.mark.parametrize(("reuse", "why"), [
    (replace(ROOTS, machine=KeepsWhatItWas), "does not make the place as it was at first"),
    (replace(ROOTS_OF_SPOUTS, machine=LeavesTooEarly), " depends on a place"),
    (replace(CALLS_AT_GATES, machine=LeavesWaiting), "opens depends on a place"),
    (replace(CALLS, machine=LeavesTheLine), "is held by another variable"),
    (replace(WINDOW, machine=ForgetsWhatIsGone), "truncated.* depends on a place"),
    (replace(MESSAGES, apart=("gives",)), r"gives\(.* depends on another thing"),
    (replace(MESSAGES, kept=()), None),         # nothing is asked of what has left
    (replace(MESSAGES, skipped=()), "counts.* asks for what is not kept"),
    (replace(MESSAGES, ordered=False), "do different things"),
    (replace(TASKS, comes=()), r"add\(.*asks for what is not kept"),
], ids=lambda each: each.machine.__name__ if isinstance(each, Reuse) else "")
def test_a_place_that_matters_is_shown_with_a_step(reuse: Reuse, why: str | None) -> None:
    if why is None:
        assert prove_reuse(reuse) > 0
    else:
        with pytest.raises(InputError, match=why):
            prove_reuse(reuse)


# --- judges that free places by themselves -------------------------------------------------------

def _judged(path: Path, suite: str, settings: dict[str, int]) -> Notes:
    """The findings, event by event."""
    logs = logs_of(suite)
    log = Log(path, plain(), list(logs.operations))
    return judge_files([log], logs, terms_of(plain(), settings, False, 0)).notes


def _all_may_be_left(live: Live, places: Iterable[int]) -> bool:
    saved = live.saved()
    (parameter, _), = type(live.machine).actions_declared[LEAVES].over
    left = [live.takes(LEAVES, **{parameter: place}) is None for place in places]
    live.restore(saved)
    return all(left)


def test_permits_give_places_of_calls_that_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each event, each place that may be given to another call could be left."""
    seen = 0
    take = PermitsJudge.take

    def checked(judge: PermitsJudge, event: Event) -> None:
        nonlocal seen
        take(judge, event)
        assert _all_may_be_left(judge._live, judge._free)
        seen += len(judge._free)

    monkeypatch.setattr(of_permits, "Permits", PermitsPlaces)
    monkeypatch.setattr(PermitsJudge, "take", checked)
    some = list(permits(Random(5), False))
    notes = _judged(written(tmp_path / "log.parquet", some), "awaits.permits", {"permits": 2})
    assert seen > 30
    assert not notes.violations


@pytest.mark.parametrize(("machine", "free"), [
    (ItemPlaces, "_free_items"), (TakePlaces, "_free_tickets")])
def test_queues_give_places_of_what_is_over(
    machine: type[BoundedQueue], free: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each event, each place that may be given to another item, or take, could be left."""
    seen = 0
    replays = Follower._replays

    def checked(follower: Follower) -> None:
        nonlocal seen
        replays(follower)
        assert _all_may_be_left(follower._live, getattr(follower, free))
        seen += len(getattr(follower, free))

    monkeypatch.setattr(of_calls, "BoundedQueue", machine)
    monkeypatch.setattr(Follower, "_replays", checked)
    some = [{"key": "q", **row} for row in overlapping(Random(5), 3, 4, 400)]
    notes = _judged(written(tmp_path / "log.parquet", some), "queue", {"capacity": 4})
    assert seen > 30
    assert not notes.violations
