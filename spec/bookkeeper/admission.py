"""Requests in progress: how many a server admits, and what waits when there are too many.

Theory of operation
-------------------
A server admits K requests at a time; adds and reads have a limit each. A request is in progress
from the moment that its event loop has a permit for it until its response has been sent, dropped,
or made needless by a closed channel:

    network --read--> [decoded] --permit--> [queued: Q] --> [running: W] --answer--> finish
                     event loop                    the pool's threads              permit back

An event loop reads up to B requests at once, and asks for a permit for each of them in turn. If no
permit is free, it stops reading (autoread is off), and waits with the request. It reads again as
soon as it has a permit. Requests that were decoded together with this one stay at the loop, and are
not counted as in progress: with a limit of K requests in progress, K + E B may be in memory (BK-7).

A limit of 0 is no limit: no request needs a permit, and no loop stops reading. A server that takes
it for a semaphore without permits blocks at the first request (``TakingZeroForNone``).

If the text's count is used (requests at threads or waiting for one), no more than W + Q + E
requests are ever in progress here, and a limit from there up never binds. An add that waits for the
journal is neither, and has its permit all the same: ``journal``. Without a pool the numbers are
others: ``inline``.

The pool has W threads and a queue with Q places; a request that finds it full is answered at once
with an error. Each path on which a request ends has to give the permit back, exactly once. The
history of this code is one of paths that were forgotten.

Waiting loops are served in the order in which they began to wait. As merged, a loop first tries to
take a permit ahead of the waiters (``tryAcquire`` does so on a fair semaphore, too), so waiting
loops may be overtaken forever (BK-5).

Source: BookKeeper pull request 1410; 004#limit, 004#autoread, bookkeeper#admission.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, const, fifo, integer, leads_to,
    require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "Admission", "Barging", "CountingDecoded", "FinishingFirst", "FinishingTwice",
    "ForgettingToRead", "KeepingClosed", "KeepingFenced", "KeepingOldVersions", "KeepingRejected",
    "OlderProtocol", "TakingZeroForNone", "Way",
]

LIMIT = "004#limit"
AUTOREAD = "004#autoread"
CODE = "bookkeeper#admission"


class Way(IntEnum):
    """The outcomes of a request at a thread of the pool."""

    WRITTEN = 0         # the response is written to the channel
    DROPPED = 1         # the channel took no response in time
    CLOSED = 2          # the channel is closed
    FENCED = 3          # the ledger is fenced, and the response an error
    VERSION = 4         # the request is of a version that the server does not speak


class Admission(Machine):
    """Requests of one kind, adds or reads, and the loops that bring them."""

    E = const(1, at_least=1)            # event loops
    K = const(2)                        # requests in progress, at most; 0: there is no limit
    B = const(1, at_least=1)            # requests that a loop reads at once, at most
    W = const(1, at_least=1)            # threads of the pool
    Q = const(1, at_least=1)            # places in the pool's queue

    decoded = array(upto(E), integer(0, B))     # requests at each loop, not yet in progress
    reading = array(upto(E), boolean(True))     # autoread
    waiting = fifo(integer(0, E - 1), E)            # loops that wait for a permit, in their order
    free = integer(0, K + W + Q + E, init=K)    # permits
    gauge = integer(0, K + W + Q + E)           # requests in progress, as the server counts them
    queued = integer(0, Q)                      # requests in the pool's queue
    running = integer(0, W)                     # and at its threads
    ended = integer(0, W)                       # those that are answered, and not yet finished
    refused = subset(upto(E))                   # loops with a request that the pool has rejected
    late = integer(0, 1)                        # finished, and not yet answered

    @action(loop=upto(E), count=upto(B))
    def read(self, loop: int, count: int) -> None:
        """Data comes: ``count + 1`` requests."""
        require(self.reading[loop] and self.decoded[loop] == 0)
        self.decoded[loop] = count + 1

    @action(fair=True, loop=upto(E))
    def admit(self, loop: int) -> None:
        """A loop asks for a permit for the next request in its hands."""
        require(self.decoded[loop] > 0 and loop not in self.waiting)
        require(loop not in self.refused)
        if self.may_start() and self.may_take():
            self.start(loop)
        else:
            self.reading[loop] = False
            self.waiting.push(loop)

    def may_start(self) -> bool:
        """True if a permit is free, or none is needed."""
        return self.free > 0 or self.K == 0

    def may_take(self) -> bool:
        """True if no loop waits."""
        return len(self.waiting) == 0

    @action(fair=True)
    def wake(self) -> None:
        """The loop that has waited longest gets a permit, and reads again."""
        require(self.free > 0)
        loop = self.waiting.pop()
        self.read_again(loop)
        self.start(loop)

    def read_again(self, loop: int) -> None:
        """Autoread is on again."""
        self.reading[loop] = True

    def start(self, loop: int) -> None:
        """The request is in progress: it goes to the pool, or is rejected."""
        self.decoded[loop] -= 1
        self.free -= min(1, self.K)
        self.gauge += 1
        if self.queued < self.Q:
            self.queued += 1
        else:
            self.reject(loop)

    def reject(self, loop: int) -> None:
        """The loop answers the request itself, with an error."""
        self.refused.add(loop)

    @action(fair=True)
    def take_up(self) -> None:
        """A thread takes the oldest request of the queue."""
        require(self.queued > 0 and self.running + self.ended < self.W)
        self.queued -= 1
        self.running += 1

    @action(fair=True, way=Way)
    def answer(self, way: Way) -> None:
        """The request ends, in one of the ways, at its thread."""
        require(self.running > 0)
        self.running -= 1
        self.end(way)

    def end(self, way: Way) -> None:
        """Its thread keeps it until it is finished."""
        self.ended += 1

    @action(fair=True)
    def finish(self) -> None:
        """The permit of an answered request is given back."""
        require(self.ended > 0)
        self.ended -= 1
        self.give_back()

    @action(fair=True, loop=upto(E))
    def finish_refused(self, loop: int) -> None:
        """A loop gives back the permit of a request that was rejected."""
        require(loop in self.refused)
        self.refused.discard(loop)
        self.give_back()

    @action(fair=True)
    def answer_late(self) -> None:
        """Send a response that is still owed; a correct server owes none."""
        require(self.late > 0)
        self.late -= 1

    def give_back(self) -> None:
        """Decrement the gauge, then return the permit."""
        self.gauge -= 1
        self.free += min(1, self.K)

    def in_progress(self) -> int:
        """Number of requests that were admitted, and not yet finished."""
        return self.queued + self.running + self.ended + len(self.refused)

    # --- rules -------------------------------------------------------------------------------

    @always("BK-1", MUST,
            "With a limit above 0, free permits and requests in progress add up to the limit.",
            source=f"{LIMIT}; {CODE}")
    def permits_are_conserved(self) -> bool:
        """No outcome of a request keeps its permit, and none gives back two."""
        return self.K == 0 or self.free + self.in_progress() == self.K

    @always("BK-2", MUST,
            "No more requests of a kind (add or read) are in progress than its limit allows; a "
            "limit of 0 allows any number.",
            source=LIMIT)
    def few_are_in_progress(self) -> bool:
        """For any number of requests and loops; a limit of 0 allows any number."""
        return self.K == 0 or self.in_progress() <= self.K

    @always("BK-3", MUST, "The server's gauge equals the number of requests in progress.",
            source=f"{LIMIT}; {CODE}")
    def gauge_is_right(self) -> bool:
        """Otherwise an operator sees a wrong number."""
        return self.gauge == self.in_progress()

    @always("BK-4", MUST,
            "No request stops being in progress before its response is sent or dropped.",
            source=f"{LIMIT} ('to the moment response for the request is sent')")
    def nobody_finishes_early(self) -> bool:
        """A permit that is returned earlier does not bound the memory of responses."""
        return self.late == 0

    @leads_to("BK-5", MUST,
              "An event loop that has stopped reading reads again eventually, if requests in "
              "progress end.",
              source=f"{AUTOREAD}; {CODE}", loop=upto(E))
    def reading_goes_on(self, loop: int) -> tuple[bool, bool]:
        """It assumes that requests end."""
        return not self.reading[loop], self.reading[loop]

    @leads_to("BK-6", MUST,
              "All requests of a batch that an event loop has read are admitted eventually, if "
              "requests in progress end.",
              source=f"{LIMIT} (inferred: what is limited waits, and is not refused); "
                     "BookKeeper #3486", loop=upto(E))
    def nobody_is_forgotten(self, loop: int) -> tuple[bool, bool]:
        """This covers all requests of one batch."""
        return self.decoded[loop] > 0, self.decoded[loop] == 0

    @always("BK-8", MUST,
            "Free permits and gauge add up to any limit above 0, the gauge equals the requests "
            "in progress, busy threads fit the pool, and each loop waits at most once, with a "
            "request.",
            source=CODE)
    def books_are_right(self) -> bool:
        """A thread keeps its request until it is finished; a waiting loop has a request."""
        return ((self.K == 0 or self.free + self.gauge == self.K)
                and self.gauge == self.in_progress()
                and self.running + self.ended <= self.W
                and all(self.is_in_line_once(loop) for loop in range(self.E)))

    def is_in_line_once(self, loop: int) -> bool:
        """True if the loop waits once, with a request, or not at all."""
        times = sum(each == loop for each in self.waiting)
        return times == 0 or (
            times == 1 and self.decoded[loop] > 0 and loop not in self.refused)

    @always("BK-7", CLAIM,
            "While an event loop does not read, at most one request that it has read is not yet "
            "admitted.",
            source=f"{AUTOREAD} ('to prevent it from pulling more data before we track it'); "
                   "bookkeeper#decoded", loop=upto(E))
    def nothing_else_is_in_memory(self, loop: int) -> bool:
        """The loop waits with that one."""
        return self.reading[loop] or self.decoded[loop] <= 1


class TakingZeroForNone(Admission):
    """A limit of 0 is a semaphore without permits."""

    def may_start(self) -> bool:
        """True only if a permit is free, and with a limit of 0 none ever is."""
        return self.free > 0


class Barging(Admission):
    """As merged: a loop takes a free permit ahead of waiters (barging)."""

    def may_take(self) -> bool:
        """True always: ``tryAcquire`` ignores the wait queue."""
        return True


class KeepingRejected(Admission):
    """A request that the pool rejects is answered, and keeps its permit."""

    def reject(self, loop: int) -> None:
        """Nothing is done to return the permit."""


class KeepingClosed(Admission):
    """A request on a closed channel keeps its permit."""

    def end(self, way: Way) -> None:
        """There is no client to answer, and the thread continues with the next request."""
        if way != Way.CLOSED:
            super().end(way)


class KeepingFenced(Admission):
    """An add to a fenced ledger is answered by a method of its own, which finishes nothing."""

    def end(self, way: Way) -> None:
        """An error is sent, and the request is not finished."""
        if way != Way.FENCED:
            super().end(way)


class KeepingOldVersions(Admission):
    """A request of a version that the server does not speak keeps its permit."""

    def end(self, way: Way) -> None:
        """An error is sent early, and the request is not finished."""
        if way != Way.VERSION:
            super().end(way)


class FinishingTwice(Admission):
    """A dropped response is finished twice: by the code that drops it, and by its sender."""

    def end(self, way: Way) -> None:
        """Return a second permit for a dropped response."""
        super().end(way)
        if way == Way.DROPPED and self.free < self.K:
            self.free += 1


class ForgettingToRead(Admission):
    """The loop has its permit, and does not turn autoread on."""

    def read_again(self, loop: int) -> None:
        """Autoread is never turned on again."""


class CountingDecoded(Admission):
    """A request is counted when its loop begins to wait for a permit."""

    def start(self, loop: int) -> None:
        """Count the next request of the batch, too, although it has no permit."""
        super().start(loop)
        if self.decoded[loop] > 0:
            self.gauge = min(self.gauge + 1, self.K + 1)


class FinishingFirst(Admission):
    """As for adds of the older protocol since their responses go out in groups."""

    @action(fair=True, way=Way)
    def answer(self, way: Way) -> None:
        """The thread gives the permit back, and leaves the response to the next flush."""
        require(self.running > 0 and self.late == 0)
        self.running -= 1
        self.late += 1
        self.give_back()


class OlderProtocol(Admission):
    """Requests of the older protocol go to the pool as they come."""

    older = integer(0, Admission.Q)     # requests in progress that have no permit

    @action(fair=True, loop=upto(Admission.E))
    def admit_older(self, loop: int) -> None:
        """It goes to the pool without a permit."""
        require(self.decoded[loop] > 0 and loop not in self.waiting and self.older < self.Q)
        self.decoded[loop] -= 1
        self.older += 1

    @action(fair=True)
    def end_older(self) -> None:
        """It ends without a permit to give back."""
        require(self.older > 0)
        self.older -= 1

    def in_progress(self) -> int:
        """Number of requests in progress, with and without a permit."""
        return super().in_progress() + self.older


SMALL: dict[str, Any] = {"E": (1, 2), "K": (0, 1, 2, 3), "B": (1, 2), "W": (1, 2), "Q": (1, 2)}
LIVE: dict[str, Any] = {"E": (1, 2), "K": (0, 1, 2), "B": (1, 2), "W": 1, "Q": (1, 2)}

EXPECTATIONS = (
    *(expect(Admission, rule, "holds", says, **SMALL) for rule, says in (
        ("BK-1", "each way gives one permit back"),
        ("BK-2", "the limit is kept, even with more threads and places than permits"),
        ("BK-3", "the gauge is correct"),
        ("BK-4", "permits come back after the responses"),
        ("BK-8", "the accounts add up"))),
    prove(Admission, "BK-8", "the accounts add up, for all limits and pools",
          for_all=("K", "W", "Q"), E=(1, 2), B=2),
    *(prove(Admission, rule, f"{says}, for all limits and pools", for_all=("K", "W", "Q"),
            lemmas=("BK-8",), E=(1, 2), B=2) for rule, says in (
        ("BK-1", "permits are conserved"), ("BK-2", "the limit is kept"),
        ("BK-3", "the gauge is correct"))),
    *(expect(Admission, rule, "holds", says, **LIVE) for rule, says in (
        ("BK-5", "each loop reads again"), ("BK-6", "each request is admitted"))),
    expect(Admission, "BK-7", "violated",
           "004: requests decoded with a waiting one wait beside it, "
           "exactly if a batch is larger than 1 and the pool takes as many as the limit",
           where="B > 1 and 0 < K <= W + Q + E - 1", **SMALL),
    expect(Barging, "BK-5", "violated", "bookkeeper#fair: a waiting loop may be overtaken "
           "forever, exactly if there is another loop", where="E > 1 and K > 0", **LIVE),
    expect(TakingZeroForNone, "BK-5", "violated", "004: a limit of 0 admits no request, exactly "
           "if it is 0", where="K == 0", **LIVE),
    expect(Barging, "BK-2", "holds", "barging exceeds no limit", **LIVE),
    expect(KeepingRejected, "BK-1", "violated", "BookKeeper #2945: a rejected request keeps its "
           "permit, exactly if the pool can be full", where="K > Q", K=(1, 2, 3), Q=(1, 2, 3)),
    expect(KeepingRejected, "BK-6", "holds", "BookKeeper #2945: as many permits are left as the "
           "pool's queue has places: the limit shrinks to that", K=(1, 2, 3), Q=(1, 2)),
    expect(KeepingClosed, "BK-1", "violated", "BookKeeper #3486: a closed channel keeps a permit"),
    expect(KeepingClosed, "BK-6", "violated", "BookKeeper #3486: a request waits forever"),
    expect(KeepingClosed, "BK-8", "violated", "the server's accounts are wrong from then on"),
    expect(KeepingFenced, "BK-3", "violated", "an add to a fenced ledger is counted forever"),
    expect(KeepingOldVersions, "BK-1", "violated",
           "a request of an unknown version keeps its permit"),
    expect(FinishingTwice, "BK-2", "violated", "a permit returned twice is one too many",
           K=2, W=1, Q=2, E=1),
    expect(ForgettingToRead, "BK-5", "violated", "a loop that forgets to read stays silent", K=1),
    expect(CountingDecoded, "BK-3", "violated", "a waiting request is counted as in progress", B=2,
           K=1),
    expect(FinishingFirst, "BK-4", "violated", "BookKeeper #3837: the permit of an add is returned "
           "before its response is written", K=(1, 2)),
    expect(OlderProtocol, "BK-2", "violated", "BookKeeper #3324: requests of the older protocol "
           "have no limit", K=1, W=1, Q=2),
)

UNSEEN = {
    "BK-7": "It is false if several requests are read at once, so it is not required of "
            "implementations.",
}
