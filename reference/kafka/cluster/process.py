"""One life of a process: its clock, its timers, its calls, its session at the coordination service.

A process may *drift*: its clock goes faster or slower than others. It may be *paused*: whatever
is due, or arrives, waits until it goes on. When it is killed, all that is only in it is gone.
Nothing in it is called after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...coordination.terms import (
    Connected, ConnectionLost, Delivery, Event, Expired, Reply, Request, Result,
)
from .network import Envelope

__all__ = ["Hosted", "Process", "Store", "World"]

Answer = Callable[[Any], None]


class Hosted(Protocol):
    """What runs in a process."""

    def handle(self, sender: int, body: Any, answer: Answer) -> None:
        """Work off a request; it may be answered now, later, or never."""
        ...

    def connected(self) -> None:
        """The session is there, for the first time."""
        ...

    def changed(self, event: Event) -> None:
        """A watch has fired."""
        ...

    def expired(self) -> None:
        """The session is over; there is a new one, which is not connected yet."""
        ...


class Store(Protocol):
    """The part of the coordination port that a process uses."""

    def open(self, timeout: int) -> int:
        """Begin a session that expires after ``timeout`` ms of silence; return its handle."""
        ...

    def submit(self, handle: int, request: Request) -> int:
        """Send a request to the service; return the number that its reply will have."""
        ...


class World(Protocol):
    """What surrounds all processes."""

    now: int

    @property
    def store(self) -> Store:
        """What all processes are coordinated by."""
        ...

    def at(self, when: int, what: Callable[[], None]) -> None:
        """Call it when that instant has come."""
        ...

    def send(self, envelope: Envelope) -> None:
        """Give a message to the network."""
        ...

    def record(self, what: str, *about: int | str) -> None:
        """Put what happened into the history."""
        ...

    def opened(self, process: Process) -> None:
        """A process has a new session."""
        ...


class Process:
    """One life, ``life``, of the process with the number ``id``; see the module.

    ``rate`` is how many ms its clock goes in 100. ``timeout`` is that of its session.
    """

    def __init__(self, world: World, id: int, life: int, rate: int, timeout: int) -> None:
        self.world, self.id, self.life, self.rate = world, id, life, rate
        self._clock_set = world.now, 0
        self.is_up, self.is_paused = True, False
        self.hosted: Hosted | None = None
        self._timeout = timeout
        self._backlog: list[Callable[[], None]] = []
        self._numbers = 0
        self._calls: dict[int, Answer] = {}
        self._asked: dict[int, Callable[[Result], None]] = {}
        self.session = -1               # the handle of its session
        self.service_session = 0        # the id that the service gave it
        self._was_connected = False

    # -- time -------------------------------------------------------------------------------------

    def clock(self) -> int:
        """The process's own time, in ms."""
        since, then = self._clock_set
        return then + (self.world.now - since) * self.rate // 100

    def drift(self, rate: int) -> None:
        """The clock goes on at another rate."""
        self._clock_set = self.world.now, self.clock()
        self.rate = rate

    def later(self, delay: int, what: Callable[[], None]) -> None:
        """Call after ``delay`` ms of its own clock."""
        real = max(1, delay * 100 // self.rate)
        self.world.at(self.world.now + real, lambda: self.run(what))

    def run(self, what: Callable[[], None]) -> None:
        """Call now, or when the process goes on; never if it is gone."""
        if not self.is_up:
            return
        if self.is_paused:
            self._backlog.append(what)
        else:
            what()

    def resume(self) -> None:
        """Go on, with all that has come meanwhile."""
        self.is_paused = False
        backlog, self._backlog = self._backlog, []
        for what in backlog:
            self.run(what)

    # -- other processes --------------------------------------------------------------------------

    def call(self, to: int, body: Any, within: int, then: Answer) -> None:
        """Ask another process: ``then`` gets the answer, or None if there is none in time."""
        self._numbers += 1
        number = self._numbers
        self._calls[number] = then
        self.world.send(Envelope(self.id, to, number * 1000 + self.life, body))
        self.later(within, lambda: self._end_call(number, None))

    def _end_call(self, number: int, answer: Any) -> None:
        then = self._calls.pop(number, None)
        if then is not None:
            then(answer)

    def receive(self, envelope: Envelope) -> None:
        """A message has arrived; an answer that was for an earlier life is nobody's."""
        number, life = divmod(envelope.number, 1000)
        if not envelope.is_answer:
            self._serve(envelope)
        elif life == self.life:
            self._end_call(number, envelope.body)

    def _serve(self, envelope: Envelope) -> None:
        def answer(body: Any) -> None:
            if self.is_up:
                self.world.send(Envelope(self.id, envelope.sender, envelope.number, body, True))

        assert self.hosted is not None
        self.hosted.handle(envelope.sender, envelope.body, answer)

    # -- the coordination service -----------------------------------------------------------------

    def open(self) -> None:
        """Ask the coordination service for a new one; what was asked before is forgotten."""
        self.session = self.world.store.open(self._timeout)
        self._was_connected = False
        self._asked.clear()
        self.world.opened(self)

    def ask(self, request: Request, then: Callable[[Result], None]) -> None:
        """Ask the coordination service, in the session of now."""
        self._asked[self.world.store.submit(self.session, request)] = then

    def told(self, delivery: Delivery) -> None:
        """The service has said something in the session of now."""
        assert self.hosted is not None
        if isinstance(delivery, Reply):
            then = self._asked.pop(delivery.number, None)
            if then is not None:
                then(delivery.result)
        elif isinstance(delivery, Connected) and not self._was_connected:
            self._was_connected = True
            self.service_session = delivery.session
            self.hosted.connected()
        elif isinstance(delivery, Event):
            self.hosted.changed(delivery)
        elif isinstance(delivery, Expired):
            self.open()
            self.hosted.expired()

    def insist(self, request: Request, then: Callable[[Result], None]) -> None:
        """Ask, and again after a lost connection: only what does no harm twice."""
        def heard(result: Result) -> None:
            if isinstance(result, ConnectionLost):
                self.ask(request, heard)
            else:
                then(result)

        self.ask(request, heard)
