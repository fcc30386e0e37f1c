"""Requests that run on the event loop which has read them.

Theory of operation
-------------------
A server may have no pool: its event loops run requests themselves. Then a loop that has a request
at hand reads nothing, and what a limit of K permits adds to that depends on where requests end.

    J = 0   on the loop, as a read does: it sends the response, and reads again. There is one
            request in progress for each of the E loops, at most, so a limit from E up never holds
            anybody.
    J = 1   elsewhere, as an add does that waits for the journal: the loop goes on to the next one.
            The limit is all that bounds them, and whoever finishes must not be a loop.

So the one number binds exactly where J = 1 or K < E. From the number of a pool's threads it cannot
be computed, for there is none; that is one of the text's reasons to let it be set.

Whoever brings the requests and takes the responses away sees the same as of a server with a pool
that has room for all. In which order loops get permits is that of ``admission``, and left out here.

Where a loop finishes requests that end elsewhere, all loops may wait for permits that only they
give back, whatever K and E are: it is ``loops`` without a pool (BookKeeper #4827).

Source: BookKeeper pull request 1410; 004#limit ('an option to run request directly on netty
thread').
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, choice, const, integer, never_stuck, require, upto,
)
from ..notation.views import LEFT_OUT, Seen, View, see, shown
from ..refinements import refines, refused
from .observed_bookie import Kind, ObservedBookie

__all__ = ["EXPECTATIONS", "Doing", "FinishedByLoops", "Inline", "InlineSeen", "Uncounted"]

LIMIT = "004#limit"


class Doing(IntEnum):
    """What a loop is at."""

    READING = 0
    RUNNING = 1         # a request that it has read
    WAITING = 2         # for a permit, with a request in its hands


class Inline(Machine):
    """Event loops without a pool behind them."""

    E = const(2, at_least=1)            # event loops
    K = const(1, at_least=1)            # requests in progress, at most
    J = const(0, at_most=1)             # 1: requests end elsewhere

    free = integer(0, K, init=K)        # permits
    doing = array(upto(E), choice(Doing, Doing.READING))
    away = integer(0, K + E)            # requests that end elsewhere

    @action(loop=upto(E))
    def read(self, loop: int) -> None:
        """A request comes, and gets a permit, or its loop waits for one."""
        require(self.doing[loop] == Doing.READING)
        if self.free > 0:
            self.start(loop)
        else:
            self.doing[loop] = Doing.WAITING

    @action(fair=True, loop=upto(E))
    def wake(self, loop: int) -> None:
        """There is a permit again."""
        require(self.doing[loop] == Doing.WAITING and self.free > 0)
        self.start(loop)

    def start(self, loop: int) -> None:
        """The loop runs the request."""
        self.free -= 1
        self.doing[loop] = Doing.RUNNING

    @action(fair=True, loop=upto(E))
    def end(self, loop: int) -> None:
        """It has run: the response is sent, or the request goes elsewhere."""
        require(self.doing[loop] == Doing.RUNNING)
        self.doing[loop] = Doing.READING
        if self.J == 0:
            self.free += 1
        else:
            self.away += 1

    @action(fair=True)
    def finish(self) -> None:
        """A request that was elsewhere is done, and its permit is back."""
        require(self.away > 0 and self.may_finish())
        self.away -= 1
        self.free += 1

    def may_finish(self) -> bool:
        """Another thread does it."""
        return True

    def in_progress(self) -> int:
        """Those that run, and those that are elsewhere."""
        return self.away + sum(self.doing[loop] == Doing.RUNNING for loop in range(self.E))

    @always("BK-85", MUST, "Requests that run on event loops are no more than the limit, and those "
            "and the free permits are as many.", source=LIMIT)
    def permits_are_conserved(self) -> bool:
        """As with a pool."""
        return self.free + self.in_progress() == self.K

    @always("BK-86", CLAIM, "A loop that runs requests itself does not wait for a permit.",
            source=LIMIT)
    def nobody_waits(self) -> bool:
        """It has only one at a time."""
        return all(self.doing[loop] != Doing.WAITING for loop in range(self.E))

    @never_stuck("BK-87", MUST, "A loop that waits for a permit gets one, where requests run on "
                 "loops.", source=f"{LIMIT}; bookkeeper#B9")
    def loops_go_on(self) -> bool:
        """There is always another request."""
        return False


class FinishedByLoops(Inline):
    """What ended elsewhere is finished by a loop that has nothing else to do."""

    def may_finish(self) -> bool:
        """One that waits for a permit does nothing."""
        return any(self.doing[loop] == Doing.READING for loop in range(self.E))


class Uncounted(Inline):
    """A request that goes elsewhere is not in progress any more."""

    @action(fair=True, loop=upto(Inline.E))
    def end(self, loop: int) -> None:
        """Its permit is back, and it is not done; the model ends somewhere."""
        require(self.doing[loop] == Doing.RUNNING and self.away < self.K)
        self.doing[loop] = Doing.READING
        self.free += 1
        self.away += self.J

    @action(fair=True)
    def finish(self) -> None:
        """There is no permit to give back."""
        require(self.away > 0)
        self.away -= 1


class Requests(NamedTuple):
    """The numbers of the requests, by where they are."""

    named: int = 0
    waiting: tuple[tuple[int, int], ...] = ()   # a loop, and its request: in their order
    running: tuple[tuple[int, int], ...] = ()
    away: tuple[int, ...] = ()


class InlineSeen(View[Inline]):
    """Each loop has a channel. Requests are numbered as they are read."""

    history: Requests = Requests()

    @shown
    def read(self, before: Inline, after: Inline, loop: int) -> list[Seen] | str:
        request = self.history.named
        self.history = self.history._replace(named=request + 1)
        comes = see("receive", channel=loop, kind=Kind.ADD)
        if after.doing[loop] == Doing.WAITING:
            self.history = self.history._replace(
                waiting=(*self.history.waiting, (loop, request)))
            return [comes, see("pauses", channel=loop)]
        if self.history.waiting:
            return LEFT_OUT
        self.history = self.history._replace(running=(*self.history.running, (loop, request)))
        return [comes, see("starts", request=request)]

    @shown
    def wake(self, before: Inline, after: Inline, loop: int) -> list[Seen] | str:
        first, *waiting = self.history.waiting
        if first[0] != loop:
            return LEFT_OUT
        self.history = self.history._replace(
            waiting=tuple(waiting), running=(*self.history.running, first))
        return [see("resumes", channel=loop), see("starts", request=first[1])]

    @shown
    def end(self, before: Inline, after: Inline, loop: int) -> Iterable[Seen]:
        request = next(number for at, number in self.history.running if at == loop)
        self.history = self.history._replace(
            running=tuple(each for each in self.history.running if each[1] != request))
        if after.away == before.away:
            return [see("done", request=request), see("writes", request=request)]
        self.history = self.history._replace(away=(*self.history.away, request))
        return []

    @shown
    def finish(self, before: Inline, after: Inline) -> Iterable[Seen]:
        request, *away = self.history.away
        self.history = self.history._replace(away=tuple(away))
        return [see("done", request=request), see("writes", request=request)]

    def asked(self, machine: Inline) -> Iterable[Seen | Sequence[Seen]]:
        """A server whose loops can do nothing rests; and one that does not hear of what is
        elsewhere, when that is done."""
        if not self.enabled & {"wake", "end"}:
            yield see("rests")
            if self.history.away and "finish" not in self.enabled:
                yield see("done", request=self.history.away[0]), see("rests")

    def at_rest(self, machine: Inline) -> Iterable[Sequence[Seen]]:
        """Where nothing goes on, a request comes to a loop that is to read."""
        for loop in range(machine.E):
            if machine.doing[loop] == Doing.READING:
                yield see("receive", channel=loop, kind=Kind.ADD), see("rests")


SEEN = refines(
    Inline, ObservedBookie, "requests that loops run themselves are started and answered as others "
    "are", shows=InlineSeen, seen_by={"N": "E", "K": "K", "Q": "K + E", "R": 3},
    room=("self.named < self.R",), E=(1, 2), K=(1, 2), J=(0, 1))

GRID: dict[str, Any] = {"E": (1, 2, 3), "K": (1, 2, 3, 4), "J": (0, 1)}

EXPECTATIONS = (
    expect(Inline, "BK-85", "holds", "permits are conserved without a pool, too", **GRID),
    expect(Inline, "BK-86", "violated", "004: the limit holds loops up exactly where requests end "
           "elsewhere, or are fewer than loops", where="J == 1 or K < E", **GRID),
    expect(Inline, "BK-87", "holds", "who waits is served by whoever ends", **GRID),
    expect(Uncounted, "BK-85", "violated", "a request in the journal that has no permit",
           where="J == 1", E=(1, 2), K=(1, 2), J=(0, 1)),
    expect(FinishedByLoops, "BK-87", "violated", "BookKeeper #4827: loops wait for what only they "
           "give back, exactly where requests end elsewhere", where="J == 1", **GRID),
    SEEN,
    refused(Uncounted, "BK-2", "a request too many is in progress", like=SEEN, E=1, K=1, J=1),
    refused(FinishedByLoops, "BK-57", "BookKeeper #4827: a response waits for a loop that waits",
            like=SEEN, E=1, K=1, J=1),
)

UNSEEN = {
    "BK-86":
        "It is false where requests end elsewhere, or are fewer than loops, so no "
        "implementation is to keep it.",
}
