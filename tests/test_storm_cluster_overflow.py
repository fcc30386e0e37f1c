"""Unlimited overflow in a cluster: as long as what was on its way, and no longer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from checkvalve.reference.storm import cluster
from checkvalve.reference.storm.cluster import Cluster
from checkvalve.reference.storm.faults import Fault, What, scenario
from checkvalve.reference.storm.status import RemoteFlags, Sent, Status
from checkvalve.reference.storm.topologies import WORD_COUNT
from checkvalve.reference.storm.worker import Parts, Settings, Worker
from checkvalve.spec.engines.monitor import Failure, Monitor
from checkvalve.spec.notation import bind
from checkvalve.spec.storm.topologies.observed_topology import ObservedOverflow

TRANSFER, REMINDER, LOST_MAX = 1, 1, 8
LINK = 2
"""With a long one a source of this size is on its way as a whole."""


@dataclass
class Watched:
    """A monitor for each task, and what they found; ``peak`` is the longest overflowQ."""

    workers: int
    monitors: dict[int, Monitor] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    peak: int = 0

    def __post_init__(self) -> None:
        peers = self.workers - 1
        # A transfer queue, and the link, which one turn of the thread may fill beyond its
        # capacity; then one transfer queue in each instant in which an ON is on its way.
        way = peers * (2 * TRANSFER + LINK - 1)
        late = peers * TRANSFER * (cluster.DELAY_MAX + 1)
        self.machine = bind(ObservedOverflow, W=way, H=late, R=REMINDER, L=LOST_MAX)
        self.most = way + late + LOST_MAX * (REMINDER + 1) + 2

    def observe(self, task: int, step: tuple[str, tuple[tuple[str, int], ...]]) -> None:
        """One task's overflowQ was looked at, or a status about it was lost."""
        monitor = self.monitors.setdefault(task, Monitor(self.machine))
        failure = monitor.observe([step])
        self.failures += [failure] if failure else []


class Watching(Cluster):
    """A cluster that reports to ``watched`` the lengths of overflowQs, and the lost statuses."""

    watched: Watched

    def record(self, what: str, *about: int | str) -> None:
        super().record(what, *about)
        if what == "holds":
            task, length = int(about[0]), int(about[2])
            self.watched.peak = max(self.watched.peak, length)
            self.watched.observe(
                task, ("holds", (("overflowq", min(length, self.watched.most)),)))

    def _tell(self, told: list[Sent], by: Worker) -> bool:
        for connection, _ in told:
            peer = next(each for each in self._lives if f"worker {each}" == connection)
            if self.connections[peer, by.place.number].statuses.losing:
                for task in by.tasks:
                    self.watched.observe(task, ("loses_status", ()))
        return super()._tell(told, by)


class Deaf(RemoteFlags):
    """A sender that hears no status."""

    def hear(self, status: Status) -> bool:
        return False


def watched(seed: int, workers: int, lost: int, **parts: Any) -> Watched:
    """A source that is much faster than one of the sinks, and statuses that get lost."""
    slow = [Fault(0, What.SLOW, task, lasts=4_000) for task in WORD_COUNT.tasks_of()["count"]]
    # The first statuses are those of new connections; these are the ones after them.
    gone = [Fault(5, What.LOSE_STATUS, on, to) for on in range(workers)
            for to in range(workers) if on != to for _ in range(lost)]
    one = replace(
        scenario(WORD_COUNT, seed), workers=workers, messages=60, faults=(*slow, *gone),
        settings=Settings(capacity=1, transfer_capacity=TRANSFER, reminder=REMINDER,
                          link_capacity=LINK))
    run = Watching.__new__(Watching)
    run.watched = Watched(workers)
    run.__init__(one, Parts(**parts))  # type: ignore[misc]
    assert run.run()[-1].what == "rested"
    return run.watched


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("lost", [0, 2])
def test_an_overflowq_holds_what_was_on_its_way(workers: int, lost: int) -> None:
    """With R + 1 more for each status that was lost."""
    runs = [watched(seed, workers, lost) for seed in range(3)]
    assert [each.failures for each in runs] == [[]] * 3
    assert max(each.peak for each in runs) > 1


def test_a_deaf_sender_breaks_the_bound() -> None:
    """With backpressure turned off for good (STORM-1087) the overflowQ grows with the source."""
    failures = watched(0, 3, 0, flags=Deaf).failures
    assert {failure.rule.id for failure in failures if failure.rule} == {"STORM-C19"}
