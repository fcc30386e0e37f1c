"""Servers with one seeded bug each: in what they admit, and in how they answer."""

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
    "<= in the place of <")
class OneTooMany(Bookie):
    """The test of the limit lets one more pass."""

    def _has_permit(self, kind: Kind) -> bool:
        limit = self._limit(kind)
        return limit == 0 or self._in_progress[kind] <= limit


@TWINS.twin(
    "bookie-frees-twice", "BK-2", "a response that is dropped gives two permits back",
    "bookkeeper#B3: finished by who drops it, and by who asked to send it")
class FreeingTwice(Bookie):
    """Both think that the other does not."""

    def _drop(self, request: _Request) -> None:
        super()._drop(request)
        self._in_progress[request.kind] = max(0, self._in_progress[request.kind] - 1)


@TWINS.twin(
    "bookie-limits-adds-only", "BK-2", "reads are not limited",
    "BookKeeper #3324: requests of one protocol did not know the limit")
class LimitingAddsOnly(Bookie):
    """Of one kind all are admitted."""

    def _has_permit(self, kind: Kind) -> bool:
        return kind is Kind.READ or super()._has_permit(kind)


@TWINS.twin(
    "bookie-finishes-first", "BK-2", "a response that waits is not in progress any more",
    "BookKeeper #3837: the permit of an add comes back before its response is written")
class FinishingFirst(Bookie):
    """What waits for a client is bounded by nothing."""

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
    "bookie-zero-admits-none", "BK-51", "where the limit is 0, every request waits",
    "004#limit: a limit of 0 turns limiting off, and is taken for a semaphore without permits")
class AdmittingNone(Bookie):
    """The number is compared like any other."""

    def _has_permit(self, kind: Kind) -> bool:
        return self._in_progress[kind] < self._limit(kind)


@TWINS.twin(
    "bookie-keeps-rejected", "BK-51", "a request that the pool rejects keeps its permit",
    "BookKeeper #2945: a read that is rejected is answered, and not finished")
class KeepingRejected(Bookie):
    """Its response is sent, and that is all."""

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
    "BookKeeper #3486: nobody is answered, and nobody finishes")
class KeepingClosed(Bookie):
    """The response is forgotten with its permit."""

    def _drop_to_closed(self, request: _Request) -> None:
        super()._drop_to_closed(request)
        self._in_progress[request.kind] += 1


@TWINS.twin(
    "bookie-keeps-dropped", "BK-51", "a response that is dropped keeps the permit",
    "a finish that stands behind the return of the path on which nothing is written")
class KeepingDropped(Bookie):
    """Only what is written is finished."""

    def _drop(self, request: _Request) -> None:
        super()._drop(request)
        self._in_progress[request.kind] += 1


@TWINS.twin(
    "bookie-never-wakes", "BK-51", "a permit that comes back is given to who comes next",
    "a resume signal that is lost: the waiter sleeps on")
class NeverWaking(Bookie):
    """Lines are looked at only when something is read."""

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
    """The gauge has what waits at the heads of lines, too."""

    def in_progress(self, kind: Kind) -> int:
        return super().in_progress(kind) + len(self._lines[kind])


@TWINS.twin(
    "bookie-gauge-forgets-unsent", "BK-3", "a response that waits is not counted",
    "a gauge that goes down when storage is done")
class GaugingStorage(Bookie):
    """The gauge has what is at storage."""

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
    "a stack in the place of a queue")
class NewestFirst(Bookie):
    """What was decoded is taken from the wrong end."""

    def receive(self, channel: int, requests: Iterable[tuple[Name, Kind]]) -> list[Effect]:
        return super().receive(channel, reversed(list(requests)))


@TWINS.twin(
    "bookie-passes-by", "BK-53", "of the channels that wait, the last one is next",
    "a line that is served from its end")
class PassingBy(Bookie):
    """Who came last is served first."""

    def _next_in(self, line: deque[int]) -> int:
        return line.pop()


@TWINS.twin(
    "bookie-barges", "BK-53", "a request takes a permit past who waits for it",
    "bookkeeper#fair: tryAcquire does not look at the queue")
class Barging(Bookie):
    """A channel goes on with what it has while there is a permit, and only then the lines move."""

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
    """Storage gets all that has a permit."""

    def _is_full(self, kind: Kind) -> bool:
        return False


@TWINS.twin(
    "bookie-reads-on", "BK-55", "autoread stays on while a request waits",
    "004#autoread: more is pulled than is tracked")
class ReadingOn(Bookie):
    """The server forgets to say that nothing more is to be read."""

    def _pause(self, channel: int, at: _Channel) -> None:
        at.paused = True


@TWINS.twin(
    "bookie-forgets-to-read", "BK-56", "autoread is not turned on again",
    "a channel that is paused for ever: the resume is lost")
class ForgettingToRead(Bookie):
    """What was turned off stays off."""

    def _resume(self, channel: int, at: _Channel) -> None:
        """And nobody else turns it on."""


@TWINS.twin(
    "bookie-resumes-one-limit", "BK-56", "autoread is turned on again for adds only",
    "a flag that two limits share, and one of them clears")
class ResumingForAdds(Bookie):
    """A channel whose last request is a read stays paused."""

    def _resume(self, channel: int, at: _Channel) -> None:
        if self._in_progress[Kind.ADD] or not self._in_progress[Kind.READ]:
            super()._resume(channel, at)


# ---- responses ------------------------------------------------------------------------------


@TWINS.twin(
    "bookie-keeps-listed", "BK-57", "a response is dropped although its channel can take it",
    "a blacklist that is looked at before the channel")
class KeepingListed(Bookie):
    """The list counts more than the channel."""

    def _may_write(self, at: _Channel) -> bool:
        return at.writable and at.listed == 0


@TWINS.twin(
    "bookie-misses-drain", "BK-57", "a response waits although its channel is writable again",
    "a drain event that nobody waits for any more")
class MissingDrain(Bookie):
    """Only time is looked at."""

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
    "004#responses: isWritable is not looked at")
class WritingAnyway(Bookie):
    """A slow client's responses pile up in the network's buffers."""

    def _may_write(self, at: _Channel) -> bool:
        return True


@TWINS.twin(
    "bookie-drops-at-once", "BK-59", "a response that cannot be written is dropped at once",
    "a timeout of 0 taken for every timeout")
class DroppingAtOnce(Bookie):
    """There is no patience."""

    def _is_overdue(self, request: _Request) -> bool:
        return True


@TWINS.twin(
    "bookie-lists-too-long", "BK-59", "a channel stays listed for one tick more",
    "an entry that expires one tick after it should")
class ListingLong(Bookie):
    """The list is a tick too long."""

    def _list(self, at: _Channel) -> None:
        at.listed = self.patience + 1


@TWINS.twin(
    "bookie-waits-for-ever", "BK-60", "a response waits until its channel is writable",
    "BookKeeper #3582: threads wait for clients that never read")
class WaitingForEver(Bookie):
    """No time is too long."""

    def _is_overdue(self, request: _Request) -> bool:
        return self.patience == 0


@TWINS.twin(
    "bookie-waits-one-more", "BK-60", "a response waits one tick more than it may",
    "> in the place of >=")
class WaitingOneMore(Bookie):
    """The timeout is a tick too long."""

    def _is_overdue(self, request: _Request) -> bool:
        return request.waited > self.patience


@TWINS.twin(
    "bookie-lists-nobody", "BK-60", "each response to a slow client is waited for",
    "no blacklist: one client takes all the time there is")
class ListingNobody(Bookie):
    """The list is not looked at."""

    def _is_listed(self, at: _Channel) -> bool:
        return False


@TWINS.twin(
    "bookie-never-closes", "BK-61", "a channel stays open whose responses are dropped",
    "004#responses: the client never learns that no response will come")
class NeverClosing(Bookie):
    """What is asked for in the settings is ignored."""

    def _closes(self, at: _Channel) -> bool:
        return False


@TWINS.twin(
    "bookie-always-closes", "BK-61", "a channel is closed although nobody asked for that",
    "a setting that is read as true whenever it is there")
class AlwaysClosing(Bookie):
    """Each slow client loses its connection."""

    def _closes(self, at: _Channel) -> bool:
        return True


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("bookie-one-too-many", 40, 300)


# ---- what shows in long lines --------------------------------------------------------------------

class _StackFrom(Bookie):
    """From so many requests of a channel that wait on, the newest is started first."""

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


# ---- what looks at names -------------------------------------------------------------------------

class _Alike(Bookie):
    """Knows requests by less than their names."""

    def alike(self, name: Name) -> Name:
        """What is kept of a name."""
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
    """A response is that of whoever begins alike."""

    def alike(self, name: Name) -> Name:
        return name[:8] if isinstance(name, str) else name


@TWINS.twin(
    "bookie-names-of-32-bits", "BK-50", "names that are numbers are kept in 32 bits",
    "a transaction's id, a long, in an int")
class NamesOf32Bits(_Alike):
    """Above the largest is the lowest."""

    def alike(self, name: Name) -> Name:
        return name % 2**32 if isinstance(name, int) else name


@TWINS.twin(
    "bookie-loses-what-is-false", "BK-51",
    "a request whose name is false, such as 0, is passed over",
    "`if request` where `if request is not None` was meant")
class LosingWhatIsFalse(Bookie):
    """It is neither started nor answered."""

    def receive(self, channel: int, requests: Iterable[tuple[Name, Kind]]) -> list[Effect]:
        return super().receive(channel, [each for each in requests if each[0]])
