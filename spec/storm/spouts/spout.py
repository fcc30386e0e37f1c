"""max.spout.pending: how many root tuples a spout may have outstanding, exactly.

Theory of operation
-------------------
A spout executor of k tasks may have max = M k roots pending, that is emitted and neither
acked, failed nor timed out. In each turn of its loop it looks **once** whether pending has
reached max; if not, it calls nextTuple on every task, and looks no more. A call may emit up
to E roots. So the last round starts with max - 1 pending at the most, and may add all that a
round emits:

    pending <= max - 1 + k E          attained; max itself only where k = E = 1

"Max in-flight tuples on a single spout task", as the notes have it, is not tested: the sum
over the executor's tasks is compared with M k, so one task may have nearly all of them (D16).

M = 0, or none given, means *unlimited*: only the backpressure of full queues then bounds the
number of pending roots (the notes say that the default is 1, which is that of Trident's
coordinator, not of a spout). Only roots with a message id count, and only while there are
ackers: without, pending is always empty, and the limit never applies.

A pending root leaves by an answer of the acker or by the spout's timeout. A lost root leaves
only by the timeout. With timeouts disabled, max lost roots stop the spout forever (STORM-3514).

Source: the notes on Storm's acker and KafkaSpout ("Topology config", "spout throttle"); the
code is SpoutExecutor.call and SpoutOutputCollectorImpl.
"""

from __future__ import annotations

from ...expectations import expect, prove
from ...notation import (
    CLAIM, MUST, Machine, action, always, array, const, integer, leads_to, require, upto,
)

__all__ = [
    "EXPECTATIONS", "MaxPending", "PendingLookedAtTooLate", "PendingOfOneTask", "PendingOverMax",
    "PendingWithoutTimeouts",
]

CONFIG = "001#max-pending; storm#executors"


class MaxPending(Machine):
    """A spout executor's loop, and the fate of the roots that it emits."""

    M = const(2)                        # max.spout.pending; 0 is unlimited
    k = const(1, at_least=1)            # tasks of the executor
    E = const(1, at_least=1)            # roots that one call of nextTuple may emit
    limit = const(9, at_least=1)        # keeps the machine finite where nothing else does

    live = integer(0, limit)            # pending roots that will be answered
    lost = integer(0, limit)            # pending roots that will never be answered
    left = integer(0, k * E)            # roots that the round may still emit

    def pending(self) -> int:
        """The size of the spout's map of pending roots."""
        return self.live + self.lost

    @action(fair=True)
    def begin_round(self) -> None:
        """Check pending once; nextTuple is then called on every task."""
        require(self.left == 0 and not self.has_reached_max())
        self.left = self.k * self.E

    def has_reached_max(self) -> bool:
        """True if the test of SpoutExecutor.call stops the round."""
        return self.M > 0 and self.pending() >= self.M * self.k

    @action(fair=True)
    def emit(self) -> None:
        """Emit a root with a message id."""
        require(self.left > 0 and self.pending() < self.limit)
        self.left -= 1
        self.live += 1

    @action
    def pass_up(self) -> None:
        """The rest of the round emits nothing: there is no data."""
        require(self.left > 0)
        self.left = 0

    @action(fair=True)
    def answer(self) -> None:
        """Between two rounds the executor takes an answer from its recvQ."""
        require(self.left == 0 and self.live > 0)
        self.live -= 1

    @action
    def lose(self) -> None:
        """A message of some tree is lost: its root will never be answered."""
        require(self.live > 0 and self.lost < self.limit)     # the latter for the prover's sake
        self.live -= 1
        self.lost += 1

    @action(fair=True)
    def time_out(self) -> None:
        """A lost root is given up, between two rounds."""
        require(self.left == 0 and self.lost > 0)
        self.lost -= 1

    @always("STORM-K1", MUST,
            "With a maximum of M per task, an executor of k tasks has at most M k - 1 + k E "
            "roots pending, E being the most that one call of nextTuple emits.",
            source=f"{CONFIG} (overshoot of at most emits in one round - 1)")
    def overshoot_is_bounded(self) -> bool:
        """With a maximum, the bound is M k - 1 + k E."""
        return self.M == 0 or self.pending() <= self.M * self.k - 1 + self.k * self.E

    @always("STORM-K2", CLAIM,
            "With a maximum of M per task, an executor of k tasks never has more than M k roots "
            "pending.",
            source="001#max-pending ('max in-flight spout tuples on a single spout task at once')")
    def maximum_is_kept(self) -> bool:
        """True only if a round emits no more than one root."""
        return self.M == 0 or self.pending() <= self.M * self.k

    @always("STORM-K3", CLAIM,
            "With a maximum of M per task, an executor of k tasks always has fewer than M k - 1 "
            "+ k E roots pending, the bound that STORM-K1 explains.",
            source=f"{CONFIG}; STORM-K1: expected to be violated, since that is exact")
    def overshoot_is_not_attained(self) -> bool:
        """One root less than STORM-K1 allows."""
        return self.M == 0 or self.pending() < self.M * self.k - 1 + self.k * self.E

    @always("STORM-K4", CLAIM, "If the maximum is not set, at most one root of a spout is pending.",
            source="001#max-pending ('unspecified means 1'); storm#D12: it means unlimited")
    def default_is_one(self) -> bool:
        """The notes say this of a maximum that is not given."""
        return self.M > 0 or self.pending() <= 1

    @always("STORM-K13", MUST,
            "With a maximum of M per task, the roots pending and those that the present round "
            "may still emit are together at most M k - 1 + k E, the bound that STORM-K1 "
            "explains.",
            source=f"{CONFIG}; STORM-K1: the induction behind it")
    def round_fits(self) -> bool:
        """Count the pending roots, and those that the round may still emit."""
        return self.M == 0 or self.pending() + self.left <= self.M * self.k - 1 + self.k * self.E

    @leads_to("STORM-K5", MUST, "A spout that has reached the maximum is below it again "
              "eventually, so that it may emit.",
              source="storm#rotating; STORM-3514, STORM-549")
    def maximum_does_not_stop_for_ever(self) -> tuple[bool, bool]:
        """Answers or timeouts free a slot."""
        return self.has_reached_max(), not self.has_reached_max()


class PendingOverMax(MaxPending):
    """The round is stopped only if pending *exceeds* the maximum."""

    def has_reached_max(self) -> bool:
        """True only above the maximum."""
        return self.M > 0 and self.pending() > self.M * self.k


class PendingWithoutTimeouts(MaxPending):
    """Message timeouts are disabled (STORM-3514): a lost root stays pending."""

    @action(fair=True)
    def time_out(self) -> None:
        """Never: no timeout comes."""
        require(False)


class PendingOfOneTask(Machine):
    """The same loop, with a count for each of k tasks; a call emits at most one root."""

    M = const(2, at_least=1)            # max.spout.pending
    k = const(2, at_least=1)            # tasks of the executor

    pending = array(upto(k), integer(0, M * k + k - 1))
    turn = integer(0, k, init=k)        # task to call next; k: the round is over

    @action(fair=True)
    def begin_round(self) -> None:
        """Check the sum once, and begin a round."""
        require(self.turn == self.k and sum(self.pending) < self.M * self.k)
        self.turn = 0

    @action(fair=True)
    def emit(self) -> None:
        """The next task in turn emits a root."""
        require(self.turn < self.k)
        for task in range(self.k):
            if task == self.turn:
                self.pending[task] += 1
        self.turn += 1

    @action
    def pass_up(self) -> None:
        """The next task in turn has nothing to emit."""
        require(self.turn < self.k)
        self.turn += 1

    @action(fair=True, task=upto(k))
    def answer(self, task: int) -> None:
        """Between two rounds, a root of a task is answered."""
        require(self.turn == self.k and self.pending[task] > 0)
        self.pending[task] -= 1

    @always("STORM-K36", CLAIM,
            "No task of a spout's executor has more roots pending than the maximum per task.",
            source="001#max-pending ('on a single spout task'); storm#executors: max is that of "
                   "the executor",
            task=upto(k))
    def each_task_keeps_the_maximum(self, task: int) -> bool:
        """The notes' sentence, applied to each task alone."""
        return self.pending[task] <= self.M

    @always("STORM-K37", MUST,
            "If a call of nextTuple emits at most one root, the k tasks of an executor together "
            "have at most k M + k - 1 roots pending, M being the maximum per task.",
            source=f"{CONFIG}; STORM-K1 (with E = 1)")
    def tasks_together_keep_the_maximum(self) -> bool:
        """The sum is what is tested, with the overshoot of a round."""
        return sum(self.pending) <= self.M * self.k + self.k - 1


class PendingLookedAtTooLate(PendingOfOneTask):
    """The check allows a round although the sum has already reached M k."""

    pending = array(upto(PendingOfOneTask.k),
                    integer(0, PendingOfOneTask.M * PendingOfOneTask.k + PendingOfOneTask.k))

    @action(fair=True)
    def begin_round(self) -> None:
        """Begin a round even at the maximum."""
        require(self.turn == self.k and sum(self.pending) <= self.M * self.k)
        self.turn = 0


MAXIMA, TASKS, EMITS = (1, 2), (1, 2), (1, 2)

EXPECTATIONS = (
    expect(MaxPending, "STORM-K1", "holds", "pending <= max - 1 + k E", M=MAXIMA, k=TASKS, E=EMITS),
    prove(MaxPending, "STORM-K13",
          "a round begins below max and adds at most k E, for all M and E: the induction",
          for_all=("M", "E", "limit"), k=(1, 2, 3)),
    prove(MaxPending, "STORM-K1",
          "pending <= max - 1 + k E, for all M and E", for_all=("M", "E", "limit"), k=(1, 2, 3),
          lemmas=("STORM-K13",)),
    expect(MaxPending, "STORM-K3", "violated",
           "max - 1 + k E is attained", M=MAXIMA, k=TASKS, E=EMITS),
    expect(MaxPending, "STORM-K2", "violated", "max itself is exceeded by larger rounds",
           where="k * E > 1", M=MAXIMA, k=TASKS, E=EMITS),
    expect(PendingOverMax, "STORM-K1", "violated", "> instead of >=", M=MAXIMA, k=TASKS, E=EMITS),
    expect(PendingOverMax, "STORM-K13", "violated",
           "> instead of >= begins a round that does not fit",
           M=MAXIMA, k=TASKS),
    expect(PendingOfOneTask, "STORM-K36", "violated", "one task has the roots of all (D16)",
           where="k > 1", M=MAXIMA, k=(1, 2, 3)),
    expect(PendingOfOneTask, "STORM-K37", "holds",
           "tasks of an executor keep the maximum together", M=MAXIMA,
           k=(1, 2, 3)),
    expect(PendingLookedAtTooLate, "STORM-K37", "violated", "> instead of >=", M=MAXIMA, k=(1, 2)),
    expect(MaxPending, "STORM-K4", "violated", "not given means unlimited (D12)", M=0),
    expect(MaxPending, "STORM-K5", "holds", "answers and timeouts free a slot",
           M=MAXIMA, k=TASKS, E=EMITS),
    expect(PendingWithoutTimeouts, "STORM-K5", "violated",
           "no timeouts: lost roots stop the spout (STORM-3514)", M=MAXIMA, k=TASKS, E=EMITS),
)

UNSEEN = {
    "STORM-K2":
        "It is false of rounds of more than one root, so it is not required of implementations.",
    "STORM-K3":
        "It is one root too strict, because the bound is attained, so it is not required of "
        "implementations.",
    "STORM-K4":
        "It is false: a maximum that is not given means none, so it is not required of "
        "implementations.",
    "STORM-K36":
        "It is false of an executor of several tasks, which share their maximum, so it is not "
        "required of implementations.",
}
