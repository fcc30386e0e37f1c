"""Clients that submit again: how large a queue may be, and what dropping the oldest promises.

Theory of operation
-------------------
A client submits a job again if it has not begun after T ticks. If its first copy still waits then,
there are two of it in the queue. A job waits longest if it takes the last of K places behind one
that has just begun, at u ticks each: K u ticks. So no job waits beside a copy of itself exactly
if

    T >= K u

which is the mail's "size the queue so that the waiting time is less than the resend timeout". Jobs
that are dropped ahead of it only shorten the wait.

The mail says that it is *always* desirable to drop the oldest, "since they will be redelivered
soon". That a dropped job comes again does not mean that it is done: a job that always comes just
before the one that evicts it is never done, though a job is done each round (003#E16). It takes a
phase that changes, or a bound on how often one job may be evicted.

Source: the mail "back pressure"; 003#dropping, 003#E16.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, SHOULD, Machine, action, always, assume, boolean, const, integer, leads_to, require,
)

__all__ = ["EXPECTATIONS", "Crowded", "Evicting", "Patient", "Relenting", "Resending"]

DROPPING = "003#dropping"


class Resending(Machine):
    """One job of a client that has a timer, and what is ahead of it."""

    K = const(2, at_least=1)            # places in the queue
    u = const(2, at_least=1)            # ticks of service
    T = const(4, at_least=1)            # ticks until the client submits again

    waits = boolean(False)
    ahead = integer(0, K - 1)           # jobs in the queue before it
    left = integer(0, u)                # ticks until the one in service is done
    age = integer(0, K * u + u)
    doubled = boolean(False)

    @action
    def other_comes(self) -> None:
        """Before this job is submitted, another one comes, which will be ahead of it."""
        require(not self.waits and self.ahead < self.K - 1)
        self.ahead += 1

    @action
    def other_is_served(self) -> None:
        """Before this job is submitted, the service of another has begun, with so much left."""
        require(not self.waits and self.left < self.u)
        self.left += 1

    @action
    def submit(self) -> None:
        """The job takes the next place, while another is in service."""
        require(not self.waits and self.left > 0)
        self.waits = True
        self.age = 0

    @action(fair=True)
    def tick(self) -> None:
        """Time passes; the next job is begun when the one before is done."""
        require(self.waits)
        self.left -= 1
        self.age += 1
        if self.left == 0:
            self.begin_next()
        if self.waits and self.age == self.T:
            self.doubled = True

    def begin_next(self) -> None:
        """The next job is begun, perhaps this one."""
        if self.ahead > 0:
            self.ahead -= 1
            self.left = self.u
        else:
            self.waits = False

    @action
    def drop_ahead(self) -> None:
        """Others come to a full queue, and its front is dropped."""
        require(self.waits and self.ahead > 0)
        self.ahead -= 1

    @always("FLOW-67", SHOULD,
            "No job waits beside a copy of itself, if its client submits it again no sooner "
            "than after the time in which the jobs of all places of the queue are served.",
            source=f"{DROPPING}: size the queue so that the waiting time is less than the resend "
                   "timeout")
    def there_is_one_copy(self) -> bool:
        """No copy was submitted while the first one waited."""
        return not self.doubled

    @always("FLOW-68", SHOULD,
            "A job waits at most for the time in which the jobs of all places of its queue are "
            "served.",
            source=DROPPING)
    def a_wait_is_bounded(self) -> bool:
        """Its wait so far, and the longest rest of it, fit."""
        return not self.waits or (
            self.left > 0 and self.age + self.ahead * self.u + self.left <= self.K * self.u)


class Patient(Resending):
    """A client with a timer that outlasts the queue: exactly then no copy is made."""

    @assume
    def the_timer_outlasts_the_queue(self) -> bool:
        """True if the timer is as long as the service of all places, at u ticks each."""
        return self.T >= self.K * self.u


class Crowded(Resending):
    """A queue with one place more than it says."""

    ahead = integer(0, Resending.K)

    @action
    def other_comes(self) -> None:
        """A job may come also when all places but one are taken, and that one is this job's."""
        require(not self.waits and self.ahead < self.K)
        self.ahead += 1


class Evicting(Machine):
    """One place, my job, others' jobs, and a worker that takes what is there: drop the oldest."""

    mine = boolean(False)               # this client's job is in the place
    other = boolean(False)              # or another client's is
    owed = boolean(False)               # the job of this client was dropped, and not done since

    @action(fair=True)
    def submit_mine(self) -> None:
        """The job comes whenever the place is empty."""
        require(not self.mine and not self.other)
        self.mine = True

    @action
    def submit_other(self) -> None:
        """Another client's job comes to the place, if it gets one."""
        require(not self.other and self.gets_place())
        self.owed = self.owed or self.mine
        self.mine = False
        self.other = True

    def gets_place(self) -> bool:
        """True: the job in the place is dropped for it."""
        return True

    @action(fair=True)
    def serve_mine(self) -> None:
        """The worker takes this client's job."""
        require(self.mine)
        self.mine = False
        self.owed = False

    @action(fair=True)
    def serve_other(self) -> None:
        """The worker takes the other client's job."""
        require(self.other)
        self.other = False

    @leads_to("FLOW-69", CLAIM,
              "In a queue that drops its oldest job, a job that was dropped is done eventually, "
              "since its client submits it again.",
              source=f"{DROPPING}; 003#E16")
    def it_is_done_some_day(self) -> tuple[bool, bool]:
        """The worker is fair, and so is the client that submits the job again."""
        return self.owed, not self.owed


class Relenting(Evicting):
    """A job that was dropped once is not dropped again: a bound on how often one may be evicted."""

    def gets_place(self) -> bool:
        """False if that would evict a job that is owed."""
        return not (self.mine and self.owed)

    @action
    def submit_other(self) -> None:
        """Another job does not come either before a job that is owed has come again."""
        require(self.mine or not self.owed)
        super().submit_other()


GRID: dict[str, Any] = {"K": (1, 2, 3, 4), "u": (1, 2, 3), "T": range(1, 13)}

EXPECTATIONS = (
    expect(Resending, "FLOW-67", "violated", "a copy waits beside its job exactly where T < K u",
           where="T < K * u", **GRID),
    *(prove(Patient, rule, about, for_all=("K", "T"), lemmas=lemmas, u=(1, 2, 3))
      for rule, about, lemmas in (
        ("FLOW-68", "a wait is bounded by all places, for all K", ()),
        ("FLOW-67", "one copy where T >= K u, for all K and T", ("FLOW-68",)),
      )),
    expect(Crowded, "FLOW-68", "violated", "a queue with one place more: a longer wait", K=(1, 2),
           u=(1, 2)),
    expect(Evicting, "FLOW-69", "violated",
           "003#E16: a job that always comes just before the one that evicts it is never done"),
    expect(Relenting, "FLOW-69", "holds", "a job that is dropped only once is done eventually"),
)

UNSEEN = {
    "FLOW-67":
        "That two jobs are copies is known to the client that has sent both, which no port has.",
    "FLOW-68":
        "How long a job waits is measured in time; a master's port has no clock.",
    "FLOW-69":
        "It is false of a queue that drops its oldest, as its expectation says, so no "
        "implementation is to keep it.",
}
