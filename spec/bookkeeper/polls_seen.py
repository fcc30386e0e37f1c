"""Polls and reads, as the network and the storage of a server see them.

Theory. A poll of ``polls`` is a read that is at storage until a writer adds an entry, or its client
loses patience. As merged it is in progress meanwhile, and the observer of a server
(``observed_bookkeeper``) counts it so. Polls come on one channel and other reads on another, which
waits if no permit is free. The server is quiescent if no waiting read can have a permit.

A poll that gives its permit back is, to an observer that counts permits, a read that comes when it
has something to send: so it is shown from then on, and not before.

Source: ``polls``, ``observed_bookkeeper``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..notation import action, require
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_bookkeeper import Kind, ObservedBookkeeper
from .polls import ForgettingPolls, GivingBack, Impatient, Polls

__all__ = [
    "EXPECTATIONS", "ForgettingSeen", "GivingBackSeen", "ImpatientSeen", "PassingBy", "PollsSeen",
]

POLLING, READING = 0, 1


class Requests(NamedTuple):
    """The numbers of the requests, by place."""

    named: int = 0
    polls: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    wanted: int = 0


class PollsSeen(View[Polls]):
    """Requests are numbered as they are read."""

    history: Requests = Requests()

    @shown
    def poll(self, before: Polls, after: Polls) -> Iterable[Seen]:
        request = self.history.named
        self.history = self.history._replace(
            named=request + 1, polls=(*self.history.polls, request))
        return [see("receive", channel=POLLING, kind=Kind.READ), see("starts", request=request)]

    @shown
    def ask(self, before: Polls, after: Polls) -> Iterable[Seen]:
        request = self.history.named
        self.history = self.history._replace(named=request + 1, wanted=request)
        return [see("receive", channel=READING, kind=Kind.READ), see("pauses", channel=READING)]

    @shown
    def admit(self, before: Polls, after: Polls) -> Iterable[Seen]:
        request = self.history.wanted
        self.history = self.history._replace(reads=(*self.history.reads, request))
        return [see("resumes", channel=READING), see("starts", request=request)]

    @shown
    def serve(self, before: Polls, after: Polls) -> Iterable[Seen]:
        request, *rest = self.history.reads
        self.history = self.history._replace(reads=tuple(rest))
        return answered(request)

    @shown
    def confirm(self, before: Polls, after: Polls) -> Iterable[Seen]:
        return self.end()

    def end(self) -> Iterable[Seen]:
        """The oldest poll is answered, with an entry, with nothing, or with an error."""
        request, *rest = self.history.polls
        self.history = self.history._replace(polls=tuple(rest))
        return answered(request)

    def asked(self, machine: Polls) -> Iterable[Seen | Sequence[Seen]]:
        """The quiescence, if no read can continue; and a read that storage has done, if the server
        ignores it."""
        if not machine.wanted or machine.free == 0:
            yield see("rests")
            if self.history.reads and "serve" not in self.enabled:
                yield see("done", request=self.history.reads[0]), see("rests")


def answered(request: int) -> list[Seen]:
    """Storage has finished a request, and its response is written."""
    return [see("done", request=request), see("writes", request=request)]


class ImpatientSeen(PollsSeen):
    """The view of polls that may end early as well."""

    @shown
    def lose_patience(self, before: Polls, after: Polls) -> Iterable[Seen]:
        return self.end()


class GivingBackSeen(PollsSeen):
    """The view of polls without permits: each is shown when it has a permit again."""

    @shown
    def poll(self, before: Polls, after: Polls) -> Iterable[Seen]:
        return []

    @shown
    def confirm(self, before: Polls, after: Polls) -> Iterable[Seen]:
        return []

    @shown
    def leave(self, before: Polls, after: Polls) -> Iterable[Seen]:
        request = self.history.named
        self.history = self.history._replace(
            named=request + 1, reads=(*self.history.reads, request))
        return [see("receive", channel=POLLING, kind=Kind.READ), see("starts", request=request)]


class PassingBy(GivingBack):
    """A poll that has something to send takes a permit ahead of a waiting read."""

    @action(fair=True)
    def leave(self) -> None:
        """Take a permit even while a read waits."""
        require(self.leaving > 0 and self.free > 0)
        self.leaving -= 1
        self.free -= 1
        self.serving += 1


class ForgettingSeen(PollsSeen):
    """The view of polls that the pool may reject, which are answered with an error."""

    @shown
    def forget(self, before: Polls, after: Polls) -> Iterable[Seen]:
        return self.end()


SEEN = refines(
    Polls, ObservedBookkeeper, "polls and reads are started and answered by the rules",
    shows=PollsSeen, seen_by={"N": 2, "J": "K", "Q": "K", "R": 3}, room=("self.named < self.R",),
    K=(1, 2), G=(1, 2))

RETURNED = refines(
    GivingBack, ObservedBookkeeper, "polls that return are reads with permits",
    shows=GivingBackSeen, seen_by={"N": 2, "J": "K", "Q": "K", "R": 3},
    room=("self.named < self.R",), K=(1, 2), G=(1, 2))

EXPECTATIONS = (
    SEEN,
    refines(Impatient, ObservedBookkeeper, "a poll may end with nothing", shows=ImpatientSeen,
            seen_by={"N": 2, "J": "K", "Q": "K", "R": 3}, room=("self.named < self.R",), K=1, G=1),
    RETURNED,
    refused(PassingBy, "BK-53", "a poll that has something to send overtakes a waiting read",
            like=RETURNED, K=1, G=1),
    refused(ForgettingPolls, "BK-51", "bookkeeper#latent: a poll that is rejected keeps its permit",
            like=replace(SEEN, machine=ForgettingPolls, shows=ForgettingSeen), K=1, G=1),
)
