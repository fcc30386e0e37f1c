"""The channels of a controller: one for each broker, each by itself, until the broker is gone.

Theory of operation
-------------------
A controller has a connection and a thread for each broker. What it decides goes into all of their
queues; each thread sends the first request of its queue, waits for the answer, and goes on. So
there are three questions beside what ``controller_queue`` asks of one queue.

*May one broker hold up another?* Not if each has a thread of its own. With one thread for all,
whoever answers nothing holds up everybody.

*May one hold up the controller?* Not if its queue has room for whatever comes (``controller_queue``
says how much that need be). Up to 0.8.1 a queue had 10 places, and the controller waited where
there was none; since 0.8.2 it has no bound by default, and since 0.9 none at all (KAFKA-2122).

*When does a broker count as gone?* When its znode is, and when it has asked whether it may go:
never because a connection breaks or no answer comes. A broker that is cut off from the controller
alone serves its clients and followers still. If silence were death, it would be given up while it
is registered; and since nothing changes in the store when it answers again, no watch would fire,
and nobody would send to it any more.

*When does the sending again end?* When the broker is known to be gone. It need not end before that,
however long it takes: a session ends by itself.

``Pauses`` counts what the sending again costs. Between two attempts there is a pause of P ticks.
While a broker is silent for T ticks, no more than T / (P + 1) attempts are made, rounded up, where
an attempt that fails takes one tick.
The text says 300 ms, which is what 0.8 and 0.9 wait; since 0.11 it is 100 ms.

B is the number of brokers, N that of decisions, and G bounds how often something happens to one.

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
    """A controller's threads, and the brokers that they send to."""

    B = const(2, at_least=1)            # brokers
    N = const(2, at_least=1)            # decisions of the controller
    G = const(2)                        # what happens to brokers

    registered = array(upto(B), boolean(True))      # its znode is there
    known = array(upto(B), boolean(True))           # … as far as the controller knows
    answers = array(upto(B), boolean(True))         # it can be reached, and answers
    busy = array(upto(B), boolean())                # its thread waits for an answer
    obeyed = array(upto(B), integer(0, N))          # so many decisions have reached it
    made = integer(0, N)
    happened = integer(0, G)

    @action(fair=True)
    def decide(self) -> None:
        """One request more for each broker that is known."""
        require(self.made < self.N and self.has_room())
        self.made += 1

    def has_room(self) -> bool:
        """Whether the queues have: always."""
        return True

    @action(fair=True, broker=upto(B))
    def send(self, broker: int) -> None:
        """Its thread sends the first request of its queue."""
        require(self.known[broker] and not self.busy[broker])
        require(self.obeyed[broker] < self.made and self.may_send())
        self.busy[broker] = True

    def may_send(self) -> bool:
        """No thread looks at what others do."""
        return True

    @action(fair=True, broker=upto(B))
    def answer(self, broker: int) -> None:
        """It obeys, and answers: perhaps what was sent again many times."""
        require(self.busy[broker] and self.answers[broker] and self.registered[broker])
        self.obeyed[broker] += 1
        self.busy[broker] = False

    # --- what happens to brokers -------------------------------------------------------------

    def happen(self) -> None:
        """There is room for so much."""
        require(self.happened < self.G)
        self.happened += 1

    @action(broker=upto(B))
    def fall_silent(self, broker: int) -> None:
        """The connection breaks, or it answers nothing; its session goes on."""
        require(self.answers[broker] and self.registered[broker])
        self.happen()
        self.answers[broker] = False

    @action(broker=upto(B))
    def answer_again(self, broker: int) -> None:
        """It is as it was before. It need not come to that."""
        require(not self.answers[broker] and self.registered[broker])
        self.answers[broker] = True

    @action(broker=upto(B))
    def go(self, broker: int) -> None:
        """Its session is over, and its znode goes."""
        require(self.registered[broker])
        self.happen()
        self.registered[broker] = False

    @action(fair=True, broker=upto(B))
    def notice(self, broker: int) -> None:
        """The watch on the brokers fires: the thread of who is gone ends, with its queue."""
        require(self.known[broker] and self.is_gone(broker))
        self.give_up(broker)

    def is_gone(self, broker: int) -> bool:
        """Whether it counts as gone: its znode is."""
        return not self.registered[broker]

    def give_up(self, broker: int) -> None:
        """Nothing is sent to it any more."""
        self.known[broker] = False
        self.busy[broker] = False

    # --- rules -------------------------------------------------------------------------------

    @leads_to("KAFKA-C67", MUST, "A broker that answers gets every request, whichever other "
              "broker answers nothing.", source=CHANNELS, broker=upto(B))
    def nobody_is_held_up_by_others(self, broker: int) -> tuple[bool, bool]:
        """Brokers have a thread each."""
        is_there = self.registered[broker] and self.answers[broker]
        return (is_there and self.obeyed[broker] < self.made,
                not (self.registered[broker] and self.answers[broker])
                or self.obeyed[broker] == self.made)

    @leads_to("KAFKA-C68", MUST, "When a broker's znode is gone, nothing is sent to it any more in "
              "the end.", source=CHANNELS, broker=upto(B))
    def sending_again_ends(self, broker: int) -> tuple[bool, bool]:
        """The loop has this one end."""
        return not self.registered[broker], not self.known[broker] and not self.busy[broker]

    @always("KAFKA-C69", MUST, "A broker is given up only when its znode is gone, and never for a "
            "connection that breaks or an answer that does not come.",
            source="001#channels; kafka#broker-changes", broker=upto(B))
    def silence_is_not_death(self, broker: int) -> bool:
        """Or when it has asked to go, which is told in ``broker_changes``."""
        return self.known[broker] or not self.registered[broker]


    @leads_to("KAFKA-C80", MUST, "A controller goes on deciding, whichever broker answers nothing.",
              source="001#channels; kafka#requests; KAFKA-2122")
    def it_goes_on_deciding(self) -> tuple[bool, bool]:
        """It waits for no answer."""
        return self.made < self.N, self.made == self.N


class OneThread(Channels):
    """One thread sends to all brokers, and waits for each answer."""

    def may_send(self) -> bool:
        """When nothing is under way to anybody."""
        return not any(self.busy)


class WaitingForRoom(Channels):
    """A queue has Q places, and the controller waits where there is none (until 0.8.1)."""

    Q = const(1, at_least=1)            # places in a queue, and the request under way

    def has_room(self) -> bool:
        """Whether the queue of each broker that is known has."""
        return all(not self.known[each] or self.made - self.obeyed[each] < self.Q
                   for each in range(self.B))


class SendingForEver(Channels):
    """A thread that waits for an answer does not see that its broker is gone."""

    def give_up(self, broker: int) -> None:
        """It ends when it has its answer, and not before."""
        self.known[broker] = False


class TakingSilenceForDeath(Channels):
    """A broker that does not answer is taken for dead."""

    def is_gone(self, broker: int) -> bool:
        """Or there was no answer."""
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
        """The request is sent; a tick later it is known that nobody answers."""
        require(self.pausing == 0 and self.passed < self.T)
        self.attempts += 1
        self.passed += 1
        self.pausing = self.pause()

    def pause(self) -> int:
        """How long it is before the next attempt."""
        return self.P

    @action(fair=True)
    def tick(self) -> None:
        """Time passes in a pause."""
        require(self.pausing > 0 and self.passed < self.T)
        self.passed += 1
        self.pausing -= 1

    @always("KAFKA-C70", MUST, "Of a request that is not answered one copy is sent for each "
            "pause and the time of an attempt, and no more.", source=CHANNELS)
    def attempts_are_few(self) -> bool:
        """The controller's thread does nothing but wait, most of the time."""
        return self.attempts <= (self.passed + self.P) // (self.P + 1)


class RetryingAtOnce(Pauses):
    """The request is sent again as soon as it has failed."""

    def pause(self) -> int:
        """Nothing is waited for."""
        return 0


OF_CHANNELS = ("KAFKA-C67", "KAFKA-C68", "KAFKA-C69", "KAFKA-C80")

EXPECTATIONS = (
    *(expect(Channels, rule, "holds", "each broker has a thread of its own",
             B=(1, 2), N=(1, 2), G=(0, 1, 2)) for rule in OF_CHANNELS),
    expect(OneThread, "KAFKA-C67", "violated", where="B > 1 and G > 0",
           about="who answers nothing holds up the others: it takes two brokers, and a silence",
           B=(1, 2), N=(1, 2), G=(0, 1)),
    expect(WaitingForRoom, "KAFKA-C80", "violated", where="N > Q and G > 0",
           about="the queue to a broker that is silent, and stays registered, is full",
           B=(1, 2), N=(1, 2, 3), G=(0, 1), Q=(1, 2, 3)),
    expect(SendingForEver, "KAFKA-C68", "violated", where="G > 0",
           about="the thread of who is gone waits for ever", B=1, N=1, G=(0, 1)),
    expect(TakingSilenceForDeath, "KAFKA-C69", "violated", where="G > 0",
           about="a broker is given up that is registered", B=1, N=1, G=(0, 1)),
    expect(TakingSilenceForDeath, "KAFKA-C67", "violated", where="G > 0",
           about="who answers again is never told: nothing in the store has changed",
           B=1, N=1, G=(0, 1)),
    expect(Pauses, "KAFKA-C70", "holds", "one attempt for each pause", P=(0, 1, 2, 3),
           T=(1, 2, 4, 6, 9)),
    expect(RetryingAtOnce, "KAFKA-C70", "violated", where="P > 0 and T > 1",
           about="without a pause attempts follow each other", P=(0, 1, 2), T=(1, 2, 4)),
)

UNSEEN = {
    "KAFKA-C67":
        "Suites judge what has come to rest. By then every fault is over, and who was held up by "
        "another broker has been told when that one answered.",
    "KAFKA-C80":
        "A controller that has waited for a silent broker decides when that one answers; and when "
        "suites look, every broker does.",
    "KAFKA-C68":
        "A request to a broker that is gone reaches nobody, and one to its next life is refused by "
        "its broker epoch (KAFKA-F9).",
    "KAFKA-C70":
        "How long a pause is depends on the release, and no port of the controller has a clock.",
}
