"""How a controller learns what there is: watching before reading, lives of brokers, first requests.

Theory of operation
-------------------
A controller that begins reads all from the store, and keeps it up to date by *watches*. A watch
fires once, and says only that something has changed. Three mistakes were made with that.

``Listening``. Between a reading and a watching that comes after it, things change unseen. So it
watches first, and each time that a watch fires it watches again and reads anew; it does not take
what there is from the event, which is old by then.

``Lives``. A broker may go and come back between two looks. Its number is there both times. What it
was told in its life before is forgotten, so the controller has to see that this is another *life*:
by the number of the transaction that registered it, its broker epoch. The same number in each
request lets a broker refuse what was meant for an earlier life.

``FirstRequests``. A broker follows only a leader of which it has heard that it is there, from an
UpdateMetadata. So that goes first, and LeaderAndIsr behind it in the same queue. The source text,
like 0.9, has it last, when both state machines have started: KAFKA-CE1, which is false of what is
right, and with which KAFKA-C74 is violated.

T bounds what is created, N the lives of a broker, F what it follows.

Source: kafka#controller-start; KAFKA-928, KAFKA-4443, KAFKA-5502, KAFKA-7235.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, boolean, const, fifo, integer, leads_to, require,
)

__all__ = [
    "EXPECTATIONS", "ComparingNumbers", "FirstRequests", "LeadersFirst", "Listening", "Lives",
    "ReadingFirst", "TrustingTheEvent", "WithoutBrokerEpochs",
]

START = "kafka#controller-start"


class Listening(Machine):
    """A controller that begins while topics are created."""

    T = const(3, at_least=1)            # topics that are created in all

    created = integer(0, T)             # topics in the store
    watching = boolean()                # a watch is set, and has not fired
    fired = boolean()                   # the controller has an event, and has not seen to it
    at_event = integer(0, T)            # topics when the watch fired
    begun = integer(0, 2)               # steps of the beginning that are done
    known = integer(0, T)               # topics that the controller knows

    @action
    def create(self) -> None:
        """Somebody creates a topic."""
        require(self.created < self.T)
        self.created += 1
        if self.watching:
            self.watching = False
            self.fired = True
            self.at_event = self.created

    @action(fair=True)
    def begin(self) -> None:
        """The controller watches, and then it reads."""
        require(self.begun < 2)
        if self.watches_now():
            self.watching = True
        else:
            self.known = self.created
        self.begun += 1

    def watches_now(self) -> bool:
        """Whether the next step is to watch, and not to read."""
        return self.begun == 0

    @action(fair=True)
    def see(self) -> None:
        """It watches again, and reads anew."""
        require(self.fired and self.begun == 2)
        self.fired = False
        self.watching = True
        self.known = self.seen()

    def seen(self) -> int:
        """What there is now."""
        return self.created

    @leads_to("KAFKA-C71", MUST, "Whatever is created is known to the controller in the end.",
              source=f"{START}; KAFKA-928, KAFKA-5502")
    def all_is_noticed(self) -> tuple[bool, bool]:
        """Else a topic never gets a leader."""
        return self.known < self.created, self.known == self.created


class ReadingFirst(Listening):
    """The watch is set when all has been read (KAFKA-928)."""

    def watches_now(self) -> bool:
        """Once it has read, in the second step."""
        return self.begun == 1


class TrustingTheEvent(Listening):
    """What there is comes from the event (KAFKA-5502)."""

    def seen(self) -> int:
        """What there was when the watch fired."""
        return self.at_event


class Lives(Machine):
    """A controller that looks at a broker from time to time, and the broker's lives."""

    N = const(3, at_least=1)            # lives of the broker

    lives = integer(0, N)               # so many have begun
    is_up = boolean()
    known = integer(0, N)               # the life that the controller knows; 0: the broker is down
    meant_for = integer(0, N)           # the life that a request under way is meant for; 0: none
    told = integer(0, N)                # the last life that was told what it has to do
    wrongly = boolean()                 # a life has done what was meant for another one

    @action
    def start(self) -> None:
        """The broker starts, and registers. It knows nothing."""
        require(not self.is_up and self.lives < self.N)
        self.lives += 1
        self.is_up = True

    @action
    def stop(self) -> None:
        """It crashes, or is stopped."""
        require(self.is_up)
        self.is_up = False

    @action(fair=True)
    def look(self) -> None:
        """The controller reads who is registered. It drops what was meant for a life that is over,
        and tells a new one."""
        require(self.differs())
        self.known = self.lives if self.is_up else 0
        self.meant_for = self.known

    def differs(self) -> bool:
        """Whether the broker, or its life, is not the one that is known."""
        return self.known != (self.lives if self.is_up else 0)

    @action(fair=True)
    def arrive(self) -> None:
        """The request arrives; only who it is meant for obeys."""
        require(self.meant_for > 0 and self.is_up)
        if self.obeys():
            self.told = self.lives
            self.wrongly = self.wrongly or self.meant_for != self.lives
        self.meant_for = 0

    def obeys(self) -> bool:
        """Whether the broker epoch of the request is its own."""
        return self.meant_for == self.lives

    @leads_to("KAFKA-C72", MUST, "A broker that stays is told what it has to do, whatever was told "
              "to its lives before.", source=f"{START}; KAFKA-7235")
    def every_life_is_told(self) -> tuple[bool, bool]:
        """One that goes before that need not be."""
        return self.is_up and self.told < self.lives, not self.is_up or self.told == self.lives

    @always("KAFKA-C73", MUST, "What was meant for an earlier life of a broker is not done.",
            source=f"{START}; KAFKA-7235")
    def lives_are_told_apart(self) -> bool:
        """It may be to stop a replica that is needed by now."""
        return not self.wrongly


class ComparingNumbers(Lives):
    """The controller compares brokers' numbers, and not their lives (KAFKA-7235)."""

    def differs(self) -> bool:
        """Whether the broker is there, and was not; or the other way round."""
        return (self.known > 0) != self.is_up


class WithoutBrokerEpochs(Lives):
    """Requests do not say which life they are meant for (KAFKA-7235)."""

    def obeys(self) -> bool:
        """It is meant for this broker."""
        return True


class FirstRequests(Machine):
    """What a controller that begins puts into the queue of a broker."""

    F = const(2, at_least=1)            # partitions that the broker is to follow the leader of

    queue = fifo(integer(0, 1), 3)      # 0: UpdateMetadata, 1: LeaderAndIsr
    put = integer(0, F + 1)
    knows = boolean()                   # the broker has heard that the leader is there
    follows = integer(0, F)
    refused = boolean()                 # … it was told to follow whom it did not know

    @action(fair=True)
    def send(self) -> None:
        """The next request goes into the queue."""
        require(self.put <= self.F and len(self.queue) < 3)
        self.queue.push(0 if self.put == self.metadata_at() else 1)
        self.put += 1

    def metadata_at(self) -> int:
        """At which place of the queue the metadata goes."""
        return 0

    @action(fair=True)
    def receive(self) -> None:
        """The broker gets the next one."""
        request = self.queue.pop()
        if request == 0:
            self.knows = True
        elif self.knows:
            self.follows += 1
        else:
            self.refused = True

    @always("KAFKA-C74", MUST, "Nobody is told to follow a leader of which it has not heard.",
            source=f"{START}; KAFKA-4443")
    def leaders_are_known(self) -> bool:
        """A broker that does not know the leader does not follow, and is not told again."""
        return not self.refused


    @always("KAFKA-CE1", CLAIM, "A controller that begins tells brokers who is there when all else "
            "of its beginning has been put into their queues.",
            source="001#take-over ('sendUpdateMetadataRequest'); KAFKA-4443")
    def metadata_goes_last(self) -> bool:
        """As the text has it."""
        return self.put <= self.metadata_at() or self.put == self.F + 1


class LeadersFirst(FirstRequests):
    """LeaderAndIsr goes first, and the metadata at the end (KAFKA-4443)."""

    def metadata_at(self) -> int:
        """Behind all requests to follow somebody."""
        return self.F


EXPECTATIONS = (
    expect(Listening, "KAFKA-C71", "holds", "it watches, then it reads", T=(1, 3)),
    expect(ReadingFirst, "KAFKA-C71", "violated", "what comes between is never noticed (KAFKA-928)",
           T=(1, 3)),
    expect(TrustingTheEvent, "KAFKA-C71", "violated", where="T > 1",
           about="what comes behind an event is never noticed (KAFKA-5502)", T=(1, 3)),
    expect(Lives, "KAFKA-C72", "holds", "each life is told", N=(2, 3)),
    expect(Lives, "KAFKA-C73", "holds", "requests name the life", N=(2, 3)),
    expect(ComparingNumbers, "KAFKA-C72", "violated", "a new life is never told (KAFKA-7235)",
           N=(2, 3)),
    expect(WithoutBrokerEpochs, "KAFKA-C73", "violated", "an old request is obeyed (KAFKA-7235)",
           N=(2, 3)),
    expect(FirstRequests, "KAFKA-C74", "holds", "metadata goes first", F=(1, 2)),
    expect(LeadersFirst, "KAFKA-C74", "violated", "the leader is not known yet (KAFKA-4443)",
           F=(1, 2)),
    expect(FirstRequests, "KAFKA-CE1", "violated", "the metadata is there before all else",
           F=(1, 2)),
    expect(LeadersFirst, "KAFKA-CE1", "holds", "as the text and 0.9 have it", F=(1, 2)),
)

UNSEEN = {
    "KAFKA-CE1":
        "It is what the text says, and leads to what KAFKA-4443 is about, so no implementation is "
        "to keep it.",
}
