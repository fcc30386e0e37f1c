"""The coordination port: the promises of every implementation.

A caller opens sessions, submits requests, and collects what comes back. No call waits for the
service, except ``collect``, and no call raises because of it: only misuse
raises, such as an illegal path. Times are milliseconds, virtual or
real. The laws, which hold for each session:

1. Requests take effect in the order in which they were submitted, and replies come in that
   order. Deliveries of one session have the order in which the events happened.
2. A write makes a version greater by one. A conditional operation takes effect only on the
   version that it names; so of several with the same version at most one succeeds.
3. A ``Multi`` takes effect as a whole or not at all, and nothing happens in between.
4. Every transaction has a greater zxid than those before it, so the ``czxid`` of a znode that
   was deleted and made again has grown.
5. A watch fires once. It does so before the reply of any read that sees the change, and
   survives the loss of a connection: changes made meanwhile are reported after ``Connected``.
6. When a connection is lost, ``Disconnected`` is delivered, and every request without a reply gets
   ``ConnectionLost``. Requests submitted from then on wait for the next connection.
7. A session of which the service has heard nothing for its timeout expires, and its ephemeral
   znodes vanish. Its client receives ``Expired`` when it reaches the service again, not before;
   then every request without a reply gets ``SessionExpired``, and so does every later one.
8. A session that is closed ends at once, with its ephemeral znodes, and receives nothing more.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from .terms import Delivery, Request, Result, Stat

__all__ = ["Coordination", "FaultyCoordination", "Loss", "TimedCoordination", "Transaction"]


class Loss(Enum):
    """The moment at which the connection breaks, relative to the effect of the next request."""

    REQUEST = "before the request takes effect"
    REPLY = "after it took effect, before the reply"


class Transaction(NamedTuple):
    """A transaction that the service carried out: when, for which handle, and with which result."""

    at: int
    handle: int
    request: Request
    result: Result


class Coordination(Protocol):
    """A service that several clients coordinate themselves by.

    A session is named by the number that ``open`` gave, its *handle*; the id that the service
    itself gave it comes with ``Connected``.
    """

    def open(self, timeout: int) -> int:
        """Begin a session that expires after ``timeout`` ms of silence: its handle."""
        ...

    def close(self, handle: int) -> None:
        """End a session, as its own client does in an orderly way."""
        ...

    def submit(self, handle: int, request: Request) -> int:
        """Ask something of the service: the number under which the reply will come.

        Numbers count from 0 for each session.
        """
        ...

    def collect(self, within: int = 0) -> list[tuple[int, Delivery]]:
        """Deliveries since the last call, each with the handle of its session.

        Waits while there is nothing, but for no more than ``within`` ms.
        """
        ...


class FaultyCoordination(Coordination, Protocol):
    """A service into which a test can inject the faults of real life."""

    def expire(self, handle: int) -> None:
        """End a session at the service; its client does not know yet."""
        ...

    def pause(self, handle: int) -> None:
        """Halt the client of a session: it hears nothing, and is not heard."""
        ...

    def resume(self, handle: int) -> None:
        """Let it continue; it looks at the clock first, to learn how long it was halted."""
        ...

    def lose(self, handle: int, loss: Loss) -> None:
        """Let the connection break at the next request (or the next but one, if called twice)."""
        ...

    def partition(self, handle: int) -> None:
        """From now on no message gets through, either way; those under way wait."""
        ...

    def heal(self, handle: int) -> None:
        """The network is there again."""
        ...

    def stop(self) -> None:
        """Kill the service. What it has acknowledged it still knows after ``restart``."""
        ...

    def restart(self) -> None:
        """Start it again. Sessions live on, and all of them get their whole timeout anew."""
        ...


class TimedCoordination(FaultyCoordination, Protocol):
    """A service in a time that its user advances."""

    now: int
    is_running: bool

    @property
    def may_deliver(self) -> bool:
        """False if ``collect`` would return nothing now."""
        ...

    def advance(self, now: int) -> None:
        """Let everything happen that is due until ``now``, which is included."""
        ...

    def next_instant(self) -> int | None:
        """The next instant at which something may be due; None: never, without a further call."""
        ...

    def peek(self, path: str) -> tuple[bytes, Stat] | None:
        """The contents of a znode at the service now: for judges."""
        ...
