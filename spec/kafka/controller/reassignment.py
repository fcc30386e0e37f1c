"""How a partition gets other replicas: all of the old and the new ones first, and then fewer.

Theory of operation
-------------------
Somebody wishes that a partition has other replicas; the wish stands in the store until it is done,
so that the next controller finds it. The controller goes by what it finds there:

    not all that are to come are in sync       the list becomes the old and the new ones together;
                                               all are told, in another leader epoch; the new ones
                                               begin to follow
    all are in sync                            one of them leads; all are told of the new list, in
                                               another leader epoch; the others leave the ISR, are
                                               stopped, and delete what they have; the list is
                                               written; the wish is struck

The leader writes the ISR as well: it lets whoever follows it join, if it stands on the list *as the
leader was told*. It writes on condition that the node is the one of which it was told last. So what
keeps a replica out that is to go is the new epoch with the new list: until the leader has heard of
it, it writes nothing, and afterwards it lets nobody join who is not on it.

    controller                              leader                 replica that goes
        | -- epoch 3, list {1, 2} --------> |                            |
        | -- epoch 4, ISR without it -----> |                            |
        |                                   | <---- fetches still ------ |
        | -- stop, delete -------------------------------------------->  |

Without the first request the leader lets it join again, and it deletes what it has, in sync
(KAFKA-1097).

Kafka itself does not wait for those that go before it writes the new list. If their requests get
lost with their controller, they keep what they have (``StrikingFirst``): since 3.8 a broker looks
for such *stray* replicas when it starts.

Sets of brokers are told as in ``selectors``. The partition goes from the replicas ``O`` to the
replicas ``T``; broker L leads at first. D bounds how often a follower lags, X how often the
controller is replaced.

Source: kafka#reassignment; KAFKA-1097, KAFKA-1170, KAFKA-9672.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, boolean, choice, const, integer, leads_to, require,
    step, upto,
)
from .selectors import ALL, BROKERS, both, either, first, has, only, without

__all__ = [
    "EXPECTATIONS", "KeepingTheOldList", "NotWaiting", "Reassignment", "Stage", "StrikingFirst",
    "StrikingTheWishFirst",
]

REASSIGNMENT = "kafka#reassignment"
LIST = (0, 1, 2)


class Stage(IntEnum):
    """What the controller does next."""

    LOOK = 0
    LIST_ALL = 1        # old and new replicas, in the store
    TELL_ALL = 2
    WAIT = 3            # until all that come are in sync
    LEAD = 4            # one of them leads, and the new list is told
    TAKE_OUT = 5        # the others leave the ISR, and are stopped
    DELETE = 6          # … and delete
    LIST_NEW = 7        # the new list, in the store
    STRIKE = 8          # the wish


class Reassignment(Machine):
    """A controller, a leader that writes the ISR beside it, and replicas that come and go."""

    O = const(3, at_least=1, at_most=7)     # noqa: E741  the old replicas: 0 and 1
    T = const(6, at_least=1, at_most=7)     # those that are wished for: 1 and 2
    L = const(0, at_most=2)                 # the leader at first
    D = const(1)                            # followers that lag
    X = const(1)                            # controllers that are replaced

    wished = boolean(True)
    listed = integer(0, ALL, init=O)            # in the store
    leader = integer(0, BROKERS - 1, init=L)    # the node
    isr = integer(0, ALL, init=O)
    epoch = integer(1, 3 * X + 5)

    heard = integer(1, 3 * X + 5)               # the epoch of which the leader was told last
    counted = integer(0, ALL, init=O)           # … and the list
    queued = boolean()                          # a request to the leader is under way …
    to_count = integer(0, ALL)                  # … with this list
    follows = integer(0, ALL, init=O)           # who fetches
    keeps = integer(0, ALL, init=O)             # who has a log
    stopping = integer(0, ALL)                  # who is told to stop
    deleting = integer(0, ALL)                  # … and to delete

    stage = choice(Stage)
    complete = boolean()                        # all that come have been in sync at a time
    lagged = integer(0, D)
    replaced = integer(0, X)

    # --- brokers -------------------------------------------------------------------------------

    def may_write(self) -> bool:
        """Whether the node is the one of which the leader was told last."""
        return self.heard == self.epoch

    @action(fair=True)
    def hear(self) -> None:
        """The leader is told who is in sync, and of the list."""
        require(self.queued)
        self.heard = self.epoch
        self.counted = self.to_count
        self.queued = False
        self.to_count = 0

    @action(fair=True, broker=upto(BROKERS))
    def let_join(self, broker: int) -> None:
        """The leader lets a follower join the ISR that has caught up."""
        require(self.may_write() and broker != self.leader and not has(self.isr, broker))
        require(has(both(self.counted, both(self.follows, self.keeps)), broker))
        self.isr += only(broker)
        self.look_who_is_in_sync()

    @action(broker=upto(BROKERS))
    def take_out(self, broker: int) -> None:
        """A follower lags, and leaves the ISR."""
        require(self.lagged < self.D and self.may_write())
        require(broker != self.leader and has(self.isr, broker))
        self.lagged += 1
        self.isr -= only(broker)

    @action(fair=True, broker=upto(BROKERS))
    def stop(self, broker: int) -> None:
        """A replica stops; and deletes what it has, if it is told so."""
        require(has(self.stopping, broker))
        self.stopping -= only(broker)
        self.follows = without(self.follows, only(broker))
        if has(self.deleting, broker):
            self.deleting -= only(broker)
            self.keeps = without(self.keeps, only(broker))

    def look_who_is_in_sync(self) -> None:
        """Remember that all have been, for the rules."""
        self.complete = self.complete or self.is_complete()

    # --- the controller ------------------------------------------------------------------------

    def is_complete(self) -> bool:
        """Whether all that come are in sync."""
        return both(self.T, self.isr) == self.T

    def may_go_on(self) -> bool:
        """Whether the old replicas are not needed any more."""
        return self.is_complete()

    @action
    def replace(self) -> None:
        """Another controller takes over, and tells the leader how things are."""
        require(self.replaced < self.X and self.stage != Stage.LOOK)
        self.replaced += 1
        self.stage = Stage.LOOK
        self.stopping = 0
        self.deleting = 0
        self.queued = True
        self.to_count = self.listed

    @action(fair=True)
    def look(self) -> None:
        """There is a wish: how far has it come?"""
        require(self.stage == Stage.LOOK and self.wished)
        self.look_who_is_in_sync()
        self.stage = Stage.LEAD if self.may_go_on() else Stage.LIST_ALL

    @action(fair=True)
    def list_all(self) -> None:
        """The list is that of both."""
        require(self.stage == Stage.LIST_ALL)
        self.listed = either(self.listed, self.T)
        self.stage = Stage.TELL_ALL

    @action(fair=True)
    def tell_all(self) -> None:
        """All of them hear of it; those that are new begin."""
        require(self.stage == Stage.TELL_ALL)
        self.tell(self.listed)
        self.follows = self.listed
        self.keeps = either(self.keeps, self.listed)
        self.stage = Stage.WAIT

    @action(fair=True)
    def go_on(self) -> None:
        """The ISR has changed, and all that come are in it."""
        require(self.stage == Stage.WAIT and self.may_go_on())
        self.stage = Stage.LEAD

    @action(fair=True)
    def lead(self) -> None:
        """Who leads is one of those that stay, and knows that they are all."""
        require(self.stage == Stage.LEAD)
        if not has(self.T, self.leader):
            found = first(LIST, both(self.T, self.isr))
            require(found < BROKERS)
            self.leader = found
            self.tell(self.T)
            self.follows = self.T
        else:
            self.tell_the_new_list()
        self.stage = Stage.TAKE_OUT

    def tell_the_new_list(self) -> None:
        """Who leads already is told, too."""
        self.tell(self.T)

    def tell(self, brokers: int) -> None:
        """In another epoch these are the replicas."""
        self.epoch += 1
        self.queued = True
        self.to_count = brokers

    def going(self) -> int:
        """Who is on the list, and is not to stay."""
        return without(self.listed, self.T)

    @action(fair=True)
    def take_out_of_sync(self) -> None:
        """The others leave the ISR, and are told to stop."""
        require(self.stage == Stage.TAKE_OUT)
        if both(self.isr, self.going()) > 0:
            self.isr = without(self.isr, self.going())
            self.epoch += 1
            self.queued = True
            self.to_count = self.list_for_the_leader()
        self.stopping = either(self.stopping, self.going())
        self.stage = Stage.DELETE

    def list_for_the_leader(self) -> int:
        """The replicas that stay, and no others."""
        return self.T

    @action(fair=True)
    def delete(self) -> None:
        """… and to delete what they have."""
        require(self.stage == Stage.DELETE)
        self.deleting = either(self.deleting, self.going())
        self.stopping = either(self.stopping, self.going())
        self.stage = Stage.LIST_NEW

    @action(fair=True)
    def list_new(self) -> None:
        """The list is the new one, when all others have answered."""
        require(self.stage == Stage.LIST_NEW and self.stopping == 0)
        self.listed = self.T
        self.stage = Stage.STRIKE

    @action(fair=True)
    def strike(self) -> None:
        """The wish has been carried out."""
        require(self.stage == Stage.STRIKE)
        self.wished = False
        self.stage = Stage.LOOK

    # --- rules ---------------------------------------------------------------------------------

    @always("KAFKA-C91", MUST, "When a wish has been carried out, whoever leads or is in sync is "
            "on the list.", source=f"{REASSIGNMENT}; KAFKA-1097, KAFKA-1170, KAFKA-9672")
    def who_is_in_sync_is_listed(self) -> bool:
        """A member that is no replica can never be taken out again."""
        return self.wished or both(either(self.isr, only(self.leader)), self.listed) == either(
            self.isr, only(self.leader))

    @always("KAFKA-C92", MUST, "Whoever is in sync keeps its log.",
            source=f"{REASSIGNMENT}; KAFKA-1097")
    def who_is_in_sync_keeps_its_log(self) -> bool:
        """It may be elected."""
        return both(self.isr, self.keeps) == self.isr

    @leads_to("KAFKA-C93", MUST, "A wish is carried out, also when controllers are replaced.",
              source=REASSIGNMENT)
    def wishes_are_carried_out(self) -> tuple[bool, bool]:
        """Followers do not lag for ever."""
        return self.wished, not self.wished and self.listed == self.T

    @leads_to("KAFKA-C94", SHOULD, "Whoever is not on the list keeps nothing in the end.",
              source=REASSIGNMENT)
    def who_is_not_listed_keeps_nothing(self) -> tuple[bool, bool]:
        """Nobody else will ever tell it."""
        return (not self.wished and without(self.keeps, self.listed) > 0,
                without(self.keeps, self.listed) == 0)

    @step("KAFKA-C95", MUST, "Replicas are stopped only when all that take their places have been "
          "in sync.", source=REASSIGNMENT)
    def never_fewer(self, after: Reassignment) -> bool:
        """So at no time there are fewer copies than before."""
        return after.stopping == 0 or after.complete


# ---- broken ones ----------------------------------------------------------------------------


class KeepingTheOldList(Reassignment):
    """A leader that stays is not told of the new list (KAFKA-1097)."""

    def tell_the_new_list(self) -> None:
        """It leads already, so there is nothing to tell."""
        return

    def list_for_the_leader(self) -> int:
        """Only the ISR is another one."""
        return self.listed


class NotWaiting(Reassignment):
    """The old replicas are stopped as soon as the new ones have begun."""

    def may_go_on(self) -> bool:
        """One that is in sync can lead."""
        return both(self.T, self.isr) > 0


class StrikingTheWishFirst(Reassignment):
    """The wish is struck when the leader is chosen; a controller that is replaced then leaves it
    undone."""

    @action(fair=True)
    def lead(self) -> None:
        """The rest will follow."""
        super().lead()
        self.wished = False

    @action(fair=True)
    def strike(self) -> None:
        """It is gone already."""
        require(self.stage == Stage.STRIKE)
        self.stage = Stage.LOOK


class StrikingFirst(Reassignment):
    """The new list is written without waiting for those that go, and the wish is struck; so Kafka
    does."""

    @action(fair=True)
    def list_new(self) -> None:
        """They have been told."""
        require(self.stage == Stage.LIST_NEW)
        self.listed = self.T
        self.stage = Stage.STRIKE


RULES = tuple(f"KAFKA-C{number}" for number in range(91, 96))

EXPECTATIONS = (
    *(expect(Reassignment, rule, "holds", "leader and replicas are others", D=1, X=(0, 1))
      for rule in RULES),
    *(expect(Reassignment, rule, "holds", "the leader stays", O=3, T=6, L=1, D=1, X=1)
      for rule in RULES),
    *(expect(variant, rule, "violated", about, O=3, T=6, L=1, D=1, X=1)
      for variant, rule, about in (
          (KeepingTheOldList, "KAFKA-C91", "who goes joins once more (KAFKA-1097)"),
          (KeepingTheOldList, "KAFKA-C92", "who goes deletes, in sync (KAFKA-1097)"),
          (NotWaiting, "KAFKA-C95", "one of two is in sync"),
          (StrikingTheWishFirst, "KAFKA-C93", "nobody knows any more what was wished for"),
          (StrikingFirst, "KAFKA-C94", "a stray replica: its controller was replaced first"),
      )),
)

UNSEEN = {
    "KAFKA-C94":
        "What a broker keeps of a partition that it has no replica of is on its disk alone; its "
        "leader epoch is old, so it can never be served again.",
}
