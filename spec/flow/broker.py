"""A broker with its queue in memory and its log on disk: how acknowledgements are kept.

Theory of operation
-------------------
A broker has a queue of messages that are ready, K of them where its length is limited, and beside
it a list of those that are in flight: with which consumer each is, and for how long yet. Both are
in memory. On the disk is less: which messages there are, which are dead letters, and how often each
was given. Where a message is in flight is not written, for after a restart nobody holds it.

    publish --> write --> [ ready, at most K ] --give, count--> in flight --ack--> erase
                                ^                                  |
                                +--requeue, timeout, lost, restart-+--reject, N-th time--> dead

Each answer to a client is a promise that outlives the broker, so it is written *before* the answer:
a message before its confirm, an ack before it is taken, a count before the message is given. Then
memory says no more than the disk does (DELIV-20, DELIV-24), and a kill at any instant loses nothing
of it: a restart reads the log, and all that is not over is ready or dead. A broker that writes
later, once a second for instance, has confirmed messages that a kill loses, and gives others again
that were acknowledged.

In memory a message has one place (DELIV-21). There are four ways back from a consumer, and each has
to do the same three things: free the place in its consumer's window, forget the holder, and put the
message where it belongs. Without the first the window fills with messages that are not there, until
its consumer is given nothing more (DELIV-22). Without the second a late nack takes the message from
the next consumer. And each way back may be the last one that is allowed.

A message that comes back is older than those that wait, so its old place is found by its number
(DELIV-23). Where that is not promised it goes to the end.

An ack that comes too late, after the message has come back, may be taken all the same (A = 1, as a
group of Redis does), or be ignored (A = 0, as beanstalkd does): both keep all promises, as long as
the message is then taken from wherever it is.

``observed_delivery`` says how all this looks from outside, and ``broker_seen`` ties the two.

Source: broker#confirms, broker#prefetch, broker#timeout, broker#dead, broker#length, broker#order;
001#tree; 003#tokens.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, alike, always, array, choice, const, fifo, integer, leads_to, member,
    require, step, subset, upto,
)
from .observed_delivery import Law

__all__ = [
    "AckingBeforeWriting", "Broker", "ConfirmingBeforeWriting", "CountingInMemory", "EXPECTATIONS",
    "FillingTheWindow", "GivingFirst", "Kept", "KeepingTheHolder", "PuttingBehind",
    "TryingOnceMore", "WithoutTimeouts",
]

CONFIRMS, TIMEOUT, DEAD = "broker#confirms", "broker#timeout", "broker#dead"
LENGTH, ORDER, PREFETCH = "broker#length", "broker#order", "broker#prefetch"


class Kept(IntEnum):
    """The log's word on a message."""

    NOTHING = 0           # not published, refused, dropped or over
    STORED = 1
    DEAD = 2


class Broker(Machine):
    """Promises are written before they are made, and all ways back are one."""

    K = const(1, at_least=1)            # ready messages of a full queue
    W = const(2, at_least=1)            # consumers
    R = const(2, at_least=1)            # messages that are published in all
    T = const(1, at_least=1)            # ticks that a message is in flight
    D = const(2, at_least=1)            # deliveries of a message, at most, and of a window
    N = const(0)                        # deliveries after which one that returns is dead; 0: none
    P = const(0, at_most=4)             # the policy: a number of Law
    A = const(0, at_most=1)             # 1: an ack that is late is taken
    X = const(1)                        # kills, in all
    Consumer = alike(W)

    published = integer(0, R)
    kills = integer(0, X)

    line = fifo(integer(0, R - 1), R)           # ready, the next one first
    holder = array(upto(R), member(Consumer))   # the consumer of one that is in flight; W: none
    left = array(upto(R), integer(0, T))        # ticks until it comes back
    times = array(upto(R), integer(0, D))       # deliveries
    dead = subset(upto(R))                      # dead letters
    window = array(Consumer, integer(0, D))     # messages in flight with a consumer; 0: any number
    taken = array(Consumer, integer(0, R))      # and how many of its window are in use

    kept = array(upto(R), choice(Kept))         # the log: the messages
    counted = array(upto(R), integer(0, D))     # and their deliveries

    # --- producers -------------------------------------------------------------------------

    @action
    def publish(self) -> None:
        """The next message comes; a queue that is full refuses it, or drops one."""
        require(self.published < self.R)
        message = self.published
        self.published += 1
        if self.P == Law.DROP_HEAD:
            self.makes_room()
        if not self.is_full():
            self.store(message)
            self.line.push(message)

    def is_full(self) -> bool:
        """True if all places of a limited queue are taken by messages that are ready."""
        return (self.P != Law.UNBOUNDED and self.P != Law.ANY_ORDER
                and len(self.line) >= self.K)

    def store(self, message: int) -> None:
        """A message is written, and confirmed then."""
        self.kept[message] = Kept.STORED

    def makes_room(self) -> None:
        """The oldest that are ready are dropped from a queue that is full."""
        for _ in range(self.R):
            if self.is_full():
                oldest = self.line.pop()
                self.kept[oldest] = Kept.NOTHING

    # --- consumers -------------------------------------------------------------------------

    @action(consumer=Consumer, most=upto(2))
    def set_window(self, consumer: int, most: int) -> None:
        """A consumer sets its window, or takes it away."""
        self.window[consumer] = most

    @action(fair=True, consumer=Consumer)
    def ask(self, consumer: int) -> None:
        """A consumer asks; it is given the next message if there is one and its window is open."""
        if len(self.line) > 0 and self.is_open(consumer):
            message = self.line.pop()
            require(self.times[message] < self.D)
            self.times[message] += 1
            self.count(message)
            self.left[message] = self.T
            self.holder[message] = consumer
            self.taken[consumer] += 1

    def is_open(self, consumer: int) -> bool:
        """True if one more may be in flight with a consumer."""
        return self.window[consumer] == 0 or self.taken[consumer] < self.window[consumer]

    def count(self, message: int) -> None:
        """The delivery is written before the message is given."""
        self.counted[message] = self.times[message]

    @action(consumer=Consumer, message=upto(R))
    def ack(self, consumer: int, message: int) -> None:
        """A consumer acknowledges a message that it was given at some time."""
        require(self.times[message] > 0)
        late = self.A == 1 and self.kept[message] == Kept.STORED
        if self.has(consumer, message) or late:
            self.frees(message)
            self.removes(message)
            self.erase(message)

    @action(consumer=Consumer, message=upto(R))
    def requeue(self, consumer: int, message: int) -> None:
        """A consumer gives a message back."""
        require(self.times[message] > 0)
        if self.may_return(consumer, message):
            self.comes_back(message)

    @action(consumer=Consumer, message=upto(R))
    def reject(self, consumer: int, message: int) -> None:
        """A consumer says that a message must not be given again."""
        require(self.times[message] > 0)
        if self.may_return(consumer, message):
            self.frees(message)
            self.buries(message)

    def may_return(self, consumer: int, message: int) -> bool:
        """True if a requeue or a reject is of the consumer that has the message now."""
        return self.has(consumer, message)

    def has(self, consumer: int, message: int) -> bool:
        """True if a message is in flight with a consumer."""
        return self.holder[message] == consumer

    def erase(self, message: int) -> None:
        """A message is erased from the log, and its ack is taken then."""
        self.kept[message] = Kept.NOTHING

    # --- the ways back ---------------------------------------------------------------------

    @action(consumer=Consumer)
    def lose(self, consumer: int) -> None:
        """The connection of a consumer is lost, with its window."""
        self.window[consumer] = 0
        for each in range(self.R):
            if self.has(consumer, each):
                self.comes_back(each)

    @action(fair=True)
    def tick(self) -> None:
        """Time passes; what has been in flight for T ticks comes back."""
        require(any(each < self.W for each in self.holder))
        for each in range(self.R):
            if self.holder[each] < self.W:
                self.left[each] = max(0, self.left[each] - 1)
                if self.left[each] == 0:
                    self.is_late(each)

    def is_late(self, message: int) -> None:
        """The time of a message is over."""
        self.comes_back(message)

    @action
    def kill(self) -> None:
        """The broker is killed, and started again: memory is what the log says."""
        require(self.kills < self.X)
        self.kills += 1
        for _ in range(len(self.line)):
            self.line.pop()
        self.dead.clear()
        for consumer in range(self.W):
            self.window[consumer] = 0
            self.taken[consumer] = 0
        for each in range(self.R):
            self.holder[each] = self.W
            self.left[each] = 0
            self.times[each] = self.counted[each]
            if self.kept[each] == Kept.DEAD:
                self.dead.add(each)
            if self.kept[each] == Kept.STORED:
                self.puts_back(each)

    def comes_back(self, message: int) -> None:
        """A message is with no consumer any more, and is ready again or dead."""
        self.frees(message)
        self.puts_back(message)

    def frees(self, message: int) -> None:
        """The place of a message in its consumer's window is free, and the holder is forgotten."""
        for consumer in range(self.W):
            if self.holder[message] == consumer:
                self.taken[consumer] -= 1
        self.forgets(message)

    def forgets(self, message: int) -> None:
        """A message has no holder, and no time."""
        self.holder[message] = self.W
        self.left[message] = 0

    def puts_back(self, message: int) -> None:
        """A message is dead after its last allowed delivery, and else takes its old place."""
        if self.is_spent(message):
            self.buries(message)
        else:
            self.line.push(message)
            if self.P != Law.ANY_ORDER:
                self.sorts()

    def is_spent(self, message: int) -> bool:
        """True if the message was given as often as is allowed."""
        return self.N > 0 and self.times[message] >= self.N

    def sorts(self) -> None:
        """The oldest message is first again."""
        for each in range(self.R):
            if each in self.line:
                self.removes(each)
                self.line.push(each)

    def buries(self, message: int) -> None:
        """A message becomes a dead letter."""
        self.dead.add(message)
        self.kept[message] = Kept.DEAD

    def removes(self, message: int) -> None:
        """A message leaves the queue, if it is there."""
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != message:
                self.line.push(other)

    @action(message=upto(R))
    def dig(self, message: int) -> None:
        """A client takes a dead letter away."""
        require(message in self.dead)
        self.dead.discard(message)
        self.kept[message] = Kept.NOTHING

    # --- what it keeps ---------------------------------------------------------------------

    @always("DELIV-20", MUST,
            "The log has exactly the messages that were confirmed and not dropped, acknowledged or "
            "taken from the dead letters, and says which of them are dead.",
            source=f"{CONFIRMS}; {DEAD}", message=upto(R))
    def memory_is_on_disk(self, message: int) -> bool:
        """A kill then loses nothing, and brings nothing back."""
        return (self.kept[message] == Kept.STORED) == (
            message in self.line or self.holder[message] < self.W) and (
            (self.kept[message] == Kept.DEAD) == (message in self.dead))

    @always("DELIV-21", MUST,
            "A message is in the queue once, in flight with one consumer, or a dead letter: at "
            "most one of these.", source=f"{TIMEOUT}; 003#tokens", message=upto(R))
    def is_in_one_place(self, message: int) -> bool:
        """Two consumers never have it at a time."""
        return sum(each == message for each in self.line) + (
            self.holder[message] < self.W) + (message in self.dead) <= 1

    @always("DELIV-22", MUST,
            "As many places of a consumer's window are taken as messages are in flight with it.",
            source=f"{PREFETCH}; libraries#nats-4112", consumer=Consumer)
    def windows_are_counted(self, consumer: int) -> bool:
        """Else it gets too much, or nothing more."""
        return self.taken[consumer] == sum(
            self.holder[each] == consumer for each in range(self.R))

    @always("DELIV-23", MUST,
            "The ready messages of a queue that promises order stand in the order in which they "
            "were published.", source=ORDER)
    def stands_in_order(self) -> bool:
        """The next one is the oldest."""
        return self.P == Law.ANY_ORDER or not any(
            self.line[at] > self.line[at + 1] for at in range(len(self.line) - 1))

    @always("DELIV-24", MUST,
            "The log has the number of deliveries of each message that was confirmed.",
            source=DEAD, message=upto(R))
    def counts_are_on_disk(self, message: int) -> bool:
        """The last allowed delivery stays the last one."""
        return self.counted[message] == self.times[message]

    @always("DELIV-25", MUST, "No message is ready that was given as often as is allowed.",
            source=DEAD, message=upto(R))
    def what_is_spent_is_dead(self, message: int) -> bool:
        """It would be given once more."""
        return not (message in self.line and self.N > 0 and self.times[message] >= self.N)

    @step("DELIV-26", MUST, "Nothing is put into flight with a consumer that has a full window.",
          source=PREFETCH, consumer=Consumer)
    def windows_are_kept(self, after: Broker, consumer: int) -> bool:
        """The window is what it was before the step."""
        return self.window[consumer] == 0 or after.taken[consumer] <= max(
            self.taken[consumer], self.window[consumer])

    @leads_to("DELIV-27", MUST,
              "A message that is in flight eventually is acknowledged, ready again, or dead.",
              source=f"{TIMEOUT}; 001#tree", message=upto(R))
    def nothing_flies_forever(self, message: int) -> tuple[bool, bool]:
        """Its consumer may be dead."""
        return self.holder[message] < self.W, self.holder[message] == self.W


# --- one line wrong --------------------------------------------------------------------------

class ConfirmingBeforeWriting(Broker):
    """Messages are written by a timer, and confirmed before that."""

    unwritten = subset(upto(Broker.R))

    def store(self, message: int) -> None:
        """The message is in memory alone."""
        self.unwritten.add(message)

    @action(fair=True, message=upto(Broker.R))
    def sync(self, message: int) -> None:
        """The timer writes it, unless it is over."""
        require(message in self.unwritten)
        self.unwritten.discard(message)
        if message in self.line or self.holder[message] < self.W:
            self.kept[message] = Kept.STORED


class AckingBeforeWriting(Broker):
    """Acknowledgements are written by a timer, and taken before that."""

    unwritten = subset(upto(Broker.R))

    def erase(self, message: int) -> None:
        """The message is over in memory alone."""
        self.unwritten.add(message)

    @action(fair=True, message=upto(Broker.R))
    def sync(self, message: int) -> None:
        """The timer writes it."""
        require(message in self.unwritten)
        self.unwritten.discard(message)
        self.kept[message] = Kept.NOTHING


class CountingInMemory(Broker):
    """Deliveries are not written: a restart forgets them."""

    def count(self, message: int) -> None:
        """The log keeps its number."""


class FillingTheWindow(Broker):
    """A message that has timed out comes back, and its place in the window stays taken."""

    taken = array(Broker.Consumer, integer(0, Broker.R * Broker.D))

    def is_late(self, message: int) -> None:
        """The count of the consumer is forgotten."""
        self.forgets(message)
        self.puts_back(message)


class KeepingTheHolder(Broker):
    """A message that has timed out comes back, and its old consumer still has it."""

    taken = array(Broker.Consumer, integer(0, Broker.R * Broker.D))

    def is_late(self, message: int) -> None:
        """The holder is forgotten when the message is given again."""
        if message not in self.line:
            self.puts_back(message)

    def comes_back(self, message: int) -> None:
        """A message that is ready stays where it is."""
        if message not in self.line:
            super().comes_back(message)


class PuttingBehind(Broker):
    """A message that comes back goes behind all others, though its old place was promised."""

    def sorts(self) -> None:
        """The message stays at the end."""


class TryingOnceMore(Broker):
    """The limit of deliveries is compared with > where it has to be >=."""

    def is_spent(self, message: int) -> bool:
        """True after one delivery too many."""
        return self.N > 0 and self.times[message] > self.N


class GivingFirst(Broker):
    """A message is given to a consumer that asks, and its window is looked at afterwards."""

    def is_open(self, consumer: int) -> bool:
        """True for one too many."""
        return self.window[consumer] == 0 or self.taken[consumer] <= self.window[consumer]


class WithoutTimeouts(Broker):
    """A message stays with its consumer until the connection is lost."""

    def is_late(self, message: int) -> None:
        """The time is not looked at."""


SAFE = (
    ("DELIV-20", "memory says no more than the log"),
    ("DELIV-21", "a message has one place"),
    ("DELIV-22", "windows count what is in flight"),
    ("DELIV-23", "the oldest message is next"),
    ("DELIV-24", "a restart counts on"),
    ("DELIV-25", "the last allowed delivery is the last"),
    ("DELIV-26", "no window is exceeded"),
)

EXPECTATIONS = (
    *(expect(Broker, rule, "holds", about, K=1, W=1, R=2, T=1, N=(0, 1), P=(0, 1, 2, 3, 4))
      for rule, about in SAFE),
    *(expect(Broker, rule, "holds", about, K=1, W=2, R=2, T=2, N=2, P=0, A=1)
      for rule, about in SAFE),
    expect(Broker, "DELIV-27", "holds", "what is in flight comes back", W=1, T=(1, 2), N=1),
    expect(ConfirmingBeforeWriting, "DELIV-20", "violated", "a kill loses what was confirmed", W=1,
           R=1),
    expect(AckingBeforeWriting, "DELIV-20", "violated", "a kill brings back what was acknowledged",
           W=1, R=1),
    expect(CountingInMemory, "DELIV-24", "violated", "a kill forgets deliveries", W=1, R=1, N=1),
    expect(FillingTheWindow, "DELIV-22", "violated", "a window is full of messages that are not "
           "there", W=1, R=1),
    expect(KeepingTheHolder, "DELIV-21", "violated", "two have one message", W=1, R=1),
    expect(PuttingBehind, "DELIV-23", "violated", "what comes back is last", W=1, R=2, P=3),
    expect(TryingOnceMore, "DELIV-25", "violated", "one delivery too many", W=1, R=1, N=1),
    expect(GivingFirst, "DELIV-26", "violated", "a window that is exceeded", W=1, R=2, P=3),
    expect(WithoutTimeouts, "DELIV-27", "violated", "a consumer that never answers keeps its "
           "message", W=1, R=1),
)
