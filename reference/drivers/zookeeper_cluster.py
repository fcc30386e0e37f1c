"""A real ZooKeeper under a cluster in virtual time: its server keeps sessions, znodes and watches.

``InMemory`` has clients, connections and faults in virtual time, and one server that carries out
one request at a time. Here that server is a real one: each request is carried out there at its
instant, by a session of its own, while virtual time stands still. A session that expires in virtual
time is made to expire at the server; where the service is stopped, its process is killed.

A real server fires watches on its own. A client is told of an event before it sees a reply to what
it asks later, so after each write every session asks something: then all events have come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..coordination.memory import InMemory, Transaction
from ..coordination.server import Server
from ..coordination.terms import (
    Children, Connected, Data, Delivery, Event, Exists, Expired, Found, Listed, NoNode, Read, Reply,
    Request, Result, SessionExpired, Stat,
)
from ..coordination.watches import About, Watch, missed
from .zookeeper import ZooKeeperCoordination

__all__ = ["RealServer", "RealService", "ServiceSilent"]

SESSION_MS = 40_000
"""The timeout of a real session: none expires by itself in a run."""

WAIT_MS = 20_000
"""How long a real server may take for one answer."""

_Told = list[tuple[int, Event]]


class ServiceSilent(RuntimeError):
    """The real server has not answered in time."""


class _Tree:
    """What stands in the place of the tree: reading, by a session that watches nothing."""

    def __init__(self, read: Callable[[Request], Result]) -> None:
        self._read = read

    def read(self, request: Read | Children | Exists) -> Data | Listed | Found | NoNode:
        """What a reading request gives now."""
        found = self._read(request)
        assert isinstance(found, Data | Listed | Found | NoNode)
        return found


class RealServer(Server):
    """``Server``, over a real one."""

    def __init__(self, driver: ZooKeeperCoordination) -> None:
        self.driver = driver
        self.zxid = 0
        self.sessions: set[int] = set()
        self._handles: dict[int, int] = {}
        self._deaf: set[int] = set()
        self._told: _Told = []
        self._own = self._connect()
        self.tree = _Tree(  # type: ignore[assignment]
            lambda request: self._carry_out(self._own, request))

    def open(self) -> int:
        handle = self._connect()
        session = next(id for id, each in self._handles.items() if each == handle)
        self.sessions.add(session)
        return session

    def _connect(self) -> int:
        handle = self.driver.open(SESSION_MS)
        told = self._until(lambda whose, each: whose == handle and isinstance(each, Connected))
        assert isinstance(told, Connected)
        self._handles[told.session] = handle
        return handle

    def handle(self, session: int, request: Request) -> tuple[Result, _Told]:
        if session not in self.sessions:
            return SessionExpired(), []
        self._deaf.discard(session)
        result = self._carry_out(self._handles[session], request)
        if not isinstance(request, Read | Children | Exists):
            self._let_events_come()
        return result, self._news()

    def end(self, session: int) -> _Told:
        """See ``Server.end``: the session is taken over, and closed."""
        handle = self._handles[session]
        self.driver.expire(handle)
        self._until(lambda whose, each: whose == handle and isinstance(each, Expired))
        self.sessions.discard(session)
        self._let_events_come()
        return self._news()

    def forget(self, session: int) -> None:
        """See ``Server.forget``: what its watches tell is dropped from now on."""
        self._deaf.add(session)

    def watch_again(
        self, session: int, watches: Iterable[tuple[Watch, bool]], seen: int
    ) -> _Told:
        self._let_events_come()
        self._news()
        self._deaf.discard(session)
        told: _Told = []
        for watch, existed in watches:
            kind = missed(watch, self.stat(watch.path), seen, existed)
            if kind is not None:
                told.append((session, Event(kind, watch.path)))
            elif watch.about is About.CHILDREN:
                self._carry_out(self._handles[session], Children(watch.path, watch=True))
            else:
                self._carry_out(self._handles[session], Exists(watch.path, watch=True))
        return told + self._news()

    # -- the real one -----------------------------------------------------------------------------

    def settle(self) -> None:
        """Wait until the server answers all sessions again, after it was killed."""
        self._let_events_come()
        self._news()

    def _carry_out(self, handle: int, request: Request) -> Result:
        number = self.driver.submit(handle, request)
        told = self._until(lambda whose, each: whose == handle and isinstance(each, Reply)
                           and each.number == number)
        assert isinstance(told, Reply)
        stat = getattr(told.result, "stat", None)
        if isinstance(stat, Stat):
            self.zxid = max(self.zxid, stat.czxid, stat.mzxid, stat.pzxid)
        return told.result

    def _let_events_come(self) -> None:
        for session in self.sessions:
            self._carry_out(self._handles[session], Exists("/"))

    def _until(self, is_it: Callable[[int, Delivery], bool]) -> Delivery:
        """Collect until something comes; events are kept."""
        sessions = {handle: session for session, handle in self._handles.items()}
        found: Delivery | None = None
        while found is None:
            came = self.driver.collect(within=WAIT_MS)
            if not came:
                raise ServiceSilent(f"the ZooKeeper server has not answered for {WAIT_MS} ms")
            for handle, told in came:
                if isinstance(told, Event) and handle in sessions:
                    self._told.append((sessions[handle], told))
                elif found is None and is_it(handle, told):
                    found = told
        return found

    def _news(self) -> _Told:
        told, self._told = self._told, []
        # Sessions are told by threads of their own: one order, so that a seed gives one run.
        return sorted((each for each in told
                       if each[0] in self.sessions and each[0] not in self._deaf),
                      key=lambda each: each[0])


class RealService(InMemory):
    """Clients and connections in virtual time, and a real server; ``driver`` leads to it."""

    def __init__(
        self, driver: ZooKeeperCoordination, delay: Callable[[], int],
        record: Callable[[Transaction], object],
    ) -> None:
        super().__init__(delay, record)
        self.driver = driver
        self.real = self.server = RealServer(driver)

    def expire(self, handle: int) -> None:
        """See ``FaultyCoordination.expire``; no session expires while the server is down."""
        if self.is_running:
            super().expire(handle)

    def stop(self) -> None:
        """See ``FaultyCoordination.stop``: its process is killed."""
        super().stop()
        self.driver.stop()

    def restart(self) -> None:
        self.driver.restart()
        super().restart()
        self.real.settle()
