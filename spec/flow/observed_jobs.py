"""A master that gives jobs to workers which ask, as seen from outside.

Theory. An observer in the master's place of the network sees jobs come, asks come, jobs go to
workers, and notices of dropped jobs. From that it knows how many jobs wait, which workers are
asking and which have a job. An ask says how many jobs its worker has got; one that says another
number than the master has given no longer counts. Jobs leave the queue from the front, whether they
are given or dropped, so an observer need not remember which they are: it knows which is next.

Source: ``workers``; 003#workers, 003#dropping, 003#E12.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, const, guard_rule, integer, require, subset,
)

__all__ = ["EXPECTATIONS", "ObservedMaster"]

WORKERS, DROPPING = "003#workers", "003#dropping"

GIVES_TO_IDLE = guard_rule(
    "FLOW-50", MUST,
    "A master gives a job only to a worker that has none, after an ask that counts all jobs "
    "that this worker was given before.",
    source=f"{WORKERS}; 003#E12")
FROM_THE_FRONT = guard_rule(
    "FLOW-51", MUST, "The job that leaves the queue is the one that has waited longest.",
    source=f"{DROPPING}: drop the oldest instead of the youngest")
DROPS_WHERE_FULL = guard_rule(
    "FLOW-52", MUST,
    "A job is dropped only while more jobs wait, the newcomer included, than the queue has "
    "places.",
    source=f"{DROPPING}: it drops jobs from the front of the queue if necessary")
KEEPS_TO_ITS_PLACES = guard_rule(
    "FLOW-53", MUST, "When a master has finished reacting to an event, at most K jobs wait in its "
    "queue of K places.", source=f"{DROPPING}: master maintains a fixed size job queue")
GIVES_AT_ONCE = guard_rule(
    "FLOW-54", MUST,
    "When a master has finished reacting to an event, no job waits while it has an ask that "
    "counts all jobs that the asking worker was given.",
    source=WORKERS)


class ObservedMaster(Machine):
    """K places, and W workers."""

    K = const(2, at_least=1)            # places in the queue
    W = const(2, at_least=1)            # workers
    Worker = alike(W)

    waiting = integer(0, K + 1)         # jobs in the queue; one more until the oldest is dropped
    asking = subset(Worker)             # workers with a last ask that counts
    busy = subset(Worker)               # those that were given a job, and have not said that it is
                                        # done
    # --- what comes ------------------------------------------------------------------------

    @action
    def submit(self) -> None:
        """Another job comes from a client."""
        require(self.waiting <= self.K)
        self.waiting += 1

    @action(worker=Worker)
    def ask(self, worker: int) -> None:
        """An ask that counts every job that was given to its worker."""
        require(worker not in self.busy)
        self.asking.add(worker)

    @action(worker=Worker)
    def late_ask(self, worker: int) -> None:
        """An ask that does not count them all: it was answered before."""

    @action(worker=Worker)
    def done(self, worker: int) -> None:
        """A worker is done with its job."""
        require(worker in self.busy)
        self.busy.discard(worker)

    # --- what the master does --------------------------------------------------------------

    @action(worker=Worker)
    def gives(self, worker: int) -> None:
        """The oldest job goes to a worker."""
        require(worker in self.asking and worker not in self.busy, GIVES_TO_IDLE)
        require(self.waiting > 0, FROM_THE_FRONT)
        self.asking.discard(worker)
        self.busy.add(worker)
        self.waiting -= 1

    @action
    def drops(self) -> None:
        """The oldest job is dropped, and its client is notified."""
        require(self.waiting > self.K, DROPS_WHERE_FULL)
        self.waiting -= 1

    @action
    def another_leaves(self) -> None:
        """A job is given or dropped that is not the oldest, or does not exist."""
        require(False, FROM_THE_FRONT)

    @action(rests=True)
    def rests(self) -> None:
        """The master does nothing more for the time being."""
        require(self.waiting <= self.K, KEEPS_TO_ITS_PLACES)
        require(self.waiting == 0 or len(self.asking) == 0, GIVES_AT_ONCE)

    @always("FLOW-55", MUST,
            "A worker that has a job does not count as asking for one, whatever late asks of it "
            "arrive.",
            source=f"{WORKERS}; 003#E12", worker=Worker)
    def one_at_a_time(self, worker: int) -> bool:
        """The same as FLOW-46 says of the mechanism."""
        return not (worker in self.asking and worker in self.busy)


EXPECTATIONS = (
    expect(ObservedMaster, "FLOW-55", "holds", "a worker with a job is not asking", K=(1, 2),
           W=(1, 2, 3)),
)

BOOKKEEPING = {
    "FLOW-55":
        "The harness asks for its workers, and never for one that has a job: that guard is its "
        "own, and no master can break it.",
}
