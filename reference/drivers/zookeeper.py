"""The coordination port over a real ZooKeeper, through kazoo. Times are real.

Each session has a client of kazoo's, with a thread of its own. Three things differ from the port,
and are made up for here:

- kazoo hands replies and events to different threads, so their order is lost. ``_InOrder`` has
  both handled in the thread that reads the socket, one after the other.
- kazoo forgets all watches when a connection is lost. Here they are remembered; at the next
  connection each is set again by a read, and what that shows to have been missed is told. What
  was asked meanwhile goes to the server after that.
- kazoo begins another session by itself when one has expired. Here that is the end of a session:
  whoever wants another opens it.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self

from kazoo import exceptions
from kazoo.client import KazooClient, KazooState
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import _CONNECTION_DROP
from kazoo.protocol.states import EventType, WatchedEvent, ZnodeStat

from ..coordination import terms
from ..coordination.port import Loss
from ..coordination.terms import Delivery, Operation, Request, Result
from ..coordination.tree import check_paths
from ..coordination.watches import About, Watch, missed, watch_of, watched_by

__all__ = ["SILENT", "Restartable", "ZooKeeperCoordination", "ZooKeeperMisuse", "stat_of"]

RETRY_SECONDS = 0.05
"""How long a client waits before it tries to connect again."""

SILENT = logging.getLogger(__name__)
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
"""The log of kazoo's clients: that a connection was lost is told by the port."""

_KINDS = {
    EventType.CREATED: terms.Kind.CREATED, EventType.DELETED: terms.Kind.DELETED,
    EventType.CHANGED: terms.Kind.CHANGED, EventType.CHILD: terms.Kind.CHILDREN,
}


class ZooKeeperMisuse(ValueError):
    """There is no such open session, a timeout is below 1 ms, or no server was given to stop."""


class Restartable(Protocol):
    """A server that can be killed, and started again where it was."""

    def kill(self) -> None:
        """End it at once; it cannot prepare for that."""
        ...

    def start(self) -> object:
        """Start it with what it had, and wait until it serves."""
        ...


class _AtOnce:
    """In the place of a queue: what is put into it is done there and then."""

    def put(self, what: Callable[[], object]) -> None:
        what()


class _InOrder(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """Has replies and watches handled in the order in which they come, without more threads.

    While there are ``obstacles``, the client does nothing: neither reads nor says that it lives.
    """

    def __init__(self) -> None:
        super().__init__()
        self.callback_queue = self.completion_queue = _AtOnce()
        self.obstacles: set[str] = set()
        self._socket: socket.socket | None = None
        self._given_up: socket.socket | None = None
        self._is_free = threading.Event()
        self._is_free.set()

    def hinder(self, obstacle: str) -> None:
        self.obstacles.add(obstacle)
        self._is_free.clear()

    def free(self, obstacle: str) -> None:
        self.obstacles.discard(obstacle)
        if not self.obstacles:
            self._is_free.set()

    def create_connection(self, *args: Any, **kwargs: Any) -> Any:
        self._socket = super().create_connection(*args, **kwargs)
        return self._socket

    def knock(self) -> None:
        """Give up the connection of now: a server does not answer whoever came too early."""
        self._given_up = self._socket
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    @property
    def is_given_up(self) -> bool:
        """Whether the connection of now is one that was given up: it ends, whatever it says."""
        return self._socket is not None and self._socket is self._given_up

    def select(self, *args: Any, **kwargs: Any) -> Any:
        self._is_free.wait()
        ready = super().select(*args, **kwargs)
        self._is_free.wait()
        return ready

    def start(self) -> None:
        self._running = True

    def stop(self) -> None:
        self._running = False


@dataclass(frozen=True)
class _Done:
    """What the server has carried out, whether its client hears of it or not."""

    request: Request
    result: Result


class _Session:
    """One session. kazoo's thread calls whatever begins with ``_heard``."""

    def __init__(self, hosts: str, timeout: int, tell: Callable[[Delivery | _Done], object],
                 ) -> None:
        self._tell = tell
        self._lock = threading.RLock()
        self._is_connected = self.is_over = self._was_stopped = False
        self._numbers = 0
        self._held: list[tuple[int, Request]] = []
        self._asked: dict[int, Request] = {}    # no reply yet, in order
        self.losses: list[Loss] = []
        self._armed: dict[Watch, bool] = {}     # whether the znode existed
        self._seen = 0
        self.handler = _InOrder()
        self.client = KazooClient(
            hosts, timeout=timeout / 1000, handler=self.handler,
            logger=SILENT, connection_retry={"max_tries": -1, "delay": RETRY_SECONDS, "backoff": 1})
        self.client.add_listener(self._heard_state)
        self.client.start_async()

    def submit(self, request: Request) -> int:
        """Ask now, or when there is a connection: the number of the reply."""
        with self._lock:
            number = self._numbers
            self._numbers += 1
            if self.is_over:
                self._tell(terms.Reply(number, terms.SessionExpired()))
            elif self._is_connected:
                self._ask(number, request)
            else:
                self._held.append((number, request))
            return number

    def stop(self) -> None:
        """Close the session and give back what the client holds; once.

        One that has expired is closed as well: kazoo begins another session by itself.
        """
        for obstacle in tuple(self.handler.obstacles):
            self.handler.free(obstacle)
        with self._lock:
            if self._was_stopped:
                return
            self._was_stopped = self.is_over = True
        self.client.stop()
        self.client.close()

    def try_again(self) -> None:
        """Connect now, if there is no connection."""
        with self._lock:
            if not self._is_connected:
                self.handler.knock()

    # -- the connection -----------------------------------------------------------------------

    def _heard_state(self, state: str) -> None:
        with self._lock:
            if self.is_over:
                return
            if state == KazooState.CONNECTED:
                # The server may have answered just when the connection was given up. What is
                # sent over it now would be lost, so the session waits for the next one.
                if not self.handler.is_given_up:
                    self._connected()
            elif state == KazooState.SUSPENDED:
                self._disconnected()
            else:
                self._expired()

    def _connected(self) -> None:
        self._is_connected = True
        self._tell(terms.Connected(self.client.client_id[0]))
        armed, self._armed = self._armed, {}
        for watch, existed in armed.items():
            asked = self.client.get_children_async if watch.about is About.CHILDREN \
                else self.client.exists_async
            more = {"include_data": True} if watch.about is About.CHILDREN else {}
            self._armed[watch] = existed
            asked(watch.path, watch=partial(self._heard_event, watch), **more).rawlink(
                partial(self._heard_again, watch, self._seen))
        held, self._held = self._held, []
        for number, request in held:
            self._ask(number, request)

    def _heard_again(self, watch: Watch, seen: int, answer: Any) -> None:
        """A watch was set again: tell what was missed, which uses it up."""
        with self._lock:
            if watch not in self._armed or isinstance(answer.exception, _LOST):
                return      # the next connection sets it again
            if answer.exception is not None or answer.value is None:
                stat = None
            else:
                stat = stat_of(answer.value[1] if watch.about is About.CHILDREN else answer.value)
            kind = missed(watch, stat, seen, self._armed[watch])
            if kind is not None:
                self._fire(terms.Event(kind, watch.path))

    def _disconnected(self) -> None:
        if self._is_connected:
            self._is_connected = False
            self._seen = self.client.last_zxid
            self._tell(terms.Disconnected())
            for number in self._asked:
                self._tell(terms.Reply(number, terms.ConnectionLost()))
            self._asked.clear()

    def _expired(self) -> None:
        self._disconnected()
        self.is_over = True
        self._tell(terms.Expired())
        for number, _ in self._held:
            self._tell(terms.Reply(number, terms.SessionExpired()))
        self._held.clear()
        # kazoo's own thread cannot wait for its own end.
        threading.Thread(target=self.stop, daemon=True).start()

    # -- requests -----------------------------------------------------------------------------

    def _ask(self, number: int, request: Request) -> None:
        self._asked[number] = request
        if self.losses and self.losses[0] is Loss.REQUEST:
            self.losses.pop(0)
            self._drop()
        else:
            self._call(request).rawlink(partial(self._heard_reply, number, request))

    def _drop(self) -> None:
        """Break the connection: from now on nothing that comes over it counts."""
        self._disconnected()
        self.client._call(_CONNECTION_DROP, self.client.handler.async_result())

    def _call(self, request: Request) -> Any:
        if isinstance(request, terms.Multi):
            transaction = self.client.transaction()
            for operation in request.operations:
                _add(transaction, operation)
            return transaction.commit_async()
        if isinstance(request, terms.Create):
            return self.client.create_async(
                request.path, request.data, ephemeral=request.ephemeral,
                sequence=request.sequential, include_data=True)
        if isinstance(request, terms.Write):
            return self.client.set_async(request.path, request.data, request.version)
        if isinstance(request, terms.Delete):
            return self.client.delete_async(request.path, request.version)
        assert isinstance(request, terms.Read | terms.Children | terms.Exists)
        return self._read(request)

    def _read(self, request: terms.Read | terms.Children | terms.Exists) -> Any:
        if isinstance(request, terms.Children):
            watch = partial(self._heard_event, Watch(About.CHILDREN, request.path))
            return self.client.get_children_async(
                request.path, watch=watch if request.watch else None, include_data=True)
        watch = partial(self._heard_event, Watch(About.DATA, request.path))
        ask = self.client.get_async if isinstance(request, terms.Read) else self.client.exists_async
        return ask(request.path, watch=watch if request.watch else None)

    def _heard_reply(self, number: int, request: Request, answer: Any) -> None:
        with self._lock:
            result = _result(request, answer)
            if not isinstance(result, terms.ConnectionLost | terms.SessionExpired):
                self._tell(_Done(request, result))
            if number not in self._asked:
                return      # it was said to be lost
            if isinstance(result, terms.ConnectionLost):
                self._disconnected()        # kazoo tells of it after this
                return
            if self.losses and self.losses[0] is Loss.REPLY:
                self.losses.pop(0)
                self._drop()
                return
            del self._asked[number]
            if isinstance(request, terms.Read | terms.Children | terms.Exists) and isinstance(
                    result, terms.Data | terms.Listed | terms.Found | terms.NoNode):
                watch = watch_of(request, result)
                if watch is not None:
                    self._armed[watch] = getattr(result, "stat", None) is not None
            self._tell(terms.Reply(number, result))

    def _heard_event(self, watch: Watch, event: WatchedEvent) -> None:
        with self._lock:
            if event.type in _KINDS and watch in self._armed and self._is_connected:
                self._fire(terms.Event(_KINDS[event.type], event.path))

    def _fire(self, event: terms.Event) -> None:
        """Tell of an event once, though two watches may have seen it."""
        for watch in watched_by(event):
            self._armed.pop(watch, None)
        self._tell(event)


class ZooKeeperCoordination:
    """The port over the servers ``hosts`` (``host:port``, with commas). Use it as a context.

    ``server`` is what ``stop`` and ``restart`` are about. ``record`` is told, while somebody
    collects, of every request that the server has answered, also where the reply is said to be
    lost; by which handle, and with which result.
    """

    def __init__(self, hosts: str, server: Restartable | None = None,
                 record: Callable[[int, Request, Result], object] = lambda *_: None) -> None:
        self._hosts, self._server, self._record = hosts, server, record
        self._sessions: list[_Session] = []
        self._closed: set[int] = set()
        self._inbox: queue.SimpleQueue[tuple[int, Delivery | _Done]] = queue.SimpleQueue()

    def open(self, timeout: int) -> int:
        """See ``Coordination.open``; the server may make the timeout longer or shorter."""
        if type(timeout) is not int or timeout < 1:
            raise ZooKeeperMisuse(f"a timeout is an integer from 1 ms up, not {timeout!r}")
        handle = len(self._sessions)
        self._sessions.append(_Session(
            self._hosts, timeout, lambda told: self._inbox.put((handle, told))))
        return handle

    def close(self, handle: int) -> None:
        """See ``Coordination.close``; waits until the server has heard of it."""
        session = self._session(handle)
        self._closed.add(handle)
        session.stop()

    def submit(self, handle: int, request: Request) -> int:
        check_paths(request)
        return self._session(handle).submit(request)

    def collect(self, within: int = 0) -> list[tuple[int, Delivery]]:
        until = time.monotonic() + within / 1000
        found: list[tuple[int, Delivery]] = []
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                handle, told = self._inbox.get(timeout=0 if found else left)
            except queue.Empty:
                if found or left == 0:
                    return found
                continue
            if isinstance(told, _Done):
                self._record(handle, told.request, told.result)
            elif handle not in self._closed:
                found.append((handle, told))

    # -- faults -------------------------------------------------------------------------------

    def expire(self, handle: int) -> None:
        """See ``Coordination.expire``: a second client takes the session over, and closes it.

        The first one stands still meanwhile: if it connected again, it would take the session back.
        """
        session = self._any_session(handle)
        if session.is_over or session.client.client_id is None:
            return
        session.handler.hinder("expire")
        try:
            client = KazooClient(self._hosts, client_id=session.client.client_id, logger=SILENT)
            client.start()
            client.stop()
            client.close()
        finally:
            session.handler.free("expire")

    def pause(self, handle: int) -> None:
        """See ``FaultyCoordination.pause``: the client's thread waits."""
        self._any_session(handle).handler.hinder("pause")

    def resume(self, handle: int) -> None:
        self._any_session(handle).handler.free("pause")

    def partition(self, handle: int) -> None:
        """See ``FaultyCoordination.partition``: as with a pause, the client does not notice."""
        self._any_session(handle).handler.hinder("partition")

    def heal(self, handle: int) -> None:
        self._any_session(handle).handler.free("partition")

    def lose(self, handle: int, loss: Loss) -> None:
        self._any_session(handle).losses.append(loss)

    def stop(self) -> None:
        """Kill the server; see ``FaultyCoordination.stop``."""
        self._need_server().kill()

    def restart(self) -> None:
        """Start the server again; see ``FaultyCoordination.restart``."""
        self._need_server().start()
        for session in self._sessions:
            session.try_again()

    # -- its end ------------------------------------------------------------------------------

    def shut(self) -> None:
        """Close all sessions; nothing can be done with it after that."""
        for session in self._sessions:
            session.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.shut()

    def _any_session(self, handle: int) -> _Session:
        if not 0 <= handle < len(self._sessions):
            raise ZooKeeperMisuse(f"there is no session {handle!r}")
        return self._sessions[handle]

    def _session(self, handle: int) -> _Session:
        if handle in self._closed:
            raise ZooKeeperMisuse(f"session {handle!r} was closed")
        return self._any_session(handle)

    def _need_server(self) -> Restartable:
        if self._server is None:
            raise ZooKeeperMisuse("no server was given that could be stopped")
        return self._server


# -- kazoo's words and the port's -----------------------------------------------------------------

_LOST = (exceptions.ConnectionLoss, exceptions.ConnectionClosedError,
         exceptions.OperationTimeoutError, exceptions.SessionMovedError)


def _add(transaction: Any, operation: Operation) -> None:
    if isinstance(operation, terms.Create):
        transaction.create(operation.path, operation.data, ephemeral=operation.ephemeral,
                           sequence=operation.sequential)
    elif isinstance(operation, terms.Write):
        transaction.set_data(operation.path, operation.data, operation.version)
    elif isinstance(operation, terms.Delete):
        transaction.delete(operation.path, operation.version)
    else:
        transaction.check(operation.path, operation.version)


def stat_of(stat: ZnodeStat) -> terms.Stat:
    """What a znode says of itself, in the port's words."""
    return terms.Stat(stat.czxid, stat.mzxid, stat.pzxid, stat.version, stat.cversion,
                      stat.ephemeralOwner, stat.numChildren)


def _result(request: Request, answer: Any) -> Result:
    """The result of a request, from kazoo's asynchronous one."""
    if answer.exception is not None:
        return _failure(request, answer.exception)
    value = answer.value
    if isinstance(request, terms.Multi):
        return _committed(request, value)
    if isinstance(request, terms.Create):
        return terms.Created(value[0], stat_of(value[1]))
    if isinstance(request, terms.Write):
        return terms.Written(stat_of(value))
    if isinstance(request, terms.Delete):
        return terms.Deleted()
    if isinstance(request, terms.Read):
        return terms.Data(value[0], stat_of(value[1]))
    if isinstance(request, terms.Children):
        return terms.Listed(tuple(sorted(value[0])), stat_of(value[1]))
    return terms.Found(value and stat_of(value))


def _committed(request: terms.Multi, values: list[Any]) -> terms.Committed | terms.RolledBack:
    after = (exceptions.RolledBackError, exceptions.RuntimeInconsistency)
    done: list[terms.Created | terms.Written | terms.Deleted | terms.Checked] = []
    for part, (operation, value) in enumerate(zip(request.operations, values, strict=True)):
        if isinstance(value, Exception) and not isinstance(value, after):
            return terms.RolledBack(part, _refusal(operation.path, value))
        if isinstance(operation, terms.Create):
            done.append(terms.Created(str(value), None))
        elif isinstance(operation, terms.Write) and isinstance(value, ZnodeStat):
            done.append(terms.Written(stat_of(value)))
        else:
            done.append(terms.Checked() if isinstance(operation, terms.Check) else terms.Deleted())
    return terms.Committed(tuple(done))


def _failure(request: Request, error: Exception) -> Result:
    if isinstance(error, _LOST):
        return terms.ConnectionLost()
    if isinstance(error, exceptions.SessionExpiredError):
        return terms.SessionExpired()
    assert not isinstance(request, terms.Multi), error
    return _refusal(request.path, error)


_Refusal = (terms.NodeExists | terms.NoNode | terms.BadVersion | terms.NotEmpty
            | terms.EphemeralParent)


def _refusal(path: str, error: Exception) -> _Refusal:
    kinds: tuple[tuple[type[Exception], Callable[[str], _Refusal]], ...] = (
        (exceptions.NodeExistsError, terms.NodeExists), (exceptions.NoNodeError, terms.NoNode),
        (exceptions.BadVersionError, terms.BadVersion), (exceptions.NotEmptyError, terms.NotEmpty),
        (exceptions.NoChildrenForEphemeralsError, terms.EphemeralParent))
    for kind, word in kinds:
        if isinstance(error, kind):
            return word(path)
    raise error
