"""Faults in a run of a cluster: a plan of what goes wrong and when, drawn from a seed.

Every fault has an end. Times are instants of the cluster's clock. A plan is a tuple of faults
in any order; leaving one out gives another plan, so plans can be shrunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from random import Random
from typing import Final, NamedTuple

from .topologies import Topology, deploy
from .worker import Settings

__all__ = [
    "TOILS", "Fault", "Scenario", "ScenarioMisuse", "What", "bolts_of", "scenario", "users_of",
]

TOILS: Final = (300, 900)
"""Instants that a bolt may work at a tuple: up to three periods of the message timeout."""


class ScenarioMisuse(ValueError):
    """The number of messages is negative, or a fault is about an unknown worker or task."""


class What(Enum):
    """The kinds of faults; ``on`` and ``to`` of a fault mean what is said here."""

    KILL = "worker {on} is killed, and starts anew"
    CUT = "the connection from worker {on} to worker {to} is cut"
    LOSE_STATUS = "the next status of worker {to} to worker {on} gets lost"
    DELAY_STATUS = "statuses of worker {to} to worker {on} are late"
    SLOW = "task {on} is slow"
    FAIL = "task {on} fails the next tuple that it executes"
    TOIL = "task {on} works for so long at a tuple, and asks for more time"
    THROW = "user code of task {on} raises what nobody catches, the next time that it is called"
    STRAY = "a tuple for a task that does not exist arrives at worker {to} from worker {on}"


class Fault(NamedTuple):
    """A fault from the instant ``at`` on, for ``lasts`` instants."""

    at: int
    what: What
    on: int
    to: int = 0
    lasts: int = 1

    @property
    def ends(self) -> int:
        """The instant at which the fault is over."""
        return self.at + self.lasts

    def words(self) -> str:
        """The fault in words: when, how long, and what."""
        return f"at {self.at}, for {self.lasts}: {self.what.value.format(on=self.on, to=self.to)}"


@dataclass(frozen=True)
class Scenario:
    """One run, with everything that it depends on. Its topology has its number of ackers.

    Raises ``ScenarioMisuse`` for impossible faults, ``TopologyMisuse`` below 1 worker.
    """

    topology: Topology
    workers: int
    messages: int
    settings: Settings
    faults: tuple[Fault, ...]
    seed: int

    def __post_init__(self) -> None:
        if type(self.messages) is not int or self.messages < 0:
            raise ScenarioMisuse(f"there are 0 messages or more, not {self.messages!r}")
        tasks = deploy(self.topology, self.workers)
        object.__setattr__(self, "topology", self.topology.on(self.workers))
        for fault in self.faults:
            if not self._can_happen(fault, len(tasks)):
                raise ScenarioMisuse(f"this cannot happen here: {fault.words()}")

    def _can_happen(self, fault: Fault, tasks: int) -> bool:
        if fault.at < 0 or fault.lasts < 1:
            return False
        if fault.what in (What.FAIL, What.TOIL):
            return fault.on in bolts_of(self.topology)
        if fault.what is What.THROW:
            return fault.on in users_of(self.topology)
        if fault.what in (What.KILL, What.SLOW):
            return 0 <= fault.on < (tasks if fault.what is What.SLOW else self.workers)
        return fault.on != fault.to and {fault.on, fault.to} <= set(range(self.workers))

    @cached_property
    def last_fault(self) -> int:
        """The instant at which the last fault is over."""
        return max((fault.ends for fault in self.faults), default=0)


def bolts_of(topology: Topology) -> list[int]:
    """The tasks of its bolts, without the ackers."""
    return [task for name, tasks in topology.tasks_of().items()
            if name not in ("source", "acker") for task in tasks]


def users_of(topology: Topology) -> list[int]:
    """The tasks that have user code: all but the ackers."""
    return sorted([*topology.tasks_of()["source"], *bolts_of(topology)])


def scenario(topology: Topology, seed: int) -> Scenario:
    """A run of a topology, a pure function of its arguments."""
    random = Random(f"{topology.name} {seed}")
    workers = random.choice((1, 2, 2, 3, 3))
    settings = Settings(
        capacity=random.choice((1, 2, 4)), overflow_limit=random.choice((0, 0, 0, 4, 8)),
        transfer_capacity=random.choice((1, 4, 8)), max_pending=random.choice((0, 0, 1, 4)),
        per_round=random.choice((1, 1, 2, 4)), reminder=random.choice((1, 4, 16)),
        batch=random.choice((1, 1, 2)), link_capacity=random.choice((2, 8)))
    faults = [_fault(random, topology, workers) for _ in range(random.randrange(6))]
    return Scenario(topology, workers, random.randrange(3, 10), settings, tuple(faults), seed)


def _fault(random: Random, topology: Topology, workers: int) -> Fault:
    at, lasts = random.randrange(120), random.randrange(5, 60)
    tasks = len(deploy(topology, workers))
    kinds = [What.SLOW, What.SLOW, What.KILL, What.FAIL, What.TOIL, What.THROW]
    if workers > 1:
        kinds += [What.LOSE_STATUS, What.LOSE_STATUS, What.CUT, What.DELAY_STATUS, What.STRAY]
    what = random.choice(kinds)
    if what is What.SLOW:
        return Fault(at, what, random.randrange(1, tasks), lasts=2 * lasts)
    if what is What.THROW:
        return Fault(at, what, random.choice(users_of(topology.on(workers))))
    if what in (What.FAIL, What.TOIL):
        long = random.randrange(*TOILS) if what is What.TOIL else lasts
        return Fault(at, what, random.choice(bolts_of(topology.on(workers))), lasts=long)
    on = random.randrange(workers)
    if workers == 1:
        return Fault(at, what, on, lasts=lasts)
    return Fault(at, what, on, (on + random.randrange(1, workers)) % workers, lasts)
