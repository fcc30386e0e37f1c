"""The length of a controller's queue to a broker that does not answer.

Theory of operation
-------------------
A controller has a queue for each broker, and sends its first request again until the broker answers
or is no longer registered (``controller_requests``). A broker may stay registered for any time
without answering: heartbeats of another thread, over another connection, keep its session alive.
The controller continues to decide meanwhile. In the text's loop, and in Kafka's unbounded queue,
every decision is one more request; nothing bounds their number, and all of them are sent, one after
the other, when the broker answers again.

Requests state the new situation, not a change. So a decision about a partition *replaces* waiting
ones about the same partition; then at most as many wait as there are partitions. Two similar
designs are wrong:

    to refuse a decision when the queue is full    the last one is lost, and not repeated
    to replace the request that is under way too   the answer to its first copy counts as an
                                                   answer to a request that was never sent

There are P partitions, N decisions, a broker that falls silent S times, and one kind of request.
With several kinds in an order that matters, each replaces its own kind: at most as many wait as
there are pairs of a partition and a kind.

Source: kafka#requests; 001#controller.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, const, integer, leads_to, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "KeepingAll", "RefusingWhenFull", "ReplacingWhatIsSent", "RequestQueue",
    "SendingAny",
]

REQUESTS = "kafka#requests; 001#controller"


class RequestQueue(Machine):
    """A queue in which a decision replaces a waiting one about the same partition."""

    P = const(2, at_least=1)            # partitions
    N = const(3, at_least=1)            # decisions
    S = const(1)                        # times that the broker falls silent

    made = integer(0, N)                            # decisions, numbered from 1 …
    about = array(upto(N), integer(0, P - 1))       # … the partition of each
    waits = array(upto(N), boolean())               # … and whether it waits in the queue
    under_way = integer(0, N)                       # the decision that was sent last; 0: none
    copy = integer(0, N)                            # … and the decision to be answered
    latest = array(upto(P), integer(0, N))          # the last decision about each partition
    knows = array(upto(P), integer(0, N))           # … and the last one that the broker has obeyed
    answers = boolean(True)                         # the broker answers
    silences = integer(0, S)

    @action(partition=upto(P))
    def decide(self, partition: int) -> None:
        """The controller decides about a partition."""
        require(self.made < self.N)
        self.about[self.made] = partition
        self.made += 1
        self.latest[partition] = self.made
        self.put(partition)

    def put(self, partition: int) -> None:
        """The decision enters the queue, and the ones that it replaces leave it."""
        for each in range(self.N):
            if each < self.made and self.about[each] == partition:
                self.waits[each] = each + 1 == self.made

    def waiting(self) -> int:
        """The number of waiting requests, without the one that is under way."""
        return sum(self.waits)

    @action(fair=True, decision=upto(N))
    def send(self, decision: int) -> None:
        """The first of the queue is sent, when no request is under way."""
        require(self.under_way == 0 and self.waits[decision])
        require(not any(self.waits[each] and each < decision for each in range(self.N)))
        self.waits[decision] = False
        self.under_way = decision + 1
        self.copy = decision + 1

    @action(fair=True)
    def answer(self) -> None:
        """The broker obeys and answers the copy that has reached it."""
        require(self.under_way > 0 and self.answers)
        self.knows[self.about[max(self.copy, 1) - 1]] = self.copy
        self.under_way = 0
        self.copy = 0

    @action
    def fall_silent(self) -> None:
        """The broker stops answering, and stays registered."""
        require(self.answers and self.silences < self.S)
        self.silences += 1
        self.answers = False

    @action(fair=True)
    def answer_again(self) -> None:
        """The broker answers again."""
        require(not self.answers)
        self.answers = True

    @always("KAFKA-C64", MUST,
            "Besides the request under way, at most as many requests of one kind wait for a "
            "broker as there are partitions.",
            source=REQUESTS)
    def few_wait(self) -> bool:
        """However long the broker does not answer."""
        return self.waiting() <= self.P

    @leads_to("KAFKA-C65", MUST,
              "If a broker eventually answers again, the last decision about each partition "
              "eventually reaches it.",
              source=REQUESTS, partition=upto(P))
    def the_last_decision_arrives(self, partition: int) -> tuple[bool, bool]:
        """Replaced decisions need not arrive."""
        return (self.knows[partition] < self.latest[partition],
                self.knows[partition] == self.latest[partition])

    @step("KAFKA-C66", MUST,
          "A broker obeys the decisions about one partition in the order in which they were "
          "made, though replaced ones may be left out.",
          source=REQUESTS, partition=upto(P))
    def it_is_in_order(self, after: RequestQueue, partition: int) -> bool:
        """Decisions that a later one replaces may be left out."""
        return after.knows[partition] >= self.knows[partition]


# ---- others ---------------------------------------------------------------------------------


class KeepingAll(RequestQueue):
    """The text's loop, and Kafka's queue: every decision is a request."""

    def put(self, partition: int) -> None:
        """It waits behind all others."""
        self.waits[self.made - 1] = True


class RefusingWhenFull(RequestQueue):
    """A queue with as many places as there are partitions, which refuses decisions when it is full.
    """

    def put(self, partition: int) -> None:
        """The decision enters the queue if it has a free slot."""
        if self.waiting() < self.P:
            self.waits[self.made - 1] = True


class SendingAny(KeepingAll):
    """Waiting requests are sent in any order, as over several connections."""

    @action(fair=True, decision=upto(RequestQueue.N))
    def send(self, decision: int) -> None:
        """Any waiting request may be sent next."""
        require(self.under_way == 0 and self.waits[decision])
        self.waits[decision] = False
        self.under_way = decision + 1
        self.copy = decision + 1


class ReplacingWhatIsSent(RequestQueue):
    """A decision replaces the one that is under way, too."""

    def put(self, partition: int) -> None:
        """A copy of the replaced request is under way already."""
        for each in range(self.N):
            if each < self.made - 1 and self.about[each] == partition:
                self.waits[each] = False
        if self.under_way > 0 and self.about[max(self.under_way, 1) - 1] == partition:
            self.under_way = self.made
        else:
            self.waits[self.made - 1] = True


BOUNDED = ("KAFKA-C64", "KAFKA-C65", "KAFKA-C66")

EXPECTATIONS = (
    *(expect(RequestQueue, rule, "holds", "a decision replaces the waiting one about its partition",
             P=(1, 2), N=(1, 2, 3, 4), S=(0, 1, 2)) for rule in BOUNDED),
    expect(KeepingAll, "KAFKA-C64", "violated", where="N > P",
           about="every decision waits, without a bound", P=(1, 2), N=(1, 2, 3, 4)),
    *(expect(KeepingAll, rule, "holds", "all decisions arrive, in order", P=(1, 2), N=(1, 2, 3))
      for rule in BOUNDED[1:]),
    expect(RefusingWhenFull, "KAFKA-C64", "holds", "the queue has no more "
           "places", P=(1, 2), N=(3, 4)),
    expect(RefusingWhenFull, "KAFKA-C65", "violated", "the last decision was refused",
           P=1, N=(2, 3)),
    expect(SendingAny, "KAFKA-C66", "violated", "the second arrives before the first", P=1, N=2),
    expect(ReplacingWhatIsSent, "KAFKA-C65", "violated", "the answer was to an earlier copy",
           P=1, N=2),
)
