"""A controller's knowledge at its start: watches before reads, lives of brokers, first requests.

Theory of operation
-------------------
A controller that begins reads everything from the store, and stays up to date by *watches*. A watch
fires once, and reports only that something has changed. Three mistakes were made with that.

``Listening``. If the watch is set after the read, changes in between are not noticed. So the
controller sets the watch first, and each time that a watch fires it sets the watch again and reads
again; it does not take the content from the event, which is old by then.

``Lives``. A broker may stop and start again between two reads. Its number is present both times. It
has forgotten the requests of its previous life, so the controller has to notice that this is
another *life*: by the number of the transaction that registered it, its broker epoch. The same
number in each request lets a broker refuse requests that were meant for an earlier life.

``FirstRequests``. A broker follows only a leader that it knows to be live, from an UpdateMetadata.
So that is sent first, and LeaderAndIsr behind it in the same queue. The source text, like 0.9,
sends it last, when both state machines have started: KAFKA-CE1, which is false of the correct
order; with the text's order KAFKA-C74 is violated.

T bounds the topics that are created, N the lives of a broker, F the partitions that it follows.

Source: kafka#controller-start; KAFKA-928, KAFKA-4443, KAFKA-5502, KAFKA-7235.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, boolean, const, fifo, integer, leads_to, require,
)

__all__ = [
    "EXPECTATIONS", "ComparingNumbers", "FirstRequests", "HeedingTheLifeBefore", "LeadersFirst",
    "Listening", "Lives", "ReadingFirst", "TrustingTheEvent", "WithoutBrokerEpochs",
]

START = "kafka#controller-start"


class Listening(Machine):
    """A controller that begins while topics are created."""

    T = const(3, at_least=1)            # topics that are created in all

    created = integer(0, T)             # topics in the store
    watching = boolean()                # a watch is set, and has not fired
    fired = boolean()                   # the controller has an unhandled event
    at_event = integer(0, T)            # topics when the watch fired
    begun = integer(0, 2)               # finished steps of the beginning
    known = integer(0, T)               # topics that the controller knows

    @action
    def create(self) -> None:
        """A topic is created."""
        require(self.created < self.T)
        self.created += 1
        if self.watching:
            self.watching = False
            self.fired = True
            self.at_event = self.created

    @action(fair=True)
    def begin(self) -> None:
        """The controller sets its watch, and then reads."""
        require(self.begun < 2)
        if self.watches_now():
            self.watching = True
        else:
            self.known = self.created
        self.begun += 1

    def watches_now(self) -> bool:
        """True if the next step sets the watch, and does not read."""
        return self.begun == 0

    @action(fair=True)
    def see(self) -> None:
        """The controller sets the watch again, and reads again."""
        require(self.fired and self.begun == 2)
        self.fired = False
        self.watching = True
        self.known = self.seen()

    def seen(self) -> int:
        """The topics that exist now."""
        return self.created

    @leads_to("KAFKA-C71", MUST,
              "Every topic that is created, also before or while a controller begins, is "
              "eventually known to this controller.",
              source=f"{START}; KAFKA-928, KAFKA-5502")
    def all_is_noticed(self) -> tuple[bool, bool]:
        """Otherwise a topic never gets a leader."""
        return self.known < self.created, self.known == self.created


class ReadingFirst(Listening):
    """The watch is set after everything has been read (KAFKA-928)."""

    def watches_now(self) -> bool:
        """True in the second step, after the read."""
        return self.begun == 1


class TrustingTheEvent(Listening):
    """The content is taken from the event (KAFKA-5502)."""

    def seen(self) -> int:
        """The topics that existed when the watch fired."""
        return self.at_event


class Lives(Machine):
    """A controller that reads a broker's registration from time to time, and the broker's lives."""

    N = const(3, at_least=1)            # lives of the broker

    lives = integer(0, N)               # lives that have begun
    is_up = boolean()
    known = integer(0, N)               # the life that the controller knows; 0: the broker is down
    meant_for = integer(0, N)           # the life that a request under way is meant for; 0: none
    told = integer(0, N)                # the last life that got its request
    wrongly = boolean()                 # a life has obeyed a request for another one

    @action
    def start(self) -> None:
        """The broker starts with nothing in memory, and registers."""
        require(not self.is_up and self.lives < self.N)
        self.lives += 1
        self.is_up = True

    @action
    def stop(self) -> None:
        """The broker crashes, or is stopped."""
        require(self.is_up)
        self.is_up = False

    @action(fair=True)
    def look(self) -> None:
        """The controller reads the registered brokers.

        It drops requests for a life that is over, and sends to a new one.
        """
        require(self.differs())
        self.known = self.lives if self.is_up else 0
        self.meant_for = self.known

    def differs(self) -> bool:
        """True if the broker, or its life, is not the known one."""
        return self.known != (self.lives if self.is_up else 0)

    @action(fair=True)
    def arrive(self) -> None:
        """The request arrives; only the life that it is meant for obeys."""
        require(self.meant_for > 0 and self.is_up)
        if self.obeys():
            self.told = self.lives
            self.wrongly = self.wrongly or self.meant_for != self.lives
        self.meant_for = 0

    def obeys(self) -> bool:
        """True if the broker epoch of the request is its own."""
        return self.meant_for == self.lives

    @leads_to("KAFKA-C72", MUST,
              "A broker that stays up after a start eventually obeys a request meant for this "
              "life, whatever its earlier lives got.",
              source=f"{START}; KAFKA-7235")
    def every_life_is_told(self) -> tuple[bool, bool]:
        """A life that ends before need not get them."""
        return self.is_up and self.told < self.lives, not self.is_up or self.told == self.lives

    @always("KAFKA-C73", MUST, "A request that was meant for an earlier life of a broker is not "
            "obeyed.",
            source=f"{START}; KAFKA-7235")
    def lives_are_told_apart(self) -> bool:
        """It could stop a replica that is needed now."""
        return not self.wrongly


class ComparingNumbers(Lives):
    """The controller compares brokers' numbers, not their lives (KAFKA-7235)."""

    def differs(self) -> bool:
        """True if the broker is up and was not, or the other way round."""
        return (self.known > 0) != self.is_up


class WithoutBrokerEpochs(Lives):
    """Requests do not say which life they are meant for (KAFKA-7235)."""

    def obeys(self) -> bool:
        """Any life of the broker obeys."""
        return True


class HeedingTheLifeBefore(Lives):
    """A broker obeys what was meant for its last life as well."""

    def obeys(self) -> bool:
        """It has come too late by one life at most."""
        return self.meant_for >= self.lives - 1


class FirstRequests(Machine):
    """Requests that a controller that begins puts into the queue of a broker."""

    F = const(2, at_least=1)            # partitions in which the broker is to follow the leader

    queue = fifo(integer(0, 1), 3)      # 0: UpdateMetadata, 1: LeaderAndIsr
    put = integer(0, F + 1)
    knows = boolean()                   # the broker knows that the leader is live
    follows = integer(0, F)
    refused = boolean()                 # … it was to follow an unknown leader

    @action(fair=True)
    def send(self) -> None:
        """The next request enters the queue."""
        require(self.put <= self.F and len(self.queue) < 3)
        self.queue.push(0 if self.put == self.metadata_at() else 1)
        self.put += 1

    def metadata_at(self) -> int:
        """The place of the metadata in the queue."""
        return 0

    @action(fair=True)
    def receive(self) -> None:
        """The broker receives the next request."""
        request = self.queue.pop()
        if request == 0:
            self.knows = True
        elif self.knows:
            self.follows += 1
        else:
            self.refused = True

    @always("KAFKA-C74", MUST,
            "When a broker receives a request to follow a leader, it already knows from an "
            "UpdateMetadata that the leader is live.",
            source=f"{START}; KAFKA-4443")
    def leaders_are_known(self) -> bool:
        """A broker that does not know the leader does not follow, and is not asked again."""
        return not self.refused


    @always("KAFKA-CE1", CLAIM, "A controller that begins sends the list of live brokers after all "
            "other requests of its beginning.",
            source="001#take-over ('sendUpdateMetadataRequest'); KAFKA-4443")
    def metadata_goes_last(self) -> bool:
        """According to the text."""
        return self.put <= self.metadata_at() or self.put == self.F + 1


class LeadersFirst(FirstRequests):
    """LeaderAndIsr is sent first, and the metadata last (KAFKA-4443)."""

    def metadata_at(self) -> int:
        """Behind all requests to follow a leader."""
        return self.F


EXPECTATIONS = (
    expect(Listening, "KAFKA-C71", "holds", "the watch is set before the read", T=(1, 3)),
    expect(ReadingFirst, "KAFKA-C71", "violated", "a change in between is never noticed "
           "(KAFKA-928)",
           T=(1, 3)),
    expect(TrustingTheEvent, "KAFKA-C71", "violated", where="T > 1",
           about="a change after the event is never noticed (KAFKA-5502)", T=(1, 3)),
    expect(Lives, "KAFKA-C72", "holds", "each life gets its requests", N=(2, 3)),
    expect(Lives, "KAFKA-C73", "holds", "requests name the life", N=(2, 3)),
    expect(ComparingNumbers, "KAFKA-C72", "violated", "a new life gets nothing (KAFKA-7235)",
           N=(2, 3)),
    expect(HeedingTheLifeBefore, "KAFKA-C73", "violated", "a request is obeyed one life late",
           N=(2, 3)),
    expect(WithoutBrokerEpochs, "KAFKA-C73", "violated", "an old request is obeyed (KAFKA-7235)",
           N=(2, 3)),
    expect(FirstRequests, "KAFKA-C74", "holds", "metadata goes first", F=(1, 2)),
    expect(LeadersFirst, "KAFKA-C74", "violated", "the leader is not known yet (KAFKA-4443)",
           F=(1, 2)),
    expect(FirstRequests, "KAFKA-CE1", "violated", "the metadata is sent first",
           F=(1, 2)),
    expect(LeadersFirst, "KAFKA-CE1", "holds", "as in the text and in 0.9", F=(1, 2)),
)

UNSEEN = {
    "KAFKA-CE1":
        "The text says it, and it leads to KAFKA-4443, so no implementation has to satisfy it.",
}
