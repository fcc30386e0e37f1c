"""The controller: an ephemeral node, a controller epoch, and fencing of replaced controllers.

Theory of operation
-------------------
The candidate that creates the ephemeral node ``/controller`` is the controller. The node disappears
with its owner's session; then the others are notified, and the first of them creates it again. The
owner itself learns last: it may have been paused, and continues as before until it is notified that
its session is over. Its client connects again by itself, in a new session, so until then its writes
arrive.

So the node does not decide which candidate may act. A number does: ``/controller_epoch`` is raised
by each new controller, on condition that it still has the version that was read. Each controller
has an epoch of its own, and the receivers compare epochs:

    the store       takes a write only together with a check of the epoch's version (since 2.1);
                    before, only if the overwritten value has no greater epoch
    a broker        refuses a request with a smaller epoch than the greatest that it has seen

Until 2.1 the node was created, and then the epoch was raised: a crash in between leaves the epoch
as it is, which is safe; a candidate that is slow in between fails, since the version has changed.
Since 2.1 both are one transaction.

The node may disappear while its owner's session is alive. An operator may delete it, to have
another controller elected; and in 0.9 a candidate that gave up deleted it, even if another one
owned it (``DeletingAnyones``), so that a candidate that was too slow displaced the controller which
had been faster. The owner learns of that from its watch, and has to resign: also if the watch
reports no deletion but another owner, because another one was elected in between (KAFKA-2437,
``Watched``). Otherwise two controllers continue, and only epochs keep them apart.

There are C candidates. X bounds how often a session expires; V is 1 since 2.1, and 0 before.

Source: kafka#controller-election; KAFKA-532, KAFKA-1096, KAFKA-2437, KAFKA-6082.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to, require, step,
    upto,
)

__all__ = [
    "EXPECTATIONS", "AdoptingTheEpoch", "ControllerEpochs", "DeletingAnyones", "KeepingTheNode",
    "NotFenced", "NoticingDeletion", "RaisingBlindly", "Role", "Watched", "WritingUnchecked",
]

ELECTION = "kafka#controller-election"


class Role(IntEnum):
    """A candidate's own view of its role."""

    FOLLOWER = 0
    ELECTED = 1         # it owns the node, and has read the epoch
    ACTIVE = 2          # it has raised the epoch


class ControllerEpochs(Machine):
    """Candidates, the store, and one broker to which they send requests."""

    C = const(2, at_least=1)            # candidates
    X = const(2)                        # sessions that expire
    V = const(1, at_most=1)             # 1: node and epoch are written in one transaction

    owner = integer(0, C, init=C)                   # of the node; C: none
    epoch = integer(0, X + 1)                       # in the store
    wrote = integer(0, X + 1)                       # epoch of the last writer of a partition's node
    role = array(upto(C), choice(Role))
    mine = array(upto(C), integer(0, X + 1))        # the epoch that it has read, or raised
    lost = array(upto(C), boolean())                # its session is over, and it does not know
    expired = integer(0, X)
    known = integer(0, X + 1)                       # the greatest epoch that the broker has seen
    obeyed = integer(0, X + 1)                      # epoch of the controller that it obeyed last

    # --- sessions ------------------------------------------------------------------------------

    @action(who=upto(C))
    def expire(self, who: int) -> None:
        """The owner's session ends. The owner does not know it yet."""
        require(self.owner == who and self.expired < self.X)
        self.expired += 1
        self.owner = self.C
        self.lost[who] = True

    @action(fair=True, who=upto(C))
    def resign(self, who: int) -> None:
        """The candidate is notified that its session is over, and is no longer the controller."""
        require(self.lost[who])
        self.lost[who] = False
        self.give_up(who)

    def give_up(self, who: int) -> None:
        """The candidate forgets its role and its epoch."""
        self.role[who] = Role.FOLLOWER
        self.mine[who] = 0

    # --- election ------------------------------------------------------------------------------

    @action(fair=True, who=upto(C))
    def create(self, who: int) -> None:
        """The candidate creates the node, and reads the epoch; or does all in one transaction."""
        require(self.owner == self.C and self.role[who] == Role.FOLLOWER and not self.lost[who])
        self.owner = who
        self.role[who] = Role.ELECTED
        self.mine[who] = self.epoch
        if self.V == 1:
            self.become(who)

    @action(fair=True, who=upto(C))
    def raise_epoch(self, who: int) -> None:
        """The candidate raises the epoch that it has read; if the epoch has changed, it gives up.
        """
        require(self.role[who] == Role.ELECTED)
        if self.is_as_read(who):
            self.become(who)
        else:
            self.give_up(who)
            self.let_go(who)

    def let_go(self, who: int) -> None:
        """The candidate deletes the node, if it owns it: otherwise no other could be elected."""
        if self.owner == who:
            self.owner = self.C

    def is_as_read(self, who: int) -> bool:
        """The condition of the write."""
        return self.mine[who] == self.epoch

    def become(self, who: int) -> None:
        """The candidate becomes the controller."""
        self.epoch = self.mine[who] + 1
        self.mine[who] += 1
        self.role[who] = Role.ACTIVE

    # --- what a controller does ------------------------------------------------------------------

    @action(who=upto(C))
    def write(self, who: int) -> None:
        """The controller writes the node of a partition, if the store accepts that."""
        require(self.role[who] == Role.ACTIVE and self.may_write(who))
        self.wrote = self.mine[who]

    def may_write(self, who: int) -> bool:
        """True if the epoch in the store is its own; before 2.1, if it overwrites no greater epoch.
        """
        if self.V == 1:
            return self.mine[who] == self.epoch
        return self.mine[who] >= self.wrote

    @action(who=upto(C))
    def speak(self, who: int) -> None:
        """The controller sends a request, which the broker obeys unless it knows of a later
        controller.
        """
        require(self.role[who] == Role.ACTIVE and self.is_heard(who))
        self.known = max(self.known, self.mine[who])
        self.obeyed = self.mine[who]

    def is_heard(self, who: int) -> bool:
        """True if the broker obeys."""
        return self.mine[who] >= self.known

    # --- rules ---------------------------------------------------------------------------------

    @always("KAFKA-C51", MUST,
            "No two brokers that act as the controller at the same time have the same "
            "controller epoch.",
            source=f"{ELECTION}; KAFKA-1096", one=upto(C), other=upto(C))
    def epochs_differ(self, one: int, other: int) -> bool:
        """Otherwise receivers could not distinguish them."""
        return (one == other or self.role[one] != Role.ACTIVE or self.role[other] != Role.ACTIVE
                or self.mine[one] != self.mine[other])

    @step("KAFKA-C52", MUST,
          "A controller never overwrites a partition's node that a controller with a greater "
          "epoch wrote last.",
          source=ELECTION)
    def the_later_one_stays(self, after: ControllerEpochs) -> bool:
        """Checked for the node of one partition."""
        return after.wrote >= self.wrote

    @step("KAFKA-C53", MUST,
          "Once a later controller has raised the controller epoch, an earlier one writes no "
          "partition's node.",
          source=f"{ELECTION}; KAFKA-6082")
    def who_was_replaced_is_silent(self, after: ControllerEpochs) -> bool:
        """Not even before the later one has written."""
        return after.wrote == self.wrote or after.wrote == self.epoch

    @step("KAFKA-C54", MUST,
          "A broker that has obeyed a controller obeys no controller with a smaller epoch "
          "afterwards.",
          source=f"{ELECTION}; KAFKA-532")
    def brokers_do_not_go_back(self, after: ControllerEpochs) -> bool:
        """Holds for late requests too."""
        return after.obeyed >= self.obeyed

    @leads_to("KAFKA-C55", MUST,
              "Whenever no broker owns the /controller node, eventually one owns it and acts as "
              "the controller.",
              source=ELECTION)
    def somebody_is_elected(self) -> tuple[bool, bool]:
        """A replaced controller may be elected again."""
        return self.owner == self.C, any(
            self.owner == who and self.role[who] == Role.ACTIVE for who in range(self.C))


class Watched(ControllerEpochs):
    """The node may be deleted during its owner's session, and its owner watches it."""

    Z = const(1)                        # deletions by operators

    epoch = integer(0, ControllerEpochs.X + Z + 1)
    wrote = integer(0, ControllerEpochs.X + Z + 1)
    mine = array(upto(ControllerEpochs.C), integer(0, ControllerEpochs.X + Z + 1))
    known = integer(0, ControllerEpochs.X + Z + 1)
    obeyed = integer(0, ControllerEpochs.X + Z + 1)
    deleted = integer(0, Z)
    taken = boolean()                   # a candidate that gave up has deleted another's node

    @action
    def delete(self) -> None:
        """An operator deletes the node, to have another controller elected."""
        require(self.owner < self.C and self.deleted < self.Z)
        self.deleted += 1
        self.owner = self.C

    @action(fair=True, who=upto(ControllerEpochs.C))
    def create(self, who: int) -> None:
        """Create the node as in ``ControllerEpochs``, within the bounds of the model."""
        require(self.epoch <= self.X + self.Z)
        super().create(who)

    def let_go(self, who: int) -> None:
        """Delete the node as in ``ControllerEpochs``; it may be another's."""
        self.taken = self.taken or (self.deletes(who) and self.owner not in (who, self.C))
        if self.deletes(who):
            self.owner = self.C

    def deletes(self, who: int) -> bool:
        """True only for the node that it owns itself."""
        return self.owner == who

    @action(fair=True, who=upto(ControllerEpochs.C))
    def notice(self, who: int) -> None:
        """The watch notifies a controller that it no longer owns the node."""
        require(self.role[who] == Role.ACTIVE and not self.lost[who])
        require(self.owner != who and self.may_notice())
        self.give_up(who)

    def may_notice(self) -> bool:
        """True if the node is gone, or owned by another."""
        return True

    @always("KAFKA-C56", MUST,
            "A candidate for controller that gives up does not delete the /controller node "
            "while another broker owns it.",
            source=f"{ELECTION}; KAFKA-2437")
    def nodes_are_their_owners(self) -> bool:
        """It would displace the faster candidate."""
        return not self.taken

    @leads_to("KAFKA-C57", MUST,
              "A controller that does not own the /controller node eventually resigns or owns "
              "it again.",
              source=f"{ELECTION}; KAFKA-2437", who=upto(ControllerEpochs.C))
    def nobody_goes_on(self, who: int) -> tuple[bool, bool]:
        """Holds however it lost the node."""
        return (self.role[who] == Role.ACTIVE and self.owner != who,
                self.role[who] != Role.ACTIVE or self.owner == who)


# ---- broken ones ----------------------------------------------------------------------------


class DeletingAnyones(Watched):
    """A candidate that gives up deletes the node, even if another owns it (0.9)."""

    def deletes(self, who: int) -> bool:
        """It does not read the owner."""
        return True


class NoticingDeletion(Watched):
    """A controller resigns when its watch reports that the node is gone, and not when it reports
    another owner (before KAFKA-2437).
    """

    def may_notice(self) -> bool:
        """True only while the node has no owner."""
        return self.owner == self.C


class RaisingBlindly(ControllerEpochs):
    """The epoch is raised without a condition, from the value that was read."""

    def is_as_read(self, who: int) -> bool:
        """The present value is overwritten."""
        return True


class KeepingTheNode(ControllerEpochs):
    """A candidate that cannot raise the epoch gives up, and keeps the node."""

    def let_go(self, who: int) -> None:
        """The node stays as long as the session."""


class AdoptingTheEpoch(ControllerEpochs):
    """A replaced controller reads the new epoch, and uses it as its own (KAFKA-1096)."""

    @action(who=upto(ControllerEpochs.C))
    def hear(self, who: int) -> None:
        """Every controller has a listener of the epoch's node."""
        require(self.role[who] == Role.ACTIVE)
        self.mine[who] = self.epoch


class WritingUnchecked(ControllerEpochs):
    """Neither the epoch nor the overwritten value is checked."""

    def may_write(self, who: int) -> bool:
        """It considers itself the controller."""
        return True


class NotFenced(ControllerEpochs):
    """Brokers do not compare epochs (KAFKA-532)."""

    def is_heard(self, who: int) -> bool:
        """Epochs are not compared."""
        return True


EXPECTATIONS = (
    *(expect(ControllerEpochs, rule, "holds", "each controller has an epoch of its "
             "own", C=(2, 3), X=2,
             V=(0, 1)) for rule in ("KAFKA-C51", "KAFKA-C52", "KAFKA-C54", "KAFKA-C55")),
    expect(ControllerEpochs, "KAFKA-C53", "violated", where="V == 0", about="before 2.1 a replaced "
           "controller can write a node that its successor has not written yet (KAFKA-6082)",
           C=(2, 3), X=2, V=(0, 1)),
    *(expect(Watched, rule, "holds", "a candidate without the node is not the "
             "controller", C=2, X=1, Z=1,
             V=(0, 1)) for rule in ("KAFKA-C51", "KAFKA-C54", "KAFKA-C56", "KAFKA-C57")),
    expect(DeletingAnyones, "KAFKA-C56", "violated", "in 0.9 a slow candidate deletes the node of "
           "the faster one", where="V == 0", C=2, X=1, Z=0, V=(0, 1)),
    expect(DeletingAnyones, "KAFKA-C57", "holds", "a controller that loses its node in this way "
           "learns it from its watch", C=2,
           X=1, Z=0, V=(0, 1)),
    expect(NoticingDeletion, "KAFKA-C57", "violated", "KAFKA-2437: another is elected before the "
           "watch is read, exactly where the node disappears before its "
           "session", where="Z > 0", C=2, X=1,
           Z=(0, 1), V=(0, 1)),
    expect(RaisingBlindly, "KAFKA-C51", "violated", "two candidates raise the epoch that both have "
           "read",
           C=2, X=2, V=0),
    expect(KeepingTheNode, "KAFKA-C55", "violated", "a predecessor raises the epoch late; the "
           "owner of the node cannot, and keeps the node", C=2, X=2, V=0),
    expect(AdoptingTheEpoch, "KAFKA-C51", "violated", "an old controller uses the new epoch "
           "(KAFKA-1096)", C=2, X=2, V=(0, 1)),
    expect(WritingUnchecked, "KAFKA-C52", "violated", "an old controller overwrites (KAFKA-6082)",
           C=2, X=2, V=(0, 1)),
    expect(NotFenced, "KAFKA-C54", "violated", "two controllers are obeyed in turn (KAFKA-532)",
           C=2, X=2, V=(0, 1)),
)

UNSEEN = {
    "KAFKA-C56":
        "In the port nodes disappear with their sessions, and an owner does not give one up.",
    "KAFKA-C57":
        "A controller that continues without its node is fenced in the port, so that its actions "
        "are invisible.",
}
