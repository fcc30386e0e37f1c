"""Permits with a wait queue: a semaphore for coroutines, and with one permit a lock.

Theory. It is a bounded queue without items: an acquire is a put, a release a take, and the permits
are the places. As there, a wait has three instants. The caller joins the wait queue; at some
instant that cannot be seen a permit becomes its own (``grant``); later it learns of that. A call
whose cancellation is requested learns that later, too, and in between it may be granted a permit,
which then is its own or is given back, or it may be passed over. So an implementation may hand a
permit to a waiter, or wake the waiter and let it take one, as long as some order of these instants
explains what was seen.

Two defects lead to endless waits. A wake-up is lost: a permit is free, and the waiter is not
notified. Or a permit is lost: no call holds it, and it is not free. A waiter cannot distinguish the
two, but the second shows when a caller asks whether a permit is free while no call waits.

To give a permit back may take a while, if that is a coroutine. From the instant at which it
begins (``gives``) until it ends (``released``) the permit may become free at any time, unseen.

Calls of acquire are numbered in the order in which they began.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, boolean, const, fifo, guard_rule, integer, leads_to,
    require, subset, upto,
)

__all__ = ["EXPECTATIONS", "OrderlyPermits", "Permits"]

NO_MORE = guard_rule(
    "PERMIT-1", MUST,
    "A call gets a permit, and a permit is reported as free, only while fewer calls have one "
    "than there are permits; a permit may be free from the start of its release on.",
    source="003#tokens; bpo-32734: two held an asyncio.Lock")
NOT_LOST = guard_rule(
    "PERMIT-2", MUST,
    "A semaphore reports that no permit is free only if each is held, granted to a waiter or "
    "being given back, or a call waits for one.",
    source="003#tokens: a token is not lost",
)
WAITER_WAKES = guard_rule(
    "PERMIT-3", MUST,
    "When the system is quiescent, no call waits while a permit is free, granted to it or being "
    "given back, unless a waiter was cancelled beside a free permit just before.",
    source="003#defining (live); cpython #90155",
)
PASSES_ON = guard_rule(
    "PERMIT-4", MUST,
    "After a waiter was cancelled beside a free permit, or with one granted to it, no call "
    "waits at the next quiescence while a permit is free, granted to it or being given back.",
    source="bpo-27585, python/asyncio #270: a cancelled waiter swallowed the wakeup",
)
ENDS_ONCE = guard_rule(
    "PERMIT-5", MUST,
    "An acquire ends once: with a permit, or cancelled and without one.",
    source="003#tokens",
)
IN_TURN = guard_rule(
    "PERMIT-6", SHOULD,
    "Permits are granted to waiters in the order in which they began to wait, before later "
    "calls, passing over only waiters with a requested cancellation; calls granted together may "
    "return in any order. After a thread was stopped on its way, no order is required until the "
    "system is quiescent.",
    source="cpython #90155; libraries#trio-channels",
)
ANSWERED = guard_rule(
    "PERMIT-10", MUST,
    "A call of acquire that has run up to its first suspension holds a permit or waits for one.",
    source="003#tokens",
)


class Permits(Machine):
    """``C`` permits, and a wait queue of the calls that wait for one."""

    C = const(1, at_least=1)      # permits
    K = const(3, at_least=1)      # calls of acquire in a run
    W = const(2, at_least=1)      # calls that may wait at the same time

    asked = integer(0, K)         # calls so far: the next one has this number
    free = integer(0, C, init=C)  # permits that no call holds
    line = fifo(integer(0, K - 1), W)   # calls that wait, first comer first
    granted = subset(upto(K))     # have a permit, and were not notified of it
    held = subset(upto(K))        # were notified that they have a permit
    giving = subset(upto(K))      # give a permit back, which is not free yet
    given = subset(upto(K))       # gave it back, and have not ended
    stopping = subset(upto(K))    # were asked to cancel while they waited

    # A call was cancelled when it could have had a permit, since all had last settled.
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
        """An acquire is granted a permit at once."""
        require(self.free > 0, NO_MORE)
        self.begun = False
        self.free -= 1
        self.held.add(self.new_call())

    @action
    def acquire_waits(self) -> None:
        """An acquire waits. It may wait even if a permit is free: for its turn."""
        require(len(self.line) + len(self.granted) < self.W)
        self.begun = False
        self.line.push(self.new_call())

    @action(call=upto(K))
    def released(self, call: int) -> None:
        """The holder of a permit gives it back, or has finished giving it back."""
        require(call in self.held or call in self.giving or call in self.given)
        if call not in self.given:
            self.free += 1
        self.held.discard(call)
        self.giving.discard(call)
        self.given.discard(call)

    @action(call=upto(K))
    def gives(self, call: int) -> None:
        """The holder of a permit begins to give it back."""
        require(call in self.held)
        self.held.discard(call)
        self.giving.add(call)

    @action(rests=True)
    def seen_locked(self) -> None:
        """A caller asks for a free permit and is answered that there is none."""
        require(self.free == 0 or len(self.line) > 0, NOT_LOST)

    @action
    def seen_free(self) -> None:
        """A caller asks for a free permit and is answered that there is one."""
        require(self.free > 0, NO_MORE)

    @action(call=upto(K))
    def stops(self, call: int) -> None:
        """Request the cancellation of a call; it waits, or it has its permit already."""
        require(call < self.asked)
        self.stopping.add(call)

    # --- what cannot be seen ---------------------------------------------------------------

    @action(internal=True, fair=True, place=upto(W))
    def grant(self, place: int) -> None:
        """A waiter is granted a permit."""
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
        """No call waits for what is there, and every call that has a permit has been notified."""
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
        """A call leaves the wait queue, at whatever position; the others keep their order."""
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != call:
                self.line.push(other)

    # --- what is true of all of it -------------------------------------------------------

    @always("PERMIT-7", MUST,
            "Each permit is in exactly one state: free, granted to a call that was not notified "
            "yet, held, or being given back.",
            source="003#tokens")
    def conserved(self) -> bool:
        """None is made, and none is lost."""
        return self.free + len(self.granted) + len(self.held) + len(self.giving) == self.C

    @leads_to("PERMIT-8", MUST,
              "If a call waits while a permit is free, then eventually no call waits, or no "
              "permit is free.",
              source="003#defining (live)")
    def a_waiter_wakes(self) -> tuple[bool, bool]:
        """A waiter or another call takes the permit, or no call waits any more."""
        waits_needlessly = len(self.line) > 0 and self.free > 0
        return waits_needlessly, not waits_needlessly


class OrderlyPermits(Permits):
    """The same, with waiters served in turn; only cancelled ones may be passed over.

    A call may, if its thread was stopped on its way, not have joined the wait queue yet. Until all
    has settled no order is required. Those that wait then have joined, in an order that was not
    seen: any of them may be first, and all of them are before later calls.
    """

    out_of_line = boolean(False)    # a waiting call may not have joined the wait queue yet
    in_some_order = subset(upto(Permits.K))     # joined it meanwhile, and wait

    @action
    def stopped_on_its_way(self) -> None:
        """A call waits since its thread was stopped, or gives a permit back and was stopped: others
        may wait for it before they join the wait queue."""
        self.out_of_line = True

    @action(rests=True)
    def settled(self) -> None:
        """The same as of all permits; all that wait have joined the wait queue."""
        super().settled()
        for call in range(self.K):
            if call not in self.line:
                self.in_some_order.discard(call)
            elif self.out_of_line:
                self.in_some_order.add(call)
        self.out_of_line = False

    @action
    def acquire_done(self) -> None:
        """An acquire does not overtake a waiter whose cancellation was not requested."""
        require(self.out_of_line or all(call in self.stopping for call in self.line), IN_TURN)
        super().acquire_done()

    @action(internal=True, fair=True, place=upto(Permits.W))
    def grant(self, place: int) -> None:
        """A permit is granted after all before it but those whose cancellation was requested."""
        require(place < len(self.line))
        require(self.out_of_line or all(
            before >= place or self.line[before] in self.stopping
            or (self.line[before] in self.in_some_order and self.line[place] in self.in_some_order)
            for before in range(len(self.line))), IN_TURN)
        super().grant(place)


EXPECTATIONS = (
    expect(Permits, "PERMIT-7", "holds", "permits are neither made nor lost",
           C=(1, 2), K=3, W=2),
    expect(Permits, "PERMIT-8", "holds", "a permit does not stay free beside a waiter",
           C=(1, 2), K=3, W=2),
    expect(OrderlyPermits, "PERMIT-8", "holds",
           "in turn, a permit does not stay free beside a waiter", C=(1, 2), K=3, W=2),
)

BOOKKEEPING = {
    "PERMIT-7":
        "The observer moves a permit from one of its three lists to another; a permit that is "
        "made up is refused by PERMIT-1 before.",
}
