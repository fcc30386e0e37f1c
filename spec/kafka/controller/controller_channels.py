"""The channels of a controller: an independent one for each broker, until the broker is gone.

Theory of operation
-------------------
A controller has a connection and a thread for each broker. Its decisions go into all of their
queues; each thread sends the first request of its queue, waits for the answer, and continues. So
there are four questions besides those that ``controller_queue`` asks of one queue.

*May one broker hold up another?* Not if each has a thread of its own. With one thread for all, a
broker that does not answer holds up all others.

*May one hold up the controller?* Not if its queue always has a free slot (``controller_queue`` says
how much it needs). Up to 0.8.1 a queue had 10 places, and the controller waited if none was free;
since 0.8.2 it has no bound by default, and since 0.9 none at all (KAFKA-2122).

*When does a broker count as gone?* When its znode is gone, and when it has asked to shut down:
never because a connection breaks or an answer is missing. A broker that is cut off from the
controller alone still serves its clients and followers. If silence counted as failure, it would be
given up while it is registered; and since nothing changes in the store when it answers again, no
watch would fire, and nothing would be sent to it any more.

*When do retries end?* When the broker is known to be gone. They need not end before that, however
long it takes: a session ends by itself.

``Pauses`` counts the cost of retries. Between two attempts there is a pause of P ticks. While a
broker is silent for T ticks, at most T / (P + 1) attempts are made, rounded up, where a failed
attempt takes one tick. The text says 300 ms, as in 0.8 and 0.9; since 0.11 it is 100 ms.

B is the number of brokers, N that of decisions, and G bounds the number of faults of brokers.

Source: 001#channels; kafka#requests, kafka#broker-changes; KAFKA-2122.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, const, integer, leads_to, require, upto,
)

__all__ = [
    "EXPECTATIONS", "Channels", "OneThread", "Pauses", "RetryingAtOnce", "SendingForEver",
    "TakingSilenceForDeath", "WaitingForRoom",
]

CHANNELS = "001#channels; kafka#requests"


class Channels(Machine):
    """A controller's threads, and the brokers to which they send."""

    B = const(2, at_least=1)            # brokers
    N = const(2, at_least=1)            # decisions of the controller
    G = const(2)                        # faults of brokers

    registered = array(upto(B), boolean(True))      # its znode exists
    known = array(upto(B), boolean(True))           # … as far as the controller knows
    answers = array(upto(B), boolean(True))         # it is reachable, and answers
    busy = array(upto(B), boolean())                # its thread waits for an answer
    obeyed = array(upto(B), integer(0, N))          # decisions that have reached it
    made = integer(0, N)
    happened = integer(0, G)

    @action(fair=True)
    def decide(self) -> None:
        """A decision: one more request for each known broker."""
        require(self.made < self.N and self.has_room())
        self.made += 1

    def has_room(self) -> bool:
        """True if the queues have a free slot: always."""
        return True

    @action(fair=True, broker=upto(B))
    def send(self, broker: int) -> None:
        """Its thread sends the first request of its queue."""
        require(self.known[broker] and not self.busy[broker])
        require(self.obeyed[broker] < self.made and self.may_send())
        self.busy[broker] = True

    def may_send(self) -> bool:
        """True: threads are independent."""
        return True

    @action(fair=True, broker=upto(B))
    def answer(self, broker: int) -> None:
        """The broker obeys and answers a request, perhaps after many retries."""
        require(self.busy[broker] and self.answers[broker] and self.registered[broker])
        self.obeyed[broker] += 1
        self.busy[broker] = False

    # --- what happens to brokers -------------------------------------------------------------

    def happen(self) -> None:
        """Count one more fault."""
        require(self.happened < self.G)
        self.happened += 1

    @action(broker=upto(B))
    def fall_silent(self, broker: int) -> None:
        """The connection breaks, or the broker does not answer; its session stays alive."""
        require(self.answers[broker] and self.registered[broker])
        self.happen()
        self.answers[broker] = False

    @action(broker=upto(B))
    def answer_again(self, broker: int) -> None:
        """The broker answers again. This need not happen."""
        require(not self.answers[broker] and self.registered[broker])
        self.answers[broker] = True

    @action(broker=upto(B))
    def go(self, broker: int) -> None:
        """The broker's session ends, and its znode disappears."""
        require(self.registered[broker])
        self.happen()
        self.registered[broker] = False

    @action(fair=True, broker=upto(B))
    def notice(self, broker: int) -> None:
        """The watch on the brokers fires: the thread of a gone broker ends, with its queue."""
        require(self.known[broker] and self.is_gone(broker))
        self.give_up(broker)

    def is_gone(self, broker: int) -> bool:
        """True if the broker counts as gone: its znode is gone."""
        return not self.registered[broker]

    def give_up(self, broker: int) -> None:
        """Nothing more is sent to the broker."""
        self.known[broker] = False
        self.busy[broker] = False

    # --- rules -------------------------------------------------------------------------------

    @leads_to("KAFKA-C67", MUST,
              "A registered broker that keeps answering eventually gets all requests made for "
              "it, whether or not other brokers answer.",
              source=CHANNELS, broker=upto(B))
    def nobody_is_held_up_by_others(self, broker: int) -> tuple[bool, bool]:
        """Each broker has a thread of its own."""
        is_there = self.registered[broker] and self.answers[broker]
        return (is_there and self.obeyed[broker] < self.made,
                not (self.registered[broker] and self.answers[broker])
                or self.obeyed[broker] == self.made)

    @leads_to("KAFKA-C68", MUST,
              "Once a broker's znode is gone, the controller eventually sends nothing more to "
              "it and waits for no answer from it.",
              source=CHANNELS, broker=upto(B))
    def sending_again_ends(self, broker: int) -> tuple[bool, bool]:
        """This is the only end of the retries."""
        return not self.registered[broker], not self.known[broker] and not self.busy[broker]

    @always("KAFKA-C69", MUST, "The controller gives up a broker only when its znode is gone, "
            "never because a connection breaks or an answer is missing.",
            source="001#channels; kafka#broker-changes", broker=upto(B))
    def silence_is_not_death(self, broker: int) -> bool:
        """Or when it has asked to shut down: see ``broker_changes``."""
        return self.known[broker] or not self.registered[broker]


    @leads_to("KAFKA-C80", MUST,
              "A controller with decisions to make eventually makes all of them, even if a "
              "broker never answers.",
              source="001#channels; kafka#requests; KAFKA-2122")
    def it_goes_on_deciding(self) -> tuple[bool, bool]:
        """A decision waits for no answer."""
        return self.made < self.N, self.made == self.N


class OneThread(Channels):
    """One thread sends to all brokers, and waits for each answer."""

    def may_send(self) -> bool:
        """True when no request is under way."""
        return not any(self.busy)


class WaitingForRoom(Channels):
    """A queue has Q places, and the controller waits while all are occupied (until 0.8.1)."""

    Q = const(1, at_least=1)            # places in a queue, and the request under way

    def has_room(self) -> bool:
        """True if the queue of each known broker has a free slot."""
        return all(not self.known[each] or self.made - self.obeyed[each] < self.Q
                   for each in range(self.B))


class SendingForEver(Channels):
    """A thread that waits for an answer does not notice that its broker is gone."""

    def give_up(self, broker: int) -> None:
        """The thread ends only with its answer."""
        self.known[broker] = False


class TakingSilenceForDeath(Channels):
    """A broker that does not answer counts as gone."""

    def is_gone(self, broker: int) -> bool:
        """True also if an answer is missing."""
        return not self.registered[broker] or (self.busy[broker] and not self.answers[broker])


class Pauses(Machine):
    """Attempts to reach a broker that is silent, and the pauses between them."""

    P = const(2)                        # ticks of a pause
    T = const(6, at_least=1)            # ticks for which the broker is silent

    passed = integer(0, T)
    pausing = integer(0, P)             # ticks that are left of the pause
    attempts = integer(0, T)

    @action(fair=True)
    def attempt(self) -> None:
        """The request is sent; a tick later the attempt has failed."""
        require(self.pausing == 0 and self.passed < self.T)
        self.attempts += 1
        self.passed += 1
        self.pausing = self.pause()

    def pause(self) -> int:
        """The ticks before the next attempt."""
        return self.P

    @action(fair=True)
    def tick(self) -> None:
        """Time passes in a pause."""
        require(self.pausing > 0 and self.passed < self.T)
        self.passed += 1
        self.pausing -= 1

    @always("KAFKA-C70", MUST,
            "In the first T ticks, a request without an answer is sent at most T / (P + 1) "
            "times, rounded up, if each attempt takes one tick and each pause after it P ticks.",
            source=CHANNELS)
    def attempts_are_few(self) -> bool:
        """Most of the time the controller's thread only waits."""
        return self.attempts <= (self.passed + self.P) // (self.P + 1)


class RetryingAtOnce(Pauses):
    """The request is sent again as soon as it has failed."""

    def pause(self) -> int:
        """There is no pause."""
        return 0


OF_CHANNELS = ("KAFKA-C67", "KAFKA-C68", "KAFKA-C69", "KAFKA-C80")

EXPECTATIONS = (
    *(expect(Channels, rule, "holds", "each broker has a thread of its own",
             B=(1, 2), N=(1, 2), G=(0, 1, 2)) for rule in OF_CHANNELS),
    expect(OneThread, "KAFKA-C67", "violated", where="B > 1 and G > 0",
           about="a broker that does not answer holds up the others: it takes two brokers, and a "
                 "fault",
           B=(1, 2), N=(1, 2), G=(0, 1)),
    expect(WaitingForRoom, "KAFKA-C80", "violated", where="N > Q and G > 0",
           about="the queue to a silent broker that stays registered is full",
           B=(1, 2), N=(1, 2, 3), G=(0, 1), Q=(1, 2, 3)),
    expect(SendingForEver, "KAFKA-C68", "violated", where="G > 0",
           about="the thread of a gone broker waits forever", B=1, N=1, G=(0, 1)),
    expect(TakingSilenceForDeath, "KAFKA-C69", "violated", where="G > 0",
           about="a registered broker is given up", B=1, N=1, G=(0, 1)),
    expect(TakingSilenceForDeath, "KAFKA-C67", "violated", where="G > 0",
           about="a broker that answers again gets nothing: the store has not changed",
           B=1, N=1, G=(0, 1)),
    expect(Pauses, "KAFKA-C70", "holds", "one attempt for each pause", P=(0, 1, 2, 3),
           T=(1, 2, 4, 6, 9)),
    expect(RetryingAtOnce, "KAFKA-C70", "violated", where="P > 0 and T > 1",
           about="without a pause the attempts follow each other", P=(0, 1, 2), T=(1, 2, 4)),
)

UNSEEN = {
    "KAFKA-C67":
        "Suites judge quiescent states. By then every fault is over, and a broker that was held up "
        "by another one has got its requests when that one answered.",
    "KAFKA-C80":
        "A controller that has waited for a silent broker decides when that one answers; and when "
        "suites judge, every broker does.",
    "KAFKA-C68":
        "A request to a gone broker does not arrive, and one to its next life is refused by its "
        "broker epoch (KAFKA-F9).",
    "KAFKA-C70":
        "The length of a pause depends on the release, and no port of the controller has a clock.",
}
