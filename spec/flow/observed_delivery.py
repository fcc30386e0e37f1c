"""A broker with acknowledgements, as its clients see it.

Theory. A producer publishes messages to a queue; the broker confirms each that it has taken, or
refuses it. Consumers ask for messages. A message that is given to a consumer stays with the broker:
it is *in flight* until the consumer acknowledges it. So a consumer that fails loses nothing. What
is not acknowledged comes back: by a nack (`requeue`), when the consumer's connection is lost, or
when its time is over (the visibility timeout of SQS, the ttr of beanstalkd, the idle time for which
a consumer group of Redis lets others claim it). Then it is given again, and its deliveries are
counted. A message that comes back after the N-th delivery, or that a consumer rejects, becomes a
dead letter: it goes where somebody can look at it, and is no longer given.

    producer --publish--> [ ready, at most K ] --receive--> in flight --ack--> over
                               ^                               |
                               +--- requeue, lost, timeout ----+--- reject, N-th time ---> dead

It is the acker, and the source that can be replayed, of stream processors: there an answer that
does not come within the timeout fails a root, and its message is read again.

A consumer may have a limit on what is in flight with it (prefetch, MaxAckPending). Then it is given
nothing more until it has acknowledged something. The limit is on each consumer, not on all.

An acknowledgement may come too late: the time was over, and the message came back, or is with
another consumer. Two readings are right. The broker may ignore it, and the message is given again;
or it may take it, and the message is over: it has been processed, after all. The answer says which,
and binds the broker. No reading lets it end *another* message. A late nack has only one: it is
ignored, for it would take the message from the consumer that has it now.

Where the length is limited, ready messages count, and those in flight do not. A full queue refuses
what comes, or drops the oldest ready message for it, or drops what comes. A message that comes back
always has a place: it was confirmed. So a queue may hold more than K for a while.

Order. Messages are given for the first time in the order in which they were confirmed. One that
comes back has been overtaken by those that were given meanwhile, and no queue can prevent that. It
may promise that the message takes its old place, so that the oldest ready message is always next;
one that does not promise it has the law ANY_ORDER.

Restart. What was confirmed is there again, what was over stays so, and deliveries count on. All
connections are lost; whether what was in flight comes back at once, or when its time is over, is
left open: it is *loose* until then, and may come back by a step that nobody sees. It need not be
all or nothing. A broker that notes its deliveries a little later has forgotten the last ones when
it is killed: the newest messages come back at once, and the others when their time is over.

Source: broker#confirms, broker#prefetch, broker#timeout, broker#dead, broker#length, broker#order,
broker#groups; 001#tree; 003#tokens.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, array, boolean, choice, const, guard_rule, integer,
    member, require, upto,
)

__all__ = ["EXPECTATIONS", "Law", "ObservedDelivery", "Where"]

CONFIRMS, TIMEOUT, DEAD = "broker#confirms", "broker#timeout", "broker#dead"
LENGTH, ORDER, PREFETCH = "broker#length", "broker#order", "broker#prefetch"

TAKES = guard_rule(
    "DELIV-1", MUST,
    "A queue refuses a message only if its policy is to refuse and at least as many messages "
    "are ready as its limit allows; those in flight do not count.",
    source=LENGTH)
REFUSES = guard_rule(
    "DELIV-2", MUST,
    "A queue with the policy to refuse confirms no message while as many messages are ready as "
    "its limit allows, or more.",
    source=LENGTH)
KEPT = guard_rule(
    "DELIV-3", MUST,
    "A consumer that asks while it is below its limit is given some message, if a confirmed one "
    "is ready that was never given.",
    source=f"{CONFIRMS}; 003#tokens")
COMES_AGAIN = guard_rule(
    "DELIV-4", MUST,
    "A consumer that asks while it is below its limit is given some message, if one is ready "
    "that came back by a requeue, a lost connection or its timeout.",
    source=f"{TIMEOUT}; 001#tree")
DURABLE = guard_rule(
    "DELIV-5", MUST,
    "A consumer that asks while it is below its limit is given some message, if one is ready "
    "that was confirmed before a restart and not given since.",
    source=CONFIRMS)
STAYS_OVER = guard_rule(
    "DELIV-6", MUST,
    "Only a message that was published is given, and none after the broker has taken its "
    "acknowledgement, or it was taken away from the dead letters.",
    source=f"{CONFIRMS}; 003#tokens: no data is made")
ALONE = guard_rule(
    "DELIV-7", MUST, "A message that is in flight is not given again before it has come back: "
    "by a requeue, a lost connection, a restart or its timeout.",
    source=TIMEOUT)
WITHIN_LIMIT = guard_rule(
    "DELIV-8", MUST, "A consumer is given nothing while as many messages are in flight with it as "
    "its limit allows.", source=PREFETCH)
IN_TURN = guard_rule(
    "DELIV-9", MUST, "Messages are given for the first time in the order in which they were "
    "confirmed.", source=ORDER)
IN_PLACE = guard_rule(
    "DELIV-10", MUST,
    "Unless a queue promises no order for messages that come back, it gives the ready message "
    "that was confirmed first, whether it has come back or not.",
    source=ORDER)
IN_TIME = guard_rule(
    "DELIV-11", MUST, "An ack, a requeue or a reject of a message that is in flight with its "
    "consumer is taken.", source=f"{CONFIRMS}; {TIMEOUT}")
ONCE = guard_rule(
    "DELIV-12", MUST,
    "A broker takes an ack, from any consumer, only of a message that was given before, and not "
    "yet acknowledged, dropped, or taken away from the dead letters.",
    source=CONFIRMS)
TOO_LATE = guard_rule(
    "DELIV-13", MUST, "A requeue or a reject of a message that is not in flight with its consumer "
    "is ignored.", source=TIMEOUT)
DIES_JUSTLY = guard_rule(
    "DELIV-14", MUST,
    "A message becomes a dead letter only when a consumer rejected it, or when it would come "
    "back after as many deliveries as are allowed.",
    source=DEAD)
DIES = guard_rule(
    "DELIV-15", MUST,
    "A broker reports that it has no dead letter only if each message that was rejected, or "
    "came back after its last allowed delivery, was taken away or acknowledged since.",
    source=DEAD)
STAYS_DEAD = guard_rule(
    "DELIV-16", MUST, "A dead letter is not given to a consumer.", source=DEAD)
COUNTS = guard_rule(
    "DELIV-17", MUST,
    "If a broker reports how often a message was given, the number is right, also after a "
    "restart; it reports none only if the message is acknowledged, refused, dropped, or taken "
    "from the dead letters.",
    source=DEAD)
STAYS_OUT = guard_rule(
    "DELIV-18", MUST,
    "A message that was refused, or that a full queue dropped by its policy, is never given.",
    source=LENGTH)


class Law(IntEnum):
    """Policies of a queue that is full, and whether it promises the order of what comes back."""

    REFUSE = 0
    DROP_HEAD = 1
    DROP_TAIL = 2
    UNBOUNDED = 3
    ANY_ORDER = 4                       # unbounded, too


class Where(IntEnum):
    """Where a message is."""

    NOWHERE = 0                         # not published yet
    READY = 1
    HELD = 2                            # in flight
    LOOSE = 3                           # it was in flight when the server restarted
    DEAD = 4
    OVER = 5                            # acknowledged, or a dead letter that was taken away
    OUT = 6                             # refused, or dropped


class ObservedDelivery(Machine):
    """A queue of K places, W consumers, and up to R messages, numbered as they are published."""

    K = const(1, at_least=1)            # ready messages of a full queue
    W = const(2, at_least=1)            # consumers
    R = const(2, at_least=1)            # messages
    T = const(1, at_least=1)            # ticks that a message is in flight
    D = const(2, at_least=1)            # deliveries of a message, and numbers of limits, at most
    Consumer = alike(W)

    where = array(upto(R), choice(Where, Where.NOWHERE))
    holder = array(upto(R), member(Consumer))    # the consumer of one that is held; W: none
    left = array(upto(R), integer(0, T))    # ticks until it comes back
    times = array(upto(R), integer(0, D))   # deliveries
    survived = array(upto(R), boolean())    # a restart, since it was given last
    limit = array(Consumer, integer(0, D))  # messages in flight with a consumer; 0: no limit
    tries = integer(0, D)               # what comes back after so many deliveries is dead; 0: none

    def ready(self) -> int:
        """How many messages are ready."""
        return sum(each == Where.READY for each in self.where)

    def in_flight(self, consumer: int) -> int:
        """How many messages are in flight with a consumer."""
        return sum(self.holder[each] == consumer for each in range(self.R))

    def may_have(self, consumer: int) -> bool:
        """True if one more may be in flight with a consumer."""
        return self.limit[consumer] == 0 or self.in_flight(consumer) < self.limit[consumer]

    def is_spent(self, message: int) -> bool:
        """True if the message was given as often as is allowed."""
        return self.tries > 0 and self.times[message] >= self.tries

    # --- producers -------------------------------------------------------------------------

    @action(message=upto(R), law=Law)
    def confirms(self, message: int, law: Law) -> None:
        """The broker confirms the next message. A full queue may drop one for it, or this one."""
        require(self.where[message] == Where.NOWHERE)
        many = self.ready()
        require(law != Law.REFUSE or many < self.K, REFUSES)
        self.where[message] = Where.READY
        if law == Law.DROP_TAIL and many >= self.K:
            self.where[message] = Where.OUT
        if law == Law.DROP_HEAD:
            for each in range(self.R):
                if self.where[each] == Where.READY and each != message and many >= self.K:
                    self.where[each] = Where.OUT
                    many -= 1

    @action(message=upto(R), law=Law, rests=(TAKES,))
    def refuses(self, message: int, law: Law) -> None:
        """The broker refuses the next message."""
        require(self.where[message] == Where.NOWHERE)
        require(law == Law.REFUSE and self.ready() >= self.K, TAKES)
        self.where[message] = Where.OUT

    # --- consumers that ask ----------------------------------------------------------------

    @action(consumer=Consumer, most=upto(D + 1))
    def limits(self, consumer: int, most: int) -> None:
        """A consumer sets its limit: from now on it has no more than so many in flight."""
        self.limit[consumer] = min(most, self.D)

    @action(consumer=Consumer, message=upto(R), law=Law)
    def gives(self, consumer: int, message: int, law: Law) -> None:
        """A consumer is given a message."""
        require(self.times[message] < self.D)
        at = self.where[message]
        require(at != Where.OUT, STAYS_OUT)
        require(at != Where.DEAD, STAYS_DEAD)
        require(at != Where.NOWHERE and at != Where.OVER, STAYS_OVER)
        require(at == Where.READY, ALONE)
        require(self.may_have(consumer), WITHIN_LIMIT)
        require(self.times[message] > 0 or not any(
            self.where[each] == Where.READY and self.times[each] == 0 and each < message
            for each in range(self.R)), IN_TURN)
        require(law == Law.ANY_ORDER or not any(
            self.where[each] == Where.READY and each < message for each in range(self.R)), IN_PLACE)
        self.where[message] = Where.HELD
        self.holder[message] = consumer
        self.left[message] = self.T
        self.times[message] += 1
        self.survived[message] = False

    @action(consumer=Consumer)
    def gives_another(self, consumer: int) -> None:
        """A consumer is given what nobody published."""
        require(False, STAYS_OVER)

    @action(consumer=Consumer, rests=True)
    def gives_nothing(self, consumer: int) -> None:
        """A consumer that asks is given nothing."""
        may = self.may_have(consumer)
        require(not may or not any(self.where[each] == Where.READY and self.survived[each]
                                   for each in range(self.R)), DURABLE)
        require(not may or not any(self.where[each] == Where.READY and self.times[each] == 0
                                   for each in range(self.R)), KEPT)
        require(not may or self.ready() == 0, COMES_AGAIN)

    # --- consumers that answer -------------------------------------------------------------

    @action(consumer=Consumer, message=upto(R), taken=upto(2), rests=(IN_TIME,))
    def acks(self, consumer: int, message: int, taken: int) -> None:
        """A consumer acknowledges a message; the broker takes that, or ignores it."""
        at = self.where[message]
        require(taken == 1 or self.holder[message] != consumer, IN_TIME)
        require(taken == 0 or (self.times[message] > 0 and (
            at != Where.NOWHERE and at != Where.OVER and at != Where.OUT)), ONCE)
        if taken == 1:
            self.leaves(message, Where.OVER)

    @action(consumer=Consumer, message=upto(R), taken=upto(2), rests=(IN_TIME,))
    def requeues(self, consumer: int, message: int, taken: int) -> None:
        """A consumer gives a message back."""
        require(taken == 1 or self.holder[message] != consumer, IN_TIME)
        require(taken == 0 or self.holder[message] == consumer, TOO_LATE)
        if taken == 1:
            self.comes_back(message)

    @action(consumer=Consumer, message=upto(R), taken=upto(2), rests=(IN_TIME,))
    def rejects(self, consumer: int, message: int, taken: int) -> None:
        """A consumer says that a message must not be given again."""
        require(taken == 1 or self.holder[message] != consumer, IN_TIME)
        require(taken == 0 or self.holder[message] == consumer, TOO_LATE)
        if taken == 1:
            self.leaves(message, Where.DEAD)

    def leaves(self, message: int, to: Where) -> None:
        """A message is with no consumer any more."""
        self.where[message] = to
        self.holder[message] = self.W
        self.left[message] = 0

    def comes_back(self, message: int) -> None:
        """A message that is not acknowledged is ready again, or dead."""
        self.leaves(message, Where.DEAD if self.is_spent(message) else Where.READY)

    # --- what happens around them ----------------------------------------------------------

    @action(consumer=Consumer)
    def disconnects(self, consumer: int) -> None:
        """The connection of a consumer is lost, with its limit; it connects anew."""
        self.limit[consumer] = 0
        for each in range(self.R):
            if self.holder[each] == consumer:
                self.comes_back(each)

    @action(ticks=upto(T + 1))
    def advances(self, ticks: int) -> None:
        """Time passes; after T ticks what is in flight comes back."""
        for each in range(self.R):
            if self.where[each] == Where.HELD or self.where[each] == Where.LOOSE:
                self.left[each] = max(0, self.left[each] - ticks)
                if self.left[each] == 0:
                    self.comes_back(each)

    @action
    def restarts(self) -> None:
        """The server is killed, and started again; all connections are lost."""
        for each in range(self.R):
            if self.where[each] == Where.HELD:
                self.where[each] = Where.LOOSE
                self.holder[each] = self.W
            if self.where[each] == Where.READY or self.where[each] == Where.LOOSE:
                self.survived[each] = True
        for each in range(self.W):
            self.limit[each] = 0

    @action(internal=True)
    def lets_go(self) -> None:
        """The newest message that was in flight at a restart comes back before its time."""
        require(any(each == Where.LOOSE for each in self.where))
        newest = 0
        for each in range(self.R):
            if self.where[each] == Where.LOOSE:
                newest = each
        self.comes_back(newest)

    # --- dead letters, and counts ----------------------------------------------------------

    @action(most=upto(D + 1))
    def allows(self, most: int) -> None:
        """From now on, a message that comes back after so many deliveries is dead."""
        self.tries = min(most, self.D)

    @action(message=upto(R))
    def buries(self, message: int) -> None:
        """A message is taken away from the dead letters."""
        require(self.where[message] == Where.DEAD, DIES_JUSTLY)
        self.leaves(message, Where.OVER)

    @action
    def buries_another(self) -> None:
        """Something is among the dead letters that nobody published."""
        require(False, DIES_JUSTLY)

    @action(rests=True)
    def buries_nothing(self) -> None:
        """There is no dead letter."""
        require(not any(each == Where.DEAD for each in self.where), DIES)

    @action(message=upto(R), count=upto(D + 1))
    def counts(self, message: int, count: int) -> None:
        """The broker says how often it gave a message."""
        require(count == self.times[message], COUNTS)

    @action(message=upto(R), rests=True)
    def counts_nothing(self, message: int) -> None:
        """The broker does not know the message."""
        at = self.where[message]
        require(at == Where.NOWHERE or at == Where.OVER or at == Where.OUT, COUNTS)

    @always("DELIV-19", MUST,
            "A message belongs to a consumer exactly while it is in flight, and to none from a "
            "restart of the broker on, until it is given again.",
            source=TIMEOUT, message=upto(R))
    def held_by_one(self, message: int) -> bool:
        """One that is ready, dead or over has no consumer, and no time."""
        return (self.where[message] == Where.HELD) == (self.holder[message] < self.W)


EXPECTATIONS = (
    expect(ObservedDelivery, "DELIV-19", "holds", "what is in flight has one consumer", K=(1, 2),
           T=(1, 2)),
)

BOOKKEEPING = {
    "DELIV-19":
        "The observer compares what it has written down with what else it has written down; no "
        "broker can break that.",
}
