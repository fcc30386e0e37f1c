"""One life of a process: its clock, its timers, its calls, its session at the coordination service.

A process may *drift*: its clock goes faster or slower than others. It may be *paused*: due calls
and messages wait until it continues. When it is killed, its memory is lost, and nothing in it is
called after that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from ...coordination.terms import (
    Connected, ConnectionLost, Delivery, Event, Expired, Reply, Request, Result,
)
from .network import Envelope

__all__ = ["Hosted", "Process", "Store", "World"]

Answer = Callable[[Any], None]


class Hosted(Protocol):
    """The program that runs in a process."""

    def handle(self, sender: int, body: Any, answer: Answer) -> None:
        """Handle a request; the answer may come now, later, or never."""
        ...

    def connected(self) -> None:
        """The session is connected for the first time."""
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
        """Open a session with this timeout, and return its handle."""
        ...

    def submit(self, handle: int, request: Request) -> int:
        """Submit a request in a session, and return its number."""
        ...


class World(Protocol):
    """The environment of all processes."""

    now: int

    @property
    def store(self) -> Store:
        """The coordination service of all processes."""
        ...

    def at(self, when: int, what: Callable[[], None]) -> int:
        """Call ``what`` at that instant; the number by which it can be called off."""
        ...

    def call_off(self, number: int) -> None:
        """Do not make a call that was planned."""
        ...

    def send(self, envelope: Envelope) -> None:
        """Give a message to the network."""
        ...

    def record(self, what: str, *about: int | str) -> None:
        """Add an event to the history."""
        ...

    def opened(self, process: Process) -> None:
        """A process has a new session."""
        ...


class Process:
    """One life, ``life``, of the process with the number ``id``.

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
        self._calls: dict[int, tuple[Answer, int]] = {}     # with the number of its timeout
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
        """The clock continues at another rate."""
        self._clock_set = self.world.now, self.clock()
        self.rate = rate

    def later(self, delay: int, what: Callable[[], None]) -> int:
        """Call after ``delay`` ms of its own clock; the number by which that can be called off."""
        real = max(1, delay * 100 // self.rate)
        return self.world.at(self.world.now + real, partial(self.run, what))

    def run(self, what: Callable[[], None]) -> None:
        """Call now, or when the process continues; never after its end."""
        if not self.is_up:
            return
        if self.is_paused:
            self._backlog.append(what)
        else:
            what()

    def resume(self) -> None:
        """Continue, with all calls that have come meanwhile."""
        self.is_paused = False
        backlog, self._backlog = self._backlog, []
        for what in backlog:
            self.run(what)

    # -- other processes --------------------------------------------------------------------------

    def call(self, to: int, body: Any, within: int, then: Answer) -> None:
        """Ask another process: ``then`` gets the answer, or None if there is none in time."""
        self._numbers += 1
        number = self._numbers
        self.world.send(Envelope(self.id, to, number * 1000 + self.life, body))
        self._calls[number] = then, self.later(within, partial(self._give_up, number))

    def _give_up(self, number: int) -> None:
        # In a pause both the timeout and an answer may have come; the first of them counts.
        if number in self._calls:
            then, _ = self._calls.pop(number)
            then(None)

    def _end_call(self, number: int, answer: Any) -> None:
        """Take the first answer to a call; its timeout is not waited for."""
        if number in self._calls:
            then, timeout = self._calls.pop(number)
            self.world.call_off(timeout)
            then(answer)

    def receive(self, envelope: Envelope) -> None:
        """A message has arrived; an answer for an earlier life is dropped."""
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
        """Open a new session; requests of the old one are forgotten."""
        self.session = self.world.store.open(self._timeout)
        self._was_connected = False
        self._asked.clear()
        self.world.opened(self)

    def ask(self, request: Request, then: Callable[[Result], None]) -> None:
        """Ask the coordination service, in the present session."""
        self._asked[self.world.store.submit(self.session, request)] = then

    def told(self, delivery: Delivery) -> None:
        """Handle a message of the service in the present session."""
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
        """Ask, and again after a lost connection: only for requests that may be repeated."""
        def heard(result: Result) -> None:
            if isinstance(result, ConnectionLost):
                self.ask(request, heard)
            else:
                then(result)

        self.ask(request, heard)
