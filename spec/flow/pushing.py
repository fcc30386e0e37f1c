"""A master that pushes jobs to its workers, and what it has to know for that.

Theory of operation
-------------------
In ``workers`` a worker asks when it is idle. The mail weighs that against a master that pushes, and
says that such a master would have to be aware of all workers that are on-line, and of the state of
each. Both are kept here: ``known`` are the workers that the master takes to be on-line, ``busy``
those that it takes to have a job. A worker reports when it comes, and when it has done a job:

    worker                                     master
      | --- I am here, and have done n jobs --->  known; idle, if n counts all it was given
      | <------------------ job ----------------  busy
      | --- I am here, and have done n + 1 ---->  idle

So the message is the ask of ``workers`` by another name, with its number and for the same reason
(003#E12), and a master that takes every known worker to be idle gives one of them two jobs
(FLOW-140). The additional cost of pushing is *leaving*. A worker that asks is there and waits; one
that is known may be gone when its job comes. So it has to say good-bye and wait until the master
has let it go, after all that it has said before (FLOW-141); a worker that pulls just asks no more.
And since no worker asks again, a message that is lost has to be repeated here as well, or the
worker is forgotten while it waits (FLOW-142). Seen from the master the two protocols are one:
``Pushing`` is what the observer of a pulling master accepts.

Source: the mail "back pressure"; 003#push-pull, 003#workers, 003#E12, 003#E24.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, array, boolean, const, integer, leads_to, pairs, require,
    subset, upto,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_jobs import ObservedMaster

__all__ = [
    "EXPECTATIONS", "FixedList", "ForgettingStates", "LeavingAtOnce", "Pushing", "PushingSeen",
    "TellingOnce",
]

WORKERS = "003#workers"


class Pushing(Machine):
    """The master knows which workers are on-line, and which have a job."""

    W = const(2, at_least=1)            # workers
    J = const(2, at_least=1)            # jobs that clients submit in all
    K = const(1, at_least=1)            # places in the queue
    X = const(0)                        # messages that may be lost, in all
    G = const(0)                        # workers that may go, in all
    Worker = alike(W)

    submitted = integer(0, J)
    queue = integer(0, K)
    dropped = integer(0, J)
    lost = integer(0, X)
    gone = integer(0, G)

    here = array(Worker, boolean())             # on-line
    parting = subset(Worker)                    # have said good-bye
    messages = subset(pairs(Worker, upto(J + 1)))   # w * (J + 1) + n: w is here, and has done n
    told = subset(pairs(Worker, upto(J + 1)))       # those that were ever sent
    given = array(Worker, integer(0, J))        # jobs that the master has given to each
    done = array(Worker, integer(0, J))
    known = subset(Worker)                      # the workers that the master takes to be on-line
    busy = subset(Worker)                       # those that it takes to have a job
    wasted = integer(0, J)                      # jobs that came to a worker that had left

    @action
    def submit(self) -> None:
        """A client's job; a full queue drops one."""
        require(self.submitted < self.J)
        self.submitted += 1
        if self.queue < self.K:
            self.queue += 1
        else:
            self.dropped += 1

    # --- workers -----------------------------------------------------------------------------

    @action(worker=Worker)
    def come(self, worker: int) -> None:
        """A worker is on-line."""
        require(not self.here[worker])
        self.here[worker] = True

    @action(fair=True, worker=Worker)
    def tell(self, worker: int) -> None:
        """A worker without a job reports that it is here, perhaps again."""
        require(self.here[worker] and worker not in self.parting)
        require(self.given[worker] == self.done[worker])
        message = worker * (self.J + 1) + self.done[worker]
        require(message not in self.messages and self.may_tell(message))
        self.messages.add(message)
        self.told.add(message)

    def may_tell(self, message: int) -> bool:
        """True: a worker may report as often as it likes."""
        return True

    @action(fair=True, worker=Worker)
    def finish(self, worker: int) -> None:
        """A worker that is here has done a job."""
        require(self.here[worker] and self.done[worker] < self.given[worker])
        self.done[worker] += 1

    @action(worker=Worker)
    def part(self, worker: int) -> None:
        """A worker wants to go."""
        require(self.here[worker] and worker not in self.parting and self.gone < self.G)
        self.gone += 1
        self.say_goodbye(worker)

    def say_goodbye(self, worker: int) -> None:
        """The worker stays until the master has let it go."""
        self.parting.add(worker)

    # --- the network -------------------------------------------------------------------------

    @action(worker=Worker, number=upto(J + 1))
    def lose(self, worker: int, number: int) -> None:
        """A message is lost."""
        require(self.lost < self.X and worker * (self.J + 1) + number in self.messages)
        self.messages.discard(worker * (self.J + 1) + number)
        self.lost += 1

    @action(fair=True, worker=Worker, number=upto(J + 1))
    def hear(self, worker: int, number: int) -> None:
        """A message arrives at the master."""
        require(worker * (self.J + 1) + number in self.messages)
        self.messages.discard(worker * (self.J + 1) + number)
        if number == self.given[worker] and self.may_join(worker):
            self.known.add(worker)
            self.busy.discard(worker)

    def may_join(self, worker: int) -> bool:
        """True: any worker may join the list."""
        return True

    @action(fair=True, worker=Worker)
    def let_go(self, worker: int) -> None:
        """The good-bye arrives, behind all that its worker has said before."""
        require(worker in self.parting and self.given[worker] == self.done[worker])
        require(all(worker * (self.J + 1) + number not in self.messages
                    for number in range(self.J + 1)))
        self.parting.discard(worker)
        self.known.discard(worker)
        self.here[worker] = False

    # --- the master --------------------------------------------------------------------------

    @action(fair=True, worker=Worker)
    def push(self, worker: int) -> None:
        """A job goes to a worker that is idle, as far as the master knows."""
        require(worker in self.known and self.queue > 0 and self.is_idle(worker))
        self.queue -= 1
        self.given[worker] += 1
        self.busy.add(worker)
        if not self.here[worker]:
            self.wasted += 1

    def is_idle(self, worker: int) -> bool:
        """True if the worker has reported since it was given its last job."""
        return worker not in self.busy

    # --- rules -------------------------------------------------------------------------------

    @always("FLOW-140", MUST, "A master that pushes gives a job only to a worker that has none.",
            source=f"{WORKERS} ('the state of all those workers'); 003#E24", worker=Worker)
    def one_at_a_time(self, worker: int) -> bool:
        """The messages that are late make no difference."""
        return self.given[worker] - self.done[worker] <= 1

    @always("FLOW-141", MUST, "A job that is pushed finds its worker on-line when it arrives.",
            source=f"{WORKERS} ('the set of all the currently on-line workers'); 003#E24")
    def nobody_is_missing(self) -> bool:
        """A job that is pushed to a missing worker would be lost unnoticed."""
        return self.wasted == 0

    @leads_to("FLOW-142", MUST,
              "If only finitely many jobs come and only finitely many messages are lost, then "
              "after a job waits while a worker is on-line, eventually no job waits, or no "
              "worker is on-line.",
              source=f"{WORKERS}; 003#E24, 003#drops")
    def nobody_waits_for_ever(self) -> tuple[bool, bool]:
        """Provided that losses come to an end."""
        return (self.queue > 0 and any(self.here),
                self.queue == 0 or not any(self.here))


class ForgettingStates(Pushing):
    """The master knows which workers are on-line, and not which have a job."""

    def is_idle(self, worker: int) -> bool:
        """True: every known worker gets the next job."""
        return True


class FixedList(Pushing):
    """The master has a fixed list of workers, to which none is added."""

    def may_join(self, worker: int) -> bool:
        """True only for workers that are on the list already."""
        return worker in self.known


class TellingOnce(Pushing):
    """A worker reports once that it is here, and once that a job is done."""

    def may_tell(self, message: int) -> bool:
        """True if the worker has not sent this message yet."""
        return message not in self.told


class LeavingAtOnce(Pushing):
    """A worker says good-bye, and leaves at once."""

    def say_goodbye(self, worker: int) -> None:
        """The worker leaves now; the master learns of it later."""
        require(self.given[worker] == self.done[worker])
        self.parting.add(worker)
        self.here[worker] = False


class PushingSeen(View[Pushing]):
    """All that arrives at the master and leaves it; reporting idle is an ask."""

    history: tuple[int, ...] = ()   # the workers to which jobs were given

    around = ("come", "tell", "lose", "finish", "part", "here", "done", "messages", "told")

    @shown
    def submit(self, before: Pushing, after: Pushing) -> Iterable[Seen]:
        return [see("submit"), *[see("drops")] * (after.dropped - before.dropped)]

    @shown
    def hear(self, before: Pushing, after: Pushing, worker: int, number: int) -> Seen:
        if number != self.history.count(worker):
            return see("late_ask", worker=worker)
        return see("ask", worker=worker)

    @shown
    def push(self, before: Pushing, after: Pushing, worker: int) -> Seen:
        self.history = (*self.history, worker)
        return see("gives", worker=worker)

    @shown
    def finish(self, before: Pushing, after: Pushing, worker: int) -> Seen:
        return see("done", worker=worker)

    def asked(self, machine: Pushing) -> Iterable[Seen | Sequence[Seen]]:
        """Report that the master is idle if it can push nothing."""
        if "push" not in self.enabled:
            yield see("rests")


SEEN = refines(Pushing, ObservedMaster, "a worker that reports that it is idle has asked",
               shows=PushingSeen, seen_by={"K": "K", "W": "W"}, W=(1, 2), J=2, K=(1, 2), G=0,
               X=(0, 1))

EXPECTATIONS = (
    *(expect(Pushing, rule, "holds", says, W=(1, 2), J=2, K=(1, 2), X=(0, 1), G=(0, 1))
      for rule, says in (
        ("FLOW-140", "each has one job"), ("FLOW-141", "a worker that gets a job is on-line"))),
    expect(Pushing, "FLOW-142", "holds", "what waits is pushed", W=(1, 2), J=2, K=1, X=(0, 1),
           G=(0, 1)),
    expect(ForgettingStates, "FLOW-140", "violated", "003#E24: a master that does not know the "
           "states of its workers", W=(1, 2), J=2, K=1),
    expect(FixedList, "FLOW-142", "violated", "003#E24: a master that does not know which workers "
           "have come",
           W=1, J=1, K=1),
    expect(LeavingAtOnce, "FLOW-141", "violated", "003#E24: a master that does not know which "
           "workers have gone", where="G > 0", W=(1, 2), J=1, K=1, G=(0, 1)),
    expect(TellingOnce, "FLOW-142", "violated",
           "a worker that reports once is forgotten if the report is lost", where="X > 0", W=1, J=2,
           K=1, X=(0, 1)),
    SEEN,
    refused(ForgettingStates, "FLOW-50", "003#E24: a second job for a worker that has one",
            like=SEEN, W=1, J=2, K=1, X=0),
)

UNSEEN = {
    "FLOW-141":
        "Whether a worker is still there when its job arrives is seen by the worker; in the port "
        "of jobs none leaves.",
    "FLOW-142":
        "That a job is pushed eventually is about runs without an end, in which workers come and "
        "go.",
}
