"""The coordination service in virtual time: clients, connections that fail, one server.

Theory of operation
-------------------
Time moves only in ``advance``. Whatever is due is done in the order of its instants; what is due
at the same instant, in the order of the handles. Delays are drawn from a function of the
caller's, so one seed gives one run.

Each client has a connection, a FIFO either way. While it is up the client is heard, and its
session lives. Silence has two causes. A client that is cut off (``partition``) cannot be
reached, but its clock continues: it gives the connection up when it has heard nothing for two
thirds of the timeout, and tries again until ``heal``. A client that is paused does nothing at
all: arriving messages wait, and it finds out how long it slept when it is resumed. Meanwhile the
server counts: a session that was silent for its timeout is over, whatever the cause of the silence.

So between its expiry and its next contact with the server a client does not know that its session
is over. Every stale leader comes from that gap; it is here in full length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ..links import Link
from .port import Loss, Transaction
from .server import Server
from .terms import (
    Connected, ConnectionLost, Data, Delivery, Disconnected, Event, Expired,
    Found, Listed, NoNode, Read, Reading, Reply, Request, Result, SessionExpired, Stat,
)
from .tree import check_paths
from .watches import Watch, watch_of, watched_by

__all__ = ["CoordinationMisuse", "InMemory", "Loss", "Transaction"]


class CoordinationMisuse(ValueError):
    """There is no such session, it was closed, time went back, or a timeout is below 1 ms."""


class _State(Enum):
    CONNECTING = "connecting"
    CONNECTED = "connected"
    OVER = "over"


@dataclass(frozen=True)
class _Close:
    """The last thing that a client sends."""


@dataclass
class _Client:
    """A client's knowledge, and its connection. Times are None if nothing is to happen."""

    timeout: int
    up: Link[tuple[int, Request] | _Close]
    down: Link[tuple[int, Reply | Event]]       # each with the zxid at which it was sent
    state: _State = _State.CONNECTING
    session: int = 0
    connect_at: int | None = None
    asked: dict[int, Request] = field(default_factory=dict)     # no reply yet, in order
    armed: dict[Watch, bool] = field(default_factory=dict)      # whether the znode existed
    seen: int = 0
    numbers: int = 0
    is_closed: bool = False
    is_cut_off: bool = False
    is_paused: bool = False
    quiet_since: int | None = None      # since when it hears nothing
    deadline: int | None = None         # when its session expires; kept by the server
    boot: int = 0                       # in which life of the server the connection was made
    next: int | None = None             # when there is something to do for it, as last worked out …
    is_changed: bool = True             # … unless it has changed since
    losses: list[Loss] = field(default_factory=list)

    @property
    def patience(self) -> int:
        """Time without a message after which it gives its connection up, in ms."""
        return self.timeout * 2 // 3

    @property
    def is_silent(self) -> bool:
        return self.is_cut_off or self.is_paused


def _earlier(one: int | None, other: int | None) -> int | None:
    """The earlier of two instants, either of which may be never."""
    if one is None or other is None:
        return other if one is None else one
    return one if one <= other else other


class InMemory:
    """An implementation of the coordination port, and of all its faults, in virtual time.

    ``delay`` draws how long a message is on its way, in ms, and how long a client waits before
    it connects again. ``record`` receives every transaction, also those that fail.
    """

    def __init__(self, delay: Callable[[], int] = lambda: 1,
                 record: Callable[[Transaction], object] = lambda _: None) -> None:
        self.now = 0
        self.server = Server()
        self.is_running = True
        self._delay, self._record = delay, record
        self._boot = 0
        self._clients: list[_Client] = []
        self._by_session: dict[int, int] = {}
        self._inbox: list[tuple[int, Delivery]] = []
        self._next: int | None = None
        self._is_next_known = False

    # -- the port -----------------------------------------------------------------------------

    def open(self, timeout: int) -> int:
        if type(timeout) is not int or timeout < 1:
            raise CoordinationMisuse(f"a timeout is an integer from 1 ms up, not {timeout!r}")
        self._clients.append(_Client(timeout, Link(self._delay), Link(self._delay)))
        handle = len(self._clients) - 1
        self._client(handle).connect_at = self.now + self._delay()
        return handle

    def close(self, handle: int) -> None:
        """See ``Coordination.close``. Without a connection the session is left to expire."""
        client = self._open_client(handle)
        client.is_closed = True
        self._inbox = [(whose, told) for whose, told in self._inbox if whose != handle]
        if client.state is _State.CONNECTED:
            client.up.send(self.now, _Close())
        else:
            client.state, client.connect_at = _State.OVER, None

    def submit(self, handle: int, request: Request) -> int:
        check_paths(request)
        client = self._open_client(handle)
        number = client.numbers
        client.numbers += 1
        client.asked[number] = request
        if client.state is _State.CONNECTED:
            client.up.send(self.now, (number, request))
        elif client.state is _State.OVER:
            self._answer_all(handle, SessionExpired())
        return number

    def collect(self, within: int = 0) -> list[tuple[int, Delivery]]:
        """See ``Coordination.collect``; waiting is a jump of the virtual time."""
        if not within and not self._inbox and (
                (instant := self.next_instant()) is None or instant > self.now):
            return []       # it is asked after every event of a cluster, mostly for nothing
        until = self.now + within
        while not self._inbox:
            instant = self.next_instant()
            if instant is None or instant > until:
                self.advance(until)
                break
            self.advance(max(self.now, instant))
        collected, self._inbox = self._inbox, []
        return collected

    @property
    def may_deliver(self) -> bool:
        """See ``TimedCoordination``: unless a call came since it was last looked at."""
        return bool(self._inbox) or not self._is_next_known

    # -- time ---------------------------------------------------------------------------------

    def advance(self, now: int) -> None:
        """Let everything happen that is due until ``now``, which is included."""
        if now < self.now:
            raise CoordinationMisuse(f"time does not go back from {self.now} to {now}")
        while (instant := self.next_instant()) is not None and instant <= now:
            self._is_next_known = False
            self.now = max(self.now, instant)
            for handle in range(len(self._clients)):
                client = self._clients[handle]
                when = self._next_of(client) if client.is_changed else client.next
                if when is not None and when <= self.now:
                    self._run_server_for(handle)
                    self._run_client(handle)
                    client.is_changed = True
            self._is_next_known = False  # a receiver of a transaction may have submitted a request
        self.now = now

    def next_instant(self) -> int | None:
        """The next instant at which something is due; None: never, without a further call.

        It is asked for much more often than anything changes.
        """
        if not self._is_next_known:
            least: int | None = None
            for client in self._clients:
                when = self._next_of(client) if client.is_changed else client.next
                if when is not None and (least is None or when < least):
                    least = when
            self._next, self._is_next_known = least, True
        return self._next

    def _next_of(self, client: _Client) -> int | None:
        """When the server or the client has something to do next for this one, if ever.

        It is worked out once for each change of the client.
        """
        client.is_changed = False
        client.next = self._next_worked_out(client)
        return client.next

    def _next_worked_out(self, client: _Client) -> int | None:
        least = client.deadline if self.is_running else None
        if client.state is _State.CONNECTED:
            if client.up and self._reaches_server(client):
                least = _earlier(least, client.up.next_arrival())
            if not client.is_paused and not client.is_closed:
                if client.quiet_since is not None:
                    least = _earlier(least, client.quiet_since + client.patience)
                if client.down and not client.is_cut_off:
                    least = _earlier(least, client.down.next_arrival())
        if client.connect_at is not None and self.is_running and not (
                client.is_paused or client.is_cut_off):
            least = _earlier(least, client.connect_at)
        return least

    # -- the server's side --------------------------------------------------------------------

    def _run_server_for(self, handle: int) -> None:
        client = self._clients[handle]
        if client.deadline is not None and client.deadline <= self.now and self.is_running:
            self._end_session(handle)
        while self._reaches_server(client):
            when = client.up.next_arrival()
            if when is None or when > self.now:
                return
            self._serve(handle, client.up.take())

    def _reaches_server(self, client: _Client) -> bool:
        return (self.is_running and client.boot == self._boot and not client.is_cut_off
                and client.state is _State.CONNECTED)

    def _serve(self, handle: int, sent: tuple[int, Request] | _Close) -> None:
        client = self._clients[handle]
        if isinstance(sent, _Close):
            client.state = _State.OVER
            self._end_session(handle)
            return
        number, request = sent
        loss = client.losses.pop(0) if client.losses else None
        if loss is Loss.REQUEST:
            self._break(handle)
            return
        result, told = self.server.handle(client.session, request)
        if not isinstance(request, Reading):
            self._record(Transaction(self.now, handle, request, result))
        self._tell(told)
        if loss is Loss.REPLY:
            self._break(handle)
            return
        client.down.send(self.now, (self.server.zxid, Reply(number, result)))

    def _tell(self, told: list[tuple[int, Event]]) -> None:
        for session, event in told:
            client = self._clients[self._by_session[session]]
            client.is_changed = True
            client.down.send(self.now, (self.server.zxid, event))

    def _end_session(self, handle: int) -> None:
        client = self._clients[handle]
        client.deadline = None
        self._tell(self.server.end(client.session))
        self._notice_death(handle)

    # -- the client's side --------------------------------------------------------------------

    def _run_client(self, handle: int) -> None:
        client = self._clients[handle]
        if client.is_paused:
            return
        if client.connect_at is not None and client.connect_at <= self.now \
                and self.is_running and not client.is_cut_off:
            self._connect(handle)
        if client.state is not _State.CONNECTED or client.is_closed:
            return
        if client.quiet_since is not None and client.quiet_since + client.patience <= self.now:
            self._break(handle)
        elif not client.is_cut_off:
            for zxid, told in client.down.arrived(self.now):
                self._hear(handle, zxid, told)

    def _connect(self, handle: int) -> None:
        client = self._clients[handle]
        client.connect_at, client.boot = None, self._boot
        if client.session == 0:
            client.session = self.server.open()
            self._by_session[client.session] = handle
        elif client.session not in self.server.sessions:
            client.state = _State.OVER
            self._inbox.append((handle, Expired()))
            self._answer_all(handle, SessionExpired())
            return
        client.state, client.deadline = _State.CONNECTED, None
        self._inbox.append((handle, Connected(client.session)))
        self._tell(self.server.watch_again(client.session, client.armed.items(), client.seen))
        for number, request in client.asked.items():
            client.up.send(self.now, (number, request))

    def _hear(self, handle: int, zxid: int, told: Reply | Event) -> None:
        client = self._clients[handle]
        client.seen = max(client.seen, zxid)
        if isinstance(told, Event):
            for watch in watched_by(told):
                client.armed.pop(watch, None)
        else:
            self._arm(client, client.asked.pop(told.number), told.result)
        self._inbox.append((handle, told))

    def _arm(self, client: _Client, request: Request, result: Result) -> None:
        if not isinstance(request, Reading):
            return
        assert isinstance(result, Data | Listed | Found | NoNode)
        watch = watch_of(request, result)
        if watch is not None:
            client.armed[watch] = not isinstance(result, Found) or result.stat is not None

    def _break(self, handle: int) -> None:
        """The connection is gone, and both ends know it."""
        client = self._clients[handle]
        client.up.cut()
        client.down.cut()
        self.server.forget(client.session)
        if client.deadline is None and client.session in self.server.sessions and self.is_running:
            client.deadline = self.now + client.timeout
        if client.is_closed:
            client.state = _State.OVER
            return
        client.state, client.quiet_since = _State.CONNECTING, None
        client.connect_at = self.now + self._delay()
        self._inbox.append((handle, Disconnected()))
        self._answer_all(handle, ConnectionLost())

    def _answer_all(self, handle: int, result: Result) -> None:
        client = self._clients[handle]
        self._inbox += [(handle, Reply(number, result)) for number in client.asked]
        client.asked.clear()

    def _notice_death(self, handle: int) -> None:
        """Break a connection that leads nowhere, if its client can notice."""
        client = self._clients[handle]
        alive = (self.is_running and client.boot == self._boot
                 and client.session in self.server.sessions)
        if client.state is _State.CONNECTED and not client.is_silent and not alive:
            self._break(handle)

    # -- faults -------------------------------------------------------------------------------

    def expire(self, handle: int) -> None:
        """See ``FaultyCoordination.expire``; a session that is over already stays so."""
        if self._client(handle).session in self.server.sessions:
            self._end_session(handle)

    def lose(self, handle: int, loss: Loss) -> None:
        """Let the connection break at the next request (or the next but one, if called twice)."""
        self._client(handle).losses.append(loss)

    def cut(self, handle: int) -> None:
        """Break the connection now; what is under way either way is lost."""
        if self._client(handle).state is _State.CONNECTED:
            self._break(handle)

    def partition(self, handle: int) -> None:
        """From now on no message gets through, either way; those under way wait."""
        self._client(handle).is_cut_off = True
        self._falls_silent(handle)

    def heal(self, handle: int) -> None:
        """The network is there again."""
        self._client(handle).is_cut_off = False
        self._speaks_again(handle)

    def pause(self, handle: int) -> None:
        """The client's process is halted, as in a long garbage collection."""
        self._client(handle).is_paused = True
        self._falls_silent(handle)

    def resume(self, handle: int) -> None:
        """The process continues; its client looks at the clock first."""
        client = self._client(handle)
        client.is_paused = False
        slept_too_long = (client.quiet_since is not None
                          and self.now - client.quiet_since >= client.patience)
        if client.state is _State.CONNECTED and slept_too_long:
            self._break(handle)
        self._speaks_again(handle)

    def _falls_silent(self, handle: int) -> None:
        client = self._clients[handle]
        if client.quiet_since is None:
            client.quiet_since = self.now
        if client.deadline is None and client.session in self.server.sessions and self.is_running:
            client.deadline = self.now + client.timeout

    def _speaks_again(self, handle: int) -> None:
        client = self._clients[handle]
        if client.is_silent:
            return
        client.quiet_since = None
        if client.state is _State.CONNECTED:
            client.deadline = None
        elif client.connect_at is not None:
            client.connect_at = max(client.connect_at, self.now + self._delay())
        self._notice_death(handle)

    def stop(self) -> None:
        self.is_running = self._is_next_known = False
        for handle, client in enumerate(self._clients):
            client.is_changed, client.deadline = True, None
            self.server.forget(client.session)
            self._notice_death(handle)

    def restart(self) -> None:
        self.is_running, self._is_next_known = True, False
        self._boot += 1
        for client in self._clients:
            client.is_changed = True
            if client.session in self.server.sessions:
                client.deadline = self.now + client.timeout
            if client.connect_at is not None:
                client.connect_at = max(client.connect_at, self.now + self._delay())

    # -- inspection ---------------------------------------------------------------------------

    def peek(self, path: str) -> tuple[bytes, Stat] | None:
        """The contents of a znode at the server now, without a session: for tests and judges."""
        found = self.server.tree.read(Read(path))
        return (found.data, found.stat) if isinstance(found, Data) else None

    def is_alive(self, handle: int) -> bool:
        """True if the server still knows the session, whatever its client believes."""
        return self._at(handle).session in self.server.sessions

    def _client(self, handle: int) -> _Client:
        """A client; the caller may change what is due next for it."""
        self._is_next_known = False
        client = self._at(handle)
        client.is_changed = True
        return client

    def _at(self, handle: int) -> _Client:
        if not 0 <= handle < len(self._clients):
            raise CoordinationMisuse(f"there is no session {handle!r}")
        return self._clients[handle]

    def _open_client(self, handle: int) -> _Client:
        client = self._client(handle)
        if client.is_closed:
            raise CoordinationMisuse(f"session {handle!r} was closed")
        return client
