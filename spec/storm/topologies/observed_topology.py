"""A running topology, as observers see it: what they can see, and what they must not see.

Theory. A cluster leaves a history of events: a task emits a tuple to another, a task processes
one, a tuple is lost and counted, a root is emitted, acked, failed, and so on. Each event is
about one thing, and every promise of the earlier chapters can be stated as one about the events of
*one* thing. So there is no machine of the whole cluster here, which would have as many states
as clusters have, but eight small ones, and one copy of the fitting one for each thing:

    ObservedLane      a sender task in one life of its worker, and a receiver task
    ObservedTask      a task: the lengths of its queues and of its pendingEmits
    ObservedOverflow  a task's overflowQ without a limit, and the statuses that are lost
    ObservedFlag      the statuses that a worker has heard of a task of another one
    ObservedRoot      a root, that is one attempt at a message of the source
    ObservedSource    a message of the source, with all attempts at it
    ObservedWorker    a worker, and the exceptions of its user code
    ObservedRun       transfer queues and connections, and how the run ends

The judge of a history hands each event to the copies that it is about. A copy that can take
no step names the rule that was violated. As a copy is small, so is the state of a judge that
follows a cluster in production.

A *message* is what the spout reads from its source, a *root* the id of one attempt at it. Its
tree has n *parts* that must reach the sink. Times are in the instants of the history's clock.

Some promises are kept only as fast as messages travel: that a bolt's fail() reaches the spout
at once, that a request for more time arrives in time. They are judged in *calm* runs, in which
the only faults are those of bolts, and there a message about a root takes at most D. Ticks of the
message timeout are P apart, and a tick is at most D late.

User code may raise an exception that is not caught: a bolt in execute(), a spout in nextTuple().
The guarantee for the others is then that no task stops alone. A task that is gone while its worker
lives holds the tuples in its queues forever, unnoticed; a worker that dies loses what it held, but
its messages are counted, its connections break, and its spouts and its peers start over. So the
worker dies, and with it every task that it has, within G.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 001 for acknowledgements;
storm#remote-send and what follows it, storm#waits, storm#rotating.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, boolean, const, guard_rule, integer, require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "ObservedFlag", "ObservedLane", "ObservedOverflow", "ObservedRoot",
    "ObservedRun", "ObservedSource", "ObservedTask", "ObservedWorker",
]

IN_FLIGHT = guard_rule(
    "STORM-C19", MUST,
    "An overflowQ without a limit holds at most 1 + W + H + L (R + 1) tuples: 1 at hand, W on "
    "their way, H sent before ON is heard, R the growth without a reminder, L lost statuses.",
    source="000#overflow, 000#memory; storm#status; STORM-S4, STORM-S5 (for one sender)")
ORDER = guard_rule(
    "STORM-C1", MUST,
    "In one life of the sender's worker, a task processes the tuples of a sender task in the "
    "order of emission, each at most once; some may be missing.",
    source="000#order; storm#D7, storm#fifo; STORM-996")
NOT_INVENTED = guard_rule(
    "STORM-C2", MUST,
    "A tuple is processed, is counted as lost, or reaches the sink only after it, or its root, "
    "was emitted; no more are processed or lost than were emitted.",
    source="000#order")
COUNTED = guard_rule(
    "STORM-C3", MUST,
    "Whenever the topology is quiescent, the tuples processed and those counted as lost are "
    "together as many as those emitted, for each sender and receiver task.",
    source="000#memory; storm#remote-send, storm#remote-receive; STORM-3376")
CAPACITY = guard_rule(
    "STORM-C4", MUST, "recvQ never holds more than its capacity.",
    source="000#within; storm#bound; STORM-744")
LIMIT = guard_rule(
    "STORM-C5", MUST, "The overflowQ never holds more than its limit, if it has one.",
    source="000#memory; storm#bound; STORM-1087")
STOPS = guard_rule(
    "STORM-C6", MUST, "A bolt consumes nothing while its pendingEmits is not empty, so "
    "pendingEmits never holds more than one execution emits.",
    source="000#within; storm#executors; STORM-3073")
OVERSHOOT = guard_rule(
    "STORM-C7", MUST,
    "If a spout has a maximum M, at most M + E - 1 of its roots are pending, E being the most "
    "that one round of nextTuple emits.",
    source="storm#executors; 001#max-pending")
COMPLETE = guard_rule(
    "STORM-C8", MUST,
    "The spout's ack() is called for a root only after all parts of its tree have reached the "
    "sink.",
    source="001#tree; storm#ack-safe")
ONCE = guard_rule(
    "STORM-C9", MUST,
    "A root is emitted at most once, and ack() or fail() is called for it at most once in all, "
    "after its emission.",
    source="001#tree; storm#rotating")
REPLAY = guard_rule(
    "STORM-C10", MUST,
    "A message is emitted again only after its last attempt failed or timed out, or after its "
    "spout was restarted.",
    source="001#replay; storm#partition-manager")
NO_DUPLICATE = guard_rule(
    "STORM-C11", MUST,
    "No part of a root's tree reaches the sink twice: a duplicate comes only from another "
    "attempt (another root) at the same message.",
    source="000#order; storm#rotating")
DELIVERED = guard_rule(
    "STORM-C12", MUST,
    "Whenever the topology is quiescent, every message of the source was acked, has no attempt "
    "under way, and has had all its parts reach the sink, in whatever attempts.",
    source="001#replay; storm#eventual-delivery")
PROGRESS = guard_rule(
    "STORM-C13", MUST,
    "After the last fault, the topology becomes quiescent within the time that is allowed for "
    "it.",
    source="000#within, 000#between; storm#no-deadlock, storm#D6; "
    "STORM-3763, STORM-3637, STORM-292")
SURVIVES = guard_rule(
    "STORM-C14", MUST, "A worker dies only if it is killed, or if user code in one of its tasks "
    "raises an exception that is not caught.",
    source="storm#waits, storm#errors; STORM-3073, STORM-3751")
NOT_HELD_UP = guard_rule(
    "STORM-C15", MUST,
    "A tuple that leaves a worker's transfer queue has waited there for at most the time G, "
    "even if the receivers of other tuples are dead or slow.",
    source="storm#remote-send; STORM-329, STORM-404, STORM-510")


FAILED_STAYS = guard_rule(
    "STORM-C20", MUST, "An attempt is not acked after a bolt has failed one of its tuples.",
    source="001#tree (the fail of any edge fails the root); storm#errors")
AT_ONCE = guard_rule(
    "STORM-C21", MUST,
    "If failures by bolts are a run's only faults, the spout's fail() for an attempt comes at "
    "most D, the longest delay of a message, after a bolt has failed one of its tuples.",
    source="001#tree ('at once'); STORM-1595")
NOT_EARLY = guard_rule(
    "STORM-C22", MUST,
    "With ticks P apart and delays up to D, an attempt that no bolt failed times out neither "
    "within P - D of its emission nor, if only bolts are faulty, D to P - D after a "
    "RESET_TIMEOUT.",
    source="001#timeout; storm#acker: (T, 2T], RESET_TIMEOUT")
WRITABLE = guard_rule(
    "STORM-C23", MUST,
    "A worker writes a tuple to a connection only while fewer than W tuples are under way on "
    "it: written, and not yet arrived.",
    source="000#within; storm#remote-send: Client.send waits for a channel that is writable")
OWN_FLAG = guard_rule(
    "STORM-C24", MUST, "A worker holds back a tuple only while the newest status that it has "
    "heard marks the destination task as backlogged.",
    source="000#aims ('bubble up', in the place of a global 'throttle on/off'); storm#status")

FALLS = guard_rule(
    "STORM-C25", MUST,
    "After user code has raised an exception that is not caught, no task of its worker takes a "
    "tuple later than the time G, and the worker is dead before the run ends.",
    source="001#replay, docs/decisions/callbacks-that-raise.md; STORM-1750, STORM-2142, STORM-2194")


class ObservedLane(Machine):
    """From one sender task, in one life of its worker, to one receiver task.

    Tuples are numbered 0, 1, 2, … as they are emitted on the lane.
    """

    K = const(3, at_least=1)            # tuples that a run may emit on a lane

    emitted = integer(0, K)
    next = integer(0, K)                # one more than the last processed number
    processed = integer(0, K)
    lost = integer(0, K)

    @action(number=upto(K))
    def emits(self, number: int) -> None:
        """The sender emits its next tuple."""
        require(number == self.emitted, NOT_INVENTED)
        self.emitted += 1

    @action(number=upto(K))
    def processes(self, number: int) -> None:
        """The receiver processes a tuple."""
        require(number < self.emitted, NOT_INVENTED)
        require(number >= self.next, ORDER)
        require(self.processed + self.lost < self.emitted, NOT_INVENTED)
        self.next = number + 1
        self.processed += 1

    @action(number=upto(K))
    def loses(self, number: int) -> None:
        """The loss of a tuple is counted: a drop, a gap in a connection, a dead worker."""
        require(number < self.emitted, NOT_INVENTED)
        require(self.processed + self.lost < self.emitted, NOT_INVENTED)
        self.lost += 1

    @action(rests=True)
    def comes_to_rest(self) -> None:
        """The topology is quiescent, so all emitted tuples are accounted for."""
        require(self.processed + self.lost == self.emitted, COUNTED)

    @always("STORM-C16", MUST,
            "For each sender and receiver task, the tuples processed and those counted as lost "
            "are together never more than those emitted.",
            source="000#order")
    def accounts_agree(self) -> bool:
        """No more tuples come out than went in."""
        return self.next <= self.emitted and self.processed + self.lost <= self.emitted


class ObservedTask(Machine):
    """A task with its queues."""

    C = const(1, at_least=1)            # capacity of recvQ
    X = const(0)                        # limit of the overflowQ; 0: none
    F = const(1, at_least=1)            # messages that one execution of a bolt emits at most
    M = const(0)                        # roots pending at most; 0: unlimited, or no spout
    E = const(1, at_least=1)            # roots that one round emits

    stuck = boolean()                   # its pendingEmits is not empty

    @action(recvq=upto(C + 2), overflowq=upto(X + 2))
    def holds(self, recvq: int, overflowq: int) -> None:
        """Its queues hold so many tuples; a number above the range is reported as the largest of
        it."""
        require(recvq <= self.C, CAPACITY)
        require(self.X == 0 or overflowq <= self.X, LIMIT)

    @action(spout=upto(2), count=upto(F + 2))
    def stands(self, spout: int, count: int) -> None:
        """Its pendingEmits holds ``count`` emitted messages."""
        require(spout == 1 or count <= self.F, STOPS)
        self.stuck = spout == 0 and count > 0

    @action
    def consumes(self) -> None:
        """It takes a tuple from its queues."""
        require(not self.stuck, STOPS)

    @action(roots=upto(M + E + 1))
    def pends(self, roots: int) -> None:
        """``roots`` roots of a spout are pending."""
        require(self.M == 0 or roots <= self.M + self.E - 1, OVERSHOOT)

    @action
    def restarts(self) -> None:
        """Its worker begins a new life; the queues are empty."""
        self.stuck = False


class ObservedOverflow(Machine):
    """The overflowQ of a task, where it has no limit, and the statuses of its worker."""

    W = const(1, at_least=1)            # tuples that fit between the senders and the task
    H = const(0)                        # tuples that they send while an ON is on its way
    R = const(1)                        # growth of the overflowQ without a reminder
    L = const(2)                        # statuses that a run may lose

    lost = integer(0, L)

    @action
    def loses_status(self) -> None:
        """A status of the worker is lost on its way to a sender."""
        self.lost += 1

    @action(overflowq=upto(W + H + L * (R + 1) + 3))
    def holds(self, overflowq: int) -> None:
        """The overflowQ holds so many tuples; a number above the range is reported as the largest
        of it."""
        require(overflowq <= 1 + self.W + self.H + self.lost * (self.R + 1), IN_FLIGHT)


class ObservedFlag(Machine):
    """The newest status that a worker has heard of one task of another worker."""

    backlogged = boolean()              # according to the newest status

    @action(blocked=upto(2))
    def hears(self, blocked: int) -> None:
        """A status is heard that is newer than those before."""
        self.backlogged = blocked == 1

    @action
    def holds_back(self) -> None:
        """A message for the task is not sent, because the task is said to be backlogged."""
        require(self.backlogged, OWN_FLAG)

    @action
    def restarts(self) -> None:
        """The worker begins a new life, and has heard nothing."""
        self.backlogged = False


class ObservedRoot(Machine):
    """One attempt at a message.

    A time beyond its range is reported as the last number of the range.
    """

    n = const(2, at_least=1)            # parts that must reach the sink
    P = const(3)                        # instants between two ticks of the message timeout
    D = const(1)                        # instants that a message about a root takes at most

    emitted = boolean()
    faulty = boolean()                  # a bolt has failed a tuple of it
    over = boolean()                    # acked or failed
    acked = boolean()
    reached = subset(upto(n))

    @action
    def emits(self) -> None:
        """The spout emits it."""
        require(not self.emitted, ONCE)
        self.emitted = True

    @action(part=upto(n))
    def reaches(self, part: int) -> None:
        """A part of its tree reaches the sink, whether or not the spout has given it up."""
        require(self.emitted, NOT_INVENTED)
        require(part not in self.reached, NO_DUPLICATE)
        self.reached.add(part)

    @action
    def acks(self) -> None:
        """The spout's ack() is called."""
        require(self.emitted and not self.over, ONCE)
        require(not self.faulty, FAILED_STAYS)
        require(len(self.reached) == self.n, COMPLETE)
        self.over = True
        self.acked = True

    @action
    def is_faulted(self) -> None:
        """A bolt fails a tuple of it."""
        self.faulty = True

    @action(told=upto(D + 2), calm=upto(2))
    def fails(self, told: int, calm: int) -> None:
        """The spout's fail() is called, ``told`` instants after a bolt has failed a tuple of it."""
        require(self.emitted and not self.over, ONCE)
        require(self.faulty and (told <= self.D or calm == 0), AT_ONCE)
        self.over = True

    @action(age=upto(P + 2))
    def times_out(self, age: int) -> None:
        """The spout's fail() is called at this age, and no bolt has failed a tuple of it."""
        require(self.emitted and not self.over, ONCE)
        require(not self.faulty and age + self.D >= self.P, NOT_EARLY)
        self.over = True

    @action(asked=upto(P + 2), calm=upto(2))
    def has_asked(self, asked: int, calm: int) -> None:
        """It is about to time out, ``asked`` instants after a bolt has asked for more time."""
        is_in_time = self.D <= asked and asked + self.D <= self.P
        require(not is_in_time or calm == 0, NOT_EARLY)

    @always("STORM-C17", MUST,
            "If a root was acked, all parts of its tree have reached the sink.",
            source="storm#ack-safe")
    def acked_is_complete(self) -> bool:
        """It holds for every order of events."""
        return not self.acked or len(self.reached) == self.n


class ObservedSource(Machine):
    """One message of the source."""

    n = const(2, at_least=1)            # parts that must reach the sink

    out = boolean()                     # emitted, and neither acked nor failed
    done = boolean()                    # acked, and its spout was not restarted since
    acked = boolean()                   # acked at least once
    reached = subset(upto(n))           # parts that have reached the sink, in any attempt

    @action
    def emits(self) -> None:
        """The spout emits it."""
        require(not self.out and not self.done, REPLAY)
        self.out = True

    @action
    def acks(self) -> None:
        """The spout's ack() is called."""
        require(self.out, ONCE)
        self.out = False
        self.done = True
        self.acked = True

    @action
    def fails(self) -> None:
        """The spout's fail() is called."""
        require(self.out, ONCE)
        self.out = False

    @action
    def forgets(self) -> None:
        """The spout's worker dies: a message that is out, or not committed, may come again."""
        self.out = False
        self.done = False

    @action(part=upto(n))
    def reaches(self, part: int) -> None:
        """A part reaches the sink."""
        self.reached.add(part)

    @action(rests=True)
    def comes_to_rest(self) -> None:
        """The topology is quiescent, so every part has reached the sink."""
        require(self.acked and not self.out, DELIVERED)
        require(len(self.reached) == self.n, DELIVERED)

    @always("STORM-C18", MUST,
            "If a message was acked and its spout was not restarted since, no attempt at it is "
            "under way.",
            source="001#replay")
    def done_is_not_out(self) -> bool:
        """The two marks exclude each other."""
        return not (self.done and self.out) and (self.acked or not self.done)


class ObservedWorker(Machine):
    """A worker of the cluster, in all its lives."""

    G = const(3)                        # instants that it may live after user code has raised

    raised = boolean()                  # user code of this life has raised

    @action
    def raises(self) -> None:
        """User code of one of its tasks raises an exception that is not caught."""
        self.raised = True

    @action(ago=upto(G + 2))
    def works(self, ago: int) -> None:
        """One of its tasks takes a tuple, ``ago`` instants after user code raised; a time above
        the range is reported as the last of it."""
        require(not self.raised or ago <= self.G, FALLS)

    @action
    def dies(self) -> None:
        """It dies without being killed."""
        require(self.raised, SURVIVES)
        self.raised = False

    @action
    def is_killed(self) -> None:
        """The worker that raised is killed, as it should be."""
        self.raised = False

    @action
    def ends(self) -> None:
        """The run is over: the topology is quiescent, or is given up."""
        require(not self.raised, FALLS)


class ObservedRun(Machine):
    """The transfer queues and connections of all workers, and the end of the run."""

    G = const(3)                        # instants that a tuple may wait in a transfer queue
    W = const(2, at_least=1)            # messages that fit on a connection

    rested = boolean()

    @action
    def changes(self) -> None:
        """A worker is killed or starts: the run is not quiescent yet."""
        require(not self.rested)

    @action(waited=upto(G + 2))
    def passes_on(self, waited: int) -> None:
        """A tuple leaves a transfer queue; a time above the range is reported as the last of it."""
        require(waited <= self.G, NOT_HELD_UP)

    @action(standing=upto(W + 1))
    def writes(self, standing: int) -> None:
        """A worker writes to a connection with ``standing`` messages under way."""
        require(standing < self.W, WRITABLE)

    @action(rests=True)
    def comes_to_rest(self) -> None:
        """The topology is quiescent: queues and pendingEmits are empty, the source is exhausted."""
        require(not self.rested)
        self.rested = True

    @action(rests=True)
    def stalls(self) -> None:
        """The bounded time is over, and the topology is not quiescent."""
        require(self.rested, PROGRESS)


EXPECTATIONS = (
    expect(ObservedLane, "STORM-C16", "holds", "the lane's accounts agree", K=(1, 2, 3, 4)),
    expect(ObservedRoot, "STORM-C17", "holds", "acked means complete", n=(1, 2, 3)),
    expect(ObservedSource, "STORM-C18", "holds", "a message is out or done", n=(1, 2)),
)
