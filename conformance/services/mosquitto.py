"""A mosquitto server, which writes its sessions to a file now and then, and an MQTT client.

The client is our own since those that are kept (paho-mqtt and what is built on it) send the PUBREC
of quality 2 by themselves, before the program that reads the message can acknowledge it.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from ...spec.notation.errors import TargetError
from ..adapters.child import last_lines
from ..computer.patience import Countdown
from .programs import MOSQUITTO
from .server import HOST, Server

__all__ = ["Letter", "Mosquitto", "MqttClient"]

_ANSWER_SECONDS: Final = 4.0
_SAVE_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.02
_CONNECT, _CONNACK, _PUBLISH, _PUBACK, _PUBREC, _PUBREL, _PUBCOMP = range(1, 8)
_SUBSCRIBE, _SUBACK = 8, 9
_PINGREQ, _PINGRESP = 12, 13
_MUST: Final = 2
"""The flags that PUBREL and SUBSCRIBE have to have."""


class Mosquitto(Server):
    """One server. What it has not saved is gone when it is killed."""

    what: ClassVar[str] = "the mosquitto server"

    def prepare(self) -> None:
        """Make the folder of its file."""
        (self.folder / "data").mkdir()

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        lines = (
            f"listener {self.port} {HOST}", "allow_anonymous true", "user root",
            "persistence true", f"persistence_location {self.folder}/data/",
            "autosave_interval 1",
            "max_inflight_messages 0", "max_queued_messages 0", "log_dest stdout")
        (self.folder / "conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return (MOSQUITTO.find(), "-c", str(self.folder / "conf"))

    def save(self) -> None:
        """Wait until it has saved what it knows now. Raises ``TargetError`` if it does not in time.
        """
        before, left = self._saved(), Countdown(_SAVE_SECONDS)
        while self._saved() == before:
            if left.over:
                raise TargetError(f"{self.what} does not save its sessions{last_lines(self.log())}")
            time.sleep(_LOOK_SECONDS)

    def _saved(self) -> int:
        """When it saved last. It writes another file, while it does nothing else, and renames that.
        """
        file = self.folder / "data" / "mosquitto.db"
        return file.stat().st_mtime_ns if file.exists() else 0

    def serves(self) -> bool:
        """True if the server takes a connection."""
        MqttClient(self.port, "", quality=1).close()
        return True


class Letter(NamedTuple):
    """A message that has come, with the number by which it is acknowledged."""

    number: int
    body: bytes


class MqttClient:
    """A connection that speaks MQTT 3.1.1, and sends and subscribes with one quality of service: 1
    or 2. The server keeps the session of one that has a ``name``."""

    def __init__(self, port: int, name: str, *, quality: int) -> None:
        self.arrived: deque[Letter] = deque()
        self._quality = quality
        self._number = 0
        self._socket = socket.create_connection((HOST, port), _ANSWER_SECONDS)
        self._packets = self._socket.makefile("rb")
        flags = 0 if name else 2    # 2: a clean session
        self._send(_CONNECT, 0, _text(b"MQTT") + bytes((4, flags, 0, 0)) + _text(name.encode()))
        self._until(_CONNACK)

    def subscribe(self, topic: str) -> None:
        """Have what is published to a topic sent to this session."""
        self._send(_SUBSCRIBE, _MUST, self._next() + _text(topic.encode()) +
                   bytes((self._quality,)))
        self._until(_SUBACK)

    def publish(self, topic: str, body: bytes) -> None:
        """Publish, and wait until the server is responsible for it."""
        number = self._next()
        self._send(_PUBLISH, self._quality << 1, _text(topic.encode()) + number + body)
        if self._quality == 1:
            self._until(_PUBACK)
        else:
            self._until(_PUBREC)
            self._send(_PUBREL, _MUST, number)
            self._until(_PUBCOMP)

    def acknowledge(self, letter: Letter) -> None:
        """Take over the responsibility for a message, and wait until the server has handled that.
        """
        number = letter.number.to_bytes(2, "big")
        if self._quality == 1:
            self._send(_PUBACK, 0, number)
        else:
            self._send(_PUBREC, 0, number)
            self._until(_PUBREL)
            self._send(_PUBCOMP, 0, number)
        self.wait()

    def wait(self) -> None:
        """Wait until the server has answered a ping: what it sent before has arrived."""
        self._send(_PINGREQ, 0, b"")
        self._until(_PINGRESP)

    def close(self) -> None:
        """Close the connection at this end, without a farewell."""
        self._packets.close()
        self._socket.close()

    def _next(self) -> bytes:
        self._number = self._number % 0xFFFF + 1
        return self._number.to_bytes(2, "big")

    def _send(self, kind: int, flags: int, body: bytes) -> None:
        length, left = b"", len(body)
        while True:
            left, low = divmod(left, 128)
            length += bytes((low | (128 if left else 0),))
            if not left:
                break
        self._socket.sendall(bytes((kind << 4 | flags,)) + length + body)

    def _until(self, kind: int) -> None:
        """Read up to a packet of a kind. Raises ``ConnectionError`` if the server ends the
        connection."""
        while True:
            head = self._read(1)[0]
            length, shift = 0, 0
            while True:
                low = self._read(1)[0]
                length |= (low & 127) << shift
                shift += 7
                if low < 128:
                    break
            body = self._read(length)
            if head >> 4 == _PUBLISH:
                at = 2 + int.from_bytes(body[:2], "big")
                self.arrived.append(Letter(int.from_bytes(body[at:at + 2], "big"), body[at + 2:]))
            elif head >> 4 == kind:
                return

    def _read(self, count: int) -> bytes:
        got = self._packets.read(count)
        if len(got) < count:
            raise ConnectionError("mosquitto has ended the connection")
        return got


def _text(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text
