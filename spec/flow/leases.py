"""Jobs on lease: the job of a worker that dies comes back.

Theory of operation
-------------------
A worker that dies keeps its job forever, and a master that keeps no list of workers does not learn
of it. So a job is given for T ticks, its *lease*. If it was not done by then, the master takes it
back, and gives it to another worker that asks.

The worker need not be dead: it may be slow. Then two work on one job, and two results come. The
master takes the result of the holder of the lease, and throws the other one away. So each job
counts once, although it may be worked on several times.

Let work take D ticks at most. Then

    T >  D      no job is taken back from a worker that lives
    T <= D      one may be, again and again: no result ever comes in time, no job gets done

At T = D both happen at one instant, and which is first is luck.

Source: the mail "back pressure"; 003#workers ("periodically requests a job").
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, assume, boolean, choice, const, eventually_always,
    integer, require, upto,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_jobs import ObservedMaster

__all__ = [
    "EXPECTATIONS", "GivingTheSame", "Leases", "LeasesSeen", "Place", "TakingLateResults",
    "WithoutLeases",
]

WORKERS = "003#workers"


class Place(IntEnum):
    """The position of a job, for the master."""

    WAITING = 0
    LEASED = 1
    DONE = 2


class Leases(Machine):
    """All jobs are there at first; some workers die, and never all of them."""

    W = const(2, at_least=1)            # workers
    J = const(2, at_least=1)            # jobs
    T = const(2, at_least=1)            # ticks of a lease
    D = const(1, at_least=1)            # ticks of work that a job takes, at most
    X = const(1)                        # workers that may die

    place = array(upto(J), choice(Place))
    holder = array(upto(J), integer(0, W - 1))          # the worker that has, or had, its lease
    left = array(upto(J), integer(0, T))                # ticks of its lease
    counted = array(upto(J), integer(0, 2))             # results that the master has taken
    has = array(upto(W), integer(0, J, init=J))         # the job that a worker works on; J: none
    spent = array(upto(W), integer(0, D))               # ticks that it has spent on it
    dead = array(upto(W), boolean())
    deaths = integer(0, X)
    robbed = boolean()                  # a job was taken back from a worker that lives

    @assume
    def one_lives(self) -> bool:
        """True if some worker is left to do the work."""
        return self.X < self.W

    @action(fair=True, worker=upto(W), job=upto(J))
    def give(self, worker: int, job: int) -> None:
        """A worker without a job has asked, and the first waiting job is its own for T ticks."""
        require(not self.dead[worker] and self.may_have(worker))
        require(self.place[job] == Place.WAITING)
        require(not any(self.place[other] == Place.WAITING and other < job
                        for other in range(self.J)))
        self.place[job] = Place.LEASED
        self.holder[job] = worker
        self.left[job] = self.T
        self.has[worker] = job
        self.spent[worker] = 0

    def may_have(self, worker: int) -> bool:
        """True for a worker without a job."""
        return self.has[worker] == self.J

    @action(fair=True, worker=upto(W))
    def finish(self, worker: int) -> None:
        """A result comes; the master takes it, or has given the job to another worker."""
        require(self.has[worker] < self.J)
        for job in range(self.J):
            if self.has[worker] == job and self.takes(worker, job):
                self.counted[job] = min(2, self.counted[job] + 1)
                self.place[job] = Place.DONE
        self.has[worker] = self.J

    def takes(self, worker: int, job: int) -> bool:
        """True if the result comes from the holder of the lease."""
        return self.place[job] == Place.LEASED and self.holder[job] == worker

    @action(worker=upto(W))
    def die(self, worker: int) -> None:
        """A worker is gone with its work; no message says so."""
        require(not self.dead[worker] and self.deaths < self.X)
        self.dead[worker] = True
        self.has[worker] = self.J
        self.deaths += 1

    @action(fair=True)
    def tick(self) -> None:
        """Time passes, but not beyond an instant at which something has to happen."""
        require(not any(self.place[job] == Place.LEASED and self.is_over(job)
                        for job in range(self.J)))
        require(not any(self.has[worker] < self.J and self.spent[worker] == self.D
                        for worker in range(self.W)))
        for job in range(self.J):
            self.left[job] = max(0, self.left[job] - 1)
        for worker in range(self.W):
            if self.has[worker] < self.J:
                self.spent[worker] += 1

    @action(fair=True, job=upto(J))
    def take_back(self, job: int) -> None:
        """A lease has ended, and its job waits again."""
        require(self.place[job] == Place.LEASED and self.is_over(job))
        self.place[job] = Place.WAITING
        for worker in range(self.W):
            if self.holder[job] == worker and not self.dead[worker]:
                self.robbed = True

    def is_over(self, job: int) -> bool:
        """True if the lease of the job has no tick left."""
        return self.left[job] == 0

    @eventually_always("FLOW-100", MUST,
                       "Every job is eventually done and stays so, if at least one worker "
                       "survives and a lease lasts longer than the work on any job.",
                       source=WORKERS)
    def all_are_done(self) -> bool:
        """Provided that one worker lives, and a lease lasts longer than the work."""
        return all(self.place[job] == Place.DONE for job in range(self.J))

    @always("FLOW-101", MUST, "The result of a job is taken at most once.", source=WORKERS,
            job=upto(J))
    def results_count_once(self, job: int) -> bool:
        """The same however many workers have worked on the job."""
        return self.counted[job] <= 1

    @always("FLOW-102", MUST,
            "If a lease lasts longer than the work on any job, no job is taken back from a "
            "worker that is alive.",
            source=WORKERS)
    def nobody_is_robbed(self) -> bool:
        """Provided that a lease lasts longer than the work."""
        return not self.robbed


class WithoutLeases(Leases):
    """A job belongs to a worker forever."""

    def is_over(self, job: int) -> bool:
        """False: the time is not checked."""
        return self.left[job] > self.T


class TakingLateResults(Leases):
    """Every result counts, whichever worker brings it."""

    def takes(self, worker: int, job: int) -> bool:
        """True: the lease is not checked."""
        return True


class GivingTheSame(Leases):
    """A worker that is busy is given the next job as well."""

    def may_have(self, worker: int) -> bool:
        """True: the master has forgotten to which worker it gave the last job."""
        return True


class LeasesSeen(View[Leases]):
    """All that the observer of a master sees: a job that comes back is another one that waits.

    An ask is seen when it is answered. After a worker has died no more is seen of it.
    """

    def begins(self, machine: Leases) -> Iterable[Seen]:
        """All jobs have come."""
        return [see("submit")] * machine.J

    @shown
    def give(self, before: Leases, after: Leases, worker: int, job: int) -> Iterable[Seen]:
        """The worker has asked for the job; one that has a job already has not."""
        asks = [see("ask", worker=worker)] if before.has[worker] == before.J else []
        return [*asks, see("gives", worker=worker)]

    @shown
    def finish(self, before: Leases, after: Leases, worker: int) -> Seen:
        """The job is done, whether its result was taken or not."""
        return see("done", worker=worker)

    @shown
    def take_back(self, before: Leases, after: Leases, job: int) -> Seen:
        """The job is seen as if it had been submitted again."""
        return see("submit")


GRID: dict[str, Any] = {"W": 2, "J": (1, 2), "T": (1, 2, 3), "D": (1, 2)}

SEEN = refines(Leases, ObservedMaster, "a job that comes back goes to a worker that asks",
               shows=LeasesSeen, seen_by={"K": "J", "W": "W"}, W=2, J=(1, 2), T=(1, 2), D=1,
               X=(0, 1))

EXPECTATIONS = (
    expect(Leases, "FLOW-100", "violated", "all jobs are done, whichever workers die, exactly "
           "where a lease lasts longer than the work", where="T <= D", X=(0, 1), **GRID),
    expect(Leases, "FLOW-101", "holds", "a result counts once", X=(0, 1), **GRID),
    expect(Leases, "FLOW-102", "violated", "a job is taken back from a worker that lives, exactly "
           "where a lease does not last longer than the work", where="T <= D", X=(0, 1), **GRID),
    expect(WithoutLeases, "FLOW-100", "violated", "a worker that dies keeps its job forever",
           where="X > 0", W=2, J=(1, 2), T=2, D=1, X=(0, 1)),
    expect(TakingLateResults, "FLOW-101", "violated", "a job counts twice if its lease has ended "
           "before the work", where="T <= D", W=2, J=1, T=(1, 2), D=1, X=0),
    SEEN,
    refused(GivingTheSame, "FLOW-50", "a job for a worker that has one", like=SEEN, W=2, J=2, T=1,
            D=1, X=0),
)

UNSEEN = {
    "FLOW-100":
        "That every job is done is about runs without an end, and about workers that die.",
    "FLOW-101":
        "Whether a result counts is between a master and its clients; the port of masters has no "
        "results.",
    "FLOW-102":
        "The time that work may take is a promise of the workers, which a master does not learn.",
}
