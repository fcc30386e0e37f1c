"""A master with a queue, and workers that ask for jobs.

Theory of operation
-------------------
A worker that is idle asks the master for a job. The master gives each asking worker one, and keeps
no list of workers: it need not know which there are. Its queue has K places, and a job that comes
to a full one is dropped.

    clients --submit--> [ K: the queue ] --assign--> on the way --> a worker --> done
                              ^                                        |
                              +------------------ask------------------+

An ask may be lost, so an idle worker asks again from time to time (the mail's "periodically"). Then
two asks of one worker may be on their way. If the master counts asks, the worker gets two jobs, and
one of them waits behind the other while other workers are idle (003#E12). A set of asking workers,
in which asking twice is asking once, is not enough: the second ask may arrive after the first has
been answered. So a worker says how many jobs it has got, and the master ignores an ask that
does not count the jobs that it has given already.

`leases` specifies workers that die.

Source: the mail "back pressure"; 003#workers, 003#E12.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, array, const, integer, leads_to, pairs, require, subset,
    upto,
)

__all__ = ["EXPECTATIONS", "AskingOnce", "DroppingInSilence", "TakingEveryAsk", "Workers"]

WORKERS = "003#workers"


class Workers(Machine):
    """Asks carry the number of jobs that their worker has got."""

    W = const(2, at_least=1)            # workers
    J = const(2, at_least=1)            # jobs that clients submit in all
    K = const(1, at_least=1)            # places in the queue
    X = const(1)                        # asks that may be lost, in all
    Worker = alike(W)

    submitted = integer(0, J)
    queue = integer(0, K)
    dropped = integer(0, J)
    lost = integer(0, X)

    asks = subset(pairs(Worker, upto(J + 1)))   # w * (J + 1) + n: from w, which has got n jobs
    asked = subset(pairs(Worker, upto(J + 1)))  # those that were ever sent
    asking = subset(Worker)                     # workers that the master takes to be idle
    given = array(Worker, integer(0, J))        # jobs that the master has given to each
    got = array(Worker, integer(0, J))          # those that have arrived
    done = array(Worker, integer(0, J))         # and those that are done

    @action
    def submit(self) -> None:
        """A client's job; a full queue drops one."""
        require(self.submitted < self.J)
        self.submitted += 1
        if self.queue < self.K:
            self.queue += 1
        else:
            self.drop()

    def drop(self) -> None:
        """The queue is full; the job is counted as dropped."""
        self.dropped += 1

    @action(fair=True, worker=Worker)
    def ask(self, worker: int) -> None:
        """A worker without a job asks, perhaps again."""
        require(self.got[worker] == self.done[worker])
        ask = worker * (self.J + 1) + self.got[worker]
        require(ask not in self.asks and self.may_ask(ask))
        self.asks.add(ask)
        self.asked.add(ask)

    def may_ask(self, ask: int) -> bool:
        """True: a worker may ask as often as it likes."""
        return True

    @action(fair=True, worker=Worker, number=upto(J + 1))
    def hear(self, worker: int, number: int) -> None:
        """An ask arrives at the master."""
        require(worker * (self.J + 1) + number in self.asks)
        self.asks.discard(worker * (self.J + 1) + number)
        if self.is_news(worker, number):
            self.asking.add(worker)

    def is_news(self, worker: int, number: int) -> bool:
        """True if the ask counts every job that was given to the worker."""
        return number == self.given[worker]

    @action(worker=Worker, number=upto(J + 1))
    def lose(self, worker: int, number: int) -> None:
        """An ask is lost."""
        require(self.lost < self.X and worker * (self.J + 1) + number in self.asks)
        self.asks.discard(worker * (self.J + 1) + number)
        self.lost += 1

    @action(fair=True, worker=Worker)
    def assign(self, worker: int) -> None:
        """A job goes to a worker that is asking."""
        require(worker in self.asking and self.queue > 0)
        self.asking.discard(worker)
        self.queue -= 1
        self.given[worker] += 1

    @action(fair=True, worker=Worker)
    def receive(self, worker: int) -> None:
        """The job arrives at its worker."""
        require(self.got[worker] < self.given[worker])
        self.got[worker] += 1

    @action(fair=True, worker=Worker)
    def finish(self, worker: int) -> None:
        """A worker is done with a job that it has got."""
        require(self.done[worker] < self.got[worker])
        self.done[worker] += 1

    @always("FLOW-46", MUST,
            "A worker has at most one job, one on its way to it included, and none while the "
            "master counts it as asking for one.",
            source=f"{WORKERS}; 003#E12", worker=Worker)
    def one_at_a_time(self, worker: int) -> bool:
        """Jobs on the way to the worker count as well."""
        return self.given[worker] - self.done[worker] + (worker in self.asking) <= 1

    @always("FLOW-47", MUST,
            "A job that was submitted waits, was given to a worker, or was dropped.",
            source=WORKERS)
    def jobs_are_conserved(self) -> bool:
        """Each job is counted once."""
        return self.submitted == self.queue + sum(self.given) + self.dropped

    @leads_to("FLOW-48", MUST,
              "If only finitely many jobs come and only finitely many asks are lost, eventually "
              "no job waits: each was given to a worker or dropped.",
              source=f"{WORKERS}; 003#drops")
    def nobody_waits_for_ever(self) -> tuple[bool, bool]:
        """Provided that losses come to an end."""
        return self.queue > 0, self.queue == 0


class TakingEveryAsk(Workers):
    """The master has a set of asking workers, and ignores the number of an ask."""

    def is_news(self, worker: int, number: int) -> bool:
        """True for any number."""
        return True


class DroppingInSilence(Workers):
    """A dropped job is not counted."""

    def drop(self) -> None:
        """The job is gone unnoticed."""


class AskingOnce(Workers):
    """A worker asks once for each job."""

    def may_ask(self, ask: int) -> bool:
        """True if the worker has not sent this ask yet."""
        return ask not in self.asked


EXPECTATIONS = (
    expect(Workers, "FLOW-46", "holds", "each has one job", W=(1, 2, 3), J=2, K=(1, 2)),
    expect(Workers, "FLOW-47", "holds", "jobs are conserved", W=(1, 2, 3), J=2, K=(1, 2)),
    expect(Workers, "FLOW-48", "holds", "asking again survives losses", W=(1, 2), J=2, K=1,
           X=(0, 1)),
    expect(TakingEveryAsk, "FLOW-46", "violated",
           "003#E12: an ask that is late makes a second job, even if the askers are a set",
           W=(1, 2), J=2, K=(1, 2)),
    expect(DroppingInSilence, "FLOW-47", "violated", "a job that is dropped in silence is nowhere",
           W=1, J=2, K=1),
    expect(AskingOnce, "FLOW-48", "violated", "a worker that asks once waits forever if the ask is "
           "lost", where="X > 0", W=1, J=2, K=1, X=(0, 1)),
)
