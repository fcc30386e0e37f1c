"""Admission of requests and sending of responses, after BookKeeper's pull request 1410.

Adds and reads have a limit each on how many are in progress: from when they are started until their
response was written or dropped. A request for which there is no permit waits at its channel, and
nothing more is read from that channel meanwhile. Nothing else waits: the calling thread is never
blocked, so that it can continue to write responses, whichever thread returns permits.

A response waits while its channel is not writable, ``patience`` ticks at most, and is dropped then.
The channel is listed for as long again: a response that cannot be written to it meanwhile is
dropped at once. A server that is ``closing`` closes such a channel, so that its client learns of
it.

No clock, no connection, no threads: a driver reports events, and carries out the effects. A
call that raises has changed nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple

__all__ = ["Bookie", "BookieMisuse", "Do", "Effect", "Kind", "Limits", "Name"]

Name = int | str
"""The name of a request."""


class BookieMisuse(ValueError):
    """The driver broke a rule of the interface; nothing has changed.

    Usual causes: an unknown channel or request, a limit below zero, a batch from a
    channel that is paused.
    """


class Kind(Enum):
    """The kind of a request; each kind has its limit and its pool."""

    ADD = "add"
    READ = "read"


class Do(Enum):
    """An action for the driver, with a request or with a channel."""

    START = "start"         # give the request to storage
    REJECT = "reject"       # its response is an error: too many requests
    WRITE = "write"         # write its response
    DROP = "drop"           # forget its response
    PAUSE = "pause"         # read nothing more from the channel
    RESUME = "resume"
    CLOSE = "close"


class Effect(NamedTuple):
    """One thing to do: with the request of that name, or with the channel of that number, as the
    driver gave them."""

    do: Do
    name: Any


class Limits(NamedTuple):
    """``adds`` and ``reads`` in progress, where 0 is no limit; requests at storage of each kind
    (``pool``)."""

    adds: int
    reads: int
    pool: int


@dataclass
class _Request:
    name: Name
    kind: Kind
    channel: int
    waited: int = 0


@dataclass
class _Channel:
    decoded: deque[_Request] = field(default_factory=deque)
    unsent: list[_Request] = field(default_factory=list)
    writable: bool = True
    paused: bool = False
    listed: int = 0


class Bookie:
    """Requests are named by the driver; a name is never used twice."""

    def __init__(self, limits: Limits, patience: int = 1, *, closing: bool = False) -> None:
        _check("a limit", min(limits), 0)
        _check("a pool", limits.pool, 1)
        _check("a patience", patience, 0)
        self.limits: Final = limits
        self.patience: Final = patience
        self.closing: Final = closing
        self._channels: dict[int, _Channel] = {}
        self._in_progress = dict.fromkeys(Kind, 0)
        self._at_storage = dict.fromkeys(Kind, 0)
        self._storing: dict[Name, _Request] = {}
        self._lines: dict[Kind, deque[int]] = {kind: deque() for kind in Kind}
        self._effects: list[Effect] = []

    # -- queries of a driver ------------------------------------------------------------------

    def in_progress(self, kind: Kind) -> int:
        """Number of requests of a kind that are in progress."""
        return self._in_progress[kind]

    def is_reading(self, channel: int) -> bool:
        """True if the driver may read from a channel."""
        return channel in self._channels and not self._channels[channel].paused

    # -- events from a driver -----------------------------------------------------------------

    def connect(self, channel: int) -> None:
        """There is a new channel, which is writable."""
        if channel in self._channels:
            raise BookieMisuse(f"channel {channel} is there already")
        self._channels[channel] = _Channel()

    def receive(self, channel: int, requests: Iterable[tuple[Name, Kind]]) -> list[Effect]:
        """These requests were read from a channel at once, with their names."""
        at = self._channel(channel)
        if at.paused:
            raise BookieMisuse(f"channel {channel} is paused, and something was read from it")
        at.decoded.extend(_Request(name, kind, channel) for name, kind in requests)
        self._serve(channel)
        return self._all_effects()

    def done(self, request: Name) -> list[Effect]:
        """Storage has finished a request: its response is to be sent."""
        if request not in self._storing:
            raise BookieMisuse(f"request {request!r} is not at storage")
        done = self._storing.pop(request)
        self._at_storage[done.kind] -= 1
        self._answer(done)
        return self._all_effects()

    def turn(self, channel: int, writable: bool) -> list[Effect]:
        """A channel becomes writable, or stops being so."""
        at = self._channel(channel)
        at.writable = writable
        if writable:
            for request in self._unsent(at):
                self._write(request)
        return self._all_effects()

    def tick(self) -> list[Effect]:
        """A tick of time has passed."""
        for number, at in list(self._channels.items()):
            at.listed = max(0, at.listed - 1)
            for request in at.unsent:
                request.waited += 1
            if any(map(self._is_overdue, at.unsent)):
                self._give_up(number, at)
        return self._all_effects()

    def hang_up(self, channel: int) -> list[Effect]:
        """The client has closed a channel: its responses are not needed any more."""
        self._channel(channel)
        self._close(channel)
        return self._all_effects()

    # -- admission ----------------------------------------------------------------------------

    def _serve(self, channel: int) -> None:
        """Start the requests of a channel that have a permit; the first without one waits in a
        queue."""
        at = self._channels[channel]
        while at.decoded:
            if not self._may_start(at.decoded[0].kind):
                self._wait(channel, at)
                return
            self._start(at.decoded.popleft())
        if at.paused:
            self._resume(channel, at)

    def _wait(self, channel: int, at: _Channel) -> None:
        self._lines[at.decoded[0].kind].append(channel)
        if not at.paused:
            self._pause(channel, at)

    def _start(self, request: _Request) -> None:
        self._in_progress[request.kind] += 1
        if self._is_full(request.kind):
            self._effects.append(Effect(Do.REJECT, request.name))
            self._answer(request)
            return
        self._at_storage[request.kind] += 1
        self._storing[request.name] = request
        self._effects.append(Effect(Do.START, request.name))

    def _serve_lines(self) -> None:
        """Give returned permits to the waiting channels."""
        while kinds := [kind for kind in Kind if self._lines[kind] and self._has_permit(kind)]:
            channel = self._next_in(self._lines[kinds[0]])
            at = self._channels[channel]
            self._start(at.decoded.popleft())
            self._serve(channel)

    # -- responses ----------------------------------------------------------------------------

    def _answer(self, request: _Request) -> None:
        """Send a response, let it wait, or drop it."""
        at = self._channels.get(request.channel)
        if at is None:
            self._drop_to_closed(request)
        elif self._may_write(at):
            self._write(request)
        elif self._is_listed(at):
            self._drop(request)
        else:
            at.unsent.append(request)
            if self._is_overdue(request):
                self._give_up(request.channel, at)
            else:
                self._keep(request)

    def _write(self, request: _Request) -> None:
        self._channels[request.channel].listed = 0
        self._effects.append(Effect(Do.WRITE, request.name))
        self._finish(request)

    def _drop(self, request: _Request) -> None:
        self._effects.append(Effect(Do.DROP, request.name))
        self._finish(request)

    def _give_up(self, channel: int, at: _Channel) -> None:
        """A response to a channel has waited in vain: drop all that wait."""
        self._list(at)
        for request in self._unsent(at):
            self._drop(request)
        if self._closes(at):
            self._effects.append(Effect(Do.CLOSE, channel))
            self._close(channel)

    def _close(self, channel: int) -> None:
        closed = self._channels.pop(channel)
        self._leave_lines(channel)
        for request in closed.unsent:
            self._drop_to_closed(request)

    def _unsent(self, at: _Channel) -> list[_Request]:
        unsent, at.unsent = at.unsent, []
        return unsent

    # -- decisions ----------------------------------------------------------------------------

    def _has_permit(self, kind: Kind) -> bool:
        limit = self._limit(kind)
        return limit == 0 or self._in_progress[kind] < limit

    def _limit(self, kind: Kind) -> int:
        return self.limits.adds if kind is Kind.ADD else self.limits.reads

    def _may_start(self, kind: Kind) -> bool:
        # Behind the channels that wait already.
        return self._has_permit(kind) and not self._lines[kind]

    def _next_in(self, line: deque[int]) -> int:
        return line.popleft()

    def _leave_lines(self, channel: int) -> None:
        for line in self._lines.values():
            if channel in line:
                line.remove(channel)

    def _is_full(self, kind: Kind) -> bool:
        return self._at_storage[kind] >= self.limits.pool

    def _pause(self, channel: int, at: _Channel) -> None:
        at.paused = True
        self._effects.append(Effect(Do.PAUSE, channel))

    def _resume(self, channel: int, at: _Channel) -> None:
        at.paused = False
        self._effects.append(Effect(Do.RESUME, channel))

    def _may_write(self, at: _Channel) -> bool:
        return at.writable

    def _is_listed(self, at: _Channel) -> bool:
        return at.listed > 0

    def _is_overdue(self, request: _Request) -> bool:
        return request.waited >= self.patience

    def _list(self, at: _Channel) -> None:
        at.listed = self.patience

    def _closes(self, at: _Channel) -> bool:
        return self.closing

    def _keep(self, request: _Request) -> None:
        """A waiting response is still in progress."""

    def _drop_to_closed(self, request: _Request) -> None:
        self._drop(request)

    def _finish(self, request: _Request) -> None:
        self._in_progress[request.kind] -= 1

    # -- helpers ------------------------------------------------------------------------------

    def _channel(self, channel: int) -> _Channel:
        if channel not in self._channels:
            raise BookieMisuse(f"there is no channel {channel}")
        return self._channels[channel]

    def _all_effects(self) -> list[Effect]:
        self._serve_lines()
        effects, self._effects = self._effects, []
        return effects


def _check(what: str, number: int, least: int) -> None:
    if type(number) is not int or number < least:
        raise BookieMisuse(f"{what} is an integer from {least} up, not {number!r}")
