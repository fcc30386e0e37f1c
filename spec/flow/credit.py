"""One credit-controlled link from a sender A to a receiver B.

Theory of operation
-------------------
B has a buffer of C slots. A may send an element only with a *credit* (the text's *permit*), and a
credit is a promise of one free slot at B. Credits and data go round in one closed loop:

    A: credits P  --send-->  data in flight D  --arrive-->  waiting at B, N
         ^                                                         |
         |                                                        free
      receive                                                      v
         |                                                         |
    credits in flight Q  <----------grant (b at a time)-----  freed slots F

Every step moves tokens from one place to the next. Nothing creates a token, so N + D can
never exceed the C that there were at first: the link is *bounded*. Nothing loses a token,
so some step is always possible: the link is *live* -- provided that b freed slots can come
together at all. With a batch threshold b and at most L lost tokens the link can deadlock
exactly if C - L < b: then all that is left may be in F, below the threshold.

The text that this chapter formalises leaves F out, and writes three balances of which each
is wrong in its own way (003#E1, 003#E2, 003#E3). They are stated here as rules that are expected
to be violated, with the shortest counterexample. Its inequality (003#E4) is right, as a
condition that is necessary. That it is not sufficient, which the text does not claim, is shown
beside them.

Source: the mail "back pressure" (August 2014); 003#defining, 003#scheduling.
"""

from __future__ import annotations

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, assume, const, integer, never_stuck, require, step,
)

__all__ = [
    "BATCHES", "CAPACITIES", "EXPECTATIONS", "AnnouncingAtOnce", "AskingBelowHalf", "FilteringLink",
    "GrantingAtArrival", "GrantingByTheText", "HoardingLink", "Link", "LinkAsWritten",
    "MintingLink", "OverdrawingLink", "ThriftyLink", "TricklingLink", "losses",
]

DEFINING = "003#defining"
SCHEDULING = "003#scheduling"


class Link(Machine):
    """The link, with a sender that always has data and a consumer that is always ready."""

    C = const(4, at_least=1)            # slots at the receiver, Buf(B)
    b = const(1, at_least=1)            # freed slots that are announced together
    L = const(0)                        # tokens that the channel may lose in all

    P = integer(0, C, init=C)           # credits at A, unused
    Q = integer(0, C)                   # credits in flight to A
    D = integer(0, C)                   # data in flight to B
    N = integer(0, C)                   # elements waiting at B
    F = integer(0, C)                   # slots freed at B and not yet announced
    lost = integer(0, L)                # tokens that the channel has lost

    @assume
    def no_more_is_lost_than_there_is(self) -> bool:
        """True if the channel can lose the C tokens at most."""
        return self.L <= self.C

    @action(fair=True)
    def send(self) -> None:
        """A spends a credit on an element; neither goes without the other."""
        require(self.may_send())
        self.P -= 1
        self.D += 1

    @action(fair=True)
    def arrive(self) -> None:
        """An element is enqueued at B."""
        require(self.D > 0)
        self.D -= 1
        self.N += 1

    @action(fair=True)
    def free(self) -> None:
        """B has processed an element: its slot is free, which A does not know yet."""
        require(self.N > 0)
        self.N -= 1
        self.F += 1

    @action(fair=True)
    def grant(self) -> None:
        """B announces b freed slots together."""
        require(self.may_grant())
        self.F -= self.b
        self.Q += self.b

    @action(fair=True)
    def receive(self) -> None:
        """A credit reaches A."""
        require(self.Q > 0)
        self.Q -= 1
        self.P += 1

    @action
    def lose_permit(self) -> None:
        """The channel loses a credit; this is not a decision, so it is not fair."""
        require(self.Q > 0 and self.lost < self.L)
        self.Q -= 1
        self.lost += 1

    @action
    def lose_data(self) -> None:
        """The channel loses an element, and its credit with it."""
        require(self.D > 0 and self.lost < self.L)
        self.D -= 1
        self.lost += 1

    def may_send(self) -> bool:
        """True if A holds a credit; it always has data."""
        return self.P > 0

    def may_grant(self) -> bool:
        """True if a batch of slots is free."""
        return self.F >= self.b

    @always("FLOW-1", MUST,
            "Credits at the sender and in flight, elements in flight and at the receiver, its "
            "slots freed and not announced, and what the channel lost always total the "
            "receiver's slots.",
            source=f"{DEFINING}; 003#E1, 003#E2, 003#E3")
    def tokens_are_conserved(self) -> bool:
        """P + Q + D + N + F + lost = C: the balance with nothing left out."""
        return self.P + self.Q + self.D + self.N + self.F + self.lost == self.C

    @always("FLOW-2", MUST,
            "The elements that wait at the receiver and those in flight to it are together "
            "never more than its slots.",
            source=DEFINING)
    def link_is_bounded(self) -> bool:
        """The text's Pending(B) + InFlight =< Buf(B)."""
        return self.N + self.D <= self.C

    @never_stuck("FLOW-3", MUST,
                 "If the sender always has data, the receiver is always ready, and its slots "
                 "less the tokens that the channel loses in all are at least a batch of "
                 "credits, a link never deadlocks.",
                 source=f"{DEFINING}; 003#E8")
    def never_at_rest(self) -> bool:
        """False: there is always data to send and a consumer to take it."""
        return False

    @always("FLOW-4", MUST,
            "The sender's credits, the credits and elements in flight, the elements at the "
            "receiver and its slots freed and not announced are together at most the receiver's "
            "slots.",
            source=f"{DEFINING}; 003#E4")
    def permits_fit(self) -> bool:
        """The sufficient form of the text's necessary condition: P <= C - N."""
        return self.P <= self.C - self.N - self.D - self.Q - self.F

    @step("FLOW-5", MUST,
          "A receiver announces freed slots only in whole batches: each grant has exactly as "
          "many credits as a batch, and announces as many slots.",
          source=SCHEDULING)
    def grants_are_batches(self, after: Link) -> bool:
        """Q grows only by b, and F shrinks by as much."""
        granted = after.Q - self.Q
        return granted <= 0 or (granted == self.b and self.F - after.F == self.b)


class ThriftyLink(Link):
    """A link with batches below what the channel can leave: exactly then it is live."""

    @assume
    def a_batch_survives_all_losses(self) -> bool:
        """True if the tokens left after all losses are enough for a batch."""
        return self.b <= self.C - self.L


class MintingLink(Link):
    """A receiver that announces a freed slot again and again: it creates credits."""

    P = integer(0, 3 * Link.C, init=Link.C)
    Q = integer(0, 3 * Link.C)
    D = integer(0, 3 * Link.C)
    N = integer(0, 3 * Link.C)
    F = integer(0, 3 * Link.C)

    @action(fair=True)
    def grant(self) -> None:
        """The slots stay in F."""
        require(self.F >= self.b)
        require(self.P + self.Q + self.D + self.N + self.F + self.b <= 3 * self.C)
        self.Q += self.b


class TricklingLink(Link):
    """A receiver that announces each slot as soon as it is free, whatever the threshold."""

    @action(fair=True)
    def grant(self) -> None:
        """Each freed slot is announced alone."""
        require(self.F > 0)
        self.F -= 1
        self.Q += 1


class OverdrawingLink(Link):
    """A sender that sends without a credit when it has none."""

    P = integer(0, 2 * Link.C, init=Link.C)
    Q = integer(0, 2 * Link.C)
    D = integer(0, 2 * Link.C)
    N = integer(0, 2 * Link.C)
    F = integer(0, 2 * Link.C)

    @action(fair=True)
    def send(self) -> None:
        """A sends an element, with a credit or without."""
        require(self.P + self.Q + self.D + self.N + self.F <= self.C)   # keeps the model finite
        self.P = max(0, self.P - 1)
        self.D += 1


class FilteringLink(Link):
    """A sender that takes a credit for an element and then drops the element (003#E7)."""

    @action
    def filter_out(self) -> None:
        """The credit is gone, and no element goes for it."""
        require(self.P > 0)
        self.P -= 1


class GrantingAtArrival(Link):
    """A receiver that grants a credit when an element arrives, while its slot is still taken."""

    P = integer(0, 2 * Link.C, init=Link.C)
    Q = integer(0, 2 * Link.C)
    D = integer(0, 2 * Link.C)
    N = integer(0, 2 * Link.C)

    @action(fair=True)
    def arrive(self) -> None:
        """An element is enqueued, and its credit goes back at once."""
        require(self.D > 0 and self.P + self.Q + self.D + self.N < 2 * self.C)
        self.D -= 1
        self.N += 1
        self.Q += 1

    @action(fair=True)
    def free(self) -> None:
        """An element is processed after its slot was announced."""
        require(self.N > 0)
        self.N -= 1


class HoardingLink(Link):
    """A receiver that announces only more than a batch: it compares with > instead of >=."""

    def may_grant(self) -> bool:
        """True if one slot more than a batch is free."""
        return self.F > self.b


class AskingBelowHalf(Link):
    """A receiver that announces all free slots at once, when less than half of its slots is taken
    or promised: the marks of Akka's StreamRefs, libraries#stream-refs."""

    @action(fair=True)
    def grant(self) -> None:
        """All slots that are free, at once."""
        require(self.may_grant())
        self.Q += self.F
        self.F = 0

    def may_grant(self) -> bool:
        """True if less than half of the slots is taken or promised; lost ones count as promised."""
        return self.C - self.F < max(1, self.C // 2)


class LinkAsWritten(Link):
    """The same link, judged by the balances that the text gives for it."""

    @always("FLOW-E1", CLAIM,
            "The sender's credits plus the elements in flight equal the slots of the receiver's "
            "buffer (Permits + InFlight = Buf(B)).",
            source=f"{DEFINING}; 003#E1")
    def first_balance(self) -> bool:
        """Permits are read as those that A holds. Read as all of them, this is FLOW-E2."""
        return self.P + self.D == self.C

    @always("FLOW-E2", CLAIM,
            "The sender's credits, the credits in flight to it and the elements in flight "
            "together equal the receiver's slots (PendingPermits + PermitsInFlight + InFlight = "
            "Buf(B)).",
            source=f"{DEFINING}; 003#E2")
    def second_balance(self) -> bool:
        """Leaves out what waits at B, and what is freed and unannounced."""
        return self.P + self.Q + self.D == self.C

    @always("FLOW-E3", CLAIM,
            "The sender's credits plus the credits in flight to it equal the receiver's slots "
            "plus the elements in flight (PendingPermits + PermitsInFlight = Buf(B) + "
            "InFlight).",
            source=f"{DEFINING}; 003#E3")
    def third_balance(self) -> bool:
        """Has what is in flight on the wrong side."""
        return self.P + self.Q == self.C + self.D


    @always("FLOW-E5", CLAIM,
            "All credits, at the sender and in flight to it, plus the elements in flight and at "
            "the receiver equal the receiver's slots (all permits + InFlight + Pending(B) = "
            "Buf(B)).",
            source=f"{DEFINING}; 003#E5")
    def fourth_balance(self) -> bool:
        """With the elements that wait at B. Slots freed and not announced are still missing."""
        return self.P + self.Q + self.D + self.N == self.C


class AnnouncingAtOnce(LinkAsWritten):
    """A receiver that frees a slot and announces it in one step: nothing is ever unannounced."""

    @action(fair=True)
    def free(self) -> None:
        """The credit leaves in the step that frees the slot."""
        require(self.N > 0)
        self.N -= 1
        self.Q += 1


class GrantingByTheText(Link):
    """A receiver that grants whatever the text's inequality allows, as if it were sufficient:
    PendingPermits =< Buf(B) - Pending(B), whatever is in flight to it (003#E4)."""

    C = const(4, at_least=1)
    D = integer(0, 2 * C)
    N = integer(0, 2 * C)

    @action(fair=True)
    def free(self) -> None:
        """B sees its free room in N itself."""
        require(self.N > 0)
        self.N -= 1

    @action(fair=True)
    def grant(self) -> None:
        """B grants while the inequality allows one more credit."""
        require(self.P + self.Q < self.C - self.N)
        require(self.D < self.C)        # keeps the model finite; the text has no such guard
        self.Q += 1

    @always("FLOW-E4", CLAIM,
            "A receiver is never overrun if it grants credits only while those at the sender "
            "and in flight are fewer than its slots less the elements that wait there.",
            source=f"{DEFINING}; 003#E4: the converse of what the text says")
    def inequality_suffices(self) -> bool:
        """The bound that would follow, were the inequality sufficient."""
        return self.N + self.D <= self.C


CAPACITIES, BATCHES = range(1, 6), range(1, 7)


def losses(C: int) -> range:
    """All numbers of lost tokens, from none to all."""
    return range(C + 1)


EXPECTATIONS = (
    expect(Link, "FLOW-3", "violated", "deadlocked exactly where C - L < b",
           where="C - L < b", C=CAPACITIES, b=BATCHES, L=losses),
    expect(Link, "FLOW-3", "violated",
           "003#E8: deadlocked from the loss C - b + 1 on, not from the first",
           where="L > 1", C=3, b=2, L=(0, 1, 2, 3)),
    expect(Link, "FLOW-3", "violated", "003: Akka's schedule, a batch of half the slots, survives "
           "as many losses as the other half has slots", where="L > C // 2", C=(2, 4, 8),
           b=lambda C: (C // 2,), L=lambda C: (0, C // 2, C // 2 + 1)),
    expect(AskingBelowHalf, "FLOW-3", "violated", "libraries#stream-refs: a receiver that asks "
           "below half of its slots is deadlocked exactly where that many are lost",
           where="L >= max(1, C // 2)", C=range(1, 7), L=losses),
    expect(AskingBelowHalf, "FLOW-2", "holds", "libraries#stream-refs: a receiver with marks is "
           "not overrun", C=range(1, 7), L=losses),
    prove(ThriftyLink, "FLOW-3", "deadlock-free where b <= C - L, for all of these",
          for_all=("C", "b", "L"), lemmas=("FLOW-1",)),
    prove(Link, "FLOW-1", "tokens are conserved", for_all=("C", "b"), L=0),
    prove(Link, "FLOW-2", "pending + in flight <= C", for_all=("C", "b"), L=0,
          lemmas=("FLOW-1",)),
    prove(Link, "FLOW-1", "tokens conserved, on a lossy channel too", for_all=("C", "b", "L")),
    prove(Link, "FLOW-2", "bounded, on a lossy channel too", for_all=("C", "b", "L"),
          lemmas=("FLOW-1",)),
    prove(Link, "FLOW-4", "all credits fit into B", for_all=("C", "b", "L"), lemmas=("FLOW-1",)),
    prove(Link, "FLOW-5",
          "credits are announced in whole batches", for_all=("C", "b", "L"), lemmas=("FLOW-1",)),
    expect(MintingLink, "FLOW-1", "violated", "a slot that is announced twice", C=(1, 2)),
    expect(MintingLink, "FLOW-2", "violated",
           "a slot that is announced twice lets A overrun B", C=(1, 2)),
    expect(MintingLink, "FLOW-4", "violated",
           "a slot that is announced twice gives A more credits than B has free slots", C=(1, 2)),
    expect(TricklingLink, "FLOW-5", "violated", "slots announced one by one", where="b > 1", C=2,
           b=(1, 2)),
    expect(OverdrawingLink, "FLOW-1", "violated", "an element without a credit", C=(1, 2)),
    expect(OverdrawingLink, "FLOW-2", "violated", "an element without a credit overruns B",
           C=(1, 2)),
    expect(FilteringLink, "FLOW-1", "violated", "003#E7: a credit without an element", C=(1, 2)),
    expect(FilteringLink, "FLOW-3", "violated", "003#E7: until no credit is left", C=(1, 2)),
    expect(GrantingAtArrival, "FLOW-1", "violated", "a credit for a slot that is taken",
           C=(1, 2)),
    expect(GrantingAtArrival, "FLOW-2", "violated", "a credit for a slot that is taken",
           C=(1, 2)),
    expect(GrantingAtArrival, "FLOW-4", "violated", "a credit for a slot that is taken",
           C=(1, 2)),
    expect(HoardingLink, "FLOW-3", "violated", "deadlocked where a batch is all that there is",
           where="C - L < b + 1", C=CAPACITIES, b=BATCHES, L=losses),
    expect(LinkAsWritten, "FLOW-E1", "violated", "003#E1: Pending(B) is missing", C=4),
    expect(LinkAsWritten, "FLOW-E2", "violated", "003#E2: Pending(B) is missing", C=4),
    expect(LinkAsWritten, "FLOW-E3", "violated", "003#E3: a sign is wrong", C=4),
    expect(LinkAsWritten, "FLOW-E5", "violated",
           "003#E5: a slot that is freed and not announced is in none of them", C=4),
    expect(AnnouncingAtOnce, "FLOW-E5", "holds",
           "003#E5: right if a slot is announced the instant it is free", C=(1, 2, 3, 4)),
    expect(HoardingLink, "FLOW-2", "holds", "003#E6: bounded, although it deadlocks", C=(1, 2)),
    expect(HoardingLink, "FLOW-3", "violated", "003#E6: deadlocked, although it is bounded", C=1),
    expect(GrantingAtArrival, "FLOW-3", "holds", "003#E6: deadlock-free, although not bounded",
           C=(1, 2)),
    expect(GrantingByTheText, "FLOW-E4", "violated",
           "003#E4: necessary, as the text says, and not sufficient", C=4),
)

UNSEEN = {
    "FLOW-E1":
        "It is false of a right link, as its expectation says, so no implementation is to keep "
        "it.",
    "FLOW-E2":
        "It is false of a right link with tokens in flight, so no implementation is to keep it.",
    "FLOW-E3":
        "It is false of a right link from its first credit on, so no implementation is to keep "
        "it.",
    "FLOW-E5":
        "It is false of a right link that announces slots in a step of its own, so no "
        "implementation is to keep it.",
    "FLOW-E4":
        "It is the text's weaker bound, and false of a right link, so no implementation is to "
        "keep it.",
}
