"""Loops and their permits, as the network and the storage of a server see them.

Theory. Each loop of ``loops`` has a channel here. A request that gets a permit is started, and is
done when its worker hands the response over; the response is then written at once if no loop is
needed, or later by the loop. A loop that may not read has turned autoread off. The server is
quiescent if no loop that can take a step has anything to do.

A worker that waits for a write (``Awaiting``) is inside the server; that its response is never
written can be seen from outside.

Source: ``loops``, ``observed_bookkeeper``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .loops import Awaiting, Loops, LosingPermits, Pausing, ReadingOn, ReleasingOnLoop
from .observed_bookkeeper import Kind, ObservedBookkeeper

__all__ = ["EXPECTATIONS", "LoopsSeen"]

Numbers = tuple[tuple[int, int], ...]
"""Loops, each with a request, in their order."""


class Requests(NamedTuple):
    """The numbers of the requests, by place."""

    named: int = 0
    waiting: Numbers = ()
    working: Numbers = ()
    owed: Numbers = ()      # done, and not written


def first(numbers: Numbers, loop: int) -> tuple[int, Numbers]:
    """The oldest request of a loop, and the others."""
    found = next(each for each in numbers if each[0] == loop)
    return found[1], tuple(each for each in numbers if each is not found)


class LoopsSeen(View[Loops]):
    """Requests are numbered as they are read."""

    history: Requests = Requests()

    @shown
    def arrive(self, before: Loops, after: Loops, loop: int) -> Iterable[Seen]:
        request = self.history.named
        self.history = self.history._replace(named=request + 1)
        comes = see("receive", channel=loop, kind=Kind.ADD)
        if len(after.waiting) == len(before.waiting):
            self.history = self.history._replace(working=(*self.history.working, (loop, request)))
            return [comes, see("starts", request=request)]
        self.history = self.history._replace(waiting=(*self.history.waiting, (loop, request)))
        return [comes] if after.may_read(loop) else [comes, see("pauses", channel=loop)]

    @shown
    def wake(self, before: Loops, after: Loops) -> Iterable[Seen]:
        loop = before.waiting[0]
        request, waiting = first(self.history.waiting, loop)
        self.history = self.history._replace(
            waiting=waiting, working=(*self.history.working, (loop, request)))
        reads_again = after.may_read(loop) and not before.may_read(loop)
        return [*([see("resumes", channel=loop)] if reads_again else []),
                see("starts", request=request)]

    @shown
    def work(self, before: Loops, after: Loops, loop: int) -> Iterable[Seen]:
        request, working = first(self.history.working, loop)
        self.history = self.history._replace(working=working)
        if after.writes[loop] == before.writes[loop]:
            return [see("done", request=request), see("writes", request=request)]
        self.history = self.history._replace(owed=(*self.history.owed, (loop, request)))
        return [see("done", request=request)]

    @shown
    def write(self, before: Loops, after: Loops, loop: int) -> Seen:
        request, owed = first(self.history.owed, loop)
        self.history = self.history._replace(owed=owed)
        return see("writes", request=request)

    def asked(self, machine: Loops) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if all wait for workers or blocked loops; and a started request without a
        worker."""
        if not self.enabled & {"wake", "write", "see_written"}:
            yield see("rests")
            if self.history.working and "work" not in self.enabled:
                yield see("done", request=self.history.working[0][1]), see("rests")


ROOM = ("self.named < self.R",)
SEEN = refines(
    Loops, ObservedBookkeeper, "waiting loops get the permits that workers return",
    shows=LoopsSeen, seen_by={"N": "E", "K": "K", "Q": "K", "R": 3}, room=ROOM, E=(1, 2), K=(1, 2))

EXPECTATIONS = (
    SEEN,
    refines(Pausing, ObservedBookkeeper, "a loop that only stops reading still answers",
            shows=LoopsSeen, seen_by={"N": "E", "K": "K", "Q": "K", "R": 3}, room=ROOM,
            E=(1, 2), K=(1, 2)),
    refused(ReleasingOnLoop, "BK-57", "BookKeeper #4730: a response waits for the loop that waits "
            "for its permit", like=SEEN, E=1, K=1),
    refused(Awaiting, "BK-57",
            "bookkeeper#latent: the thread that would give the permit back waits for the "
            "loop", like=SEEN, E=1, K=1),
    refused(LosingPermits, "BK-51", "a request waits for a permit that is lost", like=SEEN,
            E=1, K=1),
    refused(ReadingOn, "BK-55", "a loop continues to read while its request waits", like=SEEN, E=2,
            K=1),
)
