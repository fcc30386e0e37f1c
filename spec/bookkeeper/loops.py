"""Who gives a permit back: the event loop that waits for it must not be the one.

Theory of operation
-------------------
Each of E event loops reads requests, asks for one of K permits for each, hands the request to a
worker, and writes the response when the worker has it. A loop that finds no permit waits for one,
and does nothing else meanwhile: it writes no response.

As merged, a worker gives the permit back once it has handed the response over, and never needs a
loop for that. So a loop that waits, waits for a worker, and workers wait for nobody: the server is
live for all E and K.

Release 4.18.0 gives the permit back when the response has been written, which the loop does. A loop
that waits for the permits of its own responses waits for ever, and the others soon wait behind it.
That is so for every K and E, and in a default configuration. It makes no difference who gives the
permit back if he has to wait for the loop first: a worker that waits until its response is written
is as bad (``Awaiting``), and is what reads of the older protocol do where the limit is on.

Two ways out. A loop that finds no permit stops reading, keeps the request for later, and goes on
writing (``Pausing``); or permits are given back by those who need no loop.

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
    """Permits come back from the workers."""

    E = const(1, at_least=1)            # event loops
    K = const(1, at_least=1)            # requests in progress, at most: permits

    free = integer(0, K, init=K)
    working = array(upto(E), integer(0, K))     # requests of each loop that are at workers
    writes = array(upto(E), integer(0, K))      # responses that a loop is to write, with permits
    written = array(upto(E), integer(0, K))     # and of those it has written, the permits
    waiting = fifo(integer(0, E - 1), E)            # loops that wait for a permit, in their order

    @action(loop=upto(E))
    def arrive(self, loop: int) -> None:
        """A request comes, and its loop asks for a permit."""
        require(self.may_read(loop) and len(self.waiting) < self.E)
        if self.free > 0 and len(self.waiting) == 0:
            self.free -= 1
            self.working[loop] += 1
        else:
            self.waiting.push(loop)

    def may_read(self, loop: int) -> bool:
        """One that waits for a permit does not."""
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
        """The permit is free; whatever the loop does with the response."""
        self.free += 1

    @action(fair=True, loop=upto(E))
    def write(self, loop: int) -> None:
        """A loop that does not wait writes a response."""
        require(self.writes[loop] > 0 and self.is_at_work(loop))
        self.writes[loop] -= 1
        self.wrote(loop)

    def is_at_work(self, loop: int) -> bool:
        """One that waits does nothing else."""
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
        """The permits that requests have, wherever they are."""
        return sum(self.working) + sum(self.writes) + sum(self.written)

    @never_stuck("BK-10", MUST, "Loops that wait for permits get them.",
                 source=f"{CODE}; BookKeeper #4730")
    def somebody_goes_on(self) -> bool:
        """There is always more to read."""
        return False

    @always("BK-11", MUST, "While a loop waits and no permit is free, somebody who has one waits "
            "for no loop.", source=f"{CODE}; BookKeeper #4827")
    def who_releases_does_not_wait(self) -> bool:
        """The thread that releases never needs the thread that waits."""
        return (len(self.waiting) == 0 or self.free > 0
                or sum(self.working) + sum(self.written) > 0
                or any(self.writes[loop] > 0 and self.is_at_work(loop) for loop in range(self.E)))

    @always("BK-13", MUST, "A loop that waits is in the line once.", source="bookkeeper#admission",
            loop=upto(E))
    def each_waits_once(self, loop: int) -> bool:
        """It does nothing else, so it cannot come a second time."""
        return sum(each == loop for each in self.waiting) <= 1

    @always("BK-12", MUST, "Permits are free, or requests have them.",
            source="bookkeeper#admission")
    def permits_are_conserved(self) -> bool:
        """All K of them."""
        return self.free + self.held() == self.K


class ReleasingOnLoop(Loops):
    """Release 4.18.0: the permit comes back when the loop has written the response."""

    def hand_over(self, loop: int) -> None:
        """A task for the loop."""
        self.writes[loop] += 1


class Awaiting(ReleasingOnLoop):
    """Reads of the older protocol: the worker waits for the write, and then gives it back."""

    def wrote(self, loop: int) -> None:
        """The worker is told."""
        self.written[loop] += 1


class Pausing(ReleasingOnLoop):
    """A loop without a permit only stops reading."""

    def is_at_work(self, loop: int) -> bool:
        """Its other work goes on."""
        return True


class ReadingOn(Pausing):
    """A loop without a permit reads on, and waits for several."""

    def may_read(self, loop: int) -> bool:
        """Whatever it waits for."""
        return True


class LosingPermits(Pausing):
    """The permit of a response that is written comes back to nobody."""

    def wrote(self, loop: int) -> None:
        """The loop takes it for the worker's affair."""


GRID: dict[str, Any] = {"E": (1, 2, 3), "K": (1, 2, 3, 4)}

EXPECTATIONS = (
    expect(Loops, "BK-10", "holds", "workers release: live", **GRID),
    prove(Loops, "BK-12", "permits are conserved, for all limits", for_all=("K",), E=(1, 2)),
    prove(Loops, "BK-13", "nobody is in the line twice, for all limits", for_all=("K",),
          lemmas=("BK-12",), E=(1, 2)),
    prove(Loops, "BK-11", "a loop waits for workers only, for all limits", for_all=("K",),
          lemmas=("BK-12", "BK-13"), E=(1, 2)),
    expect(ReleasingOnLoop, "BK-10", "violated", "BookKeeper #4730: the loop that waits is the one "
           "that releases, whatever the limit and the number of loops", **GRID),
    expect(ReleasingOnLoop, "BK-11", "violated", "BookKeeper #4827: one loop waits for itself",
           **GRID),
    expect(Awaiting, "BK-10", "violated", "bookkeeper#latent: who releases waits for the loop",
           **GRID),
    expect(Pausing, "BK-10", "holds", "a loop that only stops reading can release as well",
           **GRID),
    prove(Pausing, "BK-12", "permits are conserved, for all limits", for_all=("K",), E=(1, 2)),
    prove(Pausing, "BK-13", "nobody is in the line twice, for all limits", for_all=("K",),
          lemmas=("BK-12",), E=(1, 2)),
    prove(Pausing, "BK-11", "a loop that pauses waits for nobody, for all limits", for_all=("K",),
          lemmas=("BK-12", "BK-13"), E=(1, 2)),
    expect(ReadingOn, "BK-13", "violated", "a loop that reads on is in the line twice", E=(2, 3)),
    expect(LosingPermits, "BK-12", "violated", "a permit that nobody gives back is lost"),
)
