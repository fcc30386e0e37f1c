"""A link over a network that loses, duplicates and reorders: credit as a limit, not as an
increment.

Theory
------
On a network that loses messages the tokens of ``credit`` get lost, and a retry that was not needed
creates new ones. The text asks for timeouts, retries, ids and deduplication. What makes them
harmless is *the meaning of a message*. Elements are numbered 0, 1, …, and every message carries a
number of which a greater one says all that a smaller one does:

- DATA(id): this is element id. B accepts the one that it expects next, and no other.
- ACK(a): B has accepted all elements below a.
- PERMIT(g): A may send all elements below g: a *limit*, and not so many more.

So a message that comes twice, late or out of turn brings nothing new. B has freed c elements and
accepted a; A has sent s, and knows a limit t; B has granted g. Always

    c <= a <= s <= t <= g <= c + C

so B's buffer, a - c, never exceeds C. A limit also says that B has freed all but C elements
below it. A sender that uses that never keeps more than C elements for retries. One that relies on
ACKs alone may have to keep any number, for they can be lost for as long as limits arrive.

The network needs no state here. Any message that was ever sent may arrive at any time, any number
of times, or never. A message that is repeated again and again gets through eventually, and only
such a one: so A repeats the oldest element that is not acknowledged, B answers every element, and B
repeats its limit. The last is easily forgotten (003#E19). If the last limit is lost, A has nothing
outstanding, so no timer of its own runs, and B has no reason to send. The link is deadlocked, like
a TCP connection with a window of zero and without probes.

Source: 003#drops, 003#tokens; 003#E10, 003#E19.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, assume, boolean, const, eventually_always, integer, require,
    upto,
)

__all__ = [
    "EXPECTATIONS", "AcceptingAnything", "CountedLink", "IncrementalLink", "KeepingByAcks",
    "SilentReceiver", "SilentSender", "WrappingLink",
]

DROPS = "003#drops"


class CountedLink(Machine):
    """K elements go over the link; B has C slots, and sends a new limit for every b freed ones."""

    C = const(2, at_least=1)            # slots at the receiver
    b = const(1, at_least=1)            # freed slots for which the limit is raised
    K = const(4, at_least=1)            # elements

    freed = integer(0, K)               # c
    accepted = integer(0, K)            # a
    sent = integer(0, K)                # s: different elements, without retries
    told = integer(0, K + C, init=C)    # t: the greatest limit that reached A
    granted = integer(0, K + C, init=C)     # g
    acked = integer(0, K)               # A knows that B has all elements below
    mixed_up = boolean(False)           # B accepted an element for another one

    @assume
    def a_batch_fits(self) -> bool:
        """True if a batch fits; with larger batches every link deadlocks (FLOW-3)."""
        return self.b <= self.C

    # --- A, B, and B's consumer ------------------------------------------------------------

    @action(fair=True)
    def send(self) -> None:
        """A sends the next element, if the limit allows it."""
        require(self.sent < self.K and self.sent < self.told)
        self.sent += 1

    @action(fair=True)
    def free(self) -> None:
        """B has processed an element, and raises its limit if a batch is free."""
        require(self.freed < self.accepted)
        self.freed += 1
        if self.freed + self.C - self.granted >= self.b:
            self.granted = self.freed + self.C

    def take_data(self, id: int) -> None:
        """B accepts an element if it is the one expected next."""
        if self.is_expected(id):
            require(self.accepted < self.K)
            self.mixed_up = self.mixed_up or id != self.accepted
            self.accepted += 1

    def is_expected(self, id: int) -> bool:
        """True for the next of all that were not accepted yet."""
        return id == self.accepted

    def take_permit(self, limit: int) -> None:
        """A keeps the greatest limit that it has received."""
        self.told = max(self.told, limit)
        self.take_ack(limit - self.C)

    def take_ack(self, number: int) -> None:
        """A need not send again the elements that B has."""
        self.acked = max(self.acked, number)

    # --- a message of any age arrives, perhaps not for the first time ----------------------

    @action(id=upto(K))
    def data(self, id: int) -> None:
        """Any element that was ever sent arrives at B."""
        require(id < self.sent)
        self.take_data(id)

    @action(number=upto(K + 1))
    def ack(self, number: int) -> None:
        """Any acknowledgement that was ever true arrives at A."""
        require(number <= self.accepted)
        self.take_ack(number)

    @action(beyond=upto(K + 1))
    def permit(self, beyond: int) -> None:
        """Any limit that was ever granted arrives at A: ``beyond`` above the first one, C."""
        require(self.C + beyond <= self.granted)
        self.take_permit(self.C + beyond)

    # --- a repeated message gets through eventually ----------------------------------------

    @action(fair=True)
    def retry(self) -> None:
        """A repeats the oldest element that B is not known to have."""
        require(self.sender_repeats() and self.acked < self.sent)
        self.take_data(self.acked)

    @action(fair=True)
    def answer(self) -> None:
        """B answers each element that comes, new or not, with the number that it has accepted."""
        require(self.acked < self.accepted)
        self.take_ack(self.accepted)

    @action(fair=True)
    def announce(self) -> None:
        """B repeats its limit."""
        require(self.receiver_repeats() and self.told < self.granted)
        self.take_permit(self.granted)

    def sender_repeats(self) -> bool:
        """True: A has a timer."""
        return True

    def receiver_repeats(self) -> bool:
        """True: B has a timer, too."""
        return True

    # --- rules -----------------------------------------------------------------------------

    @always("FLOW-13", MUST,
            "The counters of a link stay in order: elements freed <= accepted <= sent <= limit "
            "known to the sender <= limit granted <= freed + slots of the receiver.",
            source=f"{DROPS}; 003#tokens")
    def counters_are_in_order(self) -> bool:
        """Messages that are lost, duplicated or reordered make no difference."""
        return (self.freed <= self.accepted <= self.sent <= self.told <= self.granted
                <= self.freed + self.C)

    @always("FLOW-14", MUST,
            "A receiver never holds more accepted and unprocessed elements than it has slots, "
            "even if the network loses, duplicates or reorders messages.",
            source=f"{DROPS}; 003#defining")
    def buffer_is_bounded(self) -> bool:
        """The text: otherwise we would violate boundedness."""
        return self.accepted - self.freed <= self.C

    @always("FLOW-15", MUST,
            "The sent elements that a sender does not know to be accepted, and keeps for "
            "retries, are at most as many as the receiver's slots.",
            source=f"{DROPS}; 003#E10")
    def store_is_bounded(self) -> bool:
        """Elements that were sent, and that B is not known to have."""
        return self.sent - self.acked <= self.C

    @always("FLOW-16", MUST,
            "A receiver accepts elements only in the order of their numbers, each at most once, "
            "and none in place of another.",
            source=f"{DROPS}: it is essential to track ids of messages and deduplicate them")
    def elements_are_told_apart(self) -> bool:
        """True if each id that B accepted named the element that it expected."""
        return not self.mixed_up

    @eventually_always("FLOW-17", MUST,
                       "If, of a message that is repeated without end, in either direction, "
                       "some copy arrives, every element is processed eventually.",
                       source=f"{DROPS}; 003#E19")
    def all_is_processed(self) -> bool:
        """B has freed as many slots as there are elements."""
        return self.freed == self.K


class SilentSender(CountedLink):
    """An element that is lost stays lost."""

    def sender_repeats(self) -> bool:
        """False: A has no timer."""
        return False


class SilentReceiver(CountedLink):
    """B sends each limit once (003#E19)."""

    def receiver_repeats(self) -> bool:
        """False: B has no timer."""
        return False


class IncrementalLink(CountedLink):
    """A message grants so many credits more, as in ``credit``, on this network."""

    def take_permit(self, limit: int) -> None:
        """A adds up the messages that come."""
        if limit > self.C:
            self.told = min(self.K + self.C, self.told + self.b)


class AcceptingAnything(CountedLink):
    """B does not check ids: no deduplication."""

    def is_expected(self, id: int) -> bool:
        """True: every element is taken for new, as long as any is to come."""
        return self.accepted < self.K


class KeepingByAcks(CountedLink):
    """A draws no conclusion from a limit: an element is kept until its ACK comes."""

    def take_permit(self, limit: int) -> None:
        """A keeps the limit, and nothing else."""
        self.told = max(self.told, limit)


class WrappingLink(CountedLink):
    """Ids that begin again after M elements, on a network that keeps messages for any time."""

    M = const(2, at_least=1)

    def is_expected(self, id: int) -> bool:
        """All that is left of an id is its remainder."""
        return id % self.M == self.accepted % self.M and self.accepted < self.K


SIZES: dict[str, Any] = {"C": (1, 2, 3), "b": lambda C: range(1, C + 1), "K": 5}

EXPECTATIONS = (
    *(expect(CountedLink, rule, "holds", about, **SIZES) for rule, about in (
        ("FLOW-13", "the counters stay in order"),
        ("FLOW-14", "bounded on any network"),
        ("FLOW-15", "at most C elements to repeat"),
        ("FLOW-16", "each element once, in order"),
        ("FLOW-17", "live if repetitions get through"),
    )),
    *(prove(CountedLink, rule, about, for_all=("C", "b"), lemmas=lemmas, K=4)
      for rule, about, lemmas in (
        ("FLOW-13", "the counters stay in order", ()),
        ("FLOW-14", "bounded on any network", ("FLOW-13",)),
      )),
    expect(SilentSender, "FLOW-17", "violated", "003#E19: a lost element is never repeated",
           C=(1, 2), K=3),
    expect(SilentReceiver, "FLOW-17", "violated",
           "003#E19: the last limit is lost, and nothing is outstanding",
           where="K > C", C=(1, 2, 3), K=(1, 2, 3, 4)),
    expect(IncrementalLink, "FLOW-13", "violated", "a credit that comes twice is counted twice",
           C=(1, 2, 3), K=5),
    expect(IncrementalLink, "FLOW-14", "violated",
           "003#E10: a credit that comes twice lets A overrun B",
           C=(1, 2, 3), K=5),
    expect(AcceptingAnything, "FLOW-13", "violated", "more is accepted than was sent", C=1, K=3),
    expect(AcceptingAnything, "FLOW-16", "violated", "an element that comes twice", C=1, K=3),
    expect(KeepingByAcks, "FLOW-15", "violated", "acknowledgements are lost, and limits come",
           C=(1, 2), K=5),
    expect(WrappingLink, "FLOW-16", "violated", "ids that wrap: an old element is taken for new",
           where="M < K", C=(1, 2), M=(1, 2, 3, 4, 5), K=5),
)
