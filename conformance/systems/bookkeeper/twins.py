"""Servers with one seeded bug each: in admission, or in responses."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from ....reference.bookkeeper.bookie import Bookie, Effect, Kind, Name, _Channel, _Request
from ...suites.twin import Twins
from .adapter import ReferenceBookie

__all__ = ["TWINS"]

TWINS: Final = Twins("bookkeeper", ReferenceBookie, ("reference.bookkeeper",))


# ---- admission ------------------------------------------------------------------------------


@TWINS.twin(
    "bookie-one-too-many", "BK-2", "one request more than the limit is in progress",
    "<= instead of <")
class OneRequestTooMany(Bookie):
    """The test of the limit admits one request too many."""

    def _has_permit(self, kind: Kind) -> bool:
        limit = self._limit(kind)
        return limit == 0 or self._in_progress[kind] <= limit


@TWINS.twin(
    "bookie-frees-twice", "BK-2", "a dropped response returns two permits",
    "bookkeeper#B3: finished by the code that drops it, and by its sender")
class FreeingTwice(Bookie):
    """A dropped response returns its permit twice."""

    def _drop(self, request: _Request) -> None:
        super()._drop(request)
        self._in_progress[request.kind] = max(0, self._in_progress[request.kind] - 1)


@TWINS.twin(
    "bookie-limits-adds-only", "BK-2", "reads are not limited",
    "BookKeeper #3324: requests of one protocol had no limit")
class LimitingAddsOnly(Bookie):
    """Every read is admitted, without a limit."""

    def _has_permit(self, kind: Kind) -> bool:
        return kind is Kind.READ or super()._has_permit(kind)


@TWINS.twin(
    "bookie-finishes-first", "BK-2", "a waiting response is not in progress any more",
    "BookKeeper #3837: the permit of an add is returned before its response is written")
class FinishingFirst(Bookie):
    """The responses that wait for a client have no bound."""

    def _keep(self, request: _Request) -> None:
        super()._finish(request)
        self._early.append(request)

    def _finish(self, request: _Request) -> None:
        if request not in self._early:
            super()._finish(request)

    @property
    def _early(self) -> list[_Request]:
        return self.__dict__.setdefault("_finished_early", [])  # type: ignore[no-any-return]


@TWINS.twin(
    "bookie-zero-admits-none", "BK-51", "if the limit is 0, every request waits",
    "004#limit: a limit of 0 turns limiting off, and is taken for a semaphore without permits")
class AdmittingNone(Bookie):
    """A limit of 0 is compared like any other."""

    def _has_permit(self, kind: Kind) -> bool:
        return self._in_progress[kind] < self._limit(kind)


@TWINS.twin(
    "bookie-keeps-rejected", "BK-51", "a request that the pool rejects keeps its permit",
    "BookKeeper #2945: a read that is rejected is answered, and not finished")
class KeepingRejected(Bookie):
    """A rejected request's response is sent, and its permit is not returned."""

    def _start(self, request: _Request) -> None:
        self._rejected = request if self._is_full(request.kind) else None
        super()._start(request)
        self._rejected = None

    _rejected: _Request | None = None

    def _finish(self, request: _Request) -> None:
        if request is not self._rejected:
            super()._finish(request)


@TWINS.twin(
    "bookie-keeps-closed", "BK-51", "a request whose channel is closed keeps its permit",
    "BookKeeper #3486: no response is sent, and the request is not finished")
class KeepingClosed(Bookie):
    """The response to a closed channel is forgotten with its permit."""

    def _drop_to_closed(self, request: _Request) -> None:
        super()._drop_to_closed(request)
        self._in_progress[request.kind] += 1


@TWINS.twin(
    "bookie-keeps-dropped", "BK-51", "a dropped response keeps the permit",
    "a finish after the return of the path on which nothing is written")
class KeepingDropped(Bookie):
    """Only a written response returns its permit."""

    def _drop(self, request: _Request) -> None:
        super()._drop(request)
        self._in_progress[request.kind] += 1


@TWINS.twin(
    "bookie-never-wakes", "BK-51", "a returned permit goes to the next request that is read",
    "a lost resume signal: the waiter keeps sleeping")
class NeverWaking(Bookie):
    """Wait queues are served only when requests are read."""

    def done(self, request: Name) -> list[Effect]:
        self._asleep = True
        try:
            return super().done(request)
        finally:
            self._asleep = False

    _asleep = False

    def _serve_lines(self) -> None:
        if not self._asleep:
            super()._serve_lines()


@TWINS.twin(
    "bookie-counts-what-waits", "BK-3", "a request is counted when it begins to wait",
    "a gauge that goes up before the permit is there")
class CountingWaiting(Bookie):
    """The gauge counts the requests at the heads of wait queues, too."""

    def in_progress(self, kind: Kind) -> int:
        return super().in_progress(kind) + len(self._lines[kind])


@TWINS.twin(
    "bookie-gauge-forgets-unsent", "BK-3", "a waiting response is not counted",
    "a gauge that goes down when storage is done")
class GaugingStorage(Bookie):
    """The gauge counts only the requests at storage."""

    def in_progress(self, kind: Kind) -> int:
        return self._at_storage[kind]


@TWINS.twin(
    "bookie-answers-rejected-twice", "BK-50", "a request that the pool rejects is answered twice",
    "the pool's handler and the caller both send the error")
class AnsweringTwice(Bookie):
    """A rejected request goes to storage as well."""

    def _answer(self, request: _Request) -> None:
        super()._answer(request)
        if self._is_full(request.kind) and request.name not in self._storing:
            self._effects.append(self._effects[-1])


@TWINS.twin(
    "bookie-newest-first", "BK-52", "of a batch, the newest request is started first",
    "a stack instead of a queue")
class NewestRequestFirst(Bookie):
    """Decoded requests are taken from the wrong end."""

    def receive(self, channel: int, requests: Iterable[tuple[Name, Kind]]) -> list[Effect]:
        return super().receive(channel, reversed(list(requests)))


@TWINS.twin(
    "bookie-passes-by", "BK-53", "of the waiting channels, the last one is next",
    "a wait queue that is served from its end")
class LastChannelFirst(Bookie):
    """The channel that began to wait last is served first."""

    def _next_in(self, line: deque[int]) -> int:
        return line.pop()


@TWINS.twin(
    "bookie-barges", "BK-53", "a request takes a permit ahead of the waiters",
    "bookkeeper#fair: tryAcquire ignores the wait queue")
class Barging(Bookie):
    """A channel continues with its requests while there is a permit; only then the queues are
    served."""

    def _serve_lines(self) -> None:
        for channel, at in self._channels.items():
            waits = any(channel in line for line in self._lines.values())
            if waits and self._has_permit(at.decoded[0].kind):
                self._leave_lines(channel)
                self._start(at.decoded.popleft())
                self._serve(channel)
        super()._serve_lines()


@TWINS.twin(
    "bookie-rejects-early", "BK-54", "a request is rejected although the pool has places",
    "a bound on the pool's threads taken for one on its queue")
class RejectingEarly(Bookie):
    """One request at storage is taken for a full pool."""

    def _is_full(self, kind: Kind) -> bool:
        return self._at_storage[kind] >= 1


@TWINS.twin(
    "bookie-never-rejects", "BK-54", "a full pool takes more", "a queue without a bound")
class NeverRejecting(Bookie):
    """Storage gets every request that has a permit."""

    def _is_full(self, kind: Kind) -> bool:
        return False


@TWINS.twin(
    "bookie-reads-on", "BK-55", "autoread stays on while a request waits",
    "004#autoread: more is pulled than is tracked")
class ReadingOn(Bookie):
    """The server forgets to turn autoread off."""

    def _pause(self, channel: int, at: _Channel) -> None:
        at.paused = True


@TWINS.twin(
    "bookie-forgets-to-read", "BK-56", "autoread is not turned on again",
    "a channel that is paused forever: the resume is lost")
class ForgettingToRead(Bookie):
    """Autoread stays off once it was turned off."""

    def _resume(self, channel: int, at: _Channel) -> None:
        """Do nothing: autoread is not turned on again."""


@TWINS.twin(
    "bookie-resumes-one-limit", "BK-56", "autoread is turned on again for adds only",
    "a flag that two limits share, and one of them clears")
class ResumingForAdds(Bookie):
    """A channel stays paused if its last request is a read."""

    def _resume(self, channel: int, at: _Channel) -> None:
        if self._in_progress[Kind.ADD] or not self._in_progress[Kind.READ]:
            super()._resume(channel, at)


# ---- responses ------------------------------------------------------------------------------


@TWINS.twin(
    "bookie-keeps-listed", "BK-57", "a response is dropped although its channel can take it",
    "a blacklist that is checked before the channel")
class KeepingListed(Bookie):
    """The list decides, even if the channel is writable."""

    def _may_write(self, at: _Channel) -> bool:
        return at.writable and at.listed == 0


@TWINS.twin(
    "bookie-misses-drain", "BK-57", "a response waits although its channel is writable again",
    "a drain event without a listener")
class MissingDrain(Bookie):
    """Only the clock ends the wait of a response."""

    def turn(self, channel: int, writable: bool) -> list[Effect]:
        unsent = self._channel(channel).unsent
        self._channel(channel).unsent = []
        try:
            return super().turn(channel, writable)
        finally:
            if channel in self._channels:
                self._channels[channel].unsent = unsent


@TWINS.twin(
    "bookie-writes-anyway", "BK-58", "a response is written whether or not its channel is writable",
    "004#responses: isWritable is not checked")
class WritingAnyway(Bookie):
    """A slow client's responses pile up in the network's buffers."""

    def _may_write(self, at: _Channel) -> bool:
        return True


@TWINS.twin(
    "bookie-drops-at-once", "BK-59", "a response that cannot be written is dropped at once",
    "a timeout of 0 taken for every timeout")
class DroppingAtOnce(Bookie):
    """A response does not wait at all."""

    def _is_overdue(self, request: _Request) -> bool:
        return True


@TWINS.twin(
    "bookie-lists-too-long", "BK-59", "a channel stays listed for one tick more",
    "an entry that expires one tick after it should")
class ListingLong(Bookie):
    """The time on the list is a tick too long."""

    def _list(self, at: _Channel) -> None:
        at.listed = self.patience + 1


@TWINS.twin(
    "bookie-waits-for-ever", "BK-60", "a response waits until its channel is writable",
    "BookKeeper #3582: threads wait for clients that never read")
class WaitingForEver(Bookie):
    """A response waits without a timeout."""

    def _is_overdue(self, request: _Request) -> bool:
        return self.patience == 0


@TWINS.twin(
    "bookie-waits-one-more", "BK-60", "a response waits one tick more than it may",
    "> instead of >=")
class WaitingOneMore(Bookie):
    """The timeout is a tick too long."""

    def _is_overdue(self, request: _Request) -> bool:
        return request.waited > self.patience


@TWINS.twin(
    "bookie-lists-nobody", "BK-60", "the server waits for each response to a slow client",
    "no blacklist: one client takes all the time")
class ListingNobody(Bookie):
    """The list of slow channels is ignored."""

    def _is_listed(self, at: _Channel) -> bool:
        return False


@TWINS.twin(
    "bookie-never-closes", "BK-61", "a channel stays open although its responses are dropped",
    "004#responses: the client never learns that no response will come")
class NeverClosing(Bookie):
    """The setting to close channels is ignored."""

    def _closes(self, at: _Channel) -> bool:
        return False


@TWINS.twin(
    "bookie-always-closes", "BK-61", "a channel is closed although that is not configured",
    "a setting that is read as true whenever it is there")
class AlwaysClosing(Bookie):
    """Each slow client loses its connection."""

    def _closes(self, at: _Channel) -> bool:
        return True


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("bookie-one-too-many", 40, 300)


# ---- bugs that show in long queues ---------------------------------------------------------------

class _StackFrom(Bookie):
    """A server that starts a channel's newest waiting request first, from a certain number on."""

    requests = 4

    def _start(self, request: _Request) -> None:
        line = self._channels[request.channel].decoded
        if len(line) + 1 >= self.requests:
            line.appendleft(request)
            request = line.pop()
        super()._start(request)


@TWINS.twin(
    "bookie-stack-from-four", "BK-52", "from four requests of a channel on, the newest comes first",
    "a ring whose read index is taken from the wrong end once it has wrapped")
class StackFromFour(_StackFrom):
    """With four or more it is a stack."""


@TWINS.twin(
    "bookie-stack-from-six", "BK-52", "from six requests of a channel on, the newest comes first",
    "a ring whose read index is taken from the wrong end once it has wrapped")
class StackFromSix(_StackFrom):
    """With six or more it is a stack."""

    requests = 6


# ---- bugs in names -------------------------------------------------------------------------------

class _Alike(Bookie):
    """A server that knows requests by a part of their names."""

    def alike(self, name: Name) -> Name:
        """The part of a name that is kept."""
        return name

    def _start(self, request: _Request) -> None:
        request.name = self.alike(request.name)
        super()._start(request)

    def done(self, request: Name) -> list[Effect]:
        return super().done(self.alike(request))


@TWINS.twin(
    "bookie-cuts-names", "BK-50", "names are cut to eight characters",
    "a field of fixed width in the header of a response")
class CuttingNames(_Alike):
    """A response may go to another request with a name that begins in the same way."""

    def alike(self, name: Name) -> Name:
        return name[:8] if isinstance(name, str) else name


@TWINS.twin(
    "bookie-names-of-32-bits", "BK-50", "names that are numbers are kept in 32 bits",
    "a transaction's id, a long, in an int")
class NamesOf32Bits(_Alike):
    """Names above the largest number of 32 bits start over at 0."""

    def alike(self, name: Name) -> Name:
        return name % 2**32 if isinstance(name, int) else name


@TWINS.twin(
    "bookie-loses-what-is-false", "BK-51",
    "a request whose name is false, such as 0, is ignored",
    "`if request` where `if request is not None` was meant")
class LosingWhatIsFalse(Bookie):
    """Such a request is neither started nor answered."""

    def receive(self, channel: int, requests: Iterable[tuple[Name, Kind]]) -> list[Effect]:
        return super().receive(channel, [each for each in requests if each[0]])
