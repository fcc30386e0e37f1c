"""Who is the controller: an ephemeral node, a controller epoch, and what holds off who was
replaced.

Theory of operation
-------------------
Whoever creates the ephemeral node ``/controller`` is the controller. The node goes with its owner's
session; then the others hear of it, and whoever is first creates it again. The owner itself learns
last: it may have been paused, and goes on as before until it hears that its session is over. Its
client connects again by itself, in a new session, so until then what it writes arrives.

So a node does not say who may act. A number does: ``/controller_epoch`` is raised by each new
controller, on condition that it still has the version that was read. Each has an epoch of its own,
and whoever is spoken to compares:

    the store       takes a write only together with a check of the epoch's version (since 2.1);
                    before, only from who finds no greater epoch in what it overwrites
    a broker        refuses a request with a smaller epoch than the greatest that it has seen

Until 2.1 the node was created, and then the epoch was raised: a crash in between leaves the epoch
as it is, which is safe; who is slow in between fails, since the version has changed. Since 2.1 both
are one transaction.

The node may go while its owner's session lives on. An operator may delete it, to have another
controller elected; and in 0.9 whoever resigned deleted it, whosever it was (``DeletingAnyones``),
so that a candidate that was too slow put out the controller which had been faster. The owner learns
of that from its watch, and has to resign: also where the watch brings no deletion but another
owner, because somebody was elected in between (KAFKA-2437, ``Watched``). Else two controllers go
on, and only epochs keep them apart.

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
    """What a candidate takes itself for."""

    FOLLOWER = 0
    ELECTED = 1         # it has the node, and has read the epoch
    ACTIVE = 2          # it has raised the epoch


class ControllerEpochs(Machine):
    """Candidates, the store, and one broker that they speak to."""

    C = const(2, at_least=1)            # candidates
    X = const(2)                        # sessions that expire
    V = const(1, at_most=1)             # 1: node and epoch are written in one transaction

    owner = integer(0, C, init=C)                   # of the node; C: nobody
    epoch = integer(0, X + 1)                       # in the store
    wrote = integer(0, X + 1)                       # the epoch of who wrote a partition's node last
    role = array(upto(C), choice(Role))
    mine = array(upto(C), integer(0, X + 1))        # the epoch that it has read, or raised
    lost = array(upto(C), boolean())                # its session is over, and it has not heard yet
    expired = integer(0, X)
    known = integer(0, X + 1)                       # the greatest epoch that the broker has seen
    obeyed = integer(0, X + 1)                      # the epoch of whom it obeyed last

    # --- sessions ------------------------------------------------------------------------------

    @action(who=upto(C))
    def expire(self, who: int) -> None:
        """The owner's session is over. It does not know."""
        require(self.owner == who and self.expired < self.X)
        self.expired += 1
        self.owner = self.C
        self.lost[who] = True

    @action(fair=True, who=upto(C))
    def resign(self, who: int) -> None:
        """It hears that its session is over, and is no controller any more."""
        require(self.lost[who])
        self.lost[who] = False
        self.give_up(who)

    def give_up(self, who: int) -> None:
        """It knows nothing any more."""
        self.role[who] = Role.FOLLOWER
        self.mine[who] = 0

    # --- election ------------------------------------------------------------------------------

    @action(fair=True, who=upto(C))
    def create(self, who: int) -> None:
        """It creates the node, and reads the epoch; or does all in one transaction."""
        require(self.owner == self.C and self.role[who] == Role.FOLLOWER and not self.lost[who])
        self.owner = who
        self.role[who] = Role.ELECTED
        self.mine[who] = self.epoch
        if self.V == 1:
            self.become(who)

    @action(fair=True, who=upto(C))
    def raise_epoch(self, who: int) -> None:
        """It raises the epoch that it has read; if that is another one by now, it gives up."""
        require(self.role[who] == Role.ELECTED)
        if self.is_as_read(who):
            self.become(who)
        else:
            self.give_up(who)
            self.let_go(who)

    def let_go(self, who: int) -> None:
        """It deletes the node, if it has it: else nobody would ever be elected."""
        if self.owner == who:
            self.owner = self.C

    def is_as_read(self, who: int) -> bool:
        """The condition of the write."""
        return self.mine[who] == self.epoch

    def become(self, who: int) -> None:
        """It is the controller."""
        self.epoch = self.mine[who] + 1
        self.mine[who] += 1
        self.role[who] = Role.ACTIVE

    # --- what a controller does ------------------------------------------------------------------

    @action(who=upto(C))
    def write(self, who: int) -> None:
        """It writes the node of a partition, if the store lets it."""
        require(self.role[who] == Role.ACTIVE and self.may_write(who))
        self.wrote = self.mine[who]

    def may_write(self, who: int) -> bool:
        """Whether the epoch in the store is its own; before 2.1, whether what it overwrites is of
        no greater one."""
        if self.V == 1:
            return self.mine[who] == self.epoch
        return self.mine[who] >= self.wrote

    @action(who=upto(C))
    def speak(self, who: int) -> None:
        """It sends a request, which the broker obeys unless it knows of a later controller."""
        require(self.role[who] == Role.ACTIVE and self.is_heard(who))
        self.known = max(self.known, self.mine[who])
        self.obeyed = self.mine[who]

    def is_heard(self, who: int) -> bool:
        """Whether the broker obeys."""
        return self.mine[who] >= self.known

    # --- rules ---------------------------------------------------------------------------------

    @always("KAFKA-C51", MUST, "No two controllers have the same epoch.",
            source=f"{ELECTION}; KAFKA-1096", one=upto(C), other=upto(C))
    def epochs_differ(self, one: int, other: int) -> bool:
        """Else nobody could tell them apart."""
        return (one == other or self.role[one] != Role.ACTIVE or self.role[other] != Role.ACTIVE
                or self.mine[one] != self.mine[other])

    @step("KAFKA-C52", MUST, "What a controller has written is not overwritten by an earlier one.",
          source=ELECTION)
    def the_later_one_stays(self, after: ControllerEpochs) -> bool:
        """In the node of one partition."""
        return after.wrote >= self.wrote

    @step("KAFKA-C53", MUST, "Once there is a later controller, an earlier one writes nothing.",
          source=f"{ELECTION}; KAFKA-6082")
    def who_was_replaced_is_silent(self, after: ControllerEpochs) -> bool:
        """Not even where the later one has not written yet."""
        return after.wrote == self.wrote or after.wrote == self.epoch

    @step("KAFKA-C54", MUST, "A broker that has obeyed a controller obeys no earlier one.",
          source=f"{ELECTION}; KAFKA-532")
    def brokers_do_not_go_back(self, after: ControllerEpochs) -> bool:
        """Whatever comes late, or from whom."""
        return after.obeyed >= self.obeyed

    @leads_to("KAFKA-C55", MUST, "When the controller's session is over, there is a controller "
              "again in the end.", source=ELECTION)
    def somebody_is_elected(self) -> tuple[bool, bool]:
        """Who has been replaced may be it again."""
        return self.owner == self.C, any(
            self.owner == who and self.role[who] == Role.ACTIVE for who in range(self.C))


class Watched(ControllerEpochs):
    """The node may be deleted while its owner's session lives, and its owner watches it."""

    Z = const(1)                        # deletions by operators

    epoch = integer(0, ControllerEpochs.X + Z + 1)
    wrote = integer(0, ControllerEpochs.X + Z + 1)
    mine = array(upto(ControllerEpochs.C), integer(0, ControllerEpochs.X + Z + 1))
    known = integer(0, ControllerEpochs.X + Z + 1)
    obeyed = integer(0, ControllerEpochs.X + Z + 1)
    deleted = integer(0, Z)
    taken = boolean()                   # who gave up has deleted the node of another

    @action
    def delete(self) -> None:
        """An operator deletes the node, to have another controller."""
        require(self.owner < self.C and self.deleted < self.Z)
        self.deleted += 1
        self.owner = self.C

    @action(fair=True, who=upto(ControllerEpochs.C))
    def create(self, who: int) -> None:
        """See ``ControllerEpochs``; the model ends somewhere."""
        require(self.epoch <= self.X + self.Z)
        super().create(who)

    def let_go(self, who: int) -> None:
        """See ``ControllerEpochs``; what is deleted may be another's."""
        self.taken = self.taken or (self.deletes(who) and self.owner not in (who, self.C))
        if self.deletes(who):
            self.owner = self.C

    def deletes(self, who: int) -> bool:
        """Only the node that it owns itself."""
        return self.owner == who

    @action(fair=True, who=upto(ControllerEpochs.C))
    def notice(self, who: int) -> None:
        """The watch of the node tells a controller that it is not its own any more."""
        require(self.role[who] == Role.ACTIVE and not self.lost[who])
        require(self.owner != who and self.may_notice())
        self.give_up(who)

    def may_notice(self) -> bool:
        """Whether the node is gone, or another's."""
        return True

    @always("KAFKA-C56", MUST, "Who gives up deletes no other controller's node.",
            source=f"{ELECTION}; KAFKA-2437")
    def nodes_are_their_owners(self) -> bool:
        """It would put out whoever was faster."""
        return not self.taken

    @leads_to("KAFKA-C57", MUST, "A controller that does not have the node resigns.",
              source=f"{ELECTION}; KAFKA-2437", who=upto(ControllerEpochs.C))
    def nobody_goes_on(self, who: int) -> tuple[bool, bool]:
        """However it lost it."""
        return (self.role[who] == Role.ACTIVE and self.owner != who,
                self.role[who] != Role.ACTIVE or self.owner == who)


# ---- broken ones ----------------------------------------------------------------------------


class DeletingAnyones(Watched):
    """Who gives up deletes the node, whosever it is (0.9)."""

    def deletes(self, who: int) -> bool:
        """It does not look."""
        return True


class NoticingDeletion(Watched):
    """A controller resigns when its watch says that the node is gone, and not when it says that the
    node has another owner (before KAFKA-2437)."""

    def may_notice(self) -> bool:
        """Nobody has created it again."""
        return self.owner == self.C


class RaisingBlindly(ControllerEpochs):
    """The epoch is raised without a condition, from what was read."""

    def is_as_read(self, who: int) -> bool:
        """Whatever is there is overwritten."""
        return True


class KeepingTheNode(ControllerEpochs):
    """Who cannot raise the epoch gives up, and keeps the node."""

    def let_go(self, who: int) -> None:
        """The node stays, for as long as the session does."""


class AdoptingTheEpoch(ControllerEpochs):
    """Who was replaced hears of the new epoch, and uses it as its own (KAFKA-1096)."""

    @action(who=upto(ControllerEpochs.C))
    def hear(self, who: int) -> None:
        """A listener of the epoch's node, that all controllers have."""
        require(self.role[who] == Role.ACTIVE)
        self.mine[who] = self.epoch


class WritingUnchecked(ControllerEpochs):
    """Neither the epoch is checked, nor what is overwritten."""

    def may_write(self, who: int) -> bool:
        """It is the controller, so it thinks."""
        return True


class NotFenced(ControllerEpochs):
    """Brokers do not compare epochs (KAFKA-532)."""

    def is_heard(self, who: int) -> bool:
        """Nobody is asked for an epoch."""
        return True


EXPECTATIONS = (
    *(expect(ControllerEpochs, rule, "holds", "each with an epoch of its own", C=(2, 3), X=2,
             V=(0, 1)) for rule in ("KAFKA-C51", "KAFKA-C52", "KAFKA-C54", "KAFKA-C55")),
    expect(ControllerEpochs, "KAFKA-C53", "violated", where="V == 0", about="before 2.1 who was "
           "replaced can write what its successor has not written yet (KAFKA-6082)",
           C=(2, 3), X=2, V=(0, 1)),
    *(expect(Watched, rule, "holds", "who does not have the node is no controller", C=2, X=1, Z=1,
             V=(0, 1)) for rule in ("KAFKA-C51", "KAFKA-C54", "KAFKA-C56", "KAFKA-C57")),
    expect(DeletingAnyones, "KAFKA-C56", "violated", "in 0.9 who was too slow deletes the node of "
           "who was faster", where="V == 0", C=2, X=1, Z=0, V=(0, 1)),
    expect(DeletingAnyones, "KAFKA-C57", "holds", "who loses the node so is told by its watch", C=2,
           X=1, Z=0, V=(0, 1)),
    expect(NoticingDeletion, "KAFKA-C57", "violated", "KAFKA-2437: another is elected before the "
           "watch is read, exactly where the node goes before its session", where="Z > 0", C=2, X=1,
           Z=(0, 1), V=(0, 1)),
    expect(RaisingBlindly, "KAFKA-C51", "violated", "two raise the epoch that both have read",
           C=2, X=2, V=0),
    expect(KeepingTheNode, "KAFKA-C55", "violated", "a predecessor raises the epoch late; who has "
           "the node cannot, and keeps it", C=2, X=2, V=0),
    expect(AdoptingTheEpoch, "KAFKA-C51", "violated", "an old controller has the new epoch "
           "(KAFKA-1096)", C=2, X=2, V=(0, 1)),
    expect(WritingUnchecked, "KAFKA-C52", "violated", "an old controller overwrites (KAFKA-6082)",
           C=2, X=2, V=(0, 1)),
    expect(NotFenced, "KAFKA-C54", "violated", "two controllers are obeyed in turn (KAFKA-532)",
           C=2, X=2, V=(0, 1)),
)

UNSEEN = {
    "KAFKA-C56":
        "Nodes are deleted by their own sessions in the port, and an owner does not give one up.",
    "KAFKA-C57":
        "A controller that goes on without its node is fenced in the port, so that what it does "
        "shows nowhere.",
}
