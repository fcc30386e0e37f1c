"""Permits with a line: a semaphore for coroutines, and with one permit a lock.

Theory. It is a bounded queue without items: an acquire is a put, a release a take, and the permits
are the places. As there, a wait has three instants. The caller joins the line; at some instant that
nobody sees a permit becomes its own (``grant``); later it learns of that. A caller that is told to
stop learns that later, too, and in between it may be granted a permit, which then is its own or is
given back, or passed over. So an implementation may hand a permit to who waits, or wake him and let
him help himself, as long as some order of these instants explains what was seen.

Two ways lead to waiting for ever. A wake-up is lost: a permit is free, and who waits is not told.
Or a permit is lost: it is nobody's, and is not free. Both look alike to who waits, but the second
shows to who asks whether a permit is to be had while nobody is in line.

To give a permit back may take a while, where that is a coroutine. From the instant at which it
begins (``gives``) until it ends (``released``) the permit may become free at any time, unseen.

Calls of acquire are numbered in the order in which they began.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, boolean, const, fifo, guard_rule, integer, leads_to,
    require, subset, upto,
)

__all__ = ["EXPECTATIONS", "OrderlyPermits", "Permits"]

NO_MORE = guard_rule(
    "PERMIT-1", MUST,
    "No more hold a permit than there are permits: with one permit, one.",
    source="003#tokens; bpo-32734: two held an asyncio.Lock",
)
NOT_LOST = guard_rule(
    "PERMIT-2", MUST,
    "A permit that nobody holds is to be had, unless others wait for it.",
    source="003#tokens: a token is not lost",
)
WAITER_WAKES = guard_rule(
    "PERMIT-3", MUST,
    "Who waits gets a permit as soon as one is free.",
    source="003#defining (live); cpython #90155",
)
PASSES_ON = guard_rule(
    "PERMIT-4", MUST,
    "A waiter that is cancelled after it was woken passes its turn on to the next.",
    source="bpo-27585, python/asyncio #270: a cancelled waiter swallowed the wakeup",
)
ENDS_ONCE = guard_rule(
    "PERMIT-5", MUST,
    "An acquire ends once: with a permit, or cancelled and without one.",
    source="003#tokens",
)
IN_TURN = guard_rule(
    "PERMIT-6", SHOULD,
    "Those who wait get their permits in the order in which they began to wait, and an acquire "
    "that comes later does not overtake them; who was told to stop may be passed over.",
    source="cpython #90155; libraries#trio-channels",
)
ANSWERED = guard_rule(
    "PERMIT-10", MUST,
    "An acquire has a permit or waits, once it has taken its first step.",
    source="003#tokens",
)


class Permits(Machine):
    """``C`` permits, and a line of those who wait for one."""

    C = const(1, at_least=1)      # permits
    K = const(3, at_least=1)      # calls of acquire in a run
    W = const(2, at_least=1)      # calls that may wait at the same time

    asked = integer(0, K)         # calls so far: the next one has this number
    free = integer(0, C, init=C)  # permits that are nobody's
    line = fifo(integer(0, K - 1), W)   # who waits, first comer first
    granted = subset(upto(K))     # have a permit, and were not told so
    held = subset(upto(K))        # were told that they have a permit
    giving = subset(upto(K))      # give a permit back, which is not free yet
    given = subset(upto(K))       # gave it back, and have not ended
    stopping = subset(upto(K))    # were told to stop while they waited

    # Someone was cancelled when it could have had a permit, since all had last settled.
    withdrew = boolean(False)
    begun = boolean(False)        # a call of acquire has begun, and has neither a permit nor waits

    # --- what a call shows ---------------------------------------------------------------

    @action
    def begins(self) -> None:
        """Another call of acquire takes its first step."""
        self.begun = True

    @action(rests=True)
    def answered(self) -> None:
        """The call has taken its first step."""
        require(not self.begun, ANSWERED)

    @action
    def acquire_done(self) -> None:
        """An acquire need not wait."""
        require(self.free > 0, NO_MORE)
        self.begun = False
        self.free -= 1
        self.held.add(self.new_call())

    @action
    def acquire_waits(self) -> None:
        """An acquire waits. With a free permit, too: it may have to wait its turn."""
        require(len(self.line) + len(self.granted) < self.W)
        self.begun = False
        self.line.push(self.new_call())

    @action(call=upto(K))
    def released(self, call: int) -> None:
        """Who holds a permit gives it back, or has come to the end of giving it back."""
        require(call in self.held or call in self.giving or call in self.given)
        if call not in self.given:
            self.free += 1
        self.held.discard(call)
        self.giving.discard(call)
        self.given.discard(call)

    @action(call=upto(K))
    def gives(self, call: int) -> None:
        """Who holds a permit begins to give it back."""
        require(call in self.held)
        self.held.discard(call)
        self.giving.add(call)

    @action(rests=True)
    def seen_locked(self) -> None:
        """Somebody asks, and is told that no permit is to be had at once."""
        require(self.free == 0 or len(self.line) > 0, NOT_LOST)

    @action
    def seen_free(self) -> None:
        """Somebody asks, and is told that a permit is to be had at once."""
        require(self.free > 0, NO_MORE)

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """A call that waits is told to stop; or it has its permit already."""
        require(call < self.asked)
        self.stopping.add(call)

    # --- what nobody sees ----------------------------------------------------------------

    @action(internal=True, fair=True, place=upto(W))
    def grant(self, place: int) -> None:
        """A permit becomes that of one who waits."""
        require(place < len(self.line))
        require(self.free > 0)
        call = self.line[place]
        self.leave_line(call)
        self.free -= 1
        self.granted.add(call)

    @action(internal=True, fair=True, call=upto(K))
    def becomes_free(self, call: int) -> None:
        """A permit that is being given back is free."""
        require(call in self.giving)
        self.giving.discard(call)
        self.given.add(call)
        self.free += 1

    # --- what a waiter learns ------------------------------------------------------------

    @action(call=upto(K))
    def woken(self, call: int) -> None:
        """A call that waited learns that it has a permit."""
        require(call not in self.line or self.free > 0, NO_MORE)
        require(call in self.granted, ENDS_ONCE)
        self.granted.discard(call)
        self.held.add(call)

    @action(call=upto(K))
    def cancelled(self, call: int) -> None:
        """A call that waited ends without a permit; one that was its own already is free again."""
        require(call in self.line or call in self.granted, ENDS_ONCE)
        if call in self.granted:
            self.granted.discard(call)
            self.free += 1
        if self.free > 0:
            self.withdrew = True
        self.leave_line(call)

    # --- when everything has run that can run --------------------------------------------

    @action(rests=True)
    def settled(self) -> None:
        """Nobody waits who need not, and whoever has a permit has been told."""
        late = len(self.granted) > 0 or (
            len(self.line) > 0 and (self.free > 0 or len(self.giving) > 0))
        require(not late or self.withdrew, WAITER_WAKES)
        require(not late, PASSES_ON)
        self.withdrew = False

    # --- the few places where something moves --------------------------------------------

    def new_call(self) -> int:
        """The number of a call of acquire that begins."""
        require(self.asked < self.K)
        self.asked += 1
        return self.asked - 1

    def leave_line(self, call: int) -> None:
        """A call leaves the line, wherever it stands; the others keep their places."""
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != call:
                self.line.push(other)

    # --- what is true of all of it -------------------------------------------------------

    @always("PERMIT-7", MUST, "Each permit is free, granted, held or being given back.",
            source="003#tokens")
    def conserved(self) -> bool:
        """None is made, and none is lost."""
        return self.free + len(self.granted) + len(self.held) + len(self.giving) == self.C

    @leads_to("PERMIT-8", MUST, "A permit that is free while somebody waits does not stay so.",
              source="003#defining (live)")
    def a_waiter_wakes(self) -> tuple[bool, bool]:
        """Somebody who waits gets it, or somebody else, or nobody waits any more."""
        waits_needlessly = len(self.line) > 0 and self.free > 0
        return waits_needlessly, not waits_needlessly


class OrderlyPermits(Permits):
    """The same, and who waits is served in turn; only who was told to stop is passed over."""

    @action
    def acquire_done(self) -> None:
        """An acquire does not overtake one that waits to go on."""
        require(all(call in self.stopping for call in self.line), IN_TURN)
        super().acquire_done()

    @action(internal=True, fair=True, place=upto(Permits.W))
    def grant(self, place: int) -> None:
        """Whoever stands before who is granted a permit was told to stop."""
        require(place < len(self.line))
        require(all(self.line[before] in self.stopping or before >= place
                    for before in range(len(self.line))), IN_TURN)
        super().grant(place)


EXPECTATIONS = (
    expect(Permits, "PERMIT-7", "holds", "permits are neither made nor lost",
           C=(1, 2), K=3, W=2),
    expect(Permits, "PERMIT-8", "holds", "who waits beside a free permit gets it",
           C=(1, 2), K=3, W=2),
    expect(OrderlyPermits, "PERMIT-8", "holds", "in turn, who waits beside a free permit gets it",
           C=(1, 2), K=3, W=2),
)

BOOKKEEPING = {
    "PERMIT-7":
        "The observer moves a permit from one of its three lists to another; a permit that is "
        "made up is refused by PERMIT-1 before.",
}
