"""What can be seen of what a cluster owes: records, topics, few requests, rest after faults.

Theory. ``observed_failover`` says what must not happen to a record while brokers fail. Here is what
must happen, and what must stay bounded. As there, each event is about one thing, and there is one
copy of a small machine for each:

    ObservedRecord      a record: to be written, acknowledged, read, and how it is at the end
    ObservedDeletion    a partition whose topic may be deleted: what brokers hold of it
    ObservedChannel     a controller and a broker: how many requests wait for an answer
    ObservedTenure      a partition: whether a leader is replaced for no reason
    ObservedHolding     a broker and a partition: who waits there for all acknowledgements
    ObservedRest        the whole cluster at the end: whether it has come to rest

The end is when every fault is over: all brokers run, reach each other and the coordination service,
and have what is on their disks. Whatever the cluster owes must be paid then. Two things are not
owed. A producer that waits for all acknowledgements in a partition with fewer replicas than
min.insync.replicas is not answered, and waits on. After an unclean election a log may be shorter
than what a consumer has read already: what is written at those offsets since, it does not read.

A topic that is to be deleted promises nothing of its records any more, from the moment at which
that is wished for. What it promises then is to go: its replicas are deleted first, then what is
written of it.

A leader leads until its broker is gone, or somebody wishes for another one. A broker is gone when
its session is over, and never for a connection to another broker that breaks. Outside one does not
see when a session ends; so of a broker to which anything else has ever happened nothing is said.

A leader keeps a producer waiting that asks for all acknowledgements. When it is leader no more it
can answer none of them as wished, so it answers at once that it is not: before it fetches as a
follower. A producer that hears nothing waits until its own time is over, and loses nothing by that
but time; so this is a SHOULD.

Source: kafka#failover, kafka#stepping-down, kafka#topics, kafka#requests; 001#controller.
"""

from __future__ import annotations

from ..notation import (
    MUST, SHOULD, Machine, action, array, boolean, const, guard_rule, integer, require, upto,
)

__all__ = [
    "ObservedChannel", "ObservedDeletion", "ObservedHolding", "ObservedRecord", "ObservedRest",
    "ObservedTenure",
]

ANSWERED = guard_rule(
    "KAFKA-F25", MUST, "After quiet, every record that a producer was to write is acknowledged, if "
    "the partition has min.insync.replicas replicas or the producer waits for the leader alone.",
    source="kafka#failover")
DELIVERED = guard_rule(
    "KAFKA-F26", MUST, "After quiet, every record that was acknowledged by all has been read by a "
    "consumer that goes on reading, unless an unclean election put it below what was read before.",
    source="kafka#failover")
RESTS = guard_rule(
    "KAFKA-F27", MUST, "After quiet, the cluster comes to rest, unless a producer waits for all "
    "acknowledgements in a partition with fewer replicas than min.insync.replicas.",
    source="kafka#failover")
DELETED = guard_rule(
    "KAFKA-F28", MUST, "After quiet, a topic that was to be deleted is gone.",
    source="kafka#topics")
NOT_WHILE_MOVING = guard_rule(
    "KAFKA-F29", MUST, "A replica that a reassignment keeps is not deleted before the reassignment "
    "ends, unless by a late request of an earlier one.", source="kafka#topics")
EMPTY = guard_rule(
    "KAFKA-F30", MUST, "A topic is gone only when none of its replicas holds a record.",
    source="kafka#topics")
STAYS_DEAD = guard_rule(
    "KAFKA-F31", MUST, "A partition of which a replica was deleted, since its topic is to go, is "
    "not led again.", source="kafka#topics")
FEW_WAIT = guard_rule(
    "KAFKA-F32", SHOULD, "Of a controller's requests to a broker at most one is under way, and no "
    "more wait than one for each partition and kind of request (four kinds), and one about none.",
    source="kafka#requests; 001#controller")

STAYS = guard_rule(
    "KAFKA-F33", MUST, "A leader is replaced only if its broker was out of reach of the "
    "coordination service, failed or went, or if an operator has a wish for the partition: never "
    "for a connection between brokers that breaks.",
    source="001#channels; kafka#broker-changes")

LET_GO = guard_rule(
    "KAFKA-F34", SHOULD, "A producer that waits at a leader for all acknowledgements is answered "
    "before that broker copies a record as a follower, unless the broker's process ends.",
    source="kafka#stepping-down")


class ObservedRecord(Machine):
    """One record, which its value tells from all others."""

    asked = boolean()                   # a producer is to write it …
    told = boolean()                    # … and was told that it is there …
    promised = boolean()                # … by all that are in sync
    was_read = boolean()

    @action
    def is_asked(self) -> None:
        """A producer is to write it."""
        self.asked = True

    @action(by_all=upto(2))
    def is_told(self, by_all: int) -> None:
        """The producer is told that it is there: by all that are in sync, or by the leader."""
        self.told = True
        self.promised = self.promised or by_all == 1

    @action
    def is_read(self) -> None:
        """A consumer reads it."""
        self.was_read = True

    @action(may_wait=upto(2), may_be_missed=upto(2), rests=True)
    def ends(self, may_wait: int, may_be_missed: int) -> None:
        """All faults are over. Its producer may wait for more replicas than there are; an unclean
        election may have put it where the consumer does not look any more."""
        require(self.told or not self.asked or may_wait == 1, ANSWERED)
        require(self.was_read or not self.promised or may_be_missed == 1, DELIVERED)


class ObservedDeletion(Machine):
    """One partition of a topic that may be deleted."""

    N = const(3, at_least=1)            # replicas

    holds = array(upto(N), boolean())   # a broker has records of it …
    listed = array(upto(N), boolean(True))      # … and is one of its replicas
    struck = array(upto(N), boolean())  # it was none for a while, and has obeyed nothing newer
    unwanted = boolean()                # its topic is to be deleted …
    begun = boolean()                   # … one of its replicas was …
    gone = boolean()                    # … and all of it is
    wished = boolean()                  # it is wished that it has other replicas …
    moving = boolean()                  # … which are on its list already
    stays = array(upto(N), boolean())   # … and which of them it is to have then

    @action(replica=upto(N))
    def is_held(self, replica: int) -> None:
        """A broker has appended a record."""
        self.holds[replica] = True

    @action
    def is_unwanted(self) -> None:
        """It is wished that its topic be deleted."""
        self.unwanted = True

    @action(replica=upto(N))
    def is_erased(self, replica: int) -> None:
        """A broker has deleted its replica. One that was struck may be told so late, when it is
        a replica again."""
        require(not (self.moving and self.stays[replica]) or self.struck[replica],
                NOT_WHILE_MOVING)
        self.holds[replica] = False
        if self.unwanted and self.listed[replica] and not self.wished:
            self.begun = True

    @action
    def is_to_move(self) -> None:
        """It is wished that it has other replicas; which ones is told next."""
        self.wished = True

    @action(replica=upto(N))
    def is_to_stay(self, replica: int) -> None:
        """It is to have this one."""
        self.stays[replica] = True

    @action(replica=upto(N))
    def is_listed(self, replica: int) -> None:
        """This one is on its list from now on; so the wish is being carried out."""
        self.listed[replica] = True
        self.moving = self.wished

    @action(replica=upto(N))
    def is_struck(self, replica: int) -> None:
        """This one is on its list no more; what it keeps is nobody's."""
        self.listed[replica] = False
        self.holds[replica] = False
        self.struck[replica] = True

    @action(replica=upto(N))
    def obeys(self, replica: int) -> None:
        """A broker obeys an epoch that began when it was on the list again. Requests come in their
        order, so none of before comes any more. (What it obeys and appends after it was struck
        may be late, as its deletion is.)"""
        self.struck[replica] = False

    @action
    def has_moved(self) -> None:
        """The wish was carried out, or refused."""
        self.wished = False
        self.moving = False
        for each in range(self.N):
            self.stays[each] = False

    @action
    def is_elected(self) -> None:
        """The quorum says in a new epoch that somebody leads it."""
        require(not self.begun, STAYS_DEAD)

    @action
    def goes(self) -> None:
        """Nothing says any more that the topic was there."""
        require(not any(self.holds[each] and self.listed[each] for each in range(self.N)), EMPTY)
        self.gone = True

    @action(rests=True)
    def ends(self) -> None:
        """All faults are over, and what could be done was done."""
        require(self.gone or not self.unwanted, DELETED)


class ObservedChannel(Machine):
    """A controller's queue to a broker, which may answer nothing for any time."""

    P = const(2, at_least=1)            # partitions that there ever were
    Q = const(12, at_least=1)           # requests in the queue

    longest = integer(0, Q)

    @action(requests=upto(Q + 1), partitions=upto(P + 1))
    def holds(self, requests: int, partitions: int) -> None:
        """So many requests have no answer yet; so many partitions were made until now."""
        require(requests <= 4 * partitions + 2, FEW_WAIT)
        self.longest = max(self.longest, requests)


class ObservedTenure(Machine):
    """The leader of one partition, and the brokers that may have lost their sessions."""

    N = const(3, at_least=1)            # replicas

    leader = integer(0, N, init=N)      # by the quorum; N: nobody
    doubtful = array(upto(N), boolean())    # its broker may have been gone
    is_free = boolean()                 # somebody wishes for another leader, or for none

    @action(replica=upto(N))
    def may_be_gone(self, replica: int) -> None:
        """Something happens to its broker, beside to its connections to other brokers."""
        self.doubtful[replica] = True

    @action
    def is_wished(self) -> None:
        """An operator wishes that another one lead, for other replicas, or that it be deleted."""
        self.is_free = True

    @action(replica=upto(N + 1))
    def is_led(self, replica: int) -> None:
        """The quorum says that this one leads, or nobody (N)."""
        require(self.leader == self.N or replica == self.leader or self.is_free
                or self.doubtful[min(self.leader, self.N - 1)], STAYS)
        self.leader = replica


class ObservedHolding(Machine):
    """What one broker keeps waiting in one partition."""

    Q = const(3, at_least=1)            # requests that are counted

    waiting = integer(0, Q)

    @action
    def is_held(self) -> None:
        """A producer's request is appended, and waits for all acknowledgements."""
        self.waiting = min(self.waiting + 1, self.Q)

    @action
    def is_answered(self) -> None:
        """One of those that wait is answered: that all have it, or that this one leads no more."""
        self.waiting = max(self.waiting - 1, 0)

    @action
    def is_over(self) -> None:
        """The broker's process ends; nobody will answer what waited there."""
        self.waiting = 0

    @action
    def follows(self) -> None:
        """The broker appends a record that it has fetched from another leader."""
        require(self.waiting == 0, LET_GO)


class ObservedRest(Machine):
    """The whole cluster, when all faults are over."""

    over = boolean()

    @action(at_rest=upto(2), may_wait=upto(2), rests=True)
    def ends(self, at_rest: int, may_wait: int) -> None:
        """It has come to rest, or does not; a producer may wait for more replicas than there
        are."""
        require(at_rest == 1 or may_wait == 1, RESTS)
        self.over = True


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
