"""Creation and deletion of a topic: first its replicas are deleted, then its node.

Theory of operation
-------------------
A topic is created as a node in the store. The controller notices it, and elects a leader for its
partition. If the controller is replaced in between, the next one finds a topic without a leader,
and elects one.

The deletion of a topic is a request, which stays in the store until it is done. The controller
takes the partition offline permanently: it never has a leader again. Then it handles each replica:

    live                          asked to stop and to delete; *started* until it answers
    on a stopped broker           *ineligible*; so is one if its broker stops while it deletes
    has answered                  *gone*

While any replica is ineligible the deletion waits; when its broker is back it continues. It does
not begin while the partition is being reassigned, since the two would start and stop replicas at
the same time. When all replicas are gone, the topic's node is deleted together with the request;
until then the next controller finds both, and begins again.

There is one topic with one partition and a replica on each of B brokers. D bounds how often a
broker stops, X how often the controller is replaced; R is 1 if a reassignment may be under way.

Source: kafka#topics.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require, step,
    upto,
)

__all__ = [
    "EXPECTATIONS", "DeletingWhatMoves", "DeletingWithoutTheDead", "ForgettingTheIneligible",
    "NotResuming", "NotWaitingForAnswers", "Replica", "Reviving", "Topics",
]

TOPICS = "kafka#topics"


class Replica(IntEnum):
    """Progress of the controller with a replica."""

    THERE = 0
    STARTED = 1
    INELIGIBLE = 2
    GONE = 3


class Topics(Machine):
    """A controller, the store, and the brokers with the replicas of one topic."""

    B = const(2, at_least=1)                # brokers
    D = const(1)                            # brokers that stop
    X = const(1)                            # controllers that are replaced
    R = const(1, at_most=1)                 # 1: the topic may be reassigned

    made = boolean()                        # the topic has been created …
    node = boolean()                        # … and its node exists
    wished = boolean()                      # its deletion is requested
    moving = boolean()                      # it is being reassigned

    up = array(upto(B), boolean(True))
    keeps = array(upto(B), boolean())       # has a log
    told = array(upto(B), boolean())        # a request to delete is under way
    gone = integer(0, D)
    replaced = integer(0, X)

    knows = boolean()                       # the controller knows the topic …
    led = boolean()                         # … and it has a leader
    deleting = boolean()                    # its deletion has begun
    replica = array(upto(B), choice(Replica))

    # --- beside the controller -----------------------------------------------------------------

    @action
    def make(self) -> None:
        """A topic is created."""
        require(not self.made)
        self.made = True
        self.node = True

    @action
    def wish(self) -> None:
        """The deletion of the topic is requested."""
        require(self.node and not self.wished)
        self.wished = True

    @action
    def begin_to_move(self) -> None:
        """A reassignment is requested; not possible for a topic that is to be deleted."""
        require(self.R == 1 and self.led and not self.moving and not self.wished)
        self.moving = True

    @action(fair=True)
    def end_to_move(self) -> None:
        """The reassignment has been carried out."""
        require(self.moving)
        self.moving = False

    @action(broker=upto(B))
    def go(self, broker: int) -> None:
        """A broker stops, and the controller notices it."""
        require(self.up[broker] and self.gone < self.D)
        self.gone += 1
        self.up[broker] = False
        self.told[broker] = False
        if self.replica[broker] == Replica.STARTED:
            self.replica[broker] = Replica.INELIGIBLE
        if not any(self.up):
            self.led = False

    @action(fair=True, broker=upto(B))
    def come(self, broker: int) -> None:
        """A broker returns with its log."""
        require(not self.up[broker])
        self.up[broker] = True
        if self.may_lead():
            self.led = True
            self.keeps[broker] = True
        self.go_on_with(broker)

    def may_lead(self) -> bool:
        """True if a broker that comes is a reason to elect."""
        return self.knows and not self.deleting and not self.wished

    def go_on_with(self, broker: int) -> None:
        """A deletion that waited for a broker continues."""
        if self.deleting and self.replica[broker] == Replica.INELIGIBLE:
            self.replica[broker] = Replica.STARTED
            self.told[broker] = True

    @action(fair=True, broker=upto(B))
    def delete_log(self, broker: int) -> None:
        """A broker deletes its replica, and reports that."""
        require(self.up[broker] and self.told[broker])
        self.told[broker] = False
        self.keeps[broker] = False
        if self.replica[broker] == Replica.STARTED:
            self.replica[broker] = Replica.GONE

    # --- the controller ------------------------------------------------------------------------

    @action
    def replace(self) -> None:
        """Another controller takes over without knowledge, and reads."""
        require(self.replaced < self.X)
        self.replaced += 1
        self.knows = False
        self.deleting = False
        for each in range(self.B):
            self.replica[each] = Replica.THERE
            self.told[each] = False

    @action(fair=True)
    def learn(self) -> None:
        """The controller finds the topic, which has a leader already, or gets one."""
        require(self.node and not self.knows)
        self.knows = True
        if not self.led and not self.wished and self.elects():
            self.led = any(self.up)
            for each in range(self.B):
                self.keeps[each] = self.up[each]

    def elects(self) -> bool:
        """True if a topic without a leader gets one."""
        return True

    @action(fair=True)
    def begin(self) -> None:
        """The deletion begins: there is no leader, and every live replica gets a request."""
        require(self.knows and self.wished and not self.deleting and self.may_begin())
        self.deleting = True
        self.led = False
        for each in range(self.B):
            if self.up[each]:
                self.told[each] = True
                self.replica[each] = self.when_told()
            else:
                self.replica[each] = Replica.INELIGIBLE

    def may_begin(self) -> bool:
        """True unless the topic is being reassigned."""
        return not self.moving

    def when_told(self) -> Replica:
        """The state of a replica after its request."""
        return Replica.STARTED

    @action(fair=True)
    def finish(self) -> None:
        """All replicas are gone: node and request are removed."""
        require(self.deleting and self.node)
        require(all(self.is_done(each) for each in range(self.B)))
        self.node = False
        self.wished = False
        self.knows = False
        self.deleting = False

    def is_done(self, broker: int) -> bool:
        """True if nothing is left to do with a replica."""
        return self.replica[broker] == Replica.GONE

    # --- rules ---------------------------------------------------------------------------------

    @leads_to("KAFKA-C101", MUST,
              "If stopped brokers come back and reassignments end, a topic with a requested "
              "deletion eventually has no node in the store any more.",
              source=TOPICS)
    def it_is_deleted(self) -> tuple[bool, bool]:
        """Even if controllers are replaced."""
        return self.wished, not self.node

    @always("KAFKA-C102", MUST,
            "While a topic has no node in the store, no broker has a log of it.",
            source=TOPICS)
    def nothing_is_left(self) -> bool:
        """A later topic of the same name would find its records."""
        return self.node or not any(self.keeps)

    @step("KAFKA-C103", MUST,
          "Once the deletion of a topic is requested, a partition of it without a leader gets "
          "none.",
          source=TOPICS)
    def it_stays_dead(self, after: Topics) -> bool:
        """Producers would write records that are deleted."""
        return not self.wished or self.led or not after.led

    @always("KAFKA-C104", MUST,
            "The deletion of a topic is not under way while the topic is being reassigned.",
            source=TOPICS)
    def what_moves_stays(self) -> bool:
        """One would start replicas, and the other would stop them."""
        return not self.moving or not self.deleting

    @leads_to("KAFKA-C105", MUST,
              "If stopped brokers come back, a partition of an existing topic without a leader "
              "eventually gets one, unless the deletion of the topic is requested.",
              source=f"{TOPICS}; KAFKA-928")
    def it_gets_a_leader(self) -> tuple[bool, bool]:
        """Even if the first controller that noticed it is replaced."""
        return self.node and not self.led, self.led or self.wished or not self.node


# ---- broken ones ----------------------------------------------------------------------------


class ForgettingTheIneligible(Topics):
    """A replica on a broker that was down never gets another request."""

    def go_on_with(self, broker: int) -> None:
        """The replica stays ineligible."""
        return


class DeletingWithoutTheDead(Topics):
    """The node is deleted when all live brokers have answered."""

    def is_done(self, broker: int) -> bool:
        """A replica on a stopped broker counts as deleted."""
        return self.replica[broker] in (Replica.GONE, Replica.INELIGIBLE)


class NotWaitingForAnswers(Topics):
    """A replica counts as deleted as soon as its request is sent."""

    def when_told(self) -> Replica:
        """The answer is not awaited."""
        return Replica.GONE


class Reviving(Topics):
    """A broker that returns gets a leader elected for all of its replicas."""

    def may_lead(self) -> bool:
        """Topics that are to be deleted are not excluded."""
        return self.knows


class DeletingWhatMoves(Topics):
    """A deletion begins even during a reassignment."""

    def may_begin(self) -> bool:
        """Reassignments are not tested."""
        return True


class NotResuming(Topics):
    """A controller elects for topics that it notices, but not for those that it finds at its
    beginning.
    """

    def elects(self) -> bool:
        """Only the first controller has noticed it."""
        return self.replaced == 0


RULES = tuple(f"KAFKA-C{number}" for number in range(101, 106))

EXPECTATIONS = (
    *(expect(Topics, rule, "holds", "brokers stop, controllers are replaced", B=2, D=1, X=1, R=1)
      for rule in RULES),
    *(expect(variant, rule, "violated", about, B=2, D=1, X=1, R=1)
      for variant, rule, about in (
          (ForgettingTheIneligible, "KAFKA-C101", "its broker was down once"),
          (DeletingWithoutTheDead, "KAFKA-C102", "a stopped broker keeps its log"),
          (NotWaitingForAnswers, "KAFKA-C102", "the request is under way"),
          (Reviving, "KAFKA-C103", "its broker comes back, and it gets a leader"),
          (DeletingWhatMoves, "KAFKA-C104", "replicas are moved and deleted at the same time"),
          (NotResuming, "KAFKA-C105", "the controller that knew of it was replaced"),
      )),
)
