"""Requests of the controller under way, and their tolerance of repeated and late copies.

Theory of operation
-------------------
A controller has a queue for each broker, and one thread that empties it. It sends the first request
of the queue, waits for the answer, and if none comes sends the *same* one again; it sends the next
one only after the answer. So requests arrive in order and at least once. A copy that was given up
may still be under way, and arrive after later requests; so may any request if there are two
connections.

There are three kinds. The broker's reaction decides which copies are harmless:

    LeaderAndIsr      obeyed if its leader epoch is greater than the known one: twice and late
    UpdateMetadata    replaces what was known: twice, but not late
    StopReplica       before 2.6 it names no leader epoch: twice, but not late; since then it is
                      compared like that of a LeaderAndIsr

The source text says that all three are idempotent. That is true of the copies that the queue makes,
and no more than that.

The controller decides N times about one partition of one broker, and each decision is a request. L
is 1 if copies may be late.

``BatchOrder`` has the order within a batch of changes. The requests of a batch to a broker enter
its queue as LeaderAndIsr first, then UpdateMetadata, then StopReplica, and the queue keeps that
order. So a broker's metadata for clients is never newer than the LeaderAndIsr request that it has
obeyed, and it stops a replica only when it no longer sends clients to it. The text does not specify
this order; the code does. Between several brokers there is no such order, so a client may still be
sent to one that does not lead yet, and has to ask again.

Source: kafka#requests; 001#controller.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, boolean, const, fifo, integer, leads_to, require, step,
    upto,
)

__all__ = [
    "EXPECTATIONS", "Backwards", "BatchOrder", "ControllerRequests", "GivingUp", "MetadataFirst",
    "MetadataRequests", "SendingTheNext", "StopRequests", "StoppingFirst", "WithoutLeaders",
    "WithoutMetadata",
]

REQUESTS = "kafka#requests"


class ControllerRequests(Machine):
    """LeaderAndIsr: the broker compares the leader epoch, which is the decision's number."""

    N = const(3, at_least=1)            # decisions
    L = const(1, at_most=1)             # 1: copies may come late

    decided = integer(0, N)             # requests that have entered the queue
    answered = integer(0, N)            # answered requests; the next one is under way
    failing = integer(0, 2)             # connections that broke since the last answer
    done = integer(0, N)                # the decision that the broker has obeyed
    reached = integer(0, N)             # the latest decision that has ever reached it
    repeated = boolean()                # the last delivery was a repetition
    went_back = boolean()               # … and it changed what the broker obeys

    @action(fair=True)
    def decide(self) -> None:
        """The controller makes another decision."""
        require(self.decided < self.N)
        self.decided += 1

    @action(fair=True)
    def answer(self) -> None:
        """The first request of the queue arrives, and its answer comes back."""
        require(self.answered < self.decided)
        self.answered += 1
        self.failing = 0
        self.receive(self.answered)

    @action
    def lose_answer(self) -> None:
        """The request arrives, and its answer is lost: it will be sent again."""
        require(self.answered < self.decided and self.failing < 2)
        self.failing += 1
        self.receive(self.answered + 1)

    @action
    def lose_request(self) -> None:
        """The request does not arrive: it will be sent again."""
        require(self.answered < self.decided and self.failing < 2)
        self.failing += 1
        self.drop()

    def drop(self) -> None:
        """The request stays the first of the queue."""

    @action(copy=upto(N))
    def come_late(self, copy: int) -> None:
        """A late copy of an earlier request arrives."""
        require(self.L == 1 and copy + 1 <= self.reached)
        self.receive(copy + 1)

    def receive(self, request: int) -> None:
        """The broker obeys the request, or ignores it."""
        self.repeated = request <= self.reached
        self.went_back = self.repeated and self.obeys(request) and request != self.done
        if self.obeys(request):
            self.done = request
        self.reached = max(self.reached, request)

    def obeys(self, request: int) -> bool:
        """True if the leader epoch is new."""
        return request > self.done

    @step("KAFKA-C61", MUST,
          "After a broker has obeyed a decision of the controller about a partition, it obeys "
          "no earlier one.",
          source=REQUESTS)
    def decisions_only_go_on(self, after: ControllerRequests) -> bool:
        """Holds for repeated and late copies."""
        return after.done >= self.done

    @leads_to("KAFKA-C62", MUST,
              "A broker that a decision of the controller about a partition is sent to, and that "
              "stays up, eventually receives it or a later one about that partition.",
              source=f"{REQUESTS}; KAFKA-1187", number=upto(N))
    def decisions_arrive(self, number: int) -> tuple[bool, bool]:
        """As long as the broker is up."""
        return self.decided > number, self.reached > number

    @step("KAFKA-C63", MUST,
          "The first copies of one controller's requests reach a broker in the order in which "
          "they were made; none is skipped, unless a later request replaces it while it waits.",
          source=REQUESTS)
    def first_copies_are_in_order(self, after: ControllerRequests) -> bool:
        """Only one request is under way at a time."""
        return after.reached <= self.reached + 1

    @step("KAFKA-C60", CLAIM, "LeaderAndIsr, StopReplica and UpdateMetadata are idempotent: a "
          "repeated copy, however late, changes nothing.", source="001#controller; kafka#requests")
    def requests_are_idempotent(self, after: ControllerRequests) -> bool:
        """Whenever the copy arrives."""
        return not after.went_back


class MetadataRequests(ControllerRequests):
    """UpdateMetadata: every request is obeyed."""

    def obeys(self, request: int) -> bool:
        """No epoch is compared."""
        return True


class StopRequests(ControllerRequests):
    """Before 2.6: every second decision is to stop the replica, without a leader epoch."""

    def obeys(self, request: int) -> bool:
        """A request to stop is always obeyed, any other one compares epochs."""
        return request % 2 == 0 or request > self.done


class GivingUp(ControllerRequests):
    """A request that cannot be sent is dropped (KAFKA-1187)."""

    def drop(self) -> None:
        """The next request becomes the first of the queue."""
        self.answered += 1


class SendingTheNext(ControllerRequests):
    """Two requests are under way at a time."""

    @action
    def overtake(self) -> None:
        """The second request of the queue arrives first."""
        require(self.answered + 2 <= self.decided)
        self.receive(self.answered + 2)


class BatchOrder(Machine):
    """One broker, and the requests of batches to it about one partition."""

    N = const(2, at_least=1)            # batches

    queue = fifo(integer(0, 2), 3)      # 0: LeaderAndIsr, 1: UpdateMetadata, 2: StopReplica
    made = integer(0, N)                # batches so far
    put = integer(0, 3, init=3)         # requests of the last batch that have entered the queue
    led = integer(0, N)                 # the batch of the LeaderAndIsr that the broker has obeyed
    named = integer(0, N)               # … of the UpdateMetadata that it gives to clients
    stopped = integer(0, N)             # … of the StopReplica that it has obeyed

    @action
    def change(self) -> None:
        """The controller carries out a batch, after the previous one has left the queue."""
        require(self.made < self.N and self.put == 3 and len(self.queue) == 0)
        self.made += 1
        self.put = 0

    @action(fair=True)
    def enqueue(self) -> None:
        """The next request of the batch enters the queue."""
        require(self.put < 3 and len(self.queue) < 3)
        self.queue.push(self.kind(self.put))
        self.put += 1

    def kind(self, place: int) -> int:
        """The kind of the request at this place of a batch."""
        return place

    @action(fair=True)
    def receive(self) -> None:
        """The broker obeys the first of the queue."""
        request = self.queue.pop()
        if request == 0:
            self.led = self.made
        elif request == 1:
            self.named = self.made
        else:
            self.stopped = self.made

    @always("KAFKA-C78", MUST,
            "A broker gives clients the metadata of a batch of changes only after it has obeyed "
            "the LeaderAndIsr of that batch or a later one.",
            source=f"{REQUESTS} (within a batch)")
    def metadata_follows(self) -> bool:
        """Otherwise it sends clients to itself before it leads."""
        return self.named <= self.led

    @always("KAFKA-C79", MUST,
            "A broker obeys the StopReplica of a batch of changes only after it has received "
            "the UpdateMetadata of that batch or a later one.",
            source=f"{REQUESTS} (within a batch)")
    def stopping_comes_last(self) -> bool:
        """Otherwise clients are sent to a stopped replica."""
        return self.stopped <= self.named


class MetadataFirst(BatchOrder):
    """UpdateMetadata goes before LeaderAndIsr."""

    def kind(self, place: int) -> int:
        """The first two have changed places."""
        return 1 - place if place < 2 else place


class StoppingFirst(BatchOrder):
    """StopReplica goes before the others."""

    def kind(self, place: int) -> int:
        """StopReplica is the first, and the others follow."""
        return (place + 2) % 3


class Backwards(BatchOrder):
    """The three go in the opposite order."""

    def kind(self, place: int) -> int:
        """The last one is the first."""
        return 2 - place


class WithoutLeaders(BatchOrder):
    """LeaderAndIsr is forgotten, and UpdateMetadata goes in its place."""

    def kind(self, place: int) -> int:
        """The first is like the second."""
        return max(1, place)


class WithoutMetadata(BatchOrder):
    """UpdateMetadata is forgotten, and LeaderAndIsr goes in its place."""

    def kind(self, place: int) -> int:
        """The second is like the first."""
        return 0 if place == 1 else place


IN_ORDER = ("KAFKA-C61", "KAFKA-C62", "KAFKA-C63")
BOTH = ((MetadataRequests, "UpdateMetadata"), (StopRequests, "StopReplica"))

EXPECTATIONS = (
    *(expect(ControllerRequests, rule, "holds", "LeaderAndIsr may come twice and late",
             N=3, L=(0, 1)) for rule in (*IN_ORDER, "KAFKA-C60")),
    *(expect(variant, rule, "violated", where="L == 1", N=3, L=(0, 1),
             about=f"{kind} may come twice, but not late")
      for variant, kind in BOTH for rule in ("KAFKA-C61", "KAFKA-C60")),
    *(expect(variant, "KAFKA-C62", "holds", f"every {kind} of the queue arrives", N=3, L=(0, 1))
      for variant, kind in BOTH),
    expect(GivingUp, "KAFKA-C62", "violated", "the last request is given up (KAFKA-1187)",
           N=3, L=0),
    expect(GivingUp, "KAFKA-C63", "violated", "one request is skipped, and the next "
           "arrives", N=3, L=0),
    expect(SendingTheNext, "KAFKA-C63", "violated", "the second arrives before the first",
           N=3, L=0),
    *(expect(BatchOrder, rule, "holds", "LeaderAndIsr, UpdateMetadata, StopReplica", N=(1, 2, 3))
      for rule in ("KAFKA-C78", "KAFKA-C79")),
    expect(MetadataFirst, "KAFKA-C78", "violated", "clients are sent to a broker that does not "
           "lead yet",
           N=(1, 2)),
    expect(MetadataFirst, "KAFKA-C79", "holds", "StopReplica is still the last", N=(1, 2)),
    expect(StoppingFirst, "KAFKA-C79", "violated", "clients are sent to a stopped replica",
           N=(1, 2)),
    *(expect(Backwards, rule, "violated", "clients are sent to the last to learn", N=(1, 2))
      for rule in ("KAFKA-C78", "KAFKA-C79")),
    expect(WithoutLeaders, "KAFKA-C78", "violated", "clients are sent to an ignorant broker",
           N=(1, 2)),
    expect(WithoutLeaders, "KAFKA-C79", "holds", "it stops last", N=(1, 2)),
    expect(WithoutMetadata, "KAFKA-C79", "violated", "clients learn nothing", N=(1, 2)),
    expect(WithoutMetadata, "KAFKA-C78", "holds", "it leads before", N=(1, 2)),
)

UNSEEN = {
    "KAFKA-C60":
        "The text says it of three requests, and it is false of two of them, so no implementation "
        "has to satisfy it.",
    "KAFKA-C63":
        "The port of the controller shows the requests that enter the queues, and not how the "
        "queues are emptied.",
}
