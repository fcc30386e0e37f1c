"""A tube of a real beanstalkd, in real time; a server for each session.

A rejected job is buried, and buried jobs are the dead letters. The time to run is whole seconds, so
a tick is a little more than a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from ...services.beanstalkd import Answer, Beanstalkd, BeanstalkdClient
from .clock import RealTicks
from .port import PORT

__all__ = ["BeanstalkdTube"]

Item = int | str

_TICK_SECONDS: Final = 1.1
_LATE_SECONDS: Final = 0.8
"""A job that was reserved so many seconds longer than its ticks say is judged no more."""
_FIRST: Final = 1
"""The priority of all jobs."""


class BeanstalkdTube(PortAdapter):
    """A consumer is a connection. Jobs of one priority have the order of their numbers."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    name = "a tube of beanstalkd"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh server, and a connection for each consumer."""
        self._timeout: int = settings["timeout"]
        self._ticks = RealTicks(_TICK_SECONDS, self._timeout, late=_LATE_SECONDS)
        self._count: int = settings["consumers"]
        self._jobs: dict[Item, str] = {}
        self._server = Beanstalkd().start()
        self._connect()

    def publish(self, message: Item) -> bool:
        answer = self._producer.ask(f"put {_FIRST} 0 {self._timeout}", json.dumps(message).encode())
        self._jobs[message] = answer.words[0]
        return answer.word == "INSERTED"

    def receive(self, consumer: int) -> Item | None:
        self._ticks.check()
        answer = self._consumers[consumer].ask("reserve-with-timeout 0")
        if answer.word != "RESERVED":
            return None
        message = _message(answer)
        self._ticks.given(message, consumer)
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        return self._answered(consumer, f"delete {self._jobs[message]}", message) == "DELETED"

    def requeue(self, consumer: int, message: Item) -> bool:
        command = f"release {self._jobs[message]} {_FIRST} 0"
        return self._answered(consumer, command, message) == "RELEASED"

    def reject(self, consumer: int, message: Item) -> bool:
        command = f"bury {self._jobs[message]} {_FIRST}"
        return self._answered(consumer, command, message) == "BURIED"

    def dead(self) -> Item | None:
        answer = self._producer.ask("peek-buried")
        if answer.word != "FOUND":
            return None
        self._producer.ask(f"delete {answer.words[0]}")
        return _message(answer)

    def count(self, message: Item) -> int | None:
        answer = self._producer.ask(f"stats-job {self._jobs[message]}")
        if answer.word != "OK":
            return None
        counts = dict(line.split(": ") for line in answer.data.splitlines() if ": " in line)
        return int(counts["reserves"])

    def disconnect(self, consumer: int) -> bool:
        self._ticks.check()
        self._ticks.left(consumer)
        self._consumers[consumer].leave()
        self._consumers[consumer] = BeanstalkdClient(self._server.port)
        return True

    def advance(self, ticks: int) -> bool:
        self._ticks.advance(ticks)
        return True

    def restart(self) -> bool:
        self._close()
        self._server.restart()
        self._connect()
        return True

    def close(self) -> None:
        """Close the connections, and end the server."""
        if hasattr(self, "_server"):
            self._server.close()
        if hasattr(self, "_consumers"):
            self._close()

    def _connect(self) -> None:
        self._producer = BeanstalkdClient(self._server.port)
        self._consumers = [BeanstalkdClient(self._server.port) for _ in range(self._count)]
        self._ticks.clear()

    def _close(self) -> None:
        for client in (self._producer, *self._consumers):
            client.close()

    def _answered(self, consumer: int, command: str, message: Item) -> str:
        self._ticks.check()
        word = self._consumers[consumer].ask(command).word
        if word != "NOT_FOUND":
            self._ticks.over(message)
        return word


def _message(answer: Answer) -> Item:
    message: Item = json.loads(answer.data)
    return message
