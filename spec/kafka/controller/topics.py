"""How a topic comes into being, and how it is deleted: first what is on the brokers, then its node.

Theory of operation
-------------------
A topic is made by a node in the store. The controller hears of it, and lets its partition be led.
If it is replaced in between, the next one finds a topic without a leader, and elects one.

A topic is deleted by a wish, which stands in the store until all is done. The controller takes the
partition offline for good: nobody leads it any more. Then it goes by replicas:

    live                          told to stop and to delete; *started* until it answers
    on a broker that is gone      *ineligible*; so is one whose broker goes while it deletes
    has answered                  *gone*

While any replica is ineligible the deletion waits; when its broker is back it goes on. While the
partition is being reassigned it does not begin, for both would tell replicas to come and to go.
When all replicas are gone, the topic's node is deleted, and the wish with it; until then the next
controller finds both, and begins anew.

There is one topic with one partition and a replica on each of B brokers. D bounds how often a
broker goes, X how often the controller is replaced; R is 1 if a reassignment may be under way.

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
    """How far the controller has come with a replica."""

    THERE = 0
    STARTED = 1
    INELIGIBLE = 2
    GONE = 3


class Topics(Machine):
    """A controller, the store, and the brokers with the replicas of one topic."""

    B = const(2, at_least=1)                # brokers
    D = const(1)                            # brokers that go
    X = const(1)                            # controllers that are replaced
    R = const(1, at_most=1)                 # whether the topic may be reassigned

    made = boolean()                        # there is a topic, or was …
    node = boolean()                        # … and its node is there
    wished = boolean()                      # somebody wishes it to be deleted
    moving = boolean()                      # it is being reassigned

    up = array(upto(B), boolean(True))
    keeps = array(upto(B), boolean())       # has a log
    told = array(upto(B), boolean())        # a request to delete is on its way
    gone = integer(0, D)
    replaced = integer(0, X)

    knows = boolean()                       # the controller knows of the topic …
    led = boolean()                         # … and somebody leads it
    deleting = boolean()                    # it has begun to delete it
    replica = array(upto(B), choice(Replica))

    # --- beside the controller -----------------------------------------------------------------

    @action
    def make(self) -> None:
        """Somebody makes a topic."""
        require(not self.made)
        self.made = True
        self.node = True

    @action
    def wish(self) -> None:
        """Somebody wants it to be deleted."""
        require(self.node and not self.wished)
        self.wished = True

    @action
    def begin_to_move(self) -> None:
        """Somebody wants it to have other replicas; that is not for topics that go."""
        require(self.R == 1 and self.led and not self.moving and not self.wished)
        self.moving = True

    @action(fair=True)
    def end_to_move(self) -> None:
        """The replicas are where they should be."""
        require(self.moving)
        self.moving = False

    @action(broker=upto(B))
    def go(self, broker: int) -> None:
        """A broker is gone. The controller notices."""
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
        """It is back, with what it had."""
        require(not self.up[broker])
        self.up[broker] = True
        if self.may_lead():
            self.led = True
            self.keeps[broker] = True
        self.go_on_with(broker)

    def may_lead(self) -> bool:
        """Whether a broker that comes is a reason to elect."""
        return self.knows and not self.deleting and not self.wished

    def go_on_with(self, broker: int) -> None:
        """A deletion that waited for a broker goes on."""
        if self.deleting and self.replica[broker] == Replica.INELIGIBLE:
            self.replica[broker] = Replica.STARTED
            self.told[broker] = True

    @action(fair=True, broker=upto(B))
    def delete_log(self, broker: int) -> None:
        """A broker deletes its replica, and says so."""
        require(self.up[broker] and self.told[broker])
        self.told[broker] = False
        self.keeps[broker] = False
        if self.replica[broker] == Replica.STARTED:
            self.replica[broker] = Replica.GONE

    # --- the controller ------------------------------------------------------------------------

    @action
    def replace(self) -> None:
        """Another controller takes over: it knows nothing, and reads."""
        require(self.replaced < self.X)
        self.replaced += 1
        self.knows = False
        self.deleting = False
        for each in range(self.B):
            self.replica[each] = Replica.THERE
            self.told[each] = False

    @action(fair=True)
    def learn(self) -> None:
        """It finds the topic, which is led already, or gets a leader."""
        require(self.node and not self.knows)
        self.knows = True
        if not self.led and not self.wished and self.elects():
            self.led = any(self.up)
            for each in range(self.B):
                self.keeps[each] = self.up[each]

    def elects(self) -> bool:
        """Whether a topic without a leader gets one."""
        return True

    @action(fair=True)
    def begin(self) -> None:
        """The deletion begins: nobody leads, and every replica is told that is there."""
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
        """Not while it is being reassigned."""
        return not self.moving

    def when_told(self) -> Replica:
        """What a replica is as soon as it was told."""
        return Replica.STARTED

    @action(fair=True)
    def finish(self) -> None:
        """All replicas are gone, and so are the node and the wish."""
        require(self.deleting and self.node)
        require(all(self.is_done(each) for each in range(self.B)))
        self.node = False
        self.wished = False
        self.knows = False
        self.deleting = False

    def is_done(self, broker: int) -> bool:
        """Whether nothing is left to do with a replica."""
        return self.replica[broker] == Replica.GONE

    # --- rules ---------------------------------------------------------------------------------

    @leads_to("KAFKA-C101", MUST, "A topic that is to be deleted is deleted, when its brokers come "
              "back and its reassignment ends.", source=TOPICS)
    def it_is_deleted(self) -> tuple[bool, bool]:
        """Also when controllers are replaced."""
        return self.wished, not self.node

    @always("KAFKA-C102", MUST, "A topic's node goes only when no broker keeps a replica.",
            source=TOPICS)
    def nothing_is_left(self) -> bool:
        """A topic of the same name would find what was in it."""
        return self.node or not any(self.keeps)

    @step("KAFKA-C103", MUST, "A topic that is being deleted is not led again.", source=TOPICS)
    def it_stays_dead(self, after: Topics) -> bool:
        """Producers would write to what goes."""
        return not self.wished or self.led or not after.led

    @always("KAFKA-C104", MUST, "Nothing is deleted of a topic that is being reassigned.",
            source=TOPICS)
    def what_moves_stays(self) -> bool:
        """One would tell replicas to come, and the other to go."""
        return not self.moving or not self.deleting

    @leads_to("KAFKA-C105", MUST, "A topic that was made gets a leader, unless it is to be "
              "deleted.", source=f"{TOPICS}; KAFKA-928")
    def it_gets_a_leader(self) -> tuple[bool, bool]:
        """Whatever becomes of the controller that heard of it first."""
        return self.node and not self.led, self.led or self.wished or not self.node


# ---- broken ones ----------------------------------------------------------------------------


class ForgettingTheIneligible(Topics):
    """A replica whose broker was gone is never asked again."""

    def go_on_with(self, broker: int) -> None:
        """It is ineligible, and stays so."""
        return


class DeletingWithoutTheDead(Topics):
    """The node goes when all live brokers have answered."""

    def is_done(self, broker: int) -> bool:
        """Who is gone has nothing to delete, one thinks."""
        return self.replica[broker] in (Replica.GONE, Replica.INELIGIBLE)


class NotWaitingForAnswers(Topics):
    """A replica that was told to delete is taken to be gone."""

    def when_told(self) -> Replica:
        """It will do so."""
        return Replica.GONE


class Reviving(Topics):
    """A broker that comes lets all be led that it has replicas of."""

    def may_lead(self) -> bool:
        """Nobody asks what is to be deleted."""
        return self.knows


class DeletingWhatMoves(Topics):
    """A deletion begins whatever else is under way."""

    def may_begin(self) -> bool:
        """Nobody asks for reassignments."""
        return True


class NotResuming(Topics):
    """A controller elects for topics of which it hears, and not for those that it finds."""

    def elects(self) -> bool:
        """Only the first one has heard of it."""
        return self.replaced == 0


RULES = tuple(f"KAFKA-C{number}" for number in range(101, 106))

EXPECTATIONS = (
    *(expect(Topics, rule, "holds", "brokers go, controllers are replaced", B=2, D=1, X=1, R=1)
      for rule in RULES),
    *(expect(variant, rule, "violated", about, B=2, D=1, X=1, R=1)
      for variant, rule, about in (
          (ForgettingTheIneligible, "KAFKA-C101", "its broker was gone once"),
          (DeletingWithoutTheDead, "KAFKA-C102", "who was gone keeps its log"),
          (NotWaitingForAnswers, "KAFKA-C102", "the request is on its way"),
          (Reviving, "KAFKA-C103", "its broker comes back, and it is led"),
          (DeletingWhatMoves, "KAFKA-C104", "replicas come and go at a time"),
          (NotResuming, "KAFKA-C105", "the controller that heard of it was replaced"),
      )),
)
