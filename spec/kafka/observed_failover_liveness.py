"""Observable liveness of a cluster: records, topics, few requests, quiescence after faults.

Theory. ``observed_failover`` says what must not happen to a record while brokers fail. This chapter
says what must happen, and what must stay bounded. As there, each event is about one thing, and
there is one copy of a small machine for each:

    ObservedRecord      a record: written, acknowledged, read, and its state at the end
    ObservedDeletion    a partition of a topic that may be deleted: the records on its brokers
    ObservedChannel     a controller and a broker: how many requests wait for an answer
    ObservedTenure      a partition: leaders that are replaced without a reason
    ObservedHolding     a broker and a partition: requests with acks=all that wait there
    ObservedRest        the whole cluster at the end: quiescent or not

The end is when every fault is over: all brokers run, reach each other and the coordination service,
and have what is on their disks. Everything that the cluster owes must have happened then. Two
things are not owed. A producer with acks=all in a partition with fewer than min.insync.replicas
replicas gets no answer and waits forever. After an unclean election a log may end below the
position of a consumer: the consumer does not read what is written below its position afterwards.

A topic promises nothing about its records from the moment when its deletion is requested. It only
promises to disappear: its replicas are deleted first, then its entries in the coordination service.

A leader leads until its broker is gone, or an operator requests another one. A broker is gone when
its session has ended, never because a connection to another broker breaks. The end of a session is
not visible from outside; so nothing is demanded of a broker after any other fault of it.

A producer with acks=all waits at the leader. A broker that no longer leads cannot acknowledge those
records, so it answers at once that it is not the leader, before it fetches as a follower. A
producer without an answer waits for its own timeout, which costs nothing but time; so this is a
SHOULD.

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
    "KAFKA-F25", MUST,
    "When all faults and all possible work are over, every record that a producer was asked to "
    "write is acknowledged, unless its topic is to be deleted or acks=all needs more replicas "
    "than there are.",
    source="kafka#failover")
DELIVERED = guard_rule(
    "KAFKA-F26", MUST,
    "When all faults and all possible work are over, the consumer has read every record "
    "acknowledged with acks=all, unless its topic is to be deleted or an unclean election lost "
    "it or made the consumer skip it.",
    source="kafka#failover")
RESTS = guard_rule(
    "KAFKA-F27", MUST,
    "After the end of all faults, the cluster eventually becomes quiescent, unless a producer "
    "waits with acks=all in a partition with fewer than min.insync.replicas replicas.",
    source="kafka#failover")
DELETED = guard_rule(
    "KAFKA-F28", MUST,
    "When all faults and all possible work are over, every topic is gone for which a deletion "
    "was requested.",
    source="kafka#topics")
NOT_WHILE_MOVING = guard_rule(
    "KAFKA-F29", MUST,
    "While a reassignment is under way, no broker deletes a replica that it keeps or adds, "
    "unless that replica left the list before and has obeyed no leader epoch since it returned.",
    source="kafka#topics")
EMPTY = guard_rule(
    "KAFKA-F30", MUST,
    "A topic disappears only when each replica on its partitions' lists that has appended a "
    "record has since been deleted.",
    source="kafka#topics")
STAYS_DEAD = guard_rule(
    "KAFKA-F31", MUST,
    "Once the deletion of a topic is requested and, with no reassignment open, a listed replica "
    "of a partition has been deleted, this partition gets no leader in a new epoch.",
    source="kafka#topics")
FEW_WAIT = guard_rule(
    "KAFKA-F32", SHOULD,
    "At most 4 P + 2 of a controller's requests to a broker are unanswered: one under way, one "
    "for each of the P partitions created so far and four kinds, and one about no partition.",
    source="kafka#requests; 001#controller")

STAYS = guard_rule(
    "KAFKA-F33", MUST,
    "A leader is replaced only if its broker or the coordination service had, at some time "
    "before, a fault other than of connections between brokers, or an operator requested a "
    "change of the partition.",
    source="001#channels; kafka#broker-changes")

LET_GO = guard_rule(
    "KAFKA-F34", SHOULD,
    "Before a broker copies a record of a partition as a follower, it answers every producer "
    "with acks=all that waits at it in this partition, unless its process ends.",
    source="kafka#stepping-down")


class ObservedRecord(Machine):
    """One record, identified by its value."""

    asked = boolean()                   # a producer was asked to write it …
    told = boolean()                    # … and got its acknowledgement …
    promised = boolean()                # … for acks=all
    was_read = boolean()

    @action
    def is_asked(self) -> None:
        """A producer is asked to write the record."""
        self.asked = True

    @action(by_all=upto(2))
    def is_told(self, by_all: int) -> None:
        """The producer gets an acknowledgement, for acks=all (`by_all` is 1) or acks=1."""
        self.told = True
        self.promised = self.promised or by_all == 1

    @action
    def is_read(self) -> None:
        """A consumer reads it."""
        self.was_read = True

    @action(may_wait=upto(2), may_be_missed=upto(2), rests=True)
    def ends(self, may_wait: int, may_be_missed: int) -> None:
        """All faults are over.

        `may_wait`: its producer requires more replicas than there are; `may_be_missed`: an unclean
        election put it below the consumer's position.
        """
        require(self.told or not self.asked or may_wait == 1, ANSWERED)
        require(self.was_read or not self.promised or may_be_missed == 1, DELIVERED)


class ObservedDeletion(Machine):
    """One partition of a topic that may be deleted."""

    N = const(3, at_least=1)            # replicas

    holds = array(upto(N), boolean())   # a broker has records of it …
    listed = array(upto(N), boolean(True))      # … and is one of its replicas
    struck = array(upto(N), boolean())  # it was off the list, and has obeyed no newer epoch since
    unwanted = boolean()                # its topic is to be deleted …
    begun = boolean()                   # … one of its replicas has been …
    gone = boolean()                    # … and everything has been
    wished = boolean()                  # a reassignment was requested …
    moving = boolean()                  # … and has begun
    stays = array(upto(N), boolean())   # … and the replicas that it keeps

    @action(replica=upto(N))
    def is_held(self, replica: int) -> None:
        """A broker has appended a record."""
        self.holds[replica] = True

    @action
    def is_unwanted(self) -> None:
        """The deletion of its topic is requested."""
        self.unwanted = True

    @action(replica=upto(N))
    def is_erased(self, replica: int) -> None:
        """A broker has deleted its replica.

        The request for a replica that left the list may arrive late, when the replica is on the
        list again.
        """
        require(not (self.moving and self.stays[replica]) or self.struck[replica],
                NOT_WHILE_MOVING)
        self.holds[replica] = False
        if self.unwanted and self.listed[replica] and not self.wished:
            self.begun = True

    @action
    def is_to_move(self) -> None:
        """A reassignment is requested; the next events name its replicas."""
        self.wished = True

    @action(replica=upto(N))
    def is_to_stay(self, replica: int) -> None:
        """The reassignment keeps or adds this replica."""
        self.stays[replica] = True

    @action(replica=upto(N))
    def is_listed(self, replica: int) -> None:
        """The replica is on the list from now on; so the reassignment has begun."""
        self.listed[replica] = True
        self.moving = self.wished

    @action(replica=upto(N))
    def is_struck(self, replica: int) -> None:
        """The replica is off the list; the records that it keeps no longer count."""
        self.listed[replica] = False
        self.holds[replica] = False
        self.struck[replica] = True

    @action(replica=upto(N))
    def obeys(self, replica: int) -> None:
        """A broker obeys an epoch that began when the replica was on the list again.

        Requests arrive in order, so no older one can follow. (A request that it obeys and a record
        that it appends after it left the list may be late, like its deletion.)
        """
        self.struck[replica] = False

    @action
    def has_moved(self) -> None:
        """The reassignment was carried out, or refused."""
        self.wished = False
        self.moving = False
        for each in range(self.N):
            self.stays[each] = False

    @action
    def is_elected(self) -> None:
        """The quorum names a leader in a new epoch."""
        require(not self.begun, STAYS_DEAD)

    @action
    def goes(self) -> None:
        """No entry of the topic is left."""
        require(not any(self.holds[each] and self.listed[each] for each in range(self.N)), EMPTY)
        self.gone = True

    @action(rests=True)
    def ends(self) -> None:
        """All faults are over, and all possible work is done."""
        require(self.gone or not self.unwanted, DELETED)


class ObservedChannel(Machine):
    """A controller's queue to a broker, which may answer nothing for any length of time."""

    P = const(2, at_least=1)            # partitions that ever existed
    Q = const(12, at_least=1)           # requests in the queue

    longest = integer(0, Q)

    @action(requests=upto(Q + 1), partitions=upto(P + 1))
    def holds(self, requests: int, partitions: int) -> None:
        """`requests` have no answer yet, and `partitions` were created so far."""
        require(requests <= 4 * partitions + 2, FEW_WAIT)
        self.longest = max(self.longest, requests)


class ObservedTenure(Machine):
    """The leader of one partition, and the brokers that may have lost their sessions."""

    N = const(3, at_least=1)            # replicas

    leader = integer(0, N, init=N)      # according to the quorum; N: none
    doubtful = array(upto(N), boolean())    # its broker may have lost its session
    is_free = boolean()                 # an operator requested another leader, or none

    @action(replica=upto(N))
    def may_be_gone(self, replica: int) -> None:
        """A fault of the broker, other than one of its connections to other brokers."""
        self.doubtful[replica] = True

    @action
    def is_wished(self) -> None:
        """An operator requests another leader, other replicas, or the deletion of the topic."""
        self.is_free = True

    @action(replica=upto(N + 1))
    def is_led(self, replica: int) -> None:
        """The quorum names this replica as leader, or none (N)."""
        require(self.leader == self.N or replica == self.leader or self.is_free
                or self.doubtful[min(self.leader, self.N - 1)], STAYS)
        self.leader = replica


class ObservedHolding(Machine):
    """Producers' requests that wait at one broker in one partition."""

    Q = const(3, at_least=1)            # requests that are counted

    waiting = integer(0, Q)

    @action
    def is_held(self) -> None:
        """A producer's request is appended, and waits for all in-sync replicas."""
        self.waiting = min(self.waiting + 1, self.Q)

    @action
    def is_answered(self) -> None:
        """A waiting request is answered: acknowledged, or refused since the broker no longer leads.
        """
        self.waiting = max(self.waiting - 1, 0)

    @action
    def is_over(self) -> None:
        """The broker's process ends; requests that wait there get no answer."""
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
        """`at_rest`: the cluster is quiescent; `may_wait`: a producer requires more replicas than
        there are.
        """
        require(at_rest == 1 or may_wait == 1, RESTS)
        self.over = True


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
