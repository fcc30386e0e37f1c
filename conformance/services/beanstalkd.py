"""A beanstalkd server, which writes each change to its log at once, and its client."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from .programs import BEANSTALKD
from .server import HOST, Server

__all__ = ["Answer", "Beanstalkd", "BeanstalkdClient"]

_ANSWER_SECONDS: Final = 4.0
_WITH_DATA: Final = ("RESERVED", "FOUND", "OK")


class Beanstalkd(Server):
    """One server. Its jobs are there again after it was killed."""

    what: ClassVar[str] = "the beanstalkd server"

    def prepare(self) -> None:
        """Make the folder of its log."""
        (self.folder / "log").mkdir()

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``."""
        return (BEANSTALKD.find(), "-l", HOST, "-p", str(self.port),
                "-b", str(self.folder / "log"), "-f0")

    def serves(self) -> bool:
        """True if the server answers a command."""
        client = BeanstalkdClient(self.port)
        try:
            return client.ask("list-tube-used").word == "USING"
        finally:
            client.close()


class Answer(NamedTuple):
    """The first word of an answer, the words after it, and the data that came with it."""

    word: str
    words: Sequence[str]
    data: str = ""


class BeanstalkdClient:
    """A connection, to which jobs are reserved. It uses and watches the tube ``default``."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), _ANSWER_SECONDS)
        self._lines = self._socket.makefile("rb")

    def ask(self, command: str, data: bytes | None = None) -> Answer:
        """The answer to a command. Raises ``ConnectionError`` if the server ends the connection."""
        parts = [command.encode()] if data is None else [f"{command} {len(data)}".encode(), data]
        self._socket.sendall(b"".join(part + b"\r\n" for part in parts))
        word, *words = self._lines.readline().decode().split() or [""]
        if not word:
            raise ConnectionError("beanstalkd has ended the connection")
        if word not in _WITH_DATA:
            return Answer(word, words)
        return Answer(word, words, self._lines.read(int(words[-1]) + 2)[:-2].decode())

    def leave(self) -> None:
        """End the connection, and wait until the server has ended it, too: it is done with it."""
        self._socket.shutdown(socket.SHUT_WR)
        self._lines.read()
        self.close()

    def close(self) -> None:
        """Close the connection at this end."""
        self._lines.close()
        self._socket.close()
