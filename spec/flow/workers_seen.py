"""The master and its workers, as seen from the master's place.

Theory. In ``workers`` everything at the master is seen: jobs that come, asks that arrive, jobs that
are given or dropped, and that a worker is done. The model's queue has no content, so it does not
say which job is dropped; ``queues.dropping`` judges that.

Source: ``workers``, ``observed_jobs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation import action, integer, require
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_jobs import ObservedMaster
from .workers import DroppingInSilence, TakingEveryAsk, Workers

__all__ = ["EXPECTATIONS", "DroppingEarly", "GivingUnasked", "KeepingTooMany",
           "WorkersSeen"]


class WorkersSeen(View[Workers]):
    """All that arrives at the master and leaves it; workers and clients are the harness's."""

    history: tuple[int, ...] = ()   # the workers to which jobs were given

    around = ("ask", "may_ask", "hear", "lose", "receive", "finish", "done", "got")

    @shown
    def submit(self, before: Workers, after: Workers) -> Iterable[Seen]:
        return [see("submit"), *[see("drops")] * (after.dropped - before.dropped)]

    @shown
    def hear(self, before: Workers, after: Workers, worker: int, number: int) -> Seen:
        if number != self.history.count(worker):
            return see("late_ask", worker=worker)
        return see("ask", worker=worker)

    @shown
    def assign(self, before: Workers, after: Workers, worker: int) -> Seen:
        self.history = (*self.history, worker)
        return see("gives", worker=worker)

    @shown
    def finish(self, before: Workers, after: Workers, worker: int) -> Seen:
        return see("done", worker=worker)

    def asked(self, machine: Workers) -> Iterable[Seen | Sequence[Seen]]:
        """Report that the master is idle if it can give no job."""
        if "assign" not in self.enabled:
            yield see("rests")


class GivingUnasked(Workers):
    """A master that gives a job to any worker without one, and waits for no ask."""

    @action(fair=True, worker=Workers.Worker)
    def assign(self, worker: int) -> None:
        """The job goes to a worker that has done all its jobs."""
        require(self.done[worker] == self.given[worker] and self.queue > 0)
        self.asking.discard(worker)
        self.queue -= 1
        self.given[worker] += 1


class DroppingEarly(Workers):
    """A queue that drops while there is a place left."""

    @action
    def submit(self) -> None:
        """Only an empty queue takes a job."""
        require(self.submitted < self.J)
        self.submitted += 1
        if self.queue == 0 and self.K > 1:
            self.queue += 1
        else:
            self.drop()


class KeepingTooMany(Workers):
    """A queue without a bound."""

    queue = integer(0, Workers.J)

    @action
    def submit(self) -> None:
        """There is always a place."""
        require(self.submitted < self.J)
        self.submitted += 1
        self.queue += 1


SEEN = refines(Workers, ObservedMaster, "jobs go to those that ask", shows=WorkersSeen,
               seen_by={"K": "K", "W": "W"}, W=(1, 2), J=2, K=(1, 2))

EXPECTATIONS = (
    SEEN,
    refused(TakingEveryAsk, "FLOW-50", "003#E12: a late ask makes a second job", like=SEEN,
            W=(1, 2), J=2, K=2),
    refused(DroppingInSilence, "FLOW-53", "a job is dropped, and no event reports it", like=SEEN,
            W=1, J=2, K=1),
    refused(GivingUnasked, "FLOW-50", "a job for a worker that has not asked", like=SEEN,
            W=(1, 2), J=1, K=1),
    refused(DroppingEarly, "FLOW-52", "a job is dropped, and a place is left", like=SEEN,
            W=1, J=2, K=2),
    refused(KeepingTooMany, "FLOW-53", "a queue that drops nothing", like=SEEN,
            W=1, J=2, K=1),
)
