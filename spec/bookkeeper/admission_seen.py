"""Admission, as the network, the storage and the clock of a server see it.

Theory. A loop of ``admission`` is a channel here, and all requests are adds. Threads finish in any
order; the view says that the oldest request is done first, because requests are alike there. A
dropped response is shown as one to a channel that is not writable for that moment, without patience
(t = 0); a response to a closed channel is shown in the same way, because the loop continues with
other channels.

The server is quiescent if no loop can ask for a permit, none is to be given back, and no response
is owed.

Source: ``admission``, ``observed_bookkeeper``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .admission import (
    Admission, Barging, CountingDecoded, FinishingFirst, FinishingTwice, ForgettingToRead,
    KeepingClosed, KeepingFenced, KeepingOldVersions, KeepingRejected, TakingZeroForNone, Way,
)
from .observed_bookkeeper import Kind, ObservedBookkeeper

__all__ = ["EXPECTATIONS", "AdmissionSeen"]


class Numbers(NamedTuple):
    """The numbers of the requests, by where they are."""

    named: int = 0
    decoded: tuple[tuple[int, int], ...] = ()   # of a loop, and the request
    storage: tuple[int, ...] = ()
    owed: tuple[int, ...] = ()                  # done, and not answered


class AdmissionSeen(View[Admission]):
    """Requests are numbered as they are read."""

    history: Numbers = Numbers()

    @shown
    def read(self, before: Admission, after: Admission, loop: int, count: int) -> Iterable[Seen]:
        first = self.history.named
        batch = tuple((loop, first + each) for each in range(count + 1))
        self.history = self.history._replace(
            named=first + count + 1, decoded=self.history.decoded + batch)
        return [see("receive", channel=loop, kind=Kind.ADD) for _ in batch]

    @shown
    def admit(self, before: Admission, after: Admission, loop: int) -> Iterable[Seen]:
        if after.decoded[loop] == before.decoded[loop]:
            return [see("pauses", channel=loop)]
        return self._start(before, after, loop)

    @shown
    def wake(self, before: Admission, after: Admission) -> Iterable[Seen]:
        loop = before.waiting[0]
        resumed = [see("resumes", channel=loop)] if after.reading[loop] else []
        return [*resumed, *self._start(before, after, loop)]

    def _start(self, before: Admission, after: Admission, loop: int) -> list[Seen]:
        """The oldest request of a loop is started, or rejected and answered by the loop."""
        request = next(number for at, number in self.history.decoded if at == loop)
        rest = tuple(each for each in self.history.decoded if each[1] != request)
        self.history = self.history._replace(decoded=rest)
        if after.queued == before.queued:
            return [see("rejects", request=request), see("writes", request=request)]
        self.history = self.history._replace(storage=(*self.history.storage, request))
        return [see("starts", request=request)]

    @shown
    def answer(self, before: Admission, after: Admission, way: Way) -> Iterable[Seen]:
        request, *storage = self.history.storage
        self.history = self.history._replace(storage=tuple(storage))
        if after.late > before.late:
            self.history = self.history._replace(owed=(*self.history.owed, request))
            return [see("done", request=request)]
        if way != Way.DROPPED and way != Way.CLOSED:
            return [see("done", request=request), see("writes", request=request)]
        turn = [see("turns", channel=loop) for loop in range(before.E)]
        return [*turn, see("done", request=request), see("drops", request=request), *turn]

    @shown
    def answer_late(self, before: Admission, after: Admission) -> Seen:
        request, *owed = self.history.owed
        self.history = self.history._replace(owed=tuple(owed))
        return see("writes", request=request)

    def asked(self, machine: Admission) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence and the gauge, if the server can do nothing more.

        Storage may have finished a request, whether or not the server notices it.
        """
        if not self.enabled & {"admit", "wake", "finish", "finish_refused", "answer_late"}:
            if machine.running > 0 and "answer" not in self.enabled:
                yield see("done", request=self.history.storage[0]), see("rests")
            yield see("rests")
            yield see("gauged", kind=Kind.ADD, count=machine.gauge)


SEEN = refines(
    Admission, ObservedBookkeeper, "each request is started, rejected and answered by the rules",
    shows=AdmissionSeen, seen_by={"N": "E", "K": "K", "Q": "Q", "W": "W", "t": 0, "R": 3},
    room=("self.named < self.R",), E=(1, 2), K=(0, 1, 2), B=(1, 2), W=1, Q=1)

EXPECTATIONS = (
    SEEN,
    refused(Barging, "BK-53", "a loop takes a permit past one that waits", like=SEEN, E=2, K=1,
            B=1, seen_by={"R": 4}),
    refused(TakingZeroForNone, "BK-51", "a limit of 0 admits no request", like=SEEN, E=1, K=0, B=1),
    refused(KeepingRejected, "BK-51", "a rejected request keeps its permit", like=SEEN,
            E=1, K=2, B=2),
    refused(KeepingClosed, "BK-51", "a closed channel keeps a permit", like=SEEN, E=1, K=1, B=2),
    refused(KeepingFenced, "BK-51", "an add to a fenced ledger keeps its permit", like=SEEN, E=1,
            K=1, B=2),
    refused(KeepingOldVersions, "BK-51", "a request of an unknown version keeps its permit",
            like=SEEN,
            E=1, K=1, B=2),
    refused(FinishingTwice, "BK-2", "a permit returned twice is one too many", like=SEEN,
            E=1, K=2, B=2, Q=2, seen_by={"R": 4}),
    refused(ForgettingToRead, "BK-56", "a loop forgets to read", like=SEEN, E=1, K=1, B=2),
    refused(CountingDecoded, "BK-3", "a waiting request is counted", like=SEEN, E=1, K=1, B=2),
    refused(FinishingFirst, "BK-2", "a permit is returned before its response is written",
            like=SEEN, E=1, K=1, B=2),
)
