"""Requests that run on the event loop that has read them.

Theory of operation
-------------------
A server may have no pool: its event loops run requests themselves. Then a loop that runs a request
reads nothing, and the effect of a limit of K permits depends on where requests end.

    J = 0   on the loop, as a read does: it sends the response, and reads again. At most one request
            is in progress for each of the E loops, so a limit from E up never makes a loop wait.
    J = 1   elsewhere, as an add does that waits for the journal: the loop continues with the next
            one. Only the limit bounds them, and the thread that finishes them must not be a loop.

So this limit binds exactly if J = 1 or K < E. It cannot be computed from the number of a pool's
threads, because there is no pool; that is one of the text's reasons to make it configurable.

From outside, the server looks like one with a pool that has room for all requests. The order in
which loops get permits is specified in ``admission``, and left out here. If a loop finishes
requests that end elsewhere, all loops may wait for permits that only they give back, for all K and
E: that is ``loops`` without a pool (BookKeeper #4827).

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
from .observed_bookkeeper import Kind, ObservedBookkeeper

__all__ = ["EXPECTATIONS", "Doing", "FinishedByLoops", "Inline", "InlineSeen", "Uncounted"]

LIMIT = "004#limit"


class Doing(IntEnum):
    """The activity of a loop."""

    READING = 0
    RUNNING = 1         # a request that it has read
    WAITING = 2         # for a permit, with a request in its hands


class Inline(Machine):
    """Event loops without a pool."""

    E = const(2, at_least=1)            # event loops
    K = const(1, at_least=1)            # requests in progress, at most
    J = const(0, at_most=1)             # 1: requests end elsewhere

    free = integer(0, K, init=K)        # permits
    doing = array(upto(E), choice(Doing, Doing.READING))
    away = integer(0, K + E)            # requests that end elsewhere

    @action(loop=upto(E))
    def read(self, loop: int) -> None:
        """A request arrives and gets a permit, or its loop waits for one."""
        require(self.doing[loop] == Doing.READING)
        if self.free > 0:
            self.start(loop)
        else:
            self.doing[loop] = Doing.WAITING

    @action(fair=True, loop=upto(E))
    def wake(self, loop: int) -> None:
        """A waiting loop gets a permit."""
        require(self.doing[loop] == Doing.WAITING and self.free > 0)
        self.start(loop)

    def start(self, loop: int) -> None:
        """The loop runs the request."""
        self.free -= 1
        self.doing[loop] = Doing.RUNNING

    @action(fair=True, loop=upto(E))
    def end(self, loop: int) -> None:
        """The request has run: its response is sent, or it goes elsewhere."""
        require(self.doing[loop] == Doing.RUNNING)
        self.doing[loop] = Doing.READING
        if self.J == 0:
            self.free += 1
        else:
            self.away += 1

    @action(fair=True)
    def finish(self) -> None:
        """A request that was elsewhere is done, and its permit is returned."""
        require(self.away > 0 and self.may_finish())
        self.away -= 1
        self.free += 1

    def may_finish(self) -> bool:
        """True always: another thread finishes it."""
        return True

    def in_progress(self) -> int:
        """Number of requests that run on loops or are elsewhere."""
        return self.away + sum(self.doing[loop] == Doing.RUNNING for loop in range(self.E))

    @always("BK-85", MUST,
            "If event loops run requests themselves, free permits and requests in progress, "
            "here or elsewhere, add up to the limit.",
            source=LIMIT)
    def permits_are_conserved(self) -> bool:
        """The same law holds with a pool."""
        return self.free + self.in_progress() == self.K

    @always("BK-86", CLAIM, "A loop that runs requests itself never waits for a permit.",
            source=LIMIT)
    def nobody_waits(self) -> bool:
        """A loop has only one request at a time."""
        return all(self.doing[loop] != Doing.WAITING for loop in range(self.E))

    @never_stuck("BK-87", MUST,
                 "Event loops that run requests themselves are never all deadlocked waiting for "
                 "permits.",
                 source=f"{LIMIT}; bookkeeper#B9")
    def loops_go_on(self) -> bool:
        """Work is always left: there is always another request."""
        return False


class FinishedByLoops(Inline):
    """A request that ended elsewhere is finished by an idle loop."""

    def may_finish(self) -> bool:
        """True if some loop is idle; a loop that waits for a permit is not."""
        return any(self.doing[loop] == Doing.READING for loop in range(self.E))


class Uncounted(Inline):
    """A request that goes elsewhere is not in progress any more."""

    @action(fair=True, loop=upto(Inline.E))
    def end(self, loop: int) -> None:
        """Return the permit although it is not done; K bounds the model."""
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
    """The numbers of the requests, by place."""

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
        """The quiescence, if no loop can take a step; and that a server does not notice a request
        that is done elsewhere, if it does not."""
        if not self.enabled & {"wake", "end"}:
            yield see("rests")
            if self.history.away and "finish" not in self.enabled:
                yield see("done", request=self.history.away[0]), see("rests")

    def at_rest(self, machine: Inline) -> Iterable[Sequence[Seen]]:
        """In a deadlock, a request that comes to a reading loop, and the quiescence after it."""
        for loop in range(machine.E):
            if machine.doing[loop] == Doing.READING:
                yield see("receive", channel=loop, kind=Kind.ADD), see("rests")


SEEN = refines(
    Inline, ObservedBookkeeper,
    "requests that loops run themselves are started and answered by the rules", shows=InlineSeen,
    seen_by={"N": "E", "K": "K", "Q": "K + E", "R": 3},
    room=("self.named < self.R",), E=(1, 2), K=(1, 2), J=(0, 1))

GRID: dict[str, Any] = {"E": (1, 2, 3), "K": (1, 2, 3, 4), "J": (0, 1)}

EXPECTATIONS = (
    expect(Inline, "BK-85", "holds", "permits are conserved without a pool, too", **GRID),
    expect(Inline, "BK-86", "violated", "004: loops wait for the limit exactly if requests end "
           "elsewhere, or permits are fewer than loops", where="J == 1 or K < E", **GRID),
    expect(Inline, "BK-87", "holds", "waiting loops get the permits of finished requests", **GRID),
    expect(Uncounted, "BK-85", "violated", "a request in the journal that has no permit",
           where="J == 1", E=(1, 2), K=(1, 2), J=(0, 1)),
    expect(FinishedByLoops, "BK-87", "violated",
           "BookKeeper #4827: loops wait for permits that only they "
           "return, exactly if requests end elsewhere", where="J == 1", **GRID),
    SEEN,
    refused(Uncounted, "BK-2", "a request too many is in progress", like=SEEN, E=1, K=1, J=1),
    refused(FinishedByLoops, "BK-57", "BookKeeper #4827: a response waits for a loop that waits",
            like=SEEN, E=1, K=1, J=1),
)

UNSEEN = {
    "BK-86":
        "It is false if requests end elsewhere, or permits are fewer than loops, so it is "
        "not required of implementations.",
}
