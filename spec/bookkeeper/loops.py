"""The thread that gives a permit back must not be the event loop that waits for it.

Theory of operation
-------------------
Each of E event loops reads requests, asks for one of K permits for each, hands the request to a
worker, and writes the response when the worker has it. A loop that finds no permit waits for one,
and does nothing else meanwhile: it writes no response.

As merged, a worker gives the permit back once it has handed the response over, and never needs a
loop for that. So a waiting loop waits for a worker, and workers wait for no thread: the server is
live for all E and K.

Release 4.18.0 gives the permit back when the response has been written, which the loop does. A loop
that waits for the permits of its own responses waits forever, and the others soon wait behind it.
That is so for every K and E, and in a default configuration. It does not matter which thread gives
the permit back if that thread has to wait for the loop first: a worker that waits until its
response is written is as bad (``Awaiting``), and reads of the older protocol do this if the limit
is on.

There are two fixes. A loop that finds no permit stops reading, keeps the request for later, and
continues to write (``Pausing``); or permits are given back by threads that need no loop.

Source: 003#defining (messages and no blocking), bookkeeper#event-loop.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import (
    MUST, Machine, action, always, array, const, fifo, integer, never_stuck, require, upto,
)

__all__ = ["EXPECTATIONS", "Awaiting", "Loops", "LosingPermits", "Pausing", "ReadingOn",
           "ReleasingOnLoop"]

CODE = "bookkeeper#event-loop"


class Loops(Machine):
    """Event loops; the workers return their permits."""

    E = const(1, at_least=1)            # event loops
    K = const(1, at_least=1)            # requests in progress, at most: permits

    free = integer(0, K, init=K)
    working = array(upto(E), integer(0, K))     # requests of each loop that are at workers
    writes = array(upto(E), integer(0, K))      # responses that a loop is to write, with permits
    written = array(upto(E), integer(0, K))     # and of those it has written, the permits
    waiting = fifo(integer(0, E - 1), E)            # loops that wait for a permit, in their order

    @action(loop=upto(E))
    def arrive(self, loop: int) -> None:
        """A request arrives, and its loop asks for a permit."""
        require(self.may_read(loop) and len(self.waiting) < self.E)
        if self.free > 0 and len(self.waiting) == 0:
            self.free -= 1
            self.working[loop] += 1
        else:
            self.waiting.push(loop)

    def may_read(self, loop: int) -> bool:
        """True if the loop does not wait for a permit."""
        return loop not in self.waiting

    @action(fair=True)
    def wake(self) -> None:
        """The loop that has waited longest gets a permit."""
        require(self.free > 0)
        loop = self.waiting.pop()
        self.free -= 1
        self.working[loop] += 1

    @action(fair=True, loop=upto(E))
    def work(self, loop: int) -> None:
        """A worker has a response, and hands it to its loop."""
        require(self.working[loop] > 0)
        self.working[loop] -= 1
        self.hand_over(loop)

    def hand_over(self, loop: int) -> None:
        """Return the permit at once; the loop writes the response later."""
        self.free += 1

    @action(fair=True, loop=upto(E))
    def write(self, loop: int) -> None:
        """A loop that does not wait writes a response."""
        require(self.writes[loop] > 0 and self.is_at_work(loop))
        self.writes[loop] -= 1
        self.wrote(loop)

    def is_at_work(self, loop: int) -> bool:
        """True if the loop does not wait: a waiting loop does nothing else."""
        return loop not in self.waiting

    def wrote(self, loop: int) -> None:
        """The loop itself gives the permit back."""
        self.free += 1

    @action(fair=True, loop=upto(E))
    def see_written(self, loop: int) -> None:
        """A worker that waited for a write gives the permit back."""
        require(self.written[loop] > 0)
        self.written[loop] -= 1
        self.free += 1

    def held(self) -> int:
        """Number of permits that requests hold."""
        return sum(self.working) + sum(self.writes) + sum(self.written)

    @never_stuck("BK-10", MUST,
                 "Event loops and workers are never deadlocked by loops that wait for permits.",
                 source=f"{CODE}; BookKeeper #4730")
    def somebody_goes_on(self) -> bool:
        """Work is always left: there is always another request to read."""
        return False

    @always("BK-11", MUST,
            "While an event loop waits for a permit and none is free, some permit can come "
            "back without that loop: a worker has a request or has still to give back a "
            "permit, or a loop that does not wait has a response to write.",
            source=f"{CODE}; BookKeeper #4827")
    def who_releases_does_not_wait(self) -> bool:
        """The thread that releases never needs the thread that waits."""
        return (len(self.waiting) == 0 or self.free > 0
                or sum(self.working) + sum(self.written) > 0
                or any(self.writes[loop] > 0 and self.is_at_work(loop) for loop in range(self.E)))

    @always("BK-13", MUST,
            "An event loop is in the wait queue for permits at most once.",
            source="bookkeeper#admission",
            loop=upto(E))
    def each_waits_once(self, loop: int) -> bool:
        """A waiting loop does nothing else, so it cannot begin to wait a second time."""
        return sum(each == loop for each in self.waiting) <= 1

    @always("BK-12", MUST,
            "Free permits and the requests that hold one each add up to all permits.",
            source="bookkeeper#admission")
    def permits_are_conserved(self) -> bool:
        """Count all K permits."""
        return self.free + self.held() == self.K


class ReleasingOnLoop(Loops):
    """Release 4.18.0: the permit is returned when the loop has written the response."""

    def hand_over(self, loop: int) -> None:
        """Give the loop a response to write, with its permit."""
        self.writes[loop] += 1


class Awaiting(ReleasingOnLoop):
    """Reads of the older protocol: the worker waits for the write, and then returns the permit."""

    def wrote(self, loop: int) -> None:
        """The waiting worker is notified."""
        self.written[loop] += 1


class Pausing(ReleasingOnLoop):
    """A loop without a permit only stops reading."""

    def is_at_work(self, loop: int) -> bool:
        """True always: a waiting loop still writes responses."""
        return True


class ReadingOn(Pausing):
    """A loop without a permit continues to read, and waits for several permits."""

    def may_read(self, loop: int) -> bool:
        """True always, even for a waiting loop."""
        return True


class LosingPermits(Pausing):
    """The permit of a written response is never returned."""

    def wrote(self, loop: int) -> None:
        """The loop leaves the permit to the worker, which does not return it."""


GRID: dict[str, Any] = {"E": (1, 2, 3), "K": (1, 2, 3, 4)}

EXPECTATIONS = (
    expect(Loops, "BK-10", "holds", "workers release: live", **GRID),
    prove(Loops, "BK-12", "permits are conserved, for all limits", for_all=("K",), E=(1, 2)),
    prove(Loops, "BK-13", "no loop waits twice, for all limits", for_all=("K",),
          lemmas=("BK-12",), E=(1, 2)),
    prove(Loops, "BK-11", "a loop waits for workers only, for all limits", for_all=("K",),
          lemmas=("BK-12", "BK-13"), E=(1, 2)),
    expect(ReleasingOnLoop, "BK-10", "violated", "BookKeeper #4730: the waiting loop is the one "
           "that releases, for every limit and number of loops", **GRID),
    expect(ReleasingOnLoop, "BK-11", "violated", "BookKeeper #4827: one loop waits for itself",
           **GRID),
    expect(Awaiting, "BK-10", "violated",
           "bookkeeper#latent: the thread that releases waits for the loop",
           **GRID),
    expect(Pausing, "BK-10", "holds", "a loop that only stops reading can release as well",
           **GRID),
    prove(Pausing, "BK-12", "permits are conserved, for all limits", for_all=("K",), E=(1, 2)),
    prove(Pausing, "BK-13", "no loop waits twice, for all limits", for_all=("K",),
          lemmas=("BK-12",), E=(1, 2)),
    prove(Pausing, "BK-11", "a pausing loop waits for no other loop, for all limits",
          for_all=("K",),
          lemmas=("BK-12", "BK-13"), E=(1, 2)),
    expect(ReadingOn, "BK-13", "violated", "a loop that continues to read waits twice", E=(2, 3)),
    expect(LosingPermits, "BK-12", "violated", "a permit that is not returned is lost"),
)
