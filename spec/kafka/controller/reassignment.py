"""Reassignment of a partition: first the old and the new replicas together, then the new ones.

Theory of operation
-------------------
An operator requests other replicas for a partition; the request stays in the store until it is
done, so that the next controller finds it. The controller acts on the content of the store:

    not all new replicas are in sync           the list becomes the old and the new ones together;
                                               all are informed, in a new leader epoch; the new
                                               ones begin to follow
    all are in sync                            one of them leads; all get the new list, in a new
                                               leader epoch; the others leave the ISR, are stopped,
                                               and delete their logs; the list is written; the
                                               request is removed

The leader writes the ISR as well: it lets a follower join that is on the list *that the leader
knows*. It writes on condition that the node is the one that it knows. So the new epoch with the new
list keeps a removed replica out: until the leader has received it, its writes fail, and afterwards
it lets only replicas on the new list join.

    controller                              leader                 removed replica
        | -- epoch 3, list {1, 2} --------> |                            |
        | -- epoch 4, ISR without it -----> |                            |
        |                                   | <---- fetches still ------ |
        | -- stop, delete -------------------------------------------->  |

Without the first request the leader lets it join again, and it deletes its log while it is in sync
(KAFKA-1097).

Kafka itself does not wait for the removed replicas before it writes the new list. If their requests
get lost with their controller, they keep their logs (``StrikingFirst``): since 3.8 a broker looks
for such *stray* replicas when it starts.

Sets of brokers are encoded as in ``selectors``. The partition changes from the replicas ``O`` to
the replicas ``T``; broker L leads at first. D bounds how often a follower lags, X how often the
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
    """Next steps of the controller."""

    LOOK = 0
    LIST_ALL = 1        # old and new replicas, in the store
    TELL_ALL = 2
    WAIT = 3            # until all new replicas are in sync
    LEAD = 4            # one of them leads, and gets the new list
    TAKE_OUT = 5        # the others leave the ISR, and are stopped
    DELETE = 6          # … and delete
    LIST_NEW = 7        # the new list, in the store
    STRIKE = 8          # remove the request


class Reassignment(Machine):
    """A controller, a leader that writes the ISR concurrently, and replicas that are added and
    removed.
    """

    O = const(3, at_least=1, at_most=7)     # noqa: E741  the old replicas: 0 and 1
    T = const(6, at_least=1, at_most=7)     # the new replicas: 1 and 2
    L = const(0, at_most=2)                 # the leader at first
    D = const(1)                            # followers that lag
    X = const(1)                            # controllers that are replaced

    wished = boolean(True)
    listed = integer(0, ALL, init=O)            # in the store
    leader = integer(0, BROKERS - 1, init=L)    # the node
    isr = integer(0, ALL, init=O)
    epoch = integer(1, 3 * X + 5)

    heard = integer(1, 3 * X + 5)               # the leader's newest epoch …
    counted = integer(0, ALL, init=O)           # … and its list
    queued = boolean()                          # a request to the leader is under way …
    to_count = integer(0, ALL)                  # … with this list
    follows = integer(0, ALL, init=O)           # brokers that fetch
    keeps = integer(0, ALL, init=O)             # brokers that have a log
    stopping = integer(0, ALL)                  # receivers of a request to stop
    deleting = integer(0, ALL)                  # … and to delete

    stage = choice(Stage)
    complete = boolean()                        # all new replicas have been in sync together
    lagged = integer(0, D)
    replaced = integer(0, X)

    # --- brokers -------------------------------------------------------------------------------

    def may_write(self) -> bool:
        """True if the leader knows the present node."""
        return self.heard == self.epoch

    @action(fair=True)
    def hear(self) -> None:
        """The leader learns the ISR and the list."""
        require(self.queued)
        self.heard = self.epoch
        self.counted = self.to_count
        self.queued = False
        self.to_count = 0

    @action(fair=True, broker=upto(BROKERS))
    def let_join(self, broker: int) -> None:
        """A follower that has caught up joins the ISR."""
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
        """A replica stops, and deletes its log if requested."""
        require(has(self.stopping, broker))
        self.stopping -= only(broker)
        self.follows = without(self.follows, only(broker))
        if has(self.deleting, broker):
            self.deleting -= only(broker)
            self.keeps = without(self.keeps, only(broker))

    def look_who_is_in_sync(self) -> None:
        """Record for the rules that all new replicas are in sync."""
        self.complete = self.complete or self.is_complete()

    # --- the controller ------------------------------------------------------------------------

    def is_complete(self) -> bool:
        """True if all new replicas are in sync."""
        return both(self.T, self.isr) == self.T

    def may_go_on(self) -> bool:
        """True if the old replicas are no longer needed."""
        return self.is_complete()

    @action
    def replace(self) -> None:
        """Another controller takes over, and sends the present state to the leader."""
        require(self.replaced < self.X and self.stage != Stage.LOOK)
        self.replaced += 1
        self.stage = Stage.LOOK
        self.stopping = 0
        self.deleting = 0
        self.queued = True
        self.to_count = self.listed

    @action(fair=True)
    def look(self) -> None:
        """Read the request and its progress."""
        require(self.stage == Stage.LOOK and self.wished)
        self.look_who_is_in_sync()
        self.stage = Stage.LEAD if self.may_go_on() else Stage.LIST_ALL

    @action(fair=True)
    def list_all(self) -> None:
        """The list becomes the old and the new replicas."""
        require(self.stage == Stage.LIST_ALL)
        self.listed = either(self.listed, self.T)
        self.stage = Stage.TELL_ALL

    @action(fair=True)
    def tell_all(self) -> None:
        """All replicas are informed; the new ones begin."""
        require(self.stage == Stage.TELL_ALL)
        self.tell(self.listed)
        self.follows = self.listed
        self.keeps = either(self.keeps, self.listed)
        self.stage = Stage.WAIT

    @action(fair=True)
    def go_on(self) -> None:
        """The ISR has changed, and all new replicas are in it."""
        require(self.stage == Stage.WAIT and self.may_go_on())
        self.stage = Stage.LEAD

    @action(fair=True)
    def lead(self) -> None:
        """The leader is one of the new replicas, and gets the new list."""
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
        """A leader that stays also gets the new list."""
        self.tell(self.T)

    def tell(self, brokers: int) -> None:
        """In a new epoch these are the replicas."""
        self.epoch += 1
        self.queued = True
        self.to_count = brokers

    def going(self) -> int:
        """Replicas on the list that are to be removed."""
        return without(self.listed, self.T)

    @action(fair=True)
    def take_out_of_sync(self) -> None:
        """Removed replicas leave the ISR, and get a request to stop."""
        require(self.stage == Stage.TAKE_OUT)
        if both(self.isr, self.going()) > 0:
            self.isr = without(self.isr, self.going())
            self.epoch += 1
            self.queued = True
            self.to_count = self.list_for_the_leader()
        self.stopping = either(self.stopping, self.going())
        self.stage = Stage.DELETE

    def list_for_the_leader(self) -> int:
        """The new replicas only."""
        return self.T

    @action(fair=True)
    def delete(self) -> None:
        """… and a request to delete their logs."""
        require(self.stage == Stage.DELETE)
        self.deleting = either(self.deleting, self.going())
        self.stopping = either(self.stopping, self.going())
        self.stage = Stage.LIST_NEW

    @action(fair=True)
    def list_new(self) -> None:
        """The list becomes the new one, after all removed replicas have answered."""
        require(self.stage == Stage.LIST_NEW and self.stopping == 0)
        self.listed = self.T
        self.stage = Stage.STRIKE

    @action(fair=True)
    def strike(self) -> None:
        """The request has been carried out, and is removed."""
        require(self.stage == Stage.STRIKE)
        self.wished = False
        self.stage = Stage.LOOK

    # --- rules ---------------------------------------------------------------------------------

    @always("KAFKA-C91", MUST,
            "Whenever no reassignment of a partition is requested, its leader and all in-sync "
            "replicas are on its list of replicas.",
            source=f"{REASSIGNMENT}; KAFKA-1097, KAFKA-1170, KAFKA-9672")
    def who_is_in_sync_is_listed(self) -> bool:
        """A member that is no replica can never be removed again."""
        return self.wished or both(either(self.isr, only(self.leader)), self.listed) == either(
            self.isr, only(self.leader))

    @always("KAFKA-C92", MUST,
            "Every replica in the ISR still has its log.",
            source=f"{REASSIGNMENT}; KAFKA-1097")
    def who_is_in_sync_keeps_its_log(self) -> bool:
        """Each of them may be elected."""
        return both(self.isr, self.keeps) == self.isr

    @leads_to("KAFKA-C93", MUST,
              "If from some time on no controller is replaced and no follower lags, a requested "
              "reassignment is eventually over, with exactly the new replicas on the list.",
              source=REASSIGNMENT)
    def wishes_are_carried_out(self) -> tuple[bool, bool]:
        """Followers lag only a limited number of times."""
        return self.wished, not self.wished and self.listed == self.T

    @leads_to("KAFKA-C94", SHOULD,
              "When no reassignment of a partition is requested, a broker that is not on its "
              "list of replicas eventually has no log of it.",
              source=REASSIGNMENT)
    def who_is_not_listed_keeps_nothing(self) -> tuple[bool, bool]:
        """No later request would reach that broker."""
        return (not self.wished and without(self.keeps, self.listed) > 0,
                without(self.keeps, self.listed) == 0)

    @step("KAFKA-C95", MUST,
          "In a reassignment, replicas are stopped only after all replicas of the new list "
          "have been in the ISR at once.",
          source=REASSIGNMENT)
    def never_fewer(self, after: Reassignment) -> bool:
        """So there are never fewer copies than before."""
        return after.stopping == 0 or after.complete


# ---- broken ones ----------------------------------------------------------------------------


class KeepingTheOldList(Reassignment):
    """A leader that stays does not get the new list (KAFKA-1097)."""

    def tell_the_new_list(self) -> None:
        """It leads already, so no request is sent."""
        return

    def list_for_the_leader(self) -> int:
        """The old list; only the ISR has changed."""
        return self.listed


class NotWaiting(Reassignment):
    """The old replicas are stopped as soon as the new ones have begun."""

    def may_go_on(self) -> bool:
        """True if one new replica is in sync."""
        return both(self.T, self.isr) > 0


class StrikingTheWishFirst(Reassignment):
    """The request is removed when the leader is chosen; a controller that is replaced then leaves
    it undone.
    """

    @action(fair=True)
    def lead(self) -> None:
        """The later steps are assumed to follow."""
        super().lead()
        self.wished = False

    @action(fair=True)
    def strike(self) -> None:
        """The request is gone already."""
        require(self.stage == Stage.STRIKE)
        self.stage = Stage.LOOK


class StrikingFirst(Reassignment):
    """The new list is written without waiting for the removed replicas, and the request is removed,
    as in Kafka.
    """

    @action(fair=True)
    def list_new(self) -> None:
        """Their answers are not awaited."""
        require(self.stage == Stage.LIST_NEW)
        self.listed = self.T
        self.stage = Stage.STRIKE


RULES = tuple(f"KAFKA-C{number}" for number in range(91, 96))

EXPECTATIONS = (
    *(expect(Reassignment, rule, "holds", "the leader is replaced", D=1, X=(0, 1))
      for rule in RULES),
    *(expect(Reassignment, rule, "holds", "the leader stays", O=3, T=6, L=1, D=1, X=1)
      for rule in RULES),
    *(expect(variant, rule, "violated", about, O=3, T=6, L=1, D=1, X=1)
      for variant, rule, about in (
          (KeepingTheOldList, "KAFKA-C91", "a removed replica joins once more (KAFKA-1097)"),
          (KeepingTheOldList, "KAFKA-C92", "a removed replica deletes its log while in sync "
           "(KAFKA-1097)"),
          (NotWaiting, "KAFKA-C95", "one of two new replicas is in sync"),
          (StrikingTheWishFirst, "KAFKA-C93", "the request is forgotten"),
          (StrikingFirst, "KAFKA-C94", "a stray replica: its controller was replaced first"),
      )),
)

UNSEEN = {
    "KAFKA-C94":
        "Records of a removed replica are only on that broker's disk; their leader epoch is old, "
        "so they can never be served again.",
}
