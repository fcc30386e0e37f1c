"""The session of one subscriber of a real mosquitto; a server for each session of the suite.

MQTT has no queue that consumers share: a server pushes each message to the sessions that have
subscribed, and of those that share a subscription to one that it chooses. So the suite's first
consumer is the subscriber, and the second is declined. The server sends all again that has not been
acknowledged when the subscriber connects anew, and at no other time.

The server saves its sessions every second or two, and promises no more. So the adapter waits until
it has saved what has been confirmed, and then kills it; one target does not wait.

The ack of a number that the server does not know is an error of the protocol, so the adapter sends
none: it answers that it was ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ...adapters.base import Declined
from ...adapters.port_adapter import PortAdapter
from ...ports.base import Port
from ...services.mosquitto import Letter, Mosquitto, MqttClient
from .port import PORT

__all__ = ["MosquittoOnce", "MosquittoSession", "MosquittoUnsaved"]

Item = int | str

_TOPIC: Final = "queue"
_NAME: Final = "worker"


class MosquittoSession(PortAdapter):
    """Published and subscribed with quality of service 1: at least once."""

    port: ClassVar[Port] = PORT
    policy: ClassVar[str] = "unbounded"
    name = "a session of mosquitto, with quality 1"
    quality: ClassVar[int] = 1
    saved: ClassVar[bool] = True
    """True if all is saved before the server is killed."""

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh server, a publisher, and a subscriber with a session that is kept."""
        self._server = Mosquitto().start()
        self._connect()
        self._consumer.subscribe(_TOPIC)
        self._server.save()    # a session that is not saved is gone with the server

    def publish(self, message: Item) -> bool:
        self._producer.publish(_TOPIC, json.dumps(message).encode())
        return True

    def receive(self, consumer: int) -> Item | None:
        self._check(consumer)
        self._consumer.wait()
        if not self._consumer.arrived:
            return None
        letter = self._consumer.arrived.popleft()
        message: Item = json.loads(letter.body)
        self._letters[message] = letter
        return message

    def ack(self, consumer: int, message: Item) -> bool:
        self._check(consumer)
        letter = self._letters.pop(message, None)
        if letter is None:
            return False
        self._consumer.acknowledge(letter)
        return True

    def disconnect(self, consumer: int) -> bool:
        self._check(consumer)
        self._consumer.close()
        self._subscribe()
        return True

    def restart(self) -> bool:
        if self.saved:
            self._server.save()
        self._close()
        self._server.restart()
        self._connect()
        return True

    def close(self) -> None:
        """Close the connections, and end the server."""
        if hasattr(self, "_server"):
            self._server.close()
        if hasattr(self, "_producer"):
            self._close()

    def _check(self, consumer: int) -> None:
        if consumer > 0:
            raise Declined("a-session-has-one-consumer")

    def _connect(self) -> None:
        self._producer = MqttClient(self._server.port, "", quality=self.quality)
        self._subscribe()

    def _subscribe(self) -> None:
        self._letters: dict[Item, Letter] = {}
        self._consumer = MqttClient(self._server.port, _NAME, quality=self.quality)

    def _close(self) -> None:
        self._producer.close()
        self._consumer.close()


class MosquittoUnsaved(MosquittoSession):
    """The same, which is killed at any moment."""

    name = "a session of mosquitto that is not saved yet"
    saved: ClassVar[bool] = False


class MosquittoOnce(MosquittoSession):
    """Published and subscribed with quality of service 2: exactly once."""

    name = "a session of mosquitto, with quality 2"
    quality: ClassVar[int] = 2
